"""On what a release exists: a refusal that depends on the log has a cause, and the card states each that applies."""

import ast
from collections.abc import Iterator
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub

import hubbub as package
from hubbub import errors
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.errors import HubbubError, InputError, ParameterError, Refused
from hubbub.log import Period, read_log
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.privacy.existence import Cause, causes, conditions
from hubbub.privacy.ledger import Ledger
from hubbub.public.lists import QueryPool, read_pool
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.steps.mode import RunMode

pytestmark = pytest.mark.usefixtures("no_report")

SOURCE = Path(package.__file__).parent
BETWEEN = (
    "ingest",
    "steps",
    "engines",
    "noise",
    "mechanisms",
    "log/__init__.py",
    "release/refusals.py",
    "release/story.py",
    "release/resume.py",
    "release/earlier.py",
    "series",
)
"""What runs between opening a log and the last file of its release, besides files.py, whose errors are of one kind."""
NOT_OF_THE_LOG = {
    "what the owner asked for, refused when a mechanism, an engine or a period is made": {
        "mechanisms/__init__.py build",
        "mechanisms/anonymity/base.py resolve",
        "mechanisms/base.py __init__",
        "mechanisms/dividing.py divide _in_their_place",
        "mechanisms/parameter.py _error",
        "mechanisms/crowd/__init__.py resolve _prior",
        "mechanisms/crowd/items.py resolve",
        "mechanisms/crowd/each.py resolve",
        "mechanisms/crowd/calibrate.py _served calibrate",
        "mechanisms/crowd/cells.py of",
        "mechanisms/crowd/histograms.py histograms",
        "mechanisms/korolova.py resolve",
        "mechanisms/laplace.py _is_raw drawable",
        "mechanisms/optimal/__init__.py _published _refuse _strict resolve",
        "mechanisms/rounds.py grid",
        "mechanisms/series/__init__.py _day _schedule measure resolve",
        "mechanisms/series/calendar.py checked number",
        "mechanisms/series/constants.py selection_constants",
        "mechanisms/series/tables.py refuse_tables",
        "noise/laws.py sampler",
        "mechanisms/safelog/__init__.py __init__ resolve",
        "mechanisms/safelog/calibrate.py _refuse_strangers _scales _settle_published settle",
        "mechanisms/baselines/selectors.py resolve",
        "mechanisms/ngrams.py resolve",
        "mechanisms/sessions.py _limits",
        "mechanisms/zealous/__init__.py _analysis _itemsets resolve",
        "engines/duckdb.py __init__ opened",
        "engines/spark/session.py _connect _require_open await_worker configure require_classic require_pyspark "
        "size_in_bytes start",
        "log/__init__.py __post_init__ _engine",
        "log/left_out.py __post_init__",
    },
    "how the log is to be read, refused before its first record": {
        "ingest/readers/base.py columns settled",
        "ingest/stated.py checked",
        "ingest/encodings.py known",
        "ingest/times.py clock",
        "ingest/run.py _refuse_overwriting ingest",
        "ingest/sniff.py sniff",
        "ingest/readers/table.py _mapping settled",
        "ingest/readers/ubi.py columns",
        "ingest/readers/events.py columns",
        "ingest/readers/algolia.py columns",
        "ingest/databases.py _refuse refuse_statements",
        "ingest/stores.py _refuse",
        "ingest/agents.py known refuse",
    },
    "what the ledger says, or the plan": {
        "release/refusals.py refuse_other_period refuse_by_ledger",
        "release/earlier.py settled_lists _refuse_prior _refusal read_previous",
        "release/booking.py reserve",
        "release/resume.py find",
        "series/plan.py opened refuse_plan unsealed plain_plan listed",
        "series/screened.py planned_screen",
        "series/screened.py refuse_other_screen refuse_other_left_out",
        "series/state.py _settled read refuse_fork",
        "series/story.py add due end",
        "series/placed.py standing_folder refuse_waiting",
        "series/reviewed.py approve_drawn _approve_period _elsewhere",
        "series/struck.py allow",
        "series/periods.py add_release",
        "series/next_period.py add",
        "series/erase.py _erased erase",
    },
    "how a finished release is read": {
        "release/opened.py to_polars",
    },
}


def raised() -> Iterator[tuple[str, str, str | None]]:
    """Every place that makes an error of ours: file and function, the error's class, the cause it names."""
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, HubbubError)}
    for place in BETWEEN:
        path = SOURCE / place
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            for function, call in _calls(ast.parse(file.read_text(encoding="utf-8")), ""):
                if isinstance(call.func, ast.Name) and call.func.id in kinds:
                    named = next((k.value for k in call.keywords if k.arg == "because"), None)
                    cause = named.attr if isinstance(named, ast.Attribute) else None
                    yield f"{file.relative_to(SOURCE).as_posix()} {function}", call.func.id, cause


def _calls(node: ast.AST, function: str) -> Iterator[tuple[str, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        if isinstance(child, ast.Call):
            yield inside, child
        yield from _calls(child, inside)


def test_every_refusal_between_reading_and_writing_has_a_cause() -> None:
    """A new one is a failure here until it names its cause, or is listed as none of the log's business."""
    listed = {
        f"{file} {function}"
        for group in NOT_OF_THE_LOG.values()
        for file, *functions in map(str.split, group)
        for function in functions
    }
    found = list(raised())
    free = {where for where, kind, cause in found if cause is None and not _by_its_kind(where, kind)}
    assert free <= listed, "these refusals name no condition on which a release exists"
    assert {cause for *_, cause in found if cause is not None} <= set(Cause.__members__)
    kinds = {getattr(errors, kind).because for _, kind, _ in found}
    named = {Cause[cause] for *_, cause in found if cause is not None} | kinds
    assert named >= set(Cause), "every cause is some refusal's"


def _by_its_kind(where: str, kind: str) -> bool:
    """A log that cannot be read is one only where it is read; elsewhere an InputError is about something else of it."""
    return kind in ("OutputError", "OurBug") or (kind == "InputError" and where.startswith("ingest/"))


def test_the_documentation_lists_every_cause() -> None:
    page = (SOURCE.parents[1] / "docs" / "privacy-officer.md").read_text(encoding="utf-8")
    assert all(
        f"| {cause.value.format(max_rejects=0, inside='the stated period').replace('0 of', 'a stated share of')} |"
        in page
        for cause in Cause
    )


def facts(**stated: Any) -> Facts:
    booked = Booked("p", "d", 1, 0.0, 1.0, None, (), ())
    return Facts(stated.pop("owner", Owner()), booked, "user", False, 0.05, None, **stated)


SPRING = Owner(period=Period(date(2006, 3, 1), date(2006, 5, 31)))


def test_the_causes_that_apply_and_no_others() -> None:
    made = build("korolova", {"epsilon": "1", "delta": "1e-6"})
    always = (Cause.READABLE, Cause.REJECTS)
    last = (Cause.UNKNOWN, Cause.ENDED)
    assert causes(made, facts()) == (*always, *last)
    assert causes(made, facts(owner=SPRING)) == (*always, Cause.INSIDE, Cause.OUTSIDE, *last)
    assert causes(made, facts(owner=SPRING, drop_outside=True)) == (*always, Cause.INSIDE, *last)
    assert causes(made, facts(owner=SPRING, allow_empty=True)) == (*always, Cause.OUTSIDE, *last)
    assert causes(made, facts(other_people=True)) == (*always, Cause.ENDED)
    assert "The owner states that these are other people" in conditions(made, facts(other_people=True))[-1]
    assert Cause.SOLVED in causes(build("optimal", {"epsilon": "1", "delta": "0.1"}, variant="published"), facts())
    assert "at most 0.05 of the log's lines" in " ".join(conditions(made, facts()))


# ------------------------------------------------------------------ logs without times


def every_mechanism(pool: QueryPool) -> Iterator[Mechanism]:
    """Each mechanism and variant with its default tables, with each alone and each two, as far as they can be made."""
    for name, kind in mechanisms().items():
        for variant in kind.variants:
            tables = [None, *([t] for t in kind.offers), *map(list, combinations(kind.offers, 2))]
            for some in tables:
                for settings in ({"epsilon": "1", "delta": "1e-3"}, {"epsilon": "1"}, {"k": "2"}, {}):
                    try:
                        yield build(
                            name, settings, variant=variant, tables=some, pool=pool if kind.takes_pool else None
                        )
                    except (ParameterError, Refused):
                        continue
                    break


@pytest.mark.slow
def test_a_log_without_times_is_refused_by_those_that_say_so(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("who,what,where\n" + "".join(f"u{n % 9},query {n % 4},http://{n % 3}\n" for n in range(60)))
    seen = set()
    listed = tmp_path / "pool.tsv"
    listed.write_text("query\nquery 1\nquery 2\n")
    with read_log(log, format="table", columns={"user": "who", "query": "what", "url": "where"}) as raw:
        for mechanism in every_mechanism(read_pool(listed)):
            try:
                mechanism.measure(raw, RunMode(b"s" * 32))
                refused = False
            except InputError as error:
                assert error.because is Cause.TIMES, mechanism
                refused = True
            except ParameterError as error:
                assert error.because in mechanism.stops(), mechanism
                continue
            assert refused == mechanism.needs_times, (mechanism.name, mechanism.variant, mechanism.tables)
            seen.add((mechanism.name, refused))
    assert {("crowd", True), ("crowd", False), ("sessions", True), ("korolova", False), ("k-session", True)} <= seen
    assert {name for name, _ in seen} >= set(mechanisms())


# ------------------------------------------------------------------ the card


def card_of(hubbub: Hubbub, out: Path) -> list[str]:
    conditions: list[str] = package.release.Release(out).card["claim"]["conditions"]  # type: ignore[attr-defined]
    return conditions


BUDGET = ("--format", "aol", "--epsilon", "2", "--delta", "1e-5")


@pytest.mark.slow
def test_the_card_says_that_a_log_without_times_would_be_refused(
    hubbub: Hubbub, log_file: Path, tmp_path: Path
) -> None:
    for tables, said in (("queries", False), ("queries,transitions", True)):
        out = tmp_path / tables
        hubbub("release", log_file, *BUDGET, "--mechanism", "crowd", "--tables", tables, "--out", out)
        assert any("the log holds times" in text for text in card_of(hubbub, out)) == said


def stated(tmp_path: Path, first: str, last: str) -> Path:
    path = tmp_path / "owner.toml"
    path.write_text(f'[card]\nperiod = {{ from = "{first}", to = "{last}" }}\n', encoding="utf-8")
    return path


def test_rows_outside_the_period_need_a_word(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config, out = stated(tmp_path, "2006-03-01", "2006-03-14"), tmp_path / "out"
    words = ("release", log_file, *BUDGET, "--mechanism", "korolova", "--config", config, "--out", out)
    said = hubbub(*words, code=2).stderr
    with read_log(log_file, format="aol", period=Period(date(2006, 3, 1), date(2006, 3, 14))) as log:
        outside = log.ingested.kept - log.rows()
    assert f"{outside:,} of {log.ingested.kept:,} rows are not between 2006-03-01 and 2006-03-14" in said
    assert "say --drop-outside" in said and not out.exists()
    with Ledger() as book:
        assert book.entries() == []
    hubbub(*words, "--drop-outside")
    told = " ".join(card_of(hubbub, out))
    assert "at least one row of the log lies in the stated period" in told and "outside" not in told
    assert "drop_outside = true" in (out / "owner-only" / "run.toml").read_text(encoding="utf-8")
    hubbub("card", out, "--check")
    again = tmp_path / "again"
    hubbub("release", "--config", out / "owner-only" / "run.toml", "--out", again)
    assert card_of(hubbub, again) == card_of(hubbub, out)


@pytest.mark.slow
def test_no_row_in_the_period_needs_another(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config, out = stated(tmp_path, "1999-03-01", "1999-03-14"), tmp_path / "out"
    words = ("release", log_file, *BUDGET, "--mechanism", "crowd", "--config", config, "--out", out)
    assert "No row of the log lies between 1999-03-01 and 1999-03-14" in hubbub(*words, code=2).stderr
    assert "say --drop-outside" in hubbub(*words, "--allow-empty", code=2).stderr
    assert "No row" in hubbub(*words, "--drop-outside", code=2).stderr
    with Ledger() as book:
        assert book.entries() == []
    hubbub(*words, "--allow-empty", "--drop-outside")
    assert not any("stated period" in text for text in card_of(hubbub, out))


def test_a_period_that_holds_every_row_needs_no_word(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    config = stated(tmp_path, "2006-03-01", "2006-05-31")
    hubbub("release", log_file, *BUDGET, "--mechanism", "korolova", "--config", config, "--out", out)
    told = " ".join(card_of(hubbub, out))
    assert "no row of the log lies outside the stated period" in told


@pytest.mark.parametrize("flag", ["allow_empty", "drop_outside"])
def test_a_word_in_a_configuration_is_true_or_false(flag: str, hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "owner.toml"
    config.write_text(f'{flag} = "no"\n', encoding="utf-8")
    words = ("release", log_file, *BUDGET, "--mechanism", "korolova", "--config", config, "--out", tmp_path / "out")
    assert "true or false" in hubbub(*words, code=2).stderr


def test_in_python_the_words_are_arguments(log_file: Path, tmp_path: Path) -> None:
    period = Period(date(2006, 3, 1), date(2006, 3, 14))
    made = build("korolova", {"epsilon": "1", "delta": "1e-6"})
    with Ledger(tmp_path / "book") as book, read_log(log_file, format="aol", period=period) as log:
        with pytest.raises(InputError, match="Part of the log") as refused:
            run_release(log, Plan(made, tmp_path / "out", Owner(period=period)), book)
        assert refused.value.because is Cause.OUTSIDE and book.entries() == []
        result = run_release(log, Plan(made, tmp_path / "out", Owner(period=period), drop_outside=True), book)
    assert result.owner_only["outside_period"]
