"""One word, one meaning: what of the lexicon (CONTRIBUTING, "Words") can be checked."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import hubbub

HOME = Path(hubbub.__file__).parent
ROOT = Path(__file__).parents[2]
BANNED = ("spread", "spreads")
"""Names that once meant five things: say deviation, variance, distributed, or ways."""
RIDDLES = re.compile(
    r"\b(?:the|our) notes\b|^All of (?:it|them)\.|^Whole or not at all\.|^As the engine's\.|what of it there is",
    re.MULTILINE,
)
THINGS = "block|batch|file|table|row|line|key|user|click|format|page|graph|metric|pair|task|session|process|kind|bin"
PER = re.compile(
    rf"\b(?:one|two|once)(?: \w+){{0,2}} an? (?:{THINGS})\b(?! (?:that|has|is|holds|gives|stands|asked)\b)", re.I
)
"""One task *per* file, not one task a file."""
JOINED = re.compile(
    r" (?:of|in|by|for|from|with|as|to|on|is|than|at|and|or|not|without|under|gives|where|has|write) an? \w+$"
)


def files() -> list[Path]:
    """Every file of the package."""
    return sorted(HOME.rglob("*.py"))


@functools.cache
def tree(file: Path) -> ast.Module:
    """A file, parsed once for all tests."""
    return ast.parse(file.read_text(encoding="utf-8"))


def docstrings(file: Path) -> Iterator[str]:
    """Every docstring of a file: of the module, of classes, of functions."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield text


def odd(text: str) -> list[str]:
    """What a stranger would stumble over."""
    per = [found[0] for found in PER.finditer(text) if not JOINED.search(found[0])]
    return [*per, *(found[0] for found in RIDDLES.finditer(text))]


def test_every_class_has_a_name_of_its_own() -> None:
    found = defaultdict(list)
    for file in files():
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(file.relative_to(HOME)))
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_no_name_is_banned() -> None:
    for file in files():
        tokens = tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline)
        lines = [t.start[0] for t in tokens if t.type == tokenize.NAME and t.string.strip("_").lower() in BANNED]
        assert not lines, f"{file}: line {lines[0]}"


def test_riddles_are_found() -> None:
    assert odd("One task a block of lines.") and odd("A ratio from the notes.") and odd("All of it.")
    assert not odd("One row of a table. One shape to write a release in. One query a user asked of a key.")


def test_no_docstring_is_a_riddle() -> None:
    found = {str(file.relative_to(HOME)): [o for text in docstrings(file) for o in odd(text)] for file in files()}
    assert {file: words for file, words in found.items() if words} == {}


def test_the_lexicon_gives_every_word_one_meaning() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("## Words\n")[1].split("\n## ")[0]
    words = [word.strip() for row in re.findall(r"^\| ([^|]+) \| [^|]+ \|$", table, re.M) for word in row.split(",")]
    assert len(words) > 40 and len(words) == len(set(words))
