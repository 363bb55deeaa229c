"""A synthetic search log with ground truth: made of hashes, fitted to published aggregates of real logs.

    hashing     every random number is a function of (seed, place, purpose)
    curves      distributions as tables                  text        pieces → columns of strings
    presets     `aol` and `gotz`                         numbers     what the numbers of intents mean
    world       intents, sites, result lists, topics     queries     the text of (intent, variant)
    wordings    the vocabularies: texts from numbers     readable    words that people know
    made_up     words that nobody knows                  vocabulary  … and the strings these are made of
    people      users and sessions                       searches    the steps of a session
    clicks      result pages and rows                    canaries    planted rows
    batches     `generate`: the log, as Arrow batches   write       .tsv, .tsv.gz, .parquet
    changes     needs that come and go, users too       over_time   the truth about them
    truth       the tables that say what is what        groups      country, device, language

docs/synthetic-log.md has the calibration, and what the log gets wrong.
"""

from __future__ import annotations

from hubbub.synth.batches import generate
from hubbub.synth.canaries import MADE_UP, Canary, read_canaries
from hubbub.synth.presets import PRESETS, Changes, Preset, lasting
from hubbub.synth.wordings import SYLLABIC, VOCABULARIES
from hubbub.synth.world import World

__all__ = [
    "MADE_UP",
    "PRESETS",
    "SYLLABIC",
    "VOCABULARIES",
    "Canary",
    "Changes",
    "Preset",
    "World",
    "generate",
    "lasting",
    "read_canaries",
]
