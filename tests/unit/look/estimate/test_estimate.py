"""`hubbub estimate`: nothing is spent, looks are recorded, thresholds are explained, mistakes are told."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub, document

from hubbub.look.estimate import estimate_users
from hubbub.look.estimate.curve import Curve, by_keys, by_law, points
from hubbub.look.estimate.scale import factors
from hubbub.look.estimate.why import explain
from hubbub.look.estimate.words import lines
from hubbub.mechanisms import Korolova, Mechanism, build, mechanisms
from hubbub.mechanisms.base import DELTA
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.privacy.account import release_probability
from hubbub.privacy.ledger import Ledger
from hubbub.steps.counts import LocalCounts
from hubbub.steps.mode import RunMode

LOG = ("--format", "aol")
WITH_QUERIES = sorted(
    name
    for name, kind in mechanisms().items()
    if "queries" in kind.offers and DELTA in kind.parameters and not kind.takes_pool
)
"""Mechanisms that release queries and calibrate to (ε, δ); the others have tests of their own."""
KOROLOVA = ("--mechanism", "korolova", "--epsilon", "2", "--delta", "1e-5", "--set", "d=3")
USERS = ("--users", "2000", *KOROLOVA)


# ------------------------------------------------------------------ the command


def test_help_has_an_example(hubbub: Hubbub) -> None:
    text = hubbub("estimate", "--help").stdout
    assert "Example: hubbub estimate --users" in " ".join(text.split())
    for option in ("--json", "--quiet", "--verbose", "--users", "--preset"):
        assert option in text


def test_a_log_is_a_look_and_spends_nothing(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    text = hubbub("estimate", log_file, *LOG, *KOROLOVA).stdout
    assert text.startswith("OWNER ONLY") and "records this look at default/default" in text
    assert "weather" not in text
    with Ledger() as book:
        assert not book.entries()
        assert [look.command for look in book.looks("default", "default")] == ["estimate"]
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    choice = json.loads((tmp_path / "out/public/card.json").read_text())["data_dependent_choices"][0]
    assert choice["informed_by"] == "raw" and "estimate" in choice["note"]


def test_a_number_of_users_is_no_look(hubbub: Hubbub, log_file: Path, own_ledger: Path, tmp_path: Path) -> None:
    text = hubbub("estimate", *USERS).stdout
    assert "public" in text and "OWNER ONLY" not in text and "records this look" not in text
    assert not own_ledger.exists()
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    card = json.loads((tmp_path / "out/public/card.json").read_text())
    assert card["data_dependent_choices"][0]["informed_by"] == "public"


def test_looks_belong_to_their_population(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    who = ("--population", "people", "--dataset", "may", "--ledger", other)
    hubbub("estimate", log_file, *LOG, *KOROLOVA, *who)
    hubbub("inspect", log_file, *LOG, *who)
    with Ledger(other) as book:
        assert [look.command for look in book.looks("people", "may")] == ["estimate", "inspect"]
        assert not book.looks("default", "default")


TABLE = {
    "method", "runs", "value", "distinct_keys", "rows", "rows_sd", "volume", "error", "half_width_95",
    "users_for_chance", "survival", "utility",
}  # fmt: skip
STATED = {"mechanism", "variant", "tables", "settings", "guarantee", "thresholds", "spent"}
FOUND = {"source", "estimate", "warnings"}


def test_what_comes_from_a_log_is_marked_in_json(hubbub: Hubbub, log_file: Path) -> None:
    data: Any = document(hubbub("estimate", log_file, *LOG, *KOROLOVA, "--tables", "queries,clicks", "--json"))
    assert set(data) == STATED | {"owner_only"}
    assert set(data["owner_only"]) == FOUND
    assert set(data["owner_only"]["estimate"]) == {"queries", "clicks"}
    assert data["owner_only"]["source"] == {"kind": "log", "users": 300, "preset": None, "sample": None}


@pytest.mark.parametrize("mechanism", WITH_QUERIES)
def test_json_of_every_mechanism(hubbub: Hubbub, mechanism: str) -> None:
    budget = ("--epsilon", "2", "--delta", "1e-4")
    data: Any = document(
        hubbub("estimate", "--users", "1000", "--mechanism", mechanism, *budget, "--json", "--runs", 2)
    )
    assert set(data) == STATED | FOUND
    table = data["estimate"]["queries"]
    assert set(table) == TABLE
    assert set(table["volume"]) == {"bounding", "threshold", "published", "searches"}
    assert set(table["survival"]) == {"users", "chance", "counted_after_bounding"}
    assert len(table["survival"]["users"]) == len(table["survival"]["chance"])
    assert sum(table["volume"][part] for part in ("bounding", "threshold", "published")) == pytest.approx(1)
    assert data["thresholds"][0]["step"] == "queries" and data["thresholds"][0]["why"]
    assert data["source"] == {"kind": "public shape", "users": 1000, "preset": "aol", "sample": 1000}


def test_quiet_says_nothing(hubbub: Hubbub, log_file: Path) -> None:
    assert hubbub("estimate", log_file, *LOG, *KOROLOVA, "--quiet").output == ""


def test_a_configuration_serves_estimates_and_releases(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """What made a release can be estimated again; its log gives way to --users."""
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    again = tmp_path / "out" / "owner-only" / "run.toml"
    raw: Any = document(hubbub("estimate", "--config", again, "--json"))
    assert raw["owner_only"]["source"]["users"] == 300
    assert raw["settings"]["d"] == 3
    public: Any = document(hubbub("estimate", "--users", "500", "--config", again, "--json"))
    assert public["source"]["users"] == 500


def test_a_stated_period_drops_rows(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "card.toml"
    config.write_text('[card]\nperiod = { from = "2006-03-01", to = "2006-03-07" }\n')
    data: Any = document(hubbub("estimate", log_file, *LOG, *KOROLOVA, "--config", config, "--json"))
    assert 60 < data["owner_only"]["source"]["users"] < 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (KOROLOVA, "Nothing to estimate from"),
        (("@log", *USERS), "--users reads no log"),
        (("--users", "0", *KOROLOVA), "--users must be a whole number"),
        (("--users", "99999999999999", *KOROLOVA), "--users must be a whole number"),
        ((*USERS, "--sample", "5"), "--sample must be a whole number"),
        ((*USERS, "--runs", "0"), "--runs must be a whole number"),
        ((*USERS, "--preset", "bing"), "There is no such preset"),
        ((*USERS, "--format", "aol"), "--format does not go with the rest"),
        ((*USERS, "--population", "us"), "--population does not go with the rest"),
        (("@log", *LOG, *KOROLOVA, "--preset", "aol"), "--preset does not go with the rest"),
        (("--users", "9", "--mechanism", "no"), "There is no such mechanism"),
        (("--users", "9", "--mechanism", "korolova"), "needs a privacy budget"),
        (("--users", "9", "--mechanism", "korolova", "--epsilon", "-1", "--delta", "1e-6"), "epsilon"),
        ((*USERS, "--tables", "words"), "does not release this table"),
        ((*USERS, "--variant", "loose"), "has no such variant"),
        (("@missing", *LOG, *KOROLOVA), "does not exist"),
        (("@log", *LOG, *KOROLOVA, "--population", " "), "--population is empty"),
        (("@log", *LOG, *KOROLOVA, "--max-rejects", "all"), "--max-rejects is not a share"),
    ],
)
def test_mistakes_are_told_and_leave_no_look(
    hubbub: Hubbub, log_file: Path, arguments: tuple[str, ...], message: str
) -> None:
    places = {"@log": str(log_file), "@missing": str(log_file) + ".no"}
    result = hubbub("estimate", *(places.get(a, a) for a in arguments), code=2)
    assert message in result.stderr and "Traceback" not in result.stderr and result.stdout == ""
    with Ledger() as book:
        assert not book.looks("default", "default") and not book.entries()


def test_a_list_does_not_go_with_made_up_queries(hubbub: Hubbub, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    (tmp_path / "serp.tsv").write_text("query\turl\nnews\thttp://n.example\n")
    config.write_text(f'serp = "{tmp_path / "serp.tsv"}"\n')
    assert "no result list" in hubbub("estimate", *USERS, "--config", config, code=2).stderr


def test_clicks_on_a_list_are_estimated_for_zealous(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    (tmp_path / "serp.tsv").write_text("query\turl\nnews\thttp://n.example\nnews\thttp://m.example\n")
    options = (
        "--mechanism",
        "zealous",
        "--epsilon",
        "40",
        "--delta",
        "1e-3",
        "--serp",
        tmp_path / "serp.tsv",
        "--json",
    )
    found: Any = document(hubbub("estimate", log_file, *LOG, *options))["owner_only"]
    assert set(found["estimate"]) == {"queries", "clicks"}
    assert found["estimate"]["clicks"]["rows"] <= 2 and "utility" not in str(found["estimate"]["clicks"].get("notes"))


def test_listed_queries_of_nobody_are_among_what_is_released(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"query": [f"nobody {i}" for i in range(500)]}), tmp_path / "list.parquet")
    options = ("--mechanism", "crowd", "--epsilon", "4", "--delta", "1e-4", "--tables", "queries", "--json")
    found: list[Any] = [
        document(hubbub("estimate", log_file, *LOG, *options, "--language", "none", *known))["owner_only"]
        for known in ((), ("--public-list", tmp_path / "list.parquet", "--set", "F_known=20"))
    ]
    plain, known = (one["estimate"]["queries"] for one in found)
    assert plain["rows"] < known["rows"] < plain["rows"] + 50, "twenty of nobody are expected, and some are there"
    assert plain["distinct_keys"] == known["distinct_keys"], "those of the log"


def test_rejected_lines_warn(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.tsv"
    damaged.write_text(log_file.read_text() + "not a line\n" * 300)
    assert "a release of this log would stop" in hubbub("estimate", damaged, *LOG, *KOROLOVA).stderr


# ------------------------------------------------------------------ what it warns of


def test_nothing_survives_and_it_says_so(hubbub: Hubbub) -> None:
    result = hubbub("estimate", "--users", "300", "--mechanism", "korolova", "--epsilon", ".1", "--delta", "1e-9")
    assert "less than one row is expected" in result.stderr
    assert "no key has an even chance" in result.stdout
    assert "lower" in result.stdout


def test_a_large_delta_is_warned_of(hubbub: Hubbub) -> None:
    budget = ("--mechanism", "korolova", "--epsilon", "1", "--delta", ".01")
    assert "not below 1/2000" in hubbub("estimate", "--users", "2000", *budget).stderr


def test_a_sample_that_sees_too_little_says_so(hubbub: Hubbub) -> None:
    assert "larger --sample" in hubbub("estimate", "--users", "100000", "--sample", "500", *KOROLOVA).stderr
    assert "larger --sample" not in hubbub("estimate", "--users", "600", "--sample", "500", *KOROLOVA).stderr


# ------------------------------------------------------------------ why


@pytest.mark.parametrize("name", WITH_QUERIES)
def test_thresholds_are_explained_and_can_be_lowered(name: str) -> None:
    tables = ["queries"]
    mechanism = build(name, {"epsilon": "1", "delta": "1e-6"}, tables=tables)
    for why in explain(mechanism):
        assert why.step == "queries" and str(int(why.threshold)) in why.sentence
        changes = dict(why.lower)
        assert changes["ε = 2"] < why.threshold and changes["δ = 1e-05"] < why.threshold
        doubled = explain(build(name, {"epsilon": "2", "delta": "1e-6"}, tables=tables))[0]
        assert changes["ε = 2"] == doubled.threshold


def test_a_threshold_is_taken_apart() -> None:
    (why,) = explain(build("korolova", {"epsilon": "1", "delta": "1e-6", "d": 20}))
    assert f"{why.threshold:.0f} = 1 (a user herself) + {why.threshold - 1:.0f}" in why.sentence
    assert "b = 20/ε = 20" in why.sentence and "a user may have 20 of them" in why.sentence
    assert dict(why.lower)["d = 10"] < why.threshold / 2 + 1
    (raw,) = explain(build("korolova", {"b": 1, "K": 3}))
    assert not raw.lower
    (open_to_all,) = explain(build("korolova", {"d": 5, "b": 1, "K": 3, "b_q": 1}, variant="published"))
    assert "every key shows" in open_to_all.sentence


# ------------------------------------------------------------------ the parts


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(33, 2)])
def test_the_moments_of_passing_noise(scale: Fraction) -> None:
    """Closed forms against sums over the law itself, and against the accountant."""
    a = float(np.exp(-1 / float(scale)))
    z = np.arange(-2000, 2001)
    law = (1 - a) / (1 + a) * a ** np.abs(z)
    gaps = np.arange(-60, 61, 5)
    chance, first, second = LaplaceTest(scale, 0, -(10**9)).moments(-gaps.astype(float))
    for i, gap in enumerate(gaps.tolist()):
        passes = z >= gap
        assert chance[i] == pytest.approx(law[passes].sum())
        assert first[i] == pytest.approx((law * z)[passes].sum(), abs=1e-9)
        assert second[i] == pytest.approx((law * z * z)[passes].sum())
        assert chance[i] == pytest.approx(float(release_probability(scale, gap, 0)))
    assert LaplaceTest(scale, 0).variance == pytest.approx((law * z * z).sum())


def test_growing_keys() -> None:
    users = np.array([0, 1, 2, 11])
    assert (users * factors(users, 1.0) == users).all()
    assert (users * factors(users, 10.0) == [0, 1, 11, 101]).all()


def test_points_of_a_curve() -> None:
    at = points(1234)
    assert at[0] == 1 and at[-1] == 1234 and {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} <= set(at.tolist())
    assert points(1).tolist() == [1]


def test_a_curve_by_law_uses_the_share_that_bounding_leaves() -> None:
    users = np.repeat(np.array([10, 100]), 200)
    counted = users // 2
    curve = by_law(points(100), users, counted, lambda c: np.where(c >= 20, 1.0, 0.0))
    assert curve.at(30) == 0 and curve.at(50) == 1 and curve.reaches(0.5) in range(38, 41)
    assert curve.counted is not None and curve.counted[-1] == pytest.approx(50)
    lucky = by_law(points(1000), users, counted, lambda c: np.where(c >= 20, 1.0, 0.0), scale=10.0)
    assert lucky.reaches(0.5) in range(36, 43)


def test_a_curve_by_keys_rises() -> None:
    users = np.array([0, 1, 1, 2, 4, 4, 8, 8])
    chance = np.array([1.0, 0.0, 0.0, 0.5, 0.25, 0.25, 1.0, 1.0])
    curve = by_keys(points(8), users, chance)
    assert (np.diff(curve.chance) >= 0).all() and curve.chance[0] == 0 and curve.chance[-1] == 1
    assert curve.reaches(0.9) is not None
    assert Curve(np.array([1, 2]), np.array([0.1, 0.2]), None).reaches(0.5) is None


class Odd(Korolova):
    """A mechanism that nobody knows, and that measures what nobody can scale."""

    name = "odd"
    estimator = Mechanism.estimator  # what korolova knows of its probabilities is not known of this one

    def measure(self, log: Any, mode: RunMode) -> Any:
        """Not `LocalCounts`."""

        class Own:
            def __init__(self, counts: LocalCounts) -> None:
                self.n, self.keys, self.test = counts.n, counts.keys, counts.test

        return {table: Own(counts.local()) for table, counts in super().measure(log, mode).items()}


@pytest.mark.slow
def test_an_unknown_mechanism_is_simulated() -> None:
    budget: dict[str, Any] = {"epsilon": "2", "delta": "1e-3"}
    odd: Mechanism = Odd(**budget)
    found = estimate_users(odd, 2000, runs=10).tables["queries"]
    exact = estimate_users(Korolova(**budget), 2000).tables["queries"]
    assert found.method == "simulated" and found.runs == 10 and exact.method == "exact"
    assert found.rows == pytest.approx(exact.rows, rel=0.15)
    assert any("of 2," in line or "rows" in line for line in lines(estimate_users(odd, 3000, sample=2000, runs=1)))


def test_few_keys_are_not_drowned_by_many_small_ones() -> None:
    users = np.concatenate([np.ones(5000, np.int64), np.array([40, 50, 60])])
    curve = by_law(points(60), users, users, lambda c: np.where(c >= 20, 1.0, 0.0))
    assert curve.at(50) == 1 and curve.at(1) == 0
