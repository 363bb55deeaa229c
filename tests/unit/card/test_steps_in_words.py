"""Steps of a card in plain words, on every page that shows them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from tests.conftest import Hubbub
from tests.unit.card.forging import broken, read

from hubbub.card.schema import Card
from hubbub.card.words import noise_of, rule_of

pytestmark = pytest.mark.usefixtures("no_report")

EACH = {
    "korolova": ["discrete-laplace, scale 1.5, sd 2.", "its noisy count is at least 20"],
    "crowd": [
        "discrete-gaussian, μ² = ",
        " users at the last test",
        "at least that of 1",
        "no threshold: every",
    ],
    "geometric": ["coins, ε = ", "from 7 users on more likely than not"],
    "sips": ["discrete-gaussian, μ² = ", "its noisy weight is at least that of "],
}


@pytest.mark.parametrize("mechanism", EACH)
def test_every_kind_of_step_is_told_in_words(hubbub: Hubbub, log_file: Path, tmp_path: Path, mechanism: str) -> None:
    """Nobody should read "scale None", or a threshold in units of a grid."""
    out, entry = tmp_path / "out", tmp_path / "entry.yaml"
    more = ["--set", "d=3"] if mechanism == "korolova" else []
    budget = ["--epsilon", "2", "--delta", "1e-5"]
    hubbub("release", log_file, "--format", "aol", "--mechanism", mechanism, *budget, *more, "--out", out)
    hubbub("card", out, "--registry", entry)
    page = (out / "public" / "index.html").read_text(encoding="utf-8")
    for text in (hubbub("card", out).stdout, page, yaml.safe_load(entry.read_text())["deployment"]["implementation"]):
        for words in EACH[mechanism]:
            assert words in str(text)
        assert "scale None" not in str(text) and "threshold None" not in str(text)
    assert broken(out) == []


def test_keys_without_numbers_have_a_page(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--format", "aol", "--mechanism", "sips", "--epsilon", "2", "--delta", "1e-5")
    hubbub("release", log_file, *options, "--out", out)
    assert pq.read_table(out / "public" / "queries.parquet").column("users").null_count == 3
    assert "Keys only" in (out / "public" / "index.html").read_text(encoding="utf-8")
    assert "Keys only" in (out / "public" / "README.md").read_text(encoding="utf-8")


def test_a_step_that_cannot_be_read_is_still_shown(released: Path) -> None:
    part = Card.model_validate(read(released)).steps[0].model_copy(update={"noise": "of another time"})
    assert noise_of(part) == "of another time, which this version cannot read"
    assert rule_of(part) == "noisy count >= threshold"
