"""Synonyms in the format of Solr: pairs of queries that are alike by clicks or by a replaced word, with a confidence.

How pairs are found is in worth/alike.py, where the task `synonyms` finds them, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.supported import DEVIATIONS, SUPPORT, Supported
from hubbub.show.export.text import RULE, one_line, tab_separated
from hubbub.worth.alike import CLICKS, CROWDED, DIGITS, LEAST, LEAST_REPLACED, AlikePair, Weighed, alike

SIGNS = ("\\", ",", "=>", "#")
"""What means something in a rule; a backslash takes the meaning away."""
HEADER = ["query", "synonym", "confidence", "pages", "by"]


class Synonyms(Format):
    """Rules for a synonym filter, and the same pairs as a table."""

    name: ClassVar[str] = "synonyms"
    about: ClassVar[str] = "synonym rules for Solr, OpenSearch and Elasticsearch"
    needs: ClassVar[tuple[str, ...]] = ("clicks", "transitions")

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The surest rules first, each under a comment with its confidence."""
        used = {name: Supported.of(source.need(name)) for name in self.needs if source.rows(name)}
        found = rules(used.get("clicks"), used.get("transitions"))
        left_out = sum(table.left_out for table in used.values())
        said = next(iter(used.values())).with_left_out(left_out)
        about = said.said("a pair of queries on a line, its confidence in a comment above")
        folder.lines("synonyms.txt", about, len(found), solr(found))
        columns = zip(*((r.left, r.right, r.confidence, r.pages, r.by) for r in found), strict=True)
        table = pa.table(list(map(pa.array, columns)) or [pa.array([], pa.string())] * len(HEADER), HEADER)
        folder.lines("synonyms.tsv", said.said("the same pairs"), len(found), tab_separated(table, HEADER))

    def notes(self, card: Card) -> str:
        """For the README: the syntax, and what makes a rule."""
        return (
            "`synonyms.txt` is for a synonym filter that knows the format of Solr (`synonyms_path`, format solr): "
            "`one query, another` on a line, which lets each stand for the other; lines that begin with `#` are "
            "comments. A comma, a backslash, `=>` and `#` of a query have a backslash before them. A query with "
            "control characters, or nothing but blanks, is in no rule. `synonyms.tsv` has the pairs with a header, "
            f"between tabs. {RULE}\n\n"
            "A rule by *clicks* is a pair of queries for which the same pages were clicked. Its confidence is the "
            f"cosine of their clicks, with {DEVIATIONS} `noise_sd` taken from every shared number, and rules of at "
            f"least {LEAST} are listed. A page that was clicked for more than {CROWDED} queries does not count as "
            "shared. A rule by *substitution* is a pair of which one followed the other in a session with one word "
            "replaced, if the release has `transitions`. Its confidence is the share of all that followed the one, "
            f"{DEVIATIONS} `noise_sd` taken from it, and rules of at least {LEAST_REPLACED} are listed.\n\n"
            f"{SUPPORT}\n\n"
            "A shared aim is not always a shared meaning, and a replaced word may change it: read the rules before you "
            "use them, the least sure ones first. A pair that is not listed was not released or not sure."
        )


def rules(clicks: Supported | None, transitions: Supported | None = None) -> list[AlikePair]:
    """Every pair that is sure enough and can stand on a line, the surest first."""
    used = [None if t is None else Weighed(t.rows, t.number, t.surely) for t in (clicks, transitions)]
    return [pair for pair in alike(*used) if one_line(pair.left) and one_line(pair.right)]


def term(query: str) -> str:
    """A query as it stands in a rule."""
    for sign in SIGNS:
        query = query.replace(sign, f"\\{sign}")
    return query


def solr(found: list[AlikePair]) -> Iterator[bytes]:
    """Two lines for each rule."""
    for rule in found:
        why = f"shared pages: {rule.pages}" if rule.by == CLICKS else "a word replaced"
        yield f"# confidence {rule.confidence:.{DIGITS}f}, {why}\n".encode()
        yield f"{term(rule.left)}, {term(rule.right)}\n".encode()


register(Synonyms())
