"""The summary returned to users: prints as text, LaTeX, Markdown, HTML, or for Word."""

from __future__ import annotations

import dataclasses
import re
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.arguments.checks import check_digits, check_flag
from treeselect.errors import OptionError, quoted
from treeselect.printing.markup import as_html, as_latex, as_markdown, as_word
from treeselect.printing.numbers import chosen_digits
from treeselect.printing.text import SummaryContent, as_text

if TYPE_CHECKING:
    from docx.document import Document


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """A summary that prints as text and converts to LaTeX, Markdown, HTML and Word.

    Attributes
    ----------
    content : SummaryContent
    """

    content: SummaryContent

    def as_text(self) -> str:
        """Plain text, at most 88 characters wide unless names are longer."""
        return as_text(self.content)

    def as_latex(self, caption: str | None = None, label: str | None = None) -> str:
        r"""A LaTeX ``table`` with caption, label, and the notes below.

        It requires the packages booktabs and graphicx, is no wider than the text, and compiles
        with LuaLaTeX, XeLaTeX and, where letters are Latin or Greek, pdfLaTeX. Numbers are aligned
        at their decimal points.

        Parameters
        ----------
        caption : str, optional
            LaTeX code; by default the title of the summary.
        label : str, optional
            For ``\ref``; by default none.

        Raises
        ------
        OptionError
            If `caption` or `label` is not a string, or the label has special characters of LaTeX.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> text = fit.summary().as_latex("Who survived.", "tab:survived")
        >>> "\\caption{Who survived.}\\label{tab:survived}" in text
        True
        """
        for name, value in (("caption", caption), ("label", label)):
            if value is not None and not isinstance(value, str):
                raise OptionError(
                    f"`{name}` must be text, or None.\n  Found: {type(value).__name__}."
                )
        if label is not None and not _LABEL.fullmatch(label):
            raise OptionError(
                "`label` must be letters, digits and any of `:._+/-`, as in 'tab:terms'.\n"
                f"  Found: {quoted(label)}."
            )
        return as_latex(self.content, caption, label)

    def as_markdown(self) -> str:
        """Markdown with pipe tables, for GitHub, Quarto or Pandoc; names are escaped.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> print(fit.summary().as_markdown().splitlines()[0])
        **Selected terms: Minimum redundancy, maximum relevance (mRMR)**
        """
        return as_markdown(self.content)

    def as_docx(self) -> Document:
        """A document of python-docx: ``.as_docx().save("table.docx")`` writes it for Word.

        Raises
        ------
        MissingPackageError
            If python-docx, an optional extra, is not installed.
        """
        return as_word(self.content).document

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        return as_html(self.content)


_LABEL = re.compile(r"[A-Za-z0-9:._+/-]+")


def written(content: Callable[[], SummaryContent], digits: object, notes: object) -> Summary:
    """A summary whose content is written with as many digits, with or without its notes."""
    check_flag("notes", notes)
    with chosen_digits(check_digits(digits)):
        found = content()
    return Summary(found if notes else dataclasses.replace(found, notes=()))


class Summarised:
    """An object whose summary is shown in notebooks, with as many digits as the user chooses."""

    __slots__ = ()

    def summary(self, *, digits: int | None = None, notes: bool = True) -> Summary:
        """Printed summary.

        Parameters
        ----------
        digits : int, optional
            Decimals of scores, importances, frequencies and stability indices, with their errors,
            differences and intervals, of tests of terms and of regression tables; and significant
            digits of coefficients and of the largest effect, which set the decimals of all effects.
            From 1 to 10; by default each kind of number has its own.
        notes : bool
            Whether the notes below the tables are printed.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, ``as_markdown()``, ``as_docx()`` for
            Word, and HTML in notebooks.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        """
        return written(self._content, digits, notes)

    @abstractmethod
    def _content(self) -> SummaryContent:
        """What the summary says, with the digits that were chosen."""

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


class OfContent(Summarised):
    """An object that keeps how the content of its summary is written."""

    __slots__ = ()

    write: Callable[[], SummaryContent]

    def _content(self) -> SummaryContent:
        return self.write()
