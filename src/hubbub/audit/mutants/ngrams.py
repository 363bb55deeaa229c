"""Broken versions of ngrams: what breaks any thresholded count, and histories that are cut wrongly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hubbub.audit.mutants import COUNTS, Mutant
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism
from hubbub.steps.count import count
from hubbub.steps.counts import Counts
from hubbub.steps.keys import Keys, ngrams
from hubbub.steps.mode import RunMode


def _counted(kind: Callable[[int, int], Keys], *, repeats: bool = False) -> Callable[[Mechanism], Subject]:
    """Another kind of sequences is counted, or every occurrence."""

    def make(mechanism: Mechanism) -> Subject:
        def measure(log: SearchLog, mode: RunMode) -> dict[str, Counts]:
            keys = kind(int(mechanism.settings["n_max"]), int(mechanism.settings["l_max"]))
            return {"ngrams": count(log, keys, keys.occurrences() if repeats else keys.distinct(), mode)}

        return replace(Subject.of(mechanism), measure=measure)

    return make


GENERAL = ("bound not enforced", "repeats counted")
NGRAMS = (
    *(mutant for mutant in COUNTS if mutant.name not in GENERAL),
    Mutant("histories not cut", _counted(lambda n_max, l_max: ngrams(n_max))),
    Mutant("one search too many", _counted(lambda n_max, l_max: ngrams(n_max, l_max + 1))),
    Mutant("sequences one longer", _counted(lambda n_max, l_max: ngrams(n_max + 1, l_max))),
    Mutant("repeats counted", _counted(ngrams, repeats=True)),
)
