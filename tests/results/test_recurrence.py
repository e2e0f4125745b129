"""How often selected units recur on resamples."""

import dataclasses

import numpy as np

from treeselect.results.verdict import each_selected_all, kept_units, sizes_of_resamples


def drawn(fit, counts, *, kept=(), n=20):
    """Resamples of a fit of which so many, the first ones, selected each unit."""
    units = fit._fit.resampled.units
    selected = np.array([np.arange(n) < counts.get(unit, 0) for unit in units]).T
    return dataclasses.replace(
        fit._fit.resampled, selected=selected, assessed=~np.isin(units, list(kept))
    )


def test_what_is_kept_and_sizes_of_resamples(fitted):
    first, second = fitted.groups
    resampled = drawn(fitted, {first: 20, second: 5}, kept=[first])
    assert kept_units(resampled) == {first}
    assert sizes_of_resamples(drawn(fitted, {first: 20, second: 5})) == (1, 2)
    assert not each_selected_all(drawn(fitted, {first: 20}))
    assert each_selected_all(drawn(fitted, dict.fromkeys(fitted._fit.resampled.units, 20)))
