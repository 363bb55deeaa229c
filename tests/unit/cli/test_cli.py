"""Every command: help with an example, one JSON document, the promised exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.conftest import RELEASE, Hubbub, document
from tests.unit.cli.test_options import PROMISED

from hubbub.privacy.ledger import Ledger
from hubbub.worth.tasks.run import read

COMMANDS = [name.split() for name in PROMISED]
HEAVY = ("duckdb", "pyarrow", "pandas", "scipy", "dp_accounting", "numpy")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(hubbub: Hubbub, command: list[str]) -> None:
    text = hubbub(*command, "--help").stdout
    assert "Example: hubbub " + " ".join(command) in " ".join(text.split())
    for option in ("--json", "--quiet", "--verbose"):
        assert option in text


def test_help_imports_nothing_heavy() -> None:
    """That of every command: nobody who asks what there is waits for what computes it."""
    script = (
        "import sys\nfrom hubbub.cli import app\n"
        f"for command in {[[], *COMMANDS]!r}:\n"
        "    try:\n        app([*command, '--help'])\n    except SystemExit:\n        pass\n"
        "    print('TYPES', bool(command) or 'pydantic' in sys.modules)\n"  # Typer's own, for a command's options
        f"print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])\n"
        "ours = {m for m in sys.modules if m.startswith('hubbub') and not m.startswith('hubbub.cli')}\n"
        "print('OURS', sorted(ours))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "korolova" in run.stdout and "HEAVY []" in run.stdout and "TYPES False" in run.stdout
    light = ("", ".deprecated", ".errors", ".extras", ".plurals", ".privacy", ".privacy.existence")
    assert f"OURS {[f'hubbub{module}' for module in light]}" in run.stdout


def test_the_module_runs_as_a_command() -> None:
    run = subprocess.run([sys.executable, "-m", "hubbub", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("hubbub ")


def test_release_prints_one_json_document(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--json", "--tables", "queries,clicks")
    data = document(result)
    assert set(data) == {
        "out", "mechanism", "variant", "guarantee", "claimed", "tables", "thresholds", "ledger", "private",
        "owner_only",
    }  # fmt: skip
    assert set(data["guarantee"]) == {"definition", "epsilon", "delta", "neighbours", "scope"}  # type: ignore[call-overload]
    assert data["owner_only"]["users"] == 300  # type: ignore[index]
    assert set(data["tables"]) == {"queries", "clicks"}  # type: ignore[call-overload]
    assert data["private"] is True


def test_run_toml_runs_again(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        'epsilon = "2"\ndelta = "1e-5"\n[set]\nd = 3\n[card]\ntitle = "Said \\"so\\""\ncurator = "Us"\n'
        'period = { from = "2006-03-01", to = "2006-03-31" }\n'
    )
    hubbub(
        "release", log_file, "--format", "aol", "--mechanism", "korolova", "--config", config, "--out", tmp_path / "one"
    )
    again = tmp_path / "one" / "owner-only" / "run.toml"
    hubbub("release", "--config", again, "--out", tmp_path / "two")
    cards = [json.loads((tmp_path / n / "public" / "card.json").read_text()) for n in ("one", "two")]
    assert cards[0]["steps"] == cards[1]["steps"]
    assert cards[0]["release"]["title"] == cards[1]["release"]["title"] == 'Said "so"'
    assert cards[1]["release"]["period_stated_by_owner"]["to"] == "2006-03-31"


def test_card_shows_and_checks(hubbub: Hubbub, released: Path) -> None:
    assert "proven     ε = 2" in hubbub("card", released).stdout
    assert "All " in hubbub("card", released, "--check").stdout
    assert document(hubbub("card", released, "--check", "--json"))["holds"] is True
    assert document(hubbub("card", released, "--json"))["card_version"] == "1.0"
    (released / "public" / "README.md").write_text("edited")
    result = hubbub("card", released, "--check", "--json", code=1)
    assert json.loads(result.stdout)["holds"] is False
    hubbub("card", released / "nowhere", code=2)


def test_the_registry_entry_validates(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    hubbub("card", released, "--registry", tmp_path / "entry.yaml")
    entry = yaml.safe_load((tmp_path / "entry.yaml").read_text())
    schema = yaml.safe_load((Path(__file__).parents[2] / "data" / "registry-schema.yaml").read_text())
    jsonschema.validate(entry, schema)
    parameters = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == 2.0
    assert isinstance(parameters["delta"], float)


def test_the_ledger_commands(hubbub: Hubbub, released: Path) -> None:
    shown = document(hubbub("ledger", "show", "--json"))
    assert shown["populations"][0]["epsilon"] == 2.0  # type: ignore[index]
    assert shown["entries"][0]["state"] == "committed"  # type: ignore[index]
    assert "default: ε = 2" in hubbub("ledger", "show").stdout
    hubbub("ledger", "cap", "default", "--epsilon", "1", "--delta", "1e-5")
    assert "caps" in document(hubbub("ledger", "export"))
    assert "Nothing" in hubbub("ledger", "show", "--ledger", released.parent / "other.sqlite").stdout


def test_the_ledger_records_a_look(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    with Ledger() as ledger:
        ledger.looked("default", "default", "inspect")
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    card = json.loads((tmp_path / "out" / "public" / "card.json").read_text())
    assert card["data_dependent_choices"][0]["informed_by"] == "raw"
    assert "inspect" in card["data_dependent_choices"][0]["note"]


def test_quiet_says_nothing(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--quiet")
    assert result.output == ""


@pytest.mark.slow
def test_the_demo(hubbub: Hubbub, tmp_path: Path) -> None:
    told = hubbub("demo", "--out", tmp_path / "demo", "--users", "300").stdout
    assert [line for line in told.splitlines() if line.isupper()] == [
        f"WHAT {part}" for part in ("WENT IN", "CAME OUT", "IS PROMISED", "IT COST", "TO OPEN", "TO TRY")
    ]
    assert len(told.splitlines()) < 48, "more than two screens"
    assert "% of all searches" in told
    details = (tmp_path / "demo" / "details.txt").read_text(encoding="utf-8")
    assert "published_volume" in details and "hit_probability" in details
    assert set(read(tmp_path / "demo" / "release-1" / "owner-only")) == {"counts", "index-caching", "details"}
    hubbub("demo", "--out", tmp_path / "demo", "--users", "300", "--quiet")
    for name in ("release-1", "release-2"):
        hubbub("card", tmp_path / "demo" / name, "--check")


def test_a_bug_of_ours_is_called_one(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("hubbub.audit.audit", broken)
    result = hubbub("audit", code=3)
    assert "bug of ours" in result.stderr and "Traceback" not in result.stderr
    assert "Traceback" in hubbub("audit", "--verbose", code=3).stderr


def test_a_serp_list(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    serp = tmp_path / "serp.tsv"
    serp.write_text(
        "query\turl\nWEATHER\thttp://www.weather.example\nweather\thttp://other.example\nnews\thttp://n.example\n"
    )
    for variant in ("strict", "published"):
        out = tmp_path / variant
        hubbub("release", log_file, *RELEASE, "--serp", serp, "--out", out, "--variant", variant)
        hubbub("card", out, "--check")
        card = json.loads((out / "public" / "card.json").read_text())
        assert card["mechanism"]["public_lists"][0]["name"] == "serp.tsv"
        assert card["release"]["files"][1]["rows"] == 3
    hubbub("release", log_file, *RELEASE, "--serp", tmp_path / "no", "--out", tmp_path / "x", code=2)
    (tmp_path / "bad.tsv").write_text("question\turl\n")
    assert (
        "lacks a column"
        in hubbub("release", log_file, *RELEASE, "--serp", tmp_path / "bad.tsv", "--out", tmp_path / "x", code=2).stderr
    )
