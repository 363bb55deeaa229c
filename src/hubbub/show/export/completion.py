"""Completions of what somebody types: bulk lines for OpenSearch and Elasticsearch, a trie, a page that searches it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.supported import SUPPORT, Supported
from hubbub.show.export.trie import Trie
from hubbub.show.page import jinja

RESERVED = {"\x00", "\x1e", "\x1f"}
"""Lucene ends and joins the parts of a completion with these, and refuses a text that holds one."""
HEAVIEST = 2**31 - 1
"""A weight is a 32-bit integer there."""
INDEXED = 50
"""How many characters of a text OpenSearch indexes if nothing is said."""


class Completion(Format):
    """Released queries with their numbers for weights."""

    name: ClassVar[str] = "completion"
    about: ClassVar[str] = "completions for OpenSearch, Elasticsearch and web pages"
    needs: ClassVar[tuple[str, ...]] = ("queries",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The index and what fills it; the trie and the page that holds it."""
        used = Supported.of(source.need("queries"))
        weights = {
            query: min(number, HEAVIEST)
            for query, number in zip(used.texts("query"), used.number.tolist(), strict=True)
            if query.strip() and not RESERVED & set(query)
        }
        size = len(weights)
        folder.lines("index.json", "settings and mapping of the index", 1, [_json(index(weights)), b"\n"])
        folder.lines("bulk.ndjson", used.said("an action and a document for each query"), size, bulk(weights))
        trie = _json(asdict(Trie.of(weights)))
        folder.lines("trie.json", used.said("the same queries as a trie"), size, [trie, b"\n"])
        known = {"card": source.card, "trie": trie.decode().replace("<", "\\u003c"), "size": size}
        page = jinja().get_template("completion.html").render(known)
        folder.lines("search.html", "a search box over the trie, for a browser", size, [page.encode()], packed=False)

    def notes(self, card: Card) -> str:
        """For the README: how each file is loaded, and which queries are not in it."""
        return (
            "`index.json` is the body that creates an index with a completion field, `suggest` (PUT /NAME), and "
            "`bulk.ndjson` the body that fills it (POST /NAME/_bulk): a line with the action and a line with the "
            "document for each query, with the released number as its weight. The analyser keeps a query whole and "
            "makes it lower case. A query that is blank or holds U+0000, U+001E or U+001F is not there: a completion "
            "field refuses it.\n\n"
            "`trie.json` has four lists with an entry for each node: `labels` (what a node adds to the text of its "
            "parent), `weights` (of the query that ends there; 0: none), `best` (the highest weight at or below "
            "it) and `children` (numbers of nodes). Node 0 is the root. `search.html` is one file with the trie in "
            f"it, and asks the network for nothing.\n\n{SUPPORT}\n\n"
            "Rare queries are not there, so rare prefixes have no completions."
        )


def index(weights: Mapping[str, int]) -> dict[str, Any]:
    """Settings and mapping: whole queries in lower case, none of them cut."""
    longest = max([INDEXED, *(len(query.encode("utf-16-le")) // 2 for query in weights)])
    field = {"type": "completion", "analyzer": "whole_query", "max_input_length": longest}
    whole = {"type": "custom", "tokenizer": "keyword", "filter": ["lowercase"]}
    return {
        "settings": {"analysis": {"analyzer": {"whole_query": whole}}},
        "mappings": {"properties": {"suggest": field}},
    }


def bulk(weights: Mapping[str, int]) -> Iterator[bytes]:
    """Two lines for each query; ids are numbers in the order of the table."""
    for number, (query, weight) in enumerate(weights.items(), 1):
        yield _json({"index": {"_id": str(number)}}) + b"\n"
        yield _json({"suggest": {"input": [query], "weight": weight}}) + b"\n"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


register(Completion())
