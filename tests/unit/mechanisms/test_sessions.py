"""sessions: parameters, the paper's numbers, and what it does to arrays and logs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.conftest import HEADER, Hubbub, document

from hubbub import Sessions
from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.checks.exact import threshold_law
from hubbub.audit.mutants.sessions import SESSIONS
from hubbub.audit.tiny import values_of
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.privacy.account import release_probability
from hubbub.steps.counts import LocalCounts
from hubbub.testing import check_mechanism

HEADLINE: dict[str, Any] = {"b": 1, "K": 20, "l_s": 1, "l_q": 3, "l": 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 4, "delta": "1e-2", "l_s": 2},
        {"epsilon": 4, "delta": "1e-2", "neighbours": "replace", "tables": ["sessions"]},
        {"b": "3/2", "K": "4.5", "l_q": 4, "l": 2, "variant": "published"},
        {"b": 1, "K": 3, "variant": "published", "tables": ["clicks"]},
    ],
)
def test_the_contract_holds(settings: dict[str, Any]) -> None:
    check_mechanism(Sessions(**settings))


# ------------------------------------------------------------------ the paper's numbers

TABLE_4 = [  # b, K, l_s, l_q, ε, δ as printed; the first δ is truncated, not rounded: 4.9575e-3
    (1, 10, 1, 3, "8.00", 4.95e-3),
    (1, 20, 1, 3, "8.00", 2.25e-7),
    (1, 30, 1, 3, "8.00", 1.02e-11),
    (3, 20, 1, 3, "2.67", 9.66e-3),
    (3, 30, 1, 3, "2.67", 3.44e-4),
    (1, 20, 1, 4, "22.00", 6.79e-4),
    (2, 30, 1, 4, "11.00", 4.12e-4),
    (1, 20, 2, 3, "16.00", 2.46e-5),
    (2, 30, 2, 3, "8.00", 6.68e-5),
]


@pytest.mark.parametrize(("b", "K", "l_s", "l_q", "epsilon", "delta"), TABLE_4)
def test_table_4_and_the_claim_of_a_session_alone_holds(
    b: int, K: int, l_s: int, l_q: int, epsilon: str, delta: float
) -> None:
    mechanism = Sessions(b=b, K=K, l_s=l_s, l_q=l_q, tables=["sessions"], variant="published")
    claim = mechanism.claimed()
    assert f"{claim.epsilon:.2f}" == epsilon
    digits = 10 ** (2 - math.floor(math.log10(delta)))
    assert claim.delta is not None and abs(claim.delta - delta) * digits < (0.76 if delta == 4.95e-3 else 0.5)
    assert claim.holds, "each part alone is what the paper says"
    assert mechanism.proven().epsilon == pytest.approx(claim.epsilon) and mechanism.loss().delta <= claim.delta


def test_the_headline_run_claims_8_and_proves_16() -> None:
    mechanism = Sessions(**HEADLINE, variant="published")
    claim, proven = mechanism.claimed(), mechanism.proven()
    assert claim.epsilon == pytest.approx(8) and f"{claim.delta:.2e}" == "2.25e-07"
    assert not claim.holds and "add up" in claim.why and "= 16, not 8" in claim.why
    assert proven.epsilon == 16 and f"{proven.delta:.2e}" == "4.29e-08" and (proven.delta or 1) <= 8.0e-8
    assert any("does not hold" in note for note in proven.caveats)
    assert mechanism.thresholds() == {"sessions": 21, "clicks": 21}, "the paper's > 20 on integers"


def test_the_headline_delta_by_hand() -> None:
    """Sessions: three equal queries put 3 on one new key and 1 on another. Clicks: 4 on one. All of it new."""
    a = math.exp(-1)
    r = {m: a ** (21 - m) / (1 + a) for m in (1, 3, 4)}
    by_hand = 1 - (1 - r[3]) * (1 - r[1]) + r[4]
    assert Sessions(**HEADLINE, variant="published").loss().delta == pytest.approx(by_hand, rel=1e-7)
    continuous = sum(0.5 * math.exp(m - 20) for m in (3, 1, 4))
    assert f"{continuous:.2e}" == "7.98e-08"
    at_least_20 = sum(a ** (20 - m) / (1 + a) for m in (3, 1, 4))
    assert f"{at_least_20:.2e}" == "1.17e-07", "so >= 20 would not be 8.0e-8"


@pytest.mark.parametrize("variant", ["strict", "published"])
def test_at_least_20_for_above_20_is_refuted(variant: str) -> None:
    mutant = next(m for m in SESSIONS if m.name == "threshold one lower")
    rows = list(threshold_law(mutant.make(Sessions(**HEADLINE, variant=variant))))
    assert len(rows) == 2 and all(row.refuted for row in rows)


def test_strict_with_the_same_settings_proves_8() -> None:
    proven = Sessions(**HEADLINE).proven()
    assert proven.epsilon == 8 and f"{proven.delta:.3g}" == "1.21e-08" and not proven.caveats
    assert Sessions(**HEADLINE).claimed().holds
    assert Sessions(b=1, K=20, tables=["sessions"]).proven().epsilon == 4


def test_replace_doubles_epsilon_and_not_delta() -> None:
    for variant in ("strict", "published"):
        one, two = (Sessions(**HEADLINE, variant=variant, neighbours=n) for n in ("add-remove", "replace"))
        assert two.proven().epsilon == 2 * (one.proven().epsilon or 0)
        assert two.proven().delta == one.proven().delta


@pytest.mark.parametrize(("l_q", "keys", "repeats"), [(2, 1, 1), (3, 4, 3), (4, 11, 6), (6, 57, 20), (12, 4083, 924)])
def test_sensitivity(l_q: int, keys: int, repeats: int) -> None:
    published = Sessions(b=1, K=5000, l_q=l_q, tables=["sessions"], variant="published").steps()
    assert {(s.l0, s.l1, s.linf) for s in published} == {(keys, keys, repeats)}
    [strict] = Sessions(b=1, K=20, l_q=l_q, tables=["sessions"]).steps()
    assert (strict.l0, strict.l1, strict.linf) == (keys, keys, 1)


@pytest.mark.parametrize("variant", ["strict", "published"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
@pytest.mark.parametrize("l_q", [2, 3, 6])
def test_calibration_meets_what_was_asked(variant: str, neighbours: str, epsilon: str, l_q: int) -> None:
    """Published, too, by what is proven and not by what the paper says."""
    mechanism = Sessions(epsilon=epsilon, delta="1e-6", l_q=l_q, variant=variant, neighbours=neighbours)
    proven = mechanism.proven()
    assert proven.epsilon == pytest.approx(float(epsilon), rel=1e-12) and (proven.epsilon or 0) <= float(epsilon) * (
        1 + 1e-15
    )
    assert 0 < (proven.delta or 0) <= 1e-6
    raw = dict(mechanism.settings) | {"K": int(mechanism.settings["K"]) - 1}
    lower = build("sessions", raw, variant=variant, neighbours=neighbours)
    assert lower.loss().delta > 1e-6, "K is the least whole number"


def test_where_equation_9_reaches_1_the_claim_is_empty() -> None:
    claim = Sessions(b=1, K=5, l_q=6, variant="published").claimed()
    assert (claim.epsilon, claim.delta) == (None, None) and "reaches 1" in claim.why


# ------------------------------------------------------------------ mistakes

BAD = [
    ({}, "budget"),
    ({"epsilon": 1}, "budget"),
    ({"b": 1}, "budget"),
    ({"epsilon": 1, "delta": "1e-6", "b": 2}, "either"),
    ({"b": 1, "K": "0.5"}, "range"),
    ({"b": 1, "K": -3}, "range"),
    ({"b": 0, "K": 3}, "range"),
    ({"b": 1, "K": 3, "l_q": 13}, "range"),
    ({"b": 1, "K": 3, "l_q": 1}, "range"),
    ({"b": 1, "K": 3, "l_s": 0}, "range"),
    ({"b": 1, "K": 3, "l": 0}, "range"),
    ({"b": 1, "K": 3, "l": "1.5"}, "range"),
    ({"b": 1, "K": 3, "T_gap": 0}, "range"),
    ({"b": 1, "K": 3, "l_q": 12, "l_s": 3}, "too many counts"),
    ({"b": 1, "K": 3, "l": 4, "tables": ["sessions"]}, "no clicks are released"),
    ({"b": 1, "K": 3, "l_q": 4, "tables": ["clicks"]}, "no sessions are released"),
    ({"b": 1, "K": 3, "d": 4}, "no such parameter"),
    ({"b": 1, "K": 3, "again": "never"}, "range"),
    ({"b": 1, "K": 3, "again": "once", "variant": "published"}, "every search"),
    ({"b": 1, "K": 3, "again": "once", "tables": ["clicks"]}, "no sessions are released"),
    ({"b": 1, "K": 3, "tables": ["queries"]}, "does not release"),
    ({"epsilon": "1e-5", "delta": "1e-6", "l_q": 12}, "cannot be drawn"),
]


@pytest.mark.parametrize(("settings", "word"), BAD)
def test_bad_parameters_are_named(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Sessions(**settings)


def test_a_log_without_times_is_said_plainly(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("u\tq\n1\ta\n1\tb\n", encoding="utf-8")
    said = hubbub(
        *("release", tmp_path / "log.tsv", "--format", "table", "--columns", "user=u,query=q"),
        *("--mechanism", "sessions", "--epsilon", 4, "--delta", "1e-3", "--out", tmp_path / "out"),
        code=2,
    )
    assert "no times" in said.output and not (tmp_path / "out").exists()


# ------------------------------------------------------------------ what runs


def test_the_mass_at_the_threshold_passes_and_strict_publishes_what_passed() -> None:
    counts = {table: LocalCounts(np.array([20, 21, 22])) for table in ("sessions", "clicks")}
    for variant in ("strict", "published"):
        for released in Sessions(**HEADLINE, variant=variant).perturb(counts, NoNoise()).values():
            assert (released.ids.tolist(), values_of(released)) == ([1, 2], [21, 22])

    class Steps(NoNoise):
        drawn: list[str]

        def laplace(self, step: str, scale: Any, size: int) -> Any:
            self.drawn.append(step)
            return np.full(size, len(self.drawn))

    for variant, steps in (
        ("strict", ["sessions", "clicks"]),
        ("published", ["sessions", "sessions: counts", "clicks", "clicks: counts"]),
    ):
        noise = Steps()
        noise.drawn = []
        released = Sessions(**HEADLINE, variant=variant).perturb(counts, noise)["sessions"]
        assert noise.drawn == steps
        assert values_of(released) == ([21, 22, 23] if variant == "strict" else [22, 23, 24])


def session_log(users: int) -> str:
    """Everybody asks three queries in a row, one of them later again; a few ask something else."""
    lines = [HEADER]
    for u in range(users):
        lines += [f"{u}\t{q}\t2006-03-01 08:0{i}:00\t1\thttp://{q}.example" for i, q in enumerate(("x", "y", "z"))]
        lines.append(f"{u}\ty\t2006-03-01 09:00:00\t\t")
        if u < 5:
            lines.append(f"{u}\trare{u}\t2006-03-01 09:01:00\t\t")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("variant", ["strict", "published"])
def test_a_release_its_card_and_its_page(hubbub: Hubbub, tmp_path: Path, variant: str) -> None:
    (tmp_path / "log.tsv").write_text(session_log(200), encoding="utf-8")
    given = [part for name, value in HEADLINE.items() for part in ("--set", f"{name}={value}")]
    out = tmp_path / "out"
    done = hubbub(
        *("release", tmp_path / "log.tsv", "--format", "aol", "--mechanism", "sessions", "--variant", variant),
        *(*given, "--out", out, "--json"),
    )
    assert document(done)["tables"] == {"sessions": 4, "clicks": 3}
    hubbub("card", out, "--check")
    rows = pq.read_table(out / "public" / "sessions.parquet")
    value = "users" if variant == "strict" else "count"
    assert rows.column_names == ["queries", value, "noise_sd"]
    found = {tuple(row["queries"]): row[value] for row in rows.to_pylist()}
    assert set(found) == {("x", "y"), ("x", "z"), ("y", "z"), ("x", "y", "z")}
    assert all(abs(n - 200) < 60 for n in found.values())
    card = json.loads((out / "public" / "card.json").read_text(encoding="utf-8"))
    claimed = card["mechanism"]["claimed"]
    if variant == "published":
        assert (round(claimed["epsilon"], 9), claimed["holds"]) == (8, False) and "add up" in claimed["why"]
        assert card["claim"]["epsilon"] == 16 and card["claim"]["delta"] <= 8.0e-8
    else:
        assert card["claim"]["epsilon"] == 8 and claimed["holds"]
    assert "stands for nobody" not in card["accuracy"]["spurious_rows"]


def test_estimate_knows_the_table(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(session_log(100), encoding="utf-8")
    asked = ("estimate", tmp_path / "log.tsv", "--format", "aol", "--mechanism", "sessions", "--json")
    found = document(hubbub(*asked, "--epsilon", 8, "--delta", "1e-4", "--set", "l_s=2"))
    owner_only: Any = found["owner_only"]
    tables = owner_only["estimate"]
    assert 3.5 < tables["sessions"]["rows"] < 4.5 and 2.5 < tables["clicks"]["rows"] < 3.5


def test_the_law_of_the_card_is_the_law_of_the_noise() -> None:
    [step, _] = Sessions(**HEADLINE).steps()
    assert step.chance(20) == float(release_probability(step.scale, 21, 20))
