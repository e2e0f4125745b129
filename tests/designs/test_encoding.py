"""Designs: equal to formulaic's own matrix, and the same for new data."""

import dataclasses
import warnings

import formulaic
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.designs.encoding import build_design
from treeselect.designs.evaluation import model_matrix, term_matrix
from treeselect.designs.modeldata import ModelData, RowCounts
from treeselect.designs.response import read_response
from treeselect.designs.units import make_units
from treeselect.designs.weights import no_weights
from treeselect.engine.columns import OTHER
from treeselect.errors import DataError, NewDataError
from treeselect.formula import parse_formula
from treeselect.frames.reading import read_data


def encode(formula, frame, keep=None, **options):
    frame = read_data(frame)
    parsed = parse_formula(formula, list(frame.columns))
    return build_design(parsed, frame, make_units(parsed.terms, None, None, keep), **options)


def one_hot(formula, frame):
    design, spec, _ = encode(formula, frame)
    return spec.one_hot(design.columns)


@st.composite
def frames(draw):
    n = draw(st.integers(3, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return pd.DataFrame(
        {
            "y": np.arange(n), "a": rng.normal(size=n), "b": rng.integers(-3, 4, size=n),
            "c": rng.random(n) < 0.5, "d": rng.choice(["u", "v", "w w"], size=n),
            "e": pd.Categorical(rng.choice([3, 1], size=n), categories=[3, 1, 7]),
            "f g": rng.random(n) + 0.1,
            "h": pd.Series(rng.choice(["p", "q"], size=n), dtype="string"),
        }
    )  # fmt: skip


def formulaics_own(frame, terms):
    """What formulaic makes of the text of these terms: the definition of our columns."""
    text = " + ".join(["0", *(term.text for term in terms)])
    functions = {name: getattr(np, name) for name in ("abs", "sqrt")}
    text_columns = {
        name: frame[name].astype(object) for name in frame if frame[name].dtype == "string"
    }
    frame = frame.assign(**text_columns)
    functions["Q"] = frame.__getitem__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return formulaic.Formula(text).get_model_matrix(
            frame, context=functions, ensure_full_rank=False, na_action="ignore"
        )


TERMS = [
    "a", "b", "c", "d", "e", "h", "`f g`", "C(b)", "C(c)", "C(d)", "C(e)", "C(b % 2)", "C(b > 0)",
    "C(I(b > 0))", "I(a > 0)", "I(c)", "I(d)", "I(e)", "I(d == 'u')", "I(e == 3)",
    "I((a > 0) & ~c)", "I(~c)", "log(`f g`)", "sqrt(`f g`)", "{a + b}", "{`f g` * 2 - a}", "{-b}",
    "{a ** 2}", "abs(a)", "{c + 1}", "center(b)", "scale(a)", "scale(log(`f g`))",
    "a:b", "a:d", "d:a", "d:e", "d:e:h", "c:d:a", "a:`f g`:b", "C(b):d", "poly(a, 2)", "bs(a, 4)",
    "cr(`f g`, 3)", "poly(a, 2):d", "d:poly(a, 2)", "poly(a, 2):bs(`f g`, 3)", "hashed(d, 3)",
    "hashed(d, levels=4):h", "C(e, contr.treatment(1))", "C(d, Sum):a",
    "d:3:b", "3:d:C(h)", "2:{a - 1}",
    "C(b, levels=[3, 2, 1, 0, -1, -2, -3, 9])", "poly(b, 2, raw=True)", "Q('f g')", "np.sign(a)",
    "standardize(a)", "e:C(b > 0):poly(a, 2):c", "bs(a, df=4, include_intercept=True)",
    "np.maximum(a, b)", "cc(a, 3)", "scale(a, center=False)",
]  # fmt: skip


def _check_same(matrix, expected):
    assert list(matrix.columns) == list(expected.columns)
    # pandas squares a column as one product or as another, by its version.
    np.testing.assert_allclose(matrix.to_numpy(float), expected.to_numpy(float), rtol=1e-14)


@given(frames(), st.lists(st.sampled_from(TERMS), min_size=1, max_size=8, unique=True))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_one_hot_matrix_is_formulaics_own(frame, terms):
    design, spec, _ = encode(f"y ~ {' + '.join(terms)}", frame)
    expected = formulaics_own(frame, [s.term for s in spec.terms])
    _check_same(model_matrix("", frame, [s.term for s in spec.terms]), expected)
    names, values = spec.one_hot(design.columns)
    # The design stands in alphabetical order of the terms, formulaic in that of their degree.
    ordered = sorted((s.term for s in spec.terms if not s.term.is_interaction), key=lambda t: t.key)
    plain = list(formulaics_own(frame, ordered).columns) if ordered else []
    assert [name for name in names if name in plain] == plain
    ours = dict(zip(names, values.T, strict=True))
    assert len(ours) == len(names)
    assert sorted(ours) == sorted(expected.columns)
    for name in ours:
        np.testing.assert_allclose(ours[name], expected[name].to_numpy(float), atol=1e-12)


@st.composite
def holes(draw):
    """Frames with missing numbers, truth values, text and categories, and a missing response."""
    frame = draw(frames()).astype({"b": "float64", "c": "boolean", "y": "float64"})
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    for name in frame:
        frame.loc[rng.random(len(frame)) < 0.15, name] = None
    # The levels that formulaic finds in the complete rows alone may be fewer: declare them.
    for name, levels in (("d", ["u", "v", "w w"]), ("h", ["p", "q"])):
        frame[name] = pd.Categorical(frame[name], categories=levels)
    return frame


HOLED = ["a", "b", "c", "d", "e", "h", "`f g`", "C(d)", "I(a > 0)", "log(`f g`)", "{a + b}",
         "I(d == 'u')", "I(e == 3)", "{`f g` * 2 - a}"]  # fmt: skip


@given(holes(), st.lists(st.sampled_from(HOLED), min_size=1, max_size=6, unique=True))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_f4_f5_model_matrix_is_the_complete_part_of_the_design(frame, terms):
    frame = read_data(frame)
    parsed = parse_formula(f"y ~ {' + '.join(terms)}", list(frame.columns))
    frame.loc[[0, 1], "y"] = [0.0, 5.0]
    response = read_response(parsed, frame, "gaussian", np.ones(len(frame)))
    used = frame.iloc[response.rows].reset_index(drop=True)
    units = make_units(parsed.terms, None, None, None)
    design, spec, notes = build_design(parsed, used, units)
    sources = used[list(spec.variables)]
    counts = RowCounts(len(used), response.n_dropped, 0)
    weights = no_weights(len(used))
    data = ModelData(
        design, spec, response, weights, False, None, False, counts, tuple(notes), sources
    )
    assert design.n_rows == len(used) == len(frame) - response.n_dropped
    if sources.dropna().empty:
        return
    matrix = data.model_matrix()
    names, values = spec.one_hot(design.columns)
    assert sorted(names) == sorted(matrix.columns)
    ours = pd.DataFrame(values, columns=names).loc[matrix.index, list(matrix.columns)]
    np.testing.assert_allclose(ours, matrix.to_numpy(float))


def test_f14_factors_without_a_value_have_no_column_unless_in_products():
    frame = pd.DataFrame({"y": [1, 2], "e": pd.Series([None, None], dtype=object)})
    names, values = one_hot("y ~ e", frame)
    assert (names, values.shape) == ([], (2, 0))
    # A last term without columns was an IndexError.
    frame = pd.DataFrame({"y": [1.0, 2, 4] * 4, "x": [0.0, 1, 3] * 4, "none": None})
    design, _, _ = encode("y ~ x + x:none", frame)
    assert design.column_names == ("x:none", "x")
    assert np.isnan(design.columns[0]).all()


@pytest.mark.parametrize(
    ("values", "dtype", "names"),
    [
        (["p", "q"], "string[pyarrow]", ["v[p]", "v[q]"]),
        (["p", "q"], "category", ["v[p]", "v[q]"]),
        ([True, False], pd.ArrowDtype(pa.bool_()), ["v"]),
        ([1, 2], "Int64", ["v"]),
        ([1.5, 2], pd.ArrowDtype(pa.float64()), ["v"]),
    ],
    ids=str,
)
def test_f1_f5_f12_formulaics_own_matrix_is_numeric_for_every_dtype(values, dtype, names):
    frame = pd.DataFrame({"y": [1, 2], "v": pd.Series(values, dtype=dtype)})
    design, spec, _ = encode("y ~ v", frame)
    matrix = model_matrix("", frame, [s.term for s in spec.terms])
    assert spec.one_hot(design.columns)[0] == list(matrix.columns) == names
    assert all(kind.kind in "buif" for kind in matrix.dtypes)
    np.testing.assert_array_equal(matrix.to_numpy(float), spec.one_hot(design.columns)[1])


def test_f4_f6_f16_columns_stand_in_order_of_names_whatever_the_rows():
    frame = pd.DataFrame({"y": [1, 2], "b": [1, 2], "a": [3, 4], "C": [5, 6]})
    assert encode("y ~ .", frame)[0].column_names == ("C", "a", "b")
    design, _, _ = encode("y ~ x + site + I(x > 3)", TRAIN)
    columns = dict(zip(design.column_names, design.columns, strict=True))
    assert np.isnan(columns["x"]).tolist() == [False, False, True, False, False, False]
    assert columns["site"].tolist() == [1, 3, 0, 1, 3, 2]
    assert np.isnan(columns["I(x > 3)"][2])
    assert design.binned.codes[list(design.column_names).index("x"), 2] == 0
    design, spec, _ = encode("y ~ x + site + t + log(x) + C(t)", TRAIN)
    for ours, again in zip(design.columns, spec.encode(TRAIN), strict=True):
        np.testing.assert_array_equal(ours, again)
    np.testing.assert_array_equal(design.bin(spec.encode(TRAIN)).codes, design.binned.codes)
    frame = TRAIN.assign(x=[1.0, 2.0, np.nan, 4.0, 5.0, 6.5])
    _, spec, _ = encode(CROSSED, frame)
    whole = spec.encode(frame)
    for rows in ([5, 3, 0], [4], [2], [1, 1, 1], []):
        odd = frame.iloc[rows].assign(more=1)[["more", "t", "site", "x"]]
        part = spec.encode(odd.set_axis([0] * len(rows)))
        for ours, all_rows in zip(part, whole, strict=True):
            np.testing.assert_array_equal(ours, all_rows[rows])


TRAIN = pd.DataFrame(
    {
        "y": np.arange(6.0),
        "x": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0],
        "site": ["Bath", "York", None, "Bath", "York", "Leeds"],
        "t": [True, False, True, False, True, True],
    }
)


NEW = TRAIN.assign(site=["York", "Hull", None, "Hull", "Bath", "Goole"])


def test_f3_f17_new_data_may_lack_values_and_columns_but_not_levels():
    _, spec, _ = encode("y ~ site", TRAIN)
    with pytest.raises(NewDataError, match=r'New: "Goole" \(1 row\), "Hull" \(2 rows\)'):
        spec.encode(NEW)
    _, spec, _ = encode("y ~ site + t", TRAIN)
    rows = TRAIN.iloc[[1, 4]]
    assert spec.encode(rows)[0].tolist() == [3, 3]
    categories = rows.assign(site=pd.Categorical(rows["site"], categories=["York", "Bath"]))
    assert spec.encode(categories)[0].tolist() == [3, 3]
    _, spec, _ = encode("y ~ x + log(x) + site", TRAIN)
    with pytest.raises(NewDataError, match="Missing: `x`, `site`"):
        spec.encode(TRAIN[["t"]])
    _, spec, _ = encode("y ~ x + site + t", TRAIN)
    empty = TRAIN.assign(x=None, site=np.nan)
    encoded = dict(zip(("site", "t", "x"), spec.encode(empty), strict=True))
    assert not encoded["site"].any()
    assert np.isnan(encoded["x"]).all()
    other = TRAIN.assign(
        x=TRAIN["x"].astype("Float64"), site=TRAIN["site"].astype("category"), t=TRAIN["t"] * 1
    )
    for a, b in zip(spec.encode(TRAIN), spec.encode(other), strict=True):
        np.testing.assert_array_equal(a, b)
    _, spec, _ = encode("y ~ I(~t) + I(t & (x > 3))", TRAIN)
    expected = [0, 1, 0, 1, 0, 0]
    np.testing.assert_array_equal(spec.encode(TRAIN)[1], expected)
    some = TRAIN.assign(t=pd.array([None, *TRAIN["t"][1:]], dtype="boolean"))
    np.testing.assert_array_equal(spec.encode(some)[1], [np.nan, *expected[1:]])
    assert all(np.isnan(column).all() for column in spec.encode(TRAIN.assign(t=None)))


@pytest.mark.parametrize(("policy", "code"), [("missing", 0), ("other", OTHER)])
def test_f3_new_levels_can_be_missing_or_other(policy, code):
    _, spec, _ = encode("y ~ site", TRAIN, new_levels=policy)
    assert spec.encode(NEW)[0].tolist() == [3, code, 0, code, 1, code]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"site": [1, 2, 3, 4, 5, 6]}, "`site` must hold text or categories"),  # F2
        ({"x": list("abcdef")}, "`x` must hold numbers"),
        ({"site": pd.to_datetime(["2020"] * 6)}, "dates or times"),
        ({"x": [np.inf] * 6}, "must be finite"),
    ],
)
def test_f2_other_types_in_new_data_are_an_error(change, says):
    _, spec, _ = encode("y ~ x + site", TRAIN)
    with pytest.raises(DataError, match=says):
        spec.encode(TRAIN.assign(**change))


@pytest.mark.parametrize("right", ["k + k:x", "C(k)", "I(k > 3)"])
def test_categories_of_numbers_may_arrive_as_numbers(right):
    train = TRAIN.assign(k=pd.Categorical([3, 1, None, 1, 3, 7], [3, 1, 7], ordered=True))
    _, spec, _ = encode(f"y ~ {right}", train)
    for dtype in ("float", "Int64", object):
        new = train.assign(k=train["k"].astype("float").astype(dtype))
        for a, b in zip(spec.encode(train), spec.encode(new), strict=True):
            np.testing.assert_array_equal(a, b)
    for policy in ("error", "missing", "other"):
        spec = dataclasses.replace(spec, new_levels=policy)
        with pytest.raises(NewDataError, match="`k` must hold categories that are numbers"):
            spec.encode(train.assign(k="3"))
        with pytest.raises(NewDataError, match="`site` must hold text or categories"):
            encode("y ~ site", TRAIN, new_levels=policy)[1].encode(train.assign(site=train["k"]))


@pytest.mark.parametrize("policy", ["error", "missing", "other"])
def test_f3_policies_hold_for_factors_of_numbers_and_unused_categories(policy):
    train = TRAIN.assign(n=[1, 2, 1, 2, 1, 2], k=pd.Categorical(["a", "b"] * 3, ["a", "b", "c"]))
    _, spec, _ = encode("y ~ C(n) + k", train, new_levels=policy)
    unused = train.assign(k="c")  # declared, so it is known
    assert spec.encode(unused)[1].tolist() == [3] * 6
    new = train.assign(n=[1, 2, 9, 2, 1, 2])
    if policy == "error":
        with pytest.raises(
            NewDataError, match=r"`C\(n\)` must contain only levels(.|\n)*New: 9 \(1 row"
        ):
            spec.encode(new)
    else:
        code = 0 if policy == "missing" else OTHER
        assert spec.encode(new)[0].tolist() == [1, 2, code, 2, 1, 2]


def keys(n):
    return [f"key{i}" for i in range(n)]


def test_f8_a_text_key_is_refused_by_name():
    frame = pd.DataFrame({"y": range(30), "who": keys(30), "x": range(30)})
    with pytest.raises(
        DataError, match=r"`who` has 30 distinct values in 30 rows(.|\n)*`y ~ \. - who`"
    ):
        encode("y ~ .", frame)
    with pytest.raises(DataError, match="look like identifiers"):
        encode("y ~ .", frame.assign(who=pd.Categorical(frame["who"])))
    encode("y ~ x + C(who)", frame)  # says that it is meant
    encode("y ~ . - who", frame)
    encode("y ~ .", frame.head(8))  # too few rows to tell
    few = pd.Categorical(["key1", "key2"] * 15, categories=keys(40))
    encode("y ~ .", frame.assign(who=few))  # levels that do not occur are no values
    with pytest.raises(DataError, match=r"(?s)`C\(`who is`\)`.*`log\(y\) ~ x`"):
        encode("log(y) ~ x + `who is`", frame.assign(y=1.5).rename(columns={"who": "who is"}))


def test_factors_of_many_levels_and_interactions_are_codes_of_one_unit():
    frame = pd.DataFrame({"y": range(1000), "zip": keys(300) * 3 + keys(100)})
    design, spec, _ = encode("y ~ zip", frame)
    assert design.column_names == ("zip", "zip")
    assert design.n_levels == (254, 46)
    assert design.groups.ids.tolist() == [0, 0]
    first, second = design.columns
    np.testing.assert_array_equal((first == OTHER), (second != OTHER))
    names, values = spec.one_hot(design.columns)
    expected = model_matrix("", frame, [s.term for s in spec.terms])
    assert names == list(expected.columns)
    np.testing.assert_array_equal(values, expected.to_numpy(float))
    frame = pd.DataFrame({"y": range(4), "a": list("ppqq"), "b": list("uvuu")})
    _, spec, _ = encode("y ~ a:b", frame)
    assert spec.terms[0].combinations == ((0, 0), (0, 1), (1, 0))
    assert spec.encode(pd.DataFrame({"a": ["q"], "b": ["v"]}))[0].tolist() == [OTHER]
    with pytest.raises(NewDataError, match="New: "):
        spec.encode(pd.DataFrame({"a": ["q"], "b": ["w"]}))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 40, size=(500, 2)).astype(str), columns=["a", "b"])
    design, spec, _ = encode("y ~ a:b", frame.assign(y=range(500)))
    n = spec.terms[0].n_levels
    assert 254 < n < 500
    assert [c.dtype for c in design.columns] == [np.uint8] * 2  # not 1,600 of them
    assert design.n_levels == (254, n - 254)


def test_notes_name_constant_missing_and_counting_columns():
    frame = pd.DataFrame(
        {"y": range(20), "one": 1, "same": ["a"] * 20, "none": None, "row": range(20),
         "x": np.random.default_rng(0).normal(size=20)}
    )  # fmt: skip
    _, _, notes = encode("y ~ .", frame)
    assert notes == [
        "Entirely missing, can't be selected: `none`.",
        "Constant, can't be selected: `one`, `same`.",
        "Whole numbers that increase from row to row, perhaps an identifier: `row`.",
    ]
    kept = encode("y ~ one + same + none + x", frame, keep=["one", "none"])[2]
    assert kept == [
        "Constant, can't be selected: `same`.",
        "Entirely missing or constant, though forced in: `one`, `none`.",
    ]
    mixed = frame.rename(columns={"row": "Unnamed: 0"}).sample(frac=1, random_state=1)
    note = "Row numbers: `Unnamed: 0`. To leave it out: `y ~ . - `Unnamed: 0``."
    assert encode("y ~ .", mixed)[2][-1] == note


CROSSED = (
    "y ~ x*site + bs(x, 4, extrapolation='clip') + poly(x, 2):t + C(site):C(t) + log(x) + C(t)"
    " + scale(x) + center(log(x))"
)


@pytest.mark.parametrize("policy", ["missing", "other"])
def test_f3_new_levels_in_interactions(policy):
    _, spec, _ = encode("y ~ site:C(t) + x:site", TRAIN, new_levels=policy)
    new = spec.encode(TRAIN.assign(site="Hull"))
    assert set(new[0]) == {0 if policy == "missing" else OTHER}
    for column in new[1:]:
        np.testing.assert_array_equal(column, np.full(6, 0.0 if policy == "other" else np.nan))


@pytest.mark.parametrize("values", [[0, 1, 1, 0, 1, 0], [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]])
def test_f12_truth_values_may_arrive_as_zero_and_one(values):
    _, spec, _ = encode("y ~ I(~t) + C(t) + t", TRAIN.assign(t=np.array(values) > 0))
    for ours, theirs in zip(
        spec.encode(TRAIN.assign(t=values)), spec.encode(TRAIN.assign(t=np.array(values) > 0)),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(NewDataError, match=r"`t` must hold logical values(.|\n)*numbers"):
        spec.encode(TRAIN.assign(t=range(6)))


def test_only_what_is_asked_for_is_read():
    _, spec, _ = encode("y ~ x + site + t:x", TRAIN)
    assert len(spec.encode(TRAIN[["x"]], ["x"])) == 1
    with pytest.raises(NewDataError, match="Missing: `t`"):
        spec.encode(TRAIN[["x"]], ["t:x"])


def test_levels_are_compared_in_the_order_of_the_fit():
    levels, seen = ["low", "mid", "high"], ["low", "high", "mid", "low", None, "high"]
    stage = pd.Categorical(seen, levels, ordered=True)
    frame = TRAIN.assign(stage=stage, name=seen)
    _, spec, _ = encode("y ~ I(stage > 'low') + I(name > 'low')", frame)
    own = spec.encode(frame)
    turned = pd.Categorical(seen, levels[::-1], ordered=True)
    for other in (seen, pd.Categorical(seen), turned, stage):
        for ours, theirs in zip(
            own, spec.encode(frame.assign(stage=other, name=other)), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(NewDataError, match="'top' is not one of the ordered levels `low`"):
        spec.encode(frame.assign(stage="top"))


def _linear_matrix(*given):
    return term_matrix(*given, {})


def test_errors_are_in_our_words():
    frame = pd.DataFrame({"y": [0.0, 1.0], "Intercept": [1.0, 2.0]})
    terms = parse_formula("y ~ .", list(frame)).terms
    for matrix in (_linear_matrix, lambda *given: model_matrix(*given, full_rank=True)):
        with pytest.raises(DataError, match=r"^No column may be called `Intercept`"):
            matrix("y ~ .", frame, terms)
    frame = pd.DataFrame({"y": [0.0, 1.0], "x": [1.0, 2.0]})
    terms = parse_formula("y ~ {x.undefined()}", list(frame), trusted=True).terms
    for matrix in (_linear_matrix, model_matrix):
        with pytest.raises(DataError, match=r"formulaic says: AttributeError: .*undefined"):
            matrix("y ~ {x.undefined()}", frame, terms)
    _, spec, _ = encode("y ~ bs(x, 4)", TRAIN)
    with pytest.raises(NewDataError, match="extrapolation='extend'"):
        spec.encode(TRAIN.assign(x=99.0))
    _, spec, _ = encode("y ~ bs(x, 4, extrapolation='na')", TRAIN)
    assert all(np.isnan(column).all() for column in spec.encode(TRAIN.assign(x=99.0)))


@given(frames(), st.lists(st.sampled_from(TERMS), min_size=1, max_size=5, unique=True))
@settings(deadline=None, derandomize=True, max_examples=25)
def test_nothing_that_is_learned_looks_at_the_response(frame, terms):
    formula = f"y ~ {' + '.join(terms)}"
    one, spec, _ = encode(formula, frame)
    other, again, _ = encode(formula, frame.assign(y=frame["y"].to_numpy()[::-1] ** 2))
    assert spec.terms == again.terms
    assert repr(spec.state) == repr(again.state)
    for ours, theirs in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(one.binned.codes, other.binned.codes)


@given(frames(), st.randoms(use_true_random=False))
@settings(deadline=None, derandomize=True, max_examples=15)
def test_order_of_the_columns_changes_neither_units_nor_codes(frame, random):
    names = list(frame.columns)
    random.shuffle(names)
    one, spec, _ = encode("y ~ .^2", frame)
    other, again, _ = encode("y ~ .^2", frame[names])
    assert one.groups.keys == other.groups.keys
    np.testing.assert_array_equal(one.groups.ranks(3), other.groups.ranks(3))
    for a, b in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(a, b)
    ours, theirs = spec.one_hot(one.columns), again.one_hot(other.columns)
    turned = [":".join(sorted(name.split(":"))) for name in theirs[0]]
    at = [turned.index(":".join(sorted(name.split(":")))) for name in ours[0]]
    np.testing.assert_allclose(ours[1], theirs[1][:, at])
