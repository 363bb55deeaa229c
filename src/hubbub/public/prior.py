"""A public prior on the form of a query: what its words alone say about whether many people ask it.

Popular queries are short and made of known words, the tail is not. Each form below has a weight, from public words and
from nothing else: the log at hand has no part in it. The weights were read off the published shares of a web search log
of 2006 (how often a form is among queries of five users and more, over how often it is among all), so they are no prior
for that log itself. A change of a weight is a new `VERSION`.

A prior is no condition of privacy: any positive integers would do (docs/proofs/crowd.md, section 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.public.lists import OwnPrior
from hubbub.public.words import WITH_DOMAINS

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.public.words import Vocabulary

VERSION = 1
WORD, PAIR, DOMAIN, TWO, THREE, NAME, OTHER = 100, 100, 150, 15, 4, 10, 1
FORMS: tuple[tuple[str, int], ...] = (
    ("one known word", WORD),
    ("a known pair of words", PAIR),
    ("the domain of a known word (word.com, www.word.com, …)", DOMAIN),
    ("two words, the first of them known, not a known pair", TWO),
    ("three words, the first of them known", THREE),
    ("one unknown word, or the domain of one", NAME),
    ("anything else", OTHER),
)
"""Every form and its weight."""
SUFFIXES = ("com", "org", "net", "edu", "gov")
WORDS, PAIRS, OWN, KNOWN = "prior_words", "prior_pairs", "prior_own", "known_words"
"""The engine's tables of known words and pairs, of the owner's own weights, of all that is known as a query."""


@dataclass(frozen=True)
class Prior:
    """The weight of every query, as SQL: by its form, and by the owner's own weights, which come first."""

    vocabulary: Vocabulary | None
    own: OwnPrior | None = None
    known: bool = False
    """Whether words, pairs and domains of the vocabulary are released at levels of their own."""
    at_once = False
    """The first round is uniform: its keys are learned from the log."""

    def records(self) -> list[dict[str, str]]:
        """What it is made of, as a card names it."""
        words = [] if self.vocabulary is None else [self.vocabulary.record() | {"forms": f"version {VERSION}"}]
        return words if self.own is None else [*words, self.own.record()]

    def register(self, engine: Engine) -> None:
        """Put what is public into the engine."""
        if self.vocabulary is not None:
            frequent = pa.array(np.arange(self.vocabulary.words.num_rows) < WITH_DOMAINS)
            engine.register(WORDS, self.vocabulary.words.append_column("frequent", frequent))
            engine.register(PAIRS, self.vocabulary.pairs)
            engine.register(KNOWN, self.vocabulary.known)
        if self.own is not None:
            engine.register(OWN, self.own.rows)

    def weighed(self, texts: str) -> str:
        """SQL: the rows of a table of queries with their weight `g`, with `fits`, and with whether they are `known`.

        `fits` is 1 where a query of one to three words begins with a known one, -1 where not, 0 for other queries.
        """
        rows = f"SELECT t.*, {OTHER} AS form, 0 AS fit, false AS known FROM {texts} AS t"
        if self.vocabulary is not None:
            rows = _by_form(texts)
        if self.own is None:
            return f"SELECT f.*, CAST(f.form AS BIGINT) AS g, CAST(f.fit AS BIGINT) AS fits FROM ({rows}) AS f"
        columns = "CAST(coalesce(o.weight, f.form) AS BIGINT) AS g"
        columns += ", CAST(CASE WHEN o.weight IS NULL THEN f.fit ELSE 1 END AS BIGINT) AS fits"
        return f"SELECT f.*, {columns} FROM ({rows}) AS f LEFT JOIN {OWN} AS o ON o.query = f.query"

    def ordered(self, rows: str) -> str:
        """SQL: rows of (uid, query, …) with `turn`, from 0 to 3: in which order a full pool takes them.

        What is known comes first, then shorter queries; the rest of the order is by chance.
        """
        words = "CASE WHEN h.query NOT LIKE '% % %' THEN 1 WHEN h.query NOT LIKE '% % % %' THEN 2 ELSE 3 END"
        if self.vocabulary is not None:
            known = f"CASE WHEN k.query IS NULL THEN {words} ELSE 0 END"
            rows = f"SELECT h.*, {known} AS form FROM ({rows}) AS h LEFT JOIN {KNOWN} AS k ON k.query = h.query"
        else:
            rows = f"SELECT h.*, 3 AS form FROM ({rows}) AS h"
        if self.own is None:
            return f"SELECT r.*, r.form AS turn FROM ({rows}) AS r"
        levels = f"WHEN o.weight >= {WORD} THEN 0 WHEN o.weight >= {NAME} THEN 1 WHEN o.weight >= {THREE} THEN 2 ELSE 3"
        turn = f"CASE WHEN o.weight IS NULL THEN r.form {levels} END"
        return f"SELECT r.*, {turn} AS turn FROM ({rows}) AS r LEFT JOIN {OWN} AS o ON o.query = r.query"


COUNTED = (
    "CASE WHEN query NOT LIKE '% %' THEN 1 WHEN query NOT LIKE '% % %' THEN 2 "
    "WHEN query NOT LIKE '% % % %' THEN 3 ELSE 4 END"
)
"""How many words a query has, up to 4: cleaning leaves single blanks."""


def _by_form(texts: str) -> str:
    """The rows of a table (kid, query) with the weight of their form, and whether their first word is known."""
    site = " OR ".join(f"query LIKE '%.{suffix}'" for suffix in SUFFIXES)
    counted = f"SELECT h.*, {COUNTED} AS n FROM {texts} AS h"
    sites = f"SELECT c.*, CASE WHEN n = 1 THEN {site} ELSE false END AS site FROM ({counted}) AS c"
    stem = (
        "CASE WHEN query LIKE 'www.%' AND length(query) > 8 THEN substr(query, 5, length(query) - 8) "
        "ELSE substr(query, 1, length(query) - 4) END"
    )
    word = "substr(query, 1, instr(query, ' ') - 1)"
    first = f"CASE WHEN n > 3 THEN NULL WHEN n > 1 THEN {word} WHEN site THEN {stem} ELSE query END"
    looked_up = (
        "SELECT s.*, w.query IS NOT NULL AS first, coalesce(w.frequent, false) AS frequent, "
        "p.query IS NOT NULL AS pair "
        f"FROM (SELECT i.*, {first} AS opening, CASE WHEN n = 2 THEN query END AS both FROM ({sites}) AS i) AS s "
        f"LEFT JOIN {WORDS} AS w ON w.query = s.opening LEFT JOIN {PAIRS} AS p ON p.query = s.both"
    )
    weight = (
        f"CASE WHEN pair THEN {PAIR} WHEN n > 3 THEN {OTHER} WHEN NOT first THEN CASE WHEN n = 1 THEN {NAME} ELSE "
        f"{OTHER} END WHEN site THEN {DOMAIN} WHEN n = 1 THEN {WORD} WHEN n = 2 THEN {TWO} ELSE {THREE} END"
    )
    fit = "CASE WHEN n > 3 OR site THEN 0 WHEN first OR pair THEN 1 ELSE -1 END"
    known = "pair OR (n = 1 AND first AND (NOT site OR (frequent AND query LIKE '%.com')))"
    return f"SELECT l.*, {weight} AS form, {fit} AS fit, {known} AS known FROM ({looked_up}) AS l"
