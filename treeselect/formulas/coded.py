"""A matrix that formulaic made, to make it again from other rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.quiet import own_filters

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings about infinite values, which are found afterwards, or deprecations."""
    with np.errstate(all="ignore"), own_filters():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, slots=True)
class FormulaicMatrix:
    """formulaic's own matrix of terms.

    Attributes
    ----------
    matrix : pandas.DataFrame
    term_of : list of int, length n_columns
        Number of the term, -1 for the intercept.
    spec : formulaic.ModelSpec
        How it was made.
    """

    matrix: pd.DataFrame
    term_of: list[int]
    spec: Any

    __repr__ = brief

    @property
    def without_rows(self) -> FormulaicMatrix:
        """The same without its rows."""
        return replace(self, matrix=self.matrix.iloc[:0].copy())

    @property
    def levels(self) -> dict[str, list[Any]]:
        """Levels of each factor that formulaic coded, by its name."""
        states = ((name, state) for name, (_, state) in self.spec.encoder_state.items())
        return {name: list(state["categories"]) for name, state in states if "categories" in state}

    def again(self, frame: pd.DataFrame, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """The columns for other rows, shape (n_rows, n_columns).

        Parameters
        ----------
        frame, values
            As in :func:`treeselect.formula.formulaic_matrix`. Labels that are not among the levels
            are 0 in all columns.

        Raises
        ------
        Exception
            Of many kinds, if formulaic can't make the columns.
        """
        with quiet():
            found = self.spec.get_model_matrix(frame, context=values, na_action="ignore")
        return np.asarray(found[list(self.matrix.columns)], dtype=np.float64)
