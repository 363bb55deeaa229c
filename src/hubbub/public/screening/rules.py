"""The screening rules as data: a name, what it takes out, and how.

Patterns run in RE2, through pyarrow: its time is linear in the text for every pattern, so no text makes one hang. Texts
are cleaned first, as queries are: compatibility forms (full-width digits, for one) and capital letters are folded.
A rule errs towards taking out: what looks like a telephone number and is the number of a part is lost.

No library of telephone numbers is used: `phonenumbers` (Apache-2.0, 30 MB of tables) changes its verdicts from month to
month, takes a tenth of a millisecond for a text, and without a country it knows international numbers alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from unicodedata import digit

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.public.screening.numbers import LEAST_CARD, LEAST_DIGITS, is_card_number, is_national_number

if TYPE_CHECKING:
    from hubbub.ingest.lines import Mask

VERSION = "1"
"""Of all rules together: whoever changes what one of them hits raises it."""

SUSPECT = r"[0-9@=]|\p{Nd}|:[0-9a-f]{0,4}:|\(at\)|\[at\]|eyj|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-"
"""What a text must have for any rule to hit it; nine queries out of ten have none of it."""
OTHER_DIGITS = r"[^\x00-\x7f]"

NOT_BEFORE, NOT_AFTER = r"(?:^|[^0-9])", r"(?:$|[^0-9])"
AT, DOT = r" ?(?:@|\(at\)|\[at\]) ?", r" ?(?:\.|\(dot\)|\[dot\]) ?"
BYTE = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
NAMES = (
    "access_?token|api_?key|apikey|aspsessionid[a-z]*|auth(?:_?token|_?key)?|code|confirm(?:ation)?|hash|invite|"
    "jsessionid|key|otp|pass(?:word|wd)?|phpsessid|pwd|reset|secret|sess(?:ion)?(?:_?id)?|sid|sig(?:nature)?|ticket|token"
)
PATTERNS = {
    "email": (
        "an e-mail address, also with (at) and (dot)",
        [rf"[\p{{L}}\p{{N}}._%+'-]{AT}[\p{{L}}\p{{N}}-]+(?:{DOT}[\p{{L}}\p{{N}}-]+)*{DOT}\p{{L}}{{2,}}"],
    ),
    "telephone": (
        "a telephone number: international, North American, or national with its 0",
        [
            rf"{NOT_BEFORE}(?:\+|00) ?[1-9](?:[ ./()-]{{0,2}}[0-9]){{6,14}}{NOT_AFTER}",
            rf"{NOT_BEFORE}\(?[2-9][0-9]{{2}}\)?[ ./-]{{0,2}}[0-9]{{3}}[ .-][0-9]{{4}}{NOT_AFTER}",
            r"(?:^|[^0-9-])[2-9][0-9]{2}-[0-9]{4}(?:$|[^0-9-])",
            rf"{NOT_BEFORE}\(?0[1-9][0-9]{{1,3}}[ )/-]{{1,2}}[0-9](?:[ /-]?[0-9]){{5,9}}{NOT_AFTER}",
            rf"{NOT_BEFORE}0[1-9](?:[ .-][0-9]{{2}}){{4}}{NOT_AFTER}",
        ],
    ),
    "ip": (
        "an address of a machine, IPv4 or IPv6",
        [
            rf"(?:^|[^0-9.])(?:{BYTE}\.){{3}}{BYTE}(?:$|[^0-9.]|\.$|\.[^0-9])",
            r"(?:^|[^0-9a-z:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?:$|[^0-9a-z:])",
            r"(?:^|[^0-9a-z:])(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?:$|[^0-9a-z:])",
        ],
    ),
    "coordinates": (
        "a place on the earth to about a hundred metres: two decimal numbers, or degrees and minutes",
        [
            rf"{NOT_BEFORE}[0-9]{{1,3}}\.[0-9]{{3,}} ?°? ?[nsew]?[ ,;/]+[+-]?[0-9]{{1,3}}\.[0-9]{{3,}}{NOT_AFTER}",
            r"[0-9]{1,3} ?° ?[0-9]{1,2}(?:\.[0-9]+)? ?['′’´]",
        ],
    ),
    "digits": ("nine digits or more in a row", [r"[0-9]{9,}"]),
    "url-token": (
        "an address that lets somebody in or names a visit: a parameter such as token= or sid=, a password before @, a "
        "signed token, a UUID, 32 hexadecimal digits or more",
        [
            rf"[?&;#/](?:{NAMES})=[^&# ]{{6,}}",
            r"://[^/ @]+:[^/ @]+@",
            r"eyj[0-9a-z_-]{10,}\.[0-9a-z_-]{10,}",
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            r"[0-9a-f]{32,}",
        ],
    ),
}


@dataclass(frozen=True)
class ScreeningRule:
    """One rule: what it takes out, and which cleaned texts it hits."""

    name: str
    about: str
    hits: Callable[[Any], Mask]
    package: str = ""

    def library(self) -> str:
        """The package and version that decide, if one does."""
        return f"{self.package} {version(self.package)}" if self.package else ""


def matching(pattern: str) -> Callable[[Any], Mask]:
    """Texts in which RE2 finds a pattern."""

    def found(texts: pa.Array) -> Mask:
        mask: Mask = pc.match_substring_regex(_digits_folded(texts), pattern).to_numpy(zero_copy_only=False)
        return mask

    return found


def holding(test: Callable[[str], bool], least: int) -> Callable[[Any], Mask]:
    """Texts that hold a number that passes a test; those with fewer digits than it has are not looked at closely."""

    def found(texts: pa.Array) -> Mask:
        texts = _digits_folded(texts)
        mask: Mask = pc.match_substring_regex(texts, rf"(?:[0-9][^0-9]*){{{least}}}").to_numpy(zero_copy_only=False)
        mask = mask.copy()
        mask[mask] = [test(text) for text in texts.filter(pa.array(mask)).to_pylist()]
        return mask

    return found


def suspects(texts: pa.Array) -> Mask:
    """The texts that some rule might hit."""
    mask: Mask = pc.match_substring_regex(texts, SUSPECT).to_numpy(zero_copy_only=False)
    return mask


def _digits_folded(texts: pa.Array) -> pa.Array:
    """Digits of other scripts as those of ASCII: a card number in Arabic digits is one."""
    odd = pc.match_substring_regex(texts, OTHER_DIGITS)
    if not pc.any(odd).as_py():
        return texts
    folded = [re.sub(r"\d", lambda found: str(digit(found[0])), text) for text in texts.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd, pa.array(folded, pa.string()))


def _rules() -> dict[str, ScreeningRule]:
    patterns = [ScreeningRule(name, about, matching("|".join(any_of))) for name, (about, any_of) in PATTERNS.items()]
    numbers = [
        ScreeningRule(
            "card",
            "the number of a payment card, by its check digit (Luhn)",
            holding(is_card_number, LEAST_CARD),
            "python-stdnum",
        ),
        ScreeningRule(
            "national",
            "a national identity number, by its check digits; of the United States and Denmark by its form",
            holding(is_national_number, LEAST_DIGITS),
            "python-stdnum",
        ),
    ]
    return {rule.name: rule for rule in [*patterns, *numbers]}


RULES = _rules()
