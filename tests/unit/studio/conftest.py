"""A studio whose log is read, and somebody who asks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.studio.asking import Client, canaries

from hubbub.card.owner import Owner
from hubbub.cli.options import NewLogOptions, OwnerOptions
from hubbub.log import read_log
from hubbub.studio.state import OpenedLog, Studio


@pytest.fixture(scope="module")
def log_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studio") / "canaries.tsv"
    path.write_text("\n".join(canaries()) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def studio(log_path: Path, tmp_path: Path, own_ledger: Path) -> Studio:
    """A studio whose log is read."""
    folder = tmp_path / "releases"
    folder.mkdir()
    log = NewLogOptions(log=str(log_path), format="aol", ledger=str(own_ledger), population="readers")
    made = Studio(folder, Owner(), log, OwnerOptions(), opened=OpenedLog(log_path.name))
    made.look(lambda progress: read_log(log_path, format="aol", progress=progress))
    assert made.opened is not None and made.opened.ready, made.opened
    return made


@pytest.fixture
def client(studio: Studio) -> Client:
    return Client(studio)
