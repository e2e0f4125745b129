"""Forests of other libraries, in the structure of the engine.

Their splits are ``x <= threshold`` at any threshold; ours use codes. Each numeric feature is
therefore binned at the thresholds that the forest uses. A feature with more thresholds than a
column has codes becomes several columns, each with a share of the thresholds. Nothing is
rounded: every row reaches the same leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.columns import MAX_BINS, BinnedData, bin_columns
from treeselect.engine.tree.nodes import LEAF, Nodes, Trees, empty_nodes, join_trees
from treeselect.errors import DataError, NotBuiltError

_EDGES = MAX_BINS - 1
"""Thresholds of one column."""


class _Splits(NamedTuple):
    """One tree of its library, with node 0 as the root; a leaf has feature -1."""

    feature: IntArray
    threshold: FloatArray
    missing_left: BoolArray
    left: IntArray
    right: IntArray
    value: FloatArray
    gain: FloatArray
    weight: IntArray


@dataclass(frozen=True, slots=True)
class ImportedBins:
    """Bins of the trees of another library."""

    edges: tuple[FloatArray, ...]  # bin edges of each column
    source: IntArray  # feature of the forest that each column comes from, not decreasing
    n_features: int  # number of features of the forest
    single_precision: bool  # whether the library rounds values to 32 bits before comparing them

    def bin(self, columns: Sequence[AnyArray], groups: Sequence[int]) -> BinnedData:
        if len(columns) != self.n_features or len(groups) != self.n_features:
            raise DataError(
                f"`columns` and `groups` must have the {self.n_features} features of the forest.\n"
                f"  Found: {len(columns)} and {len(groups)}."
            )
        values = [np.asarray(column, dtype=np.float64) for column in columns]
        if self.single_precision:
            values = [v.astype(np.float32).astype(np.float64) for v in values]
        return bin_columns(
            [values[j] for j in self.source],
            self.edges,
            [0] * len(self.source),
            np.asarray(groups)[self.source],
        )

    def of_features(self, features: IntArray) -> ImportedBins:
        """The columns of some features only, renumbered from 0 in increasing order."""
        columns = np.flatnonzero(np.isin(self.source, features))
        return ImportedBins(
            tuple(self.edges[j] for j in columns),
            np.searchsorted(features, self.source[columns]),
            len(features),
            self.single_precision,
        )


class ImportedForest(NamedTuple):
    """A forest of another library."""

    trees: Trees  # on the columns of ``bins``
    bins: ImportedBins

    def with_features(self, numbers: IntArray) -> ImportedForest:
        """The same forest with feature f renumbered to ``numbers[f]``, a permutation."""
        source = numbers[self.bins.source]
        order = np.argsort(source, kind="stable")
        place = np.argsort(order)
        column = self.trees.nodes.column
        moved = np.where(column == LEAF, LEAF, place[column]).astype(np.int32)
        return ImportedForest(
            trees=self.trees._replace(nodes=self.trees.nodes._replace(column=moved)),
            bins=replace(
                self.bins, edges=tuple(self.bins.edges[j] for j in order), source=source[order]
            ),
        )


def import_forest(model: Any) -> ImportedForest:
    """Import a model of scikit-learn or LightGBM without changes; all features must be numeric."""
    booster = getattr(model, "booster_", model) if _is_of(model, "lightgbm") else None
    if booster is not None and hasattr(booster, "dump_model"):
        return _from_lightgbm(booster.dump_model())
    if _is_of(model, "sklearn"):
        if hasattr(model, "n_features_in_") and hasattr(model, "tree_"):
            return _assemble([_from_scikit_learn(model)], model.n_features_in_, True)
        trees = getattr(model, "estimators_", None)
        if trees is not None and all(hasattr(tree, "tree_") for tree in np.ravel(trees)):
            return _from_ensemble(model, np.asarray(trees))
        if trees is None and hasattr(model, "n_estimators"):
            raise DataError(
                f"`model` must be fitted.\n  Found: a {type(model).__name__} without trees."
            )
    raise NotBuiltError(
        f"Can't import a {type(model).__module__}.{type(model).__qualname__}.\n"
        "  Decision trees, random forests, extra trees and gradient boosting from scikit-learn and"
        " LightGBM boosters can be imported."
    )


def _is_of(model: Any, package: str) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(model).__mro__)


def _from_ensemble(model: Any, trees: AnyArray) -> ImportedForest:
    """A forest, whose trees are averaged, or gradient boosting, with a tree for each output."""
    parts = [_from_scikit_learn(tree) for tree in trees.ravel()]
    if trees.ndim > 1:
        for i, part in enumerate(parts):
            own = model.learning_rate * np.eye(trees.shape[1])[i % trees.shape[1]]
            parts[i] = part._replace(value=part.value * own)
    for i, drawn in enumerate(getattr(model, "estimators_features_", ())):  # of bagging
        parts[i] = parts[i]._replace(feature=np.append(drawn, -1)[parts[i].feature])
    return _assemble(parts, model.n_features_in_, True)


def _from_scikit_learn(tree: Any) -> _Splits:
    inner = tree.tree_
    is_leaf = inner.children_left < 0
    impurity, weight = inner.impurity, inner.weighted_n_node_samples
    decrease = weight * impurity
    decrease = decrease - np.where(
        is_leaf, decrease, decrease[inner.children_left] + decrease[inner.children_right]
    )
    return _Splits(
        feature=np.where(is_leaf, -1, inner.feature),
        threshold=inner.threshold,
        missing_left=np.asarray(inner.missing_go_to_left, dtype=np.bool_),
        left=inner.children_left,
        right=inner.children_right,
        value=inner.value[:, 0, :],
        gain=decrease / weight[0],
        weight=inner.n_node_samples,
    )


def _from_lightgbm(dump: dict[str, Any]) -> ImportedForest:
    n_outputs = dump["num_tree_per_iteration"]
    parts = []
    for number, tree in enumerate(dump["tree_info"]):
        nodes: list[dict[str, Any]] = []
        _flatten(tree["tree_structure"], nodes)
        value = np.zeros((len(nodes), n_outputs))
        value[:, number % n_outputs] = [n.get("leaf_value", n.get("internal_value")) for n in nodes]
        parts.append(
            _Splits(
                missing_left=np.array([_missing_left(n) for n in nodes]),
                feature=np.array([n.get("split_feature", -1) for n in nodes]),
                threshold=np.array([n.get("threshold", 0.0) for n in nodes], dtype=np.float64),
                left=np.array([n["left"] for n in nodes]),
                right=np.array([n["right"] for n in nodes]),
                value=value,
                gain=np.array([n.get("split_gain", 0.0) for n in nodes], dtype=np.float64),
                weight=np.array(
                    [n.get("leaf_count", n.get("internal_count", 0)) for n in nodes], dtype=np.int64
                ),
            )
        )
    n_features = dump["max_feature_idx"] + 1
    return _assemble(parts, n_features, False)


def _flatten(node: dict[str, Any], nodes: list[dict[str, Any]]) -> int:
    """Append a node and those below it; return its number."""
    if "leaf_coeff" in node:
        raise NotBuiltError(
            "Can't import LightGBM trees with linear models in their leaves.\n"
            "  Found: `linear_tree`. Refit without it."
        )
    number = len(nodes)
    own = dict(node, left=-1, right=-1)
    nodes.append(own)
    if "split_feature" in node:
        own["left"] = _flatten(node["left_child"], nodes)
        own["right"] = _flatten(node["right_child"], nodes)
    return number


def _missing_left(node: dict[str, Any]) -> bool:
    """Side of missing values; LightGBM treats them as 0 if training had none."""
    if "split_feature" not in node:
        return False
    if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
        raise NotBuiltError(
            "Can't import LightGBM trees with categorical splits or with zeros treated as missing."
            "\n"
            f"  Found: `{node['decision_type']}` with missing type {node['missing_type']}."
        )
    if node["missing_type"] == "None":
        return bool(node["threshold"] >= 0)
    return bool(node["default_left"])


def _assemble(parts: Sequence[_Splits], n_features: int, single_precision: bool) -> ImportedForest:
    """Collect the thresholds of all trees as bin edges, and rewrite the trees with their codes."""
    features = np.concatenate([part.feature for part in parts])
    thresholds = np.concatenate([part.threshold for part in parts])
    edges: list[FloatArray] = []
    source: list[int] = []
    place: dict[tuple[int, float], tuple[int, int]] = {}
    for feature in range(n_features):
        own = np.unique(thresholds[features == feature])
        for first in range(0, max(len(own), 1), _EDGES):
            here = own[first : first + _EDGES]
            for code, threshold in enumerate(here, start=1):
                place[feature, float(threshold)] = (len(edges), code)
            edges.append(here)
            source.append(feature)
    trees = join_trees([_renumber(part, place) for part in parts])
    source_of = np.array(source, dtype=np.int64)
    return ImportedForest(
        trees, ImportedBins(tuple(edges), source_of, n_features, single_precision)
    )


def _renumber(part: _Splits, place: dict[tuple[int, float], tuple[int, int]]) -> Trees:
    """A tree in the engine's order: children side by side, behind their parent."""
    n = len(part.feature)
    nodes: Nodes = empty_nodes(n, part.value.shape[1])
    order = [0]
    for at, old in enumerate(order):
        nodes.value[at], nodes.weight[at] = part.value[old], part.weight[old]
        nodes.column[at] = LEAF
        if part.feature[old] < 0:
            continue
        column, code = place[int(part.feature[old]), float(part.threshold[old])]
        nodes.column[at], nodes.code[at] = column, code
        nodes.missing_left[at], nodes.gain[at] = part.missing_left[old], part.gain[old]
        nodes.left[at] = len(order)
        order += [int(part.left[old]), int(part.right[old])]
    return Trees(nodes, np.array([0, n]))
