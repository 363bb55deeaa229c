"""What the page asks for, as the command that does it: the same options, the same checks, the same refusals."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hubbub.errors import ParameterError
from hubbub.mechanisms import Mechanism, Parameter, build

OFFERED = ("crowd", "korolova", "zealous", "gaussian", "sips", "adaptive")
"""Mechanisms with a quick estimate, all of them private."""
RAW = ("b", "b_q", "b_c", "K", "K_c", "lambda", "tau_prime", "analysis", "U")
"""Parameters that replace (ε, δ), or that belong to variants as published: for the command line."""
BOUNDS = {"korolova": "d", "zealous": "m", "gaussian": "d", "sips": "d", "adaptive": "d", "crowd": "D"}
TRIED = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Asked:
    """A mechanism and everything that shapes it, as text."""

    mechanism: str
    settings: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]

    @staticmethod
    def read(given: Any) -> Asked:
        """From what the page sent; anything else is refused."""
        if not isinstance(given, dict) or not isinstance(given.get("settings"), dict):
            raise ParameterError("This is no question of the studio's page.", next="reload the page")
        if given.get("mechanism") not in OFFERED:
            raise ParameterError(
                "There is no such mechanism here.", given=given.get("mechanism"), allowed=", ".join(OFFERED)
            )
        tables = given.get("tables") or []
        if not isinstance(tables, list) or not all(isinstance(t, str) for t in tables):
            raise ParameterError("The tables are not a list.", next="reload the page")
        if not tables:
            raise ParameterError("No table is wanted.", next="choose at least one table")
        settings = {str(k): str(v).strip() for k, v in given["settings"].items() if str(v).strip()}
        return Asked(given["mechanism"], tuple(sorted(settings.items())), tuple(tables))

    def build(self) -> Mechanism:
        """The mechanism, calibrated; a slider that comes back finds it again."""
        return _built(self)

    def options(self) -> list[str]:
        """As options of `hubbub release`."""
        settings = dict(self.settings)
        words = ["--mechanism", self.mechanism]
        for name in ("epsilon", "delta"):
            if name in settings:
                words += [f"--{name}", settings.pop(name)]
        for name, value in settings.items():
            words += ["--set", f"{name}={value}"]
        return [*words, "--tables", ",".join(self.tables)]


@lru_cache(maxsize=256)
def _built(asked: Asked) -> Mechanism:
    return build(asked.mechanism, dict(asked.settings), tables=list(asked.tables))


def rivals(epsilon: str, delta: str) -> dict[str, list[Asked]]:
    """Every mechanism at the same (ε, δ) for queries alone, with bounds to try; crowd has its own default."""
    found: dict[str, list[Asked]] = {}
    for name in OFFERED:
        budget = (("delta", delta), ("epsilon", epsilon))
        limits = [()] if name == "crowd" else [((BOUNDS[name], str(n)),) for n in TRIED]
        found[name] = [Asked(name, tuple(sorted((*budget, *limit))), ("queries",)) for limit in limits]
    return found


def choices(mechanism: type[Mechanism]) -> list[Parameter]:
    """The parameters that the page offers besides ε and δ."""
    return [p for p in mechanism.parameters if p.name not in ("epsilon", "delta", *RAW)]


def release_command(given: Mapping[str, Any], asked: Asked, out: Path, config: str | None) -> list[str]:
    """`hubbub release …`, word by word. `given` are the studio's own options about the log and the ledger."""
    words = ["release", str(given["log"]), *asked.options(), "--out", str(out)]
    for name, value in given.items():
        if name != "log" and value is not None and value is not False:
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return words + (["--config", config] if config else [])


def spoken(words: list[str]) -> str:
    """A command as somebody types it."""
    return shlex.join(["hubbub", *words])
