"""Tables of what the black box found: of other people's mechanisms (docs/data/zoo.json), and of hubbub's own."""

from __future__ import annotations

import json
from typing import Any

from tests.docs.blocks import ROOT

REFUTED, SOUND = "refuted", ""


def _found(name: str) -> Any:
    return json.loads((ROOT / "docs" / "data" / name).read_text(encoding="utf-8"))


def zoo(_: str) -> str:
    """One row for each setting of each rival: what it claims, what became of the claim, and how strong the test was."""
    rows = ["| whose | setting | claimed | verdict | what was seen |", "|---|---|---|---|---|"]
    for row in _found("zoo.json"):
        first, *again = row["verdicts"]
        said = ", ".join(f"{name} = {value}" for name, value in first["settings"].items()) or "none"
        verdict = first["verdict"]
        seen = first["seen"].replace("\n", " ").replace("|", "\\|")
        if verdict == REFUTED:
            both = all(other["verdict"] == REFUTED for other in again) and bool(again)
            verdict = "**refuted**, twice" if both else "refuted once: not confirmed"
            seen += "".join(f"; again: {other['rates'][0]:.1%} and {other['rates'][1]:.1%}" for other in again)
        elif first["power"]:
            seen = f"{first['runs']:,} runs; an event of {first['power']:.0%} that needs her would have been seen"
        claimed = f"ε = {first['epsilon']:.3g}, δ = {first['delta']:.3g}"
        rows.append(f"| {row['rival']} ({row['version']}) | {said} | {claimed} | {verdict} | {seen} |")
    return "\n".join(rows) + "\n"


def ours(_: str) -> str:
    """By mechanism: sound settings that were refuted (none may be), broken versions, and which of them were caught."""
    rows = [
        "| mechanism | sound settings, refuted | broken versions | caught by the black box | not seen by it, and why |",
        "|---|---|---|---|---|",
    ]
    found = _found("blackbox.json")
    for name, of in found["mechanisms"].items():
        missed = [mutant for mutant, caught in of["mutants"].items() if not caught]
        known = {mutant: f"it ended as: {said}" for mutant, said in of["unsettled"].items()} | found["why"]
        why = "; ".join(f"{mutant} ({known.get(mutant, 'not found in so many runs')})" for mutant in missed)
        share = f"{len(of['mutants']) - len(missed)} of {len(of['mutants'])}"
        rows.append(f"| {name} | {of['sound']}, {of['refuted']} | {len(of['mutants'])} | {share} | {why or 'none'} |")
    return "\n".join(rows) + "\n"
