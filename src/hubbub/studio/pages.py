"""Pages of the studio: one look, and what was typed into each is there again when it is opened again."""

from __future__ import annotations

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from hubbub.errors import ParameterError
from hubbub.show.charts.page import as_json
from hubbub.studio.state import Studio

MOST_KEPT = 200
"""Pages whose forms are kept, the last ones."""
LONGEST = 100_000
"""Of what is kept of one of them, as JSON."""


class StudioPages:
    """Makes pages from templates. `base` is the secret first part of every address."""

    def __init__(self, studio: Studio, base: str) -> None:
        self.studio, self.base = studio, base
        self.templates = Environment(
            loader=PackageLoader("hubbub.studio"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self.templates.filters["n"] = lambda x: f"{x:,}" if isinstance(x, int) else f"{x:,.3g}"

    def page(self, template: str, about: str = "", **facts: Any) -> Response:
        """A page; `about` is the release that it is about."""
        key = f"{template.removesuffix('.html')} {about}".strip()
        shared = {
            "base": self.base,
            "here": template,
            "log": self.studio.opened,
            "studio": self.studio,
            "key": key,
            "kept": as_json(self.studio.kept.get(key)),
        }
        return HTMLResponse(self.templates.get_template(template).render(**shared, **facts))

    def keep(self, page: object, form: object) -> None:
        """Keep what is typed into a page, while the studio runs."""
        if not isinstance(page, str) or len(json.dumps([page, form])) > LONGEST:
            raise ParameterError("What is typed here is too long to be kept.", next="shorten it")
        kept = self.studio.kept
        kept.pop(page, None)
        kept[page] = form
        while len(kept) > MOST_KEPT:
            kept.pop(next(iter(kept)))
