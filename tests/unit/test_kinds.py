"""Every test is of one kind, plain `pytest` runs the fast ones and `make test` all: real runs over made-up tests."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kinds import FAST, FOLDERS, HERE, KINDS, SLOW, kind_of_folder

ROOT = HERE.parent
MADE_UP = """
import os, pytest
{mark}
def test_told(request):
    kinds = [mark.name for mark in request.node.iter_markers() if mark.name in {kinds}]
    with open(os.environ["HUBBUB_RAN"], "a") as file:
        file.write(" ".join(kinds) + "\\n")
"""


def write(path: Path, mark: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(MADE_UP.format(mark=mark, kinds=set(KINDS)), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The real settings, and one test of each kind."""
    (tmp_path / "tests").mkdir()
    for file in ("pyproject.toml", "tests/__init__.py", "tests/kinds.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    (tmp_path / "tests" / "conftest.py").write_text('pytest_plugins = ["tests.kinds"]\n', encoding="utf-8")
    for folder in FOLDERS:
        write(tmp_path / "tests" / folder / f"test_{folder}.py")
    write(tmp_path / "tests" / "unit" / "test_long.py", "@pytest.mark.slow")
    return tmp_path


def run(project: Path, *arguments: str) -> tuple[int, str, list[str]]:
    """The exit code of pytest, what it said, and the kinds of the tests that ran."""
    ran = project / "ran"
    environment = os.environ | {"HUBBUB_RAN": str(ran), "PYTHONPATH": str(project)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    kinds = ran.read_text(encoding="utf-8").splitlines() if ran.exists() else []
    return done.returncode, done.stdout + done.stderr, sorted(kinds)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ((), FAST),
        (("-n0", "-m", "spark"), ("spark",)),
        (("tests/unit/test_long.py",), (SLOW,)),
        (("-n0", "tests/unit"), ("unit", SLOW)),
        (("-n0", "-k", "told"), tuple(KINDS)),
    ],
)
def test_which_kinds_run(project: Path, arguments: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    code, said, ran = run(project, *arguments)
    assert code == 0, said
    assert ran == sorted(kinds)


@pytest.mark.slow
def test_make_test_runs_all_of_them(project: Path) -> None:
    (recipe,) = re.findall(r"^test:.*\n\t\$\(BIN\)/python -m pytest (.*)\n\n", makefile(), re.MULTILINE)
    code, said, ran = run(project, *(word for word in shlex.split(recipe) if not word.startswith("--cov")))
    assert code == 0, said
    assert ran == sorted(KINDS)


TRACED = """
import os, sys, pytest
@pytest.fixture(scope="module")
def before():
    return sys.gettrace() is not None
def test_traced(request, before):
    with open(os.environ["HUBBUB_RAN"], "a") as file:
        file.write(f"{request.node.path.parent.name} {before} {sys.gettrace() is not None}\\n")
"""


@pytest.mark.slow
def test_what_coverage_does_not_count_it_does_not_slow(project: Path) -> None:
    files = [f"tests/{folder}/test_traced_{folder}.py" for folder in ("docs", "statistical", "unit")]
    for file in files:
        (project / file).write_text(TRACED, encoding="utf-8")
    _, said, ran = run(project, "-n0", *files, "--cov", "--cov-fail-under=0", "--cov-report=")
    assert ran == ["docs False False", "statistical False False", "unit True True"], said


def test_ci_runs_what_the_readme_says() -> None:
    readme, ci = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", ".ci/run"))
    assert re.search(r"^make test\b", readme, re.MULTILINE)
    assert re.search(r"\bmake test$", ci, re.MULTILINE)


def makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "mark", "says"),
    [
        ("tests/other/test_lost.py", "", "move it into one"),
        ("tests/test_lost.py", "", "move it into one"),
        ("tests/docs/test_long_page.py", "@pytest.mark.slow", "is docs, which is never fast"),
        ("tests/unit/test_misspelt.py", "@pytest.mark.solw", "'solw' not found"),
    ],
)
def test_a_test_without_a_kind_is_refused(project: Path, file: str, mark: str, says: str) -> None:
    write(project / file, mark)
    code, said, _ = run(project, file)
    assert code != 0
    assert says in said


def test_every_file_has_a_kind() -> None:
    files = [path for path in HERE.rglob("test_*.py") if "__pycache__" not in path.parts]
    assert {kind_of_folder(path) for path in files} == set(FOLDERS)


def test_unit_tests_are_in_the_rooms_of_the_package() -> None:
    """Every room has tests, and every folder of tests is a folder of the package, with what is below it."""
    package, unit = ROOT / "src" / "hubbub", HERE / "unit"
    folders = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")} - {Path()}
    assert {folder.parts[0] for folder in folders} == {path.parent.name for path in package.glob("*/__init__.py")}
    assert all((package / folder / "__init__.py").is_file() for folder in folders), folders
