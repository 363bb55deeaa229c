"""What every mechanism states about itself, and the two halves it runs in.

A mechanism declares its parameters as data; help texts, validation and the card are made from them.
`measure` reads the log and gives exact integers; `perturb` sees them and a noise source, and nothing else, so
that an audit can run the second half a million times through the very same code. A mechanism of several rounds states
them as a sequence of such pairs.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import pyarrow as pa

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms import measured
from hubbub.mechanisms.dividing import Dividing
from hubbub.mechanisms.pairs import Draw, drawn
from hubbub.mechanisms.parameter import DELTA, EPSILON, Parameter, Value
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.mechanisms.traits import Traits
from hubbub.noise.laws import Law
from hubbub.plugins import Apart, Registry
from hubbub.privacy.account import Domain, Loss, fewest, half_width
from hubbub.privacy.coins import CoinStep
from hubbub.privacy.existence import Cause
from hubbub.privacy.gaussian import AnyStep, GaussianStep, total
from hubbub.privacy.guarantee import Claim, Definition, Guarantee, Neighbours
from hubbub.public.groups import several_groupings
from hubbub.public.lists import several
from hubbub.steps.keys import Keys
from hubbub.steps.released import Released, Rows, Tables

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms.rounds import Selection
    from hubbub.noise import NoiseSource
    from hubbub.public.groups import Grouping
    from hubbub.public.lists import OwnPrior, QueryPool, UrlList
    from hubbub.public.words import Vocabulary
    from hubbub.steps.mode import RunMode

__all__ = [
    "DELTA",
    "EPSILON",
    "SURE",
    "Bound",
    "Mechanism",
    "Parameter",
    "Released",
    "Rows",
    "Tables",
    "Value",
]

Stated = TypeVar("Stated")

SURE = "; from {:,} times on it has a chance of 95 % or more to be there"


@dataclass(frozen=True)
class Bound:
    """One limit on what a user may contribute, for the card."""

    stage: str
    norm: str
    limit: int
    how: str


def _once(stated: Callable[[Any], Stated]) -> Callable[[Any], Stated]:
    """What a mechanism states of itself, computed once: it is frozen by then."""

    @wraps(stated)
    def kept(mechanism: Mechanism) -> Stated:
        if "settings" not in vars(mechanism):
            return stated(mechanism)
        known: dict[str, Stated] = vars(mechanism).setdefault("_stated", {})
        if stated.__qualname__ not in known:
            known[stated.__qualname__] = stated(mechanism)
        return known[stated.__qualname__]

    return kept


class Mechanism(Dividing, Traits, ABC):
    """Base of all mechanisms: parameters are validated and resolved when it is made, then frozen."""

    name: ClassVar[str]
    paper: ClassVar[str]
    about: ClassVar[str]
    offers: dict[str, Keys]
    """The tables it can release, and the keys they hold; its own where the keys depend on its parameters."""
    default_tables: ClassVar[tuple[str, ...]]
    variants: ClassVar[tuple[str, ...]] = ("strict", "published")
    parameters: ClassVar[tuple[Parameter, ...]]
    proof: ClassVar[str]
    takes_pool: ClassVar[bool] = False
    """Whether its keys come from a public pool of queries."""
    takes_lists: ClassVar[bool] = False
    """Whether queries known beforehand, from a public list or an earlier release, help it."""
    registry: ClassVar[Registry[type[Mechanism]]]

    def __init__(
        self,
        *,
        variant: str | None = None,
        neighbours: str | Neighbours | None = None,
        tables: tuple[str, ...] | list[str] | None = None,
        serp: UrlList | None = None,
        pool: QueryPool | None = None,
        public_list: QueryPool | Sequence[QueryPool] | None = None,
        previous: QueryPool | None = None,
        own_prior: OwnPrior | None = None,
        vocabulary: Vocabulary | None = None,
        by: Sequence[Grouping] = (),
        **settings: object,
    ) -> None:
        self.variant = self.variants[0] if variant is None else variant
        if self.variant not in self.variants:
            raise ParameterError(f"{self.name} has no such variant.", given=variant, allowed=", ".join(self.variants))
        try:
            self.neighbours = Neighbours(neighbours or Neighbours.ADD_REMOVE)
        except ValueError:
            allowed = ", ".join(n.value for n in Neighbours)
            raise ParameterError("There is no such neighbouring relation.", given=neighbours, allowed=allowed) from None
        self.serp = serp
        if pool is not None and not self.takes_pool:
            raise ParameterError(f"{self.name} takes no pool of queries.", given="--pool")
        self.pool = pool
        self.public_lists, self.previous = several(public_list), previous
        for known_lists, option in ((self.public_lists, "--public-list"), (previous, "--previous")):
            if known_lists and not self.takes_lists:
                raise ParameterError(f"{self.name} takes no list of known queries.", given=option)
        if own_prior is not None and not self.takes_lists:
            raise ParameterError(f"{self.name} takes no weights of queries.", given="--prior")
        self.own_prior, self.vocabulary = own_prior, vocabulary
        self.by = several_groupings(by)
        wanted = tuple(dict.fromkeys(tables or self._default_tables()))
        if self.by:
            self.offers, wanted = self.divide(type(self).offers, wanted)
        for table in wanted:
            if table not in self.offers:
                raise ParameterError(
                    f"{self.name} does not release this table.", given=table, allowed=", ".join(self.offers)
                )
        self.tables = tuple(t for t in self.offers if t in wanted)
        known = {p.name: p for p in self.parameters}
        for key in settings:
            if key not in known:
                raise ParameterError(f"{self.name} has no such parameter.", given=key, allowed=", ".join(known))
        given = {k: known[k].parse(v) for k, v in settings.items() if v is not None}
        self.given: Mapping[str, Value] = MappingProxyType(dict(given))
        self.settings: Mapping[str, Value] = MappingProxyType(self.resolve(given))  # the last attribute that is set

    def __setattr__(self, name: str, value: object) -> None:
        """Only until it is made: whoever wants other values makes another mechanism."""
        if "settings" in vars(self):
            raise AttributeError(f"a mechanism is frozen: make another one, {self.name} keeps its {name}")
        super().__setattr__(name, value)

    def taking(self, public_lists: tuple[QueryPool, ...], previous: QueryPool | None) -> Self:
        """The same mechanism with these lists of known queries; no number of its claim depends on them."""
        return self._with(public_lists=public_lists, previous=previous)

    def over(self, pool: QueryPool) -> Self:
        """The same mechanism over another pool of queries; no number of its claim depends on it."""
        return self._with(pool=pool)

    def _with(self, **other: object) -> Self:
        made = copy.copy(self)
        vars(made).update(other, _stated={})
        return made

    def remade(self, settings: Mapping[str, Any]) -> Self:
        """The same mechanism with other parameters: its variant, neighbours, tables and public lists stay."""
        return type(self)(
            variant=self.variant,
            neighbours=self.neighbours,
            tables=self.tables,
            serp=self.serp,
            pool=self.pool,
            public_list=self.public_lists,
            previous=self.previous,
            own_prior=self.own_prior,
            vocabulary=self.vocabulary,
            by=self.by,
            **settings,
        )

    def public_records(self) -> list[dict[str, str]]:
        """Every list of queries that it was given or knows, and every grouping, as a card names them."""
        known = (self.pool, *self.public_lists, self.previous, *self.by)
        return [each.record() for each in known if each is not None]

    def _default_tables(self) -> tuple[str, ...]:
        return self.default_tables

    @abstractmethod
    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """The raw parameters that will run, from what was given: raw or calibrated, never both."""

    @abstractmethod
    def steps(self) -> tuple[AnyStep, ...]:
        """Every round of noise, exactly as it will be drawn."""

    @abstractmethod
    def bounds(self) -> tuple[Bound, ...]:
        """Every limit on one user."""

    @abstractmethod
    def claimed(self) -> Claim:
        """What the paper says for these parameters."""

    @abstractmethod
    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Exact bounded counts of the log, or pools of it: deterministic integers, where the mode has them."""

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Noise and thresholds of a mechanism of one pair: it sees counts and a noise source, and nothing else."""
        raise OurBug(f"{self.name} states several pairs")

    def pairs(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Everything after the first `measure`, as pairs (mechanisms/pairs.py); here a single one."""
        tables: Tables = yield Draw(measured, self.perturb)
        return tables

    def draw(self, measured: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Every pair in turn, the released tables at the end."""
        return drawn(self.pairs(measured), noise)

    def laws(self) -> tuple[Law, ...]:
        """Every law that `perturb` may draw from, for its widest parameters. Who draws Gaussian noise has to say so."""
        found = []
        for step in self.steps():
            if isinstance(step, GaussianStep):
                raise OurBug(f"{self.name} does not say with which variances step {step.name} is drawn")
            if isinstance(step, CoinStep):
                _ = step.chances  # made here, or refused
            else:
                found.append(Law(step.name, "scale", step.scale))
        return tuple(found)

    @property
    def value_column(self) -> str:
        """What the published number counts."""
        return "users"

    @property
    def needs_times(self) -> bool:
        """Whether a log without times is refused."""
        return any(self.offers[table].timed for table in self.tables) or self.by_time

    @property
    def selections(self) -> Mapping[str, Selection]:
        """Selections in rounds over users' pools, by table in the order they run; none where counts are tested."""
        return {}

    @property
    def inside(self) -> str:
        """In which period a row of the log must lie, where its owner states one."""
        return "the stated period"

    def stops(self) -> tuple[Cause, ...]:
        """What else of the log can stop a release: the causes that refusals of its own name."""
        return ()

    def caveats(self) -> tuple[str, ...]:
        """What a reader of the guarantee must know besides."""
        return ()

    def also(self) -> tuple[tuple[Guarantee, str], ...]:
        """Other definitions that hold besides the headline, each with how."""
        return ()

    def post_processing(self) -> tuple[str, ...]:
        """What is done to the tables after the last noise."""
        return ("rows sorted by noisy value, then by key",)

    def certificate(self, counts: Mapping[str, Any], tables: Tables) -> dict[str, object] | None:
        """For the owner: what an optimisation reached and what none can pass. None where nothing is optimised."""
        return None

    def whose(self, tables: Tables) -> pa.Table | None:
        """For the owner: whose rows a released log holds, as (user, uid); None where its users are nobody's."""
        return None

    def owner_notes(self, counts: Mapping[str, Any]) -> tuple[str, ...]:
        """What the owner should know of the exact counts, on her terminal only."""
        return ()

    @_once
    def loss(self) -> Loss:
        """The add-remove cost, for the ledger; Gaussian steps are converted at the ε that was asked for."""
        asked = self.settings.get("epsilon")
        return total(self.steps(), None if asked is None else float(Fraction(asked)))

    @_once
    def proven(self) -> Guarantee:
        """What we can prove for the discrete law that runs.

        Replace doubles ε and leaves δ alone: see the proof page.
        """
        loss = self.loss()
        factor = 2 if self.neighbours is Neighbours.REPLACE else 1
        return Guarantee(
            definition=Definition.APPROXIMATE if loss.delta else Definition.PURE,
            epsilon=loss.epsilon * factor,
            delta=loss.delta,
            neighbours=self.neighbours,
            proof=self.proof,
            caveats=self.caveats(),
        )

    def thresholds(self) -> dict[str, int]:
        """The integer threshold of each thresholded step; the rule is `>=`."""
        return {s.name: s.threshold for s in self.steps() if s.threshold is not None}

    def missing(self) -> tuple[str, ...]:
        """Which keys a reader must expect to miss."""
        steps = {step.name: step for step in self.steps()}
        return tuple(
            f"{name}: a key counted fewer than {threshold} times after bounding is more likely absent than present"
            + self._sure(steps[name])
            for name, threshold in self.thresholds().items()
        )

    def _sure(self, step: AnyStep) -> str:
        """From which count on a key is there in 95 % of releases, where that hangs on nothing but its own threshold."""
        if isinstance(step, GaussianStep) or step.domain is not Domain.OPEN or step.name not in self.tables:
            return ""
        if isinstance(step, CoinStep):
            return SURE.format(fewest(step.chance, 0.95))
        return SURE.format(LaplaceTest.of(step).fewest(0.95))

    def intervals(self) -> dict[str, str]:
        """How far a published value may be off, by step or by table."""
        return {step.name: self._interval(step) for step in self.steps()}

    def _interval(self, step: AnyStep) -> str:
        if isinstance(step, CoinStep):
            return "no counts are published"
        if isinstance(step, GaussianStep):
            return "value +/- 1.96 noise_sd (95 % of the noise; bounding comes on top)"
        noise = f"value +/- {half_width(float(step.scale))} (95 % of the noise; bounding comes on top)"
        selects = step.threshold is not None and self.variant == "strict"  # others draw again for the value
        return f"{noise}; of released rows it {measured.LAPLACE.sentence()}" if selects else noise

    def values(self) -> str:
        """What a published value counts."""
        return "a value counts after each user was limited: without its noise it is at most the exact number" + (
            ", and can be far below it" if self.bounds() else ""
        )

    def spurious(self) -> str:
        """Whether a released row may stand for nobody."""
        if any(s.domain is Domain.CLOSED for s in self.steps()):
            return "rows over a public list may stand for nobody; their values may be zero or negative"
        return "none: every released key was held by at least one user"

    def spurious_among(self, rows: Mapping[str, int]) -> str:
        """The same for tables of so many rows, which are public."""
        return self.spurious()

    def __init_subclass__(cls, register: bool = False, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("steps", "loss", "claimed", "proven"):
            if name in vars(cls):
                setattr(cls, name, _once(vars(cls)[name]))
        if register:
            Mechanism.registry.add(cls)


Mechanism.registry = Registry(
    "mechanism",
    "hubbub.mechanisms",
    "hubbub.mechanisms",
    Mechanism,
    apart=Apart("not private", lambda kind: not kind.provable),
)
