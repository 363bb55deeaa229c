"""The checks that follow from what a mechanism is: keys of a public pool, selections in rounds, or counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from hubbub.audit.checks import chain, closed, pooled
from hubbub.audit.checks.certificates import certificate
from hubbub.audit.checks.counts import noise_source, row_order, sensitivity
from hubbub.audit.checks.exact import divergence, threshold_law
from hubbub.audit.checks.search import bad_neighbours
from hubbub.audit.checks.statistical import sampled, sampled_pools, seeds
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import QUICK, AuditRow, Effort, Neighbouring, Pair, Subject, Tester
from hubbub.audit.subjects import PLANS

__all__ = ["certificate", "contract", "tests"]
LOOKED_AT = 2
"""How many pairs of logs are sampled on many seeds."""


def contract(subject: Subject) -> Iterator[AuditRow]:
    """What holds for any parameters: one user's share, the only source of noise, the order of rows."""
    if subject.mechanism.takes_pool:
        yield from closed.contract(subject)
    elif subject.mechanism.selections:
        yield from _contract_of_rounds(subject)
    else:
        plan = PLANS.get(subject.mechanism.name)
        yield from _contract_of_counts(subject, (plan and plan.pairs) or threshold_pairs)


def tests(
    subject: Subject,
    effort: Effort,
    pairs: Neighbouring = threshold_pairs,
    testers: Sequence[Tester] = (),
    more: Sequence[Callable[[Subject], Iterable[AuditRow]]] = (),
) -> Iterator[AuditRow]:
    """Every test of one subject, the cheap ones first; of counts also these testers, and more of the subject."""
    yield from certificate(subject)
    if subject.mechanism.takes_pool:
        yield from closed.tests(subject, effort.runs)
    elif subject.mechanism.selections:
        yield from _tests_of_rounds(subject, effort)
    else:
        yield from _tests_of_counts(subject, effort, pairs, testers)
        for test in more:
            yield from test(subject)
        yield from bad_neighbours(effort.tries, pairs)(subject)


def _on_seeds(sample: Callable[..., Tester], subject: Subject, pair: Pair) -> AuditRow:
    return seeds(lambda noise: sample(QUICK.runs, noise)(subject, pair))


# ------------------------------------------------------------------ counts and thresholds


def _contract_of_counts(subject: Subject, pairs: Neighbouring) -> Iterator[AuditRow]:
    testers: tuple[Tester, ...] = (sensitivity, noise_source, row_order)
    for test in testers:
        for pair in pairs(subject.mechanism):
            yield from test(subject, pair)


def _tests_of_counts(
    subject: Subject, effort: Effort, pairs: Neighbouring, testers: Sequence[Tester]
) -> Iterator[AuditRow]:
    yield from threshold_law(subject)
    yield from _contract_of_counts(subject, pairs)
    for test in (*testers, divergence, sampled(effort.runs)):
        for pair in pairs(subject.mechanism):
            if len({(q, u) for _, _, q, u in pair.larger}) <= 4 and not pair.counting:
                yield from test(subject, pair)
    if effort.seeded:
        for pair in list(pairs(subject.mechanism))[:LOOKED_AT]:
            yield _on_seeds(sampled, subject, pair)


# ------------------------------------------------------------------ selections in rounds


def _contract_of_rounds(subject: Subject) -> Iterator[AuditRow]:
    yield from pooled.presence(subject)
    yield from pooled.fixed_pools(subject)
    testers: tuple[Tester, ...] = (pooled.user_share, pooled.transcript)
    if chain.is_chain(subject.mechanism):
        yield from chain.later_shares(subject)
        yield from chain.draws(subject)
    else:
        testers = (*testers, pooled.draws)
    for test in testers:
        for pair in pooled.pairs(subject):
            yield from test(subject, pair)


def _tests_of_rounds(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    yield from pooled.thresholds(subject)
    yield from _contract_of_rounds(subject)
    for n, pair in enumerate(pooled.pairs(subject)):
        if len({q for _, _, q, _ in pair.larger}) <= 6:
            yield from sampled_pools(effort.runs)(subject, pair)
            if effort.seeded and n < LOOKED_AT:
                yield _on_seeds(sampled_pools, subject, pair)
    if chain.is_chain(subject.mechanism):
        yield from chain.seen_pairs(effort.copies)(subject)
