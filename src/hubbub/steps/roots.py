"""isqrt(top // below) as SQL: floating point only guesses, exact integers correct it, on any engine alike."""

from __future__ import annotations


def rooted(rows: str, kept: str = "kid") -> str:
    """SQL of (kid, root) from SQL of (kid, top, below): whole numbers below 2^62, `below` positive.

    `kept` may name other columns than kid.
    """
    guessed = f"SELECT {kept}, top, below, CAST(floor(CAST(top AS DOUBLE) / below) AS BIGINT) AS q FROM ({rows}) AS r"
    quotient = "CASE WHEN q * below > top THEN q - 1 WHEN (q + 1) * below <= top THEN q + 1 ELSE q END"
    divided = f"SELECT {kept}, {quotient} AS x FROM ({guessed}) AS guessed"
    started = f"SELECT {kept}, x, CAST(floor(sqrt(CAST(x AS DOUBLE))) AS BIGINT) AS s FROM ({divided}) AS divided"
    root = "CASE WHEN s * s > x THEN s - 1 WHEN (s + 1) * (s + 1) <= x THEN s + 1 ELSE s END"
    return f"SELECT {kept}, {root} AS root FROM ({started}) AS started"
