"""How vl-convert makes the one text that draws charts. `hatch_build.py` loads this file alone: it imports nothing."""

from __future__ import annotations

from typing import Any

GLOBALS = "window.vegaEmbed = vegaEmbed; window.vega = vega; window.vegaLite = vegaLite;"
NOTICE = """/* Vega, Vega-Lite and Vega-Embed, BSD-3-Clause, Copyright (c) University of Washington Interactive
   Data Lab; D3, ISC, Copyright (c) Mike Bostock. The licences are in hubbub's vega.LICENCE.txt. */
"""
END = "\n/* whole */\n"
"""The last line: a text without it was not written to its end."""


def bundle(vl_convert: Any) -> str:
    """The text, safe inside a script tag."""
    return NOTICE + str(vl_convert.javascript_bundle(GLOBALS)).replace("</script", "<\\/script") + END
