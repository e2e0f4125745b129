"""A result or a comparison to its page: one file, for browsers, Markdown or Word; and in notebooks.

All numbers come from the tables of the result; the sections choose and word them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from treeselect.arguments.checks import described, members
from treeselect.comparison.record import Contest
from treeselect.designs.preparing import labelled_names
from treeselect.errors import OptionError, needed, quoted
from treeselect.printing.markup import style_sheet, template_folder
from treeselect.reports import checks, comparison, data, head, model, parts, path, resamples
from treeselect.reports.parts import ContestMaterial, FitMaterial, Report
from treeselect.reports.render import (
    COMPARISON,
    SELECTION,
    markdown_page,
    render,
    template_environment,
    word_page,
)
from treeselect.resampling.fit import Fit, as_shown
from treeselect.results.calls import check_found
from treeselect.results.versions import session
from treeselect.writing import check_place, write_file


def _given(name: str, section: Callable[[Any], object]) -> Callable[[FitMaterial], object]:
    """The section of a result of another call; None if the user did not supply it."""

    def of_given(material: FitMaterial) -> object:
        found = getattr(material, name)
        return None if found is None else section(found)

    return of_given


SELECTION_SECTIONS: Mapping[str, Callable[[FitMaterial], object]] = {
    "answer": head.answer,
    "cards": head.cards,
    "terms": head.terms,
    "decisions": path.decisions,
    "path": path.path,
    "search": path.search,
    "learned": model.learned,
    "effects": head.effects,
    "shapes": model.shapes,
    "interactions": model.interactions,
    "sparse_forest": model.sparse_forest,
    "risk_groups": model.risk_groups,
    "stability": resamples.stability,
    "stability_path": resamples.stability_path,
    "models": resamples.models,
    "linear": _given("linear", model.linear),
    "inference": _given("inference", model.inference),
    "coefficients": _given("coefficients", resamples.coefficients),
    "associations": data.associations,
    "performance": _given("performance", checks.performance),
    "checks": checks.checks,
    "subgroups": _given("subgroups", checks.subgroups),
    "validation": _given("validation", checks.validation),
    "data": data.data,
    "asked": head.asked,
    "notes": head.notes,
    "names": parts.names,
    "cite": head.citation,
}

COMPARISON_SECTIONS: Mapping[str, Callable[[ContestMaterial], object]] = {
    "answer": comparison.answer,
    "cards": comparison.cards,
    "methods": comparison.methods,
    "scores": comparison.scores,
    "differences": comparison.differences,
    "terms": comparison.terms,
    "asked": comparison.asked,
    "notes": comparison.notes,
    "names": parts.names,
    "software": comparison.software,
}

_HEAD = ("answer", "cards")
"""The beginning of every page."""

_HTML = (".html", ".htm", ".xhtml")

_MARKDOWN = (".md", ".markdown", ".qmd")

_WORD = ".docx"

_OTHERS = (".pdf", ".tex", ".odt", ".rtf", ".epub", ".pptx")
"""What pandoc writes from Markdown."""


# --- files ---------------------------------------------------------------------------------------


def write_report(
    fit: Fit,
    path: Path,
    template: Path | None = None,
    sections: Iterable[str] | None = None,
    **found: Any,
) -> Path:
    """Write the report on a selection (see ``SelectionResult.report``), with what was `found`."""
    report = partial(gather, fit, **_now(), **found, whole=template is not None)
    return _write(path, template, sections, report, SELECTION_SECTIONS, SELECTION)


def write_comparison(
    found: Contest, path: Path, template: Path | None = None, sections: Iterable[str] | None = None
) -> Path:
    """Write the report on a comparison (see ``Comparison.report``)."""
    report = partial(gather_comparison, found, **_now())
    return _write(path, template, sections, report, COMPARISON_SECTIONS, COMPARISON)


def _now() -> dict[str, Any]:
    now = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z").strip()
    return {"written": now, "versions": session()}


def _write(
    path: Path,
    template: Path | None,
    sections: Iterable[str] | None,
    report: Callable[..., Report],
    known: Iterable[str],
    standard: str,
) -> Path:
    """Write a page, which is made only if the file can be written. A template of the user's is free
    to make any text, and chooses its sections itself."""
    chosen = _read_sections(known, sections)
    if chosen is not None and template is not None:
        blocks = "".join(f"{{{{ self.{name}() }}}}" for name in chosen)
        raise OptionError(
            "`sections` can't be combined with a `template`, which chooses its sections itself.\n"
            f"  Write into it: {{% block sections %}}{blocks}{{% endblock %}}"
        )
    if template is None:
        check_name(path)
    check_place(path, what="report")
    content = report(sections=chosen)
    if (suffix := path.suffix.lower()) in (*_MARKDOWN, _WORD) and template is None:
        page: str | bytes = (word_page if suffix == _WORD else markdown_page)(content)
        return write_file(path, page, what="report")
    page = render(content, template, standard=standard, sections=chosen)
    return write_file(path, page, what="report")


def check_name(path: Path) -> None:
    """Raise an error if no report can have this name here."""
    suffix = path.suffix.lower()
    if suffix == _WORD:
        needed("docx", "word", "A document for Word")
    elif suffix not in ("", *_HTML, *_MARKDOWN):
        way = f"Write .md; pandoc makes {suffix} of it" if suffix in _OTHERS else "Give such a name"
        raise OptionError(
            f"A report must end in .html, .md or .docx.\n  Found: {quoted(path.name)}. {way}."
        )


def _read_sections(known: Iterable[str], sections: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names of sections from the user, checked; None for all."""
    if sections is None:
        return None
    known = sorted(set(known) - set(_HEAD))
    chosen = members(sections)
    strange = [name for name in chosen or () if not isinstance(name, str) or name not in known]
    if chosen is None:
        must, found = "be a list of names of sections", sections
    elif strange:
        must, found = "name sections of the report", strange[0]
    elif not chosen or len(set(chosen)) < len(chosen):
        must, found = "name at least one section, each only once", chosen
    else:
        return tuple(chosen)
    raise OptionError(
        f"`sections` must {must}.\n"
        f"  Found: {described(found)}. Allowed: {', '.join(map(repr, known))}."
    )


def fit_html(fit: Fit) -> str:
    """A selection as notebooks show it, the first screen of the report: HTML without scripts, with
    a style sheet that applies only to it."""
    material = FitMaterial(as_shown(fit), whole=True)
    terms = head.terms(material)
    return (
        template_environment((template_folder(),))
        .get_template("notebook.html.j2")
        .render(
            style=style_sheet(),
            answer=head.answer(material),
            cards=head.cards(material),
            table=terms.table if fit.selected else None,
            notes=terms.notes,
        )
    )


# --- content -------------------------------------------------------------------------------------


def gather(
    fit: Fit,
    *,
    written: str,
    versions: Mapping[str, str],
    sections: Sequence[str] | None = None,
    whole: bool = False,
    **found: Any,
) -> Report:
    """The content of the report; sections that were chosen are complete, all of them if `whole`."""
    for name, own in found.items():
        check_found(fit, name, own)
    terms = [spec.term.name for spec in fit.design.spec.terms]
    named = labelled_names(fit.design, [*fit.selected, *terms])
    fit = as_shown(fit)
    material = FitMaterial(
        fit, **found, versions=versions, written=written, names=tuple(named),
        whole=whole or sections is not None,
    )  # fmt: skip
    response = fit.design.response
    what = response.name if response.follow_up is None else "the time to the event"
    title = f"Which terms predict {what}?"
    return Report(title=title, **_sections(SELECTION_SECTIONS, material, sections))


def gather_comparison(
    found: Contest,
    *,
    written: str,
    versions: Mapping[str, str],
    sections: Sequence[str] | None = None,
) -> Report:
    named = tuple(found.labels.items())
    found = found.as_shown()
    title = (
        f"How well does {found.best} predict {found.response}?"
        if len(found.runs) == 1
        else f"Which method predicts {found.response} best?"
    )
    material = ContestMaterial(found, versions, written, named)
    return Report(title=title, **_sections(COMPARISON_SECTIONS, material, sections))


def _sections(
    known: Mapping[str, Callable[[Any], object]],
    material: FitMaterial | ContestMaterial,
    sections: Sequence[str] | None,
) -> dict[str, object]:
    """The content of sections, by the names that the template places on the page."""
    return {
        name: known[name](material) for name in (known if sections is None else (*_HEAD, *sections))
    }
