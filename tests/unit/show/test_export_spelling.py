"""`hubbub export --to spelling`: symspellpy loads it and corrects with it."""

from __future__ import annotations

from pathlib import Path

from symspellpy import SymSpell, Verbosity
from tests.browser.made_up import publish

from hubbub.show.export import export

QUERIES = [
    ("weather berlin", 700, 3.0),
    ("weather köln 2024", 300, 3.0),
    ("weather", 100, 3.0),
    ("whether", 20, 3.0),
    ("faint word", 5, 3.0),
    ("bell\x07 2024", 90, 3.0),
    ("unnumbered", None, None),
]


def test_symspell_loads_and_corrects(tmp_path: Path) -> None:
    made = export(publish(tmp_path / "r" / "public", {"queries": QUERIES}).parent, "spelling", tmp_path / "out")
    speller = SymSpell(max_dictionary_edit_distance=2)
    assert speller.load_dictionary(tmp_path / "out" / "words.txt", 0, 1, encoding="utf-8")
    assert speller.load_bigram_dictionary(tmp_path / "out" / "pairs.txt", 0, 2, encoding="utf-8")
    words = {"weather": 1100, "berlin": 700, "köln": 300, "whether": 20, "unnumbered": 1}
    assert speller.words == words and speller.bigrams == {"weather berlin": 700, "weather köln": 300}
    assert [found.term for found in speller.lookup("wether", Verbosity.CLOSEST)] == ["weather", "whether"]
    assert speller.lookup_compound("weathr kölm", 2)[0].term == "weather köln"
    assert [(file.name, file.rows) for file in made.files] == [("words.txt", 5), ("pairs.txt", 2)]
    assert all(file.about.endswith("1 row left out") for file in made.files)
