"""A release from the studio's page: what is said before, what it costs, how it is stopped."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from tests.conftest import Hubbub
from tests.ledgers import spend
from tests.unit.studio.asking import CANARY, QUESTION, Client, ended, get, post

from hubbub.card.owner import Owner
from hubbub.errors import Refused
from hubbub.log import Period
from hubbub.privacy.account import Loss, Pure
from hubbub.privacy.ledger import Ledger
from hubbub.studio.asked import Question
from hubbub.studio.jobs import LATE, ReleaseJob
from hubbub.studio.state import Studio


@pytest.mark.slow
def test_the_command_on_the_page_makes_the_release_on_the_page(client: Client, studio: Studio, hubbub: Hubbub) -> None:
    found = post(client, "/api/plan", QUESTION)
    assert found["refusal"] == "" and found["before"] == "0" and found["after_value"] == pytest.approx(4)
    assert found["claim"].startswith("Adding or removing everything one user did")
    words = studio.command(Question.read(QUESTION), "first", studio.said({}))
    assert found["command"].split() == ["hubbub", *words]
    made = hubbub(*words, "--json")
    document = json.loads(made.stdout)
    assert document["thresholds"] == post(client, "/api/estimate", QUESTION)["thresholds"]
    assert document["tables"].keys() == {"queries", "clicks"}


def test_rows_outside_the_period_are_confirmed_on_the_page(client: Client, studio: Studio) -> None:
    assert post(client, "/api/plan", QUESTION)["confirm"] == {}
    first = date(2006, 3, 1)
    assert studio.opened is not None and studio.opened.profile is not None
    studio.owner = Owner(period=Period(first, first))
    studio.opened.profile = replace(studio.opened.profile, rows=90, outside_period=10)
    found = post(client, "/api/plan", QUESTION)
    assert "10 of 100 rows are not between 2006-03-01 and 2006-03-01" in found["refusal"]
    assert list(found["confirm"]) == ["drop_outside"] and "Leave out 10 of 100 rows" in found["confirm"]["drop_outside"]
    started = post(client, "/api/start", QUESTION | {"agreed": True, "confirmed": ["not_private"]})
    assert "outside the stated period" in started["refused"] and studio.job is None
    found = post(client, "/api/plan", QUESTION | {"confirmed": ["drop_outside", "not_private"]})
    assert found["refusal"] == "" and "--drop-outside" in found["command"] and "--not-private" not in found["command"]
    studio.opened.profile = replace(studio.opened.profile, rows=0, outside_period=100)
    found = post(client, "/api/plan", QUESTION | {"confirmed": ["drop_outside"]})
    assert "No row of the log" in found["refusal"] and set(found["confirm"]) == {"allow_empty", "drop_outside"}
    found = post(client, "/api/plan", QUESTION | {"confirmed": ["allow_empty", "drop_outside"]})
    assert found["refusal"] == "" and "--allow-empty" in found["command"]


def test_what_a_large_budget_means_is_said_before_it_is_spent(client: Client, studio: Studio) -> None:
    assert post(client, "/api/plan", QUESTION | {"settings": {"epsilon": "4", "delta": "1e-5"}})["remarks"] == []
    large = QUESTION | {"settings": {"epsilon": "12", "delta": "1e-4"}}
    said = post(client, "/api/plan", large)["remarks"]
    assert len(said) == 2 and said[0].startswith("ε = 12 is above 10") and "no number of users" in said[1]
    studio.options = replace(studio.options, users_public=400)
    found = post(client, "/api/plan", large)
    assert len(found["remarks"]) == 1 and "--users-public 400" in found["command"]


def test_past_a_cap_it_explains_and_refuses(client: Client, studio: Studio) -> None:
    with Ledger(studio.ledger) as book:
        book.cap("readers", 1.0, 1e-3)
    found = post(client, "/api/plan", QUESTION)
    assert "The cap of the population 'readers' does not allow this release." in found["refusal"]
    assert "raise the cap" in found["refusal"]
    started = post(client, "/api/start", QUESTION | {"agreed": True})
    assert "does not allow" in started["refused"] and studio.job is None
    with Ledger(studio.ledger) as book:
        assert book.entries() == []


def test_a_name_the_ledger_does_not_know_is_a_new_budget(client: Client, studio: Studio) -> None:
    assert post(client, "/api/plan", QUESTION)["new_population"] is True
    with Ledger(studio.ledger) as book:
        book.cap("reader", 9.0, 1e-3)
    found = post(client, "/api/plan", QUESTION)
    assert "Did you mean reader?" in found["refusal"]
    assert "--new-population" in post(client, "/api/start", QUESTION | {"agreed": True})["refused"]
    studio.options = replace(studio.options, new_population=True)
    found = post(client, "/api/plan", QUESTION)
    assert found["refusal"] == "" and found["new_population"] and "--new-population" in found["command"]


def test_nothing_starts_without_a_word(client: Client, studio: Studio) -> None:
    assert "without your word" in post(client, "/api/start", QUESTION)["refused"]
    assert studio.job is None


@pytest.mark.slow
def test_it_keeps_working_when_a_release_fails(client: Client, studio: Studio, log_path: Path, tmp_path: Path) -> None:
    moved = tmp_path / "gone.tsv"
    studio.log = replace(studio.log, log=str(moved))
    post(client, "/api/start", QUESTION | {"agreed": True})
    failed = ended(studio)
    assert failed["state"] == "failed" and any(line.startswith("hubbub:") for line in failed["lines"])
    assert "nothing is spent" in failed["told"] and failed["now"] == "0"
    assert get(client, "/").status_code == 200 and "tables" in post(client, "/api/estimate", QUESTION)

    moved.write_bytes(log_path.read_bytes())
    started = post(client, "/api/start", QUESTION | {"agreed": True})
    assert started["job"]["state"] == "running"
    done = ended(studio)
    assert done["state"] == "done", done
    assert done["release"] == "first" and done["before"] == "0" and done["now"] == "4"
    assert "exists already" in post(client, "/api/start", QUESTION | {"agreed": True})["refused"]
    shown = get(client, "/releases/first").text
    assert "Adding or removing everything one user did" in shown
    second = post(client, "/api/plan", QUESTION | {"name": "second"})
    assert second["before"] == "4" and studio.ledger is not None
    foreseen = second["after_value"]
    post(client, "/api/start", QUESTION | {"agreed": True, "name": "second"})
    assert ended(studio)["state"] == "done"
    with Ledger(studio.ledger) as book:
        assert book.spent("readers").epsilon == pytest.approx(foreseen)


def running(studio: Studio, own_ledger: Path) -> ReleaseJob:
    """A process that would take its time, as a release of this studio."""
    job = ReleaseJob([], "slow", studio.folder / "slow", population="readers", ledger=own_ledger, epsilon_before=0.0)
    job.program = (sys.executable, "-c", "import time; print('measuring: it', flush=True); time.sleep(60)")
    job.start()
    studio.job = job
    return job


def test_a_traceback_of_a_release_stays_in_the_terminal(client: Client, studio: Studio, own_ledger: Path) -> None:
    job = ReleaseJob([], "broken", population="readers", ledger=own_ledger, epsilon_before=0.0)
    said = f"hubbub: this is a bug of ours, please report it: ValueError: {CANARY}\\n  {CANARY}"
    job.program = (sys.executable, "-c", f"import sys; print('{said}', file=sys.stderr); sys.exit(3)")
    job.start()
    studio.job = job
    assert ended(studio, 30)["state"] == "failed"
    answer = get(client, "/api/job").text
    assert CANARY not in answer and "a bug of ours" in answer


def test_cancel_before_anything_is_reserved_costs_nothing(client: Client, studio: Studio, own_ledger: Path) -> None:
    running(studio, own_ledger)
    post(client, "/api/cancel", {})
    gone = ended(studio, 20)
    assert gone["state"] == "cancelled" and "nothing is spent" in gone["told"]
    assert "nothing to cancel" in post(client, "/api/cancel", {})["refused"]


def test_a_real_release_can_be_cancelled_and_leaves_nothing(client: Client, studio: Studio, own_ledger: Path) -> None:
    post(client, "/api/start", QUESTION | {"agreed": True})
    assert "refused" not in post(client, "/api/cancel", {})
    assert ended(studio, 30)["state"] == "cancelled"
    assert list(studio.folder.iterdir()) == []
    with Ledger(own_ledger) as book:
        assert book.entries() == []


def test_after_the_reservation_cancel_explains_why_not(client: Client, studio: Studio, own_ledger: Path) -> None:
    job = running(studio, own_ledger)
    with Ledger(own_ledger) as book:
        spend(book, Loss(0.7, 0.0, (Pure(Fraction(7, 10)),), tv=0.0), population="readers")
    assert LATE in post(client, "/api/cancel", {})["refused"]
    assert job.state == "running"
    process = job._process
    assert process is not None
    process.kill()
    died = ended(studio, 20)
    assert died["state"] == "failed" and "Its budget is spent: ledger entry 1 stands as reserved" in died["told"]
    assert died["now"] == "0.7" and get(client, "/ledger").text.count("reserved") == 1


def test_one_release_at_a_time(studio: Studio, own_ledger: Path) -> None:
    job = running(studio, own_ledger)
    with pytest.raises(Refused, match="A release is running"):
        studio.start(Question.read(QUESTION), "other", studio.said({}))
    job.finish()
    assert job._process is not None and job._process.returncode is not None
