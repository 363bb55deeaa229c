"""What only the owner can say: title, curator, licence, period. Read from the `[card]` table of a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from hubbub.card.schema import NOT_STATED
from hubbub.errors import InputError
from hubbub.log import Period
from hubbub.log.spans import parse_period


@dataclass(frozen=True)
class Owner:
    """The owner's statements; what is left out is printed as "not stated"."""

    title: str = NOT_STATED
    curator: tuple[str, ...] = (NOT_STATED,)
    licence: str = NOT_STATED
    contact: str = NOT_STATED
    region: str = NOT_STATED
    intended_use: str = NOT_STATED
    planned_releases: str = NOT_STATED
    raw_data_access: str = NOT_STATED
    raw_data_kept_until: str = NOT_STATED
    period: Period | None = None


def read_owner(table: Mapping[str, object]) -> Owner:
    """The `[card]` table as an Owner; unknown fields are errors."""
    fields: dict[str, object] = {}
    for key, value in table.items():
        if key not in Owner.__dataclass_fields__:
            allowed = ", ".join(Owner.__dataclass_fields__)
            raise InputError("The [card] table has an unknown field.", given=key, allowed=allowed)
        if key == "period":
            fields[key] = _period(value)
        elif key == "curator":
            names = [value] if isinstance(value, str) else value
            if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
                raise InputError("curator must be a name or a list of names.", given=value)
            fields[key] = tuple(names)
        elif isinstance(value, str):
            fields[key] = value
        else:
            raise InputError(f"{key} in the [card] table must be text.", given=value)
    return Owner(**fields)  # type: ignore[arg-type]


def card_of(facts: Mapping[str, str]) -> dict[str, object]:
    """The same table from texts: several curators have semicolons between them."""
    table: dict[str, object] = dict(facts)
    if "curator" in facts:
        table["curator"] = [name.strip() for name in facts["curator"].split(";") if name.strip()]
    return table


def texts_of(owner: Owner) -> dict[str, str]:
    """What an owner states, as texts that `card_of` reads; nothing of what is not stated."""
    names = [name for name in Owner.__dataclass_fields__ if name not in ("curator", "period")]
    texts = {name: str(getattr(owner, name)) for name in names}
    texts["curator"] = "; ".join(owner.curator)
    if owner.period is not None:
        texts["period"] = f"{owner.period.first}..{owner.period.last}"
    return {name: text for name, text in texts.items() if text != NOT_STATED}


def _period(value: object) -> Period:
    if isinstance(value, str):
        return parse_period(value)
    if isinstance(value, dict) and set(value) == {"from", "to"}:
        try:
            first, last = (date.fromisoformat(str(value[k])[:10]) for k in ("from", "to"))
            return Period(first, last)
        except ValueError:
            pass
    raise InputError(
        "The stated period cannot be read.",
        given=value,
        allowed='period = "2006-03..2006-05", or { from = "2006-03-01", to = "2006-05-31" }',
    )


def read_config(path: str | Path) -> dict[str, object]:
    """A TOML configuration file as plain data."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("The configuration file cannot be read.", given=f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("The configuration file is not TOML.", given=f"{path}: {error}") from error
