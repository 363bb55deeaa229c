"""Former names still work and warn: of Python, of options, of configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Hubbub, document

import hubbub as package
from hubbub import deprecated
from hubbub.cli.config import read_configuration
from hubbub.deprecated import Former, FormerNameWarning

GONE = {"since": "0.2", "gone": "0.4"}


def test_a_former_name_of_python_warns_and_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(deprecated.NAMES, "LogPeriod", Former("Period", **GONE))
    with pytest.warns(FormerNameWarning, match=r"LogPeriod is now called Period; hubbub 0\.4 will not know"):
        assert package.LogPeriod is package.Period
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = package.Nonsense


@pytest.mark.parametrize("given", [("--engine-memory", "1GB"), ("--engine-memory=1GB",)])
def test_a_former_option_warns_and_works(
    hubbub: Hubbub, log_file: Path, own_ledger: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(deprecated.OPTIONS, "engine_memory", Former("memory", **GONE))
    with pytest.warns(FormerNameWarning, match="engine_memory is now called memory"):
        told = document(hubbub("inspect", log_file, "--format", "aol", "--json", *given))
    assert "owner_only" in told


def test_a_former_option_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(deprecated.OPTIONS, "engine_memory", Former("memory", **GONE))
    (tmp_path / "c.toml").write_text('engine_memory = "1GB"\n', encoding="utf-8")
    with pytest.warns(FormerNameWarning):
        assert read_configuration(str(tmp_path / "c.toml")).options == {"memory": "1GB"}


def test_a_name_lasts_for_at_least_one_minor_version() -> None:
    def minor(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")[:2])

    def lasting(former: Former, here: str) -> bool:
        (major, least), gone = minor(former.since), minor(former.gone)
        return gone >= (major, least + 2) and minor(here) < gone

    known = (*deprecated.NAMES.values(), *deprecated.OPTIONS.values())
    assert all(lasting(former, package.__version__) for former in known), "too soon, or should be gone"
    assert lasting(Former("now", "0.2", "0.4"), "0.3.1") and not lasting(Former("now", "0.2", "0.4"), "0.4.0")
    assert not lasting(Former("now", "0.2", "0.3"), "0.2.0")
