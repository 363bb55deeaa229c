"""Releases in the formats of other tools: computed from `public/` alone, so they cost nothing and tell nothing new.

    check the release → write the format's files → card and README beside them → whole or not at all

One file per format, registered on its last line and found by itself. Every export carries the card, the claim in its
README, and the stamp of a release that is not private.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from hubbub.errors import OutputError, ParameterError
from hubbub.files import permit, require_free, whole
from hubbub.show.export.base import FORMATS, CheckedRelease, Folder, WrittenFile
from hubbub.show.export.readme import WARNING, readme

__all__ = ["Exported", "export", "formats"]


@dataclass(frozen=True)
class Exported:
    """What was written, and what is proven of it."""

    out: Path
    format: str
    release: str
    sentence: str
    private: bool
    files: tuple[WrittenFile, ...]


def formats() -> dict[str, str]:
    """The name of every format, and what it is."""
    return {name: form.about for name, form in FORMATS.items()}


def export(release: str | Path, to: str, out: str | Path, *, gzip: bool = False, group: str = "") -> Exported:
    """Write a release in another format into a new folder; the Python form of `hubbub export`.

    `group` is NAME=VALUE: the tables by NAME, of that group alone, in the place of those for everybody.
    """
    path = Path(out).absolute()
    form = FORMATS.named(to)
    if gzip and not form.text:
        raise ParameterError("This format is compressed already.", given=f"--to {to} --gzip", next="leave --gzip out")
    if group and form.copies:
        allowed = ", ".join(name for name, one in FORMATS.items() if not one.copies)
        raise ParameterError(
            "This format is a copy of the release.", given=f"--to {to} --group {group}", allowed=allowed
        )
    require_free(path)
    source = CheckedRelease.open(release, group)
    _refuse_inside(path, source.public)
    form.ready(source)
    with whole(path) as folder:
        files = Folder(folder, zipped=gzip)
        form.write(source, files)
        shutil.copyfile(source.public / "card.json", folder / "card.json")
        (folder / "README.md").write_text(readme(source, form, files), encoding="utf-8")
        if source.card.mechanism.stamp:
            (folder / "NOT-PRIVATE.txt").write_text(f"{WARNING}\n\n{source.card.claim.sentence}\n", encoding="utf-8")
        permit(folder, 0o755, 0o644)
    card = source.card
    return Exported(path, to, card.release.id, card.claim.sentence, card.mechanism.private, tuple(files.written))


def _refuse_inside(out: Path, public: Path) -> None:
    """A release holds the files its card lists and no other."""
    home = public.resolve()
    home = home.parent if home.name == "public" else home
    if home in out.resolve().parents:
        raise OutputError("The export would lie inside the release.", given=out, next="choose an --out outside of it")
