"""The synthetic log of crowd: histograms by hand, walks over released keys only, nothing of the log besides."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, aol_lines

import hubbub as package
from hubbub.audit.checks.pooled import Recorder
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, SECRET, tiny_log
from hubbub.errors import InputError, ParameterError
from hubbub.ingest.schema import SCHEMA
from hubbub.log import Period
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.crowd.histograms import GRID_BITS
from hubbub.mechanisms.crowd.synthetic import NO_PERIOD, SHORTEST, activity, synthesise
from hubbub.mechanisms.crowd.walks import Public
from hubbub.steps.profile import SHAPES, profile
from hubbub.steps.sessions import GAP, SEPARATOR

pytestmark = pytest.mark.usefixtures("no_report")

BITS = dict.fromkeys(SHAPES, GRID_BITS)
SETTINGS: dict[str, Any] = {"epsilon": 8, "delta": "1e-3", "language": "none"}


def crowd(tables: tuple[str, ...] = ("log",), **settings: Any) -> Mechanism:
    return build("crowd", SETTINGS | settings, tables=list(tables))


def events(seed: int = 1, users: int = 40) -> list[Event]:
    """Users of all kinds: ties in time, gaps around half an hour, several clicks, missing times, times before 1970."""
    draw = random.Random(seed)  # noqa: S311
    rows: list[Event] = []
    for u in range(users):
        time = draw.randrange(-(10**6), 10**7)
        for _ in range(draw.choice([1, 2, 3, 4, 5, 8, 9, 30, 70])):
            time += draw.choice([0, 1, 60, GAP, GAP + 1, 10**5])
            query = draw.choice("abcdé")
            clicks: list[str | None] = draw.choice([[None], ["x"], ["x", "y"], ["x", "y", "z", "w"]])
            rows += [(f"user{u}", time, query, url) for url in clicks]
        rows.append((f"user{u}", None, "untimed", "x"))
    rows += [("machine", 7 * i, "again", None) for i in range(9000)]
    return rows


def by_hand(rows: list[Event]) -> dict[str, list[int]]:
    """The four histograms without SQL."""
    sums = {name: [0] * shape.bins for name, shape in SHAPES.items()}
    users: dict[str, dict[tuple[int, str], int]] = defaultdict(Counter)
    for user, time, query, url in rows:
        if time is not None:
            users[user][(time, query)] += url is not None
    for searches in users.values():
        n = len(searches)
        bin_ = 14 if n >= 8192 else next(b for b in range(14) if n <= 2**b)
        sums["activity"][bin_] += 1
        times = sorted(time for time, _ in searches)
        cuts = [0, *(i for i, (s, t) in enumerate(itertools.pairwise(times), 1) if t - s > GAP), n]
        hers = {
            "session length": Counter(min(b - a, 20) - 1 for a, b in itertools.pairwise(cuts)),
            "clicks per search": Counter(min(c, 3) for c in searches.values()),
            "hour of week": Counter((t // 3600 + 72) % 168 for t in times),
        }
        for name, counted in hers.items():
            c2 = (SHAPES[name].length or 0) ** 2
            below = max(c2, sum(x * x for x in counted.values()))
            shares = {b: math.isqrt(4**GRID_BITS * x * x * c2 // below) for b, x in counted.items()}
            assert sum(g * g for g in shares.values()) <= 4**GRID_BITS * c2
            for b, g in shares.items():
                sums[name][b] += g
    return sums


def test_the_histograms_are_those_by_hand() -> None:
    rows = events()
    with tiny_log(rows) as log:
        found = profile(log, BITS)
    assert {name: sums.tolist() for name, sums in found.items()} == by_hand(rows)


def test_a_log_without_times_is_refused_before_anything_is_drawn() -> None:
    with tiny_log([("a", None, "q", "u")]) as log, pytest.raises(InputError, match="no times"):
        crowd().measure(log, MODE)


def test_noise_of_the_histograms_is_what_the_budget_says() -> None:
    """μ² of a share of 1 in 104 each; Δ²/(S − 4) <= μ², and not much less."""
    mechanism: Any = crowd(("queries", "clicks", "transitions", "sessions", "log"), epsilon=1, delta="1e-6")
    whole = sum((s.total for s in mechanism.steps()), start=0)
    assert [h.name for h in mechanism.histograms] == list(SHAPES)
    for histogram, c in zip(mechanism.histograms, (None, 4, 8, 8), strict=True):
        shift2 = 1 if c is None else 4**10 * c * c
        assert histogram.variance == math.ceil(shift2 / histogram.mu2) + 4
        assert float(histogram.mu2 / whole) == pytest.approx(1 / 104, rel=1e-6)


def test_a_tiny_budget_coarsens_the_grid_and_never_stops_halfway() -> None:
    mechanism: Any = crowd(epsilon="0.02", delta="1e-6")
    assert all(2 * h.variance < 1 << 46 for h in mechanism.histograms)
    assert min(h.bits for h in mechanism.histograms) < GRID_BITS
    with pytest.raises(ParameterError):
        crowd(epsilon="1e-9", delta="1e-12")


def test_every_bin_is_drawn_once_with_the_stated_noise() -> None:
    mechanism: Any = crowd()
    with tiny_log(events()) as log:
        noise = Recorder()
        mechanism.draw(mechanism.measure(log, MODE), noise)
    asked = [a for a in noise.asked if a[0] in SHAPES]
    assert asked == [(h.name, h.variance, SHAPES[h.name].bins) for h in mechanism.histograms]


# ------------------------------------------------------------------ the generator


def public(period: Period | None = None, **other: Any) -> Public:
    """Made-up released tables."""
    queries = [("news", 400), ("maps", 300), ("maps berlin", 120), ("cats", 80), ("rare", 30)]
    clicks = [("maps", "m.example", 200), ("maps", "n.example", 50), ("cats", "c.example", 20)]
    transitions = [("maps", "maps berlin", 90), ("news", "cats", 30), ("cats", "news", 25)]
    sessions = [(SEPARATOR.join(("news", "cats", "news")), 20)]
    tables: dict[str, pa.Table] = {
        "queries": pa.table(dict(zip(("query", "users"), zip(*queries, strict=True), strict=True))),
        "clicks": pa.table(dict(zip(("query", "url", "users"), zip(*clicks, strict=True), strict=True))),
        "transitions": pa.table(
            dict(zip(("query", "next_query", "users"), zip(*transitions, strict=True), strict=True))
        ),
        "sessions": pa.table(dict(zip(("queries", "users"), zip(*sessions, strict=True), strict=True))),
    }
    histograms = {
        "activity": np.array([300, 200, 100, 50, 20, 10, 5, 0, 0, -3, 0, 0, 0, 0, -4]),
        "session length": np.array([500, 300, 100, *[0] * 16, 10]) << 10,
        "clicks per search": np.array([500, 300, 100, 50]) << 10,
        "hour of week": np.array([*[10] * 24, *[1] * 144]) << 10,
    }
    return Public(**tables | other, histograms=histograms, noise_sd=dict.fromkeys(histograms, 1.0), period=period)


def shuffled(tables: Public, seed: int) -> Public:
    """The same rows of every table in another order."""
    rng = np.random.default_rng(seed)
    names = ("queries", "clicks", "transitions", "sessions")
    mixed = {n: getattr(tables, n).take(pa.array(rng.permutation(getattr(tables, n).num_rows))) for n in names}
    return Public(**mixed, histograms=tables.histograms, noise_sd=tables.noise_sd, period=tables.period)


def test_the_log_is_a_function_of_what_was_released_and_the_seed() -> None:
    one = synthesise(public(), SECRET)
    assert one.equals(synthesise(shuffled(public(), 7), SECRET)), "internal order shows"
    assert not one.equals(synthesise(public(), bytes(16)))


def test_rows_are_in_the_columns_and_the_order_of_a_log() -> None:
    rows = synthesise(public(), SECRET)
    assert rows.schema.equals(SCHEMA)
    users = rows.column("user").to_pylist()
    assert {int(u) for u in users} == set(range(1, 686))  # 300 + … + 5: positive parts only
    order = [(int(u), t) for u, t in zip(users, rows.column("time").to_pylist(), strict=True)]
    assert order == sorted(order)


def test_only_released_strings_appear_and_ranks_are_the_order_of_released_urls() -> None:
    released = public()
    rows = synthesise(released, SECRET)
    assert set(rows.column("query").to_pylist()) == set(released.queries.column("query").to_pylist())
    ranks = {("maps", "m.example"): 1, ("maps", "n.example"): 2, ("cats", "c.example"): 1}
    seen = {(r["query"], r["url"]): r["rank"] for r in rows.to_pylist() if r["url"] is not None}
    assert seen == ranks
    assert all((r["rank"] is None) == (r["url"] is None) for r in rows.to_pylist())


@pytest.mark.parametrize(
    "period",
    [None, Period(date(2020, 2, 3), date(2020, 3, 1)), Period(date(2020, 2, 3), date(2020, 2, 3))],
)
def test_times_lie_in_the_public_period(period: Period | None) -> None:
    times = np.array(synthesise(public(period), SECRET).column("time").to_pylist())
    start, after = (period or NO_PERIOD).seconds
    assert times.min() >= start and times.max() < after
    hours = Counter(((times // 3600 + 72) % 168 // 24).tolist())
    assert hours[0] > 0.5 * times.size  # 240 of 384 parts on Mondays


def busy() -> Public:
    """400 users of 33 to 64 searches each."""
    histograms = dict(public().histograms) | {"activity": np.array([0] * 6 + [400] + [0] * 8)}
    return Public(**{**public().__dict__, "histograms": histograms})


def test_counts_of_users_in_the_log_come_near_the_released_ones() -> None:
    released = busy()
    rows = synthesise(released, SECRET).to_pylist()
    for table, key in ((released.queries, ("query",)), (released.clicks, ("query", "url"))):
        held = Counter(k for _, k in {(r["user"], tuple(r[c] for c in key)) for r in rows})
        for row in table.to_pylist():
            n = held[tuple(row[c] for c in key)]
            assert 0.6 * row["users"] - 10 < n < 1.3 * row["users"] + 10, (row, n)


def test_only_released_steps_are_walked_and_sessions_do_not_run_into_each_other() -> None:
    released = busy()
    rows = synthesise(released, SECRET).to_pylist()
    searches = sorted({(int(r["user"]), r["time"], r["query"]) for r in rows})
    steps, gaps, sessions = set(), [], len({s[0] for s in searches})
    for (user, time, query), (other, later, following) in itertools.pairwise(searches):
        if user == other and later - time <= GAP:
            gaps.append(later - time)
            steps |= {(query, following)} - {(query, query)}
        elif user == other:
            sessions += 1
    assert steps == {(r["query"], r["next_query"]) for r in released.transitions.to_pylist()}
    assert min(gaps) >= SHORTEST and 100 < np.median(gaps) < 180  # log-uniform from 10 to 1800 seconds: 134
    assert 1.5 < len(searches) / sessions < 2.2  # (500 · 1 + 300 · 2 + 100 · 3 + 10 · 30) / 910 = 1.87


def sizes_of(bins: list[int]) -> Any:
    """Searches of each synthetic user, where the noise of a bin of activity has a deviation of 20."""
    noisy = public()
    histograms = dict(noisy.histograms) | {"activity": np.array(bins)}
    deviations = dict(noisy.noise_sd) | {"activity": 20.0}
    made = Public(**{**noisy.__dict__, "histograms": histograms, "noise_sd": deviations})
    return activity(made, np.random.default_rng(1))


@pytest.mark.parametrize(("bins", "most"), [([900, *[0] * 13, 39], 1), ([900, 0, 0, 0, 41, *[0] * 10], 16)])
def test_noise_alone_makes_no_crowds_of_machines(bins: list[int], most: int) -> None:
    """A bin within two standard deviations of zero counts as empty; the number of users stays the sum."""
    sizes = sizes_of(bins)
    assert sizes.size == sum(bins) and sizes.max() == pytest.approx(most, rel=0.1)


def test_the_busier_a_bin_the_surer_it_must_be() -> None:
    """Noise on fifteen bins, 1,000 times: what it adds to an ordinary log stays of the size of the log."""
    rng = np.random.default_rng(7)
    true = np.array([39, 28, 33, 53, 60, 73, 49, 37, 17, 7, 3, 1, 0, 0, 0])  # 400 users, 18,000 searches
    made = [int(sizes_of((true + 20 * rng.standard_normal(15)).astype(int).tolist()).sum()) for _ in range(1000)]
    assert np.quantile(made, 0.99) < 4 * 18_000 and np.median(made) > 18_000 / 4
    seen = sizes_of([900, *[0] * 13, 100])  # five deviations are no noise
    assert seen.max() >= 8192


def test_a_release_of_nothing_is_an_empty_log() -> None:
    nothing = {n: getattr(public(), n).slice(0, 0) for n in ("queries", "clicks", "transitions", "sessions")}
    assert synthesise(public(**nothing), SECRET).num_rows == 0
    nobody = public()
    none = dict(nobody.histograms) | {"activity": np.full(15, -5)}
    assert synthesise(Public(**{**nobody.__dict__, "histograms": none}), SECRET).num_rows == 0


def test_keys_without_counts_are_alike() -> None:
    bare = public()
    uncounted = bare.clicks.set_column(2, "users", pa.nulls(3, pa.int64()))
    rows = synthesise(public(clicks=uncounted), SECRET)
    clicks = Counter(r["url"] for r in rows.to_pylist() if r["query"] == "maps" and r["url"])
    assert 0.7 < clicks["m.example"] / clicks["n.example"] < 1.4


# ------------------------------------------------------------------ end to end


def released(log_file: Path, out: Path, tables: tuple[str, ...] = ("queries", "log"), **plan: Any) -> package.Release:
    with package.read_log(log_file, format="aol") as log:
        return package.release(log, package.Crowd(**SETTINGS, tables=list(tables)), out, users_public=300, **plan)


@pytest.mark.slow
def test_a_release_end_to_end(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    released(log_file, out)
    hubbub("card", out, "--check")
    rows = pq.read_table(out / "public" / "log.parquet")
    assert rows.schema.names == SCHEMA.names and rows.num_rows
    assert set(rows.column("query").to_pylist()) <= set(
        pq.read_table(out / "public" / "queries.parquet").column("query").to_pylist()
    )
    card = json.loads((out / "public" / "card.json").read_text())
    assert [s["name"] for s in card["steps"]][-4:] == list(SHAPES)
    assert any("mixture of interests" in text for text in card["claim"]["conditions"])
    seen = json.loads(hubbub("inspect", out / "public" / "log.parquet", "--json").stdout)
    assert seen["owner_only"]["rows"] == rows.num_rows


def test_tasks_run_on_the_log_unchanged(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    released(log_file, out, ("log",))
    tasks = ("counts", "suggestion", "retrieval")
    options = [x for task in tasks for x in ("--task", task)]
    scores = json.loads(hubbub("evaluate", out, "--log", log_file, "--format", "aol", *options, "--json").stdout)
    assert scores["counts"]["queries.distinct"]["release"] >= 2
    for task in tasks:
        assert scores[task] and scores[task] != {"not_evaluable": "not asked for"}


@pytest.mark.slow
def test_names_days_and_the_order_of_rows_leave_no_trace(log_file: Path, tmp_path: Path) -> None:
    """Other ids, the same hours of another week, rows upside down: with one seed the log is the same to the byte."""
    header, *lines = aol_lines()
    other = tmp_path / "other.tsv"
    moved = []
    for line in lines:
        user, query, time, rank, url = line.split("\t")
        moved.append("\t".join((f"9{user}x", query, time.replace("2006-03", "2017-03"), rank, url)))
    other.write_text("\n".join([header, *reversed(moved)]) + "\n", encoding="utf-8")
    plan: dict[str, Any] = {"seed": 5, "not_private": True}
    made = [released(log, tmp_path / log.stem / "out", ("log",), **plan) for log in (log_file, other)]
    one, two = ((m.public / "log.parquet").read_bytes() for m in made)
    assert one == two


def test_published_tables_and_noisy_bins_make_the_log_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the log deleted: what is in public/ and the noised histograms are all it was made of."""
    import hubbub.mechanisms.crowd as module

    seen: list[tuple[Public, bytes]] = []

    def synthesise_and_note(public: Public, seed: bytes) -> pa.Table:
        seen.append((public, seed))
        return synthesise(public, seed)

    monkeypatch.setattr(module, "synthesise", synthesise_and_note)
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(aol_lines()) + "\n", encoding="utf-8")
    tables = ("queries", "clicks", "transitions", "sessions", "log")
    made = released(path, tmp_path / "out", tables, seed=2, not_private=True)
    path.unlink()
    (noted, seed), read = seen[0], {name: pq.read_table(made.public / f"{name}.parquet") for name in tables}
    lists = [SEPARATOR.join(queries) for queries in read["sessions"].column("queries").to_pylist()]
    read["sessions"] = read["sessions"].set_column(0, "queries", pa.array(lists, pa.string()))
    parts = {name: read[name].drop_columns(["noise_sd"]) for name in tables[:-1]}
    again = Public(**parts, histograms=noted.histograms, noise_sd=noted.noise_sd)
    assert synthesise(again, seed).equals(read["log"])


@pytest.mark.slow
def test_one_user_less_shows_only_in_what_a_mechanism_put_out(tmp_path: Path) -> None:
    """Taint: the same noise with and without one user; the cards differ in hashes and numbers of rows alone."""
    lines = aol_lines()
    cards = []
    for name, rows in {"all": lines, "less": [r for r in lines if not r.startswith("299\t")]}.items():
        path = tmp_path / f"{name}.tsv"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        ledger = tmp_path / f"{name}.sqlite"
        made = released(path, tmp_path / name, seed=4, not_private=True, ledger=ledger)
        card = json.loads((made.public / "card.json").read_text())
        for file in card["release"]["files"]:
            file.update(sha256="", rows=0)
        cards.append(card | {"integrity": ""})
        assert len(set(made.log.to_arrow().column("user").to_pylist())) not in (299, 300), "the exact number of users"
    assert cards[0] == cards[1]
