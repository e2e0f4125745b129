"""Effects of terms: direction, size and intervals, as stored in a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least, slack
from treeselect.models.probing import ResampledReadings

LEAST_RESAMPLES = 20
"""Fewest resamples for an interval: with fewer it would be little more than their range."""

TOLERANCE = 0.1
"""Largest fall of a curve that counts as increasing, as a share of its rise."""

ENDS = 0.025
"""Share of the rows at either end of a curve that is ignored for its direction."""

UP, DOWN, MIXED, FLAT = "up", "down", "mixed", "flat"
BY_LEVEL, JOINT = "by level", "joint"
DIRECTIONS = (UP, DOWN, MIXED, FLAT, BY_LEVEL, JOINT)

QUARTILES, RANGE, VALUES, LEVELS, NONE = "quartiles", "range", "values", "levels", "none"
STEPS = (QUARTILES, RANGE, VALUES, LEVELS, NONE)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A contrast between two values of a term.

    Attributes
    ----------
    term : int
        Number of the term.
    step : {"quartiles", "range", "values", "levels", "none"}
    start, end : str
        Values or levels as text; empty if there is no contrast.
    """

    term: int
    step: str
    start: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class InteractionRecord:
    """Strengths of interactions.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Terms.
    strength, low, high : ndarray of float, shape (n_pairs,)
        From 0 to 1, with its interval over the resamples; missing if there is none.
    size : ndarray of float, shape (n_pairs,)
        Root mean square of the interaction, on the scale of the prediction.
    count : ndarray of int64, shape (n_pairs,)
        Number of resamples in which the strength is known.
    """

    pairs: tuple[tuple[str, str], ...]
    strength: FloatArray
    low: FloatArray
    high: FloatArray
    size: FloatArray
    count: IntArray


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """Effects of terms.

    Attributes
    ----------
    terms : tuple of str
        Most important first.
    directions : tuple of tuple of str
        Direction of each term, for each output.
    contrasts : tuple of Contrast
        At least one per term, in the order of the terms.
    effect, low, high : ndarray of float, shape (n_contrasts, n_outputs)
        Change of the mean prediction, with its interval over the resamples; missing if there is
        none.
    count : ndarray of int64, shape (n_contrasts,)
        Number of resamples in which the effect is known.
    curve_low, curve_high : ndarray of float, shape (n_points, n_outputs)
        Interval limits at the points of all curves, term after term.
    curve_size : ndarray of int64, shape (n_terms,)
        Number of points of each curve.
    n_resamples : int
    interactions : InteractionRecord or None
        None if they were not computed on resamples.
    """

    terms: tuple[str, ...]
    directions: tuple[tuple[str, ...], ...]
    contrasts: tuple[Contrast, ...]
    effect: FloatArray
    low: FloatArray
    high: FloatArray
    count: IntArray
    curve_low: FloatArray
    curve_high: FloatArray
    curve_size: IntArray
    n_resamples: int
    interactions: InteractionRecord | None = None

    __repr__ = brief

    def band(self, term: str) -> tuple[FloatArray, FloatArray]:
        """Interval limits of the curve of a term, each of shape (n_points, n_outputs)."""
        at = self.terms.index(term)
        first = int(self.curve_size[:at].sum())
        here = slice(first, first + int(self.curve_size[at]))
        return self.curve_low[here], self.curve_high[here]


def effect_record(
    terms: Sequence[str],
    directions: Sequence[tuple[str, ...]],
    contrasts: Sequence[Contrast],
    ends: IntArray,
    fitted: FloatArray,
    curve_size: Sequence[int],
    resampled: Sequence[ResampledReadings],
) -> EffectRecord:
    """Effects of the fit, with intervals from the resamples.

    Parameters
    ----------
    ends : ndarray of int64, shape (n_contrasts, 2)
        Positions in `fitted` of the start and the end of each contrast; -1 if there is none.
    fitted : ndarray of float, shape (n_ends, n_outputs)
        Mean predictions of the fit's model at the ends.
    curve_size : sequence of int
        Number of points of the curve of each term.
    resampled : sequence of ResampledReadings
        The same of the models of the resamples.
    """
    n_outputs = fitted.shape[1]
    n_points = int(sum(curve_size))
    found = [steps(own.ends, ends) for own in resampled]
    low, high, count = intervals(_stacked(found, (len(contrasts), n_outputs)))
    curves = _stacked([own.curve for own in resampled], (n_points, n_outputs))
    curve_low, curve_high, _ = intervals(curves)
    return EffectRecord(
        terms=tuple(terms),
        directions=tuple(directions),
        contrasts=tuple(contrasts),
        effect=steps(fitted, ends),
        low=low,
        high=high,
        count=count.min(axis=1, initial=len(resampled)),
        curve_low=curve_low,
        curve_high=curve_high,
        curve_size=np.array(curve_size, dtype=np.int64),
        n_resamples=len(resampled),
    )


def interaction_record(
    pairs: Sequence[tuple[str, str]], fitted: FloatArray, resampled: Sequence[FloatArray]
) -> InteractionRecord:
    """Interaction strengths of the fit, with intervals from the resamples.

    Parameters
    ----------
    fitted : ndarray of float, shape (n_pairs, 2)
        Strength and size in the fit's model.
    resampled : sequence of ndarray of float, shape (n_pairs, 1)
        Strength in the models of the resamples, missing where unknown.
    """
    low, high, count = intervals(_stacked(resampled, (len(pairs), 1)))
    strength, size = fitted.T
    return InteractionRecord(tuple(pairs), strength, low[:, 0], high[:, 0], size, count[:, 0])


def steps(at_ends: FloatArray, ends: IntArray) -> FloatArray:
    """Value of each contrast, shape (n_contrasts, n_outputs); missing if there is none."""
    found = np.full((len(ends), at_ends.shape[1]), np.nan)
    there = ends[:, 0] >= 0
    found[there] = at_ends[ends[there, 1]] - at_ends[ends[there, 0]]
    return found


def intervals(values: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Percentiles 2.5 and 97.5 over the resamples, if the value is known in at least 20.

    Parameters
    ----------
    values : ndarray of float, shape (n_resamples, n, n_outputs)

    Returns
    -------
    low, high : ndarray of float, shape (n, n_outputs)
    count : ndarray of int64, shape (n, n_outputs)
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    low, high = np.full(count.shape, np.nan), np.full(count.shape, np.nan)
    for place in zip(*np.nonzero(count >= LEAST_RESAMPLES), strict=True):
        own = values[:, *place][known[:, *place]]
        low[place], high[place] = np.quantile(own, [0.025, 0.975])
    return low, high, count.astype(np.int64)


def direction(curve: FloatArray, share: FloatArray) -> str:
    """Direction of a curve.

    "up" if no fall, from any point to any later one, exceeds a tenth of the largest rise; "down"
    for the reverse; "flat" if the curve is constant; "mixed" otherwise. Points at either end that
    together hold at most a fortieth of the rows are ignored, so that a single extreme row does not
    determine the direction.

    Parameters
    ----------
    curve, share : ndarray of float, shape (n_points,)
        Heights along the axis, and the number of rows at each point.
    """
    curve = curve[_inner(share)]
    if len(curve) == 0:
        return FLAT
    rise = float((curve - np.minimum.accumulate(curve)).max())
    fall = float((np.maximum.accumulate(curve) - curve).max())
    if max(rise, fall) <= slack(curve):
        return FLAT
    if at_least(TOLERANCE * rise, fall):
        return UP
    return DOWN if at_least(TOLERANCE * fall, rise) else MIXED


def _inner(share: FloatArray) -> BoolArray:
    """Points that have more than a fortieth of the rows up to them from either end."""
    few = ENDS * share.sum()
    below, above = np.cumsum(share), np.cumsum(share[::-1])[::-1]
    return np.asarray(~at_least(few, below) & ~at_least(few, above))


def _stacked(parts: Sequence[FloatArray], shape: tuple[int, int]) -> FloatArray:
    return np.stack(parts) if parts else np.empty((0, *shape))
