"""A linear model in a file of its own: its numbers, texts and coding, without the data.

How formulaic codes the terms is not stored: a few rows that show all levels, and the quartiles of
numbers, let it code them again, with what the transforms had learned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from msgspec import Raw, Struct

from treeselect.coding import plain, raw
from treeselect.designs.evaluation import term_matrix
from treeselect.designs.linear import Filling, LinearColumns
from treeselect.designs.modeldata import ModelData
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray
from treeselect.engine.survival.curves import Baseline
from treeselect.errors import ModelFileError, said_by
from treeselect.formulas.terms import Column, Transform
from treeselect.frames.values import Labels, read_column
from treeselect.modelfile.restored import (
    MOST_LEARNED,
    check,
    check_baseline,
    column_of,
    data_of,
    fits,
)
from treeselect.modelfile.saved import Level, SavedColumn, SavedDesign, alike, saved_design
from treeselect.models.linear.coefficients import Reference
from treeselect.models.linear.data import ORDINAL
from treeselect.models.linear.fit import ONLY_FOR
from treeselect.models.linear.rule import LinearRule
from treeselect.printing import SummaryContent
from treeselect.results.linear_predictor import LinearPredictor

_NUMBERS = ("estimate", "std_error", "statistic", "p_value", "ci_low", "ci_high")


class SavedTable(Struct, frozen=True):
    """A table of coefficients."""

    term: tuple[str, ...]
    column: tuple[str, ...]
    numbers: FloatArray  # (n_rows, 6)


class SavedLinear(Struct, frozen=True):
    """See ``GlmFit``, ``LinearPredictor``, ``LinearColumns``, ``Filling`` and ``TermColumns``."""

    design: SavedDesign
    content: SummaryContent
    table: SavedTable
    shown: SavedTable
    n_used: int
    n_dropped: int
    left_out: tuple[str, ...]
    ratio: str
    response: str
    formula: str
    statistics: dict[str, float]
    labels: dict[str, str]
    references: dict[str, Reference]
    fingerprint: str | None
    seed: int
    terms: tuple[str, ...]
    names: tuple[str, ...]  # of all columns
    example: dict[str, SavedColumn]
    levels: dict[str, tuple[Level, ...]]
    values: dict[str, Level]
    term_of: dict[str, str]
    splines: dict[str, FloatArray]
    state: dict[str, Raw]
    indicators: tuple[tuple[str, int], ...]
    chosen: BoolArray
    rule: LinearRule
    baseline: Baseline | None


# --- to a record ---------------------------------------------------------------------------------


def saved_linear(found: Any) -> SavedLinear:
    """The record of a ``GlmFit``; a ModelFileError if its columns can't be made of it."""
    own: LinearPredictor = found.predictor
    if not own.design.has_data:
        raise ModelFileError(
            "Can't save this linear model again: it was loaded from a file.\n  Copy that file."
        )
    columns = own.columns
    made, filling = columns.columns, columns.filling
    record = alike(
        SavedLinear,
        found,
        **{name: getattr(filling, name) for name in ("levels", "values", "term_of")},
        design=saved_design(dataclasses.replace(own.design, model=None)),
        table=_saved_table(found.table),
        shown=_saved_table(found.shown),
        terms=columns.terms,
        names=_names(columns),
        example=_example(own.design, columns),
        splines=made.splines,
        state={name: raw(learned) for name, learned in made.state.items()},
        indicators=columns.indicators,
        chosen=own.chosen,
        rule=own.rule,
        baseline=own.baseline,
    )
    try:
        again, rows = linear_parts(record, trusted=True)["predictor"].columns, _frame(record)
        same = np.array_equal(again.columns.again(rows), made.again(rows), equal_nan=True)
        check("columns", same)
    except Exception as error:  # whatever it is, the file could not be read again
        raise ModelFileError(
            "Can't save this linear model: its columns can't be made again without the data.\n"
            f"  Found: {said_by(error)}. Save the selection with `include_data=True`, and refit."
        ) from error
    return record


def _saved_table(table: pd.DataFrame) -> SavedTable:
    numbers = table[list(_NUMBERS)].to_numpy(dtype=np.float64)
    return SavedTable(tuple(map(str, table["term"])), tuple(map(str, table["column"])), numbers)


def _names(columns: LinearColumns) -> tuple[str, ...]:
    made = columns.columns.made
    names = ["Intercept"] if made is None else [str(name) for name in made.matrix.columns]
    for name, place in columns.indicators:
        names.insert(place, f"missing({name})")
    return tuple(names)


def _example(design: ModelData, columns: LinearColumns) -> dict[str, SavedColumn]:
    """Rows with all levels that the columns have, and the quartiles of numbers, or all numbers that
    are the levels of ``C(x)``."""
    names = list(dict.fromkeys(v for t in columns.terms for v in design.spec[t].term.variables))
    nodes = [f.node for t in columns.terms for f in design.spec[t].term.factors]
    filling, made = columns.filling, columns.columns.made
    frame = filling.fill(design.sources.loc[design.row_weights.used, names])
    read = {str(name): read_column(own, str(name)) for name, own in frame.dropna().items()}
    coded = {} if made is None else made.levels
    values: dict[str, AnyArray] = {}
    levels: dict[str, tuple[Level, ...]] = {}
    for name, own in read.items():
        if isinstance(own, Labels):
            there = tuple(own.levels[code] for code in np.unique(own.codes))
            levels[name] = tuple(coded.get(name, there))
            values[name] = np.arange(len(levels[name]))
        else:
            quartiles = np.quantile(own.values, [0.25, 0.5, 0.75], method="lower")
            values[name] = np.array([0.0, 1.0]) if own.is_bool else quartiles
            coded_here = [n for n in nodes if isinstance(n, Transform) and n.function == "C"]
            if any(n.argument == Column(name) and n.option("levels") is None for n in coded_here):
                values[name] = np.unique(own.values)
    n = max([1, *map(len, values.values())])
    return {
        name: alike(SavedColumn, own, values=np.resize(values[name], n), levels=levels.get(name))
        for name, own in read.items()
    }


# --- and back ------------------------------------------------------------------------------------


@np.errstate(all="ignore")  # of forged numbers: they are checked
def linear_parts(saved: SavedLinear, *, trusted: bool) -> dict[str, Any]:
    """What a ``GlmFit`` is made of; many kinds of errors if the record is damaged."""
    design = data_of(saved.design, trusted)
    specs = [design.spec[name] for name in saved.terms]
    check("terms", len(set(saved.terms)) == len(specs))
    filling = Filling(saved.levels, saved.values, saved.term_of)
    factors = {f.name: f for spec in specs for f in spec.term.factors if not f.is_plain}
    state = {name: plain(learned, MOST_LEARNED) for name, learned in saved.state.items()}
    check("transforms", set(state) == set(factors))
    check("transforms", *(fits(own, state[name]) for name, own in factors.items()))
    _check_coding(saved, specs)
    text, terms = design.spec.formula.text, [spec.term for spec in specs]
    _, made = term_matrix(text, _frame(saved), terms, saved.splines, state)
    columns = LinearColumns(design.spec, saved.terms, filling, made, saved.indicators)
    check("columns", _names(columns) == saved.names)
    _check_rule(saved, design)
    return {
        name: getattr(saved, name)
        for name in (
            "content", "n_used", "n_dropped", "left_out", "ratio", "response", "formula",
            "statistics", "labels", "references", "fingerprint", "seed",
        )
    } | {
        "result": None,
        "table": _table(saved.table),
        "shown": _table(saved.shown),
        "library": design.library,
        "predictor": LinearPredictor(design, columns, saved.chosen, saved.rule, saved.baseline),
    }  # fmt: skip


def _frame(saved: SavedLinear) -> pd.DataFrame:
    n = max((len(own.values) for own in saved.example.values()), default=1)
    columns = {name: column_of(own, n) for name, own in saved.example.items()}
    return pd.DataFrame(columns, range(n))


def _check_coding(saved: SavedLinear, specs: Sequence[Any]) -> None:
    """What is coded must fit the columns: levels of a file could fill the memory."""
    what, n = "columns", len(saved.names)
    variables = {v for spec in specs for v in spec.term.variables}
    check(what, set(saved.example) == variables, saved.chosen.shape == (n,), n > 0)
    check(what, {*saved.levels, *saved.values} <= variables, set(saved.term_of) == {*saved.values})
    check(what, *(len(own.levels or ()) <= n + 1 for own in saved.example.values()))
    check(what, *(0 <= place <= n for _, place in saved.indicators))
    check(what, {name for name, _ in saved.indicators} == {*saved.values})
    for own in saved.splines.values():
        check(what, own.ndim == 1 and len(own) > 2)
        check(what, bool(np.isfinite(own).all() and (np.diff(own) > 0).all()))
    for spec in specs:
        size = 1
        for factor in spec.term.factors:
            levels = (len(saved.example[name].levels or ()) for name in factor.variables)
            size *= max(max(levels, default=0) - 1, 1)
        check(what, size <= n)


def _check_rule(saved: SavedLinear, design: ModelData) -> None:
    what, rule, family = "coefficients", saved.rule, design.response.family
    n, n_others = int(saved.chosen.sum()), max(family.n_classes - 1, 1)
    more = n + n_others if rule.family == ORDINAL else n
    size = n * n_others if rule.family == "multinomial" else more
    check(what, family.name in (rule.family, ONLY_FOR.get(rule.family)))
    check(what, rule.estimate.shape == (size,), rule.covariance.shape == (size, size))
    check(what, rule.centre.shape == (n,), rule.df is None or rule.df > 0)
    check("the baseline hazard", (saved.baseline is None) != family.has_times)
    if saved.baseline is not None and design.response.follow_up is not None:
        check_baseline(saved.baseline, design.response.follow_up)
    content = saved.content
    check("the summary", *(len(row) == len(content.columns) for row in content.rows))


def _table(saved: SavedTable) -> pd.DataFrame:
    n = len(saved.term)
    check("the table", len(saved.column) == n, saved.numbers.shape == (n, len(_NUMBERS)))
    head = pd.DataFrame({"term": list(saved.term), "column": list(saved.column)})
    return head.assign(**dict(zip(_NUMBERS, saved.numbers.T, strict=True)))
