"""Names that changed: the former one works for at least one more minor version, and warns (docs/versions.md).

Whoever renames something adds a line here and in CHANGELOG.md under Deprecated, and takes both out in the version that
`gone` names.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass


class FormerNameWarning(FutureWarning):
    """A former name was used; shown to everybody, since users of a command read no DeprecationWarning."""


@dataclass(frozen=True)
class Former:
    """What a former name is called now."""

    now: str
    since: str
    """The version in which it began to warn."""
    gone: str
    """The version that will not know it any more."""


NAMES: dict[str, Former] = {}
"""Public names of Python: `hubbub.NAME`."""
OPTIONS: dict[str, Former] = {}
"""Options of the command line and of configuration files, as files spell them: `max_rejects`."""


def current(known: Mapping[str, Former], name: str, *, stacklevel: int = 3) -> str:
    """What this name is called now; a warning, if that is something else."""
    former = known.get(name)
    if former is None:
        return name
    told = f"{name} is now called {former.now}; hubbub {former.gone} will not know the former name"
    warnings.warn(told, FormerNameWarning, stacklevel=stacklevel)
    return former.now
