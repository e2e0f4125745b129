"""The summary returned to users: prints as text, LaTeX, Markdown, HTML or a great_tables object."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.errors import OptionError, quoted
from treeselect.printing.content import SummaryContent

if TYPE_CHECKING:
    from great_tables import GT


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """A summary that prints as text and converts to LaTeX, Markdown, HTML and great_tables.

    Attributes
    ----------
    content : SummaryContent
    """

    content: SummaryContent

    def as_text(self) -> str:
        """Plain text, at most 88 characters wide unless names are longer."""
        from treeselect.printing.text import as_text

        return as_text(self.content)

    def as_latex(self, caption: str | None = None, label: str | None = None) -> str:
        r"""A LaTeX ``table`` with caption, label, and the notes below.

        It requires the package booktabs, is no wider than the text, and compiles with pdfLaTeX,
        LuaLaTeX and XeLaTeX. Numbers are aligned at their decimal points.

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
        from treeselect.printing.latex import as_latex

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
        from treeselect.printing.markdown import as_markdown

        return as_markdown(self.content)

    def as_gt(self) -> GT:
        """A great_tables object, which can be styled and written as HTML, LaTeX or an image.

        It contains the main table (of terms, coefficients, methods or groups), with facts and notes
        as source notes, but not the further tables of effects and exchanges.

        Raises
        ------
        MissingPackageError
            If great_tables, an optional extra, is not installed.
        """
        from treeselect.printing.great import as_gt

        return as_gt(self.content)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from treeselect.printing.notebook import as_html

        return as_html(self.content)


_LABEL = re.compile(r"[A-Za-z0-9:._+/-]+")


class Summarised:
    """An object whose summary is shown in notebooks."""

    __slots__ = ()

    @abstractmethod
    def summary(self) -> Summary:
        """Printed summary."""

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
