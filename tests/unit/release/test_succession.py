"""Withdrawn and superseded releases: cards and notices point to each other, a check knows it, an index lists all."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import RELEASE, Hubbub, document

from hubbub.card.check import check, load

WHY = ("--because", "the period was wrong")


def test_a_withdrawn_release_does_not_check(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    before = (released / "public" / "card.json").read_bytes()
    hubbub("withdraw", released, "--reason", "clicks of  a test account")
    assert (released / "public" / "card.json").read_bytes() == before
    broken = [finding for finding in check(released) if not finding.holds]
    assert [finding.what for finding in broken] == ["the release stands"]
    assert (
        "clicks of a test account" in broken[0].seen
        and "withdrawn" in hubbub("card", released, "--check", code=1).stdout
    )
    assert "withdrawn" in hubbub("export", released, "--to", "tsv", "--out", tmp_path / "tsv", code=2).stderr
    assert "has a notice" in hubbub("withdraw", released, "--reason", "again", code=2).stderr


def test_a_successor_and_its_predecessor_point_to_each_other(
    hubbub: Hubbub, released: Path, log_file: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    hubbub("release", log_file, *RELEASE, "--out", second, "--supersedes", released, *WHY)
    new, old = load(second), load(released)
    assert new["release"]["supersedes"] == {  # type: ignore[index]
        "id": old["release"]["id"], "card": old["integrity"], "reason": WHY[1],  # type: ignore[index]
    }  # fmt: skip
    assert [finding for finding in [*check(second), *check(released)] if not finding.holds] == []
    stands = next(finding for finding in check(released) if finding.what == "the release stands")
    assert new["release"]["id"] in stands.seen and WHY[1] in stands.seen  # type: ignore[index]
    found = document(hubbub("index", tmp_path, "--out", tmp_path / "index", "--json"))["releases"]
    assert [one["state"] for one in found] == ["stands", "superseded"]  # type: ignore[attr-defined]
    page = (tmp_path / "index" / "index.html").read_text(encoding="utf-8")
    assert page.index(str(new["release"]["id"])) < page.index(f'id="{old["release"]["id"]}"')  # type: ignore[index]
    assert WHY[1] in page and '../second/public/index.html"' in page
    assert json.loads((tmp_path / "index" / "index.json").read_text(encoding="utf-8")) == found
    hubbub("withdraw", released, "--reason", "and it must not be used")
    assert "in its place" in next(f.seen for f in check(released) if not f.holds)


def test_a_notice_that_was_changed_or_is_of_another_card_does_not_check(hubbub: Hubbub, released: Path) -> None:
    hubbub("withdraw", released, "--reason", "so")
    path = released / "public" / "notice.json"
    notice = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(notice | {"state": "superseded"}), encoding="utf-8")
    assert [finding.what for finding in check(released) if not finding.holds] == ["the release stands"]
    path.write_text("[]", encoding="utf-8")
    assert [finding.what for finding in check(released) if not finding.holds] == ["the release stands"]


def test_what_cannot_be_meant_is_refused(hubbub: Hubbub, released: Path, log_file: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    assert "--supersedes" in hubbub("release", log_file, *RELEASE, *out, *WHY, code=2).stderr
    said = hubbub("release", log_file, *RELEASE, *out, "--supersedes", released, code=2)
    assert "reason is missing" in said.stderr and not (tmp_path / "out").exists()
    assert (
        "supersedes nothing"
        in hubbub("withdraw", released, "--reason", "so", "--superseded-by", released, code=2).stderr
    )
    assert "too long" in hubbub("withdraw", released, "--reason", "a" * 501, code=2).stderr
    assert "no release to list" in hubbub("index", tmp_path / "nowhere", "--out", tmp_path / "i", code=2).stderr
    other = ("--population", "others")
    assert "default" in hubbub("index", tmp_path, "--out", tmp_path / "i", *other, code=2).stderr
    assert not (released / "public" / "notice.json").exists()
