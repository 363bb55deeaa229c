"""`hubbub card --check`: what a forger may change, with every hash computed again, and what is noticed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tests.conftest import RELEASE, Hubbub

from hubbub.card import check
from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts, facts_of
from hubbub.card.owner import Owner
from hubbub.card.schema import Card, integrity, sha256_of
from hubbub.card.words import noise_of, rule_of
from hubbub.errors import InputError
from hubbub.log import Period
from hubbub.mechanisms import build
from hubbub.release.opened import Release

Change = Callable[[Any], None]


def broken(release: Path) -> list[str]:
    """What does not hold about a release."""
    return [f.what for f in check(release) if not f.holds]


def read(release: Path) -> Any:
    return json.loads((release / "public" / "card.json").read_text())


def write(release: Path, card: Any, *, reseal: bool = True) -> None:
    """Put a card in the place of another; `reseal` also forges the hash of the card and of every file."""
    if reseal:
        for file in card["release"]["files"]:
            if (path := release / "public" / file["path"]).is_file():
                file["sha256"] = sha256_of(path)
        card["integrity"] = integrity(card)
    (release / "public" / "card.json").write_text(json.dumps(card))


def edit(release: Path, change: Change, *, reseal: bool = True) -> None:
    card = read(release)
    change(card)
    write(release, card, reseal=reseal)


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory, log_file: Path) -> Path:
    """A release whose owner and ledger had something to say, made once."""
    import hubbub
    from hubbub.privacy.ledger import Ledger

    folder = tmp_path_factory.mktemp("stated")
    period = Period(log_day(1), log_day(31))
    owner = Owner(title="Searches", curator=("A library",), licence="CC0-1.0", contact="us@example.org", period=period)
    mechanism = build(
        "korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, tables=["queries", "clicks"], neighbours="replace"
    )
    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.cap("us", 100, 0.1)
        ledger.looked("us", "march", "inspect")
    with hubbub.read_log(log_file, format="aol", period=period) as log:
        for name in ("earlier", "release"):
            hubbub.release(
                log,
                mechanism,
                folder / name,
                ledger=folder / "ledger.sqlite",
                owner=owner,
                population="us",
                dataset="march",
                users_public=5000,
            )
    return folder / "release"


def log_day(day: int) -> Any:
    from datetime import date

    return date(2006, 3, day)


# ------------------------------------------------------------------ every word and number

FACTS = {
    "release.title",
    "release.curator[0]",
    "release.intended_use",
    "release.region",
    "release.published",
    "release.licence",
    "release.contact",
    "release.files[0].rows",
    "release.files[1].rows",
    "release.period_stated_by_owner.from",
    "release.period_stated_by_owner.to",
    "release.users_stated_by_owner",
    "release.max_rejects",
    "unit.column",
    "accounting.library",
    "accounting.planned_releases",
    "accounting.earlier_releases[0]",
    "accounting.ledger.population",
    "accounting.ledger.dataset",
    "accounting.ledger.entry",
    "accounting.ledger.epsilon_before",
    "accounting.ledger.epsilon_after",
    "accounting.ledger.cap_epsilon",
    "accounting.ledger.cap_delta",
    "accounting.ledger.looks[0]",
    "accounting.ledger.looks[1]",
    "implementation.software",
    "implementation.python",
    "implementation.libraries.duckdb",
    "implementation.libraries.numpy",
    "implementation.libraries.pyarrow",
    "implementation.randomness.seeded",
    "implementation.raw_data.access",
    "implementation.raw_data.kept_until",
}
"""All that a check has to believe: what the owner states, what the ledger booked, what ran, how many rows there are."""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every scalar of a document."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path


def spelled(path: tuple[Any, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)[1:]


def other(value: Any) -> Any:
    """Another value of the same kind, so that only its meaning is wrong."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value * 0.5
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return {"list": ["added"], "dict": {"added": "1"}}.get(type(value).__name__, 0.5)


def test_every_leaf_that_is_no_fact_is_made_again(stated: Path, tmp_path: Path) -> None:
    """Each scalar of the card, changed by itself, with every hash forged: the section that holds it is named."""
    assert broken(stated) == []
    shutil.copytree(stated, tmp_path / "forged")
    paths = [path for path in leaves(read(stated)) if path[0] != "integrity" and path[-1] != "sha256"]
    assert {spelled(path) for path in paths} >= FACTS, "the list of facts is out of date"
    unseen = []
    for path in paths:
        card = read(stated)
        *way, last = path
        holder = card
        for key in way:
            holder = holder[key]
        holder[last] = other(holder[last])
        write(tmp_path / "forged", card)
        if not broken(tmp_path / "forged"):
            unseen.append(spelled(path))
    assert set(unseen) <= FACTS


def test_every_list_entry_is_made_again(stated: Path, tmp_path: Path) -> None:
    """A condition, a hazard or a step may be neither dropped nor added."""
    shutil.copytree(stated, tmp_path / "forged")

    def lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        if isinstance(value, list):
            yield path
        for key, item in value.items() if isinstance(value, dict) else enumerate(value if path else []):
            if isinstance(item, dict | list):
                yield from lists(item, (*path, key))

    free = {"release.curator", "accounting.earlier_releases", "accounting.ledger.looks"}
    for path in lists(read(stated)):
        for drop in (True, False):
            card = read(stated)
            holder = card
            for key in path:
                holder = holder[key]
            if drop and holder:
                holder.pop()
            else:
                holder.append(holder[-1] if holder else "added")
            write(tmp_path / "forged", card)
            assert broken(tmp_path / "forged") or spelled(path) in free, spelled(path)


def test_a_forged_claim_is_named(released: Path) -> None:
    """The forgeries of the review: words rewritten, hashes computed again."""
    forgeries: list[tuple[str, Change]] = [
        ("claim", lambda c: c["claim"].update(sentence="This release is anonymous.")),
        ("claim", lambda c: c["claim"].update(conditions=[])),
        ("claim", lambda c: c["claim"]["also_holds_as"].append({"definition": "pure", "how": "trust us"})),
        ("bounding", lambda c: c["bounding"][0].update(limit=1)),
        ("unit", lambda c: c["unit"].update(means="a person, whatever accounts she has", not_protected=[])),
        ("accuracy", lambda c: c["accuracy"].update(spurious_rows="exact counts")),
        ("hazards", lambda c: c["hazards"].clear()),
        ("checks", lambda c: c["checks"].update(reviewed_by=["a great authority"])),
        ("data_dependent_choices", lambda c: c["data_dependent_choices"][0].update(note="none whatsoever")),
        ("mechanism", lambda c: c["mechanism"]["claimed"].update(by="everybody")),
    ]
    original = read(released)
    for section, change in forgeries:
        edit(released, change)
        assert f"{section}: every word and number follows" in broken(released), section
        write(released, original)
    assert broken(released) == []


@pytest.mark.parametrize("page", ["index.html", "README.md"])
def test_a_forged_page_is_noticed(released: Path, page: str) -> None:
    path = released / "public" / page
    path.write_text(path.read_text(encoding="utf-8").replace("at most a factor", "by no factor"), encoding="utf-8")
    edit(released, lambda card: None)
    assert broken(released) == [f"{page} says what the card says"]


@pytest.mark.parametrize(
    "settings",
    [
        {"variant": "published", "settings": {"b": 5, "K": 60, "b_q": 5, "d": 2}},
        {"variant": "published", "settings": {"b": 5, "K": 1, "b_q": 5, "d": 2}},
        {"settings": {"epsilon": 1, "delta": "1e-6", "keep": "random"}, "neighbours": "replace"},
        {"settings": {"b": 1, "K": 0}},
    ],
    ids=["published", "nothing claimed", "replace", "low"],
)
@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize("users", [None, 0, 1000])
def test_the_facts_of_a_card_make_it_again(settings: dict[str, Any], seeded: bool, users: int | None) -> None:
    mechanism = build("korolova", **settings)
    booked = Booked("us", "march", 3, 1.5, float("inf"), (4.0, 1e-5), ("march-r1",), ("inspect",))
    card = build_card(mechanism, Facts(Owner(title="T"), booked, "who", seeded, 0.05, users))
    read_back = Card.model_validate(json.loads(card.text()))
    assert build_card(mechanism, facts_of(read_back)) == card
    assert facts_of(read_back) == replace(facts_of(card), versions=facts_of(read_back).versions)


@pytest.mark.parametrize("field", ["software", "python"])
def test_a_version_is_no_place_for_words(released: Path, field: str) -> None:
    edit(released, lambda card: card["implementation"].update({field: "hubbub 9, certified by everybody"}))
    assert "the card can be made again from its parameters and facts" in broken(released)


# ------------------------------------------------------------------ numbers, steps and files


def claim_less(card: Any) -> None:
    card["claim"]["epsilon"] = 0.5


def move_step(card: Any) -> None:
    card["steps"][0]["threshold"] = 3


def move_step_and_claim(card: Any) -> None:
    card["steps"][0]["scale"] = "30"
    card["steps"][0]["epsilon"] = card["claim"]["epsilon"] = card["accounting"]["total_epsilon"] = 0.1


def more_bound(card: Any) -> None:
    card["steps"][0]["sensitivity"]["l0"] = 1


def rename_noise(card: Any) -> None:
    card["steps"][0]["noise"] = "something else"


def other_parameter(card: Any) -> None:
    card["mechanism"]["parameters"]["d"] = "1"


def parameter_of_another_kind(card: Any) -> None:
    card["mechanism"]["parameters"]["variant"] = "strict"


def seeded(card: Any) -> None:
    card["implementation"]["randomness"]["seeded"] = True


def no_epsilon(card: Any) -> None:
    card["claim"]["epsilon"] = None


def new_field(card: Any) -> None:
    card["surprise"] = 1


def no_day(card: Any) -> None:
    card["release"]["published"] = "soon"


def newer(card: Any) -> None:
    card["card_version"] = "1.9"


@pytest.mark.parametrize("reseal", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        claim_less,
        move_step,
        move_step_and_claim,
        more_bound,
        rename_noise,
        other_parameter,
        parameter_of_another_kind,
        seeded,
        no_epsilon,
        new_field,
        no_day,
        newer,
    ],
)
def test_changing_a_number_or_step_breaks_the_check(released: Path, change: Change, reseal: bool) -> None:
    edit(released, change, reseal=reseal)
    assert broken(released)


def test_any_edit_breaks_the_cards_own_hash(released: Path) -> None:
    edit(released, lambda card: card["release"].update(region="Elsewhere"), reseal=False)
    assert broken(released) == ["the card is as it was written", "index.html says what the card says"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_no_number_cannot_be_read(released: Path, number: str) -> None:
    path = released / "public" / "card.json"
    path.write_text(path.read_text().replace('"max_rejects": 0.05', f'"max_rejects": {number}'))
    with pytest.raises(InputError, match="cannot be read"):
        check(released)


def test_changing_a_row_breaks_the_check(released: Path) -> None:
    path = released / "public" / "queries.parquet"
    rows = pq.read_table(path)
    users = [u + 1 for u in rows.column("users").to_pylist()]
    pq.write_table(rows.set_column(1, "users", pa.array(users)), path)
    assert broken(released) == ["queries.parquet has its hash", "index.html says what the card says"]


def test_a_missing_or_added_file_breaks_the_check(released: Path) -> None:
    (released / "public" / "extra.txt").write_text("hello")
    assert broken(released) == ["public/ holds the listed files and no other"]
    (released / "public" / "extra.txt").unlink()
    (released / "public" / "queries.parquet").unlink()
    assert broken(released) == [
        "public/ holds the listed files and no other",
        "the pages can be made again from the card and the tables",
    ]


def test_a_listed_file_of_ones_own_breaks_the_check(released: Path) -> None:
    (released / "public" / "extra.txt").write_text("hello")
    edit(released, lambda card: card["release"]["files"].append({"path": "extra.txt", "sha256": ""}))
    assert broken(released) == ["release: every word and number follows"]


def test_the_public_folder_checks_by_itself(released: Path, tmp_path: Path) -> None:
    shutil.copytree(released / "public", tmp_path / "published")
    assert broken(tmp_path / "published") == []


def test_a_seeded_release_checks(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--seed", "1", "--not-private")
    assert broken(tmp_path / "out") == []
    edit(tmp_path / "out", lambda card: card["mechanism"].update(private=True, stamp=None))
    assert broken(tmp_path / "out")


# ------------------------------------------------------------------ steps in plain words

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


@pytest.mark.parametrize("command", [("report",), ("export", "--to", "tsv", "--out", "exported")])
def test_a_card_of_another_version_is_told_as_such(
    hubbub: Hubbub, released: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    edit(released, lambda card: card["accounting"]["ledger"].pop("stands_on"))
    name, *rest = command
    said = hubbub(name, released, *rest, code=2).stderr
    assert "accounting.ledger.stands_on" in said
    with pytest.raises(InputError, match="version that wrote it"):
        Release(released)
