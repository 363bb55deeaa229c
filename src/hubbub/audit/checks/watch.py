"""A source of zeros, or of one constant, that writes down everything it is asked: what runs, read off a run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hubbub.audit.checks.chain import ChainRecorder
from hubbub.audit.protocols import AuditRow, Subject, faults
from hubbub.noise.source import Integers


class Watch(ChainRecorder):
    """Zeros, or one constant; everything that is asked is written down."""

    def __init__(self, constant: int = 0) -> None:
        super().__init__()
        self.constant = constant
        self.values = 0
        self.scales: list[tuple[str, Fraction]] = []
        self.chances: list[npt.NDArray[np.uint64]] = []

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """The constant."""
        self.scales.append((step, Fraction(scale)))
        self.values += size
        return np.full(size, self.constant, np.int64)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """The constant."""
        self.values += size
        return super().gaussian(step, variance, size)

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Heads where heads is certain; the chances are written down."""
        self.chances.append(chances)
        return super().coins(step, chances)


def said(subject: Subject, check: str, wrong: Sequence[str]) -> AuditRow:
    """A row that refutes if anything is wrong, and says what."""
    return faults(subject, check, len(wrong), "; ".join(wrong))
