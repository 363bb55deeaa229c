"""The wheel builds, installs into a clean environment, and its demo makes a release that checks."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_wheel_works_in_a_clean_environment(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    wheel = next(tmp_path.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert "hubbub/proofs/korolova.md" in names, "proofs ship inside the wheel"
    assert "hubbub/show/templates/index.html" in names
    clean = tmp_path / "clean"
    subprocess.run([sys.executable, "-m", "venv", str(clean)], check=True)
    install = [
        clean / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        "--disable-pip-version-check",
    ]
    subprocess.run([*map(str, install), "--constraint", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    command = str(clean / "bin" / "hubbub")
    for arguments in (["demo", "--out", "demo", "--users", "1000"], ["card", "demo/release-1", "--check"]):
        run = subprocess.run([command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
