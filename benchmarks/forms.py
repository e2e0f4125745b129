"""The methods that programs compare, each with its options, by the names they have in tables."""

from __future__ import annotations

from tables import options_text

from treeselect import ControlBurn, ForestImportance
from treeselect.algorithms.registry import METHODS

REDUCED = {
    "rrf": {"n_trees": 100},
    "grrf": {"n_trees": 100},
    "rboost": {"n_trees": 20},
    "gbfs": {"n_trees": 100},
    "boruta": {"max_rounds": 30},
}
"""Options of methods that would take hours otherwise; the others have their defaults."""

_MORE = {
    "importance, mdi": ForestImportance(kind="mdi"),
    "controlburn, paper": ControlBurn.published(),
    "controlburn, refined": ControlBurn(refine=True),
}

FORMS = {name: kind(**REDUCED.get(name, {})) for name, kind in METHODS.items()} | _MORE
"""All methods of the package, and other forms of two of them."""


def told(form):
    """The options of a form that its name does not tell, in words."""
    return "see name" if form in _MORE else options_text(REDUCED.get(form, {}))


def in_order(names):
    """Names in the order of the forms; others last."""
    place = {name: i for i, name in enumerate(FORMS)}
    return sorted(names, key=lambda name: place.get(name, len(place)))
