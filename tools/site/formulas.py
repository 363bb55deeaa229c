"""Formulas: the pages write them in plain text, and the site sets the indices and the exponents of it.

A proof is read in an editor, on a forge and in the installed package, so its formulas are Unicode, as in
`μ_r² = m_r² 4^k / (m_r V − 4)`. Here a letter's `_x`, `_(…)`, `^x` and `^(…)` become subscripts and superscripts, when
the site is built: no script runs in the reader's browser.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGES = ("docs/proofs/", "docs/papers/", "docs/mechanisms/")
BARE = r"[−-]?[^\W_⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+"
INDEX = re.compile(
    rf"(?<=[^\W_])(?P<sign>[_^])(?:\((?P<inside>[^()\n]+)\)|(?P<bare>{BARE}))|(?<=\))\^(?P<after>{BARE})"
)
TAGS = {"_": "sub", "^": "sup"}


def pieces(text: str) -> list[tuple[str, str]]:
    """A text cut into what stands on the line, below it and above it."""
    found: list[tuple[str, str]] = []
    at = 0
    for match in INDEX.finditer(text):
        found += [("", text[at : match.start()])] if match.start() > at else []
        found.append((TAGS[match["sign"] or "^"], match["inside"] or match["bare"] or match["after"]))
        at = match.end()
    return found + ([("", text[at:])] if at < len(text) else [])


class Formulas(SphinxPostTransform):
    """Set the formulas of proofs: in blocks that name no language, and in running text."""

    default_priority = 700

    def run(self, **_: Any) -> None:
        """Replace blocks and texts in place."""
        if not self.env.docname.startswith(PAGES):
            return
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language", "none") in ("none", "default"):
                said = "".join(
                    f"<{t}>{html.escape(p)}</{t}>" if t else html.escape(p) for t, p in pieces(block.astext())
                )
                block.replace_self(nodes.raw("", f'<pre class="formula">{said}</pre>', format="html"))
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.literal | nodes.literal_block | nodes.raw | nodes.title):
                continue
            cut = pieces(text.astext())
            if any(tag for tag, _ in cut):
                kinds = {"sub": nodes.subscript, "sup": nodes.superscript}
                text.parent.replace(text, [kinds[t]("", p) if t else nodes.Text(p) for t, p in cut])


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.add_post_transform(Formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
