"""Every exporter keeps its contract, and the contract finds one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from hubbub.show.export import formats
from hubbub.show.export.base import FORMATS
from hubbub.show.export.tsv import Tsv
from hubbub.testing import check_exporter


@pytest.mark.slow
@pytest.mark.parametrize("name", formats())
def test_every_format_keeps_the_contract(name: str) -> None:
    check_exporter(FORMATS.named(name))


@pytest.mark.slow
def test_the_contract_finds_a_file_that_is_not_listed() -> None:
    class Sloppy(Tsv):
        def write(self, source: Any, folder: Any) -> None:
            super().write(source, folder)
            (folder.path / "notes.txt").write_text("by the way")

    with pytest.raises(AssertionError, match="not what is listed"):
        check_exporter(Sloppy())
