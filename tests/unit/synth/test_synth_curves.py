"""Tables of distributions, compared with the distributions."""

from __future__ import annotations

import numpy as np

from hubbub.synth.curves import QuantileTable, Ranks, beta, choose, cumulative, lognormal

EVENLY = (np.arange(1_000_000) + 0.5) / 1_000_000


def test_a_flat_density_is_zipfs_law() -> None:
    ranks = Ranks((0, 10), (1, 1))
    found = np.bincount(ranks(EVENLY)) / len(EVENLY)
    top = np.arange(1, 20)
    assert found[0] == 0
    assert np.allclose(found[1:20], np.log((top + 1) / top) / 10, rtol=0.002)


def test_a_tilt_moves_the_head_and_nothing_else() -> None:
    ranks = Ranks((0, 10), (1, 1), split=4.0)
    assert abs(ranks.head - 0.4) < 1e-3
    tilted = ranks.tilted(EVENLY, np.full(len(EVENLY), 0.7))
    assert abs((tilted < np.exp(4)).mean() - 0.7) < 0.003
    plain = ranks(EVENLY)
    top, plain_top = tilted[tilted < 50], plain[plain < 50]
    assert np.allclose(np.bincount(top) / len(top), np.bincount(plain_top) / len(plain_top), atol=1e-3)


def test_lognormal_and_beta_have_their_moments() -> None:
    logs = np.log(lognormal(4.75, 1.4)(EVENLY))
    assert abs(logs.mean() - 4.75) < 1e-3 and abs(logs.std() - 1.4) < 5e-3
    values = beta(1.6)(EVENLY)
    assert abs(values.mean() - 0.5) < 1e-4 and abs(values.var() - 0.25 / 4.2) < 1e-4


def test_entries_do_not_depend_on_the_last_bits() -> None:
    quantiles = np.exp(np.linspace(0, 30, (1 << 14) + 1))
    nudged = quantiles * (1 + 2**-52)
    assert (QuantileTable(quantiles)(EVENLY[::97]) == QuantileTable(nudged)(EVENLY[::97])).all()


def test_a_choice_beyond_the_last_is_one_more() -> None:
    assert choose(cumulative([1, 1, 2]), np.array([0.1, 0.25, 0.49, 0.5, 0.99])).tolist() == [0, 1, 1, 2, 2]
    assert choose(np.cumsum([0.2, 0.3]), np.array([0.1, 0.3, 0.7])).tolist() == [0, 1, 2]
