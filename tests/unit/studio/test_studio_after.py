"""What follows a release in the studio: the list of all of them, and report, evaluation and export as commands."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.browser.made_up import publish, some_tables
from tests.unit.studio.asking import Client, ended, get, post

from hubbub.card.check import load, parsed
from hubbub.card.notice import write_notice
from hubbub.card.owner import Owner
from hubbub.cli.options import NewLogOptions, OwnerOptions
from hubbub.errors import ParameterError, Refused
from hubbub.studio.after import following
from hubbub.studio.jobs import Job
from hubbub.studio.shelf import releases_in, shelved
from hubbub.studio.state import Studio


@pytest.fixture
def studio(released_once: Path, tmp_path: Path) -> Studio:
    """A studio without a log, in whose folder a release and a published page lie."""
    shutil.copytree(released_once / "released", tmp_path / "released")
    shutil.copy(released_once / "ledger.sqlite", tmp_path / "ledger.sqlite")
    publish(tmp_path / "earlier" / "public", some_tables())
    return Studio(tmp_path, Owner(), NewLogOptions(ledger=str(tmp_path / "ledger.sqlite")), OwnerOptions())


@pytest.fixture
def client(studio: Studio) -> Client:
    return Client(studio)


def test_releases_of_the_folder_are_listed_with_what_became_of_them(
    client: Client, studio: Studio, tmp_path: Path
) -> None:
    (tmp_path / "broken" / "public").mkdir(parents=True)
    (tmp_path / "broken" / "public" / "card.json").write_text("{", encoding="utf-8")
    (tmp_path / ".hidden").mkdir()
    page = get(client, "/releases").text
    for text in ("released", "earlier", "default", "readers", "stands", "The card cannot be read", "1 × 10⁻⁶"):
        assert text in page, text
    card = parsed(load(tmp_path / "earlier"))
    write_notice(tmp_path / "earlier" / "public", card, "withdrawn", "a mistake")
    found = {one.name: one for one in shelved(studio.releases, studio.ledger)}
    assert found["earlier"].state == "withdrawn" and found["released"].state == "stands"
    assert found["released"].owned and not found["earlier"].owned and found["earlier"].title
    assert list(found)[-1] == "broken" and found["broken"].epsilon == ""
    assert "Withdrawn on" in get(client, "/releases/earlier").text


def test_an_export_is_no_release(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "exported").mkdir()
    shutil.copy(tmp_path / "earlier" / "public" / "card.json", tmp_path / "exported")
    assert [path.name for path in releases_in(tmp_path)] == ["earlier", "released"]


@pytest.mark.slow
def test_report_evaluation_and_export_are_run(client: Client, studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "released" / "owner-only" / "report.html").unlink()
    page = get(client, "/releases/released").text
    assert 'id="report-link" hidden' in page
    assert post(client, "/api/releases/released/run", {"kind": "report"})["job"]["kind"] == "report"
    busy = post(client, "/api/releases/released/run", {"kind": "evaluate", "tasks": ["counts"]})
    assert "hubbub report is running" in busy["refused"]
    assert ended(studio)["state"] == "done"
    assert "<svg" in get(client, "/releases/released/report").text
    post(client, "/api/releases/released/run", {"kind": "evaluate", "tasks": ["counts"]})
    done = ended(studio)
    assert done["state"] == "done" and any("original" in line for line in done["lines"])
    assert (tmp_path / "released" / "owner-only" / "scores.json").is_file()
    post(client, "/api/releases/released/run", {"kind": "export", "to": "tsv", "name": "as-tsv"})
    assert ended(studio)["state"] == "done" and (tmp_path / "as-tsv" / "README.md").is_file()
    again = post(client, "/api/releases/released/run", {"kind": "export", "to": "tsv", "name": "as-tsv"})
    assert "exists already" in again["refused"]


@pytest.mark.parametrize(
    ("name", "kind", "asked", "said"),
    [
        ("released", "attack", {}, "no such command"),
        ("released", "evaluate", {}, "No task"),
        ("released", "evaluate", {"tasks": ["counts", "x"]}, "no such task"),
        ("released", "export", {"to": "word", "name": "x"}, "no such format"),
        ("released", "export", {"to": "tsv", "name": "../x"}, "without slashes"),
        ("earlier", "evaluate", {"tasks": ["counts"]}, "not known from which log"),
    ],
)
def test_what_cannot_be_run_is_refused(
    studio: Studio, name: str, kind: str, asked: dict[str, object], said: str
) -> None:
    with pytest.raises((ParameterError, Refused), match=said):
        following(kind, name, studio.path(name), studio.folder, asked)


def test_what_spends_nothing_can_be_cancelled_at_any_time(client: Client, studio: Studio) -> None:
    job = Job(["evaluate"], "released", program=(sys.executable, "-c", "import time; time.sleep(60)"))
    studio.run(job)
    assert "refused" not in post(client, "/api/cancel", {})
    gone = ended(studio, 30)
    assert gone["state"] == "cancelled" and "It was stopped. It spends no budget." in str(gone["told"])


def test_what_is_typed_is_kept_for_the_page_it_was_typed_into(client: Client, studio: Studio) -> None:
    post(client, "/api/kept", {"page": "again", "form": {"users": "</script>7"}})
    page = get(client, "/again").text
    assert r"script\u003e7" in page and "</script>7" not in page
    assert r"script\u003e7" not in get(client, "/ledger").text
    assert "too long" in post(client, "/api/kept", {"page": "again", "form": "x" * 100_001})["refused"]
    for n in range(300):
        post(client, "/api/kept", {"page": f"release {n}", "form": {}})
    assert len(studio.kept) == 200
