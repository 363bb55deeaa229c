"""A folder for the Hugging Face Hub: the public folder as it is, under a README whose head says how to load it.

The tables keep their bytes, so `hubbub card EXPORT --check` checks the export as it would the release.
"""

from __future__ import annotations

import re
import shutil
from typing import ClassVar

from hubbub.card.registry import to_yaml
from hubbub.card.schema import NOT_STATED, Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, WrittenFile, register

LICENCES = (
    *("cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-3.0"),
    *("cc-by-nc-4.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "pddl", "odc-by", "odbl", "mit"),
    *("apache-2.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0", "unlicense"),
)
"""Licences of data that the Hub knows by these names."""
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B")
PUBLIC = "public"


class HuggingFace(Format):
    """The release with a data card of the Hub's kind."""

    name: ClassVar[str] = "huggingface"
    about: ClassVar[str] = "a dataset folder for the Hugging Face Hub: data card, Parquet files"
    text: ClassVar[bool] = False
    copies: ClassVar[bool] = True

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The public folder, byte by byte: the files that its card lists, and the card."""
        (folder.path / PUBLIC).mkdir()
        for file in source.card.release.files:
            shutil.copyfile(source.public / file.path, folder.path / PUBLIC / file.path)
            if file.rows is not None:
                folder.written.append(WrittenFile(f"{PUBLIC}/{file.path}", file.rows, ", ".join(file.columns or [])))
        shutil.copyfile(source.public / "card.json", folder.path / PUBLIC / "card.json")

    def front(self, card: Card) -> str:
        """The data card's metadata: https://huggingface.co/docs/hub/datasets-cards."""
        title = card.release.title if card.release.title != NOT_STATED else card.release.id
        stamp = card.mechanism.stamp
        tables = [file for file in card.release.files if file.rows is not None]
        head: dict[str, object] = {"pretty_name": _printable(f"{stamp}: {title}" if stamp else title)}
        head |= licence(card.release.licence)
        head |= {
            "task_categories": ["text-retrieval"],
            "size_categories": [size(sum(file.rows or 0 for file in tables))],
            "tags": [
                *("search-log", "query-log", "hubbub"),
                "not-private" if stamp else "differential-privacy",
            ],
            "configs": [
                {"config_name": file.path.removesuffix(".parquet")}
                | {"data_files": [{"split": "train", "path": f"{PUBLIC}/{file.path}"}]}
                | ({"default": True} if file is tables[0] else {})
                for file in tables
            ],
        }
        return f"---\n{to_yaml(head)}---\n\n"

    def notes(self, card: Card) -> str:
        """For the README: one configuration per table, with the bytes of the release."""
        first = card.release.contains[0]
        return (
            "Every table is a configuration with one split, `train`, which is all of it. `public/` is the release "
            "as it was written, its own page and README included: `hubbub card . --check` in this folder checks "
            "every hash, ε and δ.\n\n"
            "```\n"
            "import datasets\n\n"
            f'{first} = datasets.load_dataset("path/of/this/folder", "{first}", split="train")\n'
            "```"
        )


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


register(HuggingFace())
