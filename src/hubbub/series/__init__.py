"""A series: period after period under one guarantee, with the owner's state between them.

plan      what is fixed before the first look, and booked as one entry of the ledger
story     the commands: add a period, show, end                 run       one run, commit by commit
records   who held what, in the engine                          publish   what a period publishes
state     files and manifest, tied to the ledger                arrays    what users have left, what keys gathered
kept      what the state has of one table                       erase     a user who asks for it contributes no more
periods   the other unit: crowd for each period                 next_period   adds a period, whatever the unit
placed    where a period stands, a draft or not                 reviewed  a period without what was struck
struck    what reviews have struck, which stays out
first_pairs   which pairs are counted, where a user has more than she may give
"""

from __future__ import annotations

from hubbub.series.erase import erase
from hubbub.series.next_period import add
from hubbub.series.placed import SeriesPeriod
from hubbub.series.plan import SeriesPlan, fix
from hubbub.series.story import SeriesStanding, end, published, show

__all__ = ["SeriesPeriod", "SeriesPlan", "SeriesStanding", "add", "end", "erase", "fix", "published", "show"]
