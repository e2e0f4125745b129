"""Quantiles and prediction intervals of numeric responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_choice, check_share, described, finite, members
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.data.binning import BinnedData, select_groups
from treeselect.engine.data.targets import are_copies
from treeselect.engine.ensembles.quantiles import leaf_quantiles
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import PRECISION
from treeselect.errors import DataError, OptionError, quoted
from treeselect.models.forest import ForestModel, outside_bags, refit_forest
from treeselect.models.stacked import StackedModel, outside_stack
from treeselect.running.parallel import workers_for

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

QUANTILE = "quantile"
"""Type of prediction that takes `quantiles`."""


def read_quantiles(type: str, quantiles: object) -> FloatArray:
    """Shares of quantiles, each above 0 and below 1, rising.

    Raises
    ------
    OptionError
        If they are something else, or are given for another type of prediction.
    """
    if type != QUANTILE:
        raise OptionError(
            f"`quantiles` must be left out for `type={type!r}`.\n"
            f'  Use `type="{QUANTILE}"` for quantiles.'
        )
    listed = [quantiles] if finite(quantiles) is not None else members(quantiles) or []
    shares = [finite(share) for share in listed]
    known = [float(s) for s in shares if s is not None and 0 < s < 1]
    if not known or len(known) < len(listed) or known != sorted(set(known)):
        raise OptionError(
            "`quantiles` must be increasing numbers above 0 and below 1.\n"
            f"  Found: {described(quantiles)}. Write, for example, `quantiles=(0.05, 0.5, 0.95)`."
        )
    return np.array(known)


def read_level(type: str, interval: object, level: object) -> float | None:
    """Level of a prediction interval; None without one.

    Raises
    ------
    OptionError
        If `interval` or `level` is not allowed, or an interval of another type is wanted.
    """
    found = check_share("level", level)
    if interval is None:
        return None
    check_choice("interval", interval, ("prediction",))
    if type != "response":
        raise OptionError(
            f"`interval` must be left out for `type={type!r}`.\n"
            "  Prediction intervals are on the scale of the response."
        )
    return found


def quantile_columns(
    fit: Fit, new: BinnedData | None, offset: FloatArray | None, shares: FloatArray
) -> dict[str, list[float]]:
    """A column for each share; see :func:`engine.ensembles.quantiles.leaf_quantiles`."""
    design, model = fit.design, fit.model
    assert new is not None
    if not isinstance(model, ForestModel):
        model = refit_forest(
            design.problem, design.row_weights, model.groups, seed=stream_seed(fit.seed, "fit"),
            n_threads=workers_for(fit.n_jobs).n_threads, wants_importance=False,
        )  # fmt: skip
    assert model.trees is not None
    known = 0.0 if design.offset is None else design.offset
    y = design.response.y - known
    data = select_groups(design.arrays.binned, model.groups)
    found = leaf_quantiles(model.trees, data, y, design.weight, new, shares)
    if offset is not None:
        found = found + offset[:, np.newaxis]
    return {f"{share:g}": found[:, k].tolist() for k, share in enumerate(shares)}


def interval_columns(fit: Fit, mean: FloatArray, level: float) -> dict[str, list[float]]:
    """``fit``, ``low`` and ``high``: predictions plus quantiles of the out-of-bag residuals."""
    residual, weight = _residuals(fit)
    tail = (1 - level) / 2
    high, low = _bound(residual, weight, 1 - tail), -_bound(-residual, weight, 1 - tail)
    if not np.isfinite(low) or not np.isfinite(high):
        n = len(residual)
        raise OptionError(
            f"`level` is too high for {n:,} out-of-bag residuals.\n"
            f"  Found: {level:g}. With n residuals it can be at most (n - 1) / (n + 1); try"
            f" {int(1000 * (n - 1) / (n + 1)) / 1000:g}."
        )
    return {"fit": mean.tolist(), "low": (mean + low).tolist(), "high": (mean + high).tolist()}


def _residuals(fit: Fit) -> tuple[FloatArray, WeightArray]:
    """Out-of-bag residuals of the rows that have one, and their weights."""
    design, seed, model = fit.design, stream_seed(fit.seed, "fit"), fit.model
    found = None
    if isinstance(model, StackedModel):
        found = outside_stack(design.problem, design.row_weights, model, seed)
    elif isinstance(model, ForestModel):
        found = outside_bags(design.problem, design.row_weights, model, seed)
        if found is not None and model.is_link:
            found = found + model.constant[0]
            found = found if design.offset is None else found + design.offset
    if found is None:
        raise OptionError(
            'Can\'t find the bootstrap samples of the final model for `interval="prediction"`:'
            f" {quoted(fit.method)} grew it with a seed of its own.\n"
            '  Use `fit.refit("forest").predict(...)`.'
        )
    known = ~np.isnan(found)
    return (design.response.y - found)[known], design.weight[known]


def _bound(residual: FloatArray, weight: WeightArray, share: float) -> float:
    """The least residual below which lies this share of all residuals and of a new one, which may
    be infinite: of n residuals the one of rank ``ceil(share * (n + 1))``. The new residual has the
    weight of a copy, or the mean weight."""
    order = np.argsort(residual, kind="stable")
    one = 1.0 if are_copies(weight) else float(weight.mean())
    below = np.cumsum(weight[order])
    at = int(np.searchsorted(below, share * (below[-1] + one) * (1 - PRECISION)))
    return float(residual[order[at]]) if at < len(order) else np.inf


def check_forest(fit: Fit, argument: str) -> None:
    """Refuse what has no quantiles or intervals.

    Raises
    ------
    OptionError
        If the response is no number, or the final model is no forest.
    DataError
        If the model was loaded without its data.
    """
    model = fit.model
    if fit.design.response.family.name != "gaussian":
        raise OptionError(
            f"`{argument}` needs a numeric response (family `gaussian`).\n"
            f"  Found: family {quoted(fit.family)}."
        )
    is_known = isinstance(model, ForestModel | StackedModel)
    if not fit.k or (argument != f'type="{QUANTILE}"' and not is_known):
        way = 'Use `fit.refit("stack").predict(...)`.'
        raise OptionError(
            f"`{argument}` needs out-of-bag predictions of the final model.\n"
            f"  Found: {model.description}. {way if fit.k else 'No term was selected.'}"
        )
    if not fit.design.has_data:
        raise DataError(
            f"`{argument}` needs the data of the fit, which were not saved with the model.\n"
            "  Save the model with `include_data=True`."
        )


def read_asked(
    type: str, quantiles: Sequence[float] | None, interval: Any, level: Any
) -> tuple[FloatArray | None, float | None]:
    """The shares of quantiles and the level of an interval, as far as `predict` is to give them."""
    shares = None
    if quantiles is not None or type == QUANTILE:
        shares = read_quantiles(type, (0.05, 0.5, 0.95) if quantiles is None else quantiles)
    return shares, read_level(type, interval, level)
