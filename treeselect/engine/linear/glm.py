"""Generalised linear models of whole groups of columns: one fit, and all that are a group larger.

Fits are by Newton's steps (Fisher scoring, as the links are canonical) on columns that are made
orthonormal before; those that are a group larger are made together. For the squared error they are
projections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.linear.columns import in_parts
from treeselect.engine.losses import Loss

_ALIASED = 1e-10
"""Share of its squared length that a column must have outside the others to count."""

_EXPLAINED = 1e-6
"""Share of the constant model's deviance below which all is explained."""

_EXPLAINED_SQUARES = 1e-10
"""The same for sums of squares, which come nearer to 0."""

_ROUNDING = 1e-24
"""Sum of squares around the mean, relative to that around 0, that is nothing."""

_NOTHING = 1e-7
"""Deviance that is nothing, also where the constant model's is little."""

_MOST_STEPS = 200
_TOLERANCE = 1e-8
"""Promised decrease of the deviance at which steps end: the next one would be its square."""

_TOLD = 1e-12
"""Share of a deviance that its sum over the rows still tells."""

_KEPT = 0.25
"""Share of what it promised that a step must keep, or the next one is damped."""

_LEAST_DAMPING = 1e-3
"""Of the mean curvature."""

_RIDGE = 1e-9
"""What is added to curvatures, relative to their mean: where rows are all but certain there is
none."""

_CHEAP_STEPS, _LITTLE, _BEYOND = 3, 0.05, 8.0
"""Steps by the curvature of the fit nearby, before bounds are taken. What is left to gain is then
at most so many times what the next one promises, if this is little of what was gained or lost: 2e
times for classes that separate, with coefficients that never come to rest."""

_CLEAR = 0.4
"""Share of the constant model's deviance below which classes may be about to separate: bounds by a
few steps do not hold."""

_CELLS = 2_000_000
"""Numbers held at once for the fits that are made together."""


@dataclass(frozen=True, slots=True)
class GlmFit:
    """A fit of some groups: orthonormal columns times the roots of the weights, (n_rows, rank), the
    constant first, and their coefficients, (rank, n_free), aliased ones not counted. `misfit` is -2
    log-likelihood, less that of a perfect fit where there is one; for the squared error ``n log(RSS
    / n)``; not below that at which all is explained."""

    groups: BoolArray
    basis: FloatArray
    coef: FloatArray
    misfit: float
    n_coefs: int


class Glm:
    """A response and groups of columns, which have mean 0 and variance 1 under the weights, `mass`.
    Columns ``start[g]`` to ``start[g + 1] - 1`` are those of group g; there may be none.
    `best_misfit` is that of a fit that explains all."""

    def __init__(
        self,
        x: FloatArray,
        start: IntArray,
        y: FloatArray,
        mass: FloatArray,
        loss: Loss,
        offset: FloatArray | None = None,
    ) -> None:
        self._start, self._y, self._mass, self._loss = start, y, mass, loss
        self._rows = loss.of(y, mass)
        self._root = np.sqrt(mass)
        self._x = x * self._root[:, np.newaxis]
        self._given_offset = offset
        self._offset = np.zeros(len(y)) if offset is None else offset
        self._total = float(mass.sum())
        self._free = np.arange(loss.n_outputs)
        if loss.n_outputs > 1:  # the most frequent class is what the others are compared with
            counts = np.bincount(y.astype(np.int64), mass, loss.n_outputs)
            self._free = np.delete(self._free, counts.argmax())
        self._least_loss = float(mass @ self._rows.least())
        self._target = self._root * (y - self._offset) if loss.is_squared else None
        self._constant = self._constant_start()
        self._explained = 0.0
        nothing = np.zeros(len(start) - 1, dtype=bool)
        self._null = null = self.fit(nothing)
        self._spans: dict[int, FloatArray] = {}
        if self._target is not None:
            left = self._target - null.basis @ null.coef[:, 0]
            rounding = _ROUNDING * float(self._target @ self._target)
            self._explained = max(_EXPLAINED_SQUARES * float(left @ left), rounding)
        else:
            self._explained = max(_EXPLAINED * null.misfit, _NOTHING)
        self.best_misfit = float(self._misfit(np.zeros(1))[0])

    def fit(self, groups: BoolArray, near: GlmFit | None = None) -> GlmFit:
        """The fit of some groups, from one that is near."""
        basis = self._basis(np.flatnonzero(np.repeat(groups, np.diff(self._start))))
        if self._target is not None:
            coef = (basis.T @ self._target)[:, np.newaxis]
            left = self._target - basis @ coef[:, 0]
            lack = np.array([left @ left])
        else:
            columns = (basis / self._root[:, np.newaxis])[np.newaxis]
            firsts = [np.zeros((basis.shape[1], len(self._free)))]
            firsts[0][0] = self._constant
            if near is not None:
                firsts.append(basis.T @ (near.basis @ near.coef))
            # Without some columns the others may be far off: the better one of the two.
            lacks = [self._lack_at(columns, first) for first in firsts]
            found, lack = self._newton(columns, firsts[int(np.argmin(lacks))][np.newaxis])
            coef = found[0]
        return GlmFit(groups, basis, coef, float(self._misfit(lack)[0]), coef.size)

    def additions(
        self, fit: GlmFit, groups: IntArray, price: float | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Misfit of the fits with one more group, and how many more coefficients each has; both of
        shape (n_candidates,). If a coefficient has a price, only the misfits of those are exact
        that may be the best one; the others' are too high."""
        misfit, added = np.full(len(groups), np.inf), np.zeros(len(groups), dtype=np.int64)
        exact = np.ones(len(groups), dtype=bool)
        if price is not None and self._has_bounds(fit):
            low = misfit.copy()
            for at in self._together(fit, groups):
                parts, ranks = self._parts(fit, groups[at])
                misfit[at], low[at] = self._bounds_with(fit, parts)
                added[at] = ranks * len(self._free)
            cost = np.where(added > 0, price * added, np.inf)
            exact = np.where(added > 0, low, np.inf) + cost <= (misfit + cost).min(initial=np.inf)
        for place in self._together(fit, groups[exact]):
            at = np.flatnonzero(exact)[place]
            parts, ranks = self._parts(fit, groups[at])
            if self._target is not None:
                left = self._target - fit.basis @ fit.coef[:, 0]
                lack = np.maximum(left @ left - ((left @ parts) ** 2).sum(axis=1), 0.0)
            else:
                lack = self._lack_with(fit, parts)
            misfit[at], added[at] = self._misfit(lack), ranks * len(self._free)
        return misfit, added

    def removals(
        self, fit: GlmFit, groups: IntArray, price: float | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Misfit of the fits without one of their groups, and how many coefficients less each has;
        both of shape (n_candidates,). The price is that of :meth:`additions`."""
        misfit, gone = np.empty(len(groups)), np.empty(len(groups), dtype=np.int64)
        members = np.flatnonzero(fit.groups).tolist()
        ends = np.cumsum([0, *(self._alone(g).shape[1] for g in members)]).tolist()
        exact = np.ones(len(groups), dtype=bool)
        is_told = self._target is not None or (price is not None and self._has_bounds(fit))
        if is_told and fit.basis.shape[1] == 1 + ends[-1]:
            # No column is a combination of other groups': how far coefficients are from 0 tells it
            # all, or by how much the first step away from the fit should raise the misfit.
            own = [np.empty((len(self._y), 0)), *map(self._alone, members)]
            inverse = np.asarray(np.linalg.inv(fit.basis[:, 1:].T @ np.hstack(own)), np.float64)
            way = {g: inverse[slice(*at)].T for g, at in zip(members, pairwise(ends), strict=True)}
            ways = [way[g] for g in groups.tolist()]
            gone = np.array([own.shape[1] for own in ways], dtype=np.int64)
            if self._target is not None:
                lack = float(((self._target - fit.basis @ fit.coef[:, 0]) ** 2).sum())
                coef = [np.linalg.qr(own)[0].T @ fit.coef[1:, 0] for own in ways]
                return self._misfit(np.array([lack + own @ own for own in coef])), gone
            misfit, low = self._bounds_without(fit, ways)
            saved = (price or 0.0) * gone
            exact = low - saved <= (misfit - saved).min(initial=np.inf)
        for i in np.flatnonzero(exact).tolist():
            other = self.fit(_without(fit.groups, groups[i]), fit)
            misfit[i], gone[i] = other.misfit, fit.n_coefs - other.n_coefs
        return misfit, gone

    def eta(self, fit: GlmFit) -> FloatArray:
        """Linear predictor, the offset included; shape (n_rows,) or (n_rows, n_outputs)."""
        linear = (fit.basis @ fit.coef) / self._root[:, np.newaxis]
        return self._full(linear + self._offset[:, np.newaxis])

    def _basis(self, columns: IntArray) -> FloatArray:
        """Orthonormal columns that span the constant and these."""
        constant = (self._root * (self._loss.has_constant / np.sqrt(self._total)))[:, np.newaxis]
        if not len(columns):
            return constant
        q, r, _ = scipy.linalg.qr(self._x[:, columns], mode="economic", pivoting=True)
        rank = int((np.diag(r) ** 2 > _ALIASED * self._total).sum())
        return np.hstack([constant, q[:, :rank]])

    def _together(self, fit: GlmFit, groups: IntArray) -> Iterator[IntArray]:
        """Places of groups with the same number of columns, as many as may be held at once."""
        widths = np.diff(self._start)[groups]
        for width in np.unique(widths[widths > 0]):
            places = np.flatnonzero(widths == width)
            size = len(self._y) * (width + (0 if self._target is not None else fit.basis.shape[1]))
            yield from in_parts(places, size, _CELLS)

    def _parts(self, fit: GlmFit, groups: IntArray) -> tuple[FloatArray, IntArray]:
        """What groups of one width add to the basis, shape (n_candidates, n_rows, width): columns
        that are orthonormal or 0; and the number of those that are not."""
        width = self._start[groups[0] + 1] - self._start[groups[0]]
        columns = self._start[groups][:, np.newaxis] + np.arange(width)
        block = self._x[:, columns.ravel()]
        block = block - fit.basis @ (fit.basis.T @ block)
        parts = block.reshape(len(self._y), len(groups), width).transpose(1, 0, 2)
        values, vectors = np.linalg.eigh(parts.transpose(0, 2, 1) @ parts)
        counts = values > _ALIASED * self._total
        scale = np.where(counts, 1 / np.sqrt(np.where(counts, values, 1.0)), 0.0)
        return parts @ (vectors * scale[:, np.newaxis]), counts.sum(axis=1)

    def _lack_with(self, fit: GlmFit, parts: FloatArray) -> FloatArray:
        """Deviance of the fits on the basis and one of the parts each."""
        n, rank = len(parts), fit.basis.shape[1]
        columns = np.empty((n, len(self._y), rank + parts.shape[2]))
        columns[:, :, :rank], columns[:, :, rank:] = fit.basis, parts
        columns /= self._root[:, np.newaxis]
        first = np.zeros((n, columns.shape[2], len(self._free)))
        first[:, :rank] = fit.coef
        return self._newton(columns, first)[1]

    def _alone(self, g: int) -> FloatArray:
        """Orthonormal columns that span those of a group."""
        if g not in self._spans:
            parts = np.empty((1, len(self._y), 0))
            if self._start[g] < self._start[g + 1]:
                parts, _ = self._parts(self._null, np.array([g]))
            self._spans[g] = parts[0][:, parts[0].any(axis=0)]
        return self._spans[g]

    def _has_bounds(self, fit: GlmFit) -> bool:
        """Whether fits around this one are compared by bounds first: not where classes separate."""
        is_clear = fit.misfit < _CLEAR * self._null.misfit
        return self._target is None and self._loss.n_outputs == 1 and not is_clear

    def _bounds_with(self, fit: GlmFit, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds, from above and below, of the misfits of the fits on the basis and one of the
        parts each."""
        base, parts = fit.basis / self._root[:, np.newaxis], parts / self._root[:, np.newaxis]
        eta, curved = self._around(fit, base)
        inverse = np.linalg.inv(curved)
        n_fits, n_rows, width = parts.shape
        cross = base.T @ self._curved(eta[np.newaxis], parts.transpose(1, 0, 2).reshape(n_rows, -1))
        parts = parts - base @ (inverse @ cross).reshape(-1, n_fits, width).transpose(1, 0, 2)
        turned = parts.transpose(0, 2, 1)

        def change(there: FloatArray) -> tuple[FloatArray, FloatArray]:
            curved = self._curved(there, parts.reshape(-1, width)).reshape(parts.shape)
            spread, slopes = turned @ curved, self._slopes(there)
            ridge = _RIDGE * np.trace(spread, axis1=1, axis2=2) / width + 1e-300
            new = turned @ slopes[..., np.newaxis]
            step = np.linalg.solve(spread + ridge[:, np.newaxis, np.newaxis] * np.eye(width), new)
            old = slopes @ base
            back = old @ inverse
            promised = (new * step).sum(axis=(1, 2)) + (old * back).sum(axis=1)
            return (parts @ step)[..., 0] + back @ base.T, promised

        return self._bounds(eta, np.tile(eta, (n_fits, 1)), change)

    def _bounds_without(
        self, fit: GlmFit, ways: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds, from above and below, of the misfits of the fits whose coefficients are 0 along
        some ways each."""
        base = fit.basis / self._root[:, np.newaxis]
        eta, curved = self._around(fit, base)
        spaces = [
            np.linalg.qr(np.vstack([np.zeros(way.shape[1]), way]), "complete") for way in ways
        ]
        rest = [q[:, r.shape[1] :] for q, r in spaces]
        inverses = [np.linalg.inv(own.T @ curved @ own) for own in rest]

        def steps(slopes: FloatArray) -> FloatArray:
            parts = zip(rest, inverses, slopes, strict=True)
            return np.array([own @ (inverse @ (slope @ own)) for own, inverse, slope in parts])

        def change(there: FloatArray) -> tuple[FloatArray, FloatArray]:
            slopes = self._slopes(there) @ base
            found = steps(slopes)
            return found @ base.T, (slopes * found).sum(axis=1)

        first = steps(np.tile(curved @ fit.coef[:, 0], (len(ways), 1)))
        return self._bounds(eta, first @ base.T + self._offset, change)

    def _bounds(
        self,
        eta: FloatArray,
        there: FloatArray,
        change: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds of misfits after a few steps, which change linear predictors, (n_fits, n_rows),
        from those near that of a fit, and promise a decrease of the deviance."""
        own, lack = self._lacks(eta[np.newaxis]), self._lacks(there)
        for _ in range(_CHEAP_STEPS):
            more, _ = change(there)
            found = self._lacks(there + more)
            there = np.where((found < lack)[:, np.newaxis], there + more, there)
            lack = np.minimum(found, lack)
        promised = change(there)[1]
        low = np.where(promised <= _LITTLE * np.abs(own - lack), lack - _BEYOND * promised, -np.inf)
        return self._misfit(lack), self._misfit(low)

    def _around(self, fit: GlmFit, base: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Linear predictor of a fit, and its curvature."""
        eta = base @ fit.coef[:, 0] + self._offset
        curved = base.T @ self._curved(eta[np.newaxis], base)
        curved[np.diag_indices(len(curved))] += _RIDGE * np.trace(curved) / len(curved) + 1e-300
        return eta, curved

    def _curved(self, eta: FloatArray, directions: FloatArray) -> FloatArray:
        """Weighted curvature at several linear predictors times directions, as the loss has
        them."""
        curved = self._rows.repeated(len(eta)).curvature_times(eta.ravel(), directions)
        return curved * np.tile(self._mass, len(eta))[:, np.newaxis]

    def _slopes(self, eta: FloatArray) -> FloatArray:
        """Slopes of the rows at several linear predictors, shape (n_fits, n_rows)."""
        found = self._rows.repeated(len(eta)).negative_gradient(eta.ravel())
        return found.reshape(eta.shape) * self._mass

    def _lacks(self, eta: FloatArray) -> FloatArray:
        return self._deviance(eta[:, :, np.newaxis])

    def _misfit(self, lack: FloatArray) -> FloatArray:
        """From sums of squares or deviances to what a criterion is made of."""
        lack = np.maximum(lack, self._explained)
        if self._target is None:
            return lack
        return np.asarray(self._total * np.log(np.maximum(lack, 1e-300) / self._total))

    def _newton(self, columns: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients of several fits, shape (n_fits, n_columns, n_free), and their deviances. A
        step that falls short of what it promised is damped the next time (Levenberg, Marquardt):
        rows that are told wrongly, but with certainty, have no curvature to go by."""
        coef, eta = coef.copy(), columns @ coef + self._offset[:, np.newaxis]
        lack, damping = self._deviance(eta), np.zeros(len(coef))
        moving = np.arange(len(coef))
        for _ in range(_MOST_STEPS):
            own = columns if len(moving) == len(columns) else columns[moving]
            step, promised = self._step(own, eta[moving], damping[moving])
            there = eta[moving] + own @ step
            found = self._deviance(there)
            is_less = found <= lack[moving]
            decrease = np.where(is_less, lack[moving] - found, 0.0)
            taken = moving[is_less]
            coef[taken] += step[is_less]
            eta[taken], lack[taken] = there[is_less], found[is_less]
            told = np.maximum(_TOLERANCE, _TOLD * lack[moving])
            at_rest = (promised <= told) & (damping[moving] == 0)
            damping[moving] = _damped(damping[moving], decrease >= _KEPT * promised)
            moving = moving[~at_rest & (lack[moving] > self._explained)]
            if not len(moving):
                break
        return coef, lack

    def _step(
        self, columns: FloatArray, eta: FloatArray, damping: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Newton's step of each fit, and by how much the deviance should fall."""
        n_fits, n_columns, n_free = len(columns), columns.shape[2], eta.shape[2]
        full = self._full(eta.reshape(-1, eta.shape[2]))
        rows = self._rows.repeated(n_fits)
        down = rows.negative_gradient(full).reshape(len(full), -1)
        slope = (down if self._loss.n_outputs == 1 else down[:, self._free]).reshape(eta.shape)
        gradient = columns.transpose(0, 2, 1) @ (slope * self._mass[:, np.newaxis])
        size = n_free * n_columns
        if self._loss.n_outputs == 1:
            curved = rows.curvature_times(full, columns.reshape(-1, n_columns))
            curved = curved.reshape(columns.shape) * self._mass[:, np.newaxis]
            flat = columns.transpose(0, 2, 1) @ curved
        else:
            flat = self._hessians(columns, full).reshape(n_fits, size, size)
        ridge = (_RIDGE + damping) * np.trace(flat, axis1=1, axis2=2) / size + 1e-300
        flat = flat + ridge[:, np.newaxis, np.newaxis] * np.eye(size)
        right = gradient.transpose(0, 2, 1).reshape(n_fits, size, 1)
        step = np.linalg.solve(flat, right)
        promised = (right * step).sum(axis=(1, 2))
        return step.reshape(n_fits, n_free, n_columns).transpose(0, 2, 1), promised

    def _full(self, eta: FloatArray) -> FloatArray:
        """Linear predictors as the loss has them, the class that others are compared with at 0;
        from shape (n, n_free)."""
        if self._loss.n_outputs == 1:
            return np.ascontiguousarray(eta[:, 0])
        full = np.zeros((len(eta), self._loss.n_outputs))
        full[:, self._free] = eta
        return full

    def _lack_at(self, columns: FloatArray, coef: FloatArray) -> float:
        lack = float(self._deviance(columns @ coef + self._offset[:, np.newaxis])[0])
        return lack if np.isfinite(lack) else np.inf

    def _constant_start(self) -> FloatArray:
        """Coefficient of the constant model, shape (n_free,); 0 where there is none."""
        with np.errstate(divide="ignore"):
            best = np.atleast_1d(self._loss.constant(self._y, self._mass, self._given_offset))
        if self._loss.n_outputs > 1:
            reference = np.delete(np.arange(len(best)), self._free)
            best = best[self._free] - best[reference]
        best = np.where(np.isfinite(best), best, 0.0)
        return np.asarray(best * np.sqrt(self._total))

    def _deviance(self, eta: FloatArray) -> FloatArray:
        """Of several linear predictors, shape (n_fits, n_rows, n_free); infinite where means are
        too large to be told."""
        full = self._full(eta.reshape(-1, eta.shape[2]))
        with np.errstate(over="ignore", invalid="ignore"):
            loss = self._rows.repeated(len(eta)).value(full)
            return np.asarray(2 * (loss.reshape(len(eta), -1) @ self._mass - self._least_loss))

    def _hessians(self, columns: FloatArray, full: FloatArray) -> FloatArray:
        """Second derivatives of several fits in the coefficients of the free classes, shape
        (n_fits, n_free, n_columns, n_free, n_columns); of each part one triangle is computed."""
        n_fits, n_rows, n_columns = columns.shape
        p = scipy.special.softmax(full, axis=1)[:, self._free].reshape(n_fits, n_rows, -1)
        n_free = p.shape[2]
        hessian = np.empty((n_fits, n_free, n_columns, n_free, n_columns))
        for k in range(n_free):
            for m in range(k + 1):
                weight = p[..., k] * ((k == m) - p[..., m]) * self._mass
                block = columns.transpose(0, 2, 1) @ (columns * weight[..., np.newaxis])
                hessian[:, k, :, m], hessian[:, m, :, k] = block, block
        return hessian


def _damped(damping: FloatArray, is_kept: BoolArray) -> FloatArray:
    """Damping of the next step: none, or a tenth or ten times that of the last one."""
    less = np.where(damping > _LEAST_DAMPING, damping / 10, 0.0)
    return np.where(is_kept, less, np.maximum(10 * damping, _LEAST_DAMPING))


def _without(groups: BoolArray, g: int) -> BoolArray:
    rest = groups.copy()
    rest[g] = False
    return rest
