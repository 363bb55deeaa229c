"""Every command, option and default that is promised; options declared once, on the command line and in a file."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
import typer.main
from tests.conftest import RELEASE, Hubbub

from hubbub.cli import app
from hubbub.cli.card_options import CardOptions
from hubbub.cli.config import kinds_of
from hubbub.cli.listed import REGISTRIES, installed
from hubbub.cli.names import NAMES
from hubbub.cli.options import MechanismOptions, NewLogOptions, ReleaseOptions, Without
from hubbub.cli.terminal import Terminal, command

SPEAKS = "--json=False --quiet=False --verbose=False"
READ = (
    "--format --columns --separator --encoding --time-format --query-parameter "
    "--drop-agents --max-searches-a-day --query --table --own-query "
    "--canonical-urls --screen --deny --allow "
    "--memory --population --dataset --ledger --config"
)
LOG = f"{READ} --work --engine --master --threads"
NOT_ASKED = "--population --dataset --config --screen --deny --allow --max-searches-a-day --drop-agents"
READ_PERIOD = " ".join(option for option in LOG.split() if option not in NOT_ASKED.split())
LISTS = "--serp --pool --public-list --prior --language --kind --prefer --no-known-words --previous --by --values"
MECHANISM = f"--mechanism --epsilon --delta --set --variant --neighbours --tables {LISTS}"
OWNER = "--users-public --new-population --other-people --allow-empty --drop-outside"
PROMISED = {
    "demo": "--out=demo --users=20000",
    "synth": "--users! --out! --preset=aol --vocabulary=en --seed=0 --truth --canaries --start --days --every=month "
    "--changing=0 --arriving=0.0 --leaving=0.0 --groups=False --typos=0.0",
    "inspect": f"log {LOG} --max-rejects --rejects --period",
    "estimate": f"log {LOG} --max-rejects {MECHANISM} --period --users --preset --sample --shares --runs --gains=False",
    "release": f"log {LOG} --max-rejects {MECHANISM} {OWNER} --out --seed "
    "--not-private --review --supersedes --because --period --title --licence --card",
    "evaluate": f"release! --log {LOG} --task --truth --seed=0",
    "compare": f"log {READ} --work --epsilon --delta --set --pool --mechanism --task --draws=5 --truth --out --sweep "
    "--plot=volume,error --tables --seed=0 --jobs=2",
    "worth": f"log {READ} --work --epsilons=0.5,2,8 --delta=1e-6 --users --mechanism --task --draws=1 --truth --out "
    "--seed=0 --jobs=2",
    "attack": f"release! --log {LOG} --kind --truth --other --targets=200 --seed=0",
    "report": f"release! --log {LOG}",
    "export": "release! --to! --out! --gzip=False --group=",
    "card": "release! --check=False --registry",
    "review": "release! --write --strike --strike-rules --deny --topics --names --approve=False --by --out --show=40 "
    "--ledger",
    "withdraw": "release! --reason! --superseded-by",
    "index": "folder! --out! --population",
    "audit": "--mechanism --quick=False --mutants=False --subject --epsilon= --delta= --set --neighbours=add-remove "
    "--seconds=60.0 --runs --limit=10.0 --workers=1 --timing=False --python= --out",
    "reproduce": "id --experiments=False --users --draws --seed --out --log --format --columns --canonical-urls "
    "--separator --encoding --time-format --query-parameter --drop-agents --max-searches-a-day --query --table "
    "--own-query --screen --deny --allow "
    "--memory --threads --work --population --dataset --ledger",
    "studio": f"paths --port=0 --no-browser=False --folder=. {READ} --threads --max-rejects {OWNER} "
    "--period --title --licence --card",
    "doctor": "",
    "ledger show": "population --ledger",
    "ledger cap": "population! --epsilon! --delta! --thresholds --new-population --ledger",
    "ledger export": "--ledger",
    "ledger plan": "population! --releases! --mechanism=crowd --delta --set --variant --neighbours --tables --serp "
    "--language --kind --prefer --no-known-words --by --values "
    "--pool --declare=False --ledger",
    "series plan": "folder! --epsilon --delta --first --periods=12 --longest --length=month --schedule=even "
    "--counts=0.3 --pool=40 --tables=queries --unit=user --public-list --language=none --lag=0 --users-public "
    "--population=default --dataset=series --max-rejects --screen --deny --allow --max-searches-a-day --drop-agents "
    "--config --seed --not-private=False --dry-run=False --new-population --ledger",
    "series add": f"folder! log {READ_PERIOD} --period --other-ids=False --other-people=False --review --ledger",
    "series show": "folder! --ledger",
    "series end": "folder! --ledger",
    "series index": "folder! --address",
    "series erase": "folder! --user! --ledger",
    "series struck": "folder! --allow --ledger",
    "bench quick": "--users",
    "pool build": "--out! --ngrams=False --nouns=False --queries --release --size",
}
TREE: Any = typer.main.get_command(app)


def commands(below: Any, path: str = "") -> dict[str, Any]:
    """Every command by what one types for it."""
    inner = getattr(below, "commands", None)
    if inner is None:
        return {path: below}
    return {name: one for word, at in inner.items() for name, one in commands(at, f"{path} {word}".strip()).items()}


def taken(parameter: Any) -> str:
    """An option as PROMISED has it: required, with a default, or left open."""
    default = "" if parameter.default is None else f"={parameter.default}"
    return f"{parameter.opts[0]}{'!' if parameter.required else default}"


def test_every_command_option_and_default_is_there() -> None:
    """The commands of the design; who adds an option adds it here, and nobody loses one unseen."""
    found = {name: {taken(p) for p in one.params} for name, one in commands(TREE).items()}
    assert found == {name: {*text.split(), *SPEAKS.split()} for name, text in PROMISED.items()}


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ("release", ("private", "not_private", "formats", "engines", "rules")),
        ("estimate", ("private", "not_private", "presets")),
        ("compare", ("private", "not_private", "tasks")),
        ("evaluate", ("tasks", "formats")),
        ("attack", ("attacks",)),
        ("export", ("exports",)),
        ("synth", ("presets", "vocabularies")),
        ("ledger plan", ("private", "not_private")),
    ],
)
def test_help_names_what_is_installed(hubbub: Hubbub, asked: str, kinds: tuple[str, ...]) -> None:
    text = hubbub(*asked.split(), "--help").stdout
    for kind in kinds:
        assert "".join(installed(kind).split()) in "".join(text.split()), "in spite of lines that end"
    assert not [kind for kind in REGISTRIES if f"{{{kind}}}" in text]


def test_the_names_that_are_written_down_are_those_of_the_registries() -> None:
    for kind in REGISTRIES:
        assert ", ".join(NAMES[kind]) == installed(kind), "run python -m tests.docs.generated"


def test_the_registries_are_asked_where_another_package_adds_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shelf.py").write_text("THINGS = ['abacus']")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(REGISTRIES, "engines", "shelf:THINGS")
    assert installed("engines") == "duckdb, spark"
    facts = tmp_path / "elsewhere" / "abacus-1.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: abacus\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[hubbub.readers]\nabacus = shelf:THINGS")
    monkeypatch.syspath_prepend(facts.parent)
    assert installed("engines") == "abacus"


def test_help_names_what_is_installed_later(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "duckdb, spark (duckdb)" in hubbub("inspect", "--help").stdout
    monkeypatch.setattr("hubbub.engines.ENGINES", {"duckdb": "", "spark": "", "abacus": ""})
    assert "duckdb, spark, abacus" in hubbub("inspect", "--help").stdout


def test_a_configuration_may_hold_every_option_of_a_release() -> None:
    """But where the file is, what is a table in it, and how the command speaks."""
    offered = {p.name for p in commands(TREE)["release"].params} - {"config", "set", "json", "quiet", "verbose"}
    assert set(kinds_of(NewLogOptions, MechanismOptions, ReleaseOptions)) == offered - {
        *CardOptions.__dataclass_fields__
    }


def test_run_toml_holds_what_was_said_wherever_it_was_said(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('memory = "1GB"\nthreads = 2\ndataset = "march"\nmax_rejects = 0.5\n')
    said = (
        "--config",
        config,
        "--dataset",
        "april",
        "--canonical-urls",
        "--users-public",
        "300",
        "--tables",
        "queries",
    )
    hubbub("release", log_file, *RELEASE[2:], *said, "--out", tmp_path / "one")
    first = tomllib.loads((tmp_path / "one" / "owner-only" / "run.toml").read_text(encoding="utf-8"))
    assert first == {
        "log": str(log_file), "out": str(tmp_path / "one"), "mechanism": "korolova", "format": "aol", "memory": "1GB",
        "threads": 2, "dataset": "april", "max_rejects": "0.5", "canonical_urls": True, "users_public": 300,
        "tables": "queries", "set": {"d": "3", "epsilon": "2", "delta": "1e-5"}, "card": {},
    }  # fmt: skip
    again = ("--config", tmp_path / "one" / "owner-only" / "run.toml", "--out", tmp_path / "two")
    hubbub("release", *again)
    second = tomllib.loads((tmp_path / "two" / "owner-only" / "run.toml").read_text(encoding="utf-8"))
    assert second == first | {"out": str(tmp_path / "two")}


def test_an_empty_option_is_not_hidden_by_the_configuration(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """An empty shell variable must not release under the default population where a file names another."""
    config = tmp_path / "config.toml"
    config.write_text('population = "us"\n')
    rest = ("--config", config, "--population", "", "--out", tmp_path / "out")
    assert "--population is empty" in hubbub("release", log_file, *RELEASE, *rest, code=2).stderr


@dataclass(frozen=True, kw_only=True)
class ToyOptions:
    """Two options."""

    often: Annotated[int, typer.Option(help="How often.")] = 1
    where: Annotated[str | None, typer.Option(help="Where.")] = None


def test_a_group_is_its_options_and_comes_back_as_one() -> None:
    seen: list[ToyOptions] = []

    @command
    def toy(name: str, toys: Annotated[ToyOptions, Without(["where"])], *, terminal: Terminal) -> None:
        seen.append(toys)
        terminal.say(name)

    assert list(inspect.signature(toy).parameters) == ["name", "often", "json", "quiet", "verbose"]
    toy(name="ball", often=3, quiet=True)
    toy(name="ball", quiet=True)
    assert seen == [ToyOptions(often=3), ToyOptions()]


def test_an_option_of_two_groups_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="duplicate parameter name"):

        @command
        def toy(first: ToyOptions, second: ToyOptions) -> None:
            """Which of them would it be?"""
