"""One release: planned, run once from top to bottom, written whole, opened for reading.

`hubbub.release(...)` runs one; `story` tells how.
"""

from __future__ import annotations

from hubbub._callable import make_callable
from hubbub.release.opened import Frame, Release
from hubbub.release.story import Result, release, run_release

__all__ = ["Frame", "Release", "Result", "release", "run_release"]

make_callable(__name__)
