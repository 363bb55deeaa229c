"""Somebody who asks the studio: a browser's requests, without a browser or a port."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
from tests.conftest import HEADER, aol_lines

from hubbub.studio.app import create_app
from hubbub.studio.security import CHANGES
from hubbub.studio.state import Studio

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
