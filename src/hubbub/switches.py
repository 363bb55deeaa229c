"""Sizes at which the code takes another path: registered where they are defined, lowered by audits.

A path that only large logs take is one that no small test ever sees: a second thread, a block, a heap on disk. So the
size at which it begins is a constant made by `switch`, and an audit lowers it (`lowered`) until a handful of rows takes
that path. Code reads such a constant when it runs and never imports it by name; tests/unit/test_switches.py looks for
sizes that were not registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pkgutil import walk_packages
from typing import TypeVar

Size = TypeVar("Size", int, float)
PACKAGES = ("noise", "steps", "mechanisms", "engines", "ingest")


class Beyond(StrEnum):
    """What may differ between the two sides of a switch."""

    NOTHING = "nothing: every byte of a release is the same, under the same noise"
    DRAWS = "which numbers are drawn, not their law"
    AMOUNT = "how much is made of what was released already"


@dataclass(frozen=True)
class Switch:
    """A size at which the code takes another path, and the low size that audits set so that small logs take it."""

    module: str
    name: str
    usual: float
    low: float
    beyond: Beyond


SWITCHES: dict[str, Switch] = {}
"""By `module:name`; modules register theirs when they are imported."""


def switch(module: str, name: str, usual: Size, low: Size, beyond: Beyond = Beyond.NOTHING) -> Size:
    """The usual size; audits may set the constant `name` of `module` to the low one."""
    SWITCHES[f"{module}:{name}"] = Switch(module, name, usual, low, beyond)
    return usual


def switches() -> dict[str, Switch]:
    """Every switch of the package; imports all modules that may register one, except those of Spark."""
    for package in PACKAGES:
        found = import_module(f"hubbub.{package}")
        for module in walk_packages(found.__path__, f"hubbub.{package}."):
            if ".spark" not in module.name:
                import_module(module.name)
    return dict(SWITCHES)


@contextmanager
def lowered(which: Callable[[Switch], bool] = lambda _: True) -> Iterator[tuple[Switch, ...]]:
    """Set the chosen switches to their low sizes for a while, and back afterwards."""
    chosen = tuple(each for each in switches().values() if which(each))
    with ExitStack() as undo:
        for each in chosen:
            module = import_module(each.module)
            undo.callback(setattr, module, each.name, getattr(module, each.name))
            setattr(module, each.name, each.low)
        yield chosen
