"""Who may ask: only a page that this server gave to somebody who was shown its secret address.

The token is the first part of every path, so no cookie exists that another server on this machine, or another site,
could be sent. A foreign Host (a name that was made to point here), another site's request and a wrong token get the
same short refusal. Whatever changes anything is a POST with a header that other sites cannot send.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHANGES = "x-hubbub-studio"
"""The header of a POST; its value is the token."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
OWN = ("same-origin", "none")
"""Sec-Fetch-Site of our own pages, and of an address that somebody typed."""


def new_token() -> str:
    """A secret for one run of the studio."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Guard:
    """The application behind the checks; inside, paths have no token."""

    app: ASGIApp
    token: str
    hosts: Iterable[str]
    """What a Host header may say: 127.0.0.1 and localhost with the port."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or answer with the headers of every answer."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        _, first, rest = (scope["path"] + "//").split("/", 2)
        if not self._may(scope["method"], Headers(scope=scope), first):
            refusal = PlainTextResponse("This address is not yours: open the one that hubbub studio printed.\n", 403)
            await refusal(scope, receive, guarded)
            return
        inside = dict(scope) | {"path": "/" + rest.rstrip("/"), "root_path": ""}
        inside["raw_path"] = inside["path"].encode()
        await self.app(inside, receive, guarded)

    def _may(self, method: str, headers: Headers, token: str) -> bool:
        host, origin = headers.get("host", ""), headers.get("origin")
        own = host in self.hosts and headers.get("sec-fetch-site", "none") in OWN
        if not own or (origin is not None and origin != f"http://{host}"):
            return False
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return False
        if method in ("GET", "HEAD"):
            return True
        given = headers.get(CHANGES, "")
        return method == "POST" and origin is not None and secrets.compare_digest(given.encode(), self.token.encode())
