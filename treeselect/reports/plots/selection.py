"""Single figures of a selection with matplotlib; all numbers come from the result's own tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treeselect.arguments.checks import check_choice, described
from treeselect.designs.labels import shown_names
from treeselect.errors import OptionError, listing, quoted
from treeselect.reports.plots import history, pairs, risk, shapes, sizes, units
from treeselect.reports.plots.drawing import need_matplotlib
from treeselect.resampling.fit import as_shown
from treeselect.results.curves import has_curve
from treeselect.results.shapes import given_terms, selected_term

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit


KINDS = (
    "terms", "path", "importance", "stability", "substitutes", "correlation", "shape",
    "interactions", "importance_path", "history", "risk_groups",
)  # fmt: skip


def plot(
    result: Fit,
    kind: str,
    *,
    term: str | None = None,
    other: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one figure (see ``SelectionResult.plot``)."""
    check_choice("kind", kind, KINDS)
    if kind == "shape":
        _check_terms(result, term, other)
    else:
        for name, value in (("term", term), ("other", other)):
            if value is not None:
                raise OptionError(
                    f"`{name}` must not be given for {kind!r}.\n"
                    f"  Found: {described(value)}. It applies to 'shape' only."
                )
    need_matplotlib()
    names = shown_names(result.design)
    result = as_shown(result)
    if kind == "shape":
        assert term is not None
        term = names.get(term, term)
        if other is None:
            return shapes.shape(result, term, ax)
        return shapes.grid(result, term, names.get(other, other), ax)
    return _DRAW[kind](result, ax)


def _check_terms(result: Fit, term: str | None, other: str | None) -> None:
    if term is None:
        raise OptionError(
            "`term` must be given for 'shape'.\n"
            f"  Selected: {listing(result.selected) or 'nothing'}."
        )
    terms = [selected_term(result, *named) for named in given_terms(term, other)]
    for name in terms:
        if not has_curve(result, name):
            variables = result.design.spec[name].term.variables
            raise OptionError(
                f"Can't plot the shape of {quoted(name)}: a figure shows one variable.\n"
                f"  Found: {listing(variables)}. `fit.shape({name!r})` has the numbers."
            )
    behind = {result.design.spec[name].term.variables[0] for name in terms}
    if len(behind) < len(terms):
        raise OptionError(
            f"`other` must use a different variable from `term`.\n  Found: {listing(behind)} for"
            " both."
        )


_DRAW: dict[str, Callable[[Fit, Axes | None], Axes]] = {
    "terms": units.terms,
    "path": sizes.path,
    "importance": units.importance,
    "stability": units.stability,
    "substitutes": units.substitutes,
    "correlation": pairs.correlation,
    "interactions": pairs.interactions,
    "importance_path": sizes.importance_path,
    "history": history.history,
    "risk_groups": risk.risk_groups,
}
