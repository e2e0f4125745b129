"""Names, options and the table of methods."""

from __future__ import annotations

import pytest

import treeselect
from treeselect.algorithms import registry
from treeselect.algorithms.method import Method
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


def test_table_has_a_row_per_method(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})  # an example in a docstring has left one there
    table = treeselect.methods()
    assert list(table.columns) == ["method", "title", "options", "paper"]
    assert table["method"].tolist() == list(METHODS)


def test_names_are_case_insensitive_and_options_are_passed_on():
    assert find_method("ControlBurn", {"forests": 2}).forests == 2


def test_unknown_names_options_and_objects():
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
