"""The studio: who may ask, what is never answered, how good its quick estimates are, and what a release does to it."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.browser.made_up import publish, some_tables
from tests.conftest import HEADER, Hubbub, aol_lines
from typer.testing import CliRunner

from hubbub.card.owner import Owner
from hubbub.cli import app as commands
from hubbub.cli.studio import _listen, _sorted
from hubbub.errors import ParameterError, Refused
from hubbub.log import Period, SearchLog, read_log
from hubbub.look.estimate import estimate_log
from hubbub.mechanisms import build
from hubbub.privacy.account import Loss, Pure
from hubbub.privacy.ledger import Ledger
from hubbub.steps import bound
from hubbub.steps.count import count
from hubbub.steps.keys import QUERIES
from hubbub.studio import quick
from hubbub.studio.app import create_app
from hubbub.studio.asked import OFFERED, Asked, rivals
from hubbub.studio.jobs import LATE, Job
from hubbub.studio.security import CHANGES, HEADERS
from hubbub.studio.sketch import Sketch, sketches
from hubbub.studio.state import Opened, Studio
from hubbub.synth.run import synthesise

TOKEN, HOST = "a-secret-of-this-test", "127.0.0.1:8765"
ORIGIN = {"origin": f"http://{HOST}", CHANGES: TOKEN}
CANARY = "zqxcanary"
QUESTION: dict[str, Any] = {
    "mechanism": "crowd",
    "settings": {"epsilon": "4", "delta": "1e-4"},
    "tables": ["queries", "clicks"],
    "name": "first",
}


def canaries(users: int = 400) -> list[str]:
    """A log in which every user, query and url can be told from anything else on a page."""
    lines = [HEADER]
    for line in aol_lines(users)[1:]:
        user, query, *rest, url = line.split("\t")
        named = f"http://{CANARY}{url[7:]}" if url else ""
        lines.append("\t".join([f"{CANARY}-{user}", f"{CANARY} {query}", *rest, named]))
    return lines


@pytest.fixture(scope="module")
def log_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studio") / "canaries.tsv"
    path.write_text("\n".join(canaries()) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def studio(log_path: Path, tmp_path: Path, own_ledger: Path) -> Studio:
    """A studio whose log is read."""
    folder = tmp_path / "releases"
    folder.mkdir()
    given = {"log": str(log_path), "format": "aol", "ledger": str(own_ledger), "population": "readers"}
    made = Studio(folder, Owner(), given, opened=Opened(log_path.name))
    made.look(lambda progress: read_log(log_path, format="aol", progress=progress))
    assert made.opened is not None and made.opened.ready, made.opened
    return made


class Client:
    """A browser's requests, without a browser or a port."""

    def __init__(self, studio: Studio) -> None:
        self.app = create_app(studio, TOKEN, {HOST})

    def request(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await client.request(method, path, json=body, headers=headers)

        return asyncio.run(ask())


@pytest.fixture
def client(studio: Studio) -> Client:
    return Client(studio)


def get(client: Client, path: str, **headers: str) -> Any:
    return client.request("GET", f"/{TOKEN}{path}", **headers)


def post(client: Client, path: str, body: object) -> dict[str, Any]:
    answer = client.request("POST", f"/{TOKEN}{path}", body, **ORIGIN)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ended(studio: Studio, seconds: float = 120) -> dict[str, Any]:
    for _ in range(int(seconds * 10)):
        job = studio.progress()
        assert job is not None
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    raise AssertionError("the release did not end")


# ------------------------------------------------------------------ who may ask


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/wrong-token/", {}),
        (f"/{TOKEN[:-1]}/", {}),
        (f"/{TOKEN}/", {"host": "studio.example"}),
        (f"/{TOKEN}/", {"host": "127.0.0.1"}),
        (f"/{TOKEN}/", {"origin": "http://evil.example"}),
        (f"/{TOKEN}/", {"origin": "null"}),
        (f"/{TOKEN}/", {"sec-fetch-site": "cross-site"}),
        (f"/{TOKEN}/", {"sec-fetch-site": "same-site"}),
        (f"/{TOKEN}/api/job", {"host": "localhost.evil.example:8765"}),
    ],
)
def test_strangers_are_refused(client: Client, path: str, headers: dict[str, str]) -> None:
    answer = client.request("GET", path, **headers)
    assert answer.status_code == 403
    assert CANARY not in answer.text and "users" not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": f"http://{HOST}"},
        {CHANGES: TOKEN},
        {"origin": f"http://{HOST}", CHANGES: "wrong"},
        {"origin": "http://evil.example", CHANGES: TOKEN},
        ORIGIN | {"sec-fetch-site": "cross-site"},
    ],
)
def test_only_our_page_changes_anything(client: Client, studio: Studio, headers: dict[str, str]) -> None:
    body = QUESTION | {"agreed": True}
    assert client.request("POST", f"/{TOKEN}/api/start", body, **headers).status_code == 403
    assert client.request("PUT", f"/{TOKEN}/api/start", body, **ORIGIN).status_code == 403
    assert client.request("GET", f"/{TOKEN}/api/start").status_code == 405
    assert studio.job is None


def test_every_answer_is_for_this_page_alone(client: Client) -> None:
    for path in ("/", "/releases", "/ledger", "/static/studio.js", "/api/job", "/nowhere"):
        headers = get(client, path).headers
        assert headers["cache-control"] == "no-store" and headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY" and "set-cookie" not in headers
        assert "unsafe" not in headers["content-security-policy"]
    assert get(client, "/", **{"sec-fetch-site": "none"}).status_code == 200
    assert get(client, "/static/../app.py").status_code == 404
    assert get(client, "/releases/").status_code == 200


# ------------------------------------------------------------------ what is never answered


def test_no_answer_holds_a_row_of_the_log(client: Client, studio: Studio) -> None:
    page = get(client, "/").text
    assert "400" in page and "Owner only" in page and "recorded this look" in page
    answers = [page, *(get(client, path).text for path in ("/releases", "/ledger", "/api/opened", "/api/job"))]
    for name in OFFERED:
        body = QUESTION | {"mechanism": name, "tables": ["queries"]}
        found = post(client, "/api/estimate", body)
        assert "queries" in found["tables"], found
        answers += [str(found), str(post(client, "/api/plan", body))]
    answers.append(str(post(client, "/api/compare", {"epsilon": "4", "delta": "1e-4"})))
    answers.append(str(post(client, "/api/estimate", {"mechanism": CANARY.upper()})))
    named = studio.opened
    assert named is not None
    for answer in answers:
        assert CANARY not in answer.replace(named.source, "")
    with Ledger(studio.ledger) as book:
        assert [look.command for look in book.looks("readers", "default")] == ["studio"]


def test_a_sketch_holds_numbers_only(studio: Studio) -> None:
    assert studio.opened is not None
    for made in studio.opened.sketches.values():
        for name, value in vars(made).items():
            arrays = value if isinstance(value, tuple) else (value,)
            assert all(a is None or isinstance(a, int) or a.dtype.kind in "if" for a in arrays), name


@pytest.mark.parametrize("name", ["", "..", "a/b", "/tmp/x", ".hidden", "a\nb"])
def test_the_page_names_a_folder_and_no_path(studio: Studio, name: str) -> None:
    with pytest.raises(ParameterError):
        studio.plan(Asked.read(QUESTION), name)


def test_the_page_opens_only_what_it_was_given(client: Client, tmp_path: Path) -> None:
    publish(tmp_path / "elsewhere" / "public", some_tables())
    for name in ("elsewhere", "..%2felsewhere", str(tmp_path / "elsewhere").replace("/", "%2f")):
        answer = get(client, f"/releases/{name}")
        assert answer.status_code == 404 or "no such release" in answer.text
        assert "weather" not in get(client, f"/api/releases/{name}/search?q=w").text


# ------------------------------------------------------------------ quick estimates


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SearchLog, dict[str, Sketch]]]:
    """A made-up log of the usual shape, and its sketch."""
    path = tmp_path_factory.mktemp("shape") / "log.parquet"
    synthesise(2000, path)
    with read_log(path) as log:
        yield log, sketches(log)


MECHANISMS: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
    ("crowd", {}, ("queries", "clicks")),
    ("crowd", {"epsilon": "40"}, ("queries", "transitions")),
    ("korolova", {"d": "2"}, ("queries", "clicks")),
    ("zealous", {"m": "10", "keep": "random"}, ("queries",)),
    ("gaussian", {"d": "20"}, ("queries",)),
    ("gaussian", {"d": "20", "weights": "sqrt"}, ("queries",)),
    ("sips", {"d": "30"}, ("queries",)),
    ("adaptive", {"d": "100", "rounds": "4"}, ("queries",)),
]


@pytest.mark.parametrize(("name", "settings", "tables"), MECHANISMS)
def test_quick_estimates_agree_with_estimate(
    shape: tuple[SearchLog, dict[str, Sketch]], name: str, settings: dict[str, str], tables: tuple[str, ...]
) -> None:
    log, sketched = shape
    mechanism = build(name, {"epsilon": "10", "delta": "1e-3"} | settings, tables=tables)
    slow, fast = estimate_log(mechanism, log, runs=3).tables, quick.estimate(mechanism, sketched)
    assert set(fast) == set(tables)
    for table in tables:
        few = max(quick.TOLERANCE_ROWS, 3 * slow[table].rows_sd / 3**0.5)
        assert slow[table].rows > 15
        assert fast[table].rows == pytest.approx(slow[table].rows, rel=quick.TOLERANCE, abs=few)
        assert fast[table].volume.searches == pytest.approx(slow[table].volume.searches, rel=0.15, abs=0.002)
        assert fast[table].volume.bounding == pytest.approx(slow[table].volume.bounding, abs=1e-6)
        half, sure = (slow[table].curve.reaches(chance) for chance in (0.25, 0.75))
        found = fast[table].curve.reaches(0.5)
        assert half is not None and sure is not None and found is not None
        assert half / 1.3 <= found <= sure * 1.3
        if slow[table].half_width is not None:
            assert fast[table].half_width == pytest.approx(slow[table].half_width, rel=0.35, abs=0.5)


@pytest.mark.parametrize("d", [1, 3, 20])
def test_bounded_counts_of_a_sketch_are_exact_where_nothing_is_left_out(studio: Studio, log_path: Path, d: int) -> None:
    assert studio.opened is not None
    sketched = studio.opened.sketches["queries"]
    with read_log(log_path, format="aol") as log:
        exact = count(log, QUERIES, bound.first_keys(QUERIES, d)).n
    rare = sketched.users <= 64  # of popular keys a sample of users is looked at
    found = np.sort(quick.kept(sketched, d, first=True)[0][rare])
    assert np.array_equal(found[found > 0], np.sort(exact[exact <= 64]))
    popular = np.sort(quick.kept(sketched, d, first=True)[0][~rare])
    assert popular[popular > 0] == pytest.approx(np.sort(exact[exact > 64]).astype(float), rel=0.25)
    assert sketched.cut(d) == pytest.approx(1 - exact.sum() / sketched.whole)


def test_less_noise_keeps_more_and_a_wider_share_too(shape: tuple[SearchLog, dict[str, Sketch]]) -> None:
    rows = []
    for epsilon, weight in (("0.5", "45"), ("2", "45"), ("8", "45"), ("8", "400")):
        settings = {"epsilon": epsilon, "delta": "1e-4", "queries_weight": weight}
        mechanism = build("crowd", settings, tables=("queries", "clicks"))
        rows.append(quick.estimate(mechanism, shape[1])["queries"].rows)
    assert rows[0] < rows[1] < rows[2] < rows[3]


def test_a_slider_is_answered_soon(client: Client) -> None:
    """Far from a bench: only that nobody counts the log again."""
    post(client, "/api/estimate", QUESTION)
    best = min(
        post(client, "/api/estimate", QUESTION | {"settings": {"epsilon": e, "delta": "1e-4"}})["milliseconds"]
        for e in ("1.1", "1.2", "1.3", "1.4")
    )
    assert best < 1500


def test_rivals_have_the_same_budget() -> None:
    for name, tries in rivals("2", "1e-5").items():
        for asked in tries:
            loss = asked.build().loss()
            assert loss.epsilon <= 2 * (1 + 1e-9) and loss.delta <= 1e-5 * (1 + 1e-9), name


# ------------------------------------------------------------------ a release


def test_the_command_on_the_page_makes_the_release_on_the_page(client: Client, studio: Studio, hubbub: Hubbub) -> None:
    found = post(client, "/api/plan", QUESTION)
    assert found["refusal"] == "" and found["before"] == "0" and found["after_value"] == pytest.approx(4)
    assert found["claim"].startswith("Adding or removing everything one user did")
    words = studio.command(Asked.read(QUESTION), "first")
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
    studio.given = dict(studio.given) | {"users_public": 400}
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
    studio.given = dict(studio.given) | {"new_population": True}
    found = post(client, "/api/plan", QUESTION)
    assert found["refusal"] == "" and found["new_population"] and "--new-population" in found["command"]


def test_looking_at_pages_makes_no_ledger(tmp_path: Path, own_ledger: Path) -> None:
    client = Client(Studio(tmp_path, Owner(), {"population": "readers"}))
    for path in ("/", "/ledger", "/releases"):
        assert get(client, path).status_code == 200
    assert not own_ledger.exists()


def test_nothing_starts_without_a_word(client: Client, studio: Studio) -> None:
    assert "without your word" in post(client, "/api/start", QUESTION)["refused"]
    assert studio.job is None


def test_it_keeps_working_when_a_release_fails(client: Client, studio: Studio, log_path: Path, tmp_path: Path) -> None:
    moved = tmp_path / "gone.tsv"
    studio.given = dict(studio.given) | {"log": str(moved)}
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


def running(studio: Studio, own_ledger: Path) -> Job:
    """A process that would take its time, as a release of this studio."""
    job = Job([], studio.folder / "slow", "readers", own_ledger, 0.0)
    job.program = (sys.executable, "-c", "import time; print('measuring: it', flush=True); time.sleep(60)")
    job.start()
    studio.job = job
    return job


def test_a_traceback_of_a_release_stays_in_the_terminal(client: Client, studio: Studio, own_ledger: Path) -> None:
    job = Job([], studio.folder / "broken", "readers", own_ledger, 0.0)
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
        book.reserve(
            population="readers",
            dataset="default",
            mechanism="crowd",
            variant="strict",
            loss=Loss(0.7, 0.0, (Pure(Fraction(7, 10)),), tv=0.0),
            private=True,
            parameters={},
            software="test",
        )
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
        studio.start(Asked.read(QUESTION), "other")
    job.finish()
    assert job._process is not None and job._process.returncode is not None


# ------------------------------------------------------------------ releases


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
    assert page.headers["content-security-policy"].startswith("sandbox; ") and "made-up library" in page.text


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
