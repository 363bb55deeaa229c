"""Search engines' own logs of queries: Elasticsearch's query log and slow log, OpenSearch's slow log.

    {"@timestamp": "2026-03-13T01:01:57.391Z", "elasticsearch.querylog.type": "dsl", "user.name": "ann",
     "elasticsearch.querylog.query": "{\\"query\\": {\\"match\\": {\\"title\\": \\"lilac\\"}}}"}
    [2024-05-16T12:34:56,789][INFO ][index.search.slowlog.query] [node] [shop][0] took[1ms], …, source[{…}], id[ann],

What people typed is the text of the first clause for full text in the request's body, in the order in which it stands
there: `match` and its kin, `multi_match`, `combined_fields`, `query_string`, `simple_query_string`.
A body without one is a request that nobody typed, and is passed over. The slow log has a line per shard: those of one
request have the same user, query and second, and are one search. In the log as text, the last id on the line
counts: no text that somebody typed can stand behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.documents import name, parse, plain, value
from hubbub.ingest.readers.events import Event, EventReader, Found
from hubbub.ingest.schema import Reason

SOURCES = ("elasticsearch.querylog.query", "elasticsearch.slowlog.source", "source")
KINDS = ("event.dataset", "log.logger", "type")
TIMES = ("@timestamp", "timestamp")
OPAQUE = ("http.request.headers.x_opaque_id", "elasticsearch.slowlog.id", "x-opaque-id", "x_opaque_id", "id")
ONE_FIELD = ("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix")
MANY_FIELDS = ("multi_match", "combined_fields", "query_string", "simple_query_string")
HEAD = re.compile(r"\[([^\]]+)\]\[[A-Z]+ *\]\[([^\]]*)\] ")
BODIES = tuple(re.compile(rf".*?\bsource\[(.*)\]{end},? *") for end in (r", id\[([^\[\]]*)\]", "()"))
USERS = {
    "user.name": "the account that asked the search engine: often one for the whole shop, which then is one user",
    "opaque-id": "the X-Opaque-Id that your application sends along: whom it names is yours to say",
}


def parse_line(line: str, columns: Mapping[str, str]) -> Found:
    """The search on a line."""
    if not line.startswith("{"):
        return _plain_line(line, columns["user"])
    fields = parse(line)
    if isinstance(fields, Reason):
        return fields
    source = next((found for path in SOURCES if (found := value(fields, path)) is not None), None)
    kinds = (name(value(fields, path)) for path in KINDS)
    other = any("slowlog" in kind and not _of_searches(kind) for kind in kinds)
    if source is None or other or fields.get("elasticsearch.querylog.type", "dsl") != "dsl":
        return Reason.HEADER  # another kind of entry, or a query language that nobody types into a search box
    paths = OPAQUE if columns["user"] == "opaque-id" else ("user.name",)
    user = next((name(found) for path in paths if name(found := value(fields, path))), "")
    when = next((found for path in TIMES if (found := value(fields, path)) is not None), None)
    return _search(source, user, plain(when))


def _plain_line(line: str, unit: str) -> Found:
    head = HEAD.match(line)
    if head is None:
        return Reason.BAD_FIELDS
    if not _of_searches(head[2]):
        return Reason.HEADER
    body = next((found for form in BODIES if (found := form.fullmatch(line, head.end()))), None)
    if body is None:
        return Reason.BAD_FIELDS
    return _search(body[1], body[2] if unit == "opaque-id" else "", head[1])


def _of_searches(logger: str) -> bool:
    """Whether a logger, or a kind of entry, is the slow log of searches, not that of documents."""
    return "slowlog" in logger and "search" in logger and "indexing" not in logger


def _search(source: Any, user: str, when: str) -> Found:
    """The search that the body of a request is."""
    if isinstance(source, str):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError):
            return Reason.BAD_JSON
    text = next(typed(source), None)
    return Reason.HEADER if text is None else [Event(user, text, when.replace(",", "."))]


def typed(body: Any, deep: int = 0) -> Iterator[str]:
    """The texts of clauses for full text, in the order in which they stand."""
    if deep > 100:
        return
    if isinstance(body, list):
        for item in body:
            yield from typed(item, deep + 1)
    elif isinstance(body, dict):
        for key, inner in body.items():
            if key in ONE_FIELD and isinstance(inner, dict):
                for clause in inner.values():
                    text = clause.get("query") if isinstance(clause, dict) else clause
                    if isinstance(text, str | int):
                        yield name(text)
            elif key in MANY_FIELDS and isinstance(inner, dict):
                if isinstance(text := inner.get("query"), str | int):
                    yield name(text)
            else:
                yield from typed(inner, deep + 1)


for engine, which in {"elasticsearch": "query log and slow log", "opensearch": "slow log"}.items():
    register(
        EventReader(
            engine,
            f"{engine.title()}'s {which}, JSON lines or text; --columns user=…".replace("Opensearch", "OpenSearch"),
            USERS,
            parse_line,
            where={"query": "the first clause for full text", "time": "the entry's time"},
        )
    )
