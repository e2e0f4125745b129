"""What to write of a selection, and what to cite."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect._version import __version__
from treeselect.algorithms.references import Reference, entry
from treeselect.designs.modeldata import COVERED, data_fingerprint
from treeselect.resampling.fit import as_shown, noun
from treeselect.results.methods_text import methods_text, papers
from treeselect.results.rows import RowFacts, row_facts
from treeselect.shown import shown

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance


# --- the limitations of a selection: the sentences that apply to a fit -------------------------

FEW = 10.0
"""Fewer events (or rows of the rarest class, or rows) per candidate term are few."""

HEINZE = Reference(
    ("G. Heinze", "C. Wallisch", "D. Dunkler"),
    2018,
    "Variable selection: a review and recommendations for the practicing statistician",
    journal="Biometrical Journal",
    volume="60",
    pages="431-449",
)


def limitations(fit: Fit, rows: RowFacts, performance: Performance | None) -> tuple[str, ...]:
    """Sentences, the most serious first."""
    n_selected, n_terms = len(fit.selected), len(fit.design.spec.terms)
    n_kept = int(fit.design.arrays.groups.keep.sum())
    said = [few_events(fit, rows)]
    if n_selected == 0:
        said.append("The absence of selected terms is not evidence that no term matters.")
    elif fit.k < len(fit.step.selected) and n_kept < fit.k:
        said += [_score(fit, performance), _others(fit)]
        said.append(
            "Tests and intervals from a model fitted to the selected terms on the same rows ignore"
            " the selection and are not valid; they are usually anti-conservative."
        )
    elif fit.k < len(fit.step.selected):
        said += [
            _score(fit, performance),
            f"All selected {noun(fit)} were forced in; none was chosen by the data.",
        ]
    elif n_terms > 1:
        said.append("All candidate terms were selected, so the data left none of them out.")
    said.append(_stability(fit))
    if n_selected:
        said.append(
            "Selected terms predict the response; selection is not evidence of a causal effect."
        )
    return tuple(text for text in said if text)


def few_events(fit: Fit, rows: RowFacts) -> str:
    """That there are few events or rows per candidate term, if that is so and is known."""
    n_terms = len(fit.design.spec.terms)
    if rows.events is not None:
        count, what = rows.events, "events"
    elif rows.classes:
        label, count = rows.classes[0]
        what = f"rows of the class {label}"
    elif fit.design.response.classes:
        return ""
    else:
        count, what = rows.used, "rows"
    if count >= FEW * n_terms:
        return ""
    each = "less than one" if count < n_terms else f"{count / n_terms:.2g}"
    return (
        f"There are only {count:,} {what} for {n_terms:,} candidate"
        f" term{'' if n_terms == 1 else 's'} ({each} per term); with so few, selections and"
        f" estimates vary considerably from sample to sample [{HEINZE.short}]."
    )


def _score(fit: Fit, performance: Performance | None) -> str:
    name = fit.design.response.family.score_name
    if performance is None and fit.held_out is not None and np.isfinite(fit.held_out.score):
        return (
            f"The {name} on the rows that were not drawn is that of the final model; other samples"
            " of rows may lead to other terms."
        )
    if performance is not None:
        return (
            f"The {performance.score_name} of the outer folds assesses the whole procedure, which"
            " may select other terms in each fold, not this particular set of terms."
        )
    if fit.scores is not None:
        if fit.scores.of_halves:
            return (
                f"The {name} on held-out halves is that of models fitted to half of the rows; the"
                f" number of {noun(fit)} was chosen on all rows."
            )
        which = "folds" if fit.scores.spared is None else "held-out rows"
        return f"The same {which} chose the number of {noun(fit)}, so their {name} is optimistic."
    return (
        f"No {name} was estimated on rows outside the selection, so performance on new data is"
        " unknown."
    )


def _others(fit: Fit) -> str:
    if fit.step.decisions is not None and fit.choice.k is None:
        return (
            "The method selects every term that it finds more important than shuffled copies, even"
            " if several carry the same information; a smaller set may predict as well."
        )
    return (
        "Which of several associated terms is selected may be arbitrary: an unselected term can be"
        " as informative about the response as a selected one."
    )


def _stability(fit: Fit) -> str:
    if fit.resampled is not None:
        return (
            "Stability measures how consistently the procedure selects on resamples of these rows,"
            " not how close the selected terms are to the true ones."
        )
    if not fit.selected or fit.k == len(fit.step.selected):
        return ""
    return "Stability was not assessed; another sample may lead to other terms."


# --- what to write of a selection, and what to cite --------------------------------------------

_WIDTH = 88
_TITLE = "treeselect: variable selection by sparse tree ensembles"


@dataclass(frozen=True, slots=True)
class Citation:
    """What to write of a selection: prints as text.

    Attributes
    ----------
    methods : str
        A paragraph for the section on methods, with the numbers in it.
    limitations : tuple of str
        What must be known of this selection, in sentences.
    references : tuple of str
        What paragraph and limitations cite.
    bibtex : str
        The same as BibTeX, the software included.
    call : str
        Of the selection, with its seed, to be typed again.
    seed : int
    versions : dict of str to str
        Of the software here.
    fingerprint : str or None
        Of the data, 64 hexadecimal digits; None where they are not here.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> "mRMR" in fit.search.citation().as_text()
    True
    """

    methods: str
    limitations: tuple[str, ...]
    references: tuple[str, ...]
    bibtex: str
    call: str
    seed: int
    versions: dict[str, str]
    fingerprint: str | None

    @property
    def fingerprint_words(self) -> str:
        """What the fingerprint is of, or why there is none."""
        if self.fingerprint is None:
            return "not known: the data were not saved with the model"
        return COVERED

    def as_text(self) -> str:
        """Plain text, at most 88 characters wide unless names are longer."""
        facts = {
            "Call": self.call,
            "Seed": str(self.seed),
            "Versions": versions_text(self.versions),
            "Data": self.fingerprint or self.fingerprint_words,
        }
        lines = [*_wrapped(self.methods), "", "Limitations"]
        for sentence in self.limitations:
            lines += _wrapped(sentence, "- ")
        lines += ["", "References"]
        for reference in self.references:
            lines += _wrapped(reference, "- ")
        lines += [""]
        for name, value in facts.items():
            lines += _wrapped(value, f"{name}: ".ljust(10))
        return "\n".join([*lines, "", *map(shown, self.bibtex.splitlines())])

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()


def cite(fit: Fit, versions: Mapping[str, str], performance: Performance | None = None) -> Citation:
    """What to write of a fit, and what to cite; see ``SelectionResult.citation``."""
    fingerprint, fit = data_fingerprint(fit.design), as_shown(fit)
    rows = row_facts(fit)
    cited = [*papers(fit), *([HEINZE] if few_events(fit, rows) else [])]
    paper = fit.chosen_method.paper
    others = [one.text for one in cited if one not in fit.chosen_method.references]
    own = versions.get("treeselect", __version__)
    python = f", Python {versions['Python']}" if "Python" in versions else ""
    methods = methods_text(fit, rows, performance)
    return Citation(
        methods=f"{methods} Software: treeselect {own}{python}; seed {fit.seed}.",
        limitations=limitations(fit, rows, performance),
        references=(paper, *others, f"{_TITLE}. Python package, version {own}."),
        bibtex="\n\n".join([_own_entry(own), *(one.bibtex for one in cited)]),
        call=_with_seed(fit),
        seed=fit.seed,
        versions=dict(versions),
        fingerprint=fingerprint,
    )


def _with_seed(fit: Fit) -> str:
    """The call; those in older model files lack the seed."""
    if f"seed={fit.seed}" in fit.call.text:
        return fit.call.whole
    return f"{fit.call.text.removesuffix(')')}, seed={fit.seed})"


def versions_text(versions: Mapping[str, str]) -> str:
    """Versions in a line."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _own_entry(version: str) -> str:
    return entry(
        "manual",
        "treeselect",
        {
            "author": "{treeselect developers}",
            "title": f"{{{_TITLE}}}",
            "note": f"Python package, version {version}",
        },
    )


def _wrapped(text: str, lead: str = "") -> list[str]:
    return textwrap.wrap(
        shown(text),
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
