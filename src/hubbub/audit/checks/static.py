"""Static checks: rules that no sampled run would show broken. The ledger's sums, what may be built on, who draws."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np
import pyarrow as pa

from hubbub.audit.books import book, scratch, spend
from hubbub.audit.checks import taint
from hubbub.audit.checks.independence import in_a_child
from hubbub.audit.protocols import AuditRow, shared_faults, shared_row
from hubbub.errors import HubbubError, OverBudget, Refused
from hubbub.mechanisms import build
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.privacy import gaussian
from hubbub.privacy.account import Gaussian, Loss, Pure
from hubbub.privacy.compose import compose
from hubbub.privacy.fingerprint import look
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.public.lists import QueryPool
from hubbub.release.earlier import read_previous
from hubbub.release.plan import Plan
from hubbub.release.story import run_release

# ------------------------------------------------------------------ the ledger


@dataclass(frozen=True)
class Spend:
    """One release: for which month, of which file, and how far it came before its process died (None: to the end)."""

    dataset: str
    file: str
    died: str | None = None


BOOKS = {
    "the same file again": (Spend("may", "a"), Spend("may", "a")),
    "a row more in the file": (Spend("may", "a"), Spend("may", "b")),
    "another month": (Spend("may", "a"), Spend("june", "b")),
    "a run that died while drawing": (Spend("may", "a", "drawing"), Spend("may", "a")),
    "a run that died after its reservation": (Spend("may", "a", "reserved"), Spend("may", "a")),
}
LOSSES = {
    "pure": Loss(0.7, 0.0, (Pure(Fraction(7, 10)),), tv=0.0),
    "Gaussian": Loss(1.0, 1e-6, (Gaussian(Fraction(1, 25)),), tv=1e-8),
}


def books() -> Iterator[AuditRow]:
    """Two releases of ε = .7 under a cap of 1: the second is refused, whatever file, month or accident."""
    for name, (first, second) in BOOKS.items():
        with book() as ledger:
            ledger.cap("people", 1.0, 0.0)
            _spend(ledger, first, LOSSES["pure"])
            try:
                _spend(ledger, second, LOSSES["pure"])
                refused = False
            except OverBudget:
                refused = True
            spent = ledger.spent("people", 0.0).epsilon
        detail = f"spent ε = {spent}"
        yield shared_faults(f"a cap holds: {name}", not refused, detail)
    with book() as ledger:
        ledger.cap("people", 1.0, 0.0)
        _spend(ledger, Spend("may", "a"), LOSSES["pure"], private=False)
        void = (
            _refused(lambda: _spend(ledger, Spend("june", "b"), LOSSES["pure"]))
            and not ledger.spent("people").epsilon < inf
        )
    yield shared_faults("after a release that is not private no cap holds", not void)
    bare = Loss(1.0, 1e-6, (Gaussian(Fraction(1, 25)),), tv=5e-7)
    none = compose([bare] * 3, 1e-6)
    yield shared_faults("the δ of thresholds adds up over releases", none < inf, f"ε = {none} at δ = 1e-6")
    for name, loss in LOSSES.items():
        with book() as ledger:
            for n in range(3):
                _spend(ledger, Spend(f"month {n}", str(n)), loss)
            total, alone = ledger.spent("people", 3e-6).epsilon, loss.epsilon
        yield shared_faults(f"three {name} releases cost more than one", total <= alone * 1.01, f"{total}")


def _spend(ledger: Ledger, how: Spend, loss: Loss, *, private: bool = True) -> Entry:
    return spend(ledger, how.dataset, loss, private=private, file=how.file, died=how.died)


# ------------------------------------------------------------------ what a release may be built on

CROWD = {"epsilon": 8, "delta": "1e-3"}
KOROLOVA = {"epsilon": 2, "delta": "1e-5"}


def previous() -> Iterator[AuditRow]:
    """An earlier release counts only if it is private itself and stands in this ledger; refused before any draw."""
    with scratch() as folder:
        earlier = QueryPool("default-r9", pa.table({"query": ["known"]}), "0" * 64, 1, "an audit", "previous")
        crowd = build("crowd", CROWD, tables=["queries"], previous=earlier)
        unknown = _refused(lambda: taint.release(folder / "one", crowd))
        yield shared_faults("an earlier release of another ledger is refused", not unknown)
        made = _run(folder / "two", Plan(build("korolova", KOROLOVA), folder / "two" / "out", seed=1, not_private=True))
        seeded = _refused(lambda: read_previous(made))
        yield shared_faults("an earlier release that is not private is refused", not seeded)
        plain = build("crowd", CROWD, tables=["queries"])
        for n in (3, 4):  # each the first entry of its own ledger, of one name and of the same parameters
            taint.release(folder / str(n), plain, noise=lambda n=n: taint.Seeded(n))  # type: ignore[misc]
        theirs = build("crowd", CROWD, tables=["queries"], previous=read_previous(folder / "4" / "out"))
        named = _refused(lambda: _run(folder / "3", Plan(theirs, folder / "3" / "next")))
        yield shared_faults("an earlier release of the same name in another ledger is refused", not named)


def same_data() -> Iterator[AuditRow]:
    """What a log is called hides neither a look at it from the card, nor an earlier release of it from the ledger."""
    with scratch() as folder:
        folder = folder / "one"
        plan = Plan(build("korolova", KOROLOVA), folder / "out", population="readers")
        card = json.loads((_run(folder, plan, before="inspect") / "public" / "card.json").read_text(encoding="utf-8"))
        hidden = not any("inspect" in look for look in card["accounting"]["ledger"]["looks"])
        yield shared_faults("a look under another name is on the card", hidden)
        other = replace(plan, out=folder / "next", population="others", new_population=True)
        taken = not _refused(lambda: _run(folder, other))
        yield shared_faults("the same records under another name are refused", taken)


def _run(folder: Path, plan: Plan, before: str = "") -> Path:
    """A release of the crowd's log in this folder, by its ledger; after a look under no name."""
    from hubbub.log import read_log

    folder.mkdir(exist_ok=True)
    (folder / "log.tsv").write_text("\n".join([taint.AOL, *taint.others()]) + "\n", encoding="utf-8")
    with Ledger(folder / "ledger.sqlite") as book, read_log(folder / "log.tsv", format="aol", threads=1) as log:
        if before:
            look(book, log, "default", "default", before)
        run_release(log, plan, book)
    return plan.out


def _refused(run: Callable[[], object]) -> bool:
    try:
        run()
    except Refused:
        return True
    return False


def unproven() -> Iterator[AuditRow]:
    """Without a word from the owner nothing is written that is not private: seeded runs, repeatable sources."""
    mechanism, wrong = build("korolova", {"epsilon": 2, "delta": "1e-5"}), 0
    with scratch() as folder:
        plan = Plan(mechanism, folder / "out", users_public=1000)
        wrong += not _refused(replace(plan, seed=1).drafted)
        wrong += not _refused(replace(plan, users_public=10**6).drafted)  # δ above one in so many users
        try:
            taint.release(folder / "one", mechanism, noise=lambda: SeededNoise(1))
            wrong += 1
        except HubbubError:
            wrong += (folder / "one" / "out").exists()
    yield shared_faults("seeds, repeatable noise and a large δ are refused", wrong)


# ------------------------------------------------------------------ noise


def slack() -> Iterator[AuditRow]:
    """μ² of a draw of variance S is stated as Δ²/(S − 4): lemma A gives four units of variance away."""
    shares = [Fraction(d * d, s - 4) / gaussian.mu2_of(d * d, s) for d in (1, 3, 1 << 16) for s in (5, 6, 40, 10**9)]
    yield shared_row("μ² is stated with the slack of lemma A", 1.0, float(max(shares)), 1e-9)


def forked() -> Iterator[AuditRow]:
    """Two processes that come from one draw different noise, and so do two runs."""
    noise = SecureNoise()
    noise.laplace("first", Fraction(1000), 1)  # whatever is kept between draws is there before the fork
    theirs = in_a_child(noise, Fraction(1000), 32)
    draws = [theirs, *(SecureNoise().laplace("then", Fraction(1000), 32) for _ in range(2))]
    draws.append(noise.laplace("then", Fraction(1000), 32))
    same = sum(np.array_equal(a, b) for i, a in enumerate(draws) for b in draws[:i])
    yield shared_faults("processes and runs draw noise of their own", same or not theirs.any())
