"""A fault planted in shared code: one function or more of the installed package, replaced while a check looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hubbub.audit.protocols import AuditRow

Change = Callable[[Any], Any]
Planted = tuple[str, Callable[[], Iterable[AuditRow]], Mapping[str, Change]]
"""What a fault is called, the check that must find it, and what is replaced by which function of the original."""


@dataclass(frozen=True)
class Fault:
    """A fault of shared code: what is replaced (module:name) by a function of the original, and who must notice."""

    name: str
    detector: Callable[[], Iterable[AuditRow]]
    changes: Mapping[str, Change]

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The installed code with the fault in it."""
        with ExitStack() as undo:
            for target, change in self.changes.items():
                module, _, path = target.partition(":")
                *owners, name = path.split(".")
                owner = import_module(module)
                for part in owners:
                    owner = getattr(owner, part)
                original = owner.__dict__[name]
                setattr(owner, name, change(original))
                undo.callback(setattr, owner, name, original)
            yield


def replaced(old: str, new: str) -> Change:
    """What users add in a later round of pools, as SQL, says something else."""
    return lambda added: lambda pools, pool: added(pools, pool).replace(old, new)
