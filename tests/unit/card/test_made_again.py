"""Every word and number of a card that is no stated fact is made again by a check."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.card.forging import broken, read, write

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts, facts_of
from hubbub.card.owner import Owner
from hubbub.card.schema import Card
from hubbub.log import Period
from hubbub.mechanisms import build


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory, log_file: Path) -> Path:
    """A release whose owner and ledger had something to say, made once."""
    import hubbub
    from hubbub.privacy.ledger import Ledger

    folder = tmp_path_factory.mktemp("stated")
    period = Period(log_day(1), log_day(31))
    owner = Owner(title="Searches", curator=("A library",), licence="CC0-1.0", contact="us@example.org", period=period)
    mechanism = build(
        "korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, tables=["queries", "clicks"], neighbours="replace"
    )
    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.cap("us", 100, 0.1)
        ledger.looked("us", "march", "inspect")
    with hubbub.read_log(log_file, format="aol", period=period) as log:
        for name in ("earlier", "release"):
            hubbub.release(
                log,
                mechanism,
                folder / name,
                ledger=folder / "ledger.sqlite",
                owner=owner,
                population="us",
                dataset="march",
                users_public=5000,
            )
    return folder / "release"


def log_day(day: int) -> Any:
    from datetime import date

    return date(2006, 3, day)


FACTS = {
    "release.title",
    "release.curator[0]",
    "release.intended_use",
    "release.region",
    "release.published",
    "release.licence",
    "release.contact",
    "release.files[0].rows",
    "release.files[1].rows",
    "release.period_stated_by_owner.from",
    "release.period_stated_by_owner.to",
    "release.users_stated_by_owner",
    "release.max_rejects",
    "unit.column",
    "accounting.library",
    "accounting.planned_releases",
    "accounting.earlier_releases[0]",
    "accounting.ledger.population",
    "accounting.ledger.dataset",
    "accounting.ledger.entry",
    "accounting.ledger.epsilon_before",
    "accounting.ledger.epsilon_after",
    "accounting.ledger.cap_epsilon",
    "accounting.ledger.cap_delta",
    "accounting.ledger.looks[0]",
    "accounting.ledger.looks[1]",
    "implementation.software",
    "implementation.python",
    "implementation.libraries.duckdb",
    "implementation.libraries.numpy",
    "implementation.libraries.pyarrow",
    "implementation.randomness.seeded",
    "implementation.raw_data.access",
    "implementation.raw_data.kept_until",
}


"""All that a check has to believe: what the owner states, what the ledger booked, what ran, how many rows there are."""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every scalar of a document."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path


def spelled(path: tuple[Any, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)[1:]


def other(value: Any) -> Any:
    """Another value of the same kind, so that only its meaning is wrong."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value * 0.5
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return {"list": ["added"], "dict": {"added": "1"}}.get(type(value).__name__, 0.5)


@pytest.mark.slow
def test_every_leaf_that_is_no_fact_is_made_again(stated: Path, tmp_path: Path) -> None:
    """Each scalar of the card, changed by itself, with every hash forged: the section that holds it is named."""
    assert broken(stated) == []
    shutil.copytree(stated, tmp_path / "forged")
    paths = [path for path in leaves(read(stated)) if path[0] != "integrity" and path[-1] != "sha256"]
    assert {spelled(path) for path in paths} >= FACTS, "the list of facts is out of date"
    unseen = []
    for path in paths:
        card = read(stated)
        *way, last = path
        holder = card
        for key in way:
            holder = holder[key]
        holder[last] = other(holder[last])
        write(tmp_path / "forged", card)
        if not broken(tmp_path / "forged"):
            unseen.append(spelled(path))
    assert set(unseen) <= FACTS


@pytest.mark.slow
def test_every_list_entry_is_made_again(stated: Path, tmp_path: Path) -> None:
    """A condition, a hazard or a step may be neither dropped nor added."""
    shutil.copytree(stated, tmp_path / "forged")

    def lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        if isinstance(value, list):
            yield path
        for key, item in value.items() if isinstance(value, dict) else enumerate(value if path else []):
            if isinstance(item, dict | list):
                yield from lists(item, (*path, key))

    free = {"release.curator", "accounting.earlier_releases", "accounting.ledger.looks"}
    for path in lists(read(stated)):
        for drop in (True, False):
            card = read(stated)
            holder = card
            for key in path:
                holder = holder[key]
            if drop and holder:
                holder.pop()
            else:
                holder.append(holder[-1] if holder else "added")
            write(tmp_path / "forged", card)
            assert broken(tmp_path / "forged") or spelled(path) in free, spelled(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"variant": "published", "settings": {"b": 5, "K": 60, "b_q": 5, "d": 2}},
        {"variant": "published", "settings": {"b": 5, "K": 1, "b_q": 5, "d": 2}},
        {"settings": {"epsilon": 1, "delta": "1e-6", "keep": "random"}, "neighbours": "replace"},
        {"settings": {"b": 1, "K": 0}},
    ],
    ids=["published", "nothing claimed", "replace", "low"],
)
@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize("users", [None, 0, 1000])
def test_the_facts_of_a_card_make_it_again(settings: dict[str, Any], seeded: bool, users: int | None) -> None:
    mechanism = build("korolova", **settings)
    booked = Booked("us", "march", 3, 1.5, float("inf"), (4.0, 1e-5), ("march-r1",), ("inspect",))
    card = build_card(mechanism, Facts(Owner(title="T"), booked, "who", seeded, 0.05, users))
    read_back = Card.model_validate(json.loads(card.text()))
    assert build_card(mechanism, facts_of(read_back)) == card
    assert facts_of(read_back) == replace(facts_of(card), versions=facts_of(read_back).versions)
