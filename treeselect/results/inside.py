"""What a selection has learned: its trees, shapes of terms, interactions, importances on the path.

Numbers only; figures are made of them by ``plots`` and ``reports``.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.modeldata import Associations
from treeselect.engine.arrays import IntArray
from treeselect.engine.growing.nodes import LEAF, Trees
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError
from treeselect.models.model import Model
from treeselect.results.trees import node_depths, tidy_trees

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

_ASSOCIATED_TERMS = 30

# --- trees -------------------------------------------------------------------------------------


def tree_table(result: Fit) -> pd.DataFrame:
    """One row per tree (see ``SelectionResult.trees``)."""
    import pandas as pd

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
    result: Fit, forest: Model, trees: Trees, of_node: IntArray
) -> list[tuple[str, ...]]:
    """Names of the units of each tree, the most important ones first."""
    group_of = _group_of_columns(result, forest)
    split = trees.nodes.column != LEAF
    found = set(zip(of_node[split], group_of[trees.nodes.column[split]], strict=True))
    names = result.design.arrays.groups.names
    place = np.argsort(falling(result.importance))
    units: list[list[int]] = [[] for _ in range(trees.n_trees)]
    for tree, group in found:
        units[tree].append(int(group))
    return [tuple(names[g] for g in sorted(own, key=place.__getitem__)) for own in units]


def _group_of_columns(result: Fit, forest: Model) -> IntArray:
    """Unit of each column of the data that :meth:`Model.bin` makes."""
    ids = result.design.arrays.groups.ids
    own, bins = ids[forest.groups[ids]], forest.own_bins(result.design.arrays)
    return own if bins is None else own[bins.source]


def node_table(result: Fit) -> pd.DataFrame:
    """One row per node (see ``SelectionResult.nodes``)."""
    forest = _forest_inside(result)
    trees = forest.joined()
    if trees is None:
        raise OptionError(
            "There are no trees to show.\n  Nothing is selected: the model is a constant."
        )
    design = result.design
    bins = forest.own_bins(design.arrays)
    return tidy_trees(trees, design.spec, design.arrays, forest.groups, bins)


def _forest_inside(result: Fit) -> Model:
    """The trees behind the selection: the sparse forest if there is one."""
    return result.model if result.subforest is None else result.subforest


# --- importances on the path -------------------------------------------------------------------


def importance_path_table(result: Fit) -> pd.DataFrame:
    """One row per step and unit (see ``SelectionResult.importance_path``)."""
    import pandas as pd

    names = np.array(result.design.arrays.groups.names, dtype=object)
    ever = np.flatnonzero(np.any([step.selected for step in result.steps], axis=0))
    order = ever[falling(result.steps[-1].importance[ever])]
    rows = [
        (step.size, step.tuning, names[g], bool(step.selected[g]), float(step.importance[g]))
        for step in result.steps
        for g in order
    ]
    return pd.DataFrame(rows, columns=["k", "tuning", "term", "selected", "importance"])


# --- associations ------------------------------------------------------------------------------


def association_table(result: Fit) -> pd.DataFrame:
    """How strongly selected terms go together in the data, whatever the model says.

    Returns
    -------
    pandas.DataFrame
        One row per pair of the thirty most important terms, strongest first: ``term``, ``other``,
        ``measure`` (``"Spearman"``, ``"correlation ratio"`` or ``"Cramer's V"``; see
        :func:`treeselect.designs.modeldata.association`) and ``association``, in [0, 1]. Of terms
        with several columns the strongest of their columns' associations.

    Raises
    ------
    DataError
        If the model was saved without its data.
    """
    import pandas as pd

    measured = Associations(result.design)
    rows = [
        (term, other, *measured.terms(term, other))
        for term, other in itertools.combinations(result.selected[:_ASSOCIATED_TERMS], 2)
    ]
    frame = pd.DataFrame(rows, columns=["term", "other", "measure", "association"])
    return frame.iloc[falling(frame["association"].to_numpy(float))].reset_index(drop=True)
