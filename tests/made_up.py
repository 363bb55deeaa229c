"""Logs in made-up words: what tests run on that compare texts or numbers, whatever vocabulary users get by default."""

from __future__ import annotations

from functools import partial

from hubbub.synth import SYLLABIC
from hubbub.synth import World as AnyWorld
from hubbub.synth import generate as generate_any
from hubbub.synth.run import synthesise as synthesise_any

World = partial(AnyWorld, vocabulary=SYLLABIC)
generate = partial(generate_any, vocabulary=SYLLABIC)
synthesise = partial(synthesise_any, vocabulary=SYLLABIC)
