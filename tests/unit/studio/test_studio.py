"""The studio: releases that it shows, and the command that starts it."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from tests.browser.made_up import publish, some_tables
from tests.unit.studio.asking import Client, get
from typer.testing import CliRunner

from hubbub.card.owner import Owner
from hubbub.cli import app as commands
from hubbub.cli.options import NewLogOptions, OwnerOptions
from hubbub.cli.studio import _listen, _sorted
from hubbub.studio.state import Studio


def test_looking_at_pages_makes_no_ledger(tmp_path: Path, own_ledger: Path) -> None:
    client = Client(Studio(tmp_path, Owner(), NewLogOptions(population="readers"), OwnerOptions()))
    for path in ("/", "/ledger", "/releases"):
        assert get(client, path).status_code == 200
    assert not own_ledger.exists()


def test_drawings_are_told_in_words_before_they_are_drawn(client: Client) -> None:
    page = get(client, "/").text
    assert page.count('role="img"') == 2 and 'aria-label=""' not in page


def test_a_release_can_be_searched_and_walked(client: Client, studio: Studio, tmp_path: Path) -> None:
    publish(tmp_path / "made" / "public", some_tables())
    studio.add(tmp_path / "made")
    found = get(client, "/api/releases/made/search?q=WEA").json()
    assert found == {"found": 1, "rows": [{"query": "weather", "users": 3000}], "counted": True}
    assert get(client, "/api/releases/made/search?q=").json()["found"] == 60
    assert get(client, "/api/releases/made/search?q=(").json()["found"] == 0
    around = get(client, "/api/releases/made/around?q=news").json()
    assert around["urls"] == [{"text": "http://www.1.example", "users": 750.0}]
    assert around["next"] == [{"text": "train times", "users": 39.0}] and around["suggested"] == ["train times"]
    assert "refused" in get(client, "/api/releases/made/around?q=nobody").json()
    page = get(client, "/releases/made/page")
    policy = page.headers["content-security-policy"]
    assert (
        policy.startswith("sandbox allow-scripts; default-src 'none'; script-src 'sha256-")
        and "same-origin" not in policy
    )
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0] and "made-up library" in page.text


def test_of_a_page_that_somebody_changed_no_script_runs(client: Client, studio: Studio, tmp_path: Path) -> None:
    page = publish(tmp_path / "changed" / "public", some_tables())
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", "<script>1</script></body>"), encoding="utf-8")
    studio.add(tmp_path / "changed")
    assert "script-src 'none'" in get(client, "/releases/changed/page").headers["content-security-policy"]


def test_releases_of_one_name_are_both_there(studio: Studio, tmp_path: Path) -> None:
    for parent in ("a", "b"):
        publish(tmp_path / parent / "spring" / "public", {"queries": [(parent, 9, 1.0)]})
        studio.add(tmp_path / parent / "spring")
        studio.add(tmp_path / parent / "spring")
    assert list(studio.releases) == ["spring", "spring (2)"]
    assert studio.release("spring (2)").path == (tmp_path / "b" / "spring").resolve()


def test_paths_of_the_command_line(tmp_path: Path, log_path: Path) -> None:
    for name in ("b", "a"):
        publish(tmp_path / "all" / name / "public", {"queries": [("weather", 9, 1.0)]})
    releases, logs = _sorted([str(tmp_path / "all"), str(tmp_path / "all" / "b"), str(log_path)])
    assert [path.name for path in releases] == ["a", "b", "b"] and logs == [str(log_path)]


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = CliRunner().invoke(commands, ["studio", "--no-browser"])
    assert found.exit_code == 2 and "pip install 'hubbub[web]'" in found.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["one.tsv", "two.tsv"], "opens one log"),
        (["--format", "aol"], "is about a log"),
        (["--folder", "nowhere"], "no such folder"),
    ],
)
def test_a_wrong_command_is_refused_before_anything_listens(words: list[str], said: str) -> None:
    found = CliRunner().invoke(commands, ["studio", "--no-browser", *words])
    assert found.exit_code == 2 and said in found.stderr


def test_who_comes_before_the_server_waits_and_is_not_refused() -> None:
    with _listen(0) as listening, socket.create_connection(listening.getsockname(), timeout=10):
        pass
