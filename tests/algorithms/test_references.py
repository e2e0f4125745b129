"""References as text and as BibTeX, from one record."""

from __future__ import annotations

import re

import pytest

from treeselect.algorithms.references import Reference, texts
from treeselect.algorithms.registry import METHODS, find_method

BOOK = Reference(("A. Author", "B. de Writer"), 1999, "Trees", book="Press", is_book=True)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_ours_has_a_paper_with_a_key(name):
    method = METHODS[name]()
    assert method.references
    assert method.paper.endswith(texts(method.references))
    for reference in method.references:
        assert re.fullmatch(r"[a-z]+\d{4}", reference.key)
        entry = reference.bibtex
        assert entry.count("{") == entry.count("}")
        assert entry.isascii()


def test_a_book():
    assert BOOK.text == "A. Author, B. de Writer (1999). Trees. Press."
    assert BOOK.short == "Author and de Writer 1999"
    assert BOOK.bibtex.startswith("@book{author1999,\n  author = {Author, A. and de Writer, B.}")
    assert "publisher = {Press}" in BOOK.bibtex


def test_proceedings():
    boosted = METHODS["gbfs"]().references[0]
    assert boosted.short == "Xu et al. 2014"
    assert boosted.bibtex.startswith("@inproceedings{xu2014,")
    assert "booktitle = {KDD '14}" in boosted.bibtex
    assert "pages = {522--531}" in boosted.bibtex


def test_selectors_of_scikit_learn_have_its_paper():
    from sklearn.feature_selection import SelectKBest

    (paper,) = find_method(SelectKBest(), {}).references
    assert paper.short == "Pedregosa et al. 2011"
    assert "author = {Pedregosa, F. and others}" in paper.bibtex
