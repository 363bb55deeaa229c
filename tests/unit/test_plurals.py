"""Numbers in words: one row, not 1 rows; powers of ten as people write them, not as programs do."""

import ast
import re
from pathlib import Path

import pytest

import hubbub
from hubbub.plurals import counted
from hubbub.privacy.guarantee import raised, typeset

SOURCE = Path(hubbub.__file__).parent
PLURAL = re.compile(r" [a-z]{3,}\(e?s\)")


def test_one_is_singular() -> None:
    assert (counted(1, "row"), counted(0, "row"), counted(2000, "row")) == ("1 row", "0 rows", "2,000 rows")
    assert counted(2, "query", "queries") == "2 queries"


@pytest.mark.parametrize(
    ("x", "shown"),
    [(1e-6, "1 × 10⁻⁶"), (9.99999e-7, "9.99999 × 10⁻⁷"), (0.5, "0.5"), (1e300, "1 × 10³⁰⁰"), (float("inf"), "∞")],
)
def test_powers_of_ten_are_raised(x: float, shown: str) -> None:
    assert typeset(x) == shown


def test_only_numbers_are_raised() -> None:
    assert raised("μ² = 7.9e-05, page-1e, 3e-x") == "μ² = 7.9 × 10⁻⁵, page-1e, 3e-x"


def said(path: Path) -> list[str]:
    """What a file can say: the texts of a module, all of a template or script."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [text]
    return [
        node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and type(node.value) is str
    ]


def test_no_text_leaves_the_plural_to_its_reader() -> None:
    """A page or a message knows how many there are: "release(s)" is for forms."""
    files = [path for kind in ("*.py", "*.html", "*.js") for path in SOURCE.rglob(kind)]
    assert len(files) > 300
    assert [f"{path.name}: {found[0]}" for path in files for text in said(path) if (found := PLURAL.search(text))] == []
