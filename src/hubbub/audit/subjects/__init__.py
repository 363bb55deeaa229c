"""All that an audit has to know of a mechanism, declared in one file per mechanism.

A mechanism that declares nothing gets the generic checks (`checks/generic.py`). A package of somebody else's declares
its own with `declare`, in the module in which its mechanism is, or announces the plan as an entry point of the group
`hubbub.audit`. Everything in a plan is made when an audit asks for it, so that declaring costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub.plugins import Registry

if TYPE_CHECKING:
    from hubbub.audit.mutants import Mutant
    from hubbub.audit.protocols import AuditRow, Effort, Event, Neighbouring, Subject
    from hubbub.mechanisms import Mechanism


@dataclass(frozen=True)
class Replaced:
    """How replace neighbours are looked at: one user's records exchanged for others."""

    small: Callable[[], Sequence[Mechanism]]
    """Settings at which a violation would show."""
    calibrated: Callable[[], Sequence[Mechanism]]
    """Asked for by (ε, δ): what is asked for must be what is stated."""
    behaviours: Callable[[Mechanism], tuple[tuple[Event, ...], tuple[Event, ...]]] | None = None
    """What she does in one log and in the other, as much as she may; by default, other keys."""


@dataclass(frozen=True)
class AuditPlan:
    """How one mechanism is audited. Only the first two fields are needed."""

    name: str
    """The mechanism's."""
    small: Callable[[], Sequence[Mechanism]]
    """Settings of every variant at which a violation would show: δ near 0.01, one or two keys of a user."""
    used: Callable[[], Sequence[Mechanism]] = tuple
    """Settings that people release with: certificates are recomputed there, and every draw is watched."""
    runs_as: Callable[[Mechanism], Mechanism] | None = None
    """What draws its noise, where that is not the mechanism itself."""
    pairs: Neighbouring | None = None
    """Neighbouring logs that are bad for it; by default those that are bad for any threshold."""
    greed: Neighbouring | None = None
    """A user who takes more than she may, beside others; by default one of too many keys, and one who repeats one."""
    tests: Callable[[Subject, Effort], Iterator[AuditRow]] | None = None
    """Every check of one subject; by default those that follow from what the mechanism is (`checks/standard.py`)."""
    besides: tuple[Callable[[], Iterable[AuditRow]], ...] = ()
    """Checks that bring settings of their own."""
    replaced: Replaced | None = None
    """Where replace neighbours are offered."""
    mutants: Callable[[], Sequence[Mutant]] = tuple
    """Broken versions, each of which some check must catch."""


PLANS: Registry[AuditPlan] = Registry("audit plan", "hubbub.audit", __name__, AuditPlan)


def declare(plan: AuditPlan) -> AuditPlan:
    """Make a plan known under the name of its mechanism."""
    PLANS.add(plan)
    return plan
