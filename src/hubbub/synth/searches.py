"""Searches: how a session goes from one query to the next.

Each step after the first is the same need in other words, the session's first query again, or a new need. A new
need comes from the user's own list, so that people repeat themselves, or is fresh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hubbub.synth.curves import choose
from hubbub.synth.hashing import Ints, Keys, Mask, Purpose, below, child, draw, salted
from hubbub.synth.numbers import COMPLETIONS
from hubbub.synth.people import Users, UserSessions
from hubbub.synth.queries import settled
from hubbub.synth.vocabulary import RESIDUES, TOPICS
from hubbub.synth.world import World

UNBENT = 4 * RESIDUES  # the most popular intents have no topic to be bent to
RARE_SPELLINGS, MANY_SPELLINGS = 24.0, 300.0
FIRST_RARE = 6  # variants 0 to 5 are a site's plain spellings
HEALTH = TOPICS.index("health")


@dataclass(frozen=True)
class SyntheticSearches:
    """Searches column by column, in the order of user, session and step."""

    user: Ints
    session: Ints
    first: Ints  # the session's first search
    keys: Keys
    intent: Ints
    variant: Ints
    navigational: Mask
    popularity: Ints  # rank


def searches(world: World, people: Users, sessions: UserSessions) -> SyntheticSearches:
    """All searches of these sessions."""
    law = world.preset.sessions
    session = np.repeat(np.arange(len(sessions.user)), sessions.length)
    first = (np.cumsum(sessions.length) - sessions.length)[session]
    index = np.arange(len(session))
    step = index - first
    keys = child(sessions.keys[session], step)
    user = sessions.user[session]

    move = draw(keys, Purpose.MOVE)
    again = (step > 0) & (move < law.reformulate)
    back = (step > 1) & (move > 1 - law.back)
    new = np.flatnonzero(~again & ~back)

    intent, variant = np.zeros(len(index), np.int64), np.zeros(len(index), np.int64)
    navigational = np.zeros(len(index), np.bool_)
    need = _needs(world, people, user, keys, new, step)
    popularity = np.zeros(len(index), np.int64)
    period = world.periods.of(sessions.start[session[new]])
    need, popularity[new], intent[new] = _asked_now(world, people, user[new], period, need)
    navigational[new] = world.navigational(intent[new])
    variant[new] = _variants(world, need, navigational[new])

    latest = np.zeros(len(index), np.int64)
    latest[new] = new
    latest = np.maximum.accumulate(latest)
    intent, popularity, navigational = intent[latest], popularity[latest], navigational[latest]

    where = np.flatnonzero(again)
    wording = _reformulations(world, keys[where], navigational[where])
    same = ~again[where - 1] & (wording == variant[where - 1])
    variant[where] = wording + same

    where = np.flatnonzero(back)
    for values in (intent, popularity, navigational, variant):
        values[where] = values[first[where]]
    intent, variant = settled(world, intent, variant, navigational)
    return SyntheticSearches(user, session, first, keys, intent, variant, navigational, popularity)


def _needs(world: World, people: Users, user: Ints, keys: Keys, new: Ints, step: Ints) -> Keys:
    """The key of each new need: the search's own, or that of an item of the user's list."""
    law, who = world.preset.needs, user[new]
    searched = np.bincount(user, minlength=len(people.index))
    items = np.log1p(searched**world.preset.people.habits)[who]
    share = np.where(step[new] == 0, law.habit, law.later_habit * law.habit)
    habit = np.flatnonzero(draw(keys[new], Purpose.HABIT) < share)
    item = np.exp(draw(keys[new[habit]], Purpose.WHICH_HABIT) * items[habit]).astype(np.int64)
    need = keys[new]
    need[habit] = child(people.habits[who[habit]], item)
    return need


def _intents(world: World, people: Users, user: Ints, need: Keys) -> tuple[Ints, Ints]:
    """The popularity rank and the intent of each new need."""
    law = world.preset.needs
    rank = world.popularity.tilted(draw(need, Purpose.INTENT), people.head[user])
    bent = np.flatnonzero((draw(need, Purpose.BEND) < law.interest) & (rank > UNBENT))
    which = below(need[bent], Purpose.WHICH_INTEREST, people.interests.shape[1])
    rank[bent] += people.interests[user[bent], which] - rank[bent] % RESIDUES
    intent = world.meant(rank)
    completes = np.flatnonzero(draw(need, Purpose.COMPLETES) < law.completion)
    which = choose(world.fears, draw(need[completes], Purpose.COMPLETION))
    intent[completes] = COMPLETIONS + RESIDUES * which + HEALTH
    return rank, intent


def _asked_now(world: World, people: Users, user: Ints, period: Ints, need: Keys) -> tuple[Keys, Ints, Ints]:
    """The needs, their ranks and intents, after those that are not asked in their period have made way for others."""
    need = need.copy()
    rank, intent = _intents(world, people, user, need)
    where = np.arange(len(need))
    while world.changing is not None and len(where):
        asked = world.changing.asked(intent[where], people.keys[user[where]], period[where])
        where = where[~asked]
        need[where] = salted(need[where], Purpose.INSTEAD)
        rank[where], intent[where] = _intents(world, people, user[where], need[where])
    return need, rank, intent


def _variants(world: World, need: Keys, navigational: Mask) -> Ints:
    """Which variant of its text the user asks for a new need."""
    law = world.preset.queries
    form, rarer = draw(need, Purpose.FORM), draw(need, Purpose.VARIANT)
    spelling = choose(np.cumsum(law.spellings), form)
    rare = FIRST_RARE - 1 + np.exp(rarer * np.log(RARE_SPELLINGS)).astype(np.int64)
    varied = np.exp(rarer * np.log(law.variants)).astype(np.int64)
    return np.where(
        navigational,
        np.where(spelling < len(law.spellings), spelling, rare),
        np.where(form < 1 - law.varied, 0, varied),
    )


def _reformulations(world: World, keys: Keys, navigational: Mask) -> Ints:
    """Which variant of its text the user asks next for the same need."""
    law = world.preset.queries
    uniform = draw(keys, Purpose.REFORMULATION)
    rest = np.maximum(uniform - law.respelled, 0) / (1 - law.respelled)
    rare = FIRST_RARE - 1 + np.exp(rest * np.log(MANY_SPELLINGS)).astype(np.int64)
    plain = below(keys, Purpose.SPELLING, 3)
    worded = np.exp(uniform * np.log(law.reformulations)).astype(np.int64)
    return np.where(navigational, np.where(uniform < law.respelled, plain, rare), worded)
