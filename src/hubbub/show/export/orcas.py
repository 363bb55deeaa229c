"""The shape of ORCAS (Craswell et al. 2020): one line a clicked pair, qid, query, did, url, without a header.

ORCAS has no numbers; ours stand in a second file, so that whatever reads the first needs no change.
"""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.clicked import Clicked
from hubbub.show.export.text import RULE, tab_separated


class Orcas(Format):
    """Clicked pairs, and their numbers beside them."""

    name: ClassVar[str] = "orcas"
    about: ClassVar[str] = "clicked query-document pairs in the columns of ORCAS"
    needs: ClassVar[tuple[str, ...]] = ("clicks",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """Both files have the same rows in the same order."""
        clicked = Clicked.of(source)
        rows = clicked.rows
        pairs = pa.table([clicked.qid, rows["query"], clicked.docno, rows["url"]], ["qid", "query", "did", "url"])
        folder.lines("orcas.tsv", "qid, query, did, url; no header", rows.num_rows, tab_separated(pairs))
        about = "how many users stand behind each pair, in the same order"
        folder.lines(
            "orcas-users.tsv", about, rows.num_rows, tab_separated(clicked.numbers("did"), clicked.names("did"))
        )

    def notes(self, card: Card) -> str:
        """For the README: the ids are this export's own, not those of ORCAS."""
        return (
            "`orcas.tsv` has the four columns of ORCAS and no header. ORCAS has no numbers: those of this release, "
            "with the standard deviation of their noise, are in `orcas-users.tsv` (with a header). `qid` and `did` "
            "are numbers of this export, in the order of the texts; they are not those of MS MARCO, and another "
            "release has others. The trec export of the same release uses the same ones. Fields are between tabs, "
            f"without quotation marks. {RULE}"
        )


register(Orcas())
