"""Randomness by counting: every number is a function of the seed, the place and the purpose, and of nothing else.

A place is a 64-bit key: `child(child(seed, user), session)` and so on, down to one click. A purpose says what is being
decided there. Both are mixed by the finaliser of splitmix64, so no generator carries a state from one user to the
next: a user's rows do not depend on how many users there are, nor on how they are cut into chunks.

None of this is fit for a release: noise for a release comes from `hubbub.noise` alone.
"""

from __future__ import annotations

from enum import IntEnum, auto

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

STEP, ONE, TWO = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
WORD = (1 << 64) - 1


class Purpose(IntEnum):
    """What a random number decides."""

    # a user
    SESSIONS = auto()
    SESSIONS_TOO = auto()
    HEAD = auto()
    HEAD_TOO = auto()
    CLICKING = auto()
    INTERESTS = auto()
    HABITS = auto()
    # a session
    DAY = auto()
    SECOND = auto()
    LENGTH = auto()
    # a search
    MOVE = auto()
    HABIT = auto()
    WHICH_HABIT = auto()
    REFORMULATION = auto()
    SPELLING = auto()
    EVENTS = auto()
    GAP = auto()
    # a need
    INTENT = auto()
    BEND = auto()
    WHICH_INTEREST = auto()
    FORM = auto()
    VARIANT = auto()
    COMPLETES = auto()
    COMPLETION = auto()
    # a result page
    PAUSE = auto()
    DEEPER = auto()
    PAGES = auto()
    CLICK = auto()
    CLICKS = auto()
    # a click
    POSITION = auto()
    FOLLOWS = auto()
    OWN_SITE = auto()
    # the world
    WORLD = auto()
    KIND = auto()
    SMALL_SITE = auto()
    LENGTH_IN_WORDS = auto()
    WORD_RANK = auto()
    WORD_TOPIC = auto()
    LETTER = auto()
    ENDING = auto()
    RESULT = auto()
    SHARED = auto()
    BEST = auto()
    DOCUMENTS = auto()
    DOCUMENTS_TOO = auto()
    # a canary
    CANARY = auto()
    WHO = auto()
    WHEN = auto()
    # what changes; new purposes come last, so that the others keep their numbers
    CHANGES = auto()
    CHANGING_RANK = auto()
    CHANGING_WHEN = auto()
    ASKS_NOW = auto()
    INSTEAD = auto()
    ARRIVES = auto()
    ARRIVES_WHEN = auto()
    LEAVES = auto()
    LEAVES_WHEN = auto()
    # where somebody is, and on what
    HOME = auto()
    AT_HOME = auto()
    ELSEWHERE = auto()
    WHERE_ELSE = auto()
    DEVICE = auto()
    OTHER_DEVICE = auto()
    WHICH_DEVICE = auto()
    # the wording of a readable log
    SORT = auto()
    # typing errors
    TYPO = auto()
    WHICH_TYPO = auto()


def _mixed(number: int) -> int:
    """The finaliser of splitmix64 on one Python integer."""
    z = number & WORD
    z = ((z ^ (z >> 30)) * ONE) & WORD
    z = ((z ^ (z >> 27)) * TWO) & WORD
    return z ^ (z >> 31)


SALT = {purpose: np.uint64(_mixed(STEP * (purpose + 1))) for purpose in Purpose}


def mix(keys: Keys) -> Keys:
    """The finaliser of splitmix64, in place: the argument must be a fresh array."""
    high = keys >> np.uint64(30)
    keys ^= high
    keys *= np.uint64(ONE)
    np.right_shift(keys, np.uint64(27), out=high)
    keys ^= high
    keys *= np.uint64(TWO)
    np.right_shift(keys, np.uint64(31), out=high)
    keys ^= high
    return keys


def root(seed: int) -> Keys:
    """The key of everything made from this seed."""
    return np.array([_mixed(_mixed(seed) + STEP)], np.uint64)


def child(keys: Keys, index: Ints) -> Keys:
    """The key of the index-th thing inside each thing."""
    inner = (index + 1).astype(np.uint64)
    inner *= np.uint64(STEP)
    return mix(inner + keys)


def salted(keys: Keys, purpose: Purpose) -> Keys:
    """64 random bits for each key, for this purpose."""
    return mix(keys ^ SALT[purpose])


def unit(bits: Keys) -> Floats:
    """Numbers strictly between 0 and 1, of 52 bits."""
    return np.asarray(((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def draw(keys: Keys, purpose: Purpose) -> Floats:
    """A number strictly between 0 and 1 for each key."""
    return unit(salted(keys, purpose))


def below(keys: Keys, purpose: Purpose, bound: int) -> Ints:
    """A whole number from 0 to bound - 1 for each key."""
    return (((salted(keys, purpose) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


def normal(keys: Keys, first: Purpose, second: Purpose) -> Floats:
    """A standard normal number for each key, by Box and Muller."""
    return np.asarray(np.sqrt(-2 * np.log(draw(keys, first))) * np.cos(2 * np.pi * draw(keys, second)))
