"""A card as an entry of the DP Deployments Registry (its published schema, tier 3), written as YAML."""

from __future__ import annotations

import json
import re

from hubbub.card.schema import NOT_STATED, Card
from hubbub.card.words import noise_of, rule_of

VARIANTS = {"pure": "Pure DP", "approximate": "Approximate DP"}


def registry_entry(card: Card) -> dict[str, object]:
    """The registry's fields, filled from the card alone."""
    release, claim, unit = card.release, card.claim, card.unit
    limits = "; ".join(f"{b.stage} <= {b.limit} ({b.how})" for b in card.bounding)
    parameters = {k: v for k, v in (("epsilon", claim.epsilon), ("delta", claim.delta)) if v is not None}
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", release.id.lower()).strip("-") or "release",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": release.title,
                "data_curators": release.curator,
                "intended_use": release.intended_use,
                "data_product_type": "Dataset",
                "data_product_region": release.region,
                "description": f"Search log released as {', '.join(release.contains)}. {claim.sentence}",
                "publication_date": release.published,
                "data_product_sector": "Technology",
            },
            "dp_variant": {
                "variant_name": VARIANTS.get(claim.definition, "Custom"),
                "data_domain": f"Search logs with one user column ({unit.column})",
                "unprotected_quantities": _bullets(f"{u.what}: {u.why}" for u in card.unprotected),
            },
            "privacy_loss": {
                "privacy_unit": unit.name,
                "privacy_unit_details": f"{unit.means}; {unit.neighbouring}; {limits}",
                "privacy_parameters": parameters,
                "privacy_parameters_details": claim.sentence,
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": "The curator sees the raw log; readers see only the release.",
                "release_type": "One release",
                "release_type_details": f"Planned releases: {card.accounting.planned_releases}.",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": _bullets(card.post_processing),
                "composition": f"{card.accounting.method} ({card.accounting.library})",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _bullets(
                    f"{c.choice} (informed by {c.informed_by} information): {c.note}"
                    for c in card.data_dependent_choices
                ),
                "mechanisms": _bullets(
                    [
                        *(f"{s.name}: {noise_of(s)}; {rule_of(s)}" for s in card.steps),
                        f"{card.implementation.software}; {card.implementation.randomness.sampler}",
                        card.implementation.floating_point,
                        card.implementation.side_channels,
                    ]
                ),
                "justification": f"Proof: {card.steps[0].proof if card.steps else NOT_STATED}.",
            },
            "administrative": {
                "registry_authors": release.curator,
                "sources": card.implementation.software,
                "notes": f"Contact: {release.contact}. Licence: {release.licence}.",
            },
        },
    }


def to_yaml(value: object, indent: int = 0) -> str:
    """YAML for tables, lists, text and numbers; text is written in JSON's quotes, which YAML reads."""
    pad = "  " * indent
    if isinstance(value, dict):
        lines = []
        for key, item in value.items():
            nested = isinstance(item, dict | list) and item
            lines.append(f"{pad}{key}:\n{to_yaml(item, indent + 1)}" if nested else f"{pad}{key}: {_scalar(item)}\n")
        return "".join(lines)
    if isinstance(value, list):
        return "".join(f"{pad}- {_scalar(item)}\n" for item in value)
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, float) and "e" in (text := repr(value)) and "." not in text:
        return text.replace("e", ".0e")  # YAML reads 1e-06 as text, 1.0e-06 as a number
    return json.dumps(value, ensure_ascii=False)


def _bullets(lines: object) -> str:
    return "\n".join(f"- {line}" for line in lines)  # type: ignore[attr-defined]
