"""Real data sets, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from treeselect.arguments.checks import found_near, is_one_of
from treeselect.datasets.simulated import shipped, simulate_correlated_titanic
from treeselect.errors import DataError, listing

if TYPE_CHECKING:
    import pandas as pd


def load_gbsg2() -> pd.DataFrame:
    """Load the German Breast Cancer Study Group trial: hormone therapy and seven markers.

    Women with node-positive breast cancer, recruited from 1984 to 1989, and their recurrence-free
    survival times [1]_ [2]_.

    Returns
    -------
    pandas.DataFrame
        A new frame at each call: 686 rows, 10 columns, no missing values, the response last.

        ==============  =======  ===================================================
        column          type     meaning
        ==============  =======  ===================================================
        ``horTh``       text     hormone therapy with tamoxifen: ``no``, ``yes``
        ``age``         integer  years, 21 to 80
        ``menostat``    text     menopausal status: ``Pre``, ``Post``
        ``tsize``       integer  tumour size in mm, 3 to 120
        ``tgrade``      text     tumour grade: ``I``, ``II``, ``III``
        ``pnodes``      integer  positive lymph nodes, 1 to 51
        ``progrec``     integer  progesterone receptor in fmol/mg, 0 to 2380
        ``estrec``      integer  oestrogen receptor in fmol/mg, 0 to 1144
        ``time``        integer  recurrence-free survival in days, 8 to 2659
        ``cens``        integer  1: recurrence or death (299 rows), 0: censored
        ==============  =======  ===================================================

    Notes
    -----
    ``cens`` keeps its published name, but 1 is the event, not censoring. The copy comes unchanged
    from the Python package lifelines 0.30.3 (MIT licence).

    References
    ----------
    .. [1] M. Schumacher, G. Bastert, H. Bojar and others (1994). Randomized 2 x 2 trial evaluating
       hormonal treatment and the duration of chemotherapy in node-positive breast cancer patients.
       Journal of Clinical Oncology 12(10).
    .. [2] W. Sauerbrei, P. Royston (1999). Building multivariable prognostic and diagnostic models:
       transformation of the predictors by using fractional polynomials. Journal of the Royal
       Statistical Society A 162(1).

    Examples
    --------
    >>> from treeselect.datasets import load_gbsg2
    >>> women = load_gbsg2()
    >>> women.shape, int(women["cens"].sum())
    ((686, 10), 299)
    """
    return shipped("gbsg2")


def _colon() -> pd.DataFrame:
    """The chips as rows: the file has a row for each gene, in thousandths, which is far smaller."""
    chips = shipped("colon").set_index("gene").rename_axis(index=None).T / 1000
    tissues = chips.index.str.partition("_").get_level_values(0)
    return chips.assign(tissue=tissues.to_numpy()).reset_index(drop=True)


_LOADERS: dict[str, Callable[[], pd.DataFrame]] = {
    "titanic": partial(shipped, "titanic"),
    "titanic_correlated": lambda: simulate_correlated_titanic().data,
    "gbsg2": load_gbsg2,
    "bodyfat": partial(shipped, "bodyfat"),
    "german_credit": partial(shipped, "german_credit"),
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
