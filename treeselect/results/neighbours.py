"""Which terms resemble which in the data, whatever a model says."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import check_count, found_near, is_one_of
from treeselect.designs.association import Coded, association, coded_number
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, listing

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.designs.modeldata import ModelData
    from treeselect.results.result import SelectionResult

_MEASURES = ("Spearman", "correlation ratio", "Cramer's V")
"""By the number of factors among two terms."""

_MOST_LISTED = 1_000_000
"""Most neighbours of a term that can be asked for."""


class Associations:
    """How strongly terms and units go together in the data of a fit.

    Each column is coded once, when it is first asked for. Of terms and units with several columns
    the strongest of their columns' associations counts.

    Raises
    ------
    DataError
        If the model was saved without its data.
    """

    def __init__(self, data: ModelData) -> None:
        data.check_data()
        self._arrays = data.arrays
        self._weight = data.weight.astype(np.float64)
        self._coded: dict[int, Coded] = {}
        self._columns: dict[str, list[int]] = {}
        for j, term in enumerate(data.arrays.column_names):
            self._columns.setdefault(term, []).append(j)

    def terms(self, term: str, other: str) -> tuple[str, float]:
        """Name of the measure and strength in [0, 1] of two terms."""
        first, second = self._columns[term], self._columns[other]
        n_factors = sum(self._column(own[0]).is_factor for own in (first, second))
        return _MEASURES[n_factors], self._strongest(first, second)

    def units(self, unit: str, other: str) -> float:
        """Strength in [0, 1] of two units."""
        groups = self._arrays.groups
        first, second = (
            np.flatnonzero(groups.ids == groups.names.index(name)).tolist()
            for name in (unit, other)
        )
        return self._strongest(first, second)

    def _strongest(self, first: Sequence[int], second: Sequence[int]) -> float:
        return max(
            association(self._column(a), self._column(b), self._weight)
            for a, b in itertools.product(first, second)
        )

    def _column(self, j: int) -> Coded:
        if j not in self._coded:
            column = self._arrays.columns[j]
            if self._arrays.n_levels[j] is None:
                self._coded[j] = coded_number(column)
            else:  # 0 is missing, 255 none of the column's levels
                self._coded[j] = Coded(column.astype(np.int64) - 1, True)
        return self._coded[j]


def neighbour_table(result: SelectionResult, term: str | None, most: int) -> pd.DataFrame:
    """The nearest terms of one term, or of each selected one (see ``SelectionResult.neighbours``).

    Raises
    ------
    OptionError
        If there is no such term, or `most` is no whole number of at least 1.
    DataError
        If the model was saved without its data.
    """
    import pandas as pd

    most = check_count("most", most, least=1, most=_MOST_LISTED)
    known = [spec.term.name for spec in result.design.spec.terms]
    if term is not None and not is_one_of(term, known):
        raise OptionError(
            "`term` must be a term of the formula, or None.\n"
            f"{found_near(term, known, f'Terms: {listing(known)}.')}"
        )
    measured = Associations(result.design)
    selected = set(result.selected)
    rows = []
    for own in result.selected if term is None else (term,):
        near_by = [(other, *measured.terms(own, other)) for other in known if other != own]
        order = falling(np.array([strength for _, _, strength in near_by]))[:most]
        rows += [(own, *near_by[i], near_by[i][0] in selected) for i in order]
    return pd.DataFrame(rows, columns=["term", "other", "measure", "association", "selected"])
