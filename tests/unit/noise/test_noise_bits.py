"""Random bytes: fresh after a fork, repeatable only when a seed says so."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from hubbub.noise.bits import SeededBits, SystemBits, integer, words

FORKED = """
import os
from fractions import Fraction
from hubbub.noise import SecureNoise

noise = SecureNoise()
noise.gaussian("warm", 2500, 10)
for _ in range(2):
    if os.fork() == 0:
        print(os.getpid(), noise.gaussian("q", 2500, 12).tolist(), noise.laplace("q", Fraction(900), 12).tolist(),
              noise.secret("q").hex(), flush=True)
        os._exit(0)
    os.wait()
"""


def test_forked_processes_draw_different_noise() -> None:
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, check=True)
    first, second = (line.split(" ", 1) for line in ran.stdout.splitlines())
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_system_bits_are_fresh_each_time() -> None:
    bits = SystemBits()
    assert len(bits.take(32)) == 32
    assert bits.take(32) != bits.take(32)


def test_seeded_bits_repeat_for_the_same_seed_and_label_only() -> None:
    def start(seed: int, label: str) -> bytes:
        return SeededBits(seed, label).take(32)

    assert start(1, "count") == start(1, "count")
    assert len({start(1, "count"), start(2, "count"), start(1, "counts"), start(11, "count"), start(-1, "count")}) == 5


def test_seeded_bits_move_on() -> None:
    bits = SeededBits(1, "count")
    taken = [bits.take(n) for n in (8, 8, 3, 3, 0, 16)]
    assert [len(t) for t in taken] == [8, 8, 3, 3, 0, 16]
    assert taken[0] != taken[1]
    assert taken[2] != taken[3]


def test_seeded_bits_are_the_same_on_every_machine() -> None:
    assert SeededBits(2006, "aol").take(12).hex() == "c09e094b0a3732d3d2928f48"


@pytest.mark.parametrize("kind", [np.uint16, np.uint32, np.uint64])
def test_words_fill_their_whole_range(kind: type[np.uint16]) -> None:
    top = int(np.iinfo(kind).max)
    drawn = words(SystemBits(), kind, 4000)
    assert drawn.size == 4000
    assert drawn.min() < top // 100 < 99 * (top // 100) < drawn.max()  # fails with probability 2 x .99^4000


def test_integer_has_the_asked_width() -> None:
    class Ones:
        def take(self, size: int) -> bytes:
            return b"\xff" * size

    assert [integer(Ones(), width) for width in (0, 1, 7, 8, 9, 128)] == [(1 << w) - 1 for w in (0, 1, 7, 8, 9, 128)]
