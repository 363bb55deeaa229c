"""`hubbub attack`: for the owner only, every attack present, public/ untouched, the look recorded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from tests.conftest import RELEASE, Hubbub, document
from tests.made_up import synthesise

from hubbub.errors import ParameterError
from hubbub.privacy.ledger import Ledger
from hubbub.release.opened import Release
from hubbub.synth import MADE_UP
from hubbub.worth.attacks import ATTACKS
from hubbub.worth.attacks.run import attack, mechanism_of

FEW = ("--targets", "40")


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small synthetic log with canaries."""
    folder = tmp_path_factory.mktemp("made-up")
    synthesise(300, folder / "log.parquet", truth=folder / "truth", canaries=MADE_UP)
    return folder


def hashes(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_help_has_an_example(hubbub: Hubbub) -> None:
    text = " ".join(hubbub("attack", "--help").stdout.split())
    assert "Example: hubbub attack release --log" in text and "--json" in text and "--truth" in text


def test_a_private_release_stays_within_its_guarantee(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path
) -> None:
    out = tmp_path / "released"
    hubbub("release", log_file, *RELEASE, "--out", out)
    before = hashes(out / "public")
    with Ledger(own_ledger) as book:
        spent = book.spent("default")
    found: Any = document(hubbub("attack", out, "--log", log_file, *FEW, "--json"))
    assert set(found) == set(ATTACKS)
    assert found["active"]["verdict"] == found["membership"]["verdict"] == "within the guarantee"
    assert found["active"]["success"]["tries"] == found["active"]["false_alarms"]["tries"] == 40
    assert "not_attackable" in found["linkage"] and "not_attackable" in found["hash-inversion"]
    assert hashes(out / "public") == before
    hubbub("card", out, "--check")
    path = out / "owner-only" / "attacks.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept.pop("details") == {} and kept == found
    assert path.stat().st_mode & 0o777 == 0o600
    with Ledger(own_ledger) as book:
        assert [look.command for look in book.looks("default", "default")] == ["release", "attack"]
        assert book.spent("default") == spent, "an attack spends nothing"


@pytest.mark.slow
def test_names_are_no_protection(hubbub: Hubbub, made_up: Path, tmp_path: Path) -> None:
    out, log = tmp_path / "names", made_up / "log.parquet"
    hubbub("release", log, "--mechanism", "pseudonyms", "--not-private", "--out", out)
    kinds = ("--kind", "linkage", "--kind", "active", "--kind", "membership", "--kind", "homogeneity")
    found: Any = document(hubbub("attack", out, *kinds, *FEW, "--json"))  # the log by run.toml
    for kind in ("linkage", "active", "membership", "homogeneity"):
        assert found[kind]["verdict"] == "succeeds" and found[kind]["success"]["rate"] > 0.9, kind
        assert found[kind]["false_alarms"]["rate"] < 0.1 and found[kind]["allowed"] is None
    assert found["hash-inversion"] == {"not_attackable": "not asked for"}
    text = hubbub("attack", out, "--log", log, "--kind", "linkage", "--truth", made_up / "truth").stdout
    assert text.startswith("The log looks like table") or text.startswith("OWNER ONLY")
    assert "linkage: succeeds" in text and "records this look" in text


def test_canaries_are_the_targets(made_up: Path, tmp_path: Path) -> None:
    import hubbub
    from hubbub.mechanisms import KQuery

    with hubbub.read_log(made_up / "log.parquet") as log:
        made = hubbub.release(log, KQuery(k=20), tmp_path / "out", not_private=True)
        found = attack(made, log, ["active", "homogeneity"], made_up / "truth")
    lone = sum(canary.users == 1 for canary in MADE_UP)
    assert found["active"]["success"] | {"low": 0, "high": 0} == {
        "hits": lone,
        "tries": lone,
        "rate": 1.0,
        "low": 0,
        "high": 0,
    }
    shared = [canary.users for canary in MADE_UP if canary.users > 1]
    assert found["homogeneity"]["success"]["tries"] == len(shared)
    assert found["homogeneity"]["success"]["hits"] == sum(users >= 20 for users in shared)
    assert found["homogeneity"]["false_alarms"]["hits"] == 0
    assert mechanism_of(Release(tmp_path / "out")).settings == {"k": 20}


def test_mistakes_are_told(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "released"
    hubbub("release", log_file, *RELEASE, "--out", out)
    assert "homogeneity" in hubbub("attack", out, "--kind", "nothing", code=2).output
    hubbub("attack", tmp_path, "--log", log_file, code=2)
    copytree(out / "public", tmp_path / "copy")
    assert "owner" in hubbub("attack", tmp_path / "copy", "--log", log_file, code=2).output
    (out / "owner-only" / "run.toml").unlink()
    assert "--log LOG is missing" in hubbub("attack", out, code=2).output
    hubbub("attack", out, "--log", log_file, "--format", "aol", "--kind", "active", *FEW)
    with pytest.raises(ParameterError):
        attack(out, log_file, ["nothing"])
