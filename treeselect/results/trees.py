"""Trees for people to read: a table with a row per node, and rules as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, whole
from treeselect.designs.columns import one_hot
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import CodedColumns
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.columns import OTHER
from treeselect.engine.rounding import falling
from treeselect.engine.tree.nodes import LEAF, Trees
from treeselect.errors import OptionError
from treeselect.models.model import TreeModel
from treeselect.resampling.fit import Fit
from treeselect.shown import shown


class ColumnLabel(NamedTuple):
    """What a coded column is called."""

    term: str
    name: str  # as formulaic would call it; the term itself for a factor
    levels: Mapping[int, str]  # names of a factor's levels by their code; empty for a number


def label_columns(spec: DesignSpec, coded: CodedColumns) -> list[ColumnLabel]:
    """Labels of all coded columns, in their order."""
    labels: list[ColumnLabel] = []
    for term in spec.units.term_order:
        columns = [j for j, name in enumerate(coded.column_names) if name == term]
        sizes = [coded.n_levels[j] for j in columns]
        if all(size is None for size in sizes):
            # Each column holds its own number, so that the expansion tells which one it took.
            own = one_hot(spec[term], [np.array([float(k)]) for k in range(len(columns))])
            names = {int(values[0]): name for name, values in own.items()}
            labels += [ColumnLabel(term, names.get(k, term), {}) for k in range(len(columns))]
            continue
        for k, size in enumerate(sizes):
            codes = np.arange(1, (size or 0) + 1)
            rows = [np.full(len(codes), OTHER) for _ in sizes]
            rows[k] = codes
            found = one_hot(spec[term], rows).items()
            levels = {int(codes[i]): name for name, own in found for i in np.flatnonzero(own)}
            labels.append(ColumnLabel(term, term, levels))
    return labels


def tidy_trees(forest: TreeModel, design: ModelData) -> pd.DataFrame:
    """All nodes of the trees of a model (see ``ModelView.nodes``). A row that meets the split goes
    left, and so does a number at most as large as the threshold; gains are decreases per unit of
    weight."""
    trees, coded, bins = forest.joined(), design.arrays, forest.own_bins(design.arrays)
    if trees is None:
        raise OptionError(f"The final model has no trees to show.\n  Found: {forest.description}.")
    used = np.flatnonzero(forest.groups[coded.groups.ids])
    all_labels = label_columns(design.spec, coded)
    labels = [all_labels[j] for j in used]
    edges: list[FloatArray | None] = [coded.edges[j] for j in used]
    if bins is not None:
        labels, edges = [labels[j] for j in bins.source], list(bins.edges)
    nodes = trees.nodes
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
    splits = zip(nodes.column, nodes.code, nodes.missing_left, strict=True)
    rows = [
        (None, None, np.nan, None)
        if column == LEAF
        else _describe(labels[column], edges[column], int(code), bool(missing_left))
        for column, code, missing_left in splits
    ]
    frame = pd.DataFrame(rows, columns=["term", "split", "threshold", "missing"])
    frame.insert(0, "tree", tree + 1)
    frame.insert(1, "node", np.arange(len(tree)) - trees.start[tree] + 1)
    frame.insert(2, "depth", node_depths(trees))
    inner = nodes.column != LEAF
    for side, name in ((1, "left"), (2, "right")):
        frame[name] = pd.array(np.where(inner, nodes.left + side, 0), dtype="Int64")
        frame.loc[~inner, name] = pd.NA
    frame["gain"], frame["n"] = nodes.gain, nodes.weight
    n_outputs = nodes.value.shape[1]
    names = ["value"] if n_outputs == 1 else [f"value_{k + 1}" for k in range(n_outputs)]
    return frame.join(pd.DataFrame(nodes.value, columns=names))


def _describe(
    label: ColumnLabel, edges: Sequence[float] | None, code: int, missing_left: bool
) -> tuple[str, str, float, str]:
    """Term, condition, threshold and side of missing values of a split."""
    side = "left" if missing_left else "right"
    if code == 0:
        return label.term, f"{label.name} is missing", np.nan, "left"
    if edges is None:
        return label.term, label.levels[code], np.nan, "right"
    threshold = float(edges[code - 1])
    if threshold == np.inf:
        return label.term, f"{label.name} is known", np.nan, side
    return label.term, f"{label.name} <= {_shown(threshold, edges, code - 1)}", threshold, side


def _shown(threshold: float, edges: Sequence[float], at: int) -> str:
    """A threshold with as many digits, six at least, as tell it from its neighbours by far."""
    near = [abs(float(edges[k]) - threshold) for k in (at - 1, at + 1) if 0 <= k < len(edges)]
    room = 1e-3 * min([*near, abs(threshold)])
    for digits in range(6, 18):
        said = f"{threshold:.{digits}g}"
        if abs(float(said) - threshold) <= room:
            return said
    return repr(threshold)


def node_depths(trees: Trees) -> np.ndarray:
    """Depth of every node; a child stands behind its parent."""
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
    depth = np.zeros(len(tree), dtype=np.int64)
    for at in np.flatnonzero(trees.nodes.column != LEAF):
        left = trees.start[tree[at]] + trees.nodes.left[at]
        depth[left : left + 2] = depth[at] + 1
    return depth


def rules(frame: pd.DataFrame, tree: int = 1) -> str:
    """One tree of :func:`node_table`, by its number from 1, as indented text with control
    characters of names escaped; an OptionError if there is no such tree."""
    most = int(frame["tree"].max())
    number = whole(tree)
    if number is None or not 1 <= number <= most:
        raise OptionError(
            f"`tree` must be the number of a tree, from 1 to {most}.\n  Found: {described(tree)}."
        )
    own = frame[frame["tree"] == number].set_index("node")
    values = [name for name in own if str(name).startswith("value")]
    nodes = own.to_dict("index")
    lines: list[str] = []
    waiting = [(1, "")]
    while waiting:
        node, condition = waiting.pop()
        row: dict[Any, Any] = nodes[node]
        if pd.isna(row["split"]):
            said = ", ".join(f"{row[name]:.4g}" for name in values)
            condition += f" -> {said} (n = {row['n']})"
        else:
            or_missing = row["missing"] == "left" and not pd.isna(row["threshold"])
            condition_left = f"if {shown(str(row['split']))}{' or missing' if or_missing else ''}"
            waiting += [(row["right"], "otherwise"), (row["left"], condition_left)]
        lines.append("  " * (row["depth"] - 1) + condition.lstrip())
    return "\n".join(line for line in lines if line.strip())


# --- trees -------------------------------------------------------------------------------------


def tree_table(result: Fit) -> pd.DataFrame:
    """One row per tree (see ``ModelView.trees``)."""
    forest = _forest_inside(result)
    trees = forest.joined()
    if trees is None:
        return pd.DataFrame({name: [] for name in _TREE_COLUMNS})
    of_node = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
    is_leaf = trees.nodes.column == LEAF
    frame = pd.DataFrame(
        {
            "tree": np.arange(trees.n_trees) + 1,
            "weight": forest.tree_weights,
            "share": forest.tree_shares,
            "depth": np.maximum.reduceat(node_depths(trees), trees.start[:-1]),
            "leaves": np.bincount(of_node[is_leaf], minlength=trees.n_trees),
            "terms": _units_of_trees(result, forest, trees, of_node),
        }
    )
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def units_without_trees(result: Fit, table: pd.DataFrame) -> tuple[str, ...]:
    """Selected units that no tree of :func:`tree_table` uses, most important first."""
    used = set().union(*table["terms"])
    return tuple(name for name in result.groups if name not in used)


_TREE_COLUMNS = ("tree", "weight", "share", "depth", "leaves", "terms")


def _units_of_trees(
    result: Fit, forest: TreeModel, trees: Trees, of_node: IntArray
) -> list[tuple[str, ...]]:
    """Names of the units of each tree, the most important ones first."""
    coded = result.design.arrays
    group_of, bins = coded.groups.ids[forest.groups[coded.groups.ids]], forest.own_bins(coded)
    group_of = group_of if bins is None else group_of[bins.source]
    split = trees.nodes.column != LEAF
    units: list[set[int]] = [set() for _ in range(trees.n_trees)]
    for tree, group in zip(of_node[split], group_of[trees.nodes.column[split]], strict=True):
        units[tree].add(int(group))
    place = np.argsort(falling(result.importance))
    return [tuple(coded.groups.names[g] for g in sorted(own, key=place.item)) for own in units]


def node_table(result: Fit) -> pd.DataFrame:
    """One row per node (see ``ModelView.nodes``)."""
    return tidy_trees(_forest_inside(result), result.design)


def _forest_inside(result: Fit) -> TreeModel:
    """The trees behind the selection: the sparse forest if there is one."""
    return result.model if result.subforest is None else result.subforest


# --- importances on the path -------------------------------------------------------------------


def importance_path_table(result: Fit) -> pd.DataFrame:
    """One row per step and unit (see ``SearchView.importance_path``)."""
    names = np.array(result.design.arrays.groups.names, dtype=object)
    ever = np.flatnonzero(np.any([step.selected for step in result.steps], axis=0))
    order = ever[falling(result.steps[-1].importance[ever])]
    rows = [
        (step.size, step.tuning, names[g], bool(step.selected[g]), float(step.importance[g]))
        for step in result.steps
        for g in order
    ]
    return pd.DataFrame(rows, columns=["k", "tuning", "term", "selected", "importance"])
