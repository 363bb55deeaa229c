"""What is finished is kept: one small file for each task of each draw of each row, known by all that determines it.

The same log, parameters, noise, task and code give the same scores, so a cell that is there need not be computed
again; whatever differs has another name. A file that is cut short or was changed is none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub.files import write_whole

FOLDER = "cells"


@dataclass(frozen=True)
class Cell:
    """One task of one draw of one row."""

    of: Mapping[str, Any]
    """Everything that determines it."""

    @property
    def name(self) -> str:
        """The name of the cell's file."""
        text = json.dumps(self.of, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:40] + ".json"

    def read(self, folder: Path) -> dict[str, Any] | None:
        """The scores in the cell's file; None if it is not finished."""
        try:
            document = json.loads((folder / self.name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or document.get("of") != self.of:
            return None
        scores = document.get("scores")
        return scores if isinstance(scores, dict) else None

    def write(self, folder: Path, scores: Mapping[str, Any]) -> None:
        """Write the cell's file whole or not at all, readable by its owner only."""
        write_whole(folder / self.name, json.dumps({"of": self.of, "scores": scores}, ensure_ascii=False) + "\n")
