"""The same tables for every mechanism of a comparison, and tables that no task knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import aol_lines

from hubbub.errors import ParameterError
from hubbub.log import read_log
from hubbub.look.compare import CompareRequest, computed
from hubbub.look.compare.choices import choose
from hubbub.look.compare.place import place

BUDGET = {"epsilon": "4", "delta": "1e-3"}


def test_every_mechanism_releases_the_same_tables_or_says_why_not() -> None:
    rows = choose(None, BUDGET, tables=["queries", "clicks"])
    ran = [row for row in rows if not row.reason]
    assert [row.mechanism for row in ran] == ["crowd", "korolova", "zealous"]
    assert all(row.build().tables == ("queries", "clicks") for row in ran)
    assert {row.mechanism: row.reason for row in rows}["gaussian"] == "It releases no clicks."
    assert "pseudonyms" not in {row.mechanism for row in rows}  # what proves nothing is not listed for lacking a table
    with pytest.raises(ParameterError, match=r"No mechanism releases this table[\s\S]*cliks"):
        choose(None, BUDGET, tables=["cliks"])
    with pytest.raises(ParameterError, match=r"Nothing of this can run\. It releases no queries"):
        choose(["optimal"], BUDGET, tables=["queries"])


def test_without_tables_and_tasks_all_release_queries_that_have_them() -> None:
    asked = CompareRequest(BUDGET, ["crowd", "sessions"])
    assert asked.choices[0].build().tables == ("queries",) and "queries" not in asked.choices[1].build().tables
    asked = CompareRequest(BUDGET, ["crowd"], ["suggestion"])
    assert len(asked.choices[0].build().tables) > 1  # a task needs what it reads


def test_a_table_that_no_task_knows_is_counted_all_the_same(tmp_path: Path) -> None:
    """Sequences of searches name queries, so they have a volume; nothing of the log is counted like them."""
    (tmp_path / "log.tsv").write_text("\n".join(aol_lines(200)) + "\n", encoding="utf-8")
    asked = CompareRequest(BUDGET, ["ngrams"], draws=1)
    with read_log(tmp_path / "log.tsv") as log, place(tmp_path / "out") as folder:
        (row,) = computed(asked, log, folder).rows
    assert row.metrics["rows.ngrams"].mean > 0 and 0 < row.metrics["volume"].mean < 1
