"""Time to recurrence of breast cancer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
    import pandas as pd

    return pd.read_parquet(Path(__file__).parents[1] / "data" / "gbsg2.parquet")
