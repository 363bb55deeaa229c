"""Readable logs in other languages: the same log in words of a public package."""

from __future__ import annotations

import sys

import pyarrow as pa
import pytest

from hubbub.errors import InputError
from hubbub.synth import SYLLABIC, generate
from hubbub.synth.readable.languages import other_language

LANGUAGE = "es"


def test_the_same_log_in_spanish() -> None:
    ours, theirs = (pa.Table.from_batches(list(generate(400, 3, vocabulary=words))) for words in (LANGUAGE, SYLLABIC))
    assert ours.drop_columns(["query", "url"]).equals(theirs.drop_columns(["query", "url"]))
    pairs = set(zip(ours["query"].to_pylist(), theirs["query"].to_pylist(), strict=True))
    assert len(pairs) == len(set(ours["query"].to_pylist())), "two texts became one"
    assert all(url is None or url.endswith(".example") for url in ours["url"].to_pylist())


def test_words_are_of_the_language_and_decent() -> None:
    own, public = other_language(LANGUAGE)
    assert {"google", "whatsapp", "puta", "london"}.isdisjoint(public.words)
    assert set(own.loose) <= set(public.words) and not public.follow
    assert len(own.places) * len(own.landmarks) * len(own.houses) > 4_000_064


def test_without_the_package_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(InputError, match=r"hubbub\[languages\]"):
        other_language(LANGUAGE)
