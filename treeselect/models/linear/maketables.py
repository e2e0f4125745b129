"""Columns of regression tables, in the form that the package maketables expects.

maketables, which need not be installed, looks for attributes whose names start with
``__maketables_``; :class:`Tabled` provides them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.shown import shown

if TYPE_CHECKING:
    import pandas as pd

SAME_ROWS, OTHER_ROWS = "the same rows", "other rows"
"""Rows on which the terms of a model were selected."""

_LABELS = {
    "selection": "Terms selected on",
    "deviance": "Deviance",
    "events": "Events",
    "folds": "Folds",
    "imputations": "Imputations",
    "score": "Score",
    "reference": "Reference",
}
"""Labels of statistics unknown to maketables."""


@dataclass(frozen=True, slots=True)
class ModelColumn:
    """One model in a table of several.

    Attributes
    ----------
    table : pandas.DataFrame
        As returned by :func:`coefficient_frame`.
    response : str
        Head of the column.
    statistics : mapping of str to number or str
        ``N``, ``r2``, ``aic`` and others, by the keys of maketables.
    below : tuple of str
        Keys of the statistics below the coefficients, unless others are requested.
    errors : str
        Type of the standard errors.
    groups : str
        Variable of the clusters of cluster-robust standard errors; otherwise "".
    labels : mapping of str to str
        Labels of coefficients that have one.
    """

    table: pd.DataFrame
    response: str
    statistics: Mapping[str, Any]
    below: tuple[str, ...]
    errors: str = ""
    groups: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


class Tabled:
    """A model that maketables can display."""

    __slots__ = ()

    @abstractmethod
    def _column(self) -> ModelColumn:
        """The column of the table."""

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        return self._column().table

    def __maketables_stat__(self, key: str) -> Any:
        return self._column().statistics.get(key)

    @property
    def __maketables_depvar__(self) -> str:
        return shown(self._column().response)

    @property
    def __maketables_var_labels__(self) -> dict[str, str]:
        return {shown(name): shown(label) for name, label in self._column().labels.items()}

    @property
    def __maketables_stat_labels__(self) -> dict[str, str]:
        return dict(_LABELS)

    @property
    def __maketables_default_stat_keys__(self) -> list[str]:
        column = self._column()
        return [key for key in column.below if key in column.statistics]

    @property
    def __maketables_vcov_info__(self) -> dict[str, str]:
        column = self._column()
        found = {"vcov_type": column.errors} if column.errors else {}
        return found | ({"clustervar": shown(column.groups)} if column.groups else {})


def changed_labels(table: pd.DataFrame, printed: pd.DataFrame) -> dict[str, str]:
    """Names of coefficients and their printed labels, where the two differ."""
    pairs = zip(table["column"], printed["column"], strict=True)
    return {str(name): str(label) for name, label in pairs if name != label}


def coefficient_frame(table: pd.DataFrame, *, has_tests: bool) -> pd.DataFrame:
    """A table of coefficients with the column names of maketables.

    Parameters
    ----------
    table : pandas.DataFrame
        ``column``, ``estimate``, ``std_error``, ``statistic``, ``p_value``, and 95% intervals in
        ``ci_low`` and ``ci_high``.
    has_tests : bool
        Whether the p-values are valid. Otherwise they are NaN, so that no stars are drawn.

    Returns
    -------
    pandas.DataFrame
        Columns ``b``, ``se``, ``t``, ``p``, ``ci95l`` and ``ci95u``; the index is ``Coefficient``.
    """
    import pandas as pd

    names = {
        "b": "estimate", "se": "std_error", "t": "statistic", "p": "p_value", "ci95l": "ci_low",
        "ci95u": "ci_high",
    }  # fmt: skip
    frame = pd.DataFrame(
        {own: table[name].to_numpy(dtype=np.float64) for own, name in names.items()},
        index=pd.Index([shown(str(name)) for name in table["column"]], name="Coefficient"),
    )
    return frame if has_tests else frame.assign(p=np.nan)
