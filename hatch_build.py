"""Before a wheel is built: the text that draws charts, so that who installs it needs no JavaScript engine for them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path("src/hubbub/show/charts")


class VegaHook(BuildHookInterface[Any]):
    """Writes vega.js beside vega.py, for wheels and for editable installs alike."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before the files of a wheel are gathered."""
        import vl_convert

        folder = Path(self.root) / HERE
        spec = importlib.util.spec_from_file_location("vega", folder / "vega.py")
        if spec is None or spec.loader is None:
            raise FileNotFoundError(folder / "vega.py")
        vega = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(vega)
        (folder / "vega.js").write_text(vega.bundle(vl_convert), encoding="utf-8", newline="\n")
