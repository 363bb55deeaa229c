"""What audits of this very code found: kept in the user's data directory, quoted by the card of every release.

Results are keyed by the version and by a hash of the installed source: of any other code nothing is quoted. Audits run
on made-up logs only, so what they find may be public. A file that cannot be read counts as no audit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import hubbub
from hubbub.files import write_whole
from hubbub.privacy.ledger import default_path

FORMAT = "hubbub-audit"
SHARED = "shared code"
"""What every mechanism rests on: reading, writing, booking, noise."""
NOT_RUN: dict[str, object] = {"verdict": "not run"}


@dataclass(frozen=True)
class Found:
    """What the last audit of one variant of a mechanism found."""

    on: str
    quick: bool
    checks: int
    refuted: int
    """Checks that refuted something proven."""
    proven_epsilon: float | None
    empirical_epsilon: float | None
    """The largest ε that was refuted at the proven δ, where the two are nearest: a lower bound, and the ε it is of."""

    def __post_init__(self) -> None:
        """Numbers are numbers: a card has no room for other words."""
        date.fromisoformat(self.on)
        numbers = (self.proven_epsilon, self.empirical_epsilon)
        if not all(x is None or (isinstance(x, float) and 0 <= x < float("inf")) for x in numbers):
            raise ValueError("an ε of an audit is no number")
        if type(self.quick) is not bool or not all(type(n) is int and n >= 0 for n in (self.checks, self.refuted)):
            raise ValueError("an audit has no such numbers")

    def record(self) -> dict[str, object]:
        """The finding as a card quotes it; "not refuted" is the best an audit can say."""
        return {"verdict": "refuted" if self.refuted else "not refuted"} | asdict(self)

    @staticmethod
    def read(record: Mapping[str, Any]) -> Found | None:
        """A finding from a card; None if no audit was run."""
        if record.get("verdict") == NOT_RUN["verdict"]:
            return None
        return Found(**{k: v for k, v in record.items() if k not in ("of", "verdict")})


@lru_cache(maxsize=1)
def source() -> str:
    """The version, and a hash over every installed file of the package."""
    root, whole = Path(hubbub.__file__).parent, hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".html", ".md")):
        whole.update(f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"{hubbub.__version__} {whole.hexdigest()}"


def place() -> Path:
    """The file in which findings are kept: beside the ledger."""
    return default_path().expanduser().with_name("audit.json")


def known() -> dict[str, Found]:
    """What was found about the code that runs, by mechanism and variant."""
    try:
        document = json.loads(place().read_text(encoding="utf-8"))
        if document["format"] != FORMAT or document["source"] != source():
            return {}
        return {of: Found(**found) for of, found in document["found"].items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return {}


def keep(found: Mapping[str, Found]) -> Path:
    """Store what an audit found; what is known of other mechanisms stays."""
    document = {"format": FORMAT, "source": source(), "found": {k: asdict(v) for k, v in {**known(), **found}.items()}}
    path = place()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, json.dumps(document, indent=2, allow_nan=False) + "\n")
    return path


def summary(rows: Iterable[Any], quick: bool) -> dict[str, Found]:
    """Rows of an audit as what is kept of them."""
    grouped: dict[str, list[Any]] = {}
    for row in rows:
        grouped.setdefault(SHARED if row.mechanism == "shared" else f"{row.mechanism} {row.variant}", []).append(row)
    today = datetime.now(UTC).date().isoformat()
    found = {}
    for of, theirs in grouped.items():
        proven = [r for r in theirs if r.against == "proven"]
        near = max((r for r in proven if r.epsilon), key=lambda r: r.empirical / r.epsilon, default=None)
        numbers = (None, None) if near is None else (float(near.epsilon), float(near.empirical))
        found[of] = Found(today, quick, len(proven), sum(r.refuted for r in proven), *numbers)
    return found
