"""Götz et al. 2009, sections 4 and 6: the two definitions compared, and an algorithm that meets the lower bound.

Everything is enumerated in fractions on tiny domains, with e^ε a whole number: nothing is rounded. Lemma 1 and
Corollary 1 are about any algorithm with pure ε that is accurate for frequent items, and name none: `accurate` is ours,
has pure ε, and releases an infrequent item exactly as rarely as Lemma 1 allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

from hubbub.papers.numbers.rows import Number, NumberRow, PaperPart

NAME = "Götz et al. 2009"
PROPOSITION_1 = PaperPart(NAME, "gotz/proposition-1", "Proposition 1: probabilistic privacy implies (ε, δ)")
PROPOSITION_2 = PaperPart(NAME, "gotz/proposition-2", "Proposition 2: Algorithm Â is (ε′, 1/(|D| − 1))")
PROPOSITION_3 = PaperPart(NAME, "gotz/proposition-3", "Proposition 3: every output of Algorithm Â is a breach")
COROLLARY_2 = PaperPart(NAME, "gotz/corollary-2", "Corollary 2: Algorithm Â is not probabilistically private")
LOWER = PaperPart(
    NAME, "gotz/lower-bound", "Lemma 1 and Corollary 1: an accurate algorithm with pure ε; e^ε = 2, c = ½"
)

Law = Sequence[Fraction]
"""The probability of each output, by its number."""
PARTS = 6
OUTPUTS = 3


# ------------------------------------------------------------------ the two definitions, for two logs


def indistinguishable(one: Law, other: Law, factor: Fraction) -> Fraction:
    """The smallest δ with P(O) <= factor · Q(O) + δ for every set O of outputs, both ways."""
    return max(sum((max(Fraction(0), p - factor * q) for p, q in zip(*laws, strict=True)), Fraction(0))
               for laws in ((one, other), (other, one)))  # fmt: skip


def probabilistic(one: Law, other: Law, factor: Fraction) -> Fraction:
    """The smallest δ for which each log has outputs of that probability outside of which both ratios hold."""
    bad = [p > factor * q or q > factor * p for p, q in zip(one, other, strict=True)]
    return max(sum((p for p, out in zip(law, bad, strict=True) if out), Fraction(0)) for law in (one, other))


def laws(outputs: int, parts: int) -> list[Law]:
    """Every law on so many outputs whose probabilities are multiples of 1/parts."""
    return [
        tuple(Fraction(n, parts) for n in counts)
        for counts in product(range(parts + 1), repeat=outputs)
        if sum(counts) == parts
    ]


def a_hat(first: int, domain: int) -> Law:
    """Algorithm Â: a search history that is not the first user's, each of them with the same probability."""
    return [Fraction(history != first, domain - 1) for history in range(domain)]


# ------------------------------------------------------------------ an accurate algorithm with pure ε


def accurate(frequency: int, frequent: int, factor: int, c: Fraction) -> Fraction:
    """The chance to release an item: c from τ + ξ on, and by e^−ε less for every user who is missing."""
    return c / Fraction(factor) ** max(0, frequent - frequency)


def inaccuracy(frequencies: Sequence[int], domain: int, chances: Sequence[Fraction], low: int, high: int) -> Fraction:
    """Definition 5 over the whole domain, by the number of users of each item that somebody has."""
    everything = [*frequencies, *[0] * (domain - len(frequencies))]
    missed = sum((1 - chances[f] for f in everything if f > high), Fraction(0))
    return missed + sum((chances[f] for f in everything if f < low), Fraction(0))


def partitions(total: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every way to spread so many searches over items."""
    if total == 0:
        yield ()
    for first in range(min(total, most or total), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


# ------------------------------------------------------------------ rows


def definitions() -> Iterator[NumberRow]:
    """Propositions 1 to 3 and Corollary 2."""
    every, factor = laws(OUTPUTS, PARTS), Fraction(2)
    pairs = [(p, q) for p in every for q in every if p != q]
    found = [(indistinguishable(p, q, factor), probabilistic(p, q, factor)) for p, q in pairs]
    yield PROPOSITION_1.stated(
        "pairs",
        "δ never larger",
        sum(weak > strong for weak, strong in found),
        all(weak <= strong for weak, strong in found),
        f"Pairs of laws on {OUTPUTS} outputs, in steps of 1/{PARTS}, whose δ is larger than their probabilistic δ, at "
        "e^ε = 2: none of {}. In {} of them it is smaller, and nowhere is the converse implied.",
        Number(len(pairs), "756"),
        Number(sum(weak < strong for weak, strong in found), "366"),
        noted="0",
        inequality=True,
    )
    domains, factors = range(2, 41), (Fraction(1), Fraction(2), Fraction(1000))
    deltas = {n: {indistinguishable(a_hat(0, n), a_hat(1, n), factor) for factor in factors} for n in domains}
    yield PROPOSITION_2.stated(
        "delta",
        "1/(|D| − 1)",
        float(max(deltas[11])),
        all(found == {Fraction(1, n - 1)} for n, found in deltas.items()),
        "δ of Algorithm Â for |D| = 11: exactly 1/(|D| − 1), for |D| = 2 to 40 and e^ε′ = 1, 2 and 1000 alike: no ε′ "
        "helps. The paper's proof has the factor 1, which proves it for all.",
        noted="0.1",
    )
    share = min(_breaches(n) for n in domains)
    yield PROPOSITION_3.stated(
        "share",
        "every output",
        float(share),
        share == 1,
        "The least share of Algorithm Â's outputs, by probability, that another first user makes impossible; |D| = 2 "
        "to 40. It names only who she is not: 1 of |D| histories.",
        noted="1",
    )
    worst = min(_probabilistic_delta(n, Fraction(1000)) for n in domains)
    yield COROLLARY_2.stated(
        "delta",
        "no δ below 1",
        float(worst),
        worst == 1,
        "The smallest δ for which Algorithm Â is (ε, δ)-probabilistically private, all neighbours together; |D| = 2 to "
        "40, e^ε = 1000. Outputs outside the exceptional set would have to be possible for every first user; none is.",
        noted="1",
    )


def _breaches(domain: int) -> Fraction:
    """The probability of the outputs for which some neighbour has none."""
    law = a_hat(0, domain)
    others = [a_hat(first, domain) for first in range(1, domain)]
    return sum((p for o, p in enumerate(law) if p and any(not q[o] for q in others)), Fraction(0))


def _probabilistic_delta(domain: int, factor: Fraction) -> Fraction:
    """For the first log: what is left out must suit every neighbour at once (Definition 3)."""
    law = a_hat(0, domain)
    others = [a_hat(first, domain) for first in range(1, domain)]
    bad = [any(p > factor * q[o] or q[o] > factor * p for q in others) for o, p in enumerate(law)]
    return sum((p for p, out in zip(law, bad, strict=True) if out), Fraction(0))


def lower_bound() -> Iterator[NumberRow]:
    """An algorithm that is accurate and has pure ε, beside what Lemma 1 and Corollary 1 say of all of them."""
    users, frequent, factor, c = 6, 4, 2, Fraction(1, 2)
    chances = [accurate(f, frequent, factor, c) for f in range(users + 1)]
    steps = [(x, y) for a, b in pairwise(chances) for x, y in ((a, b), (1 - a, 1 - b))]
    most = max(max(x / y, y / x) for x, y in steps)
    yield LOWER.stated(
        "private",
        "e^ε = 2",
        float(most),
        most <= factor,
        "τ + ξ = 4: an item of f users is released with probability ½ · 2^−max(0, 4 − f). The largest ratio, shown or "
        "not, that one user more makes: ε for each step of the lemma's L1 distance. c may be up to 1/(1 + e^−ε).",
        noted="2",
    )
    yield LOWER.stated(
        "tight",
        "c e^(−ε(τ+ξ)) = 0.03125",
        float(chances[0]),
        chances[0] == c / factor**frequent,
        "The chance that this algorithm releases an item of nobody: Lemma 1 allows no smaller one, so it is tight.",
        noted="0.03125",
    )
    needed = Fraction(users, frequent) * (factor**frequent / c + 1)
    more = [
        inaccuracy(found, domain, chances, frequent, frequent) - sum(f > frequent for f in found)
        for domain in (-(-needed.numerator // needed.denominator),)
        for found in partitions(users)
    ]
    yield LOWER.stated(
        "worse-than-nothing",
        "more than 0",
        float(min(more)),
        min(more) > 0,
        "U = 6, m = 1, τ = 4, ξ = 0: Corollary 1 asks for {} possible items. With so many, by how much the algorithm "
        "is more inaccurate than publishing nothing, on the log on which it is best of all {} kinds of logs.",
        Number(float(needed), "49.5"),
        Number(len(more), "11"),
        noted="1.03",
        inequality=True,
    )
    lowest = next(n for n in range(users, 50) if all(
        inaccuracy(found, n, chances, frequent, frequent) > sum(f > frequent for f in found)
        for found in partitions(users)))  # fmt: skip
    yield LOWER.stated(
        "from",
        "at most 50 items",
        lowest,
        lowest <= 50,
        "From how many possible items on that is so: the corollary's number is enough, and more than is needed.",
        noted="18",
        inequality=True,
    )
    slack = inaccuracy((users,), 50, chances, 0, frequent) - 1
    yield LOWER.stated(
        "slack",
        "more than 0 for every slack ξ",
        float(slack),
        slack > 0,
        "τ = ξ = 2, 50 possible items, all six users with the same item: no item has fewer than τ − ξ = 0 users, so "
        "none is very infrequent, and the algorithm is better than publishing nothing. Corollary 1 needs ξ < τ, which "
        "it does not say.",
        noted="-0.5",
        inequality=True,
    )
