"""Generalised linear models of long data, whose least squares are solved block by block of rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from statsmodels.genmod.generalized_linear_model import GLM, GLMResults, GLMResultsWrapper
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

from treeselect.engine.arrays import FloatArray
from treeselect.models.independence import reduced

_MOST_STEPS, _TOLERANCE = 100, 1e-8
"""Of statsmodels' ``GLM.fit``: most steps, and change of the deviance that ends them."""

_SINGULAR = 1e-10
"""Ratio of singular values below which the answer depends on how least squares are solved."""


class LongGLM(GLM):
    """statsmodels' ``GLM`` with the same results, in less time and memory for many rows.

    statsmodels takes a singular value decomposition of the whole matrix in each step of iteratively
    reweighted least squares, and a pseudo-inverse at the end. Here each step takes R of the QR
    decomposition of ``[sqrt(w) X, sqrt(w) z]``, found block by block; ``inv(R' R)`` is the
    covariance. A step that is nearly singular, as when a column separates the classes, is left to
    statsmodels, with all others.
    """

    def initialize(self) -> None:
        """Rank and degrees of freedom, as ``GLM.initialize`` computes them."""
        n_rows = len(self.exog)
        values = np.linalg.svd(reduced(self.exog), compute_uv=False)
        limit = values.max(initial=0.0) * max(self.exog.shape) * np.finfo(np.float64).eps
        self.df_model = int((values > limit).sum()) - 1
        weights = self.freq_weights
        self.wnobs = n_rows if weights is None or len(weights) != n_rows else weights.sum()
        self.df_resid = self.wnobs - self.df_model - 1

    def fit(self, **how: Any) -> Any:
        """Fit by iteratively reweighted least squares.

        Parameters
        ----------
        **how
            ``scale``, ``cov_type``, ``cov_kwds`` and ``use_t`` of ``GLM.fit``. With any other
            argument, this is ``GLM.fit``.
        """
        if set(how) <= {"scale", "cov_type", "cov_kwds", "use_t"} and np.ndim(self.endog) == 1:
            self.scaletype = how.pop("scale", None)
            result = self._in_blocks({"cov_type": "nonrobust"} | how)
            if result is not None:
                return result
        return super().fit(**how)

    def _in_blocks(self, how: dict[str, Any]) -> Any | None:
        """The results; None if a step is nearly singular."""
        family, offset = self.family, self._offset_exposure
        mu = family.starting_mu(self.endog)
        eta = family.predict(mu)
        params = np.zeros(self.exog.shape[1])
        self.scale = self.estimate_scale(mu)
        steps: list[Any] = [np.inf, params]
        deviance = [np.inf, self._deviance(mu)]
        converged, n_steps, separated = False, 0, False
        while not converged and n_steps < _MOST_STEPS:
            self.weights = self.iweights * self.n_trials * family.weights(mu)
            working = eta + family.link.deriv(mu) * (self.endog - mu) - offset
            found = least_squares(self.exog, working, self.weights)
            if found is None:
                return None
            params, covariance = found
            eta = self.exog @ params + offset
            mu = family.fitted(eta)
            steps.append(params)
            deviance.append(self._deviance(mu))
            self.scale = self.estimate_scale(mu)
            separated = separated or np.allclose(mu - self.endog, 0)
            converged = np.allclose(deviance[-2], deviance[-1], atol=_TOLERANCE, rtol=0.0)
            n_steps += 1
        if separated:
            said = "Perfect separation or prediction detected, parameter may not be identified"
            warnings.warn(said, PerfectSeparationWarning, stacklevel=3)
        self.mu = mu
        result = GLMResults(self, params, covariance, self.scale, **how)
        result.method, result.converged = "IRLS", converged
        result.mle_settings = {"wls_method": "qr", "optimizer": "IRLS"}
        result.fit_history = {"params": steps, "deviance": deviance, "iteration": n_steps}
        return GLMResultsWrapper(result)

    def _deviance(self, mu: FloatArray) -> float:
        own = (self.var_weights, self.freq_weights, self.scale)
        return float(self.family.deviance(self.endog, mu, *own))


def least_squares(
    matrix: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Coefficients of weighted least squares, and the inverse of ``X' W X``.

    Parameters
    ----------
    matrix : ndarray of float, shape (n_rows, n_columns)
    y, weight : ndarray of float, shape (n_rows,)

    Returns
    -------
    tuple of ndarray, shapes (n_columns,) and (n_columns, n_columns)
        None if the matrix is nearly singular, or a number is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.models.long_glm import least_squares
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> least_squares(X, y, np.ones(3))[0].round(6).tolist()
    [1.0, 2.0]
    """
    from scipy.linalg import solve_triangular

    n = matrix.shape[1]
    R = np.asarray(np.linalg.qr(reduced(matrix, y, np.sqrt(weight)), mode="r"))
    if len(R) < n or not np.isfinite(R).all():
        return None
    R, moved = R[:n, :n], R[:n, n]
    values = np.linalg.svd(R, compute_uv=False)
    if not values.min() > _SINGULAR * values.max():
        return None
    inverse = solve_triangular(R, np.eye(n))
    return solve_triangular(R, moved), inverse @ inverse.T
