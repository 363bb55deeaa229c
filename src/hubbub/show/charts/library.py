"""Vega, Vega-Lite and Vega-Embed as one text; nothing is fetched.

A wheel carries the text as a file, which `hatch_build.py` made with vl-convert when the wheel was built. Where there is
none, as in a clone that was never installed, vl-convert makes it here. That starts a JavaScript engine, which takes
longer than a small release, so it is kept in the user's cache under the version it belongs to; a copy that cannot be
kept is made again.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hubbub.extras import missing
from hubbub.files import write_whole
from hubbub.show.charts.vega import END, bundle

SHIPPED = Path(__file__).with_name("vega.js")


@lru_cache(maxsize=1)
def library() -> str:
    """The bundle: `vegaEmbed`, `vegaLite` and `vega` on the window."""
    if shipped := _whole(SHIPPED):
        return shipped
    try:
        kept = cache() / f"vega-{version('vl-convert-python')}.js"
    except PackageNotFoundError:
        raise missing("charts", "What draws charts in pages (vl-convert)") from None
    if text := _whole(kept):
        return text
    import vl_convert

    text = bundle(vl_convert)
    _keep(kept, text)
    return text


def _whole(path: Path) -> str | None:
    """What a file says, if it was written to its end."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.endswith(END) else None


def cache() -> Path:
    """The user's cache directory."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not given.is_absolute():
        given = Path("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return given.expanduser() / "hubbub"


def _keep(path: Path, text: str) -> None:
    """Keep the bundle in the cache, whole or not at all; a cache that cannot be written is no error."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, text)
