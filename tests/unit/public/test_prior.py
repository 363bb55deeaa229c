"""The public prior: forms by hand, what a vocabulary knows, the owner's weights, what a card says, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import duckdb
import pyarrow as pa
import pytest
from tests.conftest import Hubbub

from hubbub.audit.checks import prior as by_hand
from hubbub.errors import HubbubError, InputError, ParameterError, Refused
from hubbub.ingest import clean
from hubbub.mechanisms import build
from hubbub.public import words
from hubbub.public.lists import read_prior
from hubbub.public.prior import FORMS, KNOWN, OWN, PAIRS, WORDS, Prior
from hubbub.public.words import ENGLISH, WITH_DOMAINS, Vocabulary, vocabulary

pytestmark = pytest.mark.usefixtures("no_report")

BUDGET = {"epsilon": 2, "delta": "1e-5"}
QUERIES = [
    "k0",
    "k9",
    "her",
    "her 1",
    "her 2",
    "k0 k9",
    "k9 k0",
    "k7 k8",
    "k0 and more",
    "more and k0",
    "k0 k1 k2 k3",
    "k0.com",
    "www.k0.com",
    "www.k9.org",
    "k9.net",
    "k0.example",
    ".com",
    "www.com",
    "www..com",
    "www.her.gov",
    "k0. com",
]


class Duck:
    """As much of an engine as a prior needs."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()

    def register(self, name: str, table: pa.Table) -> None:
        self.connection.register(name, table)

    def said(self, prior: Prior, queries: list[str]) -> dict[str, tuple[int, int, bool]]:
        """Weight, fit and whether it is known, by query."""
        engine: Any = self
        prior.register(engine)
        self.register("texts", pa.table({"kid": range(len(queries)), "query": queries}))
        rows = self.connection.execute(f"SELECT query, g, fits, known FROM ({prior.weighed('texts')})").fetchall()
        return {query: (g, fits, known) for query, g, fits, known in rows}


@pytest.mark.parametrize("name", by_hand.PRIORS)
def test_sql_says_what_plain_python_says(name: str) -> None:
    prior = by_hand.PRIORS[name]
    found = Duck().said(prior, [*QUERIES, "k8"])
    assert {query: (g, fits) for query, (g, fits, _) in found.items()} == {q: by_hand.said(prior, q) for q in found}


def test_known_is_what_stands_in_the_vocabulary() -> None:
    listed = by_hand.VOCABULARY.known.column("query").to_pylist()
    assert len(listed) == len(set(listed)) == by_hand.VOCABULARY.size
    found = Duck().said(Prior(by_hand.VOCABULARY), [*dict.fromkeys([*listed, *QUERIES])])
    assert {query for query, (_, _, known) in found.items() if known} == set(listed)


def test_english_is_clean_ordered_and_as_large_as_said() -> None:
    english = vocabulary(ENGLISH)
    rows = english.known.column("query").combine_chunks()
    assert clean.queries(rows).equals(rows) and len(rows.unique()) == len(rows) == english.size
    assert english.words.column("query").slice(0, 3).to_pylist() == ["the", "of", "and"]
    assert not any({" ", "."} & set(word) for word in english.words.column("query").to_pylist())
    assert all(pair.count(" ") == 1 for pair in english.pairs.column("query").to_pylist())
    assert english.size == english.words.num_rows + english.pairs.num_rows + 2 * WITH_DOMAINS


@pytest.mark.slow
def test_what_is_marked_as_known_is_what_is_drawn_for_in_all_of_english() -> None:
    """A text in one and not in the other would have other levels with its only holder than without her."""
    english, duck = vocabulary(ENGLISH), Duck()
    prior, engine = Prior(english, known=True), cast(Any, duck)
    prior.register(engine)
    around = "SELECT query FROM known_words UNION SELECT 'www.' || query FROM known_words UNION "
    around += "SELECT query || '.com' FROM known_words UNION SELECT split_part(query, ' ', 1) FROM known_words"
    found = duck.connection.execute(
        f"SELECT count(*) FILTER (w.known), count(*) FILTER (w.known AND k.query IS NULL), count(*) FROM "
        f"({prior.weighed(f'({around})')}) AS w LEFT JOIN known_words AS k ON k.query = w.query"
    ).fetchone()
    assert found is not None and found[:2] == (english.size, 0) and found[2] > 2 * english.size


def test_words_that_are_not_frequent_are_no_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "WITH_DOMAINS", 1)
    monkeypatch.setattr("hubbub.public.prior.WITH_DOMAINS", 1)
    few = Vocabulary.of("x", "x", "0", pa.table({"query": ["ab", "cd"]}), pa.table({"query": ["ab cd"]}))
    assert few.known.column("query").to_pylist() == ["ab", "cd", "ab cd", "ab.com", "www.ab.com"]
    found = Duck().said(Prior(few), ["ab.com", "cd.com", "www.cd.com", "ab.org"])
    assert [known for _, _, known in found.values()].count(True) == 1 and found["ab.com"][2]
    assert {g for g, _, _ in found.values()} == {150}


def test_another_language_has_its_own_words() -> None:
    german = vocabulary("de")
    assert "und" in german.words.column("query").to_pylist() and german.pairs.num_rows == 0
    assert "it has no pairs" in german.record()["source"]


@pytest.mark.parametrize(("language", "package"), [("en", "wordsegment"), ("de", "wordfreq")])
def test_a_missing_package_is_refused_and_never_left_out(
    monkeypatch: pytest.MonkeyPatch, language: str, package: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    monkeypatch.setattr("hubbub.mechanisms.crowd.vocabulary", vocabulary.__wrapped__)
    with pytest.raises(InputError, match=f"package {package}, which is not installed"):
        build("crowd", {**BUDGET, "language": language}, tables=["queries"])


def test_forms_have_positive_whole_weights_and_are_few() -> None:
    assert all(isinstance(weight, int) and weight >= 1 for _, weight in FORMS) and len(FORMS) < 10
    assert len({WORDS, PAIRS, OWN, KNOWN}) == 4


def test_parameters_that_nothing_depends_on_are_refused() -> None:
    with pytest.raises(ParameterError, match="Nothing that is released depends"):
        build("crowd", {**BUDGET, "language": "none", "F_known": 1}, tables=["queries"])
    with pytest.raises(ParameterError, match="Nothing that is released depends"):
        build("crowd", {**BUDGET, "language": "en"}, tables=["clicks"])
    for given, tables in (({"rounds": 1}, ["queries"]), ({}, ["clicks"])):
        with pytest.raises(ParameterError, match="depends on the prior"):
            build("crowd", BUDGET | given, tables=tables, own_prior=by_hand.OWN)
    with pytest.raises(ParameterError, match="Nothing that is released depends"):
        build("crowd", {**BUDGET, "rounds": 1, "F_known": 1}, tables=["queries"])
    with pytest.raises(ParameterError, match="takes no weights of queries"):
        build("korolova", {**BUDGET, "d": 1}, own_prior=by_hand.OWN)


def test_guarantee_and_steps_do_not_depend_on_the_prior() -> None:
    plain, known = (build("crowd", {**BUDGET, "language": language}) for language in ("none", "en"))
    assert plain.steps() == known.steps() and plain.proven().delta == known.proven().delta
    assert "about 1 of the queries may be nobody's" in known.spurious() and "queries:" not in plain.spurious()
    assert any("2006" in caveat for caveat in known.caveats())
    off: Any = build("crowd", {**BUDGET, "known_words": "no"})
    assert "queries:" not in off.spurious() and off.prior.vocabulary is not None


def written(path: Path, *rows: tuple[str, object]) -> Path:
    path.write_text("query\tweight\n" + "".join(f"{query}\t{weight}\n" for query, weight in rows))
    return path


def test_weights_of_the_owner_are_read_and_cleaned(tmp_path: Path) -> None:
    prior = read_prior(written(tmp_path / "p.tsv", ("New  York", 7), ("b", 1000)))
    assert prior.rows.to_pydict() == {"query": ["new york", "b"], "weight": [7, 1000]}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((("a", 0),), "out of its range"),
        ((("a", 1001),), "out of its range"),
        ((("a", "many"),), "out of its range"),
        ((("a", 1), ("A", 2)), "more than once"),
        (((" ", 1),), "empty"),
    ],
)
def test_a_prior_that_is_none_is_refused(tmp_path: Path, rows: tuple[tuple[str, object], ...], said: str) -> None:
    with pytest.raises(HubbubError, match=said):
        read_prior(written(tmp_path / "p.tsv", *rows))


def test_a_prior_out_of_a_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("{}")
    with pytest.raises(Refused, match="belongs to a release"):
        read_prior(written(tmp_path / "queries.tsv", ("a", 1)))


def test_card_and_run_state_prior_version_and_hash(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    known = written(tmp_path / "mine.tsv", ("weather", 50))
    options = ("--mechanism", "crowd", "--epsilon", "4", "--delta", "1e-4", "--format", "aol", "--tables", "queries")
    hubbub(
        "release", log_file, *options, "--prior", known, "--language", "en", "--no-known-words", "--out", tmp_path / "r"
    )
    card = json.loads((tmp_path / "r" / "public" / "card.json").read_text())
    forms, own = card["mechanism"]["public_lists"]
    assert forms["use"] == "words" and forms["forms"] == "version 1" and len(forms["sha256"]) == 64
    assert own["use"] == "prior" and own["name"] == "mine.tsv" and own["queries"] == "1"
    stated = card["mechanism"]["parameters"]
    assert stated["language"] == "en" and stated["known_words"] == "no" and "F_known" not in stated
    run = (tmp_path / "r" / "owner-only" / "run.toml").read_text()
    assert "mine.tsv" in run and 'language = "en"' in run
    hubbub("card", tmp_path / "r", "--check")


def test_the_page_says_how_many_may_be_nobodys(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    options = ("--mechanism", "crowd", "--epsilon", "8", "--delta", "1e-4", "--format", "aol", "--tables", "queries")
    hubbub("release", log_file, *options, "--out", tmp_path / "r")
    page = (tmp_path / "r" / "public" / "index.html").read_text()
    card = json.loads((tmp_path / "r" / "public" / "card.json").read_text())
    (rows,) = (file["rows"] for file in card["release"]["files"] if file["path"] == "queries.parquet")
    assert rows > 1, "three queries are asked by all users"
    assert f"About 1 of these {rows} queries may be nobody’s" in page
    said = f"queries: about 1 of these {rows} queries may be nobody's (at most 1 expected)"
    assert card["accuracy"]["spurious_rows"].startswith(said) and card["accuracy"]["nobodys"] == {"queries": 1.0}
    hubbub("card", tmp_path / "r", "--check")
