"""The owner's page: from where on a release beats having none, then one table for each task; and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hubbub.files import write_whole
from hubbub.look.price.request import HEADLINES, PriceRequest
from hubbub.look.price.run import Priced, Prices

PAGE, DOCUMENT = "worth.html", "worth.json"


def write(prices: Prices, asked: PriceRequest, folder: Path) -> None:
    """Replace both files, each whole."""
    text = json.dumps(record(prices, asked), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / DOCUMENT, text + "\n")
    write_whole(folder / PAGE, render(prices, asked))


def record(prices: Prices, asked: PriceRequest) -> dict[str, Any]:
    """All of it as one JSON document."""
    return {
        "delta": asked.delta,
        "draws": asked.draws,
        "seed": asked.seed,
        "users": prices.users,
        "epsilons": prices.epsilons,
        "beats_none": {
            task: [
                {"users": users}
                | ({"epsilon": None} if cell is None else {"epsilon": cell.epsilon, "mechanism": cell.mechanism})
                for users, cell in prices.turning(task)
            ]
            for task in told(prices)
        },
        "cells": [vars(cell) | {"kept": cell.kept} for cell in prices.cells],
        "missing": prices.reasons,
    }


def told(prices: Prices) -> list[str]:
    """The tasks of which anything can be said."""
    return [task for task in HEADLINES if any(cell.task == task for cell in prices.cells)]


def lines(prices: Prices) -> Iterator[str]:
    """For a terminal: from where on a release beats having none."""
    for task in told(prices):
        yield f"\n{task} ({HEADLINES[task]})"
        for users, cell in prices.turning(task):
            yield f"  {users:>9,} users: {sentence(cell)}"
    for what, why in prices.reasons.items():
        yield f"not said: {what}: {why}"


def sentence(cell: Priced | None) -> str:
    """From which ε on a release beats having none."""
    if cell is None:
        return "no mechanism beats having no release, at any ε tried"
    kept = "" if cell.kept is None else f", keeping {min(cell.kept, 9.99):.0%} of what the log adds"
    return f"from ε = {cell.epsilon} on ({cell.mechanism}{kept})"


def render(prices: Prices, asked: PriceRequest) -> str:
    """The page, a function of the prices."""
    from hubbub.show.page import jinja

    known = {(c.task, c.mechanism, c.users, c.epsilon): c for c in prices.cells}
    return (
        jinja()
        .get_template("worth.html")
        .render(
            prices=prices,
            asked=asked,
            tasks=told(prices),
            headlines=HEADLINES,
            sentence=sentence,
            mechanisms=list(dict.fromkeys(cell.mechanism for cell in prices.cells)),
            cell=lambda *key: known.get(key),
        )
    )
