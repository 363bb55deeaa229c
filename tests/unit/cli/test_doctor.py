"""`hubbub doctor`: what is here, what is missing, which line to type; and completion in three shells."""

from __future__ import annotations

import sys
from collections import namedtuple
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub, document

from hubbub.cli import app
from hubbub.cli.listed import completing, installed
from hubbub.extras import EXTRAS, line

doctor = import_module("hubbub.cli.doctor")  # the package has the command under this name


def test_it_says_what_is_here_and_the_line_for_what_is_not(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.extras.find_spec", lambda name: None if name == "highspy" else object())
    monkeypatch.setattr(doctor.shutil, "which", lambda *_, **__: None)
    text = hubbub("doctor").stdout
    for here in ("Python", "duckdb", "pyarrow", "ledger", "GB free", *EXTRAS):
        assert here in text
    assert line("solver") in text and line("web") not in text
    assert "install Java 17 or later" in text


def test_as_a_document(hubbub: Hubbub) -> None:
    told: Any = document(hubbub("doctor", "--json"))
    assert {one["what"] for one in told["optional"]} == {*EXTRAS, "Java"}
    assert all(one["good"] for one in told["needed"]), told["needed"]


def test_a_broken_core_is_a_failed_check(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "duckdb":
            raise PackageNotFoundError(name)
        return "0.1" if name == "numpy" else "999"

    monkeypatch.setattr(doctor, "version", version)
    said = hubbub("doctor", code=1)
    assert "pip install 'duckdb>=2.0'" in said.stdout and "pip install --upgrade 'numpy>=2.0'" in said.stdout
    assert "duckdb, numpy" in said.stderr


def test_a_full_disk_and_an_old_python(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage(10, 9, 1_000_000))
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    assert [one.what for one in doctor.python() if not one.good] == ["Python"]
    told = hubbub("doctor", code=1)
    assert "0.0 GB free" in told.stdout and "make room" in told.stdout and "tried: 3.11 to 3." in told.stdout


@pytest.mark.parametrize(
    ("told", "good"), [('openjdk version "17.0.15"', True), ('version "1.8.0_2"', False), ("", False)]
)
def test_java_is_asked_for_its_version(told: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{told}' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert doctor.java().good is good and str(program) in doctor.java().found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script_and_what_it_asks_for(shell: str) -> None:
    from typer.testing import CliRunner

    script = CliRunner().invoke(app, [], prog_name="hubbub", env={"_HUBBUB_COMPLETE": f"source_{shell}"}).stdout
    assert f"complete_{shell}" in script
    asked = "hubbub release --mechanism k"
    given = {"_HUBBUB_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": asked}
    given |= {"COMP_WORDS": asked, "COMP_CWORD": "3", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    answer = CliRunner().invoke(app, [], prog_name="hubbub", env=given).stdout
    assert "korolova" in answer and "crowd" not in answer


def test_names_are_completed_one_by_one() -> None:
    assert completing("formats")("ao") == ["aol"]
    assert completing("tasks")("counts,sugg") == ["counts,suggestion"]
    assert completing("engines")("") == installed("engines").split(", ")
