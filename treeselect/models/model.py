"""What every final model provides."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from treeselect.designs.problem import CodedColumns, Problem
from treeselect.engine.arrays import BoolArray, FloatArray, WeightArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.growing.nodes import Trees
from treeselect.engine.survival.curves import Baseline, breslow
from treeselect.models.importing import ImportedBins
from treeselect.models.weighted import WeightedForest


class Model(Protocol):
    """A final model: predicts from the selected units.

    Attributes
    ----------
    groups : ndarray of bool, shape (n_groups,)
        Units whose columns it needs.
    importance : ndarray of float, shape (n_groups,)
        At least 0; 0 for units that it does not use.
    is_link : bool
        Whether :meth:`score` gives the linear predictor, without the offset; otherwise the mean.
    description : str
        The model in words, as a noun phrase.
    note : str or None
        What a reader should know about its predictions.
    importance_note : str
        What its importances are shares of.
    in_place_note : str
        Which model predicts instead of a sparse forest that made the selection, as a clause; empty
        if the sparse forest itself predicts.
    sparse : WeightedForest or None
        The model itself, if it is a sparse forest.
    constant : ndarray of float, shape (n_outputs,)
        What its trees add to, or what it predicts without trees.
    stored_as : str
        Prefix of the names of its arrays in model files.
    """

    @property
    def groups(self) -> BoolArray: ...

    @property
    def importance(self) -> FloatArray: ...

    @property
    def is_link(self) -> bool: ...

    @property
    def tree_weights(self) -> FloatArray:
        """Factor of each tree's values, shape (n_trees,)."""
        ...

    @property
    def tree_shares(self) -> FloatArray:
        """Share of each tree in the spread of predictions, shape (n_trees,)."""
        ...

    def joined(self) -> Trees | None:
        """All trees on the columns that :meth:`bin` makes; None if there are none."""
        ...

    def own_bins(self, coded: CodedColumns) -> ImportedBins | None:
        """The trees' own bins of the columns of :attr:`groups`; None for the usual bins."""
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
        """Bin the columns of :attr:`groups` for some rows."""
        ...

    def predict_binned(
        self, data: BinnedData, offset: FloatArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Mean response of binned rows.

        Shape (n_rows,), or (n_rows, n_classes) for more than two classes.
        """
        ...

    def predict(self, problem: Problem, n_threads: int = 1) -> FloatArray:
        """Mean response of the rows of a problem."""
        ...

    def score(self, data: BinnedData) -> FloatArray:
        """Sum or mean of the trees on their own scale, shape (n_rows, n_outputs)."""
        ...

    def without_trees(self, n_rows: int, offset: FloatArray | None = None) -> FloatArray:
        """Predictions of the null model for a number of rows."""
        ...


def baseline_of(
    problem: Problem, weight: WeightArray, model: Model, n_threads: int = 1
) -> Baseline | None:
    """Breslow's estimate of the cumulative hazard at relative risk 1; None for other responses.

    It uses the rows that the model was fitted to.
    """
    family = problem.family
    if not family.has_times:
        return None
    return breslow(problem.y, family.link(model.predict(problem, n_threads)), weight)
