"""What to write of a selection, and what to cite."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect._version import __version__
from treeselect.algorithms.shared.references import entry
from treeselect.designs.data_fingerprint import COVERED, data_fingerprint
from treeselect.resampling.labelled import as_shown
from treeselect.results.limitations import HEINZE, few_events, limitations
from treeselect.results.methods_text import methods_text, papers
from treeselect.results.rows import row_facts
from treeselect.shown import shown

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance

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
    >>> "mRMR" in fit.citation().as_text()
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
