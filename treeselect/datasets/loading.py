"""Data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treeselect.arguments.checks import found_near, is_one_of
from treeselect.datasets.gbsg2 import load_gbsg2
from treeselect.datasets.titanic import passengers, simulate_correlated_titanic
from treeselect.errors import DataError, listing

if TYPE_CHECKING:
    import pandas as pd


def _read(name: str) -> pd.DataFrame:
    import pandas as pd

    return pd.read_parquet(Path(__file__).parents[1] / "data" / f"{name}.parquet")


def _colon() -> pd.DataFrame:
    """The chips as rows: the file has a row for each gene, in thousandths, which is far smaller."""
    chips = _read("colon").set_index("gene").rename_axis(index=None).T / 1000
    tissues = chips.index.str.partition("_").get_level_values(0)
    return chips.assign(tissue=tissues.to_numpy()).reset_index(drop=True)


_LOADERS: dict[str, Callable[[], pd.DataFrame]] = {
    "titanic": passengers,
    "titanic_correlated": lambda: simulate_correlated_titanic().data,
    "gbsg2": load_gbsg2,
    "bodyfat": partial(_read, "bodyfat"),
    "german_credit": partial(_read, "german_credit"),
    "colon": _colon,
}


def load(name: str) -> pd.DataFrame:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        ``"titanic"``: the 1309 passengers, with 13 columns of the passenger list, among them text
        and missing values. ``boat`` and ``body`` were recorded after the sinking and reveal the
        response ``survived``.
        ``"titanic_correlated"``: the data of `simulate_correlated_titanic` with its default seed.
        ``"gbsg2"``: the 686 women of `load_gbsg2`, with times to recurrence.
        ``"bodyfat"``: 251 men, age, weight (kg), height and ten circumferences (cm), and the
        percentage of body fat ``siri``, as Heinze, Wallisch and Dunkler (2018) prepared them [1]_.
        ``"german_credit"``: 1000 loans, 20 columns, most of them factors, and the response
        ``credit_risk``, ``good`` or ``bad`` [2]_.
        ``"colon"``: 62 samples of colon tissue, the log10 intensities of 2000 genes, and the
        response ``tissue``, ``tumor`` or ``normal`` [3]_.

    Returns
    -------
    pandas.DataFrame
        A new frame at each call, the response last.

    Raises
    ------
    DataError
        If there is no data set of that name.

    Notes
    -----
    The body-fat data may be distributed freely and used for non-commercial purposes; German credit
    has the licence CC BY 4.0, and the copy of the colon data the MIT licence.
    ``treeselect/data/README.md`` describes sources and columns.

    References
    ----------
    .. [1] R. W. Johnson (1996). Fitting percentage of body fat to simple body measurements. Journal
       of Statistics Education 4(1).
    .. [2] H. Hofmann (1994). Statlog (German Credit Data). UCI Machine Learning Repository.
    .. [3] U. Alon and others (1999). Broad patterns of gene expression revealed by clustering
       analysis of tumor and normal colon tissues probed by oligonucleotide arrays. PNAS 96.

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
