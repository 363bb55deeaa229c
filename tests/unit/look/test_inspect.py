"""`hubbub inspect`: exact numbers for the owner, a look in the ledger, and never the text of a query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import HEADER, RELEASE, Hubbub, document

from hubbub.privacy.ledger import Ledger

LOG = ("--format", "aol")


def profile(hubbub: Hubbub, log: Path, *options: str) -> dict[str, Any]:
    data: Any = document(hubbub("inspect", log, *options, "--json"))
    assert set(data) == {"owner_only"}
    found: dict[str, Any] = data["owner_only"]
    return found


def test_help_has_an_example(hubbub: Hubbub) -> None:
    text = hubbub("inspect", "--help").stdout
    assert "Example: hubbub inspect" in " ".join(text.split())
    for option in ("--json", "--quiet", "--verbose", "--population"):
        assert option in text


def test_the_numbers(hubbub: Hubbub, log_file: Path) -> None:
    """300 users ask `weather` and `news`, every second one `maps`, and each a query of her own."""
    found = profile(hubbub, log_file, *LOG)
    assert (found["lines"], found["rejected"], found["rows"], found["users"]) == (1050, 0, 1050, 300)
    assert found["searches"] == 1050
    assert found["clicked_searches"] == pytest.approx(450 / 1050)
    assert found["distinct"] == {"queries": 303, "urls": 2, "clicks": 2}
    assert found["first"] == "2006-03-01T08:00:00Z" and found["last"] == "2006-03-28T11:00:00Z"
    assert found["searches_per_user"]["mean"] == 3.5
    assert found["queries_per_user"]["quantiles"] == {
        "0": 3, "0.25": 3, "0.5": 3, "0.75": 4, "0.9": 4, "0.95": 4, "0.99": 4, "1": 4,
    }  # fmt: skip
    by_users = {row["users"]: (row["keys"], row["share"]) for row in found["users_per_query"]}
    assert by_users[1] == (303, 1.0)
    assert by_users[2] == (3, pytest.approx(750 / 1050))
    assert by_users[200] == (2, pytest.approx(600 / 1050))
    assert 500 not in by_users
    assert [row["keys"] for row in found["users_per_click"]][-1] == 1
    assert found["tables"] == dict.fromkeys(("queries", "clicks", "transitions", "sessions"), "yes")
    assert found["busy_users"] == 0 and "300 users only" in found["warnings"][0]


def test_it_is_for_the_owner_and_recorded(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    text = hubbub("inspect", log_file, *LOG).stdout
    assert text.startswith("OWNER ONLY") and "records this look at default/default" in text
    with Ledger() as book:
        assert [look.command for look in book.looks("default", "default")] == ["inspect"]
        assert not book.entries()
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    choice = json.loads((tmp_path / "out/public/card.json").read_text())["data_dependent_choices"][0]
    assert choice["informed_by"] == "raw" and "inspect" in choice["note"]


def test_it_never_tells_a_query(hubbub: Hubbub, log_file: Path) -> None:
    for options in ((), ("--verbose",), ("--json",)):
        output = hubbub("inspect", log_file, *LOG, *options).output
        for text in ("weather", "maps", "rare query", ".example"):
            assert text not in output


def test_quiet_says_nothing(hubbub: Hubbub, log_file: Path) -> None:
    assert hubbub("inspect", log_file, *LOG, "--quiet").output == ""


def test_machines_and_rejected_lines_are_told(hubbub: Hubbub, tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    people = [f"{u}\tnews\t2006-03-01 10:00:00\t\t" for u in range(200)]
    machine = [f"999\tquery {i}\t2006-03-01 {i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d}\t\t" for i in range(1500)]
    log.write_text("\n".join([HEADER, *people, *machine, *["not a line"] * 200]) + "\n")
    found = profile(hubbub, log, *LOG)
    assert found["busy_users"] == 1 and found["busy_share"] == pytest.approx(1500 / 1700)
    assert found["rejected"] == 200 and sum(found["reasons"].values()) == 200
    assert found["tables"]["clicks"] == "no: the log has no urls" and found["users_per_click"] == []
    told = " ".join(found["warnings"])
    for words in ("like a machine", "one user made 88.2%", "200 of 1,900 lines cannot be read", "201 users only"):
        assert words in told
    assert "cannot be read" not in " ".join(profile(hubbub, log, *LOG, "--max-rejects", "50%")["warnings"])


def test_a_log_without_times(hubbub: Hubbub, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("who,what\n" + "".join(f"{u},query {u % 3}\n" for u in range(30)))
    options = ("--format", "table", "--columns", "user=who,query=what")
    found = profile(hubbub, log, *options)
    assert found["first"] is None and found["tables"]["sessions"] == "no: the log has no times"
    assert "no times" in hubbub("inspect", log, *options).stdout


def test_a_stated_period(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "card.toml"
    config.write_text('format = "aol"\n[card]\nperiod = { from = "2006-03-01", to = "2006-03-07" }\n')
    found = profile(hubbub, log_file, "--config", str(config))
    assert found["last"] < "2006-03-08" and found["outside_period"] == 1050 - found["rows"] > 0
    assert "outside the stated period" in found["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "LOG is missing"),
        (("@log", "--format", "xml"), "format"),
        (("@missing", *LOG), "does not exist"),
        (("@log", *LOG, "--max-rejects", "9"), "--max-rejects is not a share"),
        (("@log", *LOG, "--dataset", " x"), "needs a name"),
        (("@log", *LOG, "--engine", "oracle"), "There is no such engine"),
    ],
)
def test_mistakes_are_told_and_leave_no_look(
    hubbub: Hubbub, log_file: Path, arguments: tuple[str, ...], message: str
) -> None:
    places = {"@log": str(log_file), "@missing": str(log_file) + ".no"}
    result = hubbub("inspect", *(places.get(a, a) for a in arguments), code=2)
    assert message in result.stderr and "Traceback" not in result.stderr
    with Ledger() as book:
        assert not book.looks("default", "default")
