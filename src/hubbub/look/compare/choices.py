"""What is compared: mechanisms and their parameters, from what was asked for; nothing here reads a log.

By default every registered mechanism that proves something at the common (ε, δ), calibrated to it; where one cannot
run, the reason stays. A sweep changes one parameter at a time around these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from hubbub.errors import ParameterError, UserError
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.public.lists import QueryPool
from hubbub.public.lists import read_pool as _read_pool

BUDGET = ("epsilon", "delta")


@lru_cache(maxsize=1)
def read_pool(path: str) -> QueryPool:
    """The pool, read once."""
    return _read_pool(path)


@dataclass(frozen=True)
class Candidate:
    """One row of a comparison: a mechanism, its variant and parameters; or why it cannot run."""

    mechanism: str
    variant: str
    given: dict[str, str] = field(default_factory=dict)
    """Parameters as they are given to it: exact, so that another process builds the same."""
    own: dict[str, str] = field(default_factory=dict)
    """Those of them that set it apart from the others."""
    at: dict[str, str] = field(default_factory=dict)
    """Its place on each sweep."""
    tables: tuple[str, ...] = ()
    """What it releases; none named: what it releases by itself."""
    pool: str | None = None
    reason: str = ""
    """Why it cannot run; empty if it can."""

    @property
    def label(self) -> str:
        """Its name in tables and charts."""
        name = self.mechanism + (f":{self.variant}" if self.variant else "")
        own = ", ".join(f"{k}={v}" for k, v in self.own.items())
        return f"{name}({own})" if own else name

    def build(self) -> Mechanism:
        """The mechanism itself."""
        context: dict[str, Any] = {"variant": self.variant or None, "tables": list(self.tables) or None}
        if self.pool is not None:
            context["pool"] = read_pool(self.pool)
        return build(self.mechanism, self.given, **context)


@dataclass(frozen=True)
class Sweep:
    """One parameter through several values, of one mechanism or of all that have it."""

    parameter: str
    values: tuple[str, ...]
    mechanism: str | None = None

    @property
    def name(self) -> str:
        """As it was asked for."""
        return self.parameter if self.mechanism is None else f"{self.mechanism}.{self.parameter}"

    @staticmethod
    def read(text: str) -> Sweep:
        """From `m=1,2,5` or `zealous.m=1,2,5`."""
        name, _, values = text.partition("=")
        mechanism, dot, parameter = name.strip().rpartition(".")
        listed = tuple(dict.fromkeys(v.strip() for v in values.split(",") if v.strip()))
        if not parameter or not listed or bool(dot) != bool(mechanism):
            allowed = "name=v1,v2,… or mechanism.name=v1,v2,…, e.g. epsilon=0.5,1,2 or zealous.m=1,2,5"
            raise ParameterError("--sweep cannot be read.", given=text, allowed=allowed)
        return Sweep(parameter, listed, mechanism or None)

    def of(self, mechanism: str) -> bool:
        """Whether this mechanism is swept."""
        named = self.mechanism is None or self.mechanism == mechanism
        return named and self.parameter in declared(mechanism)


def declared(mechanism: str) -> list[str]:
    """The names of a mechanism's parameters."""
    return [p.name for p in mechanisms()[mechanism].parameters]


def choose(
    names: Sequence[str] | None,
    settings: Mapping[str, str],
    sweeps: Sequence[Sweep] = (),
    pool: str | Path | None = None,
    tables: Sequence[str] | None = None,
    usual: Sequence[str] = (),
) -> list[Candidate]:
    """Every row, mechanism by mechanism: as it is, then along its sweeps. Refuses what no mechanism could mean.

    `settings` are common (`epsilon`, `d`: every mechanism that has it), one mechanism's (`zealous.m`) or one variant's
    (`zealous:published.U`). Every mechanism releases the same `tables`, or does not run. Where none are named, those
    that have the `usual` ones release these.
    """
    _refuse_unknown_tables(tables or ())
    asked = [_named(name) for name in dict.fromkeys(names or mechanisms())]
    listed = list(dict.fromkeys(name for base in asked for name in (base.mechanism, base.label)))
    _refuse_unknown([name for name in (*settings, *(s.name for s in sweeps)) if name not in BUDGET], listed)
    rows: list[Candidate] = []
    for base in asked:
        if mechanisms()[base.mechanism].takes_pool and pool is not None:
            base = replace(base, pool=str(Path(pool).absolute()))
        base = replace(base, tables=tuple(tables or (table for table in usual if _offers(base, table))))
        found = list(_rows(base, settings, sweeps))
        if names or any(_may_prove(row) for row in found):
            rows += found  # what proves nothing is compared where it is named
    for sweep in sweeps:
        _refuse_impossible([row for row in rows if sweep.name in row.at and sweep.parameter in row.own])
    if names:
        _refuse_impossible(rows)
    once: dict[str, Candidate] = {}
    for row in rows:  # `m=2` and `zealous.m=2` are one row on two sweeps
        once[row.label] = replace(row, at=once[row.label].at | row.at) if row.label in once else row
    return list(once.values())


def _rows(base: Candidate, settings: Mapping[str, str], sweeps: Sequence[Sweep]) -> Iterator[Candidate]:
    name, known = base.mechanism, declared(base.mechanism)
    common = {k: v for k, v in settings.items() if k in known}
    own = {k: v for k, v in common.items() if k not in BUDGET}
    for prefix in (f"{name}.", f"{base.label}."):
        own |= {k.removeprefix(prefix): v for k, v in settings.items() if k.startswith(prefix)}
    budget = {k: v for k, v in common.items() if k in BUDGET}
    mine = [sweep for sweep in sweeps if sweep.of(name)]
    swept = {sweep.parameter for sweep in mine}
    missing = {k for k in BUDGET if k in known and k not in budget | own}
    if missing - swept and not own:
        lacks = " and ".join(f"--{k}" for k in sorted(missing))
        raise ParameterError(f"{lacks} is missing: {name} is calibrated to a budget.", next="see hubbub compare --help")
    at: dict[str, str] = {}
    if not missing & swept:
        row = fitted(base, budget, own)
        if not row.reason:
            resolved = {k: str(v) for k, v in row.build().settings.items()} | row.given
            at = {s.name: resolved[s.parameter] for s in mine if s.parameter in resolved}
        yield replace(row, at=at)
    for sweep in mine:
        for value in sweep.values:
            if sweep.name not in at or not _same(name, sweep.parameter, value, at[sweep.name]):
                yield replace(fitted(base, budget, own, {sweep.parameter: value}), at={sweep.name: value})


def fitted(
    base: Candidate, budget: dict[str, str], own: dict[str, str], swept: dict[str, str] | None = None
) -> Candidate:
    """Parameters that the mechanism accepts: beside (ε, δ), or, where they are raw, instead of it.

    A raw parameter (a threshold, a scale) leaves the others as calibrated; what that proves is the row's own (ε, δ).
    """
    swept = swept or {}
    if lacks := [table for table in base.tables if not _offers(base, table)]:
        return replace(base, own=own | swept, reason=f"It releases no {' and no '.join(lacks)}.")
    budget = budget | {k: v for k, v in swept.items() if k in BUDGET}
    mine = own | {k: v for k, v in swept.items() if k not in BUDGET}
    row = replace(base, given=budget | mine, own=own | swept)
    try:
        row.build()
    except UserError as error:
        if not mine:
            return replace(row, reason=in_words(error))
        try:
            calibrated = replace(base, given=budget).build().settings
            raw = replace(row, given={k: str(v) for k, v in calibrated.items() if k not in BUDGET} | mine)
            raw.build()
            return raw
        except UserError:
            return replace(row, reason=in_words(error))
    return row


def _offers(row: Candidate, table: str) -> bool:
    return table in mechanisms()[row.mechanism].offers


def _may_prove(row: Candidate) -> bool:
    """Whether it proves something; what cannot be made at all is shown with its reason."""
    try:
        return replace(row, tables=()).build().proven().private
    except UserError:
        return True


def in_words(error: UserError) -> str:
    """An error in one line."""
    return error.what + (f" Next: {error.next}." if error.next else "")


def _named(text: str) -> Candidate:
    """`zealous`, or `zealous:published`."""
    name, _, variant = text.partition(":")
    variants = Mechanism.registry.named(name).variants
    if variant and variant not in variants:
        raise ParameterError(f"{name} has no such variant.", given=variant, allowed=", ".join(variants))
    return Candidate(name, "" if variant == variants[0] else variant)


def _same(mechanism: str, parameter: str, one: str, other: str) -> bool:
    """Whether two texts are one value."""
    kind = next(p for p in mechanisms()[mechanism].parameters if p.name == parameter)
    try:
        return kind.parse(one) == kind.parse(other)
    except ParameterError:
        return False


def _refuse_unknown_tables(tables: Sequence[str]) -> None:
    """A table that no mechanism releases is a mistake."""
    known = dict.fromkeys(table for kind in mechanisms().values() for table in kind.offers)
    for table in tables:
        if table not in known:
            raise ParameterError("No mechanism releases this table.", given=table, allowed=", ".join(known))


def _refuse_unknown(names: Sequence[str], listed: Sequence[str]) -> None:
    """A parameter that none of the mechanisms has is a mistake."""
    for name in names:
        mechanism, _, parameter = name.rpartition(".")
        if mechanism and mechanism not in listed:
            raise ParameterError("This mechanism is not compared.", given=name, allowed=", ".join(listed))
        having = [mechanism] if mechanism else listed
        known = dict.fromkeys(p for m in having for p in declared(m.partition(":")[0]))
        if parameter not in known:
            allowed = ", ".join(known)
            raise ParameterError("None of the mechanisms has this parameter.", given=name, allowed=allowed)


def _refuse_impossible(rows: Sequence[Candidate]) -> None:
    """Where everything that was asked for is refused, the asking is the mistake."""
    if rows and all(row.reason for row in rows):
        given = ", ".join(row.label for row in rows)
        raise ParameterError(f"Nothing of this can run. {rows[0].reason}", given=given)
