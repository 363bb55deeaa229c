"""Every figure, table and numbered statement of the five papers: what we do about it, where, and if nothing, why.

*recomputed*: its numbers follow from formulas and are computed again (`hubbub reproduce`). *run*: its experiment is run
on a log (`hubbub reproduce --experiments`). *not run*: neither, for the reason given. A number and an experiment can
stand behind the same figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Done = Literal["recomputed", "run", "not run"]
DONE: tuple[Done, ...] = ("recomputed", "run", "not run")
PICTURE = "an illustration: it has no result"


@dataclass(frozen=True)
class PrintedItem:
    """A figure, a table, a theorem, or a numbered claim of the text."""

    paper: str
    name: str
    """As the paper has it: "Figure 3", "Table 1", "Theorem 2", "Section 5.3"."""
    about: str
    numbers: tuple[str, ...] = ()
    """Rows of `hubbub reproduce`, by the beginnings of their ids."""
    experiments: tuple[str, ...] = ()
    """Rows of `hubbub reproduce --experiments`."""
    not_run: str = ""
    """What is not run, and why; empty where nothing is missing."""

    @property
    def done(self) -> tuple[Done, ...]:
        """Everything that is true of it."""
        found = {"recomputed": self.numbers, "run": self.experiments, "not run": self.not_run}
        return tuple(done for done in DONE if found[done])


def _korolova() -> Iterator[PrintedItem]:
    yield PrintedItem("korolova", "Theorem 1", "ε and δ of the whole algorithm, by its Lemmas 1 to 5",
                      ("korolova/theorem-1", "korolova/tight-delta"))  # fmt: skip
    yield PrintedItem("korolova", "Algorithm 1", "Get-Click-Counts needs a public list of URLs", ("korolova/clicks",))
    yield PrintedItem(
        "korolova",
        "Experiments",
        "shares of queries and of volume; keyword generation; a study of fears; all figures and tables",
        experiments=("korolova/fractions", "korolova/keywords", "korolova/fears"),
        not_run="The text that we have ends before the section on experiments: its figures and tables are not known to "
        "us. What is run are the claims of its introduction, at parameters of ours.",
    )


def _gotz() -> Iterator[PrintedItem]:
    for name, about, ids in (
        ("Theorem 1", "(ε′, δ′)-indistinguishability", "gotz/theorem-1"),
        ("Theorem 2", "(ε, δ)-probabilistic differential privacy", "gotz/theorem-2"),
        ("Theorem 3", "accuracy for very frequent items; Theorem 4 rests on it", "gotz/theorem-3"),
        ("Proposition 4", "the best τ", "gotz/proposition-4"),
        ("Corollary 1", "pure ε over a large domain", "gotz/corollary-1"),
        ("Lemma 1", "how rarely an accurate algorithm with pure ε may err", "gotz/lower-bound"),
        ("Section 5.3", "δ < δ′", "gotz/section-5.3"),
        ("Section 5.1, step 1", "which m items of a user are taken", "gotz/step-1"),
        ("Section 8", "τ′ near 10", "gotz/text"),
        ("Table 1", "δ and δ′ for λ and τ′", "gotz/table-1"),
        ("Table 2", "τ′ by τ", "gotz/table-2"),
    ):
        yield PrintedItem("gotz", name, about, (ids,))
    yield PrintedItem(
        "gotz", "Propositions 1 to 3, Corollary 2", "how the two definitions compare, on tiny domains",
        ("gotz/proposition-1", "gotz/proposition-2", "gotz/proposition-3", "gotz/corollary-2"),
    )  # fmt: skip
    yield PrintedItem(
        "gotz", "Table 3", "distinct items and totals by m", experiments=("gotz/table-3", "gotz/table-3-pairs")
    )
    yield PrintedItem(
        "gotz", "Table 4", "items per user of the paper's log",
        not_run="It describes a log that is not public. The preset gotz is fitted to it (docs/synthetic-log.md).",
    )  # fmt: skip
    yield PrintedItem("gotz", "Figure 1", "the algorithm", not_run=PICTURE)
    for number, about in (
        (2, "coverage and precision by m"),
        (3, "coverage and precision by top-j"),
        (4, "distributions of counts"),
        (5, "average differences of counts"),
        (6, "hits of an index cache"),
        (7, "quality of query substitutions"),
        (8, "coverage of query substitutions"),
    ):
        pairs = next((f"gotz/figures-{both}-pairs" for both in ("2-3", "4-5") if str(number) in both), None)
        rows = (f"gotz/figure-{number}", *([pairs] if pairs else []))
        yield PrintedItem("gotz", f"Figure {number}", about, experiments=rows)


def _safelog() -> Iterator[PrintedItem]:
    yield PrintedItem("safelog", "Theorem 1", "pure ε of the whole algorithm", ("safelog/prefilter", "safelog/listed"))
    yield PrintedItem("safelog", "Theorem 2", "the selection from the pool", ("safelog/pool",))
    yield PrintedItem("safelog", "Table 1", "some rows of the AOL log", not_run=PICTURE)
    yield PrintedItem("safelog", "Table 2", "some rows of a Yandex log", not_run=PICTURE)
    yield PrintedItem("safelog", "Table 3", "q_f, c_f: ε and nDCG@10", ("safelog/table-3",), ("safelog/table-3",))
    yield PrintedItem("safelog", "Table 4", "clusters of web sites, purity 0.76", experiments=("safelog/table-4",))
    yield PrintedItem("safelog", "Figure 1", "the format of a release", not_run=PICTURE)
    yield PrintedItem("safelog", "Figure 2", "the framework", not_run=PICTURE)
    yield PrintedItem(
        "safelog", "Figure 3", "anonymized against original", ("safelog/figure-3",), ("safelog/figure-3",)
    )
    yield PrintedItem("safelog", "Figure 4", "nDCG@10 by b",
                      experiments=("safelog/figure-4", "safelog/figure-4-transitions"))  # fmt: skip
    yield PrintedItem("safelog", "Figure 5", "ε by b, with nDCG@10", ("safelog/figure-5",), ("safelog/figure-5",))
    yield PrintedItem(
        "safelog", "Conclusions", 'a two-tailed t-test, p < 0.01, for "comparable"', experiments=("safelog/t-test",)
    )


def _sessions() -> Iterator[PrintedItem]:
    yield PrintedItem("sessions", "Section 3.2.1", "the sensitivity Δf", ("sessions/sensitivity",))
    yield PrintedItem("sessions", "Section 3.2.2", "both algorithms together", ("sessions/combined",))
    yield PrintedItem("sessions", "Section 5.4", "doubling l_s doubles δ", ("sessions/section-5.4",))
    for number, about in ((1, "a toy example"), (2, "an example of sessions"), (3, "an example of clicks")):
        yield PrintedItem("sessions", f"Table {number}", about, not_run=PICTURE)
    yield PrintedItem("sessions", "Table 4", "ε and δ for typical parameters", ("sessions/table-4",))
    yield PrintedItem("sessions", "Table 5", "query suggestion with four logs", experiments=("sessions/table-5",))
    yield PrintedItem("sessions", "Figure 1", "data left by K", experiments=("sessions/figure-1",))
    yield PrintedItem("sessions", "Figure 2", "utility by evaluated sessions", experiments=("sessions/figure-2",))


def _hong() -> Iterator[PrintedItem]:
    yield PrintedItem("hong", "Theorem 1", "sampling user-IDs is private", ("hong/sampling",))
    yield PrintedItem("hong", "Section 4.2", "end to end, by noise on the optimal counts", ("hong/end-to-end",))
    yield PrintedItem(
        "hong", "Lemmas 1 to 3, Theorem 2, Proposition 1", "the three problems are private; two problems are the same",
        not_run="They follow from Theorem 1, which fails; Theorem 2 is about a solver, not about numbers.",
    )  # fmt: skip
    yield PrintedItem("hong", "Section 6.3", "precision is always 1", ("hong/section-6.3",))
    yield PrintedItem("hong", "Table 1", "an example of a log", not_run=PICTURE)
    yield PrintedItem("hong", "Table 2", "the notation", not_run=PICTURE)
    yield PrintedItem(
        "hong", "Table 3", "the paper's samples of the AOL log",
        not_run="It describes a random sample that is not known. The preset aol is fitted to its first column.",
    )  # fmt: skip
    yield PrintedItem("hong", "Table 4", "the largest output", ("hong/table-4", "hong/forced"), ("hong/table-4",))
    for number, about in ((5, "recall by |O| and s"), (6, "distances by |O| and s")):
        yield PrintedItem("hong", f"Table {number}", about, ("hong/tables-5-6",), (f"hong/table-{number}",))
    yield PrintedItem("hong", "Table 7", "retained pairs by solver", ("hong/table-7",), ("hong/table-7",))
    yield PrintedItem("hong", "Figure 1", "an example of the algorithm", ("hong/figure-1",))
    yield PrintedItem("hong", "Figure 2", "constraints as a polytope", not_run=PICTURE)
    for number, about, rows in (
        (3, "recall and distances by ε, δ, s, |O|", ("hong/figure-3", "hong/figure-3c")),
        (4, "diversity by ε and δ", ("hong/figure-4",)),
        (5, "seconds by solver", ("hong/figure-5",)),
        (6, "difference ratios of triplets", ("hong/figure-6",)),
    ):
        yield PrintedItem("hong", f"Figure {number}", about, experiments=rows)


INVENTORY: tuple[PrintedItem, ...] = (*_korolova(), *_gotz(), *_safelog(), *_sessions(), *_hong())
