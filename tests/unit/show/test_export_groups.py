"""Exports of a release by group: every format carries the column, or is made of one group alone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from hubbub.errors import InputError, ParameterError
from hubbub.log import read_log
from hubbub.mechanisms import Crowd
from hubbub.public.groups import group_by
from hubbub.release import release
from hubbub.show.export import export, formats
from hubbub.show.export.base import FORMATS
from hubbub.worth.simulate import simulate

COLUMNS = {"user": "who", "query": "asked", "url": "page"}
DIVIDED = ("queries", "clicks")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 users in two lands who ask and click; `de only` is asked in DE alone."""
    home = tmp_path_factory.mktemp("grouped")
    lines = ["who,asked,page,land"]
    for i in range(200):
        land = ("DE", "FR")[i % 2]
        asked = [f"query {(i * j) % 25}" for j in range(1, 6)] + (["de only"] if land == "DE" else [])
        lines += [f"u{i},{query},http://{query[-1]}.example/,{land}" for query in asked]
    (home / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = Crowd(
        epsilon=30, delta="1e-3", language="none", tables=list(DIVIDED), by=[group_by("country", "land", "DE,FR")]
    )
    with read_log(home / "log.csv", format="table", columns=COLUMNS, by={"country": "land"}) as log:
        release(log, made, home / "out", ledger=home / "ledger", seed=1, not_private=True)
    return home / "out"


def texts(folder: Path) -> str:
    return "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.suffix in {".tsv", ".txt", ".md"}
    )


def test_whole_tables_keep_their_column(grouped: Path, tmp_path: Path) -> None:
    export(grouped, "tsv", tmp_path / "tsv")
    export(grouped, "huggingface", tmp_path / "hub")
    export(grouped, "kit", tmp_path / "kit")
    for base in DIVIDED:
        name = f"{base}_by_country"
        published = pq.read_table(grouped / "public" / f"{name}.parquet")
        assert published.column_names[0] == "country" and published.num_rows > 20
        text = csv.read_csv(tmp_path / "tsv" / f"{name}.tsv", parse_options=csv.ParseOptions(delimiter="\t"))
        assert text.column("country").to_pylist() == published.column("country").to_pylist()
        assert pq.read_table(tmp_path / "hub" / "public" / f"{name}.parquet").equals(published)
        assert pq.read_table(tmp_path / "kit" / "data" / f"{name}.parquet").equals(published)
        assert f'"{name}"' in (tmp_path / "hub" / "README.md").read_text(encoding="utf-8")
    assert "asked them, by country" in (tmp_path / "tsv" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in formats() if not FORMATS.named(name).copies])
def test_every_format_can_be_of_one_group(name: str, grouped: Path, tmp_path: Path) -> None:
    made = export(grouped, name, tmp_path / "fr", group="country=fr")
    assert made.files and "country = FR" in (tmp_path / "fr" / "README.md").read_text(encoding="utf-8")
    if name in ("tsv", "load"):
        export(grouped, name, tmp_path / "all")
        assert "de only" in texts(tmp_path / "all") and "de only" not in texts(tmp_path / "fr")


def test_the_numbers_of_a_group_are_its_own(grouped: Path, tmp_path: Path) -> None:
    export(grouped, "tsv", tmp_path / "de", group="country=DE")
    text = csv.read_csv(tmp_path / "de" / "queries.tsv", parse_options=csv.ParseOptions(delimiter="\t"))
    cells = pq.read_table(grouped / "public" / "queries_by_country.parquet").to_pylist()
    right = {row["query"]: row["users"] for row in cells if row["country"] == "DE"}
    assert dict(zip(text.column("query").to_pylist(), text.column("users").to_pylist(), strict=True)) == right


@pytest.mark.parametrize("given", ["device=phone", "country=IT", "country", "="])
def test_a_group_that_is_none_is_refused(given: str, grouped: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no tables by|no such value"):
        export(grouped, "tsv", tmp_path / "x", group=given)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", [name for name in formats() if FORMATS.named(name).copies])
def test_a_copy_of_the_release_is_of_everybody(name: str, grouped: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="a copy of the release"):
        export(grouped, name, tmp_path / "x", group="country=DE")


def test_noise_of_cells_can_be_drawn_again(grouped: Path) -> None:
    table = pq.read_table(grouped / "public" / "queries_by_country.parquet")
    drawn = simulate(grouped, draws=200, seed=1)
    again = [one["queries_by_country"] for one in drawn]
    assert all(one.select(["country", "query"]).equals(table.select(["country", "query"])) for one in again[:3])
    spread = np.std([one.column("users").to_numpy() for one in again], axis=0)
    assert np.median(spread / table.column("noise_sd").to_numpy()) == pytest.approx(1, abs=0.1), "a fixed seed"
    in_land = {
        land: drawn.interval(lambda t, land=land: users_in(t["queries_by_country"], land))  # type: ignore[misc]
        for land in ("DE", "FR")
    }
    for land, interval in in_land.items():
        assert interval.low < users_in(table, land) < interval.high


def users_in(table: pa.Table, land: str) -> int:
    return sum(row["users"] for row in table.to_pylist() if row["country"] == land)
