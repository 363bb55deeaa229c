"""Before a wheel is built: the text that draws charts and the outlines of countries, for who installs it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path("src/hubbub/show/charts")


class VegaHook(BuildHookInterface[Any]):
    """Writes vega.js and shapes.json beside the files that make them, for wheels and for editable installs alike."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before the files of a wheel are gathered."""
        import countryinfo
        import vl_convert

        folder = Path(self.root) / HERE
        for module, written, package in (("vega", "vega.js", vl_convert), ("shapes", "shapes.json", countryinfo)):
            text = _loaded(folder / f"{module}.py").bundle(package)
            (folder / written).write_text(text, encoding="utf-8", newline="\n")


def _loaded(file: Path) -> Any:
    """A file of the package as a module, without the package."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
