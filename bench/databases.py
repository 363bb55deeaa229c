"""Reading a log from PostgreSQL: hubbub's copy of the rows beside `COPY … TO` on the same server.

    python bench/databases.py --rows 2000000

A server of Debian's package is started in a folder of its own (`make databases`). Both read the same table, in turns.
Wall time is compared: the server does much of the work, and its processes are not ours to count. Prints every round's
ratio and their median.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import servers

from hubbub.ingest.databases import fetched

driver = import_module("adbc_driver_postgresql.dbapi")
FILL = """CREATE TABLE searches AS SELECT 'user ' || n % 97000 AS who, 'query number ' || (n * 7919) % 400000 AS what,
    timestamp '2006-03-01' + n * interval '1 second' AS seen, (n % 10)::int AS rank,
    'http://www.example.org/' || n % 9999 AS url FROM generate_series(1::bigint, {rows}) n"""


def main() -> None:
    """Time both, in turns."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=2_000_000)
    asked.add_argument("--rounds", type=int, default=3)
    given = asked.parse_args()
    ratios = []
    with (
        servers.postgresql() as address,
        tempfile.TemporaryDirectory() as work,
        driver.connect(address, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(FILL.format(rows=given.rows))
        for _ in range(given.rounds):
            began = time.perf_counter()
            cursor.execute("COPY searches TO PROGRAM 'cat > /dev/null'")
            copied = time.perf_counter() - began
            began = time.perf_counter()
            with fetched(address, None, "searches", Path(work)) as file:
                size = file.stat().st_size
            read = time.perf_counter() - began
            ratios.append(read / copied)
            print(f"COPY {copied:.2f} s, hubbub {read:.2f} s ({size >> 20} MiB of Parquet): {read / copied:.2f} ×")
    print(f"{given.rows:,} rows: hubbub takes {statistics.median(ratios):.2f} × the time of COPY … TO")


if __name__ == "__main__":
    main()
