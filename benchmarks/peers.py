"""Variable rankings by other software, one function per method.

    order = peers.RANKS["lightgbm gain"](frame, response, kind, seed)

Each function takes a frame, the name of its response, the kind of response ("binomial",
"multinomial" or "gaussian"), and a seed; it returns names of columns, best first. Methods that
select a set return fewer names than there are columns, ranked by their own statistic, as their
docstrings say. A column of text is one unit: its indicator columns are summed, or enter together.
Gaps are filled by the median, or are a level of their own.

Python packages that are not among treeselect's own are pinned in ``benchmarks/requirements.txt``;
those of R are called through ``peers.R``, and looked up in R's usual library and in the folder
that R_PEERS names. ``absent()`` says which methods cannot run here, and why.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import warnings
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

N_TREES = 200

# --- data as numbers ---------------------------------------------------------------------------


class Coded(NamedTuple):
    """Numbers only: ``unit`` is the original column, of ``names``, behind each column of ``X``."""

    X: np.ndarray
    unit: np.ndarray
    names: list
    y: np.ndarray

    def by_unit(self, values, join=np.add):
        """One value per original column."""
        found = np.full(len(self.names), 0.0 if join is np.add else -np.inf)
        join.at(found, self.unit, np.asarray(values, dtype=float))
        return found

    def ranked(self, values, above=-np.inf):
        """Names by their value, largest first; ties in the order of the columns."""
        values = np.asarray(values, dtype=float)
        order = np.argsort(-values, kind="stable")
        return [self.names[j] for j in order if values[j] > above]

    def columns_of(self, units):
        """Coded columns of some units."""
        return np.flatnonzero(np.isin(self.unit, units))


def is_number(column):
    """Whether a column is numeric (bool counts)."""
    return pd.api.types.is_numeric_dtype(column)


def filled(columns):
    """The frame without gaps: medians, and a level of their own."""
    parts = {}
    for name, column in columns.items():
        if is_number(column):
            middle = column.median()
            parts[name] = column.astype(float).fillna(0.0 if np.isnan(middle) else middle)
        else:
            parts[name] = column.astype(object).where(column.notna(), "(missing)").astype(str)
    return pd.DataFrame(parts, index=columns.index)


def coded_y(y, kind):
    """The response as numbers, or as class codes from 0."""
    if kind in ("gaussian", "poisson"):
        return y.to_numpy(dtype=float)
    return pd.factorize(y, sort=True)[0]


def coded(frame, response, kind, scaled=False):
    """Coded columns, of unit variance with `scaled`."""
    columns = filled(frame.drop(columns=response))
    parts, unit = [], []
    for j, column in enumerate(columns.to_dict("series").values()):
        if is_number(column):
            part = column.to_numpy()[:, None]
        else:
            part = pd.get_dummies(column).to_numpy(dtype=float)
        parts.append(part)
        unit += [j] * part.shape[1]
    X = np.hstack(parts)
    if scaled:
        X = X - X.mean(axis=0)
        deviation = X.std(axis=0)
        X /= np.where(deviation > 0, deviation, 1.0)
    y = np.empty(0) if kind == "survival" else coded_y(frame[response], kind)
    return Coded(X, np.array(unit), list(columns), y)


def quiet():
    """No warnings."""
    return warnings.catch_warnings(action="ignore")


# --- in Python ---------------------------------------------------------------------------------


def _forest(kind, seed, n_trees=N_TREES, **options):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if kind == "gaussian":
        return RandomForestRegressor(
            n_trees, max_features=1 / 3, random_state=seed, n_jobs=1, **options
        )
    return RandomForestClassifier(n_trees, random_state=seed, n_jobs=1, **options)


def forest_importance(frame, response, kind, seed):
    """scikit-learn: mean decrease of impurity of a forest, summed over the levels of a factor."""
    data = coded(frame, response, kind)
    forest = _forest(kind, seed).fit(data.X, data.y)
    return data.ranked(data.by_unit(forest.feature_importances_))


def permutation(frame, response, kind, seed, most=100):
    """scikit-learn's forest on three quarters of the rows, permutation five times in the last one.

    Of wide frames only the `most` columns of the largest impurity importance are permuted; they
    are ranked first. A factor is permuted as a whole.
    """
    from sklearn.model_selection import train_test_split

    data = coded(frame, response, kind)
    stratify = None if kind == "gaussian" else data.y
    try:
        fit, new = train_test_split(
            np.arange(len(data.y)), test_size=0.25, random_state=seed, stratify=stratify
        )
    except ValueError:  # a class of one row
        fit, new = train_test_split(np.arange(len(data.y)), test_size=0.25, random_state=seed)
    forest = _forest(kind, seed).fit(data.X[fit], data.y[fit])
    X, y = data.X[new], data.y[new]
    known = np.isin(y, data.y[fit])

    def loss(X):
        if kind == "gaussian":
            return np.mean((y - forest.predict(X)) ** 2)
        chance = forest.predict_proba(X)[known, np.searchsorted(forest.classes_, y[known])]
        return -np.log(np.maximum(chance, 1e-3)).mean()

    impurity = data.by_unit(forest.feature_importances_)
    rng, plain = np.random.default_rng(seed), loss(X)
    value = impurity / max(impurity.sum(), 1e-300) - 1e6
    for j in np.argsort(-impurity, kind="stable")[:most]:
        at, total = data.columns_of([j]), 0.0
        for _ in range(5):
            mixed = X.copy()
            mixed[:, at] = X[rng.permutation(len(X))][:, at]
            total += loss(mixed)
        value[j] = total / 5 - plain
    return data.ranked(value)


def rfe(frame, response, kind, seed):
    """Recursive elimination by scikit-learn's forest: the last fifth of the columns, ten at most
    one by one, until one is left."""
    data = coded(frame, response, kind)
    left, dropped = np.arange(len(data.names)), []
    while len(left) > 1:
        at = data.columns_of(left)
        forest = _forest(kind, seed, 100).fit(data.X[:, at], data.y)
        value = np.zeros(len(data.names))
        np.add.at(value, data.unit[at], forest.feature_importances_)
        order = left[np.argsort(value[left], kind="stable")]
        n = 1 if len(left) <= 10 else max(1, len(left) // 5)
        dropped += list(order[:n])
        left = np.sort(order[n:])
    return [data.names[j] for j in [*left, *dropped[::-1]]]


def _entry_order(data, path):
    """Columns by the step at which they enter, ties by the size of the coefficient there.

    path : ndarray, shape (n_coded, n_steps), sizes of coefficients
    """
    size = np.abs(path)
    per_unit = np.zeros((len(data.names), size.shape[1]))
    np.add.at(per_unit, data.unit, size)
    is_in = per_unit > 1e-10
    first = np.where(is_in.any(axis=1), is_in.argmax(axis=1), size.shape[1])
    there = per_unit[np.arange(len(first)), np.minimum(first, size.shape[1] - 1)]
    share = there / (1.0 + there.max())
    return data.ranked(np.where(first < size.shape[1], share - first, -np.inf))


def group_lasso(frame, response, kind, seed):
    """skglm: order of entry along the path of the group lasso; several classes one against rest."""
    from skglm.datafits import LogisticGroup, QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD, GroupProxNewton
    from skglm.utils.data import grp_converter

    data = coded(frame, response, kind, scaled=True)
    order = np.argsort(data.unit, kind="stable")
    X = np.asfortranarray(data.X[:, order])
    unit = data.unit[order]
    groups = [np.flatnonzero(unit == j).tolist() for j in range(len(data.names))]
    indices, starts = grp_converter(groups, X.shape[1])
    weights = np.sqrt(np.diff(starts).astype(float))
    is_class = kind != "gaussian"
    targets = [data.y - data.y.mean()]
    if is_class:
        which = [1] if kind == "binomial" else np.unique(data.y)
        targets = [np.where(data.y == c, 1.0, -1.0) for c in which]
    path = np.zeros((X.shape[1], 25))
    for y in targets:
        gradient = X.T @ (y / 2 - np.mean(y) / 2 if is_class else y) / len(y)
        norms = [np.linalg.norm(gradient[g]) / w for g, w in zip(groups, weights, strict=True)]
        largest = max(norms)
        datafit = (LogisticGroup if is_class else QuadraticGroup)(starts, indices)
        solver = (
            GroupProxNewton(tol=1e-4, max_iter=15, warm_start=True)
            if is_class
            else GroupBCD(tol=1e-4, max_iter=15, warm_start=True, fit_intercept=False)
        )
        datafit.initialize(X, y)
        w = np.zeros(X.shape[1] + is_class)
        fitted = X @ w[: X.shape[1]]
        for s, share in enumerate(np.geomspace(0.98, 0.02, path.shape[1])):
            penalty = WeightedGroupL2(share * largest, weights, starts, indices)
            with quiet():
                w = np.asarray(solver.solve(X, y, datafit, penalty, w, fitted)[0]).copy()
            fitted = X @ w[: X.shape[1]] + (w[-1] if is_class else 0.0)
            path[:, s] += np.abs(w[: X.shape[1]])
    return _entry_order(Coded(X, unit, data.names, data.y), path)


def mrmr(frame, response, kind, seed, most=50):
    """mrmr_selection: F statistic over correlation; factors by its leave-one-out coding."""
    from mrmr import mrmr_classif, mrmr_regression

    columns = filled(frame.drop(columns=response))
    text = [name for name in columns if not is_number(columns[name])]
    y = pd.Series(coded_y(frame[response], kind), columns.index)
    call = mrmr_regression if kind == "gaussian" else mrmr_classif
    return list(
        call(
            columns, y, K=min(most, columns.shape[1]), cat_features=text or None, n_jobs=1,
            show_progress=False,
        )
    )  # fmt: skip


def boruta(frame, response, kind, seed):
    """boruta (Python): confirmed, tentative, then rejected columns, each by their mean importance;
    50 rounds. A factor has the place of the best of its levels."""
    from boruta import BorutaPy

    data = coded(frame, response, kind)
    found = BorutaPy(_forest(kind, seed, 100, max_depth=7), n_estimators=100, max_iter=50,
                     random_state=seed)  # fmt: skip
    with quiet():
        found.fit(data.X, data.y)
        mean = np.nan_to_num(np.nanmean(found.importance_history_, axis=0))
    value = mean / max(mean.max(), 1e-300) + 2.0 * found.support_ + 1.0 * found.support_weak_
    value -= 1e-3 * (found.ranking_ > 2) * found.ranking_ / found.ranking_.max()
    return data.ranked(data.by_unit(value, np.maximum))


def _lightgbm_gain(frame, response, kind, seed, **more):
    """Gain of each column in 100 trees; text as categories."""
    import lightgbm

    columns = frame.drop(columns=response)
    text = [name for name in columns if not is_number(columns[name])]
    columns = columns.astype(dict.fromkeys(text, "category"))
    columns = columns.set_axis([f"c{j}" for j in range(columns.shape[1])], axis=1)
    y = coded_y(frame[response], kind)
    options = {
        "objective": {"gaussian": "regression", "binomial": "binary"}.get(kind, "multiclass"),
        "learning_rate": 0.1, "num_leaves": 31, "seed": seed, "verbose": -1, "num_threads": 1,
        "deterministic": True, "force_row_wise": True, "min_data_in_leaf": min(20, len(y) // 20),
    } | more  # fmt: skip
    if kind == "multinomial":
        options["num_class"] = int(y.max()) + 1
    model = lightgbm.train(options, lightgbm.Dataset(columns, y), 100)
    return model.feature_importance("gain")


def lightgbm_gain(frame, response, kind, seed):
    """LightGBM: total gain of the splits on a column, 100 trees, default settings."""
    gain = _lightgbm_gain(frame, response, kind, seed)
    names = list(frame.drop(columns=response))
    return Coded(np.empty((0, 0)), np.arange(len(names)), names, gain).ranked(gain)


def lightgbm_cegb(frame, response, kind, seed, n_steps=10):
    """LightGBM's penalty on the first use of a column: order in which columns come into use as the
    penalty falls tenfold three times; those that enter together by their gain."""
    names = list(frame.drop(columns=response))
    plain = _lightgbm_gain(frame, response, kind, seed)
    value = np.where(plain > 0, plain / max(plain.sum(), 1e-300) - n_steps, -1e9)
    largest = max(plain.max(), 1e-12)
    for s, share in enumerate(np.geomspace(1.0, 1e-3, n_steps)):
        gain = _lightgbm_gain(
            frame, response, kind, seed, cegb_tradeoff=1.0,
            cegb_penalty_feature_coupled=[share * largest / 2] * len(names),
        )  # fmt: skip
        is_new = (gain > 0) & (value < -s)
        value[is_new] = (gain / max(gain.sum(), 1e-300))[is_new] - s
    return Coded(np.empty((0, 0)), np.arange(len(names)), names, plain).ranked(value)


def ebm(frame, response, kind, seed):
    """interpret's explainable boosting machine without interactions, four bags: mean absolute
    score of each term."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    columns = frame.drop(columns=response)
    text = [name for name in columns if not is_number(columns[name])]
    columns = columns.astype(dict.fromkeys(text, object))
    which = ExplainableBoostingRegressor if kind == "gaussian" else ExplainableBoostingClassifier
    model = which(interactions=0, outer_bags=4, n_jobs=1, random_state=seed)
    with quiet():
        model.fit(columns, coded_y(frame[response], kind))
    value = dict.fromkeys(columns, 0.0)
    value |= dict(zip(model.term_names_, model.term_importances(), strict=True))
    return sorted(value, key=lambda name: -value[name])


def ipss(frame, response, kind, seed):
    """ipss with boosted trees: by efp score, the expected number of false ones up to there; columns
    that its screening drops are not ranked. Several classes as numbers of their order."""
    from ipss import ipss as run

    data = coded(frame, response, kind)
    np.random.seed(seed)
    with quiet():
        found = run(data.X, data.y.astype(float), selector="gb", n_jobs=1,
                    force_regression=kind == "multinomial")  # fmt: skip
    score = found["efp_scores"]
    value = np.array([score.get(j, np.inf) for j in range(data.X.shape[1])], dtype=float)
    return data.ranked(data.by_unit(-value, np.maximum), above=-1e300)


def abess(frame, response, kind, seed, most=25):
    """abess: best subsets of 1 to 25 groups; columns by the smallest size at which they are in."""
    import abess as package

    data = coded(frame, response, kind, scaled=True)
    which = {
        "gaussian": package.LinearRegression, "binomial": package.LogisticRegression,
        "multinomial": package.MultinomialRegression,
    }[kind]  # fmt: skip
    n = len(data.names)
    sizes = [s for s in (1, 2, 3, 4, 5, 7, 10, 15, 20, most) if s <= min(n, len(data.y) // 4)]
    value = np.full(n, -np.inf)
    varies = np.flatnonzero(data.X.std(axis=0) > 0)  # it refuses constant columns
    groups = np.unique(data.unit[varies], return_inverse=True)[1].tolist()
    X = data.X[:, varies]
    for size in [s for s in sizes if s <= max(groups) + 1]:
        model = which(support_size=size, group=groups, thread=1)
        with quiet():
            model.fit(X, data.y)
        found = np.abs(np.asarray(model.coef_, dtype=float))
        if found.ndim > 1:
            found = found.sum(axis=1 - found.shape.index(len(varies)))
        coefficient = np.zeros(data.X.shape[1])
        coefficient[varies] = found
        here = data.by_unit(coefficient)
        is_new = (here > 0) & ~np.isfinite(value)
        value[is_new] = here[is_new] / (1 + here.max()) - size
    return data.ranked(value, above=-1e300)


def knockoffs(frame, response, kind, seed):
    """hidimstat: model-X knockoffs, Gaussian with shrunken covariance; by the difference of lasso
    coefficients; class codes as numbers. A factor has the largest of its levels."""
    from hidimstat import ModelXKnockoff

    data = coded(frame, response, kind, scaled=True)
    varies = data.X.std(axis=0) > 0
    X = data.X[:, varies] + 1e-6 * np.random.default_rng(seed).standard_normal(
        (len(data.y), int(varies.sum()))
    )
    model = ModelXKnockoff(random_state=seed, n_jobs=1)
    with quiet():
        model.fit_importance(X, data.y.astype(float))
    value = np.full(data.X.shape[1], -np.inf)
    value[varies] = np.asarray(model.importances_, dtype=float).reshape(-1, varies.sum()).mean(0)
    return data.ranked(data.by_unit(value, np.maximum))


# --- in R --------------------------------------------------------------------------------------

_SCRIPT = Path(__file__).parent / "peers.R"

R_PACKAGES = {
    "l1": "glmnet", "ranger": "ranger", "ranger corrected": "ranger",
    "randomForest": "randomForest", "RRF": "RRF", "GRRF": "RRF", "VSURF": "VSURF",
    "varselrf": "varSelRF", "Boruta": "Boruta",
}  # fmt: skip
"""Methods of the R script and their packages."""


def in_r(name, frame, response, kind, seed):
    """A method of the R script; the time to write and read the CSV file counts.

    glmnet and varSelRF are given indicator columns. Factors of more than 32 levels, which RRF does
    not take (nor randomForest more than 53), are numbered by how frequent their levels are.
    """
    columns = filled(frame.drop(columns=response))
    names = list(columns)
    if name in ("RRF", "GRRF", "randomForest", "VSURF"):
        for column in names:
            if not is_number(columns[column]) and columns[column].nunique() > 32:
                place = {level: i for i, level in enumerate(columns[column].value_counts().index)}
                columns[column] = columns[column].map(place).astype(float)
    columns = columns.set_axis([f"c{j}" for j in range(len(names))], axis=1)
    unit = np.arange(len(names))
    if name in ("l1", "varselrf"):  # they take numbers only
        data = coded(frame, response, kind)
        unit = data.unit
        columns = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(data.X.shape[1])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        columns.assign(y=coded_y(frame[response], kind)).to_csv(path, index=False)
        done = subprocess.run(
            ["Rscript", _SCRIPT, name, path, kind, str(seed)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    order = [names[unit[int(word.removeprefix("c"))]] for word in done.stdout.split()]
    return list(dict.fromkeys(order))


@lru_cache
def installed():
    """Those of the script that R finds."""
    if shutil.which("Rscript") is None:
        return frozenset()
    wanted = " ".join(sorted(set(R_PACKAGES.values())))
    code = (
        ".libPaths(c(Sys.getenv('R_PEERS'), .libPaths()));"
        f"for (p in strsplit('{wanted}', ' ')[[1]])"
        " if (nzchar(system.file(package = p))) cat(p, '')"
    )
    done = subprocess.run(
        ["Rscript", "-e", code], capture_output=True, text=True, env=os.environ, check=False
    )
    return frozenset(done.stdout.split())


# --- all ---------------------------------------------------------------------------------------

_IN_PYTHON = {
    "forest": (forest_importance, "sklearn"), "permutation": (permutation, "sklearn"),
    "RFE": (rfe, "sklearn"), "group lasso": (group_lasso, "skglm"),
    "mrmr_selection": (mrmr, "mrmr"), "boruta": (boruta, "boruta"),
    "lightgbm gain": (lightgbm_gain, "lightgbm"), "lightgbm cegb": (lightgbm_cegb, "lightgbm"),
    "EBM": (ebm, "interpret"), "ipss": (ipss, "ipss"), "abess": (abess, "abess"),
    "knockoffs": (knockoffs, "hidimstat"),
}  # fmt: skip

_SHOWN = {
    "l1": "L1 (glmnet)", "ranger": "ranger", "ranger corrected": "ranger, corrected",
    "randomForest": "randomForest", "RRF": "RRF (R)", "GRRF": "GRRF (R)", "VSURF": "VSURF",
    "varselrf": "varSelRF (R)", "Boruta": "Boruta (R)",
    "forest": "forest importance", "permutation": "permutation", "RFE": "RFE (forest)",
    "boruta": "boruta (Python)", "lightgbm gain": "LightGBM gain",
    "lightgbm cegb": "LightGBM CEGB", "knockoffs": "knockoffs (hidimstat)",
}  # fmt: skip

RANKS = {_SHOWN.get(name, name): call for name, (call, _) in _IN_PYTHON.items()}
RANKS |= {_SHOWN[name]: partial(in_r, name) for name in R_PACKAGES}
"""The functions, by the names they have in tables."""

_PACKAGE = {_SHOWN.get(name, name): package for name, (_, package) in _IN_PYTHON.items()}
_R_PACKAGE = {_SHOWN[name]: package for name, package in R_PACKAGES.items()}


def absent():
    """Methods that cannot run here, each with the package it lacks."""
    lacking = {n: p for n, p in _PACKAGE.items() if importlib.util.find_spec(p) is None}
    return lacking | {n: p for n, p in _R_PACKAGE.items() if p not in installed()}
