"""Variable rankings by other software that chooses no number of columns by itself.

    order = peers.RANKS["lightgbm gain"](frame, response, kind, seed)

Each function takes a frame, the name of its response, the kind of response ("binomial",
"multinomial" or "gaussian"), and a seed; it returns names of columns, best first; RRF those that it
uses. A column of text is one unit: its indicator columns are summed, or enter together. Gaps are
filled by the median, or are a level of their own. answers.py has programs with their own number.

Python packages that are not among treeselect's own are pinned in ``benchmarks/requirements.txt``;
those of R are called through ``peers.R``, and looked up in R's usual library and in the folder
that R_PEERS names. ``absent()`` says which methods cannot run here, and why.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from harness import by_r, is_here, r_has

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

    def ranked(self, values):
        """Names by their value, largest first; ties in the order of the columns."""
        values = np.asarray(values, dtype=float)
        order = np.argsort(-values, kind="stable")
        return [self.names[j] for j in order if values[j] > -np.inf]

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


def forest_of(kind, *given, **options):
    """scikit-learn's forest for a kind of response."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    is_class = kind in ("binomial", "multinomial")
    return (RandomForestClassifier if is_class else RandomForestRegressor)(
        *given, n_jobs=1, **options
    )


def _forest(kind, seed, n_trees=N_TREES):
    candidates = {"max_features": 1 / 3} if kind == "gaussian" else {}
    return forest_of(kind, n_trees, random_state=seed, **candidates)


def forest_importance(frame, response, kind, seed):
    """scikit-learn: mean decrease of impurity of a forest, summed over the levels of a factor."""
    data = coded(frame, response, kind)
    forest = _forest(kind, seed).fit(data.X, data.y)
    return data.ranked(data.by_unit(forest.feature_importances_))


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

R_PACKAGES = {
    "ranger": "ranger", "ranger corrected": "ranger", "randomForest": "randomForest",
    "RRF": "RRF", "GRRF": "RRF", "varselrf": "varSelRF",
}  # fmt: skip
"""Methods of the R script and their packages."""


def in_r(name, frame, response, kind, seed):
    """A method of the R script.

    varSelRF is given indicator columns. Factors of more than 32 levels, which RRF does
    not take (nor randomForest more than 53), are numbered by how frequent their levels are.
    """
    columns = filled(frame.drop(columns=response))
    names = list(columns)
    if name in ("RRF", "GRRF", "randomForest"):
        for column in names:
            if not is_number(columns[column]) and columns[column].nunique() > 32:
                place = {level: i for i, level in enumerate(columns[column].value_counts().index)}
                columns[column] = columns[column].map(place).astype(float)
    columns = columns.set_axis([f"c{j}" for j in range(len(names))], axis=1)
    unit = np.arange(len(names))
    if name == "varselrf":  # it takes numbers only
        data = coded(frame, response, kind)
        unit = data.unit
        columns = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(data.X.shape[1])])
    columns = columns.assign(y=coded_y(frame[response], kind))
    words = by_r("peers.R", name, columns, kind, str(seed))
    return list(dict.fromkeys(names[unit[int(word.removeprefix("c"))]] for word in words))


# --- all ---------------------------------------------------------------------------------------

_IN_PYTHON = {
    "forest": (forest_importance, "sklearn"), "RFE": (rfe, "sklearn"),
    "mrmr_selection": (mrmr, "mrmr"), "lightgbm gain": (lightgbm_gain, "lightgbm"),
    "lightgbm cegb": (lightgbm_cegb, "lightgbm"), "EBM": (ebm, "interpret"),
    "knockoffs": (knockoffs, "hidimstat"),
}  # fmt: skip

_SHOWN = {
    "ranger corrected": "ranger, corrected", "RRF": "RRF (R)", "GRRF": "GRRF (R)",
    "varselrf": "varSelRF (R)", "forest": "forest importance", "RFE": "RFE (forest)",
    "lightgbm gain": "LightGBM gain", "lightgbm cegb": "LightGBM CEGB",
    "knockoffs": "knockoffs (hidimstat)",
}  # fmt: skip

RANKS = {_SHOWN.get(name, name): call for name, (call, _) in _IN_PYTHON.items()}
RANKS |= {_SHOWN.get(name, name): partial(in_r, name) for name in R_PACKAGES}
"""The functions, by the names they have in tables."""

_PACKAGE = {_SHOWN.get(name, name): package for name, (_, package) in _IN_PYTHON.items()}
_R_PACKAGE = {_SHOWN.get(name, name): package for name, package in R_PACKAGES.items()}


def absent():
    """Methods that cannot run here, each with the package it lacks."""
    lacking = {n: p for n, p in _PACKAGE.items() if not is_here(p)}
    there = r_has(*sorted(set(R_PACKAGES.values())))
    return lacking | {n: p for n, p in _R_PACKAGE.items() if p not in there}
