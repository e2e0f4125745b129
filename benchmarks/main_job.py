"""The main job on real data: terms, seconds and memory; and how often the paper's answer comes.

    python benchmarks/main_job.py [folder with titanic_correlated.parquet and adult.parquet]

The folder is ``../shared/data`` beside the repository by default.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd

import treeselect

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BODY = {"age", "height", "weight", "femur", "tibia"}


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def titanic_correlated(folder: Path, n_seeds: int = 20) -> None:
    """Sex, passenger class and exactly one of age and its proxies, at k = 3?"""
    data = pd.read_parquet(folder / "titanic_correlated.parquet")
    fits = [treeselect.select("survived ~ .", data, k=3, seed=seed) for seed in range(n_seeds)]
    right = sum(
        {"sex", "pclass"} < set(fit.selected) and len(BODY & set(fit.selected)) == 1 for fit in fits
    )
    print(f"titanic_correlated: right for {right} of {n_seeds} seeds")
    for terms, count in Counter(tuple(sorted(fit.selected)) for fit in fits).most_common():
        print(f"  {count:3} x {', '.join(terms)}")


def adult(folder: Path) -> None:
    """Three terms of 48,842 rows with text and missing values."""
    data = pd.read_parquet(folder / "adult.parquet")
    before = peak_memory()
    for seed in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        fit = treeselect.select("income ~ .", data, k=3, seed=seed)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(f"adult, seed {seed}: {', '.join(fit.selected)}; {wall:.1f} s, {cpu:.1f} s CPU")
    print(f"adult: peak memory {peak_memory():.0f} MB, {peak_memory() - before:.0f} above the data")


def main() -> None:
    """Run both."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    titanic_correlated(folder)
    adult(folder)


if __name__ == "__main__":
    main()
