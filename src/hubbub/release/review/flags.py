"""Why a drawn row asks for a second look: a rule hits it, it names a topic or a person, another is nearly the same."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa

from hubbub.ingest import clean
from hubbub.public.screening import Screen, chosen_screen
from hubbub.public.sensitive import person_names, topics
from hubbub.release.rows import NO_TEXTS
from hubbub.steps.keys import group_of

SHORTEST = 5
"""Texts of fewer letters are near too many others."""
LONGEST = 60
ARROW = " → "
"""Between the queries of a session, in a review file and on the terminal."""
WORDS = re.compile(r"[\w'’]+")


@dataclass(frozen=True)
class FlaggedRow:
    """A drawn row and its flags: `rule email`, `topic health`, `name`, `near jane doe`."""

    table: str
    key: str
    second: str
    value: object
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Flags:
    """What is looked for."""

    screen: Screen | None = field(default_factory=lambda: chosen_screen("default"))
    topic: Mapping[str, str] = field(default_factory=topics)
    names: tuple[frozenset[str], frozenset[str], frozenset[str]] = field(default_factory=person_names)

    def of(self, texts: list[str]) -> dict[str, tuple[str, ...]]:
        """The flags of distinct texts."""
        cleaned = clean.queries(pa.array(texts, pa.string()))
        hit = {} if self.screen is None else self.screen.by_rule(cleaned)
        found: dict[str, tuple[str, ...]] = {}
        for n, text in enumerate(cleaned.to_pylist()):
            rules = [f"rule {name}" for name, mask in hit.items() if mask[n]]
            words = WORDS.findall(text)
            about = sorted({f"topic {self.topic[word]}" for word in words if word in self.topic})
            found[texts[n]] = (*rules, *about, *self._person(text, words))
        return found

    def _person(self, text: str, words: list[str]) -> Iterator[str]:
        given, family, own = self.names
        if (
            text in own
            or any(" ".join(words[n : n + 2]) in own for n in range(len(words)))
            or any(a in given and b in family for a, b in pairwise(words))
        ):
            yield "name"
        elif 1 < len(words) < 4 and words[0] in given:
            yield "given name"


def keys_of(rows: pa.Table, group: str = "") -> Iterator[tuple[str, str, list[str], object]]:
    """Each row as a review names it: its key, its second key, all its texts but its group, its value."""
    names = [
        name
        for name in rows.column_names
        if name not in NO_TEXTS and (pa.types.is_string(rows.schema.field(name).type) or _listed(rows, name))
    ]
    value = rows.column_names[-2] if rows.column_names[-1] == "noise_sd" else None
    columns = [rows.column(name).to_pylist() for name in names]
    values = [None] * rows.num_rows if value is None else rows.column(value).to_pylist()
    for parts, number in zip(zip(*columns, strict=True), values, strict=True):
        shown = [ARROW.join(part) if isinstance(part, list) else part or "" for part in parts]
        typed = [part for name, part in zip(names, parts, strict=True) if name != group]
        texts = [text for part in typed for text in (part if isinstance(part, list) else [part]) if text]
        yield shown[0], ARROW.join(shown[1:]), texts, number


def flagged(tables: Mapping[str, pa.Table], flags: Flags) -> list[FlaggedRow]:
    """Every drawn row that has a flag, table by table in its order."""
    return [row for row in looked_at(tables, flags) if row.flags]


def looked_at(tables: Mapping[str, pa.Table], flags: Flags) -> Iterator[FlaggedRow]:
    """Every drawn row with its flags, if any, table by table in its order."""
    listed = {table: list(keys_of(rows, group_of(table))) for table, rows in tables.items()}
    texts = list(dict.fromkeys(text for rows in listed.values() for _, _, inside, _ in rows for text in inside))
    of = flags.of(texts)
    near = near_duplicates(list(dict.fromkeys(key for key, *_ in listed.get("queries", []))))
    for table, rows in listed.items():
        for key, second, inside, value in rows:
            own = list(dict.fromkeys(flag for text in inside for flag in of[text]))
            if table == "queries" and key in near:
                own.append(f"near {near[key]}")
            yield FlaggedRow(table, key, second, value, tuple(own))


def near_duplicates(texts: Iterable[str]) -> dict[str, str]:
    """For each text, the first other one that is the same but for blanks, signs, the order of words or one letter."""
    forms: dict[str, list[str]] = {}
    for text in _candidates(list(texts)):
        for form in _forms(text):
            forms.setdefault(form, []).append(text)
    found: dict[str, str] = {}
    for alike in forms.values():
        for text in alike if len(alike) > 1 else ():
            found.setdefault(text, next(other for other in alike if other != text))
    return found


def _candidates(texts: list[str]) -> list[str]:
    """Texts of which a form might be another's, by hashes: all forms of 100,000 texts would take a gigabyte."""
    hashes, whose = array("q"), array("q")
    for n, text in enumerate(texts):
        own = {hash(form) for form in _forms(text)}
        hashes.extend(own)
        whose.extend([n] * len(own))
    if not hashes:
        return []
    every = np.asarray(hashes)
    order = np.argsort(every, kind="stable")
    same = every[order][1:] == every[order][:-1]
    twice = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    return [texts[n] for n in np.unique(np.asarray(whose)[order[twice]])]


def near_struck(tables: Mapping[str, pa.Table], left: Mapping[str, pa.Table]) -> list[tuple[str, str]]:
    """Queries that stay, each with a struck one that is nearly the same."""
    before = [key for key, *_ in keys_of(tables["queries"])] if "queries" in tables else []
    stay = {key for key, *_ in keys_of(left["queries"])} if "queries" in left else set()
    gone = [text for text in before if text not in stay]
    forms = {form: text for text in gone for form in _forms(text)}
    near = (
        (text, next((forms[form] for form in _forms(text) if form in forms), "")) for text in before if text in stay
    )
    return [(text, other) for text, other in near if other]


def _forms(text: str) -> set[str]:
    """What two near texts have in common: the letters, the words in order, and the letters without one of them."""
    letters = "".join(WORDS.findall(text))
    forms = {letters, " ".join(sorted(WORDS.findall(text)))}
    if SHORTEST <= len(letters) <= LONGEST and not letters.isdigit():
        forms |= {letters[:n] + "\0" + letters[n + 1 :] for n in range(len(letters))}  # one letter is another one
        forms |= {letters[:n] + letters[n + 1 :] for n in range(len(letters))}  # one letter more
    return forms if len(letters) >= SHORTEST else set()


def _listed(rows: pa.Table, name: str) -> bool:
    return bool(pa.types.is_list(rows.schema.field(name).type))
