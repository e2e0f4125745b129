"""Which terms resemble which in the data, whatever a model says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import check_count, found_near, is_one_of
from treeselect.designs.modeldata import Associations
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, listing

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


_MOST_LISTED = 1_000_000
"""Most neighbours of a term that can be asked for."""


def neighbour_table(result: Fit, term: str | None, most: int) -> pd.DataFrame:
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
