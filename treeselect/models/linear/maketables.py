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
    """One model in a table of several."""

    table: pd.DataFrame  # as returned by :func:`coefficient_frame`
    response: str  # head of the column
    statistics: Mapping[str, Any]  # ``N``, ``r2``, ``aic`` and others, by the keys of maketables
    below: tuple[str, ...]
    errors: str = ""  # type of the standard errors
    groups: str = ""  # variable of the clusters of cluster-robust standard errors
    labels: Mapping[str, str] = field(default_factory=dict)  # labels of coefficients that have one


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
    """A table of coefficients with the column names of maketables."""
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
