"""References, in words and in BibTeX."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper or a book.

    Attributes
    ----------
    authors : tuple of str
        Initials first: ``"H. Peng"``. ``"others"`` may be the last.
    year : int
    title : str
    journal : str
        With :attr:`volume`; empty where it is :attr:`book`.
    book : str
        Proceedings, or the publisher of a book.
    volume, number, pages : str
        Empty where there is none.
    is_book : bool
        Whether `book` is a publisher.

    Examples
    --------
    >>> breiman = Reference(
    ...     ("L. Breiman",), 2001, "Random forests", journal="Machine Learning", volume="45",
    ...     pages="5-32",
    ... )
    >>> breiman.text
    'L. Breiman (2001). Random forests. Machine Learning 45, 5-32.'
    >>> breiman.short
    'Breiman 2001'
    >>> print(breiman.bibtex)
    @article{breiman2001,
      author = {Breiman, L.},
      title = {{Random forests}},
      journal = {Machine Learning},
      year = {2001},
      volume = {45},
      pages = {5--32}
    }
    """

    authors: tuple[str, ...]
    year: int
    title: str
    journal: str = ""
    book: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    is_book: bool = False

    @property
    def text(self) -> str:
        """The whole reference."""
        *first, last = self.authors
        joined = f"{', '.join(first)} and others" if last == "others" else ", ".join(self.authors)
        where = self.journal or self.book
        where += f" {self.volume}" if self.volume else ""
        where += f"({self.number})" if self.number else ""
        where += f", {self.pages}" if self.pages else ""
        return f"{joined} ({self.year}). {self.title}. {where}."

    @property
    def short(self) -> str:
        """As cited in a sentence: ``"Deng and Runger 2013"``."""
        names = [_names(author)[0] for author in self.authors]
        if len(names) > 2 or names[-1] == "others":
            return f"{names[0]} et al. {self.year}"
        return f"{' and '.join(names)} {self.year}"

    @property
    def key(self) -> str:
        """Key of the BibTeX entry: last name of the first author, and year."""
        name = _names(self.authors[0])[0].lower()
        return f"{''.join(filter(str.isalpha, name))}{self.year}"

    @property
    def bibtex(self) -> str:
        """A BibTeX entry, whose title keeps its capitals."""
        kind = "article" if self.journal else "book" if self.is_book else "inproceedings"
        people = (", ".join(filter(None, _names(author))) for author in self.authors)
        fields = {
            "author": " and ".join(people),
            "title": f"{{{self.title}}}",
            "journal": self.journal,
            "publisher" if self.is_book else "booktitle": self.book,
            "year": str(self.year),
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages.replace("-", "--"),
        }
        return entry(kind, self.key, fields)


def entry(kind: str, key: str, fields: dict[str, str]) -> str:
    """A BibTeX entry of the fields that are not empty."""
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}\n}}"


def texts(references: Iterable[Reference]) -> str:
    """The whole references, one after the other."""
    return " ".join(reference.text for reference in references)


def with_references(kind: type, cited: object) -> None:
    """Give the docstring of a class a section of references, before its examples."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    if not doc or not isinstance(cited, tuple) or "\nReferences\n" in doc:
        return
    listed = "\n".join(
        textwrap.fill(f".. [{i}] {reference.text}", 96, subsequent_indent="   ")
        for i, reference in enumerate(cited, 1)
    )
    head, examples, rest = doc.partition("\nExamples\n")
    kind.__doc__ = f"{head.rstrip()}\n\nReferences\n----------\n{listed}\n{examples}{rest}"


def _names(author: str) -> tuple[str, str]:
    """Last name and initials."""
    words = author.split()
    n = next((i for i, word in enumerate(words) if not word.endswith(".")), len(words))
    return " ".join(words[n:]), " ".join(words[:n])


# --- what methods are based on -------------------------------------------------------------------

BREIMAN_2001 = Reference(
    ("L. Breiman",), 2001, "Random forests", journal="Machine Learning", volume="45",
    pages="5-32",
)  # fmt: skip
CLIMENTE_2019 = Reference(
    ("H. Climente-Gonzalez", "C.-A. Azencott", "S. Kaski", "M. Yamada"), 2019,
    "Block HSIC lasso: model-free biomarker detection for ultra-high dimensional data",
    journal="Bioinformatics", volume="35", pages="i427-i435",
)  # fmt: skip
DENG_2012 = Reference(
    ("H. Deng", "G. Runger"), 2012, "Feature selection via regularized trees", book="IJCNN 2012",
)  # fmt: skip
DENG_2013 = Reference(
    ("H. Deng", "G. Runger"), 2013, "Gene selection with guided regularized random forest",
    journal="Pattern Recognition", volume="46", pages="3483-3489",
)  # fmt: skip
DIAZ_2006 = Reference(
    ("R. Diaz-Uriarte", "S. Alvarez de Andres"), 2006,
    "Gene selection and classification of microarray data using random forest",
    journal="BMC Bioinformatics", volume="7", pages="3",
)  # fmt: skip
GUYON_2002 = Reference(
    ("I. Guyon", "J. Weston", "S. Barnhill", "V. Vapnik"), 2002,
    "Gene selection for cancer classification using support vector machines",
    journal="Machine Learning", volume="46", pages="389-422",
)  # fmt: skip
HALL_1999 = Reference(
    ("M. A. Hall",), 1999, "Correlation-based feature selection for machine learning",
    book="Thesis, University of Waikato",
)  # fmt: skip
HALL_2000 = Reference(
    ("M. A. Hall",), 2000,
    "Correlation-based feature selection for discrete and numeric class machine learning",
    book="Proceedings of ICML 17", pages="359-366",
)  # fmt: skip
HOTHORN_2003 = Reference(
    ("T. Hothorn", "B. Lausen"), 2003,
    "On the exact distribution of maximally selected rank statistics",
    journal="Computational Statistics & Data Analysis", volume="43", pages="121-137",
)  # fmt: skip
KELLEY_1935 = Reference(
    ("T. L. Kelley",), 1935, "An unbiased correlation ratio measure", journal="PNAS",
    volume="21", number="9", pages="554-559",
)  # fmt: skip
KIM_2004 = Reference(
    ("Y.-J. Kim", "C. Gu"), 2004,
    "Smoothing spline Gaussian regression: more scalable computation via efficient approximation",
    journal="JRSS B", volume="66", number="2", pages="337-356",
)  # fmt: skip
KURSA_2010 = Reference(
    ("M. B. Kursa", "W. R. Rudnicki"), 2010, "Feature selection with the Boruta package",
    journal="Journal of Statistical Software", volume="36", number="11",
)  # fmt: skip
LI_2019 = Reference(
    ("X. Li", "Y. Wang", "S. Basu", "K. Kumbier", "B. Yu"), 2019,
    "A debiased MDI feature importance measure for random forests", book="NeurIPS 2019",
)  # fmt: skip
LIU_2021 = Reference(
    ("B. Liu", "M. Xie", "M. Udell"), 2021, "ControlBurn: Feature Selection by Sparse Forests",
    book="KDD '21", pages="1045-1054",
)  # fmt: skip
MEIER_2008 = Reference(
    ("L. Meier", "S. van de Geer", "P. Buhlmann"), 2008,
    "The group lasso for logistic regression",
    journal="Journal of the Royal Statistical Society B", volume="70", pages="53-71",
)  # fmt: skip
PENG_2005 = Reference(
    ("H. Peng", "F. Long", "C. Ding"), 2005,
    "Feature selection based on mutual information criteria of max-dependency, "
    "max-relevance, and min-redundancy", journal="IEEE TPAMI", volume="27", pages="1226-1238",
)  # fmt: skip
PUDIL_1994 = Reference(
    ("P. Pudil", "J. Novovicova", "J. Kittler"), 1994,
    "Floating search methods in feature selection", journal="Pattern Recognition Letters",
    volume="15", number="11", pages="1119-1125",
)  # fmt: skip
SCHWARZ_1978 = Reference(
    ("G. Schwarz",), 1978, "Estimating the dimension of a model", journal="Annals of Statistics",
    volume="6", pages="461-464",
)  # fmt: skip
VENABLES_2002 = Reference(
    ("W. N. Venables", "B. D. Ripley"), 2002, "Modern Applied Statistics with S",
    book="Springer, section 6.8", is_book=True,
)  # fmt: skip
VOLINSKY_2000 = Reference(
    ("C. T. Volinsky", "A. E. Raftery"), 2000,
    "Bayesian information criterion for censored survival models", journal="Biometrics",
    volume="56", pages="256-262",
)  # fmt: skip
XU_2014 = Reference(
    ("Z. Xu", "G. Huang", "K. Q. Weinberger", "A. X. Zheng"), 2014,
    "Gradient boosted feature selection", book="KDD '14", pages="522-531",
)  # fmt: skip
YAMADA_2014 = Reference(
    ("M. Yamada", "W. Jitkrittum", "L. Sigal", "E. P. Xing", "M. Sugiyama"), 2014,
    "High-dimensional feature selection by feature-wise kernelized lasso",
    journal="Neural Computation", volume="26", pages="185-207",
)  # fmt: skip
YU_2003 = Reference(
    ("L. Yu", "H. Liu"), 2003,
    "Feature selection for high-dimensional data: a fast correlation-based filter solution",
    book="Proceedings of ICML 20", pages="856-863",
)  # fmt: skip
YUAN_2006 = Reference(
    ("M. Yuan", "Y. Lin"), 2006,
    "Model selection and estimation in regression with grouped variables",
    journal="Journal of the Royal Statistical Society B", volume="68", pages="49-67",
)  # fmt: skip
ZHU_2009 = Reference(
    ("J. Zhu", "H. Zou", "S. Rosset", "T. Hastie"), 2009, "Multi-class AdaBoost",
    journal="Statistics and Its Interface", volume="2", pages="349-360",
)  # fmt: skip
ZHU_2020 = Reference(
    ("J. Zhu", "C. Wen", "J. Zhu", "H. Zhang", "X. Wang"), 2020,
    "A polynomial algorithm for best-subset selection problem", journal="PNAS", volume="117",
    number="52", pages="33117-33123",
)  # fmt: skip
