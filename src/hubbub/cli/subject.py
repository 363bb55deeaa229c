"""`hubbub audit --subject module:function`: somebody's mechanism, attacked from outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed, ParameterError

if TYPE_CHECKING:
    from hubbub.audit.blackbox.look import BlackBoxVerdict
    from hubbub.cli.terminal import Terminal


def audit_subject(
    subject: str,
    epsilon: str,
    delta: str,
    settings: Sequence[str],
    neighbours: str,
    seconds: float,
    runs: int | None,
    limit: float,
    workers: int,
    timing: bool,
    python: str,
    out: Path | None,
    *,
    terminal: Terminal,
) -> None:
    """Look at every combination of what was given, and say what was found."""
    from hubbub.audit.blackbox.campaign import black_box
    from hubbub.audit.blackbox.look import NOT_REFUTED

    found = black_box(
        subject,
        epsilon=_numbers("epsilon", epsilon),
        delta=_numbers("delta", delta),
        settings=dict(_setting(given) for given in settings),
        neighbours=neighbours,
        seconds=seconds,
        runs=runs,
        limit=limit,
        workers=workers,
        timing=timing,
        python=python,
        out=out,
        say=terminal.note,
    )
    for verdict in found:
        terminal.say_all(told(verdict))
    terminal.document({"rows": [verdict.record() for verdict in found]})
    refuted = [verdict for verdict in found if verdict.refuted]
    alpha = sum(verdict.alpha for verdict in found)
    terminal.say(
        f"{len(found)} setting{'s' * (len(found) != 1)}, {len(refuted)} refuted; by accident with probability at most "
        f"{alpha:.1g}. Not refuted is not proven."
    )
    if refuted:
        raise CheckFailed(f"The claim of {subject} was refuted.")
    if unfit := [verdict.verdict for verdict in found if verdict.verdict != NOT_REFUTED]:
        raise CheckFailed(f"{subject} could not be audited at {len(unfit)} of {len(found)} settings: it {unfit[0]}.")


def told(verdict: BlackBoxVerdict) -> list[str]:
    """One verdict in words: what was claimed, what was seen, and how to see it again."""
    said = ", ".join(f"{name}={value}" for name, value in verdict.settings.items())
    claim = f"ε = {verdict.epsilon:g}, δ = {verdict.delta:g}" + (f", {said}" if said else "")
    lines = [f"{verdict.verdict.upper() if verdict.refuted else verdict.verdict}: {claim}", f"  {verdict.seen}"]
    if verdict.refuted:
        lines += [f"  one log:   {verdict.with_her}", f"  the other: {verdict.without}"]
    if verdict.script:
        lines += ["  Again:", *(f"    {line}" for line in verdict.script.splitlines())]
    return lines


def _numbers(name: str, given: str) -> list[float] | None:
    if not given:
        return None
    try:
        return [float(number) for number in given.split(",")]
    except ValueError as error:
        raise ParameterError(f"--{name} is no number.", given=given, allowed="such as 1, or 0.5,1,2") from error


def _setting(given: str) -> tuple[str, list[object]]:
    name, equals, values = given.partition("=")
    if not name or not equals:
        raise ParameterError("A setting has a name and a value.", given=given, allowed="--set NAME=VALUE")
    return name, [_value(value) for value in values.split(",")]


def _value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
