"""Units of selection; labels; association of columns."""

import numpy as np
import pandas as pd
import pytest

from treeselect.designs.preparing import (
    Request,
    column_labels,
    in_labels,
    labelled_names,
    prepare,
    shown_names,
    term_label,
)
from treeselect.designs.units import make_units
from treeselect.errors import OptionError
from treeselect.formula import parse_formula

COLUMNS = ["y", "age", "hb", "wbc", "mri", "size"]


FORMULA = "y ~ age + hb + wbc + log(size) + I(size > 3)"


def units(formula=FORMULA, groups=None, costs=None, keep=None):
    found = make_units(parse_formula(formula, COLUMNS).terms, groups, costs, keep)
    return found.feature_groups(found.term_order)


def alone(found):
    return dict(zip(found.names, found.costs, strict=True))


def price(found, *names):
    uses = np.array([[name in names for name in found.names]])
    return found.prices(uses, np.ones(len(found.names)))[0]


def test_groups_and_prices_of_terms_variables_and_interactions():
    found = units()
    assert found.names == ("I(size > 3)", "age", "hb", "log(size)", "wbc")
    assert set(alone(found).values()) == {1.0}
    assert not found.keep.any()
    found = units(groups={"blood panel": ["hb", "wbc"], "shape": ["size"]})
    assert found.names == ("age", "blood panel", "shape")
    assert found.terms == (("age",), ("hb", "wbc"), ("I(size > 3)", "log(size)"))
    assert found.ids.tolist() == [0, 1, 1, 2, 2]
    named = units(groups={"hb": ["hb", "wbc"]})  # a group may have the name of a member
    assert named.names == ("I(size > 3)", "age", "hb", "log(size)")
    found = units(groups={"blood": ["hb", "wbc"]}, costs={"blood": 4.0, "age": 0})
    assert alone(found) == {"I(size > 3)": 1, "age": 0, "blood": 4, "log(size)": 1}
    found = units(costs={"size": 40.0})
    assert alone(found)["log(size)"] == alone(found)["I(size > 3)"] == 40
    assert price(found, "log(size)", "I(size > 3)", "age") == 41
    assert price(found, "log(size)") == 40
    found = units(costs={"log(size)": 5.0, "I(size > 3)": 7.0})
    assert price(found, "log(size)", "I(size > 3)") == 12
    found = units("y ~ size + log(size)", costs={"size": 5.0})
    assert alone(found) == {"log(size)": 5, "size": 5}
    assert price(found, "size", "log(size)") == 5  # size is measured once
    found = units("y ~ size + log(size)", costs={"size": 5.0, "log(size)": 2.0})
    assert alone(found) == {"log(size)": 2, "size": 5}
    found = units(costs={"size": 40.0}, keep=["log(size)"])
    assert found.keep.tolist() == [False, False, False, True, False]
    assert price(found, "log(size)", "I(size > 3)", "age") == 1
    found = units(CROSSED, costs={"hb": 5.0, "mri": 40.0})
    assert alone(found) == {
        "age": 1, "age:hb": 5, "hb": 5, "hb:wbc": 5, "log(mri):age": 40, "wbc": 1,
    }  # fmt: skip
    assert price(found, "hb", "hb:wbc", "age:hb") == 5
    assert price(found, "age:hb", "log(mri):age", "wbc") == 46
    found = units(CROSSED, costs={"hb": 5.0, "hb:age": 2.0})
    assert alone(found)["age:hb"] == 7
    assert price(found, "hb", "age:hb") == 7
    found = units(CROSSED, groups={"blood": ["hb", "wbc"]}, costs={"blood": 9.0})
    assert alone(found) == {"age": 1, "age:hb": 9, "blood": 9, "log(mri):age": 1}
    assert price(found, "blood", "age:hb", "age") == 10
    assert units(CROSSED, keep="wbc:hb").keep.sum() == 1
    found = units(CROSSED, groups={"g": ["hb:age", "wbc"]})
    assert dict(zip(found.names, found.terms, strict=True))["g"] == ("age:hb", "hb:wbc", "wbc")


@pytest.mark.parametrize("make", [list, tuple, pd.Index, np.array, pd.Series])
def test_names_in_any_sequence(make):
    made = units(groups={"g": make(["hb", "wbc"])}, keep=make(["age", "hb"]))
    assert made.terms[made.names.index("g")] == ("hb", "wbc")
    assert [n for n, kept in zip(made.names, made.keep, strict=True) if kept] == ["age", "g"]


def test_kept_discounted_and_priced_units_and_their_ranks():
    assert units(keep="size").keep.sum() == 2
    found = units(groups={"blood": ["hb", "wbc"]}, keep=["blood"])
    assert np.array(found.names)[found.keep].tolist() == ["blood"]
    assert units(groups={"blood": ["hb", "wbc"]}, keep=["hb"]).keep.sum() == 1
    found = units(costs={"size": 40.0})
    uses = np.ones((1, 5), dtype=bool)
    discount = np.array([0.5, 2.0, 1.0, 0.25, 1.0])  # the shared variable at its cheapest
    assert found.prices(uses, discount)[0] == 10 + 2 + 1 + 1
    costs = {"age": 2, "hb": 0.5, "wbc": np.float32(4), "log(size)": np.int64(3)}
    expected = {"I(size > 3)": 1, "age": 2, "hb": 0.5, "wbc": 4, "log(size)": 3}
    assert alone(units(costs=costs)) == expected
    found = units(costs={"age": 0.5, "wbc": 9.0}, keep="hb")
    names = np.array(found.names)[np.argsort(found.ranks(3))]
    assert names[0] == "hb"
    assert names[1] == "age"
    assert names[-1] == "wbc"
    orders = {tuple(units().ranks(seed)) for seed in range(20)}
    assert len(orders) > 10


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"groups": {"age": ["hb"]}}, "must not have the same name as a term that is not in it"),
        ({"costs": {"ag": 2}}, "Did you mean `age`"),
        ({"costs": {"size": 2, "log(size)": 3}}, "must have only one cost"),
        ({"groups": {"g": ["size"], "h": ["log(size)"]}}, r"`log\(size\)` must be in one group"),
        ({"costs": {"age": 1e200}}, r"to 1e\+100"),
        ({"groups": {"g": ["size", "hb"]}, "costs": {"size": 2}}, "Give the cost of `g` instead"),
        (
            {"groups": {"g": ["log(size)", "hb"]}, "costs": {"size": 2}},
            "must not belong to a group",
        ),
    ],
)
def test_what_cannot_be_meant(arguments, says):
    with pytest.raises(OptionError, match=says):
        units(**arguments)


CROSSED = "y ~ age + hb + wbc + hb:wbc + age:hb + log(mri):age"


def test_an_interaction_joins_its_group_and_a_spline_is_one_unit():
    found = units(CROSSED, groups={"blood": ["hb", "wbc"]})
    assert dict(zip(found.names, found.terms, strict=True)) == {
        "age": ("age",),
        "age:hb": ("age:hb",),
        "log(mri):age": ("log(mri):age",),
        "blood": ("hb", "hb:wbc", "wbc"),
    }
    both = units("y ~ age:hb + age + wbc", groups={"g": ["age:hb", "wbc"]})  # named itself
    assert both.names == ("age", "g")
    apart = units(CROSSED, groups={"g": ["hb", "wbc", "age"], "h": ["log(mri):age"]})
    assert apart.names == ("g", "h")
    found = units("y ~ bs(age, 4) + poly(hb, 2) + poly(hb, 2):wbc", costs={"hb": 3}, keep=["age"])
    assert found.names == ("bs(age, 4)", "poly(hb, 2)", "poly(hb, 2):wbc")
    assert found.keep.tolist() == [True, False, False]
    assert price(found, "poly(hb, 2)", "poly(hb, 2):wbc") == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"keep": "mri"}, r"`mri`, named in `keep`, among the main effects.\n.*`log\(mri\):age`"),
        ({"groups": {"g": ["mri"]}}, "only in interactions"),
        ({"costs": {"hb:mri": 1}}, "Can't find `hb:mri`"),
    ],
)
def test_interactions_that_cannot_be_meant(arguments, says):
    with pytest.raises(OptionError, match=says):
        units(CROSSED, **arguments)


# --- labels of columns, terms and units, and where they stand in the place of names ---------------


LABELS = {"age": "Age (years)", "y": "Outcome"}


def frame():
    n = 40
    return pd.DataFrame(
        {
            "y": np.arange(n) % 7 + 0.5, "age": np.arange(n, dtype=float),
            "sex": ["f", "m"] * (n // 2), "hb": np.arange(n) % 5.0,
        }
    )  # fmt: skip


def design(formula="y ~ .", labels=LABELS, in_data=None, **asked):
    return prepare(Request(formula, labels=labels, **asked), frame(), in_data)


def test_labels_of_columns_interactions_terms_and_groups():
    in_data = {"age": "from the data", "sex": "Sex", "elsewhere": "no column"}
    assert design(in_data=in_data).labels == {"age": "Age (years)", "sex": "Sex", "y": "Outcome"}
    assert design(labels={"sex": None, "age": ""}, in_data=in_data).labels == {}
    assert design(labels=None, in_data=in_data).labels == {"age": "from the data", "sex": "Sex"}
    assert design("y ~ age", labels={"hb": "Haemoglobin", "age": "Age"}).labels == {"age": "Age"}
    assert design("y ~ age:sex", labels={"sex:age": "Both"}).labels == {"age:sex": "Both"}
    same = {"age": "X", "hb": "X", "sex": "hb"}
    assert shown_names(design(labels=same)) == {"age": "X (age)", "hb": "X (hb)", "sex": "hb (sex)"}
    sly = {"age": "X", "hb": "X", "sex": "X (hb)"}
    assert shown_names(design(labels=sly)) == {"age": "X (age)"}
    groups = {"blood": ["hb", "sex"]}
    assert shown_names(design(groups=groups, labels={"hb": "Haemoglobin", "age": "blood"})) == {
        "hb": "Haemoglobin",
        "age": "blood (age)",
    }


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"agee": "Age"}, "named in `labels`, among the columns and terms.\n  Did you mean `age`?"),
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


def test_a_design_in_labels_and_the_names_behind_them():
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
        "missing(age)": ("age", "missing(Age (years))"),
        "sex[T.m]:age": ("sex:age", "Sex: m × Age (years)"),
        "bs(hb, 4)[2]": ("bs(hb, 4)", "bs(Hb, df=4) [2]"),
        "C(hb)[T.2.0]:sex[m]": ("C(hb):sex", "Hb: 2.0 × Sex: m"),
    }
    found = column_labels(data, columns, [term for term, _ in columns.values()])
    assert set(terms) > {"sex:age", "bs(hb, 4)"}
    assert found == [label for _, label in columns.values()]
    assert column_labels(design(labels=None), ["sex[T.m]"], ["sex"]) == ["sex[T.m]"]
    alike = design("y ~ age + hb", labels={"age": "Same", "hb": "Same"})
    assert column_labels(alike, ["age", "hb"], ["age", "hb"]) == ["Same (age)", "Same (hb)"]


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


def test_labels_of_times_and_of_what_is_not_looked_into():
    read = parse_formula("Surv(time, dead == 'yes') ~ a", WORDED)
    assert term_label(read.response, WORDS) == "Surv(Time, dead == 'yes')"
    (read,) = parse_formula("y ~ a.clip(0, 1)", WORDED, trusted=True).terms
    assert term_label(read, WORDS) == read.name
