"""TREC's session track: a session is one user's records; what is no XML is refused whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import InputError
from hubbub.switches import lowered
from hubbub.testing import check_reader

read = pytest.fixture(reading)


def session(number: int, person: str = "w7") -> str:
    """A session of two searches, one of them with a click, and the search that was to be answered."""
    click = "<clicked><click num='1'><rank>3</rank><docno>doc-7</docno></click></clicked>"
    return (
        f"<session num='{number}' userid='{person}' starttime='10:00'><topic><desc>trees</desc></topic>"
        f"<interaction num='1'><query>lilac {number}</query><results><result rank='1'/></results>{click}</interaction>"
        f"<interaction num='2'><query>rose &amp; thorn</query></interaction>"
        f"<currentquery><query>map</query></currentquery></session>"
    )


def track(*sessions: str) -> bytes:
    return f"<sessiontrack2014>{''.join(sessions)}</sessiontrack2014>".encode()


def row(user: str, query: str, rank: int | None = None, url: str | None = None) -> dict[str, object]:
    return {"user": user, "time": None, "query": query, "rank": rank, "url": url}


def test_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "sessions.xml"
    path.write_bytes(track(*(session(n) for n in range(4))))
    first, ninth, last = row("0", "lilac 0", 3, "doc-7"), row("2", "map"), row("3", "map")
    check_reader("trec-session", path, total=12, first=first, ninth=ninth, last=last, columns={"user": "num"})


def test_the_person_of_the_study(read: Ingest) -> None:
    nobody = session(2).replace("userid='w7' ", "")
    result = read(
        track(session(1), nobody, "<session num='3'/>"), "s.xml", format="trec-session", columns={"user": "userid"}
    )
    assert {found[0] for found in result.rows} == {"w7"} and len(result.rows) == 3
    assert [reason for _, reason in result.reasons] == ["no-user"] * 3 + ["bad-fields"]


def test_removing_a_session_leaves_the_others(read: Ingest) -> None:
    both = read(track(session(1), session(2)), "s.xml", format="trec-session", columns={"user": "num"})
    one = read(track(session(2)), "s.xml", format="trec-session", columns={"user": "num"})
    assert [found for found in both.rows if found[0] != "1"] == one.rows


@pytest.mark.parametrize(
    "data", [track(session(1))[:-9], b"lilac", b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + track(session(1)), b"<a>\xff</a>"]
)
def test_what_is_no_xml_is_refused(read: Ingest, data: bytes) -> None:
    with pytest.raises(InputError, match=r"no XML|document type"):
        read(data, "s.xml", format="trec-session", columns={"user": "num"})


def test_a_document_type_is_seen_across_two_pieces_of_a_file(read: Ingest) -> None:
    data = b"<!DOCTYPE sessiontrack>" + track(session(1))
    with lowered(lambda each: each.module.endswith("trec_session")), pytest.raises(InputError, match="document type"):
        read(data, "s.xml", format="trec-session", columns={"user": "num"})
