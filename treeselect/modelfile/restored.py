"""From a record of a fit to the fit again. The types of its values are known; that they fit
together is checked here, as a file may be hostile."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from msgspec import structs
from numpy.typing import NDArray

from treeselect.algorithms.registry import method_of_record
from treeselect.algorithms.task import MOST_RIVALS, WORDS, Decisions, Step, Trace
from treeselect.arguments.checks import AUTO, MOST_RESAMPLES, RULES, SCORE_RULES
from treeselect.coding import plain
from treeselect.designs.columns import FactorSpec, TermSpec
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.evaluation import learning
from treeselect.designs.families import Family, family_of
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import read_labels
from treeselect.designs.problem import CodedColumns
from treeselect.designs.response import Response
from treeselect.designs.row_sample import LEAST_ROWS
from treeselect.designs.scoring import with_lost_scoring, with_scoring
from treeselect.designs.survival import FollowUp, are_times, described_follow_up
from treeselect.designs.units import HIGHEST_PRICE, LOWEST_PRICE, Units
from treeselect.designs.weights import LARGEST_WEIGHT, RowWeights, no_weights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import FREE, MAX_BINS, bin_columns
from treeselect.engine.survival.curves import Baseline
from treeselect.engine.tree.nodes import LEAF, Trees
from treeselect.formula import parse_formula
from treeselect.formulas.terms import Code, Factor, ParsedFormula, nodes
from treeselect.frames.files import one_line
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
from treeselect.resampling.agreement import LEAST_ASSOCIATION
from treeselect.resampling.choosing import Choice
from treeselect.resampling.fit import (
    DIRECTIONS,
    LEAST_RESAMPLES,
    NONE,
    STEPS,
    Asked,
    EffectRecord,
    Fit,
)
from treeselect.resampling.folds import Folds
from treeselect.resampling.stability import Stability

_LARGEST = 1e72
"""Largest response; with larger numbers, computed values would not be finite."""

_WORST = _LARGEST**2
"""Largest score: a mean squared error."""

_NEAR = 1e-6
"""Largest deviation of a sum of shares from 1."""

MOST_LEARNED = 2**15
"""Most bytes of what a factor's transforms learned: a million knots would exhaust the memory."""

_MOST_BYTES = 2**22
"""Most bytes of an argument, or of a method's options."""

_MOST_JUDGED = 2**31
"""More sets than any search evaluates."""


def check(what: str, *hold: bool | np.bool_) -> None:
    """Raise a ValueError unless all conditions hold."""
    if not all(hold):
        raise ValueError(f"inconsistent content: {what}")


def _are_plain(*arrays: NDArray[Any]) -> bool:
    """Whether all numbers are finite and within the range of a model."""
    return all(bool((np.abs(array) <= _LARGEST).all()) for array in arrays)


def _are_shares(values: FloatArray) -> bool:
    """Whether numbers, or the numbers in each row, are shares that sum to 1, or all 0."""
    total = values.sum(axis=-1)
    near = (np.abs(total - 1) <= _NEAR) | (total == 0)
    return bool(((values >= 0) & (values <= 1 + _NEAR)).all() and near.all())


@np.errstate(all="ignore")  # of forged numbers: they are checked
def restored(saved: SavedFit, *, trusted: bool) -> Fit:
    """The fit of a record; a FormulaError if `trusted` is needed, many if it is damaged."""
    data = data_of(saved.design, trusted)
    coded, family, units = data.arrays, data.response.family, data.spec.units
    steps, follow_up = _steps(saved.path, len(units.names)), data.response.follow_up
    subforest = None if saved.subforest is None else _forest(saved.subforest, coded, family)
    on_link = data.offset is not None or family.has_times
    model: TreeModel | None = subforest
    if saved.model is not None:
        model = _model(saved.model, coded, family, on_link)
    if model is None:
        raise ValueError("there is no model")
    own = np.flatnonzero(model.groups[coded.groups.ids])
    imputer = saved.imputer and dataclasses.replace(saved.imputer, blocks=coded.blocks(own))
    known = imputer is None or imputer.is_sound
    check("the imputer", known, (imputer is None) == (data.missing != "impute"))
    model = dataclasses.replace(model, imputer=imputer)
    check("the model and the path", np.array_equal(model.groups, steps[-1].selected))
    what, k, p_values = "the choice of size", saved.choice.k, saved.p_values
    told = saved.scores is not None and not saved.scores.of_halves
    check(what, told == (k in SCORE_RULES), (p_values is not None) == (k == AUTO))
    if saved.scores is not None:
        scores, full, spared = saved.scores.scores, saved.scores.full, saved.scores.spared
        largest = max(step.size for step in steps)
        check("scores", scores.ndim == 2, len(scores) > 1, scores.shape[1:] > (largest,))
        known_sizes = (np.abs(scores) <= _WORST).all(axis=0) | np.isnan(scores).all(axis=0)
        check("scores", known_sizes.all(), spared is None or min(spared) > 0)
        is_full = full is None or (full.shape == (len(scores),) and (np.abs(full) <= _WORST).all())
        check("scores", is_full, 1 <= saved.scores.repeats <= len(scores))
    if p_values is not None:
        check(what, p_values.shape == (steps[-1].size + 1,))
        check(what, (np.isnan(p_values) | ((p_values >= 0) & (p_values <= 1))).all())
    check("the held-out score", saved.held_out is None or saved.held_out.n_rows > 0)
    check("the baseline hazard", (saved.baseline is None) == (follow_up is None))
    if saved.baseline is not None and follow_up is not None:
        check_baseline(saved.baseline, follow_up)
    found = alike(
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
        choice=_choice(saved.choice, saved.design.data, len(units.names)),
        asked=None if saved.asked is None else _asked(saved.asked),
    )
    if saved.effect_record is not None:
        n_resamples = 0 if found.resampled is None else found.resampled.n_resamples
        _check_effects(saved.effect_record, found.selected, n_outputs_of(family), n_resamples)
    return found


# --- the data and how they were encoded ----------------------------------------------------------


def data_of(saved: SavedDesign, trusted: bool) -> ModelData:
    """The encoded data, or how they were encoded."""
    spec, sample, labels = _spec(saved, trusted), saved.sample, saved.labels.values()
    check("labels", *(bool(label) and label == one_line(label) for label in labels))
    check("weights", saved.weights_kind is None or saved.weights is not False)
    if sample is not None:
        check("the sample of rows", sample.wanted >= LEAST_ROWS, sample.of >= 0, sample.seed >= 0)
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
        _check_term(terms[-1])
    used = {factor.name: factor for term in parsed.terms for factor in term.factors}
    variables = {name for term in parsed.terms for name in term.variables}
    state = {name: plain(learned, MOST_LEARNED) for name, learned in saved.state.items()}
    check("formula and schema", variables == set(saved.schema))
    check("formula and transforms", set(state) == set(used))
    check("formula and transforms", *(fits(own, state[name]) for name, own in used.items()))
    codes = [code for own in (saved.na.everywhere, *saved.na.by_column.values()) for code in own]
    check("missing values", *(isinstance(code, str) or math.isfinite(code) for code in codes))
    _check_units(saved.units, names)
    return alike(DesignSpec, saved, formula=parsed, terms=tuple(terms), state=state)


def _check_term(spec: TermSpec) -> None:
    labelled = [n for i in spec.order if (n := spec.factors[i].levels) is not None]
    what, combinations = "levels and combinations", list(spec.combinations or ())
    check(what, (spec.combinations is None) == (len(labelled) < 2))
    check(what, combinations == sorted(set(combinations)))
    for own in combinations:
        check(what, *(0 <= c < len(n) for c, n in zip(own, labelled, strict=True)))
    there, most = spec.n_occurring, spec.n_levels
    check("levels that occur", (there is None) == (most is None), 0 <= (there or 0) <= (most or 0))
    check("missing values", (spec.n_missing or 0) >= 0)


def fits(factor: Factor, learned: Any) -> bool:
    """Whether each transform has a state, without which new data would define it."""
    if not isinstance(learned, dict):
        return False
    found, texts = set(learned) - {"fitted", "orders"}, learning(factor)
    if any(not learned[text] and not text.startswith("poly(") for text in found):
        return False
    return not found or found == texts or any(isinstance(n, Code) for n in nodes(factor.node))


def _check_units(units: Units, terms: list[str]) -> None:
    what, n = "units", len(units.names)
    check(what, n == len(units.terms) == len(units.keep) == len(units.keys), n > 0)
    check(what, len(set(units.names)) == n, sorted(units.term_order) == sorted(terms))
    check(what, len(units.items) == len(units.item_costs))
    check(what, *(len(item) > 0 and min(item) >= 0 and max(item) < n for item in units.items))
    check(what, *(c == 0 or LOWEST_PRICE <= c <= HIGHEST_PRICE for c in units.item_costs))


def _response(saved: SavedResponse, formula: ParsedFormula) -> Response:
    family, known, n = family_of(saved.family, len(saved.classes)), None, len(saved.counts)
    check("formula and family", family.has_times == (formula.survival is not None))
    check("family and times", (saved.follow_up is not None) == family.has_times)
    check("classes and their rows", n in (0, len(saved.classes)) or (not saved.classes and n <= 2))
    if saved.follow_up is not None:
        known = described_follow_up(formula, **structs.asdict(saved.follow_up))
        what, levels, (first, last) = "times to an event", known.levels, known.span
        check(what, 0 < known.n_events <= known.n_rows, 0 <= (known.median or 0) < math.inf)
        check(what, 0 <= first <= last < math.inf, len(set(levels)) == len(levels) > 0)
        check(what, *(len(own) == len(known.strata) for own in levels))
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
    found = CodedColumns(names, columns, levels, edges, groups, binned, FREE, spec.blocks)
    return found.constrained(saved.monotone)


def _are_edges(own: FloatArray) -> bool:
    is_list = own.ndim == 1 and len(own) < MAX_BINS
    return is_list and bool(np.isfinite(own).all() and (np.diff(own) > 0).all())


def _with_rows(data: ModelData, saved: SavedRows) -> ModelData:
    y, weight, groups, offset, n = saved.y, saved.weight, saved.groups, saved.offset, len(saved.y)
    are_copies, response = weight.dtype == np.int64, data.response
    frame = pd.DataFrame({name: column_of(own, n) for name, own in saved.columns.items()})
    check("data and schema", list(frame) == list(data.spec.schema), n > 0)
    check("data", are_copies or weight.dtype == np.float64)
    check("data", saved.rows.shape == weight.shape == (n,))
    check("data", y.shape == (n, *response.y.shape[1:]), _are_plain(y), weight.any())
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
        _check_parts(what, saved, coded)
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


def _check_parts(what: str, saved: SavedModel, coded: CodedColumns) -> None:
    """A part for each column, with as many slopes as its basis has columns."""
    own, n = np.flatnonzero(saved.groups[coded.groups.ids]), len(saved.constant)
    check(what, len(saved.parts) == len(own))
    for part, j in zip(saved.parts, own.tolist(), strict=True):
        n_knots = len(part.knots)
        n_basis = 0 if coded.n_levels[j] is not None else max(n_knots - 1, 1)
        arrays = part.table, part.slopes, part.mean, part.knots
        check(what, part.table.shape == (256, n), part.mean.shape == (n,), part.knots.ndim == 1)
        check(what, part.slopes.shape in ((n_basis, n), (0, n)), n_knots in (0, 3, 4))
        check(what, *(np.isfinite(own).all() for own in arrays), (np.diff(part.knots) > 0).all())
        check(what, np.isfinite(part.centre), 0 < part.scale < np.inf)


def _forest(saved: SavedForest, coded: CodedColumns, family: Family) -> WeightedForest:
    what, bins, joined, shares = "the sparse forest", saved.bins, saved.trees, saved.shares
    groups, weights, gains, ids = saved.groups, saved.weights, saved.gains, coded.groups.ids
    _check_shapes(what, saved, coded, family)
    if bins is not None:
        _check_bins(bins, coded)
        ids = ids[bins.source]
    n_trees = 0 if joined is None else joined.n_trees
    check(what, weights.shape == shares.shape == (n_trees,), gains.shape == (n_trees, len(groups)))
    check(what, np.array_equal(saved.group_of, ids), not (gains[:, ~groups] > 0).any())
    check(what, (weights > 0).all(), _are_plain(weights), np.isfinite(gains).all())
    check(what, (gains >= 0).all(), _are_shares(shares), _are_shares(saved.importance))
    trees: tuple[Trees, ...] = ()
    if joined is not None:
        highest = _highest_codes(coded) if bins is None else np.array([*map(len, bins.edges)])
        _check_trees(joined, family, highest)
        tree = np.repeat(np.arange(n_trees), np.diff(joined.start))
        inner, used = joined.nodes.column != LEAF, np.zeros((n_trees, len(groups)), dtype=np.bool_)
        used[tree[inner], saved.group_of[joined.nodes.column[inner]]] = True
        check(what, np.array_equal(used, gains > 0))
        trees = tuple(joined.one(t) for t in range(n_trees))
    return alike(WeightedForest, saved, trees=trees, family=family)


def _check_shapes(
    what: str, saved: SavedModel | SavedForest, coded: CodedColumns, family: Family
) -> None:
    groups, importance, constant = saved.groups, saved.importance, saved.constant
    check(what, groups.shape == importance.shape == (len(coded.groups.names),))
    has_odds = family.is_ordered and getattr(saved, "stored_as", "") == "linear"
    check(what, constant.shape == (n_outputs_of(family) - has_odds,), _are_plain(constant))
    check(what, ((importance >= 0) & np.isfinite(importance)).all(), not importance[~groups].any())


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
    check(what, (code <= highest[own.column[inner]]).all(), (own.weight >= 0).all())
    check(what, ((own.gain >= 0) & np.isfinite(own.gain)).all(), _are_plain(own.value))


# --- the selection -------------------------------------------------------------------------------


def _steps(saved: SavedPath, n_groups: int) -> tuple[Step, ...]:
    what, n, tuning, score = "the path", len(saved.cut_from), saved.tuning, saved.train_score
    selected, found = saved.selected, np.zeros((n, n_groups))
    check(what, n > 1, len(saved.gap) == n, tuning.shape == score.shape == (n,))
    check(what, selected.shape == found.shape, saved.importance.shape == (selected.sum(),))
    # A score may be missing (a user-defined one may be undefined for a constant), and so is the
    # tuning parameter of a set beyond a path's end.
    check(what, not np.isnan(tuning).all(), not (np.abs(score) > _WORST).any())
    found[selected] = saved.importance
    check(what, _are_shares(found))
    if saved.decisions is not None:
        _check_decisions(saved.decisions, n_groups)
    if saved.trace is not None:
        _check_trace(saved.trace, selected[-1])
    columns = tuning.tolist(), selected, found, score.tolist(), saved.cut_from
    same = zip((Step(*row) for row in zip(*columns, strict=True)), saved.gap, strict=True)
    steps = [dataclasses.replace(own, gap=gap, decisions=saved.decisions) for own, gap in same]
    return (*steps[:-1], dataclasses.replace(steps[-1], trace=saved.trace))


def _check_decisions(found: Decisions, n_groups: int) -> None:
    what, decision, history, shadows = "decisions", found.decision, found.history, found.shadows
    check(what, decision.shape == (n_groups,), set(decision.tolist()) <= set(WORDS))
    check(what, history.ndim == 2, history.shape[1:] == (n_groups,), len(history) > 0)
    check(what, shadows.shape == (len(history), 3), np.isfinite(shadows).all())
    check(what, not np.isinf(history).any())


def _check_trace(trace: Trace, selected: BoolArray) -> None:
    what, known = "the trace of the search", tuple(np.flatnonzero(selected).tolist())
    exchanges, sets = trace.exchanges, [own.units for own in trace.rivals]
    units = {unit for own in (*sets, *(own[:2] for own in exchanges)) for unit in own}
    rises = [(e.rise, e.spread) for e in exchanges] + [(r.rise, r.spread) for r in trace.rivals]
    check(what, len(sets) == min(trace.n_rivals, MOST_RIVALS))
    check(what, trace.n_rivals <= trace.n_judged <= _MOST_JUDGED)
    check(what, units <= set(range(len(selected))), *(own.out != own.into for own in exchanges))
    check(what, *(abs(rise) <= _LARGEST and 0 <= spread <= _LARGEST for rise, spread in rises))
    check(what, *(own != known and len(own) == len(known) for own in sets))
    check(what, *(list(own) == sorted(set(own)) for own in sets))


def _choice(saved: SavedChoice, data: SavedRows | None, n_groups: int) -> Choice:
    what, k, n_folds = "the choice of size", saved.k, saved.folds
    check(what, k in (None, *RULES) or (isinstance(k, int) and 0 < k <= n_groups))
    check(what, n_folds is None or n_folds > 1, saved.repeats > 0)
    folds = n_folds if data is None or data.folds is None else data.folds
    check("folds", data is None or data.folds is None or data.folds.shape == data.rows.shape)
    return Choice(k, Folds(folds, saved.repeats, saved.groups_name))


def _asked(saved: SavedArguments) -> Asked:
    given = {name: plain(value, _MOST_BYTES) for name, value in saved.arguments.items()}
    check("the arguments", isinstance(given.get("formula"), str))
    check("the arguments", not given.keys() & {"trusted", "data"})
    method = plain(saved.method, _MOST_BYTES)
    if method is not None:
        given["method"] = method_of_record(*method)
    return Asked(given, None, saved.lost)


def check_baseline(found: Baseline, known: FollowUp) -> None:
    """Raise a ValueError unless it can be the baseline of such times."""
    what, time, begin, hazard = "the baseline hazard", found.time, found.begin, found.hazard
    n, own = len(known.levels), (time, hazard, found.level)
    check(what, begin.shape == (n + 1,), time.shape == hazard.shape == (len(time),))
    check(what, found.level.shape == found.until.shape == (n,), begin[0] == 0)
    check(
        what, begin[-1] == len(time), (np.diff(begin) >= 0).all(), not np.isinf(found.until).any()
    )
    check(what, *(np.isfinite(a).all() for a in own), (time >= 0).all(), (hazard >= 0).all())
    for part in map(slice, begin[:-1], begin[1:]):
        check(what, (np.diff(time[part]) > 0).all(), (np.diff(hazard[part]) >= 0).all())


# --- resamples and effects -----------------------------------------------------------------------


def _stability(saved: SavedStability, units: Units) -> Stability:
    what, selected, assessed, n = "resamples", saved.selected, saved.assessed, len(units.names)
    check(what, selected.ndim == 2, selected.shape[1:] == (n,), len(selected) > 1)
    check(what, saved.fitted.shape == assessed.shape == (n,))
    check(what, saved.asked is None or len(selected) < saved.asked <= MOST_RESAMPLES)
    shares = saved.measured_associations
    check("substitutes", len(shares) <= n**2, *(0 <= own <= 1 for own in shares))
    for members, share in saved.measured_places:
        check("places", len(members) > 1, list(members) == sorted(set(members)))
        check("places", members[0] >= 0, members[-1] < n, LEAST_ASSOCIATION <= share <= 1)
    found = alike(Stability, saved, units=units.names)
    if saved.along is not None:
        counts = saved.along.counts
        check(what, counts.ndim == 2, counts.shape[1:] == (n,), len(counts) > 0)
        check(what, len(counts) <= assessed.sum())
        check(what, ((counts >= 0) & (counts <= len(selected))).all())
        check(
            what, saved.along.n_resamples == len(selected), saved.along.n_kept == found.kept.sum()
        )
    return found


def _check_effects(
    found: EffectRecord, selected: tuple[str, ...], n_outputs: int, n_resamples: int
) -> None:
    what, terms, contrasts, count = "effects", found.terms, found.contrasts, found.count
    sizes, steps = found.curve_size, (found.effect, found.low, found.high)
    curves, order = (found.curve_low, found.curve_high), [own.term for own in contrasts]
    shape = (len(contrasts), n_outputs)
    check(what, found.n_resamples == n_resamples, sorted(terms) == sorted(selected))
    check(what, len(found.directions) == len(terms), *(own.step in STEPS for own in contrasts))
    check(what, *(len(own) == n_outputs for own in found.directions))
    check(what, *(set(own) <= set(DIRECTIONS) for own in found.directions))
    check(what, sorted(set(order)) == list(range(len(terms))), order == sorted(order))
    check(what, *(own.shape == shape for own in steps), count.shape == shape[:1])
    check(what, ((count >= 0) & (count <= n_resamples)).all())
    check(what, sizes.shape == (len(terms),), (sizes > 0).all())
    check(what, *(own.shape == (sizes.sum(), n_outputs) for own in curves))
    check(what, *(_are_plain(own[~np.isnan(own)]) for own in (*steps, *curves)))
    none, few = [own.step == NONE for own in contrasts], count < LEAST_RESAMPLES
    for own, missing in zip(steps, (none, few, few), strict=True):
        check(what, *((np.isnan(column) == missing).all() for column in own.T))
    for low, high in (steps[1:], curves):
        check(what, (np.isnan(low) == np.isnan(high)).all(), not (low > high).any())
