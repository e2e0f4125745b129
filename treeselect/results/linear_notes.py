"""What the summary of a linear model says below its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from treeselect.designs.linear import WAYS_OUT, LinearCoding, coded_words, gaps_of
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import shown_names
from treeselect.errors import quoted
from treeselect.models.linear.coefficients import robust_note
from treeselect.models.linear.data import ORDINAL, LinearData
from treeselect.models.linear.fit import FIRTH, LinearFit
from treeselect.models.linear.ordinal import OrdinalFit


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


QUASI = (
    "Counts vary more than chance allows: standard errors are multiplied by the root of the"
    ' dispersion. `refit("negative-binomial")` lets the variance grow with the squared mean.',
)


def separation_notes(fit: LinearFit, family: str) -> tuple[str, ...]:
    """What to do where classes are separated, and how to test where it is done."""
    if family == FIRTH:
        return (
            "Firth's penalty keeps estimates finite where terms separate the classes. Tests and"
            " intervals are best those of the penalised likelihood, `.drop1()` and `.confint()`"
            " (Heinze and Schemper 2002); those of the table are Wald's.",
        )
    if family == "binomial" and fit.problems and fit.n_groups is None:
        return ('`refit("firth")` keeps the estimates finite, by a penalised likelihood.',)
    return ()


def ordinal_facts(data: ModelData, fit: LinearFit) -> list[tuple[str, str]]:
    """The order of the classes, and the thresholds between them."""
    if not isinstance(fit.result, OrdinalFit):
        return []
    names = [str(c) for c in data.response.classes]
    cuts = zip(names, names[1:], fit.result.thresholds, strict=False)
    return [
        ("Classes", " < ".join(names)),
        ("Thresholds", ", ".join(f"{a}|{b} {at:.4g}" for a, b, at in cuts)),
    ]


def higher_class_note(family: str, *, has_aic: bool) -> tuple[str, ...]:
    """What the ratios of ordered classes are of."""
    if family != ORDINAL:
        return ()
    return (
        "Odds ratios are of a higher class, at each threshold alike. A multinomial model has"
        f" coefficients of its own for each class{': compare AIC' if has_aic else ''}.",
    )


def spline_notes(splines: Mapping[str, Any]) -> tuple[str, ...]:
    """How to read a table of splines."""
    if not splines:
        return ()
    return (
        "Numbers with knots have restricted cubic splines (Harrell 2015); their rows compare two"
        " values, the quartiles unless these are equal. `.tidy()` has all coefficients, `.drop1()`"
        " tests of non-linearity.",
    )


def weight_notes(data: ModelData, fit: LinearFit) -> tuple[str, ...]:
    notes = []
    of_events = fit.n_events is not None
    if of_events and not data.row_weights.are_equal:
        notes.append(
            "Case weights multiply rows at risk and events, as in R's `coxph`; an event of weight 2"
            " is one event, not two tied ones."
            + ("" if data.row_weights.are_copies else " They are divided by their mean.")
        )
    elif data.row_weights.is_sample:
        notes.append("Case weights are relative: divided by their mean.")
    elif not data.row_weights.are_copies:
        notes.append("Case weights are relative: divided by their mean (statsmodels: var_weights).")
    elif (data.weight > 1).any():
        notes.append("Case weights are frequencies: each row counts as so many rows.")
    if data.row_weights.is_sample:
        units = "rows" if fit.n_groups is None else f"{fit.n_groups:,} clusters"
        notes.append(
            f"Standard errors are robust (linearised, over {units}), as in R's `survey`; strata and"
            " finite populations are not taken into account."
        )
    if data.offset is not None:
        least_squares = fit.model.startswith(("OLS", "WLS"))
        notes.append(
            "The offset is subtracted from the response."
            if least_squares
            else "The offset is part of the linear predictor."
        )
    return tuple(notes)


# --- what a linear model does with missing values and ordered factors, in sentences ------------


def coding_notes(
    data: ModelData, full: LinearData, terms: Sequence[str], coding: LinearCoding
) -> tuple[str, ...]:
    """Notes on missing values and ordered factors, if there are any."""
    gaps, notes = gaps_of(data, terms), []
    if gaps.counts:
        labels = shown_names(data)
        counts = ", ".join(f"{labels.get(name, name)} {n:,}" for name, n in gaps.counts)
        how = WAYS_OUT
        if coding.missing == "indicator":
            assert full.columns is not None
            how = full.columns.words
        notes.append(f"Missing values: {counts}. {how}".strip())
    return (*notes, *coded_words(data.sources, data.spec.terms, terms, coding))
