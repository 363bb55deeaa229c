"""Wheel and sdist: the same bytes whenever they are built, and a core that works alone in a clean environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns(".*", "__pycache__", "demo", "dist", "data", "vega.js", "shapes.json")
HEAVY = {"highspy", "ir_measures", "vl_convert", "pandas", "polars", "pyspark", "starlette", "opendp", "playwright"}
LARGEST = 470_000_000
"""Bytes of the core on the disk. pyarrow, scipy, DuckDB and numpy alone are 410 million of them."""


def build(source: Path, out: Path) -> Path:
    """The sdist, and the wheel that is built from it."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is written beside the sources while other tests run."""
    source = tmp_path_factory.mktemp("first") / "hubbub"
    shutil.copytree(ROOT, source, ignore=MADE)
    return build(source, source.parent / "dist")


def test_built_twice_they_are_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """In another folder, with files that are newer and closed to others."""
    source = tmp_path / "elsewhere"
    shutil.copytree(ROOT, source, ignore=MADE, copy_function=shutil.copyfile)
    for path in source.rglob("*.py"):
        path.chmod(0o600)
    build(source, tmp_path / "dist")
    made = sorted(path.name for path in (tmp_path / "dist").iterdir())
    assert made == sorted(path.name for path in wheel.parent.iterdir()) and len(made) == 2
    for name in made:
        assert (tmp_path / "dist" / name).read_bytes() == (wheel.parent / name).read_bytes(), name


def test_the_wheel_carries_what_it_needs(wheel: Path) -> None:
    held = zipfile.ZipFile(wheel)
    names = set(held.namelist())
    assert "hubbub/proofs/korolova.md" in names, "proofs ship inside the wheel"
    assert {"hubbub/show/templates/index.html", "hubbub/show/charts/vega.js", "hubbub/show/charts/shapes.json"} <= names
    info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
    assert "hubbub = hubbub.cli:main" in held.read(f"{info}/entry_points.txt").decode(), (
        "`uvx hubbub`, `pipx run hubbub`"
    )
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/src/hubbub/show/charts/vega.LICENCE.txt"} <= names


def test_the_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(clean)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(clean / "bin" / "python"), "--disable-pip-version-check"]
    install = ["install", "--quiet", "--no-compile", "--constraint", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run([*pip, *install], check=True)
    packages = next(clean.glob("lib/python*/site-packages"))
    assert not HEAVY & {path.name for path in packages.iterdir()}
    size = sum(
        path.stat().st_size for path in packages.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    assert size < LARGEST
    command = str(clean / "bin" / "hubbub")
    for arguments in (["demo", "--out", "demo", "--users", "1000"], ["card", "demo/release-1", "--check"]):
        run = subprocess.run([command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    report = (tmp_path / "demo" / "release-1" / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "vegaEmbed" in report, "charts are drawn without the extra"
