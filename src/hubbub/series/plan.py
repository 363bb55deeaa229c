"""What is fixed about a series before its first look: written once, sealed, and booked in the ledger as one entry."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import hubbub
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner, read_owner
from hubbub.card.schema import sha256_of
from hubbub.errors import InputError, ParameterError, Refused
from hubbub.files import permit, whole
from hubbub.log.left_out import LeftOut
from hubbub.mechanisms.series import Series, settings_text
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.privacy.compose import loss_record
from hubbub.privacy.fitting import require_room
from hubbub.privacy.guarantee import Guarantee, typeset
from hubbub.privacy.ledger import Output, named, refuse_new
from hubbub.public.lists import QueryPool
from hubbub.release.earlier import settled_lists
from hubbub.release.folder import DO_NOT_PUBLISH

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource
    from hubbub.privacy.ledger import Entry, Ledger

FORMAT, VERSION = "hubbub-series-plan", 1
OWNER_ONLY, PLAN, STATE, PUBLISHED = "owner-only", "plan.json", "state", "public"
PLAIN = (
    "population",
    "dataset",
    "lag",
    "users_public",
    "max_rejects",
    "seed",
    "not_private",
    "screening",
    "left_out",
    "id",
    "secret",
    "constants",
)
LIST = "list.parquet"
BOOKED = "plan"
"""How the ledger names the plan among what it remembers of the entry."""


@dataclass(frozen=True)
class SeriesPlan:
    """Everything about a series that never changes."""

    mechanism: Series
    population: str = "default"
    dataset: str = "series"
    owner: Owner = field(default_factory=Owner)
    lag: int = 0
    """Days after the end of a period before it may be run, so that late records are in."""
    users_public: int | None = None
    max_rejects: float = 0.05
    seed: int | None = None
    not_private: bool = False
    screening: Mapping[str, Any] | None = None
    """How the log of every period is screened: the options, and what they name."""
    left_out: Mapping[str, Any] | None = None
    """Whom and what every period leaves out, by public rules (log/left_out.py)."""
    id: str = ""
    secret: str = ""
    """The key of the hash that fills pools, in hex: drawn once for the series."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """What the code that fixed the plan made of its parameters: no run may make anything else of them."""

    def guarantee(self) -> Guarantee:
        """What the series proves; a seeded one proves nothing."""
        return self.mechanism.proven().of_run(seeded=self.seed is not None)

    def noise(self) -> NoiseSource:
        """Where its noise comes from."""
        return SecureNoise() if self.seed is None else SeededNoise(self.seed)

    def facts(self, mechanism: Series, booked: Booked, about: Mapping[str, Any]) -> Facts:
        """What the card of a period is told, with what its run was told about the log."""
        whole_series = mechanism.calendar.span(0, int(mechanism.settings["longest"]) - 1)
        return Facts(
            replace(self.owner, period=whole_series),
            booked,
            str(about["user_column"]),
            self.seed is not None,
            self.max_rejects,
            self.users_public,
            drop_outside=True,
            other_people=bool(about["other_people"]),
            own_query=bool(about["own_query"]),
            screening=None if self.screening is None else self.screening["record"],
            left_out=LeftOut(**self.left_out or {}),
        )

    def closes(self, period: int) -> date:
        """The first day on which a period may be run."""
        return self.mechanism.calendar.ends(period) + timedelta(days=1 + self.lag)

    # -------------------------------------------------------------- as a file

    def text(self) -> str:
        """The plan as it is kept, sealed with a hash of itself."""
        known: dict[str, Any] = {
            "parameters": dict(settings_text(self.mechanism)),
            "tables": list(self.mechanism.tables),
            "list": list_record(self.mechanism.known_queries),
            "owner": owner_table(self.owner),
        }
        return sealed(FORMAT, known | {name: getattr(self, name) for name in PLAIN})

    @staticmethod
    def read(path: Path) -> SeriesPlan:
        """A plan as it was written; refused if a hand has changed it."""
        known = unsealed(path, FORMAT)
        mechanism = Series(
            tables=known.pop("tables", None),
            **listed(path.parent / LIST, known.pop("list", None)),
            **known.pop("parameters"),
        )
        owner = read_owner(known.pop("owner"))
        return SeriesPlan(mechanism, owner=owner, **known)


def list_record(known: QueryPool | None) -> dict[str, str] | None:
    """A list of known queries as the plan has it: what a card says of it, and the hash of its queries."""
    return None if known is None else known.record() | {"hash": known.queries}


def listed(path: Path, record: dict[str, str] | None) -> dict[str, Any]:
    """The list of known queries that a plan was fixed with, by the name under which a mechanism takes it."""
    if record is None:
        return {}
    try:
        rows = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError("The series' list of known queries cannot be read.", given=f"{path}: {error}") from None
    known = replace(QueryPool.read(record), rows=rows)
    if known.queries != record["hash"]:
        raise Refused(
            "The list of known queries is not the one that the series was planned with.",
            given=path,
            next="put it back as it was; nothing was spent by this attempt",
        )
    return {"previous" if known.use == "previous" else "public_list": known}


def owner_table(owner: Owner) -> dict[str, Any]:
    """What the owner states, as a table; periods are the series' own."""
    return {name: value for name, value in asdict(owner).items() if name != "period"}


def sealed(format: str, known: Mapping[str, Any]) -> str:
    """A plan as text, with a hash of itself."""
    told = {"format": format, "version": VERSION} | dict(known)
    return json.dumps(told | {"seal": _seal(told)}, indent=1, ensure_ascii=False, default=list) + "\n"


def format_of(path: Path) -> str:
    """Which kind of series a plan is of."""
    return str(plain_plan(path).get("format"))


def unsealed(path: Path, format: str) -> dict[str, Any]:
    """What a plan says; refused if a hand has changed it."""
    known = plain_plan(path)
    if _seal(known) != known.pop("seal", ""):
        raise Refused(
            "The plan of the series was changed after it was fixed.",
            given=path,
            next="put it back as it was: whatever it now says was not decided before the first look",
        )
    if (known.pop("format", None), known.pop("version", None)) != (format, VERSION):
        raise InputError(
            "This plan is of another kind of series, or of another version of hubbub.",
            given=path,
            allowed=f"{format}, version {VERSION}",
            next="where each period is a release of its own, see: hubbub ledger show",
        )
    return known


def plain_plan(path: Path) -> dict[str, Any]:
    """A plan as it stands in its file, whoever wrote it there."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(known, dict):
            raise ValueError("not a plan")
        return known
    except (OSError, ValueError) as error:
        raise InputError(
            "There is no series here that can be read.",
            given=f"{path}: {error}",
            next="give the folder that `hubbub series plan` made",
        ) from None


def _seal(known: Mapping[str, Any]) -> str:
    told = {name: value for name, value in known.items() if name != "seal"}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=list).encode()).hexdigest()


def fix(plan: SeriesPlan, folder: Path, ledger: Ledger, *, new_population: bool = False) -> Entry:
    """Reserve the whole budget as one entry of the ledger, and write the folder of the series."""
    plan = replace(plan, mechanism=settled_lists(ledger, plan.mechanism, plan.population))
    refuse_plan(plan, ledger, new_population=new_population)
    noise = plan.noise()
    mechanism = plan.mechanism
    secret = noise.secret("series pools").hex()
    plan = replace(plan, id=secrets.token_hex(16), secret=secret, constants=mechanism.derived())
    with whole(folder) as made:
        inside = made / OWNER_ONLY
        inside.mkdir(0o700)
        (inside / "NOT-PRIVATE.txt").write_text(DO_NOT_PUBLISH, encoding="utf-8")
        (inside / PLAN).write_text(plan.text(), encoding="utf-8")
        if mechanism.known_queries is not None:
            pq.write_table(mechanism.known_queries.rows, inside / LIST, compression="zstd")
        (inside / STATE).mkdir(0o700)
        permit(inside, 0o700, 0o600)
        entry = ledger.reserve(
            population=plan.population,
            dataset=plan.dataset,
            mechanism=mechanism.name,
            variant=mechanism.variant,
            loss=mechanism.loss(),
            private=plan.guarantee().private,
            parameters=dict(settings_text(mechanism)),
            software=f"hubbub {hubbub.__version__}",
            token=plan.id[:16],
            announced=new_population,
        )
        ledger.released(entry, {BOOKED: Output(sha256_of(inside / PLAN))})
    return entry


def refuse_plan(plan: SeriesPlan, ledger: Ledger, *, new_population: bool) -> None:
    """Everything that speaks against a series before anything is reserved."""
    named(plan.population)
    named(plan.dataset)
    if not 0 <= plan.lag <= 366:
        raise ParameterError("The closing lag is out of its range.", given=plan.lag, allowed="0 to 366 days")
    guarantee = plan.guarantee()
    if not guarantee.private and not plan.not_private:
        raise Refused(
            f"This series would not be private: {guarantee.scope}.",
            given=f"--seed {plan.seed}",
            next="leave the seed out, or say --not-private: everything written is then stamped",
        )
    delta = Fraction(plan.mechanism.settings["delta"])
    if plan.users_public is not None and delta * plan.users_public >= 1 and not plan.not_private:
        raise Refused(
            "δ is too large for this many users: it would allow publishing somebody's data outright.",
            given=f"δ = {typeset(float(delta))} with {plan.users_public} declared users",
            allowed=f"δ below 1/N = {typeset(1 / plan.users_public)}",
            next="lower --delta",
        )
    for law in plan.mechanism.laws():
        law.sampler()
    refuse_new(plan.population, ledger.populations(), stated=new_population)
    require_room(ledger, plan.population, plan.mechanism, guarantee.private)


def opened(folder: Path, ledger: Ledger) -> tuple[SeriesPlan, Entry]:
    """The plan of a series and its entry in this ledger; refused where they do not belong together."""
    path = folder / OWNER_ONLY / PLAN
    plan = SeriesPlan.read(path)
    entry = next((e for e in ledger.entries(plan.population) if e.token == plan.id[:16]), None)
    if entry is None:
        raise Refused(
            "The ledger knows no such series, so nothing was reserved for it here.",
            given=f"{folder}, population {plan.population}; ledger {ledger.path}",
            next="give the ledger with which it was planned: --ledger FILE",
        )
    kept = ledger.outputs().get(entry.id, {}).get(BOOKED)
    if kept is None or kept.sha256 != sha256_of(path):
        raise Refused(
            "The plan of the series is not the one that was booked.",
            given=path,
            next="put it back as it was; nothing was spent by this attempt",
        )
    computed = plan.mechanism.derived()
    other = sorted(name for name in {*plan.constants, *computed} if plan.constants.get(name) != computed.get(name))
    if other or loss_record(entry.loss) != loss_record(plan.mechanism.loss()):
        raise Refused(
            "This hubbub computes other constants than those of the plan, and none may change along the way.",
            given=f"hubbub {hubbub.__version__}: {', '.join(other) or 'what the series costs'} differ",
            allowed=f"what was fixed by {entry.software}",
            next="go on with the version that planned the series; nothing was spent by this attempt",
        )
    return plan, entry


def today() -> date:
    """The present day, in UTC as the days of a period are."""
    return datetime.now(UTC).date()
