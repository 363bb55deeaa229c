"""Commands and options that a page names exist: in blocks, run or not, and in the text."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.docs.blocks import BLOCK, PAGES, ROOT, blocks, name

from hubbub.cli import app

COMMANDS: Any = typer.main.get_command(app)
INLINE = re.compile(r"`([^`\n]+)`")


def lines(page: Path) -> Iterator[str]:
    """Everything that looks like something to type."""
    for block in blocks(page):
        yield from block.code.replace("\\\n", " ").splitlines()
    yield from INLINE.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))


def below(command: Any) -> dict[str, Any]:
    """The commands of a command."""
    return getattr(command, "commands", {})


def options(command: Any) -> set[str]:
    """What a command takes, its help included."""
    taken = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return taken | {"-h", "--help"}


def unknown(line: str) -> str | None:
    """What a line asks of `hubbub` that is not there."""
    command = COMMANDS
    words = [word for word in shlex.split(line.split(" #")[0]) if word != "$"][1:]
    while below(command) and words and re.fullmatch(r"[a-z]+", words[0]):
        word = words.pop(0)
        if word not in below(command):
            return word
        command = below(command)[word]
    if below(command) and words and not words[0].startswith("-"):
        return None  # hubbub COMMAND
    asked = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return ", ".join(sorted(asked - options(command))) or None


def every(command: Any) -> set[str]:
    """The options of a command and of those below it."""
    return options(command).union(*map(every, below(command).values()))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_options_exist(page: Path) -> None:
    for line in lines(page):
        if re.match(r"(\$ )?hubbub( |$)", line):
            assert not (missing := unknown(line)), f"{name(page)}: {line}: no {missing}"
        elif re.match(r"--[a-z]", line):
            assert line.split()[0].split("=")[0] in every(COMMANDS), f"{name(page)}: no option {line}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_make_targets_exist(page: Path) -> None:
    there = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = {found[1] for line in lines(page) if (found := re.match(r"make ([a-z]+)", line))}
    assert asked <= there


@functools.cache
def files_of_tests() -> dict[str, str]:
    """Every file of tests, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py")}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_tests_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for folder, file in re.findall(r"(tests/[\w/]*)?\b(test_[a-z0-9_]+\.py)\b", text):
        assert file in files_of_tests() and (ROOT / folder / file if folder else ROOT).exists(), (
            f"{name(page)}: no {folder}{file}"
        )
    for test in re.findall(r"`(test_\w+)`", text):
        assert any(f"def {test}(" in code for code in files_of_tests().values()), (
            f"{name(page)}: no test is called {test}"
        )
