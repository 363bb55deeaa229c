"""Charts in a page that fetches nothing: the drawings as data, the one script that draws them, and its style.

    figure(chart, "counts")   where the chart stands: its name, its place, its sentence, its numbers
    script()                  once, at the end of the body
    style()                   once, inside the page's <style>

Whatever a log or a release says is data here: JSON in which no tag can begin, and text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup

from hubbub.privacy.guarantee import raised
from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.library import library

MOST_ROWS = 120

DRAW = """
function drawCharts(root) {
  for (const figure of root.querySelectorAll("figure.chart")) {
    const place = figure.querySelector(".plot");
    const spec = JSON.parse(figure.querySelector("script.spec").textContent);
    const how = {mode: "vega-lite", actions: false, renderer: "svg", ast: true, defaultStyle: false, config: %s};
    vegaEmbed(place, spec, how).then(
      () => { place.firstChild.setAttribute("aria-hidden", "true"); figure.dataset.drawn = "yes"; },
      (error) => { figure.dataset.drawn = "no"; place.textContent = "This chart could not be drawn: " + error.message; }
    );
  }
}
drawCharts(document);
"""


def figure(chart: Chart, id: str) -> Markup:
    """One chart as a `<figure>`; `id` is its name in the page."""
    template = Markup(
        '<figure class="chart" id="{id}">\n<figcaption><strong>{title}</strong> <span>{alt}</span></figcaption>\n'
        '<div role="img" aria-label="{alt}"><div class="plot"></div></div>\n'
        '<script type="application/json" class="spec">{spec}</script>\n{table}</figure>\n'
    )
    return template.format(
        id=id, title=chart.title, alt=chart.alt, spec=as_json(chart.drawing()), table=table(chart.rows, chart.title)
    )


def table(rows: Sequence[Mapping[str, object]], title: str) -> Markup:
    """The numbers behind a chart, folded away."""
    if not rows:
        return Markup("")
    names = list(rows[0])
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in names)
    lines = [
        Markup("<tr>{}</tr>\n").format(Markup("").join(Markup("<td>{}</td>").format(_cell(row[n])) for n in names))
        for row in rows[:MOST_ROWS]
    ]
    more = f"the first {MOST_ROWS} of {len(rows)}" if len(rows) > MOST_ROWS else ""
    return Markup(
        "<details><summary>The numbers{}</summary>\n"
        '<div class="scroll" tabindex="0" role="region" aria-label="the numbers of: {}">'
        "<table><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div></details>\n"
    ).format(more and f", {more}", title, head, Markup("").join(lines))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return raised(f"{value:.4g}") if isinstance(value, float) else str(value)


def as_json(value: object) -> Markup:
    """JSON that a script tag can hold: nothing in it can open or end a tag."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


@lru_cache(maxsize=1)
def code() -> str:
    """The JavaScript of `script()`, for a server that gives it as a file of its own."""
    return library() + DRAW % as_json(palette.config())


def script() -> Markup:
    """The one script: the library, and the few lines that draw every figure of the page (again: `drawCharts(root)`)."""
    return Markup("<script>{}</script>\n").format(Markup(code()))


def style() -> Markup:
    """CSS of the figures; colours of text and lines are the page's own."""
    return Markup(STYLE)


STYLE = """
figure.chart { margin: 1.5rem 0; break-inside: avoid; }
figure.chart figcaption { margin-bottom: .5rem; }
figure.chart figcaption strong { display: block; }
figure.chart .plot { width: 100%; min-height: 2rem; }
figure.chart svg { max-width: 100%; height: auto; display: block; }
figure.chart .scroll { overflow: auto; max-height: 20rem; }
figure.chart summary { cursor: pointer; }
figure.chart table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
figure.chart td, figure.chart th { text-align: left; padding: .1rem 1rem .1rem 0; vertical-align: top;
  overflow-wrap: anywhere; }
#vg-tooltip-element { position: fixed; visibility: hidden; z-index: 10; padding: .4rem .6rem; max-width: 20rem;
  border: 1px solid GrayText; background: Canvas; color: CanvasText; font: 13px/1.4 system-ui, sans-serif;
  overflow-wrap: anywhere; }
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element td.key { opacity: .7; padding-right: .6rem; text-align: right; }
@media (prefers-color-scheme: dark) { figure.chart .plot { filter: brightness(1.35); } }
@media print { figure.chart details { display: none; } figure.chart .plot { filter: none; } }
"""
