"""Make a log file, and its truth tables if they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub.errors import ParameterError
from hubbub.files import require_free as require_free_folder
from hubbub.files import whole
from hubbub.ingest.schema import SCHEMA
from hubbub.public.words import ENGLISH
from hubbub.synth.batches import CHUNK_USERS, generate, planted
from hubbub.synth.canaries import Canary
from hubbub.synth.groups import GROUP_COLUMNS, with_groups
from hubbub.synth.presets import Preset
from hubbub.synth.presets import preset as preset_called
from hubbub.synth.truth import TruthWriter, names, plain_errors
from hubbub.synth.typos import with_typos
from hubbub.synth.world import World
from hubbub.synth.write import require_free, suffix, writing


@dataclass(frozen=True)
class MadeLog:
    """A log that was made: its file, how many rows it has, and its truth tables."""

    out: Path
    rows: int
    seconds: float
    truth: dict[str, Path]


def synthesise(
    users: int,
    out: Path,
    *,
    preset: str | Preset = "aol",
    seed: int = 0,
    vocabulary: str = ENGLISH,
    truth: Path | None = None,
    canaries: Sequence[Canary] = (),
    groups: bool = False,
    typos: float = 0,
    chunk_users: int = CHUNK_USERS,
    progress: Callable[[int, int], None] | None = None,
) -> MadeLog:
    """Write a log of so many users to a new file; with `truth`, its truth tables into a new folder.

    With `groups` it has the columns country, device and language besides; `typos` is the share of misspelt searches.
    """
    started, rows = time.monotonic(), 0
    if suffix(out) != ".parquet" and groups:
        raise ParameterError("AOL's format has no columns for groups.", given=out, allowed="--out FILE.parquet")
    if not 0 <= typos <= 1:
        raise ParameterError("The share of misspelt searches is a share.", given=typos, allowed="from 0 to 1")
    require_free(out)
    if truth is not None:
        require_free_folder(truth)
        if truth.absolute() in (out.absolute(), *out.absolute().parents):
            raise ParameterError("The log cannot be inside the folder of the truth.", given=out, next="choose another")
    told_too = groups or typos > 0 or truth is not None
    options: dict[str, Any] = {"vocabulary": vocabulary, "truth": told_too, "chunk_users": chunk_users}
    batches = generate(users, seed, preset, canaries=canaries, **options)
    with ExitStack() as stack:
        told = None
        if truth is not None:
            world = World(seed, preset, vocabulary)
            stack.enter_context(plain_errors(truth))
            told = TruthWriter(
                stack.enter_context(whole(truth)), world, users, seed, canaries, planted(world, users, seed, canaries)
            )
            if groups:
                told.dividing()
            if typos:
                told.slipping()
            stack.callback(told.close)
        log = stack.enter_context(writing(out, GROUP_COLUMNS if groups else ()))
        for number, batch in enumerate(batches, 1):
            batch = with_groups(batch, seed) if groups else batch
            batch = with_typos(batch, seed, typos) if typos else batch
            log.write(batch.select([*SCHEMA.names, *(GROUP_COLUMNS if groups else ())]))
            rows += batch.num_rows
            if told is not None:
                told.add(batch)
            if progress:
                progress(min(number * chunk_users, users), users)
        if told is not None:
            told.finish()
    told_of = () if truth is None else names(preset_called(preset), groups=groups, typos=typos > 0)
    paths = {name: Path(truth or "") / f"{name}.parquet" for name in told_of}
    return MadeLog(out, rows, time.monotonic() - started, paths)
