"""The command `hubbub`: one file per command, heavy imports inside the commands.

    options    every shared option, declared once in typed groups    config    the file that may hold them
    terminal   groups in, words out, errors to exit codes            raw_log   a log opened for a look or a release
    listed     names in help texts and completions                   names     what is installed: nothing is imported

Exit codes: 0 done; 1 a check failed; 2 the user's mistake or a refusal; 3 our bug.
"""

from __future__ import annotations

import io
import signal
import sys
import warnings

import typer

from hubbub.cli.attack import attack
from hubbub.cli.audit import audit
from hubbub.cli.bench import bench
from hubbub.cli.card import card
from hubbub.cli.compare import compare
from hubbub.cli.demo import demo
from hubbub.cli.doctor import doctor
from hubbub.cli.estimate import estimate
from hubbub.cli.evaluate import evaluate
from hubbub.cli.export import export
from hubbub.cli.index import index
from hubbub.cli.inspect import inspect
from hubbub.cli.ledger import ledger
from hubbub.cli.listed import Listed
from hubbub.cli.no_frames import without_pandas
from hubbub.cli.pool import pool
from hubbub.cli.release import release
from hubbub.cli.report import report
from hubbub.cli.reproduce import reproduce
from hubbub.cli.review import review
from hubbub.cli.series import series
from hubbub.cli.studio import studio
from hubbub.cli.synth import synth
from hubbub.cli.withdraw import withdraw
from hubbub.cli.worth import worth

app = typer.Typer(
    name="hubbub",
    help="Publish a search log: hear the crowd, pick out nobody.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _one in (
    demo,
    synth,
    inspect,
    estimate,
    release,
    evaluate,
    compare,
    worth,
    attack,
    report,
    export,
    card,
    review,
    withdraw,
    index,
):
    app.command(cls=Listed)(_one)
app.add_typer(series, name="series")
app.add_typer(ledger, name="ledger")
app.add_typer(pool, name="pool")
app.add_typer(bench, name="bench")
for _one in (audit, reproduce, studio, doctor):
    app.command(cls=Listed)(_one)


@app.callback(invoke_without_command=True)
def version(show: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True)) -> None:
    """Publish a search log: hear the crowd, pick out nobody."""
    if show:
        import hubbub

        typer.echo(f"hubbub {hubbub.__version__}")
        raise typer.Exit


def _told(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a line for the owner, without the place in the code that it comes from."""
    typer.echo(f"warning: {message}", err=True)


def main() -> None:
    """Run the command line."""
    warnings.showwarning = _told
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Greek must not end a release
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # unwinding removes copies of the raw log
    without_pandas(sys.argv[1:])
    app()
