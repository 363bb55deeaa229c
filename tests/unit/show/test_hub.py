"""The README of a release is a data card as Hugging Face's `datasets` reads it: its tables open as they lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.made_up import publish, some_tables

pytestmark = pytest.mark.slow


def test_datasets_opens_the_public_folder_as_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets  # after the settings above, which it reads once

    tables = some_tables()
    public = publish(tmp_path / "public", tables).parent
    for name, rows in tables.items():
        if rows:
            opened = datasets.load_dataset(str(public), name, split="train", cache_dir=str(tmp_path / "cache"))
            assert opened.num_rows == len(rows) and list(opened[0].values()) == list(rows[0])
        else:
            with pytest.raises(ValueError, match=name):
                datasets.load_dataset(str(public), name, split="train", cache_dir=str(tmp_path / "cache"))
