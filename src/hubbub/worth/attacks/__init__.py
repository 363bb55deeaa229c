"""What an attacker learns from a release: the classic attacks, one file each, for the owner's eyes only.

homogeneity     all who could have asked it asked it              (Götz et al., Example 1)
active          fake accounts around one target                   (Götz et al., Example 2)
hash_inversion  words behind hashes, by how often they are used   (Kumar et al. 2007)
membership      was she in the log? a likelihood ratio over her history
linkage         a few known searches find a whole history         (the AOL release)
world           the log with some users away and fake accounts added, and a mechanism run on it in memory
base            what an attack is given, and how its success is counted
run             all of them in turn; results to `owner-only/attacks.json`
"""

from __future__ import annotations

from hubbub.errors import ParameterError
from hubbub.worth.attacks.active import Active
from hubbub.worth.attacks.base import Attack, AttackSetup, NotAttackable, Outcome, Rate
from hubbub.worth.attacks.hash_inversion import HashInversion
from hubbub.worth.attacks.homogeneity import Homogeneity
from hubbub.worth.attacks.linkage import Linkage
from hubbub.worth.attacks.membership import Membership

__all__ = [
    "ATTACKS",
    "Active",
    "Attack",
    "AttackSetup",
    "HashInversion",
    "Homogeneity",
    "Linkage",
    "Membership",
    "NotAttackable",
    "Outcome",
    "Rate",
    "build",
]


ATTACKS: dict[str, type[Attack]] = {
    kind.name: kind for kind in (Active, HashInversion, Homogeneity, Linkage, Membership)
}
"""Every attack by its name."""


def build(name: str) -> Attack:
    """An attack by its name."""
    if name not in ATTACKS:
        raise ParameterError("There is no such attack.", given=name, allowed=", ".join(ATTACKS))
    return ATTACKS[name]()
