"""Fitted models as the arrays of a model file, and back; what is read may be hostile."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from treeselect.designs.families import Family
from treeselect.designs.problem import CodedColumns
from treeselect.engine.arrays import IntArray
from treeselect.engine.data.binning import MAX_BINS
from treeselect.engine.growing.nodes import LEAF, Nodes, Trees, join_trees
from treeselect.modelfile.checks import are_plain, are_shares, check
from treeselect.models.boosted import BoostedModel
from treeselect.models.forest import ForestModel
from treeselect.models.importing import ImportedBins
from treeselect.models.model import Model
from treeselect.models.stacked import StackedModel
from treeselect.models.weighted import WeightedForest

# --- trees of zeros and ones in a file ---------------------------------------------------------

_MOST = 2.0**53
"""Largest count that a double holds exactly."""


class Counted(NamedTuple):
    """Rows of each leaf, counting copies, and how many of them are ones; shape (n_leaves,)."""

    weight: IntArray
    ones: IntArray


def counts_of(trees: Trees) -> Counted | None:
    """What suffices to compute the weights, values and gains of trees, bit by bit; None for trees
    of other responses or weights."""
    nodes = trees.nodes
    if nodes.value.shape[1] != 1 or not ((nodes.value >= 0) & (nodes.value <= 1)).all():
        return None
    leaves = nodes.column == LEAF
    ones = np.rint(nodes.value[leaves, 0] * nodes.weight[leaves]).astype(np.int64)
    found = Counted(nodes.weight[leaves], ones)
    if not (nodes.weight > 0).all():
        return None
    back = with_counts(trees, found).nodes
    same = (
        np.array_equal(back.weight, nodes.weight)
        and np.array_equal(back.value, nodes.value)
        and np.array_equal(back.gain, nodes.gain)
    )
    return found if same else None


def with_counts(trees: Trees, counts: Counted) -> Trees:
    """Trees with the weights, values and gains that follow from the counts of their leaves.

    A node has the rows of its children. Its value is the share of ones. The gain of a split of N
    rows with S ones into A rows with R ones and B others is the decrease of the sum of squares,
    ``(S A - R N)**2 / (A B) / N``, per row of the tree.

    Raises
    ------
    ValueError
        If there are not as many counts as leaves, they are not counts, or two nodes share a child.
    """
    weight_of, ones_of = counts
    column, start = trees.nodes.column, trees.start
    leaves = column == LEAF
    check(
        weight_of.shape == ones_of.shape == (int(leaves.sum()),)
        and bool(((ones_of >= 0) & (ones_of <= weight_of) & (weight_of > 0)).all())
        and float(weight_of.astype(np.float64).sum()) < _MOST,
        "counts of leaves",
    )
    n = len(column)
    weight, ones = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    weight[leaves], ones[leaves] = weight_of, ones_of
    tree = np.repeat(np.arange(trees.n_trees), np.diff(start))
    left = start[tree] + trees.nodes.left
    for parents in reversed(_levels(left, ~leaves, start[:-1])):
        for total in (weight, ones):
            total[parents] = total[left[parents]] + total[left[parents] + 1]
    w, s = weight.astype(np.float64), ones.astype(np.float64)
    gain = np.zeros(n)
    inner = np.flatnonzero(~leaves)
    a, b, below = w[left[inner]], w[left[inner] + 1], s[left[inner]]
    excess = s[inner] * a - below * w[inner]
    gain[inner] = excess * excess / (a * b) / w[inner] * (1.0 / w[start[:-1]])[tree[inner]]
    return trees._replace(
        nodes=trees.nodes._replace(weight=weight, value=(s / w)[:, np.newaxis], gain=gain)
    )


def _levels(left: IntArray, is_split: NDArray[np.bool_], roots: IntArray) -> list[IntArray]:
    """Split nodes by depth."""
    found, n_seen = [], len(roots)
    parents = roots[is_split[roots]]
    while len(parents):
        found.append(parents)
        n_seen += 2 * len(parents)
        check(n_seen <= len(left), "nodes with the same child")  # they would multiply by depth
        below = np.concatenate([left[parents], left[parents] + 1])
        parents = below[is_split[below]]
    check(n_seen == len(left), "nodes that no other leads to")
    return found


# --- whole numbers in the narrowest type that holds them, and back, without loss ---------------

_WIDTHS: tuple[type[np.integer[Any]], ...] = (
    np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64
)  # fmt: skip


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the first type that holds all of them; other arrays as they are."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    lowest, highest = int(array.min()), int(array.max())
    width = next(kind for kind in _WIDTHS if _holds(kind, lowest, highest))
    return array.astype(width)


def widened(array: NDArray[Any], kind: DTypeLike) -> NDArray[Any]:
    """Whole numbers of any width in the type of the model; other arrays as they are.

    Raises
    ------
    ValueError
        If the type does not hold them: they would become other numbers.
    """
    wanted = np.dtype(kind)
    if array.dtype.kind not in "iu" or wanted.kind not in "iu" or array.size == 0:
        return array
    check(_holds(wanted.type, int(array.min()), int(array.max())), "whole numbers")
    return array.astype(wanted, copy=False)


def _holds(kind: Any, lowest: int, highest: int) -> bool:
    limits = np.iinfo(kind)
    return bool(limits.min <= lowest and highest <= limits.max)


# --- fitted models as the arrays of a model file, and back -------------------------------------

Arrays = dict[str, NDArray[Any]]

_TYPES = {"column": np.int32, "code": np.uint16, "missing_left": np.bool_, "left": np.int32,
          "value": np.float64, "gain": np.float64, "weight": np.int64}  # fmt: skip
"""Types of nodes; whole numbers are in the file in the narrowest type that holds all of them."""

_COMPUTED = ("value", "gain", "weight")
"""What is computed where the file has counts of leaves."""


def model_arrays(model: Model) -> Arrays:
    """Arrays ``forest_*``, ``boost_*`` or ``stack_*`` of the final model; empty for a sparse
    forest, which is stored separately."""
    if model.sparse is not None:
        return {}
    name, trees = model.stored_as, model.joined()
    arrays = {
        f"{name}_groups": model.groups,
        f"{name}_importance": model.importance,
        f"{name}_constant": model.constant,
    }
    if isinstance(model, StackedModel):
        arrays["stack_n_additive"] = np.array([model.n_additive], dtype=np.int64)
    return arrays | ({} if trees is None else _tree_arrays(name, trees))


def subforest_arrays(forest: WeightedForest | None) -> Arrays:
    """Arrays ``sub_*`` of a sparse forest, if there is one."""
    if forest is None:
        return {}
    arrays = {
        "sub_groups": forest.groups,
        "sub_weights": forest.weights,
        "sub_gains": forest.gains,
        "sub_shares": forest.shares,
        "sub_constant": forest.constant,
        "sub_importance": forest.importance,
        "sub_group_of": forest.group_of,
    }
    if forest.trees:
        arrays |= _tree_arrays("sub", join_trees(forest.trees))
    if forest.bins is not None:
        arrays["sub_edges"] = np.concatenate([np.empty(0), *forest.bins.edges])
        arrays["sub_edges_start"] = np.cumsum([0, *map(len, forest.bins.edges)], dtype=np.int64)
        arrays["sub_source"] = forest.bins.source
        arrays["sub_single"] = np.array([forest.bins.single_precision])
    return arrays


def _tree_arrays(prefix: str, trees: Trees) -> Arrays:
    nodes, counts = trees.nodes._asdict(), counts_of(trees)
    if counts is not None:
        for name in _COMPUTED:
            del nodes[name]
        nodes |= {"leaf_weight": counts.weight, "leaf_ones": counts.ones}
    arrays: Arrays = {f"{prefix}_{name}": narrowed(array) for name, array in nodes.items()}
    arrays[f"{prefix}_start"] = trees.start
    return arrays


def boosted_of(
    arrays: Mapping[str, NDArray[Any]], coded: CodedColumns, family: Family
) -> BoostedModel:
    """The boosted trees in a file."""
    groups, trees, constants, importance = _summed("boost", arrays, coded, family)
    return BoostedModel(groups, trees, constants, importance, family)


def stacked_of(
    arrays: Mapping[str, NDArray[Any]], coded: CodedColumns, family: Family
) -> StackedModel:
    """The additive model and the forest in a file."""
    groups, trees, constants, importance = _summed("stack", arrays, coded, family)
    n_additive = arrays["stack_n_additive"]
    most = 0 if trees is None else trees.n_trees
    check(
        n_additive.shape == (1,) and n_additive.dtype == np.int64 and 0 <= n_additive[0] <= most,
        "the additive model",
    )
    return StackedModel(groups, trees, constants, importance, family, int(n_additive[0]))


def _summed(
    name: str, arrays: Mapping[str, NDArray[Any]], coded: CodedColumns, family: Family
) -> tuple[NDArray[np.bool_], Trees | None, NDArray[np.float64], NDArray[np.float64]]:
    """Groups, trees whose values are summed, constants and importances in a file."""
    groups, importance = arrays[f"{name}_groups"], arrays[f"{name}_importance"]
    constants, what = arrays[f"{name}_constant"], "the summed trees"
    _check_shapes(what, groups, importance, constants, coded, family)
    if f"{name}_start" not in arrays:
        check(not groups.any(), what)
        return groups, None, constants, importance
    trees = _trees(name, arrays, family, _highest_codes(coded, groups))
    return groups, trees, constants, importance


def forest_of(
    arrays: Mapping[str, NDArray[Any]], coded: CodedColumns, family: Family, *, on_link: bool
) -> ForestModel:
    """The refitted forest in a file."""
    groups, importance = arrays["forest_groups"], arrays["forest_importance"]
    constants = arrays["forest_constant"]
    _check_shapes("the forest", groups, importance, constants, coded, family)
    if "forest_start" not in arrays:
        check(not groups.any(), "the forest")
        return ForestModel(groups, None, constants, importance, family, on_link)
    trees = _trees("forest", arrays, family, _highest_codes(coded, groups))
    return ForestModel(groups, trees, constants, importance, family, on_link)


def subforest_of(
    arrays: Mapping[str, NDArray[Any]], coded: CodedColumns, family: Family
) -> WeightedForest | None:
    """The sparse forest in a file, None if there is none."""
    if "sub_groups" not in arrays:
        return None
    what = "the sparse forest"
    names = ("groups", "weights", "gains", "shares", "constant", "importance", "group_of")
    groups, weights, gains, shares, constant, importance, group_of = (
        arrays[f"sub_{name}"] for name in names
    )
    _check_shapes(what, groups, importance, constant, coded, family)
    bins = _bins(arrays, coded)
    expected = coded.groups.ids if bins is None else coded.groups.ids[bins.source]
    n_trees, n_groups = len(weights), len(groups)
    check(
        weights.shape == shares.shape == (n_trees,)
        and gains.shape == (n_trees, n_groups)
        and all(a.dtype == np.float64 for a in (weights, shares, gains))
        and are_plain(weights)
        and bool(np.isfinite(gains).all())
        and bool((weights > 0).all())
        and bool((gains >= 0).all())
        and are_shares(shares)
        and are_shares(importance)
        and group_of.dtype == np.int64
        and np.array_equal(group_of, expected),
        what,
    )
    trees: tuple[Trees, ...] = ()
    if n_trees:
        highest = _highest_codes(coded) if bins is None else _lengths(bins.edges)
        joined = _trees("sub", arrays, family, highest)
        check(joined.n_trees == n_trees, what)
        check(np.array_equal(_used(joined, group_of, n_groups), gains > 0), what)
        check(not (gains[:, ~groups] > 0).any(), what)
        trees = tuple(_single(joined, t) for t in range(n_trees))
    return WeightedForest(
        groups, trees, weights, gains, shares, constant, importance, group_of, family, bins
    )


def _check_shapes(
    what: str,
    groups: NDArray[Any],
    importance: NDArray[Any],
    constants: NDArray[Any],
    coded: CodedColumns,
    family: Family,
) -> None:
    check(
        groups.shape == importance.shape == (len(coded.groups.names),)
        and constants.shape == (_n_outputs(family),)
        and groups.dtype == np.bool_
        and importance.dtype == constants.dtype == np.float64
        and bool(((importance >= 0) & np.isfinite(importance)).all())
        and not importance[~groups].any()
        and are_plain(constants),
        what,
    )


def _highest_codes(
    coded: CodedColumns, groups: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Highest split code of each column, for all columns or only those of some groups."""
    columns = range(len(coded.edges))
    own = columns if groups is None else np.flatnonzero(groups[coded.groups.ids])
    parts = [(coded.edges[j], coded.n_levels[j]) for j in own]
    return np.array([n or 0 if e is None else len(e) for e, n in parts], dtype=np.int64)


def _lengths(edges: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    return np.array([len(e) for e in edges], dtype=np.int64)


def _used(trees: Trees, group_of: NDArray[Any], n_groups: int) -> NDArray[np.bool_]:
    """Whether each tree splits on each group, shape (n_trees, n_groups)."""
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
    inner = trees.nodes.column != LEAF
    used = np.zeros((trees.n_trees, n_groups), dtype=np.bool_)
    used[tree[inner], group_of[trees.nodes.column[inner]]] = True
    return used


def _n_outputs(family: Family) -> int:
    return family.n_classes if family.n_classes > 2 else 1


def _bins(arrays: Mapping[str, NDArray[Any]], coded: CodedColumns) -> ImportedBins | None:
    """Bin thresholds of another library's trees, for numeric columns only."""
    if "sub_source" not in arrays:
        return None
    source, start = arrays["sub_source"], arrays["sub_edges_start"]
    values, single = arrays["sub_edges"], arrays["sub_single"]
    n = len(coded.column_names)
    check(
        source.dtype == start.dtype == np.int64
        and values.dtype == np.float64
        and single.dtype == np.bool_
        and single.shape == (1,)
        and source.ndim == start.ndim == values.ndim == 1
        and len(start) == len(source) + 1
        and start[0] == 0
        and start[-1] == len(values)
        and bool(((start >= 0) & (start <= len(values))).all())
        and bool(((np.diff(start) >= 0) & (np.diff(start) < MAX_BINS)).all())
        and bool((np.diff(source) >= 0).all())
        and np.array_equal(np.unique(source), np.arange(n))
        and all(size is None for size in coded.n_levels),
        "thresholds",
    )
    edges = tuple(values[first:end] for first, end in itertools.pairwise(start))
    check(
        # An infinite threshold, the last, separates known from missing values.
        all(bool(np.isfinite(e[:-1]).all()) and bool((e[:-1] < e[1:]).all()) for e in edges)
        and not np.isnan(values).any(),
        "thresholds",
    )
    return ImportedBins(edges, source, n, bool(single[0]))


def _single(trees: Trees, number: int) -> Trees:
    first, end = int(trees.start[number]), int(trees.start[number + 1])
    nodes = Nodes._make(array[first:end] for array in trees.nodes)
    return Trees(nodes, np.array([0, end - first]))


def _trees(
    prefix: str, arrays: Mapping[str, NDArray[Any]], family: Family, highest: NDArray[np.int64]
) -> Trees:
    """Trees on columns with split codes up to `highest`."""
    counts = _counts(prefix, arrays)
    stored = {
        name: widened(arrays[f"{prefix}_{name}"], kind)
        for name, kind in _TYPES.items()
        if counts is None or name not in _COMPUTED
    }
    if counts is not None:
        n = len(stored["column"])
        stored |= {"value": np.zeros((n, 1)), "gain": np.zeros(n), "weight": np.zeros(n, np.int64)}
    check(
        all(
            stored[name].dtype == kind and stored[name].ndim == 1 + (name == "value")
            for name, kind in _TYPES.items()
        )
        and stored["value"].shape[1] == _n_outputs(family)
        and len({len(array) for array in stored.values()}) == 1,
        "the forest",
    )
    trees = Trees(Nodes(**stored), arrays[f"{prefix}_start"])
    _check_trees(trees, len(highest))
    if counts is not None:
        trees = with_counts(trees, counts)
    _check_nodes(trees.nodes, highest)
    return trees


def _counts(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Counted | None:
    """The counts of leaves in a file, None if there are none."""
    if f"{prefix}_leaf_ones" not in arrays:
        return None
    found = [widened(arrays[f"{prefix}_leaf_{name}"], np.int64) for name in ("weight", "ones")]
    check(all(array.dtype == np.int64 for array in found), "counts of leaves")
    return Counted(*found)


def _check_trees(trees: Trees, n_columns: int) -> None:
    """Every walk from a root must stay in its tree and terminate: kernels do not check this."""
    nodes, start = trees.nodes, trees.start
    n = len(nodes.column)
    check(
        start.dtype == np.int64
        and start.ndim == 1
        and len(start) > 1
        and start[0] == 0
        and start[-1] == n
        and bool(((start >= 0) & (start <= n)).all())  # before differences, which may wrap round
        and bool((np.diff(start) > 0).all()),
        "the trees",
    )
    tree = np.repeat(np.arange(len(start) - 1), np.diff(start))
    inner = nodes.column != LEAF
    at = np.arange(n) - start[tree]
    left = nodes.left.astype(np.int64)
    check(
        bool(((nodes.column >= LEAF) & (nodes.column < n_columns)).all())
        and bool((left[inner] > at[inner]).all())
        and bool((left[inner] + 1 < np.diff(start)[tree][inner]).all())
        and bool((nodes.code[inner] >= np.where(nodes.missing_left[inner], 0, 1)).all()),
        "the trees",
    )


def _check_nodes(nodes: Nodes, highest: NDArray[np.int64]) -> None:
    """Each split must refer to an existing edge or level, and all numbers must be in range."""
    inner = nodes.column != LEAF
    check(
        bool((nodes.code[inner] <= highest[nodes.column[inner]]).all())
        and bool((nodes.weight >= 0).all())
        and bool((nodes.gain >= 0).all())
        and bool(np.isfinite(nodes.gain).all())
        and are_plain(nodes.value),
        "the trees",
    )
