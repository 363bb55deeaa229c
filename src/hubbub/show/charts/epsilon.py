"""Claimed, proven, empirical ε on one axis: three words, never one number.

Audits run on parameters of their own, so what they refuted stands beside what is proven for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hubbub.privacy.guarantee import number
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import series

WORDS = ("proven", "claimed", "empirical, at least")


def rows(epsilon: Mapping[str, Any]) -> list[dict[str, object]]:
    """Every ε that is known, with its word (claimed, proven, empirical) and what it is about."""
    audit = epsilon.get("audit") or {}
    known = {
        ("this release", "claimed"): epsilon.get("claimed"),
        ("this release", "proven"): epsilon.get("proven"),
        ("as audited", "proven"): audit.get("of_proven"),
        ("as audited", "empirical, at least"): audit.get("empirical"),
    }
    return [
        {"about": f"{about}: {word}", "word": word, "epsilon": float(value)}
        for (about, word), value in known.items()
        if value is not None
    ]


def epsilons(epsilon: Mapping[str, Any]) -> Chart | None:
    """The chart; None if no ε is known."""
    found = rows(epsilon)
    if not found:
        return None
    most = max(float(str(row["epsilon"])) for row in found)
    y = {"field": "about", "type": "nominal", "title": None, "sort": [row["about"] for row in found]}
    x = {"field": "epsilon", "type": "quantitative", "title": "ε", "scale": {"domain": [0, most * 1.05 or 1]}}
    words = {key: value | {"legend": None} for key, value in series("word", WORDS).items()}
    spec = {
        "data": {"values": found},
        "encoding": {"x": x, "y": y | {"axis": {"labelLimit": 220, "grid": True}}},
        "layer": [
            {"mark": {"type": "point", "size": 130}, "encoding": words},
            {"mark": {"type": "text", "align": "right", "dx": -12}, "encoding": {"text": {"field": "epsilon"}}},
        ],
        "height": 30 * len(found),
    }
    told = ", ".join(f"{row['about']} {number(float(str(row['epsilon'])))}" for row in found)
    return Chart("ε: claimed, proven, empirical", f"{told}.", spec, found)
