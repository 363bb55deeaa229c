"""Hong et al. 2012: the bound |O| <= users · B that Tables 4 to 7 break, and why sampling users is not private.

Sum the constraints of all n users, Σ_j x_j ln t_jk <= B. For every pair Σ_k ln t_jk = −Σ_k ln(1 − c_jk/c_j) >=
Σ_k c_jk/c_j = 1, so |O| = Σ_j x_j <= nB, whatever the log is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from hubbub.mechanisms.optimal.published.problem import Limit, Problem
from hubbub.papers.numbers.hong_printed import DELTAS, OUTPUT, PAIRS, RETAINED, SIZE, USERS
from hubbub.papers.numbers.rows import Number, NumberRow, Paper, PaperPart, agrees

NAME = "Hong et al. 2012"
TABLE_4 = PaperPart(
    NAME, "hong/table-4", "Table 4: the largest output, |D| = 53067, n = 1980; computed is the limit nB"
)
FORCED = PaperPart(NAME, "hong/forced", "What a printed size s forces: some user has ε >= s/n and δ >= 1 − e^(−s/n)")
TABLES_5_6 = PaperPart(NAME, "hong/tables-5-6", "Tables 5 and 6: outputs at e^ε = 2, δ = 0.5; computed is the limit nB")
TABLE_7 = PaperPart(
    NAME, "hong/table-7", "Table 7: retained pairs of 6043; computed is the limit nB, as each has a row"
)
SECTION_6_3 = PaperPart(NAME, "hong/section-6.3", 'Section 6.3: "Precision is always equal to 1", and why')
FIGURE_1 = PaperPart(NAME, "hong/figure-1", "Figure 1: the example x = {0, 3, 20, 0, 4}")
SAMPLING = PaperPart(NAME, "hong/sampling", "Theorem 1: sampling user-IDs is (ε, δ)-probabilistically private")
END_TO_END = PaperPart(
    NAME, "hong/end-to-end", "Section 4.2: optimal counts made private by Lap(d/ε′); e^ε = 2, δ = 0.5"
)

NOTED_4 = {("1.001", "1e-4"): "0.20", ("2.0", "0.5"): "1372", ("2.3", "0.8"): "1649"}
NOTED_7 = {("2.0", "1e-3"): ("1.98", "774"), ("2.0", "0.8"): ("1372", "1849")}


def power(e_epsilon: str, delta: str) -> Fraction:
    """e^B = min{e^ε, 1/(1−δ)}, exactly."""
    return min(Fraction(e_epsilon), 1 / (1 - Fraction(delta)))


def limit(e_epsilon: str, delta: str) -> float:
    """nB, B = min{ε, ln 1/(1−δ)}."""
    return USERS * math.log(power(e_epsilon, delta))


def rows() -> Iterator[NumberRow]:
    """All rows: the tables, then the theorem, then the whole algorithm."""
    yield from table_4()
    yield from forced()
    yield from tables_5_to_7()
    yield from precision()
    yield from sampling()
    yield from end_to_end()


# ------------------------------------------------------------------ Tables 4 to 7


def table_4() -> Iterator[NumberRow]:
    """Table 4: one row for each class of cells with equal B, then what else the table says."""
    classes: dict[Fraction, list[tuple[str, str]]] = {}
    for e_epsilon in OUTPUT:
        for delta in DELTAS:
            classes.setdefault(power(e_epsilon, delta), []).append((e_epsilon, delta))
    sizes = [{OUTPUT[e][DELTAS.index(d)] for e, d in cells} for cells in classes.values()]
    for cells, size in zip(classes.values(), sizes, strict=True):
        first = cells[0]
        where = " ".join(f"({e}, {d})" for e, d in cells)
        for printed in size:
            share = printed / USERS
            yield TABLE_4.fits(
                f"{first[0]}-{first[1]}",
                str(printed),
                limit(*first),
                f"Cells (e^ε, δ) with this B: {where}. The printed size forces some user to have ε >= {share:.2f} and "
                f"δ >= {-math.expm1(-share):.4f}.",
                noted=NOTED_4.get(first),
            )
    yield TABLE_4.stated(
        "classes",
        "constant on cells of equal B",
        len(classes),
        all(len(size) == 1 for size in sizes),
        "Classes of equal B in the {} cells: the pattern is right, the sizes are not. The classes of (1.001, 1e-3) and "
        "(1.01, 1e-3) differ by {} % in B and need not coincide; both are printed 4007.",
        Number(len(OUTPUT) * len(DELTAS), "49"),
        Number(100 * (limit("1.01", "1e-3") / limit("1.001", "1e-3") - 1), "0.1"),
        noted="12",
    )
    for name, percent, rows_printed in (("smallest", "7.08", 3759), ("largest", "26.2", 13901)):
        share = 100 * rows_printed / SIZE
        yield TABLE_4.printed(
            f"percent-{name}", percent, share, f"{rows_printed} of {SIZE}, in percent.", noted=percent
        )
    low, high = ("1.001", "1e-4"), ("2.0", "0.5")
    growth = limit(*high) / limit(*low)
    yield TABLE_4.stated(
        "ratio",
        "3.48",
        growth,
        agrees(growth, "3.48"),
        "The optimum of the linear program between B = ln 2 and B = 1e-4: it is linear in B, so it grows by this "
        "factor; the printed one grows by {}.",
        Number(13088 / 3759, "3.48"),
        noted="6931",
        otherwise="impossible",
    )
    yield TABLE_4.fits(
        "other-readings",
        "13901",
        limit("2.3", "0.8") * math.log(10) + PAIRS,
        "Even with ε by the natural logarithm and the constraints by the decimal one (times {}), and every x rounded "
        "up ({} more), the top cell allows no more than this. What the authors ran is not known.",
        Number(math.log(10), "2.30"),
        Number(PAIRS, "6043"),
        noted="9840",
    )


def forced() -> Iterator[NumberRow]:
    """The δ and the ε that some user must have had, given the sizes that were printed."""
    for size, delta, noted in ((3759, "1e-4", "0.850"), (13088, "0.5", "0.9987")):
        yield FORCED.claim(
            f"{size}-delta", delta, -math.expm1(-size / USERS), f"{size} rows were printed for this δ.", noted=noted
        )
    yield FORCED.claim(
        "13088-epsilon", math.log(2), 13088 / USERS, "13088 rows were printed for e^ε = 2.", noted="6.61"
    )
    for delta, noted in (("0.5", "990"), ("0.1", "198")):
        yield FORCED.stated(
            f"users-{delta}",
            "Pr[Ω1] <= δ for each user",
            USERS * float(delta),
            True,
            f"What δ = {delta} means even if all holds: so many of 1980 real users may appear with true clicks. Holds "
            "by construction: it is the paper's own condition, written as a number of users.",
            noted=noted,
            inequality=True,
        )


def tables_5_to_7() -> Iterator[NumberRow]:
    """Tables 5 to 7: every output size, and every percentage of pairs."""
    for size in range(3000, 9000, 1000):
        yield TABLES_5_6.fits(
            str(size), str(size), limit("2.0", "0.5"), f"Both columns |O| = {size}, five entries each.", noted="1372"
        )
    broken = 0
    for side, cells in RETAINED.items():
        for (e_epsilon, delta), entries in cells.items():
            most = limit(e_epsilon, delta)
            pairs = [round(float(percent) / 100 * PAIRS) for percent in entries]
            broken += sum(n > most for n in pairs)
            noted, top = NOTED_7.get((e_epsilon, delta), (None, str(max(pairs))))
            yield TABLE_7.stated(
                f"{side}-{e_epsilon}-{delta}",
                ", ".join(f"{percent}%" for percent in entries),
                most,
                all(n <= most for n in pairs),
                f"({side}), e^ε = {e_epsilon}, δ = {delta}: {min(pairs)} to {{}} pairs were printed.",
                Number(max(pairs), top),
                noted=noted,
                inequality=True,
                otherwise="impossible",
            )
    yield TABLE_7.stated(
        "entries", "60 entries", broken, broken == 0, "Entries above the limit.", noted="60", otherwise="impossible",
        inequality=True,
    )  # fmt: skip
    held = np.array([[2, 0, 0], [3, 0, 1], [15, 7, 17], [0, 0, 1], [0, 2, 5]])
    x = np.array([0, 3, 20, 0, 4])
    used = held[x > 0]
    load = (x[x > 0, None] * -np.log1p(-used / used.sum(axis=1, keepdims=True))).sum(axis=0)
    yield FIGURE_1.stated(
        "epsilon",
        "satisfies the constraints",
        float(load.max()),
        bool(load.max() <= math.log(2.3)),
        "The ε that user 083 of the example needs. The largest e^ε in the paper is 2.3.",
        noted="17.3",
        inequality=True,
        otherwise="impossible",
    )


# ------------------------------------------------------------------ the theorem, and the whole algorithm


def optimum(n: int, bound: Limit | None = None) -> int:
    """x*: the most rows of one pair that n users hold once each, every constraint decided in integers."""
    if n < 2:
        return 0
    bound = bound or Limit(Fraction(math.log(2)), Fraction(1, 2))
    problem = Problem.of(np.arange(n), np.zeros(n, np.int64), np.ones(n, np.int64))
    x = int(bound.bound / float(problem.hardest[0]))
    while problem.broken(np.array([x]), bound).size:
        x -= 1
    return x


def precision() -> Iterator[NumberRow]:
    """F-UMP as printed on a tiny log, every solution enumerated: what its optimum does to pairs that were not frequent.

    The paper argues that a pair that is frequent in the output only could be reduced at no cost. It cannot: |O| is
    fixed, and the rows have to come from somewhere.
    """
    counts = [*[(user, 0, 45) for user in range(2)], *[(user, 1, 1) for user in range(2, 12)]]
    problem = Problem.of(*(np.array(column) for column in zip(*counts, strict=True)))
    bound, support, size = Limit(Fraction(1), Fraction(1, 2)), Fraction(1, 5), 7  # B = ln 2, by δ
    total = int(problem.totals.sum())
    before = [Fraction(int(n), total) for n in problem.totals]
    frequent = {j for j, share in enumerate(before) if share >= support}
    feasible = [(x, size - x) for x in range(size + 1) if not problem.broken(np.array([x, size - x]), bound).size]
    distance = {x: sum(abs(Fraction(x[j], size) - before[j]) for j in frequent) for x in feasible}
    best = [x for x in feasible if distance[x] == min(distance.values())]

    def kept(x: tuple[int, int]) -> float:
        """|S0 ∩ S| / |S| of one solution."""
        out = {j for j, n in enumerate(x) if Fraction(n, size) >= support}
        return len(out & frequent) / len(out)

    yield SECTION_6_3.printed(
        "counterexample",
        "1",
        max(kept(x) for x in best),
        f"The best precision of any optimum of F-UMP as printed: B = ln 2, s = 1/5, |O| = {size}. Pair a is held by "
        f"two users 45 times each, pair b by ten users once each: a is frequent, b is not. Every optimum has (a, b) = "
        f"{', '.join(map(str, best))}: a may come out once at most, |O| is fixed, so b fills it and is frequent in the "
        "output alone. That the paper's own runs had 1 cannot be checked; that it must be so is false.",
        noted="0",
    )


def sampling() -> Iterator[NumberRow]:
    """Definition 2 as the paper states it, and one user more."""
    outputs = list(product(range(4), repeat=optimum(4)))
    yield SAMPLING.claim(
        "definition-2",
        "0.5",
        sum(any(user in output for user in range(4)) for output in outputs) / len(outputs),
        "Four users hold a pair once, x = 2: the chance of an output that some neighbour cannot give. Definition 2 "
        "wants one exceptional set for all neighbours. Every output that is not empty names a real user s and is "
        "impossible without s: the set holds them all, δ = 1. The proof lets the set depend on s.",
        noted="1",
    )
    x, others, count = optimum(4), 4, 96
    total = others + count
    ratio = (total / others) ** x
    yield SAMPLING.claim(
        "one-more-user",
        "2",
        ratio,
        "Four users hold a pair once, x = 2; one more holds it 96 times. An output without the new user has this "
        "ratio, with e^ε = 2 claimed, and the new user is in the output with probability {}.",
        Number(1 - 1 / ratio, "0.9984"),
        noted="625",
    )


def end_to_end() -> Iterator[NumberRow]:
    """The optimal counts depend on the log, and removing users does not help."""
    yield END_TO_END.claim(
        "size-of-output",
        "0.5",
        float(optimum(4) == 2) - float(optimum(3) == 2),
        "One pair that n users hold once: the optimum is {} for n = 3 and {} for n = 4. The event |O| = 2 has "
        "probability 1 against 0.",
        Number(optimum(3), "1"),
        Number(optimum(4), "2"),
        noted="1",
    )
    d = 0.5
    optima = {n: optimum(n) for n in range(1002)}

    def at_once(n: int) -> int:
        """All users that move the optimum by more than d are removed together; all users are alike."""
        return 0 if optima[n] - optima[n - 1] > d else optima[n]

    def one_by_one(n: int, x: dict[int, int]) -> int:
        """Each user in turn is removed if the optimum without them is more than d away."""
        left = n
        for _ in range(n):
            left -= x[left] - x[left - 1] > d
        return x[left]

    yield END_TO_END.claim(
        "removed-at-once",
        d,
        abs(at_once(6) - at_once(7)),
        "d = 0.5: users who move the optimum by more than d are removed. n = 6 keeps all ({}), n = 7 removes all ({}).",
        Number(at_once(6), "3"),
        Number(at_once(7), "0"),
        noted="3",
    )
    jump = at_once(1000) - at_once(1001)
    yield END_TO_END.claim(
        "cost-of-a-jump",
        1.0,
        jump / d,
        "n = 1000 has {}, n = 1001 has {}: Lap(d/ε′) then costs this many ε′.",
        Number(at_once(1000), "692"),
        Number(at_once(1001), "0"),
        noted="1384",
    )
    yield END_TO_END.claim(
        "removed-one-by-one",
        d,
        abs(one_by_one(9, optima) - one_by_one(8, optima)),
        "The same one user after the other: n = 8 has {}, n = 9 has {}.",
        Number(one_by_one(8, optima), "3"),
        Number(one_by_one(9, optima), "5"),
        noted="2",
    )
    wider = Limit(Fraction(95, 100), Fraction(99, 100))
    looser = {n: optimum(n, wider) for n in range(201)}
    kept = [one_by_one(n, looser) for n in range(2, 201)]
    yield END_TO_END.claim(
        "largest-jump",
        d,
        max(abs(a - b) for a, b in pairwise(kept)),
        "One user after the other at B = 0.95: the largest jump for n up to 200.",
        noted="19",
    )


PAPER = Paper(
    "hong",
    "Hong, Vaidya, Lu, Wu: Differentially Private Search Log Sanitization with Optimal Output Utility (2012)",
    rows,
)
