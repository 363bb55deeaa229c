"""Cost against size: hubbub, the bare engine and rival libraries on the same log, each run a process of its own.

    python bench/scale.py [--rows 1000000 …] [--only NAME …] [--limit 600] [--memory 2GB] [--data FOLDER]
    python bench/scale.py --install          environments for the rivals, in DATA/rivals

From the cleaned log (Parquet) to the written release at (1, 1e-6); process start is not counted. CPU seconds and
memory are those of the whole process tree. Finished cells are kept in DATA/scale.json and not run again: a partial
run is completed by the next. Prints the table, and draws the plot beside it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import duckdb

from tree import Cost, measure

HERE = Path(__file__).resolve().parent
EPSILON, DELTA, KEYS = "1", "1e-6", "20"
BUDGET: dict[str, object] = {"epsilon": EPSILON, "delta": DELTA}

FLOORS = {
    "scan": 'SELECT sum(length("user")), sum("time"), sum(length(query)), sum("rank"), sum(length(url)) FROM \'{log}\'',
    "GROUP BY query": "SELECT query, count(*) AS n FROM '{log}' GROUP BY query",
    "GROUP BY user, query": 'SELECT "user", query, count(*) AS n FROM \'{log}\' GROUP BY "user", query',
}
FLOOR = "GROUP BY user, query"

OURS: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
    "korolova": ("korolova", {**BUDGET, "d": KEYS}, ("queries",)),
    "zealous": ("zealous", {**BUDGET, "m": 5}, ("queries",)),
    "gaussian": ("gaussian", BUDGET, ("queries",)),
    "geometric": ("geometric", BUDGET, ("queries",)),
    "sips": ("sips", BUDGET, ("queries",)),
    "adaptive": ("adaptive", BUDGET, ("queries",)),
    "sessions": ("sessions", {**BUDGET, "l_q": 3}, ("sessions",)),
    "safelog": ("safelog", {"epsilon": EPSILON}, ("queries", "transitions")),
    "optimal": ("optimal", BUDGET, ("log",)),
    "crowd": ("crowd", BUDGET, ("queries",)),
    "crowd, queries, clicks, transitions": ("crowd", BUDGET, ("queries", "clicks", "transitions")),
    "crowd, all tables": ("crowd", BUDGET, ("queries", "clicks", "transitions", "sessions", "keywords")),
    "crowd, synthetic log": ("crowd", BUDGET, ("log",)),
}
SPARK = ", on Spark"
OURS |= {name + SPARK: OURS[name] for name in ("korolova", "crowd", "crowd, queries, clicks, transitions")}
"""The same jobs on the other engine, two local cores: to compare with rivals on Spark, not with the floor."""

RIVALS = {
    "PyDP over Polars": ("pydp_polars", ["python-dp", "polars"]),
    "PipelineDP, local": ("pipelinedp_local", ["pipeline-dp"]),
    "PipelineDP, Spark": ("pipelinedp_spark", ["pipeline-dp", "pyspark==3.5.*", "pandas"]),
    "OpenDP, Polars": ("opendp_polars", ["opendp[polars]"]),
    "Tumult Analytics": ("tumult", ["tmlt.analytics"]),
    "SmartNoise SQL": ("smartnoise", ["smartnoise-sql"]),
}
POOL = 5_000


def worker(name: str, log: Path, out: Path, memory: str) -> None:
    """One of ours, in this process."""
    if name in FLOORS:
        connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(out.parent)})
        print("READY", flush=True)
        connection.execute("CREATE TABLE floor AS " + FLOORS[name].format(log=log))
        print("DONE", flush=True)
        return
    from hubbub.engines.duckdb import DuckDB
    from hubbub.engines.spark import Spark
    from hubbub.log import SearchLog
    from hubbub.mechanisms import build
    from hubbub.noise import SecureNoise
    from hubbub.public.lists import read_pool
    from hubbub.release.rows import write_tables
    from hubbub.steps.mode import run_mode

    kind, settings, tables = OURS[name]
    pool = read_pool(pool_of(log)) if kind == "safelog" else None
    import scipy.special  # noqa: F401  (loading libraries is not counted, ours or a rival's)

    SecureNoise().gaussian("warm", 100, 10)
    work = out.parent
    engine = Spark(work, master="local[2]", memory=memory) if name.endswith(SPARK) else DuckDB(work, memory=memory)
    print("READY", flush=True)
    mechanism = build(kind, settings, tables=tables, pool=pool)
    with SearchLog.over(log, engine, work) as held:
        noise = SecureNoise()
        counts = mechanism.measure(held, run_mode(engine, noise, noise.secret("bounding")))
        write_tables(work, held, mechanism, counts, mechanism.draw(counts, noise))
    (work / f"{tables[0]}.parquet").rename(out)
    print("DONE", flush=True)


def pool_of(log: Path) -> Path:
    """Queries of the log that most users ask: a made-up log, so nobody's."""
    out = log.with_name(f"{log.stem}-pool.parquet")
    if not out.exists():
        duckdb.sql(
            f"COPY (SELECT query FROM (SELECT query, count(DISTINCT \"user\") AS n FROM '{log}' GROUP BY query "
            f"ORDER BY n DESC, query LIMIT {POOL})) TO '{out}'"
        )
    return out


def one(name: str, log: Path, rivals: Path, memory: str, limit: float) -> dict[str, object]:
    """A cell of the table: cost, rows released, and how far the counts of queries are off."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a JVM that was stopped may still write
        out = Path(folder) / "out.parquet"
        if name in RIVALS:
            script = RIVALS[name][0]
            python = rivals / script / "bin" / "python"
            if not python.exists():
                return asdict(Cost(why="not installed"))
            command = [str(python), str(HERE / "rivals" / f"{script}.py"), str(log), str(out), EPSILON, DELTA, KEYS]
        else:
            command = [sys.executable, str(HERE / "scale.py"), "--worker", name, "--memory", memory, str(log), str(out)]
        found: dict[str, object] = asdict(measure(command, limit, Path(folder)))
        if out.exists():
            found |= quality(out, log)
    return found


def quality(out: Path, log: Path) -> dict[str, object]:
    """Rows, and the median relative error of a query's number of users."""
    connection = duckdb.connect()
    names = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM '{out}'").fetchall()]
    rows = connection.execute(f"SELECT count(*) FROM '{out}'").fetchall()[0][0]
    error = None
    if "query" in names and "users" in names and rows:
        error = connection.execute(
            f"SELECT median(abs(o.users - t.n) / t.n) FROM '{out}' AS o JOIN "
            f"(SELECT query, count(DISTINCT \"user\") AS n FROM '{log}' WHERE query IN (SELECT query FROM '{out}') "
            "GROUP BY query) AS t ON o.query = t.query"
        ).fetchall()[0][0]
    return {"rows": rows, "error": error}


def worse(kept: dict[str, object], cell: dict[str, object]) -> bool:
    """Whether a new run beats the one that is kept."""
    return bool(kept["why"]) or (not cell["why"] and float(str(cell["wall"])) < float(str(kept["wall"])))


def install(rivals: Path) -> None:
    """An environment for each rival; one that cannot be had is said and skipped."""
    for name, (script, packages) in RIVALS.items():
        home = rivals / script
        try:
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            subprocess.run([str(home / "bin" / "pip"), "install", "--quiet", "pyarrow", *packages], check=True)
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error}", file=sys.stderr)


def table(cells: dict[str, dict[str, dict[str, object]]]) -> str:
    """Everything measured, as Markdown."""
    lines = []
    for rows, runs in sorted(cells.items(), key=lambda c: int(c[0])):
        floor = runs.get(FLOOR, {})
        lines += ["", f"**{int(rows):,} rows**", ""]
        lines += [
            "| run | wall s | CPU s | × floor, wall | × floor, CPU | peak GB | rows | error |",
            "|---|" + "--:|" * 7,
        ]
        for name, cell in runs.items():
            if cell["why"]:
                lines.append(f"| {name} | {cell['why']} |  |  |  | {float(str(cell['peak'])):.2f} |  |  |")
                continue
            wall, cpu, peak = (float(str(cell[k])) for k in ("wall", "cpu", "peak"))
            ratios = [
                f"{value / float(str(floor[key])):.2f}" if floor.get(key) else ""
                for key, value in (("wall", wall), ("cpu", cpu))
            ]
            error = cell.get("error")
            said = "" if error is None else f"{100 * float(str(error)):.0f} %"
            out = "" if cell.get("rows") is None else f"{cell['rows']:,}"
            lines.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {' | '.join(ratios)} | {peak:.2f} | {out} | {said} |")
    return "\n".join(lines)


DRAWN = (FLOOR, "korolova", "crowd", "crowd, queries, clicks, transitions", *RIVALS)


def plot(cells: dict[str, dict[str, dict[str, object]]], out: Path) -> None:
    """CPU seconds against rows, both logarithmic; each line is named at its end."""
    import vl_convert

    values = [
        {
            "rows": int(rows),
            "CPU seconds": runs[name]["cpu"],
            "run": name,
            "whose": "a rival" if name in RIVALS else "the bare engine" if name in FLOORS else "hubbub",
        }
        for rows, runs in sorted(cells.items(), key=lambda c: int(c[0]))
        for name in DRAWN
        if name in runs and not runs[name]["why"]
    ]
    last = {str(value["run"]): value for value in values}
    x = {"field": "rows", "type": "quantitative", "axis": {"format": "~s", "values": [int(r) for r in cells]}}
    y = {"field": "CPU seconds", "type": "quantitative", "scale": {"type": "log"}}
    color = {"field": "whose", "type": "nominal", "sort": None, "title": None, "legend": {"orient": "top"}}
    shape = {"field": "whose", "type": "nominal", "sort": None, "legend": None}
    apart = {"expr": "datum.run === 'korolova' ? 9 : datum.run === 'PyDP over Polars' ? -7 : 0"}
    encoding = {
        "x": x | {"scale": {"type": "log", "domain": [8e5, 4e8]}},
        "y": y,
        "color": color | {"scale": {"range": ["#000000", "#0072B2", "#D55E00"]}},
        "detail": {"field": "run"},
    }
    layer: list[dict[str, object]] = [
        {"mark": "line", "encoding": encoding},
        {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": encoding | {"shape": shape}},
        {
            "data": {"values": list(last.values())},
            "mark": {"type": "text", "align": "left", "dx": 9, "dy": apart, "fontSize": 12},
            "encoding": encoding | {"text": {"field": "run"}},
        },
    ]
    spec = {"width": 640, "height": 400, "background": "white", "data": {"values": values}, "layer": layer}
    out.write_bytes(vl_convert.vegalite_to_png(spec, scale=1.5))


def main() -> None:
    """Run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--install", action="store_true", help="make the rivals' environments and stop")
    parser.add_argument("--rows", type=int, action="append", help="rows of the log; several times for several sizes")
    parser.add_argument("--only", action="append", choices=[*FLOORS, *OURS, *RIVALS], help="run just these")
    parser.add_argument("--memory", default="2GB", help="the engine's limit")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a run is stopped")
    parser.add_argument("--repeats", type=int, default=1, help="the best of so many counts")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--again", action="store_true", help="run finished cells again")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.places[0], options.places[1], options.memory)
        return
    options.data = options.data.resolve()
    options.data.mkdir(parents=True, exist_ok=True)
    if options.install:
        install(options.data / "rivals")
        return
    kept = options.data / f"scale-{options.memory}.json"
    cells: dict[str, dict[str, dict[str, object]]] = json.loads(kept.read_text()) if kept.exists() else {}
    names = [name for name in (*FLOORS, *OURS, *RIVALS) if name in (options.only or (*FLOORS, *OURS, *RIVALS))]
    for rows in options.rows or [1_000_000, 10_000_000, 36_000_000]:
        log = options.data / f"log-{rows}.parquet"
        if not log.exists():
            from hubbub.synth import SYLLABIC
            from hubbub.synth.run import synthesise

            synthesise(round(rows / 54.7), log, vocabulary=SYLLABIC)
        runs = cells.setdefault(str(rows), {})
        for turn in range(options.repeats):
            for name in names:
                if name in runs and not options.again and turn == 0:
                    continue
                cell = one(name, log, options.data / "rivals", options.memory, options.limit)
                if turn == 0 or worse(runs[name], cell):
                    runs[name] = cell
                print(f"{rows:,} {name}: {cell['why'] or cell}", file=sys.stderr, flush=True)
                cells[str(rows)] = {n: runs[n] for n in (*FLOORS, *OURS, *RIVALS) if n in runs}
                kept.write_text(json.dumps(cells, indent=1))
    print(table(cells))
    plot(cells, options.data / "scale.png")


if __name__ == "__main__":
    main()
