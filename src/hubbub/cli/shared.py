"""What every command shares: its terminal, its options, and how errors end."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, ParamSpec

import typer

from hubbub.errors import HubbubError

P = ParamSpec("P")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, everything else on stderr.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more; show the traceback of a bug of ours.")]
LedgerFile = Annotated[
    str | None, typer.Option("--ledger", help="The budget book. Default: the user's data directory.", metavar="FILE")
]


class Terminal:
    """Where a command speaks: results on stdout, the rest on stderr, progress only to a person."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbose: bool = False) -> None:
        self.as_json, self.quiet, self.verbose = as_json, quiet, verbose
        self._bar = False

    def say(self, text: str = "") -> None:
        """A line for a person."""
        self._end_bar()
        if not self.quiet:
            typer.echo(text, err=self.as_json)

    def note(self, text: str) -> None:
        """A line for a person who wants to know more."""
        if self.verbose:
            self._aside(text)

    def warn(self, text: str) -> None:
        """A line the owner should see."""
        if not self.quiet:
            self._aside(f"warning: {text}")

    def _aside(self, text: str) -> None:
        """Nobody may be listening on stderr: that must not end a release."""
        with suppress(OSError):
            self._end_bar()
            typer.echo(text, err=True)

    def progress(self, what: str) -> Callable[[int, int], None]:
        """A progress line on a terminal; nothing anywhere else."""
        shown = not self.quiet and sys.stderr is not None and sys.stderr.isatty() and "TERM" in os.environ

        def step(done: int, total: int) -> None:
            if shown:
                share = done / total if total else 1.0
                sys.stderr.write(f"\r{what} {share:4.0%}")
                sys.stderr.flush()
                self._bar = True

        return step

    def _end_bar(self) -> None:
        if self._bar:
            sys.stderr.write("\r\033[K")
            self._bar = False

    def document(self, data: object) -> None:
        """The one JSON document."""
        self._end_bar()
        if self.as_json:
            typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str))


def command(function: Callable[P, Any]) -> Callable[P, None]:
    """Turn exceptions into one clear message and the right exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except HubbubError as error:
            typer.echo(f"hubbub: {error}", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("hubbub: interrupted", err=True)
            raise typer.Exit(130) from None
        except (typer.Exit, SystemExit, typer.Abort, BrokenPipeError):
            raise
        except OSError as error:
            typer.echo(f"hubbub: The system would not read or write: {error}.", err=True)
            typer.echo("  next:    check the disk, the permissions and where the output goes", err=True)
            raise typer.Exit(2) from None
        except Exception as error:
            typer.echo(f"hubbub: this is a bug of ours, please report it: {type(error).__name__}: {error}", err=True)
            if kwargs.get("verbose"):
                traceback.print_exc()
            else:
                typer.echo("  next:    run again with --verbose for the details", err=True)
            raise typer.Exit(3) from None

    return run
