"""Old names work until they are removed, and are removed when they were said to be."""

import importlib
import warnings

import layout
import pytest

import treeselect
from treeselect.deprecating import REMOVALS, renamed_argument, renamed_attribute
from treeselect.errors import OptionError, TreeselectDeprecationWarning


@renamed_argument("ntree", "n_trees", since="0.1.0", until="99.0.0")
def grow(bag: str, *, n_trees: int = 100) -> tuple[str, int]:
    """What was given."""
    return bag, n_trees


class Bound:
    """An attribute with a new name."""

    informative = True
    tells = renamed_attribute("Bound", "tells", "informative", since="0.1.0", until="99.0.0")


def test_an_old_argument_still_works_and_warns_where_it_was_written() -> None:
    with pytest.warns(TreeselectDeprecationWarning, match=r"`grow\(n_trees=\)` in 0\.1\.0") as said:
        assert grow("a", ntree=7) == ("a", 7)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grow("a", n_trees=7) == ("a", 7)
    assert grow.__name__ == "grow"


def test_both_names_of_an_argument_are_refused() -> None:
    with pytest.raises(OptionError, match="Omit `ntree`"):
        grow("a", ntree=7, n_trees=7)


def test_an_old_attribute_still_works_and_warns() -> None:
    with pytest.warns(TreeselectDeprecationWarning, match=r"renamed to `Bound\.informative`"):
        assert Bound().tells


def test_no_old_name_outlives_its_warning() -> None:
    for module in layout.modules():
        if not module.endswith("__main__"):
            importlib.import_module(module)
    now = numbers(treeselect.__version__)
    late = [name for name, until in REMOVALS.items() if numbers(until) <= now]
    assert late == [], "remove these names, or say in the CHANGELOG why they stay"
    assert numbers("0.10.0") > numbers("0.9.9")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
