"""What a selection has learned: its trees, shapes of terms, interactions, importances on the path.

Numbers only; figures are made of them by ``plots`` and ``reports``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.base import Model
from treeselect.algorithms.forest import ForestModel
from treeselect.algorithms.weighted import WeightedForest
from treeselect.association import Coded, association, coded_number
from treeselect.design import FloatArray, IntArray
from treeselect.engine.binning import BinnedData
from treeselect.engine.dependence import Dependence, partial_dependence
from treeselect.engine.nodes import LEAF, Trees
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted
from treeselect.trees import node_depths, tidy_trees

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.results import SelectionResult

_MOST_ROWS = 1000
"""Rows that effects are averaged over; of more a sample."""

_MOST_POINTS = 40
_PAIR_POINTS = 12
"""Points of the grid of a term alone, and of each of two."""

_STRENGTH_POINTS = 8
_STRENGTH_ROWS = 300
_STRENGTH_TERMS = 10
"""The strengths of all pairs take n (n - 1) / 2 grids: these are coarser, of the first terms."""

_ASSOCIATED_TERMS = 30
_MEASURES = ("Spearman", "correlation ratio", "Cramer's V")
"""By the number of factors in a pair."""


# --- trees -------------------------------------------------------------------------------------


def tree_table(result: SelectionResult) -> pd.DataFrame:
    """One row per tree (see ``SelectionResult.trees``)."""
    import pandas as pd

    forest = _forest_inside(result)
    trees = forest.joined() if isinstance(forest, WeightedForest) else forest.trees
    if trees is None:
        return pd.DataFrame({name: [] for name in _TREE_COLUMNS})
    if isinstance(forest, WeightedForest):
        weights, shares = forest.weights, forest.shares
    else:
        weights = np.full(trees.n_trees, 1 / trees.n_trees)
        shares = weights
    of_node = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
    is_leaf = trees.nodes.column == LEAF
    frame = pd.DataFrame(
        {
            "tree": np.arange(trees.n_trees) + 1,
            "weight": weights,
            "share": shares,
            "depth": np.maximum.reduceat(node_depths(trees), trees.start[:-1]),
            "leaves": np.bincount(of_node[is_leaf], minlength=trees.n_trees),
            "terms": _units_of_trees(result, forest, trees, of_node),
        }
    )
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)


_TREE_COLUMNS = ("tree", "weight", "share", "depth", "leaves", "terms")


def _units_of_trees(
    result: SelectionResult, forest: Model, trees: Trees, of_node: IntArray
) -> list[tuple[str, ...]]:
    """Names of the units of each tree, the most important ones first."""
    group_of = _group_of_columns(result, forest)
    split = trees.nodes.column != LEAF
    found = set(zip(of_node[split], group_of[trees.nodes.column[split]], strict=True))
    names, order = result.design.arrays.groups.names, result.importance
    units: list[list[int]] = [[] for _ in range(trees.n_trees)]
    for tree, group in found:
        units[tree].append(int(group))
    return [tuple(names[g] for g in sorted(own, key=lambda g: (-order[g], g))) for own in units]


def _group_of_columns(result: SelectionResult, forest: Model) -> IntArray:
    """Unit of each column of the data that :meth:`Model.bin` makes."""
    ids = result.design.arrays.groups.ids
    columns = forest.group_of if isinstance(forest, WeightedForest) else ids
    return columns[forest.groups[columns]]


def node_table(result: SelectionResult) -> pd.DataFrame:
    """One row per node (see ``SelectionResult.nodes``)."""
    forest = _forest_inside(result)
    trees = forest.joined() if isinstance(forest, WeightedForest) else forest.trees
    if trees is None:
        raise OptionError(
            "There are no trees to show.\n  Nothing is selected: the model is a constant."
        )
    design = result.design
    bins = None
    if isinstance(forest, WeightedForest) and forest.bins is not None:
        bins = forest.bins.of_features(np.flatnonzero(forest.groups[design.arrays.groups.ids]))
    return tidy_trees(trees, design.spec, design.arrays, forest.groups, bins)


def _forest_inside(result: SelectionResult) -> WeightedForest | ForestModel:
    """The trees behind the selection: the sparse forest if there is one."""
    if result.subforest is not None:
        return result.subforest
    assert isinstance(result.model, ForestModel)
    return result.model


# --- importances on the path -------------------------------------------------------------------


def importance_path_table(result: SelectionResult) -> pd.DataFrame:
    """One row per step and unit (see ``SelectionResult.importance_path``)."""
    import pandas as pd

    names = np.array(result.design.arrays.groups.names, dtype=object)
    ever = np.flatnonzero(np.any([step.selected for step in result.steps], axis=0))
    order = sorted(ever, key=lambda g: (-result.steps[-1].importance[g], g))
    rows = [
        (step.size, step.tuning, names[g], bool(step.selected[g]), float(step.importance[g]))
        for step in result.steps
        for g in order
    ]
    return pd.DataFrame(rows, columns=["k", "tuning", "term", "selected", "importance"])


# --- shapes ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sample:
    """Rows to average over, binned as the model wants them, with a group for each term."""

    model: Model
    data: BinnedData
    weight: FloatArray
    rows: IntArray
    terms: tuple[str, ...]
    along: Mapping[str, FloatArray]

    def effect(self, terms: Sequence[str], most: int) -> Dependence:
        groups = [self.terms.index(term) for term in terms]
        along = [self.along.get(term) for term in terms]
        return partial_dependence(
            self.model.score, self.data, self.weight, groups, max_points=most, along=along
        )


def _sample(result: SelectionResult, most: int) -> _Sample:
    problem, weight = result.design.problem, result.design.weight  # asks for the data
    rows = np.flatnonzero(weight)
    if len(rows) > most:
        rng = np.random.default_rng(stream_seed(result.seed, "shape"))
        rows = np.sort(rng.choice(rows, most, replace=False))
    arrays, model = result.design.arrays, result.model
    own = np.flatnonzero(model.groups[problem.groups.ids])
    data = model.bin(arrays, tuple(arrays.columns[j][rows] for j in own))
    terms = tuple(dict.fromkeys(arrays.column_names[j] for j in own))
    of_column = np.array([terms.index(arrays.column_names[j]) for j in own], dtype=np.int64)
    if isinstance(model, WeightedForest) and model.bins is not None:
        of_column = of_column[model.bins.of_features(own).source]
    data = data._replace(group_of=of_column.astype(data.group_of.dtype))
    along = {term: _number_behind(result, term, rows) for term in terms}
    known = {term: number for term, number in along.items() if number is not None}
    return _Sample(model, data, weight[rows].astype(np.float64), rows, terms, known)


def _number_behind(result: SelectionResult, term: str, rows: IntArray) -> FloatArray | None:
    """The one number that a transform, spline or polynomial is a function of; None for columns as
    they are, whose codes are in order."""
    spec = result.design.spec
    if spec[term].term.is_plain or spec[term].kind == "factor":
        return None
    variables = spec[term].term.variables
    if len(variables) != 1 or spec.schema[variables[0]] != "number":
        return None
    values = result.design.sources[variables[0]].iloc[rows]
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def shape_table(result: SelectionResult, term: str, other: str | None) -> pd.DataFrame:
    """One row per point (see ``SelectionResult.shape``)."""
    import pandas as pd

    terms = [selected_term(result, name) for name in (term, other) if name is not None]
    if len(set(terms)) < len(terms):
        raise OptionError(f"`other` must not be `term`.\n  Found: {quoted(terms[0])} for both.")
    sample = _sample(result, _MOST_ROWS)
    found = sample.effect(terms, _MOST_POINTS if other is None else _PAIR_POINTS)
    share = _cell_shares(found, sample.weight)
    frame = pd.DataFrame(_points_in_words(result, terms, sample, found, share))
    frame["share"] = share
    names = _output_names(result)
    for k, name in enumerate(names):
        mean = found.mean[:, k]
        frame[f"mean{name}"] = mean
        if other is None:
            frame[f"effect{name}"] = mean - share @ mean
        else:
            frame[f"interaction{name}"] = _beyond_both(found, share)[:, k]
    return frame[frame["share"] > 0].reset_index(drop=True)


def value_column(result: SelectionResult, variable: str) -> str:
    """Column of a shape's table that holds a variable: its name, unless a number has that name."""
    numbers = {f"{kind}{name}" for kind in _SHAPE_NUMBERS for name in _output_names(result)}
    return f"{variable}_value" if variable in numbers | {"share"} else variable


_SHAPE_NUMBERS = ("mean", "effect", "interaction")


def selected_term(result: SelectionResult, term: str) -> str:
    if term in result.selected:
        return term
    close = near(term, result.selected)
    way = did_you_mean(close) if close else f"Selected: {listing(result.selected) or 'nothing'}."
    raise OptionError(f"A shape is that of a selected term.\n  Found: {term!r}. {way}")


def _output_names(result: SelectionResult) -> list[str]:
    classes = result.design.response.classes
    return [f"_{label}" for label in classes] if len(classes) > 2 else [""]


def _cell_shares(found: Dependence, weight: FloatArray) -> FloatArray:
    """Share of the weight of the rows that stand at each point."""
    share = np.bincount(found.place, weights=weight, minlength=len(found.points))
    return np.asarray(share / share.sum())


def _points_in_words(
    result: SelectionResult,
    terms: Sequence[str],
    sample: _Sample,
    found: Dependence,
    share: FloatArray,
) -> dict[str, list[Any]]:
    """Values of the variables behind the terms at each point: of numbers the mean of the rows
    that stand there, whatever they have of the other term, else what the first of them has."""
    words: dict[str, list[Any]] = {}
    points = np.unravel_index(np.arange(len(share)), tuple(found.sizes))
    places = np.unravel_index(found.place, tuple(found.sizes))
    for term, size, point, place in zip(terms, found.sizes, points, places, strict=True):
        rows_at = [np.flatnonzero(place == p) for p in range(size)]
        for name in result.design.spec[term].term.variables:
            values = result.design.sources[name].iloc[sample.rows].reset_index(drop=True)
            is_number = values.dtype.kind in "iuf"
            describe: Callable[[Any], Any] = _mean_of if is_number else _first_of
            own = [describe(values.iloc[at]) if len(at) else None for at in rows_at]
            words.setdefault(value_column(result, name), [own[p] for p in point])
    return words


def _mean_of(values: pd.Series[Any]) -> float:
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else np.nan


def _first_of(values: pd.Series[Any]) -> Any:
    return values.iloc[0]


def _beyond_both(found: Dependence, share: FloatArray) -> FloatArray:
    """What the joint effect of two terms has beyond the best sum of an effect of each, by least
    squares over the cells of the grid with the shares of their rows; shape (n_points, n_outputs).
    """
    n, m = found.sizes
    first, second = np.divmod(np.arange(n * m), m)
    each = np.zeros((n * m, n + m))
    each[np.arange(n * m), first] = 1.0
    each[np.arange(n * m), n + second] = 1.0
    root = np.sqrt(share)[:, np.newaxis]
    sums = each @ np.linalg.lstsq(each * root, found.mean * root, rcond=None)[0]
    return np.asarray(found.mean - sums)


# --- interactions ------------------------------------------------------------------------------


def interaction_table(result: SelectionResult) -> pd.DataFrame:
    """One row per pair of terms (see ``SelectionResult.interactions``)."""
    import pandas as pd

    terms = result.selected[:_STRENGTH_TERMS]
    rows = []
    if len(terms) > 1:
        sample = _sample(result, _STRENGTH_ROWS)
        rows = [(*pair, _strength(sample, pair)) for pair in itertools.combinations(terms, 2)]
    frame = pd.DataFrame(rows, columns=["term", "other", "strength"])
    return frame.sort_values("strength", ascending=False, kind="stable", ignore_index=True)


def _strength(sample: _Sample, pair: Sequence[str]) -> float:
    """Root of the share of the variance of the joint effect that no sum of two effects has."""
    found = sample.effect(pair, _STRENGTH_POINTS)
    share = _cell_shares(found, sample.weight)
    centred = found.mean - share @ found.mean
    total = float((share @ centred**2).sum())
    beyond = float((share @ _beyond_both(found, share) ** 2).sum())
    return float(np.sqrt(beyond / total)) if total > 0 else 0.0


# --- associations ------------------------------------------------------------------------------


def association_table(result: SelectionResult) -> pd.DataFrame:
    """How strongly selected terms go together in the data, whatever the model says.

    Returns
    -------
    pandas.DataFrame
        One row per pair of the thirty most important terms, strongest first: ``term``, ``other``,
        ``measure`` (``"Spearman"``, ``"correlation ratio"`` or ``"Cramer's V"``; see
        :func:`treeselect.association.association`) and ``association``, in [0, 1]. Of terms with
        several columns the strongest of their columns' associations.

    Raises
    ------
    DataError
        If the model was saved without its data.
    """
    import pandas as pd

    result.design.check_data()
    weight = result.design.weight.astype(np.float64)
    arrays, terms = result.design.arrays, result.selected[:_ASSOCIATED_TERMS]
    coded: dict[str, list[Coded]] = {term: [] for term in terms}
    for j, term in enumerate(arrays.column_names):
        if term in coded:
            coded[term].append(_coded_column(result, j))
    rows = []
    for term, other in itertools.combinations(terms, 2):
        pairs = list(itertools.product(coded[term], coded[other]))
        n_factors = sum(own[0].is_factor for own in (coded[term], coded[other]))
        strongest = max(association(a, b, weight) for a, b in pairs)
        rows.append((term, other, _MEASURES[n_factors], strongest))
    frame = pd.DataFrame(rows, columns=["term", "other", "measure", "association"])
    return frame.sort_values("association", ascending=False, kind="stable", ignore_index=True)


def _coded_column(result: SelectionResult, j: int) -> Coded:
    column = result.design.arrays.columns[j]
    if result.design.arrays.n_levels[j] is None:
        return coded_number(column)
    codes = column.astype(np.int64) - 1  # 0 is missing, 255 none of the column's levels
    return Coded(codes, True)
