"""The model of five terms: size of its file, memory, and seconds of loading and of prediction.

    python benchmarks/model_files.py [--quick] [--label now] [--rows 500000]

Five columns, all of them selected, of two classes and of a number; the file holds the model only.
It is read, and predicts 100,000 new rows, in a process of its own: memory is the peak above what
the process held before, libraries and new rows among it. Only public names are used, so that an
older version on the path can be measured under a label of its own; rows of other labels stay as
they are. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from controlburn import simulate
from encode import resident
from sklearn.metrics import r2_score, roc_auc_score
from tables import RESULTS, with_earlier, write_table

import treeselect

COLUMNS = ["v0", "v1", "v2", "v3", "v4"]
RESPONSES = {"two classes": False, "a number": True}


def new_rows(response, n):
    """Rows that no model has seen."""
    return simulate(2 * n, numbers=RESPONSES[response])[n:].reset_index(drop=True)


def used(path, response, n):
    """What a process takes that reads a model and predicts, as a dict."""
    small = simulate(200, numbers=RESPONSES[response])
    treeselect.select(formula(), small, method="mrmr", k=5, seed=1).predict(small)
    data = new_rows(response, n)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here on
    before, begin = resident("VmRSS"), time.process_time()
    fit = treeselect.load(path)
    load_seconds, begin = time.process_time() - begin, time.process_time()
    mean = fit.predict(data)
    seconds = time.process_time() - begin
    score = r2_score if RESPONSES[response] else roc_auc_score
    return {
        "load s": load_seconds, "predict s": seconds, "MB": 1e3 * (resident("VmHWM") - before),
        "score": float(score(data["y"], mean)),
    }  # fmt: skip


def formula():
    """All five columns."""
    return f"y ~ {' + '.join(COLUMNS)}"


def one_case(label, response, n_rows, n_new):
    """The row of a version and a response."""
    data = simulate(n_rows, numbers=RESPONSES[response])
    begin = time.process_time()
    fit = treeselect.select(
        formula(), data, method="importance", n_trees=10, max_depth=5, k=5, seed=1, n_jobs=1,
        progress=False,
    )  # fmt: skip
    fit_seconds = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.treeselect"
        fit.save(path)
        command = [sys.executable, __file__, "--use", json.dumps([str(path), response, n_new])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        size = path.stat().st_size
    return {
        "run": f"{label}, {response}", "version": label, "response": response, "rows": n_rows,
        "new rows": n_new, "fit s": fit_seconds, "file MB": size / 1e6,
        **json.loads(done.stdout.splitlines()[-1]),
    }  # fmt: skip


def table_of(summary):
    """The lines to print."""
    return pd.DataFrame(
        {
            "version": row["version"],
            "response": row["response"],
            "rows": f"{row['rows']:,}",
            "fit, CPU s": f"{row['fit s']:.1f}",
            "file, MB": f"{row['file MB']:.2f}",
            "load, CPU s": f"{row['load s']:.2f}",
            f"predict {row['new rows']:,} rows, CPU s": f"{row['predict s']:.2f}",
            "load and predict, MB": f"{row['MB']:.0f}",
            "AUC or R2, new rows": f"{row['score']:.4f}",
        }
        for row in summary.to_dict("records")
    )


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--label", default="now", help="name of the version in the table")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--use", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.use:
        print(json.dumps(used(*json.loads(options.use))))
        return
    n_rows, n_new = (1_000, 500) if options.quick else (options.rows, 100_000)
    responses = list(RESPONSES)[: 1 if options.quick else None]
    lines = [one_case(options.label, response, n_rows, n_new) for response in responses]
    summary = pd.DataFrame(lines)
    if not options.quick:
        with_earlier("model_files", summary, by="run", quick=False, folder=options.results)
        summary = pd.read_csv(options.results / "model_files.csv")
    write_table(
        "model_files",
        table_of(summary),
        "treeselect, the model of five terms: its file, and what a process takes to read it and"
        " predict, above what it held before.",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
