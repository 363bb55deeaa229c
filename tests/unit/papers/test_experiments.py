"""The papers' experiments: the parts against tasks and mechanisms, and a tiny run of everything."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import Hubbub
from tests.conftest import document as printed

from hubbub.errors import OurBug, ParameterError
from hubbub.papers.experiments import EXPERIMENTS, ExperimentRow, draws, experiments, gotz, ids, safelog, sessions_2017
from hubbub.papers.experiments.draws import compute, name_of
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.page import document, merged, page, text_of, write
from hubbub.papers.experiments.rows import DrawSamples, few
from hubbub.papers.experiments.rule import (
    VERDICTS,
    DrawSample,
)
from hubbub.papers.experiments.show import lines, mean
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import need
from hubbub.worth.tasks.graph import Graph
from hubbub.worth.tasks.retrieval import fold_scores
from hubbub.worth.tasks.suggestion import learned, released, suggested

ROOT = Path(__file__).parents[3]
USERS, SEED = 300, 3
ISSUE = {
    "gotz": {f"figure-{n}" for n in range(2, 9)}
    | {"table-3", "table-3-pairs", "figures-2-3-pairs", "figures-4-5-pairs"},
    "safelog": {"figure-3", "figure-4", "figure-4-transitions", "figure-5", "table-3", "table-4", "t-test"},
    "sessions": {"table-5", "figure-1", "figure-2"},
    "korolova": {"fractions", "keywords", "fears"},
    "hong": {f"table-{n}" for n in (4, 5, 6, 7)} | {f"figure-{n}" for n in ("3", "3c", "4", "5", "6")},
}


def of(*values: float | None) -> DrawSample:
    return DrawSample(values)


# ------------------------------------------------------------------ one draw


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(USERS, SEED, tmp_path_factory.mktemp("lab"), 1) as made:
        yield made


def test_a_sweep_is_its_single_runs(lab: Lab) -> None:
    log, settings = lab.log("gotz"), [gotz.zealous(lab, epsilon, 2) for epsilon in (5, 20)]
    context = {"variant": "published", "tables": ["queries"]}
    together = [release.table("queries") for release in lab.sweep(log, "zealous", settings, **context)]
    alone = [lab.run(log, "zealous", each, **context).table("queries") for each in settings]
    assert together == alone and together[0] != together[1]
    with pytest.raises(OurBug, match="limit users alike"):
        list(lab.sweep(log, "zealous", [gotz.zealous(lab, 5, m) for m in (1, 2)], **context))


def test_histograms_of_a_k_query_anonymous_log(lab: Lab) -> None:
    """The queries are those of the mechanism; keywords and pairs are of these queries only."""
    found = gotz.k_query(lab, 4)
    mechanism = lab.run(lab.log("gotz"), "k-query", {"k": 4}, tables=["queries"])
    assert found["queries"] == need(mechanism, "queries", "release") and found["queries"].num_rows > 3
    kept = set(found["queries"].column("query").to_pylist())
    assert set(found["keywords"].column("keyword").to_pylist()) == {word for query in kept for word in query.split()}
    pairs = found["transitions"].to_pylist()
    assert all({pair["query"], pair["next_query"]} <= kept for pair in pairs)


def test_nobody_is_on_both_sides(lab: Lab) -> None:
    whole, training = lab.log("aol"), lab.training("aol", 5, 0)
    assert 0.6 * whole.users() < training.users() < whole.users()
    test = safelog.questions(lab)
    seen = training.engine.fetch("SELECT count(*) AS n FROM log WHERE url IS NOT NULL").column("n")[0].as_py()
    all_clicks = whole.engine.fetch("SELECT count(*) AS n FROM log WHERE url IS NOT NULL").column("n")[0].as_py()
    assert seen < all_clicks and test.row.size


@pytest.mark.parametrize("name", ["clicks", "transitions"])
def test_figure_3_scores_both_sides_on_the_same_kind_of_graph(lab: Lab, name: str) -> None:
    """A release that is the log it was made from scores what that log scores, with transitions or without."""
    training, test = lab.training("aol", 5, 0), safelog.questions(lab)
    ours = Evidence.of_log(training, "count")
    tables = {table: need(ours, table, "original") for table in dict.fromkeys(("queries", "clicks", name))}
    release = Evidence.of_tables(tables, "count")
    found: Numbers = {}
    safelog.scored(found, "release", release, test)
    safelog.beside(found, "", training, release, test)
    metrics = [key.removeprefix("original ") for key in found if key.startswith("original ")]
    assert {"random_walk.nDCG@10", "test_queries_evaluated"} <= set(metrics)
    for metric in metrics:
        assert found[f"original {metric}"] == found[f"release {metric}"]
    assert found["same random_walk.nDCG@10"] == found["original random_walk.nDCG@10"]


def test_the_questions_that_a_release_answers(lab: Lab) -> None:
    """What is left for the comparison on equal terms is what the release was evaluated on, no more and no less."""
    training, test = lab.training("aol", 5, 0), safelog.questions(lab)
    graph = Graph.of(need(next(safelog.released(lab, training, [safelog.settings(5, 1)])), "clicks", "release"))
    whole, part = fold_scores(graph, test, test.within(graph)), safelog.restricted(test, graph)
    again = fold_scores(graph, part, part.within(graph))
    assert 0 < again["test_queries"] == whole["test_queries_evaluated"] < whole["test_queries"]
    assert math.isclose(again["random_walk.nDCG@10"], whole["random_walk.nDCG@10"])

    _, prefixes = learned(lab.original("aol", "count"), SEED)
    graph = released(lab.run(lab.training("aol", 10, 9), "k-click", {"k": 2}))
    whole = suggested(graph, prefixes)
    again = suggested(graph, sessions_2017.answered(prefixes, graph))
    assert 0 < again["prefixes"] == whole["prefixes_evaluated"] < whole["prefixes"]
    assert again["sessions"] == whole["sessions_evaluated"]
    assert math.isclose(again["precision@5"], whole["precision@5"])


def test_equal_sizes(lab: Lab) -> None:
    found = safelog.equal_sizes(lab)
    searches = [found[f"limit={limit} searches"] or 0 for limit in safelog.LIMITS]
    people = [found[f"limit={limit} users"] or 0 for limit in safelog.LIMITS]
    assert max(searches) - min(searches) <= max(safelog.LIMITS)
    assert people == sorted(people, reverse=True) and people[-1] < people[0]


# ------------------------------------------------------------------ everything, tiny


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def rows(out: Path) -> list[ExperimentRow]:
    return experiments(users=USERS, draws=2, seed=SEED, out=out, workers=1)


def test_every_figure_and_table_of_the_issue_has_rows() -> None:
    found = ids()
    assert len(set(found)) == len(found)
    for paper, parts in ISSUE.items():
        assert {id.split("/")[1] for id in found if id.startswith(paper + "/")} == parts
    assert {e.id.partition("/")[0] for e in EXPERIMENTS} == set(ISSUE)


@pytest.mark.slow
def test_every_row_is_complete(rows: list[ExperimentRow]) -> None:
    assert [row.id for row in rows] == ids()
    for row in rows:
        record = row.record()
        assert set(record) == {
            "id", "paper", "part", "expected", "command", "parameters", "seen", "evaluated", "verdict", "why",
            "p", "printed", "corrected", "caution",
        }  # fmt: skip
        assert row.verdict in VERDICTS and row.why and row.expected and row.parameters and row.seen
        assert row.evaluated or "total" in row.id or "singletons" in row.id, "scores without what they are about"
        assert row.id in row.command and "--experiments" in row.command
        assert all(len(sample.values) == 2 for sample in (*row.seen.values(), *row.evaluated.values()))
        json.dumps(record, allow_nan=False)


@pytest.mark.slow
def test_rows_say_what_they_rest_on(rows: list[ExperimentRow]) -> None:
    """Circular, second hand, by construction, or on next to nothing; MAP at a cut-off is called so."""
    said = {row.id: row.caution for row in rows}
    assert all(text.startswith("Circular") for id, text in said.items() if id.startswith("gotz/table-3/"))
    assert all("Second hand" in said[f"korolova/fractions/{name}-number"] for name in ("distinct", "volume"))
    for id in ("korolova/fractions/distinct-non-negligible", "hong/table-4/rises-with-B", "sessions/figure-1/a-ka",
               "sessions/table-5/sessions-ka-below-original", "gotz/figure-4/keywords-total"):  # fmt: skip
        assert "y construction" in said[id]
    assert "Rests on little" in said["gotz/figures-2-3-pairs/transitions-coverage"], (
        "a handful of query pairs are released"
    )
    assert few({"keys": of(19, 20), "all": of(90, 91), "none": of(None, 1)}) == "Rests on little (keys: 19.5)."
    assert all(not re.search(r"\bMAP\b(?!@|, without)", row.expected) for row in rows)


@pytest.mark.slow
def test_every_row_allows_for_all_of_them(rows: list[ExperimentRow]) -> None:
    for row in rows:
        assert row.corrected in (row.verdict, "not shown")
        assert row.p is None or (row.corrected == row.verdict) == (
            row.p * len(ids()) <= 0.05 or row.verdict == "not shown"
        )
    assert {row.corrected for row in rows} >= {"not shown", "impossible"}, "two draws show next to nothing"


@pytest.mark.slow
def test_the_finding_on_smaller_logs_stands_beside_its_sessions(rows: list[ExperimentRow]) -> None:
    found = [row for row in rows if "smaller-scores-higher-precision" in row.id]
    assert len(found) == 3
    for row in found:
        assert {"sessions", "sessions, original", "sessions, DP_S", "prefixes, DP_S"} <= set(row.evaluated)


@pytest.mark.slow
def test_what_is_there_is_not_run_again(rows: list[ExperimentRow], out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "draw", lambda *_: pytest.fail("run again"))
    assert experiments(users=USERS, draws=2, seed=SEED, out=out) == rows
    (one,) = experiments("hong/table-4/growth", users=USERS, draws=2, seed=SEED, out=out)
    assert [one] == [row for row in rows if row.id == "hong/table-4/growth"]
    part = experiments("gotz/figure-4/", users=USERS, draws=2, seed=SEED, out=out)
    assert part == [row for row in rows if row.id.startswith("gotz/figure-4/")]


def test_cells_of_another_version_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, made = safelog.equal_sizes, []
    monkeypatch.setattr(draws, "draw", lambda names, users, seed, folder, *_: made.append((names, users, seed)))
    cell = tmp_path / f"{name_of(run)}-100-7.json"
    cell.write_text('{"hubbub": "0.0.0", "numbers": {"x": 1}}', encoding="utf-8")
    with pytest.raises(OurBug, match="without numbers"):
        compute([run], 100, [7], tmp_path, 1)
    assert made == [(["safelog.equal_sizes"], 100, 7)]
    cell.write_text("{", encoding="utf-8")
    with pytest.raises(Exception, match="remove that file"):
        compute([run], 100, [7], tmp_path, 1)


@pytest.mark.slow
def test_processes_see_what_one_process_sees(rows: list[ExperimentRow], tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = experiments(
        "korolova/fractions",
        users=USERS,
        draws=2,
        seed=SEED,
        out=tmp_path,
        workers=2,
        progress=lambda *at: told.append(at),
    )
    assert found == [row for row in rows if row.id.startswith("korolova/fractions/")]
    assert told[-1] == (2, 2)


@pytest.mark.slow
def test_the_document_and_the_terminal_have_every_row(rows: list[ExperimentRow], tmp_path: Path) -> None:
    write(tmp_path, rows)
    found = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert found == json.loads(text_of(document(rows))) and [row["id"] for row in found["rows"]] == ids()
    assert found["command"] == f"hubbub reproduce --experiments --users {USERS} --draws 2 --seed {SEED}"
    shown = list(lines(rows, 100))
    assert all(any(row.id in line for line in shown) for row in rows)
    text = " ".join(" ".join(shown).split())
    assert all(row.caution[:40] in text for row in rows) and "but: Circular" in text
    lost = [row for row in rows if row.corrected != row.verdict]
    assert lost and text.count("not shown among all rows (p = ") == len(lost)
    assert max(map(len, shown)) <= 130 and shown[-1].startswith(f"{len(rows)} rows: ")
    assert (mean(of(None)), mean(of(12345.6, 12345.6)), mean(of(3, 3)), mean(of(1, 2))) == (
        "–", "12,346", "3", "1.5 ± 6.4",
    )  # fmt: skip


@pytest.mark.slow
def test_rows_that_were_run_again_replace_those_that_were_there(rows: list[ExperimentRow]) -> None:
    whole = document(rows)
    part = [row for row in rows if row.id.startswith("gotz/figure-6/")]
    assert merged(whole, document(part), ids()) == merged(whole, whole, ids()) == whole
    other = [dataclasses.replace(row, verdict="differs", why="Otherwise.") for row in part]
    again = {row.id: row for row in other}
    assert merged(whole, document(other), ids()) == document([again.get(row.id, row) for row in rows]) != whole
    assert merged(document(part), whole, ids()) == whole, "rows that are new take their places"
    sure = [dataclasses.replace(row, verdict="shown", p=0.001, corrected="shown") for row in part]
    assert {row["corrected"] for row in merged(whole, document(sure), ids())["rows"] if row["p"] == 0.001} == {
        "not shown"
    }, "a verdict of few statements may not stand among all"
    more = [dataclasses.replace(row, command=row.command.replace("--draws 2", "--draws 9")) for row in part]
    mixed = merged(whole, document(more), ids())
    assert mixed["command"] == whole["command"] and f"{len(part)} have 9; the command" in page(mixed)
    assert "the command of a row" not in page(whole)
    with pytest.raises(OurBug, match="another run"):
        merged(whole, document([dataclasses.replace(part[0], command="hubbub reproduce --users 7")]), ids())
    with pytest.raises(OurBug, match="there is no row"):
        stranger = document([dataclasses.replace(part[0], id="gotz/figure-6/x")])
        merged(whole, stranger | {"command": whole["command"]}, ids())
    with pytest.raises(OurBug, match="neither run has"):
        merged(document(part), document(part), ids())


@pytest.mark.slow
def test_the_summary_counts_every_row_once(rows: list[ExperimentRow]) -> None:
    text = page(document(rows))
    *papers, whole = (
        [int(cell) for cell in line.split("|")[2:-1]]
        for line in text.splitlines()
        if line.startswith("| ") and line != "| | " + " | ".join([*VERDICTS, "tested", "stand"]) + " |"
    )
    assert sum(whole[:4]) == len(rows) and [sum(column) for column in zip(*papers, strict=True)] == whole
    tested = [row for row in rows if row.p is not None and row.verdict != "not shown"]
    assert whole[4:] == [len(tested), sum(row.corrected == row.verdict for row in tested)]


# ------------------------------------------------------------------ the command and the docs


@pytest.mark.slow
def test_the_command(hubbub: Hubbub, rows: list[ExperimentRow], out: Path) -> None:
    size = ["--users", str(USERS), "--draws", "2", "--seed", str(SEED), "--out", str(out)]
    found = printed(hubbub("reproduce", "hong", "--experiments", *size, "--json"))["rows"]
    assert found == [json.loads(json.dumps(row.record())) for row in rows if row.id.startswith("hong/")]
    said = hubbub("reproduce", "hong/table-4/growth", "--experiments", *size).output
    assert "impossible  hong/table-4/growth" in said and "again:" in said


@pytest.mark.parametrize(
    "wrong",
    [
        ["--users", "100"],
        ["--experiments", "--users", "5"],
        ["--experiments", "--draws", "1"],
        ["--experiments", "--seed", "-1"],
        ["gotz/figure-9", "--experiments"],
        ["gotz/table-1", "--experiments"],
    ],
)
def test_mistakes_end_before_anything_runs(hubbub: Hubbub, wrong: list[str]) -> None:
    assert "hubbub: " in hubbub("reproduce", *wrong, code=2).output


def test_an_unknown_row_is_told_which_there_are() -> None:
    with pytest.raises(ParameterError, match=re.escape("gotz/figure-8/top-2")):
        experiments("gotz/figure-8/top-3")


def test_no_cell_is_no_number() -> None:
    assert DrawSamples([], 0)["anything"] == DrawSample(())
