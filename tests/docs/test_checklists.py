"""CONTRIBUTING's checklists, followed word for word: something tiny is added by the list alone and passes its contract.

Each example writes to exactly the places that its list names, in a copy of the repository. A place that the list
forgets leaves the example unknown or its test unrun; a place that does not exist, or that nothing needs, fails here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT

SECTION = re.compile(r"^### Add an? (\w+)\n(.*?)(?=^##)", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"^\d+\. `([^`]+)`", re.MULTILINE)
LISTS = {kind: ITEM.findall(text) for kind, text in SECTION.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))}
MOST = 6
END = "\n<!-- appended -->\n"

READER = '''"""The tiny format: user, epoch seconds and query, with semicolons between them."""

import re

from hubbub.ingest.fields import Layout
from hubbub.ingest.readers.base import FixedReader, LineShape, register

register(
    FixedReader(
        "tiny",
        "user;time;query",
        LineShape(re.compile(rb"[^;]+;\\d+;[^;]*"), "three fields"),
        {"user": "1", "time": "2", "query": "3"},
        Layout(b";", quoting=False, places={"user": 0, "time": 1, "query": 2}, least=3, most=3),
    )
)
'''
READER_TEST = """from hubbub.testing import check_reader


def record(n):
    return {"user": f"u{n}", "time": n, "query": "lilac", "rank": None, "url": None}


def test_contract(tmp_path):
    (tmp_path / "log.txt").write_text("".join(f"u{n};{n};lilac\\n" for n in range(12)))
    check_reader("tiny", tmp_path / "log.txt", total=12, first=record(0), ninth=record(8), last=record(11))
"""
READER_PROPERTY = """

def test_a_user_less_in_tiny(tmp_path):
    import pyarrow.parquet as pq

    from hubbub.ingest import ingest

    def read(users, where):
        where.mkdir()
        (where / "log.txt").write_text("".join(f"u{n % 5};{n};lilac\\n" for n in range(20) if n % 5 in users))
        return pq.read_table(ingest(where / "log.txt", where, format="tiny").log).to_pylist()

    everybody, others = read(range(5), tmp_path / "a"), read(range(1, 5), tmp_path / "b")
    assert [row for row in everybody if row["user"] != "u0"] == others
"""
MECHANISM = '''"""tiny: one query of each user, noisy counts, a threshold."""

from decimal import Decimal
from fractions import Fraction

from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.privacy.account import Domain, Step, smallest_threshold
from hubbub.privacy.guarantee import Claim
from hubbub.steps import bound
from hubbub.steps.count import count
from hubbub.steps.keys import QUERIES


class Tiny(Mechanism, register=True):
    name, paper, about, proof = "tiny", "none", "first queries", "docs/proofs/tiny.md"
    offers = {"queries": QUERIES}
    default_tables, variants, parameters = ("queries",), ("strict",), (EPSILON, DELTA)

    def resolve(self, given):
        return given

    def steps(self):
        scale, delta = 1 / Fraction(self.settings["epsilon"]), Fraction(self.settings["delta"])
        threshold = smallest_threshold(scale, Decimal(delta.numerator) / delta.denominator, 1, 1, 1)
        return (Step("queries", scale, threshold, 1, 1, 1, Domain.OPEN, self.proof),)

    def bounds(self):
        return (Bound("distinct queries per user", "l0", 1, "the first by time"),)

    def claimed(self):
        return Claim("nobody", self.loss().epsilon, self.loss().delta, True)

    def measure(self, log, mode):
        return {"queries": count(log, QUERIES, bound.first_keys(QUERIES, 1), mode)}

    def perturb(self, counts, noise):
        (step,) = self.steps()
        return {"queries": counts["queries"].test(Noisy("queries", step.scale, step.threshold), noise)}
'''
MECHANISM_TEST = """from hubbub.mechanisms import build
from hubbub.testing import check_mechanism


def test_contract():
    check_mechanism(build("tiny", {"epsilon": 1, "delta": "0.01"}))


def test_its_subjects_are_audited():
    from hubbub.audit.checks.generic import NO_SUBJECTS
    from typer.testing import CliRunner

    from hubbub.cli import app

    found = CliRunner().invoke(app, ["audit", "--quick", "--mechanism", "tiny"])
    assert found.exit_code == 0 and NO_SUBJECTS not in found.output, found.output
"""
ENGINE = '''"""tiny: DuckDB by another name."""

from hubbub.engines.duckdb import DuckDB


class Tiny(DuckDB):
    """An engine."""


def opened(work, master, memory, threads):
    """For `--engine tiny`."""
    return Tiny(work, memory=memory, threads=threads)
'''
ENGINE_TEST = """

def test_contract_of_tiny():
    from hubbub.engines.tiny import Tiny
    from hubbub.testing import check_engine

    check_engine(lambda work: Tiny(work))


def test_tiny_can_be_asked_for(tmp_path):
    from hubbub.engines import ENGINES
    from hubbub.log import read_log

    (tmp_path / "log.csv").write_text("user,query\\nu,lilac\\n")
    columns = {"user": "user", "query": "query"}
    with read_log(tmp_path / "log.csv", format="table", columns=columns, engine="tiny") as log:
        assert type(log.engine).__name__ == "Tiny" and "tiny" in ENGINES
"""
TASK = '''"""tiny: how many queries there are."""

from hubbub.worth.tasks.base import Task, need


class Tiny(Task, register=True):
    name, about, paper, reads = "tiny", "how many queries there are", "none", ("queries",)

    def score(self, original, release, setup):
        sides = (("original", original), ("release", release))
        return {"queries": {side: need(evidence, "queries", side).num_rows for side, evidence in sides}}
'''
TASK_TEST = """from hubbub.testing import check_task
from hubbub.worth.tasks import build


def test_contract():
    check_task(build("tiny"))
"""
EXPORTER = '''"""tiny: one query per line."""

from hubbub.show.export.base import Format, register


class Tiny(Format):
    name, about, needs = "tiny", "one query per line", ("queries",)

    def write(self, source, folder):
        queries = source.need("queries").column("query").to_pylist()
        folder.lines("queries.txt", "one query per line", len(queries), (f"{query}\\n".encode() for query in queries))

    def notes(self, card):
        return "One query per line."


register(Tiny())
'''
EXPORTER_TEST = """from hubbub.show.export.base import FORMATS
from hubbub.testing import check_exporter


def test_contract():
    check_exporter(FORMATS.named("tiny"))
"""
SUBJECTS = '''"""How tiny is audited."""

from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import build

declare(AuditPlan("tiny", small=lambda: [build("tiny", {"epsilon": 1, "delta": "0.01"})]))
'''
EXAMPLES: dict[str, dict[str, str | tuple[str, str]]] = {
    "reader": {
        "src/hubbub/ingest/readers/NAME.py": READER,
        "tests/unit/ingest/test_ingest_NAME.py": READER_TEST,
        "tests/property/test_ingest_formats.py": READER_PROPERTY,
        "docs/formats.md": END,
        "CHANGELOG.md": END,
    },
    "mechanism": {
        "src/hubbub/mechanisms/NAME.py": MECHANISM,
        "docs/proofs/NAME.md": "# tiny\n",
        "src/hubbub/audit/subjects/NAME.py": SUBJECTS,
        "tests/unit/mechanisms/test_NAME.py": MECHANISM_TEST,
        "docs/mechanisms/NAME.md": "# tiny\n",
        "CHANGELOG.md": END,
    },
    "engine": {
        "src/hubbub/engines/NAME.py": ENGINE,
        "src/hubbub/engines/__init__.py": '\nENGINES["tiny"] = "hubbub.engines.tiny:opened"\n',
        "pyproject.toml": ("[project.scripts]\n", "tiny = []\n\n"),
        "tests/unit/engines/test_engines.py": ENGINE_TEST,
        "CHANGELOG.md": END,
    },
    "task": {
        "src/hubbub/worth/tasks/NAME.py": TASK,
        "tests/unit/worth/tasks/test_tasks_NAME.py": TASK_TEST,
        "docs/tasks.md": END,
        "CHANGELOG.md": END,
    },
    "exporter": {
        "src/hubbub/show/export/NAME.py": EXPORTER,
        "tests/unit/show/test_export_NAME.py": EXPORTER_TEST,
        "docs/exports.md": END,
        "CHANGELOG.md": END,
    },
}


def test_every_list_is_followed() -> None:
    assert LISTS.keys() == EXAMPLES.keys()
    for kind, places in LISTS.items():
        assert places == list(EXAMPLES[kind]), kind
        assert len(places) <= MOST, f"{kind} touches {len(places)} places"


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_list_is_enough(kind: str, tmp_path: Path) -> None:
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    tests = []
    for place, text in EXAMPLES[kind].items():
        path = ROOT / place
        assert path.parent.is_dir(), f"{place}: there is no such folder"
        assert path.exists() == ("NAME" not in place), f"{place}: there is no such file"
        written = tmp_path / place.replace("NAME", "tiny")
        written.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if isinstance(text, tuple):  # before this line
            assert text[0] in before, place
            after = before.replace(text[0], text[1] + text[0], 1)
        else:
            after = before + text
        written.write_text(after, encoding="utf-8")
        if place.startswith("tests/"):
            tests.append(str(written))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "0", "-k", "tiny"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([*command, *tests], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
    assert re.search(r"\d+ passed", run.stdout), run.stdout
