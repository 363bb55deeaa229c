"""`hubbub synth`: its document, its words, and its refusals."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document


def test_help_has_an_example(hubbub: Hubbub) -> None:
    said = " ".join(hubbub("synth", "--help").stdout.split())
    assert "Example: hubbub synth --users" in said
    for option in ("--users", "--out", "--preset", "--seed", "--truth", "--canaries", "--json", "--quiet", "--verbose"):
        assert option in said


def test_one_json_document(hubbub: Hubbub, tmp_path: Path) -> None:
    out, truth = tmp_path / "log.parquet", tmp_path / "truth"
    options = ("--preset", "gotz", "--seed", 3, "--canaries", "default", "--truth", truth)
    data = document(hubbub("synth", "--users", 200, "--out", out, *options, "--json"))
    paths = data.pop("truth")
    assert isinstance(paths, dict) and all(Path(path).is_file() for path in paths.values())
    assert set(paths) == {"serp", "topics", "document_frequency", "canaries", "intents", "completions", "relevance"}
    assert data.pop("seconds") > 0  # type: ignore[operator]
    assert data.pop("rows") == pq.read_metadata(out).num_rows
    assert data == {"out": str(out), "users": 200, "preset": "gotz", "vocabulary": "en", "seed": 3, "canaries": 9}
    assert pq.read_table(paths["canaries"]).num_rows == 2 * 20 + 2 * 5 + 2 * 2 + 3


def test_the_log_can_be_released(hubbub: Hubbub, tmp_path: Path) -> None:
    out = tmp_path / "log.tsv.gz"
    said = hubbub("synth", "--users", 2000, "--out", out).stdout
    assert "2,000 users" in said and str(out) in said
    release = ("--format", "aol", "--mechanism", "korolova", "--epsilon", "2", "--delta", "1e-5")
    data = document(hubbub("release", out, *release, "--out", tmp_path / "released", "--json"))
    assert data["owner_only"]["users"] == 2000 and data["owner_only"]["rejects"] == 0  # type: ignore[index]
    assert data["tables"]["queries"] > 5  # type: ignore[index]


def test_quiet_says_nothing(hubbub: Hubbub, tmp_path: Path) -> None:
    assert hubbub("synth", "--users", 5, "--out", tmp_path / "log.tsv", "--quiet").output == ""


def test_canaries_of_a_file(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text("a planted query\t3\t2\n")
    out = tmp_path / "log.tsv"
    hubbub("synth", "--users", 5, "--out", out, "--canaries", tmp_path / "mine.tsv")
    assert out.read_text().count("\ta planted query\t") == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--users", 0), "needs users"),
        (("--users", -5), "needs users"),
        (("--users", "many"), "--users"),
        (("--preset", "bing"), "no such preset"),
        (("--seed", -1), "seed"),
        (("--out", "log.csv"), "how to write"),
        (("--out", "taken.tsv"), "exists already"),
        (("--truth", "taken"), "exists already"),
        (("--canaries", "missing.tsv"), "cannot be read"),
        (("--canaries", "default"), "fewer users"),
    ],
)
def test_mistakes_end_with_2_and_write_nothing(
    hubbub: Hubbub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken.tsv").write_text("mine")
    Path("taken").mkdir()
    before = sorted(tmp_path.iterdir())
    result = hubbub("synth", "--users", 10, "--out", "log.tsv", *arguments, code=2)
    assert message in " ".join(result.output.split())
    assert sorted(tmp_path.iterdir()) == before and Path("taken.tsv").read_text() == "mine"


def test_users_and_out_are_needed(hubbub: Hubbub, tmp_path: Path) -> None:
    hubbub("synth", "--out", tmp_path / "log.tsv", code=2)
    hubbub("synth", "--users", 5, code=2)
