"""Vega, Vega-Lite and Vega-Embed as one text, from the installed vl-convert; nothing is fetched.

Making the bundle starts a JavaScript engine, which takes longer than a small release. It is the same for every page,
so it is kept in the user's cache under the version it belongs to; a copy that cannot be kept is made again.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from hubbub.files import write_whole

GLOBALS = "window.vegaEmbed = vegaEmbed; window.vega = vega; window.vegaLite = vegaLite;"
END = "\n/* whole */\n"


@lru_cache(maxsize=1)
def library() -> str:
    """The bundle: `vegaEmbed`, `vegaLite` and `vega` on the window."""
    kept = cache() / f"vega-{version('vl-convert-python')}.js"
    try:
        text = kept.read_text(encoding="utf-8")
        if text.endswith(END):
            return text
    except (OSError, UnicodeDecodeError):
        pass
    import vl_convert

    text = vl_convert.javascript_bundle(GLOBALS).replace("</script", "<\\/script") + END
    _keep(kept, text)
    return text


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
