"""One chart: what it is called, what it says in one sentence, and a Vega-Lite drawing with its data inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hubbub.errors import NotInstalled
from hubbub.extras import imported
from hubbub.show.charts import palette

WIDTH, HEIGHT = 600, 300


@dataclass(frozen=True)
class Chart:
    """A chart; in a notebook it shows itself.

    `spec` is one Vega-Lite view (a unit or layers) with inline data and without a width: a page gives it the width
    of the screen, a picture gives it its own. `rows` are the numbers behind it, for people who would rather read.
    """

    title: str
    alt: str
    """One sentence for people who do not see it."""
    spec: dict[str, Any]
    rows: Sequence[Mapping[str, object]] = ()

    def drawing(self, width: int | str = "container") -> dict[str, Any]:
        """The whole Vega-Lite specification, at this width, for a page that holds nothing else."""
        size = {"width": width, "height": HEIGHT, "autosize": {"type": "fit-x", "contains": "padding"}}
        return size | self.spec

    def svg(self) -> str:
        """The chart as an SVG picture, made without a browser and without a network."""
        vl_convert = imported("vl_convert", "charts", "What draws a chart as a picture")
        return str(vl_convert.vegalite_to_svg(self._picture(), allowed_base_urls=[]))

    def png(self, scale: float = 2.0) -> bytes:
        """The chart as a PNG picture on white."""
        vl_convert = imported("vl_convert", "charts", "What draws a chart as a picture")
        picture = self._picture() | {"background": "white"}
        return bytes(vl_convert.vegalite_to_png(picture, scale=scale, allowed_base_urls=[]))

    def _picture(self) -> dict[str, Any]:
        return self.drawing(WIDTH) | {"config": palette.config("black"), "title": self.title}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """For notebooks: Vega-Lite where they can draw it, a picture where they cannot, a sentence everywhere."""
        live = self._picture() | {"config": palette.config("black"), "background": "white"}
        bundle = {
            "application/vnd.vegalite.v5+json": live,
            "application/vnd.vegalite.v6+json": live,
            "text/plain": f"{self.title}: {self.alt}",
        }
        with suppress(NotInstalled):  # an extra; most notebooks draw the first
            bundle["image/png"] = base64.b64encode(self.png()).decode("ascii")
        return bundle
