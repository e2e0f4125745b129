"""Whether something that was found belongs to a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.arguments.checks import described
from treeselect.designs.modeldata import data_fingerprint
from treeselect.errors import OptionError
from treeselect.results.refitting import GlmFit

if TYPE_CHECKING:
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance

_MAKER = {"performance": "performance", "coefficients": "coefficient_stability"}
"""Which method of a result makes an argument."""


def check_linear(fit: Fit, found: object) -> None:
    """Raise an OptionError unless this is a linear model of this fit."""
    if not isinstance(found, GlmFit):
        raise OptionError(
            f'`linear` must be what `fit.refit("glm")` gives.\n  Found: {described(found)}.'
        )
    facts = dict(found.content.facts)
    call = facts["Call"]
    if not call.startswith(f"{fit.call.text}.refit(") or facts["Formula"] != fit.formula:
        raise OptionError(
            f"`linear` must belong to the same fit.\n  Found: that of {call}, with the formula"
            f" {facts['Formula']}."
        )
    _check_data(fit, "linear", found)


def check_found(fit: Fit, name: str, found: Performance | CoefficientStability, kind: type) -> None:
    """Raise an OptionError unless an argument is what a method of this fit has found."""
    if not isinstance(found, kind):
        raise OptionError(
            f"`{name}` must be what `fit.{_MAKER[name]}()` gives.\n  Found: {described(found)}."
        )
    if not found.call.startswith(f"{fit.call.text}.") or found.k_of_fit != fit.k:
        raise OptionError(
            f"`{name}` must belong to the same fit.\n"
            f"  Found: that of {found.call}, which selected {found.k_of_fit}."
        )
    _check_data(fit, name, found)


def _check_data(fit: Fit, name: str, found: Performance | CoefficientStability | GlmFit) -> None:
    """Raise an OptionError unless the data are the same, as far as both are known."""
    known = found.fingerprint, data_fingerprint(fit.design)
    if None not in known and known[0] != known[1]:
        raise OptionError(
            f"`{name}` must belong to the same fit.\n  Found: that of the same call on other data"
            f" (fingerprint {str(known[0])[:8]}, of the fit {str(known[1])[:8]})."
        )
