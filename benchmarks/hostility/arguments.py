"""Arguments and options of the calls: values that are taken, and values that nobody expects."""

from __future__ import annotations

import functools
import random
from typing import Any

from hostility.words import HOSTILE, VALUES


def split(texts: dict[Any, str]) -> dict[Any, list[str]]:
    """Values that semicolons separate."""
    return {name: text.split("; ") for name, text in texts.items()}


FEW = {
    "exchange": {"n_trees": "10"}, "controlburn": {"forests": "1", "n_trees": "5"},
    "rrf": {"n_trees": "4"}, "grrf": {"n_trees": "4"}, "rboost": {"n_trees": "4"},
    "gbfs": {"n_trees": "6"}, "importance": {"n_trees": "4"}, "rfe": {"n_trees": "4"},
    "boruta": {"n_trees": "4", "max_rounds": "6"}, "varselrf": {"n_trees": "4"}, "hsic_lasso": {},
    "lasso": {}, "mrmr": {}, "cfs": {}, "fcbf": {}, "svm_rfe": {}, "stepwise": {},
}  # fmt: skip
"""Options that keep a call short."""

METHOD_OPTIONS = split({
    "lam": "0.5; 0.1; 1.0; 1e-8", "gamma": "0.5; 0.0; 1.0", "mu": "0.1; 1e-6; 5.0",
    "forests": "1; 2", "adaptive": "True; False", "tail": "1; 5", "tolerance": "0.01; 0.5",
    "min_trees": "1; 4", "max_depth": "1; 2; None; 6", "loss": "'family'; 'hinge'",
    "ridge": "0.1; 0.0; 10.0",
    "forest":
        "'bag-boosting'; 'bagging'; 'double-bag-boosting'; 'extra-trees'; 'single-feature'; "
        "'incremental'",
    "constraints": "None; lambda w: [w >= 0]", "best_subset": "True; False",
    "sketch": "None; 5; 20", "sketch_kind": "'rows'; 'gaussian'", "max_features": "0.5; 1.0",
    "tree_cost": "0.0; 0.1", "refit": "'forest'; None", "n_trees": "1; 3; 7",
    "prune": "True; False", "mtry": "1; 2; None", "sample_fraction": "0.5; 1.0; 0.01",
    "replace": "True; False", "min_leaf": "1; 3; 50", "criterion": "'gini'; 'entropy'",
    "gain": "'uncentred'; 'decrease'", "ties": "'used'; 'random'", "screen": "True; False",
    "form": "'auto'; 'reweighting'; 'gradient'", "learning_rate": "0.1; 1.0; 1e-9",
    "newton": "True; False; None", "charge_each_split": "True; False", "discounts": "(); {}",
    "threshold": "0.0; 0.1; 1.0", "kind": "'unbiased'; 'mdi'; 'permutation'",
    "step": "0.2; 0.5; 0.9", "share": "0.5; 0.1", "level": "0.01; 0.05; 0.5", "max_rounds": "5; 8",
    "unexplained": "None; 0.9; 0.1; 1e-9; 1.0", "margin": "1.0; 0.0; 10.0",
    "time_limit": "0.2; None",
    "refine": "True; False",
    "scheme": "'difference'; 'quotient'", "n_bins": "2; 10; 3", "delta": "0.0; 0.1; 0.9",
    "block_size": "5; None; 20", "n_shuffles": "1; 2", "C": "1.0; 0.01; 100.0",
    "epsilon": "0.1; 0.0", "c_sd": "0.0; 1.0", "penalty": "2.0; 0.0",
    "direction": "'both'; 'forward'; 'backward'",
})  # fmt: skip
"""Values of options that their method takes; a tuning value decides in the place of `k`."""

OWN_OPTIONS = split({
    ("cfs", "gain"): "0.0; 0.1",
    ("exchange", "n_trees"): "10; 12; 30",
})  # fmt: skip
"""Those of methods that mean something else by a name."""

TUNING = (
    "lam", "gamma", "mu", "threshold", "share", "level", "delta", "c_sd", "penalty", "gain",
    "unexplained",
)  # fmt: skip

ARGUMENTS = split({
    "k": "1; 2; 3; '1se'; 'best'; None",
    "family": "'auto'; 'gaussian'; 'binomial'; 'multinomial'; 'ordinal'; 'poisson'; 'cox'",
    "weights":
        "np.ones(n); np.arange(n); list(np.arange(n) % 3); np.linspace(0, 1, n); [1] * n; "
        "(np.arange(n) % 2).astype(float); pd.Series(np.ones(n)); np.full(n, 1e300); "
        "np.full(n, 5e-324); np.r_[np.zeros(max(n - 1, 0)), 1.0][:n]; NAME",
    "offset":
        "np.zeros(n); np.linspace(-1, 1, n); np.full(n, 0.1) + np.arange(n) * 1e-17; [0.5] * n; "
        "np.full(n, 1e300); NAME; np.full(n, 700.0)",
    "groups":
        "{'both': NAMES}; {'one': [NAME]}; {NAME: [NAME]}; {'one': [NAME], 'two': [NAME]}; None",
    "costs":
        "{NAME: 2.0}; {NAME: 0}; {NAME: 1e300}; {NAME: 5e-324}; {NAME: float('inf')}; "
        "{NAME: np.float32(3)}; None",
    "keep": "NAME; [NAME]; NAMES; (NAME,); {NAME}; None", "resamples": "0; 1; 2; 3",
    "folds":
        "2; 3; np.arange(n) % 2; [0, 1] * (n // 2) + [0] * (n % 2); np.full(n, -1); "
        "np.zeros(n, int); KFold(2); KFold(2, shuffle=True); LeaveOneOut(); TimeSeriesSplit(2); "
        "GroupKFold(2); ShuffleSplit(2); PredefinedSplit(np.arange(n) % 2)",
    "repeats": "1; 2",
    "fold_groups":
        "NAME; np.arange(n) // 2; ['a', 'b', 'c'] * (n // 3) + ['a'] * (n % 3); [None] * n; "
        "[[1]] * n; [float('nan')] * n; np.zeros(n)",
    "scoring":
        "None; 'r2'; 'roc_auc'; 'neg_log_loss'; 'accuracy'; 'neg_mean_squared_error'; 'f1'; "
        "'neg_mean_poisson_deviance'; 'uno_c'; 'integrated_brier'; "
        "lambda y, p, sample_weight=None: 0.0; lambda y, p: float('nan'); lambda y, p: 'x'; "
        "lambda y, p: 1 / 0; lambda y, p: None; lambda: 1",
    "seed": "0; 1; 7; None; np.int64(3); 2**31; 2**64", "n_jobs": "1; None",
    "weights_kind": "None; 'frequency'; 'sampling'; 'precision'",
    "monotone":
        "{NAME: 1}; {NAME: -1}; {NAME: 0}; {}; None; {NAME: 1.0}; dict.fromkeys(NAMES, 1); "
        "{NAME: '1'}; {'no such': 1}",
    "model":
        "None; 'glm'; 'gam'; 'stack'; 'forest'; 'boosting'; 'own'; 'lm'; 1; LinearRegression(); "
        "LogisticRegression(tol=0.1, max_iter=9999)",
    "labels":
        "{NAME: 'Weight (kg)'}; {}; None; {NAME: None}; {NAME: ''}; {NAME: '<b>&'}; "
        "{NAME: '`~ | *_'}; {NAME: 'x' * 300}; {NAME: '\x1b[31m\u202e'}; {NAME: 3}; "
        "{'no such': 'x'}; dict.fromkeys(NAMES, 'the same')",
    "na":
        "None; '?'; -9; [-9, 'n/a']; {NAME: [8, 9]}; {NAME: '1.0'}; 0; 1; [0, 1, 2, 3]; "
        "{'no such': 1}; float('nan'); ''; []",
    "rows": "None; 20; 25; 10**6; n; n - 1; 19; 0; -1",
    "positive": "None; 'no'; 1; 0; 'a'; True; NAME; [1]",
    "new_levels": "'error'; 'missing'; 'other'",
    "missing": "'level'; 'impute'; 'drop'; 'mice'; None", "progress": "False; None",
    "trusted": "False",
})  # fmt: skip
"""Values of each argument, the usual ones first; NAME is a column, NAMES some, n the rows."""

TAME = {
    "family": 1, "weights": 6, "offset": 2, "groups": 3, "costs": 1, "folds": 3, "fold_groups": 3,
    "scoring": 1, "seed": 3, "monotone": 5, "model": 6, "positive": 1, "labels": 8, "na": 5,
    "rows": 4, "missing": 3,
}  # fmt: skip
"""How many of them are usual, where not all are."""


def draw_options(
    rng: random.Random, names: list[str], call: str, hostile: set[str]
) -> dict[str, str]:
    method = rng.choice(sorted(FEW))
    options = {
        "seed": "1", "k": rng.choice(["1", "1", "1", "'1se'"]), "folds": "2", "progress": "False",
        "n_jobs": "1",
    }  # fmt: skip
    if call == "compare":
        options["methods"] = repr([method, rng.choice(["fcbf", "cfs", "mrmr"])])
    else:
        tuned = _method_options(rng, method)
        options = {"method": repr(method), **options, **FEW[method], **tuned}
        if set(tuned) & set(TUNING):
            del options["k"]
    some = [0, 0, 1, 1, 2] if "arguments" not in hostile else [1, 2, 3]
    for name in rng.sample(sorted(ARGUMENTS), rng.choice(some)):
        pool = ARGUMENTS[name] if "arguments" in hostile else ARGUMENTS[name][: TAME.get(name, 99)]
        if name not in ("k", "trusted") or "arguments" in hostile:
            options[name] = filled(rng, rng.choice(pool), names)
    if "options" in hostile:
        own = ["checkpoint", "on_piece"] if call == "compare" else ["method", *option_names(method)]
        name = rng.choice([*ARGUMENTS, *ARGUMENTS, *own, "unknown"])
        options[name] = rng.choice(VALUES) if rng.random() < 0.9 else ascii(rng.choice(HOSTILE))
    if options["progress"] not in ("False", "None"):
        options["progress"] = "False"
    if options["n_jobs"] in PROCESSES:
        options["n_jobs"] = "1"
    if call == "compare":
        for name in ("method", *option_names(method), "resamples", *FEW[method]):
            options.pop(name, None)
    return options


PROCESSES = (
    "2", "3", "-1", "np.int64(3)", "10**30", "np.uint64(2)", "type('Own', (int,), {})(2)", "2**31",
    "2**63", "-2**63", "True",
)  # fmt: skip
"""More than one process is another program's business."""


@functools.cache
def _options() -> dict[str, list[str]]:
    from treeselect.algorithms.registry import METHODS

    return {name: list(kind.defaults()) for name, kind in METHODS.items()}


def option_names(method: str) -> list[str]:
    return [name for name in _options()[method] if not name.startswith("_")]


def _method_options(rng: random.Random, method: str) -> dict[str, str]:
    names = [name for name in option_names(method) if name in METHOD_OPTIONS]
    names = rng.sample(names, min(len(names), rng.choice([0, 0, 1, 1, 2, 4])))
    found = {
        name: rng.choice(OWN_OPTIONS.get((method, name), METHOD_OPTIONS[name])) for name in names
    }
    if found.get("best_subset") == "True":
        found["time_limit"] = "0.2"
    if found.get("sketch", "None") == "None":
        found.pop("sketch_kind", None)
    return found


def filled(rng: random.Random, text: str, names: list[str]) -> str:
    """NAME, NAMES, TERM and VALUE as something of the case."""
    names = names or ["x"]
    text = text.replace("NAMES", ascii(rng.sample(names, min(len(names), 2))))
    text = text.replace("NAME", ascii(rng.choice(names)))
    return text.replace(
        "VALUE", rng.choice(VALUES) if rng.random() < 0.9 else ascii(rng.choice(HOSTILE))
    )
