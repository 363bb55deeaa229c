"""Where a command meets its caller: options come in as typed groups, words go out, errors end with an exit code."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from hubbub.cli.options import Without
from hubbub.errors import HubbubError


@dataclass
class Terminal:
    """Where a command speaks: results on stdout, the rest on stderr, progress only to a person."""

    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout, everything else on stderr.")] = (
        False
    )
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more; show the traceback of a bug of ours.")] = (
        False
    )
    _bar: bool = field(default=False, init=False)

    def say(self, text: str = "") -> None:
        """A line for a person."""
        self._end_bar()
        if not self.quiet:
            typer.echo(text, err=self.json)

    def say_all(self, lines: Iterable[str]) -> None:
        """Several lines for a person."""
        for line in lines:
            self.say(line)

    def note(self, text: str) -> None:
        """A line for a person who wants to know more."""
        if self.verbose:
            self._aside(text)

    def warn(self, text: str) -> None:
        """A line the owner should see."""
        if not self.quiet:
            self._aside(f"warning: {text}")

    def tell(self, text: str) -> None:
        """What a long command is doing, beside its results; an indented line is for who wants to know more."""
        if text.startswith(" "):
            self.note(text)
        elif not self.quiet:
            self._aside(text)

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
        if self.json:
            typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str))


# ------------------------------------------------------------------ options in groups


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A function as a command: a parameter that is a dataclass stands for one option per field of it."""
    hints = get_type_hints(function, include_extras=True)
    offered: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature(function).parameters.values():
        hint = hints[parameter.name]
        kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not is_dataclass(kind):
            offered.append(parameter.replace(annotation=hint, kind=Parameter.KEYWORD_ONLY))
            continue
        left_out = {name for mark in marks if isinstance(mark, Without) for name in mark}
        types = get_type_hints(kind, include_extras=True)
        own = [f for f in fields(kind) if f.init and f.name not in left_out]
        offered += [
            Parameter(
                f.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if f.default is MISSING else f.default,
                annotation=types[f.name],
            )
            for f in own
        ]
        groups[parameter.name] = kind, [f.name for f in own]

    @functools.wraps(function)
    def run(**given: Any) -> None:
        with _ended(bool(given.get("verbose"))):
            for name, (kind, names) in groups.items():
                given[name] = kind(**{option: given.pop(option) for option in names if option in given})
            function(**given)

    run.__signature__ = Signature(offered)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in offered}
    return run


@contextmanager
def _ended(verbose: bool) -> Iterator[None]:
    """Turn exceptions into one clear message and the right exit code."""
    try:
        yield
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
        if verbose:
            traceback.print_exc()
        else:
            typer.echo("  next:    run again with --verbose for the details", err=True)
        raise typer.Exit(3) from None
