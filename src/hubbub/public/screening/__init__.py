"""Screening: records that look like somebody's own data are taken out before anything is counted.

A screen looks at the texts of one record and at public rules, and at nothing else: what it does to a record cannot
depend on any other record, so neighbouring logs stay neighbours (docs/review.md). A record whose query is hit is
dropped whole. Of a record whose clicked address is hit the search stays, without the click.

    rules     patterns: e-mail, telephone, IP, coordinates, digits, addresses with tokens
    numbers   numbers with check digits: payment cards, national identity numbers
    own_lists the owner's deny and allow lists
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import ParameterError
from hubbub.ingest import clean
from hubbub.public.screening.own_lists import OwnList, read_own_list
from hubbub.public.screening.rules import RULES, VERSION, ScreeningRule, suspects

if TYPE_CHECKING:
    from hubbub.ingest.lines import Mask

NONE, DEFAULT = "none", "default"


@dataclass(frozen=True)
class Screen:
    """Which rules apply, and the owner's lists: a denied text is hit whatever else, an allowed one by no rule."""

    rules: tuple[str, ...]
    deny: OwnList | None = None
    allow: OwnList | None = None

    @property
    def _chosen(self) -> list[ScreeningRule]:
        return [RULES[name] for name in self.rules]

    def __call__(self, records: pa.RecordBatch) -> pa.RecordBatch:
        """The records that are left: each a function of itself."""
        url = records.column(records.schema.get_field_index("url"))
        if url.null_count < len(url):
            clicked = url.dictionary_encode()
            named = self.hits(clean.queries(clicked.dictionary))
            if named.any():
                spoken = pc.fill_null(_by_record(named, clicked), False)
                for name in ("rank", "url"):
                    place = records.schema.get_field_index(name)
                    column = records.column(place)
                    left = pc.if_else(spoken, pa.scalar(None, column.type), column)
                    records = records.set_column(place, records.schema.field(place), left)
        queries = records.column(records.schema.get_field_index("query")).dictionary_encode()
        asked = self.hits(queries.dictionary)
        return records.filter(_by_record(~asked, queries)) if asked.any() else records

    def hits(self, texts: pa.Array) -> Mask:
        """Which cleaned texts are hit; a caller with many records asks once for each text."""
        hit = np.zeros(len(texts), np.bool_)
        places = np.flatnonzero(suspects(texts)) if self.rules else np.empty(0, np.int64)
        some = texts.take(pa.array(places))
        for rule in self._chosen:
            if not len(places):
                break
            found = rule.hits(some)
            hit[places[found]] = True
            places, some = places[~found], some.filter(pa.array(~found))
        if self.allow is not None and hit.any():
            ruled = np.flatnonzero(hit)
            hit[ruled] = ~self.allow.hits(texts.take(pa.array(ruled)))
        return hit if self.deny is None else hit | self.deny.hits(texts)

    def by_rule(self, texts: pa.Array) -> dict[str, Mask]:
        """For each rule, which cleaned texts it hits by itself; the owner's deny list is called `deny`."""
        allowed = np.zeros(len(texts), np.bool_) if self.allow is None else self.allow.hits(texts)
        found = {rule.name: rule.hits(texts) & ~allowed for rule in self._chosen}
        return found if self.deny is None else {**found, "deny": self.deny.hits(texts)}

    def record(self) -> dict[str, object]:
        """The screen as a card names it: lists by their hash, never by what is in them."""
        libraries = [library for rule in self._chosen if (library := rule.library())]
        return {
            "version": VERSION,
            "rules": list(self.rules),
            "libraries": list(dict.fromkeys(libraries)),
            "deny_sha256": None if self.deny is None else self.deny.sha256,
            "allow_sha256": None if self.allow is None else self.allow.sha256,
        }


def _by_record(mask: Mask, encoded: pa.DictionaryArray) -> pa.Array:
    """What holds of each text, for every record that has it; NULL for one that has none."""
    return pa.array(mask).take(encoded.indices)


def chosen_screen(rules: str | None, deny: str | Path | None = None, allow: str | Path | None = None) -> Screen | None:
    """The screen that `--screen`, `--deny` and `--allow` describe; None if there is nothing to screen by."""
    asked = [name.strip() for name in (rules or NONE).split(",")]
    if asked == [DEFAULT]:
        asked = list(RULES)
    elif asked == [NONE]:
        asked = []
    unknown = [name for name in asked if name not in RULES]
    if unknown:
        raise ParameterError(
            "There is no such screening rule.",
            given=", ".join(unknown),
            allowed=f"{NONE}, {DEFAULT} (all of them), or some of: {', '.join(RULES)}",
        )
    denied, allowed = (None if file is None else read_own_list(Path(file)) for file in (deny, allow))
    if allowed is not None and not asked:
        raise ParameterError(
            "An allow list takes texts out of the rules, and there are none.",
            given=f"--allow {allow}",
            next="say --screen default, or leave --allow out",
        )
    in_order = tuple(name for name in RULES if name in asked)
    return Screen(in_order, denied, allowed) if in_order or denied is not None else None
