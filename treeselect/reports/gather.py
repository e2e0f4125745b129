"""From a result to plain data, ready to show; the content is decided by the sections.

All numbers come from the tables of the result; the sections choose and word them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import described, members
from treeselect.designs.preparing import labelled_names
from treeselect.designs.problem import noun_of
from treeselect.errors import OptionError
from treeselect.reports import comparison
from treeselect.reports.material import ContestMaterial, FitMaterial
from treeselect.reports.selection import checks, data, head, model, path, resamples, terms
from treeselect.resampling.coefficient_stability import CoefficientStability
from treeselect.resampling.fit import as_shown, noun
from treeselect.resampling.performance import Performance
from treeselect.results.calls import check_found, check_linear

if TYPE_CHECKING:
    from treeselect.comparison.record import Contest
    from treeselect.resampling.fit import Fit
    from treeselect.results.refitting import GlmFit


SELECTION_SECTIONS: Mapping[str, Callable[[FitMaterial], object]] = {
    "answer": head.answer,
    "cards": head.cards,
    "terms": terms.terms,
    "decisions": path.decisions,
    "path": path.path,
    "search": path.search,
    "learned": model.learned,
    "effects": terms.effects,
    "shapes": model.shapes,
    "interactions": model.interactions,
    "importance_path": path.importance_path,
    "sparse_forest": model.sparse_forest,
    "risk_groups": model.risk_groups,
    "stability": resamples.stability,
    "stability_path": resamples.stability_path,
    "models": resamples.models,
    "pairs": resamples.pairs,
    "linear": model.linear,
    "coefficients": resamples.coefficients,
    "associations": data.associations,
    "performance": checks.performance,
    "checks": checks.checks,
    "data": data.data,
    "asked": head.asked,
    "notes": head.notes,
    "names": head.names,
    "cite": head.citation,
}

COMPARISON_SECTIONS: Mapping[str, Callable[[ContestMaterial], object]] = {
    "answer": comparison.answer,
    "cards": comparison.cards,
    "methods": comparison.methods,
    "scores": comparison.scores,
    "differences": comparison.differences,
    "stability": comparison.stability,
    "seconds": comparison.seconds,
    "terms": comparison.terms,
    "asked": comparison.asked,
    "notes": comparison.notes,
    "names": comparison.names,
    "software": comparison.software,
}


class Report(SimpleNamespace):
    """The content of a page: its title, what is selected ("terms" or "units"), and the content of
    each section, by the section's name.

    In templates it is called ``report``: ``report.stability`` is what the function of this name in
    ``SELECTION_SECTIONS`` returns; it is None if the section is empty.
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
    return Report(title=title, nouns=noun(fit), **_sections(SELECTION_SECTIONS, material, sections))


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
    return Report(title=title, nouns=nouns, **_sections(COMPARISON_SECTIONS, material, sections))


def read_sections(known: Iterable[str], sections: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names of sections from the user, checked; None for all.

    Parameters
    ----------
    known : iterable of str
        Names of sections and of the head of the page, which is always shown.
    sections : iterable of str, or None

    Raises
    ------
    OptionError
        If there is no such section, one is named twice, or none is.
    """
    if sections is None:
        return None
    known = sorted(set(known) - set(_HEAD))
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
    known: Mapping[str, Callable[[Any], object]],
    material: FitMaterial | ContestMaterial,
    sections: Sequence[str] | None,
) -> dict[str, object]:
    """The content of all sections, or of the head and some sections. The template determines the
    order on the page."""
    return {
        name: known[name](material) for name in (known if sections is None else (*_HEAD, *sections))
    }
