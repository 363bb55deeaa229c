"""What the owner's report knows exactly: gathered from a log, all of it or a sample of its keys."""

from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledgers import spend
from tests.unit.show.tiny_exact import release_tiny, table

import hubbub as package
from hubbub.log import read_log
from hubbub.look.estimate import estimate_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.show import exact as exact_facts
from hubbub.show import kept
from hubbub.show.book import book_of
from hubbub.show.kept import Gathered, LedgerSnapshot, Spending
from hubbub.show.law import AGAIN, SurvivalLine
from hubbub.show.tried import other_budgets
from hubbub.steps.keys import QUERIES
from hubbub.steps.mode import run_mode


def test_exact_facts_of_a_tiny_log(tmp_path: Path) -> None:
    found = kept.read(release_tiny(tmp_path) / "owner-only")
    (queries,) = found.tables
    held = {name: column.tolist() for name, column in vars(queries.held).items()}
    assert held == {
        "users": [1, 2, 3],
        "keys": [1, 1, 1],
        "events": [1, 2, 4],
        "released": [0, 1, 1],
        "released_events": [0, 2, 4],
    }
    assert queries.points.select(["key", "exact", "bounded", "released"]).to_pylist() == [
        {"key": "weather", "exact": 3, "bounded": 3, "released": 3},
        {"key": "<b>news</b>", "exact": 2, "bounded": 2, "released": 2},
    ]
    assert queries.error is not None and queries.error.rows == 2 and queries.error.bounding == 0
    assert queries.error.bias == 0 and queries.error.noise == pytest.approx(0, abs=1e-6)
    assert found.book is not None and [s.spent for s in found.book.spendings] == [None]  # seeded: nothing is proven


def test_what_bounding_takes_is_told_apart(tmp_path: Path) -> None:
    found = kept.read(release_tiny(tmp_path, d="1", K="0") / "owner-only")
    (queries,) = found.tables
    assert queries.points.to_pylist()[0] | {"noise_sd": 0} == {
        "key": "weather",
        "exact": 3,
        "bounded": 3,
        "released": 3,
        "noise_sd": 0,
    }
    assert queries.held.released.tolist() == [0, 0, 1]  # users asked about the weather first


def test_a_sample_of_keys_stands_for_all(log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_facts, "WHOLE", 300)
    out = tmp_path / "out"
    with Ledger(tmp_path / "book.sqlite") as book, read_log(log_file, format="aol") as log:
        run_release(
            log, Plan(build("zealous", {"epsilon": "2", "delta": "1e-5"}, tables=["queries", "keywords"]), out), book
        )
    found = kept.read(out / "owner-only").tables
    assert [t.table for t in found] == ["queries"]  # keywords would take long
    sampled = found[0].sampled
    assert sampled is not None and sampled.one_in == 4
    off = abs(int(found[0].held.keys.sum()) - 303)
    assert off < 5 * sampled.keys_sd, "by chance less than once in a million"
    text = (out / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "Of all other queries one in 4" in text
    assert "Not counted yet, because it would have taken long: keywords" in text


@pytest.fixture(scope="module")
def head_heavy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 users: one query of them all, asked ten times each; 20 of 100 to 190 users; 3,000 of one user each."""
    rows = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]

    def ask(user: int, query: str, at: int) -> None:
        time = f"2006-03-{1 + at // 1440:02d} {at // 60 % 24:02d}:{at % 60:02d}:00"
        rows.append(f"{user}\t{query}\t{time}\t1\thttp://{query.replace(' ', '-')}.example")

    for user in range(600):
        for at in range(10):
            ask(user, "everybody", at)
        for at in range(5):
            ask(user, f"alone {user} {at}", 1000 + at)
    for n in range(20):
        for user in range(100 + 5 * n):
            ask((user * 7 + n) % 600, f"some {n}", 2000 + n)
    rows.append(rows[1].replace(".example", ".example/second"))  # one search with two clicks
    path = tmp_path_factory.mktemp("head") / "log.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_sample_never_decides_about_the_head(
    head_heavy: Path, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few queries carry half of this log: whether a sample holds them must not move a share of everything."""
    made = build("crowd", {"epsilon": "2", "delta": "1e-5"}, tables=["queries", "clicks"])
    with Ledger(tmp_path / "book.sqlite") as book, read_log(head_heavy, format="aol") as log:
        run_release(log, Plan(made, tmp_path / "out", seed=seed, not_private=True), book)
        public = tmp_path / "out" / "public"
        exactly, _ = exact_facts.gather(log, made, public, every=True)
        monkeypatch.setattr(exact_facts, "WHOLE", 1_000)
        sampled, _ = exact_facts.gather(log, made, public)
    for truth, found in zip(exactly, sampled, strict=True):
        assert found.sampled is not None and truth.sampled is None
        for column in ("released", "released_events"):
            assert getattr(found.held, column).sum() == getattr(truth.held, column).sum()
        assert found.error == truth.error and found.points.equals(truth.points) and found.nobodys == truth.nobodys
        true, about = (t.held.released_events.sum() / t.held.events.sum() for t in (truth, found))
        off = 5 * true * found.sampled.events_sd / truth.held.events.sum()
        assert abs(true - about) < off < 0.1 and true > 0.4, "by chance less than once in a million"
        head, seen = (dict(zip(t.held.users.tolist(), t.held.keys.tolist(), strict=True)) for t in (truth, found))
        assert all(seen[users] == keys for users, keys in head.items() if users >= exact_facts.MANY)


def test_the_head_is_the_same_from_the_log_and_from_what_users_hold(head_heavy: Path) -> None:
    made, noise = build("crowd", {"epsilon": "2", "delta": "1e-5"}, tables=["queries"]), SeededNoise(0)
    with read_log(head_heavy, format="aol") as log:
        measured = made.measure(log, run_mode(log.engine, noise, noise.secret("bounding")))
        pairs = exact_facts._pairs(measured, QUERIES, "users")
        scanned, held = exact_facts._many(log, ""), exact_facts._many(log, pairs)
        assert "FROM log" in scanned and "FROM held_queries" in held
        heads = [set(log.engine.fetch(sql).column("code").to_pylist()) for sql in (scanned, held)]
        many = "SELECT query FROM log GROUP BY query HAVING count(*) >= 50"
        codes = log.engine.fetch(f"SELECT {log.engine.shuffle('query')} AS code FROM ({many}) AS many")
    assert heads[0] == heads[1] == set(codes.column("code").to_pylist()) and len(heads[0]) == 21


def test_queries_of_a_large_log_are_counted_from_what_was_measured(
    head_heavy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key with its users, as `hubbub report --log` counts them; events are rows, and the page says so."""
    monkeypatch.setattr(exact_facts, "WHOLE", 1_000)
    made = build("crowd", {"epsilon": "2", "delta": "1e-5"}, tables=["queries"])
    with Ledger(tmp_path / "book.sqlite") as book, read_log(head_heavy, format="aol") as log:
        run_release(log, Plan(made, tmp_path / "out", seed=0, not_private=True), book)
        (truth,), _ = exact_facts.gather(log, made, tmp_path / "out" / "public", every=True)
    (found,) = kept.read(tmp_path / "out" / "owner-only").tables
    assert (found.by_rows, found.sampled, truth.by_rows) == (True, None, False)
    for column in ("users", "keys", "released"):
        assert getattr(found.held, column).tolist() == getattr(truth.held, column).tolist()
    for column in ("events", "released_events"):
        assert getattr(found.held, column).sum() == getattr(truth.held, column).sum() + 1  # the second click
    assert found.error == truth.error and found.points.equals(truth.points) and found.nobodys == truth.nobodys
    text = (tmp_path / "out" / "owner-only" / "report.html").read_text(encoding="utf-8")
    assert "Rows, not searches." in text and "% of rows" in text and "for queries, in rows of the log" in text


@pytest.mark.slow
def test_the_line_starts_from_the_even_chance_of_what_ran(tmp_path: Path) -> None:
    """For crowd that is not the threshold: users who hold much count less. Estimate knows, and the report as well."""
    rows = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    for n in range(4, 200, 2):  # queries of 4, 6, … 198 users; each of 300 users holds about 33
        rows += [f"{(user * 7 + n) % 300}\tquery {n}\t2006-03-01 08:00:00\t\t" for user in range(n)]
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    made = build("crowd", {"epsilon": "2", "delta": "1e-5"}, tables=["queries"])
    with Ledger(tmp_path / "book.sqlite") as book, read_log(path, format="aol") as log:
        run_release(log, Plan(made, tmp_path / "out"), book)
        curve = estimate_log(made, log, runs=8).tables["queries"].curve
    low, even, high = (curve.reaches(chance) for chance in (0.05, 0.5, 0.95))
    law = kept.read(tmp_path / "out" / "owner-only").laws["queries"]
    assert low is not None and even is not None and high is not None and law.even is not None
    assert even > 2 * made.thresholds()["queries"], "this log tells the two apart"
    assert low <= law.even <= high, "the line is one run with noise of its own: by chance not once in 10,000"
    chart = package.charts(tmp_path / "out")["survival"]
    assert f"an even chance: queries from {law.even:,} users" in chart.alt


def test_kept_and_read_again(tmp_path: Path) -> None:
    book = LedgerSnapshot("p", 1, None, (Spending(1, "t", "d", "m", 1.0, 1.0),))
    before = Gathered(
        (table(), table("clicks", error=None)), {"queries": SurvivalLine(AGAIN, [1], [0.5], None)}, (), book
    )
    kept.write(tmp_path, before)
    after = kept.read(tmp_path)
    assert after.laws == before.laws and after.book == book
    assert [t.points.to_pylist() for t in after.tables] == [t.points.to_pylist() for t in before.tables]
    assert [t.error for t in after.tables] == [t.error for t in before.tables]
    assert kept.read(tmp_path / "nowhere") == Gathered()


def test_the_book_adds_up(tmp_path: Path) -> None:
    with Ledger(tmp_path / "book.sqlite") as book:
        made = build("korolova", {"epsilon": "1", "delta": "1e-6"})
        book.cap("p", 5, 1e-3)
        for _ in range(2):
            entry = spend(book, made.loss(), population="p", dataset="d", mechanism="korolova")
        found = book_of(book, "p", entry.id)
    assert [s.epsilon for s in found.spendings] == [1.0, 1.0] and found.cap == 5
    first, second = (s.spent for s in found.spendings)
    assert first is not None and second is not None and 0.9 < first <= 1 < second <= 2  # at the cap's δ


def test_only_a_chosen_epsilon_has_others(log_file: Path) -> None:
    with read_log(log_file, format="aol") as log:
        raw = build("korolova", {"d": "1", "b": "1", "K": "5"})
        assert other_budgets(raw, log) == ((), {})
        found, law = other_budgets(build("korolova", {"epsilon": Fraction(2), "delta": "1e-5"}), log)
    assert len(found) == 5 and set(law) == {"queries"}
