"""The contract of a pair: `perturb` sees exact numbers, a noise source and what was said before, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.conftest import aol_lines
from tests.unit.mechanisms.test_engine_counts import CASES, ONE_PLACE, POOL, made

from hubbub.audit.tiny import MODE
from hubbub.engines.duckdb import DuckDB
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.mechanisms.pairs import Draw, drawn
from hubbub.noise import SeededNoise
from hubbub.public.lists import QueryPool

PUBLISHED = "optimal published"
ASKED = ("register", "view", "save", "number", "smallest", "map_batches", "fetch", "write", "drop", "connection")


class Guarded(DuckDB):
    """An engine that answers nothing while noise is drawn."""

    answers = True

    def __getattribute__(self, name: str) -> Any:
        if name in ASKED:
            assert self.answers, "the engine was asked while noise was drawn"
        return super().__getattribute__(name)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLog]:
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    walks = [
        f"{user}\t{query}\t2006-03-29 08:00:{10 * n:02d}\t1\thttp://{n}.example"
        for user in range(120)
        for n, query in enumerate(("bus", "bus times", "train", "train times"))
    ]
    path.write_text("\n".join(aol_lines(120) + walks) + "\n", encoding="utf-8")
    with read_log(path, format="aol", engine=lambda work: Guarded(work, threads=1)) as opened:
        yield opened


def each() -> dict[str, partial[Mechanism]]:
    """Every mechanism, and crowd with every table it has."""
    found = {name: partial(made, name) for name in CASES}
    found |= {name: partial(build, name, {}) for name in sorted(ONE_PLACE)}
    whole = {"epsilon": 20, "delta": "1e-3", "D": 6, "language": "none"}
    return found | {
        "crowd, whole log": partial(build, "crowd", whole, tables=[*build("crowd", whole).tables, "log"]),
        PUBLISHED: partial(build, "optimal", {"epsilon": 4, "delta": "0.5", "seconds": 2}, variant="published"),
    }


def reachable(thing: object, seen: set[int]) -> Iterator[object]:
    """Whatever a value holds: attributes, items, closures, arguments that are bound already."""
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | type(None) | np.ndarray | pa.Table | type):
        return
    seen.add(id(thing))
    yield thing
    inside: list[object] = []
    if isinstance(thing, partial):
        inside = [thing.func, *thing.args, *thing.keywords.values()]
    elif isinstance(thing, MethodType):
        inside = [thing.__self__]
    elif isinstance(thing, FunctionType):
        inside = [cell.cell_contents for cell in thing.__closure__ or ()]
    elif isinstance(thing, dict):
        inside = list(thing.values())
    elif isinstance(thing, tuple | list | set | frozenset):
        inside = list(thing)
    elif hasattr(thing, "__dict__"):
        inside = list(vars(thing).values())
    for part in inside:
        yield from reachable(part, seen)


@pytest.mark.parametrize("name", each())
def test_noise_is_drawn_without_the_log(log: SearchLog, name: str) -> None:
    """No pair's `perturb` asks the engine for anything, and none holds the log or the engine at all."""
    mechanism, engine, noise = each()[name](), log.engine, SeededNoise(5)
    assert isinstance(engine, Guarded)
    pairs, said, many = mechanism.pairs(mechanism.measure(log, MODE)), None, 0
    while True:
        try:
            draw = pairs.send(said)
        except StopIteration as end:
            assert set(end.value) == set(mechanism.tables)
            break
        assert not [x for x in reachable(draw, set()) if isinstance(x, SearchLog | DuckDB)]
        engine.answers = False
        try:
            said, many = draw.perturb(draw.counts, noise), many + 1
        finally:
            engine.answers = True
    assert many > 1 or name.split()[0] not in ("crowd", "sips", "adaptive")


def test_every_mechanism_is_tried() -> None:
    assert set(mechanisms()) == {name.split()[0].rstrip(",") for name in each()}


def test_the_loop_hands_on_what_was_said() -> None:
    def pairs() -> Any:
        first = yield Draw(1, lambda counts, noise: counts + 1)
        return (yield Draw(10 * first, lambda counts, noise: counts + 1))

    assert drawn(pairs(), SeededNoise(1)) == 21

    def stopped(counts: int, noise: object) -> int:
        raise StopIteration

    def wrong() -> Any:
        yield Draw(1, stopped)

    with pytest.raises(StopIteration):  # an error of a `perturb` is not the end of the pairs
        drawn(wrong(), SeededNoise(1))


@pytest.mark.parametrize("name", each())
def test_a_mechanism_is_frozen(name: str) -> None:
    mechanism = each()[name]()
    for attribute in ("settings", "tables", "variant", "public_lists", "say", "anything"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(mechanism, attribute, None)
    for known in (mechanism.settings, mechanism.given):
        with pytest.raises(TypeError):
            known["epsilon"] = 9  # type: ignore[index]
    assert mechanism.steps() is mechanism.steps() and mechanism.loss() is mechanism.loss(), "stated once"
    assert mechanism.proven() is mechanism.proven() and mechanism.claimed() is mechanism.claimed()


def test_other_lists_make_another_mechanism() -> None:
    one = build("crowd", {"epsilon": 1, "delta": "1e-6", "language": "none"}, tables=["queries"])
    assert one.proven().caveats == ()
    listed = QueryPool("list", POOL.rows, "0" * 64, POOL.size, "a test", "list")
    other = one.taking((listed,), None)
    assert one.public_lists == () and other.public_lists == (listed,)
    assert other.proven().caveats and one.proven().caveats == (), "what was stated of one is not kept for the other"


def test_another_pool_makes_another_mechanism(tmp_path: Path) -> None:
    one = made("safelog")
    small = QueryPool("pool", POOL.rows.slice(0, 2), "0" * 64, 2, "a test")
    assert one.over(small).pool is small and one.pool is POOL
