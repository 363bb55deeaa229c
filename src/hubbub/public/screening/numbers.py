"""Numbers that check themselves: payment cards and national identity numbers.

The check digits of each country are python-stdnum's (LGPL-2.1 or later, 1 MB, pure Python, kept since 2010): their
rules are many and change, and a wrong one would let numbers through. It sees only what could be one by its length.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace

from stdnum import luhn

from hubbub.errors import OurBug

GROUP = re.compile(r"[0-9a-z]+")
MOST_GROUPS = 7
"""A number is written in so many groups at most."""
LEAST_DIGITS, LEAST_CARD = 7, 13
WITH_LETTERS = re.compile(
    "[0-9]{7,17}[a-z]{1,2}|[xyz][0-9]{7}[a-z]|[0-9]{6}[ab][0-9]{8}|"
    "[a-z]{6}[0-9a-z]{2}[a-z][0-9a-z]{2}[a-z][0-9a-z]{3}[a-z]|[a-z]{4}[0-9]{6}[a-z]{6}[0-9a-z][0-9]"
)
"""Numbers with letters in them: Chile, China, Ireland, Spain; Corsica; Italy; Mexico."""
CARD = re.compile("[2-6][0-9]{12,18}")
BY_FORM = re.compile(r"(?<![0-9])(?:[0-9]{3}-[0-9]{2}-[0-9]{4}|[0-3][0-9][01][0-9]{3}-[0-9]{4})(?![0-9])")
"""Of the United States and of Denmark: these numbers have no check digit (any more)."""
HETU = re.compile(r"(?<![0-9a-z])[0-9]{6}[-+a-f][0-9]{3}[0-9a-y](?![0-9a-z])")
"""Finland's holds a sign between its groups that means a century."""

COUNTRIES = {
    "Argentina": ("ar.cuit", 11),
    "Austria": ("at.vnr", 10),
    "Belgium": ("be.nn", 11),
    "Brazil": ("br.cpf", 11),
    "Bulgaria": ("bg.egn", 10),
    "Canada": ("ca.sin", 9),
    "Chile": ("cl.rut", 9),
    "China": ("cn.ric", 18),
    "Croatia": ("hr.oib", 11),
    "Czechia and Slovakia": ("cz.rc", 10),
    "Estonia": ("ee.ik", 11),
    "Finland": ("fi.hetu", 11),
    "France": ("fr.nir", 15),
    "Germany": ("de.idnr", 11),
    "Greece": ("gr.amka", 11),
    "Iceland": ("is_.kennitala", 10),
    "India": ("in_.aadhaar", 12),
    "Ireland": ("ie.pps", 8),
    "Israel": ("il.idnr", 9),
    "Italy": ("it.codicefiscale", 16),
    "Korea": ("kr.rrn", 13),
    "Lithuania": ("lt.asmens", 11),
    "Mexico": ("mx.curp", 18),
    "Netherlands": ("nl.bsn", 9),
    "Norway": ("no.fodselsnummer", 11),
    "Poland": ("pl.pesel", 11),
    "Portugal": ("pt.nif", 9),
    "Romania": ("ro.cnp", 13),
    "Slovenia": ("si.emso", 13),
    "South Africa": ("za.idnr", 13),
    "Spain": ("es.dni", 9),
    "Spain, foreigners": ("es.nie", 9),
    "Sweden": ("se.personnummer", 10),
    "Switzerland": ("ch.ssn", 13),
    "Thailand": ("th.pin", 13),
    "Turkey": ("tr.tckimlik", 11),
    "United Kingdom (NHS)": ("gb.nhs", 10),
}
"""Where check digits decide: the module of python-stdnum, and how many letters and digits its numbers have."""
LONGEST = max(length for _, length in COUNTRIES.values())


def is_card_number(text: str) -> bool:
    """Whether a text holds 13 to 19 digits, in groups or not, that pass Luhn's test and begin as cards do."""
    return any(CARD.fullmatch(number) and luhn.is_valid(number) for number in _numbers(text))


def is_national_number(text: str) -> bool:
    """Whether a text holds a number that passes the test of one of the countries."""
    if BY_FORM.search(text):
        return True
    if any(_valid("fi.hetu")(found[0]) for found in HETU.finditer(text)):
        return True
    return any(valid(number) for number in _numbers(text) for valid in _by_length(len(number)))


def _numbers(text: str) -> Iterator[str]:
    """What could be a number: neighbouring groups of letters and digits, written together."""
    groups = [(found.start(), found.end(), found[0]) for found in GROUP.finditer(text)]
    for first in range(len(groups)):
        together, end = "", groups[first][0] - 1
        for start, after, group in groups[first : first + MOST_GROUPS]:
            if start - end > 2 or len(together) + len(group) > LONGEST + 1:
                break  # groups of one number stand next to each other, with one sign or a blank between them
            together, end = together + group, after - 1
            if len(together) > LEAST_DIGITS and (together.isdigit() or WITH_LETTERS.fullmatch(together)):
                yield together


@cache
def _by_length(length: int) -> list[Callable[[str], bool]]:
    return [_valid(module) for module, long in COUNTRIES.values() if long == length]


class _Day(datetime.date):
    """A day after everybody's birth: what a text is must not hang on when, or by which worker, it is looked at."""

    @classmethod
    def today(cls) -> _Day:
        return cls(2099, 12, 31)


@cache
def _valid(module: str) -> Callable[[str], bool]:
    spec = find_spec(f"stdnum.{module}")
    if spec is None or spec.loader is None:
        raise OurBug(f"python-stdnum has no {module}")
    own = module_from_spec(spec)  # a copy of our own, with our day in it
    spec.loader.exec_module(own)
    own.__dict__["datetime"] = SimpleNamespace(date=_Day, datetime=datetime.datetime, timedelta=datetime.timedelta)

    def valid(number: str) -> bool:
        try:
            return bool(own.is_valid(number))
        except Exception:  # the library stumbles over a number it half knows; rules err towards taking out
            return True

    return valid
