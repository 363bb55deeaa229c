"""Many settings of a subject, several at a time; what was found is kept line by line, and a campaign is resumed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hubbub.audit.blackbox.look import ALPHA, BlackBoxVerdict, look
from hubbub.audit.blackbox.runs import SLOWEST_IMPORT, SubjectProcess, Unfit, load
from hubbub.errors import InputError, ParameterError

NEIGHBOURS = ("add-remove", "replace")


def black_box(
    subject: str,
    *,
    epsilon: float | Sequence[float] | None = None,
    delta: float | Sequence[float] | None = None,
    settings: Mapping[str, Any] | None = None,
    neighbours: str = "add-remove",
    seconds: float = 60.0,
    limit: float = 10.0,
    workers: int = 1,
    alpha: float = ALPHA,
    seed: int = 1,
    timing: bool = False,
    runs: int | None = None,
    python: str = "",
    out: str | Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[BlackBoxVerdict]:
    """Try to refute what `module:function` claims, at every combination of the settings; a list stands for its members.

    The function gets a dict of users and their keys, and those of `epsilon`, `delta` and the settings that it takes by
    name; it returns released keys, with counts or without. Where ε or δ is not given, the function's own attribute
    `claims`, called with the settings, says both. `seconds` (or so many `runs`) are for each setting, `limit` is for
    each run; with `timing`, how long a run takes counts as part of its output. With `python`, the subject runs under
    that Python, which needs nothing of hubbub's. All settings together are refuted by accident with probability at
    most `alpha`. With `out`, each verdict is kept there as a line of JSON, and settings that stand there are not
    looked at again.
    """
    if neighbours not in NEIGHBOURS:
        raise ParameterError("There are no such neighbours.", given=neighbours, allowed=" or ".join(NEIGHBOURS))
    if not 0 < seconds < 1e6 or limit <= 0 or workers < 1 or not 0 < alpha < 1:
        raise ParameterError(
            "Times and workers are above 0, alpha is between 0 and 1.", given=f"{seconds}, {limit}, {workers}, {alpha}"
        )
    asked = list(combinations(settings or {}, epsilon, delta, subject, python))
    path = None if out is None else Path(out)
    known = {} if path is None or not path.exists() else dict(_kept(path))
    todo = [one for one in asked if _key(subject, *one, neighbours) not in known]
    if len(todo) < len(asked):
        say(f"{len(asked) - len(todo)} of {len(asked)} settings were looked at before")

    share = alpha / max(len(asked), 1)  # of all that were asked: what is left of a campaign has no more than its own

    def one(asked: tuple[dict[str, Any], float, float]) -> BlackBoxVerdict:
        chosen, e, d = asked
        found = look(subject, e, d, chosen, neighbours=neighbours, seconds=seconds, limit=limit,
                     alpha=share, seed=seed, timing=timing, runs=runs, python=python)  # fmt: skip
        say(f"{found.verdict}: ε = {e:g}, δ = {d:g} {chosen or ''}")
        return found

    with ThreadPoolExecutor(workers) as pool:
        for found in pool.map(one, todo):
            known[_key(subject, found.settings, found.epsilon, found.delta, neighbours)] = found
            if path is not None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found.record(), ensure_ascii=False) + "\n")
    return [known[_key(subject, *one, neighbours)] for one in asked]


def combinations(
    settings: Mapping[str, Any],
    epsilon: float | Sequence[float] | None,
    delta: float | Sequence[float] | None,
    subject: str,
    python: str = "",
) -> Iterable[tuple[dict[str, Any], float, float]]:
    """Every combination of settings with the ε and δ that are claimed there."""
    for values in itertools.product(*(_several(value) for value in settings.values())):
        chosen = dict(zip(settings, values, strict=True))
        if epsilon is not None and delta is not None:
            pairs = list(itertools.product(_several(epsilon), _several(delta)))
        else:
            stated = _claims(subject, chosen, python)
            if stated is None:
                raise ParameterError(
                    "It is not said what the subject claims.",
                    given=f"epsilon {epsilon}, delta {delta}",
                    next="state ε and δ, or give the function an attribute `claims` that returns them for its settings",
                )
            pairs = [stated]
        for e, d in pairs:
            if not (0 <= float(e) < float("inf") and 0 <= float(d) < 1):
                raise ParameterError(
                    "No mechanism is refuted at these numbers.",
                    given=f"ε = {e}, δ = {d}",
                    allowed="ε from 0, δ from 0 and below 1",
                )
            yield chosen, float(e), float(d)


def _claims(subject: str, chosen: dict[str, Any], python: str) -> tuple[float, float] | None:
    """What the subject itself says that it claims at these settings."""
    if python:
        try:
            with SubjectProcess(subject, chosen, SLOWEST_IMPORT, python) as process:
                return process.claims(chosen)
        except Unfit as unfit:
            raise InputError("The subject cannot be asked what it claims.", given=f"{subject}: {unfit.seen}") from unfit
    claims = getattr(load(subject), "claims", None)
    return None if claims is None else claims(**chosen)


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _key(subject: str, settings: Mapping[str, Any], epsilon: float, delta: float, neighbours: str) -> str:
    return json.dumps([subject, dict(settings), epsilon, delta, neighbours], sort_keys=True, default=str)


def _kept(path: Path) -> Iterable[tuple[str, BlackBoxVerdict]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found = BlackBoxVerdict(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise InputError(
                "A line of the campaign cannot be read.",
                given=f"{path}, line {number}: {error}",
                next="remove the line, or begin another file",
            ) from error
        yield _key(found.subject, found.settings, found.epsilon, found.delta, found.neighbours), found
