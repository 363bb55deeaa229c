"""A release starts without pandas: Arrow loads it with its first array, and no release hands Arrow a data frame.

Who imports pandas later has it, and Arrow then converts frames where it is asked to (`from_pandas`, `to_pandas`). What
another package adds to hubbub may count on more, so that nothing is held back where there is such a package.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import entry_points

COMMANDS = ("release", "series")


class _Hidden:
    """While it stands among the finders of modules, there is no pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        """Nothing is found here; what is hidden is not looked for elsewhere."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def without_pandas(command: Sequence[str]) -> None:
    """Let Arrow look for pandas now, and find none, if the command line is one that needs none."""
    if not {*command[:1]} & {*COMMANDS} or any(group.startswith("hubbub.") for group in entry_points().groups):
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        import pyarrow as pa

        pa.array([])
    finally:
        sys.meta_path.remove(hidden)
