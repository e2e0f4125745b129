"""Whether any group of columns adds to an additive model: a score test that counts the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.additive import AdditiveColumns, AdditiveFit, derivatives
from treeselect.engine.row_losses import RowLoss

_STAGES = ((100, 0.0, 0.15), (300, 0.01, 0.08), (1_000, 1.0, 1.0))
"""Draws of the null distribution, more of them as long as the p-value is between two bounds."""

_CERTAIN, _MANY_ROWS = 1e-5, 200
"""With this many rows, a Bonferroni bound below this needs no draws."""

_LESS_LIKELY = float(np.log(4))
"""Effects that are not linear must be so much more evident: they are less likely, and have more
functions to be found by chance."""

_CELLS = 20_000_000
"""Cells that are held at a time."""

_GRID, _FAR = 4_000, 1_200.0
"""Number of tabulated values of a tail, and the largest argument among them."""

_ALIASED = 1e-6
"""Share of a column's squares that others must leave for it to count."""


class ScoreTest(NamedTuple):
    """The result of a test.

    Attributes
    ----------
    p_value : float
        1 if there is nothing to add.
    evidence : ndarray of float, shape (n_groups,)
        Minus the log of the p-value of each group tested by itself.
    """

    p_value: float
    evidence: FloatArray


def score_test(
    columns: AdditiveColumns,
    groups: Sequence[int],
    fit: AdditiveFit,
    loss: RowLoss,
    others: Sequence[int],
    *,
    explained: FloatArray | float = 0.0,
    strata: IntArray | None = None,
    clusters: IntArray | None = None,
) -> ScoreTest:
    """Test that no other group adds to an additive model.

    For each group, the efficient score statistics of its leading functions (a slope, or effects of
    levels) and of all its functions are computed, and the smaller of their two p-values, minus its
    log, is the evidence of the group. The test uses the sums of the 1, 2, 4, ... largest evidences,
    so that it sees a single strong group as well as many weak ones. Their null distribution is
    that of permuted Pearson residuals (of times, martingale residuals; Freedman and Lane 1983),
    within strata; with clusters, that of score contributions of clusters with random signs. The
    smallest p-value over the sums is compared with its own distribution over the same draws
    (Westfall and Young 1993), so that the number of groups, their correlations and the sums looked
    at are all counted.

    The draws are the same in every call, so that the test has no seed.

    Parameters
    ----------
    columns : AdditiveColumns
    groups : sequence of int
        Groups of the model.
    fit : AdditiveFit
    loss : RowLoss
    others : sequence of int
        Groups to add.
    explained : ndarray of float, shape (n_rows, n_outputs), optional
        What another model explains of the response less its mean under the additive model.
    strata : ndarray of int64, shape (n_rows,), optional
    clusters : ndarray of int64, shape (n_rows,), optional
    """
    if not others:
        return ScoreTest(1.0, np.empty(0))
    drawn = _Draws(columns, groups, fit, loss, others, explained, strata, clusters)
    observed = drawn.evidence(0)[:, 0]
    bound = 2 * len(others) * float(np.exp(-observed.max()))
    if strata is None and drawn.n_units >= _MANY_ROWS and bound < _CERTAIN:
        return ScoreTest(bound, observed)
    for n_draws, low, high in _STAGES:
        p_value = _p_value(drawn.evidence(n_draws))
        if p_value <= low or p_value > high:
            break
    return ScoreTest(p_value, observed)


def _p_value(evidence: FloatArray) -> float:
    """P-value of the first column among all, each an equally likely draw; shape (n_groups, 1 +
    n_draws)."""
    sums = np.cumsum(-np.sort(-evidence, axis=0), axis=0)
    n = sums.shape[1]
    sizes = 2 ** np.arange(int(np.log2(len(sums))) + 1)
    rank = scipy.stats.rankdata(-np.round(sums[sizes - 1], 9), axis=1, method="max")
    rank[1:] *= 2  # single groups are looked at first
    least = rank.min(axis=0)
    return float((least <= least[0]).sum() / n)


def evidence_of(statistic: FloatArray, freedom: float) -> FloatArray:
    """Minus the log of the upper tail of a chi-squared distribution, interpolated: far more values
    are needed than their last digits."""
    place = np.sqrt(np.minimum(statistic, _FAR) / _FAR) * (_GRID - 1)
    below = np.minimum(place.astype(np.int32), _GRID - 2)
    known = _tail(freedom)
    return known[below] + (place - below) * np.diff(known)[below]


@lru_cache(maxsize=128)
def _tail(freedom: float) -> FloatArray:
    """Minus the log of the upper tail, at arguments whose roots are equidistant."""
    return np.asarray(-scipy.stats.chi2.logsf(_FAR * np.linspace(0, 1, _GRID) ** 2, freedom))


@lru_cache(maxsize=1)
def _orders(n_rows: int) -> NDArray[np.int32]:
    """Random orders of rows, the same in every call; shape (1000, n_rows)."""
    rng = np.random.default_rng(0)
    return np.array([rng.permutation(n_rows) for _ in range(_STAGES[-1][0])], dtype=np.int32)


class _Draws:
    """Evidence of groups under draws from the null distribution."""

    def __init__(
        self,
        columns: AdditiveColumns,
        groups: Sequence[int],
        fit: AdditiveFit,
        loss: RowLoss,
        others: Sequence[int],
        explained: FloatArray | float,
        strata: IntArray | None,
        clusters: IntArray | None,
    ) -> None:
        down, curvature = derivatives(loss, fit.eta)
        if not fit.has_constant:  # of a time, curvature is known no sooner than the time itself
            curvature = np.full_like(curvature, curvature.mean())
        self._columns = columns
        self._root = np.sqrt(columns.weight[:, np.newaxis] * curvature)
        self._left = (down - explained) / curvature * self._root
        x = np.concatenate([np.ones((1, len(down))), columns.groups(groups)[0]])
        self._bases = [_orthonormal((x * root).T) for root in self._root.T]
        freedom = len(x) / max(len(down), len(x) + 1)
        self._variance = (self._left**2).mean(axis=0) / (1 - freedom)
        self._clusters = None
        self.n_units = len(down)
        if clusters is not None:
            found, self._clusters = np.unique(clusters, return_inverse=True)
            self.n_units = len(found)
        self._strata = strata
        self._others = others
        shapes = [columns.shape(group) for group in others]
        small = len(self._bases) * sum(n for _, n in shapes) * len(down) <= _CELLS
        self._added = list(self._parts(shapes)) if small else None
        self._shapes = shapes

    def evidence(self, n_draws: int) -> FloatArray:
        """Evidence of each group, observed and under some draws, shape (n_groups, 1 + n_draws)."""
        found = np.zeros((len(self._others), 1 + n_draws))
        draws = self._signs(n_draws) if self._clusters is not None else self._residuals(n_draws)
        for places, parts, n_leading in self._added or self._parts(self._shapes):
            first, every = np.zeros((2, len(places), 1 + n_draws))
            freedom = np.zeros((len(places), 2))
            for k, part in enumerate(parts):
                score, rank = self._scores(part, draws, k)
                squares = score**2
                first += squares[:, :n_leading].sum(axis=1)
                every += squares.sum(axis=1)
                freedom += np.stack([rank[:, :n_leading].sum(axis=1), rank.sum(axis=1)], axis=1)
            for statistic, own, less in (
                (first, freedom[:, :1], 0.0), (every, freedom[:, 1:], _LESS_LIKELY),
            ):  # fmt: skip
                for freedom_here in np.unique(own[own > 0]).tolist():
                    here = np.flatnonzero(own[:, 0] == freedom_here)
                    told = evidence_of(statistic[here], freedom_here) - less
                    found[places[here]] = np.maximum(found[places[here]], told)
        return found

    def _residuals(self, n_draws: int) -> list[FloatArray]:
        """Pearson residuals of each output, as they are and permuted; (1 + n_draws, n_rows)."""
        n = len(self._left)
        place = np.concatenate([np.arange(n)[np.newaxis], _orders(n)[:n_draws]])
        if self._strata is not None:
            order, drawn = np.argsort(self._strata, kind="stable"), place[1:]
            within = np.argsort(self._strata[drawn], axis=1, kind="stable")
            place[1:, order] = np.take_along_axis(drawn, within, axis=1)
        return [left[place] for left in self._left.T]

    def _signs(self, n_draws: int) -> list[FloatArray]:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (1 + n_draws, self.n_units))
        signs[0] = 1.0
        return [signs] * self._left.shape[1]

    def _scores(
        self, part: FloatArray, draws: list[FloatArray], k: int
    ) -> tuple[FloatArray, BoolArray]:
        """Standardised scores of orthonormal functions, shape (n_groups, n_functions, 1 +
        n_draws), and which functions count."""
        n_groups, n_rows, width = part.shape
        counts = (part**2).sum(axis=1) > 0
        if self._clusters is None:
            flat = part.transpose(0, 2, 1).reshape(-1, n_rows) @ draws[k].T
            return flat.reshape(n_groups, width, -1) / np.sqrt(self._variance[k]), counts
        own = (part * self._left[:, [k]]).transpose(1, 0, 2).reshape(n_rows, -1)
        member = scipy.sparse.csr_array(
            (np.ones(n_rows), (self._clusters, np.arange(n_rows))), (self.n_units, n_rows)
        )
        sums = (member @ own).reshape(self.n_units, n_groups, width).transpose(1, 0, 2)
        spread = sums.transpose(0, 2, 1) @ sums + np.eye(width) * ~counts[:, np.newaxis]
        lower = np.linalg.cholesky(spread + 1e-12 * np.eye(width))
        score = np.linalg.solve(lower, sums.transpose(0, 2, 1))
        return score @ draws[k].T, counts

    def _parts(
        self, shapes: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[IntArray, list[FloatArray], int]]:
        """Groups with equally many leading and other functions: their places, for each output what
        their functions add to the model, orthonormal or 0, shape (n_groups, n_rows, n_functions),
        and the number of leading functions."""
        for shape in sorted(set(shapes) - {(0, 0)}):
            places = np.flatnonzero([own == shape for own in shapes])
            cells = shape[1] * (len(self._left) + _STAGES[-1][0])
            for at in np.array_split(places, max(1, -(-len(places) * cells // _CELLS))):
                groups = [self._others[i] for i in at.tolist()]
                values = np.stack([self._columns.group(group)[0].T for group in groups])
                yield at, [self._beyond(values, k) for k in range(len(self._bases))], shape[0]

    def _beyond(self, values: FloatArray, k: int) -> FloatArray:
        """What functions of groups add to the model of an output."""
        values = values * self._root[:, [k]]
        whole = (values**2).sum(axis=1)
        basis = self._bases[k]
        return _orthonormal(values - basis @ (basis.T @ values), whole)


def _orthonormal(columns: FloatArray, whole: FloatArray | None = None) -> FloatArray:
    """Orthonormal columns that span these one after the other, 0 where one is a combination of
    those before it; shape (..., n_rows, n_columns)."""
    if not columns.shape[-1]:
        return columns
    whole = (columns**2).sum(axis=-2) if whole is None else whole
    q, r = np.linalg.qr(columns)
    kept = np.diagonal(r, axis1=-2, axis2=-1) ** 2 > _ALIASED * np.maximum(whole, 1e-300)
    return np.asarray(q * kept[..., np.newaxis, :])
