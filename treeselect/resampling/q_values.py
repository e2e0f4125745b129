"""Expected false positives (efp scores) from resamples, where they are defined."""

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
    """The selection paths of the resamples.

    Raises
    ------
    StabilityError
        If they were not followed: what needs them, and the call that follows them.
    """
    if stability.along is None:
        raise StabilityError(
            f"Can't compute {wanted} without the selection paths of the resamples.\n  Use {way}."
        )
    return stability.along


def efp_of(stability: Resampled, power: int, cutoff: float, independent_pairs: int) -> FloatArray:
    """Efp scores of the units that are not forced in: see ``Stability.q_values``."""
    exponent = whole(power)
    if exponent not in POWERS:
        raise OptionError(f"`power` must be 1, 2 or 3.\n  Found: {described(power)}.")
    wanted = finite(cutoff)
    if wanted is None or wanted <= 0:
        raise OptionError(f"`cutoff` must be a number above 0.\n  Found: {described(cutoff)}.")
    pairs = check_count("independent_pairs", independent_pairs, least=1)
    if not _has_whole_pairs(stability):
        raise StabilityError(
            f"Q-values need complete complementary pairs.\n  Found: {stability.words}. Use {_WAY}."
        )
    path = followed(stability, "q-values", _WAY)
    n_pairs = min(stability.n_resamples // 2, pairs)
    return efp_scores(path.frequency[:, stability.assessed], n_pairs, exponent, wanted)


def has_q_values(stability: Resampled) -> bool:
    """Whether q-values are defined."""
    return stability.along is not None and _has_whole_pairs(stability)


def _has_whole_pairs(stability: Resampled) -> bool:
    return stability.scheme == "complementary" and stability.n_resamples % 2 == 0
