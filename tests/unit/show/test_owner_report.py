"""The owner's report: numbers behind each chart, computed by hand on a tiny log; nothing of it in public/."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.conftest import RELEASE, Hubbub, document

import hubbub as package
from hubbub.errors import InputError
from hubbub.log import read_log
from hubbub.look.estimate import estimate_log
from hubbub.mechanisms import build
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.show import exact as exact_facts
from hubbub.show import kept, owner
from hubbub.show.book import book_of
from hubbub.show.charts.counts import counts
from hubbub.show.charts.coverage import by_rank, by_volume, cumulated
from hubbub.show.charts.epsilon import epsilons, rows
from hubbub.show.charts.error import errors, parts
from hubbub.show.charts.ledger import spending
from hubbub.show.charts.parts import percent
from hubbub.show.charts.rejects import rejects
from hubbub.show.charts.scores import scores
from hubbub.show.charts.survival import binned, survival
from hubbub.show.charts.tradeoff import tradeoff
from hubbub.show.exact import ErrorParts, Exact, Sampled, UsersHistogram
from hubbub.show.kept import Gathered, LedgerSnapshot, Spending, Tried
from hubbub.show.law import AGAIN, Law
from hubbub.show.tried import other_budgets

# Three queries: 8 users asked "a" (10 searches), 4 "b" (4 searches), 1 each "c" and "d" (3 searches together).
HELD = UsersHistogram(*(np.array(column) for column in ([1, 4, 8], [2, 1, 1], [3, 4, 10], [0, 0, 1], [0, 0, 10])))


def table(name: str = "queries", **changes: Any) -> Exact:
    points = pa.table(
        {
            "key": ["a"],
            "exact": [8],
            "bounded": [6],
            "released": [9],
            "noise_sd": [2.0],
        }
    )
    facts: dict[str, Any] = {
        "table": name,
        "value": "users",
        "sampled": None,
        "held": HELD,
        "nobodys": 0,
        "error": ErrorParts(1, 4.0, 4.0, -7.0, 1.0),
        "points": points,
    }
    return Exact(**facts | changes)


# ------------------------------------------------------------------ the numbers behind the charts


def test_coverage_from_the_most_held_key_down() -> None:
    line = cumulated(table())
    assert line["rank"] == [1, 2, 4]
    assert line["keys"] == [1, 1 / 2, 1 / 4]
    assert line["events"] == pytest.approx([1, 10 / 14, 10 / 17])
    assert line["head"] == pytest.approx([10 / 17, 14 / 17, 1])
    chart = by_rank([table()])
    assert chart is not None and "; of everything: 25 % for queries" in chart.alt
    chart = by_rank([table(sampled=Sampled(20, 5, 0.2, 1.7))])
    assert chart is not None and "; of everything: about 25 % (± 2.5 %) for queries" in chart.alt  # 2 sd of 4 keys
    chart = by_volume([table(sampled=Sampled(20, 5, 0.2, 1.7))])
    assert chart is not None and "about 58.8 % (± 11.8 %) for queries" in chart.alt  # of 17 searches


def test_survival_by_users() -> None:
    assert binned(table()) == [
        {"users": 1.0, "keys": 2, "released": 0.0, "counted": "all"},
        {"users": 4.0, "keys": 1, "released": 0.0, "counted": "all"},
        {"users": 8.0, "keys": 1, "released": 1.0, "counted": "all"},
    ]
    assert [row["counted"] for row in binned(table(sampled=Sampled(20, 5, 1, 1)))] == ["one in 20", "one in 20", "all"]
    chart = survival([table()], {"queries": Law(AGAIN, [1, 5, 8, 900], [0.0, 0.5, 1.0, 1.0], 5)})
    assert chart is not None and "queries from 8 users" in chart.alt
    assert f"{AGAIN}; an even chance: queries from 5 users." in chart.alt
    line = chart.spec["layer"][0]["data"]["values"]
    assert [point["users"] for point in line] == [1, 5, 8]  # no further than the log goes


def test_many_numbers_of_users_share_a_point() -> None:
    users = np.arange(1, 1001)
    held = UsersHistogram(users, np.ones(1000, np.int64), users, np.ones(1000, np.int64), users)
    found = binned(table(held=held))
    assert sum(row["keys"] for row in found) == 1000 and len(found) == 10 + 2 * 8
    assert all(row["released"] == 1 for row in found)


def test_the_parts_of_an_error_add_up() -> None:
    assert dict(parts(table())) == {"bounding": 4.0, "noise": 4.0, "threshold": -7.0}
    chart = errors([table(), table("clicks", error=ErrorParts(3, None, 2.0, 7.0, 0.0)), table("bare", error=None)])
    assert chart is not None
    assert {(row["table"], row["part"]): row["in units of noise"] for row in chart.rows} == {
        ("queries", "bounding"): 1.0,
        ("queries", "noise"): 1.0,
        ("queries", "threshold"): -1.75,
        ("clicks", "noise"): 1.0,
        ("clicks", "bounding and threshold"): 3.5,
    }
    assert "clicks: root mean square 3.0" in chart.alt
    assert errors([table(error=None)]) is None


def test_dots_inside_the_band_are_counted() -> None:
    points = pa.table(
        {
            "key": ["a", "b", "c", "d"],
            "exact": [100, 50, 10, 10],
            "bounded": pa.nulls(4, pa.int64()),
            "released": [103, 20, 12, None],
            "noise_sd": [2.0, 2.0, 2.0, 2.0],
        }
    )
    chart = counts(table(points=points, error=None), threshold=15)
    assert chart is not None
    assert "±3.9" in chart.alt and "66.7 % of the dots" in chart.alt and "3 released queries" in chart.alt
    assert any(layer.get("mark", {}).get("type") == "text" for layer in chart.spec["layer"])  # the threshold's words
    assert counts(table(points=points.slice(3))) is None  # keys without numbers


def test_values_below_zero_have_a_place() -> None:
    points = pa.table({"key": ["a"], "exact": [0], "bounded": [0], "released": [-3], "noise_sd": [2.0]})
    chart = counts(table(points=points))
    assert chart is not None
    assert chart.spec["layer"][2]["encoding"]["x"]["scale"]["type"] == "symlog" and "<svg" in chart.svg()


def test_three_words_on_one_axis() -> None:
    found = rows({"claimed": 8.0, "proven": 16.0, "audit": {"empirical": 1.5, "of_proven": 2.0}})
    assert [(row["about"], row["epsilon"]) for row in found] == [
        ("this release: claimed", 8.0),
        ("this release: proven", 16.0),
        ("as audited: proven", 2.0),
        ("as audited: empirical, at least", 1.5),
    ]
    assert epsilons({"claimed": None, "proven": None, "audit": None}) is None  # what is not known has no mark
    nothing = epsilons({"claimed": None, "proven": 0.0, "audit": None})
    assert nothing is not None and "<svg" in nothing.svg()


def test_scores_keep_to_what_can_be_compared() -> None:
    scored = {
        "counts": {f"queries.coverage@{n}": {"original": 1.0, "release": 0.5} for n in (10, 100, 1000, "all")}
        | {"queries.total": {"original": 90, "release": 80}, "queries.unknown": {"original": 0, "release": 1}},
        "fears": {"not_evaluable": "no truth"},
        "details": {"counts": {}},
    }
    chart = scores(scored)
    assert chart is not None and len(chart.rows) == 6
    drawn = [row["name"] for row in chart.spec["layer"][0]["data"]["values"]]
    assert drawn == ["counts: queries.coverage@100", "counts: queries.coverage@all"]
    assert scores({"fears": {"not_evaluable": "no truth"}}) is None


def test_the_ledger_and_its_cap() -> None:
    entries = (
        Spending(1, "2026-01-01T00:00:00Z", "may", "crowd", 1.0, 1.0),
        Spending(2, "2026-02-01T00:00:00Z", "june", "crowd", 1.0, 1.8),
        Spending(3, "2026-03-01T00:00:00Z", "july", "k-query", None, None),
    )
    chart = spending(LedgerSnapshot("readers", 2, 4.0, entries))
    assert chart is not None
    assert "ε = 1.8 after 3 release(s), under a cap of 4; 1 of them not private" in chart.alt
    assert [row["name"] for row in chart.rows] == ["may-r1", "june-r2"]
    assert chart.spec["layer"][1]["data"]["values"][0]["entry"] == 2  # the dark bar
    assert spending(LedgerSnapshot("readers", 3, None, entries[2:])) is None and spending(None) is None


def test_lines_set_aside() -> None:
    chart = rejects({"no user": 1, "bad time": 3, "none of these": 0}, 96)
    assert chart is not None and chart.alt.startswith("4 lines (4 %)")
    assert [row["reason"] for row in chart.rows] == ["bad time", "no user"]
    assert rejects({}, 10) is None


def test_privacy_against_utility() -> None:
    tried = [Tried("queries", 1.0, 10.0, 0.25, 3.0), Tried("queries", 2.0, 20.0, 0.5, None)]
    chart = tradeoff(tried, 2.0)
    assert chart is not None and "queries keep 25 % at ε = 1, 50 % at ε = 2" in chart.alt
    assert tradeoff([], 1.0) is None


@pytest.mark.parametrize(
    ("share", "words"), [(1.0, "100 %"), (0.9999, "more than 99.9 %"), (1e-7, "less than 0.001 %")]
)
def test_nearly_all_is_not_all(share: float, words: str) -> None:
    assert percent(share) == words


# ------------------------------------------------------------------ from a log


LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
1\tweather\t2006-03-01 08:00:00\t1\thttp://w.example
1\tweather\t2006-03-02 08:00:00\t\t
1\t<b>news</b>\t2006-03-01 09:00:00\t\t
2\tweather\t2006-03-01 08:00:00\t\t
2\trare\t2006-03-01 09:00:00\t\t
3\tweather\t2006-03-01 08:00:00\t1\thttp://w.example
3\t<b>news</b>\t2006-03-01 09:00:00\t\t
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.tsv"
    path.write_text(LOG, encoding="utf-8")
    return path


def released(tiny: Path, out: Path, mechanism: str = "korolova", **settings: str) -> Path:
    """A seeded release with next to no noise: every key that is above the threshold, as it is."""
    settings = settings or {"d": "2", "b": "0.02", "K": "1"}
    with Ledger(out.parent / "book.sqlite") as book, read_log(tiny, format="aol") as log:
        made = build(mechanism, settings)
        run_release(log, Plan(made, out, seed=1, not_private=True), book)
    return out


def test_exact_facts_of_a_tiny_log(tiny: Path, tmp_path: Path) -> None:
    found = kept.read(released(tiny, tmp_path / "out") / "owner-only")
    (queries,) = found.tables
    held = {name: column.tolist() for name, column in vars(queries.held).items()}
    assert held == {
        "users": [1, 2, 3],
        "keys": [1, 1, 1],
        "events": [1, 2, 4],
        "released": [0, 1, 1],
        "released_events": [0, 2, 4],
    }
    assert queries.points.select(["key", "exact", "bounded", "released"]).to_pylist() == [
        {"key": "weather", "exact": 3, "bounded": 3, "released": 3},
        {"key": "<b>news</b>", "exact": 2, "bounded": 2, "released": 2},
    ]
    assert queries.error is not None and queries.error.rows == 2 and queries.error.bounding == 0
    assert queries.error.bias == 0 and queries.error.noise == pytest.approx(0, abs=1e-6)
    assert found.book is not None and [s.spent for s in found.book.spendings] == [None]  # seeded: nothing is proven


def test_what_bounding_takes_is_told_apart(tiny: Path, tmp_path: Path) -> None:
    found = kept.read(released(tiny, tmp_path / "out", d="1", b="0.02", K="0") / "owner-only")
    (queries,) = found.tables
    assert queries.points.to_pylist()[0] | {"noise_sd": 0} == {
        "key": "weather",
        "exact": 3,
        "bounded": 3,
        "released": 3,
        "noise_sd": 0,
    }
    assert queries.held.released.tolist() == [0, 0, 1]  # users asked about the weather first


def test_a_sample_of_keys_stands_for_all(log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_facts, "WHOLE", 300)
    out = tmp_path / "out"
    with Ledger(tmp_path / "book.sqlite") as book, read_log(log_file, format="aol") as log:
        run_release(
            log, Plan(build("zealous", {"epsilon": "2", "delta": "1e-5"}, tables=["queries", "keywords"]), out), book
        )
    found = kept.read(out / "owner-only").tables
    assert [t.table for t in found] == ["queries"]  # keywords would take long
    sampled = found[0].sampled
    assert sampled is not None and sampled.one_in == 4
    off = abs(int(found[0].held.keys.sum()) - 303)
    assert off < 5 * sampled.keys_sd, "by chance less than once in a million"
    text = (out / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "Of all other queries one in 4" in text
    assert "Not counted yet, because it would have taken long: keywords" in text


@pytest.fixture(scope="module")
def head_heavy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 users: one query of them all, asked ten times each; 20 of 100 to 190 users; 3,000 of one user each."""
    rows = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]

    def ask(user: int, query: str, at: int) -> None:
        time = f"2006-03-{1 + at // 1440:02d} {at // 60 % 24:02d}:{at % 60:02d}:00"
        rows.append(f"{user}\t{query}\t{time}\t1\thttp://{query.replace(' ', '-')}.example")

    for user in range(600):
        for at in range(10):
            ask(user, "everybody", at)
        for at in range(5):
            ask(user, f"alone {user} {at}", 1000 + at)
    for n in range(20):
        for user in range(100 + 5 * n):
            ask((user * 7 + n) % 600, f"some {n}", 2000 + n)
    path = tmp_path_factory.mktemp("head") / "log.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_sample_never_decides_about_the_head(
    head_heavy: Path, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few queries carry half of this log: whether a sample holds them must not move a share of everything."""
    made = build("crowd", {"epsilon": "2", "delta": "1e-5"}, tables=["queries", "clicks"])
    with Ledger(tmp_path / "book.sqlite") as book, read_log(head_heavy, format="aol") as log:
        run_release(log, Plan(made, tmp_path / "out", seed=seed, not_private=True), book)
        public = tmp_path / "out" / "public"
        exactly, _ = exact_facts.gather(log, made, public, every=True)
        monkeypatch.setattr(exact_facts, "WHOLE", 1_000)
        sampled, _ = exact_facts.gather(log, made, public)
    for truth, found in zip(exactly, sampled, strict=True):
        assert found.sampled is not None and truth.sampled is None
        for column in ("released", "released_events"):
            assert getattr(found.held, column).sum() == getattr(truth.held, column).sum()
        assert found.error == truth.error and found.points.equals(truth.points) and found.nobodys == truth.nobodys
        true, about = (t.held.released_events.sum() / t.held.events.sum() for t in (truth, found))
        off = 5 * true * found.sampled.events_sd / truth.held.events.sum()
        assert abs(true - about) < off < 0.1 and true > 0.4, "by chance less than once in a million"
        head, seen = (dict(zip(t.held.users.tolist(), t.held.keys.tolist(), strict=True)) for t in (truth, found))
        assert all(seen[users] == keys for users, keys in head.items() if users >= exact_facts.MANY)


def test_the_line_starts_from_the_even_chance_of_what_ran(tmp_path: Path) -> None:
    """For crowd that is not the threshold: users who hold much count less. Estimate knows, and the report as well."""
    rows = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    for n in range(4, 200, 2):  # queries of 4, 6, … 198 users; each of 300 users holds about 33
        rows += [f"{(user * 7 + n) % 300}\tquery {n}\t2006-03-01 08:00:00\t\t" for user in range(n)]
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    made = build("crowd", {"epsilon": "2", "delta": "1e-5"}, tables=["queries"])
    with Ledger(tmp_path / "book.sqlite") as book, read_log(path, format="aol") as log:
        run_release(log, Plan(made, tmp_path / "out"), book)
        curve = estimate_log(made, log, runs=8).tables["queries"].curve
    low, even, high = (curve.reaches(chance) for chance in (0.05, 0.5, 0.95))
    law = kept.read(tmp_path / "out" / "owner-only").laws["queries"]
    assert low is not None and even is not None and high is not None and law.even is not None
    assert even > 2 * made.thresholds()["queries"], "this log tells the two apart"
    assert low <= law.even <= high, "the line is one run with noise of its own: by chance not once in 10,000"
    chart = package.charts(tmp_path / "out")["survival"]
    assert f"an even chance: queries from {law.even:,} users" in chart.alt


MECHANISMS: dict[str, dict[str, str]] = {
    "crowd": {"epsilon": "20", "delta": "1e-2"},
    "sips": {"epsilon": "20", "delta": "1e-2"},
    "sessions": {"epsilon": "20", "delta": "1e-2"},
    "optimal": {"epsilon": "20", "delta": "1e-2"},
    "k-query": {"k": "2"},
    "pseudonyms": {},
    "token-hash": {},
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_a_report(name: str, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Ledger(tmp_path / "book.sqlite") as book, read_log(log_file, format="aol") as log:
        made = build(name, MECHANISMS[name])
        result = run_release(log, Plan(made, out, seed=3, not_private=True), book)
    assert not result.warning
    found = package.charts(out)
    assert (
        "coverage-rank" in found and "NOT PRIVATE. DO NOT PUBLISH." in (out / "owner-only" / "report.html").read_text()
    )
    assert {t.table for t in kept.read(out / "owner-only").tables} == set(made.tables)
    if name == "pseudonyms":  # every query is there, as often as it was asked
        (log_table,) = kept.read(out / "owner-only").tables
        assert log_table.value == "searches" and (log_table.held.keys == log_table.held.released).all()
        assert log_table.points.column("exact").equals(log_table.points.column("released"))


# ------------------------------------------------------------------ the page and the command


def test_a_release_has_a_report_and_public_has_none_of_it(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    folder = tmp_path / "out" / "owner-only"
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert text.count("NOT PRIVATE. DO NOT PUBLISH.") == 2  # on the screen, and on every printed page
    assert "hubbub evaluate RELEASE" in text and "No other budget was tried" in text
    assert not {p.name for p in (tmp_path / "out" / "public").iterdir()} & {
        "report.html",
        "exact.json",
        "exact.parquet",
    }
    assert all(p.stat().st_mode & 0o077 == 0 for p in folder.iterdir())


def test_hostile_queries_are_text(tiny: Path, tmp_path: Path) -> None:
    text = (released(tiny, tmp_path / "out") / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "<b>news" not in text and "\\u003cb\\u003enews" in text and "&lt;b&gt;news" in text


def test_a_report_that_fails_loses_no_release(
    log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hubbub: Hubbub
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(owner, "gather", broken)
    said = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--json")
    assert "exact facts could not be gathered (RuntimeError: no such thing)" in said.stderr
    assert document(said)["private"] is True
    with Ledger() as book:
        assert [e.state for e in book.entries()] == ["committed"]
    assert "The exact facts were not gathered" in (tmp_path / "out" / "owner-only" / "report.html").read_text()
    hubbub("card", tmp_path / "out", "--check")


def test_rebuilt_from_what_is_there(released: Path, hubbub: Hubbub) -> None:
    report = released / "owner-only" / "report.html"
    before = report.read_text(encoding="utf-8")
    report.unlink()
    said = hubbub("report", released)
    assert report.read_text(encoding="utf-8") == before and "not private, do not publish" in said.stdout
    (released / "owner-only" / "exact.json").unlink()  # a release from before there were exact facts
    assert set(document(hubbub("report", released, "--json"))["charts"]) == {"epsilon"}  # type: ignore[call-overload]


def test_counted_again_from_the_log(released: Path, log_file: Path, hubbub: Hubbub, own_ledger: Path) -> None:
    before = kept.read(released / "owner-only")
    (released / "owner-only" / "exact.json").unlink()
    hubbub("report", released, "--log", log_file)
    after = kept.read(released / "owner-only")
    assert [vars(t.held)["keys"].tolist() for t in after.tables] == [
        vars(t.held)["keys"].tolist() for t in before.tables
    ]
    assert {t.epsilon for t in after.tried} == {0.5, 1.0, 2.0, 4.0, 8.0}
    assert all(0.7 < t.searches < 0.72 and t.rows >= 2 for t in after.tried)  # three of four searches are released
    assert {"tradeoff", "survival"} <= set(package.charts(released))
    with Ledger(own_ledger) as book:
        assert [look.command for look in book.looks("default", "default")] == ["release", "report"]


def test_what_bounding_took_stays_known(released: Path, log_file: Path, hubbub: Hubbub) -> None:
    before = kept.read(released / "owner-only").tables[0].error
    hubbub("report", released, "--log", log_file)
    assert before is not None and kept.read(released / "owner-only").tables[0].error == before


def test_evaluate_adds_its_scores(released: Path, log_file: Path, hubbub: Hubbub) -> None:
    assert "scores" not in package.charts(released)
    hubbub("evaluate", released, "--log", log_file, "--task", "counts")
    assert "scores" in package.charts(released)
    assert "What the release is still worth" in (released / "owner-only" / "report.html").read_text(encoding="utf-8")


def test_a_public_folder_has_no_report(released: Path, hubbub: Hubbub) -> None:
    said = hubbub("report", released / "public", code=2)
    assert "no owner-only folder" in said.stderr


def test_damaged_facts_are_an_error_with_a_way_out(released: Path) -> None:
    (released / "owner-only" / "exact.json").write_text('{"tables": {"queries": {}}}', encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        kept.read(released / "owner-only")


def test_kept_and_read_again(tmp_path: Path) -> None:
    book = LedgerSnapshot("p", 1, None, (Spending(1, "t", "d", "m", 1.0, 1.0),))
    before = Gathered((table(), table("clicks", error=None)), {"queries": Law(AGAIN, [1], [0.5], None)}, (), book)
    kept.write(tmp_path, before)
    after = kept.read(tmp_path)
    assert after.laws == before.laws and after.book == book
    assert [t.points.to_pylist() for t in after.tables] == [t.points.to_pylist() for t in before.tables]
    assert [t.error for t in after.tables] == [t.error for t in before.tables]
    assert kept.read(tmp_path / "nowhere") == Gathered()


def test_the_book_adds_up(tmp_path: Path) -> None:
    with Ledger(tmp_path / "book.sqlite") as book:
        made = build("korolova", {"epsilon": "1", "delta": "1e-6"})
        book.cap("p", 5, 1e-3)
        for _ in range(2):
            entry = book.reserve(
                population="p",
                dataset="d",
                mechanism="korolova",
                variant="strict",
                loss=made.loss(),
                private=True,
                parameters={},
                software="test",
            )
        found = book_of(book, "p", entry.id)
    assert [s.epsilon for s in found.spendings] == [1.0, 1.0] and found.cap == 5
    first, second = (s.spent for s in found.spendings)
    assert first is not None and second is not None and 0.9 < first <= 1 < second <= 2  # at the cap's δ


def test_only_a_chosen_epsilon_has_others(log_file: Path) -> None:
    with read_log(log_file, format="aol") as log:
        raw = build("korolova", {"d": "1", "b": "1", "K": "5"})
        assert other_budgets(raw, log) == ((), {})
        found, law = other_budgets(build("korolova", {"epsilon": Fraction(2), "delta": "1e-5"}), log)
    assert len(found) == 5 and set(law) == {"queries"}


def test_a_notebook_shows_every_chart(released: Path) -> None:
    for chart in package.charts(released).values():
        assert json.dumps(chart._repr_mimebundle_()["application/vnd.vegalite.v5+json"], allow_nan=False)
        assert chart.svg().startswith("<svg")
