"""`make demo` and `make test` on a machine that is not as it should be: a clear word, and the way on."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def loaded() -> ModuleType:
    """tools/environment.py, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "tools" / "environment.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


environment = loaded()


def make(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """make, with its recipes printed and not run unless a test says otherwise."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, **more)


def program(folder: Path, script: str) -> Path:
    """An environment whose Python is this shell script."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    python = folder / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    return folder


def ready(folder: Path, *marks: str) -> Path:
    """An environment that make takes for a finished one."""
    program(folder, "exit 0")
    for mark in marks:
        (folder / f".{mark}").touch()
    return folder


def test_the_demo_asks_for_the_core_and_the_tests_for_all(tmp_path: Path) -> None:
    for target, what in (("demo", "core"), ("test", "dev"), ("check", "dev"), ("venv", "dev")):
        planned = make("--dry-run", target, f"VENV={tmp_path / 'none'}").stdout
        assert f"tools/environment.py {tmp_path / 'none'} {what}" in planned, target


def test_what_is_ready_is_not_made_again_unless_its_python_is_gone(tmp_path: Path) -> None:
    folder = ready(tmp_path / "made", "core", "dev")
    assert "environment.py" not in make("--dry-run", "demo", "test", f"VENV={folder}").stdout
    assert "environment.py" not in make("--dry-run", "demo", f"VENV={ready(tmp_path / 'core', 'core')}").stdout
    assert f"{tmp_path / 'core'} dev" in make("--dry-run", "test", f"VENV={tmp_path / 'core'}").stdout
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").symlink_to(tmp_path / "uninstalled")
    assert f"environment.py {folder} core" in make("--dry-run", "demo", f"VENV={folder}").stdout


def test_no_python_at_all(tmp_path: Path) -> None:
    run = make("demo", f"VENV={tmp_path / 'none'}", "PYTHON=python-of-nowhere")
    assert run.returncode == 2 and not (tmp_path / "none").exists()
    assert "there is no python-of-nowhere" in run.stderr and "make demo PYTHON=" in run.stderr


def test_an_old_python_is_refused_and_a_new_one_is_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(environment.Stop, match=r"3\.11 or later is needed; python3 is 3\.9\.2(?s:.*)PYTHON=python3"):
        environment.check_python((3, 9, 2), "python3")
    environment.check_python((3, 11, 0), "python3")
    assert capsys.readouterr().out == ""
    environment.check_python((3, 99, 0), "python3")
    assert "newer than any" in capsys.readouterr().out


def test_the_script_can_be_read_by_pythons_that_are_too_old() -> None:
    """Its words must come out, not a syntax error."""
    import ast

    text = (ROOT / "tools" / "environment.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 7))
    assert "__future__" not in text, "Python 3.6 has no annotations of the future"


def test_the_versions_are_those_of_the_package() -> None:
    assert PROJECT["requires-python"] == ">={}.{}".format(*environment.OLDEST)
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    first, last = environment.OLDEST[1], environment.NEWEST[1]
    assert named == {f"3.{minor}" for minor in range(first, last + 1)}
    assert set(environment.EXTRAS.values()) <= set(PROJECT["optional-dependencies"])


def test_a_full_disk_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(environment.Stop, match=r"12 MB are free(?s:.*)700 MB(?s:.*)make room"):
        environment.check_space(tmp_path / "env", "core", free=12_000_000)
    environment.check_space(tmp_path / "env", "core", free=900_000_000)


def test_half_an_environment_is_made_anew_and_a_whole_one_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []
    real = subprocess.run

    def run(command: list[str], **more: Any) -> Any:
        if command[1:3] == ["-m", "venv"]:
            made.append(command[-1])
            return subprocess.CompletedProcess(command, 0, b"")
        return real(command, **more)

    monkeypatch.setattr(environment.subprocess, "run", run)
    whole = program(tmp_path / "whole", f'exec {sys.executable} "$@"')
    environment.make(whole)
    assert not made
    (whole / environment.UNFINISHED).touch()  # pip was interrupted
    environment.make(whole)
    environment.make(program(tmp_path / "no-pip", "exit 1"))
    (tmp_path / "no-python" / "bin").mkdir(parents=True)  # venv was interrupted
    environment.make(tmp_path / "no-python")
    assert [Path(folder).name for folder in made] == ["whole", "no-pip", "no-python"]
    assert capsys.readouterr().out.count("half-made") == 3


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").touch()
    with pytest.raises(environment.Stop, match="no Python environment"):
        environment.make(tmp_path)
    assert (tmp_path / "letters.txt").exists()


def test_without_a_network_pip_says_no_and_we_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    folder = program(tmp_path / "env", f'exec {sys.executable} "$@"')
    with pytest.raises(environment.Stop, match=r"No package index(?s:.*)HTTPS_PROXY(?s:.*)PIP_FIND_LINKS"):
        environment.install(folder, "core")
    assert not (folder / environment.UNFINISHED).exists(), "nothing was installed: there is nothing to make anew"
    assert "about 180 MB" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("said", "ways"),
    [("OSError: [Errno 28] No space left on device", "make room"), ("something else", "run the same command again")],
)
def test_where_pip_stopped_in_the_middle_the_next_run_begins_anew(tmp_path: Path, said: str, ways: str) -> None:
    folder = program(tmp_path / "env", f"echo '{said}' >&2; exit 1")
    with pytest.raises(environment.Stop, match=ways):
        environment.install(folder, "dev")
    assert (folder / environment.UNFINISHED).exists()


def test_what_was_installed_is_marked_for_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "check_space", lambda *_: None)
    monkeypatch.setattr(environment, "works", lambda _: True)
    folder = program(tmp_path / "env", f'echo "$@" >> {tmp_path}/asked')
    environment.main(folder, "core")
    assert (folder / ".core").exists() and not (folder / ".dev").exists()
    environment.main(folder, "dev")
    assert (folder / ".dev").exists() and not (folder / environment.UNFINISHED).exists()
    core, dev = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert core.endswith("[web]") and dev.endswith("[dev]") and "constraints.txt" in core
