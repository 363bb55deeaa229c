"""The feed of a series: Atom as RFC 4287 has it, the same ids for ever, and an address only if it is stated."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

import pytest
from tests.made_up_series import OWNER, publish, some_periods

from hubbub.errors import ParameterError
from hubbub.show.series.feed import BASE
from hubbub.show.series.index import write_index

ATOM = "{http://www.w3.org/2005/Atom}"


def feed(folder: Path, address: str | None = None) -> ET.Element:
    write_index(folder, address)
    return ET.parse(folder / "public" / "feed.xml").getroot()


def texts(element: ET.Element, name: str) -> list[str]:
    return [str(one.text) for one in element.findall(f"{ATOM}{name}")]


def test_every_element_that_must_be_there(tmp_path: Path) -> None:
    """RFC 4287: a feed and an entry have one id, one title and one updated; an author; links."""
    root = feed(publish(tmp_path, some_periods(3)))
    assert root.tag == f"{ATOM}feed" and root.get(BASE) is None
    entries = root.findall(f"{ATOM}entry")
    assert [texts(entry, "title")[0].split(":")[0] for entry in entries] == ["2026-03", "2026-02", "2026-01"]
    for element in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(texts(element, name)) == 1
        assert texts(element, "id")[0].startswith("urn:uuid:")
        assert texts(element, "updated")[0].endswith("T00:00:00Z")
    assert len({texts(element, "id")[0] for element in (root, *entries)}) == 4
    assert root.findtext(f"{ATOM}author/{ATOM}name") == OWNER.curator[0]
    links = {link.get("rel"): link.get("href") for link in root.findall(f"{ATOM}link")}
    assert links == {"self": "feed.xml", "alternate": "index.html"}


def test_it_says_what_is_new_and_links_lead_there(tmp_path: Path) -> None:
    root = feed(publish(tmp_path, some_periods(3)))
    newest, *_, oldest = root.findall(f"{ATOM}entry")
    assert texts(newest, "title") == ["2026-03: 15 new queries"]
    told = texts(newest, "summary")[0]
    assert told.startswith("53 queries are out so far. New in 2026-03: small ") and told.endswith(".")
    assert texts(oldest, "summary")[0].endswith("; and 3 more.")
    for entry in root.findall(f"{ATOM}entry"):
        link = entry.find(f"{ATOM}link")
        assert link is not None
        page = tmp_path / "public" / str(link.get("href"))
        assert page.parent.resolve().is_dir() and page.name == "index.html"


def test_an_address_is_stated_once_and_kept(tmp_path: Path) -> None:
    publish(tmp_path, some_periods(2))
    ids = texts(feed(tmp_path), "id")
    root = feed(tmp_path, "https://library.example/searches")
    assert root.get(BASE) == "https://library.example/searches/public/"
    link = root.find(f"{ATOM}entry/{ATOM}link")
    assert link is not None
    assert urljoin(str(root.get(BASE)), str(link.get("href"))) == (
        "https://library.example/searches/2026-02/public/index.html"
    )
    again = feed(tmp_path)
    assert again.get(BASE) == root.get(BASE) and texts(again, "id") == ids


def test_ids_stay_when_periods_are_added(tmp_path: Path) -> None:
    three = some_periods(3)
    first = feed(publish(tmp_path, {label: three[label] for label in list(three)[:2]}))
    second = feed(publish(tmp_path, {label: three[label] for label in list(three)[2:]}))
    known = [texts(entry, "id") for entry in first.findall(f"{ATOM}entry")]
    assert [texts(entry, "id") for entry in second.findall(f"{ATOM}entry")][1:] == known
    assert texts(first, "id") == texts(second, "id")


@pytest.mark.parametrize(
    "address", ["library.example", "ftp://library.example", "https://", "https://x.example/?q", ""]
)
def test_other_addresses_are_refused_and_nothing_is_written(tmp_path: Path, address: str) -> None:
    publish(tmp_path, some_periods(1))
    with pytest.raises(ParameterError, match="address"):
        write_index(tmp_path, address)
    assert not list((tmp_path / "public").iterdir())


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    names = ["<script>x</script>", "a\x00b", "]]>&amp;", "\ud7ff\ufffe"]
    root = feed(publish(tmp_path, some_periods(1, names=names)))
    told = "".join(root.itertext())
    assert "<script>x</script>" in told and "a⟨U+0000⟩b" in told and "]]>&amp;" in told
