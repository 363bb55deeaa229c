"""The active attack on every mechanism at comparable thresholds, as a table in Markdown.

Newcomers are added to a synthetic log: each asked one query with one click, and nothing else, so that no limit on a
user hides her. They are the canaries. Everything is seeded: the same sizes give the same table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.ingest.schema import SCHEMA
from hubbub.log import read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.privacy.guarantee import typeset
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise
from hubbub.worth.attacks.active import Active, accounts
from hubbub.worth.attacks.base import AttackSetup, Outcome, Rate
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import Truth

K: dict[str, object] = {"k": 20}
COMPARABLE: tuple[tuple[str, dict[str, object], tuple[str, ...] | None], ...] = (
    ("k-query", K, None),
    ("k-session", K, None),
    ("k-keyword", K, None),
    ("k-click", K, None),
    ("k-core", K, None),
    ("k-vocabulary", K, None),
    ("k-similar", K, None),
    ("secret-sharing", K, None),
    ("pseudonyms", {}, None),
    ("token-hash", {}, None),
    ("korolova", {"epsilon": "0.7", "delta": "1e-6"}, None),
    ("zealous", {"epsilon": "0.7", "delta": "1e-6"}, ("queries",)),
    ("ngrams", {"epsilon": 9, "delta": "1e-6"}, None),
    ("gaussian", {"epsilon": 1, "delta": "1e-6", "d": 1}, None),
    ("crowd", {"epsilon": "1.5", "delta": "1e-6"}, ("queries",)),
)
"""Mechanisms with thresholds near 20 users."""


@dataclass(frozen=True)
class Line:
    """One mechanism under the active attack."""

    mechanism: Mechanism
    accounts: int
    outcome: Outcome

    def __str__(self) -> str:
        loss, allowed = self.mechanism.loss(), self.outcome.allowed
        stated = "nothing" if allowed is None else f"ε = {typeset(loss.epsilon)}, δ = {typeset(loss.delta)}"
        bound = "–" if allowed is None else f"{allowed:.3f}"
        success, false = self.outcome.success, self.outcome.false_alarms
        name = f"`{self.mechanism.name}`"
        cells = (name, stated, self.accounts, _interval(success), _interval(false), bound, self.outcome.verdict)
        return "| " + " | ".join(map(str, cells)) + " |"


HEAD = """| mechanism | proven | accounts | success | false alarms | allowed | |
|---|---|--:|--:|--:|--:|---|"""


def table(users: int, targets: int, seed: int = 0, say: Callable[[str], None] = lambda _: None) -> list[Line]:
    """Every mechanism in turn on one log of so many users and so many newcomers, who are the targets.

    What is private is attacked twice: just below the threshold, and with half as many accounts.
    """
    with tempfile.TemporaryDirectory(prefix="hubbub-attack-") as folder:
        path = Path(folder) / "log.parquet"
        truth = Truth({"canaries": with_newcomers(path, users, targets, seed)})
        with read_log(path) as log:
            nothing = Evidence.of_tables({})
            lines = []
            for name, settings, tables in COMPARABLE:
                mechanism = build(name, settings, tables=tables)
                say(name)
                most = accounts(mechanism)
                for each in (most, most // 2) if mechanism.steps() else (most,):
                    outcome = Active(each).run(AttackSetup(mechanism, log, nothing, truth, targets=targets, seed=seed))
                    lines.append(Line(mechanism, each, outcome))
            return lines


def markdown(lines: list[Line]) -> str:
    """The table of the documentation, as Markdown."""
    return "\n".join([HEAD, *map(str, lines)])


def with_newcomers(path: Path, users: int, newcomers: int, seed: int) -> pa.Table:
    """A synthetic log and newcomers, into a new file; who asked what, as the table of canaries."""
    made_up = path.with_name("synthetic.parquet")
    synthesise(users, made_up, seed=seed, vocabulary=SYLLABIC)
    rows = pq.read_table(made_up)
    last = max(rows.column("time").to_pylist())
    added = pa.Table.from_pylist(list(_newcomers(newcomers, last)), schema=SCHEMA)
    pq.write_table(pa.concat_tables([rows.cast(SCHEMA), added]), path)
    made_up.unlink()
    return added.select(["query", "url", "user"])


def _newcomers(count: int, last: int) -> Iterator[dict[str, object]]:
    """One search each, far from everybody else's, in words that nobody else uses."""
    for i in range(count):
        yield {
            "user": f"newcomer {i}",
            "time": last + 7200 * (i + 1),
            "query": f"zq{i}elmstreet zq{i}hospital",
            "rank": 1,
            "url": f"http://www.zq{i}.example",
        }


def _interval(rate: Rate) -> str:
    return f"{rate.rate or 0.0:.3f} ({rate.low:.3f}–{rate.high:.3f})"
