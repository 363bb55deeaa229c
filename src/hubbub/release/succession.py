"""A release in the place of an earlier one: its card names the earlier card, and a notice there names the new one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hubbub.card.check import load, parsed, public_folder, refuse_draft
from hubbub.card.notice import stated_reason, write_notice
from hubbub.card.schema import Card
from hubbub.errors import HubbubError, ParameterError


@dataclass(frozen=True)
class Earlier:
    """The release that is superseded."""

    path: Path
    card: Card

    @staticmethod
    def opened(release: str | None, reason: str | None) -> Earlier | None:
        """What `--supersedes` and `--because` name; None if nothing is superseded."""
        if release is None:
            if reason is not None:
                raise ParameterError("--because says why a release is superseded.", next="name it with --supersedes")
            return None
        stated_reason(reason or "")
        document = load(release)
        refuse_draft(document, release)
        return Earlier(Path(release), parsed(document))

    def named(self, reason: str) -> dict[str, str]:
        """The earlier release as the new card names it."""
        return {"id": self.card.release.id, "card": self.card.integrity, "reason": stated_reason(reason)}

    def tell(self, successor: Path) -> str:
        """Write the notice beside the earlier card; what goes wrong comes back as a sentence: the new one stands."""
        new = parsed(load(successor))
        named = new.release.supersedes
        try:
            write_notice(public_folder(self.path), self.card, "superseded", named.reason if named else "", new)
        except HubbubError as error:
            again = f'hubbub withdraw {self.path} --superseded-by {successor} --reason "…"'
            return f"the earlier release has no notice yet ({str(error).splitlines()[0]}); write it with: {again}"
        return ""
