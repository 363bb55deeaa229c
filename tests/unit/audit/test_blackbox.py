"""The black box: what is broken is refuted and shown again, what is sound is not, what cannot be audited is told."""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub

from hubbub.audit import black_box
from hubbub.audit.blackbox.evidence import Bet, smallest_seen
from hubbub.audit.blackbox.logs import by_hand, changed, smaller
from hubbub.audit.blackbox.look import BlackBoxVerdict
from hubbub.audit.blackbox.outcome import OutputEvent, RunOutcome, outcome_from, questions
from hubbub.audit.blackbox.served import BadSubject, rows_of
from hubbub.errors import InputError, ParameterError

SUBJECTS = "tests.unit.audit.blackbox_subjects"
ROOT = Path(__file__).parents[3]


def one(name: str, runs: int = 80_000, **asked: Any) -> BlackBoxVerdict:
    """The verdict on one subject; runs, not seconds, say when it is over."""
    return black_box(f"{SUBJECTS}:{name}", runs=runs, seconds=10_000, **{"limit": 600.0, **asked})[0]


@pytest.mark.slow
def test_the_mass_at_the_threshold_is_found_and_shown_again(tmp_path: Path) -> None:
    found = one("opendp", settings={"scale": 1, "threshold": 2})
    assert found.refuted
    assert math.isclose(found.delta, 0.0989380198, rel_tol=1e-6)
    assert found.with_her is not None and found.without is not None
    assert found.with_her.keys() - found.without.keys() == {"victim"}
    assert sum(map(len, found.with_her.values())) <= 2, "shrunk"
    assert found.rates is not None and found.rates[0] > 0.2 and found.rates[1] == 0
    shares = (
        rf"{100 * found.rates[0]:.4g} % of \d+ runs on the one log, 0 % on the other, so at most 9.894 % was allowed"
    )
    assert re.search(shares, found.seen), found.seen
    assert len(found.script.splitlines()) <= 12
    ran = subprocess.run(
        [sys.executable, "-c", found.script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    seen, allowed = float(ran.stdout.split()[1]), float(ran.stdout.split()[3])
    assert seen > 2 * allowed


@pytest.mark.slow
def test_the_script_gives_the_function_what_it_takes() -> None:
    found = one("without_noise", epsilon=1, delta=0.05)
    assert "list(keys) for user, keys in log.items()}, epsilon=1.0)" in found.script
    ran = subprocess.run([sys.executable, "-c", found.script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split()[:2] == ["seen", "1.0"]


@pytest.mark.slow
def test_what_is_sound_is_not_refuted() -> None:
    found = one("sound", settings={"scale": 1, "threshold": 2}, runs=6_000)
    assert found.verdict == "not refuted"
    assert found.power is not None and found.delta < found.power < 0.6
    assert "would have been seen" in found.seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("every_key", {"settings": {"scale": 1, "threshold": 8}}, "released"),
        ("first_seen", {"epsilon": 1, "delta": 0.01}, "released"),
        ("by_type", {"epsilon": 1, "delta": 0.01}, "ends with"),
        ("walked", {"epsilon": 1, "delta": 0.04}, "every value of the noise was tried"),
        ("shared", {"epsilon": 0.5, "delta": 0.9}, "every value of the noise was tried"),
    ],
)
def test_what_is_broken_is_refuted(name: str, asked: dict[str, Any], words: str) -> None:
    found = one(name, **asked)
    assert found.refuted
    assert words in found.seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("crashes", "crashes"),
        ("always_fails", "crashes"),
        ("talks", "needs the network"),
        ("remembers", "is no function of its input"),
        ("changes_its_mind", "is no function of its input"),
        ("returns_a_number", "returns no keys"),
    ],
)
def test_what_cannot_be_audited_has_a_verdict_of_its_own(name: str, verdict: str) -> None:
    assert one(name, epsilon=1, delta=0.1).verdict == verdict


def test_what_hangs_is_ended() -> None:
    found = one("hangs", epsilon=1, delta=0.1, limit=0.01)
    assert found.verdict == "hangs"
    assert "while it ran" in found.seen


def test_neighbours_by_exchange() -> None:
    assert one("first_seen", epsilon=1, delta=0.01, neighbours="replace").refuted


@pytest.mark.slow
def test_a_campaign_goes_on_where_it_ended(hubbub: Hubbub, tmp_path: Path) -> None:
    kept = tmp_path / "found.jsonl"
    command = ["audit", "--subject", f"{SUBJECTS}:first_seen", "--epsilon", "1,2", "--delta", "0.1", "--runs", "3000"]
    first = hubbub(*command, "--seconds", "9000", "--limit", "600", "--workers", "2", "--out", str(kept), code=1)
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0])["verdict"] == "refuted"
    assert "REFUTED: ε = 1, δ = 0.1" in first.output
    assert "from tests.unit.audit.blackbox_subjects import first_seen" in first.output
    again = hubbub(*command, "--out", str(kept), code=1)
    assert "2 settings, 2 refuted" in again.output
    kept.write_text("not json\n", encoding="utf-8")
    hubbub(*command, "--out", str(kept), code=2)


def test_a_law_that_is_cut_at_its_ends_refutes_nobody() -> None:
    found = one(
        "searches", runs=400, alpha=1e-12, epsilon=2, delta=0
    )  # one user moves a count by six, and noise ends at fourteen
    assert not found.refuted
    assert "every value of the noise was tried" in found.seen


def test_a_campaign_that_goes_on_has_no_second_share_of_alpha(tmp_path: Path) -> None:
    kept = tmp_path / "found.jsonl"
    asked: dict[str, Any] = {"delta": 0.1, "runs": 400, "seconds": 10_000, "limit": 600.0, "alpha": 1e-12, "out": kept}
    found = black_box(f"{SUBJECTS}:first_seen", epsilon=[1, 2], **asked)
    kept.write_text(kept.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    again = black_box(f"{SUBJECTS}:first_seen", epsilon=[1, 2], **asked)
    assert [one.alpha for one in (*found, *again)] == [5e-13] * 4


@pytest.mark.parametrize(("name", "code"), [("crashes", 1), ("always_fails", 1), ("sound", 0)])
def test_what_could_not_be_audited_has_not_passed(hubbub: Hubbub, name: str, code: int) -> None:
    settings = ("--set", "scale=1", "--set", "threshold=4") if name == "sound" else ("--epsilon", "1", "--delta", "0.1")
    asked = ("--subject", f"{SUBJECTS}:{name}", *settings, "--runs", "400", "--seconds", "9000", "--limit", "600")
    result = hubbub("audit", *asked, code=code)
    assert ("could not be audited at 1 of 1 settings: it crashes" in result.stderr) == bool(code)


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": 1},
        {"epsilon": -1, "delta": 0.1},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": 0.1, "neighbours": "next door"},
        {"epsilon": 1, "delta": 0.1, "seconds": 0},
    ],
)
def test_what_is_not_asked_for_in_earnest(asked: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        black_box(f"{SUBJECTS}:first_seen", **asked)


@pytest.mark.parametrize("subject", ["nothing", "no.such.module:f", f"{SUBJECTS}:nobody", f"{SUBJECTS}:remembered"])
def test_subjects_that_are_none(subject: str) -> None:
    with pytest.raises(InputError):
        black_box(subject, settings={"a": 1})


# ------------------------------------------------------------------ the parts


def test_a_bet_against_what_holds_does_not_pay() -> None:
    draw = random.Random(5)  # noqa: S311
    event = OutputEvent("shows", "a")
    fortunes = []
    for _ in range(200):
        bet = Bet(event, 400, *(sum(draw.random() < chance for _ in range(400)) for chance in (0.5, 0.15)))
        fortunes.append(math.exp(bet.logarithm(1.0, 0.1)))  # 0.5 <= e 0.15 + 0.1 = 0.508
    assert sum(fortunes) / len(fortunes) < 2
    sure = Bet(event, 200, 120, 0)
    assert sure.logarithm(1.0, 0.1) > math.log(1e6)
    assert sure.rates == (0.6, 0.0)
    for epsilon, delta in ((0.0, 0.05), (1.0, 1e-6), (3.0, 1e-6)):
        hits = round(1000 * smallest_seen(1000, 1e-6, epsilon, delta))
        assert Bet(event, 1000, hits, 0).logarithm(epsilon, delta) >= math.log(1e6), "as often as expected: refuted"
        assert Bet(event, 1000, hits - 1, 0).logarithm(epsilon, delta) < math.log(1e6)
    assert smallest_seen(1000, 1e-6, 3.0, 1e-6) > 0.3, "one in e^3 runs of the other log may have it"
    assert smallest_seen(0, 1e-6, 1.0, 0.05) == smallest_seen(10, 1e-6, 1.0, 0.05) == math.inf


def outcome_of(result: Any, seconds: float) -> RunOutcome:
    """What a subject returned after so long."""
    rows, form = rows_of(result)
    return outcome_from({"rows": rows, "form": form, "error": "", "seconds": seconds})


def test_outputs_of_every_shape() -> None:
    assert outcome_of({"a": 2}, 0.0).rows == (("a", 2.0),)
    assert outcome_of([("a", 2), ("b", 3.5)], 0.0).counts == {"a": 2.0, "b": 3.5}
    assert outcome_of({"b", "a"}, 0.0).rows == (("a", None), ("b", None))
    assert outcome_of([], 0.0).rows == outcome_of(None, 0.0).rows == ()
    assert outcome_of({"a": 2}, 0.0).form != outcome_of({"a": 2.0}, 0.0).form
    assert [outcome_of([], s).pace for s in (0.001, 0.05, 0.5, 5.0)] == [0, 1, 2, 3]
    for wrong in ("text", 3):
        with pytest.raises(BadSubject, match="released keys"):
            outcome_of(wrong, 0.0)


KINDS = {
    "shows",
    "absent",
    "first",
    "keys",
    "form",
    "error",
    "pace",
    "at least",
    "at most",
    "rows at least",
    "rows at most",
}


def test_every_event_has_words_and_happens_somewhere() -> None:
    outs = [
        RunOutcome((("a", 1.0), ("b", 5.0)), "dict"),
        RunOutcome((("b", 2.0),), "list", pace=1),
        RunOutcome(error="ValueError: no"),
    ]
    asked = questions(outs, outs, timing=True)
    assert {event.asks for event in asked} == KINDS
    for event in asked:
        assert event.words
        assert any(event.happens(out) for out in outs)
        if event.code:
            for out in outs:
                if not out.error:
                    assert eval(event.code, {"out": out.counts}) == event.happens(out)
    assert not any(event.asks == "pace" for event in questions(outs, outs))


def test_pairs_differ_by_one_user() -> None:
    draw = random.Random(1)  # noqa: S311
    pairs = list(by_hand(5))
    for _ in range(200):
        pairs.append(changed(draw.choice(pairs), draw))
    for pair in [*pairs, *(less for more in pairs[:20] for less in smaller(more))]:
        with_her, without = pair.logs
        assert with_her.keys() - without.keys() == {"victim"}
        assert without == {user: keys for user, keys in with_her.items() if user != "victim"}
