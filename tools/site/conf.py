"""Sphinx's settings for the site: pages as they are on a forge, system fonts, nothing from a network."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent)]

project = "hubbub"
author = "The hubbub developers"
project_copyright = author
extensions = ["myst_parser", "formulas"]
root_doc = "README"
html_theme = "furo"
html_title = "hubbub"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"
html_use_index = False
html_show_search_summary = False  # it is fetched, which pages opened from the disk may not
myst_heading_anchors = 6
