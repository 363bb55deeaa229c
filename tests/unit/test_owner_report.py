"""The owner's report: a banner that cannot be missed, three words about ε on one axis, nothing of it in public/."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RELEASE, Hubbub

from hubbub.report.owner import LEFT, RIGHT, axis, write_report


def test_three_words_on_one_axis() -> None:
    lines, ticks = axis({"claimed": 8.0, "proven": 16.0, "audit": {"empirical": 1.5, "of_proven": 2.0}})
    marks = {(line.about, mark.word): mark for line in lines for mark in line.marks}
    assert marks["this release", "proven"].x == RIGHT and ticks[0][0] == LEFT and ticks[-1] == (RIGHT, "16")
    assert marks["this release", "claimed"].x == (LEFT + RIGHT) / 2
    assert marks["as audited", "empirical, at least"].x < marks["as audited", "proven"].x < (LEFT + RIGHT) / 2


@pytest.mark.parametrize(
    "epsilon", [{"claimed": None, "proven": None, "audit": None}, {"claimed": None, "proven": 0.0, "audit": None}]
)
def test_what_is_not_known_has_no_mark(epsilon: dict[str, Any], tmp_path: Path) -> None:
    lines, _ = axis(epsilon)
    assert not lines[1].marks
    write_report(tmp_path, "a <b> & c", {"epsilon": epsilon, "rows": 3, "reasons": {"<script>": 1}})
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "NOT PRIVATE. DO NOT PUBLISH." in text and "not known" in text
    assert "<script>" not in text and "a &lt;b&gt; &amp; c" in text


def test_a_release_has_one(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    text = (tmp_path / "out" / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "proven 2" in text and "as audited" in text
    assert not (tmp_path / "out" / "public" / "report.html").exists()
