"""What is new, as an Atom feed (RFC 4287): one entry for each period.

Links are relative to the feed, so that it needs no host. Where the owner states the address at which the folder of the
series is published, it becomes the feed's `xml:base`, and stays there when the feed is written again.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import NAMESPACE_OID, uuid5
from xml.etree import ElementTree as ET

from hubbub.card.schema import NOT_STATED
from hubbub.errors import ParameterError
from hubbub.show.public import seen
from hubbub.show.series.published import PublishedSeries

ATOM = "http://www.w3.org/2005/Atom"
BASE = "{http://www.w3.org/XML/1998/namespace}base"
NAMED = 20
"""New queries that an entry names; the others are in the table."""
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def feed(series: PublishedSeries, title: str, address: str | None = None) -> bytes:
    """The feed of a series."""
    ET.register_namespace("", ATOM)
    root = ET.Element(f"{{{ATOM}}}feed")
    if address is not None:
        root.set(BASE, checked(address) + "public/")
    number = uuid5(NAMESPACE_OID, series.cards[0].release.id)
    newest = max(card.release.published for card in series.cards)
    _add(root, "id", f"urn:uuid:{number}")
    _add(root, "title", title)
    _add(root, "updated", _time(newest))
    _add(root, "link", rel="self", type="application/atom+xml", href="feed.xml")
    _add(root, "link", rel="alternate", type="text/html", href="index.html")
    curators = [name for name in series.cards[-1].release.curator if name != NOT_STATED]
    for name in curators or ["The owner of the log"]:
        _add(_add(root, "author"), "name", name)
    _add(root, "generator", "hubbub")
    for period in reversed(range(series.numbers.periods)):
        _entry(root, series, period, f"urn:uuid:{uuid5(number, series.numbers.labels[period])}")
    ET.indent(root, " ")
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _entry(root: ET.Element, series: PublishedSeries, period: int, number: str) -> None:
    numbers, label = series.numbers, series.numbers.labels[period]
    new = [query for query, out in zip(numbers.queries, numbers.came_out.tolist(), strict=True) if out == period]
    out = int((numbers.came_out <= period).sum())
    entry = _add(root, "entry")
    _add(entry, "id", number)
    _add(entry, "title", f"{label}: {len(new):,} new {'query' if len(new) == 1 else 'queries'}")
    published = _time(series.cards[period].release.published)
    _add(entry, "published", published)
    _add(entry, "updated", published)
    _add(entry, "link", rel="alternate", type="text/html", href=f"../{quote(label)}/public/index.html")
    told = f"{out:,} queries are out so far."
    if new:
        told += f" New in {label}: {'; '.join(map(seen, new[:NAMED]))}"
        told += f"; and {len(new) - NAMED:,} more." if len(new) > NAMED else "."
    _add(entry, "summary", told)


def _add(parent: ET.Element, name: str, text: str | None = None, **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, f"{{{ATOM}}}{name}", attributes)
    element.text = None if text is None else NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
    return element


def _time(day: str) -> str:
    return f"{day[:10]}T00:00:00Z"


def checked(address: str) -> str:
    """The address of the folder of a series, with a slash at its end."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ParameterError(
            "This is no address of a folder on the web.",
            given=address,
            allowed="such as https://library.example/searches/",
            next="give the address under which the folder of the series is published, or none: links are relative then",
        )
    return address.rstrip("/") + "/"


def stated_address(path: Path) -> str | None:
    """The address that an earlier feed was written for."""
    try:
        base = ET.parse(path).getroot().get(BASE)
    except (OSError, ET.ParseError):
        return None
    return None if base is None else base.removesuffix("public/")
