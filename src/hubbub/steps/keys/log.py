"""A whole log in SearchLog's columns: what synthetic users would have searched. Never counted itself."""

from hubbub.steps.keys.base import Keys

LOG = Keys(name="log", columns=("user", "time", "query", "rank", "url"), events="", order=(), rows=True)
