"""Run a notebook and write it as a page with what its cells printed and drew: `python notebooks.py NOTEBOOK PAGE`.

Notebooks are kept without outputs, which would be old noise and stale numbers in every diff; each build of the site
runs them anew, in a folder of their own, and a cell that fails stops it. Their cells are plain Python: no kernel is
needed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hubbub.show.charts import Chart


def page(notebook: Path, out: Path) -> None:
    """Run the cells of a notebook in order; write the page, and its charts beside it."""
    said, names = [], {"__name__": "notebook"}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            said.append(text)
            continue
        printed, shown = run(text, names, f"{notebook.name}, cell {number}")
        said.append(f"```python\n{text}\n```")
        if printed:
            said.append(f"```text\n{printed.rstrip()}\n```")
        if isinstance(shown, Chart):
            picture = out.with_name(f"{out.stem}-{number}.svg")
            picture.write_text(shown.svg(), encoding="utf-8")
            said.append(f"![{shown.alt}]({picture.name})")
        elif shown is not None:
            said.append(f"```text\n{shown}\n```")
    said.append(f"*This page as a notebook, to run yourself:* [`{notebook.name}`]({notebook.name})")
    out.write_text("\n\n".join(said) + "\n", encoding="utf-8")


def run(text: str, names: dict[str, Any], place: str) -> tuple[str, Any]:
    """One cell: what it printed, and the value of its last line if that is an expression."""
    body = ast.parse(text, place).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), place, "exec"), names)
        shown = eval(compile(ast.Expression(last.value), place, "eval"), names) if isinstance(last, ast.Expr) else None
    return printed.getvalue(), shown


if __name__ == "__main__":
    source, target = (Path(given).resolve() for given in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="hubbub-notebook-") as folder:
        os.chdir(folder)
        page(source, target)
        os.chdir(target.parent)
