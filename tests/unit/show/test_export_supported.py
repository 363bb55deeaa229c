"""The rule of which rows an export builds on: at its edges, and where no row holds."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.browser.made_up import publish

from hubbub.show.export import export
from hubbub.show.export.supported import Supported


def test_the_rule_at_its_edges() -> None:
    users = [0, 1, 20, 19, -5, None, 7]
    noise = [0.0, 0.0, 10.0, 10.0, 1.0, None, 0.0]
    used = Supported.of(pa.table([list("abcdefg"), users, noise], ["query", "users", "noise_sd"]))
    assert used.texts("query") == ["b", "c", "f", "g"] and used.left_out == 3
    assert used.number.tolist() == [1, 20, 1, 7] and used.surely.tolist() == [1, 0, 1, 7]
    assert used.said("rows") == "rows; 3 rows left out"


@pytest.mark.parametrize("to", ["completion", "spelling", "synonyms", "judgments", "load"])
def test_where_no_row_stands_clear_of_noise_the_files_are_empty_and_say_so(tmp_path: Path, to: str) -> None:
    tables: dict[str, list[tuple[object, ...]]] = {
        "queries": [("faint", 5, 9.0)],
        "clicks": [("faint", "a.example", 5, 9.0)],
    }
    made = export(publish(tmp_path / "r" / "public", tables).parent, to, tmp_path / "out")
    assert all(file.rows == 0 for file in made.files if file.name != "index.json")
    assert any(file.about.endswith("1 row left out") for file in made.files)
