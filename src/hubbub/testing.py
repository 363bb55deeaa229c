"""Contracts that every reader, mechanism, task, exporter and engine must pass; run them on your own.

    check_reader("aol", sample, total=…, first=…, ninth=…, last=…)
    check_mechanism(hubbub.Korolova(epsilon=1, delta=1e-6))
    check_task(hubbub.worth.tasks.CountsTask())
    check_exporter(Tsv())
    check_engine(lambda work: DuckDB(work))

Each raises AssertionError with what does not hold. The counts are compared with a second
implementation in plain Python, written here on purpose without SQL.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.audit.checks.pooled import pooled
from hubbub.audit.checks.standard import contract
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import MODE, SECRET, measured, values_of
from hubbub.engines import Engine
from hubbub.engines.contract import check_draws, check_files
from hubbub.ingest import SCHEMA, Ingested, ingest
from hubbub.log import SearchLog
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import SeededNoise
from hubbub.privacy.gaussian import read_any
from hubbub.privacy.guarantee import Definition, Neighbours
from hubbub.show.export.base import CheckedRelease, Folder, Format
from hubbub.steps import bound
from hubbub.steps.count import count
from hubbub.steps.keys import CLICKS, QUERIES, Keys
from hubbub.worth.evidence import EMPTY, TABLES
from hubbub.worth.tasks import Evidence, Task, Truth
from hubbub.worth.tasks.base import BESIDE
from hubbub.worth.tasks.run import NOT_EVALUABLE, score

Record = Mapping[str, object]

SMALL: tuple[Event, ...] = (
    ("b", 30, "zebra", "site2"),
    ("b", 10, "apple", "site1"),
    ("b", 10, "apple", "site3"),
    ("b", 20, "éclair", None),
    ("b", 40, "apple", "site1"),
    ("a", None, "apple", "site1"),
    ("a", 5, "zebra", None),
    ("a", 5, "mango", "site9"),
    ("ç", 7, "apple", "site1"),
    ("ç", 7, "Ｑ", None),
    ("ç", 8, "zebra", "site2"),
)
"""A log with ties, repeats, a missing time and text beyond ASCII."""


def check_reader(
    format: str,
    source: Path,
    *,
    total: int,
    first: Record,
    ninth: Record,
    last: Record,
    columns: Mapping[str, str] | None = None,
) -> Ingested:
    """A reader's promises on one sample: totals, three records, nothing lost."""
    with tempfile.TemporaryDirectory() as folder:
        read = ingest(source, Path(folder), format=format, columns=columns)
        rows = pq.read_table(read.log)
        assert rows.schema.names == SCHEMA.names, f"columns are {rows.schema.names}"
        assert read.read == read.kept + read.dropped + read.rejected, "read = kept + dropped + rejected does not hold"
        assert read.kept == rows.num_rows == total, f"{rows.num_rows} records, expected {total}"
        assert pq.read_metadata(read.rejects).num_rows == read.rejected, "a rejected record was lost"
        assert sum(read.reasons.values()) == read.rejected, "a rejected record has no reason"
        assert "user" in read.columns, "the reader does not say which column is the user"
        for at, expected in ((0, first), (8, ninth), (total - 1, last)):
            seen = rows.slice(at, 1).to_pylist()[0]
            assert seen == expected, f"record {at + 1} is {seen}, expected {expected}"
        return read


def check_mechanism(mechanism: Mechanism) -> None:
    """A mechanism's promises: its numbers follow from its steps, one user is bounded, the noise is the source's."""
    proven, loss = mechanism.proven(), mechanism.loss()
    if proven.definition is Definition.NONE:
        assert not proven.private and proven.epsilon is None and proven.caveats, "nothing proven, but not said"
    else:
        assert proven.epsilon is not None and proven.delta is not None
        factor = 2 if mechanism.neighbours is Neighbours.REPLACE else 1
        assert proven.epsilon <= factor * loss.epsilon * (1 + 1e-12), "proven ε is not the sum of the steps"
        assert proven.delta >= loss.delta, "proven δ is below the steps'"
        assert (proven.definition is Definition.PURE) == (proven.delta == 0)
    assert proven.proof and proven.sentence(), "no proof page or sentence"
    for step in mechanism.steps():
        assert read_any(json.loads(json.dumps(step.record()))) == step, "a step does not survive the card"
    rebuilt = build(
        mechanism.name,
        {k: str(v) for k, v in mechanism.settings.items()},
        variant=mechanism.variant,
        neighbours=mechanism.neighbours,
        tables=mechanism.tables,
        serp=mechanism.serp,
        pool=mechanism.pool,
        public_list=mechanism.public_lists,
        previous=mechanism.previous,
        own_prior=mechanism.own_prior,
        vocabulary=mechanism.vocabulary,
        by=mechanism.by,
    )
    assert rebuilt.steps() == mechanism.steps(), "its own parameters do not rebuild it"
    subject = Subject.of(mechanism)
    for row in contract(subject):
        assert not row.refuted or row.against != "proven", (
            f"{row.check}: bound {row.bound}, observed {row.observed} ({row.detail})"
        )
    one, two = (_counted(subject, log) for log in (SMALL, tuple(reversed(SMALL))))
    assert one == two, "counts depend on the order of rows"
    first, second = (_released(subject) for _ in range(2))
    assert first == second, "same noise, different release"


def _counted(subject: Subject, events: tuple[Event, ...]) -> dict[str, dict[Any, int]]:
    """The exact counts of a measured table, or the weights of its first round, by key."""
    if subject.mechanism.selections:
        log = pooled(subject, events)
        weights = log.pools.weights(np.arange(log.pools.size))
        return {"queries": dict(zip(log.keys, weights.tolist(), strict=True))}
    counted = measured(subject, events)
    for table in subject.mechanism.tables:
        assert counted.counts[table].n.dtype == np.int64, f"{table}: counts are not integers"
    return {table: dict(counted.by_key(table)) for table in subject.mechanism.tables}


def _released(subject: Subject) -> dict[str, list[tuple[int, float | None]]]:
    """The tables that a mechanism releases with the noise of one seed."""
    if subject.mechanism.selections:
        measure: Mapping[str, object] = {"queries": pooled(subject, SMALL).pools}
    else:
        measure = measured(subject, SMALL).counts
    tables = subject.perturb(measure, SeededNoise(7))
    for released in tables.values():
        assert released.noise_sd is None or np.all(np.asarray(released.noise_sd) > 0)
    return {t: list(zip(r.ids.tolist(), values_of(r), strict=True)) for t, r in tables.items()}


def check_task(task: Task, users: int = 200) -> None:
    """A task's promises on a made-up log: the log as its own release loses nothing, an empty release is no crash."""
    from hubbub.log import read_log
    from hubbub.synth import SYLLABIC
    from hubbub.synth.run import synthesise

    assert task.name and task.about and task.paper and task.reads, "a task states its name, what it is about and reads"
    assert set(task.reads) <= set(TABLES), f"it reads tables that nobody has: {task.reads}"
    with tempfile.TemporaryDirectory() as folder:
        path, truth = Path(folder) / "log.parquet", Path(folder) / "truth"
        synthesise(users, path, truth=truth, vocabulary=SYLLABIC)
        with read_log(path) as log:
            for counts in ("users", "count"):
                whole = Evidence.of_log(log, counts)
                found, again = (score(task, whole, whole, Truth(truth)) for _ in range(2))
                assert found == again, "the same evidence, other scores"
                _check_scores(found[0])
                for metric, pair in found[0].items():
                    if metric != NOT_EVALUABLE and not task.learns:
                        same = pair["original"] == pair["release"] or abs(pair["original"] - pair["release"]) < 1e-9
                        assert same, f"{metric}: the log as its own release is {pair}"
                for nothing in ({}, {name: EMPTY[name] for name in TABLES}):
                    _check_scores(score(task, whole, Evidence.of_tables(nothing, counts), Truth(truth))[0])
                _check_scores(score(task, whole, whole)[0])


def _check_scores(scores: Mapping[str, Any]) -> None:
    """Check that scores are two numbers per metric or a reason, and can be written as JSON."""
    assert scores, "neither scores nor a reason"
    json.dumps(scores, allow_nan=False)
    for metric, pair in scores.items():
        if metric == NOT_EVALUABLE:
            assert isinstance(pair, str) and pair and len(scores) == 1, "a reason comes alone"
        else:
            both = {"original", "release"}
            assert both <= set(pair) <= both | set(BESIDE), f"{metric} has {set(pair)}"
            assert all(type(x) in (int, float, type(None)) for x in pair.values()), f"{metric} is {pair}"


@cache
def _exported(users: int) -> Path:
    """The made-up release that exporters are checked on, made once in a process and gone with it."""
    from hubbub.log import read_log
    from hubbub.release import release
    from hubbub.synth import SYLLABIC
    from hubbub.synth.run import synthesise

    place = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, place)
    synthesise(users, place / "log.parquet", vocabulary=SYLLABIC)
    mechanism = build("crowd", {"epsilon": 8, "delta": "1e-6"}, tables=["queries", "clicks", "transitions"])
    with read_log(place / "log.parquet") as log:
        release(log, mechanism, place / "release", ledger=place / "ledger.sqlite")
    return place / "release"


def check_exporter(form: Format, users: int = 600) -> None:
    """An exporter's promises on a made-up release: it says what it is, lists what it writes, and repeats itself."""
    assert form.name and form.about, "an exporter states its name and what it writes"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(_exported(users), place / "release")
        source = CheckedRelease.open(place / "release")
        form.ready(source)
        written = []
        for out in (place / "one", place / "two"):
            out.mkdir()
            files = Folder(out)
            form.write(source, files)
            assert files.written, "nothing is written"
            found = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
            listed = {file.name for file in files.written}
            own = {path.name: path.read_bytes() for path in source.public.iterdir() if form.copies}
            copied = [n for n in found if found[n] == own.get(Path(n).name)]
            assert listed <= set(found) <= listed | set(copied), "what is written is not what is listed"
            assert all(file.about and file.rows >= 0 for file in files.written), "a file does not say what it is"
            written.append(found)
        assert written[0] == written[1], "the same release, other files"
        assert form.notes(source.card), "a reader is not told how to read it"


def check_engine(make: Callable[[Path], Engine]) -> None:
    """An engine's promises: the keys and exact counts of plain Python, files that read back, noise drawn once."""
    with tempfile.TemporaryDirectory() as folder:
        engine = make(Path(folder))
        try:
            check_files(engine, Path(folder))
            check_draws(engine)
        finally:
            engine.close()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        rows = [{"user": u, "time": t, "query": q, "rank": 1 if c else None, "url": c} for u, t, q, c in SMALL]
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), work / "log.parquet")
        with SearchLog.over(work / "log.parquet", make(work), work) as log:
            for keys in (QUERIES, CLICKS):
                for limit in (1, 2, 100):
                    for how, sql in (
                        ("first", bound.first_keys(keys, limit)),
                        ("random", bound.random_keys(keys, limit, SECRET)),
                        ("events", bound.first_events(keys, limit)),
                    ):
                        kept = _rows(log.engine.fetch(sql))
                        expected = sorted(kept_by_hand(SMALL, keys, limit, how))
                        assert kept == expected, f"{keys.name}, {how} {limit}: kept {kept}, expected {expected}"
                        counts = count(log, keys, sql, MODE).local()
                        names = _rows(log.engine.fetch(f"SELECT kid, {keys.list()} FROM {counts.keys}"))
                        by_hand = Counter(row[1:] for row in expected)
                        assert [name[1:] for name in names] == sorted(by_hand, key=_bytes), "ids do not follow the text"
                        assert counts.n.tolist() == [by_hand[name[1:]] for name in names], "counts differ"


def kept_by_hand(events: Iterable[Event], keys: Keys, limit: int, how: str) -> list[tuple[object, ...]]:
    """The reference for `steps.bound`, without SQL: which (user, key) rows stay."""
    held: dict[str, list[tuple[float, tuple[str, ...]]]] = defaultdict(list)
    for user, time, query, url in events:
        if keys is CLICKS and url is None:
            continue
        key = (query, str(url)) if keys is CLICKS else (query,)
        held[user].append((float("inf") if time is None else time, key))
    kept: list[tuple[object, ...]] = []
    for user, mine in held.items():
        if how == "events":
            once = sorted(set(mine) if keys is QUERIES else mine, key=lambda e: (e[0], _bytes(e[1])))
            kept += [(user, *key) for _, key in once[:limit]]
            continue
        first: dict[tuple[str, ...], float] = {}
        for at, held_key in mine:
            first[held_key] = min(at, first.get(held_key, float("inf")))
        if how == "first":
            order = sorted(first, key=lambda key: (first[key], _bytes(key)))
        else:
            order = sorted(first, key=lambda key: (_shuffle(user, key), _bytes(key)))
        kept += [(user, *key) for key in order[:limit]]
    return kept


def _shuffle(user: str, key: Sequence[str]) -> str:
    text = SECRET.hex() + "\x1f".join([user, *key])
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _bytes(key: Sequence[object]) -> tuple[bytes, ...]:
    return tuple(str(part).encode() for part in key)


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())
