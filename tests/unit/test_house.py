"""The house: the map names every room, modules import each other in no circle, files stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tests.docs.way import mapped

import hubbub

HOME = Path(hubbub.__file__).parent
ROOT = Path(__file__).parents[2]
LONGEST = 400
"""Lines of a file, of the package and of its tests."""


def modules() -> dict[str, Path]:
    """Every module of the package with its file."""
    files = sorted(HOME.rglob("*.py"))
    return {
        ".".join(("hubbub", *f.relative_to(HOME).with_suffix("").parts)).removesuffix(".__init__"): f for f in files
    }


def imported(tree: ast.AST) -> Iterator[str]:
    """What the code imports, at the top or inside functions; not what only type checkers import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from imported(node)


def graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which module imports which others of these."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        names = set(imported(ast.parse(source)))
        found[module] = {n if n in sources else n.rpartition(".")[0] for n in names} & set(sources) - {module}
    return found


def circles(of: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other in a circle (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(of[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in of:
        if node not in index:
            visit(node)
    return found


def test_a_circle_is_found_also_through_an_import_inside_a_function() -> None:
    lazy = {"a": "import b", "b": "def f():\n    from a import g", "c": "import a"}
    assert circles(graph(lazy)) == [["a", "b"]]
    assert circles(graph(lazy | {"b": "if TYPE_CHECKING:\n    from a import g"})) == []


def test_no_module_imports_itself_through_others() -> None:
    assert circles(graph({name: file.read_text(encoding="utf-8") for name, file in modules().items()})) == []


def test_the_map_names_every_room_and_every_module_beside_them_once() -> None:
    there = {p.stem for p in HOME.iterdir() if not p.name.startswith("_") and (p.suffix == ".py" or p.is_dir())}
    assert sorted(mapped()) == sorted(there - {"proofs"})  # the proofs are pages, in an installed package alone


def test_every_room_says_in_one_sentence_what_it_is_for() -> None:
    for room in mapped():
        first = (import_module(f"hubbub.{room}").__doc__ or "").split("\n\n")[0]
        assert first.endswith(".") and len(first) < 240, f"{room}: {first!r}"


def test_no_file_is_long() -> None:
    files = [*sorted(HOME.rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]
    lengths = {str(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {file: lines for file, lines in lengths.items() if lines > LONGEST} == {}


def test_no_two_test_files_have_one_name() -> None:
    """pytest would collect neither, and end before the first test; a run of one of them alone does not notice."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
