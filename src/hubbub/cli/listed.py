"""What is installed, by name: in help texts and as completions in a shell. Nothing is imported to list it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from copy import copy
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from typer.core import TyperCommand

from hubbub.cli.names import NAMES
from hubbub.deprecated import OPTIONS, current

REGISTRIES = {
    "attacks": "hubbub.worth.attacks:ATTACKS",
    "engines": "hubbub.engines:ENGINES",
    "exports": "hubbub.show.export:formats",
    "formats": "hubbub.ingest:formats",
    "mechanisms": "hubbub.mechanisms:mechanisms",
    "not_private": "hubbub.mechanisms:not_private",
    "private": "hubbub.mechanisms:private",
    "rules": "hubbub.public.screening:RULES",
    "presets": "hubbub.synth:PRESETS",
    "vocabularies": "hubbub.synth:VOCABULARIES",
    "tasks": "hubbub.worth.tasks:tasks",
}


def installed(kind: str) -> str:
    """The names of everything there is of a kind. Help must be quick: what is written down is not imported for it."""
    module, _, name = REGISTRIES[kind].partition(":")
    if module not in sys.modules and not any(group.startswith("hubbub.") for group in entry_points().groups):
        return ", ".join(NAMES[kind])
    registry = getattr(import_module(module), name)
    return ", ".join(registry() if callable(registry) else registry)


def completing(kind: str) -> Callable[[str], list[str]]:
    """For an option that takes a name of this kind, or several with commas: what a shell offers to complete."""

    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in installed(kind).split(", ") if name.startswith(begun)]

    return complete


def _current(word: str) -> str:
    """An option as it is called now; anything else as it is."""
    if not word.startswith("--"):
        return word
    option, equals, value = word.removeprefix("--").partition("=")
    name = option.replace("-", "_")
    now = current(OPTIONS, name)
    return word if now == name else f"--{now.replace('_', '-')}{equals}{value}"


class Listed(TyperCommand):
    """A command in whose help `{mechanisms}` and the like stand for the names that are installed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Former names of options are understood, with a warning."""
        return super().parse_args(ctx, [_current(word) for word in args])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Fill in the names, and show it."""
        filled = copy(self)
        filled.params = [copy(option) for option in self.params]
        for option in filled.params:
            help = getattr(option, "help", None) or ""
            option.help = re.sub(r"\{(\w+)\}", lambda found: installed(found[1]), help)  # type: ignore[attr-defined]
        super(Listed, filled).format_help(ctx, formatter)
