"""`hubbub export --to synonyms`: rules read back by the syntax that Solr documents, sure by what noise leaves."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.browser.made_up import publish

from hubbub.show.export import export
from hubbub.show.export.supported import Supported
from hubbub.show.export.synonyms import rules, solr
from hubbub.show.export.text import one_line
from hubbub.worth.alike import CLICKS as BY_CLICKS
from hubbub.worth.alike import CROWDED, AlikePair


def parsed(text: str) -> list[set[str]]:
    """Rules as Solr reads them: no blank lines or comments; commas part terms; a backslash takes a sign as it is."""
    found = []
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        parts = re.findall(r"((?:\\.|[^\\,])+)(?:,|$)", line)
        assert not any(re.search(r"(?<!\\)=>", part) for part in parts), "no rule of ours goes one way"
        found.append({re.sub(r"\\(.)", r"\1", part).strip() for part in parts})
    return found


def supported(rows: list[tuple[str, str, int, float]]) -> Supported:
    return Supported.of(pa.table(list(map(list, zip(*rows, strict=True))), ["query", "url", "users", "noise_sd"]))


CLICKS = [
    ("#nyc, \\new => york", "a.example", 400, 10.0),
    ("new york", "a.example", 300, 10.0),
    ("new york", "b.example", 40, 10.0),
    ("shoes", "c.example", 100, 40.0),
    ("boots", "c.example", 100, 40.0),
    ("faint", "a.example", 15, 10.0),
    ("bell\x07", "d.example", 100, 1.0),
    ("ring", "d.example", 100, 1.0),
]


def test_solr_reads_the_rules_and_the_table_has_their_confidence(tmp_path: Path) -> None:
    made = export(publish(tmp_path / "r" / "public", {"clicks": CLICKS}).parent, "synonyms", tmp_path / "out")
    text = (tmp_path / "out" / "synonyms.txt").read_text(encoding="utf-8")
    assert parsed(text) == [{"#nyc, \\new => york", "new york"}]
    sure = (400 - 20) * (300 - 20) / (400 * (300**2 + 40**2) ** 0.5)
    assert text.startswith(f"# confidence {sure:.3f}, shared pages: 1\n")
    header, line = (tmp_path / "out" / "synonyms.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["query", "synonym", "confidence", "pages", "by"]
    assert line.split("\t") == ["#nyc, \\\\new => york", "new york", f"{sure:.3f}".rstrip("0"), "1", "clicks"]
    assert [file.rows for file in made.files] == [1, 1] and made.files[0].about.endswith("1 row left out")


def test_a_replaced_word_is_a_rule_by_the_share_of_what_followed(tmp_path: Path) -> None:
    rows = [
        ("cheap flights", "budget flights", 60, 5.0),
        ("cheap flights", "weather", 140, 5.0),
        ("budget flights", "cheap flights", 90, 5.0),
        ("cars", "boats", 90, 1.0),  # one word alone is another query, not a replaced word
        ("red cars", "green boats", 90, 1.0),
    ]
    release = publish(tmp_path / "r" / "public", {"transitions": rows}).parent
    assert [file.rows for file in export(release, "synonyms", tmp_path / "out").files] == [1, 1]
    text = (tmp_path / "out" / "synonyms.txt").read_text(encoding="utf-8")
    assert text == f"# confidence {80 / 90:.3f}, a word replaced\nbudget flights, cheap flights\n"


def test_noise_takes_a_rule_away() -> None:
    pair = [("shoes", "c.example", 100), ("boots", "c.example", 100)]
    assert [r.confidence for r in rules(supported([(*row, 0.0) for row in pair]))] == [1.0]
    assert [r.confidence for r in rules(supported([(*row, 10.0) for row in pair]))] == [0.64]
    assert rules(supported([(*row, 40.0) for row in pair])) == []


@pytest.mark.parametrize("queries", [CROWDED, CROWDED + 1])
def test_a_page_that_everybody_clicks_tells_nothing(queries: int) -> None:
    found = rules(supported([(f"q{n}", "home.example", 100, 1.0) for n in range(queries)]))
    assert len(found) == (queries * (queries - 1) // 2 if queries <= CROWDED else 0)


def test_a_release_without_any_rule_gives_empty_files(tmp_path: Path) -> None:
    release = publish(tmp_path / "r" / "public", {"clicks": [("alone", "a.example", 90, 1.0)]}).parent
    assert [file.rows for file in export(release, "synonyms", tmp_path / "out").files] == [0, 0]
    assert (tmp_path / "out" / "synonyms.txt").read_bytes() == b""


@given(st.text(max_size=8), st.text("ab\\,=>#", max_size=8))
def test_any_query_survives_a_rule(left: str, right: str) -> None:
    assume(one_line(left) and one_line(right))
    assert parsed(b"".join(solr([AlikePair(left, right, 0.75, 2, BY_CLICKS)])).decode()) == [
        {left.strip(), right.strip()}
    ]
