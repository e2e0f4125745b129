"""What a selection has learned: its trees, shapes of terms, interactions, importances on the path.

Numbers only; figures are made of them by ``plots`` and ``reports``.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.base import Model
from treeselect.algorithms.forest import ForestModel
from treeselect.algorithms.weighted import WeightedForest
from treeselect.design import BoolArray, FloatArray, IntArray
from treeselect.engine.binning import BinnedData
from treeselect.engine.dependence import Dependence, partial_dependence
from treeselect.engine.nodes import LEAF, Trees
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted
from treeselect.frames import Labels, Numbers, read_column
from treeselect.trees import node_depths, tidy_trees

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.results import SelectionResult

_MOST_ROWS = 1000
"""Rows that effects are averaged over; of more a sample."""

_MOST_POINTS = 40
_PAIR_POINTS = 12
"""Points of the grid of a term alone, and of each of two."""

_MOST_LEVELS = 100
"""Levels of a factor that have a point each."""

_STRENGTH_POINTS = 8
_STRENGTH_ROWS = 300
_STRENGTH_TERMS = 10
"""The strengths of all pairs take n (n - 1) / 2 grids: these are coarser, of the first terms."""


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

    def effect(self, terms: Sequence[str], most: int) -> Dependence:
        groups = [self.terms.index(term) for term in terms]
        return partial_dependence(self.model.score, self.data, self.weight, groups, max_points=most)


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
    return _Sample(model, data, weight[rows].astype(np.float64), rows, terms)


def shape_table(result: SelectionResult, term: str, other: str | None) -> pd.DataFrame:
    """One row per point (see ``SelectionResult.shape``)."""
    import pandas as pd

    terms = [_selected_term(result, name) for name in (term, other) if name is not None]
    if len(set(terms)) < len(terms):
        raise OptionError(f"`other` must not be `term`.\n  Found: {quoted(terms[0])} for both.")
    sample = _sample(result, _MOST_ROWS)
    axes = _axes(result, terms, sample)
    found = sample.effect(
        terms, _most_points(axes, _MOST_POINTS if other is None else _PAIR_POINTS)
    )
    share = _cell_shares(found, sample.weight)
    is_exact = np.all(
        [sample.data.column(int(j)) == found.points[found.place, k]
         for k, j in enumerate(found.columns)], axis=0,
    )  # fmt: skip
    frame = pd.DataFrame(
        {
            name: pd.Series(_in_words(axis, found.place, is_exact, len(share)))
            for name, axis in axes.items()
        }
    )
    order = np.lexsort([_order_of(frame[name], axes[name]) for name in reversed(list(axes))])
    frame["share"] = share
    names = _output_names(result)
    for k, name in enumerate(names):
        mean = found.mean[:, k]
        frame[f"mean{name}"] = mean
        if other is None:
            frame[f"effect{name}"] = mean - share @ mean
        else:
            frame[f"interaction{name}"] = _beyond_both(found, share)[:, k]
    frame = frame.iloc[order]
    return frame[frame["share"] > 0].reset_index(drop=True)


def _order_of(values: pd.Series[Any], axis: Numbers | Labels) -> FloatArray:
    """Keys by which points are sorted: numbers, levels in their order, what is missing last."""
    if isinstance(axis, Numbers):
        return values.to_numpy(dtype=np.float64)
    place = {level: float(k) for k, level in enumerate(axis.levels)}
    return np.array([place.get(value, np.inf) for value in values])


def _selected_term(result: SelectionResult, term: str) -> str:
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


def _axes(
    result: SelectionResult, terms: Sequence[str], sample: _Sample
) -> dict[str, Numbers | Labels]:
    """What the points of some terms are told by: the values of the term itself where it is one
    number, else the variables behind it."""
    design = result.design
    axes: dict[str, Numbers | Labels] = {}
    for term in terms:
        columns = [j for j, name in enumerate(design.arrays.column_names) if name == term]
        is_number = [design.arrays.n_levels[j] is None for j in columns] == [True]
        if is_number and term not in design.sources:
            axes[term] = Numbers(design.arrays.columns[columns[0]][sample.rows])
            continue
        parts = {
            name: read_column(design.sources[name].iloc[sample.rows], name, needed=True)
            for name in design.spec[term].term.variables
        }
        missing = np.any([_is_missing(part) for part in parts.values()], axis=0)
        axes |= {name: _without(part, missing) for name, part in parts.items()}
    return axes


def _is_missing(part: Numbers | Labels) -> BoolArray:
    return np.isnan(part.values) if isinstance(part, Numbers) else np.asarray(part.codes < 0)


def _without(part: Numbers | Labels, missing: BoolArray) -> Numbers | Labels:
    """A term with a missing part is missing: no part of it is told."""
    if isinstance(part, Numbers):
        return dataclasses.replace(part, values=np.where(missing, np.nan, part.values))
    return dataclasses.replace(part, codes=np.where(missing, -1, part.codes))


def _most_points(axes: Mapping[str, Numbers | Labels], usual: int) -> int:
    """Points for a term: levels are not thinned as numbers are."""
    levels = [len(axis.levels) for axis in axes.values() if isinstance(axis, Labels)]
    return max([usual, *(min(n + 1, _MOST_LEVELS) for n in levels)])


def _in_words(axis: Numbers | Labels, place: IntArray, is_exact: BoolArray, n: int) -> list[Any]:
    """What stands for each of n points: of numbers the mean of its rows, else the level of a row
    that is exactly there; in that order, with what is missing last."""
    if isinstance(axis, Numbers):
        known = ~np.isnan(axis.values)
        count = np.bincount(place[known], minlength=n)
        total = np.bincount(place[known], weights=axis.values[known], minlength=n)
        means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return [bool(v) for v in means] if axis.is_bool and known.all() else means.tolist()
    codes = np.full(n, -1)
    codes[place[is_exact]] = axis.codes[is_exact]
    return [axis.levels[code] if code >= 0 else None for code in codes]


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
