"""Selections by other packages: which columns each takes, at several sizes.

Each function of ``PEERS`` takes a :class:`Task` and gives an order of the columns of the frame,
best first, or a dictionary with a set for each size. A factor counts as one column: where a package
needs numbers, each level has a column of zeros and ones (of two levels one has); importances of
these are summed, and a factor enters with the first of them. Gaps are left to packages that take
them; elsewhere a number has the median in their place, and a factor a level of its own. Packages
are imported when they are used; those in R run through ``peers.R`` and look in R_LIBS, too.

    pip install -r benchmarks/requirements.txt
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).with_name("peers.R")

Order = list[str]


class NotRun(Exception):
    """Why a package does not take a task."""


class Task(NamedTuple):
    """What a peer is to select from.

    Attributes
    ----------
    X : DataFrame
        Numbers, and text as categories.
    y : ndarray
        Codes of classes from 0, or numbers.
    kind : str
        "binary", "classes" or "number".
    sizes : tuple of int
    seed : int
    """

    X: pd.DataFrame
    y: np.ndarray
    kind: str
    sizes: tuple[int, ...]
    seed: int

    @property
    def has_classes(self) -> bool:
        return self.kind != "number"


class Numbers(NamedTuple):
    """A frame as numbers without gaps, and the column of the frame behind each."""

    X: np.ndarray
    owner: np.ndarray
    names: tuple[str, ...]

    def summed(self, values: Any) -> Order:
        """Columns of the frame by the sum of their values, largest first."""
        total = np.bincount(self.owner, np.asarray(values, dtype=float), len(self.names))
        return [self.names[j] for j in np.argsort(-total, kind="stable")]

    def first(self, places: Sequence[int]) -> Order:
        """Columns of the frame in the order in which the first of their numbers stands."""
        return [self.names[j] for j in dict.fromkeys(self.owner[list(places)].tolist())]


def numbers_of(frame: pd.DataFrame) -> Numbers:
    """Each level a column of zeros and ones, each gap the median."""
    blocks, owner = [], []
    for j, name in enumerate(frame):
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            block = pd.get_dummies(column, dummy_na=bool(column.isna().any()), dtype=float)
            values = block.to_numpy()[:, 1:] if block.shape[1] == 2 else block.to_numpy()
        else:
            values = column.astype(float).fillna(column.median()).fillna(0.0).to_numpy()[:, None]
        blocks.append(values)
        owner += [j] * values.shape[1]
    return Numbers(np.column_stack(blocks), np.array(owner), tuple(frame.columns))


def without_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Each gap the median, or a level of its own."""
    found = {}
    for j, name in enumerate(frame):
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            found[f"x{j}"] = "v" + column.astype(object).where(column.notna(), "?").astype(str)
        else:
            found[f"x{j}"] = column.astype(float).fillna(column.median()).fillna(0.0)
    return pd.DataFrame(found)


def scaled(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _at_most(frame: pd.DataFrame, columns: int) -> None:
    if frame.shape[1] > columns:
        raise NotRun(f"more than {columns} columns")


# --- scikit-learn ------------------------------------------------------------------------------


def _forest(task: Task, n_trees: int = 200, **options: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if task.has_classes else RandomForestRegressor
    return kind(n_trees, random_state=task.seed, n_jobs=1, **options)


def forest(task: Task) -> Order:
    """scikit-learn's random forest: mean decrease of impurity."""
    data = numbers_of(task.X)
    return data.summed(_forest(task).fit(data.X, task.y).feature_importances_)


def permutation(task: Task) -> Order:
    """scikit-learn's random forest: permutation importance on a third of the rows."""
    from sklearn.inspection import permutation_importance

    _at_most(task.X, 300)
    data = numbers_of(task.X)
    held_out = np.random.default_rng(task.seed).random(len(task.y)) < 1 / 3
    model = _forest(task, 100).fit(data.X[~held_out], task.y[~held_out])
    found = permutation_importance(
        model, data.X[held_out], task.y[held_out], n_repeats=5, random_state=task.seed, n_jobs=1
    )
    return data.summed(found.importances_mean)


def rfe(task: Task) -> Order:
    """scikit-learn's RFE around its forest: by fifths down to 30 numbers, then one by one."""
    from sklearn.feature_selection import RFE

    data = numbers_of(task.X)
    inside, out = np.arange(data.X.shape[1]), []
    while len(inside) > 1:
        keep = max(30, int(len(inside) * 0.8)) if len(inside) > 30 else 1
        found = RFE(_forest(task, 100), n_features_to_select=keep, step=1 if keep == 1 else 0.999)
        ranking = found.fit(data.X[:, inside], task.y).ranking_
        order = np.argsort(-ranking, kind="stable")
        if keep == 1:
            out += inside[order].tolist()
            break
        out += inside[ranking > 1].tolist()
        inside = inside[ranking == 1]
    else:
        out += inside.tolist()
    return data.first(out[::-1])


def lasso(task: Task) -> Order:
    """scikit-learn's lasso, logistic for classes: the order in which columns enter."""
    from sklearn.linear_model import LogisticRegression, lasso_path
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import l1_min_c

    data = numbers_of(task.X)
    X = scaled(data.X)
    if task.kind == "number":
        sizes = np.abs(lasso_path(X, task.y - task.y.mean(), n_alphas=50)[1])
    else:
        least = min(l1_min_c(X, task.y == c, loss="log") for c in np.unique(task.y))
        steps = []
        for C in least * np.geomspace(1.01, 1000, 30):
            one = LogisticRegression(
                C=C, l1_ratio=1.0, solver="liblinear", random_state=task.seed, tol=1e-3
            )
            model = one if task.kind == "binary" else OneVsRestClassifier(one)
            model.fit(X, task.y)
            models = [model] if task.kind == "binary" else model.estimators_
            steps.append(np.abs(np.vstack([m.coef_ for m in models])).max(axis=0))
            if len(data.first(np.flatnonzero(steps[-1]))) >= max(task.sizes):
                break
        sizes = np.column_stack(steps)
    return _entering(data, sizes)


def _entering(data: Numbers, sizes: np.ndarray) -> Order:
    """Columns in the order of the first step at which they are not 0; there the largest first."""
    inside = sizes > 0
    step = np.where(inside.any(axis=1), inside.argmax(axis=1), sizes.shape[1])
    value = np.where(inside.any(axis=1), sizes[np.arange(len(sizes)), step % sizes.shape[1]], 0.0)
    order = np.lexsort([-value, step])
    return data.first(order[step[order] < sizes.shape[1]])


# --- other packages in Python ------------------------------------------------------------------


def group_lasso(task: Task) -> Order:
    """skglm's group lasso, least squares, also on two classes: the order in which groups enter."""
    from skglm import GroupLasso

    if task.kind == "classes":
        raise NotRun("more than two classes")
    data = numbers_of(task.X)
    X, y = scaled(data.X), task.y - task.y.mean()
    groups = [np.flatnonzero(data.owner == j).tolist() for j in range(len(data.names))]
    weights = np.sqrt([len(group) for group in groups])
    most = max(
        np.linalg.norm(X[:, group].T @ y) / (len(y) * weight)
        for group, weight in zip(groups, weights, strict=True)
    )
    steps = []
    for alpha in most * np.geomspace(0.999, 0.005, 30):
        model = GroupLasso(groups, alpha=alpha, weights=weights, tol=1e-3).fit(X, y)
        steps.append(np.abs(np.ravel(model.coef_)))
        if len(data.first(np.flatnonzero(steps[-1]))) >= max(task.sizes):
            break
    return _entering(data, np.column_stack(steps))


def mrmr(task: Task) -> Order:
    """mrmr_selection: F statistics against correlations."""
    from mrmr import mrmr_classif, mrmr_regression

    data = numbers_of(task.X)
    frame = pd.DataFrame(data.X).rename(columns=str)
    choose = mrmr_classif if task.has_classes else mrmr_regression
    most = min(frame.shape[1], 4 * max(task.sizes))
    found = choose(frame, pd.Series(task.y), K=most, show_progress=False, n_jobs=1)
    return data.first([int(name) for name in found])


def boruta(task: Task) -> Order:
    """BorutaPy, 50 rounds: by its ranks, and by its importances where these are equal."""
    from boruta import BorutaPy

    _at_most(task.X, 1000)
    data = numbers_of(task.X)
    found = BorutaPy(
        _forest(task, max_depth=5), n_estimators="auto", max_iter=50, random_state=task.seed
    ).fit(data.X, task.y)
    means = np.nan_to_num(np.nanmean(found.importance_history_[1:], axis=0))
    return data.first(np.lexsort([-means, found.ranking_]))


def _boosted(task: Task, **options: Any) -> Any:
    import lightgbm

    kind = lightgbm.LGBMClassifier if task.has_classes else lightgbm.LGBMRegressor
    model = kind(
        n_estimators=100, random_state=task.seed, n_jobs=1, verbosity=-1, deterministic=True,
        **options,
    )  # fmt: skip
    return model.fit(_plain(task.X), task.y)


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with names that no package objects to."""
    return frame.set_axis([f"x{j}" for j in range(frame.shape[1])], axis=1)


def lightgbm_gain(task: Task) -> Order:
    """LightGBM, 100 rounds: total gain."""
    gains = _boosted(task, importance_type="gain").feature_importances_
    return [task.X.columns[j] for j in np.argsort(-gains, kind="stable")]


def lightgbm_cegb(task: Task) -> dict[int, Order]:
    """LightGBM's cost-effective boosting: the largest set of each size, 16 penalties."""
    columns, found = list(task.X), {}
    for tradeoff in np.geomspace(1e4, 1e-2, 16):
        gains = _boosted(
            task, importance_type="gain", cegb_tradeoff=tradeoff,
            cegb_penalty_feature_coupled=[1.0] * len(columns),
        ).feature_importances_  # fmt: skip
        used = [columns[j] for j in np.argsort(-gains, kind="stable") if gains[j] > 0]
        found.setdefault(len(used), used)
        if len(used) >= max(task.sizes):
            break
    return {k: _largest(found, k) for k in task.sizes}


def _largest(found: dict[int, Order], k: int) -> Order:
    """The largest set of at most k; of the next larger one, the first k if there is none."""
    fitting = [size for size in found if 0 < size <= k]
    return found[max(fitting)] if fitting else found[min(s for s in found if s > 0)][:k]


def ebm(task: Task) -> Order:
    """EBM (interpret), main effects: mean absolute contribution."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    _at_most(task.X, 1000)
    kind = ExplainableBoostingClassifier if task.has_classes else ExplainableBoostingRegressor
    frame = _plain(task.X)
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].astype(object)
    model = kind(interactions=0, outer_bags=4, random_state=task.seed, n_jobs=1)
    values = model.fit(frame, task.y).term_importances()
    return [task.X.columns[j] for j in np.argsort(-np.asarray(values), kind="stable")]


def ipss(task: Task) -> Order:
    """Ipss with gradient boosting: the expected number of false positives, least first."""
    from ipss import ipss as select

    if task.kind == "classes":
        raise NotRun("more than two classes")
    data = numbers_of(task.X)
    np.random.seed(task.seed)  # the package draws from it
    scores = select(data.X, task.y.astype(float), selector="gb", n_jobs=1)["efp_scores"]
    return data.first(sorted(scores, key=lambda j: (scores[j], j)))


def abess(task: Task) -> dict[int, Order]:
    """Abess, the best subset of k groups of a linear or logistic model."""
    from abess import LinearRegression, LogisticRegression, MultinomialRegression

    data = numbers_of(task.X)
    y: np.ndarray = task.y
    if task.kind == "number":
        kind = LinearRegression
    elif task.kind == "binary":
        kind = LogisticRegression
    else:
        kind, y = MultinomialRegression, np.eye(int(task.y.max()) + 1)[task.y]
    found = {}
    for k in task.sizes:
        model = kind(support_size=k, group=data.owner.tolist(), thread=1)
        coefficients = np.abs(np.atleast_2d(model.fit(scaled(data.X), y).coef_))
        if coefficients.shape[0] != data.X.shape[1]:
            coefficients = coefficients.T
        sizes = coefficients.max(axis=1)
        order = np.argsort(-sizes, kind="stable")
        found[k] = data.first(order[sizes[order] > 0])[:k]
    return found


def hidimstat(task: Task) -> Order:
    """hidimstat's conditional feature importance of a forest, on a third of the rows."""
    from hidimstat import CFI
    from sklearn.linear_model import RidgeCV

    _at_most(task.X, 60)
    data = numbers_of(task.X)
    held_out = np.random.default_rng(task.seed).random(len(task.y)) < 1 / 3
    model = _forest(task, 100).fit(data.X[~held_out], task.y[~held_out])
    groups = {name: np.flatnonzero(data.owner == j) for j, name in enumerate(data.names)}
    test = CFI(
        estimator=model,
        imputation_model_continuous=RidgeCV(),
        features_groups={name: members.tolist() for name, members in groups.items()},
        feature_types="continuous",
        method="predict_proba" if task.has_classes else "predict",
        loss=_loss(task),
        n_permutations=10,
        random_state=task.seed,
        n_jobs=1,
    )
    test.fit(data.X[~held_out], task.y[~held_out])
    values = np.asarray(test.importance(data.X[held_out], task.y[held_out]))
    return [data.names[j] for j in np.argsort(-values, kind="stable")]


def _loss(task: Task) -> Callable[..., float]:
    from sklearn.metrics import log_loss, mean_squared_error

    if not task.has_classes:
        return mean_squared_error
    classes = np.unique(task.y)
    return functools.partial(log_loss, labels=classes)


# --- packages in R -----------------------------------------------------------------------------


@functools.cache
def has_r(package: str) -> bool:
    """Whether R has a package."""
    program = shutil.which("Rscript")
    if program is None:
        return False
    command = [program, "-e", f"q(status = !requireNamespace('{package}', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True).returncode == 0


def _by_r(task: Task, package: str, method: str, most: int) -> Order | dict[int, Order]:
    """What a method of peers.R gives: columns, best first, or sets of several sizes."""
    if not has_r(package):
        raise NotRun(f"R's package {package} is not installed")
    _at_most(task.X, most)
    frame = without_gaps(task.X)
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.csv", Path(folder) / "answer.csv"
        frame.assign(y=task.y).to_csv(given, index=False)
        command = ["Rscript", str(SCRIPT), method, str(given), str(answer)]
        command += ["number" if task.kind == "number" else "classes", str(task.seed + 1)]
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
        if done.returncode:
            raise NotRun(f"R's {package} failed: {done.stderr.strip().splitlines()[-1][:80]}")
        found = pd.read_csv(answer)
    found["name"] = [task.X.columns[int(name[1:])] for name in found["column"]]
    if "size" not in found:
        return found["name"].tolist()
    sets = {int(size): rows["name"].tolist() for size, rows in found.groupby("size")}
    return {k: _largest(sets, k) for k in task.sizes}


# --- all ---------------------------------------------------------------------------------------

Peer = Callable[[Task], "Order | dict[int, Order]"]

PEERS: dict[str, Peer] = {
    "sklearn forest": forest,
    "sklearn permutation": permutation,
    "sklearn RFE": rfe,
    "sklearn lasso": lasso,
    "skglm group lasso": group_lasso,
    "mrmr_selection": mrmr,
    "BorutaPy": boruta,
    "LightGBM gain": lightgbm_gain,
    "LightGBM CEGB": lightgbm_cegb,
    "EBM": ebm,
    "ipss": ipss,
    "abess": abess,
    "hidimstat CFI": hidimstat,
    "R ranger": lambda task: _by_r(task, "ranger", "ranger", 20_000),
    "R randomForest": lambda task: _by_r(task, "randomForest", "randomForest", 20_000),
    "R RRF": lambda task: _by_r(task, "RRF", "rrf", 20_000),
    "R GRRF": lambda task: _by_r(task, "RRF", "grrf", 20_000),
    "R varSelRF": lambda task: _by_r(task, "varSelRF", "varselrf", 5_000),
    "R VSURF": lambda task: _by_r(task, "VSURF", "vsurf", 60),
    "R Boruta": lambda task: _by_r(task, "Boruta", "boruta", 1_000),
}
"""By the names that they have in tables."""


def selections(name: str, task: Task) -> dict[int, Order]:
    """What a peer selects at each size, at most so many columns, best first where it ranks.

    Raises
    ------
    NotRun
        If its package is missing, or refuses such data.
    """
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            found = PEERS[name](task)
        except ImportError as error:
            raise NotRun(f"{error.name} is not installed") from error
    if isinstance(found, dict):
        return found
    return {k: found[:k] for k in task.sizes}
