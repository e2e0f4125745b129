"""From a result to plain data, ready to show; the content is decided by the sections.

All numbers come from the tables of the result; the sections choose and word them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

from treeselect.arguments.checks import members
from treeselect.arguments.scalars import described
from treeselect.designs.labels import labelled_names
from treeselect.errors import OptionError
from treeselect.reports import comparison, selection
from treeselect.reports.material import ContestMaterial, FitMaterial
from treeselect.resampling.coefficient_stability import CoefficientStability
from treeselect.resampling.labelled import as_shown
from treeselect.resampling.nouns import noun, noun_of
from treeselect.resampling.performance import Performance
from treeselect.results.belonging import check_found, check_linear

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest
    from treeselect.resampling.fit import Fit
    from treeselect.results.refitting import GlmFit


class Report(SimpleNamespace):
    """The content of a page: its title, what is selected ("terms" or "units"), and the content of
    each section, by the section's name.

    In templates it is called ``report``: ``report.stability`` is gathered by
    ``treeselect/reports/selection/stability.py``; it is None if the section is empty.
    """


def gather(
    fit: Fit,
    *,
    written: str,
    versions: Mapping[str, str],
    performance: Performance | None = None,
    coefficients: CoefficientStability | None = None,
    linear: GlmFit | None = None,
    sections: Sequence[str] | None = None,
    whole: bool = False,
) -> Report:
    """The content of the report on a selection.

    Parameters
    ----------
    fit : Fit
    written : str
        Date and time of writing.
    versions : mapping of str to str
        Versions of the software, from :func:`treeselect.results.versions.software_versions`.
    performance : Performance, optional
    coefficients : CoefficientStability, optional
    linear : GlmFit, optional
        Of this fit.
    sections : sequence of str, optional
        From :func:`read_sections`; all by default.
    whole : bool
        Whether sections are complete even where they repeat others: needed for templates, which
        may show any of them. Chosen sections always are.

    Raises
    ------
    OptionError
        If `performance`, `coefficients` or `linear` is something else.
    """
    if performance is not None:
        check_found(fit, "performance", performance, Performance)
    if coefficients is not None:
        check_found(fit, "coefficients", coefficients, CoefficientStability)
    if linear is not None:
        check_linear(fit, linear)
    named = labelled_names(fit.design, [*fit.selected, *_all_terms(fit)])
    fit = as_shown(fit)
    title = f"Which terms predict {fit.design.response.name}?"
    material = FitMaterial(
        fit, performance, coefficients, versions, written, tuple(named), linear=linear,
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
    """The content of the report on a comparison.

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
        f"How well does {found.best} predict {found.response}?"
        if len(found.runs) == 1
        else f"Which method predicts {found.response} best?"
    )
    material = ContestMaterial(found, versions, written, named)
    nouns = noun_of(found.terms_of_unit, 2)
    return Report(title=title, nouns=nouns, **_sections(comparison, material, sections))


def read_sections(package: ModuleType, sections: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names of sections from the user, checked; None for all.

    Parameters
    ----------
    package : module
        The package with the modules of the sections.
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
    chosen = members(sections)
    if chosen is None:
        raise OptionError(
            "`sections` must be a list of names of sections.\n"
            f"  Found: {described(sections)}. {way_out}"
        )
    unknown = [name for name in chosen if not isinstance(name, str) or name not in known]
    if unknown:
        raise OptionError(
            f"`sections` must name sections of the report.\n  Found: {described(unknown[0])}."
            f" {way_out}"
        )
    if not chosen or len(set(chosen)) < len(chosen):
        raise OptionError(
            "`sections` must name at least one section, each only once.\n"
            f"  Found: {described(chosen)}. {way_out}"
        )
    return tuple(chosen)


_HEAD = ("answer", "cards")
"""The beginning of every page."""


def _sections(
    package: ModuleType,
    material: FitMaterial | ContestMaterial,
    sections: Sequence[str] | None,
) -> dict[str, object]:
    """The content gathered by all modules of a package, or by those of some sections. The template
    determines the order on the page, so the folder is the only list of sections."""
    return {
        name: import_module(f"{package.__name__}.{name}").gather(material)
        for name in (_names(package) if sections is None else (*_HEAD, *sections))
    }


def _names(package: ModuleType) -> list[str]:
    return [name for _, name, _ in iter_modules(package.__path__)]
