"""From a frame to arrays: CPU seconds and memory, beside formulaic's own materialisation.

    python benchmarks/encode.py [--quick]

Each case runs in a process of its own, ours and formulaic's in turn, three times (of a quick run
the first alone does, once); the minimum counts. Memory is the largest resident size above that with
the data in memory. A row above its target is told: missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LEVELS = [f"level {k}" for k in range(14)]


def long_frame(n_rows: int, *, text: bool = False) -> pd.DataFrame:
    """20 numbers and 10 factors of 14 levels."""
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {f"x{i}": rng.normal(size=n_rows) for i in range(20)}
    for i in range(10):
        codes = rng.integers(0, 14, n_rows)
        factor = pd.Series(pd.Categorical.from_codes(codes, LEVELS))
        data[f"f{i}"] = factor.astype("str") if text else factor
    data["y"] = data["x0"] + (data["x1"] > 0) * data["x2"] + rng.normal(size=n_rows)
    return pd.DataFrame(data)


def wide_frame(n_columns: int) -> pd.DataFrame:
    """72 rows of numbers, as from a microarray."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(72, n_columns)), columns=names(n_columns))
    return pd.concat([frame, pd.Series(rng.normal(size=72), name="y")], axis=1)


def names(n: int) -> list[str]:
    return [f"g{i}" for i in range(n)]


def encode(frame: pd.DataFrame, formula: str) -> Any:
    """Ours, before binning."""
    from treeselect.designs.columns import design_columns
    from treeselect.designs.encoding import learn_design
    from treeselect.designs.problem import make_units
    from treeselect.formula import parse_formula
    from treeselect.frames.reading import read_data

    frame = read_data(frame)
    parsed = parse_formula(formula, list(frame.columns))
    spec, values = learn_design(parsed, frame, make_units(parsed.terms, None, None, None))
    return spec, [
        design_columns(term, [values[p.factor.name] for p in term.factors]) for term in spec.terms
    ]


def bin_and_code(frame: pd.DataFrame, formula: str) -> Any:
    """Ours, ready for trees."""
    from treeselect.designs.encoding import build_design
    from treeselect.designs.problem import make_units
    from treeselect.formula import parse_formula
    from treeselect.frames.reading import read_data

    frame = read_data(frame)
    parsed = parse_formula(formula, list(frame.columns))
    return build_design(parsed, frame, make_units(parsed.terms, None, None, None))[0]


def materialise(frame: pd.DataFrame, formula: str) -> Any:
    """formulaic's."""
    import formulaic

    return formulaic.model_matrix(formula, frame, ensure_full_rank=False)


def pasted(n: int) -> str:
    return f"y ~ {' + '.join(names(n))}"


def predictor(n_train: int) -> Callable[[pd.DataFrame, str], Any]:
    import treeselect

    fit = treeselect.select("y ~ .", long_frame(n_train), k=5, seed=1)

    def predict(frame: pd.DataFrame, formula: str) -> Any:
        return fit.predict(frame)

    return predict


Case = tuple[Callable[[], pd.DataFrame], str, Callable[[], Callable[[pd.DataFrame, str], Any]]]


def cases(n: int, p: int, q: int) -> dict[str, Case]:
    """Data, formula and what is measured, by name."""
    return {
        "long": (lambda: long_frame(n), "y ~ .", lambda: encode),
        "long, formulaic": (lambda: long_frame(n), "y ~ .", lambda: materialise),
        "long, text": (lambda: long_frame(n, text=True), "y ~ .", lambda: encode),
        "long, binned": (lambda: long_frame(n), "y ~ .", lambda: bin_and_code),
        "wide": (lambda: wide_frame(p), "y ~ .", lambda: bin_and_code),
        "wide, formulaic": (lambda: wide_frame(p), "y ~ .", lambda: materialise),
        "wider": (lambda: wide_frame(q), "y ~ .", lambda: bin_and_code),
        "pasted": (lambda: wide_frame(p), pasted(p), lambda: bin_and_code),
        "pasted, half": (lambda: wide_frame(p // 2), pasted(p // 2), lambda: bin_and_code),
        "predict": (lambda: long_frame(n), "y ~ .", lambda: predictor(2_000)),
    }


def resident(field: str) -> float:
    """A field of the process's memory in GB: VmRSS now, VmHWM the largest."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) / 1024**2


def measure(case: Case) -> dict[str, float]:
    """CPU seconds and GB above the data of one run in this process, after a small one."""
    make, formula, prepare = case
    run = prepare()
    run(make().head(200), formula)  # imports and compiled kernels
    frame = make()
    Path("/proc/self/clear_refs").write_text("5")
    before, start = resident("VmRSS"), time.process_time()
    result = run(frame, formula)
    seconds = time.process_time() - start
    found = {"seconds": seconds, "memory": resident("VmHWM") - before}
    if hasattr(result, "binned"):
        kept = result.binned.codes.nbytes + result.binned.blocks.nbytes
        found["bytes per cell"] = kept / result.binned.codes.size
    return found


def in_process(name: str, sizes: list[str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--case", name, "--sizes", *sizes],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table, or one case of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data, no targets")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", nargs=3, default=["1000000", "7129", "30000"])
    options = parser.parse_args()
    sizes = ["5000", "300", "600"] if options.quick else options.sizes
    todo = cases(*map(int, sizes))
    if options.case:
        print(json.dumps(measure(todo[options.case])))
        return
    best: dict[str, dict[str, float]] = {}
    for _ in range(1 if options.quick else 3):
        for name in todo:
            alone = name == "long" or not options.quick
            found = in_process(name, sizes) if alone else measure(todo[name])
            known = best.setdefault(name, found)
            best[name] = {key: min(known[key], found[key]) for key in found}
    report(best, judge=not options.quick)


def report(best: dict[str, dict[str, float]], *, judge: bool) -> None:
    """Print the table."""
    s = {name: found["seconds"] for name, found in best.items()}
    m = {name: found["memory"] for name, found in best.items()}
    rows = [
        ("long, encoded: CPU s", s["long"], 1.0, s["long, formulaic"]),
        ("long, encoded: GB above the data", m["long"], 0.15, m["long, formulaic"]),
        ("long with text, encoded: CPU s", s["long, text"], None, None),
        ("long, binned and coded: CPU s", s["long, binned"], 3.0, None),
        ("long, binned and coded: bytes per cell", best["long, binned"]["bytes per cell"], 2.2,
         None),
        ("wide (72 rows), y ~ .: CPU s", s["wide"], 0.6, s["wide, formulaic"]),
        ("wider (72 rows), y ~ .: CPU s", s["wider"], 4.0, None),
        ("pasted names: CPU s", s["pasted"], None, None),
        ("pasted names, twice as many: times", s["pasted"] / s["pasted, half"], 2.8, None),
        ("predict: times encoding and binning", s["predict"] / s["long, binned"], 1.5, None),
        ("predict: CPU s", s["predict"], None, None),
    ]  # fmt: skip
    print(f"{'':42}{'found':>9}{'target':>9}{'formulaic':>11}")
    for name, found, target, peer in rows:
        miss = target is not None and found > target
        print(
            f"{name:42}{found:9.2f}{'' if target is None else f'{target:.2f}':>9}"
            f"{'' if peer is None else f'{peer:.2f}':>11}{'  missed' if miss and judge else ''}"
        )


if __name__ == "__main__":
    main()
