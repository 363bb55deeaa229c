"""`spelling`: steps between words, corrections by hand, and typing errors that a made-up log knows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import ParameterError
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise
from hubbub.synth.typos import misspelt
from hubbub.worth.tasks import Evidence, NotEvaluable, Setup, SpellingCorrection, Truth
from hubbub.worth.tasks.spelling import corrections, one_step

WORDS = st.text("abc", max_size=5)


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody knows two words here: the whole language takes a second to read."""
    known = pa.table({"query": ["weather", "recipe"], "n": [500, 400]})
    monkeypatch.setattr("hubbub.worth.tasks.spelling.public_words", lambda _: known)


def steps(word: str, letters: str = "abc") -> set[str]:
    """Every word at one step, by trying all."""
    cuts = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    made = {a + b[1:] for a, b in cuts if b} | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    made |= {a + c + rest for a, b in cuts for c in letters for rest in (b, b[1:])}
    return made - {word}


@given(WORDS, WORDS)
def test_one_step_is_what_trying_all_finds(word: str, other: str) -> None:
    assert one_step(word, other) == (other in steps(word))


def test_corrections_by_hand() -> None:
    known = {"recipe": 500, "recipes": 90, "recieve": 40, "receive": 300, "lone": 5}
    fix = corrections(["recipee", "recipe", "recieve", "recipes", "loen", "zzz"], known)
    assert fix["recipee"] == "recipe" and fix["recipe"] == "recipe" and fix["zzz"] == "zzz"
    assert fix["recieve"] == "recieve", "not ten times as frequent"
    assert fix["recipes"] == "recipes" and fix["loen"] == "lone"


def test_by_hand() -> None:
    typos = pa.table({"query": ["recipee soup", "weathr"], "meant": ["recipe soup", "weather"], "users": [3, 1]})
    ours = Evidence.of_tables({"queries": pa.table({"query": ["recipe soup", "weather"], "n": [50, 40]})})
    theirs = Evidence.of_tables({"queries": pa.table({"query": ["recipe soup"], "users": [30]})})
    found = SpellingCorrection().score(ours, theirs, Setup(Truth({"typos": typos})))
    assert found["corrected"]["original"] == found["corrected"]["ceiling"] == 1.0
    assert found["corrected"]["release"] == 0.75 and found["left_alone"]["release"] == 1.0
    assert found["corrected"]["floor"] == 1.0, "anybody knows these words"
    nobody = typos.set_column(2, "users", pa.array([0, 0]))
    for setup in (Setup(), Setup(Truth({"typos": nobody}))):
        with pytest.raises(NotEvaluable, match="synth --typos"):
            SpellingCorrection().score(ours, theirs, setup)
    with pytest.raises(NotEvaluable, match="--tables queries makes it"):
        SpellingCorrection().score(ours, Evidence.of_tables({}), Setup(Truth({"typos": typos})))


@given(st.text("abcdefgh .", max_size=20), st.integers(0, 7))
def test_a_slip_is_one_step(text: str, slip: int) -> None:
    typed = misspelt(text, slip)
    assert typed == text or one_step(text, typed)


def test_a_made_up_log_knows_its_slips(tmp_path: Path) -> None:
    made = synthesise(120, tmp_path / "log.parquet", truth=tmp_path / "truth", vocabulary=SYLLABIC, typos=0.2)
    plain = synthesise(120, tmp_path / "plain.parquet", vocabulary=SYLLABIC)
    log, right = pq.read_table(tmp_path / "log.parquet"), pq.read_table(tmp_path / "plain.parquet")
    assert made.rows == plain.rows and log.drop(["query"]).equals(right.drop(["query"])), "only texts differ"
    typed: dict[tuple[str, str], set[str]] = {}
    for user, text, meant in zip(
        *(log["user"].to_pylist(), log["query"].to_pylist(), right["query"].to_pylist()), strict=True
    ):
        if text != meant:
            typed.setdefault((text, meant), set()).add(user)
    known = pq.read_table(tmp_path / "truth" / "typos.parquet").to_pylist()
    assert {(row["query"], row["meant"]): row["users"] for row in known} == {k: len(v) for k, v in typed.items()}
    share = sum(a != b for a, b in zip(log["query"].to_pylist(), right["query"].to_pylist(), strict=True)) / made.rows
    assert 0.1 < share < 0.25
    intents = pq.read_table(tmp_path / "truth" / "intents.parquet")
    again = synthesise(120, tmp_path / "again.parquet", vocabulary=SYLLABIC, typos=0.2, chunk_users=7)
    assert again.rows == made.rows and pq.read_table(tmp_path / "again.parquet").equals(log), "whatever the chunks"
    users = {row["query"] for row in intents.to_pylist()}
    assert users >= {
        text for text, meant in zip(log["query"].to_pylist(), right["query"].to_pylist(), strict=True) if text == meant
    }
    with pytest.raises(ParameterError, match="share"):
        synthesise(5, tmp_path / "none.parquet", typos=1.5)
