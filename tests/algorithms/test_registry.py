"""Names, options and the table of methods."""

import re

import pytest

import treeselect
from treeselect.algorithms import registry
from treeselect.algorithms.method import Method
from treeselect.algorithms.references import Reference, texts
from treeselect.algorithms.registry import METHODS, find_method
from treeselect.errors import MethodError


@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_the_interface(name):
    method = METHODS[name]()
    assert isinstance(method, Method)
    assert method.name == name
    assert method.tuning_name in method.options()
    assert method.tuning_value is None
    assert hash(method) == hash(METHODS[name]())
    assert method.references
    assert method.paper.endswith(texts(method.references))
    for reference in method.references:
        assert re.fullmatch(r"[a-z]+\d{4}", reference.key)
        entry = reference.bibtex
        assert entry.count("{") == entry.count("}")
        assert entry.isascii()


def test_the_table_and_names_of_methods_known_and_unknown(monkeypatch):
    with pytest.raises(MethodError, match="Did you mean `controlburn`"):
        find_method("control-burn", {})
    with pytest.raises(MethodError, match="Methods: `exchange`"):
        find_method("xyz", {})
    with pytest.raises(MethodError, match="has no option `deep`"):
        find_method("controlburn", {"deep": 1})
    with pytest.raises(MethodError, match="Methods with this option: `controlburn`"):
        find_method("exchange", {"best_subset": True})
    with pytest.raises(MethodError, match="must be the name of a method"):
        find_method(object(), {})
    with pytest.raises(MethodError, match=r"Found: the class RRF. Write `RRF\(...\)`"):
        find_method(METHODS["rrf"], {})
    monkeypatch.setattr(registry, "_REGISTERED", {})  # an example in a docstring has left one there
    table = treeselect.methods()
    assert list(table.columns) == ["method", "title", "options", "paper"]
    assert table["method"].tolist() == list(METHODS)
    assert find_method("ControlBurn", {"forests": 2}).forests == 2


# --- references as text and as BibTeX, from one record ---

BOOK = Reference(("A. Author", "B. de Writer"), 1999, "Trees", book="Press", is_book=True)


def test_papers_of_methods():
    assert BOOK.text == "A. Author, B. de Writer (1999). Trees. Press."
    assert BOOK.short == "Author and de Writer 1999"
    assert BOOK.bibtex.startswith("@book{author1999,\n  author = {Author, A. and de Writer, B.}")
    assert "publisher = {Press}" in BOOK.bibtex
    boosted = METHODS["gbfs"]().references[0]
    assert boosted.short == "Xu et al. 2014"
    assert boosted.bibtex.startswith("@inproceedings{xu2014,")
    assert "booktitle = {KDD '14}" in boosted.bibtex
    assert "pages = {522--531}" in boosted.bibtex
    from sklearn.feature_selection import SelectKBest

    (paper,) = find_method(SelectKBest(), {}).references
    assert paper.short == "Pedregosa et al. 2011"
    assert "author = {Pedregosa, F. and others}" in paper.bibtex
