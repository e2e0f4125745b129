"""ControlBurn paper: Titanic with proxies, abalone's stop, the optimum.

    python benchmarks/papers/controlburn.py [--quick] [--jobs 2] [--seeds 20]
                                   [--parts titanic abalone gap]

titanic        Section 2 and Figure 2 (right). Height, weight, femur and tibia are made of age and
               sex and stand beside them. In how many of the seeds the three selected columns are
               sex, pclass, and just one of age and the four, as the paper reports, for
               ControlBurn's default and the paper's form, exchange search, and forest importance,
               which the paper has for comparison; and which columns they are.
abalone        Section 3.2.2 and Figure 6. Rings of abalone by incremental depth bag-boosting
               (Algorithm 2), grown beyond the stage at which it would stop, on 20 random samples of
               four fifths of the rows: by how much each iteration lowers the out-of-bag error, and
               the mean squared error on the other rows. Iteration t grows trees of depth t. The
               algorithm stops after the first iteration without an improvement, which it keeps.
gap            Problem (2) of the paper, one forest (Algorithm 2) of the breast cancer set of
               scikit-learn and of the Titanic with correlated body measures, at five penalties:
               treeselect's solver, stochastic gradient descent with an L1 penalty on the trees'
               predictions over their prices, as in the authors' package (whose weights may be
               negative), and cvxpy with CLARABEL. The objective of a solution is the mean log loss
               with the best intercept plus the penalty on the weights' absolute values. A term is
               kept if a tree with a weight uses it; cvxpy's weights, which are never exactly 0,
               count from a millionth on. Ten forests, and a run of the gradient descent for each.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections import Counter

import numpy as np
import pandas as pd
from common import Run, frame_problem, ones
from harness import FORMS, shown_mean, stored
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

import treeselect
from treeselect import ControlBurn, datasets
from treeselect.algorithms.task import Task
from treeselect.designs.families import GAUSSIAN
from treeselect.designs.weights import row_weights
from treeselect.engine.forest.bag_boosting import BagBoosting, _Stages
from treeselect.engine.forest.bagging import BOOTSTRAP
from treeselect.engine.sparse.forest import sparse_forest
from treeselect.engine.threads import one_thread
from treeselect.engine.tree.used_groups import no_penalty

# --- Figure 2: Titanic -------------------------------------------------------------------------

TITANIC = ("controlburn", "controlburn, paper", "exchange", "importance, mdi")
PROXIES = {"age", "height", "weight", "femur", "tibia"}


def three_columns(method, frame, seed):
    """Three columns."""
    fit = treeselect.select(
        "survived ~ .", frame, method=FORMS[method], k=3, seed=seed, n_jobs=1, progress=False
    )
    return method, tuple(sorted(fit.selected))


def is_right(columns):
    """Whether the columns are those of the paper."""
    return {"sex", "pclass"} < set(columns) and len(PROXIES.intersection(columns)) == 1


def run_titanic(run):
    """How often the columns are those of the paper."""
    frame, methods = datasets.load("titanic_correlated").head(300), TITANIC[1:]
    if not run.quick:
        frame, methods = stored("titanic_correlated"), TITANIC
    found = run.map(three_columns, [(m, frame, s) for m in methods for s in range(run.seeds)])
    lines = []
    for method in methods:
        sets = [columns for name, columns in found if name == method]
        counts = Counter(column for columns in sets for column in columns).most_common()
        often = ", ".join(f"{column} {n}" for column, n in counts)
        lines.append((method, len(sets), sum(map(is_right, sets)), often))
    run.table(
        "controlburn_titanic",
        pd.DataFrame(lines, columns=["method", "seeds", "as in the paper", "times selected"]),
        "ControlBurn paper, Figure 2, by treeselect: three columns of Titanic with four proxies of"
        " age and sex. As in the paper: sex, pclass, and just one of age, height, weight, femur and"
        " tibia.",
    )


# --- Figure 6: abalone -------------------------------------------------------------------------


def bag_of(problem, weight, depths, seed):
    """The trees of one forest of as many depths as are asked for, whatever the improvements."""
    rules = BagBoosting(
        tail=5, tolerance=1e-3, min_trees=1, max_trees=200, max_depth=depths, min_weight=1,
        n_candidates=problem.data.n_groups,
    )  # fmt: skip
    stages = _Stages(
        problem.data, problem.family.loss, problem.y, weight, problem.constant(weight), rules,
        seed, problem.groups.ranks(seed), no_penalty(len(problem.data.n_codes)), BOOTSTRAP,
    )  # fmt: skip
    for depth in range(1, depths + 1):
        stages.grow(depth)
        stages.advance()
    return stages.forest()


def one_split(problem, split, depths):
    """Improvement, test error and trees by iteration; iteration 0 is the constant model."""
    rng = np.random.default_rng(split)
    weight = (rng.permutation(len(problem.y)) < 0.8 * len(problem.y)).astype(np.int64)
    test = np.flatnonzero(weight == 0)
    bag = bag_of(problem, weight, depths, split)
    eta = problem.constant(weight)[test]
    rows = [(split, 0, np.nan, np.mean((problem.y[test] - eta) ** 2), 0)]
    for stage in range(depths):
        trees = np.flatnonzero(bag.stages == stage)
        eta = eta + np.mean([bag.values[t][bag.leaves[t][test], 0] for t in trees], axis=0)
        improvement = 2 * bag.improvements[stage]  # the loss is half the squared error
        error = np.mean((problem.y[test] - eta) ** 2)
        rows.append((split, stage + 1, improvement, error, len(trees)))
    return rows


def stops_and_bests(found):
    """By split, the iteration after which the algorithm stops, that of the least test error, and
    by what share the test error at the stop is above the least."""
    rows = []
    for _, part in found.groupby("split"):
        part = part.set_index("iteration")
        stop = min([*part.index[part["improvement"] <= 0], part.index.max()])
        error = part["error"]
        rows.append((stop, error.idxmin(), error[stop] / error.min() - 1))
    return pd.DataFrame(rows, columns=["stop", "best", "excess"])


def run_abalone(run):
    """The table."""
    frame = treeselect.datasets.simulate_friedman(300, seed=1, binary=False).data
    frame = (
        frame.rename(columns={"y": "target"}) if run.quick else stored("abalone", "rings", "target")
    )
    y = frame["target"].to_numpy(np.float64)
    problem = dataclasses.replace(frame_problem(frame, "target"), y=y, family=GAUSSIAN)
    depths, splits = run.pick((4, 2), (12, 20))
    rows = run.flat(one_split, [(problem, split, depths) for split in range(splits)])
    columns = ["split", "iteration", "improvement", "error", "n_trees"]
    found = pd.DataFrame(rows, columns=columns)
    stops = stops_and_bests(found)
    run.table(
        "controlburn_abalone",
        [
            {
                "iteration": t,
                "out-of-bag improvement": shown_mean(part["improvement"], 3),
                "test error": shown_mean(part["error"], 3),
                "trees": f"{part['n_trees'].mean():.1f}",
            }
            for t, part in found.groupby("iteration")
        ],
        f"ControlBurn paper, Figure 6, by treeselect: abalone, mean (s.e.) over {len(stops)} random"
        f" samples of four fifths of the rows, squared error in rings². It stops at iteration"
        f" {shown_mean(stops['stop'], 1)}, median {stops['stop'].median():g}; the test"
        f" error is least at {shown_mean(stops['best'], 1)}, median"
        f" {stops['best'].median():g}; at the stop it is"
        f" {shown_mean(100 * stops['excess'], 1)} % above the least. The paper, one"
        " run: stops at 6, least test error at 7.",
    )


# --- the optimum -------------------------------------------------------------------------------

PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001)
SOLVERS = ("treeselect", "cvxpy", "gradient descent")


def sparse_problem(frame, seed):
    """Predictions and groups of the trees of one forest, and the problem's rest."""
    problem = frame_problem(frame, "target")
    weight = ones(problem)
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
    import cvxpy as cp

    w, b = cp.Variable(columns.shape[1], nonneg=True), cp.Variable()
    eta = b + (columns / forest.prices) @ w  # in prices: the scaling it is solved well in
    loss = cp.sum(cp.logistic(eta) - cp.multiply(forest.y, eta)) / len(forest.y)
    task = cp.Problem(cp.Minimize(loss + lam * cp.sum(w)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # so the status says
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
        forest, columns, uses = sparse_problem(frame, seed)
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


def run_gap(run):
    """Objectives, gaps and terms kept, by set and penalty."""
    frames = {"breast cancer": load_breast_cancer(as_frame=True).frame}
    if not run.quick:
        frame = datasets.load("titanic_correlated")
        frames["Titanic"] = frame.rename(columns={"survived": "target"})
    penalties, forests = run.pick((PENALTIES[:1], 1), (PENALTIES, 10))
    calls = [(*pair, seed, penalties) for pair in frames.items() for seed in range(forests)]
    columns = ["set", "seed", "penalty", "solver", "objective", "gap", "terms", "trees",
               "negative", "n_trees", "is_sure"]  # fmt: skip
    found, lines = pd.DataFrame(run.flat(one_forest, calls), columns=columns), []
    for (name, lam), part in found.groupby(["set", "penalty"], sort=False):
        by = {solver: own for solver, own in part.groupby("solver")}
        own, sgd = by["treeselect"], by["gradient descent"]
        lines.append({
            "set": name, "penalty": f"{lam:g}", "trees": f"{own['n_trees'].mean():.0f}",
            "objective, treeselect": shown_mean(own["objective"], 4),
            "largest distance from cvxpy's": f"{own['gap'].abs().max():.0e}",
            "gradient descent above it": shown_mean(sgd["gap"].clip(lower=0.0), 4),
            **{f"terms, {solver}": shown_mean(by[solver]["terms"], 1) for solver in SOLVERS},
            "trees with weight, treeselect": shown_mean(own["trees"], 1),
            "trees with weight, gradient descent": shown_mean(sgd["trees"], 1),
        })  # fmt: skip
    ours, theirs = (found[found["solver"] == s] for s in ("treeselect", "gradient descent"))
    more = theirs["terms"].to_numpy() - ours["terms"].to_numpy()
    run.table(
        "controlburn_gap",
        lines,
        f"ControlBurn's sparse-forest problem by treeselect, by cvxpy and by gradient descent as"
        f" the authors' package does it: mean (s.e.) over {found['seed'].nunique()} forests each."
        f" treeselect's objective less cvxpy's is {ours['gap'].min():.0e} to"
        f" {ours['gap'].max():.0e} (cvxpy calls {np.sum(~ours['is_sure'])} of its {len(ours)}"
        " solutions inaccurate);"
        f" gradient descent is {shown_mean(theirs['gap'], 4)} above it on average and"
        f" keeps more terms in {np.mean(more > 0):.0%} of the problems, fewer in"
        f" {np.mean(more < 0):.0%}, with {theirs['negative'].sum()} negative weights in all.",
    )


PARTS = {"titanic": run_titanic, "abalone": run_abalone, "gap": run_gap}


def main():
    """Write the tables."""
    run = Run(__doc__, parts=PARTS, seeds=20, quick={"seeds": 1})
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
