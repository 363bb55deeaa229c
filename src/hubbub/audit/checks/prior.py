"""Audits of the public prior: what one user adds where weights follow the form of her queries, by hand.

Her vector is as long as before, it is a function of her own live keys and of public words, and nobody else moves. Words
that are known have levels of their own from the second round on, whether or not anybody holds them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import isqrt

import pyarrow as pa

from hubbub.audit.checks import by_hand
from hubbub.audit.checks.by_hand import BITS, Make, Read, held_by, rounds_by_hand
from hubbub.audit.checks.listed import WatchedNoise, chosen
from hubbub.audit.checks.pooled import first_selection
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, faults, shared_row
from hubbub.audit.tiny import MODE, Tiny, tiny_log
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.noise.absent import Rounds
from hubbub.public.lists import OwnPrior
from hubbub.public.prior import DOMAIN, NAME, OTHER, PAIR, SUFFIXES, THREE, TWO, WORD, Prior
from hubbub.public.words import Vocabulary
from hubbub.steps.keys import QUERIES
from hubbub.steps.pools import EnginePools

WORDS = ("k0", "k1", "k2", "k3", "k4", "k5", "her", "nobody's")
PAIRS = ("her 1", "k7 k8")
VOCABULARY = Vocabulary.of(
    "audit", "made for an audit", "0" * 64, pa.table({"query": WORDS}), pa.table({"query": PAIRS})
)
OWN = OwnPrior("audit", pa.table({"query": ["k8", "k9"], "weight": [700, 3]}), "0" * 64, 2)
PRIORS = {"words": Prior(VOCABULARY), "words and the owner's": Prior(VOCABULARY, OWN), "the owner's": Prior(None, OWN)}
MISFITS = ("k7", "k8", "k9", "k10 k11", "k0", "four words are long", "k7 is new", "k0 is known", "k1.com", "www.k2.com")


def events() -> tuple[Event, ...]:
    """The usual users, and two whose words are hardly known."""
    rows = [(f"m{u}", t, key, None) for u in range(2) for t, key in enumerate(MISFITS[u:])]
    return (*by_hand.others(), *rows)


def form(query: str) -> tuple[int, int]:
    """The weight of a query's form and whether its words fit, in plain Python."""
    words = query.split(" ")
    stem, dot, suffix = (query.removeprefix("www.") if len(query) > 8 else query).rpartition(".")
    site = len(words) == 1 and bool(dot) and suffix in SUFFIXES
    first = (stem if site else words[0]) in WORDS
    if query in PAIRS:
        return PAIR, 1
    if len(words) > 3:
        return OTHER, 0
    if site:
        return (DOMAIN if first else NAME), 0
    known = {1: WORD, 2: TWO, 3: THREE}[len(words)]
    return (known, 1) if first else (NAME if len(words) == 1 else OTHER, -1)


def said(prior: Prior, query: str) -> tuple[int, int]:
    """The weight of a query and whether it fits, by a prior."""
    own = {} if prior.own is None else dict(zip(*prior.own.rows.to_pydict().values(), strict=True))
    if query in own:
        return own[query], 1
    return (OTHER, 0) if prior.vocabulary is None else form(query)


class PriorRead(Read):
    """Pools as they lie in the engine, with the weights of a prior from the second round on."""

    prior: Prior
    rounds: int

    @staticmethod
    def under(pools: EnginePools, prior: Prior) -> PriorRead:
        """The pools before the first round."""
        read = Read.of(pools)
        found = PriorRead(read.pools, read.texts, read.repeated)
        vars(found).update(prior=prior, rounds=0)
        return found

    def weights(self, live: Iterable[str], bits: int = BITS) -> dict[str, int]:
        """What users add to each live key in the next round."""
        vars(self).update(rounds=self.rounds + 1)
        if self.rounds == 1:
            return super().weights(live, bits)
        alive, sums = frozenset(live), defaultdict[str, int](int)
        for pool in self.pools.values():
            still = {key: said(self.prior, key) for key in pool & alive}
            fits = sum(fit for _, fit in still.values()) >= 0
            total = sum(g for g, _ in still.values()) if fits else len(still)
            for key, (g, _) in still.items():
                sums[key] += isqrt(4**bits * (g if fits else 1) // total)
        return sums

    def out_of_turn(self, held: by_hand.Held) -> int:
        """Pools that left out a known query and took another one."""
        known = set(VOCABULARY.known.column("query").to_pylist())
        wrong = 0
        for user, pool in self.pools.items():
            left, taken = held[user] - pool, pool - known
            wrong += bool(left & known and taken)
        return wrong if self.prior.vocabulary is not None and self.prior.own is None else 0


def shares(make: Make = Tiny) -> Iterator[AuditRow]:
    """What one user adds in each round where there is a prior: length at most 1, and nobody else moves."""
    for name, limit, repeatable in (("words", 2, True), ("words", 5, False), ("words and the owner's", 12, True)):
        yield _share(make, name, PRIORS[name], limit, repeatable)
    yield _share(make, "the owner's", PRIORS["the owner's"], 5, False)


def _share(make: Make, name: str, prior: Prior, limit: int, repeatable: bool) -> AuditRow:
    crowd, wrong, largest, runs = events(), 0, 0, []
    for rows in (crowd, crowd + by_hand.hers(), by_hand.hers()):
        with tiny_log(rows, make) as log:
            mode = replace(MODE, repeatable=repeatable)
            pools = EnginePools(log, QUERIES, limit, BITS, mode, prior=prior)
            read, held = PriorRead.under(pools, prior), held_by(rows, QUERIES)
            wrong += read.wrong(held, limit) + read.out_of_turn(held)
            rounds = []
            for found in by_hand.rounds_of(pools, read.texts):
                hand = read.weights(found[0])
                wrong += sum(way[text] != hand[text] for way in found for text in way)
                rounds.append(found[-1])
            runs.append((read, rounds))
    (without, before), (added, after), (_, alone) = runs
    wrong += sum(added.pools[user] != pool for user, pool in without.pools.items())
    for small, large, own in zip(before, after, alone, strict=True):
        moved = {key: large.get(key, 0) - small.get(key, 0) for key in large.keys() | small.keys()}
        wrong += {k: v for k, v in moved.items() if v} != {k: v for k, v in own.items() if v}
        largest = max(largest, sum(v * v for v in moved.values()))
    share = float(Fraction(largest, 4**BITS)) + 2.0 * wrong
    if largest > 4**BITS:  # as integers: a float would round it away
        share = max(share, 1.001)
    how = f"{name}, D = {limit}" + ("" if repeatable else ", any order")
    detail = f"{wrong} sums or pools other than by hand, in {len(before)} rounds"
    return shared_row(f"one user's share of a round under a prior: {how}", 1.0, share, 1e-9, detail, Kind.EXACT)


def known() -> Iterator[AuditRow]:
    """Known words with the noise of the rounds, by hand; what noise alone is drawn for, with her and without her."""
    settings = {"epsilon": 4, "delta": "0.05", "D": 5, "rounds": 4, "F_known": 1}
    subject = Subject.of(build("crowd", settings, tables=["queries"], vocabulary=VOCABULARY))
    plan = first_selection(subject)
    levels = closed(plan, VOCABULARY.size, Fraction(1), late=True)
    names = frozenset(VOCABULARY.known.column("query").to_pylist())
    unit = levels.variances[0] // levels.multiples[0]
    domain = (VOCABULARY.size, Rounds(levels.multiples, unit, levels.thresholds, levels.drops))
    crowd, wrong, other, shown = events(), 0, 0, 0
    for rows in (crowd, crowd + by_hand.hers(), by_hand.hers(), (*crowd, ("victim", 1, "nobody's", None))):
        noise = WatchedNoise()
        with tiny_log(rows) as log:
            pools = subject.measure(log, MODE)["queries"]
            read = PriorRead.under(pools, Prior(VOCABULARY))
            found, seen = chosen(subject, pools, noise)
        by_id = zip(found.ids.tolist(), found.accumulators.tolist(), found.rounds.tolist(), strict=True)
        released = {read.texts[i]: (a, r) for i, a, r in by_id}
        right = rounds_by_hand(read, plan, noise, "queries", dict.fromkeys(names, levels))
        wrong += sum(released.get(key) != right.get(key) for key in released.keys() | right.keys())
        wrong += seen != released.keys()
        other += noise.zeros.domains != {"queries known words": domain}
        shown += len(right)
    yield faults(subject, "exact rounds, as by hand: known words", wrong, f"{shown} keys released", Kind.EXACT)
    yield faults(subject, "known words of nobody run, whoever is in the log", other)


def tests() -> Iterator[AuditRow]:
    """Every check of the prior."""
    yield from shares()
    yield from known()
