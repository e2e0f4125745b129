"""References, in words and in BibTeX."""

from __future__ import annotations

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


def _names(author: str) -> tuple[str, str]:
    """Last name and initials."""
    words = author.split()
    n = next((i for i, word in enumerate(words) if not word.endswith(".")), len(words))
    return " ".join(words[n:]), " ".join(words[:n])
