"""ControlBurn paper: Titanic with proxies, abalone's stop, an added column, seconds, the optimum.

    python benchmarks/papers/controlburn.py [--quick] [--jobs 2] [--seeds 20]
                                   [--parts titanic abalone uninformative rfe gap]

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
uninformative  Section 6.1 and Figure 12. A column of standard normal numbers is added to sets whose
               columns have few values, most of them. ControlBurn, and importance in a forest of
               scikit-learn (MDI), keep a tenth to all of the columns; the rank of the added one is
               that by the same importance in a forest on what is kept: 1 is the most important, and
               the number of all columns stands for not being kept. Ten draws of the column for each
               set. The paper does not say which set it took.
rfe            Section 4.3 and Figure 7. Ten columns are asked for, of PMLB sets cut to 1000 rows:
               by select() with ControlBurn, the default and the paper's form, and by recursive
               feature elimination of scikit-learn around its random forest of 100 trees, a column
               at a time, which fits a forest for every column it drops. Each of them reads the
               frame and ends with a forest on what it keeps; ControlBurn's path may end before ten,
               and the table says at how few in any run. CPU seconds of one process, the least of
               three runs, ours and the peer's in turn; several sets at a time (--jobs) make them a
               little longer.
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
from common import Run, frame_problem, ones, path_of
from controlburn_sets import pmlb, simulated
from harness import FORMS, in_turns, mean_and_error, shown, shown_mean, stored
from scipy.optimize import minimize_scalar
from scipy.stats import linregress
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.linear_model import SGDClassifier

import treeselect
from treeselect import ControlBurn, datasets
from treeselect.algorithms.task import Task, step_of_size
from treeselect.designs.families import GAUSSIAN
from treeselect.designs.weights import row_weights
from treeselect.engine.forest.bag_boosting import BagBoosting, _Stages
from treeselect.engine.forest.bagging import BOOTSTRAP
from treeselect.engine.sparse.forest import sparse_forest
from treeselect.engine.threads import one_thread
from treeselect.engine.tree.used_groups import no_penalty

METHODS = {"default": ControlBurn(), "paper": ControlBurn.published()}

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


# --- Figure 12 ---------------------------------------------------------------------------------

SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0)
ADDED = "uninformative"
FEW_VALUES = ("breast_cancer", "flare", "cleve", "german", "chess")


def titanic():
    """Five columns of the passengers, of which age has many values."""
    columns = ["pclass", "sex", "age", "sibsp", "parch", "survived"]
    return datasets.load("titanic_correlated")[columns].rename(columns={"survived": "target"})


def importances(frame, names, seed):
    """MDI of some columns in a forest of scikit-learn."""
    machine = RandomForestClassifier(100, random_state=seed)
    machine.fit(frame[list(names)].to_numpy(np.float64), frame["target"])
    return pd.Series(machine.feature_importances_, index=names)


def one_draw(name, frame, draw):
    """Rank of the added column by method and share of the columns kept, the last of all if it is
    not kept."""
    added = np.random.default_rng(draw).normal(size=len(frame))
    frame = pd.concat([pd.Series(added, name=ADDED, index=frame.index), frame], axis=1)
    problem = frame_problem(frame, "target")
    names = np.array(problem.groups.names)
    sizes = {share: max(round(share * len(names)), 1) for share in SHARES}
    every = importances(frame, names, draw)
    kept = {("MDI, scikit-learn", share): every.nlargest(k).index for share, k in sizes.items()}
    for label, method in METHODS.items():
        path = path_of(method, problem, ones(problem), len(names), draw)
        for share, k in sizes.items():
            selected = step_of_size(path, k, problem.groups.keep).selected
            kept[label, share] = names if k == len(names) else names[selected]
    known, rows = {frozenset(names): every}, []
    for (label, share), own in kept.items():
        key = frozenset(own)
        if key not in known:
            known[key] = importances(frame, sorted(key), draw)
        mdi = known[key]
        rank = int((mdi > mdi[ADDED]).sum()) + 1 if ADDED in key else len(names)
        rows.append((name, label, share, len(key), ADDED in key, rank, len(names)))
    return rows


def run_uninformative(run):
    """The table, a column for each share."""
    columns = ["set", "method", "share", "size", "kept", "rank", "columns"]
    for name in run.pick(["simulated"], ["Titanic", *FEW_VALUES]):
        if run.quick:
            frame = (simulated()[["v0", "v1", "copy0", "target"]] > 0).astype(np.int64)
        else:
            frame = titanic() if name == "Titanic" else pmlb(name)
        rows = run.flat(one_draw, [(name, frame, draw) for draw in range(run.pick(1, 10))])
        found = pd.DataFrame(rows, columns=columns)
        lines = []
        for key, part in found.groupby(columns[:3], sort=False):
            line = dict(zip(columns[:3], key, strict=True))
            line |= {"size": part["size"].mean(), "kept": part["kept"].mean()}
            line["rank"], line["rank s.e."] = mean_and_error(part["rank"])
            lines.append(line | {"columns": part["columns"].iloc[0]})
        run.keep("controlburn_uninformative", lines, by="set")
    summary, lines = run.kept("controlburn_uninformative"), []
    for (name, method), part in summary.groupby(["set", "method"], sort=False):
        line = {"set": name, "columns": part["columns"].iloc[0], "method": method}
        for row in part.to_dict("records"):
            rank = shown(row["rank"], row["rank s.e."], 1)
            line[f"{row['share']:.0%} kept"] = f"{rank}, {row['kept']:.0%}"
        lines.append(line)
    run.table(
        "controlburn_uninformative",
        lines,
        "ControlBurn paper, section 6.1 and Figure 12, by treeselect: an uninformative continuous"
        " column is added; its mean rank by importance (s.e.) among what is kept, all columns where"
        " it is not, and in how many of the draws it is kept. The paper shows a figure only.",
    )


# --- Figure 7: seconds -------------------------------------------------------------------------

RFE_SETS = (
    "australian", "churn", "german", "hypothyroid", "wdbc", "ionosphere", "chess", "tokyo1",
    "spambase", "sonar", "coil2000", "Hill_Valley_with_noise", "clean1",
)  # fmt: skip
"""By number of columns, fewest first."""

PEER = "RFE, scikit-learn"
MOST_ROWS, SIZE = 1000, 10


def by_treeselect(method, frame, k, seed):
    """What select() keeps."""
    return treeselect.select("target ~ .", frame, k=k, method=method, seed=seed, n_jobs=1).selected


def by_elimination(frame, k, seed):
    """What recursive feature elimination keeps."""
    forest = RandomForestClassifier(100, random_state=seed)
    X = frame.drop(columns="target")
    machine = RFE(forest, n_features_to_select=k).fit(X, frame["target"])
    return tuple(X.columns[machine.support_])


def one_set(name, frame, runs, k):
    """The least seconds of each way, and how many columns each keeps."""
    with one_thread():
        by_treeselect(METHODS["default"], frame.head(200), k, 0)  # kernels are compiled by then
        works = {
            **{n: lambda m=m: by_treeselect(m, frame, k, 0) for n, m in METHODS.items()},
            PEER: lambda: by_elimination(frame, k, 0),
        }
        found = in_turns(works, runs)
    line = {"set": name, "rows": len(frame), "columns": frame.shape[1] - 1}
    line |= {way: seconds for way, (seconds, _) in found.items()}
    return line | {f"{way} keeps": len(kept) for way, (_, kept) in found.items()}


def run_rfe(run):
    """The table."""
    if run.quick:
        frame = simulated()[["v0", "v1", "v2", "copy0", "copy1", "target"]]
        frames = {f"simulated, {n}": frame.iloc[:, 5 - n :] for n in (3, 4, 5)}
    else:
        frames = {name: pmlb(name) for name in RFE_SETS}
        frames = {
            name: frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)
            for name, frame in frames.items()
        }
    runs, k = run.pick((1, 2), (3, SIZE))
    calls = [(name, frame, runs, k) for name, frame in frames.items()]
    run.keep("controlburn_rfe", run.map(one_set, calls), by="set")
    summary = run.kept("controlburn_rfe").sort_values("columns", kind="stable")
    ways, texts = (*METHODS, PEER), []
    for way in ways:
        fit = linregress(np.log(summary["columns"]), np.log(summary[way]))
        texts.append(f"{way} {shown(float(fit.slope), float(fit.stderr))}")
    run.table(
        "controlburn_rfe",
        [
            {name: row[name] for name in ("set", "rows", "columns")}
            | {f"{way}, CPU s": f"{row[way]:.2f}" for way in ways}
            | {f"RFE / {way}": f"{row[PEER] / row[way]:.1f}" for way in METHODS}
            | {
                "fewest kept, default, paper": ", ".join(
                    f"{row[f'{way} keeps']:.0f}" for way in METHODS
                )
            }
            for row in summary.to_dict("records")
        ],
        "ControlBurn paper, Figure 7, by treeselect: CPU seconds to select ten columns, least of"
        f" three runs. Power of the number of columns that they grow as, over the sets, which"
        f" differ in rows, too: {', '.join(texts)}. The paper shows a figure only.",
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


PARTS = {
    "titanic": run_titanic, "abalone": run_abalone, "uninformative": run_uninformative,
    "rfe": run_rfe, "gap": run_gap,
}  # fmt: skip


def main():
    """Write the tables."""
    run = Run(__doc__, parts=PARTS, seeds=20, quick={"seeds": 1})
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
