"""The head of a README that the Hugging Face Hub and its `datasets` library read: licence, size, one name per table.

See https://huggingface.co/docs/hub/datasets-cards.
"""

from __future__ import annotations

import re

from hubbub.card.registry import to_yaml
from hubbub.card.schema import NOT_STATED, Card

LICENCES = (
    *("cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-3.0"),
    *("cc-by-nc-4.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "pddl", "odc-by", "odbl", "mit"),
    *("apache-2.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0", "unlicense"),
)
"""Licences of data that the Hub knows by these names."""
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B")


def front_matter(card: Card, folder: str = "") -> str:
    """YAML between two lines of dashes; every table is a configuration with one split, which is all of it."""
    title = card.release.title if card.release.title != NOT_STATED else card.release.id
    stamp = card.mechanism.stamp
    tables = [file for file in card.release.files if file.rows]  # `datasets` cannot open a table without rows
    head: dict[str, object] = {"pretty_name": _printable(f"{stamp}: {title}" if stamp else title)}
    head |= licence(card.release.licence)
    head |= {
        "task_categories": ["text-retrieval"],
        "size_categories": [size(sum(file.rows or 0 for file in tables))],
        "tags": ["search-log", "query-log", "hubbub", "not-private" if stamp else "differential-privacy"],
        "configs": [
            {"config_name": file.path.removesuffix(".parquet")}
            | {"data_files": [{"split": "train", "path": f"{folder}{file.path}"}]}
            | ({"default": True} if file is tables[0] else {})
            for file in tables
        ],
    }
    return f"---\n{to_yaml(head)}---\n\n"


def licence(stated: str) -> dict[str, object]:
    """The owner's licence by the Hub's name for it; else in the owner's words."""
    if stated == NOT_STATED:
        return {"license": "unknown"}
    if stated.strip().lower() in LICENCES:
        return {"license": stated.strip().lower()}
    name = re.sub(r"[^a-z0-9.]+", "-", stated.lower()).strip("-")[:60] or "as-stated"
    return {"license": "other", "license_name": name, "license_details": _printable(stated)}


def size(rows: int) -> str:
    """The Hub's size category for this many rows."""
    return SIZES[min(max(len(str(rows)) - 3, 0), len(SIZES) - 1)]


def _printable(text: str) -> str:
    """The text without the characters that YAML cannot hold."""
    return "".join(c if c.isprintable() else " " for c in text)
