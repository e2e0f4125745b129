"""Other models of the selected terms: trees, a linear model, any scikit-learn estimator."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from treeselect.algorithms.method import named_model
from treeselect.arguments.checks import check_choice, read_seed
from treeselect.designs.linear import read_coding, read_splines
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import FinalModel
from treeselect.designs.response import check_ordered
from treeselect.engine.arrays import BoolArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.models.linear.data import ORDINAL
from treeselect.models.linear.fit import FIRTH, ONLY_FOR
from treeselect.models.model import baseline_of
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Splitter, in_own_groups
from treeselect.resampling.risk_groups import RiskGroups, group_by_risk
from treeselect.results.linear_model import refit_glm
from treeselect.running.machine import memory_errors
from treeselect.running.parallel import workers_for

# --- other models of the selected terms --------------------------------------------------------

_PREDICTS = "The final model was refitted:"
OF_PREVIOUS = " Scores belong to the previous model."

LINEAR = ("glm", "gam", *ONLY_FOR)
"""Linear models of the selected terms."""

MODELS = (*get_args(FinalModel), *ONLY_FOR)
"""Models of the selected terms by name."""

_GAM_DF = 3
"""Degrees of freedom of the splines of a generalised additive model."""


def refit(
    result: Fit,
    model: Any,
    missing: object = "drop",
    ordered: object = "treatment",
    splines: Any = None,
) -> Any:
    """See :meth:`SelectionResult.refit`."""
    result.design.check_data()
    data = in_own_groups(result.design, result.choice.folds, result.source)
    coding = read_coding(missing, ordered, data.sources, data.spec.terms)
    if isinstance(model, str) and model in LINEAR:
        _check_family(model, data)
        said = f'refit("{model}"{coding.arguments}'
        if splines is not None:
            splines = read_splines(splines, data, result.selected)
            said += f", splines={json.dumps(splines, ensure_ascii=False)}"
        used = (_GAM_DF if model == "gam" else 1) if splines is None else splines
        distribution = model if model in ONLY_FOR else ""
        coding = dataclasses.replace(coding, splines=used, distribution=distribution)
        return refit_glm(result, data, coding, f"{said})")
    if coding.arguments or splines is not None:
        name = "missing" if coding.missing != "drop" else "ordered"
        name = name if coding.arguments else "splines"
        raise OptionError(
            f'`{name}` must be left out unless the model is linear: "glm", "gam".\n'
            "  Found: another model, which needs no rules for missing values, order or bends."
        )
    if model is None:
        check_choice("model", model, MODELS)
    return _refit_final(result, model, data)


def _check_family(model: str, data: ModelData) -> None:
    """Raise an OptionError if a model is not for this response."""
    needed, response = ONLY_FOR.get(model), data.response
    family = "multinomial" if response.family.is_ordered else response.family.name
    if needed is not None and family != needed:
        what = {"poisson": "counts", "binomial": "two classes", "gaussian": "numbers"}.get(
            needed, "ordered classes"
        )
        raise OptionError(
            f'`model="{model}"` needs {what}.\n  Found: the family {quoted(response.family.name)}.'
            f' Select with `family="{needed}"`.'
        )
    if model == ORDINAL:
        check_ordered(
            response.name, response.classes, ordered=response.ordered, argument=f'model="{model}"'
        )
    if model == FIRTH and data.row_weights.error_groups is not None:
        raise OptionError(
            f'`model="{model}"` must be another model where rows belong together or are sampled:'
            ' its errors are not robust.\n  Found: `fold_groups`, or sampling weights. Use "glm".'
        )


@memory_errors()
def _refit_final(result: Fit, model: Any, data: ModelData) -> Fit:
    if data.row_weights.groups is None and result.choice.folds.groups_name is not False:
        raise OptionError(
            "`refit()` can't be done without the `fold_groups` of the fit, which are not"
            " in the file that it was loaded from.\n"
            "  Use `fit.with_data(data)` with their column, or save the fit with"
            " `include_data=True`."
        )
    data = data.with_model(model, MODELS)
    assert data.model is not None
    fitted = named_model(
        data.model,
        data.problem,
        data.row_weights,
        result.step.selected,
        seed=stream_seed(result.seed, "fit"),
        n_threads=workers_for(result.n_jobs).n_threads,
    )
    before = result.model.note  # about the model that is replaced
    notes = tuple(n for n in result.notes if n != before and not n.startswith(_PREDICTS))
    own = getattr(result.chosen_method, "refit", "forest")  # None is the sparse forest
    asked = result.asked.arguments.get("model") if result.asked is not None else None
    if model != (asked or own):
        notes += (f"{_PREDICTS} {fitted.description}.{OF_PREVIOUS}",)
    # Stored effects belong to the replaced model.
    return dataclasses.replace(
        result, design=dataclasses.replace(result.design, model=data.model), model=fitted,
        notes=notes, effect_record=None,
        baseline=baseline_of(data.problem, data.weight, fitted),
    )  # fmt: skip


_TREES_OF_LOOK, _ROWS_OF_LOOK = 20, 1_000
"""Trees and rows of a model for a look at another set."""


def at_set(fit: Fit, selected: BoolArray) -> tuple[Fit, str]:
    """The same with another set, for a look at it, and its model in words: of the kind of the
    fit's, a forest if that takes long, with few trees and on few rows."""
    design, resampled, weights = fit.design, fit.resampled, fit.design.row_weights
    of_rows = ""
    if len(weights.rows) > _ROWS_OF_LOOK:
        of_rows = f", fitted to {_ROWS_OF_LOOK:,} rows"
        rng = np.random.default_rng(stream_seed(fit.seed, "look"))
        weights = weights.only(np.sort(rng.choice(weights.rows, _ROWS_OF_LOOK, replace=False)))
    kind: Any = design.model or getattr(fit.model, "stored_as", "")
    model = named_model(
        kind if kind in ("stack", "glm", "gam") else "forest", design.problem, weights, selected,
        seed=stream_seed(fit.seed, "fit"), n_trees=_TREES_OF_LOOK,
    )  # fmt: skip
    found = dataclasses.replace(
        fit, design=dataclasses.replace(design, row_weights=weights),
        step=dataclasses.replace(fit.step, selected=selected), model=model, effect_record=None,
        resampled=None if resampled is None else dataclasses.replace(resampled, fitted=selected),
        baseline=baseline_of(design.problem, weights.values, model),
    )  # fmt: skip
    return found, model.description.replace("the selected", "these") + of_rows


# --- groups by predicted risk --------------------------------------------------------------------


def risk_groups_of(
    result: Fit,
    n_groups: int = 3,
    horizon: float | None = None,
    folds: int | Splitter | Sequence[int] = 10,
    *,
    fold_groups: str | Sequence[Any] | None = None,
    seed: int | None = None,
) -> RiskGroups:
    """See :meth:`SelectionResult.risk_groups`; figures show what it gives by default."""
    return group_by_risk(
        result,
        n_groups,
        horizon,
        folds,
        fold_groups=fold_groups,
        seed=result.seed if seed is None else read_seed(seed),
        workers=workers_for(result.n_jobs),
    )
