"""The encoded data of one fit: what is kept so that later calls need no data argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.algorithms.base import Problem
from treeselect.design import Design, IntArray
from treeselect.encoding import DesignSpec
from treeselect.formula import model_matrix
from treeselect.response import Response

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ModelData:
    """Encoded data and how they were encoded.

    Attributes
    ----------
    arrays : Design
        Columns, groups and bins; nothing of pandas.
    spec : DesignSpec
        Encodes new data in the same way.
    response : Response
    weight : ndarray of int64, shape (n_rows,)
        Case weights of the rows with a known response, 1 without weights.
    notes : tuple of str
        What a reader should know of the data.
    sources : pandas.DataFrame
        The columns behind the terms, for :meth:`model_matrix`.
    library : str
        Library of the user's data, in which tables are given.
    """

    arrays: Design
    spec: DesignSpec
    response: Response
    weight: IntArray
    notes: tuple[str, ...]
    sources: pd.DataFrame
    library: str = "pandas"

    @property
    def problem(self) -> Problem:
        """What a method sees."""
        return Problem(
            self.arrays.binned, self.arrays.groups, self.response.y, self.response.family
        )

    def model_matrix(self, *, full_rank: bool = False) -> pd.DataFrame:
        """formulaic's own matrix of the right-hand side, without an intercept.

        Parameters
        ----------
        full_rank : bool
            Drop a reference level of each factor.

        Returns
        -------
        pandas.DataFrame
            Only the rows without a missing value in any variable, under their numbers among the
            rows with a known response.
        """
        complete = self.sources.dropna()
        terms = [spec.term for spec in self.spec.terms]
        return model_matrix(
            self.spec.formula.text,
            complete,
            terms,
            full_rank=full_rank,
            trusted=self.spec.trusted,
        )
