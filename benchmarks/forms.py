"""The methods that programs compare, each with its options, by the names they have in tables."""

from __future__ import annotations

from tables import options_text

import treeselect
from treeselect import ControlBurn
from treeselect.algorithms.registry import METHODS

REDUCED = {
    "rrf": {"n_trees": 100},
    "grrf": {"n_trees": 100},
    "rboost": {"n_trees": 20},
    "gbfs": {"n_trees": 100},
    "boruta": {"max_rounds": 30},
}
"""Options of methods that would take hours otherwise; the others have their defaults."""

_TOLD = {
    **REDUCED,
    "importance": {"kind": "mdi"},
    "importance, unbiased": {"kind": "unbiased"},
}

FORMS = {
    name: kind(**_TOLD.get(name, {})) for name, kind in METHODS.items()
} | {
    "importance, unbiased": treeselect.ForestImportance(kind="unbiased"),
    "controlburn, paper": ControlBurn.published(),
}  # fmt: skip
"""All methods of the package; of two also another form."""


def told(form):
    """The options of a form in words."""
    return "the paper's" if form == "controlburn, paper" else options_text(_TOLD.get(form, {}))


def in_order(names):
    """Names in the order of the forms; others last."""
    place = {name: i for i, name in enumerate(FORMS)}
    return sorted(names, key=lambda name: place.get(name, len(place)))
