"""How many workers, which tests go to one, and in which order: whole files, and folders whose tests share a process.

A session of Spark, a Chromium or a release that a file's tests share is then made once. What takes longest starts
first, so that no worker is idle at the end. xdist's own `xdist_group` is not used: it writes the group into the id of
a test, which pytest from 9.2 on ignores without a word.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

FOLDERS = ("tests/spark/", "tests/browser/")
LONGEST = (
    "tests/spark/",
    "tests/statistical/test_audit.py",
    "tests/docs/test_pages.py",
    "tests/browser/",
    "tests/docs/test_site.py",
    "tests/docs/test_wheel.py",
)


def unit(nodeid: str) -> str:
    """The folder or the file that a worker gets as a whole."""
    file = nodeid.split("::")[0]
    return next((folder for folder in FOLDERS if file.startswith(folder)), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, and otherwise as found; in a unit, files that end what the others share come last."""
    alone = {item.path for item in items if "alone" in getattr(item, "fixturenames", ())}

    def turn(item: pytest.Item) -> tuple[int, bool]:
        name = unit(item.nodeid)
        return LONGEST.index(name) if name in LONGEST else len(LONGEST), item.path in alone

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than there are cores: tests wait for Java, for Chromium and for processes, and leave a core idle."""
    cores = yield
    return cores + 1 if cores and "PYTEST_XDIST_AUTO_NUM_WORKERS" not in os.environ else cores


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """xdist's scheduler of scopes, with ours for a scope, in the order of collection."""
    from xdist.scheduler import LoadScopeScheduling

    class Units(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not typed
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    config.option.loadscopereorder = False
    return Units(config, log)
