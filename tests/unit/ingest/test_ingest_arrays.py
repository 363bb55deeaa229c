"""Arrays of JSON: every object becomes one line, wherever the file is cut into pieces and whatever strings hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import InputError
from hubbub.ingest import arrays
from hubbub.ingest.arrays import elements

OBJECTS = st.lists(
    st.dictionaries(st.text(max_size=4), st.recursive(st.text() | st.integers(), st.lists, max_leaves=4))
)


def lines(path: Path, piece: int = 1 << 20) -> list[bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "PIECE", piece)
        patch.setattr(arrays, "HEAD", max(piece, 1 << 10))
        with elements(path) as stream:
            return b"".join(iter(lambda: stream.read(1 << 16), b"")).splitlines()


@settings(max_examples=60, deadline=None)
@given(objects=OBJECTS, indent=st.sampled_from([None, 1]), plain=st.booleans(), piece=st.sampled_from([1, 3, 1 << 20]))
def test_an_array_is_its_objects(
    tmp_path_factory: pytest.TempPathFactory, objects: list[Any], indent: int | None, plain: bool, piece: int
) -> None:
    path = tmp_path_factory.mktemp("array") / "log.json"
    path.write_text(json.dumps(objects, indent=indent, ensure_ascii=plain), encoding="utf-8", errors="replace")
    read = json.loads(path.read_text(encoding="utf-8"))
    assert [json.loads(line) for line in lines(path, piece)] == read
    path.write_text(json.dumps({"took": 1, "hits": {"hits": read}}), encoding="utf-8")
    assert [json.loads(line) for line in lines(path, piece)] == read


def test_other_files_are_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_bytes(b'{"a": 1}\n[2]\n')
    (tmp_path / "log.jsonl").write_bytes(b'[{"a": 1}]\n')
    assert lines(tmp_path / "log.json") == [b'{"a": 1}', b"[2]"]
    assert lines(tmp_path / "log.jsonl") == [b'[{"a": 1}]']


@pytest.mark.parametrize(
    "data", [b'[{"a": 1}', b'[{"a": "]', b'[{"a": 1}, {', b"[", b'{"took": 1, "hits": {"total": 0}}']
)
def test_a_file_that_ends_in_the_middle_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "log.json").write_bytes(data)
    with pytest.raises(InputError, match=r"ends in the middle|has no hits"):
        lines(tmp_path / "log.json")


def test_an_object_longer_than_a_line_is_cut_where_it_is_known_to_be_too_long(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_bytes(json.dumps([{"a": "x" * (3 << 20)}, {"b": 1}]).encode())
    first, second = lines(tmp_path / "log.json")
    assert len(first) == (1 << 20) + 2 and second == b'{"b": 1}'
