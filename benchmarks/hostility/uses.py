"""What is done with an answer, and what must then hold."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import treeselect
from hostility import columns as frames
from hostility.judging import Defect, check_page, check_refusal, check_text
from treeselect.errors import TreeselectError

Plan = dict[str, Any]

USES = (
    "predict(data)", "predict(data, 'link')", "predict(data, 'class')", "predict(new)",
    "predict(none)", "predict(few)", "predict(other)", "augment(data)", "tidy()", "glance()",
    "path", "summary()", "report(html)", "again()", "again(True)", "resample(2)",
    "resample(2, scheme='complementary')", "resample(2, seed=np.int64(3))", "refit('forest')",
    "refit('boosting')", "refit('glm')", "refit('gam')", "refit('negative-binomial')",
    "refit('firth')", "refit('ordinal')", "refit('gamma')",
    "refit(LinearRegression())", "inference()", "refit('glm').save(folder + '/linear')",
    "treeselect.load(refit('gam').save(folder + '/linear')).predict(data)",
    "refit('glm').regression_table(['univariable', 'all', 'selected'], per='sd')",
    "inference().regression_table().summary()", "performance(2, model=LinearRegression())",
    "performance(2, model=LogisticRegression(tol=0.1, max_iter=9999))",
    "report(folder + '/page.docx')", "summary().as_docx()", "inference(seed=1)", "performance(2)",
    "performance(2, model='glm')", "model.conditional_importance(2, repeats=1)",
    "model.conditional_importance(2, terms=TERM)",
    "model.conditional_importance(None, given='all')", "model.trees()", "model.nodes()",
    "model.rules()", "model.rules(2)", "search.importance_path()", "model.shape(TERM)",
    "model.interactions()", "data.neighbours()", "data.neighbours(NAME)",
    "data.neighbours(TERM, most=1)", "data.describe()", "data.describe(NAME)", "selected",
    "formula", "variables", "stability", "__repr__()", "predict(data, 'survival', times=[1, 50])",
    "predict(new, 'cumulative_hazard', times=2)", "model.risk_groups(2, folds=2)",
    "model.risk_groups(folds=2).summary()", "predict(data, interval='prediction')",
    "predict(data, 'quantile', quantiles=[0.1, 0.9])", "search.alternatives()",
    "resample(3).search.alternatives()", "resample(3).model.coefficient_stability()",
    "resample(2, effects=True).model.effects()", "resample(2, path=True)", "model.effects()",
    "search.exchanges()", "search.citation()", "search.citation().methods",
    "search.citation(fit.performance(2))", "search.checklist()", "search.history()",
    "search.learning_curve((0.5, 1.0), 2)", "plot()",
    "search.learning_curve((0.3, 0.5, 1.0), 2, repeats=5).rows_needed(VALUE)", "plot('path')",
    "plot('shape', term=TERM)", "search.notes", "search.scores", "search.steps", "model.importance",
    "model.sparse", "model.members()", "model.fitted", "data.design", "family", "search.method",
    "groups", "k", "search.seed", "search.held_out", "search.call", "search.step", "search.rule",
    "search.p_values", "with_data(data)", "performance(2).calibration(3)", "performance(2).roc()",
    "performance(2).auc()", "performance(2).confusion()",
    "performance(2).decision_curve(costs=(1, 4)).summary()", "performance(2).by(NAME)",
    "performance(2).by(NAME).plot()", "validate(2)", "validate(2).summary()",
    "validate(2).instability()", "validate(2).calibration(3)", "performance(2).predictions()",
    "performance(2).tidy()", "inference().tidy(exponentiate=True)", "refit('glm').anova()",
    "refit('glm').drop1()", "refit('glm').confint()", "refit('glm').predict(data, se=True)",
    "refit('glm').tidy(exponentiate=True, reference=True)", "refit('glm').glance()",
    "refit('glm').summary(exponentiate=True)", "refit('forest').predict(data)",
    "report(html, performance=fit.performance(2))", "report(html, linear=fit.refit('glm'))",
    "report(html, digits=2)", "summary(digits=6, notes=False)", "model.shape(TERM, TERM)",
    "update(k=1)", "update('. ~ . - ' + TERM)", "update(seed=2, data=data)",
    "treeselect.compare([fit, fit], folds=2)",
    "treeselect.compare([fit, fit.update(seed=2)], folds=2, seed=1)",
    "treeselect.select(formula, [data, data], method='fcbf', k=1, seed=1)",
    "treeselect.select(formula, [data, new], method='fcbf', k=1, seed=1, resamples=2)",
    "treeselect.TreeSelector('fcbf', 1, formula=formula).fit(data).get_feature_names_out()",
)  # fmt: skip
"""What is done with an answer."""

MORE = (
    "report(html)", "save(html)", "treeselect.load(html)", "treeselect.read(html)",
    "treeselect.sample_size(9, 'gaussian', r2=0.5)", "treeselect.sample_size(9, 'binomial')",
    "treeselect.sample_size(9, 'cox', rate=1, follow_up=1)", "refit('glm').diagnostics(folds=2)",
    "refit('glm').diagnostics(folds=2).plot()", "refit('gam').plot()", "validate(2).by(NAME)",
    "treeselect.TreeSelector('fcbf', 1, formula=formula)",
    "treeselect.TreeSelector('fcbf', 1, formula=formula).fit(data)",
    "treeselect.select(formula, [data] * 2, method='fcbf', k=1).with_share(0.5)",
)  # fmt: skip
"""What is done only with arguments that nobody expects."""

COMPARED = (
    "tidy()", "glance()", "summary()", "curves()", "differences()", "terms()", "report(html)",
    "best", "__repr__()", "references()", "ranked_table()", "partial", "differences(k=1)", "plot()",
    "summary(digits=2)", "differences(VALUE)", "differences(k=VALUE)", "plot(VALUE)",
    "report(html, sections=VALUE)", "report(html, digits=VALUE)",
)  # fmt: skip


def hardened(use: str, at: float) -> str:
    """A use with a value that nobody expects for one of its arguments; unchanged if it has none."""
    call = ast.parse(written(use), mode="eval").body
    if not isinstance(call, ast.Call) or "again" in use or "get_feature" in use:  # scikit-learn's
        return use
    given = ", ".join(map(ast.unparse, [call.func, *call.args, *call.keywords]))
    return f"hard({at:.3f}, VALUE, {given})"


def hard(at: float, value: Any, call: Any, *given: Any, **options: Any) -> Any:
    """A call with another value of an argument; processes are another program's business."""
    bound = inspect.signature(call).bind(*given, **options)
    kinds = {name: parameter.kind.name for name, parameter in bound.signature.parameters.items()}
    names = [name for name, kind in kinds.items() if name != "n_jobs" and "VAR_" not in kind]
    names += [name for name in options if name not in names]
    if names:
        name = names[min(int(at * len(names)), len(names) - 1)]
        (bound.arguments if name in kinds else bound.kwargs)[name] = value
    return call(*bound.args, **bound.kwargs)


class _Refused(Exception):
    """What is done with the answer can't be made of this plan."""


def use(found: Any, then: str, frame: Any, plan: Plan, space: dict[str, Any]) -> None:
    """One use of the answer; an error of ours is a refusal of this use alone."""
    try:
        answer = _evaluated(found, then, plan, space)
    except TreeselectError as error:
        check_refusal(error, then)
        return
    except _Refused:
        return
    if "plot(" in then:
        plt.close("all")
    if then.startswith("predict(data") and "times=" not in then:  # beyond the last time: unknown
        check_predicted(answer, space["n"])
    if then in ("predict(none)", "predict(few)", "predict(new)"):
        check_predicted(
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
        **space, "fit": found, "formula": plan["formula"], "hard": hard,
        "TERM": found.selected[0] if getattr(found, "selected", ()) else "x",
    }  # fmt: skip
    if re.search(r"\b(new|none|few|other)\b", then):
        space |= _news(plan, space)
    try:
        return eval(compile(written(then), "then", "eval"), space)
    except (NameError, SyntaxError) as error:
        raise _Refused(str(error)) from None


def written(then: str) -> str:
    """A use as Python: a method or an attribute of the answer, or a function of the package."""
    return then if then.startswith(("treeselect.", "hard(")) else f"fit.{then}"


def _again(fit: Any, then: str, space: dict[str, Any]) -> Any:
    """Saved and loaded, it predicts the same."""
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
    rows = {"new": slice(None, None, -1), "none": slice(0), "few": slice(2)}
    others = {name: frames.with_rows(made, some) for name, some in rows.items()}
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


def _other_type(dtype: str, library: str) -> str:
    if library != "pandas":
        return dtype
    others = {"int64": "float64", "category": "object:text", "object:text": "category"}
    return others.get(dtype, "object")


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


def check_predicted(fitted: Any, n: int) -> None:
    if len(fitted) != n:
        raise Defect(f"predict() lost rows: {len(fitted)} of {n}")
    values = np.asarray(fitted)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise Defect(f"predict() is not finite: {values[~np.isfinite(values)][:3]}")
