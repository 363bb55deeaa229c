"""Whatever the bytes: a reader, a card, a configuration or a ledger is read, or refused in words. No crash, no hang.

Of a log, every record is kept, dropped or rejected. Of a card, anything but its own words is called broken. Of a
ledger, nothing is read that was not written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.ledgers import spend
from tests.unit.ingest.ingest_samples import SAMPLES
from tests.unit.ingest.service_samples import SERVICES
from typer.testing import CliRunner

from hubbub.audit.checks import taint
from hubbub.card.audited import Found
from hubbub.card.check import check
from hubbub.card.owner import read_config, read_owner
from hubbub.cli import app
from hubbub.errors import InputError, LedgerError, UserError
from hubbub.ingest import formats, ingest
from hubbub.mechanisms import build
from hubbub.privacy.account import Loss, Pure
from hubbub.privacy.ledger import Ledger

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
READ = SAMPLES | SERVICES
FILES = {name: sample.file for name, sample in READ.items()} | {"trec-session": "log.xml"}
COLUMNS = {name: sample.columns for name, sample in READ.items()} | {"trec-session": {"user": "num"}}
COLUMNS["jsonl"] = {"user": "client_id", "query": "user_query"}
COLUMNS["table"] = {"user": "1", "query": "2"}
PIECES = st.sampled_from(
    [b"\t", b"\n", b"\r\n", b",", b'"', b'""', b"\0", b"\xff", b"\xef\xbb\xbf", b"user", b"a", b" ", b"[q]", b"{", b"}",
     b'{"client_id": "c", "query_id": "1", "user_query": "x"}', b'{"action_name": "click", "client_id": "c"}',
     b'192.0.2.7 - - [16/May/2024:12:34:56 +0000] "GET /?q=a HTTP/1.1" 200 5', b"<session num='1'>", b"<query>",
     b"params={q=a}",
     b"2006-03-01 00:00:00", b"970916105432", b"1e400", b"-1", "Ａ\u0130".encode(), b"\x80", b"AnonID\tQuery"]
)  # fmt: skip
BYTES = st.one_of(st.lists(PIECES, max_size=60).map(b"".join), st.binary(max_size=300))


@pytest.mark.parametrize("format", sorted(FILES))
@settings(max_examples=60, deadline=None)
@given(data=BYTES)
def test_any_bytes_are_kept_or_rejected(format: str, data: bytes) -> None:
    assert set(FILES) == set(formats()), "a new format is fuzzed, too"
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / FILES[format]
        path.write_bytes(data)
        try:
            read = ingest(path, Path(folder) / "read", format=format, columns=COLUMNS.get(format))
        except UserError as error:
            assert str(error)
            return
        kept, rejected = (pq.read_metadata(path).num_rows for path in (read.log, read.rejects))
        assert read.read == kept + read.dropped + rejected
        assert sum(read.reasons.values()) == read.rejected and read.kept > 0


@settings(max_examples=60, deadline=None)
@given(at=st.floats(0, 1, exclude_max=True), piece=st.binary(min_size=1, max_size=8), cut=st.booleans())
@example(at=0.328125, piece=b"\x80", cut=False)  # the name of a column is no text
def test_damaged_parquet_is_refused_or_read(at: float, piece: bytes, cut: bool) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "log.parquet"
        rows = {"user": ["a", "b"], "time": [1, 2], "query": ["x", "y"], "rank": [1, None], "url": ["u", None]}
        pq.write_table(pa.table(rows), path)
        data = path.read_bytes()
        n = int(at * len(data))
        path.write_bytes(data[:n] if cut else data[:n] + piece + data[n + len(piece) :])
        with suppress(UserError):
            read = ingest(path, Path(folder) / "read", format="table", columns={"user": "user", "query": "query"})
            kept, rejected = (pq.read_metadata(path).num_rows for path in (read.log, read.rejects))
            assert read.read == kept + read.dropped + rejected


# ------------------------------------------------------------------ the card


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A release of a made-up crowd."""
    mechanism = build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, tables=["queries", "clicks"])
    yield taint.release(tmp_path_factory.mktemp("fuzz") / "one", mechanism)


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a document."""
    yield path
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inside:
        yield from places(value, (*path, key))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_card_is_broken(written: Path, data: st.DataObject) -> None:
    card = json.loads((written / "public" / "card.json").read_text())
    changed = deepcopy(card)
    *path, last = data.draw(st.sampled_from([p for p in places(card) if p]))
    inside = changed
    for key in path:
        inside = inside[key]
    if data.draw(st.booleans()) and isinstance(inside, dict):
        del inside[last]
    else:
        inside[last] = data.draw(JSON)
    _is_broken(written, json.dumps(changed).encode(), same=_plain(changed) == _plain(card))


def test_a_card_of_no_tables_is_broken(written: Path) -> None:
    card = json.loads((written / "public" / "card.json").read_text())
    card["release"]["contains"] = []
    _is_broken(written, json.dumps(card).encode(), same=False)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), piece=st.binary(min_size=1, max_size=4))
def test_damaged_card_bytes_are_broken_or_refused(written: Path, at: float, piece: bytes) -> None:
    data = (written / "public" / "card.json").read_bytes()
    n = int(at * len(data))
    changed = data[:n] + piece + data[n + len(piece) :]
    _is_broken(written, changed, same=changed == data)


def _plain(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def _is_broken(written: Path, text: bytes, *, same: bool) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        copy = Path(folder) / "out"
        shutil.copytree(written, copy)
        (copy / "public" / "card.json").write_bytes(text)
        try:
            holds = all(finding.holds for finding in check(copy))
        except InputError:
            holds = False
    # a card that reads the same (another spelling of a float, blanks) is the same card
    with suppress(ValueError):
        same = same or _plain(json.loads(text)) == _plain(json.loads((written / "public" / "card.json").read_bytes()))
    assert holds == same


@given(record=st.dictionaries(st.sampled_from([*Found.__dataclass_fields__, "verdict", "of", "more"]), JSON))
def test_what_a_card_quotes_of_an_audit_has_no_room_for_words(record: dict[str, Any]) -> None:
    with suppress(ValueError, TypeError):
        found = Found.read(record)
        assert found is None or found.record()["verdict"] in ("refuted", "not refuted")


# ------------------------------------------------------------------ configuration


KEYS = st.sampled_from(
    ["log", "mechanism", "epsilon", "delta", "tables", "set", "card", "seed", "columns", "max_rejects", "engine",
     "users_public", "not_private", "threads", "format", "nonsense", "variant", "serp", "pool", "population"]
)  # fmt: skip
VALUES = st.one_of(
    st.booleans().map(lambda b: str(b).lower()),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(['"crowd"', '"korolova"', '"aol"', "1e-6", "nan", "inf", '"/nowhere"', "[]", "{}", "{ a = 1 }"]),
    st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters='"\\'), max_size=8).map(
        lambda t: f'"{t}"'
    ),
)
LINES = st.lists(st.tuples(KEYS, VALUES).map(lambda kv: f"{kv[0]} = {kv[1]}"), max_size=6).map("\n".join)


@settings(max_examples=80, deadline=None)
@given(text=st.one_of(LINES, LINES.map(lambda t: f"[card]\n{t}"), st.text(max_size=80)))
def test_any_configuration_is_read_or_refused(text: str) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "run.toml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        with suppress(UserError):
            table = read_config(path).get("card", {})
            if isinstance(table, dict):
                read_owner(table)
        book = str(Path(folder) / "ledger.sqlite")
        result = CliRunner().invoke(app, ["release", "--config", str(path), "--ledger", book, "--out", f"{folder}/out"])
        assert result.exit_code == 2, f"{result.exit_code}: {result.output}"
        assert not (Path(folder) / "out").exists()


# ------------------------------------------------------------------ the ledger


@pytest.fixture(scope="module")
def booked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a cap and two releases."""
    path = tmp_path_factory.mktemp("fuzz") / "ledger.sqlite"
    with Ledger(path) as book:
        book.cap("default", 3.0, 0.0)
        for n in (1, 2):
            loss = Loss(0.5, 0.0, (Pure(Fraction(1, 2)),), tv=0.0)
            entry = spend(book, loss, dataset=f"month {n}", mechanism="korolova", software="fuzz")
            book.drawing(entry)
    return path


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), piece=st.binary(min_size=1, max_size=8), cut=st.booleans())
def test_a_damaged_ledger_is_refused_or_as_it_was(booked: Path, at: float, piece: bytes, cut: bool) -> None:
    with Ledger(booked) as book:
        before = [(e.id, e.loss, e.state) for e in book.entries()], book.cap_of("default"), book.spent("default", 0.0)
    data = booked.read_bytes()
    n = int(at * len(data))
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "ledger.sqlite"
        path.write_bytes(data[:n] if cut else data[:n] + piece + data[n + len(piece) :])
        with suppress(LedgerError), Ledger(path) as book:
            entries = [(e.id, e.loss, e.state) for e in book.entries()]
            assert (entries, book.cap_of("default"), book.spent("default", 0.0)) == before
