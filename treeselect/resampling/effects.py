"""Which way terms go, how far, and how sure that is: the numbers that are kept of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least, slack
from treeselect.models.probing import ResampledReadings

LEAST_RESAMPLES = 20
"""An interval from fewer would be little more than their range."""

TOLERANCE = 0.1
"""How much a curve that goes up may fall anywhere, as a share of what it rises."""

ENDS = 0.025
"""Share of the rows at either end of a curve that has no say in its direction."""

UP, DOWN, MIXED, FLAT = "up", "down", "mixed", "flat"
BY_LEVEL, JOINT = "by level", "joint"
DIRECTIONS = (UP, DOWN, MIXED, FLAT, BY_LEVEL, JOINT)

QUARTILES, RANGE, VALUES, LEVELS, NONE = "quartiles", "range", "values", "levels", "none"
STEPS = (QUARTILES, RANGE, VALUES, LEVELS, NONE)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A step of a term.

    Attributes
    ----------
    term : int
        Its number.
    step : {"quartiles", "range", "values", "levels", "none"}
    start, end : str
        Values or levels in words; "" if there is no step.
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
        From 0 to 1, and what the resamples make of it; missing where there is none.
    size : ndarray of float, shape (n_pairs,)
        Root mean square of the interaction, on the scale of the prediction.
    count : ndarray of int64, shape (n_pairs,)
        Resamples in which the strength was found.
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
        Of each term, for each output.
    contrasts : tuple of Contrast
        At least one for each term, in their order.
    effect, low, high : ndarray of float, shape (n_contrasts, n_outputs)
        Change of the mean prediction, and what the resamples make of it; missing where there is
        none.
    count : ndarray of int64, shape (n_contrasts,)
        Resamples in which the effect was found.
    curve_low, curve_high : ndarray of float, shape (n_points, n_outputs)
        The same about the points of all shapes, term after term.
    curve_size : ndarray of int64, shape (n_terms,)
        Points of each.
    n_resamples : int
    interactions : InteractionRecord or None
        None if they were not read in resamples.
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
        """Low and high of the shape of a term, each of shape (n_points, n_outputs)."""
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
        Where the start and the end of each step stand among `fitted`; -1 if there is no step.
    fitted : ndarray of float, shape (n_ends, n_outputs)
        What the fit's model says at the ends.
    curve_size : sequence of int
        Points of the shape of each term.
    resampled : sequence of ResampledReadings
        What the models of resamples say there.
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
    """Strengths of the fit, with intervals from the resamples.

    Parameters
    ----------
    fitted : ndarray of float, shape (n_pairs, 2)
        Strength and size in the fit's model.
    resampled : sequence of ndarray of float, shape (n_pairs, 1)
        In the models of resamples, missing where it is not known.
    """
    low, high, count = intervals(_stacked(resampled, (len(pairs), 1)))
    strength, size = fitted.T
    return InteractionRecord(tuple(pairs), strength, low[:, 0], high[:, 0], size, count[:, 0])


def steps(at_ends: FloatArray, ends: IntArray) -> FloatArray:
    """What each step changes, shape (n_contrasts, n_outputs); missing where there is none."""
    found = np.full((len(ends), at_ends.shape[1]), np.nan)
    there = ends[:, 0] >= 0
    found[there] = at_ends[ends[there, 1]] - at_ends[ends[there, 0]]
    return found


def intervals(values: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Percentiles 2.5 and 97.5 over the resamples, where at least 20 know a value.

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
    """Which way a curve goes.

    Up if it nowhere falls, from any point to any later one, by more than a tenth of its largest
    rise; down the other way about; flat if it does not move at all; mixed otherwise. Points at
    either end that hold no more than a fortieth of the rows together have no say: a single extreme
    row is no direction.

    Parameters
    ----------
    curve, share : ndarray of float, shape (n_points,)
        Its heights along the axis, and how many rows there are at each point.
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
    """Points up to which, from either end, there are more than a fortieth of the rows."""
    few = ENDS * share.sum()
    below, above = np.cumsum(share), np.cumsum(share[::-1])[::-1]
    return np.asarray(~at_least(few, below) & ~at_least(few, above))


def _stacked(parts: Sequence[FloatArray], shape: tuple[int, int]) -> FloatArray:
    return np.stack(parts) if parts else np.empty((0, *shape))
