"""One release makes its card once before it spends and once after, and every refusal is looked for once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RELEASE, Hubbub

import hubbub as package
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import InputError
from hubbub.ingest import SCHEMA, Ingested
from hubbub.log import SearchLog, read_log

ONCE = (
    "hubbub.release.plan.require_free",
    "hubbub.release.plan.Plan._refuse_unproven",
    "hubbub.release.plan.Plan._refuse_large_delta",
    "hubbub.release.plan.Plan._refuse_undrawable",
    "hubbub.release.refusals.refuse_new",
    "hubbub.release.refusals.require_room",
    "hubbub.release.refusals.settled",
    "hubbub.release.story.refuse_other_period",
    "hubbub.release.story.refuse_damaged",
    "hubbub.release.story.refuse_elsewhere",
    "hubbub.release.story.refuse_known_data",
    "hubbub.release.plan.build_card",
    "hubbub.release.folder.build_card",
)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of these functions was called."""
    from importlib import import_module

    times: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            times[name] += 1
            return function(*args, **kwargs)

        return call

    for name in ONCE:
        parts = name.split(".")
        owner: Any = import_module(".".join(parts[:3]))
        for part in parts[3:-1]:
            owner = getattr(owner, part)
        monkeypatch.setattr(owner, parts[-1], counted(name, getattr(owner, parts[-1])))
    return times


def test_a_command_asks_everything_once(hubbub: Hubbub, log_file: Path, tmp_path: Path, called: Counter[str]) -> None:
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    assert called == Counter(dict.fromkeys(ONCE, 1))


def test_so_does_python(log_file: Path, tmp_path: Path, called: Counter[str]) -> None:
    with read_log(log_file, format="aol") as log:
        package.release(log, package.Korolova(epsilon=2, delta="1e-5", d=3), tmp_path / "out")
    assert called == Counter(dict.fromkeys(ONCE, 1))


def test_a_column_that_is_not_text_is_refused_with_the_log() -> None:
    with pytest.raises(InputError, match="column"):
        Ingested(Path("log"), None, 0, 0, 0, {}, "table", {"user": "wh\udcffo"})


def test_a_clean_log_is_opened_as_it_is(log_file: Path, tmp_path: Path) -> None:
    with (
        read_log(log_file, format="aol") as log,
        SearchLog.over(log.ingested.log, DuckDB(tmp_path), tmp_path) as again,
    ):
        assert (again.rows(), again.users()) == (log.rows(), log.users())
        assert list(again.ingested.columns) == SCHEMA.names
        release = package.release(again, package.Korolova(epsilon=2, delta="1e-5", d=3), tmp_path / "out")
    assert release.tables == ("queries",)
