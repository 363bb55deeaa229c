"""A user's mistakes: one clear message on stderr, exit code 2, no traceback, nothing spent, nothing left."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.conftest import HEADER, RELEASE, Hubbub, aol_lines, left_in

from hubbub.privacy.ledger import Ledger
from hubbub.release.resume import KEPT

LINES = "\n".join(aol_lines(20)) + "\n"
FILES: dict[str, str | bytes] = {
    "good.tsv": LINES,
    "empty.tsv": "",
    "header.tsv": HEADER + "\n",
    "other.tsv": "time,who,what\n" * 50,
    "junk.tsv": bytes(range(256)) * 400,
    "cut.tsv.gz": gzip.compress(LINES.encode())[:-20],
    "not.tsv.gz": LINES,
    "table.csv": "who,what\n1,news\n",
    "table.dat": "who what\n1 news\n",
    "fake.parquet": "PAR1, says its name",
    "rejects.tsv": LINES + "not a line of a log\n" * 30,
    "no-url.tsv": "query\tlink\nnews\thttp://a.example\n",
    "not.toml": "epsilon = = 2\n",
    "binary.toml": b"\xff\xfe\x00",
    "unknown.toml": "epsilom = 2\n",
    "flag.toml": 'not_private = "no"\n',
    "out.toml": "out = 5\n",
    "tables.toml": 'tables = ["queries"]\n',
    "threads.toml": 'threads = "two"\n',
    "epsilon.toml": "epsilon = true\n",
    "nul.toml": 'population = "a\\u0000b"\n',
    "twice.toml": "epsilon = 2\n[set]\nepsilon = 3\n",
    "set.toml": "set = 3\n",
    "card.toml": 'card = "mine"\n',
    "field.toml": '[card]\ntitel = "mine"\n',
    "title.toml": "[card]\ntitle = 3\n",
    "curator.toml": "[card]\ncurator = []\n",
    "period.toml": '[card]\nperiod = { from = "2006" }\n',
    "backwards.toml": '[card]\nperiod = { from = "2006-05-31", to = "2006-03-01" }\n',
}
TABLE = ("--format", "table")

# what is given besides a good log and good options → what the message says
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # the log
    "missing file": (("@missing.tsv",), ("does not exist", "missing.tsv", "check the path")),
    "missing pattern": (("@missing-*.tsv",), ("No file matches", "missing-*.tsv")),
    "empty file": (("@empty.tsv",), ("The log is empty", "empty.tsv")),
    "empty folder": (("@folder",), ("holds no files", "folder")),
    "only a header": (("@header.tsv",), ("holds a header and no record", "header.tsv")),
    "another format": (("@other.tsv",), ("No record of the log can be used", "--format")),
    "binary junk": (("@junk.tsv",), ("No record of the log can be used", "junk.tsv")),
    "one line of 100 MB": (("@long.tsv",), ("No record of the log can be used", "1 MiB")),
    "a gzip cut off": (("@cut.tsv.gz",), ("gzip stream is damaged or cut off", "gzip -t")),
    "no gzip": (("@not.tsv.gz",), ("named .gz but not compressed so", "rename it")),
    "too many rejects": (("@rejects.tsv",), ("Too many lines", "30 of", "at most 0.05", "--max-rejects")),
    "one reject too many": (("@rejects.tsv", "--max-rejects", "0"), ("Too many lines", "at most 0 of them")),
    # tables
    "no columns": (("@table.csv", *TABLE), ("the user's column is never guessed", "--columns user=")),
    "no user column": (("@table.csv", *TABLE, "--columns", "query=what"), ("which column is the user", "query=what")),
    "no such column": (
        ("@table.csv", *TABLE, "--columns", "user=whom,query=what"),
        ("has no such column: whom", "who, what"),
    ),
    "unknown role": (("@table.csv", *TABLE, "--columns", "user=who,qeury=what"), ("unknown roles: qeury", "roles:")),
    "two roles": (("@table.csv", *TABLE, "--columns", "user=who,query=who"), ("one column two roles",)),
    "columns without =": (("@table.csv", *TABLE, "--columns", "user"), ("--columns cannot be read", "user=…")),
    "columns for aol": (("@good.tsv", "--columns", "user=1"), ("--columns",)),
    "unknown separator": (("@table.dat", *TABLE, "--columns", "user=1,query=2"), ("without a header", "--separator")),
    "fake parquet": (("@fake.parquet", *TABLE), ("is not Parquet, or is damaged",)),
    # numbers
    **{
        f"epsilon {value}": (("--epsilon", value), ("epsilon", f"given:   {value}", "above 0"))
        for value in ("0", "-1", "nan", "inf", "-inf", "two", "1e999999999", "1/0", "1001", "2,5")
    },
    **{
        f"delta {value}": (("--delta", value), ("delta", f"given:   {value}", "above 0 below 1"))
        for value in ("0", "1", "1.5", "-1e-6", "nan", "1e-999999999", "1e-401")
    },
    "epsilon too small": (("--epsilon", "1e-7"), ("noise scale", "epsilon = 1e-07", "raise epsilon")),
    "delta for this many": (("--users-public", "1000000"), ("δ is too large", "1000000", "below 1/N", "lower --delta")),
    "no users": (("--users-public", "0"), ("--users-public", "given:   0", "1 or more")),
    "threads 0": (("--threads", "0"), ("--threads", "given:   0", "1 to 1024")),
    "threads 10⁶": (("--threads", "1000000"), ("--threads", "1 to 1024")),
    "threads text": (("--threads", "two"), ("--threads", "integer")),
    "memory text": (("--memory", "lots"), ("--memory is not a size", "lots", "2GB")),
    "memory huge": (("--memory", "99999999999999TB"), ("--memory is not a size",)),
    "memory of a byte": (("--memory", "1B"), ("memory", "raise --memory")),
    "negative seed": (("--seed", "-1", "--not-private"), ("--seed", "given:   -1", "0 or more")),
    "seed alone": (("--seed", "1"), ("would not be private", "--seed 1", "--not-private")),
    **{
        f"max-rejects {value}": (("--max-rejects", value), ("--max-rejects is not a share", value, "0% to 100%"))
        for value in ("5", "101%", "-1%", "some", "nan", "5 %%")
    },
    # names
    "unknown mechanism": (("--mechanism", "crowdy"), ("no such mechanism", "crowdy", "korolova")),
    "unknown parameter": (("--set", "dd=3"), ("no such parameter", "dd", "epsilon, delta")),
    "unknown variant": (("--variant", "loose"), ("no such variant", "loose", "strict, published")),
    "unknown relation": (("--neighbours", "both"), ("no such neighbouring relation", "both", "add-remove, replace")),
    "unknown table": (("--tables", "queries,clikcs"), ("does not release this table", "clikcs", "queries, clicks")),
    "unknown format": (("--format", "aolx"), ("format is unknown", "aolx", "aol, elasticsearch, excite")),
    "unknown engine": (("--engine", "sparky"), ("no such engine", "sparky", "duckdb")),
    "unknown option": (("--epsilom", "2"), ("No such option", "--epsilom")),
    "set twice": (("--set", "keep=first", "--set", "keep=random"), ("set twice", "keep", "set it once")),
    "set as an option too": (("--set", "epsilon=2"), ("set twice", "epsilon")),
    "set without =": (("--set", "keep"), ("--set needs a name and a value", "keep", "name=value")),
    "set to nothing": (("--set", "keep="), ("--set needs a name and a value", "keep=")),
    "raw and calibrated": (("--set", "b=3"), ("not both", "b, delta, epsilon")),
    "no serp": (("--serp", "@missing.tsv"), ("result list does not exist", "missing.tsv", "--serp")),
    "bad serp": (("--serp", "@no-url.tsv"), ("lacks a column", "query, link", "query and url")),
    **{
        f"population {name!a}": (("--population", name), ("population", ascii(name), "text"))
        for name in ("", " ", " us", "us ", "a\nb", "a\tb", "a\x00b", "\x1b[31mus", "a\u200bb\u2028", "\udcff")
    },
    "data set with a newline": (("--dataset", "2006\n03"), ("--dataset", r"'2006\n03'", "control characters")),
    "data set in blanks": (("--dataset", " 2006"), ("data set", "' 2006'", "without blanks")),
    "empty ledger name": (("--ledger", ""), ("--ledger is empty",)),
    "empty work folder": (("--work", ""), ("--work is empty",)),
    "out in Latin-1": (("--out", "/out-\udce9"), ("--out is empty or not text", r"\udce9", "UTF-8")),
    # configurations
    "config missing": (("--config", "@missing.toml"), ("configuration file cannot be read", "missing.toml")),
    "config a folder": (("--config", "@folder"), ("configuration file cannot be read", "folder")),
    "config empty name": (("--config", ""), ("configuration",)),
    "config not TOML": (("--config", "@not.toml"), ("is not TOML", "not.toml", "line 1")),
    "config binary": (("--config", "@binary.toml"), ("is not TOML", "binary.toml")),
    "config unknown": (("--config", "@unknown.toml"), ("unknown option", "epsilom", "epsilon", "[card]")),
    "config flag": (("--config", "@flag.toml"), ("wrong type", "not_private = 'no'", "true or false")),
    "config out": (("--config", "@out.toml"), ("wrong type", "out = 5", "text")),
    "config tables": (("--config", "@tables.toml"), ("wrong type", "tables = ['queries']", "text")),
    "config threads": (("--config", "@threads.toml"), ("wrong type", "threads = 'two'", "a whole number")),
    "config epsilon": (("--config", "@epsilon.toml"), ("wrong type", "epsilon = True", "a number")),
    "config NUL": (("--config", "@nul.toml"), ("--population", r"'a\x00b'", "control characters")),
    "config twice": (("--config", "@twice.toml"), ("set twice", "epsilon")),
    "config set": (("--config", "@set.toml"), ("[set] in the configuration must be a table", "3")),
    "config card": (("--config", "@card.toml"), ("[card] in the configuration must be a table", "mine")),
    "config field": (("--config", "@field.toml"), ("unknown field", "titel", "title")),
    "config title": (("--config", "@title.toml"), ("title in the [card] table must be text", "3")),
    "config curator": (("--config", "@curator.toml"), ("curator must be a name or a list of names", "[]")),
    "config period": (("--config", "@period.toml"), ("period cannot be read", "2006", "from =")),
    "config backwards": (("--config", "@backwards.toml"), ("ends before it starts", "2006-05-31")),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every input of the table, written once."""
    folder = tmp_path_factory.mktemp("inputs")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder").mkdir()
    with (folder / "long.tsv").open("wb") as file:
        file.write(HEADER.encode() + b"\n1\t")
        for _ in range(100):
            file.write(b"long " * 200_000)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_one_message_and_nothing_else(
    hubbub: Hubbub, inputs: Path, tmp_path: Path, own_ledger: Path, case: str
) -> None:
    given, says = CASES[case]
    arguments = [str(inputs / part[1:]) if part.startswith("@") else part for part in given]
    log = [] if given[0].startswith("@") else [inputs / "good.tsv"]
    work = [] if "--work" in given else ["--work", tmp_path / "work"]
    result = hubbub("release", *RELEASE, "--out", tmp_path / "out", *work, *log, *arguments, code=2)
    for part in says:
        assert part in result.stderr
    messages = [line for line in result.stderr.splitlines() if line.startswith(("hubbub: ", "Error: "))]
    assert len(messages) == 1, result.stderr
    assert any(word in result.stderr for word in ("given:", "allowed:", "Error:")), result.stderr
    for never in ("Traceback", "bug of ours", "Exception"):
        assert never not in result.output
    assert {path.name for path in tmp_path.iterdir()} <= {"ledger.sqlite", "work"}
    kept = list(tmp_path.glob("work/*"))
    read = "keeps what was read of the raw log: run again to go on, or remove it" in " ".join(result.stderr.split())
    assert bool(kept) == read and left_in(tmp_path / "work") <= set(KEPT), "a copy to go on with is named"
    assert len(kept) <= 1 and all(str(path) in result.stderr.replace("\n", "") for path in kept)
    with Ledger(own_ledger) as book:
        assert book.entries() == []


@pytest.mark.parametrize("left_out", ["LOG", "--out", "--epsilon", "--delta"])
def test_what_is_needed_is_named(hubbub: Hubbub, inputs: Path, tmp_path: Path, left_out: str) -> None:
    options = dict(zip(RELEASE[::2], RELEASE[1::2], strict=True)) | {"--out": str(tmp_path / "out")}
    options.pop(left_out, None)
    log = [] if left_out == "LOG" else [inputs / "good.tsv"]
    result = hubbub("release", *log, *(part for pair in options.items() for part in pair), code=2)
    assert left_out in result.stderr
    assert result.stderr.count("hubbub: ") == 1
    assert not list(tmp_path.iterdir()), "not even a ledger"


def test_the_command_line_beats_the_configuration(hubbub: Hubbub, inputs: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('epsilon = 1\nmax_rejects = 0\nnot_private = false\n[set]\nd = 5\nkeep = "random"\n')
    rest = ("--format", "aol", "--mechanism", "korolova", "--delta", "1e-5", "--config", config)
    result = hubbub("release", inputs / "rejects.tsv", *rest, "--out", tmp_path / "none", code=2)
    assert "at most 0 of them" in result.stderr, "zero is not the default"
    hubbub("release", inputs / "good.tsv", *rest, "--set", "epsilon=2", "--set", "d=3", "--out", tmp_path / "out")
    resolved = (tmp_path / "out" / "owner-only" / "run.toml").read_text(encoding="utf-8")
    for line in ('epsilon = "2"', 'd = "3"', 'keep = "random"', 'max_rejects = "0"'):
        assert line in resolved
