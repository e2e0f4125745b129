"""Labels of terms, made of those of their columns."""

from __future__ import annotations

import pytest

from treeselect.designs.labels import term_label
from treeselect.formula import parse_formula

COLUMNS = ["y", "a", "b", "odd name", "time", "dead"]

LABELS = {"a": "Alpha (mm)", "odd name": "Odd", "log(b)": "Log of B", "time": "Time"}


@pytest.mark.parametrize(
    ("term", "label"),
    [
        ("a", "Alpha (mm)"),
        ("b", "b"),
        ("`odd name`", "Odd"),
        ("log(a)", "log(Alpha (mm))"),
        ("log(b)", "Log of B"),
        ("log(b):a", "Log of B × Alpha (mm)"),
        ("a:b", "Alpha (mm) × b"),
        ("C(a)", "Alpha (mm)"),
        ("C(b)", "C(b)"),
        ("I(a / (b + 1))", "Alpha (mm) / (b + 1)"),
        ("I(-a)", "-Alpha (mm)"),
        ("I(a > 3)", "Alpha (mm) > 3"),
        ("bs(a, 4)", "bs(Alpha (mm), df=4)"),
        ("scale(log(`odd name`))", "scale(log(Odd))"),
    ],
)
def test_labels_of_terms(term, label):
    (read,) = parse_formula(f"y ~ {term}", COLUMNS).terms
    assert term_label(read, LABELS) == label


def test_labels_of_times():
    read = parse_formula("Surv(time, dead == 'yes') ~ a", COLUMNS)
    assert term_label(read.response, LABELS) == "Surv(Time, dead == 'yes')"


def test_what_is_not_looked_into_keeps_its_name():
    (read,) = parse_formula("y ~ a.clip(0, 1)", COLUMNS, trusted=True).terms
    assert term_label(read, LABELS) == read.name
