"""Charts: safe in a page whatever a log says, pictures without a browser, and a library that is made once."""

import base64
import json
import re
from pathlib import Path

import pytest

from hubbub.show.charts import Chart, library, page, palette

HOSTILE = "</script><script>alert(1)</script><!-- & \u2028"
SPEC = {
    "data": {"values": [{"query": HOSTILE, "users": 3}, {"query": "b", "users": 5}]},
    "mark": "bar",
    "encoding": {
        "x": {"field": "users", "type": "quantitative"},
        "y": {"field": "query", "type": "nominal"},
    },
}
CHART = Chart("Users <b>", f"Two bars: {HOSTILE}", SPEC, [{"query": HOSTILE, "users": 3.25}])


def test_nothing_in_a_figure_can_open_or_end_a_tag() -> None:
    text = page.figure(CHART, "bars")
    assert text.count("<script") == text.count("</script>") == 1 and "<!--" not in text and "<b>" not in text
    inside = re.search(r'<script type="application/json" class="spec">(.*?)</script>', text, re.DOTALL)
    assert inside is not None
    assert json.loads(inside[1])["data"] == SPEC["data"]  # the same text comes out again
    assert json.loads(inside[1])["width"] == "container"


def test_a_figure_says_it_in_words_and_in_numbers() -> None:
    text = page.figure(CHART, "bars")
    assert '<div role="img" aria-label="Two bars' in text and "<summary>The numbers</summary>" in text
    assert "<td>3.25</td>" in text
    assert "<details>" not in page.figure(Chart("t", "a", SPEC), "bars")
    assert "the first 120 of 130" in page.table([{"n": i} for i in range(130)], "counts")


def test_what_is_no_number_is_no_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        page.as_json({"x": float("nan")})


def test_the_script_ends_once_and_names_no_host_to_ask() -> None:
    text = page.script()
    assert text.startswith("<script>") and text.count("</script") == 1 and text.endswith("</script>\n")
    assert "drawCharts(document)" in text and "vegaEmbed" in text


def test_pictures_need_no_browser() -> None:
    assert CHART.svg().startswith("<svg") and "alert(1)</script>" not in CHART.svg()
    assert CHART.png().startswith(b"\x89PNG")


def test_notebooks_get_a_drawing_a_picture_and_a_sentence() -> None:
    bundle = CHART._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"]["data"] == SPEC["data"]
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"].startswith("Users <b>: Two bars")


def test_the_library_is_made_once_and_kept_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(library, "SHIPPED", tmp_path / "nothing is shipped with a clone")
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda snippet: f"</script {snippet}" + "x" * 2000)
    whole = library.library.__wrapped__()
    (kept,) = (tmp_path / "hubbub").iterdir()
    assert kept.read_text(encoding="utf-8") == whole and "</script" not in whole
    kept.write_text(whole.replace("vegaEmbed", "kept"), encoding="utf-8")
    assert library.library.__wrapped__() == whole.replace("vegaEmbed", "kept")
    kept.write_text(whole[:1000], encoding="utf-8")  # half a file is no library
    assert library.library.__wrapped__() == whole
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))  # no directory: nothing can be kept, nothing is lost
    assert library.library.__wrapped__() == whole


def test_colours_differ_and_so_do_shapes() -> None:
    assert len(set(palette.SERIES)) == len(palette.SERIES) == len(set(palette.SHAPES))
    assert palette.config("black")["axis"]["labelColor"] == "black"
    assert palette.config()["axis"]["labelColor"] == "currentColor"
