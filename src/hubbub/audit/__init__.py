"""Audits of the installed code: no log of anybody's is read, every run is on logs made here.

    suite       the story: which mechanisms, at which parameters, by which checks, and which mutants must be caught
    subjects    one file per mechanism: all that an audit has to know of it
    neighbours  logs that differ by one user, and are bad for what is promised
    checks      one property per file, looked at by one kind of means
    mutants     broken versions, each wrong in one way: an audit that catches none of them has shown nothing
    blackbox    an auditor of anybody's mechanisms, which sees nothing but what goes in and comes out
    protocols   the nouns: a subject under test, two neighbouring logs, a row of what was found

A pass means "not refuted by these events", never "private".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hubbub._callable import make_callable

if TYPE_CHECKING:
    from hubbub.audit.blackbox.campaign import black_box
    from hubbub.audit.protocols import AuditRow, Subject
    from hubbub.audit.suite import audit

__all__ = ["AuditRow", "Subject", "audit", "black_box"]


def __getattr__(name: str) -> Any:
    """Loaded when first asked for: a plug-in that declares its subjects (`hubbub.audit.subjects`) pays for no audit."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "black_box":
        from hubbub.audit.blackbox import campaign

        return campaign.black_box
    from hubbub.audit import protocols, suite

    return getattr(suite if name == "audit" else protocols, name)


make_callable(__name__)
