"""`hubbub studio`: choose ε by looking, on a page of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.card_options import CardOptions
from hubbub.cli.config import kinds_of, read_configuration
from hubbub.cli.inspect import unknown
from hubbub.cli.options import NewLogOptions, OwnerOptions, ReadingOptions, Without, spelled
from hubbub.cli.raw_log import looked, open_log, with_format
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError
from hubbub.extras import imported

if TYPE_CHECKING:
    import socket

    from hubbub.ingest.proposal import Proposal
    from hubbub.studio.state import Studio

ELSEWHERE = Without(["engine", "master", "work"])  # the page reads a log once, on this machine


@command
def studio(
    *,
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="A log to tune and release; releases, or folders of them, to browse.", metavar="PATH"),
    ] = None,
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    folder: Annotated[
        str, typer.Option(help="Where releases are written, each into a new folder.", metavar="DIR")
    ] = ".",
    log: Annotated[NewLogOptions, Without(["log", *ELSEWHERE])],
    options: OwnerOptions,
    card: CardOptions,
    terminal: Terminal,
) -> None:
    """Open a log on a page: see what ε, δ, bounds and shares would keep, release it, browse releases.

    The page is for this machine and for you: its address holds a secret, and what it shows of the log is not private.

    Example: hubbub studio log.tsv.gz --format aol
    """
    uvicorn = _web()
    from hubbub.studio.app import create_app
    from hubbub.studio.security import new_token

    made = _studio(paths or [], log, options, card, folder, terminal)
    with _listen(port) as listening:
        token, number = new_token(), listening.getsockname()[1]
        app = create_app(made, token, (f"127.0.0.1:{number}", f"localhost:{number}"))
        address = f"http://127.0.0.1:{number}/{token}/"
        terminal.document({"address": address})
        typer.echo(f"The studio is at {address}", err=terminal.json)
        terminal.say("Keep this address to yourself; it ends with this process (Ctrl-C).")
        if made.opened is not None and made.opened.asks:
            terminal.say(f"{made.opened.source} is in no known format: the page asks which column is what.")
        elif made.opened is not None:
            terminal.say(looked(made.population, made.dataset))
        if not no_browser:
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
        try:
            with suppress(KeyboardInterrupt):  # the way to end it
                server.run(sockets=[listening])
        finally:
            if made.job is not None:
                made.job.finish()


class _Silent(Terminal):
    """The page shows how far reading is."""

    def __init__(self, progress: Callable[[int, int], None]) -> None:
        super().__init__(quiet=True)
        self._progress = progress

    def progress(self, what: str) -> Callable[[int, int], None]:
        """Hand on to the page how far reading is."""
        return self._progress


def _web() -> Any:
    imported("starlette", "web", "The studio's web server")
    return imported("uvicorn", "web", "The studio's web server")


def _listen(port: int) -> socket.socket:
    import socket

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # before the address is shown: who comes early waits and is not refused
    except OSError as error:
        listening.close()
        raise ParameterError("The port cannot be used.", given=port, next=f"choose another --port ({error})") from None
    return listening


def _studio(
    paths: list[str], log: NewLogOptions, options: OwnerOptions, card: CardOptions, folder: str, terminal: Terminal
) -> Studio:
    """What the command line opened: releases at once, a log in the background."""
    from hubbub.studio.state import OpenedLog, Studio

    releases, logs = _sorted(paths)
    if len(logs) > 1:
        raise ParameterError("The studio opens one log.", given=", ".join(logs), next="quote a glob, or name a folder")
    if not logs:
        for name in (*ReadingOptions.__dataclass_fields__, "max_rejects", "memory", "threads"):
            if getattr(log, name) is not None:
                raise ParameterError(f"{spelled(name)} is about a log, and none was named.")
    known = {name: kind for name, kind in kinds_of(NewLogOptions, OwnerOptions).items() if name not in ELSEWHERE}
    stated = card.added_to(read_configuration(log.config, known))
    if stated.settings:
        given = ", ".join(stated.settings)
        raise ParameterError("The page chooses the parameters.", given=given, next="leave [set] out")
    log, options = stated.fill(replace(log, log=logs[0] if logs else None)), stated.fill(options)
    log = replace(log, log=_absolute(log.log), ledger=_absolute(log.ledger), config=_absolute(log.config))
    log = replace(log, deny=_absolute(log.deny), allow=_absolute(log.allow))
    proposal = None
    if log.log is not None:
        proposal = _proposed(log)
        log = log if proposal is not None else with_format(log, terminal)
    options.stated()  # as a release would refuse them, and at once
    log.share()
    home = Path(folder).absolute()
    if not home.is_dir():
        raise ParameterError("There is no such folder.", given=folder, next="make it, or name another --folder")
    made = Studio(
        home,
        stated.owner,
        log,
        options,
        settle=lambda log: with_format(log, Terminal(quiet=True)),
        read=lambda log, period, progress: open_log(log, period, _Silent(progress)),
    )
    for path in releases:
        made.add(path)
    if log.log is not None:
        made.opened = OpenedLog(Path(log.log).name, proposal=proposal)
        if proposal is None:
            made.begin()
    return made


def _proposed(log: NewLogOptions) -> Proposal | None:
    """What an unknown file looks like, for the page to ask which column is what; None of a log that can be read."""
    from hubbub.ingest.proposal import propose

    return None if unknown(log) is None else propose(log.require(), log.require())


def _absolute(path: str | None) -> str | None:
    return path and str(Path(path).absolute())


def _sorted(paths: list[str]) -> tuple[list[Path], list[str]]:
    """Which of them are releases, or folders of releases; the rest are logs."""
    from hubbub.studio.shelf import is_release, releases_in

    releases: list[Path] = []
    logs: list[str] = []
    for text in paths:
        path = Path(text)
        inside = releases_in(path) if path.is_dir() else []
        if path.is_dir() and is_release(path):
            releases.append(path)
        elif inside:
            releases += inside
        else:
            logs.append(text)
    return releases, logs
