"""A folder for the Hugging Face Hub: the public folder as it is, under a README whose head says how to load it.

The tables keep their bytes, so `hubbub card EXPORT --check` checks the export as it would the release.
"""

from __future__ import annotations

import shutil
from typing import ClassVar

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, WrittenFile, register
from hubbub.show.hub import front_matter

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
        """The data card's metadata."""
        return front_matter(card, f"{PUBLIC}/")

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


register(HuggingFace())
