"""The studio: who may ask, and what is never answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from tests.browser.made_up import publish, some_tables
from tests.unit.studio.asking import CANARY, HOST, ORIGIN, QUESTION, TOKEN, Client, get, post

from hubbub.errors import ParameterError
from hubbub.privacy.ledger import Ledger
from hubbub.studio.asked import Question, offered
from hubbub.studio.security import CHANGES, HEADERS, Guard
from hubbub.studio.state import Studio


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


def changing(client: Client) -> list[str]:
    """Every address that something can be sent to."""
    assert isinstance(client.app, Guard) and isinstance(client.app.app, Starlette)
    routes = [route for route in client.app.app.routes if isinstance(route, Route)]
    return [route.path for route in routes if "POST" in (route.methods or ())]


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
    posts = changing(client)
    assert len(posts) == 12 and "/api/start" in posts
    for path in posts:
        asked = f"/{TOKEN}{path.replace('{name}', 'made')}"
        assert client.request("POST", asked, body, **headers).status_code == 403, path
    assert client.request("PUT", f"/{TOKEN}/api/start", body, **ORIGIN).status_code == 403
    assert client.request("GET", f"/{TOKEN}/api/start").status_code == 405
    assert studio.job is None


def test_every_answer_is_for_this_page_alone(client: Client) -> None:
    for path in ("/", "/releases", "/ledger", "/static/shared.js", "/api/job", "/nowhere"):
        headers = get(client, path).headers
        assert headers["cache-control"] == "no-store" and headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY" and "set-cookie" not in headers
        assert "unsafe" not in headers["content-security-policy"]
    assert get(client, "/", **{"sec-fetch-site": "none"}).status_code == 200
    assert get(client, "/static/../app.py").status_code == 404
    assert get(client, "/releases/").status_code == 200


def test_no_answer_holds_a_row_of_the_log(client: Client, studio: Studio) -> None:
    page = get(client, "/").text
    assert "400" in page and "Owner only" in page and "recorded this look" in page
    answers = [page, *(get(client, path).text for path in ("/releases", "/ledger", "/api/opened", "/api/job"))]
    for name in offered():
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
        studio.plan(Question.read(QUESTION), name, studio.said({}))


def test_the_page_opens_only_what_it_was_given(client: Client, tmp_path: Path) -> None:
    publish(tmp_path / "elsewhere" / "public", some_tables())
    for name in ("elsewhere", "..%2felsewhere", str(tmp_path / "elsewhere").replace("/", "%2f")):
        answer = get(client, f"/releases/{name}")
        assert answer.status_code == 404 or "no such release" in answer.text
        assert "weather" not in get(client, f"/api/releases/{name}/search?q=w").text
