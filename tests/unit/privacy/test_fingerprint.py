"""The same data under another name is noticed; other people with the same ids are not taken for it.

Samples are drawn by a keyed hash, here of a fixed key, so nothing in this file fails by chance.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub, aol_lines, document
from tests.made_up import synthesise

import hubbub as package
from hubbub.audit.checks import taint
from hubbub.card.owner import Owner
from hubbub.errors import Refused
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.fingerprint import RECORDS, USERS, Fingerprint, fingerprint, look
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release

KEY = "5e" * 32
Record = tuple[str, int, str]


def people(seed: int, users: int = 900, searches: int = 40) -> list[Record]:
    """Users called 1 … N who have few words between them: every tenth query of one is a query of another."""
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 90 * 86400, users * searches)
    words = rng.integers(0, 400, users * searches)
    return [
        (str(1 + n // searches), 1_141_171_200 + int(time), "news" if n % searches < 2 else f"word {word}")
        for n, (time, word) in enumerate(zip(times, words, strict=True))
    ]


def sampled(records: list[Record], size: int) -> list[Record]:
    return [records[n] for n in np.random.default_rng(3).permutation(len(records))[:size]]


def csv(path: Path, records: Sequence[Record], *, times: bool = True) -> Path:
    lines = ["user,time,query", *(f"{u},{t if times else ''},{q}" for u, t, q in records)]
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def of(path: Path, **how: Any) -> Fingerprint:
    if path.suffix in (".csv", ".gz"):
        how = {"format": "table", "columns": {"user": "user", "time": "time", "query": "query"}} | how
    with read_log(path, **how) as log:
        return fingerprint(log, KEY)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return people(1)


@pytest.fixture(scope="module")
def known(records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Fingerprint:
    return of(csv(tmp_path_factory.mktemp("known") / "log.csv", records))


def test_a_fingerprint_is_small_and_full(known: Fingerprint) -> None:
    assert len(known.users) == USERS
    assert {len(held) for held in known.users.values()} == {RECORDS}
    assert Fingerprint.read(known.text()) == known
    assert len(known.text()) < 70_000


def test_the_same_log_written_otherwise(known: Fingerprint, records: list[Record], tmp_path: Path) -> None:
    shuffled = sampled(records, len(records))
    assert of(csv(tmp_path / "a.csv", shuffled)) == known
    assert of(csv(tmp_path / "b.csv.gz", records)) == known
    doubled = [*records, *records[::3]]  # a search with several clicks has several rows
    assert of(csv(tmp_path / "c.csv", doubled)) == known
    columns = list(zip(*records, strict=True))
    table = pa.table({"user": columns[0], "time": pa.array(columns[1], pa.int64()), "query": columns[2]})
    pq.write_table(table, tmp_path / "d.parquet")
    how: dict[str, Any] = {"format": "table", "columns": {"user": "user", "time": "time", "query": "query"}}
    assert of(tmp_path / "d.parquet", **how) == known


@pytest.mark.parametrize(
    "part",
    [
        lambda r: [*r, ("new", 1_141_171_200, "added")],
        lambda r: r[1:],
        lambda r: [x for x in r if int(x[0]) % 5],
        lambda r: [x for x in r if int(x[0]) % 5 == 0],
        lambda r: [x for x in r if x[1] < 1_141_171_200 + 7 * 86400],
        lambda r: sampled(r, len(r) // 4),
        lambda r: [*r, *((f"x{u}", t, q) for s in (7, 8, 9) for u, t, q in people(s))],
        lambda r: [*r[: len(r) // 3], *people(5)[: len(r) * 2 // 3]],
    ],
    ids=["row added", "row gone", "most users", "some users", "a week", "a sample", "among others", "a third of it"],
)
def test_parts_and_wholes(known: Fingerprint, records: list[Record], tmp_path: Path, part: Any) -> None:
    other = of(csv(tmp_path / "part.csv", part(records)))
    assert other.same(known) and known.same(other)


@pytest.mark.parametrize("times", [True, False], ids=["times", "no times"])
def test_other_people_with_the_same_ids(tmp_path: Path, times: bool) -> None:
    ours, theirs = (of(csv(tmp_path / f"{n}.csv", people(n), times=times)) for n in (1, 2))
    assert set(ours.users) == set(theirs.users), "the same numbers, so the same users are sampled"
    assert not ours.same(theirs) and not theirs.same(ours)
    assert ours.same(ours)


@pytest.mark.slow
def test_two_made_up_logs(tmp_path: Path) -> None:
    found = []
    for n, seed in enumerate((0, 1, 0)):
        path = tmp_path / f"{n}.parquet"
        synthesise(2000, path, seed=seed)
        found.append(of(path))
    assert not found[0].same(found[1]) and found[0].same(found[2])


def test_nothing_is_like_nothing() -> None:
    nothing = Fingerprint({})
    assert not nothing.same(nothing)


def test_another_key_tells_nothing(known: Fingerprint, records: list[Record], tmp_path: Path) -> None:
    path = csv(tmp_path / "log.csv", records)
    with read_log(path, format="table", columns={"user": "user", "time": "time", "query": "query"}) as log:
        other = fingerprint(log, "ab" * 32)
    assert not set(other.users) & set(known.users) and not other.same(known)


# ------------------------------------------------------------------ looks


def card(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "public" / "card.json").read_text()))


def looks(out: Path) -> list[str]:
    return list(card(out)["accounting"]["ledger"]["looks"])


@pytest.fixture
def rewritten(tmp_path: Path) -> Path:
    """The small log of the tests, in another order, with a row more, as compressed CSV."""
    lines = [line.split("\t") for line in aol_lines()[1:]]
    rows = [f"{u},{t},{q}" for u, q, t, *_ in reversed(lines)] + ["more,2006-03-01 00:00:00,of it"]
    path = tmp_path / "rewritten.csv.gz"
    path.write_bytes(gzip.compress(("user,time,query\n" + "\n".join(rows) + "\n").encode()))
    return path


TABLE = ("--format", "table", "--columns", "user=user,time=time,query=query")


def test_a_look_without_names_is_on_the_card(hubbub: Hubbub, log_file: Path, rewritten: Path, tmp_path: Path) -> None:
    hubbub("inspect", rewritten, *TABLE)
    hubbub("release", log_file, *RELEASE, "--population", "library", "--out", tmp_path / "out")
    assert looks(tmp_path / "out") == ["inspect, under another name"]
    (choice,) = card(tmp_path / "out")["data_dependent_choices"]
    assert choice["informed_by"] == "raw" and "inspect, under another name" in choice["note"]
    hubbub("card", tmp_path / "out", "--check")


def test_a_look_at_other_data_is_not(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text(log_file.read_text().replace("2006-03", "2006-04"))
    hubbub("inspect", other, "--format", "aol")
    hubbub("release", log_file, *RELEASE, "--population", "library", "--out", tmp_path / "out")
    assert looks(tmp_path / "out") == []
    assert "under whatever name" in card(tmp_path / "out")["data_dependent_choices"][0]["note"]


@pytest.mark.slow
def test_every_command_that_looks(hubbub: Hubbub, log_file: Path, released: Path, tmp_path: Path) -> None:
    """Whatever names they gave, the data tells."""
    aol = ("--format", "aol")
    budget = ("--epsilon", "2", "--delta", "1e-5")
    hubbub("estimate", log_file, *aol, "--mechanism", "korolova", *budget, "--population", "a")
    hubbub(
        "compare", log_file, *aol, *budget, "--mechanism", "korolova", "--draws", 1, "--population", "b", "--jobs", 1
    )
    hubbub("evaluate", released, "--log", log_file, *aol, "--task", "counts", "--population", "c")
    hubbub("attack", released, "--log", log_file, *aol, "--kind", "homogeneity", "--population", "d")
    hubbub("report", released, "--log", log_file, *aol, "--population", "e")
    with package.read_log(log_file, format="aol") as log:
        package.evaluate(released, log, ["counts"], population="f")
        package.compare(log, 2, "1e-5", ["korolova"], draws=1, population="g")
    other = ("--population", "default", "--dataset", "other", "--out", tmp_path / "out")
    hubbub("release", log_file, *RELEASE, *other)
    said = ["release", "estimate", "compare", "evaluate", "attack", "report", "evaluate", "compare"]
    assert looks(tmp_path / "out") == [f"{command}, under another name" for command in said]
    hubbub("card", tmp_path / "out", "--check")


def test_a_refused_run_is_a_look(hubbub: Hubbub, tmp_path: Path) -> None:
    """It printed how many lines could not be read, and why."""
    path = tmp_path / "log.tsv"
    path.write_text("\n".join([*aol_lines(), *["broken"] * 200]) + "\n")
    refused = hubbub("release", path, *RELEASE, "--out", tmp_path / "out", "--dataset", "first", code=2)
    assert "200 of 1,250 lines" in refused.stderr
    again = ("--max-rejects", "50%", "--dataset", "second", "--out", tmp_path / "out")
    hubbub("release", path, *RELEASE, *again)
    assert looks(tmp_path / "out") == ["a release that was refused, under another name"]


def test_the_studio_looks_too(log_file: Path, tmp_path: Path) -> None:
    from hubbub.cli.options import NewLogOptions, OwnerOptions
    from hubbub.studio.state import OpenedLog, Studio

    log = NewLogOptions(population="somebody")
    studio = Studio(tmp_path, Owner(), log, OwnerOptions(), opened=OpenedLog("log"))
    studio.look(lambda progress: read_log(log_file, format="aol", progress=progress))
    with Ledger() as book, read_log(log_file, format="aol") as raw:
        (seen,) = book.looks("default", "default", fingerprint(raw, book.key()))
    assert seen.command == "studio" and seen.elsewhere


# ------------------------------------------------------------------ releases under another name


def test_the_same_data_under_another_population_is_refused(
    hubbub: Hubbub, log_file: Path, rewritten: Path, tmp_path: Path
) -> None:
    hubbub("release", log_file, *RELEASE, "--population", "library", "--out", tmp_path / "one")
    korolova = [word for word in RELEASE if word not in ("--format", "aol")]
    new = ("--population", "books", "--new-population", "--out", tmp_path / "two")
    said = hubbub("release", rewritten, *TABLE, *korolova, *new, code=2).stderr
    assert "library" in said and "--other-people" in said and not (tmp_path / "two").exists()
    with Ledger() as book:
        assert [e.population for e in book.entries()] == ["library"], "nothing is spent"
    hubbub("release", rewritten, *TABLE, *korolova, *new, "--other-people")
    hubbub("card", tmp_path / "two", "--check")
    with package.read_log(log_file, format="aol") as log, pytest.raises(Refused, match="library"):
        mechanism = package.Korolova(epsilon=2, delta="1e-5", d=3)
        package.release(log, mechanism, tmp_path / "three", population="third", new_population=True)


def test_nothing_of_it_leaves_the_ledger(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path) -> None:
    hubbub("inspect", log_file, "--format", "aol")
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    with Ledger() as book:
        key, kept = book.key(), book._rows("SELECT users FROM fingerprints")
    assert len(kept) == 1, "the same data is kept once"
    secret = [key, *json.loads(kept[0]["users"])]
    exported = json.dumps(document(hubbub("ledger", "export")))
    texts = [exported, *(p.read_bytes().decode("latin-1") for p in (tmp_path / "out").rglob("*") if p.is_file())]
    assert not [s for s in secret for text in texts if s in text]
    assert own_ledger.stat().st_mode & 0o077 == 0
    with Ledger(tmp_path / "another.sqlite") as book:
        assert book.key() != key


def test_one_user_changes_no_byte_of_what_is_public(tmp_path: Path) -> None:
    """With her and without her, after a look under another name, under one noise."""
    mechanism = build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, tables=["queries", "clicks"])
    written = []
    for with_her in (False, True):
        folder = tmp_path / str(with_her)
        folder.mkdir()
        lines = [taint.AOL, *taint.others(), *(taint.HERS if with_her else ())]
        (folder / "log.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        plan = Plan(mechanism, folder / "out", Owner(title="audit"), population="p", users_public=taint.USERS)
        with Ledger(folder / "ledger.sqlite") as book, read_log(folder / "log.tsv", format="aol") as log:
            look(book, log, "elsewhere", "elsewhere", "inspect")
            run_release(log, plan, book, noise=taint.Steady())
        assert looks(folder / "out") == ["inspect, under another name"]
        written.append(taint.public_bytes(folder / "out"))
    assert written[0] == written[1]


def test_the_key_stands_in_no_query(log_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    with read_log(log_file, format="aol") as log:
        fetch = log.engine.fetch

        def noted(sql: str) -> pa.Table:
            asked.append(sql)
            return fetch(sql)

        monkeypatch.setattr(log.engine, "fetch", noted)
        assert fingerprint(log, "a-key-of-the-ledger").users
    assert asked and not [sql for sql in asked if "a-key-of-the-ledger" in sql]
