"""Other models of the selected terms: trees, a linear model, any scikit-learn estimator."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import numpy as np

from treeselect.algorithms.method import named_model
from treeselect.arguments.checks import check_choice
from treeselect.designs.linear import (
    WAYS_OUT,
    LinearCoding,
    MissingRule,
    gaps_of,
    knots_words,
    read_splines,
    spline_texts,
    warn_of_gaps,
)
from treeselect.designs.modeldata import ModelData, data_fingerprint
from treeselect.designs.preparing import shown_names
from treeselect.designs.problem import FinalModel
from treeselect.designs.response import check_ordered
from treeselect.engine.arrays import BoolArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.models.linear import coefficients, tests
from treeselect.models.linear.coefficients import robust_note
from treeselect.models.linear.data import FIRTH, ORDINAL, LinearData
from treeselect.models.linear.fit import ONLY_FOR, LinearFit
from treeselect.models.linear.regression_table import response_words
from treeselect.models.linear.statistics import fit_facts, fit_statistics
from treeselect.models.model import baseline_of
from treeselect.printing import SummaryContent
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import with_groups
from treeselect.results.linear_model import UNAFFECTED, GlmFit
from treeselect.results.linear_predictor import SELECTED_HERE, linear_predictor
from treeselect.running.machine import memory_errors, warn
from treeselect.running.parallel import workers_for

# --- other models of the selected terms --------------------------------------------------------

_PREDICTS = "The final model was refitted:"

LINEAR = ("glm", "gam", *ONLY_FOR)
"""Linear models of the selected terms."""

MODELS = (*get_args(FinalModel), *ONLY_FOR)
"""Models of the selected terms by name."""

_GAM_DF = 3
"""Degrees of freedom of the splines of a generalised additive model."""


def refit(result: Fit, model: Any, missing: MissingRule = "drop", splines: Any = None) -> Any:
    """See :meth:`SelectionResult.refit`."""
    result.design.check_data()
    data, _ = with_groups(result.design, result.choice.folds, None, result.source)
    check_choice("missing", missing, get_args(MissingRule))
    coding = LinearCoding(missing)
    if isinstance(model, str) and model in LINEAR:
        _check_family(model, data)
        said = f'refit("{model}"'
        said += "" if coding.missing == "drop" else f', missing="{coding.missing}"'
        if splines is not None:
            splines = read_splines(splines, data, result.selected)
            said += f", splines={json.dumps(splines, ensure_ascii=False)}"
        used = (_GAM_DF if model == "gam" else 1) if splines is None else splines
        distribution = model if model in ONLY_FOR else ""
        coding = dataclasses.replace(coding, splines=used, distribution=distribution)
        return refit_glm(result, data, coding, f"{said})")
    if coding.missing != "drop" or splines is not None:
        name = "missing" if coding.missing != "drop" else "splines"
        raise OptionError(
            f'`{name}` must be left out unless the model is linear, such as "glm".\n'
            "  Found: another model, which needs no rules for missing values or bends."
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
            needed, "ordered classes, three or more"
        )
        others = response.classes and needed in {"binomial", "multinomial"}  # in number
        asked = needed.replace("multinomial", "ordinal")
        way = 'Use `refit("glm")`' if others else f'Select with `family="{asked}"`'
        found = quoted(response.family.name)
        raise OptionError(f'`model="{model}"` needs {what}.\n  Found: the family {found}. {way}.')
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
    # Stored effects belong to the replaced model.
    found = dataclasses.replace(
        result, design=dataclasses.replace(result.design, model=data.model), model=fitted,
        effect_record=None, baseline=baseline_of(data.problem, data.weight, fitted),
    )  # fmt: skip
    if found.final == result.final:
        return found
    # The score on other rows, and what was said of the model, do so, too.
    kept = [n for n in result.notes if n != result.model.note and not n.startswith(_PREDICTS)]
    notes = (*kept, f"{_PREDICTS} {fitted.description}.")
    return dataclasses.replace(found, notes=notes, held_out=None)


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


# --- the linear model, and what its summary says below the table ----------------------------------

NOT_VALID = (
    f"{SELECTED_HERE} Use `inference()`, which selects on one part of the rows and fits on the"
    " other."
)

_SPLINES = (
    "Numbers with knots have restricted cubic splines (Harrell 2015); their rows compare two"
    " values, the quartiles unless these are equal. `.tidy()` has all coefficients, `.drop1()`"
    " tests of non-linearity."
)

_STRAIGHT = "No selected term has a spline: none is a number with 8 or more well spread values."


def refit_glm(result: Fit, data: ModelData, coding: LinearCoding, call: str) -> GlmFit:
    """Fit the linear model of a selection to all complete cases, or to all rows."""
    if coding.missing == "drop":
        warn_of_gaps(data, result.selected, call, WAYS_OUT)
    full, left_out, fit = tests.fit_terms(data, result.selected, coding)
    if fit.problems:
        warn(" ".join(fit.problems))
    n_used, are_copies = full.row_weights.n_observations, data.row_weights.are_copies
    statistics = fit_statistics(fit, are_copies=are_copies)
    table, shown = coefficients.coefficient_table(fit), coefficients.readable(fit, full)
    rows = coefficients.coefficient_table(shown)
    printed = coefficients.in_print(data, rows)
    splines = full.splines
    groups_name = result.choice.folds.groups_name
    errors = coefficients.error_words(groups_name, [fit]) if fit.n_groups else ""
    content = SummaryContent(
        title=f"{'Additive' if splines else 'Linear'} model of the selected terms",
        facts=(
            ("Call", f"{result.call.text}.{call}"),
            ("Formula", result.formula),
            ("Model", fit.model),
            ("Response", response_words(data, fit.family)),
            *_ordinal_facts(data, fit),
            *([("Knots", knots_words(splines, shown_names(data)))] if splines else []),
            ("Rows used", f"{n_used:,}"),
            ("Rows dropped", coefficients.dropped_words(full.n_dropped)),
            *data.weights_facts,
            *fit_facts(fit, statistics),
            *([("Std. errors", errors)] if errors else []),
            ("Seed", str(result.seed)),  # the selection can't be repeated from its call alone
        ),
        columns=coefficients.table_head(fit, 0.95),
        rows=(),
        notes=(
            *([NOT_VALID if result.is_chosen else UNAFFECTED] if result.selected else []),
            *group_notes(groups_name, data, [fit]),
            *fit.problems,
            *([_SPLINES] if splines else [_STRAIGHT] if coding.splines != 1 else []),
            *coefficients.ratio_notes(shown, printed),
            *coefficients.few_events_notes([fit]),
            *_family_notes(fit, data),
            *coefficients.left_out_note(left_out, fit),
            *weight_notes(data, fit),
            *_coding_notes(data, full, result.selected, coding),
            "`.predict(new, se=True)` predicts new data, with intervals.",
        ),
    )
    return GlmFit(
        result=fit.result,
        n_used=n_used,
        n_dropped=full.n_dropped,
        left_out=left_out,
        content=content,
        table=table,
        library=data.library,
        ratio=fit.ratio,
        response=data.response.name,
        formula=data.spec.formula.text_of(result.selected, spline_texts(data, splines)),
        statistics=statistics,
        labels={a: b for a, b in zip(rows["column"], printed["column"], strict=True) if a != b},
        fitted=tests.fitted_terms(data, full, fit, content.facts[0][1], coding),
        predictor=linear_predictor(data, full, fit),
        fingerprint=data_fingerprint(data),
        seed=result.seed,
        references=coefficients.reference_levels(data, full),
        shown=rows,
    )


def group_notes(name: str | bool, data: ModelData, fits: Sequence[LinearFit]) -> tuple[str, ...]:
    """What is assumed of rows of the same cluster."""
    if not name or data.row_weights.is_sample:
        return ()
    if all(fit.n_groups is not None for fit in fits):
        return (robust_note(fits),)
    of = f"the same {quoted(name)}" if isinstance(name, str) else "one cluster"
    return (
        f"Standard errors treat rows of {of} as independent and are too small if they are not.",
    )


def _family_notes(fit: LinearFit, data: ModelData) -> Iterator[str]:
    if fit.is_quasi:
        yield (
            "Counts vary more than chance allows: standard errors are multiplied by the root of the"
            ' dispersion. `refit("negative-binomial")` lets the variance grow with the squared'
            " mean."
        )
    if fit.family == FIRTH:
        yield (
            "Firth's penalty keeps estimates finite where terms separate the classes. Tests and"
            " intervals are best those of the penalised likelihood, `.drop1()` and `.confint()`"
            " (Heinze and Schemper 2002); those of the table are Wald's."
        )
    if fit.family == "binomial" and fit.problems and data.row_weights.error_groups is None:
        yield '`refit("firth")` keeps the estimates finite, by a penalised likelihood.'
    if fit.family == ORDINAL:
        how = ": compare AIC" * data.row_weights.are_copies
        yield (
            'Odds ratios are of a higher class, at each threshold alike. `family="multinomial"` has'
            f" coefficients of its own for each class{how}."
        )


def _ordinal_facts(data: ModelData, fit: LinearFit) -> list[tuple[str, str]]:
    """The order of the classes, and the thresholds between them."""
    if fit.family != ORDINAL:
        return []
    names = [str(c) for c in data.response.classes]
    cuts = zip(names, names[1:], fit.result.thresholds, strict=False)
    return [
        ("Classes", " < ".join(names)),
        ("Thresholds", ", ".join(f"{a}|{b} {at:.4g}" for a, b, at in cuts)),
    ]


def weight_notes(data: ModelData, fit: LinearFit) -> Iterator[str]:
    """How case weights and an offset are used."""
    weights = data.row_weights
    if fit.n_events is not None and not weights.are_equal:
        yield (
            "Case weights multiply rows at risk and events, as in R's `coxph`; an event of weight 2"
            " is one event, not two tied ones."
            + ("" if weights.are_copies else " They are divided by their mean.")
        )
    elif weights.is_sample:
        yield "Case weights are relative: divided by their mean."
    elif not weights.are_copies:
        yield "Case weights are relative: divided by their mean (statsmodels: var_weights)."
    elif (data.weight > 1).any():
        yield "Case weights are frequencies: each row counts as so many rows."
    if weights.is_sample:
        units = "rows" if fit.n_groups is None else f"{fit.n_groups:,} clusters"
        yield (
            f"Standard errors are robust (linearised, over {units}), as in R's `survey`; strata and"
            " finite populations are not taken into account."
        )
    if data.offset is not None:
        squares = fit.model.startswith(("OLS", "WLS"))
        part = "subtracted from the response" if squares else "part of the linear predictor"
        yield f"The offset is {part}."


def _coding_notes(
    data: ModelData, full: LinearData, terms: Sequence[str], coding: LinearCoding
) -> Iterator[str]:
    """What is done with missing values, if there are any."""
    if counts := gaps_of(data, terms).counts:
        names = shown_names(data)
        said = ", ".join(f"{names.get(name, name)} {n:,}" for name, n in counts)
        how = WAYS_OUT
        if coding.missing == "indicator":
            assert full.columns is not None
            how = full.columns.words
        yield f"Missing values: {said}. {how}".strip()
