"""The faults of bench/outside/ still apply: one that no longer does would count as nothing, in silence."""

from __future__ import annotations

import ast
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import hubbub

ROOT = Path(__file__).parents[3]
OUTSIDE: dict[str, Any] = runpy.run_path(str(ROOT / "bench" / "outside.py"))
FAULTS: list[Any] = OUTSIDE["faults"]()
PACKAGE = Path(hubbub.__file__).parent


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.name))
def test_a_fault_changes_the_code_once(fault: Any) -> None:
    changed = fault.applied(PACKAGE)
    before = (PACKAGE / fault.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(before)), "only words would change"


def test_a_fault_says_what_it_is() -> None:
    from hubbub.mechanisms import Mechanism

    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert fault.why.strip() and fault.audits
        assert set(fault.audits) <= {*Mechanism.registry, "shared"}, fault.name


@pytest.mark.parametrize("old, new", [("nowhere to be found", "x"), ("name", "x"), ("better = min(", "better = min(")])
def test_a_stale_fault_is_refused(old: str, new: str) -> None:
    stale = OUTSIDE["Fault"]("accounting", "made-up", ("geometric",), "privacy/coins.py", old, new, "it would not")
    with pytest.raises(OUTSIDE["Stale"]):
        stale.applied(PACKAGE)


def test_one_catch_is_enough_and_a_crash_is_none() -> None:
    merged = OUTSIDE["_merged"]
    missed, crashed = {"verdict": "missed"}, {"verdict": "crashed", "said": "shared: exit code 3"}
    caught = {"verdict": "caught", "checks": ["korolova: exact law"]}
    assert merged([missed, missed])["verdict"] == "missed"
    assert merged([missed, crashed]) == {"verdict": "crashed", "said": "shared: exit code 3"}
    assert merged([crashed, caught]) == caught | {"said": "shared: exit code 3"}


def test_finished_verdicts_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def judge(fault: Any, place: Path, quick: bool, limit: float, audits: tuple[str, ...]) -> dict[str, Any]:
        asked.append(fault.name)
        assert quick and limit == 600
        verdict = "missed" if len(asked) == 1 else "broken"
        return {"verdict": verdict}

    main, out = OUTSIDE["main"], tmp_path / "outside.json"
    monkeypatch.setitem(main.__globals__, "judge", judge)
    monkeypatch.setattr(sys, "argv", ["outside.py", "--kind", "draws", "--json", "--out", str(out)])
    assert main() == 1, "a fault that makes no release must be mended"
    capsys.readouterr()
    assert main() == 1
    assert asked == ["buffered-bytes", "mirrored-noise", "mirrored-noise"]
    assert json.loads(capsys.readouterr().out)["totals"]["all"] == {"missed": 1, "broken": 1}

    kept = json.loads(out.read_text(encoding="utf-8"))
    out.write_text(json.dumps(kept | {"source": "other code"}), encoding="utf-8")
    main()
    assert asked[3:] == ["buffered-bytes", "mirrored-noise"]


def test_only_what_is_proven_can_be_refuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audited = OUTSIDE["_audited"]
    row = {"mechanism": "korolova", "check": "exact law", "against": "proven", "verdict": "refuted"}
    for rows, code, verdict in (
        ([row], 1, "caught"),
        ([row | {"against": "claimed"}], 0, "missed"),
        ([row | {"verdict": "not refuted"}], 0, "missed"),
        ([], 3, "crashed"),
        (None, 1, "crashed"),
    ):
        printed = "Traceback" if rows is None else json.dumps({"rows": rows})
        monkeypatch.setitem(audited.__globals__, "_run", lambda *_, code=code, printed=printed: (code, printed, "why"))
        assert audited(tmp_path, "korolova", True, 0.0)["verdict"] == verdict
