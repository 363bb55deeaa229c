"""Would the audit notice? `python bench/outside.py --out outside.json` puts one fault at a time into the code and asks.

The faults stand in bench/outside/, one file per kind, and were written by somebody who had not read the audit. Each one
makes a stated guarantee false, and says why. For each, the package is copied, one place of the copy is changed, a small
release is made (a fault that stops every release would be found without an audit), and `hubbub audit` runs on the copy:

    caught    the audit refuted something that is stated as proven, and by which checks
    missed    it refuted nothing
    crashed   it came to no end of its own: that is no finding
    slow      it did not end within the limit
    broken    the changed package makes no release; stale: its text is not in the code exactly once. Both must be mended

Finished verdicts are kept in the file of `--out`, for the source they are about, and not computed again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hubbub

FOLDER = Path(__file__).parent / "outside"
PACKAGE = Path(hubbub.__file__).parent
LIMIT = 600.0
SHARED = "shared"
FINISHED, UNUSABLE = ("caught", "missed", "crashed", "slow"), ("stale", "broken")
HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"


class Stale(Exception):
    """The text that a fault replaces is not in the code exactly once, or nothing would change."""


@dataclass(frozen=True)
class Fault:
    """One fault: which text of which file is replaced by which, and why a guarantee is false then."""

    kind: str
    name: str
    audits: tuple[str, ...]
    """What of the audit should see it: mechanisms, or `shared` for what all of them use."""
    file: str
    old: str
    new: str
    why: str

    def applied(self, package: Path) -> str:
        """The changed text of the file."""
        path = package / self.file
        found = path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0
        if found != 1 or self.old == self.new:
            raise Stale(f"{self.file} holds the text {found} times, not once" if found != 1 else "nothing would change")
        return path.read_text(encoding="utf-8").replace(self.old, self.new)


def faults(folder: Path = FOLDER) -> list[Fault]:
    """All of them, by kind."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        for fact in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]:
            found.append(Fault(kind=path.stem, audits=tuple(fact.pop("audits")), **fact))
    return found


# ------------------------------------------------------------------ one fault


def judge(fault: Fault | None, place: Path, quick: bool, limit: float, audits: Iterable[str]) -> dict[str, Any]:
    """What the audit says of a copy of the package with this fault, or with none."""
    copy = place / "package" / "hubbub"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if fault is not None:
        try:
            changed = fault.applied(copy)
        except Stale as error:
            return {"verdict": "stale", "said": str(error)}
        (copy / fault.file).write_text(changed, encoding="utf-8")
    audits = tuple(audits)
    ends = time.monotonic() + limit
    if trouble := _small_release(place, next((m for m in audits if m != SHARED), "korolova"), ends):
        return {"verdict": "broken", "said": trouble}
    return _merged([_audited(place, mechanism, quick, ends) for mechanism in audits])


def _run(place: Path, ends: float, *command: str) -> tuple[int | None, str, str]:
    """Run Python on the copy, with a ledger and a data directory of its own; no exit code: it did not end in time."""
    (place / "data").mkdir(exist_ok=True)
    own = {"PYTHONPATH": str(place / "package"), "PYTHONDONTWRITEBYTECODE": "1", "XDG_DATA_HOME": str(place / "data")}
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=place,
        env=os.environ | own | {"HUBBUB_LEDGER": str(place / "data" / "ledger.sqlite")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=max(1.0, ends - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # it and whatever it started
        process.communicate()
        return None, "", "not within the limit"
    return process.returncode, out, err


def _small_release(place: Path, mechanism: str, ends: float) -> str:
    """Why the copy cannot release a log of 300 users; nothing if it can."""
    code, out, err = _run(place, ends, "-c", "import hubbub; print(hubbub.__file__)")
    if code != 0 or not Path(out.strip()).is_relative_to(place):
        return _last(err) or f"another package was imported: {out.strip()}"
    lines = [HEADER]
    for user in range(300):
        for hour, query in enumerate(("weather", "news", "maps", f"rare {user}")):
            url = f"{1 + hour}\thttp://www.{query}.example" if user % 3 and hour < 3 else "\t"
            lines.append(f"{user}\t{query}\t2006-03-{1 + user % 28:02d} 08:{10 * hour + user % 10:02d}:00\t{url}")
    (place / "log.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "pool.tsv").write_text("query\nweather\nnews\nmaps\nnobody\n", encoding="utf-8")
    budget = ["--epsilon", "2", *(["--pool", "pool.tsv"] if mechanism == "safelog" else ["--delta", "1e-6"])]
    asked = ["release", "log.tsv", "--format", "aol", "--mechanism", mechanism, *budget, "--out", "release", "--quiet"]
    code, _, err = _run(place, ends, "-m", "hubbub", *asked)
    return "" if code == 0 else _last(err) or f"exit code {code}"


def _audited(place: Path, mechanism: str, quick: bool, ends: float) -> dict[str, Any]:
    """The verdict of one run of the audit."""
    asked = ["-m", "hubbub", "audit", "--mechanism", mechanism, "--json", *(["--quick"] if quick else [])]
    code, out, err = _run(place, ends, *asked)
    if code is None:
        return {"verdict": "slow", "said": f"{mechanism}: {err}"}
    try:
        rows: list[Mapping[str, Any]] = json.loads(out)["rows"]
    except (ValueError, KeyError):
        return {"verdict": "crashed", "said": f"{mechanism}: exit code {code}, {_last(err)}"}
    checks = [f"{r['mechanism']}: {r['check']}" for r in rows if (r["verdict"], r["against"]) == ("refuted", "proven")]
    if checks or code == 1:
        return {"verdict": "caught", "checks": checks}
    if code != 0:
        return {"verdict": "crashed", "said": f"{mechanism}: exit code {code}, {_last(err)}"}
    return {"verdict": "missed"}


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Caught once is caught; else what kept one of the runs from its end counts more than what another missed."""
    verdict = min((part["verdict"] for part in parts), key=("caught", "crashed", "slow", "missed").index)
    checks = [check for part in parts for check in part.get("checks", [])]
    said = "; ".join(part["said"] for part in parts if "said" in part)
    return {"verdict": verdict} | ({"checks": checks} if checks else {}) | ({"said": said} if said else {})


def _last(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""


# ------------------------------------------------------------------ all of them


def source() -> str:
    """A hash of the installed package, which verdicts are about."""
    files = sorted(PACKAGE.rglob("*.py"))
    text = "".join(f"{path.relative_to(PACKAGE)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in files)
    return hashlib.sha256(text.encode()).hexdigest()


def totals(verdicts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """How many of each verdict, by kind and in all."""
    found: dict[str, Counter[str]] = {}
    for verdict in verdicts.values():
        for kind in (str(verdict["kind"]), "all"):
            found.setdefault(kind, Counter())[str(verdict["verdict"])] += 1
    return {kind: dict(found[kind]) for kind in sorted(found, key=lambda kind: (kind == "all", kind))}


def table(verdicts: Mapping[str, Mapping[str, Any]]) -> str:
    """Everything as Markdown."""
    lines = ["| fault | kind | audited | verdict | by | s |", "|---|---|---|---|---|--:|"]
    for name, v in verdicts.items():
        checks = v.get("checks", [])
        by = f"{checks[0]}{f' and {len(checks) - 1} more' if checks[1:] else ''}" if checks else v.get("said", "")
        cells = (name, v["kind"], ", ".join(v["audits"]), v["verdict"], by.replace("|", "/"), f"{v['seconds']:.0f}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| kind | faults | caught | missed | other |", "|---|--:|--:|--:|--:|"]
    for kind, count in totals(verdicts).items():
        whole, caught, missed = sum(count.values()), count.get("caught", 0), count.get("missed", 0)
        lines.append(f"| {kind} | {whole} | {caught} | {missed} | {whole - caught - missed} |")
    return "\n".join(lines)


def _kept(out: Path | None, about: Mapping[str, object]) -> dict[str, Any]:
    """Verdicts of an earlier run about the same code."""
    if out is None or not out.exists():
        return {}
    before: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    if all(before.get(key) == value for key, value in about.items()):
        return dict(before["verdicts"])
    print(f"{out} is about other code, or another audit: it is begun anew", file=sys.stderr)
    return {}


def main() -> int:
    """Judge what was asked for; 1 if a fault must be mended, or the audit refutes code without one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="this fault; repeatable")
    parser.add_argument("--kind", action="append", metavar="K", help="faults of this kind; repeatable")
    parser.add_argument("--quick", action=argparse.BooleanOptionalAction, default=True, help="the quick audit")
    parser.add_argument("--control", action="store_true", help="audit the code as it is: nothing may be refuted")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one fault (600)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep verdicts here, and go on from it")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    given = parser.parse_args()
    only, kinds = set(given.only or ()), set(given.kind or ())
    chosen = [f for f in faults() if (not only or f.name in only) and (not kinds or f.kind in kinds)]
    if not chosen:
        parser.error("there is no such fault")
    about = {"source": source(), "quick": given.quick}
    kept = _kept(given.out, about)
    work: list[tuple[str, str, Fault | None, tuple[str, ...]]] = [(f.name, f.kind, f, f.audits) for f in chosen]
    if given.control:
        work = [(f"none: {m}", "control", None, (m,)) for m in sorted({m for f in chosen for m in f.audits})]
    for name, kind, fault, audits in work:
        change = hashlib.sha256(repr(fault).encode()).hexdigest()[:16]
        if kept.get(name, {}).get("verdict") in FINISHED and kept[name]["change"] == change:
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="outside-", ignore_cleanup_errors=True) as place:
            found = judge(fault, Path(place).resolve(), given.quick, given.limit, audits)
        seconds = round(time.monotonic() - started, 1)
        kept[name] = {"kind": kind, "audits": list(audits), "change": change, "seconds": seconds} | found
        print(f"{name}: {found['verdict']}", file=sys.stderr, flush=True)
        if given.out:
            draft = given.out.with_name(f".{given.out.name}")
            draft.write_text(json.dumps(about | {"verdicts": kept}, indent=1, ensure_ascii=False), encoding="utf-8")
            draft.replace(given.out)
    shown = {name: kept[name] for name, *_ in work}
    print(json.dumps(about | {"verdicts": shown, "totals": totals(shown)}, indent=1) if given.json else table(shown))
    bad = (*UNUSABLE, "caught", "crashed", "slow") if given.control else UNUSABLE
    return int(any(v["verdict"] in bad for v in shown.values()))


if __name__ == "__main__":
    sys.exit(main())
