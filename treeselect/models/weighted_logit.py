"""Multinomial logit with case weights, which statsmodels' ``MNLogit`` does not take."""

from __future__ import annotations

from typing import Any

import numpy as np
from statsmodels.discrete.discrete_model import MNLogit

from treeselect.engine.arrays import AnyArray, FloatArray


class WeightedMNLogit(MNLogit):
    """``MNLogit`` whose log-likelihood is ``sum_i w_i log P(y_i)``.

    Parameters
    ----------
    endog, exog
        As of ``MNLogit``.
    weights : ndarray of float, shape (n_rows,)
        Above 0.
    """

    def __init__(self, endog: Any, exog: Any, weights: FloatArray, **options: Any) -> None:
        super().__init__(endog, exog, **options)
        self.weights = weights
        self._init_keys.append("weights")  # of the null model

    def _heavy(self, params: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Weights as a column, and the probabilities of the classes."""
        eta = self.exog @ np.reshape(params, (self.K, -1), order="F")
        top = np.maximum(eta.max(axis=1, keepdims=True), 0.0)
        mass = np.exp(np.column_stack((np.zeros(len(eta)), eta)) - top)
        return self.weights[:, np.newaxis], mass / mass.sum(axis=1, keepdims=True)

    def loglikeobs(self, params: AnyArray) -> FloatArray:
        """Weighted log-likelihood of each row and class."""
        weight, share = self._heavy(params)
        return np.asarray(weight * self.wendog * np.log(np.maximum(share, 1e-300)))

    def loglike(self, params: AnyArray) -> float:
        """Weighted log-likelihood."""
        return float(self.loglikeobs(params).sum())

    def score_obs(self, params: AnyArray) -> FloatArray:
        """Weighted scores, shape (n_rows, n_coefficients)."""
        weight, share = self._heavy(params)
        residual = weight * (self.wendog - share)[:, 1:]
        return (residual[:, :, np.newaxis] * self.exog[:, np.newaxis]).reshape(len(residual), -1)

    def score(self, params: AnyArray) -> FloatArray:
        """Sum of :meth:`score_obs`."""
        return np.asarray(self.score_obs(params).sum(axis=0))

    def loglike_and_score(self, params: AnyArray) -> tuple[float, FloatArray]:
        """Both, as the optimisers ask for them."""
        return self.loglike(params), self.score(params)

    def hessian(self, params: AnyArray) -> FloatArray:
        """Second derivatives of the weighted log-likelihood."""
        weight, share = self._heavy(params)
        share = share[:, 1:]
        between = np.einsum("ij,ik->ijk", share, share)
        between -= share[:, :, np.newaxis] * np.eye(share.shape[1])
        blocks = np.einsum("i,ijk,ia,ib->jakb", weight[:, 0], between, self.exog, self.exog,
                           optimize=True)  # fmt: skip
        return blocks.reshape(2 * (share.shape[1] * self.exog.shape[1],))
