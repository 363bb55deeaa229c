"""Byte differences: with one user more, no byte that others see may change unless the noise let it through.

Cleaning: the records of everybody else are the same. A whole release, from the file through the ledger to `public/`,
under one and the same noise: every byte is the same, as long as what she adds passes no threshold. The user who is
added writes the first and the last lines, the earliest and the latest times, lines that cannot be read, and keys of
her own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub import ingest
from hubbub.audit.books import scratch
from hubbub.audit.checks import certificates
from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.neighbours.closed import PAGES, POOL
from hubbub.audit.protocols import AuditRow, Kind, shared_faults
from hubbub.card.owner import Owner
from hubbub.log import read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import NoiseSource, SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.switches import Beyond, lowered

USERS, KEYS = 120, 12

# ------------------------------------------------------------------ reading


@dataclass(frozen=True)
class OddFile:
    """A file of one format: the lines of the others, those of one user, and where hers stand."""

    name: str
    file: str
    format: str
    header: tuple[bytes, ...]
    others: tuple[bytes, ...]
    hers: tuple[bytes, ...]
    columns: dict[str, str] = field(default_factory=dict)

    def records(self, folder: Path, *, with_her: bool) -> tuple[list[dict[str, object]], int]:
        """Everybody else's records, and how many lines are neither among the records nor among the rejects."""
        folder.mkdir()
        middle = len(self.others) // 3
        hers = self.hers if with_her else ()
        lines = [*self.header, *hers[:1], *self.others[:middle], *hers[1:], *self.others[middle:], *hers[-1:]]
        (folder / self.file).write_bytes(b"\n".join(lines) + b"\n")
        read = ingest.ingest(folder / self.file, folder / "read", format=self.format, columns=self.columns or None)
        rows = pq.read_table(read.log).to_pylist()
        lost = read.read - len(rows) - read.dropped - pq.read_metadata(read.rejects).num_rows
        return [r for r in rows if r["user"] != "victim"], abs(lost)


def _table(i: int) -> bytes:
    return b"user%d,query %d,%d" % (i, i % 7, 1000 + i)


def _document(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def _search(user: str, i: int) -> bytes:
    return _document(query_id=f"q{i}", client_id=user, user_query=f"query {i % 7}", timestamp=1_715_862_000_000 + i)


def _click(user: str, i: int) -> bytes:
    what = {"object": {"object_id": f"of {user}"}, "position": {"ordinal": 1}}
    return _document(action_name="click", query_id=f"q{i}", client_id=user, event_attributes=what)


HEADER = b"user,query,time"
BY_NAME = {"user": "user", "query": "query", "time": "time"}
ODD = (b'victim,"never closed,5', b'victim,""",6', b"victim,\xff\xfe,7", b"victim,nul\0,8", b"victim,a,b,c,d,e")
FILES = (
    OddFile("a quotation mark left open", "log.csv", "table", (HEADER,), tuple(map(_table, range(90))), ODD, BY_NAME),
    OddFile(
        "lines without a user",
        "log.csv",
        "table",
        (HEADER,),
        tuple(map(_table, range(90))),
        (b",her own,1", b"  ,query 1,99999", b'"",query 2,5'),
        BY_NAME,
    ),
    OddFile(
        "clicks that name searches of others",
        "log.ndjson",
        "ubi",
        (),
        tuple(_search(f"user{i}", i) for i in range(300)),
        (_search("victim", 999), *(_click("victim", i) for i in range(300))),
        {"user": "client_id"},
    ),
)


def records() -> Iterator[AuditRow]:
    """Everybody else's records, with and without one user's lines; and every line is kept or rejected."""
    for lines in FILES:
        with scratch() as folder:
            without, lost = lines.records(folder / "without", with_her=False)
            held, lost_too = lines.records(folder / "with", with_her=True)
        wrong = float(without != held)
        detail = f"{len(without)} and {len(held)} records of others"
        yield shared_faults(f"byte difference of records: {lines.name}", wrong, detail, Kind.BYTES)
        yield shared_faults(f"read = kept + rejected: {lines.name}", lost + lost_too)


PEOPLE = (
    "Ann",
    "ann",
    "ANN",
    "7",
    "07",
    "7.0",
    "+7",
    "a b",
    "a  b",
    "x_y",
    "x-y",
    "\u00e9",
    "e\u0301",
    "\uff41",
    "a",
    "a.",
)
"""Names that differ by a letter, a sign or a code point: each is somebody else."""
LETTERS = {
    "aol": ("AnonID\tQuery\tQueryTime\tItemRank\tClickURL", "{}\tquery\t2006-03-01 00:00:00\t\t", {}),
    "table": ("user,query,time", "{},query,5", BY_NAME),
}


def people() -> Iterator[AuditRow]:
    """As many users are read, and bounded one by one, as there are names."""
    for format, (header, line, columns) in LETTERS.items():
        with scratch() as folder:
            path = folder / ("log.csv" if columns else "log.tsv")
            path.write_text("\n".join([header, *map(line.format, PEOPLE)]) + "\n", encoding="utf-8")
            with read_log(path, format=format, columns=columns or None, threads=1) as log:
                lost = len(PEOPLE) - log.users()
        yield shared_faults(f"byte difference of names: {format}", abs(lost), f"{len(PEOPLE)} names", Kind.BYTES)


# ------------------------------------------------------------------ writing


class Steady(NoNoise):
    """One and the same noise in every run, taken for private: only an audit may do this."""

    private = True


class Seeded(SeededNoise):
    """Noise that differs from key to key and repeats itself, taken for private: only an audit may do this."""

    @property
    def private(self) -> bool:
        """A lie that only an audit may tell."""
        return True


AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
HERS = (
    "victim\ther own query\t1999-01-01 00:00:00\t\t",
    "victim\tanother of her own\t2031-12-31 23:59:59\t1\thttp://own.example",
    "victim\tbad time\tyesterday\t\t",
    "victim\ttoo\tmany\tfields\there\tand\there",
    "\tnobody's\t2006-03-01 00:00:00\t\t",
)


def others() -> list[str]:
    """A crowd that asks the same three queries in one session, clicks, and has queries of its own."""
    lines = []
    for u in range(USERS):
        day = f"2006-03-{1 + u % 28:02d}"
        for n, query in enumerate(("known", "new", "next")):
            lines.append(f"u{u}\t{query}\t{day} 08:0{n}:{u % 60:02d}\t1\tsite")
        lines.append(f"u{u}\town {u}\t{day} 21:00:00\t\t")
    return lines


def mechanisms() -> list[Mechanism]:
    """One release of each mechanism that may be private."""
    return [
        build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, tables=["queries", "clicks"]),
        build("sessions", {"epsilon": 16, "delta": "1e-5"}),
        build("crowd", {"epsilon": 8, "delta": "1e-3"}, tables=["queries", "clicks", "transitions"]),
        build("zealous", {"epsilon": 2, "delta": "1e-5", "m": 3}),
        build("safelog", {"epsilon": 8}, pool=POOL, serp=PAGES),
        build("optimal", {"epsilon": 4, "delta": "1e-3"}),
        *(build(name, {"epsilon": 4, "delta": "1e-3"}) for name in ("gaussian", "geometric", "sips", "adaptive")),
    ]


def release(
    folder: Path,
    mechanism: Mechanism,
    *,
    with_her: bool = False,
    noise: Callable[[], NoiseSource] = Steady,
    more: Sequence[str] = (),
    users: int | None = USERS,
) -> Path:
    """Write one release of the crowd in a world of its own: its own file, ledger and folder."""
    from hubbub.release.plan import Plan
    from hubbub.release.story import run_release

    folder.mkdir()
    lines = [AOL, *HERS[:1], *others(), *HERS[1:]] if with_her else [AOL, *others(), *more]
    (folder / "log.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = Plan(mechanism, folder / "out", Owner(title="audit"), users_public=users)
    with Ledger(folder / "ledger.sqlite") as book, read_log(folder / "log.tsv", format="aol", threads=1) as log:
        run_release(log, plan, book, noise=noise())
    return folder / "out"


def public_bytes(out: Path) -> dict[str, bytes]:
    """Every byte of a public folder."""
    public = out / "public"
    return {str(p.relative_to(public)): p.read_bytes() for p in sorted(public.rglob("*")) if p.is_file()}


def public() -> Iterator[AuditRow]:
    """Every file of `public/`, with and without her, under one noise; and with her on every path of large logs."""
    for mechanism in mechanisms():
        without, *with_her = on_one_day(lambda folder, m=mechanism: _three(folder, m))  # type: ignore[misc]
        for how, seen in zip(("", ", large paths"), with_her, strict=True):
            yield same_bytes(f"byte difference of public/{how}: {mechanism.name}", without, seen)
        yield from certificates.printed(mechanism, json.loads(without["card.json"]))


def undeclared() -> Iterator[AuditRow]:
    """The same where the owner declares nothing: what is left out must not be filled in from the log."""
    mechanism = build("korolova", {"epsilon": 2, "delta": "1e-6"})
    seen = on_one_day(
        lambda folder: [
            public_bytes(release(folder / str(her), mechanism, with_her=her, users=None)) for her in (False, True)
        ]
    )
    yield same_bytes("byte difference of public/, nothing declared", *seen)


def _three(folder: Path, mechanism: Mechanism) -> list[dict[str, bytes]]:
    seen = [public_bytes(release(folder / str(her), mechanism, with_her=her)) for her in (False, True)]
    with lowered(lambda each: each.beyond is Beyond.NOTHING):
        return [*seen, public_bytes(release(folder / "large", mechanism, with_her=True))]


def same_bytes(check: str, one: dict[str, bytes], other: dict[str, bytes]) -> AuditRow:
    """A row that refutes if any file of two public folders differs."""
    differing = sorted(n for n in one.keys() | other.keys() if one.get(n) != other.get(n))
    detail = ", ".join(differing) or f"{len(one)} files are the same"
    return shared_faults(check, len(differing), detail, Kind.BYTES)


def on_one_day(write: Callable[[Path], list[dict[str, bytes]]]) -> list[dict[str, bytes]]:
    """The card names the day: both runs must see the same."""
    while True:
        before = datetime.now(UTC).date()
        with scratch() as folder:
            written = write(folder)
        if datetime.now(UTC).date() == before:
            return written


def order() -> Iterator[AuditRow]:
    """Rows stand in the order of what they show: by noisy value, then by key, in one file and one row group."""
    mechanism = build("korolova", {"epsilon": 20, "delta": "1e-3", "d": KEYS + 3}, tables=["queries", "clicks"])
    many = [f"u{u}\tkey {k}\t2006-03-01 07:00:{k:02d}\t1\tsite" for u in range(USERS) for k in range(KEYS)]
    with scratch() as folder:
        out, wrong = release(folder / "one", mechanism, noise=lambda: Seeded(3), more=many), 0
        for table in mechanism.tables:
            path = out / "public" / f"{table}.parquet"
            wrong += not _sorted(pq.read_table(path)) or pq.read_metadata(path).num_row_groups > 1
    yield shared_faults("byte difference: rows are in the order of what they show", wrong, kind=Kind.BYTES)


def _sorted(rows: pa.Table) -> bool:
    value, keys = rows.column_names[-2], rows.column_names[:-2]
    by: Sequence[tuple[str, str]] = [(value, "descending"), *((key, "ascending") for key in keys)]
    return bool(rows.equals(rows.sort_by(list(by))))


def scores() -> Iterator[AuditRow]:
    """Scoring a release against the raw log leaves `public/` as it was, to the byte."""
    from hubbub.worth.tasks.run import evaluate

    with scratch() as folder:
        out = release(folder / "one", mechanisms()[0])
        before = public_bytes(out)
        with read_log(folder / "one" / "log.tsv", format="aol", threads=1) as log:
            evaluate(out, log, ["counts"], ledger=folder / "one" / "ledger.sqlite")
        changed = sum(before.get(n) != now for n, now in public_bytes(out).items())
    yield shared_faults("byte difference of public/ after an evaluation", changed, kind=Kind.BYTES)
