"""Logs of services: what each takes for a search, what it passes over, and that nobody can write in another's name."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading
from tests.unit.ingest.ingest_samples import MAY_16, click, ubi
from tests.unit.ingest.service_samples import (
    algolia,
    body,
    ga4,
    querylog,
    searched,
    slowlog,
    solr,
    tripclick,
    visit,
    weblog,
)

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import Stated

read = pytest.fixture(reading)


def log(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_requests_without_the_parameter_are_no_searches(read: Ingest) -> None:
    given = log(weblog("/"), weblog("/search?page=2"), weblog("/search?q=White+lilac%21&q=rose"), weblog("/?s=map"))
    result = read(given, "access.log", format="weblog", columns={"user": "address"})
    assert result.rows == [searched("192.0.2.7")("white lilac!")]
    assert (result.told.read, result.told.rejected) == (1, 0)
    other = read(given, "access.log", format="weblog", columns={"user": "address"}, stated=Stated(query_parameter="s"))
    assert other.rows == [searched("192.0.2.7")("map")]
    assert other.told.stated == {"query_parameter": "s"} and other.told.columns["query"] == "s"


@pytest.mark.parametrize(
    ("unit", "user"),
    [("address", "192.0.2.7"), ("remote-user", "ann b"), ("address+agent", "192.0.2.7 Mozilla/5.0 (X11)")],
)
def test_who_the_user_of_an_access_log_is(read: Ingest, unit: str, user: str) -> None:
    result = read(log(weblog("/?q=lilac", user="ann b")), "access.log", format="weblog", columns={"user": unit})
    assert [row[0] for row in result.rows] == [user]


def test_access_logs_in_json(read: Ingest) -> None:
    lines = [
        {"remote_addr": "a", "time_iso8601": "2024-05-16T14:34:56+02:00", "request": "GET /s?q=lilac HTTP/1.1"},
        {"remote_addr": "b", "ts": MAY_16 + 0.789, "request": {"uri": "/s?q=rose", "method": "GET"}},
        {"remote_addr": "c", "time_local": "16/May/2024:12:34:56 +0000", "request_uri": "/s?q=map"},
    ]
    given = log(*(json.dumps(line).encode() for line in lines))
    result = read(given, "access.json", format="weblog", columns={"user": "remote_addr"})
    assert result.rows == [searched(user)(text) for user, text in (("a", "lilac"), ("b", "rose"), ("c", "map"))]


def test_the_first_clause_for_full_text_is_what_was_typed(read: Ingest) -> None:
    bodies = {
        "one": {"query": {"match": {"title": "one"}}},
        "two": {"query": {"multi_match": {"query": "two", "fields": ["a", "b"]}}},
        "three": {
            "query": {"bool": {"filter": [{"term": {"x": 1}}], "must": {"match_phrase": {"t": {"query": "three"}}}}}
        },
        "four": {"query": {"function_score": {"query": {"simple_query_string": {"query": "four"}}}}},
        None: {"query": {"match_all": {}}},
    }
    entries = [querylog("", **{"elasticsearch.querylog.query": json.dumps(one)}) for one in bodies.values()]
    entries.append(querylog("", **{"elasticsearch.querylog.type": "esql", "elasticsearch.querylog.query": "FROM a"}))
    entries.append(b'{"@timestamp": "2024-05-16T12:34:56Z", "message": "started", "user.name": "ann"}')
    result = read(log(*entries), "querylog.json", format="elasticsearch", columns={"user": "user.name"})
    assert [row[2] for row in result.rows] == ["one", "two", "three", "four"]
    assert result.told.read == 4


def test_slow_logs_of_both_engines(read: Ingest) -> None:
    entry = {
        "@timestamp": "2024-05-16T12:34:56.789Z",
        "elasticsearch.slowlog.source": body("lilac"),
        "elasticsearch.slowlog.id": "ann",
        "event.dataset": "elasticsearch.index_search_slowlog",
        "log.logger": "index.search.slowlog.query",
    }
    older = {
        "type": "index_search_slowlog",
        "timestamp": "2024-05-16T12:34:56,789Z",
        "source": body("rose"),
        "id": "ann",
    }
    writes = entry | {"event.dataset": "elasticsearch.index_indexing_slowlog", "log.logger": "index.indexing.slowlog"}
    text = slowlog("map")
    writing = text.replace(b"index.search.slowlog.query", b"index.indexing.slowlog.index")
    given = log(*(json.dumps(one).encode() for one in (entry, older, writes)), text, writing)
    for format in ("elasticsearch", "opensearch"):
        result = read(given, "slowlog.json", format=format, columns={"user": "opaque-id"})
        assert [row[:3] for row in result.rows] == [("ann", MAY_16, text) for text in ("lilac", "rose", "map")]


def test_nobody_can_type_another_users_id_into_a_slow_log(read: Ingest) -> None:
    forged = [slowlog("x], id[bob], "), slowlog('x"}}]}}], id[bob],', id="ann"), slowlog("source[{], id[bob],")]
    result = read(log(*forged), "slow.log", format="opensearch", columns={"user": "opaque-id"})
    assert {row[0] for row in result.rows} == {"ann"} and len(result.rows) == 3


def test_solr_passes_over_what_nobody_typed(read: Ingest) -> None:
    lines = [
        solr("q=lilac&uid=ann"),
        solr("q=*:*&uid=ann"),
        solr("q=lilac&isShard=true&uid=ann"),
        solr("uid=ann"),
        solr("q=lilac&uid=ann").replace(b"path=/select", b"path=/update"),
        b"2024-05-16 12:34:56.789 INFO  (main) [] o.a.s.c.CoreContainer started",
    ]
    result = read(log(*lines), "solr.log", format="solr", columns={"user": "uid"})
    assert result.rows == [searched("ann")("lilac")] and result.told.read == 1


def test_events_of_analytics_as_lines_an_array_and_parquet(read: Ingest, tmp_path: Path) -> None:
    events = [ga4("lilac"), ga4("rose", event_name="search", user_pseudo_id="c2"), ga4("map", event_name="page_view")]
    expected = [searched("c1")("lilac"), searched("c2")("rose")]
    objects = [json.loads(event) for event in events]
    pq.write_table(pa.Table.from_pylist(objects), tmp_path / "events.parquet")
    for source, name in ((log(*events), "e.jsonl"), (json.dumps(objects, indent=1).encode(), "e.json")):
        assert read(source, name, format="ga4", columns={"user": "user_pseudo_id"}).rows == expected
    assert read(tmp_path / "events.parquet", format="ga4", columns={"user": "user_pseudo_id"}).rows == expected


def test_a_visit_holds_several_searches_and_is_counted_by_them(read: Ingest) -> None:
    result = read(log(visit("lilac", "", "rose"), visit()), "v.jsonl", format="matomo", columns={"user": "visitorId"})
    assert [row[2] for row in result.rows] == ["lilac", "rose"]
    assert (result.told.read, result.told.dropped) == (3, 1)


def test_a_report_without_users_proves_nothing(read: Ingest) -> None:
    report = json.dumps([{"label": "lilac", "nb_visits": 7}]).encode()
    with pytest.raises(InputError, match=r"(?s)names no user.*nothing can be proven"):
        read(report, "keywords.json", format="matomo", columns={"user": "visitorId"})


def test_clicks_of_algolia_are_joined_within_a_user(read: Ingest) -> None:
    clicked = {"eventType": "click", "objectIDs": ["sku-7", "sku-8"], "positions": [3, 4]}
    lines = [
        algolia(),
        algolia(None, **clicked),
        algolia(None, **clicked | {"userToken": "c2"}),
        algolia(None, **clicked | {"eventType": "view"}),
        algolia(None, **clicked | {"queryID": None}),
    ]
    result = read(log(*lines), "a.jsonl", format="algolia", columns={"user": "userToken"})
    assert result.rows == [("c1", MAY_16, "lilac", 3, "sku-7")]
    assert [reason for _, reason in result.reasons] == ["no-query"]


def test_times_of_tripclick(read: Ingest) -> None:
    given = log(tripclick("lilac"), tripclick("rose", DateCreated="2024-05-16T12:34:56", Url=None, DocumentId=7))
    result = read(given, "2024-05-16.json", format="tripclick", columns={"user": "SessionId"})
    assert result.rows == [searched("s1", url="https://a.example")("lilac"), searched("s1", url="7")("rose")]


def test_sogou_of_2012_in_its_first_encoding(read: Ingest) -> None:
    line = "20111230000005\tu1\t丁香\t1\t1\thttp://a.example\n"
    result = read(line.encode("gb18030"), "s.txt", format="sogou-2012", stated=Stated(encoding="gb18030"))
    assert result.rows == [("u1", 1_325_203_205, "丁香", 1, "http://a.example")]
    with pytest.raises(ParameterError, match="fixes its separator"):
        read(line.encode(), "s.txt", format="sogou-2012", stated=Stated(separator=";"))


@pytest.mark.parametrize(
    "format", ["weblog", "elasticsearch", "solr", "ga4", "matomo", "algolia", "tripclick", "yandex"]
)
@pytest.mark.parametrize("columns", [None, {"query": "q"}, {"user": "u", "query": "q"}])
def test_the_user_must_be_chosen(read: Ingest, format: str, columns: dict[str, str] | None) -> None:
    with pytest.raises(ParameterError, match="who the user is"):
        read(b"x\n", "log.json", format=format, columns=columns)


def test_a_table_has_no_parameter(read: Ingest) -> None:
    with pytest.raises(ParameterError, match="no parameters"):
        read(
            b"a,b\n", "log.csv", format="table", columns={"user": "a", "query": "b"}, stated=Stated(query_parameter="q")
        )


def test_ubi_as_an_array_an_answer_and_a_csv_file(read: Ingest) -> None:
    objects = [json.loads(one) for one in (ubi(), click("sku-7", 3))]
    rows = [("c1", MAY_16, "lilac", 3, "sku-7")]
    array = json.dumps(objects, indent=2).encode()
    hits = [{"_index": "ubi", "_id": str(n), "_source": one} for n, one in enumerate(objects)]
    answer = json.dumps({"took": 1, "hits": {"total": {"value": 2}, "hits": hits}}).encode()
    flat = (
        b"query_id,client_id,user_query,timestamp,action_name,event_attributes.object.object_id,event_attributes.position.ordinal\n"
        b"q1,c1,lilac,2024-05-16T12:34:56.789Z,,,\n"
        b'q1,c1,,,click,"sku-7",3\n'
        b'q1,c1,"open,,,,,\n'
        b"q1,c1\n"
    )
    for data, name in ((array, "ubi.json"), (answer, "answer.json")):
        assert read(data, name, format="ubi", columns={"user": "client_id"}).rows == rows
    result = read(flat, "ubi.csv", format="ubi", columns={"user": "client_id"})
    assert result.rows == rows and [reason for _, reason in result.reasons] == ["bad-quote", "bad-fields"]
