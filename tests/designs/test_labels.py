"""Labels of columns, terms and units, and where they stand in the place of names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeselect.designs.labels import (
    column_labels,
    in_labels,
    labelled_names,
    shown_names,
    term_label,
)
from treeselect.designs.preparing import Request, prepare
from treeselect.errors import OptionError
from treeselect.formula import parse_formula

LABELS = {"age": "Age (years)", "y": "Outcome"}


def frame():
    n = 40
    return pd.DataFrame(
        {
            "y": np.arange(n) % 7 + 0.5,
            "age": np.arange(n, dtype=float),
            "sex": ["f", "m"] * (n // 2),
            "hb": np.arange(n) % 5.0,
        }
    )


def design(formula="y ~ .", labels=LABELS, in_data=None, **asked):
    return prepare(Request(formula, labels=labels, **asked), frame(), in_data)


def test_labels_of_the_data_give_way_one_by_one():
    in_data = {"age": "from the data", "sex": "Sex", "elsewhere": "no column"}
    assert design(in_data=in_data).labels == {"age": "Age (years)", "sex": "Sex", "y": "Outcome"}
    assert design(labels={"sex": None, "age": ""}, in_data=in_data).labels == {}
    assert design(labels=None, in_data=in_data).labels == {"age": "from the data", "sex": "Sex"}


def test_labels_of_columns_that_the_formula_does_not_have_are_allowed():
    assert design("y ~ age", labels={"hb": "Haemoglobin", "age": "Age"}).labels == {"age": "Age"}


def test_an_interaction_is_one_term_in_both_orders():
    assert design("y ~ age:sex", labels={"sex:age": "Both"}).labels == {"age:sex": "Both"}


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"agee": "Age"}, "Can't find `agee`, named in `labels`"),
        ({"agee": "Age"}, "Did you mean `age`?"),
        ({3: "Age"}, "Can't find `3`, named in `labels`"),
        ({"age": 3}, "The label of `age` in `labels` must be text.\n  Found: 3."),
        ({"age": "\ud800"}, "must be text"),
        (["Age"], "`labels` must be a dictionary from names of columns or terms to labels."),
    ],
)
def test_errors(labels, said):
    with pytest.raises(OptionError) as error:
        design(labels=labels)
    assert said in str(error.value)


def test_different_terms_are_never_called_the_same():
    same = {"age": "X", "hb": "X", "sex": "hb"}
    assert shown_names(design(labels=same)) == {"age": "X (age)", "hb": "X (hb)", "sex": "hb (sex)"}
    sly = {"age": "X", "hb": "X", "sex": "X (hb)"}
    assert shown_names(design(labels=sly)) == {"age": "X (age)"}


def test_groups_are_called_what_the_user_calls_them():
    groups = {"blood": ["hb", "sex"]}
    assert shown_names(design(groups=groups, labels={"hb": "Haemoglobin", "age": "blood"})) == {
        "hb": "Haemoglobin",
        "age": "blood (age)",
    }


def test_a_design_in_labels():
    data = design("y ~ log(age + 1) + age:sex + hb", groups={"blood": ["hb"]})
    own = in_labels(data)
    assert set(own.arrays.groups.names) == {"blood", "log(Age (years) + 1)", "Age (years) × sex"}
    assert own.arrays.groups.keys == data.arrays.groups.keys
    assert own.response.name == "Outcome"
    assert in_labels(own) is own
    names = [spec.term.name for spec in own.spec.terms]
    assert own.spec.formula.text_of(names) == data.spec.formula.text_of(
        [spec.term.name for spec in data.spec.terms]
    )
    assert in_labels(design(labels=None)).response.name == "y"


def test_names_behind_labels():
    data = design("y ~ age:sex + hb", labels={**LABELS, "age:sex": "Both"})
    assert labelled_names(data, ["hb"]) == [("y", "Outcome")]
    assert labelled_names(data, ["age:sex"]) == [
        ("age:sex", "Both"),
        ("age", "Age (years)"),
        ("y", "Outcome"),
    ]


def test_labels_of_the_columns_of_a_linear_model():
    formula = "y ~ age + sex + sex:age + bs(hb, 4) + C(hb):sex"
    data = design(formula, labels={**LABELS, "sex": "Sex", "hb": "Hb"})
    terms = [spec.term.name for spec in data.spec.terms]
    columns = {
        "Intercept": ("Intercept", "Intercept"),
        "age": ("age", "Age (years)"),
        "sex[T.m]": ("sex", "Sex: m"),
        "sex[T.m]:age": ("sex:age", "Sex: m × Age (years)"),
        "bs(hb, 4)[2]": ("bs(hb, 4)", "bs(Hb, df=4) [2]"),
        "C(hb)[T.2.0]:sex[m]": ("C(hb):sex", "Hb: 2.0 × Sex: m"),
    }
    found = column_labels(data, columns, [term for term, _ in columns.values()])
    assert set(terms) > {"sex:age", "bs(hb, 4)"}
    assert found == [label for _, label in columns.values()]
    assert column_labels(design(labels=None), ["sex[T.m]"], ["sex"]) == ["sex[T.m]"]


WORDED = ["y", "a", "b", "odd name", "time", "dead"]

WORDS = {"a": "Alpha (mm)", "odd name": "Odd", "log(b)": "Log of B", "time": "Time"}


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
    (read,) = parse_formula(f"y ~ {term}", WORDED).terms
    assert term_label(read, WORDS) == label


def test_labels_of_times():
    read = parse_formula("Surv(time, dead == 'yes') ~ a", WORDED)
    assert term_label(read.response, WORDS) == "Surv(Time, dead == 'yes')"


def test_what_is_not_looked_into_keeps_its_name():
    (read,) = parse_formula("y ~ a.clip(0, 1)", WORDED, trusted=True).terms
    assert term_label(read, WORDS) == read.name
