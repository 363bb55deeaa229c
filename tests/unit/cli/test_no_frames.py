"""A release does not wait for pandas; whoever wants it has it all the same."""

import subprocess
import sys

START = """
import sys
from hubbub.cli import main
sys.argv = ["hubbub", *sys.argv[1:], "--help"]
try:
    main()
except SystemExit as ended:
    assert not ended.code
import pyarrow as pa
pa.array([1])
print("loaded" if "pandas" in sys.modules else "not loaded")
import pandas
frame = pandas.DataFrame({"n": [1, 2]})
print(pa.Table.from_pandas(frame).to_pandas().equals(frame))
"""


def _started(*command: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", START, *command], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-2:]


def test_only_a_release_starts_without_pandas() -> None:
    assert _started("release") == ["not loaded", "True"]
    assert _started("inspect") == ["loaded", "True"]
