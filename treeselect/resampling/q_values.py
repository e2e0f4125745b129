"""Efp scores of resamples: whether there can be any, and for which units."""

from __future__ import annotations

from treeselect.arguments.checks import check_count
from treeselect.arguments.scalars import described, finite, whole
from treeselect.engine.arrays import FloatArray
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.false_positives import POWERS, efp_scores
from treeselect.resampling.paths import StabilityPath
from treeselect.resampling.resampled import Resampled

_WAY = '`fit.resample(100, scheme="complementary", path=True)`'


def followed(
    stability: Resampled, wanted: str, way: str = "`fit.resample(100, path=True)`"
) -> StabilityPath:
    """The paths of the resamples; a StabilityError says what can't be told without them, and which
    call gives it."""
    if stability.along is None:
        raise StabilityError(
            f"Can't tell {wanted} without the paths of the resamples.\n  Use {way}."
        )
    return stability.along


def efp_of(stability: Resampled, power: int, cutoff: float, independent_pairs: int) -> FloatArray:
    """Efp scores of the units that are not kept: see ``Stability.q_values``."""
    exponent = whole(power)
    if exponent not in POWERS:
        raise OptionError(f"`power` must be 1, 2 or 3.\n  Found: {described(power)}.")
    wanted = finite(cutoff)
    if wanted is None or wanted <= 0:
        raise OptionError(f"`cutoff` must be a number above 0.\n  Found: {described(cutoff)}.")
    pairs = check_count("independent_pairs", independent_pairs, least=1)
    if not _has_whole_pairs(stability):
        raise StabilityError(
            "Q-values need complementary pairs, whole ones.\n"
            f"  Found: {stability.words}. Use {_WAY}."
        )
    path = followed(stability, "q-values", _WAY)
    n_pairs = min(stability.n_resamples // 2, pairs)
    return efp_scores(path.frequency[:, stability.assessed], n_pairs, exponent, wanted)


def has_q_values(stability: Resampled) -> bool:
    """Whether there can be any."""
    return stability.along is not None and _has_whole_pairs(stability)


def _has_whole_pairs(stability: Resampled) -> bool:
    return stability.scheme == "complementary" and stability.n_resamples % 2 == 0
