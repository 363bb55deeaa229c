"""Mechanisms, one per file or folder; what the commands, the docs and the checks know of them.

Every module of this folder is looked at when mechanisms are first asked for, and those of other packages after them
(hubbub/plugins.py). The names below are exported for Python; a new mechanism need not be among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hubbub.mechanisms.anonymity import (
    KClick,
    KCore,
    KKeyword,
    KQuery,
    KSession,
    KSimilar,
    KVocabulary,
    Pseudonyms,
    SecretSharing,
    TokenHash,
)
from hubbub.mechanisms.base import Mechanism, Parameter, Tables
from hubbub.mechanisms.baselines import Adaptive, GaussianThreshold, Geometric, Sips
from hubbub.mechanisms.crowd import Crowd
from hubbub.mechanisms.crowd.each import CrowdPerPeriod
from hubbub.mechanisms.crowd.items import CrowdOfItems
from hubbub.mechanisms.korolova import Korolova
from hubbub.mechanisms.ngrams import NGrams
from hubbub.mechanisms.optimal import Optimal
from hubbub.mechanisms.safelog import Safelog
from hubbub.mechanisms.series import Series
from hubbub.mechanisms.sessions import Sessions
from hubbub.mechanisms.zealous import Zealous

__all__ = [
    "Adaptive",
    "Crowd",
    "CrowdOfItems",
    "GaussianThreshold",
    "Geometric",
    "KClick",
    "KCore",
    "KKeyword",
    "KQuery",
    "KSession",
    "KSimilar",
    "KVocabulary",
    "Korolova",
    "Mechanism",
    "NGrams",
    "Optimal",
    "Parameter",
    "Pseudonyms",
    "Safelog",
    "SecretSharing",
    "Series",
    "Sessions",
    "Sips",
    "Tables",
    "TokenHash",
    "Zealous",
    "build",
    "build_stated",
    "mechanisms",
    "not_private",
    "private",
    "stated_mechanisms",
]


def mechanisms() -> dict[str, type[Mechanism]]:
    """Every mechanism by its name."""
    return dict(Mechanism.registry)


def private() -> list[str]:
    """The mechanisms that can prove something of users."""
    return [name for name, kind in mechanisms().items() if kind.provable]


def not_private() -> list[str]:
    """The mechanisms that cannot: to compare with, and to attack."""
    return [name for name, kind in mechanisms().items() if not kind.provable]


def build(name: str, settings: Mapping[str, Any], **context: Any) -> Mechanism:
    """A mechanism by name; settings are values or text such as "0.5" or "1e-6"."""
    return Mechanism.registry.named(name)(**context, **settings)


def stated_mechanisms() -> dict[str, type[Mechanism]]:
    """What a card may state: the mechanisms of one release, and the series that a period belongs to."""
    return mechanisms() | {kind.name: kind for kind in (CrowdPerPeriod, Series)}


def build_stated(name: str, settings: Mapping[str, Any], **context: Any) -> Mechanism:
    """What a card states, by name."""
    kinds = {kind.name: kind for kind in (CrowdPerPeriod, Series)}
    return kinds[name](**context, **settings) if name in kinds else build(name, settings, **context)
