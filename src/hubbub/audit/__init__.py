"""Audits of the installed code: no log of anybody's is read, every run is on logs made here.

`protocols` is the whole design: a subject under test, neighbouring logs, a property tester. `exact` enumerates
tiny runs, `statistical` samples many, `counts` compares exact counts of neighbours, `mutants` are broken
subjects that must be caught. A pass means "not refuted by these events", never "private".
"""

from hubbub._callable import make_callable
from hubbub.audit.protocols import AuditRow, Subject
from hubbub.audit.suite import audit, mutants

__all__ = ["AuditRow", "Subject", "audit", "mutants"]

make_callable(__name__)
