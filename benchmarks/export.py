"""Exported models on new rows: sizes, seconds and the largest difference from ``fit.predict``.

    python benchmarks/export.py [--quick]

A random forest and boosted trees of 600 rows predict 100,000 new rows (200 with ``--quick``) in
Python, SQLite and, if it is installed, DuckDB. The seconds include reading the file.
"""

from __future__ import annotations

import argparse
import runpy
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
from tables import RESULTS

import treeselect


def simulate(n: int, seed: int) -> pd.DataFrame:
    """Numbers and a factor, with missing values, and a response of two classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n),
            "dose": rng.exponential(size=n) + 0.1,
            "site": rng.choice(["Bath", "Leeds", "York"], n),
        }
    )
    eta = (frame["age"] - 50) / 10 + np.log(frame["dose"]) + (frame["site"] == "York")
    frame["ill"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    frame.loc[::9, "age"] = np.nan
    frame.loc[::7, "site"] = None
    frame["id"] = np.arange(n)
    return frame


def in_python(path: Path, new: pd.DataFrame) -> list[float]:
    """Predictions of the module."""
    return runpy.run_path(str(path))["predict_rows"](new.to_dict("records"))


def in_sqlite(path: Path, new: pd.DataFrame) -> list[float]:
    """Predictions of SQLite."""
    with closing(sqlite3.connect(":memory:")) as connection:
        new.to_sql("patients", connection, index=False)
        rows = connection.execute(path.read_text()).fetchall()
    return [value for _, value in sorted(rows)]


def in_duckdb(path: Path, new: pd.DataFrame) -> list[float]:
    """Predictions of DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("patients", new)
        rows = connection.execute(path.read_text()).fetchall()
    return [value for _, value in sorted(rows)]


ENGINES = {"Python": (".py", in_python), "SQLite": (".sql", in_sqlite),
           "DuckDB": (".sql", in_duckdb)}  # fmt: skip


def lines(n: int, quick: bool) -> list[str]:
    """The table, line by line."""
    data, new = simulate(600, 1), simulate(n, 2).drop(columns="ill")
    fit = treeselect.select("ill ~ age + log(dose) + site", data, method="mrmr", k=3, seed=1)
    found = [
        f"{n:,} new rows; models of {len(data)} rows and 3 terms.",
        "",
        "| model | engine | file, MB | seconds | largest difference |",
        "|---|---|---:|---:|---:|",
    ]
    for label, own in (("forest", fit), ("boosting", fit.refit("boosting"))):
        begun = time.perf_counter()
        expected = np.asarray(own.predict(new), dtype=np.float64)
        taken = time.perf_counter() - begun
        found.append(f"| {label} | treeselect | | {taken:.1f} | |")
        for engine, (suffix, predicted) in ENGINES.items():
            if quick and (label, engine) == ("forest", "DuckDB"):
                continue  # it takes seconds to read the statement
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"model{suffix}"
                options = {"table": "patients", "columns": "id"} if suffix == ".sql" else {}
                own.export(path, **options)
                size = path.stat().st_size / 1e6
                begun = time.perf_counter()
                try:
                    values = np.array(predicted(path, new))
                except ImportError:
                    continue
                taken = time.perf_counter() - begun
            largest = np.abs(values - expected).max()
            found.append(f"| {label} | {engine} | {size:.2f} | {taken:.1f} | {largest:.1g} |")
    return found


def main() -> None:
    """Print the table; without ``--quick`` write it to ``results/export.md``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    table = lines(200 if quick else 100_000, quick)
    print("\n".join(table))
    if not quick:
        text = "# Exported models\n\n" + "\n".join(table) + "\n"
        (RESULTS / "export.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
