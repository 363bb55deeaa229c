"""What every mechanism has of tables by group: which tables it can divide, and how they are called and offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hubbub.errors import ParameterError
from hubbub.public.groups import Grouping
from hubbub.steps.keys import Keys, base_of, divided, divided_name


class Dividing:
    """A mechanism that may divide some of its tables by declared groups; most divide none."""

    name: ClassVar[str]
    divides: ClassVar[tuple[str, ...]] = ()
    """The tables that it can also release by group."""
    instead: ClassVar[bool] = False
    """Whether a table by group takes the place of the table it divides: (group, key) is then the key."""
    by: tuple[Grouping, ...] = ()

    @property
    def divided(self) -> dict[str, tuple[str, Grouping]]:
        """The tables by group that it can release: what each divides, and how."""
        pairs = [(base, grouping) for grouping in self.by for base in self.divides]
        return {divided_name(base, grouping): (base, grouping) for base, grouping in pairs}

    @property
    def by_time(self) -> bool:
        """Whether a table is divided by the time of its records."""
        return any(not grouping.column for grouping in self.by)

    def divide(self, offers: Mapping[str, Keys], wanted: tuple[str, ...]) -> tuple[dict[str, Keys], tuple[str, ...]]:
        """All that it offers with groups, and what is wanted: tables by group are added, unless they are named."""
        if not self.divides:
            given = "--by " + ", ".join(grouping.name for grouping in self.by)
            raise ParameterError(f"{self.name} releases no tables by group.", given=given, next="leave --by out")
        made = {name: divided(offers[base], grouping) for name, (base, grouping) in self.divided.items()}
        every = {**offers, **made}
        if self.instead:
            return every, self._in_their_place(wanted)
        if any(name in wanted for name in made):
            return every, wanted
        added = tuple(name for name, (base, _) in self.divided.items() if base in wanted)
        if not added:
            raise ParameterError(
                "None of these tables can be divided by group.",
                given=f"--tables {','.join(wanted)}",
                allowed=", ".join(self.divides),
            )
        return every, (*wanted, *added)

    def _in_their_place(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """What is wanted, with (group, key) for the key: of one grouping, since each has noise of its own."""
        if len(self.by) > 1 or any(base_of(table) not in self.divides for table in wanted):
            raise ParameterError(
                f"{self.name} treats (group, key) as the key: one grouping, and only tables that have groups.",
                given=f"--by {', '.join(g.name for g in self.by)} with --tables {','.join(wanted)}",
                allowed=f"one --by, and of {', '.join(self.divides)}",
            )
        return tuple(dict.fromkeys(divided_name(base_of(table), self.by[0]) for table in wanted))
