"""`hubbub evaluate`: what a release is still worth, for its owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from hubbub.cli.listed import completing
from hubbub.cli.options import ReleasedLogOptions, ReleaseFolder, TruthFolder
from hubbub.cli.raw_log import log_of_release, looking
from hubbub.cli.terminal import Terminal, command

BANNER = "OWNER ONLY. Scores against the raw log: not private, do not publish."


@command
def evaluate(
    release: ReleaseFolder,
    log: ReleasedLogOptions,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Only this task: {tasks}; repeatable.", metavar="T", autocompletion=completing("tasks")),
    ] = None,
    truth: TruthFolder = None,
    seed: Annotated[int, typer.Option(help="Seed of the splits into training and test.", min=0)] = 0,
    *,
    terminal: Terminal,
) -> None:
    """Score a release on tasks against its log. Not private; recorded; kept in owner-only/scores.json.

    What is not said here is taken from the release's own owner-only/run.toml: ledger, format, period and so on.

    Example: hubbub evaluate release --log log.tsv.gz --task counts --task fears --truth truth
    """
    from hubbub.release.opened import Release
    from hubbub.worth.tasks.base import Truth
    from hubbub.worth.tasks.run import choose, owner_only, run

    released, chosen = Release(release), choose(task)
    folder, known = owner_only(released), None if truth is None else Truth(truth)
    stated, log = log_of_release(folder, log)
    memory, threads = log.limits()
    with looking("evaluate", log, stated.owner.period, terminal, BANNER) as raw:
        how: dict[str, Any] = {"seed": seed, "say": terminal.tell, "memory": memory, "threads": threads}
        scored = run(released, raw, chosen, known, **how)
    terminal.say_all(lines(scored, {t.name for t in chosen}))
    terminal.say(f"Kept in {folder / 'scores.json'}.")
    terminal.document(scored)


def lines(scored: dict[str, dict[str, Any]], shown: set[str]) -> Iterator[str]:
    """The scores for a person: the original's own beside the release's, a series such as coverage@10, @100 in a row."""
    for task, scores in scored.items():
        if task not in shown:
            continue
        yield f"\n{task}"
        if "not_evaluable" in scores:
            yield f"  not evaluable: {scores['not_evaluable']}"
            continue
        rows = list(_rows(scores))
        width = max(len(name) for name, _, _ in rows)
        yield f"  {'':{width}}  {'original':>11}  release"
        for name, original, release in rows:
            yield f"  {name:{width}}  {original:>11}  {release}"
        if any("floor" in pair for pair in scores.values()):
            yield "  [a 95 % interval over what was asked; the floor: without any log – the ceiling]"


def _rows(scores: dict[str, dict[str, float | None]]) -> Iterator[tuple[str, str, str]]:
    """Name, original, release; a series whose original is the same throughout is one row."""
    series: dict[str, list[str]] = {}
    for metric in scores:
        series.setdefault(metric.partition("@")[0], []).append(metric)
    for stem, metrics in series.items():
        originals = {_number(scores[metric]["original"]) for metric in metrics}
        if len(metrics) > 1 and len(originals) == 1 and not any("low" in scores[metric] for metric in metrics):
            parts = (f"@{m.partition('@')[2]} {_number(scores[m]['release'])}" for m in metrics)
            yield stem, originals.pop(), ", ".join(parts)
        else:
            for metric in metrics:
                yield metric, _number(scores[metric]["original"]), _beside(scores[metric])


def _beside(pair: dict[str, float | None]) -> str:
    """The release's score, with its interval, the floor and the ceiling where a task knows them."""
    if "low" not in pair:
        return _number(pair["release"])
    low, high, floor, ceiling = (_number(pair.get(side)) for side in ("low", "high", "floor", "ceiling"))
    return f"{_number(pair['release']):7}  [{low}, {high}; {floor} – {ceiling}]"


def _number(x: float | None) -> str:
    if x is None:
        return "–"
    return f"{x:,}" if isinstance(x, int) else f"{x:.4g}"
