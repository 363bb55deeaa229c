"""What is counted: one file per kind of key."""

from hubbub.steps.keys.base import Keys
from hubbub.steps.keys.clicks import CLICKS
from hubbub.steps.keys.divided import base_of, by_name, divided, divided_name, group_of
from hubbub.steps.keys.itemsets import ITEMSETS, itemsets
from hubbub.steps.keys.keywords import KEYWORDS
from hubbub.steps.keys.log import LOG
from hubbub.steps.keys.ngrams import NGRAMS, ngrams
from hubbub.steps.keys.queries import QUERIES
from hubbub.steps.keys.sessions import SESSIONS, subsequences
from hubbub.steps.keys.transitions import TRANSITIONS, transitions

__all__ = [
    "CLICKS",
    "ITEMSETS",
    "KEYWORDS",
    "LOG",
    "NGRAMS",
    "QUERIES",
    "SESSIONS",
    "TRANSITIONS",
    "Keys",
    "base_of",
    "by_name",
    "divided",
    "divided_name",
    "group_of",
    "itemsets",
    "ngrams",
    "subsequences",
    "transitions",
]
