"""`hubbub release`: from a log file to a folder that may be published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.cli.card_options import CardOptions
from hubbub.cli.config import read_configuration, resolved
from hubbub.cli.options import MechanismOptions, NewLogOptions, ReadingOptions, ReleaseOptions, whole_number
from hubbub.cli.raw_log import open_log, readable
from hubbub.cli.stated import with_groups
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError
from hubbub.plurals import counted

if TYPE_CHECKING:
    from hubbub.privacy.ledger import Ledger
    from hubbub.release.plan import Plan
    from hubbub.release.resume import Run


@command
def release(
    mechanism: MechanismOptions, options: ReleaseOptions, card: CardOptions, log: NewLogOptions, terminal: Terminal
) -> None:
    """Release a log with a privacy guarantee, a card and a page.

    Example: hubbub release log.tsv.gz --format aol --epsilon 1 --delta 1e-6 --out release
    """
    from hubbub.privacy.guarantee import finite, typeset
    from hubbub.privacy.ledger import Ledger
    from hubbub.privacy.ledger.words import totals_of
    from hubbub.release.plan import Plan
    from hubbub.release.refusals import admit
    from hubbub.release.story import run_admitted
    from hubbub.release.succession import Earlier

    stated = card.added_to(read_configuration(log.config))
    log, asked, options = stated.fill(log), stated.fill(mechanism).settled(), stated.fill(options)
    settings, owner = stated.settings_with(asked), stated.owner
    asked.refuse_log(log.require())
    if not options.out:
        raise ParameterError("--out DIR is missing.", next="name the folder to make; see hubbub release --help")
    settings = asked.knowing(settings, options.users_public)
    earlier = Earlier.opened(options.supersedes, options.because)
    built = asked.build(settings, canonical_urls=log.canonical_urls)
    plan = Plan(
        built,
        Path(options.out).absolute(),
        owner,
        population=log.population or "default",
        dataset=log.dataset or "default",
        max_rejects=log.share(),
        seed=whole_number(options.seed, "seed", least=0),
        not_private=bool(options.not_private),
        review=bool(options.review),
        supersedes=None if earlier is None else earlier.named(options.because or ""),
        run=resolved(log, asked, options) | {"set": settings, "card": stated.card},
        **options.stated(),
    )
    draft = plan.drafted()
    guarantee = plan.guarantee()
    with (
        readable(with_groups(log, asked.by), terminal) as told,
        Ledger(told.book) as ledger,
        _resumable(told, plan, ledger, terminal) as kept,
    ):
        admitted = admit(draft, ledger, None if kept is None else kept.entry)
        if admitted.reserved is None and plan.population not in ledger.populations():
            terminal.say(f"The population {plan.population} is new to the ledger {ledger.path}: its budget begins.")
        terminal.say(guarantee.sentence("" if owner.period is None else str(owner.period)))
        for rule in (*built.chosen(), *built.missing()):
            terminal.say(f"  {rule}")
        for remark in plan.remarks():
            terminal.warn(remark)
        with open_log(told, owner.period, terminal, kept) as raw:
            result = run_admitted(raw, admitted, ledger, say=terminal.note, tell=terminal.say)
        spent = ledger.spent(plan.population)
    if earlier is not None and not plan.review and (failed := earlier.tell(plan.out)):
        terminal.warn(failed)
    if result.warning:
        terminal.warn(result.warning)
    for note in result.notes:
        terminal.warn(note)
    users = result.owner_only["users"]
    proves = built.proven().epsilon is not None
    if proves and plan.users_public is None and isinstance(users, int) and built.loss().delta * users >= 1:
        terminal.warn(f"δ = {typeset(built.loss().delta)} is not below 1/users; publish with a smaller δ")
    private, claimed = guarantee.private, built.claimed()
    if not private:
        terminal.say("NOT PRIVATE: stamped so; do not publish.")
    for table, rows in result.rows.items():
        terminal.say(f"  {table}: {counted(rows, 'row')}")
    terminal.say(
        f"Ledger: population {plan.population} has spent {totals_of(spent)} in {counted(spent.releases, 'release')}."
    )
    if plan.review:
        terminal.say(f"A DRAFT: nothing of it may be published. Look at its rows: hubbub review {plan.out}")
    else:
        terminal.say(f"Open {plan.out}/public/index.html; check with: hubbub card {plan.out} --check")
    terminal.document(
        {
            "out": str(plan.out),
            "mechanism": built.name,
            "variant": built.variant,
            "guarantee": {
                "definition": guarantee.definition.value,
                "epsilon": guarantee.epsilon,
                "delta": guarantee.delta,
                "neighbours": guarantee.neighbours.value,
                "scope": guarantee.scope,
            },
            "claimed": {"epsilon": finite(claimed.epsilon), "delta": finite(claimed.delta)},
            "tables": result.rows,
            "thresholds": built.thresholds(),
            "ledger": {
                "population": plan.population,
                "dataset": plan.dataset,
                "entry": result.entry.id,
                "epsilon_spent": finite(spent.epsilon),
                "delta_spent": spent.delta,
            },
            "private": private,
            "owner_only": result.owner_only,
        }
        | ({"certificate": result.owner_only["certificate"]} if "certificate" in result.owner_only else {})
    )


@contextmanager
def _resumable(log: NewLogOptions, plan: Plan, ledger: Ledger, terminal: Terminal) -> Iterator[Run | None]:
    """With --work, a folder that an interrupted run leaves behind and the next one goes on from."""
    from hubbub.public.screening import chosen_screen
    from hubbub.release.resume import Run, determines

    if not log.work:
        yield None
        return
    reading = {name: getattr(log, name) for name in (*ReadingOptions.__dataclass_fields__, "engine")}
    screens = chosen_screen(log.screen, log.deny, log.allow)
    reading["screening"] = None if screens is None else screens.record()  # by what is in the lists
    run = Run(Path(log.work), determines(plan, log.require(), reading, ledger.path), plan.out)
    try:
        found = run.find(ledger)
        if run.stands is not None:
            terminal.say(f"An earlier run made {run.stands}, and its budget is spent. This is a new release.")
        elif found is not None or run.ingested is not None:
            held = "" if run.entry is None else f", on its reservation (entry {run.entry.id})"
            terminal.say(f"Going on with the run that was interrupted{held}: no noise had been drawn.")
        for path in run.others:
            terminal.warn(f"{path} holds copies of a raw log, left by another run: run that again, or remove it")
        yield run
    except BaseException:
        if run.useful:
            terminal.warn(f"{run.path} keeps what was read of the raw log: run again to go on, or remove it")
        raise
    finally:
        run.remove()
