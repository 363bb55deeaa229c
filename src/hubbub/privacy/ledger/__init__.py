"""The budget book: every release of a population, what it cost, and the cap it must stay under.

    book      Ledger: spending and looks, and reading them again
    accounts  its sums: what was spent, caps, the envelopes by which they are kept
    budget    whether a release fits, and how it is paid: no file, no SQL
    records   what a reader gets: an entry, a total, a look
    seen      which looks and releases were about the same data, whatever they were called; what was released
    names     populations and data sets, and what to do about one that is not known
    tables    what is in the file; the tables that version 2 added
    file      one SQLite file: made whole, opened only if intact, append-only, sealed, older versions upgraded
    words     what was spent and promised, in words
    trouble   what the file system or SQLite refused, in the user's words

What was reserved is spent, whatever happens next; reading changes nothing.
"""

from hubbub.privacy.ledger.book import Ledger
from hubbub.privacy.ledger.file import MARK, VERSION, default_path
from hubbub.privacy.ledger.names import DEFAULT, named, refuse_new, require_known
from hubbub.privacy.ledger.records import STATES, Entry, Look, Spent
from hubbub.privacy.ledger.seen import Output
from hubbub.privacy.ledger.tables import ADDED, TABLES

__all__ = [
    "ADDED",
    "DEFAULT",
    "MARK",
    "STATES",
    "TABLES",
    "VERSION",
    "Entry",
    "Ledger",
    "Look",
    "Output",
    "Spent",
    "default_path",
    "named",
    "refuse_new",
    "require_known",
]
