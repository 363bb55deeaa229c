"""The selection rules of the field, each from its paper, in floating point: they measure, they release nothing.

    sets        who holds which keys, as arrays            gauss       Gaussian noise and thresholds for weights
    parallel    weighted Gaussian, DP-SIPS, MAD2R          sequential  policy Gaussian, policy Laplace, greedy
    bernoulli   the non-additive rule: a chance for each weight

`bench/selection.py` runs them beside crowd. Where a paper's text could not be read, it says so.
"""
