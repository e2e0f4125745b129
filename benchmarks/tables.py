"""What all programs that write tables share: processes, means and their errors, Markdown."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from treeselect.writing import write_file

RESULTS = Path(__file__).parent / "results"


def data_folder() -> Path:
    """Where the benchmark sets are: TREESELECT_DATA, by default ../shared/data."""
    return Path(os.environ.get("TREESELECT_DATA", "../shared/data"))


def options_text(options: Mapping[str, Any]) -> str:
    """The options of a method that are not the default."""
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "default"


def arguments(doc: str) -> argparse.ArgumentParser:
    """What all programs can be told; the first line of their docstring says what they do."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    return parser


def run_all(
    function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_jobs: int
) -> list[Any]:
    """Results of all calls, in processes."""
    return list(joblib.Parallel(n_jobs)(joblib.delayed(function)(*call) for call in calls))


def mean_and_error(values: Any) -> tuple[float, float]:
    """Mean and its standard error."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return (float(array.mean()) if len(array) else np.nan), np.nan
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def shown(mean: float, error: float | None, digits: int = 2) -> str:
    """A mean with its standard error in brackets."""
    if not np.isfinite(mean):
        return ""
    bracket = "" if error is None or not np.isfinite(error) else f" ({error:.{digits}f})"
    return f"{mean:.{digits}f}{bracket}"


def signed(mean: float, error: float | None, digits: int = 2) -> str:
    """A difference with its sign, and its standard error in brackets."""
    text = shown(mean, error, digits)
    return f"+{text}" if text and mean >= 0 else text


def with_earlier(
    name: str,
    summary: pd.DataFrame,
    *,
    by: str = "set",
    quick: bool,
    folder: Path = RESULTS,
) -> pd.DataFrame:
    """Rows of this run after those of earlier runs on other sets, which a CSV file keeps."""
    if quick:
        return summary
    path = folder / f"{name}.csv"
    if path.exists():
        text = [c for c in summary if not pd.api.types.is_numeric_dtype(summary[c])]
        earlier = pd.read_csv(path, dtype=dict.fromkeys(text, str))
        earlier = earlier[~earlier[by].isin(summary[by])].fillna(dict.fromkeys(text, ""))
        summary = pd.concat([earlier, summary], ignore_index=True)
    folder.mkdir(exist_ok=True)
    write_file(path, summary.to_csv(index=False))
    return summary


def write_table(
    name: str, frame: pd.DataFrame, intro: str, *, quick: bool, folder: Path = RESULTS
) -> None:
    """Print a table, and write it to the results unless it is a quick run."""
    rows = [frame.columns.tolist(), *frame.astype(str).to_numpy().tolist()]
    widths = [max(len(str(row[j])) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(str(c).ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    text = f"{intro.strip()}\n\n" + "\n".join(lines) + "\n"
    print(text)
    if not quick:
        folder.mkdir(exist_ok=True)
        write_file(folder / f"{name}.md", text)
