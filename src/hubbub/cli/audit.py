"""`hubbub audit`: test the installed mechanisms, and the tests by broken mechanisms."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.shared import Json, Quiet, Terminal, Verbose, command
from hubbub.errors import CheckFailed


@command
def audit(
    mechanism: Annotated[str | None, typer.Option(help="Only this mechanism.", metavar="M")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sampled runs.")] = False,
    mutants: Annotated[bool, typer.Option("--mutants", help="Audit broken versions: each must be caught.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Try to refute the guarantees of the installed code, on logs made for it.

    Example: hubbub audit --mechanism korolova --mutants
    """
    from hubbub.audit import audit as run_audit
    from hubbub.audit import mutants as run_mutants

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    if mutants:
        found = run_mutants(mechanism, say=terminal.note)
        for row in found:
            terminal.say(
                f"{row['verdict']:7} {row['of']}: {row['mutant']}" + (f", by {row['by']}" if row["by"] else "")
            )
        terminal.document({"rows": found})
        missed = [row for row in found if row["verdict"] != "caught"]
        if missed:
            raise CheckFailed(f"{len(missed)} of {len(found)} mutants were missed.")
        return
    rows = run_audit(mechanism, quick=quick, say=terminal.note)
    for r in rows:
        terminal.say(
            f"{r.verdict:12} {r.mechanism} {r.variant}: {r.check} (against {r.against}: "
            f"bound {r.bound:.4g}, observed {r.observed:.4g}, would have seen {r.power:.2g} more)"
        )
    terminal.document({"rows": [r.record() for r in rows]})
    broken = [r for r in rows if r.refuted and r.against == "proven"]
    terminal.say(
        f"{len(rows)} checks, {len(broken)} proven guarantees refuted. Not refuted is not proven: see docs/proofs."
    )
    if broken:
        raise CheckFailed(f"{len(broken)} proven guarantees were refuted.")
