"""hubbub publishes search logs: the crowd can be heard, nobody can be picked out.

The map, in the order the data flows:

    synth       a made-up log with the truth about it, to try everything on
    ingest      bytes of a log → cleaned records; lines that cannot be read are kept aside
    log         SearchLog: the one table that every stage reads, and the engine it lives in
    engines     where tables live: DuckDB, Spark
    public      what anybody may know beforehand: lists and pools of queries
    look        what the owner may look at before spending: inspect, estimate, compare
    studio      the local web page on which an owner chooses ε by looking
    release     one release, top to bottom: planned, refused or run, written whole, opened again
    series      period after period under one guarantee, with the state between them
    mechanisms  one file or folder each: parameters, what is claimed, what is proven, measure and perturb
    steps       keys, bounding each user, counting: SQL written once
    noise       the only code that draws randomness for a release
    privacy     what each noisy step costs, what releases cost together, and the ledger that books them
    card        the privacy card: made, checked again, turned into a registry entry
    show        the pages people read, their charts, and exports for other tools
    worth       what a release is still worth to its users, and to an attacker: for its owner
    papers      the numbers of five papers computed again, and their experiments run again
    audit       tries to refute the guarantees of the installed code
    cli         the command `hubbub`, one file per subcommand

Beside the rooms:

    deprecated  former names of things that were renamed, which still work and warn
    errors      every exception that hubbub raises on purpose, with its exit code
    extras      packages that only some uses need, and the line to type for each
    files       a folder is written whole or not at all
    plugins     mechanisms, readers, tasks and exporters by name, those of other packages included
    plurals     a number and what it counts, in words
    switches    the sizes at which the code takes another path, so that the audit can lower them
    testing     contracts that others can run on their own readers, mechanisms, tasks and engines
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
        from hubbub.deprecated import NAMES, current

        name = current(NAMES, name)
    if name not in _HOMES:
        raise AttributeError(f"module 'hubbub' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    return home if _HOMES[name] == f"hubbub.{name}" else getattr(home, name)  # modules named as a verb are callable


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
