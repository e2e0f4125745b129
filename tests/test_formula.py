"""Formulas as a whole, and formulas as a step of a pipeline."""

import pickle
import subprocess
import sys
import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from formulaic.parser import DefaultFormulaParser
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_score,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import treeselect
from treeselect import TreeSelector
from treeselect.errors import DataError, FormulaError, NewDataError, OptionError
from treeselect.formula import parse_formula
from treeselect.formulas import checks

COLUMNS = ["y", "id", "a", "b", "a b"]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ a", ["a"]),
        ("y ~ b + a", ["b", "a"]),
        ("y ~ .", ["id", "a", "b", "a b"]),
        ("y ~ . - id", ["a", "b", "a b"]),
        ("y ~ . - (id + a)", ["b", "a b"]),
        ("y ~ . - y - id", ["a", "b", "a b"]),
        ("y ~ . - id + I(a>3)", ["a", "b", "a b", "I(a > 3)"]),
        ("y ~ -1 + a", ["a"]),
        ("y ~ a + a + b", ["a", "b"]),
        ("log(y) ~ . - id", ["a", "b", "a b"]),
        ("y ~ log(`a b`)", ["log(`a b`)"]),
        ("y ~ a + (b + id) - id", ["a", "b"]),
        ("y ~ . - (id + a) - `a b`", ["b"]),
        ("y ~ . - 1 - id", ["a", "b", "a b"]),
        ("y ~ a + 0", ["a"]),
        ("y ~ log(a) + a - a", ["log(a)"]),
        ("I(y + a) ~ .", ["id", "b", "a b"]),
        ("y ~ . + .", ["id", "a", "b", "a b"]),
        ("y ~ a\n  + b", ["a", "b"]),
        ("y ~ C(a) + {C(b)}", ["C(a)", "C(b)"]),
    ],
)
def test_terms(formula, terms):
    assert [t.name for t in parse_formula(formula, COLUMNS).terms] == terms


def test_variables_texts_and_hidden_columns_of_terms():
    assert len(parse_formula("y ~ .", COLUMNS, hidden=["id", "b"]).terms) == 2
    # Taken off by hand all the same.
    assert len(parse_formula("y ~ . - id", COLUMNS, hidden=["id", "b"]).terms) == 2
    terms = parse_formula("y ~ `a b` + I((a > 1) & (`a b` < b)) + {a + `a b`}", COLUMNS).terms
    assert [t.text for t in terms] == ["`a b`", "I((a > 1) & (`a b` < b))", "{a + `a b`}"]
    assert [t.variables for t in terms] == [("a b",), ("a", "a b", "b"), ("a", "a b")]


@pytest.mark.parametrize(
    ("n", "said"), [(19, "The formula has 19"), (30, "The beginning of.* has 20")]
)
def test_after_twenty_problems_the_rest_of_a_formula_is_not_read(n, said):
    names = " + ".join(["{x0}", "x0", *(f"x{i}" for i in range(n))])
    with pytest.raises(FormulaError, match=f"^{said} problems"):
        parse_formula(f"y ~ {names}", ["y"])


def test_columns_named_like_intercepts_interactions_and_expressions():
    """formulaic takes it for the intercept: the column would be lost in silence."""
    for formula in ("y ~ .", "y ~ x + `1`", "`1` ~ x"):
        with pytest.raises(FormulaError, match="must not share its name with the intercept"):
            parse_formula(formula, ["y", "x", "1", "0"])
    assert [t.name for t in parse_formula("y ~ x + `0`", ["y", "x", "1", "0"]).terms] == ["x", "0"]
    columns = ["y", "x", "z", "x:z", "I(x > 0)", "x > 0"]
    assert len(parse_formula("y ~ .", columns).terms) == 5
    for formula in ("y ~ `x:z` + x:z", "y ~ . + z:x", "y ~ I(x>0)", "y ~ {x >0}"):
        with pytest.raises(FormulaError, match="must not share its name"):
            parse_formula(formula, columns)
    with pytest.raises(FormulaError, match="must not share its name"):
        parse_formula("y ~ `a:c`:b + a:c:b", ["y", "a:c", "a", "b", "c"])
    assert parse_formula("y ~ x", ["y", "x", "a`b"]).terms[0].name == "x"
    with pytest.raises(FormulaError, match="must not contain a backtick"):
        parse_formula("y ~ .", ["y", "x", "a`b"])


@pytest.mark.parametrize(
    ("name", "says"),
    [(".", "the shorthand for all columns"), ("~", "the separator of"), ("", "must have a name")],
)
def test_columns_named_like_signs_are_told_from_them(name, says):
    assert parse_formula("y ~ x", ["y", "x", name]).terms[0].name == "x"
    for formula in ("y ~ .", f"y ~ `{name}` + x", f"`{name}` ~ x", f"y ~ `{name}`:x"):
        with pytest.raises(FormulaError, match=says):
            parse_formula(formula, ["y", "x", name])


@pytest.mark.parametrize("name", ["\u00b5g", "e\u0301", "\ufb01x"])
def test_names_that_python_spells_otherwise_stay_out_of_expressions(name):
    """The micro sign is the letter mu to Python: the wrong column would be read in silence."""
    other = unicodedata.normalize("NFKC", name)
    columns = ["y", name, other]
    text = parse_formula("y ~ .", columns).terms[0].text
    assert parse_formula(f"y ~ {text}", columns).terms[0].name == name
    for formula in (f"y ~ I({name} * 2)", f"y ~ I(`{name}` * 2)"):
        with pytest.raises(FormulaError, match="rename the column"):
            parse_formula(formula, columns)
    assert parse_formula(f"y ~ I({other} * 2)", columns).terms[0].variables == (other,)


def test_messages_about_long_formulas_and_names_are_short():
    columns = [f"x{i}" for i in range(5000)]
    for wrong in ("wrong", "w" * 1_000_000):
        formula = f"x0 ~ {' + '.join(columns[1:2500])} + {wrong} + {' + '.join(columns[2500:])}"
        with pytest.raises(FormulaError, match="Can't find column") as error:
            parse_formula(formula, columns)
        assert len(str(error.value)) < 1000
        assert "^^^^^" in str(error.value)
    with pytest.raises(FormulaError, match="Can't find column") as error:
        parse_formula(f"x0 ~ {' + '.join(columns[1:2500])} + wrong + x7", columns)
    shown, carets = str(error.value).splitlines()[1:3]
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "wrong"
    names = [f"g{i}" for i in range(150)]
    removals = " - ".join(names[:100])
    with pytest.raises(FormulaError, match=r"Can't remove `log\(g7\)`"):
        parse_formula(f"y ~ . - {removals} - log(g7)", ["y", *names])


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("y ~ . - log(a)", "Can't remove `log(a)`"),
        ("a + b", "must have the response on its left"),
        ("y ~ a ~ b", "must have exactly one `~`"),
        ("log(y) ~ a + I(y > 2)", "must not use the response"),
        ("y ~ 1", "at least one term"),
        ("y ~ a - a", "at least one term"),
        ("y ~ 5", "Can't read the formula"),
        ("y ~ 'a'", "Can't read the formula"),
        ("y ~ -id", "write removals last"),
        ("y - a ~ b", "Can't remove `a`"),
        ("y ~ . - (id + b) - b", "Can't remove `b`"),
        ("y ~ a + (b - id)", "Can't remove `id`"),
        ("1 ~ a", "must have the response on its left"),
        (". ~ a", "must have a single response"),
        ("y ~ a, b", "must not contain the operator `,`"),
        ("y ~ (a - a) / b", "Nothing is left on one side of `/`"),
        ("y ~ {a}", "must not be in braces"),
        ("", "must have the response on its left"),
        (3, "must be text"),
    ],
)
def test_f7_formulas_that_cannot_be_meant(formula, says):
    with pytest.raises(FormulaError, match=says.replace("(", r"\(").replace(")", r"\)")):
        parse_formula(formula, COLUMNS)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ a:b", ["a:b"]),
        ("y ~ a*b", ["a", "b", "a:b"]),
        ("y ~ (a + b)^2", ["a", "b", "a:b"]),
        ("y ~ (a + b)**2", ["a", "b", "a:b"]),
        ("y ~ a %in% b", ["b", "b:a"]),
        ("y ~ a/b", ["a", "a:b"]),
        ("y ~ a:b + b:a", ["a:b"]),
        ("y ~ .^2 - id:a", ["id", "a", "b", "a b", "id:b", "id:a b", "a:b", "a:a b", "b:a b"]),
        ("y ~ a*b - b:a", ["a", "b"]),
        ("y ~ a:`a b`:log(b)", ["a:a b:log(b)"]),
        ("y ~ 2:a", ["a"]),
        ("y ~ (a + b):poly(id, 2)", ["a:poly(id, 2)", "b:poly(id, 2)"]),
    ],
)
def test_interactions(formula, terms):
    assert sorted(t.name for t in parse_formula(formula, COLUMNS).terms) == sorted(terms)


def test_parts_of_an_interaction():
    (term,) = parse_formula("y ~ b:log(`a b`):2:{a + 1}", COLUMNS).terms
    assert [factor.text for factor in term.factors] == ["b", "log(`a b`)", "{a + 1}"]
    assert term.variables == ("b", "a b", "a")
    assert (term.is_plain, term.is_interaction) == (False, True)
    assert term.text == "b:log(`a b`):{a + 1}"  # no tree depends on a scale
    assert term.key == parse_formula("y ~ {a + 1}:log(`a b`):b", COLUMNS).terms[0].key
    assert parse_formula(f"y ~ {term.text}", COLUMNS).terms[0] == term


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("y ~ [a ~ b]", "must have exactly one"),
        ("y ~ a^b", "exponent must be a whole number"),
        ("y ~ a^1000", "exponent must be a whole number"),
        ("y ~ a:y", "must not use the response"),
        ("y + 1 ~ a", "Found: `y`, `1`. Write arithmetic as"),
        ("y / b ~ a", "Write arithmetic as `{a / b}`"),
        ("y ~ a:2 + a", "different numerical scaling"),
        ("y ~ a:'b'", "Can't read the formula"),
        ("y ~ hashed(a)", "without its number of levels"),
        ("y ~ bs(a, lag=3)", "the argument `lag` of `bs`"),
        ("y ~ bs(a, degree=3.5e9)", "must be from 0 to 20"),
        ("y ~ bs(a, 'many')", "must be a whole number"),
        ("y ~ I(poly(a, 2))", "must be the whole term"),
        ("y ~ poly(a, None)", "`degree` of `poly`: it must be a whole number"),
        ("y ~ hashed(a, 2.5)", "`levels` of `hashed`: it must be a whole number"),
        ("y ~ cr(a, 3, constraints='x')", "it must be 'center'"),
        ("y ~ bs(a, 4, extrapolation='x')", "it must be 'raise', 'clip'"),
        ("y ~ C(a, levels=['b', 'b'])", "labels, each once"),
        ("y ~ C(a, Treatment(a='b'))", "the contrasts `Treatment"),
        ("y ~ C(a, contr.poly([1]))", "the contrasts `contr.poly"),
        ("y ~ C(a, levels=[1], levels=[2])", "`levels` of `C` twice"),
        ("y ~ poly(a, 2, degree=2)", "the argument `degree` of `poly` twice"),
        ("y ~ (a + b)^2^2", "Powers can't be chained"),
        ("y ~ I(a == 'b)", "must end with the quotation mark"),
        ("y ~ `a", "must end with a backtick"),
        ("y ~ I(a == '\\q')", r"must not contain the escape `\\q`"),
        ("y ~ I(a == r'q')", "must not follow a letter"),
        ("y ~ I(a == '\\x60')", "must not contain a backtick"),
        ("y ~ I(a == '\\ud800')", "must not contain an incomplete character"),
        ("y ~ I(a + 0x" + "f" * 4000 + ")", "must be at most"),
        ("y ~ bs(a, df=0x" + "f" * 4000 + ")", "must be at most"),
        ("y ~ lag(a)", "treat rows as exchangeable"),
        ("y ~ id * a:b %in% b", r"Write `x \* \(a %in% b\)`"),
    ],
)
def test_interactions_and_transforms_that_cannot_be_meant(formula, says):
    with pytest.raises(FormulaError, match=says):
        parse_formula(formula, COLUMNS)


def test_formulas_of_too_many_products_are_refused(monkeypatch):
    columns = ["y", *(f"g{i}" for i in range(2000))]
    for formula in ("y ~ .^2", "y ~ .:.:.", "y ~ (g1 + .)^6", "*".join(["y ~ g1", *columns[2:40]])):
        with pytest.raises(FormulaError, match="at most 100,000 products of terms"):
            parse_formula(formula, columns)
    monkeypatch.setattr(checks, "MOST_PRODUCTS", 100)
    columns = ["y", *(f"g{i}" for i in range(200))]
    assert len(parse_formula("y ~ . + g1 - g2", columns).terms) == 199
    with pytest.raises(FormulaError, match="at most 100 products"):
        parse_formula("y ~ .^2", columns)


@pytest.mark.parametrize("last", ["", " - g7", " - g7 - g8 + g7", " + g1:g2 - (g9 + g4)", " - 1"])
@pytest.mark.parametrize("first", ["", "g3*g5 + ", "0 + ", "log(g2) + "])
def test_long_sums_are_read_as_formulaic_reads_them(first, last):
    """They are nested for speed; short ones are left as they are."""
    names = [f"g{i}" for i in range(150)]
    formula = f"y ~ {first}{' + '.join(names)}{last}"
    parsed = parse_formula(formula, ["y", *names])
    expected = DefaultFormulaParser().get_terms(formula).rhs
    assert [t.name for t in parsed.terms] == [str(t) for t in expected if str(t) != "1"]


def test_identifiers_of_quotations_stay_short():
    formula = "y ~ I(g == '_" + "q" * 4900 + "') + I(a == '_q0_') + I(a == '_q1_')"
    assert len(parse_formula(formula, ["y", "a", "g"]).terms) == 3
    with pytest.raises(FormulaError):
        parse_formula("y ~ _" + "q" * 300_000, COLUMNS)


# the formula as a step of a pipeline: what it keeps of a frame, and what it learns from it


QUICK = TreeSelector(
    "importance", 2, formula="died ~ . - copy", method_options={"n_trees": 5}, random_state=0
)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture(scope="module")
def data(mixed):
    """Text, categories, logical and missing values, and the response."""
    return mixed.drop(columns="dose").assign(patient=np.arange(len(mixed)) // 4)


@pytest.fixture(scope="module")
def fitted(data):
    return clone(QUICK).fit(data)


def test_it_selects_what_select_does_and_needs_the_selected_columns(fitted, data):
    fit = treeselect.select(QUICK.formula, data, method="importance", k=2, n_trees=5, seed=0)
    assert fitted.result_.formula == fit.formula
    assert list(fitted.get_feature_names_out()) == [n for n in data if n in fit.variables]
    assert list(fitted.feature_names_in_) == list(data)
    assert fitted.n_features_in_ == data.shape[1]
    assert fitted.transform(data[["site", "signal"]].head(3)).shape == (3, 2)
    with pytest.raises(NewDataError, match="Missing: `site`"):
        fitted.transform(data[["signal"]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_frame_keeps_its_library_types_and_index(fitted, data, library):
    indexed = data.set_axis(range(100, 100 + len(data)), axis=0)
    frame = {"pandas": lambda: indexed, "polars": lambda: pl.from_pandas(data)}.get(
        library, lambda: pa.Table.from_pandas(data)
    )()
    out = fitted.transform(frame)
    assert type(out) is type(frame)
    if library == "pandas":
        pd.testing.assert_frame_equal(out, indexed[["signal", "site"]])
    wanted = clone(fitted).set_output(transform="polars").fit(frame).transform(frame)
    assert isinstance(wanted, pl.DataFrame)
    assert wanted.columns == ["signal", "site"]


def test_responses_are_in_the_frame_or_given_and_times_stay(data):
    X, y = data.drop(columns="died"), data["died"]
    inside = clone(QUICK).fit(data, y).result_
    given = clone(QUICK).fit(X, y).result_
    assert inside.formula == given.formula
    np.testing.assert_array_equal(inside.search.step.importance, given.search.step.importance)
    with pytest.raises(OptionError, match="`y` must equal the column `died` of X"):
        clone(QUICK).fit(data, ~y)
    with pytest.raises(FormulaError, match="`died`"):
        clone(QUICK).fit(X)
    logged = TreeSelector("mrmr", 1, formula="log(`a size`) ~ signal + noise", random_state=0)
    chosen = logged.fit(X, np.exp(X["signal"].fillna(0)).rename("other")).result_
    assert chosen.selected == ("signal",)
    assert chosen.formula == "log(`a size`) ~ signal"
    data = treeselect.datasets.load("gbsg2").head(120)
    response, first = "Surv(time, cens)", "pnodes"
    y = np.zeros(len(data), [("event", bool), ("time", float)])
    step = TreeSelector("mrmr", 1, formula=f"{response} ~ {first} + age", random_state=0)
    assert step.fit(data, y).result_.family == "cox"


def test_pipelines_select_in_the_training_rows_only(data):
    """The response stands in the frame all the time, and a permuted one is found out."""
    noise = data[["died"]].assign(
        **{f"noise{j}": np.random.default_rng(900 + j).normal(size=len(data)) for j in range(30)}
    )
    step = TreeSelector("mrmr", 2, formula="died ~ .", encode=True, random_state=0)
    model = make_pipeline(step, LogisticRegression())
    score = cross_val_score(model, noise, noise["died"], cv=4, scoring="roc_auc").mean()
    assert abs(score - 0.5) < 0.12  # selected on all rows, 0.6 and more
    with pytest.raises(ValueError, match="must equal the column `died`"):
        permutation_test_score(model, noise, noise["died"], n_permutations=1, cv=2)


def test_searches(data):
    step = clone(QUICK).set_params(method=treeselect.GRRF(n_trees=3), method_options=None)
    model = make_pipeline(step.set_params(encode=True), SimpleImputer(), TREE)
    model.set_params(treeselector__k="auto")  # `gamma` decides
    grid = {"treeselector__method": [treeselect.GRRF(n_trees=3, gamma=g) for g in (0.0, 0.9)]}
    search = GridSearchCV(model, grid, cv=2).fit(data, data["died"])
    assert set(search.best_params_) == set(grid)
    best = search.best_estimator_[0]
    assert best.method == search.best_params_["treeselector__method"]
    model.set_params(treeselector__method=treeselect.ForestImportance(n_trees=3))
    halving = HalvingGridSearchCV(
        model, {"treeselector__k": [1, 2, 3]}, cv=2, random_state=0, min_resources=100
    )
    assert halving.fit(data, data["died"]).best_params_["treeselector__k"] in (1, 2, 3)


def test_clones_and_pickles_in_a_new_process(fitted, data, tmp_path):
    with pytest.raises(NotFittedError):
        clone(fitted).transform(data)
    encoder = clone(fitted).set_params(encode=True).fit(data)
    (tmp_path / "steps.pkl").write_bytes(pickle.dumps([fitted, encoder]))
    data.to_pickle(tmp_path / "data.pkl")
    program = (
        "import pickle, sys, pandas; folder = sys.argv[1];"
        "plain, encoder = pickle.load(open(folder + '/steps.pkl', 'rb'));"
        "data = pandas.read_pickle(folder + '/data.pkl');"
        "print(list(plain.transform(data)), encoder.transform(data).shape[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    n_columns = len(encoder.get_feature_names_out())
    assert done.stdout.strip() == f"['signal', 'site'] {n_columns}"


def test_weights_and_clusters_are_columns_and_what_is_not_allowed(data):
    step = clone(QUICK).set_params(formula="died ~ signal + site", fold_groups="patient", k=1)
    rows = step.fit(data).result_.data.design.row_weights
    assert len(np.unique(rows.groups)) == 100
    with pytest.raises(OptionError, match="`weights` must be the name of a column of X"):
        clone(QUICK).set_params(weights=np.ones(len(data))).fit(data)
    with pytest.raises(DataError, match="`X` must be a pandas, polars or pyarrow table"):
        clone(QUICK).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    with pytest.raises(OptionError, match="`encode` must be True or False"):
        clone(QUICK).set_params(encode="yes").fit(data)
    with pytest.raises(FormulaError, match="`formula` must be text"):
        clone(QUICK).set_params(formula=3).fit(data, data["died"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(QUICK).fit(data, data["died"].head(3))
