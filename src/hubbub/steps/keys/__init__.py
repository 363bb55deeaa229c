"""What is counted: one kind of key a file."""

from hubbub.steps.keys.base import Keys
from hubbub.steps.keys.clicks import CLICKS
from hubbub.steps.keys.queries import QUERIES

__all__ = ["CLICKS", "QUERIES", "Keys"]
