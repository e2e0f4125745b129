"""The methods paragraph and citations; method, options, software and data."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.printing.code import code_lines
from treeselect.reports.material import FitMaterial
from treeselect.results.citation import Citation, cite, versions_text
from treeselect.results.summary import options_text

_WIDTH = 88
"""Characters on a line of the call."""


@dataclass(frozen=True, slots=True)
class CiteSection:
    """Text for a paper, and what is needed to reproduce the selection.

    Attributes
    ----------
    citation : Citation
    bibtex : tuple of str
        One entry per line, because pages show a line break inside a text as a character.
    call : tuple of str
        The lines of the call.
    facts : tuple of (str, str)
        Method with all its options, fingerprint of the data, versions, date.
    """

    citation: Citation
    bibtex: tuple[str, ...]
    call: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def gather(material: FitMaterial) -> CiteSection:
    """The paragraph on methods, limitations, references, and facts."""
    fit, method = material.fit, material.fit.chosen_method
    found = cite(fit, material.versions, material.performance)
    options = options_text(method.options())
    data = found.fingerprint_words
    facts = (
        ("Method", method.title),
        ("Options", f"`{options}`" if options else "none"),
        ("Data", f"`{found.fingerprint}`: {data}" if found.fingerprint else data.capitalize()),
        ("Versions", versions_text(found.versions)),
        ("Written", material.written),
    )
    lines = tuple(code_lines(found.call, _WIDTH))
    return CiteSection(found, tuple(found.bibtex.splitlines()), lines, facts)
