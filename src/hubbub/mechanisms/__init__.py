"""One mechanism a file; the registry that the commands, the docs and the checks read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hubbub.errors import ParameterError
from hubbub.mechanisms.anonymity import KClick, KKeyword, KQuery, KSession, Pseudonyms, TokenHash
from hubbub.mechanisms.base import Mechanism, Parameter, Tables
from hubbub.mechanisms.baselines.adaptive import Adaptive
from hubbub.mechanisms.baselines.gaussian import GaussianThreshold
from hubbub.mechanisms.baselines.geometric import Geometric
from hubbub.mechanisms.baselines.sips import Sips
from hubbub.mechanisms.crowd import Crowd
from hubbub.mechanisms.korolova import Korolova
from hubbub.mechanisms.optimal import Optimal
from hubbub.mechanisms.safelog import Safelog
from hubbub.mechanisms.sessions import Sessions
from hubbub.mechanisms.zealous import Zealous

__all__ = [
    "Adaptive",
    "Crowd",
    "GaussianThreshold",
    "Geometric",
    "KClick",
    "KKeyword",
    "KQuery",
    "KSession",
    "Korolova",
    "Mechanism",
    "Optimal",
    "Parameter",
    "Pseudonyms",
    "Safelog",
    "Sessions",
    "Sips",
    "Tables",
    "TokenHash",
    "Zealous",
    "build",
    "mechanisms",
]


def mechanisms() -> dict[str, type[Mechanism]]:
    """Every mechanism by its name."""
    return dict(sorted(Mechanism.registry.items()))


def build(name: str, settings: Mapping[str, Any], **context: Any) -> Mechanism:
    """A mechanism by name; settings are values or text such as "0.5" or "1e-6"."""
    if name not in Mechanism.registry:
        raise ParameterError("There is no such mechanism.", given=name, allowed=", ".join(mechanisms()))
    return Mechanism.registry[name](**context, **settings)
