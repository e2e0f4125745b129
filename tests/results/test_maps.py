"""Maps: where values stand, and what is at each pair of them."""

from __future__ import annotations

import numpy as np

from treeselect.results.curves import shape_map
from treeselect.results.shapes import shape_table


def test_every_pair_of_values_stands_at_its_place(fitted):
    found = shape_map(fitted._fit, "site", "signal")
    table = shape_table(fitted._fit, "site", "signal")
    assert found.x == ("Bath", "Leeds", "York", "missing")
    assert (found.x_label, found.y_label) == ("site", "signal")
    assert [float(text) for text in found.y] == sorted(float(text) for text in found.y)
    assert np.isfinite(found.means).sum() == len(table)
    assert found.scale == "P(died = True)"
    column = found.means[:, found.x.index("York")]
    own = table.loc[table["site"] == "York"].sort_values("signal")["mean"]
    np.testing.assert_array_equal(column[np.isfinite(column)], own)
