"""Programs that choose columns with a number of their own, as answers.py asks them.

Each function is given the rows to select on, the new rows (for what is said of them), the kind of
response and a seed, and returns names of columns, and what else it says.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
import pandas as pd
from harness import by_r, is_here, r_has
from peers import coded, coded_y, filled, forest_of, is_number, quiet

import treeselect
from treeselect.engine.threads import one_thread

DEFAULT = "treeselect"

# --- scores ------------------------------------------------------------------------------------


def responses(kind):
    """Columns of the response."""
    return ["time", "status"] if kind == "survival" else "y"


def truth_of(frame, kind):
    """The response as numbers, codes of classes, or times and events."""
    if kind == "survival":
        return frame[["time", "status"]].to_numpy(dtype=float)
    return coded_y(frame["y"], kind)


def score(y, predicted, kind, y_train):
    """As treeselect defines it: AUC, R2, deviance explained, Harrell's C."""
    from sklearn.metrics import d2_tweedie_score, r2_score, roc_auc_score

    if kind == "survival":
        return harrell(y, predicted)
    if kind == "gaussian":
        return r2_score(y, predicted)
    if kind == "poisson":
        return d2_tweedie_score(y, np.maximum(predicted, 1e-9), power=1)
    if kind == "binomial":
        return roc_auc_score(y, predicted)
    own = np.maximum(predicted[np.arange(len(y)), y], 1e-3)
    share = np.bincount(y_train, minlength=predicted.shape[1]) / len(y_train)
    return 1 - np.log(own).mean() / np.log(share[y]).mean()


def harrell(y, risk):
    """Share of the pairs of rows whose order is known in which the earlier event has the larger
    risk; ties half."""
    time, event = y.T
    known = (time[:, None] < time[None, :]) & (event[:, None] > 0)
    larger = (risk[:, None] > risk[None, :]) + 0.5 * (risk[:, None] == risk[None, :])
    return float(larger[known].mean())


# --- programs ----------------------------------------------------------------------------------


def ours(train, new, kind, seed, **options):
    """The set of ``select``, what it says of it, and what is found on the new rows."""
    formula = "Surv(time, status) ~ ." if kind == "survival" else "y ~ ."
    with one_thread():
        fit = treeselect.select(
            formula, train, family="poisson" if kind == "poisson" else "auto", seed=seed, n_jobs=1,
            progress=False, **options,
        )  # fmt: skip
        said = fit.glance().iloc[0]
        terms = fit.tidy().reindex(columns=["selected", "frequency"])
        predicted = np.asarray(fit.predict(new), dtype=float)
    found = score(truth_of(new, kind), predicted, kind, truth_of(train, kind))
    return [name.strip("`") for name in fit.variables], {
        "said": said["cv_score"], "said s.e.": said["cv_se"], "found": found,
        "frequency": terms.loc[terms["selected"], "frequency"].astype(float).mean(),
    }  # fmt: skip


@lru_cache
def warm():
    """Load the kernels before processes are forked from this one."""
    from answers_data import simulated

    with quiet():
        ours(*[simulated()[0]] * 2, "binomial", 1)


def in_r(name, train, new, kind, seed):
    """A method of answers.R, on indicators in place of text."""
    data = coded(train, responses(kind), kind)
    columns = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(data.X.shape[1])])
    y = train[responses(kind)] if kind == "survival" else pd.DataFrame({"y": data.y})
    frame = pd.concat([columns, y.reset_index(drop=True)], axis=1)
    words = by_r("answers.R", name, frame, kind, str(seed))
    taken = [data.names[data.unit[int(word.removeprefix("c"))]] for word in words]
    return list(dict.fromkeys(taken)), {}


def as_codes(train, kind):
    """Names and matrix of the columns, gaps filled and text as codes."""
    columns = filled(train.drop(columns=responses(kind)))
    X = columns.apply(lambda c: c if is_number(c) else pd.factorize(c)[0])
    return columns.columns, X.to_numpy(dtype=float)


def rfecv(train, new, kind, seed):
    """Recursive elimination by LightGBM in five folds; text as codes."""
    import lightgbm
    from sklearn.feature_selection import RFECV

    names, X = as_codes(train, kind)
    options = {"verbose": -1, "n_jobs": 1, "random_state": seed}
    model = lightgbm.LGBMClassifier(**options)
    if kind in ("gaussian", "poisson"):
        aim = {"poisson": "poisson"}.get(kind, "regression")
        model = lightgbm.LGBMRegressor(objective=aim, **options)
    scoring = {"gaussian": "r2", "poisson": "neg_mean_poisson_deviance", "binomial": "roc_auc"}
    step = 1 if X.shape[1] <= 60 else 0.1
    found = RFECV(model, step=step, cv=5, scoring=scoring.get(kind, "neg_log_loss"))
    found.fit(X, coded_y(train["y"], kind))
    return names[found.support_].tolist(), {}


def boruta(train, new, kind, seed):
    """Confirmed columns of BorutaPy, one level of a factor being enough."""
    from boruta import BorutaPy

    data, forest = coded(train, "y", kind), forest_of(kind, max_depth=7, random_state=seed)
    found = BorutaPy(forest, n_estimators="auto", max_iter=100, random_state=seed)
    found.fit(data.X, data.y)
    return [data.names[j] for j in np.unique(data.unit[found.support_])], {}


def ipss(train, new, kind, seed):
    """Columns before which at most one false one is expected, with boosted trees."""
    from ipss import ipss as run

    data = coded(train, "y", kind)
    np.random.seed(seed)
    found = run(data.X, data.y.astype(float), selector="gb", n_jobs=1,
                force_regression=kind in ("multinomial", "poisson"))  # fmt: skip
    taken = [j for j, expected in found["efp_scores"].items() if expected <= 1]
    return [data.names[j] for j in np.unique(data.unit[taken])] if taken else [], {}


def abess(train, new, kind, seed):
    """Best subset of groups, its size by the generalised information criterion."""
    import abess as package

    data = coded(train, "y", kind, scaled=True)
    which = {
        "gaussian": package.LinearRegression, "binomial": package.LogisticRegression,
        "multinomial": package.MultinomialRegression, "poisson": package.PoissonRegression,
    }[kind]  # fmt: skip
    varies = np.flatnonzero(data.X.std(axis=0) > 0)  # it refuses constant columns
    groups = np.unique(data.unit[varies], return_inverse=True)[1]
    sizes = range(min(groups.max() + 2, 31))
    model = which(support_size=sizes, ic_type="gic", group=groups.tolist(), thread=1)
    model.fit(data.X[:, varies], data.y)
    size = np.abs(np.asarray(model.coef_, dtype=float))
    if size.ndim > 1:
        size = size.sum(axis=1 - size.shape.index(len(varies)))
    return [data.names[j] for j in np.unique(data.unit[varies[size > 0]])], {}


def dart(train, new, kind, seed):
    """Columns of which more than half of the draws of sparse BART have a split (bartz)."""
    from bartz.BART import gbart

    data = coded(train, "y", kind)
    options = {"type": "pbart"} if kind == "binomial" else {}
    fit = gbart(data.X, data.y, sparse=True, ntree=50, nskip=1000, ndpost=1000, seed=seed,
                printevery=None, **options)  # fmt: skip
    used = np.asarray(fit.varcount) > 0
    chance = [used[:, data.unit == j].any(axis=1).mean() for j in range(len(data.names))]
    return [name for name, p in zip(data.names, chance, strict=True) if p > 0.5], {}


def permutation(train, new, kind, seed):
    """Columns whose permutation in a quarter of the rows costs a forest of the others something."""
    from scipy.stats import ttest_1samp
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    names, X = as_codes(train, kind)
    regression = kind in ("gaussian", "poisson")
    fit, test, y_fit, y_test = train_test_split(X, coded_y(train["y"], kind), random_state=seed)
    model = forest_of(kind, 200, min_samples_leaf=3, random_state=seed).fit(fit, y_fit)
    scoring = "r2" if regression else "neg_log_loss"
    if not regression and len(np.unique(y_fit)) > len(np.unique(y_test)):
        scoring = "accuracy"
    found = permutation_importance(
        model, test, y_test, scoring=scoring, n_repeats=10, random_state=seed
    )
    p = ttest_1samp(found.importances, 0, axis=1, alternative="greater").pvalue
    return names[p < 0.05].tolist(), {}


def everything(train, new, kind, seed):
    """All columns."""
    return [c for c in train if c not in responses(kind)], {}


ALL_KINDS = ("binomial", "gaussian", "multinomial", "poisson", "survival")
NUMBERS = ("binomial", "gaussian")
ANSWERS = {
    DEFAULT: (ours, ALL_KINDS, ""),
    'treeselect, k="1se"': (partial(ours, k="1se"), ALL_KINDS, ""),
    "glmnet, 1se": (partial(in_r, "glmnet 1se"), ALL_KINDS, "R"),
    "glmnet, min": (partial(in_r, "glmnet min"), ALL_KINDS, "R"),
    "glmnet, relaxed": (partial(in_r, "glmnet relaxed 1se"), ALL_KINDS, "R"),
    "step, AIC": (partial(in_r, "step AIC"), (*NUMBERS, "poisson", "survival"), "R"),
    "projpred": (partial(in_r, "projpred"), NUMBERS, "R"),
    "VSURF": (partial(in_r, "VSURF"), ALL_KINDS[:3], "VSURF"),
    "abess": (abess, ALL_KINDS[:4], "abess"),
    "DART": (dart, NUMBERS, "bartz"),
    "Boruta": (boruta, ALL_KINDS[:4], "boruta"),
    "RFECV": (rfecv, ALL_KINDS[:4], "lightgbm"),
    "ipss": (ipss, ALL_KINDS[:4], "ipss"),
    "permutation": (permutation, ALL_KINDS[:4], "sklearn"),
    "all columns": (everything, ALL_KINDS, ""),
}
"""Program, kinds of response that it takes, and what must be installed."""


IN_R = {"R": ("glmnet", "projpred", "rstanarm"), "VSURF": ("VSURF",)}


def can_run(program):
    """Whether the package that it needs, or R with its packages, is installed."""
    needs = ANSWERS[program][2]
    if needs in IN_R:
        return r_has(*IN_R[needs]) == set(IN_R[needs])
    return not needs or is_here(needs)
