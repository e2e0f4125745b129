"""Selections on Parquet files that are larger than memory: peak memory and time by stage.

    python benchmarks/beyond_memory.py --rows 20_000_000 --folder /somewhere/large
    python benchmarks/beyond_memory.py --quick

Writes files of simulated rows in batches (30 columns: 19 continuous, 6 whole numbers, 5 factors;
five of them matter), unless the folder holds them from an earlier run. Each stage then
runs in a process of its own, whose peak is the ``VmHWM`` of Linux, and whose CPU time is that of
all its threads: ``import`` and a selection of 200 rows in memory (what the process needs anyway),
reading the columns once, ``select`` with the default number of rows, and ``predict``.
"""

from __future__ import annotations

import json
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Run, in_process, peak_memory

import treeselect
from treeselect.frames.reading import scan_of

BATCH, SAMPLE, METHOD = 500_000, 200_000, "importance"
STAGES = ("nothing", "read", "select", "predict")


def rows_of(number: int, n: int) -> pd.DataFrame:
    """Batch `number` of the simulated rows."""
    rng = np.random.default_rng([7, number])
    columns = {f"x{j}": rng.normal(size=n) for j in range(19)}
    columns |= {f"count{j}": rng.poisson(5 * (j + 1), size=n) for j in range(6)}
    for j in range(5):
        levels = np.array([f"level {i}" for i in range(3 * (j + 1))])
        columns[f"factor{j}"] = levels[rng.integers(0, len(levels), size=n)]
    x0, x1, x2, count, factor = (columns[c] for c in ("x0", "x1", "x2", "count0", "factor0"))
    eta = x0 - 0.7 * x1 + 0.5 * np.abs(x2) + 0.15 * count - 0.75
    eta = eta + np.where(factor == "level 0", 0.8, -0.4)
    columns["y"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(np.int8)
    columns["x3"][rng.random(n) < 0.05] = np.nan
    return pd.DataFrame(columns)


def write(folder: Path, n_rows: int) -> None:
    """Files of at most half a million rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, first in enumerate(range(0, n_rows, BATCH)):
        path = folder / f"part-{number:05d}.parquet"
        if not path.exists():
            frame = rows_of(number, min(BATCH, n_rows - first))
            frame.to_parquet(path, row_group_size=131_072)


def stage(name: str, folder: str, rows: int) -> dict[str, object]:
    """Run a stage in this process."""
    small = treeselect.datasets.load("titanic_correlated").head(200)
    fit = treeselect.select("survived ~ .", small, method=METHOD, k=2, seed=1)
    fit.predict(small)  # compiled, and in memory
    found: dict[str, object] = {}
    model = Path(folder).with_suffix(".treeselect")
    wall, cpu = time.perf_counter(), time.process_time()
    if name == "read":
        scan = scan_of(folder)
        found["rows"] = sum(table.num_rows for _, table in scan.batches(scan.columns))
    if name == "select":
        fit = treeselect.select("y ~ .", folder, method=METHOD, k=5, rows=rows, seed=1)
        found |= {"selected": sorted(fit.selected), "held out": round(fit.search.held_out.score, 4)}
        fit.save(model)
    if name == "predict":
        found["mean"] = round(float(treeselect.load(model).predict(folder).mean()), 4)
    return found | {
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu seconds": round(time.process_time() - cpu, 1), "peak MB": int(peak_memory()),
    }  # fmt: skip


def main() -> None:
    """Measure all stages, one line each."""
    run = Run(__doc__, rows=2_000_000, folder=None, quick={"rows": 3_000})
    sample = run.pick(500, SAMPLE)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(run.folder or temporary) / f"{run.rows}"
        write(folder, run.rows)
        size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 2**20
        print(f"{run.rows:,} rows, {size:,.0f} MB of Parquet; {METHOD}, rows={sample:,}")
        for name in STAGES:
            measured = run.pick(stage, partial(in_process, stage))
            found = measured(name, str(folder), sample)
            print(f"  {name:8s} {json.dumps(found)}", flush=True)


if __name__ == "__main__":
    main()
