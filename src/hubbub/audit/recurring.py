"""The audit of `series`, which is many releases and no single one: constants, rounds, and its state in an engine."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.checks import series, series_joint, series_kept, series_tables
from hubbub.audit.mutants.series import small
from hubbub.audit.protocols import AuditRow, Effort, Subject
from hubbub.mechanisms.series import Series

NAME, VARIANT = Series.name, Series.variants[0]


def tests(effort: Effort) -> Iterator[AuditRow]:
    """Small parameters first, then a whole series as it runs."""
    for made in small():
        yield from series.tests(Subject(made, made.measure, made.draw), effort)
    yield from series_joint.tests(effort)
    yield from series_kept.tests()
    yield from series_tables.tests()
    yield from series_tables.of_list()
