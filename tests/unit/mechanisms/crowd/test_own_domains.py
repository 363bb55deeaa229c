"""Clicks on a released query's own domains: known where the owner states that addresses are of the web."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.mechanisms.crowd.chain import text_of
from hubbub.mechanisms.crowd.known import own_domains
from hubbub.noise.absent import Exits, Rounds

BUDGET = {"epsilon": 4, "delta": "1e-5", "language": "none"}
OWN, OTHER = "http://www.cnn.com", "http://elsewhere.example/cnn"


def crowd(**settings: object) -> Any:
    return build("crowd", BUDGET | settings, tables=["queries", "clicks"])


def test_own_domains_are_those_of_one_word() -> None:
    asked = pa.chunked_array([["cnn", "www.cnn.com", "two words", "http://x", ".com", "cnn.co.uk"]])
    domain = own_domains(asked, "https")
    rows = domain.rows(np.arange(domain.size)).to_pylist()
    assert {row["query"] for row in rows} == {"cnn", "www.cnn.com", "cnn.co.uk"} and domain.size == 3 * 20
    assert len({(row["query"], row["url"]) for row in rows}) == domain.size, "each once"
    assert {"query": "www.cnn.com", "url": "https://www.cnn.com/"} in rows
    assert own_domains(pa.chunked_array([["two words"]]), "host").size == 0


class Watched(NoNoise):
    """Zeros; what is drawn for known clicks is written down, and all of them pass if `everyone`."""

    def __init__(self, everyone: bool = False) -> None:
        self.asked: dict[str, tuple[int, Rounds]] = {}
        self.everyone = everyone

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        self.asked[step] = count, rounds
        n = count if self.everyone else 0
        return Exits(np.arange(n), np.zeros(n, np.int64), np.full(n, rounds.thresholds[0]))


def drawn(mechanism: Any, noise: Watched, clicking: int, *more: Event) -> list[tuple[str, str]]:
    """Released clicks, where so many of 400 users of a query click on its domain, and as many on another page."""
    events: list[Event] = [(f"u{i}", 1, "cnn", None) for i in range(400)]
    events += [(f"u{i}", 2, "cnn", OWN) for i in range(clicking)]
    events += [(f"u{i}", 3, "cnn", OTHER) for i in range(200, 200 + clicking)]
    with tiny_log([*events, *more]) as log:
        rows = text_of(mechanism.draw(mechanism.measure(log, MODE), noise)["clicks"])
        return sorted(zip(rows.column("query").to_pylist(), rows.column("url").to_pylist(), strict=True))


def levels(mechanism: Any) -> tuple[int, int]:
    """Users who click on nothing else, from which a click is released: a known one, and any other."""
    plan = mechanism.selections["clicks"]
    return int(closed(plan, 20, Fraction(1)).users(-1)) + 1, int(plan.users(-1)) + 1


def test_a_click_on_the_querys_own_domain_needs_fewer_users() -> None:
    plain, web = crowd(), crowd(urls="http")
    low, high = levels(web)
    assert low + 2 < high
    assert drawn(plain, Watched(), high - 2) == []
    assert drawn(web, Watched(), high - 2) == [("cnn", OWN)]
    assert drawn(web, Watched(), high + 2) == [("cnn", OTHER), ("cnn", OWN)]


def test_what_is_drawn_for_known_clicks_follows_from_released_queries_alone() -> None:
    """Whoever clicked: with her and without her the same keys run, at the same levels."""
    web, seen = crowd(urls="http"), []
    for more in ((), (("her", 1, "cnn", "http://cnn.org"),), (("her", 1, "secret", "http://secret.com"),)):
        noise = Watched()
        drawn(web, noise, 3, *more)
        seen.append(noise.asked)
    assert seen[0] == seen[1] == seen[2] and list(seen[0]) == ["clicks own domains"]
    count, rounds = seen[0]["clicks own domains"]
    plan = closed(web.selections["clicks"], 20, Fraction(1))
    assert count == 20 and (rounds.thresholds, rounds.drops) == (plan.thresholds, plan.drops)


def test_a_click_of_somebody_passes_by_its_own_rounds_or_not_at_all() -> None:
    shown = drawn(crowd(urls="http"), Watched(everyone=True), 1)
    assert ("cnn", OWN) not in shown and len(shown) == 19, "one user clicked on it; nobody on the other nineteen"


def test_guarantee_is_the_same_and_rows_of_nobody_are_stated() -> None:
    plain, web = crowd(), crowd(urls="http")
    assert plain.steps() == web.steps() and plain.proven().delta == web.proven().delta
    assert web.nobodys() == {"clicks": 1.0} and plain.nobodys() == {}
    assert "clicks: about 1 of these 7 clicks may be nobody's" in web.spurious_among({"clicks": 7})


@pytest.mark.parametrize("tables", [["queries"], ["clicks"]])
def test_it_is_refused_where_nothing_depends_on_it(tables: list[str]) -> None:
    with pytest.raises(ParameterError, match="Nothing that is released depends"):
        build("crowd", {"epsilon": 4, "delta": "1e-5", "urls": "http"}, tables=tables)
