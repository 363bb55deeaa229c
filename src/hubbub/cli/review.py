"""`hubbub review`: look at the drawn rows of a draft or a release, strike some, approve the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.listed import completing
from hubbub.cli.options import LedgerFile, whole_number
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError
from hubbub.plurals import counted

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """What is looked for, what is struck, and who approves."""

    write: Annotated[
        str | None, typer.Option(help="Write flagged rows into a review file to fill in.", metavar="FILE")
    ] = None
    strike: Annotated[str | None, typer.Option(help="A filled review file: what is struck.", metavar="FILE")] = None
    strike_rules: Annotated[
        str | None,
        typer.Option(
            help="Strike rows that rules hit: default, or some of: {rules}.",
            metavar="RULES",
            autocompletion=completing("rules"),
        ),
    ] = None
    deny: Annotated[
        str | None, typer.Option(help="Strike rows that hold a text of this list, too.", metavar="FILE")
    ] = None
    topics: Annotated[
        str | None, typer.Option(help="More words to flag, one a line: `topic: word`.", metavar="FILE")
    ] = None
    names: Annotated[str | None, typer.Option(help="More names to flag, one a line.", metavar="FILE")] = None
    approve: Annotated[bool, typer.Option("--approve", help="Write the release anew, without what was struck.")] = False
    by: Annotated[str | None, typer.Option(help="Who looked at the rows; the card states it.", metavar="NAME")] = None
    out: Annotated[
        str | None, typer.Option(help="The folder to make (RELEASE-reviewed); must not exist.", metavar="DIR")
    ] = None
    show: Annotated[int, typer.Option(help="How many flagged rows to show.", metavar="N")] = 40


@command
def review(
    release: Annotated[
        str, typer.Argument(help="A draft (`--review`), a release, or a period of a series.", metavar="RELEASE")
    ],
    options: ReviewOptions,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Look at the rows that were drawn, never at the log; strike some, approve the rest. Costs nothing.

    Example: hubbub review draft --write review.tsv

    Then: hubbub review draft --strike review.tsv --approve --by "A. Officer" --out release
    """
    from hubbub.privacy.ledger import Ledger
    from hubbub.public.screening import chosen_screen
    from hubbub.public.sensitive import person_names, topics
    from hubbub.release.review import Drawn, Flags, Strikes, flagged, read_strikes, rule_strikes, write_review
    from hubbub.release.review.anew import drawn_tables
    from hubbub.series.reviewed import all_strikes, approve_drawn

    path = Path(release)
    shown = whole_number(options.show, "show", least=0) or 0
    card, tables = drawn_tables(path)
    by_hand = read_strikes(Path(options.strike), card, Drawn.of(tables)) if options.strike else ()
    own = Strikes(by_hand, rule_strikes(chosen_screen(options.strike_rules, options.deny)))
    strikes = all_strikes(path, own)
    left, struck = strikes.left(tables)
    if options.approve:
        if not options.by:
            raise ParameterError("--by NAME is missing.", next="say who looked at the rows: the card will state it")
        out = None if options.out is None else Path(options.out).absolute()
        with Ledger(None if ledger is None else Path(ledger)) as book:
            done = approve_drawn(path.absolute(), card, own, options.by, out, book)
        out = done.out
        _say_struck(struck, strikes.tables, terminal)
        for table, number in done.rows.items():
            terminal.say(f"  {table}: {counted(number, 'row')}")
        terminal.say(f"Approved by {options.by}. Open {out}/public/index.html; check with: hubbub card {out} --check")
        terminal.document({"out": str(out), "tables": done.rows, "struck": struck, "tables_struck": [*strikes.tables]})
        return
    lists = [None if file is None else Path(file) for file in (options.topics, options.names)]
    rows = flagged(tables, Flags(topic=topics(lists[0]), names=person_names(lists[1])))
    terminal.say(f"{card.release.id}: {'a DRAFT' if card.release.draft else 'a release'}. {card.claim.sentence}")
    for table, drawn in tables.items():
        terminal.say(f"  {table}: {counted(drawn.num_rows, 'row')}, {sum(row.table == table for row in rows)} flagged")
    counts = Counter(flag if not flag.startswith("near ") else "near another" for row in rows for flag in row.flags)
    terminal.say("flags: " + (", ".join(f"{flag} {n}" for flag, n in counts.most_common()) or "none"))
    for row in rows[:shown]:
        second = f" | {row.second}" if row.second else ""
        terminal.say(f"  {row.table:12} {row.key}{second}   [{'; '.join(row.flags)}]")
    if len(rows) > shown:
        terminal.say(f"  … and {len(rows) - shown} more: --show N, or --write FILE for all of them")
    if options.write:
        write_review(Path(options.write), card, rows)
        terminal.say(f"Wrote {options.write}: mark what should go, give a reason, then --strike {options.write}")
    if struck or strikes.tables or options.strike or options.strike_rules or options.deny:
        _say_struck(struck, strikes.tables, terminal)
        _say_near(tables, left, terminal)
        terminal.say("Nothing was written: say --approve --by NAME to write the release anew.")
    terminal.document(
        {
            "release": card.release.id,
            "draft": bool(card.release.draft),
            "rows": [{"table": r.table, "key": r.key, "second": r.second, "flags": [*r.flags]} for r in rows],
            "struck": struck,
            "tables_struck": [*strikes.tables],
        }
    )


def _say_struck(struck: list[dict[str, object]], tables: tuple[str, ...], terminal: Terminal) -> None:
    for one in struck:
        terminal.say(f"  struck: {one['rows']} of {one['table']}, {one['by']}: {one['reason']}")
    for table in tables:
        terminal.say(f"  struck: the table {table}")


def _say_near(tables: Mapping[str, pa.Table], left: Mapping[str, pa.Table], terminal: Terminal) -> None:
    """Rows that stay though they are nearly what was struck."""
    from hubbub.release.review.flags import near_struck

    for text, gone in near_struck(tables, left):
        terminal.warn(f"{text!r} stays, and is nearly {gone!r}, which was struck")
