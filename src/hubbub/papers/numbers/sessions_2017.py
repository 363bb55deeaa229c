"""Zhang and Yang 2017: Table 4, and the claim that sessions and clicks together cost what the weaker part costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from hubbub.look.estimate.zealous import survives
from hubbub.mechanisms.sessions import Sessions
from hubbub.papers.numbers.losses import LossGrid, laplace
from hubbub.papers.numbers.rows import Number, NumberRow, Paper, PaperPart

NAME = "Zhang & Yang 2017"
TABLE_4 = PaperPart(NAME, "sessions/table-4", "Table 4: ε and δ of A_Session by equation 9")
COMBINED = PaperPart(NAME, "sessions/combined", "Section 3.2.2: A_Session and A_Click together, b = 1, K = 20, l = 4")
SECTION_5_4 = PaperPart(NAME, "sessions/section-5.4", "Section 5.4: doubling l (or l_s) doubles δ")
SENSITIVITY = PaperPart(NAME, "sessions/sensitivity", "Δf = l_s (2^l_q − 1 − l_q), step 3 of A_Session")

PRINTED = (  # b, K, l_s, l_q, ε, δ
    (1, 10, 1, 3, "8.00", "4.95e-3"),
    (1, 20, 1, 3, "8.00", "2.25e-7"),
    (1, 30, 1, 3, "8.00", "1.02e-11"),
    (3, 20, 1, 3, "2.67", "9.66e-3"),
    (3, 30, 1, 3, "2.67", "3.44e-4"),
    (1, 20, 1, 4, "22.00", "6.79e-4"),
    (2, 30, 1, 4, "11.00", "4.12e-4"),
    (1, 20, 2, 3, "16.00", "2.46e-5"),
    (2, 30, 2, 3, "8.00", "6.68e-5"),
)
KEYS = 8
"""Four subsequences of a session of three queries, and four clicks."""
GRID = 2.0**-13
CLAIMED = "2.25e-7"


def rows() -> Iterator[NumberRow]:
    """All rows: the table, what one user moves, then the two algorithms together."""
    for number, (b, K, l_s, l_q, epsilon, delta) in enumerate(PRINTED, 1):
        mechanism = Sessions(variant="published", tables=["sessions"], b=b, K=K, l_s=l_s, l_q=l_q)
        claim = mechanism.claimed()
        setting = f"b = {b}, K = {K}, l_s = {l_s}, l_q = {l_q}"
        yield TABLE_4.printed(
            f"{number}-epsilon", epsilon, claim.epsilon or math.nan, f"{setting}: ε = Δf (ln α + 1/b).", noted=epsilon
        )
        cut = " Cut off instead of rounded." if number == 1 else ""
        yield TABLE_4.printed(
            f"{number}-delta",
            delta,
            claim.delta or math.nan,
            f"{setting}: δ = ½ Δf e^((Δf−K)/b).{cut}",
            noted="4.9575e-3" if number == 1 else delta,
        )
    yield from doubled()
    yield from sensitivity()
    yield from combined()


def doubled() -> Iterator[NumberRow]:
    """What doubling l_s does to δ: in the printed table, and by equation 9."""
    once, twice = (
        next(row for row in PRINTED if row[:4] == (1, 20, l_s, 3))  # the two rows that differ in l_s alone
        for l_s in (1, 2)
    )
    yield SECTION_5_4.printed(
        "printed",
        "2",
        float(twice[5]) / float(once[5]),
        "Table 4, b = 1, K = 20, l_q = 3: δ for l_s = 2 over δ for l_s = 1, by the printed numbers.",
        noted="109",
    )
    deltas = [
        Sessions(variant="published", tables=["sessions"], b=1, K=20, l_s=l_s, l_q=3).claimed().delta or math.nan
        for l_s in (1, 2)
    ]
    yield SECTION_5_4.printed(
        "equation-9",
        "2",
        deltas[1] / deltas[0],
        "The same by equation 9: δ = ½ Δf e^((Δf−K)/b) is not linear in Δf; doubled, it grows by 2 e^(Δf/b) = {}.",
        Number(2 * math.exp(4), "109.2"),
        noted="109.2",
    )


# ------------------------------------------------------------------ what one user moves


def mined(session: Sequence[str], longest: int | None = None) -> Counter[tuple[str, ...]]:
    """All subsequences of two queries or more, each then cut to `longest`."""
    return Counter(tuple(found[:longest]) for k in range(2, len(session) + 1) for found in combinations(session, k))


def new_keys_delta(counts: Sequence[int], b: float, K: float) -> float:
    """The chance that one of a user's own keys is released."""
    return -math.expm1(math.fsum(math.log1p(-survives(n, 1, K, b)) for n in counts))


def sensitivity() -> Iterator[NumberRow]:
    """How far one user can move the counts: repeated queries, and the order of steps 2 and 3."""
    every = [mined(session) for session in product("abc", repeat=3)]
    yield SENSITIVITY.printed(
        "l1",
        "4",
        max(sum(found.values()) for found in every),
        "l_s = 1, l_q = 3: the most counts that one session moves, over every session of three queries, repeats "
        "included. Δf is right.",
        noted="4",
    )
    yield SENSITIVITY.claim(
        "multiplicity",
        "4",
        max(max(found.values()) for found in every),
        "The most that one key gets: [a, a, a] has the pair (a, a) three times. The proof allows Δf.",
        noted="3",
    )
    yield SENSITIVITY.claim(
        "delta",
        CLAIMED,
        session_delta(),
        "b = 1, K = 20, l_q = 3: the exact δ of the sessions, over every session of three queries. The printed one is "
        "loose, on the safe side.",
        noted="2.35e-8",
    )
    long = mined([f"q{i}" for i in range(10)], longest=3)
    yield SENSITIVITY.claim(
        "mined-first",
        "4",
        sum(long.values()),
        "Steps 2 and 3 in the order they are printed, mining before trimming to l_q = 3: what one session of ten "
        "queries adds, over {} keys. Sessions must be trimmed first.",
        Number(len(long), "165"),
        noted="1013",
    )


def session_delta() -> float:
    """δ of the sessions at b = 1, K = 20, one session of at most three queries."""
    return max(new_keys_delta(list(mined(s).values()), 1, 20) for s in product("abc", repeat=3))


def click_delta() -> float:
    """δ of the clicks at b = 1, K = 20, at most four clicks: the largest over every way to distribute them."""
    ways = ([4], [3, 1], [2, 2], [2, 1, 1], [1, 1, 1, 1])
    return max(new_keys_delta(counts, 1, 20) for counts in ways)


# ------------------------------------------------------------------ both together


def moved_key(count: int, K: int) -> LossGrid:
    """The loss of one key, selected and counted at b = 1, when its count grows by one; rounded down."""
    before, after = (survives(n, 1, K, 1) for n in (count, count + 1))
    losses, mass = laplace(1, 1, "down")
    at = np.append(losses + math.log(after / before), math.log((1 - after) / (1 - before)))
    return LossGrid.at(at, np.append(mass * after, 1 - after), GRID, "down")


def combined() -> Iterator[NumberRow]:
    """19 users against 20, each with the session [q1, q2, q3] and the same four clicks."""
    one = moved_key(19, 20)
    total = one.times(KEYS)
    setting = (
        "19 users against 20, each with the session [q1, q2, q3] and the same four clicks: eight keys go from 19 to "
        "20, each selected and then counted."
    )
    delta, claim = total.delta(8), Sessions(variant="published", b=1, K=20).claimed()
    yield COMBINED.claim(
        "delta-at-8",
        CLAIMED,
        delta,
        f"{setting} Losses added up exactly, rounded down: δ(8) is at least this, {{}} thousand times the claim. The "
        "paper states the weaker of its two parts for both; their costs add up.",
        Number(delta / (claim.delta or math.nan) / 1000, "221"),
        noted="0.0497",
    )
    with_her = (survives(20, 1, 20, 1) * 0.5) ** KEYS
    without = (survives(19, 1, 20, 1) * survives(19, 1, 20, 1)) ** KEYS
    yield COMBINED.claim(
        "event",
        CLAIMED,
        with_her - math.exp(8) * without,
        f"{setting} The event 'all eight released, every count at least 20' has probability {{}} against {{}}; this is "
        "the first less e^8 times the second.",
        Number(with_her, "1.526e-5"),
        Number(without, "1.717e-12"),
        noted="1.525e-5",
    )
    yield COMBINED.claim(
        "delta-at-16",
        CLAIMED,
        total.delta(16),
        f"{setting} At ε = 16 nothing is left: 16 is what both cost.",
        noted="0",
    )
    yield COMBINED.claim(
        "one-part",
        CLAIMED,
        one.times(KEYS // 2).delta(8),
        "δ(8) of either part alone: each is right by itself.",
        noted="0",
    )


PAPER = Paper("sessions", "Zhang, Yang: Deriving Differentially Private Session Logs for Query Suggestion (2017)", rows)
