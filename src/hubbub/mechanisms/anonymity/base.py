"""What the anonymity baselines have in common: no noise, no limit on a user, exact numbers, no (ε, δ)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import ParameterError
from hubbub.ingest.schema import SCHEMA
from hubbub.mechanisms.base import Bound, Mechanism, Parameter, Released, Rows, Value
from hubbub.noise import NoiseSource
from hubbub.privacy.account import Loss, Step
from hubbub.privacy.guarantee import Claim, Definition, Guarantee
from hubbub.steps.counts import Counts, Integers

K = Parameter("k", "integer", "how many must be alike", 20, low=2, high=10**9)
PROOF = "docs/proofs/anonymity.md"
WORDS = 1 << 62


class Anonymity(Mechanism):
    """A baseline: it states what is alike in its output, and proves nothing about what that tells of one user."""

    variants = ("published",)
    exact = True
    provable = False
    parameters: ClassVar[tuple[Parameter, ...]] = (K,)
    proof = PROOF
    definition: ClassVar[Definition] = Definition.K_ANONYMITY
    promise: ClassVar[str]
    """What holds of the output, with {k} for the parameter."""
    weakness: ClassVar[str]
    """Why that protects nobody."""

    @property
    def k(self) -> int:
        """How many users, sessions or clicks must be alike."""
        return int(self.settings["k"])

    @property
    def promised(self) -> str:
        """What holds of the output, for the parameters that run."""
        return self.promise.format(**self.settings)

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """The parameters that were given, and defaults for the others."""
        if self.serp is not None:
            raise ParameterError(f"{self.name} takes no result list.", given="--serp")
        defaults = {p.name: p.default for p in self.parameters if p.default is not None}
        return defaults | given

    def steps(self) -> tuple[Step, ...]:
        """None: these mechanisms draw no noise."""
        return ()

    def bounds(self) -> tuple[Bound, ...]:
        """None: no user is limited."""
        return ()

    def loss(self) -> Loss:
        """Nothing is proven, so everything may be lost."""
        return Loss(math.inf, 1.0, (), 1.0)

    def claimed(self) -> Claim:
        """No paper of these claims differential privacy."""
        return Claim(self.paper, None, None, True, f"it claims no differential privacy, but that {self.promised}")

    def proven(self) -> Guarantee:
        """What is alike is a property of the output; about one user nothing follows from it."""
        scope = f"{self.promised}, but {self.weakness}"
        return Guarantee(self.definition, None, None, self.neighbours, scope=scope, proof=PROOF, caveats=self.caveats())

    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: which promise holds, and that it is not differential privacy."""
        return (f"Made to be compared and attacked: {self.promised}, but {self.weakness}.",)

    def thresholds(self) -> dict[str, int]:
        """The number k that exact counts of the first table are compared with."""
        return {next(iter(self.offers)): self.k} if "k" in self.settings else {}

    def missing(self) -> tuple[str, ...]:
        """Which keys a reader must expect to miss: no noise, so exactly those below the threshold."""
        return tuple(
            f"{table}: held by fewer than {least} users, and missing for sure"
            for table, least in self.thresholds().items()
        ) or ("nothing is missing",)

    def spurious(self) -> str:
        """Every row is somebody's."""
        return "none: every row comes from a real user, exactly as it is in the log"

    def post_processing(self) -> tuple[str, ...]:
        """Only the order of rows, and the numbers of users."""
        return ("keys sorted by value, then by key; rows of a log renumbered at random and sorted by number",)


def at_least(counts: Counts, least: int) -> Released:
    """The keys that reach the threshold, with their exact counts: the rule is `>=`."""
    return Released(*counts.at_least(least), 0.0)


def fresh_numbers(count: int, step: str, noise: NoiseSource) -> Integers:
    """The numbers 1, …, count in a random order: no id of the log, and no order of it."""
    return 1 + np.argsort(noise.below(step, np.full(count, WORDS)), kind="stable")


def by_text(column: pa.ChunkedArray) -> Integers:
    """Each value's place among the distinct ones in the order of their text: the same for any order of rows."""
    coded = column.combine_chunks().dictionary_encode()
    place = np.empty(len(coded.dictionary), np.int64)
    place[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(place.size)
    found: Integers = place[coded.indices.to_numpy()]
    return found


def as_log(number: Integers, columns: dict[str, pa.Array | pa.ChunkedArray]) -> Rows:
    """Rows in SearchLog's columns under these numbers, empty where there is no column, sorted by number."""
    size = number.size
    rows = pa.table(
        {"number": number} | {name: columns.get(name, pa.nulls(size, SCHEMA.field(name).type)) for name in REST}
    )
    rows = rows.sort_by([(name, "ascending") for name in rows.column_names])
    users = rows.column("number").cast(pa.string())
    return Rows.of(pa.table({"user": users} | {name: rows.column(name) for name in REST}).cast(SCHEMA).combine_chunks())


REST = ("time", "query", "rank", "url")
