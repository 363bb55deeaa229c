"""`hubbub evaluate`: what a release is still worth, for its owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.inspect import NOT_OPTIONS, looked, release_options
from hubbub.cli.shared import (
    CanonicalUrls,
    Columns,
    Config,
    Dataset,
    EngineName,
    Format,
    Json,
    LedgerFile,
    Master,
    Memory,
    Population,
    Quiet,
    Terminal,
    Threads,
    Verbose,
    Work,
    asked,
    command,
    open_log,
    require,
    whole_number,
)
from hubbub.errors import ParameterError

BANNER = "OWNER ONLY. Scores against the raw log: not private, do not publish."
OF_THE_LOG = ("format", "columns", "canonical_urls")


@command
def evaluate(
    release: Annotated[str, typer.Argument(help="The folder that `hubbub release --out` wrote.", metavar="RELEASE")],
    log: Annotated[
        str | None,
        typer.Option(help="The raw log. Default: the one it was made from, by owner-only/run.toml.", metavar="LOG"),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; repeatable.", metavar="T")] = None,
    truth: Annotated[
        str | None, typer.Option(help="Folder with what some tasks need: see hubbub synth --truth.", metavar="DIR")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the splits into training and test.", min=0)] = 0,
    format: Format = None,
    columns: Columns = None,
    canonical_urls: CanonicalUrls = None,
    engine: EngineName = None,
    master: Master = None,
    memory: Memory = None,
    threads: Threads = None,
    work: Work = None,
    population: Population = None,
    dataset: Dataset = None,
    ledger: LedgerFile = None,
    config: Config = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score a release on the papers' tasks against its log. Not private; recorded; kept in owner-only/scores.json.

    What is not said here is taken from the release's own owner-only/run.toml: ledger, format, period and so on.

    Example: hubbub evaluate release --log log.tsv.gz --task counts --task fears --truth truth
    """
    given: dict[str, Any] = dict(locals())
    for name in (*NOT_OPTIONS, "release", "task", "truth", "seed"):
        given.pop(name, None)
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger, named
    from hubbub.release.opened import Release
    from hubbub.worth.tasks.base import Truth
    from hubbub.worth.tasks.run import choose, owner_only, run

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    released, chosen = Release(release), choose(task)
    folder, known = owner_only(released), None if truth is None else Truth(truth)
    if config is None and (folder / "run.toml").is_file():
        config = str(folder / "run.toml")
    what = asked(given, None, config, release_options())
    stated = what.given
    if given["log"] is not None and config is not None and not _same(given["log"], config):
        stated |= {name: given[name] for name in OF_THE_LOG}  # another log may well be in another format
    if not stated["log"]:
        raise ParameterError("--log LOG is missing.", next="give the raw log that the release was made from")
    require(stated, (), "evaluate")
    who, which = named(stated["population"] or "default"), named(stated["dataset"] or "default")
    with (
        Ledger(Path(stated["ledger"]) if stated["ledger"] else None) as book,
        open_log(stated, what.owner.period, terminal) as raw,
    ):
        look(book, raw, who, which, "evaluate")
        terminal.say(BANNER)
        scored = run(
            released,
            raw,
            chosen,
            known,
            seed=seed,
            say=partial(_tell, terminal),
            memory=stated["memory"] or "2GB",
            threads=whole_number(stated["threads"], "threads", most=1024),
        )
    for line in lines(scored, {t.name for t in chosen}):
        terminal.say(line)
    terminal.say(f"Kept in {folder / 'scores.json'}. {looked(who, which)}")
    terminal.document(scored)


def _tell(terminal: Terminal, text: str) -> None:
    """Tasks as they come and go, on stderr; what they do inside only for who wants to know more."""
    if text.startswith(" "):
        terminal.note(text)
    elif not terminal.quiet:
        with suppress(OSError):
            typer.echo(text, err=True)


def _same(log: str, config: str) -> bool:
    """Whether this is the log that a configuration names."""
    from hubbub.card.owner import read_config

    stated = read_config(config).get("log")
    return isinstance(stated, str) and Path(stated).absolute() == Path(log).absolute()


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


def _rows(scores: dict[str, dict[str, float | None]]) -> Iterator[tuple[str, str, str]]:
    """Name, original, release; a series whose original is the same throughout is one row."""
    series: dict[str, list[str]] = {}
    for metric in scores:
        series.setdefault(metric.partition("@")[0], []).append(metric)
    for stem, metrics in series.items():
        originals = {_number(scores[metric]["original"]) for metric in metrics}
        if len(metrics) > 1 and len(originals) == 1:
            parts = (f"@{m.partition('@')[2]} {_number(scores[m]['release'])}" for m in metrics)
            yield stem, originals.pop(), ", ".join(parts)
        else:
            for metric in metrics:
                yield metric, _number(scores[metric]["original"]), _number(scores[metric]["release"])


def _number(x: float | None) -> str:
    if x is None:
        return "–"
    return f"{x:,}" if isinstance(x, int) else f"{x:.4g}"
