"""Somebody who types in a page, block by block: one process per page, forked from one that has the imports behind it.

Python blocks of a page share their names. A `hubbub` command runs in that process too, which is what makes a hundred of
them affordable; anything else (pipes, heredocs, other programs) is given to bash.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

from tests.docs.blocks import Block, blocks, name
from tests.forked import forked, say_into, spawn_by_forking

SHELL_ONLY = set("|&;<$`~*?(){}#")
TOGETHER = re.compile(r"<<|^(cd|export|for|if|while|\w+=)\b", re.MULTILINE)


def read(page: Path, where: Path) -> None:
    """Run a page's blocks in a folder; the output is in the message if one fails."""
    said = where.with_suffix(".out")
    code = forked(_read, page, where, said)
    assert code == 0, f"exit {code}\n{said.read_text(encoding='utf-8', errors='replace')[-6000:]}"


def _read(page: Path, where: Path, said: Path) -> None:
    """In the process of the page."""
    say_into(said)
    spawn_by_forking()
    os.chdir(where)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ["HUBBUB_LEDGER"] = str(where / "ledger-of-the-page.sqlite")
    module = types.ModuleType("page")
    sys.modules["page"] = module
    for block in blocks(page):
        if block.runs:
            print(f"\n--- {name(page)}, line {block.line}")
            _run(block, module, f"{name(page)}:{block.line}")


def _run(block: Block, module: types.ModuleType, place: str) -> None:
    if block.language == "python":
        exec(compile(block.code, place, "exec"), module.__dict__)
    elif block.language == "sql":
        import duckdb

        with duckdb.connect() as connection:
            for statement in connection.extract_statements(block.code):
                print(connection.execute(statement).fetchall())
    else:
        _shell(typed(block))


def typed(block: Block) -> str:
    """What somebody types: of a `console` block the lines behind the prompt."""
    if block.language != "console":
        return block.code
    return "".join(line[2:] + "\n" for line in block.code.splitlines() if line.startswith("$ "))


def _shell(code: str) -> None:
    """Line by line, unless lines hang together."""
    if TOGETHER.search(code):
        _bash(code)
        return
    for line in filter(str.strip, code.replace("\\\n", " ").splitlines()):
        if not line.startswith("hubbub ") or SHELL_ONLY & set(line):
            _bash(line)
            continue
        words = shlex.split(line)[1:]
        into = words.pop() if ">" in words[-2:-1] else None
        _hubbub([word for word in words if word != ">"], into)


def _bash(code: str) -> None:
    subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True)


def _hubbub(words: list[str], into: str | None) -> None:
    from hubbub.cli import app

    with contextlib.ExitStack() as stack:
        if into:
            file = stack.enter_context(open(into, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(file))
        try:
            app(words)
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"hubbub {' '.join(words)} ended with {end.code}") from end
