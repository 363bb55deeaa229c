"""Sessions: sequences of two queries or more, as subsequences of what a user asked without a pause."""

from functools import partial

from hubbub.steps.keys.base import Keys
from hubbub.steps.sessions import GAP
from hubbub.steps.subsequences import TABLE, mined


def subsequences(gap: int = GAP, l_q: int = 3, l_s: int | None = None, each: bool = False) -> Keys:
    """The kind of key: subsequences of the first l_q queries of a user's first l_s sessions, or of all of them.

    A query asked again at once stands once, unless `each` search counts.
    """
    return Keys(
        name="sessions",
        columns=("queries",),
        events=f'SELECT uid, "time", queries FROM {TABLE}',
        order=('"time"', "queries"),
        sequence=True,
        timed=True,
        prepare=partial(mined, gap=gap, l_q=l_q, l_s=l_s, each=each),
    )


SESSIONS = subsequences()
