"""The table of docs/attacks.md is what the installed code gives, and it says what it must."""

from __future__ import annotations

import re
from pathlib import Path

from hubbub.worth.attacks.base import SUCCEEDS, WITHIN
from hubbub.worth.attacks.table import markdown, table

PAGE = Path(__file__).parents[2] / "docs" / "attacks.md"


def test_the_table_is_made_again_and_holds() -> None:
    text = PAGE.read_text(encoding="utf-8")
    sizes = re.search(r"^([\d,]+) synthetic users, and ([\d,]+) newcomers", text, re.MULTILINE)
    printed = re.search(r"<!-- table -->\n(.*?)\n<!-- end of table -->", text, re.DOTALL)
    assert sizes and printed
    users, targets = (int(size.replace(",", "")) for size in sizes.groups())
    lines = table(users, targets)
    assert markdown(lines) == printed[1]
    for line in lines:
        success, false = line.outcome.success, line.outcome.false_alarms
        if line.mechanism.steps():
            assert line.outcome.verdict == WITHIN and success.low <= (line.outcome.allowed or 0)
            assert success.high < 0.75
        else:
            assert line.outcome.verdict == SUCCEEDS and success.low > 0.98 and false.high < 0.02
    assert {"korolova", "zealous", "crowd", "k-query", "k-session"} <= {line.mechanism.name for line in lines}
