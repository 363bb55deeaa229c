"""DP n-gram extraction (Kim, Gopi, Kulkarni and Yekhanin 2021): its rule for n-grams that nobody holds, written again.

Words pass a threshold; then n-grams are extracted from those whose two ends, of n − 1 words, were extracted. Among
the valid ones that nobody holds, some come out too, so that their absence tells nothing: each with the chance of noise
alone to pass. Two rules are here:

    valid   that chance for each valid n-gram that nobody holds: what the proof needs
    pairs   what the authors' published code draws (commit 3cc4c7c, extract_dpne.py, subsampling off): as many as there
            would be among the valid ones, but taken from all pairs of an extracted (n − 1)-gram and a word. Most of
            these pairs are not valid, so a valid n-gram comes out less often than noise would let it pass

Around the log of the black box stand users who never change: they make ten words and two pairs, `a b` and `b c`, known.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from statistics import NormalDist

from shared import Log, dice

NORMAL = NormalDist()
SIZES, WORDS, USERS, MOST = 3, 10, 60, 9
"""Words in an n-gram; what stands around the log; and how many n-grams of one size a user may bring."""
TEXTS = {"own": "a b c", "known": "a b"}
"""What a key of the black box says, and what the n-gram is called in the output; any other key is a word of its own."""


@lru_cache
def scale(epsilon: float, delta: float) -> float:
    """The smallest σ at which one Gaussian of sensitivity 1 is (ε, δ)-private (Balle and Wang 2018)."""
    low, high = 1e-3, 1e3
    for _ in range(100):
        at = math.sqrt(low * high)
        left, right = NORMAL.cdf(0.5 / at - epsilon * at), NORMAL.cdf(-0.5 / at - epsilon * at)
        low, high = (low, at) if left - math.exp(epsilon) * right <= delta else (at, high)
    return high


def grams(text: str, size: int) -> set[str]:
    """The n-grams of a text."""
    words = text.split()
    return {" ".join(words[n : n + size]) for n in range(len(words) - size + 1)}


def held(texts: list[str], size: int, valid: set[str] | None) -> Counter[str]:
    """What one user adds: weights of norm 1 on her n-grams, those that are valid."""
    found = sorted({gram for text in texts for gram in grams(text, size)})
    own = [gram for gram in found if valid is None or gram in valid]
    own = dice.sample(own, MOST) if len(own) > MOST else own
    return Counter(dict.fromkeys(own, 1 / math.sqrt(len(own)))) if own else Counter()


@lru_cache
def background() -> tuple[str, ...]:
    """One text of users who never change; `USERS` of them have each."""
    return ("a", "b", "c", *(f"w{n}" for n in range(WORDS - 3)), "a b", "b c")


def release(log: Log, *, rule: str, epsilon: float, delta: float, eta: float) -> list[str]:
    """The extracted n-grams of up to three words."""
    users = [([text], USERS) for text in background()]
    users += [([TEXTS.get(key, key) for key in keys], 1) for keys in log.values()]
    sigma = scale(epsilon, delta / 2) * math.sqrt(SIZES)
    out: list[str] = []
    words: set[str] = set()
    before: set[str] = set()
    for size in range(1, SIZES + 1):
        valid = None if size == 1 else {f"{gram} {word}" for gram in before for word in words}
        if size > 2 and valid is not None:
            valid = {gram for gram in valid if gram.split(" ", 1)[1] in before}
        counts: Counter[str] = Counter()
        for texts, alike in users:
            counts.update({gram: alike * weight for gram, weight in held(texts, size, valid).items()})
        if valid is None:
            bar = max(1 / math.sqrt(t) + sigma * NORMAL.inv_cdf((1 - delta / 2) ** (1 / t)) for t in range(1, MOST + 1))
        else:
            bar = sigma * NORMAL.inv_cdf(1 - eta * min(1.0, len(before) / max(len(valid), 1)))
        found = {gram for gram, weight in counts.items() if weight + dice.gauss(0, sigma) > bar}
        if valid is not None:
            chance = NORMAL.cdf(-bar / sigma)
            if rule == "valid":
                found |= {gram for gram in valid - counts.keys() if dice.random() < chance}
            else:
                number = sum(dice.random() < chance for _ in range(len(valid) - len(found)))
                others = sorted({f"{gram} {word}" for gram in before for word in words} - found)
                found |= set(dice.sample(others, min(number, len(others))))
        words, before = (found, found) if size == 1 else (words, found)
        out += sorted(found)
    called = {text: key for key, text in TEXTS.items()}
    return [called.get(gram, gram) for gram in out]
