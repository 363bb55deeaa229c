"""The kinds of tests: each test is of exactly one, and gets it as a marker.

A test's kind is the folder it is in, or `slow` where a test of a fast folder says so. `pytest` runs the fast kinds;
`pytest tests` all of them; `pytest -m KIND` one; a file or a test that is named runs whatever its kind.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDERS = {
    "unit": "one room of the package; the folders are those of src/hubbub",
    "property": "what holds for any input",
    "statistical": "laws of noise, and the audit of the installed code",
    "docs": "every snippet of the README and of docs/, and the wheel",
    "browser": "pages in a real Chromium",
    "spark": "the Spark engine, on a session and on a small cluster",
}
SLOW = "slow"
KINDS = FOLDERS | {SLOW: "takes seconds: of a fast folder, and not run by plain `pytest`"}
FAST = ("unit", "property")
ONLY_FAST = " or ".join(FAST)
UNTRACED = ("docs", "property", "statistical")  # coverage would cost much here, and other kinds run the same lines


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers; without a path, `-m` or `-k`, ask for the fast kinds."""
    for kind, about in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: {about}")
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    if not (named or config.option.markexpr or config.option.keyword):
        config.option.markexpr = ONLY_FAST  # xdist hands it on to its workers


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Folders of other kinds are not even imported when only the fast ones are asked for."""
    slower = collection_path.parent == HERE and collection_path.name in FOLDERS.keys() - FAST
    return True if slower and config.option.markexpr == ONLY_FAST else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark every test with its kind."""
    for item in items:
        folder = kind_of_folder(item.path)
        if folder and not item.get_closest_marker(SLOW):
            item.add_marker(folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test that is not traced is untraced from its fixtures on, which pytest-cov's own `no_cover` would trace."""
    plugin = item.config.pluginmanager.getplugin("_cov")
    tracer = plugin and plugin.cov_controller
    if tracer is None or kind_of_folder(item.path) not in UNTRACED:
        return (yield)
    tracer.pause()
    try:
        return (yield)
    finally:
        tracer.resume()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test of no kind, or of two, fails."""
    folder = kind_of_folder(item.path)
    if folder is None:
        pytest.fail(f"{item.path} is in none of the folders {', '.join(FOLDERS)} of tests/: move it into one", False)
    if folder not in FAST and item.get_closest_marker(SLOW):
        pytest.fail(f"{item.nodeid} is {folder}, which is never fast: take the marker `slow` away", False)


def kind_of_folder(path: Path) -> str | None:
    """The kind that a test file has by its place."""
    folder = path.relative_to(HERE).parts[0]
    return folder if folder in FOLDERS else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Tests of files that were named run in this process, where a debugger and prints work."""
    files = [argument for argument in config.args if argument.split("::")[0].endswith(".py")]
    return 0 if files == config.args else None
