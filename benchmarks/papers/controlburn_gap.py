"""ControlBurn's sparse-forest problem by three solvers: how far each is from the optimum.

    python benchmarks/papers/controlburn_gap.py [--quick] [--jobs 2]

Problem (2) of the paper, one forest (Algorithm 2) of the breast cancer set of scikit-learn and of
the Titanic with correlated body measures, at five penalties: treeselect's solver, stochastic
gradient descent with an L1 penalty on the trees' predictions over their prices, as in the authors'
package (whose weights may be negative), and cvxpy with CLARABEL. The objective of a solution is the
mean log loss with the best intercept plus the penalty on the weights' absolute values. A term is
kept if a tree with a weight uses it; cvxpy's weights, which are never exactly 0, count from a
millionth on. Ten forests, and a run of the gradient descent for each.
"""

from __future__ import annotations

import argparse
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
from common import (
    dress,
    frame_problem,
    mean_and_error,
    new_figure,
    run_all,
    shown,
    write_figure,
    write_table,
)
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from treeselect import ControlBurn, datasets
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.engine.sparse.forest import sparse_forest
from treeselect.engine.threads import one_thread

PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001)
FORESTS = 10
SOLVERS = {
    "treeselect": {"color": "#0072b2", "marker": "o", "linestyle": "-"},
    "cvxpy": {"color": "#666666", "marker": "x", "linestyle": ":"},
    "gradient descent": {"color": "#d55e00", "marker": "^", "linestyle": "--"},
}


def breast_cancer():
    """The set of scikit-learn."""
    return load_breast_cancer(as_frame=True).frame


def titanic():
    """The passengers with body measures."""
    return datasets.load("titanic_correlated").rename(columns={"survived": "target"})


SETS = {"breast cancer": breast_cancer, "Titanic": titanic}


def grown(frame, seed):
    """Predictions and groups of the trees of one forest, and the problem's rest."""
    problem = frame_problem(frame, "target")
    weight = np.ones(len(problem.y), dtype=np.int64)
    task = Task(problem, row_weights(weight), seed=seed, max_size=len(problem.groups.names))
    pool, _ = ControlBurn.published().pool(task)
    rows = np.arange(len(problem.y))
    sparse = sparse_forest(
        pool.columns(rows, 1), problem.family.loss, problem.y, weight, problem.constant(weight),
        pool.uses.sum(axis=1).astype(np.float64),
    )  # fmt: skip
    columns = sparse.columns.block(np.arange(sparse.n_trees), slice(0, len(rows))).T
    return sparse, columns, pool.uses


def by_cvxpy(forest, columns, lam):
    """Weights that minimise the objective, its value, and whether the solver vouches for it."""
    w, b = cp.Variable(columns.shape[1], nonneg=True), cp.Variable()
    eta = b + (columns / forest.prices) @ w  # in prices: the scaling it is solved well in
    loss = cp.sum(cp.logistic(eta) - cp.multiply(forest.y, eta)) / len(forest.y)
    task = cp.Problem(cp.Minimize(loss + lam * cp.sum(w)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        task.solve(solver=cp.CLARABEL)
    weights = w.value / forest.prices
    weights = np.where(weights > 1e-6, weights, 0.0)
    return weights, float(task.value), task.status == cp.OPTIMAL


def by_gradient_descent(forest, columns, lam, seed):
    """Weights by the authors' way: prices in the columns, no sign constraint."""
    machine = SGDClassifier(loss="log_loss", penalty="l1", alpha=lam, max_iter=5000,
                            random_state=seed)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(columns / forest.prices, forest.y)
    return machine.coef_[0] / forest.prices


def objective(forest, columns, lam, weights):
    """Value of the problem at given weights, the intercept being the best."""
    eta = columns @ weights

    def loss(b):
        return float(np.mean(np.logaddexp(0.0, eta + b) - forest.y * (eta + b)))

    best = minimize_scalar(loss, bracket=(-1.0, 1.0), options={"xtol": 1e-10})
    return float(best.fun) + lam * float(forest.prices @ np.abs(weights))


def one_forest(name, frame, seed, penalties):
    """Objective, terms and trees kept, by penalty and solver."""
    with one_thread():
        forest, columns, uses = grown(frame, seed)
        rows, solution = [], forest.empty()
        for lam in penalties:
            solution = forest.solve(lam, solution)
            optimal, optimum, is_sure = by_cvxpy(forest, columns, lam)
            sgd = by_gradient_descent(forest, columns, lam, seed)
            values = {
                "treeselect": (solution.weights, forest.objective(solution)),
                "cvxpy": (optimal, optimum),
                "gradient descent": (sgd, objective(forest, columns, lam, sgd)),
            }
            for solver, (weights, value) in values.items():
                n_terms = int(uses[weights != 0].any(axis=0).sum())
                rows.append((name, seed, lam, solver, value, value - optimum, n_terms,
                             int((weights != 0).sum()), int((weights < 0).sum()),
                             forest.n_trees, is_sure))  # fmt: skip
    return rows


def table_of(found):
    """Objectives, gaps and terms kept, by set and penalty."""
    lines = []
    for (name, lam), part in found.groupby(["set", "penalty"], sort=False):
        by = {solver: own for solver, own in part.groupby("solver")}
        line = [name, f"{lam:g}", f"{by['treeselect']['n_trees'].mean():.0f}"]
        line.append(shown(*mean_and_error(by["treeselect"]["objective"]), 4))
        line.append(f"{by['treeselect']['gap'].abs().max():.0e}")
        line.append(shown(*mean_and_error(by["gradient descent"]["gap"].clip(lower=0.0)), 4))
        line += [shown(*mean_and_error(by[solver]["terms"]), 1) for solver in SOLVERS]
        line += [shown(*mean_and_error(by[s]["trees"]), 1) for s in SOLVERS if s != "cvxpy"]
        lines.append(line)
    columns = ["set", "penalty", "trees", "objective, treeselect", "largest distance from cvxpy's",
               "gradient descent above it", "terms, treeselect", "terms, cvxpy",
               "terms, gradient descent", "trees with weight, treeselect",
               "trees with weight, gradient descent"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns)


def figure_of(found):
    """Distance from the optimum above, terms kept below, against the penalty; a column per set."""
    names = list(found["set"].unique())
    figure = new_figure(3.9 * len(names), 5.6)
    grid = figure.subplots(2, len(names), sharex=True, squeeze=False, sharey="row")
    for j, name in enumerate(names):
        for solver, look in SOLVERS.items():
            part = found[(found["set"] == name) & (found["solver"] == solver)].groupby("penalty")
            if solver != "cvxpy":
                gap = part["gap"].apply(lambda gaps: gaps.abs().max())
                grid[0, j].plot(gap.index, np.maximum(gap, 1e-13), **look, label=solver)
            terms = part["terms"]
            grid[1, j].errorbar(terms.mean().index, terms.mean(), 2 * terms.sem(), **look,
                                label=solver)  # fmt: skip
        dress(
            grid[0, j], name, "", "" if j else "largest distance from\ncvxpy's objective (log loss)"
        )
        dress(grid[1, j], "", "penalty per unit of weight and price", "" if j else "terms kept")
        grid[1, j].set_xscale("log")
        grid[0, j].set_yscale("log")
    grid[1, 0].legend(frameon=False, fontsize="small")
    figure.suptitle("The sparse forest by three solvers: objective and terms kept (two s.e.)")
    return figure


def main():
    """Write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two forests, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    calls = [
        (name, load(), seed, PENALTIES[:2] if options.quick else PENALTIES)
        for name, load in list(SETS.items())[: 1 if options.quick else None]
        for seed in range(2 if options.quick else FORESTS)
    ]
    rows = [row for part in run_all(one_forest, calls, options.jobs) for row in part]
    columns = ["set", "seed", "penalty", "solver", "objective", "gap", "terms", "trees",
               "negative", "n_trees", "is_sure"]  # fmt: skip
    found = pd.DataFrame(rows, columns=columns)
    ours, theirs = (found[found["solver"] == s] for s in ("treeselect", "gradient descent"))
    more = theirs["terms"].to_numpy() - ours["terms"].to_numpy()
    write_table(
        "controlburn_gap",
        table_of(found),
        f"ControlBurn's sparse-forest problem by treeselect, by cvxpy and by gradient descent as"
        f" the authors' package does it: mean (s.e.) over {found['seed'].nunique()} forests each."
        f" treeselect's objective less cvxpy's is {ours['gap'].min():.0e} to"
        f" {ours['gap'].max():.0e} (cvxpy calls {np.sum(~ours['is_sure'])} of its {len(ours)}"
        " solutions inaccurate);"
        f" gradient descent is {shown(*mean_and_error(theirs['gap']), 4)} above it on average and"
        f" keeps more terms in {np.mean(more > 0):.0%} of the problems, fewer in"
        f" {np.mean(more < 0):.0%}, with {theirs['negative'].sum()} negative weights in all.",
        quick=options.quick,
    )
    write_figure("controlburn_gap", figure_of(found), quick=options.quick)


if __name__ == "__main__":
    main()
