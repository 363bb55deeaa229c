"""Solr's request log: what was asked of a search handler, with its parameters.

    2024-05-16 12:34:56.789 INFO  (qtp1-21) [c:shop s:shard1] o.a.s.c.S.Request webapp=/solr path=/select
     params={q=lilac&rows=10&uid=ann} hits=7 status=0 QTime=3

Solr knows no user. Your application has to send one along as a parameter that Solr ignores, which `--columns user=…`
names. Which parameter is the query is stated (`--query-parameter`, q). Requests among Solr's own nodes
(`isShard=true`), of other handlers and for everything (`*:*`) are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.events import ANY, Event, EventReader, Found, parameters
from hubbub.ingest.schema import Reason

REQUEST = re.compile(r".*?\bpath=(\S+) params=\{(.*)\} .*?status=\d+.*")
TIME = re.compile(r".*?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)")
ALL = "*:*"
USERS = {ANY: "the parameter with which your application tells the user, such as user=uid; without one, no line counts"}


def parse_line(line: str, columns: Mapping[str, str]) -> Found:
    """The search on a line."""
    parts, time = REQUEST.fullmatch(line), TIME.match(line)
    if parts is None:
        return Reason.HEADER if time and "params={" not in line else Reason.BAD_FIELDS
    if parts[1].endswith(("/update", "/get", "/admin/ping", "/replication")):
        return Reason.HEADER
    found = parameters(parts[2], once=columns["user"])
    if isinstance(found, Reason):
        return found
    query = found.get(columns["query"])
    if query is None or query == ALL or found.get("isShard") == "true":
        return Reason.HEADER
    return [Event(found.get(columns["user"], ""), query, time[1] if time else "?")]


register(
    EventReader(
        "solr",
        "Solr's request log; --columns user=PARAMETER, --query-parameter q",
        USERS,
        parse_line,
        where={"time": "the entry's time"},
        chooses_parameter=True,
    )
)
