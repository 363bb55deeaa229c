"""Object stores and the web as logs, on servers of this machine: what comes is whole and of one state, or an error."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from tests import stores as servers
from typer.testing import CliRunner

import hubbub
from hubbub.cli import app
from hubbub.errors import InputError, ParameterError
from hubbub.files import create_private
from hubbub.ingest import stores
from hubbub.ingest.stores import copied, is_stored

pytestmark = pytest.mark.slow
HEAD = b"who,what,seen\n"
DAYS = {f"day{n}.csv": HEAD + b"".join(b"u%d,lilac,2006-03-0%d\n" % (i, n) for i in range(n * 5)) for n in (1, 2)}
COLUMNS = {"user": "who", "query": "what", "time": "seen"}


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with servers.s3(tmp_path_factory.mktemp("s3")) as store:
        for name, data in DAYS.items():
            store.pipe_file(f"shop/log/{name}", data)
        store.pipe_file("shop/log/_SUCCESS", b"done")
        store.pipe_file("shop/other/day1.csv", DAYS["day1.csv"])
        store.pipe_file("shop/one.csv.gz", gzip.compress(DAYS["day1.csv"]))
        yield store


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    names = ("/log.csv", "/cut.csv", "/moving.csv", "/private.csv")
    with servers.web(dict.fromkeys(names, DAYS["day1.csv"]), tmp_path_factory.mktemp("web")) as address:
        yield address


def rows(source: str, **more: Any) -> int:
    with hubbub.read_log(source, format="table", columns=COLUMNS, **more) as log:
        return log.ingested.kept


def failed(source: str, work: Path) -> str:
    with pytest.raises(InputError) as error, copied(source, work):
        pass
    assert not list(work.glob("*")) and servers.KEY not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("s3://shop/log/day1.csv", 5),
        ("s3://shop/one.csv.gz", 5),
        ("s3://shop/log", 15),
        ("s3://shop/log/*.csv", 15),
        ("s3://shop/*/day1.csv", 10),
    ],
)
def test_files_folders_and_globs_as_on_the_disk(s3: Any, source: str, count: int, tmp_path: Path) -> None:
    assert is_stored(source)
    assert rows(source, work=tmp_path) == count
    assert not list(tmp_path.iterdir())


def test_a_file_on_the_web(web: str, tmp_path: Path) -> None:
    assert rows(f"{web}/log.csv", work=tmp_path) == 5
    assert not list(tmp_path.iterdir())


def test_a_look_and_a_release_from_a_store(s3: Any, tmp_path: Path) -> None:
    """The address is in run.toml and not on the card; the key is nowhere."""
    book = ["--ledger", str(tmp_path / "ledger.sqlite")]
    read = ["s3://shop/log", "--format", "table", "--columns", "user=who,query=what,time=seen", *book]
    budget = ["--epsilon", "1", "--delta", "1e-6"]
    out = tmp_path / "out"
    commands = [
        ["inspect", *read],
        ["release", *read, *budget, "--mechanism", "korolova", "--tables", "queries", "--out", str(out)],
    ]
    said = ""
    for command in commands:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        said += done.output
    settings = (out / "owner-only" / "run.toml").read_text()
    assert 'log = "s3://shop/log"' in settings
    everything = said + "".join(path.read_text(errors="replace") for path in out.rglob("*") if path.is_file())
    assert servers.KEY not in everything and "s3://" not in (out / "public" / "card.json").read_text()


def test_what_is_not_there(s3: Any, web: str, tmp_path: Path) -> None:
    for source in ("s3://shop/nothing.csv", "s3://nowhere/log.csv", "s3://shop/log/*.tsv", f"{web}/nothing.csv"):
        assert "no such object" in failed(source, tmp_path)


def test_a_download_that_is_cut_off(web: str, tmp_path: Path) -> None:
    assert "not give the log whole" in failed(f"{web}/cut.csv", tmp_path)


def test_what_a_server_refuses(web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "~/.netrc" in failed(f"{web}/private.csv", tmp_path)
    keys = tmp_path.with_name("netrc")
    keys.write_text(f"machine localhost login ann password {servers.KEY.replace(' ', '-')}\n")
    monkeypatch.setenv("NETRC", str(keys))
    with copied(f"{web}/private.csv", tmp_path) as file:
        assert file.read_bytes() == DAYS["day1.csv"]


def test_nobody_answers_and_nobody_is_trusted(web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not give the log whole" in failed("https://localhost:9/log.csv", tmp_path)
    monkeypatch.delenv("SSL_CERT_FILE")
    assert "certificate" in failed(f"{web}/log.csv", tmp_path)


def test_an_object_that_changes_while_it_is_read(
    s3: Any, web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "changed while it was read" in failed(f"{web}/moving.csv", tmp_path)
    s3.pipe_file("shop/changing.csv", DAYS["day2.csv"])

    class Meanwhile:
        """The copy; when its first bytes come, somebody writes the object anew, as long as before."""

        def __init__(self, file: IO[bytes]) -> None:
            self.file, self.waits = file, True

        def write(self, data: bytes) -> None:
            self.file.write(data)
            if self.waits:
                s3.pipe_file("shop/changing.csv", DAYS["day2.csv"].upper())
            self.waits = False

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def __enter__(self) -> Meanwhile:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

    monkeypatch.setattr(stores, "create_private", lambda path: Meanwhile(create_private(path)))
    assert "changed while it was read" in failed("s3://shop/changing.csv", tmp_path)  # noticed at its end
    monkeypatch.setattr(stores, "PIECE", 32)
    s3.pipe_file("shop/changing.csv", DAYS["day2.csv"])
    assert "changed while it was read" in failed("s3://shop/changing.csv", tmp_path)  # noticed by the next piece


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("https://ann:secret@host/log.csv", "holds no key"),
        ("https://host/log.csv?X-Amz-Signature=secret", "holds no key"),
        ("s3://ann:secret@bucket/log.csv", "holds no key"),
        ("http://ann:secret@host/log.csv?sig=secret", "anybody on the way"),
    ],
)
def test_addresses_that_are_refused(source: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=said) as error:
        rows(source, work=tmp_path)
    assert "secret" not in str(error.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("module", "source"), [("fsspec.core", "s3://b/k"), ("gcsfs", "gs://b/k"), ("aiohttp", "https://h/k")]
)
def test_a_missing_package_names_the_line_to_type(
    module: str, source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert "pip install 'hubbub[objects]'" in failed(source, tmp_path)


def test_a_table_in_a_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Only a database"):
        rows("s3://shop/log", table="searches", work=tmp_path)
