"""From a record of a fit to the fit again.

The types of its values are known. Checked here is what compiled code relies on, whatever is in a
file: shapes, and that trees, codes and numbers of units stay within them. A file that was forged
may hold nonsense beyond that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from treeselect.algorithms.registry import method_of_record
from treeselect.algorithms.task import Step
from treeselect.coding import plain
from treeselect.designs.columns import FactorSpec, TermSpec
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.families import Family, family_of
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import read_labels
from treeselect.designs.problem import CodedColumns
from treeselect.designs.response import Response
from treeselect.designs.scoring import with_lost_scoring, with_scoring
from treeselect.designs.survival import are_times, described_follow_up
from treeselect.designs.units import Units
from treeselect.designs.weights import LARGEST_WEIGHT, RowWeights, no_weights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import FREE, MAX_BINS, bin_columns
from treeselect.engine.tree.nodes import LEAF, Trees
from treeselect.formula import parse_formula
from treeselect.formulas.terms import ParsedFormula
from treeselect.frames.values import Labels, Numbers, to_series
from treeselect.modelfile.saved import (
    SavedArguments,
    SavedChoice,
    SavedColumn,
    SavedDesign,
    SavedFit,
    SavedForest,
    SavedModel,
    SavedPath,
    SavedResponse,
    SavedRows,
    SavedStability,
    alike,
)
from treeselect.models.forest import ForestModel
from treeselect.models.importing import ImportedBins
from treeselect.models.linear.model import LinearModel
from treeselect.models.model import BoostedModel, TreeModel, WeightedForest
from treeselect.models.probing import n_outputs_of
from treeselect.models.stacked import StackedModel
from treeselect.resampling.choosing import Choice
from treeselect.resampling.fit import Asked, Fit
from treeselect.resampling.folds import Folds
from treeselect.resampling.stability import Stability

if TYPE_CHECKING:
    import pandas as pd

MOST_LEARNED = 2**15
"""Most bytes of what a factor's transforms learned: a million knots would exhaust the memory."""

_MOST_BYTES = 2**22
"""Most bytes of an argument, or of a method's options."""


def check(what: str, *hold: bool | np.bool_) -> None:
    """Raise a ValueError unless all conditions hold."""
    if not all(hold):
        raise ValueError(f"inconsistent content: {what}")


def restored(saved: SavedFit, *, trusted: bool) -> Fit:
    """The fit of a record; a FormulaError if `trusted` is needed, many if it is damaged."""
    data = data_of(saved.design, trusted)
    coded, family, units = data.arrays, data.response.family, data.spec.units
    steps = _steps(saved.path, len(units.names))
    subforest = None if saved.subforest is None else _forest(saved.subforest, coded, family)
    on_link = data.offset is not None or family.has_times
    model: TreeModel | None = subforest
    if saved.model is not None:
        model = _model(saved.model, coded, family, on_link)
    if model is None:
        raise ValueError("there is no model")
    own = np.flatnonzero(model.groups[coded.groups.ids])
    known = saved.imputer is None or saved.imputer.holds([coded.n_levels[j] for j in own])
    check("the imputer", known, (saved.imputer is None) == (data.missing != "impute"))
    model = dataclasses.replace(model, imputer=saved.imputer)
    check("the model and the path", np.array_equal(model.groups, steps[-1].selected))
    return alike(
        Fit,
        saved,
        design=data,
        chosen_method=method_of_record(*plain(saved.method, _MOST_BYTES)),
        steps=steps[:-1],
        step=dataclasses.replace(steps[-1], ensemble=subforest),
        model=model,
        n_jobs=None,
        progress=None,
        resampled=None if saved.resampled is None else _stability(saved.resampled, units),
        choice=_choice(saved.choice, saved.design.data),
        asked=None if saved.asked is None else _asked(saved.asked),
    )


# --- the data and how they were encoded ----------------------------------------------------------


def data_of(saved: SavedDesign, trusted: bool) -> ModelData:
    """The encoded data, or how they were encoded."""
    import pandas as pd

    spec = _spec(saved, trusted)
    data = alike(
        ModelData,
        saved,
        arrays=_coded(saved, spec),
        spec=spec,
        response=_response(saved.response, spec.formula),
        row_weights=no_weights(0),
        offset=None if saved.offset_name is False else np.empty(0),
        sources=pd.DataFrame({name: [] for name in spec.schema}),
        labels=read_labels(saved.labels, {}, spec.formula, spec.formula.columns),
    )
    return data if saved.data is None else _with_rows(data, saved.data)


def _spec(saved: SavedDesign, trusted: bool) -> DesignSpec:
    text, columns, hidden = saved.formula
    parsed = parse_formula(text, list(columns), hidden=list(hidden), trusted=trusted)
    names = [term.name for term in parsed.terms]
    check("formula and terms", [own.name for own in saved.terms] == names)
    terms = []
    for term, record in zip(parsed.terms, saved.terms, strict=True):
        pairs = zip(term.factors, record.factors, strict=True)
        factors = tuple(alike(FactorSpec, own, factor=factor) for factor, own in pairs)
        terms.append(alike(TermSpec, record, term=term, factors=factors))
    variables = {name for term in parsed.terms for name in term.variables}
    state = {name: plain(learned, MOST_LEARNED) for name, learned in saved.state.items()}
    check("formula and schema", variables == set(saved.schema))
    _check_units(saved.units, names)
    return alike(DesignSpec, saved, formula=parsed, terms=tuple(terms), state=state)


def _check_units(units: Units, terms: list[str]) -> None:
    what, n = "units", len(units.names)
    check(what, n == len(units.terms) == len(units.keep) == len(units.keys), n > 0)
    check(what, len(set(units.names)) == n, sorted(units.term_order) == sorted(terms))
    check(what, *(len(item) > 0 and min(item) >= 0 and max(item) < n for item in units.items))


def _response(saved: SavedResponse, formula: ParsedFormula) -> Response:
    family, known = family_of(saved.family, len(saved.classes)), None
    check("formula and family", family.has_times == (formula.survival is not None))
    check("family and times", (saved.follow_up is not None) == family.has_times)
    if saved.follow_up is not None:
        known = described_follow_up(formula, **structs.asdict(saved.follow_up))
    if saved.scoring is not None:
        name, by_name = saved.scoring
        family = with_scoring(family, name, known) if by_name else with_lost_scoring(family, name)
    y = np.empty((0, 4) if family.has_times else 0)
    rows = np.empty(0, dtype=np.int64)
    return alike(Response, saved, y=y, rows=rows, family=family, follow_up=known)


def _coded(saved: SavedDesign, spec: DesignSpec) -> CodedColumns:
    """The coded columns without rows."""
    names, levels, edges = saved.column_names, saved.n_levels, saved.edges
    expected = [(name, n) for name in spec.units.term_order for n in spec[name].column_levels]
    single = {own.term.name for own in spec.terms if own.column_levels == (None,)}
    check("columns", list(zip(names, levels, strict=True)) == expected)
    check("monotone", set(saved.monotone) <= single)
    check(
        "bin edges", *((own is None) != (n is None) for n, own in zip(levels, edges, strict=True))
    )
    check("bin edges", *(own is None or _are_edges(own) for own in edges))
    columns = tuple(np.empty(0, dtype=np.float64 if n is None else np.uint8) for n in levels)
    groups = spec.units.feature_groups(names)
    binned = bin_columns(columns, edges, [n or 0 for n in levels], groups.ids)
    found = CodedColumns(names, columns, levels, edges, groups, binned, FREE)
    return found.constrained(saved.monotone)


def _are_edges(own: FloatArray) -> bool:
    is_list = own.ndim == 1 and len(own) < MAX_BINS
    return is_list and bool(np.isfinite(own).all() and (np.diff(own) > 0).all())


def _with_rows(data: ModelData, saved: SavedRows) -> ModelData:
    import pandas as pd

    y, weight, groups, offset, n = saved.y, saved.weight, saved.groups, saved.offset, len(saved.y)
    are_copies, response = weight.dtype == np.int64, data.response
    frame = pd.DataFrame({name: column_of(own, n) for name, own in saved.columns.items()})
    check("data and schema", list(frame) == list(data.spec.schema), n > 0)
    check("data", are_copies or weight.dtype == np.float64)
    check("data", saved.rows.shape == weight.shape == (n,))
    check("data", y.shape == (n, *response.y.shape[1:]), np.isfinite(y).all(), weight.any())
    check("data", not are_copies or weight.sum(dtype=np.float64) <= LARGEST_WEIGHT)
    check("data", ((weight >= 0) & (weight < np.inf)).all())
    if response.follow_up is not None:
        check("times to an event", are_times(y, weight, response.follow_up))
    elif most := response.family.n_classes:
        check("response and classes", ((y >= 0) & (y < most) & (y == np.floor(y))).all())
    check("offset", (offset is None) == (data.offset is None))
    check("offset", offset is None or (offset.shape == (n,) and np.isfinite(offset).all()))
    own = np.zeros(n) if groups is None else groups
    check("groups", own.shape == (n,), ((own >= 0) & (own < data.rows.total)).all())
    is_sample = not are_copies and data.weights_kind == "sampling"
    columns = data.spec.encode(frame)
    return dataclasses.replace(
        data,
        arrays=dataclasses.replace(data.arrays, columns=columns, binned=data.arrays.bin(columns)),
        response=dataclasses.replace(response, y=y, rows=saved.rows),
        row_weights=RowWeights(weight, bool(are_copies), groups, is_sample),
        offset=offset,
        sources=frame,
    )


def column_of(saved: SavedColumn, n_rows: int) -> pd.Series[Any]:
    """A column of so many rows."""
    values, levels = saved.values, saved.levels
    check("data", values.shape == (n_rows,))
    if levels is None:
        return to_series(alike(Numbers, saved, values=values.astype(np.float64)))
    check("data", values.dtype == np.int64, ((values >= -1) & (values < len(levels))).all())
    return to_series(alike(Labels, saved, codes=values.astype(np.int32)))


# --- the models ----------------------------------------------------------------------------------


def _model(saved: SavedModel, coded: CodedColumns, family: Family, on_link: bool) -> TreeModel:
    what, groups, trees = "the final model", saved.groups, saved.trees
    _check_shapes(what, saved, coded, family)
    if trees is not None:
        _check_trees(trees, family, _highest_codes(coded, groups))
    if saved.stored_as == "linear":
        check(what, trees is None, saved.n_additive == 0)
        return alike(LinearModel, saved, family=family)
    check(what, trees is not None or not groups.any(), not saved.parts, not saved.bends)
    check(what, 0 <= saved.n_additive <= (0 if trees is None else trees.n_trees))
    parts = groups, trees, saved.constant, saved.importance, family
    if saved.stored_as == "forest":
        return ForestModel(*parts, on_link)
    if saved.stored_as == "boost":
        return BoostedModel(*parts)
    return StackedModel(*parts, saved.n_additive)


def _forest(saved: SavedForest, coded: CodedColumns, family: Family) -> WeightedForest:
    what, bins, joined, shares = "the sparse forest", saved.bins, saved.trees, saved.shares
    groups, weights, gains, ids = saved.groups, saved.weights, saved.gains, coded.groups.ids
    _check_shapes(what, saved, coded, family)
    if bins is not None:
        _check_bins(bins, coded)
        ids = ids[bins.source]
    n_trees = 0 if joined is None else joined.n_trees
    check(what, weights.shape == shares.shape == (n_trees,), gains.shape == (n_trees, len(groups)))
    check(what, np.array_equal(saved.group_of, ids))
    trees: tuple[Trees, ...] = ()
    if joined is not None:
        highest = _highest_codes(coded) if bins is None else np.array([*map(len, bins.edges)])
        _check_trees(joined, family, highest)
        trees = tuple(joined.one(t) for t in range(n_trees))
    return alike(WeightedForest, saved, trees=trees, family=family)


def _check_shapes(
    what: str, saved: SavedModel | SavedForest, coded: CodedColumns, family: Family
) -> None:
    groups, importance, constant = saved.groups, saved.importance, saved.constant
    check(what, groups.shape == importance.shape == (len(coded.groups.names),))
    check(what, (importance >= 0).all(), np.isfinite(importance.sum()))
    has_odds = family.is_ordered and getattr(saved, "stored_as", "") == "linear"
    check(what, constant.shape == (n_outputs_of(family) - has_odds,))


def _highest_codes(coded: CodedColumns, groups: BoolArray | None = None) -> IntArray:
    """Highest split code of each column, for all columns or only those of some groups."""
    columns: Sequence[int] = range(len(coded.edges))
    if groups is not None:
        columns = np.flatnonzero(groups[coded.groups.ids]).tolist()
    parts = [(coded.edges[j], coded.n_levels[j]) for j in columns]
    return np.array([n or 0 if e is None else len(e) for e, n in parts], dtype=np.int64)


def _check_bins(bins: ImportedBins, coded: CodedColumns) -> None:
    """Bin thresholds of another library's trees, for numeric columns only."""
    what, source, n = "thresholds", bins.source, len(coded.column_names)
    check(what, bins.n_features == n, source.shape == (len(bins.edges),))
    check(what, (np.diff(source) >= 0).all(), np.array_equal(np.unique(source), np.arange(n)))
    check(what, *(size is None for size in coded.n_levels))
    for own in bins.edges:  # an infinite threshold, the last, separates known from missing values
        check(what, _are_edges(own[:-1]), own.ndim == 1, len(own) < MAX_BINS)
        check(what, (np.diff(own) > 0).all(), not np.isnan(own).any())


def _check_trees(trees: Trees, family: Family, highest: IntArray) -> None:
    """Every walk from a root must stay in its tree and terminate, by splits that refer to an
    existing edge or level of a column: kernels do not check this."""
    what, (own, start), n = "the trees", trees, len(trees.nodes.column)
    vectors = (own.column, own.code, own.missing_left, own.left, own.gain, own.weight)
    check(what, own.value.shape == (n, n_outputs_of(family)), *(a.shape == (n,) for a in vectors))
    check(what, start.ndim == 1, len(start) > 1)
    check(what, start[0] == 0, start[-1] == n, ((start >= 0) & (start <= n)).all())
    check(what, (np.diff(start) > 0).all())  # after the limits, as differences may wrap round
    check(what, ((own.column >= LEAF) & (own.column < len(highest))).all())
    tree = np.repeat(np.arange(len(start) - 1), np.diff(start))
    inner = own.column != LEAF
    at, left, code = (np.arange(n) - start[tree])[inner], own.left[inner], own.code[inner]
    check(what, (left > at).all(), (left < (np.diff(start)[tree][inner] - 1)).all())
    check(what, (code >= np.where(own.missing_left[inner], 0, 1)).all())
    check(what, (code <= highest[own.column[inner]]).all())


# --- the selection -------------------------------------------------------------------------------


def _steps(saved: SavedPath, n_groups: int) -> tuple[Step, ...]:
    what, n, tuning, score = "the path", len(saved.cut_from), saved.tuning, saved.train_score
    selected, found = saved.selected, np.zeros((n, n_groups))
    check(what, n > 1, len(saved.gap) == n, tuning.shape == score.shape == (n,))
    check(what, selected.shape == found.shape, saved.importance.shape == (selected.sum(),))
    check(what, ((saved.importance >= 0) & (saved.importance < 2)).all())  # shares, as rounded
    found[selected] = saved.importance
    columns = tuning.tolist(), selected, found, score.tolist(), saved.cut_from, saved.gap
    *steps, last = [
        Step(at, own, share, fitted, cut_from=cut, gap=gap, decisions=saved.decisions)
        for at, own, share, fitted, cut, gap in zip(*columns, strict=True)
    ]
    return (*steps, dataclasses.replace(last, trace=saved.trace))


def _choice(saved: SavedChoice, data: SavedRows | None) -> Choice:
    folds = saved.folds if data is None or data.folds is None else data.folds
    return Choice(saved.k, Folds(folds, saved.repeats, saved.groups_name))


def _asked(saved: SavedArguments) -> Asked:
    given = {name: plain(value, _MOST_BYTES) for name, value in saved.arguments.items()}
    method = plain(saved.method, _MOST_BYTES)
    if method is not None:
        given["method"] = method_of_record(*method)
    return Asked(given, None, saved.lost)


def _stability(saved: SavedStability, units: Units) -> Stability:
    selected, n = saved.selected, len(units.names)
    check("resamples", selected.ndim == 2, selected.shape[1:] == (n,), len(selected) > 1)
    check("resamples", saved.fitted.shape == saved.assessed.shape == (n,))
    return alike(Stability, saved, units=units.names)
