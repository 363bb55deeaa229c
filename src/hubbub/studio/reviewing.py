"""A review on the page: the drawn rows of a draft or a release, why some ask for a second look, and what is decided.

Decisions are kept in `owner-only/review.tsv`, a review file as `hubbub review` writes and reads it: they outlive the
studio, and two reviewers see each other's. Rows come from drawn tables and flags from public lists; no log is read.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.card.check import public_folder
from hubbub.card.notice import stated_reason
from hubbub.card.schema import Card
from hubbub.errors import HubbubError, ParameterError, Refused
from hubbub.release.review import Drawn, FlaggedRow, Flags, Strike, looked_at, read_strikes, write_review
from hubbub.release.review.anew import alone, drawn_tables
from hubbub.release.review.flags import ARROW
from hubbub.release.review.strikes import AS_TEXTS
from hubbub.steps.keys import group_of

KEPT = "review.tsv"
NEAR = "near"
ONLY = ("all", "flagged", "struck")
MOST_ROWS = 500
"""Of one answer: the page asks for what is in view."""
PATIENCE = 2.0
"""For how many seconds another process that holds the release is waited for."""
Where = tuple[str, str, str]


@dataclass(frozen=True)
class Wanted:
    """Which rows the page shows."""

    table: str = ""
    flag: str = ""
    text: str = ""
    only: str = "all"

    @staticmethod
    def read(given: Mapping[str, object]) -> Wanted:
        """From what the page asks."""
        texts = {name: str(given.get(name) or "") for name in ("table", "flag", "text", "only")}
        if texts["only"] not in ONLY:
            raise ParameterError("There is no such choice of rows.", given=texts["only"], allowed=", ".join(ONLY))
        return Wanted(**texts | {"text": texts["text"].strip().lower()})


@dataclass
class ReviewDesk:
    """One release under review. It is opened in the background; until then it answers that it is not ready."""

    path: Path
    problem: str = ""
    ready: bool = False
    card: Card | None = None
    rows: list[FlaggedRow] = field(default_factory=list)
    _parts: list[frozenset[str]] = field(default_factory=list)
    _plain: list[str] = field(default_factory=list)
    _drawn: Drawn = field(default_factory=lambda: Drawn({}, {}))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _read: tuple[str, dict[Where, str]] = field(default_factory=lambda: ("", {}))
    _shown: tuple[tuple[Wanted, str], list[int]] | None = None

    @property
    def file(self) -> Path:
        """Where the decisions are."""
        return self.path / "owner-only" / KEPT

    def open(self) -> None:
        """Read the drawn rows and look at them."""
        try:
            if not self.file.parent.is_dir():
                raise Refused(
                    "A review is of the owner's own release, and this one has no owner-only/.",
                    given=self.path,
                    next="name the folder that `hubbub release --out` wrote, or use `hubbub review` on the terminal",
                )
            self.card, tables = drawn_tables(self.path)
            self._drawn = Drawn.of(tables)
            self.rows = list(looked_at(tables, Flags()))
            self._parts = [texts_of(row) for row in self.rows]
            self._plain = [f"{row.key} {row.second}".lower() for row in self.rows]
            self.decided()
            self.ready = True
        except HubbubError as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = f"The rows could not be looked at: {type(error).__name__}."

    # ------------------------------------------------------------------ what is decided

    def decided(self) -> dict[Where, str]:
        """Every decision: why a row, a text or a table is struck."""
        assert self.card is not None
        version = self.version()
        if self._read[0] != version:
            strikes = read_strikes(self.file, self.card, self._drawn) if self.file.is_file() else ()
            self._read = version, {(s.table, s.key, s.second): s.reason for s in strikes}
        return dict(self._read[1])

    def version(self) -> str:
        """Which decisions these are: it changes with any of them."""
        return hashlib.sha256(self.file.read_bytes()).hexdigest()[:16] if self.file.is_file() else "none"

    def decide(self, where: Where, reason: str, was: str) -> None:
        """Strike a row or a table, say another reason, or with none take it back; `was` is what the page showed."""
        where = self._where(where)
        if reason:
            reason = stated_reason(reason)
        with self._alone():
            decided = self.decided()
            now = decided.get(where, "")
            if now != was:
                by = f"struck: {now}" if now else "not struck"
                raise Refused(
                    "Somebody else decided on this row meanwhile: it is left as it is now.",
                    given=f"{where[1] or where[0]} is {by}",
                    next="look at it again; the page shows it now",
                )
            decided.pop(where, None)
            self._write(decided | ({where: reason} if reason else {}))

    def strike_all(self, wanted: Wanted, reason: str) -> int:
        """Strike every row that the page shows and that is not struck yet; how many."""
        reason = stated_reason(reason)
        with self._alone():
            decided = self.decided()
            gone = self._gone(decided)
            new = {self._where(_where(self.rows[n])): reason for n in self._indices(wanted, decided) if not gone(n)}
            self._write(decided | new)
        return len(new)

    def _where(self, where: Where) -> Where:
        table, key, second = where
        where = (table, key, "" if table in AS_TEXTS else second)
        if not self._drawn.holds(*where):
            raise ParameterError("No such row was drawn.", given=" | ".join(part for part in where if part))
        return where

    def _write(self, decided: Mapping[Where, str]) -> None:
        assert self.card is not None
        write_review(self.file, self.card, (), (Strike(*where, reason) for where, reason in decided.items()))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time, in this process and beside others; an approval elsewhere is told as such."""
        with self._lock, alone(public_folder(self.path), PATIENCE):
            yield

    # ------------------------------------------------------------------ what is shown

    def _gone(self, decided: Mapping[Where, str]) -> Callable[[int], str]:
        """Why a row would go, by its number: its table, a struck text that it holds, or its own strike."""
        texts = frozenset(key for table, key, _ in decided if key and table in AS_TEXTS)
        tables = {table for table, key, _ in decided if not key}

        def gone(n: int) -> str:
            row = self.rows[n]
            if row.table in tables:
                return f"the table {row.table} is struck"
            if texts and (held := texts & self._parts[n]):
                return f"struck with “{min(held)}”"
            return "struck" if (row.table, row.key, row.second) in decided else ""

        return gone

    def _indices(self, wanted: Wanted, decided: Mapping[Where, str]) -> list[int]:
        key = (wanted, self.version() if wanted.only == "struck" else "")
        if self._shown is not None and self._shown[0] == key:
            return self._shown[1]
        gone = self._gone(decided)
        found = [
            n
            for n, row in enumerate(self.rows)
            if (not wanted.table or row.table == wanted.table)
            and (wanted.only != "flagged" or row.flags)
            and (not wanted.flag or any(_group(flag) == wanted.flag for flag in row.flags))
            and (not wanted.text or wanted.text in self._plain[n])
            and (wanted.only != "struck" or gone(n))
        ]
        self._shown = key, found
        return found

    def shown(self, wanted: Wanted, begin: int, count: int) -> dict[str, object]:
        """Some of the rows that are wanted, in the order in which they were drawn."""
        decided = self.decided()
        found, gone = self._indices(wanted, decided), self._gone(decided)
        begin = max(begin, 0)
        rows = []
        for n in found[begin : begin + min(max(count, 0), MOST_ROWS)]:
            row = self.rows[n]
            rows.append(
                {
                    "table": row.table,
                    "key": row.key,
                    "second": row.second,
                    "value": row.value,
                    "flags": list(row.flags),
                    "reason": decided.get(self._where(_where(row)), ""),
                    "with": gone(n),
                }
            )
        return {"found": len(found), "from": begin, "rows": rows, "version": self.version()}

    def record(self) -> dict[str, object]:
        """How far it is: tables, flags, what is struck of each."""
        if not self.ready:
            return {"ready": False, "problem": self.problem}
        decided = self.decided()
        gone = self._gone(decided)
        struck = Counter(row.table for n, row in enumerate(self.rows) if gone(n))
        drawn = Counter(row.table for row in self.rows)
        flagged = Counter(row.table for row in self.rows if row.flags)
        flags = Counter(group for row in self.rows for group in {_group(flag) for flag in row.flags})
        return {
            "ready": True,
            "problem": "",
            "tables": {
                table: {
                    "rows": drawn[table],
                    "flagged": flagged[table],
                    "struck": struck[table],
                    "whole": decided.get((table, "", ""), ""),
                }
                for table in self._drawn.keys
            },
            "flags": dict(flags.most_common()),
            "reasons": list(dict.fromkeys(decided.values()))[:20],
            "version": self.version(),
        }


def _where(row: FlaggedRow) -> Where:
    return row.table, row.key, row.second


def texts_of(row: FlaggedRow) -> frozenset[str]:
    """What people typed of a row: not its group."""
    return frozenset((*(() if group_of(row.table) else row.key.split(ARROW)), *row.second.split(ARROW)))


def _group(flag: str) -> str:
    """Flags that name another text are one group."""
    return NEAR if flag.startswith(f"{NEAR} ") else flag
