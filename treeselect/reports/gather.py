"""From a result to plain data, ready to show: what the report says is decided in its sections.

All numbers come from the result's own tables; the sections choose and word them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

from treeselect.arguments.scalars import described
from treeselect.designs.labels import labelled_names
from treeselect.errors import OptionError
from treeselect.reports import comparison, selection
from treeselect.reports.material import ContestMaterial, FitMaterial
from treeselect.resampling.coefficient_stability import CoefficientStability
from treeselect.resampling.labelled import as_shown
from treeselect.resampling.nouns import noun, noun_of
from treeselect.resampling.performance import Performance
from treeselect.results.belonging import check_found

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest
    from treeselect.resampling.fit import Fit


class Report(SimpleNamespace):
    """All that a page says: its title, what is selected ("terms" or "units"), and what each section
    has gathered, by the section's name.

    Templates know it as ``report``: ``report.stability`` is what
    ``treeselect/reports/selection/stability.py`` gathers, None if there is nothing to say.
    """


def gather(
    fit: Fit,
    *,
    written: str,
    versions: Mapping[str, str],
    performance: Performance | None = None,
    coefficients: CoefficientStability | None = None,
    sections: Sequence[str] | None = None,
    whole: bool = False,
) -> Report:
    """What the report on a selection says.

    Parameters
    ----------
    fit : Fit
    written : str
        Date and time of writing.
    versions : mapping of str to str
        Versions of the software, from :func:`treeselect.results.versions.software_versions`.
    performance : Performance, optional
    coefficients : CoefficientStability, optional
        Of this fit.
    sections : sequence of str, optional
        From :func:`read_sections`; all by default.
    whole : bool
        Whether sections say all that they have, although others say it, too: those of a template,
        of which it is not known which it shows. Chosen ones do.

    Raises
    ------
    OptionError
        If `performance` or `coefficients` is something else.
    """
    if performance is not None:
        check_found(fit, "performance", performance, Performance)
    if coefficients is not None:
        check_found(fit, "coefficients", coefficients, CoefficientStability)
    named = labelled_names(fit.design, [*fit.selected, *_all_terms(fit)])
    fit = as_shown(fit)
    title = f"Which terms predict {fit.design.response.name}?"
    material = FitMaterial(
        fit, performance, coefficients, versions, written, tuple(named),
        whole=whole or sections is not None,
    )  # fmt: skip
    return Report(title=title, nouns=noun(fit), **_sections(selection, material, sections))


def _all_terms(fit: Fit) -> list[str]:
    return [spec.term.name for spec in fit.design.spec.terms]


def gather_comparison(
    found: Contest,
    *,
    written: str,
    versions: Mapping[str, str],
    sections: Sequence[str] | None = None,
) -> Report:
    """What the report on a comparison says.

    Parameters
    ----------
    found : Contest
    written : str
        Date and time of writing.
    versions : mapping of str to str
        Versions of the software.
    sections : sequence of str, optional
        From :func:`read_sections`; all by default.
    """
    named = tuple(found.labels.items())
    found = found.as_shown()
    title = (
        f"How well does {found.best} select for {found.response}?"
        if len(found.runs) == 1
        else f"Which method selects best for {found.response}?"
    )
    material = ContestMaterial(found, versions, written, named)
    nouns = noun_of(found.terms_of_unit, 2)
    return Report(title=title, nouns=nouns, **_sections(comparison, material, sections))


def read_sections(package: ModuleType, sections: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names of sections as the user gives them, checked; None for all.

    Parameters
    ----------
    package : module
        The one that gathers them.
    sections : iterable of str, or None

    Raises
    ------
    OptionError
        If there is no such section, one is named twice, or none is.
    """
    if sections is None:
        return None
    known = [name for name in _names(package) if name not in _HEAD]
    way_out = f"Allowed: {', '.join(map(repr, known))}."
    if isinstance(sections, str) or not isinstance(sections, Iterable):
        raise OptionError(
            "`sections` must be a list of names of sections.\n"
            f"  Found: {described(sections)}. {way_out}"
        )
    chosen = tuple(sections)
    unknown = [name for name in chosen if not isinstance(name, str) or name not in known]
    if unknown:
        raise OptionError(
            f"`sections` must name sections of the report.\n  Found: {described(unknown[0])}."
            f" {way_out}"
        )
    if not chosen or len(set(chosen)) < len(chosen):
        raise OptionError(
            "`sections` must name one section or more, each once.\n"
            f"  Found: {described(list(chosen))}. {way_out}"
        )
    return chosen


_HEAD = ("answer", "cards")
"""What every page begins with."""


def _sections(
    package: ModuleType,
    material: FitMaterial | ContestMaterial,
    sections: Sequence[str] | None,
) -> dict[str, object]:
    """What the modules of a package gather, all or those of some sections. Their order on the page
    is the template's business, so the folder is all the list that there is."""
    return {
        name: import_module(f"{package.__name__}.{name}").gather(material)
        for name in (_names(package) if sections is None else (*_HEAD, *sections))
    }


def _names(package: ModuleType) -> list[str]:
    return [name for _, name, _ in iter_modules(package.__path__)]
