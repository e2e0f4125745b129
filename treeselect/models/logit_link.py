"""The logit link for fitted probabilities that are numerically 0 or 1."""

from __future__ import annotations

import numpy as np
from statsmodels.genmod.families import links

from treeselect.engine.arrays import FloatArray


class Logit(links.Logit):
    """The logit, whose second derivative is finite at 0 and 1.

    statsmodels moves probabilities of 0 and 1 inwards in the first derivative and in the variance,
    but not in the second derivative. There 0 times infinity made all robust standard errors
    missing as soon as one fitted probability was 1.
    """

    def deriv2(self, p: FloatArray) -> FloatArray:
        """Second derivative at probabilities of shape (n_rows,)."""
        inside = self._clean(np.asarray(p, dtype=np.float64))
        return (2 * np.asarray(p) - 1) / (inside * (1 - inside)) ** 2
