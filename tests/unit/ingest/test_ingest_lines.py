"""The line rule at its edges: where a line is too long, and that a line without end is never held."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from hubbub.ingest import lines
from hubbub.ingest.lines import MAX_LINE, Block, Overlong, blocks
from hubbub.ingest.readers import aol
from hubbub.ingest.records import from_lines
from hubbub.ingest.schema import TEXT_KEPT

TAIL = b"7\tlilac\t2006-03-01 07:17:12\n"


class Endless:
    """A line of `length` bytes and then another one, made as it is read."""

    def __init__(self, length: int, end: bytes = b"\n") -> None:
        self.left, self.rest = length, end + TAIL

    def read(self, size: int, /) -> bytes:
        some = min(size, self.left)
        self.left -= some
        rest, self.rest = (self.rest[: size - some], self.rest[size - some :]) if some < size else (b"", self.rest)
        return b"x" * some + rest


def results(stream: Endless, size: int | None = None) -> list[tuple[list[str], list[tuple[str, int, int]]]]:
    """Queries kept and (reason, length, bytes kept) rejected, block by block."""
    parts = (from_lines(piece, aol.LAYOUT, canonical_urls=False) for piece in blocks(stream, size))
    return [
        (
            part.records["query"].to_pylist(),
            [(row["reason"], row["length"], len(row["text"])) for row in part.rejects.to_pylist()],
        )
        for part in parts
    ]


def flat(stream: Endless, size: int | None = None) -> tuple[list[str], list[tuple[str, int, int]]]:
    found = results(stream, size)
    return [query for kept, _ in found for query in kept], [row for _, rejected in found for row in rejected]


def test_a_line_of_100_MB_is_never_held() -> None:
    tracemalloc.start()
    try:
        found = flat(Endless(100_000_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == (["lilac"], [("too-long", 100_000_000, TEXT_KEPT)])
    assert peak < 64 << 20


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CR LF"])
@pytest.mark.parametrize("size", [MAX_LINE // 4, MAX_LINE, MAX_LINE + 1, MAX_LINE + 2, 3 * MAX_LINE])
@pytest.mark.parametrize(
    ("length", "reason"), [(MAX_LINE, "bad-fields"), (MAX_LINE + 1, "too-long"), (MAX_LINE + 2, "too-long")]
)
def test_the_limit_is_the_same_wherever_blocks_are_cut(end: bytes, size: int, length: int, reason: str) -> None:
    assert flat(Endless(length, end), size) == (["lilac"], [(reason, length, TEXT_KEPT)])


def test_a_long_line_at_the_end_of_the_file() -> None:
    stream = Endless(3 * MAX_LINE, b"\r")
    stream.rest = b"\r"
    assert flat(stream) == ([], [("too-long", 3 * MAX_LINE, TEXT_KEPT)])


def test_blocks_end_with_a_newline_and_lose_nothing() -> None:
    stream = Endless(10)
    stream.rest = b"\n\nab\ncd"
    pieces = list(blocks(stream, 4))
    assert all(isinstance(piece, Block) and piece.data.endswith(b"\n") for piece in pieces)
    assert b"".join(piece.data for piece in pieces if isinstance(piece, Block)) == b"x" * 10 + b"\n\nab\ncd\n"


def test_two_long_lines_in_a_row() -> None:
    stream = Endless(2 * MAX_LINE)
    stream.rest = b"\n" + b"y" * (2 * MAX_LINE) + b"\n" + TAIL
    pieces = list(blocks(stream, MAX_LINE))
    assert [piece.length for piece in pieces if isinstance(piece, Overlong)] == [2 * MAX_LINE, 2 * MAX_LINE]
    assert isinstance(pieces[-1], Block) and pieces[-1].data == TAIL


@pytest.mark.parametrize("most", [1, 2, 3, 7, 8])
def test_blocks_of_a_limited_number_of_lines(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(lines, "BLOCK_LINES", most)
    data = b"a\n\n\nb\nc\n\nd\n"
    pieces = [piece.data for piece in blocks(io.BytesIO(data)) if isinstance(piece, Block)]
    assert b"".join(pieces) == data
    assert [piece.count(b"\n") for piece in pieces[:-1]] == [most] * (len(pieces) - 1)
    assert 0 < pieces[-1].count(b"\n") <= most
