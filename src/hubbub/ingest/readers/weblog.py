"""Access logs of web servers: the common and the combined form, and JSON lines; a search is a request with a query.

    192.0.2.7 - - [16/May/2024:12:34:56 +0000] "GET /search?q=lilac HTTP/1.1" 200 5120 "-" "Mozilla/5.0"
    {"remote_addr": "192.0.2.7", "time_iso8601": "2024-05-16T12:34:56+00:00", "request_uri": "/search?q=lilac"}

Which parameter holds the query is stated (`--query-parameter`, q). Requests without it are passed over, and those of
programs too, if their list is stated (`--drop-agents`). A line in JSON names its user by a field. No clicks: a log of
requests does not tell which page was a result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hubbub.ingest.agents import is_program
from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.documents import name, parse, plain, value
from hubbub.ingest.readers.events import ANY, Event, EventReader, Fields, Found, parameters
from hubbub.ingest.schema import Reason

QUOTED = r'"((?:[^"\\]|\\.)*)"'
LINE = re.compile(rf'([^\s"]+) \S+ (.*?) \[([^\]]*)\] {QUOTED} \S+ \S+(?: {QUOTED} {QUOTED})?.*')
TIME = re.compile(r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})")
ESCAPE = re.compile(r"((?:\\x[0-9A-Fa-f]{2})+)")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TARGETS = ("request_uri", "request.uri", "uri", "url", "request")
TIMES = ("time_iso8601", "@timestamp", "timestamp", "time_local", "time", "ts", "msec")
AGENTS = ("http_user_agent", "user_agent", "user_agent.original", "request.headers.User-Agent", "agent")
USERS = {
    "address": "the client's address: protects a connection, which is a household, an office or a part of a person",
    "remote-user": "who logged in by HTTP; lines without one are rejected",
    "address+agent": "address and browser together: protects a browser behind an address",
    ANY: "a field of JSON lines, such as user=remote_addr or user=request.headers.x_user",
}


def parse_line(line: str, columns: Mapping[str, str]) -> Found:
    """The search on a line."""
    if line.startswith("{"):
        found = parse(line)
        return found if isinstance(found, Reason) else _object(found, columns)
    parts = LINE.fullmatch(line)
    if parts is None:
        return Reason.BAD_FIELDS
    address, login, when, request, _, agent = parts.groups()
    if "agents" in columns and is_program(agent or "", columns["agents"]):
        return Reason.HEADER
    users = {"address": address, "remote-user": "" if login == "-" else login}
    users["address+agent"] = f"{address} {agent}" if agent and agent != "-" else ""
    return _search(_unescaped(request), users.get(columns["user"], ""), instant(when), columns["query"])


def _object(fields: Fields, columns: Mapping[str, str]) -> Found:
    if "agents" in columns and any(is_program(said, columns["agents"]) for said in _agents(fields)):
        return Reason.HEADER
    target = next((name(found) for path in TARGETS if name(found := value(fields, path))), "")
    if not target:
        return Reason.BAD_FIELDS
    when = next((found for path in TIMES if (found := value(fields, path)) is not None), None)
    return _search(target, name(value(fields, columns["user"])), instant(_epoch(when)), columns["query"])


def _agents(fields: Fields) -> list[str]:
    """The User-Agents that an object names; some servers write a list."""
    found = (value(fields, path) for path in AGENTS)
    return [name(said) for each in found for said in (each if isinstance(each, list) else [each])]


def _epoch(given: object) -> str:
    """A time as text; seconds with a fraction, as servers write them, without it."""
    return str(int(given)) if isinstance(given, float) and abs(given) < 1e15 else plain(given)


def _search(request: str, user: str, when: str, parameter: str) -> Found:
    """The search that a request is, if it has the parameter."""
    target = next((word for word in request.split(" ") if "?" in word), "")
    found = parameters(target.partition("?")[2].partition("#")[0])
    if isinstance(found, Reason):
        return found
    return [Event(user, found[parameter], when)] if parameter in found else Reason.HEADER


def instant(text: str) -> str:
    """A server's time in the form of the other formats; anything else as it is."""
    parts = TIME.fullmatch(text.strip())
    if parts is None or parts[2] not in MONTHS:
        return text
    return f"{parts[3]}-{MONTHS.index(parts[2]) + 1:02d}-{parts[1]}T{parts[4]}{parts[5]}"


def _unescaped(text: str) -> str:
    """Bytes that the server wrote as \\xHH; half a character stays one that is refused later."""

    def decoded(found: re.Match[str]) -> str:
        return bytes.fromhex(found[1].replace("\\x", "")).decode(errors="surrogateescape")

    return ESCAPE.sub(decoded, text).replace('\\"', '"')


register(
    EventReader(
        "weblog",
        "access logs of web servers: common, combined or JSON lines; --columns user=…, --query-parameter q",
        USERS,
        parse_line,
        where={"time": "the request's time"},
        chooses_parameter=True,
        has_agents=True,
    )
)
