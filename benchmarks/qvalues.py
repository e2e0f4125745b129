"""Q-values of integrated path stability selection: false discovery rate, power and seconds.

    python benchmarks/qvalues.py [--quick] [--parts rules methods peers examples] [--seeds 3]
                                 [--methods lasso ...]

rules       a ranking by correlation, the steadiest there is, on simulated data: what the published
            choices (powers 2 and 3, as many pairs as were drawn) and ours find at q = 0.1
methods     methods of the package on 200 rows of 100 columns, 5 of which matter, and on pure noise
peers       beside the package ipss with its own selectors, on 500 rows of 5,000 columns
examples    the same on the cancer data of its repository, whose folder `examples` is
            TREESELECT_IPSS; the response is the purity of the tumour

Columns are independent, or in blocks of ten that correlate by 0.5, where a neighbour of a column
that matters counts as false. A column that matters does so by a straight line, a bend, a step, a
bowl or a bump, as much as the others on average; half of the variance of y is noise. Runs of the
two packages follow each other, seed by seed; seconds are those of the processor. `peers` and
`examples` need the package ipss.
"""

from __future__ import annotations

import functools
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Run, cell, means, sorted_rows

import treeselect
from treeselect.engine.threads import one_thread
from treeselect.resampling.error_bounds import efp_scores, q_values_of

PARTS = ("rules", "methods", "peers", "examples")
RATE = 0.1

STUMPS = {"method": "gbfs", "mu": 0.0, "n_trees": 100, "max_depth": 1, "prune": False,
          "learning_rate": 0.3}  # fmt: skip
FORMS = {
    "lasso": {"method": "lasso"}, "mrmr": {"method": "mrmr"},
    "importance": {"method": "importance", "n_trees": 50}, "boosted stumps": STUMPS,
    "gbfs": {"method": "gbfs", "n_trees": 50, "prune": False},
    "rrf": {"method": "rrf", "n_trees": 50}, "controlburn": {"method": "controlburn"},
}  # fmt: skip
PAIRED = {"gb": "boosted stumps", "rf": "importance", "l1": "lasso"}
"""Selectors of ipss, and what is nearest to them here."""

RULES = {
    "power 3, all pairs (ipss for trees)": (3, None),
    "power 2, all pairs (ipss for the lasso)": (2, None),
    "power 2, at most 25 pairs (ours)": (2, 25),
    "power 1": (1, None),
}
RULE_CASES = {
    "noise, p = 20": (150, 20, 0, 50), "noise, p = 1000": (500, 1000, 0, 50),
    "5 of 20": (150, 20, 5, 50), "5 of 200": (200, 200, 5, 50),
    "5 of 200, 200 pairs": (200, 200, 5, 200), "15 of 1000": (500, 1000, 15, 50),
}  # fmt: skip
EXAMPLES = {
    "prostate miRNA": ("prostate_data", "mirna"),
    "prostate RPPA": ("prostate_data", "rppa"),
    "ovarian miRNA": ("ovarian_data", "mirna"),
}


# --- data ----------------------------------------------------------------------------------------


def simulated(seed, n, p, n_true, *, correlation=0.0, straight=False):
    """Columns, response, and the numbers of the columns that matter."""
    rng = np.random.default_rng([seed, n, p, n_true])
    shared = np.repeat(rng.standard_normal((n, -(-p // 10))), 10, axis=1)[:, :p]
    own = rng.standard_normal((n, p))
    x = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    if not n_true:
        return x, rng.standard_normal(n), frozenset()
    truth = rng.choice(p, n_true, replace=False)
    signal = np.zeros(n)
    for j in truth:
        part = x[:, j] if straight else _shape(rng, x[:, j])
        signal += rng.choice([-1, 1]) * rng.uniform(0.5, 1.5) * (part - part.mean()) / part.std()
    y = signal + rng.standard_normal(n) * signal.std()
    return x, y, frozenset(truth.tolist())


def _shape(rng, x):
    return (x, np.tanh(3 * x), np.where(x > 0, 1.0, 0.0), np.abs(x), np.exp(-(x**2)))[
        rng.integers(5)
    ]


def example(name):
    """Columns and response of an example of ipss, without columns that have missing values and the
    second of two that correlate by more than 0.999, as its own program reads them."""
    folder = Path(os.environ["TREESELECT_IPSS"])
    set_name, kind = EXAMPLES[name]
    y = _table(folder / set_name / "clinical.txt")["Tumor_purity"]
    y = pd.to_numeric(y, errors="coerce")
    x = _table(folder / set_name / f"{kind}.txt")
    rows = sorted(set(x.index) & set(y.index))
    x, y = x.loc[rows].astype(float), y.loc[rows].to_numpy()
    x = x.loc[:, x.notna().all()]
    alike = np.triu(np.abs(np.corrcoef(x.to_numpy(), rowvar=False)) > 0.999, 1).any(axis=0)
    x = x.loc[~np.isnan(y), ~alike]
    names = [c.replace("hsa-mir-", "miR-").replace("hsa-let-", "let-") for c in x.columns]
    return x.to_numpy(), y[~np.isnan(y)], names


def _table(path):
    table = pd.read_csv(path, sep="\t").T
    table.columns = table.iloc[0]
    return table.iloc[1:]


# --- q-values ------------------------------------------------------------------------------------


def ours(x, y, form, seed, pairs=50):
    """Q-values of the columns, the number of the first one, and seconds of the processor."""
    names = [f"x{j:05}" for j in range(x.shape[1])]
    frame = pd.DataFrame(x, columns=names).assign(y=y)
    options = FORMS[form]
    size = {} if "mu" in options else {"k": 1}
    begin = time.process_time()
    with one_thread():
        fit = treeselect.select(
            "y ~ .", frame, seed=seed, n_jobs=1, progress=False, **size, **options
        )
        fit = fit.resample(2 * pairs, scheme="complementary", path=True)
    seconds = time.process_time() - begin
    table = fit.stability.q_values().set_index("term").loc[names]
    return table["q_value"].to_numpy(), int(table["efp"].to_numpy().argmin()), seconds


def peer(x, y, selector, seed):
    """The same by ipss with its defaults."""
    from ipss import ipss

    np.random.seed(seed)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ipss(x, y, selector=selector)
    seconds = time.process_time() - begin
    q = np.array([found["q_values"][j] for j in range(x.shape[1])])
    return q, min(found["efp_scores"], key=found["efp_scores"].get), seconds


def of_correlation(x, y, pairs, seed):
    """How often each column is among the k of the highest correlation on half of the rows."""
    rng, n = np.random.default_rng(seed), len(y)
    p = x.shape[1]
    n_sizes = min(p, 400)
    counts = np.zeros((n_sizes, p))
    for _ in range(pairs):
        order = rng.permutation(n)
        for rows in (order[: n // 2], order[n // 2 : 2 * (n // 2)]):
            inside = x[rows] - x[rows].mean(axis=0)
            part = np.abs(inside.T @ (y[rows] - y[rows].mean())) / np.sqrt((inside**2).sum(axis=0))
            counts[np.arange(n_sizes), np.argsort(-part)[:n_sizes]] += 1
    return np.cumsum(counts, axis=0) / (2 * pairs)


def judged(q, truth):
    """True and false ones at the rate, and the share of false ones."""
    selected = set(np.flatnonzero(q <= RATE).tolist())
    false = len(selected - truth)
    return len(selected & truth), false, false / max(len(selected), 1)


# --- parts ---------------------------------------------------------------------------------------


def rules(quick, seeds):
    """Lines of the part: all seeds of a case, each rule on the same frequencies."""
    for case, (n, p, n_true, pairs) in RULE_CASES.items():
        results = {rule: [] for rule in RULES}
        for seed in range(1 if quick else 10 * seeds):
            x, y, truth = simulated(seed, n, p, n_true, straight=True)
            frequency = of_correlation(x, y, pairs, seed)
            for rule, (power, most) in RULES.items():
                efp = efp_scores(frequency, min(pairs, most or pairs), power, 0.05)
                results[rule].append((*judged(q_values_of(efp), truth), np.nan))
        yield from (_line("rules", case, rule, found) for rule, found in results.items())
        if quick:
            return


def methods(quick, seeds, forms=tuple(FORMS)):
    """Lines of the part: each method on truth and on noise."""
    for case, n_true in (("5 of 100", 5), ("noise, p = 100", 0)):
        for form in ("mrmr",) if quick else forms:
            results = []
            for seed in range(1 if quick else 4 * seeds):
                x, y, truth = simulated(seed, 60 if quick else 200, 30 if quick else 100, n_true)
                q, _, seconds = ours(x, y, form, seed, pairs=2 if quick else 25)
                results.append((*judged(q, truth), seconds))
            yield _line("methods", case, form, results)


def peers(quick, seeds):
    """Lines of the part: the two packages in turn."""
    if quick:
        return
    for case, n_true, correlation in (("15 of 5000", 15, 0.0), ("noise, p = 5000", 0, 0.0),
                                      ("15 of 5000, blocks", 15, 0.5)):  # fmt: skip
        results = {}
        for seed in range(seeds):
            x, y, truth = simulated(seed, 500, 5000, n_true, correlation=correlation)
            for selector in ("gb", "l1"):
                for name, (q, _, seconds) in _both(x, y, selector, seed):
                    results.setdefault(name, []).append((*judged(q, truth), seconds))
        yield from (_line("peers", case, name, found) for name, found in results.items())


def examples(quick, seeds):
    """Lines of the part: terms at the rate, seed by seed, and the first."""
    if quick or "TREESELECT_IPSS" not in os.environ:
        return
    for case in EXAMPLES:
        x, y, names = example(case)
        for selector in ("gb", "rf"):
            results = {}
            for seed in range(min(seeds, 2)):
                for name, found in _both(x, y, selector, seed):
                    results.setdefault(name, []).append(found)
            for name, found in results.items():
                counts = [int((q <= RATE).sum()) for q, _, _ in found]
                rows = [
                    (count, np.nan, np.nan, own[2])
                    for count, own in zip(counts, found, strict=True)
                ]
                line = _line("examples", f"{case}, {len(y)} x {len(names)}", name, rows)
                firsts = dict.fromkeys(names[first] for _, first, _ in found)
                yield line | {"first": ", ".join(firsts), "each": " / ".join(map(str, counts))}


def _both(x, y, selector, seed):
    yield f"ipss {selector}", peer(x, y, selector, seed)
    yield PAIRED[selector], ours(x, y, PAIRED[selector], seed)


def _line(part, case, form, results):
    return {
        "run": f"{part}, {case}, {form}", "part": part, "case": case, "form": form,
        "seeds": len(results), "first": "", "each": "",
        **means(("true", "false", "rate", "CPU s"), results),
    }  # fmt: skip


def table_of(summary):
    """The lines to print."""
    digits = {"true": 1, "false": 1, "rate": 3, "CPU s": 1}
    return [
        {name: row[name] for name in ("part", "case", "form", "seeds")}
        | {name: cell(row, name, n) for name, n in digits.items()}
        | {"each seed": row["each"], "first": row["first"]}
        for row in sorted_rows(summary, part=PARTS).to_dict("records")
    ]


def main():
    """Write the table."""
    run = Run(__doc__, parts=PARTS, methods=FORMS, seeds=3)
    of_forms = functools.partial(methods, forms=run.methods)
    parts = {"rules": rules, "methods": of_forms, "peers": peers, "examples": examples}
    for part in run.parts:
        for line in parts[part](run.quick, run.seeds):
            run.keep("qvalues", line)
    run.table(
        "qvalues",
        table_of(run.kept("qvalues", text=("each", "first"))),
        "Terms at q = 0.1 by treeselect and by the package ipss 1.1.13: means over seeds with their"
        " standard errors. True: columns that matter (in the examples: all, nobody knows the"
        " truth); false: the others; rate: mean share of false ones, which should be at most 0.1"
        " (in blocks neither promises it: neighbours of a column that matters tell, too)."
        " What each part is stands in `benchmarks/qvalues.py`.",
    )


if __name__ == "__main__":
    main()
