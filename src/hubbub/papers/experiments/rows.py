"""The row of an experiment, and the experiment that gives rows: run once in every draw, then read together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rule import Decision, DrawSample, Verdict


class DrawSamples:
    """What all draws saw: a sample for every name."""

    def __init__(self, draws: Sequence[Numbers], users: int) -> None:
        self.draws, self.users = draws, users

    def __getitem__(self, name: str) -> DrawSample:
        return DrawSample(tuple(draw[name] for draw in self.draws))

    def series(self, pattern: str, values: Sequence[object], label: str = "{}") -> dict[str, DrawSample]:
        """Samples of a name with {} replaced by each value."""
        return {label.format(value): self[pattern.format(value)] for value in values}


@dataclass(frozen=True)
class PaperFinding:
    """A claim of a paper beside what the draws saw."""

    name: str
    expected: str
    seen: Mapping[str, DrawSample]
    decision: Decision
    parameters: str
    evaluated: Mapping[str, DrawSample] = field(default_factory=dict)
    """How much the scores are about: questions that could be answered, keys released."""
    note: str = ""
    printed: Mapping[str, float] = field(default_factory=dict)
    """What the paper prints, by the names of `seen`."""
    caution: str = ""
    """Why the verdict says less than it seems: circular, by construction, second hand."""


@dataclass(frozen=True)
class ExperimentRow:
    """A finding with its id and the command that runs it again."""

    id: str
    paper: str
    part: str
    expected: str
    command: str
    parameters: str
    seen: Mapping[str, DrawSample]
    evaluated: Mapping[str, DrawSample]
    verdict: Verdict
    why: str
    p: float | None
    printed: Mapping[str, float]
    corrected: Verdict
    """The verdict that allows for the number of statements that are tested."""
    caution: str

    def record(self) -> dict[str, object]:
        """The row as `--json` prints it, with all digits."""
        return {
            "id": self.id,
            "paper": self.paper,
            "part": self.part,
            "expected": self.expected,
            "command": self.command,
            "parameters": self.parameters,
            "seen": {name: sample.record() for name, sample in self.seen.items()},
            "evaluated": {name: sample.record() for name, sample in self.evaluated.items()},
            "printed": dict(self.printed),
            "verdict": self.verdict,
            "why": self.why,
            "p": self.p,
            "corrected": self.corrected,
            "caution": self.caution,
        }


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of a paper: what is run in every draw, and how rows are read from all draws."""

    id: str
    paper: str
    part: str
    """The figure or table, in the words of its caption."""
    run: Callable[[Lab], Numbers]
    """One draw. Experiments that name the same function share its numbers."""
    read: Callable[[DrawSamples], Iterator[PaperFinding]]
    needs: tuple[str, ...] = ()
    """What a log must have: clicks, times, or the lengths of an index's lists."""

    def rows(self, cells: DrawSamples, command: str, statements: int = 1) -> Iterator[ExperimentRow]:
        """The rows of the experiment, decided over all draws; `statements` are tested in all."""
        for finding in self.read(cells):
            id, why = f"{self.id}/{finding.name}", f"{finding.decision.why} {finding.note}".strip()
            yield ExperimentRow(
                id,
                self.paper,
                self.part,
                finding.expected,
                command.format(id=id),
                finding.parameters,
                dict(finding.seen),
                dict(finding.evaluated),
                finding.decision.verdict,
                why,
                finding.decision.p,
                dict(finding.printed),
                finding.decision.corrected(statements),
                f"{finding.caution} {few(finding.evaluated)}".strip(),
            )


FEW = 20
"""Below so many questions or keys a verdict rests on little."""


def few(evaluated: Mapping[str, DrawSample]) -> str:
    """What a row has few of, in a sentence; nothing where it has enough."""
    little = {name: sample.mean for name, sample in evaluated.items() if sample.mean is not None and sample.mean < FEW}
    told = ", ".join(f"{name}: {mean:.3g}" for name, mean in list(little.items())[:3])
    more = f" and {len(little) - 3} more" if len(little) > 3 else ""
    return f"Rests on little ({told}{more})." if little else ""
