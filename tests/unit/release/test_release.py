"""A release end to end: what is written, what can be checked again, and what must not show."""

from __future__ import annotations

import json
import math
import os
import re
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.conftest import HEADER, RELEASE, Hubbub, aol_lines, document

import hubbub
from hubbub.audit.checks.counts import NoNoise
from hubbub.card import check
from hubbub.card.owner import Owner
from hubbub.card.schema import Card
from hubbub.errors import InputError, OurBug, OverBudget, ParameterError, Refused
from hubbub.log import Period, read_log
from hubbub.mechanisms import build
from hubbub.privacy.guarantee import Claim
from hubbub.privacy.ledger import Ledger
from hubbub.release.opened import Release
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.show.page import jinja, write_pages


def broken(release: Path) -> list[str]:
    """What does not hold about a release."""
    return [f.what for f in check(release) if not f.holds]


def test_a_release_checks(released: Path) -> None:
    assert broken(released) == []
    queries = Release(released).queries.to_arrow()
    assert queries.column_names == ["query", "users", "noise_sd"]
    assert set(queries.column("query").to_pylist()) == {"weather", "news", "maps"}
    assert queries.column("users").to_pylist() == sorted(queries.column("users").to_pylist(), reverse=True)
    assert (released / "owner-only" / "NOT-PRIVATE.txt").exists()
    assert pq.read_metadata(released / "owner-only" / "rejects.parquet").num_rows == 0


class Silent(NoNoise):
    """No noise at all, under a private flag: only a test may do this."""

    private = True


def write_release(lines: list[str], folder: Path) -> Path:
    """A release of these lines with no noise, in a world of its own."""
    folder.mkdir()
    log = folder / "log.tsv"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    mechanism = build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, tables=["queries", "clicks"])
    plan = Plan(mechanism, folder / "out", Owner(title="Taint"), users_public=300)
    with Ledger(folder / "ledger.sqlite") as ledger, read_log(log, format="aol") as read:
        run_release(read, plan, ledger, noise=Silent())
    return folder / "out" / "public"


def public_bytes(folder: Path) -> dict[str, bytes]:
    """Every byte of a public folder."""
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_taint_one_user_changes_no_public_byte_but_through_the_tables(tmp_path: Path) -> None:
    """The user who leaves has the first and last time, the first rows, bad lines and keys of her own."""
    others = aol_lines()
    hers = [
        "victim\ther own query\t1999-01-01 00:00:00\t\t",
        "victim\tsecond own query\t2031-12-31 23:59:59\t1\thttp://own.example",
        "victim\tbad time\tyesterday\t\t",
        "victim\ttoo\tmany\tfields\there\tand\there",
    ]
    without = public_bytes(write_release(others, tmp_path / "without"))
    held = public_bytes(write_release([HEADER, *hers, *others[1:]], tmp_path / "with"))
    assert held == without
    seen = [*others, "victim\tweather\t2006-03-01 00:00:00\t\t"]
    changed = public_bytes(write_release(seen, tmp_path / "seen"))
    assert changed["queries.parquet"] != without["queries.parquet"], "her query counts where the crowd asks it"
    assert changed["clicks.parquet"] == without["clicks.parquet"]
    one, two = (json.loads(x["card.json"]) for x in (changed, without))
    for card in (one, two):
        card["integrity"] = ""
        for file in card["release"]["files"]:
            file["sha256"] = ""
    assert one == two


def test_nothing_exact_about_the_input_is_public(released: Path) -> None:
    facts = json.loads((released / "owner-only" / "facts.json").read_text())
    text = "".join((released / "public" / n).read_text() for n in ("card.json", "index.html", "README.md"))
    text = re.sub("[0-9a-f]{16,}", "", text)  # a hash holds any four digits now and then
    assert str(facts["rows"]) not in text
    assert "2006-03" not in text


def test_two_default_runs_differ(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    values = []
    for name in ("one", "two", "three"):
        hubbub("release", log_file, *RELEASE, "--out", tmp_path / name)
        values.append(Release(tmp_path / name).queries.to_arrow().column("users").to_pylist())
    assert len({tuple(v) for v in values}) > 1


def test_private_releases_never_take_a_seeded_source(log_file: Path, tmp_path: Path) -> None:
    plan = Plan(build("korolova", {"epsilon": 1, "delta": "1e-5"}), tmp_path / "out")
    with Ledger() as ledger, read_log(log_file, format="aol") as log:
        with pytest.raises(OurBug):
            run_release(log, plan, ledger, noise=NoNoise())
        assert ledger.entries() == []


def test_a_stated_period_drops_rows_outside(log_file: Path, tmp_path: Path) -> None:
    period = Period(date(2006, 3, 1), date(2006, 3, 14))
    with read_log(log_file, format="aol", period=period) as log:
        inside = log.users()
        made = hubbub.Korolova(epsilon=4, delta="1e-3")
        plan: dict[str, Any] = {"owner": Owner(period=period), "dataset": "half", "users_public": 300}
        hubbub.release(log, made, tmp_path / "out", drop_outside=True, **plan)
    assert 0 < inside < 300
    card = Release(tmp_path / "out").card
    assert "between 2006-03-01 and 2006-03-14" in str(card)


def test_the_python_api(log_file: Path, tmp_path: Path) -> None:
    with hubbub.read_log(log_file, format="aol") as log:
        made = hubbub.release(log, hubbub.Korolova(epsilon=2, delta="1e-5", d=3), tmp_path / "out")
    assert made.private and "factor e²" in made.sentence
    assert len(made.queries) == 3
    assert list(made.queries.to_pandas().columns) == made.queries.to_polars().columns  # type: ignore[attr-defined]
    assert "3 rows" in made._repr_html_() and "queries" in repr(made)
    with pytest.raises(AttributeError, match="no table"):
        _ = made.sessions
    assert "factor" in hubbub.Korolova(epsilon=2, delta="1e-5").proven()._repr_html_()


def test_every_public_name_is_there() -> None:
    assert sorted(hubbub.__all__) == hubbub.__all__
    for name in hubbub.__all__:
        assert getattr(hubbub, name) is not None
    assert set(hubbub.__all__) < set(dir(hubbub))
    with pytest.raises(AttributeError):
        _ = hubbub.nothing


def test_a_cap_stops_the_next_release(log_file: Path, tmp_path: Path) -> None:
    mechanism = hubbub.Korolova(epsilon=2, delta="1e-5", d=3)
    with Ledger() as ledger, read_log(log_file, format="aol") as log:
        ledger.cap("default", 3.0, 1e-4)
        run_release(log, Plan(mechanism, tmp_path / "one"), ledger)
        with pytest.raises(OverBudget):
            run_release(log, Plan(mechanism, tmp_path / "two"), ledger)
    assert not (tmp_path / "two").exists()


def test_too_many_rejects_stop_before_anything_is_spent(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("\n".join([*aol_lines(20), *["broken line"] * 20]) + "\n")
    with Ledger() as ledger, read_log(log, format="aol") as read:
        with pytest.raises(InputError, match="Too many lines"):
            run_release(read, Plan(hubbub.Korolova(epsilon=2, delta="1e-3"), tmp_path / "out"), ledger)
        assert ledger.entries() == []


def test_delta_is_compared_with_declared_users(log_file: Path, tmp_path: Path, hubbub: Hubbub) -> None:
    plan = Plan(build("korolova", {"epsilon": 2, "delta": "1e-3"}), tmp_path / "out", users_public=5000)
    with pytest.raises(Refused, match="too large"):
        plan.drafted()
    arguments = ("release", log_file, "--format", "aol", "--mechanism", "korolova", "--epsilon", "2", "--delta", "0.05")
    result = hubbub(*arguments, "--out", tmp_path / "warned")
    assert "1/users" in result.stderr, "without a declared number the owner is warned on the terminal"
    result = hubbub(*arguments, "--out", tmp_path / "allowed", "--users-public", "5000", "--not-private", "--json")
    assert document(result)["private"] is True, "--not-private changes nothing about what is proven"


LOW = [
    {"settings": {"b": 1, "K": 0, "d": 100}},
    {"settings": {"b": "1/50", "K": 0, "b_q": 1, "d": 20}, "variant": "published"},
]


@pytest.mark.parametrize("low", LOW)
def test_a_threshold_that_lets_everything_pass_is_refused(log_file: Path, tmp_path: Path, low: dict[str, Any]) -> None:
    """δ reaches 1: nothing is proven, unless the owner says so nothing is done, and the card claims nothing."""
    mechanism = build("korolova", **low)
    assert mechanism.loss().delta == 1.0
    with pytest.raises(Refused, match="δ reaches 1") as refused:
        Plan(mechanism, tmp_path / "out").drafted()
    assert "K = 0" in str(refused.value) and "--not-private" in str(refused.value)
    with Ledger() as ledger, read_log(log_file, format="aol") as log:
        run_release(log, Plan(mechanism, tmp_path / "out", not_private=True), ledger)
        assert [entry.private for entry in ledger.entries()] == [False]
    assert broken(tmp_path / "out") == []
    card = Release(tmp_path / "out").card
    assert card["mechanism"]["stamp"] == "NOT PRIVATE" and card["claim"]["epsilon"] is None  # type: ignore[index]


@pytest.mark.parametrize("read", [True, False], ids=["read_log alone", "Owner alone"])
def test_the_cards_period_is_the_one_that_was_applied(log_file: Path, tmp_path: Path, read: bool) -> None:
    period = Period(date(2006, 3, 1), date(2006, 3, 14))
    mechanism, owner = hubbub.Korolova(epsilon=4, delta="1e-3"), Owner(period=None if read else period)
    with Ledger() as ledger, read_log(log_file, format="aol", period=period if read else None) as log:
        with pytest.raises(ParameterError, match="cut to") as raised:
            run_release(log, Plan(mechanism, tmp_path / "out", owner), ledger)
        assert "between 2006-03-01 and 2006-03-14" in str(raised.value)
        assert ledger.entries() == []


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": "0.12345678901234567", "delta": "1e-6", "d": 100},
        {"b": "100.000000000000000001", "K": 1000, "d": 1},
    ],
)
def test_noise_that_cannot_be_drawn_costs_nothing(log_file: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    plan = Plan(build("korolova", settings), tmp_path / "out")
    with pytest.raises(ParameterError, match="cannot be drawn exactly"):
        plan.drafted()
    with Ledger() as ledger, read_log(log_file, format="aol") as log:
        with pytest.raises(ParameterError, match="fewer digits"):
            run_release(log, plan, ledger)
        assert ledger.entries() == []


def test_a_release_is_itself_a_look_at_the_log(log_file: Path, tmp_path: Path) -> None:
    """Exact numbers lie in owner-only/ afterwards: later parameters on the same data may be informed by them."""
    mechanism = hubbub.Korolova(epsilon=2, delta="1e-5", d=3)
    with Ledger() as ledger, read_log(log_file, format="aol") as log:
        for name, dataset in (("one", "march"), ("two", "march"), ("three", "march"), ("other", "april")):
            run_release(log, Plan(mechanism, tmp_path / name, dataset=dataset), ledger)
        assert [look.command for look in ledger.looks("default", "march")] == ["release"] * 3
    said: Any = {n: Release(tmp_path / n).card["data_dependent_choices"] for n in ("one", "two", "three", "other")}
    assert [said[n][0]["informed_by"] for n in said] == ["public", "raw", "raw", "raw"]
    assert "under another name" in said["other"][0]["note"], "the data is that of march, whatever it is called"
    assert said["two"] == said["three"] and "an earlier release (its owner-only facts" in said["two"][0]["note"]
    assert broken(tmp_path / "three") == []


def test_a_claim_without_bound_is_null(log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A paper whose formula gives infinity claims nothing; the card holds null, with the reason."""
    claim = Claim("a paper", math.inf, math.nan, holds=True, why="its α is infinite")
    monkeypatch.setattr(hubbub.Korolova, "claimed", lambda self: claim)
    with hubbub.read_log(log_file, format="aol") as log, pytest.warns(UserWarning, match="δ = "):
        made = hubbub.release(log, hubbub.Korolova(b=1, K=0), tmp_path / "out")
    claimed: Any = made.card["mechanism"]
    assert claimed["claimed"] == {
        "by": "a paper", "epsilon": None, "delta": None, "holds": True, "why": "its α is infinite"
    }  # fmt: skip
    assert broken(tmp_path / "out") == []


def test_a_claim_without_bound_is_null_in_the_document(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = Claim("a paper", math.inf, None, holds=True, why="its α is infinite")
    monkeypatch.setattr("hubbub.Korolova.claimed", lambda self: claim)
    result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--json")
    assert document(result)["claimed"] == {"epsilon": None, "delta": None}
    assert "claimed    ε = none, δ = none by a paper" in hubbub("card", tmp_path / "out").stdout


def test_low_thresholds_on_the_command_line(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """δ below 1, however large, is a guarantee; its numbers are in the document and on the card."""
    result = hubbub(
        *("release", log_file, "--format", "aol", "--mechanism", "korolova", "--set", "b=1", "--set", "K=0"),
        *("--out", tmp_path / "out", "--json"),
    )
    assert document(result)["guarantee"]["delta"] == pytest.approx(0.731, abs=1e-3)  # type: ignore[index]
    assert broken(tmp_path / "out") == []


@pytest.mark.parametrize("trouble", ["a card", "a page", "a name"])
def test_what_cannot_be_stated_costs_nothing(
    log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    """Card and pages are made once before the budget is reserved."""
    mechanism, owner = hubbub.Korolova(epsilon=2, delta="1e-5"), Owner()
    if trouble == "a card":
        monkeypatch.setattr(hubbub.Korolova, "spurious", lambda self: 1 / 0)
    elif trouble == "a page":
        monkeypatch.setattr("hubbub.show.public.cell", lambda value, column: 1 / 0)
        jinja.cache_clear()
    else:
        owner = Owner(title="lone \ud800")
    with Ledger() as ledger, read_log(log_file, format="aol") as log:
        with pytest.raises((ZeroDivisionError, UnicodeEncodeError)):
            run_release(log, Plan(mechanism, tmp_path / "out", owner), ledger)
        assert ledger.entries() == []
    monkeypatch.undo()
    jinja.cache_clear()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_reads_what_is_owner_only(
    log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    """Whatever the process's own habit is, and while the release is written, too."""

    def modes(folder: Path) -> tuple[int, set[int]]:
        return folder.stat().st_mode & 0o777, {path.stat().st_mode & 0o777 for path in folder.iterdir()}

    def halfway(folder: Path, card: Card) -> list[Path]:
        assert modes(folder.parent / "owner-only")[0] == 0o700
        return write_pages(folder, card)

    monkeypatch.setattr("hubbub.release.folder.write_pages", halfway)
    before = os.umask(umask)
    try:
        with read_log(log_file, format="aol", work=tmp_path / "work") as log:
            assert modes(log.work)[0] == 0o700
            hubbub.release(log, hubbub.Korolova(epsilon=2, delta="1e-5"), tmp_path / "out")
    finally:
        os.umask(before)
    assert modes(tmp_path / "out" / "owner-only") == (0o700, {0o600})
    assert modes(tmp_path / "out" / "public") == (0o755, {0o644})
