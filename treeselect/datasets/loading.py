"""Data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treeselect.arguments.checks import found_near, is_one_of
from treeselect.datasets.gbsg2 import load_gbsg2
from treeselect.datasets.titanic import passengers, simulate_correlated_titanic
from treeselect.errors import DataError, listing

if TYPE_CHECKING:
    import pandas as pd

_LOADERS: dict[str, Callable[[], pd.DataFrame]] = {
    "titanic": passengers,
    "titanic_correlated": lambda: simulate_correlated_titanic().data,
    "gbsg2": load_gbsg2,
}


def load(name: str) -> pd.DataFrame:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        ``"titanic"``: the 1309 passengers, 13 columns as in the passenger list, with text and
        missing values. ``boat`` and ``body`` were recorded after the sinking and give the response
        ``survived`` away.
        ``"titanic_correlated"``: the data of `simulate_correlated_titanic` with its default seed.
        ``"gbsg2"``: the 686 women of `load_gbsg2`, time to recurrence last.

    Returns
    -------
    pandas.DataFrame
        A new frame at each call, the response last.

    Raises
    ------
    DataError
        If there is no data set of that name.

    Examples
    --------
    >>> from treeselect import datasets
    >>> titanic = datasets.load("titanic")
    >>> titanic.shape
    (1309, 14)
    >>> int(titanic["survived"].sum())
    500
    """
    if not is_one_of(name, _LOADERS):
        raise DataError(
            "`name` must be the name of a data set.\n"
            f"{found_near(name, _LOADERS, f'Data sets: {listing(_LOADERS)}.')}"
        )
    return _LOADERS[name]()
