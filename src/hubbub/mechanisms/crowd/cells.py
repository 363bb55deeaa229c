"""How many users each cell may be expected to have, from what was released, and what follows: its level and its weight.

A cell of a key that many ask, in a group where many are, is worth a lower level and more of its users' weight than one
in which hardly anybody can be. Expected users of a cell are the released users of its key times the group's part of
everybody, by a histogram of the groups with noise of its own. Cells fall into classes by them, in units of the noise;
a class says how its cells share F and how they weigh beside a user's other cells. All of it is a function of the past
and of constants, so it costs no more than the histogram does (docs/proofs/groups.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.errors import ParameterError
from hubbub.mechanisms.crowd.chain import CodedDomain
from hubbub.mechanisms.rounds import WIDEST_NOISE, Selection
from hubbub.noise import NoiseSource
from hubbub.steps.counts import Integers
from hubbub.steps.keys import Keys
from hubbub.steps.weights import LISTED, UNMARKED

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.public.groups import Grouping

SIZES_BITS = 10
"""A user's share of the group sizes is in steps of 2^-10, unless the noise would be too wide for the sampler."""
MOST = 1 << 62


@dataclass(frozen=True)
class CellClass:
    """Cells of about as many expected users, from so many deviations of the noise on."""

    above: int
    part: int
    """Of F for each cell, beside cells of other classes."""
    amplitude: int
    """Of a user's weight for each cell, beside her cells of other classes."""


CLASSES = (
    CellClass(0, 1, 32),
    CellClass(1, 12, 54),
    CellClass(2, 57, 152),
    CellClass(4, 100, 256),
    CellClass(8, 85, 181),
    CellClass(16, 37, 90),
    CellClass(32, 10, 45),
)
"""By the rule of weighted tests: levels are low where they decide most. Read off made-up logs; any would be private."""


@dataclass(frozen=True)
class GroupSizes:
    """The histogram of groups: each user is 1 in all, shared by the groups that she is in as her records are."""

    name: str
    mu2: Fraction
    bits: int = SIZES_BITS

    @staticmethod
    def of(name: str, mu2: Fraction) -> GroupSizes:
        """With a grid as fine as the sampler serves."""
        for bits in range(SIZES_BITS, -1, -1):
            sizes = GroupSizes(name, mu2, bits)
            if 2 * sizes.variance < WIDEST_NOISE:
                return sizes
        raise ParameterError("This ε needs more noise than the sampler serves.", next="raise epsilon or delta")

    @property
    def variance(self) -> int:
        """S = ⌈4^k/μ²⌉ + 4."""
        return math.ceil(Fraction(4**self.bits) / self.mu2) + 4

    def perturb(self, sums: Integers, noise: NoiseSource) -> Integers:
        """Every declared group, whether or not anybody is in it, with noise."""
        return sums + noise.gaussian(self.name, self.variance, sums.size)


@dataclass(frozen=True)
class ExpectedCells:
    """All cells of a table by group, in classes: a function of released keys, their users and noisy group sizes."""

    base: Keys
    grouping: Grouping
    keys: pa.Table
    """The text of the released keys."""
    users: Integers
    """Their released users; all 0 where the table has no numbers: then all cells are of the lowest class."""
    sizes: Integers
    plan: Selection

    at_once = True
    """A prior of the first round, too: there is no cell whose appearance would need the weights of a user alone."""

    @cached_property
    def cuts(self) -> Integers:
        """For each group, the users of a key from which on its cell is of the second class, of the third, …"""
        sizes = [max(1, int(n)) for n in self.sizes]
        deviation, unit, whole = math.isqrt(self.plan.gathered[-1]), self.plan.means[-1], sum(sizes)
        rows = [[min(MOST, -(-one.above * deviation * whole // (unit * n))) for one in CLASSES[1:]] for n in sizes]
        return np.array(rows, np.int64)

    @cached_property
    def order(self) -> Integers:
        """Places of the keys, those of most users last."""
        return np.argsort(self.users, kind="stable")

    @cached_property
    def ends(self) -> Integers:
        """For each group, how many of the keys in order are below each class, and all of them at the end."""
        below = np.searchsorted(self.users[self.order], self.cuts.ravel()).reshape(self.cuts.shape)
        groups = self.cuts.shape[0]
        return np.column_stack([np.zeros(groups, np.int64), below, np.full(groups, self.users.size)])

    def classes(self, places: Integers, groups: Integers) -> Integers:
        """The class of cells, by the places of their keys and of their groups."""
        found: Integers = (self.users[places][:, None] >= self.cuts[groups]).sum(axis=1)
        return found

    def domains(self, false: Fraction) -> list[tuple[CodedDomain, Fraction]]:
        """Every class as a domain of its own, with its part of F, an empty one as if of one cell; all parts are F."""
        counts = np.diff(self.ends, axis=1).sum(axis=0).tolist()
        parts = [max(1, n) * one.part for n, one in zip(counts, CLASSES, strict=True)]
        shares = [false * part / sum(parts) for part in parts]
        return [(self._domain(number, n), share) for number, (n, share) in enumerate(zip(counts, shares, strict=True))]

    def _domain(self, number: int, size: int) -> CodedDomain:
        names = pa.array(self.grouping.groups, pa.string())
        first = np.cumsum(self.ends[:, number + 1] - self.ends[:, number])

        def rows(codes: Integers) -> pa.Table:
            group = np.searchsorted(first, codes, side="right")
            within = codes - np.concatenate([[0], first])[group]
            places = self.order[self.ends[group, number] + within]
            return self.keys.take(pa.array(places)).add_column(0, self.grouping.name, names.take(pa.array(group)))

        called = "absent keys" if number == 0 else f"absent keys of class {number + 1}"
        return CodedDomain(size, rows, self._table("marks"), mark_of(number), called)

    # ------------------------------------------------------------------ as SQL: marks and weights

    def register(self, engine: Engine) -> None:
        """Put keys, groups and the class of every cell into the engine."""
        columns = {cut_of(number): cut for number, cut in enumerate(self.cuts.T, start=1)}
        groups = pa.table({self.grouping.name: pa.array(self.grouping.groups, pa.string()), **columns})
        engine.register(self._table("groups"), groups)
        engine.register(self._table("keys"), self.keys.append_column("users", pa.array(self.users)))
        named = f"c.{self.grouping.name} AS {self.grouping.name}, "
        named += ", ".join(f"k.{column} AS {column}" for column in self.base.columns)
        mark = _by_class([mark_of(number) for number in range(len(CLASSES))])
        every = f"{self._table('keys')} AS k CROSS JOIN {self._table('groups')} AS c"
        engine.view(self._table("marks"), f"SELECT {named}, CAST({mark} AS BIGINT) AS mark FROM {every}")

    def weighed(self, texts: str) -> str:
        """Rows of cells with the weight of their class."""
        g = _by_class([one.amplitude**2 for one in CLASSES])
        return (
            f"SELECT t.*, CAST({g} AS BIGINT) AS g, CAST(1 AS BIGINT) AS fits, false AS known FROM {texts} AS t "
            f"JOIN {self._table('keys')} AS k ON {self.base.same('t', 'k')} "
            f"JOIN {self._table('groups')} AS c ON t.{self.grouping.name} = c.{self.grouping.name}"
        )

    def ordered(self, rows: str) -> str:
        """A pool that is full takes cells by chance."""
        return f"SELECT r.*, 0 AS turn FROM ({rows}) AS r"

    def _table(self, what: str) -> str:
        return f"expected_{self.base.name}_{self.grouping.name}_{what}"


def mark_of(number: int) -> int:
    """The mark of a class's cells in a selection: the lowest needs none."""
    return UNMARKED if number == 0 else LISTED + number - 1


def cut_of(number: int) -> str:
    """The column of a class's cuts, beside that of the groups: no group has a name like it."""
    return f"_{number}"


def _by_class(values: Sequence[int]) -> str:
    """SQL of one number for each class, by the users of the key `k` and the cuts of the group `c`."""
    last = len(values) - 1
    tests = " ".join(f"WHEN k.users >= c.{cut_of(number)} THEN {values[number]}" for number in range(last, 0, -1))
    return f"CASE {tests} ELSE {values[0]} END"
