"""The parts of pages that are made from the code: tables of parameters, the reference of public names, the rooms.

A part stands between `<!-- made: parameters crowd -->` and `<!-- end -->`. `python -m tests.docs.generated` makes all
of them again, and the names that help texts list; a test fails where a page, or a name, differs from the code.
"""

from __future__ import annotations

import enum
import inspect
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.docs import tried
from tests.docs.blocks import PAGES, ROOT
from tests.docs.way import mapped, way

import hubbub
from hubbub.cli import names as written
from hubbub.cli.listed import REGISTRIES
from hubbub.look.estimate.worth import EPSILONS, cell, reference
from hubbub.mechanisms import Mechanism, measured, mechanisms
from hubbub.privacy import delta

PART = re.compile(r"(<!-- made: (\w+) ([\w, -]+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def parameters(names: str) -> str:
    """The parameters of mechanisms, as they are declared; those of several alike once."""
    found = [mechanisms()[name] for name in names.split(", ")]
    rows = ["| `--set` | meaning | default | allowed |", "|---|---|---|---|"]
    for parameter in dict.fromkeys(p for mechanism in found for p in mechanism.parameters):
        by = [m.name for m in found if parameter in m.parameters]
        only = "" if len(by) == len(found) else f" ({', '.join(by)})"
        default = "" if parameter.default is None else f"`{parameter.default}`"
        meaning = parameter.meaning.replace("|", "\\|")
        rows.append(f"| `{parameter.name}` | {meaning}{only} | {default} | {parameter.range} |")
    return "\n".join(rows) + "\n"


def api(names: str) -> str:
    """Public names with their signatures and docstrings; of their members the first sentences."""
    return "\n".join(_entry(name, getattr(hubbub, name)) for name in names.split(", "))


def _entry(name: str, thing: Any) -> str:
    if isinstance(thing, ModuleType):  # a module named as a verb is called like the function of that name
        thing = getattr(thing, name)
    if not inspect.isclass(thing):
        return f"### {name}\n\n`{name}{_signature(thing)}`\n\n{_whole(thing)}\n"
    said = [f"### {name}\n"]
    if issubclass(thing, enum.Enum):
        return "\n".join([*said, f"{_first(thing)} Values: {', '.join(f'`{member.value}`' for member in thing)}.\n"])
    if issubclass(thing, Mechanism):
        own = ", ".join(p.name for p in thing.parameters)
        taken = inspect.signature(Mechanism.__init__).parameters.values()
        shared = [p.name for p in taken if p.kind is p.KEYWORD_ONLY]
        said.append(f"`{name}({own})`, all by keyword; and {', '.join(f'`{s}`' for s in shared)}.\n")
    elif not any(given.startswith("_") for given in inspect.signature(thing).parameters):
        said.append(f"`{name}{_signature(thing)}`\n")
    said.append(f"{_whole(thing)}\n")
    rows = [f"| `{member}{given}` | {about} |" for member, given, about in _members(thing)]
    if rows and not issubclass(thing, Mechanism):
        said += ["| | |", "|---|---|", *rows, ""]
    return "\n".join(said)


def _members(thing: type) -> Iterator[tuple[str, str, str]]:
    for member, value in vars(thing).items():
        static = isinstance(value, staticmethod | classmethod)
        value = value.__func__ if static else value
        if member.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
            continue
        given = _signature(value) if inspect.isfunction(value) else ""
        yield member, given.replace("|", "\\|"), _first(value).replace("|", "\\|")


def _signature(thing: Any) -> str:
    taken, star = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            taken.append("*")
            star = True
        taken.append(_parameter(parameter))
    returned = inspect.signature(thing).return_annotation
    gives = "" if returned in (inspect.Signature.empty, "None", None) else f" -> {returned}"
    return f"({', '.join(taken)}){gives}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = (
        "**" if parameter.kind is parameter.VAR_KEYWORD else "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    )
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = parameter.default
    if default is parameter.empty:
        return f"{stars}{parameter.name}{kind}"
    shown = "…" if callable(default) else str(default) if isinstance(default, enum.Enum) else repr(default)
    return f"{stars}{parameter.name}{kind} = {shown}"


def _whole(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def _first(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def kinds(_: str) -> str:
    """What δ is, by kind of noise."""
    return delta.table()


def rooms(_: str) -> str:
    """Every room: its sentence, and through which of its files a release goes."""
    home = Path(hubbub.__file__).parent
    said = ["| room | what it is for | files in a release |", "|---|---|---|"]
    for room in mapped():
        if not (home / room).is_dir():
            continue
        entered = [f"`{file.removeprefix(f'{room}/').removesuffix('.py')}`" for file in way().files(room)]
        said.append(f"| `{room}` | {_first(import_module(f'hubbub.{room}'))} | {', '.join(entered) or 'none'} |")
    return "\n".join(said) + "\n"


def traced(_: str) -> str:
    """How far one release goes, in numbers."""
    found = way()
    return (
        f"This release calls {len(found.calls)} functions in {len(found.files())} files. In "
        f"the order in which they are first called, the next one lies in another room {found.changes()} times.\n"
    )


def pages(folder: str) -> str:
    """The pages of mechanisms with what a reader gets: private ones first, and those that release more tables."""
    rows = []
    for page in sorted((ROOT / "docs" / folder).glob("*.md")):
        title, _, text = page.read_text(encoding="utf-8").removeprefix("# ").partition("\n\n")
        named = [mechanisms()[name] for name in title.split(", ")]
        plain = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
        first = re.split(r"(?<=[.:])(?<!al\.)\s", plain, maxsplit=1)[0]
        private = any(p.name == "epsilon" for m in named for p in m.parameters)
        tables = dict.fromkeys(table for m in named for table in m.offers)
        gets = first.removeprefix("You get ").rstrip(".:")
        rows.append((not private, -len(tables), f"| [{title}]({folder}/{page.name}) | {', '.join(tables)} | {gets} |"))
    return "\n".join(["| page | tables | you get |", "|---|---|---|", *(row for *_, row in sorted(rows))]) + "\n"


def theorems(_: str) -> str:
    """Every theorem of the proof pages, and what would notice if it, or the code, were wrong."""
    rows = [
        "| theorem | says | where it runs | exact test | sampled test | a mutant that breaks it |",
        "|---|---|---|---|---|---|",
    ]
    for row in tomllib.loads((ROOT / "docs" / "data" / "theorems.toml").read_text(encoding="utf-8"))["theorem"]:
        looks = [f"`{row[kind].rpartition('/')[2].removeprefix('hubbub.')}`" for kind in ("code", "exact", "sampled")]
        told = [f"[{row['page'].removesuffix('.md')}](proofs/{row['page']}), {row['name']}", row["says"]]
        rows.append(f"| {' | '.join([*told, *looks, row['mutant']])} |")
    return "\n".join(rows) + "\n"


def worth(_: str) -> str:
    """Users → rows at three ε, as `hubbub estimate --users N` prints them."""
    rows = [f"| users | {' | '.join(f'ε = {epsilon}' for epsilon in EPSILONS)} |", "|---|" + "---|" * len(EPSILONS)]
    for users, found in reference().items():
        rows.append(f"| {users:,} | {' | '.join(cell(one) for one in found)} |")
    return "\n".join(rows) + "\n"


MAKERS = {
    "zoo": tried.zoo,
    "ours": tried.ours,
    "theorems": theorems,
    "pages": pages,
    "parameters": parameters,
    "api": api,
    "delta": kinds,
    "coverage": measured.table,
    "rooms": rooms,
    "way": traced,
    "worth": worth,
}


def names() -> str:
    """The file of names for help texts: those that the registries hold."""
    said = [f'"""{written.__doc__}"""\n', "from __future__ import annotations\n", "NAMES = {"]
    for kind, place in REGISTRIES.items():
        registry = pkgutil.resolve_name(place)
        said.append(f'    "{kind}": (')
        said += [f'        "{name}",' for name in (registry() if callable(registry) else registry)]
        said.append("    ),")
    return "\n".join([*said, "}", ""])


def made(text: str) -> str:
    """A page's text with all its made parts made again."""
    return PART.sub(lambda found: f"{found[1]}{MAKERS[found[2]](found[3])}{found[5]}", text)


def parts(page: Path) -> list[tuple[str, str]]:
    """Which parts a page has."""
    return [(found[2], found[3]) for found in PART.finditer(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    Path(written.__file__).write_text(names(), encoding="utf-8")
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        if (after := made(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(page)
