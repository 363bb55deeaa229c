"""optimal from the command line: a log in, a log out, a certificate, and what must be refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import HEADER, Hubbub, document

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.checks.standard import contract
from hubbub.audit.protocols import Subject
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.card import check
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.mechanisms.base import Released, Rows
from hubbub.mechanisms.optimal.histograms import Histograms, starts
from hubbub.mechanisms.optimal.strict import apportion, deal, solve_released, synthetic_users
from hubbub.noise import SeededNoise
from hubbub.release.opened import Release

PUBLISHED = (
    "--mechanism",
    "optimal",
    "--variant",
    "published",
    "--epsilon",
    "1",
    "--delta",
    "0.5",
    "--set",
    "seconds=2",
)
COLUMNS = ["user", "time", "query", "rank", "url"]


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 users: everybody clicks one of four portals, neighbours share a pair, some have pairs of their own."""
    lines = [HEADER]
    for u in range(120):
        lines.append(f"{u}\tportal\t2006-03-01 08:00:00\t1\thttp://p{u % 4}.example")
        lines.append(f"{u}\tshared {u // 2}\t2006-03-01 09:00:00\t1\thttp://s{u // 2}.example")
        lines.append(f"{u}\town {u}\t2006-03-01 10:00:00\t1\thttp://own{u}.example")
    path = tmp_path_factory.mktemp("optimal") / "log.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("goal", ["size", "diverse", "frequent"])
def test_a_published_log(hubbub: Hubbub, clicks: Path, tmp_path: Path, goal: str) -> None:
    out = tmp_path / "out"
    said = hubbub(
        "release",
        clicks,
        "--format",
        "aol",
        *PUBLISHED,
        "--set",
        f"goal={goal}",
        "--not-private",
        "--json",
        "--out",
        out,
    )
    found = document(said)
    certificate: Any = found["certificate"]
    assert certificate["objective"] <= certificate["upper_bound"] and 0 <= certificate["gap"] < 0.2
    assert found["private"] is False and found["guarantee"]["definition"] == "none"  # type: ignore[index]
    assert "held fixed" in found["guarantee"]["scope"]  # type: ignore[index]
    assert all(f.holds for f in check(out)), [f for f in check(out) if not f.holds]
    log = Release(out).log.to_arrow()
    assert log.column_names == COLUMNS and log.num_rows == certificate["rows"]
    rows = log.to_pylist()
    assert not any(r["query"].startswith("own") for r in rows), "a unique pair came out"
    assert rows == sorted(rows, key=lambda r: (int(r["user"]), r["query"], r["url"]))
    assert (out / "public" / "index.html").read_text().count("NOT PRIVATE")
    public = "".join(p.read_text() for p in (out / "public").iterdir() if p.suffix != ".parquet")
    assert "expected_real_users" not in public and "upper_bound" not in public
    facts = json.loads((out / "owner-only" / "facts.json").read_text())
    assert 0 < facts["certificate"]["expected_real_users"] <= 120
    with read_log(out / "public" / "log.parquet") as again:
        assert again.ingested.kept == log.num_rows


def test_published_needs_a_word_from_the_owner(hubbub: Hubbub, clicks: Path, tmp_path: Path) -> None:
    said = hubbub("release", clicks, "--format", "aol", *PUBLISHED, "--out", tmp_path / "out", code=2)
    assert "private only with the output counts held fixed" in said.output and "--not-private" in said.output
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_too_large_is_refused_with_the_reason(hubbub: Hubbub, clicks: Path, tmp_path: Path) -> None:
    asked = ("--set", "goal=frequent", "--set", "O=3000", "--not-private", "--out", tmp_path / "out")
    said = hubbub("release", clicks, "--format", "aol", *PUBLISHED, *asked, code=2)
    assert "No output of this size" in said.output and "users·B" in said.output
    assert "infinite" not in hubbub("ledger", "show").output.lower()


def test_least_loss_and_frontier_from_the_command_line(hubbub: Hubbub, clicks: Path, tmp_path: Path) -> None:
    asked = ("--mechanism", "optimal", "--variant", "published", "--not-private", "--json", "--set", "seconds=2")
    target = document(
        hubbub(
            "release",
            clicks,
            "--format",
            "aol",
            *asked,
            "--set",
            "target=30",
            "--set",
            "frontier=3",
            "--out",
            tmp_path / "o",
        )
    )["certificate"]
    assert target["rows"] >= 30 and target["least_loss"]["none_below_B"] <= target["least_loss"]["B"]  # type: ignore[index]
    assert target["frontier"]  # type: ignore[index]


def test_a_strict_log_is_private_and_checks(hubbub: Hubbub, clicks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = hubbub(
        *("release", clicks, "--format", "aol", "--mechanism", "optimal", "--epsilon", "8", "--delta", "1e-3"),
        *("--set", "d=1", "--json", "--out", out),
    )
    found = document(said)
    assert found["private"] is True and found["guarantee"]["epsilon"] == 8  # type: ignore[index]
    assert found["certificate"]["gap"] == 0  # type: ignore[index]
    assert all(f.holds for f in check(out)), [f for f in check(out) if not f.holds]
    log = Release(out).log.to_arrow()
    assert set(log.column("query").to_pylist()) == {"portal"}
    assert log.column("time").null_count == log.num_rows
    text = (out / "public" / "README.md").read_text()
    assert "synthetic" in text and "Keys only" not in text


# ------------------------------------------------------------------ strict, part by part


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 1, "delta": "1e-2"},
        {"epsilon": 1, "delta": "1e-2", "d": 3, "bins": 3, "neighbours": "replace"},
        {"b": 1, "b_a": 2, "T": 4, "d": 1, "bins": 1},
    ],
)
def test_the_contract_holds_for_the_histograms(settings: dict[str, Any]) -> None:
    mechanism = Histograms(**settings)
    for row in contract(Subject.of(mechanism)):
        assert not row.refuted, f"{row.check}: {row.detail}"
    whole = build("optimal", {k: v for k, v in settings.items() if k != "neighbours"}, neighbours=mechanism.neighbours)
    assert whole.steps() == mechanism.steps()
    if "epsilon" in settings:
        assert whole.proven().epsilon == 1 and (whole.proven().delta or 1) <= 0.01


def test_activity_is_counted_in_public_bins() -> None:
    assert starts(6) == [1, 2, 3, 5, 9, 17]
    events = [("a", t, "q", "u") for t in range(4)] + [("b", 1, "q", "u"), ("c", 1, "q", None)]
    with tiny_log(events) as log:
        counts = Histograms(b=1, b_a=1, T=4, bins=4).measure(log, MODE)
        assert counts["activity"].local().n.tolist() == [1, 0, 1, 0]  # c clicked nothing
        assert counts["clicks"].local().n.tolist() == [2]


def test_the_log_is_made_of_the_histograms_alone() -> None:
    """Two logs with the same histograms give the same bytes under the same noise, whoever clicked what."""
    logs = [
        [("a", 1, "p", "u"), ("b", 1, "q", "u"), ("c", 1, "p", "u"), ("c", 2, "q", "u")],
        [("x", 5, "q", "u"), ("y", 9, "p", "u"), ("z", 1, "q", "u"), ("z", 7, "p", "u")],
    ]
    mechanism = build("optimal", {"d": 2, "b": 1, "b_a": "1/50", "T": 1, "bins": 2})
    written = []
    for events in logs:
        with tiny_log(events) as log:
            table = mechanism.draw(mechanism.measure(log, MODE), SeededNoise(3))["log"]
            assert isinstance(table, Rows)
            written.append(table.rows)
    assert written[0].equals(written[1]) and written[0].num_rows > 0


def test_rows_are_apportioned_by_largest_remainders() -> None:
    assert apportion(np.array([5, 3, 2]), 10).tolist() == [5, 3, 2]
    assert apportion(np.array([5, 3, 2]), 5).tolist() == [3, 1, 1]  # 2.5, 1.5, 1: the tie goes to the first
    weights = np.array([7, 1, 1, 1])
    for total in range(12):
        x = apportion(weights, total)
        assert x.sum() == total and (np.abs(x - weights * total / 10) < 1).all()


def test_goals_of_strict() -> None:
    weights = np.array([50, 30, 20])
    x, size = solve_released("size", weights, 1000, None)
    assert x.tolist() == [50, 30, 20] and size.gap == 0
    assert solve_released("size", weights, 10, None)[0].tolist() == [5, 3, 2]
    assert solve_released("diverse", weights, 2, None)[0].tolist() == [1, 1, 0]
    x, frequent = solve_released("frequent", weights, 1000, 20)
    assert x.tolist() == [10, 6, 4] and frequent.objective == 1
    assert "100 of the 200" in solve_released("frequent", weights, 1000, 200)[1].note
    assert solve_released("size", np.zeros(0, np.int64), 5, None)[1].rows == 0


def test_synthetic_users_have_the_noisy_activity() -> None:
    noise = SeededNoise(5)
    busy = Released(np.arange(4), np.array([100, 50, 40, -3]), 1.0)
    activity = synthetic_users(busy, 4, noise)
    assert np.bincount(activity, minlength=6)[[1, 2]].tolist() == [100, 50]
    assert ((activity[150:] == 3) | (activity[150:] == 4)).all() and activity.size == 190
    pairs, users = deal(np.array([60, 40]), activity, noise)
    assert np.bincount(pairs).tolist() == [60, 40]
    assert (np.bincount(users, minlength=191)[1:] <= activity).all()


def test_with_no_noise_nothing_is_left_to_chance() -> None:
    with tiny_log([(f"u{i}", i, "q", "site") for i in range(6)]) as log:
        mechanism = build("optimal", {"d": 1, "b": 1, "b_a": 1, "T": 4, "bins": 2})
        table = mechanism.draw(mechanism.measure(log, MODE), NoNoise())["log"]
        assert isinstance(table, Rows) and table.rows.num_rows == 6


def test_users_are_matched_where_the_release_says_who_they_are(hubbub: Hubbub, clicks: Path, tmp_path: Path) -> None:
    """Ids of the log are 0, 1, 2 …, numbers of the release 1, 2, 3 …: equation 10 needs the owner's table of both."""
    import pyarrow.parquet as pq

    out, strict = tmp_path / "out", tmp_path / "strict"
    hubbub("release", clicks, "--format", "aol", *PUBLISHED, "--not-private", "--out", out)
    whose = dict(zip(*pq.read_table(out / "owner-only" / "users.parquet").to_pydict().values(), strict=True))
    rows = Release(out).log.to_arrow().to_pylist()
    assert set(whose) == {row["user"] for row in rows}
    said = {(u, f"portal http://p{u % 4}.example") for u in range(120)}
    said |= {(u, f"shared {u // 2} http://s{u // 2}.example") for u in range(120)}
    assert all((int(whose[row["user"]]), f"{row['query']} {row['url']}") in said for row in rows), (
        "a row of another user"
    )
    assert "users.parquet" not in [p.name for p in (out / "public").iterdir()]
    scores: Any = document(hubbub("evaluate", out, "--task", "frequent-pairs", "--task", "retrieval", "--json"))
    found = scores["frequent-pairs"]["triplet_diff_ratio_below_40%"]["release"]
    c, x = 240, len(rows)  # every triplet of the log has one of its 240 clicks on shared pairs
    times = Counter((whose[row["user"]], row["query"]) for row in rows)
    near = sum(abs((n / x) / (1 / c) - 1) < 0.4 for n in times.values())
    assert found == pytest.approx(near / c) and "random_walk.nDCG@10" in scores["retrieval"]
    hubbub(
        *("release", clicks, "--format", "aol", "--mechanism", "optimal", "--epsilon", "8", "--delta", "1e-3"),
        *("--set", "d=1", "--out", strict),
    )
    assert not (strict / "owner-only" / "users.parquet").exists()
    scores = document(hubbub("evaluate", strict, "--task", "frequent-pairs", "--json"))
    assert "triplet_diff_ratio_below_40%" not in scores["frequent-pairs"], "synthetic users are nobody's"
    (strict / "owner-only" / "users.parquet").write_bytes((out / "owner-only" / "users.parquet").read_bytes())
    told = hubbub("evaluate", strict, "--task", "frequent-pairs", code=2).output
    assert "does not name every user" in told
