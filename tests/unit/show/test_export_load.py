"""`hubbub export --to load`: lines that follow the released frequencies, mixed, and encoded for an address."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import unquote_plus

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.browser.made_up import publish

from hubbub.show.export import export
from hubbub.show.export.load import LINES, apportioned

QUERIES = [
    ("köln & 天気", 600, 3.0),
    ("weather", 300, 3.0),
    ("back\\slash", 100, 3.0),
    ("bell\x07", 900, 3.0),
    ("faint", 5, 3.0),
]


def test_lines_follow_the_released_frequencies(tmp_path: Path) -> None:
    export(publish(tmp_path / "r" / "public", {"queries": QUERIES}).parent, "load", tmp_path / "out")
    asked = (tmp_path / "out" / "queries.txt").read_text(encoding="utf-8").splitlines()
    assert Counter(asked) == {"köln & 天気": 6000, "weather": 3000, "back\\slash": 1000}
    for part in (asked[:1000], asked[-1000:]):
        assert abs(part.count("weather") - 300) < 50, "every stretch has the same mixture"
    encoded = (tmp_path / "out" / "encoded.txt").read_text(encoding="ascii").splitlines()
    assert [unquote_plus(line) for line in encoded] == asked and not set("".join(encoded)) & set(" &?#")


@given(st.lists(st.integers(0, 2**40), max_size=30))
def test_shares_are_kept_to_a_line(weights: list[int]) -> None:
    given_ = apportioned(np.array(weights, np.int64), LINES)
    total = sum(weights)
    assert given_.sum() == (LINES if total else 0)
    assert all(abs(n * total - w * LINES) < total for n, w in zip(given_.tolist(), weights, strict=True) if total)
