"""One setting of one subject: search for bad neighbours and events, test them on fresh runs, shrink what was found.

Searching and testing never share a run, so a search may be as greedy as it likes; what is tested is a ratio of
likelihoods that is believed only from 1/α on (`evidence.py`).
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hubbub.audit.blackbox.evidence import Bet, mean_of_logs, smallest_seen, surprise
from hubbub.audit.blackbox.logs import USUAL, Log, LogPair, by_hand, changed, group, smaller, start_exchanged
from hubbub.audit.blackbox.outcome import OutputEvent, RunOutcome, questions
from hubbub.audit.blackbox.runs import CRASHES, SubjectProcess, Unfit

REFUTED, NOT_REFUTED, NO_FUNCTION = "refuted", "not refuted", "is no function of its input"
ALPHA = 1e-6
EXPLORED, BEST, EVENTS, ROUND, LARGEST = 96, 3, 12, 128, 1024
CLEAR = 40.0
"""A score at which nothing better needs to be searched for."""
AT_ONCE, SEARCH, SHRINK = 0.4, 0.6, 0.2
"""Parts of the time: until when the usual suspects are tested, until when others are searched for, and what is left."""


@dataclass(frozen=True)
class BlackBoxVerdict:
    """What was found about one setting; "not refuted" says how large a violation would have been seen."""

    subject: str
    settings: Mapping[str, Any]
    epsilon: float
    delta: float
    neighbours: str
    verdict: str
    seen: str
    runs: int = 0
    alpha: float = ALPHA
    """The chance of a refutation by accident, over everything that was looked at in this setting."""
    evidence: float | None = None
    """log10 of the ratio that decided: the mean over all events watched on that pair, or, on a smaller pair, of the one
    that was tested again there. None where the law was walked through."""
    power: float | None = None
    """The chance of an event, impossible without her, from which on it would have been refuted on the pair of logs that
    was watched longest; on others it would have had to be more likely."""
    with_her: Log | None = None
    without: Log | None = None
    event: str = ""
    rates: tuple[float, float] | None = None
    script: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def refuted(self) -> bool:
        """Whether a violation was found."""
        return self.verdict == REFUTED

    def record(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Guess:
    """A pair, and the events that looked bad there: each with the direction in which they do."""

    score: float
    pair: LogPair
    events: tuple[tuple[OutputEvent, bool], ...]
    """True: more likely with her."""


@dataclass
class Looking:
    """What a look at one setting knows while it goes on."""

    process: SubjectProcess
    epsilon: float
    delta: float
    exchange: bool
    seconds: float
    alpha: float
    dice: random.Random
    say: Callable[[str], None]
    timing: bool = False
    runs: int | None = None
    began: float = field(default_factory=time.monotonic)
    watched: int = 0
    """The pairs of fresh runs of the bet that was watched longest."""
    power: float = math.inf
    """The chance of an event that needs her from which on a bet, of the pair of logs watched longest, would be won."""

    def spent(self) -> float:
        """The part of the time, or of the runs, that is gone."""
        run = self.process.runs / self.runs if self.runs else 0.0
        return max(run, (time.monotonic() - self.began) / self.seconds)

    def liked(self, hits: int, misses: int, runs: int) -> float:
        """How much a search likes an event that came so often on the one log, and on the other."""
        allowed = self.delta + math.exp(min(self.epsilon, 700)) * (misses + 0.25) / (runs + 0.5)
        return surprise(hits, runs, min(1.0, allowed))


def look(
    subject: str,
    epsilon: float,
    delta: float,
    settings: Mapping[str, Any] | None = None,
    *,
    neighbours: str = "add-remove",
    seconds: float = 60.0,
    limit: float = 10.0,
    alpha: float = ALPHA,
    seed: int = 1,
    timing: bool = False,
    runs: int | None = None,
    python: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> BlackBoxVerdict:
    """Try to refute that a subject is (ε, δ)-private at these settings; `limit` is the time of one run.

    It ends after `seconds`, or after so many `runs`, whichever comes first.
    """
    given = dict(settings or {})
    about = (subject, given, epsilon, delta, neighbours)
    began = time.monotonic()
    process: SubjectProcess | None = None
    try:
        process = SubjectProcess(subject, {**given, "epsilon": epsilon, "delta": delta}, limit, python)
        dice = random.Random(seed)  # noqa: S311  (which logs are tried, not noise)
        at = Looking(process, epsilon, delta, neighbours == "replace", seconds, alpha, dice, say, timing, runs)
        found = _found(at, about)
    except Unfit as unfit:
        found = BlackBoxVerdict(*about, verdict=unfit.verdict, seen=unfit.seen, runs=process.runs if process else 0)
    finally:
        if process is not None:
            process.close()
    return BlackBoxVerdict(**{**found.__dict__, "seconds": round(time.monotonic() - began, 2)})


def _found(at: Looking, about: tuple[str, dict[str, Any], float, float, str]) -> BlackBoxVerdict:
    first = _fresh(at)
    pairs = [start_exchanged(p) if at.exchange else p for p in by_hand(_crowd(at))]
    exact = _walked(at, about, pairs)
    if exact is not None and exact.refuted:
        return exact
    usual = [Guess(0.0, pair, _thought_of(pair)) for pair in pairs[:USUAL]]
    won = _test(at, usual, at.alpha / 4, until=AT_ONCE)
    if won is None:
        guesses = _search(at, pairs)
        _same_later(at, first)
        won = _test(at, guesses, at.alpha / 4, until=1 - SHRINK)
    if won is not None:
        return _refutation(at, about, *_shrunk(at, *won))
    power = at.power if math.isfinite(at.power) else None
    seen = (
        f"an event of chance {power:.3g} that needs her would have been seen on the pair of logs watched longest"
        if power
        else "too few to see any event"
    )
    seen = f"{at.process.runs} runs; {seen}"
    seen = seen if exact is None else f"{exact.seen}; {seen}"
    return BlackBoxVerdict(*about, verdict=NOT_REFUTED, seen=seen, runs=at.process.runs, alpha=at.alpha, power=power)


# ------------------------------------------------------------------ is it a function of its input?

FIRST, SECOND = group("earlier", 40), group("later", 40)


def _fresh(at: Looking) -> list[RunOutcome]:
    """The first runs: of one log, then of another, in which nothing of the first may show."""
    first = at.process.sample(dict(_lists(FIRST)), ROUND)
    if all(out.error for out in first):
        raise Unfit(CRASHES, f"every run ends with an error: {first[0].error}")
    second = at.process.sample(dict(_lists(SECOND)), BEST)
    if any("earlier" in out.counts for out in second):
        raise Unfit(NO_FUNCTION, "a key of an earlier log came out of a later one")
    return first


def _same_later(at: Looking, first: list[RunOutcome]) -> None:
    """The same log must give the same law at the end as at the beginning."""
    again = at.process.sample(dict(_lists(FIRST)), ROUND)
    asked = questions(first, again)
    for event in asked:
        x, y = (sum(event.happens(out) for out in part) for part in (first, again))
        if _differs(x, y, ROUND) > math.log(2 * len(asked) / at.alpha):
            raise Unfit(
                NO_FUNCTION, f"one log, {event.words}: {x} of the first {ROUND} runs, {y} of {ROUND} later ones"
            )


def _differs(x: int, y: int, runs: int) -> float:
    """−log of a bound on the chance that two rates of one event are so far apart (Chernoff, at their mean)."""
    middle = (x + y) / (2 * runs)
    return sum(surprise(n, runs, middle) + surprise(runs - n, runs, 1 - middle) for n in (x, y))


def _lists(users: tuple[tuple[str, tuple[str, ...]], ...]) -> list[tuple[str, list[str]]]:
    return [(user, list(keys)) for user, keys in users]


# ------------------------------------------------------------------ search


def _crowd(at: Looking) -> int:
    """How many users a key needs to show about every second time; 8 where none is enough."""
    low, high = 0, 1
    while high <= LARGEST and _shows(at, high) < 0.5:
        low, high = high, 2 * high
        if at.spent() > AT_ONCE / 3:
            return 8
    if high > LARGEST:
        return 8
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _shows(at, middle) >= 0.5 else (middle, high)
    return high


def _shows(at: Looking, users: int) -> float:
    outs = at.process.sample(dict(_lists(group("known", users))), 12)
    return sum("known" in out.counts for out in outs) / len(outs)


def _walked(
    at: Looking, about: tuple[str, dict[str, Any], float, float, str], pairs: list[LogPair]
) -> BlackBoxVerdict | None:
    """The exact δ(ε) of small pairs, where the subject takes its noise as an argument and its law can be enumerated."""
    from hubbub.audit.checks.exact import surely

    worst, lumped_there, walked = 0.0, 0.0, 0
    for pair in pairs:
        if len({key for log in pair.logs for held in log.values() for key in held}) > 2 or at.spent() > 0.8:
            continue
        one, other = (at.process.law(log) for log in pair.logs)
        if one is None or other is None:
            return None
        walked += 1
        for left, right, her in ((one, other, True), (other, one, False)):
            delta, unsure = surely(left, right, min(at.epsilon, 700.0))  # type: ignore[arg-type]
            if delta > at.delta * (1 + 1e-9) + 1e-12:
                seen = f"δ({at.epsilon:g}) is {delta:.6g}, {at.delta:g} is claimed: every value of the noise was tried"
                p, q = left[0], right[0]
                most = max(p, key=lambda out: p[out] - math.exp(at.epsilon) * q.get(out, 0.0))
                event = OutputEvent("keys", "\0".join(sorted(most.counts)))
                logs = pair.logs if her else pair.logs[::-1]
                again = script(about, at.process.taken, logs, event)
                return BlackBoxVerdict(*about, verdict=REFUTED, seen=seen, with_her=logs[0], without=logs[1],
                                       event=event.words, script=again)  # fmt: skip
            worst, lumped_there = max(worst, delta), max(lumped_there, unsure)
    seen = f"δ({at.epsilon:g}) is {worst:.6g} at most on {walked} pairs: every value of the noise was tried"
    return BlackBoxVerdict(*about, verdict=NOT_REFUTED, seen=seen, power=lumped_there) if walked else None


def _search(at: Looking, pairs: list[LogPair]) -> list[Guess]:
    """The pairs that look worst, by hand-made ones and changes of the worst so far."""
    found: list[Guess] = []
    tried = 0
    while at.spent() < SEARCH:
        if tried < len(pairs):
            pair = pairs[tried]
        else:
            best = found[: 2 * BEST] or [Guess(0.0, pairs[0], ())]
            pair = changed(at.dice.choice(best).pair, at.dice)
        tried += 1
        guess = _guess(at, pair)
        found = sorted([g for g in found if g.pair != pair] + [guess], key=lambda g: -g.score)[:50]
        if guess.score > CLEAR:
            break
    at.say(f"{tried} pairs of logs tried")
    return [g for g in found if g.events][:BEST]


def _guess(at: Looking, pair: LogPair, runs: int = EXPLORED) -> Guess:
    one, other = at.process.sample_both(pair.logs, runs)
    scored = []
    for event in questions(one, other, timing=at.timing):
        x, y = (sum(event.happens(out) for out in part) for part in (one, other))
        for her, hits, misses in ((True, x, y), (False, y, x)):
            scored.append((at.liked(hits, misses, runs) + hits / runs * 1e-3, event, her))
    scored.sort(key=lambda s: -s[0])
    top = tuple((event, her) for _, event, her in scored[:EVENTS])
    return Guess(scored[0][0] if scored else 0.0, pair, top)


# ------------------------------------------------------------------ test, and make smaller


def _thought_of(pair: LogPair) -> tuple[tuple[OutputEvent, bool], ...]:
    """Events that need no run to be thought of: a key shows, or not, and how many keys do."""
    keys = sorted({key for log in pair.logs for held in log.values() for key in held})[:3]
    shown = [OutputEvent(asks, key) for key in keys for asks in ("shows", "absent")]
    return tuple((event, her) for event in (*shown, OutputEvent("rows at least", number=1)) for her in (True, False))


def _test(at: Looking, guesses: list[Guess], alpha: float, until: float) -> tuple[LogPair, Bet, bool, float] | None:
    """Bet on the events of all guesses with fresh runs, in turn, until one ratio is 1/α, or the time is over.

    What is won: the pair, the event that did most for it with its direction, and the logarithm of the ratio.
    """
    running = [(guess.pair, [(Bet(event), her) for event, her in guess.events]) for guess in guesses]
    share = math.log(len(running) / alpha) if running else 0.0
    best = dict.fromkeys(range(len(running)), 0.0)  # the largest ratio of each, by its logarithm
    while running and (at.spent() < until or not at.watched):
        leading = max(best, key=lambda n: best[n])
        for n in (*best, leading, leading):  # the worst so far is looked at three times as often
            pair, bets = running[n]
            one, other = at.process.sample_both(pair.logs, ROUND)
            for bet, her in bets:
                bet.watch(*((one, other) if her else (other, one)))
            at.watched = max(at.watched, bets[0][0].pairs)
            ratios = [bet.logarithm(at.epsilon, at.delta) for bet, _ in bets]
            best[n] = max(ratios)
            if (won := mean_of_logs(ratios)) >= share:
                return pair, *bets[ratios.index(best[n])], won
    for _, bets in running:
        at.power = min(
            at.power, smallest_seen(bets[0][0].pairs, alpha / len(running) / len(bets), at.epsilon, at.delta)
        )
    return None


def _shrunk(at: Looking, pair: LogPair, bet: Bet, her: bool, won: float) -> tuple[LogPair, Bet, bool, float]:
    """The smallest pair on which the event is still as bad, tested again with fresh runs."""
    smallest, again, runs = pair, True, min(bet.pairs, 8 * ROUND)
    while again and at.spent() < 1:
        again = False
        for candidate in smaller(smallest):
            one, other = at.process.sample_both(candidate.logs, runs)
            x, y = (sum(bet.event.happens(out) for out in part) for part in ((one, other) if her else (other, one)))
            if at.liked(x, y, runs) > 8:
                smallest, again = candidate, True
                break
            if at.spent() > 1:
                break
    if smallest != pair:
        tested = Bet(bet.event)
        for _ in range(max(4, 2 * bet.pairs // ROUND)):
            one, other = at.process.sample_both(smallest.logs, ROUND)
            tested.watch(*((one, other) if her else (other, one)))
            if (ratio := tested.logarithm(at.epsilon, at.delta)) >= math.log(4 / at.alpha):
                return smallest, tested, her, ratio
    return pair, bet, her, won


def _refutation(
    at: Looking, about: tuple[str, dict[str, Any], float, float, str], pair: LogPair, bet: Bet, her: bool, won: float
) -> BlackBoxVerdict:
    p, q = bet.rates
    logs = pair.logs if her else pair.logs[::-1]
    allowed = min(1.0, math.exp(at.epsilon) * q + at.delta)
    seen = (
        f"{bet.event.words}: {100 * p:.4g} % of {bet.pairs} runs on the one log, {100 * q:.4g} % on the other, so at "
        f"most {100 * allowed:.4g} %"
    )
    return BlackBoxVerdict(
        *about,
        verdict=REFUTED,
        seen=f"{seen} was allowed",
        runs=at.process.runs,
        alpha=at.alpha,
        evidence=round(won / math.log(10), 1),
        with_her=logs[0],
        without=logs[1],
        event=bet.event.words,
        rates=(p, q),
        script=script(about, at.process.taken, logs, bet.event),
    )


def script(
    about: tuple[str, dict[str, Any], float, float, str],
    taken: Mapping[str, Any],
    logs: tuple[Log, Log],
    event: OutputEvent,
) -> str:
    """Ten lines that show the violation again; empty where the event is no property of the released keys."""
    subject, _, epsilon, delta, _ = about
    module, _, name = subject.partition(":")
    if not event.code:
        return ""
    said = ", ".join(f"{key}={value!r}" for key, value in taken.items())
    return f"""import math
from {module} import {name.partition(".")[0]}
one, other = {logs[0]!r}, {logs[1]!r}
def often(log, runs=4000):
    hits = 0
    for _ in range(runs):
        out = {name}({{user: list(keys) for user, keys in log.items()}}{", " + said if said else ""})
        out = out if isinstance(out, dict) else dict(row if isinstance(row, tuple) else (row, None) for row in out)
        hits += {event.code}
    return hits / runs
print("seen", often(one), "allowed", math.exp({epsilon!r}) * often(other) + {delta!r})
"""
