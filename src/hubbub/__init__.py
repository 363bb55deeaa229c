"""hubbub publishes search logs: the crowd can be heard, nobody can be picked out.

The map, in the order the data flows:

    ingest      bytes of a log → cleaned records, rejected lines kept aside
    log         SearchLog: the one table every stage reads, and the engine it lives in
    engines     where tables live: DuckDB, Spark
    steps       keys, bounding one user, counting: SQL written once
    mechanisms  one file each: parameters, what is claimed, what is proven, measure and perturb
    noise       the only code that draws randomness for a release
    account     what each noisy step costs; compose adds releases up; ledger is the budget book
    synth       a made-up log with the truth about it; inspect and estimate look before a release
    release     runs one mechanism once, top to bottom, as plan says and unless refusals forbid; folder writes it whole
    card        the privacy card: made, checked again, turned into a registry entry
    tasks       what a release is still worth: the papers' uses of a log, scored for its owner
    compare     every mechanism side by side at one budget, over draws of noise, for the owner of a log
    export      a release in the formats of other tools; simulate draws its noise again for confidence intervals
    attacks     what an attacker learns from a release: the classic attacks, for its owner
    report      the pages people read
    audit       tries to refute the guarantees of the installed code; switches are the sizes it lowers for that
    testing     contracts that others can run on their own readers, mechanisms and engines
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub.audit import audit
    from hubbub.log import Period, SearchLog, read_log
    from hubbub.look.compare import compare
    from hubbub.mechanisms import Crowd, Korolova, Safelog, Sessions, Zealous
    from hubbub.privacy.guarantee import Claim, Guarantee, Neighbours, Unit
    from hubbub.release import Release, release
    from hubbub.show.owner import charts
    from hubbub.worth.simulate import simulate
    from hubbub.worth.tasks.run import evaluate

__version__ = "0.1.0"

_HOMES = {
    "Claim": "hubbub.privacy.guarantee",
    "Crowd": "hubbub.mechanisms",
    "Guarantee": "hubbub.privacy.guarantee",
    "Korolova": "hubbub.mechanisms",
    "Neighbours": "hubbub.privacy.guarantee",
    "Period": "hubbub.log",
    "Release": "hubbub.release",
    "Safelog": "hubbub.mechanisms",
    "SearchLog": "hubbub.log",
    "Sessions": "hubbub.mechanisms",
    "Unit": "hubbub.privacy.guarantee",
    "Zealous": "hubbub.mechanisms",
    "audit": "hubbub.audit",
    "charts": "hubbub.show.owner",
    "compare": "hubbub.look.compare",
    "evaluate": "hubbub.worth.tasks.run",
    "read_log": "hubbub.log",
    "release": "hubbub.release",
    "simulate": "hubbub.worth.simulate",
}

__all__ = [
    "Claim",
    "Crowd",
    "Guarantee",
    "Korolova",
    "Neighbours",
    "Period",
    "Release",
    "Safelog",
    "SearchLog",
    "Sessions",
    "Unit",
    "Zealous",
    "audit",
    "charts",
    "compare",
    "evaluate",
    "read_log",
    "release",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import hubbub` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hubbub' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    return home if _HOMES[name] == f"hubbub.{name}" else getattr(home, name)  # modules named as a verb are callable


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
