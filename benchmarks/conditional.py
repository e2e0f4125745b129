"""Tests of what a column adds to all others: are they right, and what do they find?

    python benchmarks/conditional.py [--quick] [--jobs 1] [--seeds 30] [--sets line ...]
                                     [--programs tests ...]

300 rows; all columns are tested given all others. A row that stands is not run again.

terms     a number, a binary column, one of six levels of a factor, and a pair of numbers that is
          tested as one matter; an exact copy of another number stands beside it; three numbers and
          a factor of six levels are noise. Noise of deviation 1 (as in all sets of numbers).
line      ten columns, correlations 0.6 to the power of the distance; coefficients of three: 0.25
equal     the same with all correlations 0.5
bends     correlations 0.5 to the power of the distance; a square, a sine and an absolute value
products  two products of columns, one of them with a line
near      three columns with a copy each: exact, exponential, and with noise of deviation 0.05; each
          of these pairs matters, as does a column without a copy; the copy with noise does not
shared    the hardest case: the response, and two columns of noise, depend on the same square and
          the same product of a column and a sigmoid
times     right-censored times; two lines and a square in the log hazard, censoring depends on
          another column

tests     ours: ``conditional_importance(None, given="all")``
CFI       hidimstat's conditional feature importance (CPI) with a sampler by forests, 5 folds
dCRT      hidimstat's distilled conditional randomisation test, which is linear (D0CRT)

Peers are run on the sets of numbers; their forests are scikit-learn's of 100 trees.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from harness import Run, is_here, shown_mean
from scipy.linalg import toeplitz
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold

import treeselect
from treeselect.engine.threads import one_thread

ALPHA, RATE, LEVELS = 0.05, 0.1, list("abcdef")
SETS = ("terms", "line", "equal", "bends", "products", "near", "shared", "times")
TRUE = {
    "terms": ("number", "binary", "factor", "pair"), "line": ("x0", "x3", "x6"),
    "equal": ("x0", "x3", "x6"), "bends": ("x0", "x3", "x6"), "products": ("x0", "x3", "x6", "x8"),
    "near": ("x9",), "shared": ("x0", "x2", "x3"), "times": ("x0", "x3", "x6"),
}  # fmt: skip
COPIES = {"terms": ("copy", "copied"), "near": ("x0", "x1", "x6", "x7")}
UNKNOWN = {"near": ("x3",)}  # matters, but can't be told from its copy with 300 rows


def simulated(name: str, seed: int, n: int) -> pd.DataFrame:
    """Rows of a set."""
    rng = np.random.default_rng([seed, SETS.index(name)])
    if name == "terms":
        return of_terms(rng, n)
    rho = {"line": 0.6, "times": 0.6, "shared": 0.3}.get(name, 0.5)
    shape = np.full((10, 10), rho) + (1 - rho) * np.eye(10)
    if name != "equal":
        shape = toeplitz(rho ** np.arange(10))
    X = rng.standard_normal((n, 10)) @ np.linalg.cholesky(shape).T
    noise = rng.standard_normal(n)
    if name in ("line", "equal"):
        y = 0.25 * (X[:, 0] - X[:, 3] + X[:, 6])
    elif name == "bends":
        y = 0.3 * X[:, 0] ** 2 + 0.6 * np.sin(2 * X[:, 3]) + 0.6 * np.abs(X[:, 6])
    elif name == "products":
        y = 0.6 * X[:, 0] * X[:, 3] + 0.5 * X[:, 6] * X[:, 8] + 0.3 * X[:, 6]
    elif name == "near":
        X[:, 1], X[:, 7] = X[:, 0], np.exp(X[:, 6])
        X[:, 4] = X[:, 3] + 0.05 * rng.standard_normal(n)
        y = X[:, 0] + X[:, 3] + np.abs(X[:, 6]) + 0.5 * X[:, 9]
    elif name == "shared":
        product, square = np.tanh(2 * X[:, 0]) * X[:, 2], X[:, 3] ** 2
        X[:, 1], X[:, 4] = np.stack([product, square]) + 0.5 * rng.standard_normal((2, n))
        y = product + square
    else:
        risk = np.exp(0.35 * (X[:, 0] - X[:, 3]) + 0.3 * X[:, 6] ** 2)
        time_, end = rng.exponential(1 / risk), rng.exponential(2 * np.exp(-0.5 * X[:, 1]))
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
        return frame.assign(time=np.minimum(time_, end), event=(time_ <= end).astype(int))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]).assign(y=y + noise)


def of_terms(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Rows of numbers and factors."""
    names = ["number", "one", "other", "copied", "z0", "z1", "z2"]
    frame = pd.DataFrame(rng.standard_normal((n, len(names))), columns=names)
    frame["copy"] = frame["copied"]
    frame["binary"] = rng.integers(2, size=n)
    frame["factor"], frame["noise_factor"] = (rng.choice(LEVELS, n) for _ in range(2))
    y = 0.5 * frame["number"] + 1.0 * frame["binary"] + 1.2 * (frame["factor"] == "c")
    y += 0.4 * frame["one"] + 0.4 * frame["other"] + 1.0 * frame["copied"]
    return frame.assign(y=y + rng.standard_normal(n))


# --- programs: p-value, and whether called at the false discovery rate, of each unit -------------

Found = dict[str, tuple[float, bool]]


def ours(frame: pd.DataFrame, seed: int) -> Found:
    """Ours."""
    left = "Surv(time, event)" if "time" in frame else "y"
    groups = {"pair": ["one", "other"]} if "one" in frame else None
    fit = treeselect.select(f"{left} ~ .", frame, method="lasso", k=2, groups=groups, seed=seed)
    table = fit.model.conditional_importance(None, given="all").tidy()
    rows = zip(table["term"], table["p_value"], table["level"], strict=True)
    return {term: (p_value, level <= RATE) for term, p_value, level in rows}


def permuted(frame: pd.DataFrame, seed: int) -> Found:
    """hidimstat's CFI."""
    from hidimstat import CFICV

    X, y = frame.drop(columns="y"), frame["y"].to_numpy()
    search = CFICV(
        RandomForestRegressor(100, min_samples_leaf=5, max_features=1 / 3, random_state=seed),
        KFold(5, shuffle=True, random_state=seed), random_state=seed, n_permutations=20,
        imputation_model_continuous=RandomForestRegressor(100, min_samples_leaf=5),
    )  # fmt: skip
    search.fit(X.to_numpy(), y)
    search.importance(X.to_numpy(), y)
    return {name: (p, False) for name, p in zip(X, np.ravel(search.pvalues_), strict=True)}


def distilled(frame: pd.DataFrame, seed: int) -> Found:
    """hidimstat's dCRT."""
    from hidimstat import D0CRT

    X = frame.drop(columns="y")
    search = D0CRT(LassoCV(random_state=seed), screening_threshold=100, random_state=seed)
    search.fit_importance(X.to_numpy(), frame["y"].to_numpy())
    return {name: (p, False) for name, p in zip(X, np.ravel(search.pvalues_), strict=True)}


PROGRAMS = {"tests": ours, "CFI": permuted, "dCRT": distilled}


def one(name: str, program: str, seed: int, n: int) -> list[float]:
    """Shares of what matters, of noise and of copies with a small p-value; of what matters among
    all that matter, and of noise among all that are called; seconds."""
    frame, start = simulated(name, seed, n), time.process_time()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PROGRAMS[program](frame, seed)
    seconds = time.process_time() - start
    true, copies = set(TRUE[name]), set(COPIES.get(name, ()))
    noise = set(found) - true - copies - set(UNKNOWN.get(name, ()))
    small = {term for term, (p, _) in found.items() if p < ALPHA}
    called = {term for term, (_, is_called) in found.items() if is_called}
    shares = [len(small & part) / max(len(part), 1) for part in (true, noise, copies)]
    rates = len(called & true) / len(true), len(called & noise) / max(len(called), 1)
    return [*shares, *rates, seconds]


NOT_OF_PEERS = ("terms", "times")
MEASURES = ("power", "noise", "copies", "power at 0.1", "false at 0.1")


def depends(program: str) -> tuple[str, ...] | None:
    """Stored answers behind a row."""
    return ("lasso", "default") if program == "tests" else None


def main() -> None:
    """Write the table."""
    few = {"sets": ("near",), "programs": ("tests",), "seeds": 1}
    run = Run(__doc__, sets=SETS, programs=PROGRAMS, seeds=30, quick=few, depends=depends)
    known = run.stands("conditional")
    there = is_here("hidimstat")
    for name in run.sets:
        for program in run.programs:
            is_peer = program != "tests"
            if f"{name}, {program}" in known or (is_peer and (name in NOT_OF_PEERS or not there)):
                continue
            seeds = max(1, run.seeds // 3) if program == "CFI" else run.seeds
            found = run.map(one, [(name, program, s, run.pick(100, 300)) for s in range(seeds)])
            *shares, seconds = np.array(found).T
            row = {"run": f"{name}, {program}", "set": name, "program": program, "seeds": seeds}
            row |= dict(zip(MEASURES, map(shown_mean, shares), strict=True))
            if is_peer:
                row |= dict.fromkeys(MEASURES[3:], "")
            if name not in COPIES:
                row["copies"] = ""
            run.keep("conditional", row | {"CPU s": f"{np.median(seconds):.1f}"})
    rows = run.kept("conditional", text=True).drop(columns="run")
    run.table(
        "conditional",
        rows.sort_values("set", key=lambda names: names.map(SETS.index), kind="stable"),
        "treeselect (tests) and hidimstat 0.4 (CFI, dCRT),"
        f" tests of each column given all others: share of what matters with p < {ALPHA} (power),"
        f" and of noise and of copies, {ALPHA:.0%} being allowed; at a false discovery rate of"
        f" {RATE}, share of what matters and of what is false; means over seeds (s.e.).",
    )


if __name__ == "__main__":
    main()
