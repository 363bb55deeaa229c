"""The privacy card: what was released, what is claimed, and everything needed to check it again."""

from hubbub.card.check import Finding, check
from hubbub.card.registry import registry_entry

__all__ = ["Finding", "check", "registry_entry"]
