"""Additive models of binned columns, and the test whether another group adds to one.

An additive model is one value per code and column. The score test counts the search.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.basis import AdditiveColumns
from treeselect.engine.linear.columns import Gram, in_parts, in_row_space
from treeselect.engine.losses import RowLoss

RIDGES = (1.0, 10.0, 100.0, 1000.0)
"""Penalties that out-of-sample errors choose from."""

MOST_LEVERAGE = 0.95
"""Most leverage of a row that is left out: its own prediction is not known any better."""

_STEPS, _HALVINGS, _NEAR = 50, 20, 1e-4

_GAIN, _RESIDUAL, _MOST_GRADIENTS = 1e-9, 0.3, 200
"""Of several outputs: shares of the loss that the last step may gain, and of the slope that each
may leave, and the most conjugate gradients of a step."""

_SLACK = 1e-9
"""Share of their mean that is added to the diagonal elements of a matrix, so that it has an inverse
where columns are combinations of others."""


@dataclass(frozen=True, slots=True)
class AdditiveFit:
    """A penalised additive generalised linear model: coefficients (n_functions, n_outputs),
    constants, 0 where the loss has none, and the linear predictor (n_rows, n_outputs), base
    included. `outside` is the same without the row, or its fold, by one Newton step (approximate
    leave-one-out; Beirami et al. 2017), `error` its mean loss, and `effects_outside`, (n_groups,
    n_rows, n_outputs), each group's part in it. `mean_outside` is by how much the mean of the
    linear predictor is lower without the row."""

    coef: FloatArray
    constant: FloatArray
    eta: FloatArray
    outside: FloatArray
    mean_outside: FloatArray
    effects_outside: FloatArray
    error: float
    has_constant: bool = True


def fit_additive(
    columns: AdditiveColumns,
    groups: Sequence[int],
    loss: RowLoss,
    base: FloatArray,
    *,
    has_constant: bool = True,
    folds: IntArray | None = None,
    ridges: Sequence[float] = RIDGES,
) -> AdditiveFit:
    """Fit a penalised additive model by Newton steps, at the ridge of least error outside; `base`,
    (n_rows, n_outputs), is the linear predictor of the constant model, offset included."""
    x, penalty, direction = columns.groups(groups)
    kept, first = np.ones(len(x), dtype=np.bool_), int(has_constant)
    while True:
        error, (own, own_penalty, turned) = np.inf, in_row_space(x[kept], penalty[kept])
        gram = Gram(np.concatenate([np.ones((first, x.shape[1])), own]))
        del own  # a copy is enough
        own_penalty = np.concatenate([np.zeros(first), own_penalty])
        near, inverses = np.zeros((len(own_penalty), base.shape[1])), None
        for i, ridge in enumerate(sorted(ridges, reverse=True) if len(groups) else [0.0]):
            near = _newton(columns.weight, gram, ridge * own_penalty, loss, base, near, inverses)
            eta = base + gram.x.T @ near
            lower, inverses = _steps_outside(columns, gram, ridge * own_penalty, loss, eta, folds)
            outside = eta - np.einsum("fi,kfi->ik", gram.x, lower)
            own_error = float(np.average(loss.value(_flat(outside)), weights=columns.weight))
            if i == 0 or own_error < error:
                error, best, steps = own_error, (eta, outside), (near, np.moveaxis(lower, 0, 2))
        coef, moved = np.zeros((len(x), base.shape[1])), np.zeros((len(x), *base.shape))
        coef[kept], moved[kept] = (turned(step[first:]) for step in steps)
        wrong = (direction[:, np.newaxis] * coef < 0).any(axis=1)
        if not wrong.any():
            break
        kept &= ~wrong  # what must not fall, and would, stays level
    constant = steps[0][0] if has_constant else np.zeros(base.shape[1])
    ends = np.cumsum([0, *(len(values) for values, _ in columns.each(groups))])
    by_group = np.array([
        (x[a:b, :, np.newaxis] * (coef[a:b, np.newaxis] - moved[a:b])).sum(axis=0)
        for a, b in itertools.pairwise(ends)
    ])  # fmt: skip
    mean_outside = np.tensordot(np.average(gram.x, 1, columns.weight), steps[1], 1)
    return AdditiveFit(coef, constant, *best, mean_outside, by_group, error, has_constant)


def _newton(
    weight: FloatArray,
    gram: Gram,
    penalty: FloatArray,
    loss: RowLoss,
    base: FloatArray,
    coef: FloatArray,
    inverses: FloatArray | None,
) -> FloatArray:
    """Coefficients of least penalised loss, from some that are near: Newton steps, halved as long
    as they do not lower the loss; of several outputs by conjugate gradients, preconditioned by
    the `inverses` of each output's own curvature at a like penalty, or by the mean curvature. What
    all outputs have in common changes the penalty alone, and is taken away."""

    def objective(some: FloatArray, there: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            value = weight @ loss.value(_flat(there))
        return float(value + penalty @ (some**2).sum(axis=1) / 2)

    def curved(some: FloatArray) -> FloatArray:  # the second derivative here times a step
        moved = loss.curvature_times(eta, x.T @ some).reshape(eta.shape)
        more = penalty[:, np.newaxis] + 1e-9  # what all outputs have in common has no curvature
        return np.asarray(x @ (weight[:, np.newaxis] * moved) + more * some)

    x, eta, is_single = gram.x, base + gram.x.T @ coef, base.shape[1] == 1
    least = objective(coef, eta)
    for _ in range(_STEPS if len(x) else 0):
        down, curvature = derivatives(loss, eta)
        slope = x @ (weight[:, np.newaxis] * down) - penalty[:, np.newaxis] * coef
        if is_single or inverses is None:
            matrix = gram.of(weight * curvature.mean(axis=1)) + np.diag(penalty)
            matrix[np.diag_indices(len(x))] += _SLACK * np.trace(matrix) / len(x) + 1e-12
            lower = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
            near = partial(scipy.linalg.cho_solve, (lower, True), check_finite=False)
        else:
            near = partial(_by_output, inverses)
        step = near(slope) if is_single else _conjugate(slope, curved, near)
        for _ in range(_HALVINGS):
            there = base + x.T @ (coef + step)
            value = objective(coef + step, there)
            if value <= least:
                break
            step /= 2
        else:
            break
        moved = float(np.abs(x.T @ step).max())
        gained, least = float((slope * step).sum()), value
        coef, eta = coef + step, there
        if not is_single:
            common = coef.mean(axis=1, keepdims=True)
            coef, eta = coef - common, eta - x.T @ common
            moved *= gained > _GAIN * (1 + least)
        if moved < _NEAR:
            break
    return coef


def _conjugate(
    right: FloatArray,
    times: Callable[[FloatArray], FloatArray],
    near: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """A step whose product is near `right`, by conjugate gradients; `near` solves a like system."""
    from scipy.sparse.linalg import LinearOperator, cg  # loads slowly

    shape = (right.size, right.size)
    matrix, inverse = (
        LinearOperator(shape, lambda v, of=of: of(v.reshape(right.shape)).ravel(), dtype=float)
        for of in (times, near)
    )
    step, _ = cg(matrix, right.ravel(), rtol=_RESIDUAL, maxiter=_MOST_GRADIENTS, M=inverse)
    return np.asarray(step.reshape(right.shape))


def _by_output(matrices: FloatArray, some: FloatArray) -> FloatArray:
    return np.asarray((matrices @ some.T[:, :, np.newaxis])[:, :, 0].T)


def _steps_outside(
    columns: AdditiveColumns,
    gram: Gram,
    penalty: FloatArray,
    loss: RowLoss,
    eta: FloatArray,
    folds: IntArray | None,
) -> tuple[FloatArray, FloatArray]:
    """By how much each coefficient is lower without each row, or its fold, shape (n_outputs,
    n_functions, n_rows), see :class:`AdditiveFit`; and the inverse of the curvature of each output,
    (n_outputs, n_functions, n_functions)."""
    x, weight = gram.x, columns.weight
    steps, inverses = (np.zeros((eta.shape[1], len(x), n)) for n in (x.shape[1], len(x)))
    down, curvature = derivatives(loss, eta)
    for k in range(eta.shape[1]) if len(x) else ():
        curved = weight * curvature[:, k]
        matrix = gram.of(curved) + np.diag(penalty + 1e-12)
        matrix[np.diag_indices(len(x))] += _SLACK * np.trace(matrix) / len(x)
        inverses[k] = np.linalg.inv(matrix)
        if folds is None:
            own = np.matmul(inverses[k], x, out=steps[k])
            once = np.ones_like(weight) if columns.are_copies else weight
            leverage = np.einsum("fi,fi->i", x, own) * curvature[:, k] * once
            own *= once * down[:, k] / (1 - np.minimum(leverage, MOST_LEVERAGE))
            continue
        for fold in np.unique(folds):
            out = folds == fold
            rest = matrix - (x[:, out] * curved[out]) @ x[:, out].T
            step = np.linalg.solve(rest, x[:, out] @ (weight[out] * down[out, k]))
            steps[k][:, out] = step[:, np.newaxis]
    return steps, inverses


_LEAST_CURVATURE = 1e-5


def derivatives(loss: RowLoss, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minus the gradient, and the curvature, at least a little; shape (n_rows, n_outputs)."""
    down, curvature = loss.derivatives(_flat(eta))
    return down.reshape(eta.shape), np.maximum(curvature.reshape(eta.shape), _LEAST_CURVATURE)


def _flat(eta: FloatArray) -> FloatArray:
    """Linear predictors as losses take them."""
    return eta[:, 0] if eta.shape[1] == 1 else eta


_STAGES = ((100, 0.0, 0.15), (300, 0.01, 0.08), (1_000, 1.0, 1.0))
"""Draws of the null distribution, more of them as long as the p-value is between two bounds."""

_CERTAIN, _MANY_ROWS = 1e-5, 200
"""With this many rows, a Bonferroni bound below this needs no draws."""

_LESS_LIKELY = float(np.log(4))
"""Effects that are not linear must be so much more evident: they are less likely, and have more
functions to be found by chance."""

_CELLS, _AT_ONCE = 20_000_000, 100
"""Cells, and draws, that are held at a time."""

_GRID, _FAR = 4_000, 1_200.0
"""Number of tabulated values of a tail, and the largest argument among them."""

_ALIASED = 1e-6
"""Share of a column's squares that others must leave for it to count."""


class ScoreTest(NamedTuple):
    """The p-value, 1 if there is nothing to add, and the evidence of each group, shape
    (n_groups,): minus the log of its own p-value."""

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
    so that it sees a single strong group as well as many weak ones. Their null distribution is that
    of permuted Pearson residuals (of times, martingale residuals; Freedman and Lane 1983), within
    strata; with clusters, that of score contributions of clusters with random signs. The smallest
    p-value over the sums is compared with its own distribution over the same draws (Westfall and
    Young 1993), so that the number of groups, their correlations and the sums looked at are all
    counted. The draws are the same in every call, so that the test has no seed. `explained`,
    (n_rows, n_outputs), is what another model explains of the response less its mean.
    """
    if not others:
        return ScoreTest(1.0, np.empty(0))
    drawn = _Draws(columns, groups, fit, loss, others, explained, strata, clusters)
    found = drawn.evidence(0, 1)
    observed = found[:, 0]
    bound = 2 * len(others) * float(np.exp(-observed.max()))
    if strata is None and drawn.n_units >= _MANY_ROWS and bound < _CERTAIN:
        return ScoreTest(bound, observed)
    for n_draws, low, high in _STAGES:
        found = np.hstack([found, drawn.evidence(found.shape[1], 1 + n_draws)])
        p_value = _p_value(found)
        if p_value <= low or p_value > high:
            break
    return ScoreTest(p_value, observed)


def _p_value(evidence: FloatArray) -> float:
    """P-value of the first column among all, each an equally likely draw; shape (n_groups, 1 +
    n_draws)."""
    sums = np.cumsum(-np.sort(-evidence, axis=0), axis=0)
    sizes = 2 ** np.arange(int(np.log2(len(sums))) + 1)
    negative = -np.round(sums[sizes - 1], 9)
    rank = np.array([np.searchsorted(np.sort(row), row, side="right") for row in negative])
    rank[1:] *= 2  # single groups are looked at first
    least = rank.min(axis=0)
    return float((least <= least[0]).mean())


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
    return np.asarray(-np.log(scipy.special.chdtrc(freedom, _FAR * np.linspace(0, 1, _GRID) ** 2)))


@lru_cache(maxsize=1)
def _orders(n_rows: int) -> NDArray[np.unsignedinteger]:
    """The order of the rows, and random ones, the same in every call; shape (1001, n_rows)."""
    rng = np.random.default_rng(0)
    orders = np.empty((1 + _STAGES[-1][0], n_rows), dtype=np.min_scalar_type(n_rows))
    orders[0] = np.arange(n_rows)
    for order in orders[1:]:
        order[:] = rng.permutation(n_rows)
    return orders


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
        self._columns, self._strata, self._others = columns, strata, others
        self._root = np.sqrt(columns.weight[:, np.newaxis] * curvature)
        self._left = (down - explained) / curvature * self._root
        x = np.concatenate([np.ones((1, len(down))), columns.groups(groups)[0]])
        self._bases = [_orthonormal((x * root).T) for root in self._root.T]
        rank = np.array([basis.any(axis=0).sum() for basis in self._bases])
        freedom = rank / np.maximum(len(down), rank + 1)
        self._variance = (self._left**2).mean(axis=0) / (1 - freedom)
        # Of a residual in another order the model takes as large a part again.
        self._wider = 1 / np.sqrt(1 - freedom)
        self._clusters = None
        self.n_units = len(down)
        if clusters is not None:
            found, self._clusters = np.unique(clusters, return_inverse=True)
            self.n_units = len(found)
        shapes = columns.shapes(others)
        small = len(self._bases) * sum(n for _, n in shapes) * len(down) <= _CELLS
        self._added = list(self._parts(shapes)) if small else None
        self._shapes = shapes

    def evidence(self, begin: int, end: int) -> FloatArray:
        """Evidence of each group, (n_groups, end - begin), as observed (number 0) and under some
        draws."""
        if self._added is not None and self._clusters is None and end - begin > _AT_ONCE:
            some = range(begin, end, _AT_ONCE)
            return np.hstack([self.evidence(at, min(at + _AT_ONCE, end)) for at in some])
        found = np.zeros((len(self._others), end - begin))
        drawn = self._residuals if self._clusters is None else self._signs
        draws = drawn(begin, end)
        for places, parts, n_leading in self._added or self._parts(self._shapes):
            first, every = np.zeros((2, len(places), end - begin))
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

    def _residuals(self, begin: int, end: int) -> list[FloatArray]:
        """Pearson residuals of each output in the order of some draws; (n_draws, n_rows)."""
        place = _orders(len(self._left))[begin:end]
        if self._strata is not None:
            order, drawn = np.argsort(self._strata, kind="stable"), place
            within = np.argsort(self._strata[drawn], axis=1, kind="stable")
            place = np.empty_like(drawn)
            place[:, order] = np.take_along_axis(drawn, within, axis=1)
        return self._widened([left.take(place) for left in self._left.T], begin)

    def _signs(self, begin: int, end: int) -> list[FloatArray]:
        signs = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (end, self.n_units))
        signs[0] = 1.0
        return self._widened([signs[begin:].copy() for _ in self._left.T], begin)

    def _widened(self, draws: list[FloatArray], begin: int) -> list[FloatArray]:
        """Draws on the scale of what is observed, which is number 0."""
        for own, wider in zip(draws, self._wider, strict=True):
            own[1 if begin == 0 else 0 :] *= wider
        return draws

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
            for at in in_parts(places, cells, _CELLS):
                groups = [self._others[i] for i in at.tolist()]
                values = np.stack([values.T for values, _ in self._columns.each(groups)])
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
    whole = (columns**2).sum(axis=-2) if whole is None else whole
    found = np.zeros_like(columns)
    for j in range(columns.shape[-1]):  # a QR keeps what rounding leaves of such a one
        left, before = columns[..., [j]], found[..., :j]
        for _ in range(2):  # once leaves rounding errors of what is taken away
            left = left - before @ (before.swapaxes(-1, -2) @ left)
        squares = (left**2).sum(axis=-2)
        kept = squares > _ALIASED * np.maximum(whole[..., [j]], 1e-300)
        found[..., j] = left[..., 0] * (kept / np.sqrt(np.where(kept, squares, 1.0)))
    return found
