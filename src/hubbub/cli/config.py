"""The configuration file: any option of `hubbub release`, `[set]` and `[card]`. The command line wins over it.

The same file serves a release and the looks before it, and `owner-only/run.toml` is one: each command takes its own
options from it and leaves the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints
from unicodedata import category

from hubbub.cli.options import BudgetOptions, MechanismOptions, NewLogOptions, ReleaseOptions, spelled
from hubbub.deprecated import OPTIONS, current
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.card.owner import Owner

Group = TypeVar("Group")
APART = ("config", "set")  # the file itself, and what is a table in it
BUDGET = ("epsilon", "delta")  # options that are settings: --epsilon E is --set epsilon=E
NUMBERS = (*BUDGET, "max_rejects")  # text on the command line, where 5% and 1e-6 are numbers, too
PATHS = (
    "log",
    "out",
    "serp",
    "pool",
    "public_list",
    "prior",
    "previous",
    "work",
    "ledger",
    "deny",
    "allow",
    "supersedes",
)
TEXTS = list[str]
KINDS = {int: "a whole number", bool: "true or false", str: "text", TEXTS: "text, or a list of texts"}


@dataclass(frozen=True)
class Configuration:
    """What a configuration file says; nothing, if there is none."""

    options: Mapping[str, Any]
    settings: Mapping[str, str]
    card: Mapping[str, Any]
    owner: Owner

    def fill(self, group: Group) -> Group:
        """These options; what the command line left open is taken from the file."""
        given = vars(group)
        check_text(given)
        names = self.options.keys() & given.keys() - {*BUDGET}
        return replace(group, **{name: self.options[name] for name in names if given[name] is None})  # type: ignore[type-var]

    def settings_with(self, budget: BudgetOptions) -> dict[str, str]:
        """The parameters of a mechanism, by name."""
        return {**self.settings, **parse_settings([*(budget.set or []), *_pairs(vars(budget), BUDGET)])}


def read_configuration(path: str | None, known: Mapping[str, Any] | None = None) -> Configuration:
    """A file that may hold these options, or all of a release; anything else in it is refused."""
    from hubbub.card.owner import read_config, read_owner

    stated = dict(read_config(path)) if path is not None else {}
    settings, card = _table(stated, "set"), _table(stated, "card")
    owner = read_owner(card)
    allowed = kinds_of(NewLogOptions, MechanismOptions, ReleaseOptions) if known is None else known
    renamed = {current(OPTIONS, name): value for name, value in stated.items()}
    options = {name: _checked(name, value, allowed) for name, value in renamed.items()}
    check_text(options)
    return Configuration(options, parse_settings(_pairs(settings) + _pairs(options, BUDGET)), card, owner)


def kinds_of(*groups: type) -> dict[str, Any]:
    """The options that a configuration may hold, and the type of each."""
    hints = {name: hint for group in groups for name, hint in get_type_hints(group).items()}
    names = [f.name for group in groups for f in fields(group) if f.name not in APART]
    return {name: next(kind for kind in get_args(hints[name]) if kind in KINDS) for name in names}


def resolved(*groups: object) -> dict[str, Any]:
    """Options as a file that runs the command again has them: paths as they can be found from anywhere."""
    given = {name: value for group in groups for name, value in vars(group).items() if name not in (*APART, *BUDGET)}
    return given | {name: _found(given[name]) for name in PATHS if given.get(name) is not None}


def _found(path: Any) -> Any:
    """A path as it can be found from anywhere; several are several."""
    if isinstance(path, list):
        return [_found(one) for one in path]
    return path if path == "-" or "://" in path else str(Path(path).absolute())


def parse_settings(pairs: list[str], option: str = "--set") -> dict[str, str]:
    """`--set name=value`, or another option of that form, as a table."""
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or not value.strip():
            example = "--set d=20" if option == "--set" else "--card contact=me@library.example"
            what = f"{option} needs a name and a value."
            raise ParameterError(what, given=pair, allowed=f"name=value, e.g. {example}")
        if name.strip() in settings:
            what = "A parameter is set twice." if option == "--set" else "A fact of the card is stated twice."
            raise ParameterError(what, given=name.strip(), next="set it once")
        settings[name.strip()] = value.strip()
    return settings


def _checked(name: str, value: Any, known: Mapping[str, Any]) -> Any:
    """Refuse what is no option, or not of the option's type: `not_private = "no"` must not mean yes."""
    if name not in known:
        allowed = ", ".join([*known, "[set]", "[card]"])
        raise ParameterError("The configuration has an unknown option.", given=name, allowed=allowed)
    if type(value) is known[name]:
        return value
    if known[name] == TEXTS and (type(value) is str or (type(value) is list and all(type(v) is str for v in value))):
        return [value] if type(value) is str else value
    if name in NUMBERS and type(value) in (int, float):
        return str(value)
    words = "a number or text" if name in NUMBERS else KINDS[known[name]]
    given = f"{name} = {value!r}"
    raise ParameterError("An option in the configuration is of the wrong type.", given=given, allowed=words)


def check_text(given: Mapping[str, Any]) -> None:
    """An empty shell variable must not mean the default; what is no text cannot stand in run.toml."""
    for name, value in ((name, one) for name, v in given.items() for one in (v if isinstance(v, list) else [v])):
        if isinstance(value, str) and (not value.strip() or any(category(c) in ("Cc", "Cs") for c in value)):
            allowed = "text in UTF-8 without control characters"
            raise ParameterError(f"{spelled(name)} is empty or not text.", given=ascii(value), allowed=allowed)


def _pairs(table: Mapping[str, Any], names: tuple[str, ...] | None = None) -> list[str]:
    """Settings as `--set` would give them."""
    return [f"{name}={table[name]}" for name in names or table if table.get(name) is not None]


def _table(stated: dict[str, Any], name: str) -> dict[str, Any]:
    """Take a table out of the configuration."""
    table = stated.pop(name, {})
    if not isinstance(table, dict):
        raise ParameterError(f"[{name}] in the configuration must be a table.", given=table)
    return table
