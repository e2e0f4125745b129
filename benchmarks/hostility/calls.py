"""Calls of ``select`` and ``compare`` on hostile frames with hostile arguments, and after."""

from __future__ import annotations

import copy
import functools
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hostility import columns as frames
from hostility.formulas import draw_formula, name_text
from hostility.judging import (
    ANSWERED,
    VOID,
    Defect,
    Outcome,
    check_page,
    check_text,
    judge,
    streams,
)
from hostility.words import HOSTILE, VALUES, namespace

Plan = dict[str, Any]

_FEW = {
    "controlburn": {"forests": "1", "n_trees": "5"},
    "rrf": {"n_trees": "4"}, "grrf": {"n_trees": "4"}, "rboost": {"n_trees": "4"},
    "gbfs": {"n_trees": "6"},
    "importance": {"n_trees": "4"}, "rfe": {"n_trees": "4"}, "boruta": {"n_trees": "4",
    "max_rounds": "6"},
    "varselrf": {"n_trees": "4"}, "hsic_lasso": {}, "lasso": {}, "mrmr": {}, "cfs": {},
    "fcbf": {}, "svm_rfe": {}, "stepwise": {},
}  # fmt: skip
"""Options that keep a call short."""

_GOOD = {
    "lam": ["0.5", "0.1", "1.0", "1e-8"], "gamma": ["0.5", "0.0", "1.0"], "mu": ["0.1", "1e-6",
    "5.0"],
    "forests": ["1", "2"], "adaptive": ["True", "False"], "tail": ["1", "5"],
    "tolerance": ["0.01", "0.5"],
    "min_trees": ["1", "4"], "max_depth": ["1", "2", "None", "6"], "loss": ["'family'",
    "'hinge'"], "ridge": ["0.1", "0.0", "10.0"],
    "forest": ["'bag-boosting'", "'bagging'", "'double-bag-boosting'", "'extra-trees'",
    "'single-feature'", "'incremental'"],
    "constraints": ["None", "lambda w: [w >= 0]"], "best_subset": ["True", "False"],
    "sketch": ["None", "5", "20"],
    "sketch_kind": ["'rows'", "'gaussian'"], "max_features": ["0.5", "1.0"], "tree_cost": ["0.0",
    "0.1"], "refit": ["'forest'", "None"],
    "n_trees": ["1", "3", "7"], "prune": ["True", "False"], "mtry": ["1", "2", "None"],
    "sample_fraction": ["0.5", "1.0", "0.01"],
    "replace": ["True", "False"], "min_leaf": ["1", "3", "50"], "criterion": ["'gini'",
    "'entropy'"], "gain": ["'uncentred'", "'decrease'"],
    "ties": ["'used'", "'random'"], "screen": ["True", "False"],
    "form": ["'auto'", "'reweighting'", "'gradient'"],
    "learning_rate": ["0.1", "1.0", "1e-9"],
    "newton": ["True", "False", "None"], "charge_each_split": ["True", "False"],
    "discounts": ["()", "{}"], "threshold": ["0.0", "0.1", "1.0"],
    "kind": ["'unbiased'", "'mdi'", "'permutation'"], "step": ["0.2", "0.5", "0.9"],
    "share": ["0.5", "0.1"],
    "level": ["0.01", "0.05", "0.5"],
    "max_rounds": ["5", "8"], "correction": ["'bonferroni'", "'bh'"], "scheme": ["'difference'",
    "'quotient'"], "n_bins": ["2", "10", "3"],
    "delta": ["0.0", "0.1", "0.9"], "block_size": ["5", "None", "20"], "n_shuffles": ["1", "2"],
    "C": ["1.0", "0.01", "100.0"],
    "epsilon": ["0.1", "0.0"], "c_sd": ["0.0", "1.0"], "recompute": ["True", "False"],
    "penalty": ["2.0", "0.0"],
    "direction": ["'both'", "'forward'", "'backward'"],
}  # fmt: skip
"""Values of options that their method takes; a tuning value decides in the place of `k`."""

_TUNING = ("lam", "gamma", "mu", "threshold", "share", "level", "delta", "c_sd", "penalty", "gain")

_ARGUMENTS = {
    "k": ["1", "2", "3", "'1se'", "'best'", "None"],
    "family": ["'auto'", "'gaussian'", "'binomial'", "'multinomial'", "'poisson'", "'cox'"],
    "weights": ["np.ones(n)", "np.arange(n)", "list(np.arange(n) % 3)", "np.linspace(0, 1, n)",
    "[1] * n", "(np.arange(n) % 2).astype(float)",
                "pd.Series(np.ones(n))", "np.full(n, 1e300)", "np.full(n, 5e-324)",
                "np.r_[np.zeros(max(n - 1, 0)), 1.0][:n]", "NAME"],
    "offset": ["np.zeros(n)", "np.linspace(-1, 1, n)", "np.full(n, 0.1) + np.arange(n) * 1e-17",
    "[0.5] * n", "np.full(n, 1e300)", "NAME", "np.full(n, 700.0)"],
    "groups": ["{'both': NAMES}", "{'one': [NAME]}", "{NAME: [NAME]}",
    "{'one': [NAME], 'two': [NAME]}", "None"],
    "costs": ["{NAME: 2.0}", "{NAME: 0}", "{NAME: 1e300}", "{NAME: 5e-324}",
    "{NAME: float('inf')}", "{NAME: np.float32(3)}", "None"],
    "keep": ["NAME", "[NAME]", "NAMES", "(NAME,)", "{NAME}", "None"],
    "resamples": ["0", "1", "2", "3"],
    "folds": ["2", "3", "np.arange(n) % 2", "[0, 1] * (n // 2) + [0] * (n % 2)", "np.full(n, -1)",
    "np.zeros(n, int)", "KFold(2)", "KFold(2, shuffle=True)",
              "LeaveOneOut()", "TimeSeriesSplit(2)", "GroupKFold(2)", "ShuffleSplit(2)",
              "PredefinedSplit(np.arange(n) % 2)"],
    "repeats": ["1", "2"],
    "fold_groups": ["NAME", "np.arange(n) // 2", "['a', 'b', 'c'] * (n // 3) + ['a'] * (n % 3)",
    "[None] * n", "[[1]] * n", "[float('nan')] * n", "np.zeros(n)"],
    "scoring": ["None", "'r2'", "'roc_auc'", "'neg_log_loss'", "'accuracy'",
    "'neg_mean_squared_error'", "'f1'", "'neg_mean_poisson_deviance'",
                "'uno_c'", "'integrated_brier'",
                "lambda y, p, sample_weight=None: 0.0", "lambda y, p: float('nan')",
                "lambda y, p: 'x'", "lambda y, p: 1 / 0", "lambda y, p: None", "lambda: 1"],
    "seed": ["0", "1", "7", "None", "np.int64(3)", "2**31", "2**64"],
    "n_jobs": ["1", "None"],
    "new_levels": ["'error'", "'missing'", "'other'"],
    "progress": ["False", "None"],
    "trusted": ["False"],
}  # fmt: skip
"""Values of each argument, the usual ones first; NAME is a column, NAMES some, n the rows."""

_TAME = {
    "family": 1,
    "weights": 6,
    "offset": 2,
    "groups": 3,
    "costs": 1,
    "folds": 3,
    "fold_groups": 3,
    "scoring": 1,
    "seed": 3,
}
"""How many of them are usual, where not all are."""

_USES = (
    "predict(data)", "predict(data, 'link')", "predict(data, 'class')", "predict(new)",
    "predict(none)", "predict(few)", "predict(other)",
    "augment(data)", "tidy()", "glance()", "path", "summary()", "report(html)", "again()",
    "again(True)", "resample(2)", "resample(2, scheme='complementary')",
    "resample(2, seed=np.int64(3))", "refit('forest')", "refit('boosting')", "refit('glm')",
    "refit(LinearRegression())", "inference()", "inference(seed=1)",
    "performance(2)", "performance(2, seed=3)",
    "conditional_importance(2, repeats=1)", "conditional_importance(2, terms=TERM)",
    "trees()", "nodes()", "rules()", "rules(2)",
    "importance_path()", "shape(TERM)", "interactions()", "neighbours()",
    "neighbours(NAME)", "neighbours(TERM, most=1)", "describe()", "describe(NAME)",
    "selected", "formula", "variables",
    "stability", "subforest", "__repr__()", "call", "predict(data, 'survival', times=[1, 50])",
    "predict(new, 'cumulative_hazard', times=2)", "risk_groups(2, folds=2)",
    "risk_groups(folds=2).summary()", "baseline",
)  # fmt: skip
"""What is done with an answer."""

_HARD = (
    "predict(VALUE)", "predict(data, VALUE)", "predict(data, offset=VALUE)", "augment(VALUE)",
    "rules(VALUE)", "shape(VALUE)", "shape(TERM, VALUE)",
    "neighbours(VALUE)", "neighbours(most=VALUE)", "resample(VALUE)", "resample(2, scheme=VALUE)",
    "resample(2, k=VALUE)", "resample(2, seed=VALUE)",
    "resample(2, fold_groups=VALUE)", "resample(2, n_jobs=VALUE)", "refit(VALUE)",
    "inference(VALUE)", "inference(repeats=VALUE)", "inference(level=VALUE)",
    "inference(seed=VALUE)", "inference(gamma_min=VALUE)", "performance(VALUE)",
    "performance(2, seed=VALUE)", "performance(2, repeats=VALUE)",
    "performance(2, scoring=VALUE)", "performance(2, inner_folds=VALUE)",
    "performance(2, fold_groups=VALUE)",
    "conditional_importance(VALUE)", "conditional_importance(2, terms=VALUE)",
    "conditional_importance(2, repeats=VALUE)", "conditional_importance(2, scoring=VALUE)",
    "predict(data, 'survival', times=VALUE)", "risk_groups(VALUE, folds=2)",
    "risk_groups(2, VALUE, 2)", "risk_groups(2, None, VALUE)",
    "report(VALUE)", "save(VALUE)", "save(html, VALUE)",
    "report(html, VALUE)", "report(html, performance=VALUE)", "refit('glm', data=VALUE)",
    "plot(VALUE)", "resample(2, checkpoint=VALUE)",
)  # fmt: skip
"""The same with arguments that nobody expects."""

_COMPARED = (
    "tidy()",
    "glance()",
    "summary()",
    "curves()",
    "differences()",
    "terms()",
    "report(html)",
    "best",
    "__repr__()",
)


_SIDES = ("names", "types", "values", "size", "formula", "arguments", "options", "uses")
"""Sides of a case that can be hostile: of most only some are, or none would be answered."""


def draw(rng: random.Random) -> Plan:
    """A frame, a formula, arguments, and what is done with the answer."""
    hostile = {side for side in _SIDES if rng.random() < 0.22}
    library = rng.choice(["pandas", "pandas", "pandas", "polars", "pyarrow"])
    sizes = [0, 1, 2, 3, 5, 8] if "size" in hostile else [12, 20, 20, 30, 30, 45, 60, 60]
    n_columns = rng.choice([0, 1, 1, 2] if "size" in hostile else [2, 3, 3, 4, 4, 5, 6, 8, 12])
    made = frames.draw_columns(rng, library, rng.choice(sizes), n_columns, hostile)
    has_times = rng.random() < 0.15
    if has_times:
        taken = {c["name"] for c in made[1:]}
        times = frames.draw_times(rng, library, frames.n_rows(made), hostile)
        made = [*(c for c in times if c["name"] not in taken), *made[1:]]
    names = [c["name"] for c in made]
    formula = _formula(rng, names, hostile)
    if has_times and "~" in formula:
        formula = _of_times(rng, names, formula)
    call = "compare" if rng.random() < 0.08 else "select"
    plan: Plan = {"library": library, "columns": made, "formula": formula, "call": call}
    plan["options"] = _draw_options(rng, names, call, hostile)
    pool = (_HARD if "uses" in hostile else _USES) if call == "select" else _COMPARED
    plan["then"] = [
        _filled(rng, rng.choice(pool), names) for _ in range(rng.choice([1, 2, 2, 3, 4]))
    ]
    return plan


def _formula(rng: random.Random, names: list[str], hostile: set[str]) -> str:
    if "formula" in hostile:
        return draw_formula(rng, names)
    left = name_text(names[0]) if names else "y"
    others = names[1:]
    if not others or rng.random() < 0.5:
        return f"{left} ~ ."
    terms = [name_text(name) for name in rng.sample(others, rng.randint(1, len(others)))]
    if len(terms) > 1 and rng.random() < 0.3:
        terms.append(":".join(terms[:2]))
    return f"{left} ~ {' + '.join(terms)}"


def _of_times(rng: random.Random, names: list[str], formula: str) -> str:
    """The formula with times on its left, and strata where there is a column for them."""
    event = rng.choice(["dead", "dead", "dead", "dead == 1", "dead > 0", "1 - dead", "stop"])
    start = "start, " if "start" in names and rng.random() < 0.8 else ""
    left = f"Surv({start}stop, {event})"
    if rng.random() < 0.05:
        left = rng.choice([f"log({left})", "Surv(stop)", "Surv(dead, stop)", "Surv(stop, dead, 1)"])
    right = formula.split("~", 1)[1]
    strata = " + strata(site)" if "site" in names and rng.random() < 0.8 else ""
    return f"{left} ~{right}{strata}"


def _draw_options(
    rng: random.Random, names: list[str], call: str, hostile: set[str]
) -> dict[str, str]:
    method = rng.choice(sorted(_FEW))
    options = {
        "seed": "1",
        "k": rng.choice(["1", "1", "1", "'1se'"]),
        "folds": "2",
        "progress": "False",
        "n_jobs": "1",
    }
    if call == "compare":
        options["methods"] = repr([method, rng.choice(["fcbf", "cfs", "mrmr"])])
    else:
        own = _method_options(rng, method)
        options = {"method": repr(method), **options, **_FEW[method], **own}
        if set(own) & set(_TUNING):
            del options["k"]
    some = [0, 0, 1, 1, 2] if "arguments" not in hostile else [1, 2, 3]
    for name in rng.sample(sorted(_ARGUMENTS), rng.choice(some)):
        pool = (
            _ARGUMENTS[name] if "arguments" in hostile else _ARGUMENTS[name][: _TAME.get(name, 99)]
        )
        if name not in ("k", "trusted") or "arguments" in hostile:
            options[name] = _filled(rng, rng.choice(pool), names)
    if "options" in hostile:
        name = rng.choice([*_ARGUMENTS, *_ARGUMENTS, "method", *_option_names(method), "unknown"])
        options[name] = rng.choice(VALUES) if rng.random() < 0.9 else ascii(rng.choice(HOSTILE))
    if options["progress"] not in ("False", "None"):
        options["progress"] = "False"
    if options["n_jobs"] in _PROCESSES:
        options["n_jobs"] = "1"
    if call == "compare":
        for name in ("method", *_option_names(method), "resamples", *_FEW[method]):
            options.pop(name, None)
    return options


_PROCESSES = (
    "2",
    "3",
    "-1",
    "np.int64(3)",
    "10**30",
    "np.uint64(2)",
    "type('Own', (int,), {})(2)",
    "2**31",
    "2**63",
    "-2**63",
    "True",
)
"""More than one process is another program's business."""


@functools.cache
def _options() -> dict[str, list[str]]:
    from treeselect.algorithms.registry import METHODS

    return {name: list(kind.defaults()) for name, kind in METHODS.items()}


def _option_names(method: str) -> list[str]:
    return [name for name in _options()[method] if not name.startswith("_")]


def _method_options(rng: random.Random, method: str) -> dict[str, str]:
    names = [name for name in _option_names(method) if name in _GOOD]
    names = rng.sample(names, min(len(names), rng.choice([0, 0, 1, 1, 2, 4])))
    found = {name: rng.choice(_GOOD[name]) for name in names if name not in ("criterion", "gain")}
    if "criterion" in names:
        found["criterion"] = rng.choice(
            ["'bic'", "'aic'"] if method == "stepwise" else _GOOD["criterion"]
        )
    if "gain" in names:
        found["gain"] = rng.choice(["0.0", "0.1"] if method == "cfs" else _GOOD["gain"])
    if found.get("best_subset") == "True":
        found["time_limit"] = "1.0"
    if found.get("sketch", "None") == "None":
        found.pop("sketch_kind", None)
    return found


def _filled(rng: random.Random, text: str, names: list[str]) -> str:
    """NAME, NAMES, TERM and VALUE as something of the case."""
    names = names or ["x"]
    text = text.replace("NAMES", ascii(rng.sample(names, min(len(names), 2))))
    text = text.replace("NAME", ascii(rng.choice(names)))
    return text.replace(
        "VALUE", rng.choice(VALUES) if rng.random() < 0.9 else ascii(rng.choice(HOSTILE))
    )


def run(plan: Plan, folder: Path) -> Outcome:
    """Build the frame, make the call, then use the answer."""
    space = namespace()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = frames.build(plan["columns"], plan["library"], space)
    except BaseException as error:  # polars panics with what is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome(VOID, type(error).__name__, str(error)[:200])
    try:
        space |= _space(frame, frames.n_rows(plan["columns"]), folder)
        options = {name: eval(text, space) for name, text in plan["options"].items()}
    except Exception as error:
        return Outcome(VOID, type(error).__name__, str(error)[:200])
    with streams():
        return judge(_use, plan, frame, options, space)


def _space(frame: Any, n: int, folder: Path) -> dict[str, Any]:
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        LeaveOneOut,
        PredefinedSplit,
        ShuffleSplit,
        TimeSeriesSplit,
    )  # fmt: skip

    return {
        "n": n, "data": frame, "KFold": KFold, "LeaveOneOut": LeaveOneOut,
        "TimeSeriesSplit": TimeSeriesSplit, "GroupKFold": GroupKFold,
        "ShuffleSplit": ShuffleSplit, "PredefinedSplit": PredefinedSplit,
        "LinearRegression": LinearRegression, "LogisticRegression": LogisticRegression,
        "html": str(folder / "page.html"), "folder": str(folder),
    }  # fmt: skip


def _use(plan: Plan, frame: Any, options: dict[str, Any], space: dict[str, Any]) -> str:
    import treeselect

    n = space["n"]
    before = _fingerprint(frame)
    found = getattr(treeselect, plan["call"])(plan["formula"], frame, **options)
    if _fingerprint(frame) != before:
        raise Defect("the data were changed")
    if plan["call"] == "select":
        _check_fit(found, frame, n, options.get("offset"))
    else:
        check_text(found.summary().as_text(), "a summary")
    for then in plan["then"]:
        _then(found, then, frame, plan, space)
    return ANSWERED


def _fingerprint(frame: Any) -> str:
    """Names, types and numbers; of objects not even equality may be asked."""
    if not hasattr(frame, "iloc"):
        return str(getattr(frame, "schema", ""))
    plain = [
        i for i, kind in enumerate(frame.dtypes) if getattr(kind, "str", "")[1:2] in tuple("fiub")
    ]
    numbers = [frame.iloc[:, i].to_numpy().tobytes() for i in plain]
    return f"{frame.dtypes.tolist()}{list(frame.columns)!a}{frame.index}{numbers}"


def _check_fit(fit: Any, frame: Any, n: int, offset: Any) -> None:
    rows = fit.design.rows
    if rows.used + rows.no_response + rows.no_weight != n:
        raise Defect(f"rows are not accounted for: {rows} of {n}")
    if len(fit.groups) != fit.k or len(set(fit.groups)) != fit.k:
        raise Defect(f"k is not the number of units: {fit.k}, {fit.groups}")
    check_text(fit.summary().as_text(), "a summary")
    fitted = fit.predict(frame) if isinstance(offset, str) else fit.predict(frame, offset=offset)
    _check_predicted(fitted, n)
    if hasattr(frame, "index") and not frame.index.equals(fitted.index):
        raise Defect("predict() lost the index")


def _check_predicted(fitted: Any, n: int) -> None:
    import numpy as np

    if len(fitted) != n:
        raise Defect(f"predict() lost rows: {len(fitted)} of {n}")
    values = np.asarray(fitted)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise Defect(f"predict() is not finite: {values[~np.isfinite(values)][:3]}")


class _Refused(Exception):
    """What is done with the answer can't be made of this plan."""


def _then(found: Any, then: str, frame: Any, plan: Plan, space: dict[str, Any]) -> None:
    """One use of the answer; an error of ours is a refusal of this use alone."""
    from hostility.judging import check_refusal
    from treeselect.errors import TreeselectError

    try:
        answer = _evaluated(found, then, plan, space)
    except TreeselectError as error:
        check_refusal(error, then)
        return
    except _Refused:
        return
    if then.startswith("predict(data"):
        _check_predicted(answer, space["n"])
    if then in ("predict(none)", "predict(few)", "predict(new)"):
        _check_predicted(
            answer, {"none": 0, "few": min(2, space["n"]), "new": space["n"]}[then[8:-1]]
        )
    if then == "augment(data)" and len(answer) != space["n"]:
        raise Defect("augment() lost rows")
    _check_shown(answer, then)
    if then == "report(html)":
        check_page(Path(space["html"]).read_bytes(), "a report")


def _evaluated(found: Any, then: str, plan: Plan, space: dict[str, Any]) -> Any:
    if then.startswith("again"):
        return _again(found, then, space)
    space = {
        **space,
        "fit": found,
        "TERM": found.selected[0] if getattr(found, "selected", ()) else "x",
    }
    if "new)" in then or "none)" in then or "few)" in then or "other)" in then:
        space |= _news(plan, space)
    try:
        code = compile(f"fit.{then}", "then", "eval")
        answer = eval(code, space)
    except (NameError, SyntaxError) as error:
        raise _Refused(str(error)) from None
    return answer


def _again(fit: Any, then: str, space: dict[str, Any]) -> Any:
    """Saved and loaded, it predicts the same."""
    import numpy as np

    import treeselect

    path = Path(space["folder"]) / "again.treeselect"
    again = treeselect.load(fit.save(path, include_data="True" in then))
    first, second = (np.asarray(f.predict(space["data"])) for f in (fit, again))
    if not np.array_equal(first, second):
        raise Defect("a loaded model predicts otherwise")
    if again.summary().as_text() != fit.summary().as_text():
        raise Defect("a loaded model has another summary")
    return again


def _news(plan: Plan, space: dict[str, Any]) -> dict[str, Any]:
    """Other frames than that of the fit."""
    made, library = plan["columns"], plan["library"]
    others = {
        "new": with_reversed(made),
        "none": frames.with_rows(made, slice(0)),
        "few": frames.with_rows(made, slice(2)),
    }
    others["other"] = [{**c, "dtype": _other_type(c["dtype"], library)} for c in made]
    found = {}
    for name, columns in others.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = frames.build(columns, library, space)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
    return found


def with_reversed(made: list[frames.Column]) -> list[frames.Column]:
    """The last row first."""
    return frames.with_rows(made, slice(None, None, -1))


def _other_type(dtype: str, library: str) -> str:
    if library != "pandas":
        return dtype
    return {
        "float64": "object",
        "int64": "float64",
        "category": "object:text",
        "bool": "object",
        "object:text": "category",
    }.get(dtype, "object")


def _check_shown(answer: Any, then: str) -> None:
    """No text of ours that is made to be shown may steer a terminal; a frame's is its library's,
    and a formula is to be used again."""
    name = then.split("(")[0]
    if name in ("rules", "__repr__") and isinstance(answer, str):
        check_text(answer, f"{name}()")
    if not type(answer).__module__.startswith("treeselect"):
        return
    if not hasattr(answer, "as_text") and hasattr(answer, "summary"):
        answer = answer.summary()
    for method in ("as_text", "as_latex", "_repr_html_"):
        if hasattr(answer, method):
            check_text(getattr(answer, method)(), f"{name}().{method}()")
    check_text(repr(answer), f"the representation of {name}()")


def smaller(plan: Plan) -> Iterator[Plan]:
    """Without a use, an option, a column, half of the rows or a piece of the formula."""
    for part in ("then", "columns"):
        for i in range(len(plan[part]) - 1, -1, -1):
            yield {**plan, part: plan[part][:i] + plan[part][i + 1 :]}
    for name in plan["options"]:
        if name not in (
            "seed",
            "progress",
            "n_jobs",
            "n_trees",
            "forests",
            "folds",
            "time_limit",
            "methods",
        ):
            yield {**plan, "options": {k: v for k, v in plan["options"].items() if k != name}}
    if plan["options"].get("method") not in (None, "'fcbf'"):
        common = {k: v for k, v in plan["options"].items() if k in (*_ARGUMENTS, "method")}
        yield {**plan, "options": {**common, "method": "'fcbf'"}}
    n = frames.n_rows(plan["columns"])
    for rows in (slice(0, n // 2), slice(n // 2, n), slice(0, n, 2), slice(0, n - 1), slice(1, n)):
        if n > 1:
            yield {**plan, "columns": frames.with_rows(plan["columns"], rows)}
    for i, column in enumerate(plan["columns"]):
        yield from _plainer(plan, i, column)
    text = plan["formula"]
    size = len(text) // 2
    while size:
        for at in range(0, len(text), size):
            yield {**plan, "formula": text[:at] + text[at + size :]}
        size //= 2
    if plan["library"] != "pandas" and all(
        c["dtype"] in ("float64", "Float64") for c in plan["columns"]
    ):
        as_pandas = [{**c, "dtype": "float64"} for c in plan["columns"]]
        yield {**plan, "library": "pandas", "columns": as_pandas}


def _plainer(plan: Plan, i: int, column: frames.Column) -> Iterator[Plan]:
    def changed(new: frames.Column, formula: str | None = None) -> Plan:
        made = copy.copy(plan["columns"])
        made[i] = new
        return {**plan, "columns": made, "formula": plan["formula"] if formula is None else formula}

    name = column["name"]
    for new in ("y", "x", "z", "a"):
        if new == name:
            break
        if all(c["name"] != new for c in plan["columns"]) and name:
            yield changed(
                {**column, "name": new}, plan["formula"].replace(name, new).replace(f"`{new}`", new)
            )
            break
    if len(name) > 3:
        yield changed(
            {**column, "name": name[: len(name) // 2]},
            plan["formula"].replace(name, name[: len(name) // 2]),
        )
    usual = {"pandas": "float64", "polars": "Float64", "pyarrow": "float64"}[plan["library"]]
    count = [repr(float(r)) for r in range(len(column["values"]))]
    if column["dtype"] != usual or column["values"] != count:
        yield changed({**column, "dtype": usual, "values": count})
    if len(set(column["values"])) > 1:
        most = max(set(column["values"]), key=column["values"].count)
        for value in sorted(set(column["values"]) - {most})[:4]:
            yield changed(
                {**column, "values": [most if v == value else v for v in column["values"]]}
            )


def script(plan: Plan) -> str:
    """As a person would try it."""
    shown = ", ".join(
        f"({c['name']!a}, {c['dtype']!r}, [{_few(c['values'])}])" for c in plan["columns"]
    )
    options = ", ".join(
        f"{k}={v}" for k, v in plan["options"].items() if k not in ("progress", "n_jobs")
    )
    then = "".join(f"; fit.{t}" for t in plan["then"])
    call = f"{plan['call']}({plan['formula']!a}, data, {options})"
    return f"data = {plan['library']}[{shown}]; fit = {call}{then}"


def _few(values: list[str]) -> str:
    text = ", ".join(values)
    return text if len(text) < 400 else f"{text[:400]} ... {len(values)} values"
