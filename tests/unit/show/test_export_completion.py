"""`hubbub export --to completion`: bulk lines by the rules of the bulk interface, and a trie that completes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.browser.made_up import publish

from hubbub.show.export import export
from hubbub.show.export.completion import HEAVIEST, RESERVED, bulk, index
from hubbub.show.export.trie import Trie

QUERIES = [
    ("köln 天気", 900, 3.0),
    ("weather", 500, 3.0),
    ("weather berlin", 700, 3.0),
    ("web", 600, 3.0),
    ("</script>", 50, 3.0),
    ("bell\x1e", 50, 3.0),
    (" ", 50, 3.0),
    ("faint", 5, 3.0),
    ("nobody", -2, 0.5),
    ("x" * 80, 20, 3.0),
]
USED = {"köln 天気": 900, "weather": 500, "weather berlin": 700, "web": 600, "</script>": 50, "x" * 80: 20}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    export(publish(folder / "r" / "public", {"queries": QUERIES}).parent, "completion", folder / "out")
    return folder / "out"


def actions(body: bytes) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A bulk body as the interface reads it: lines of JSON in pairs, each ended by a newline, none of them empty."""
    assert body.endswith(b"\n")
    lines = [json.loads(line) for line in body[:-1].split(b"\n")]
    assert len(lines) % 2 == 0 and all(isinstance(line, dict) for line in lines)
    return list(zip(lines[::2], lines[1::2], strict=True))


def test_bulk_lines_are_pairs_of_action_and_document(exported: Path) -> None:
    read = actions((exported / "bulk.ndjson").read_bytes())
    assert {document["suggest"]["input"][0]: document["suggest"]["weight"] for _, document in read} == USED
    assert all(list(action) == ["index"] and list(action["index"]) == ["_id"] for action, _ in read)
    assert len({action["index"]["_id"] for action, _ in read}) == len(read)


def test_the_index_has_the_field_that_the_lines_fill(exported: Path) -> None:
    body = json.loads((exported / "index.json").read_bytes())
    field = body["mappings"]["properties"]["suggest"]
    assert field["type"] == "completion" and field["max_input_length"] == 80, "no query is cut"
    assert field["analyzer"] in body["settings"]["analysis"]["analyzer"]
    assert index({"short": 1})["mappings"]["properties"]["suggest"]["max_input_length"] == 50


def test_what_noise_does_not_support_is_left_out_and_told(exported: Path) -> None:
    said = (exported / "README.md").read_text(encoding="utf-8")
    assert "2 rows left out" in said and "at least 2 times its `noise_sd`" in said


@given(st.dictionaries(st.text(max_size=9), st.integers(1, HEAVIEST)))
def test_any_text_survives_the_lines(weights: dict[str, int]) -> None:
    body = b"".join(bulk(weights))
    read = actions(body) if body else []
    assert {document["suggest"]["input"][0]: document["suggest"]["weight"] for _, document in read} == weights


def walked(trie: dict[str, Any]) -> dict[str, int]:
    """Every text of a trie with its weight, by plain walking."""
    found, todo = {}, [(0, "")]
    while todo:
        node, text = todo.pop()
        text += trie["labels"][node]
        if trie["weights"][node]:
            found[text] = trie["weights"][node]
        under = [trie["best"][child] for child in trie["children"][node]]
        assert trie["best"][node] == max([trie["weights"][node], *under])
        first = [trie["labels"][child][0] for child in trie["children"][node]]
        assert len(first) == len(set(first)), "one way for each next character"
        todo += [(child, text) for child in trie["children"][node]]
    return found


def test_the_trie_holds_what_the_index_holds(exported: Path) -> None:
    assert walked(json.loads((exported / "trie.json").read_bytes())) == USED


@given(st.dictionaries(st.text("ab", min_size=1, max_size=7), st.integers(1, 99)))
def test_a_trie_holds_its_texts(weights: dict[str, int]) -> None:
    assert walked(vars(Trie.of(weights))) == weights


def test_a_long_chain_of_prefixes_is_no_deep_recursion() -> None:
    chain = {"a" * n: n for n in range(1, 1500)}
    assert walked(json.loads(json.dumps(vars(Trie.of(chain))))) == chain


def test_the_page_cannot_be_broken_by_a_query(exported: Path) -> None:
    page = (exported / "search.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2 and RESERVED.isdisjoint(page)


def test_gzip_leaves_the_page_as_a_browser_opens_it(tmp_path: Path) -> None:
    made = export(
        publish(tmp_path / "r" / "public", {"queries": QUERIES}).parent, "completion", tmp_path / "out", gzip=True
    )
    assert [file.name for file in made.files] == ["index.json.gz", "bulk.ndjson.gz", "trie.json.gz", "search.html"]
