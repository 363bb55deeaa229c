"""Zhang, Yang: Deriving Differentially Private Session Logs for Query Suggestion (ICTIR 2017).

A_session: of each user the first l_s sessions, of each the first l_q queries; count every subsequence of two queries or
more; publish those whose noisy count is above K, with noisy counts. A_click: the same for (query, url) among each
user's first l clicks. Both with noise of scale b (section 3.2).

`published` counts occurrences and draws fresh noise for the counts, as the paper does. The paper states the weaker of
its two parts for both together; what is proven is their sum. `strict` counts distinct users and publishes the value
that passed the threshold, which halves ε; a query asked again at once (a next page of results) stands once in a
session, or most sessions would be one query over and over. In both, sessions are trimmed before they are mined: read
literally, the paper's steps 2 and 3 are in the other order, and bound nothing.
The rule on integers is `>= T`; the paper's "> K" is T = ⌊K⌋ + 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Parameter, Tables, Value
from hubbub.mechanisms.laplace import SCALE, LaplaceMechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.privacy.account import Domain, Step, total_delta
from hubbub.privacy.guarantee import Claim, number
from hubbub.steps import bound
from hubbub.steps.keys import CLICKS, SESSIONS, Keys, subsequences
from hubbub.steps.subsequences import TABLE, per_session

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.counts import Counts
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/sessions.md"
MOST = 10_000  # counts one user may move in one table
LIMITS = {"T_gap": "sessions", "l_s": "sessions", "l_q": "sessions", "again": "sessions", "l": "clicks"}


class Sessions(LaplaceMechanism, register=True):
    """Thresholded noisy counts of subsequences of sessions, and of clicks."""

    name = "sessions"
    paper = "Zhang & Yang 2017"
    about = "query sequences and clicks that many share, with noisy counts"
    offers = {"sessions": SESSIONS, "clicks": CLICKS}  # noqa: RUF012
    default_tables = ("sessions", "clicks")
    proof = PROOF
    in_studio = False
    parameters = (
        EPSILON,
        DELTA,
        Parameter("T_gap", "number", "minutes of silence that end a session", 30, low=Fraction(1, 60), high=10_080),
        Parameter("l_s", "integer", "sessions kept of each user, the first by time", 1, low=1, high=MOST),
        Parameter("l_q", "integer", "queries kept of each session, the first", 3, low=2, high=12),
        Parameter("l", "integer", "clicks kept of each user, the first by time", 4, low=1, high=MOST),
        Parameter(
            "again", "choice", "whether a query asked again at once counts (strict)", "once", choices=("once", "each")
        ),
        Parameter("b", "number", "noise scale of both tables", low=SCALE, high=1_000_000),
        Parameter("K", "number", "a row is released if its noisy count is above K", low=1, high=10**9),
    )

    # ------------------------------------------------------------------ parameters

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Raw parameters as given, or b and K calibrated from (ε, δ), the same for both tables as in the paper."""
        settings = self._limits(given)
        if "sessions" in self.tables:
            self.offers = self.offers | {"sessions": self._keys(settings, None)}
        if self._is_raw(given, ("b", "K"), ("b", "K")):
            return settings | {"b": given["b"], "K": given["K"]}
        return settings | self._calibrate(settings, Fraction(given["epsilon"]), Fraction(given["delta"]))

    def _limits(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """What limits a user, with defaults; a limit on a table that is not released is a mistake."""
        settings: dict[str, Value] = {}
        for parameter in self.parameters:
            name, table = parameter.name, LIMITS.get(parameter.name)
            value = given.get(name, parameter.default)
            each = name == "again" and self.variant == "published"
            if table in self.tables and not each and value is not None:
                settings[name] = value
            elif table and name in given:
                why = "published counts every search" if each else f"no {table} are released"
                raise ParameterError(f"{name} is about {table}, and {why}.", given=f"{name}={given[name]}")
        l_q, l_s = int(settings.get("l_q", 2)), int(settings.get("l_s", 1))
        if l_s * per_session(l_q) > MOST:
            raise ParameterError(
                "One user could move too many counts.",
                given=f"l_s = {l_s}, l_q = {l_q}: {l_s} × {per_session(l_q)} subsequences",
                allowed=f"at most {MOST} subsequences per user, l_s (2^l_q − 1 − l_q)",
                next="lower l_q, or l_s",
            )
        return settings

    def _calibrate(self, settings: Mapping[str, Value], epsilon: Fraction, delta: Fraction) -> dict[str, Value]:
        """b so that everything drawn costs ε, then the least whole K within δ: by what is proven, in both variants."""
        b = self.factor * sum((s.epsilon for s in self._steps({**settings, "b": 1, "K": 1})), Fraction(0)) / epsilon
        self.drawable("b", b, epsilon, "l_q, l_s and l")

        def within(K: int) -> bool:
            return Fraction(total_delta(self._steps({**settings, "b": b, "K": K}))) <= delta

        low, high = 0, 1
        while not within(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if within(middle) else (middle, high)
        return {"b": b, "K": high}

    @staticmethod
    def _keys(settings: Mapping[str, Value], l_s: int | None) -> Keys:
        """Subsequences of each user's first l_s sessions, or of all; without the choice, each search counts."""
        gap = math.floor(60 * Fraction(settings["T_gap"]))
        return subsequences(gap, int(settings["l_q"]), l_s, settings.get("again", "each") == "each")

    # ------------------------------------------------------------------ what is stated

    def steps(self) -> tuple[Step, ...]:
        """Strict: one noise per table. Published: selection and counts each draw their own."""
        return self._steps(self.settings)

    def _steps(self, settings: Mapping[str, Value]) -> tuple[Step, ...]:
        b, threshold = Fraction(settings["b"]), math.floor(Fraction(settings["K"])) + 1
        steps: list[Step] = []
        for table in self.tables:
            most, repeats = self._sensitivity(table, settings)
            linf = repeats if self.variant == "published" else 1
            steps.append(Step(table, b, threshold, most, most, linf, Domain.OPEN, PROOF))
            if self.variant == "published":
                steps.append(Step(f"{table}: counts", b, None, most, most, linf, Domain.CLOSED, PROOF))
        return tuple(steps)

    @staticmethod
    def _sensitivity(table: str, settings: Mapping[str, Value]) -> tuple[int, int]:
        """Δf (equation 8), and how often one user may add one key: C(l_q, k) times per session of equal queries."""
        if table == "clicks":
            return int(settings["l"]), int(settings["l"])
        l_s, l_q = int(settings["l_s"]), int(settings["l_q"])
        return l_s * per_session(l_q), l_s * max(math.comb(l_q, k) for k in range(2, l_q + 1))

    def bounds(self) -> tuple[Bound, ...]:
        """First sessions, queries and clicks, by the user's own data; the paper does not say which sessions."""
        strict, limits = self.variant == "strict", []
        if "sessions" in self.tables:
            most, repeats = self._sensitivity("sessions", self.settings)
            l_s, l_q = int(self.settings["l_s"]), int(self.settings["l_q"])
            limits += [
                Bound("sessions per user", "l0", l_s, "the first by time, of those with two queries or more"),
                Bound("queries per session", "l1", l_q, "the first by time, before subsequences are mined"),
                Bound("subsequences per user", "l0" if strict else "l1", most, "l_s (2^l_q − 1 − l_q)"),
                Bound(
                    "count per key per user (sessions)",
                    "linf",
                    1 if strict else repeats,
                    "distinct" if strict else "repeats included",
                ),
            ]
        if "clicks" in self.tables:
            most = int(self.settings["l"])
            if strict:
                limits += self._distinct("clicks", most)
            else:
                limits.append(Bound("clicks per user", "l1", most, "the first by time, repeats included"))
        return tuple(limits)

    def claimed(self) -> Claim:
        """Equation 9 for each part, and the weaker of both for the two together (section 3.2.2)."""
        if self.variant == "strict":
            return self._ours()
        by = f"{self.paper}, equation 9" + (" and section 3.2.2" if len(self.tables) > 1 else "")
        b, K = float(self._number("b")), float(self._number("K"))
        alpha = max(math.exp(1 / b), 1 + 1 / (2 * math.exp((K - 1) / b) - 1))
        df = max(self._sensitivity(table, self.settings)[0] for table in self.tables)
        epsilon, delta = df * (math.log(alpha) + 1 / b), df / 2 * math.exp(min(700.0, (df - K) / b))
        if delta >= 1:
            return Claim(by, None, None, True, "the δ of equation 9 reaches 1, which allows any output at all")
        loss = self.loss()
        if loss.epsilon <= epsilon * (1 + 1e-12) and loss.delta <= delta * (1 + 1e-12):
            return Claim(by, epsilon, delta, True)
        return Claim(by, epsilon, delta, False, self._why_not(epsilon))

    def _why_not(self, epsilon: float) -> str:
        if len(self.tables) == 1 or self.loss().epsilon <= epsilon:
            return "the paper's numbers are for real-valued noise; the integer law that runs is proven separately"
        parts = [
            f"{number(float(s.epsilon))} ({s.name.replace(':', ',') if ':' in s.name else f'{s.name}, selection'})"
            for s in self.steps()
        ]
        return (
            "the paper states the weaker of its two parts for both together, but both are about the same users and "
            f"their costs add up: {' + '.join(parts)} = {number(self.loss().epsilon)}, not {number(epsilon)}"
        )

    def caveats(self) -> tuple[str, ...]:
        """A claim that does not hold is named beside the one that does."""
        if self.variant == "strict" or self.claimed().holds:
            return ()
        return (f"The paper's claim does not hold for what ran: {self.claimed().why}.",)

    def spurious(self) -> str:
        """Counts are drawn for released keys only."""
        return "none: every released key was held by at least one user"

    # ------------------------------------------------------------------ what runs

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Counts]:
        """A_session, steps 1 to 3, and A_click, step 1: limit each user, then count."""
        from hubbub.steps.count import count

        counts: dict[str, Counts] = {}
        strict = self.variant == "strict"
        if "sessions" in self.tables:
            keys = self._keys(self.settings, int(self.settings["l_s"]))
            held = f"SELECT {'DISTINCT' if strict else ''} uid, queries FROM {TABLE}"
            counts["sessions"] = count(log, keys, held, mode)
            log.engine.drop(TABLE)
        if "clicks" in self.tables:
            first = bound.first_keys if strict else bound.first_events
            counts["clicks"] = count(log, CLICKS, first(CLICKS, int(self.settings["l"])), mode)
        return counts

    def perturb(self, counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
        """A_session, steps 4 and 5; A_click, steps 2 and 3."""
        released: Tables = {}
        for table in self.tables:
            b, threshold = self._number("b"), self._threshold("K")
            again = Noisy(f"{table}: counts", b) if self.variant == "published" else None
            released[table] = counts[table].test(Noisy(table, b, threshold, again, self.passes), noise)
        return released
