"""The parameters of section 4.2, noise on the optimal numbers of rows; `published/end_to_end.py` does what they say."""

from __future__ import annotations

from hubbub.mechanisms.base import Parameter

NOISE = (
    Parameter(
        "noise", "number", "ε′ of section 4.2: noise on the optimal counts (published)", None, 0, 1000, open_low=True
    ),
    Parameter("difference", "number", "d of section 4.2: how far a count may move", 1, 0, 10**6, open_low=True),
    Parameter("remove", "choice", "section 4.2: remove users who move a count further", "no", choices=("no", "yes")),
)
