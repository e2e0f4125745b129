"""What every model can do, whoever fitted it."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from treeselect.designs.design import CodedColumns
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.growing.nodes import Trees
from treeselect.models.importing import ImportedBins
from treeselect.models.weighted import WeightedForest


class Model(Protocol):
    """What predicts from selected units.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
        Units whose columns it needs.
    importance : ndarray of float, shape (n_groups,)
        At least 0; 0 for units that it does not use.
    is_link : bool
        Whether :meth:`score` gives the linear predictor, without the offset; otherwise the mean.
    description : str
        What it is, for people.
    note : str or None
        What they should know of its predictions.
    importance_note : str
        What its importances are shares of.
    in_place_note : str
        Who predicts in place of a sparse forest that decided what is selected: the end of a
        sentence, empty where that forest predicts itself.
    sparse : WeightedForest or None
        Itself, if it is such a forest.
    constant : ndarray of float, shape (n_outputs,)
        What its trees add to, or what it predicts without any.
    stored_as : str
        What the names of its arrays in model files begin with.
    """

    @property
    def groups(self) -> BoolArray: ...

    @property
    def importance(self) -> FloatArray: ...

    @property
    def is_link(self) -> bool: ...

    @property
    def tree_weights(self) -> FloatArray:
        """What each tree's values are multiplied by, shape (n_trees,)."""
        ...

    @property
    def tree_shares(self) -> FloatArray:
        """Share of each tree in what they move, shape (n_trees,)."""
        ...

    def joined(self) -> Trees | None:
        """All trees on the columns that :meth:`bin` makes; None if there are none."""
        ...

    def own_bins(self, coded: CodedColumns) -> ImportedBins | None:
        """How the trees tell the columns of :attr:`groups` apart, if not by their edges there."""
        ...

    @property
    def description(self) -> str: ...

    @property
    def note(self) -> str | None: ...

    @property
    def importance_note(self) -> str: ...

    @property
    def in_place_note(self) -> str: ...

    @property
    def sparse(self) -> WeightedForest | None: ...

    @property
    def constant(self) -> FloatArray: ...

    @property
    def stored_as(self) -> str: ...

    def bin(self, coded: CodedColumns, columns: tuple[NDArray[Any], ...]) -> BinnedData:
        """Bin the columns of :attr:`groups` of some rows as the trees want them."""
        ...

    def predict_binned(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Mean response of rows that :meth:`bin` made; shape (n_rows,), or (n_rows, n_classes) for
        more than two classes."""
        ...

    def predict(self, problem: Problem, n_threads: int = 1) -> FloatArray:
        """The same for the rows of a problem."""
        ...

    def score(self, data: BinnedData) -> FloatArray:
        """What the trees add up to, on their own scale; shape (n_rows, n_outputs)."""
        ...

    def without_trees(self, n_rows: int, offset: FloatArray | None = None) -> FloatArray:
        """What the constant model predicts for so many rows."""
        ...
