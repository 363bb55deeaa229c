"""The owner's report: numbers behind each chart, computed by hand on a tiny log; nothing of it in public/."""

import json
from pathlib import Path

import pytest
from tests.conftest import RELEASE, Hubbub, document
from tests.unit.show.tiny_exact import release_tiny

import hubbub as package
from hubbub.errors import InputError
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.show import kept, owner

MECHANISMS: dict[str, dict[str, str]] = {
    "crowd": {"epsilon": "20", "delta": "1e-2"},
    "sips": {"epsilon": "20", "delta": "1e-2"},
    "sessions": {"epsilon": "20", "delta": "1e-2"},
    "optimal": {"epsilon": "20", "delta": "1e-2"},
    "k-query": {"k": "2"},
    "pseudonyms": {},
    "token-hash": {},
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_a_report(name: str, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Ledger(tmp_path / "book.sqlite") as book, read_log(log_file, format="aol") as log:
        made = build(name, MECHANISMS[name])
        result = run_release(log, Plan(made, out, seed=3, not_private=True), book)
    assert not result.warning
    found = package.charts(out)
    assert (
        "coverage-rank" in found and "NOT PRIVATE. DO NOT PUBLISH." in (out / "owner-only" / "report.html").read_text()
    )
    assert {t.table for t in kept.read(out / "owner-only").tables} == set(made.tables)
    if name == "pseudonyms":  # every query is there, as often as it was asked
        (log_table,) = kept.read(out / "owner-only").tables
        assert log_table.value == "searches" and (log_table.held.keys == log_table.held.released).all()
        assert log_table.points.column("exact").equals(log_table.points.column("released"))


def test_a_release_has_a_report_and_public_has_none_of_it(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    folder = tmp_path / "out" / "owner-only"
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert text.count("NOT PRIVATE. DO NOT PUBLISH.") == 2  # on the screen, and on every printed page
    assert "hubbub evaluate RELEASE" in text and "Privacy against utility" in text
    assert not {p.name for p in (tmp_path / "out" / "public").iterdir()} & {
        "report.html",
        "exact.json",
        "exact.parquet",
    }
    assert all(p.stat().st_mode & 0o077 == 0 for p in folder.iterdir())


def test_hostile_queries_are_text(tmp_path: Path) -> None:
    text = (release_tiny(tmp_path) / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "<b>news" not in text and "\\u003cb\\u003enews" in text and "&lt;b&gt;news" in text


def test_a_report_that_fails_loses_no_release(
    log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hubbub: Hubbub
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(owner, "gather", broken)
    said = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--json")
    assert "exact facts could not be gathered (RuntimeError: no such thing)" in said.stderr
    assert document(said)["private"] is True
    with Ledger() as book:
        assert [e.state for e in book.entries()] == ["committed"]
    assert "The exact facts were not gathered" in (tmp_path / "out" / "owner-only" / "report.html").read_text()
    hubbub("card", tmp_path / "out", "--check")


def test_rebuilt_from_what_is_there(released: Path, hubbub: Hubbub) -> None:
    report = released / "owner-only" / "report.html"
    before = report.read_text(encoding="utf-8")
    report.unlink()
    said = hubbub("report", released)
    assert report.read_text(encoding="utf-8") == before and "not private, do not publish" in said.stdout
    (released / "owner-only" / "exact.json").unlink()  # a release from before there were exact facts
    assert set(document(hubbub("report", released, "--json"))["charts"]) == {"epsilon"}  # type: ignore[call-overload]


def test_counted_again_from_the_log(released: Path, log_file: Path, hubbub: Hubbub, own_ledger: Path) -> None:
    before = kept.read(released / "owner-only")
    (released / "owner-only" / "exact.json").unlink()
    hubbub("report", released, "--log", log_file)
    after = kept.read(released / "owner-only")
    assert [vars(t.held)["keys"].tolist() for t in after.tables] == [
        vars(t.held)["keys"].tolist() for t in before.tables
    ]
    assert {t.epsilon for t in after.tried} == {0.5, 1.0, 2.0, 4.0, 8.0}
    assert all(0.7 < t.searches < 0.72 and t.rows >= 2 for t in after.tried)  # three of four searches are released
    assert {"tradeoff", "survival"} <= set(package.charts(released))
    with Ledger(own_ledger) as book:
        assert [look.command for look in book.looks("default", "default")] == ["release", "report"]


def test_what_bounding_took_stays_known(released: Path, log_file: Path, hubbub: Hubbub) -> None:
    before = kept.read(released / "owner-only").tables[0].error
    hubbub("report", released, "--log", log_file)
    assert before is not None and kept.read(released / "owner-only").tables[0].error == before


def test_evaluate_adds_its_scores(released: Path, log_file: Path, hubbub: Hubbub) -> None:
    assert "scores" not in package.charts(released)
    hubbub("evaluate", released, "--log", log_file, "--task", "counts")
    assert "scores" in package.charts(released)
    assert "What the release is still worth" in (released / "owner-only" / "report.html").read_text(encoding="utf-8")


def test_a_public_folder_has_no_report(released: Path, hubbub: Hubbub) -> None:
    said = hubbub("report", released / "public", code=2)
    assert "no owner-only folder" in said.stderr


def test_damaged_facts_are_an_error_with_a_way_out(released: Path) -> None:
    (released / "owner-only" / "exact.json").write_text('{"tables": {"queries": {}}}', encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        kept.read(released / "owner-only")


def test_a_notebook_shows_every_chart(released: Path) -> None:
    for chart in package.charts(released).values():
        assert json.dumps(chart._repr_mimebundle_()["application/vnd.vegalite.v5+json"], allow_nan=False)
        assert chart.svg().startswith("<svg")
