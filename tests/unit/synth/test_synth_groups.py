"""Countries, devices and languages of a made-up log: the same rows besides, and a truth that can be counted again."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.made_up import synthesise

from hubbub.errors import ParameterError
from hubbub.ingest.schema import SCHEMA
from hubbub.synth.groups import COUNTRIES, DEVICES, LANGUAGES


def test_groups_are_three_columns_more_and_the_truth_counts_their_users(tmp_path: Path) -> None:
    plain, made = tmp_path / "plain.parquet", tmp_path / "log.parquet"
    synthesise(300, plain, seed=4)
    synthesise(300, made, seed=4, groups=True, truth=tmp_path / "truth", chunk_users=70)
    rows = pq.read_table(made)
    assert rows.select(SCHEMA.names) == pq.read_table(plain), "groups change no other column"
    for name, values in (("country", COUNTRIES), ("device", DEVICES), ("language", LANGUAGES)):
        assert set(rows.column(name).to_pylist()) <= set(values)
    assert len(set(rows.column("country").to_pylist())) > 10
    users: dict[tuple[str, str], set[str]] = {}
    for country, query, user in zip(*(rows.column(n).to_pylist() for n in ("country", "query", "user")), strict=True):
        users.setdefault((country, query), set()).add(user)
    truth = pq.read_table(tmp_path / "truth" / "groups.parquet").to_pylist()
    told = {(row["value"], row["query"]): row["users"] for row in truth if row["name"] == "country"}
    assert told and all(len(users[cell]) == n for cell, n in told.items())


def test_groups_need_columns(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no columns for groups"):
        synthesise(10, tmp_path / "log.tsv", groups=True)
