"""A small made-up log in every format of a service or a public data set, and the kinds of damage spelt in each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.unit.ingest.ingest_helper import Row
from tests.unit.ingest.ingest_samples import LONG, MAY_16, Sample

SECOND = "2024-05-16T12:34:56"


def weblog(target: str, user: str = "-", when: str = "16/May/2024:12:34:56 +0000") -> bytes:
    """A line of the combined form."""
    return f'192.0.2.7 - {user} [{when}] "GET {target} HTTP/1.1" 200 51 "-" "Mozilla/5.0 (X11)"'.encode()


def body(text: str) -> str:
    """The body of a request that looks for a text."""
    return json.dumps({"size": 10, "query": {"bool": {"must": [{"match": {"title": {"query": text}}}]}}})


def querylog(text: str, **fields: Any) -> bytes:
    """An entry of Elasticsearch's query log."""
    entry = {
        "@timestamp": f"{SECOND}.789Z",
        "elasticsearch.querylog.query": body(text),
        "elasticsearch.querylog.type": "dsl",
        "user.name": "ann",
    }
    return json.dumps({name: value for name, value in (entry | fields).items() if value is not None}).encode()


def slowlog(text: str, id: str = "ann", when: str = f"{SECOND},789") -> bytes:
    """A line of OpenSearch's slow log."""
    told = "took[1ms], took_millis[1], total_hits[7], stats[], search_type[QUERY_THEN_FETCH], total_shards[1]"
    line = f"[{when}][INFO ][index.search.slowlog.query] [node] [shop][0] {told}, source[{body(text)}], id[{id}], "
    return line.encode()


def solr(params: str, when: str = "2024-05-16 12:34:56.789") -> bytes:
    """A line of Solr's log."""
    request = f"webapp=/solr path=/select params={{{params}}} hits=7 status=0 QTime=3"
    return f"{when} INFO  (qtp1-21) [c:shop s:shard1] o.a.s.c.S.Request {request}".encode()


def ga4(text: str | None, **fields: Any) -> bytes:
    """A search as Google Analytics exports it."""
    params = [{"key": "page", "value": {"int_value": 1}}, {"key": "search_term", "value": {"string_value": text}}]
    event = {
        "event_name": "view_search_results",
        "event_timestamp": f"{MAY_16}789000",
        "user_pseudo_id": "c1",
        "event_params": params,
    }
    return json.dumps({name: value for name, value in (event | fields).items() if value is not None}).encode()


def visit(*texts: str, when: Any = MAY_16, **fields: Any) -> bytes:
    """A visit of Matomo with searches between other actions."""
    actions = [{"type": "search", "siteSearchKeyword": text, "timestamp": when} for text in texts]
    found = {"visitorId": "c1", "actionDetails": [{"type": "action", "url": "https://a.example"}, *actions]}
    return json.dumps({name: value for name, value in (found | fields).items() if value is not None}).encode()


def algolia(text: str | None = "lilac", **fields: Any) -> bytes:
    """A search as an application logs it."""
    search = {"query": text, "queryID": "q1", "userToken": "c1", "timestamp": 1000 * MAY_16 + 789}
    return json.dumps({name: value for name, value in (search | fields).items() if value is not None}).encode()


def tripclick(text: str | None, **fields: Any) -> bytes:
    """A click of TripClick."""
    click = {"DateCreated": f"/Date({MAY_16}789)/", "SessionId": "s1", "Keywords": text, "Url": "https://a.example"}
    return json.dumps({name: value for name, value in (click | fields).items() if value is not None}).encode()


def sample(
    file: str,
    line: Callable[[str], bytes],
    row: Callable[[str], Row],
    damaged: dict[str, tuple[bytes, str]],
    user: str,
    own: dict[str, tuple[bytes, str]] | None = None,
) -> Sample:
    """Twelve searches for lilac with a number, and lines that are none."""
    usual = {
        "too long": (line(LONG.decode()), "too-long"),
        "NUL": (line("lilac").replace(b"lilac", b"li\0lac"), "nul-byte"),
        "encoding": (line("lilac").replace(b"lilac", b"li\xfflac"), "bad-encoding"),
        "empty": (b"", "empty-line"),
    }
    return Sample(
        file,
        [line(f"lilac{n}") for n in range(12)],
        row("lilac0"),
        row("lilac8"),
        row("lilac11"),
        line(""),
        usual | damaged,
        columns={"user": user},
        own=own or {},
    )


def searched(user: str, time: int | None = MAY_16, url: str | None = None) -> Callable[[str], Row]:
    """The row of a search."""
    return lambda text: (user, time, text, None, url)


SERVICES = {
    "weblog": sample(
        "access.log",
        lambda text: weblog(f"/search?page=1&q={text}"),
        searched("192.0.2.7"),
        {
            "few fields": (b'192.0.2.7 - - "GET /search?q=lilac HTTP/1.1" 200 51', "bad-fields"),
            "many fields": (b'"' + weblog("/search?q=lilac"), "bad-fields"),
            "no user": (b'{"request_uri": "/search?q=lilac", "time_iso8601": "2024-05-16T12:34:56Z"}', "no-user"),
            "time": (weblog("/search?q=lilac", when="30/Feb/2024:12:34:56 +0000"), "bad-time"),
        },
        "address",
        {
            "escaped NUL": (weblog("/search?q=li%00lac"), "nul-byte"),
            "half a character": (weblog("/search?q=li%fflac"), "bad-encoding"),
            "half a character by the server": (weblog(r"/search?q=li\xfflac"), "bad-encoding"),
            "cut off": (b'{"remote_addr": "192.0.2.7", "request_uri"', "bad-json"),
            "no request": (b'{"remote_addr": "192.0.2.7"}', "bad-fields"),
        },
    ),
    "elasticsearch": sample(
        "querylog.json",
        querylog,
        searched("ann"),
        {
            "few fields": (querylog("lilac")[:-5], "bad-json"),
            "many fields": (querylog("lilac") + b", {}", "bad-json"),
            "no user": (querylog("lilac", **{"user.name": None}), "no-user"),
            "time": (querylog("lilac", **{"@timestamp": "2024-02-30T12:34:56Z"}), "bad-time"),
        },
        "user.name",
        {
            "no body": (querylog("lilac", **{"elasticsearch.querylog.query": "{"}), "bad-json"),
            "nested": (querylog("lilac", **{"elasticsearch.querylog.query": '{"a":' * 50_000}), "bad-json"),
            "escaped NUL": (querylog("lilac").replace(b"lilac", rb"li\\u0000lac"), "nul-byte"),
            "half a character": (querylog("lilac").replace(b"lilac", rb"li\\ud800lac"), "bad-encoding"),
        },
    ),
    "opensearch": sample(
        "slowlog.log",
        slowlog,
        searched("ann"),
        {
            "few fields": (slowlog("lilac").replace(b"source[", b"source "), "bad-fields"),
            "many fields": (slowlog("lilac") + b"extra[1]", "bad-json"),
            "no user": (slowlog("lilac", id=""), "no-user"),
            "time": (slowlog("lilac", when="2024-02-30T12:34:56,789"), "bad-time"),
        },
        "opaque-id",
        {"cut off": (slowlog("lilac")[:-30], "bad-fields")},
    ),
    "solr": sample(
        "solr.log",
        lambda text: solr(f"q={text}&rows=10&uid=ann"),
        searched("ann"),
        {
            "few fields": (solr("q=lilac&uid=ann").replace(b"}", b""), "bad-fields"),
            "many fields": (solr("q=lilac&uid=bob&uid=ann"), "bad-fields"),
            "no user": (solr("q=lilac"), "no-user"),
            "time": (solr("q=lilac&uid=ann", when="2024-02-30 12:34:56.789"), "bad-time"),
        },
        "uid",
        {"half a character": (solr("q=li%fflac&uid=ann"), "bad-encoding")},
    ),
    "ga4": sample(
        "events.jsonl",
        ga4,
        searched("c1"),
        {
            "few fields": (ga4("lilac", event_timestamp=None), "bad-fields"),
            "many fields": (ga4("lilac") + b"{}", "bad-json"),
            "no user": (ga4("lilac", user_pseudo_id=None), "no-user"),
            "time": (ga4("lilac", event_timestamp="now"), "bad-time"),
        },
        "user_pseudo_id",
        {
            "cut off": (ga4("lilac")[:-5], "bad-json"),
            "escaped NUL": (ga4("lilac").replace(b"lilac", rb"li\u0000lac"), "nul-byte"),
        },
    ),
    "matomo": sample(
        "visits.jsonl",
        visit,
        searched("c1"),
        {
            "few fields": (visit("lilac", actionDetails=None), "bad-fields"),
            "many fields": (visit("lilac") + b",", "bad-json"),
            "no user": (visit("lilac", visitorId=None), "no-user"),
            "time": (visit("lilac", when="yesterday"), "bad-time"),
        },
        "visitorId",
        {"a row of a report": (b'{"label": "lilac", "nb_visits": 7}', "no-user")},
    ),
    "algolia": sample(
        "searches.jsonl",
        lambda text: algolia(text, queryID=f"q-{text[:20]}"),
        searched("c1"),
        {
            "few fields": (algolia(None), "bad-fields"),
            "many fields": (algolia() + b"]", "bad-json"),
            "no user": (algolia(userToken=None), "no-user"),
            "time": (algolia(timestamp="yesterday"), "bad-time"),
        },
        "userToken",
        {"a click of nobody": (algolia(None, eventType="click", objectIDs=["a"], userToken=None), "no-user")},
    ),
    "tripclick": sample(
        "2024-05-16.json",
        tripclick,
        searched("s1", url="https://a.example"),
        {
            "few fields": (tripclick(None), "bad-fields"),
            "many fields": (tripclick("lilac") + b"{}", "bad-json"),
            "no user": (tripclick("lilac", SessionId=None), "no-user"),
            "time": (tripclick("lilac", DateCreated="yesterday"), "bad-time"),
        },
        "SessionId",
    ),
    "yandex": sample(
        "train.tsv",
        lambda text: f"10989856\t0\tQ\t{text}\t2\t671723\t21839763".encode(),
        searched("10989856", None),
        {
            "few fields": (b"10989856\t0\tQ\tlilac", "bad-fields"),
            "many fields": (b"10989856\t0\tC\t7\t7", "bad-fields"),
            "no user": (b" \t0\tQ\tlilac\t2", "no-user"),
            "time": (b"10989856\tnow\tQ\tlilac\t2", "bad-time"),
        },
        "session",
        {"no action": (b"10989856\t0\tX\tlilac\t2", "bad-fields")},
    ),
}
SOGOU_2012 = Sample(
    "sogou.txt",
    [f"201112300000{n:02d}\tu{n % 3}\t丁香 {n}\t{n + 1}\t1\thttp://{n}.example".encode() for n in range(12)],
    ("u0", 1_325_203_200, "丁香 0", 1, "http://0.example"),
    ("u2", 1_325_203_208, "丁香 8", 9, "http://8.example"),
    ("u2", 1_325_203_211, "丁香 11", 12, "http://11.example"),
    b"20111230000005\tu1\t \t1\t1\thttp://a.example",
    {
        "too long": (b"20111230000005\tu1\t" + LONG, "too-long"),
        "NUL": (b"20111230000005\tu1\tli\0lac\t1\t1\thttp://a.example", "nul-byte"),
        "encoding": (b"20111230000005\tu1\tli\xfflac\t1\t1\thttp://a.example", "bad-encoding"),
        "empty": (b"", "empty-line"),
        "few fields": (b"20111230000005\tu1\tlilac\t1\t1", "bad-fields"),
        "many fields": (b"20111230000005\tu1\tlilac\t1\t1\thttp://a.example\t", "bad-fields"),
        "no user": (b"20111230000005\t\tlilac\t1\t1\thttp://a.example", "no-user"),
        "time": (b"20111330000005\tu1\tlilac\t1\t1\thttp://a.example", "bad-time"),
        "rank": (b"20111230000005\tu1\tlilac\tfirst\t1\thttp://a.example", "bad-rank"),
    },
)
SERVICES["sogou-2012"] = SOGOU_2012
