"""Columns in their internal form, from and to all libraries."""

import dataclasses
import datetime
import decimal
import fractions
import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
from quick import normal

import treeselect
from treeselect.errors import DataError, OptionError
from treeselect.frames.opening import read_codes
from treeselect.frames.tables import as_column, in_library, library_of, with_column
from treeselect.frames.values import Labels, Numbers, read_column, to_series

TEXT = ["b", "a", None, "b"]
NUMBERS = [1, 2, None, 5]
TRUTH = [True, None, False, True]


@pytest.mark.parametrize(
    "dtype",
    [
        object, "str", "string[python]", "string[pyarrow]", pd.ArrowDtype(pa.string()),
        pd.ArrowDtype(pa.large_string()), "category", pd.CategoricalDtype(["a", "b"], ordered=True),
        pd.CategoricalDtype(["a", "b"]),
    ],
    ids=str,
)  # fmt: skip
def test_f1_text_of_every_dtype_is_the_same_labels(dtype):
    labels = read_column(pd.Series(TEXT, dtype=dtype), "s")
    assert isinstance(labels, Labels)
    assert labels.levels == ("a", "b")
    assert labels.codes.tolist() == [1, 0, -1, 1]


@pytest.mark.parametrize(
    "dtype",
    [
        object, "float64", "float32", "float16", "longdouble", "Int64", "Int8", "Float32",
        "Float64", "UInt8", "Sparse[float64]", pd.ArrowDtype(pa.int32()),
        pd.ArrowDtype(pa.float32()), pd.ArrowDtype(pa.float64()),
        pd.ArrowDtype(pa.decimal128(5, 2)),
    ],
    ids=str,
)  # fmt: skip
def test_numbers_of_every_dtype_are_the_same_floats(dtype):
    numbers = read_column(pd.Series(NUMBERS, dtype=dtype), "x")
    assert isinstance(numbers, Numbers)
    np.testing.assert_array_equal(numbers.values, [1, 2, np.nan, 5])
    assert numbers.values.dtype == np.float64
    assert not numbers.is_bool
    decimals = pd.Series([None if v is None else decimal.Decimal(v) for v in NUMBERS])
    assert read_column(decimals, "x").values.tolist()[1::2] == [2, 5]  # as in Parquet


@pytest.mark.parametrize("dtype", [object, "boolean", pd.ArrowDtype(pa.bool_())], ids=str)
def test_f12_truth_values_of_every_dtype_are_one_column(dtype):
    numbers = read_column(pd.Series(TRUTH, dtype=dtype), "t")
    np.testing.assert_array_equal(numbers.values, [1, np.nan, 0, 1])
    assert numbers.is_bool
    assert read_column(pd.Series([True, False]), "t").is_bool


def test_floats_are_a_view_and_lazy_frames_stay_lazy():
    values = np.arange(5.0)
    assert np.shares_memory(read_column(pd.Series(values, copy=False), "x").values, values)
    data = pl.LazyFrame({"x": [1, 2]})
    longer = with_column(data, "p", lambda frame: frame["x"] * 2)
    assert longer.collect()["p"].to_list() == [2, 4]
    assert isinstance(as_column([1, 2], "p", data), pl.Series)
    assert isinstance(in_library(pd.DataFrame({"k": [1]}), library_of(data)), pl.DataFrame)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (pd.array([2**53, 2**53 + 1, None], "Int64"), r"that become equal, up to 9\.01e\+15"),
        (pd.Series([2**53, 2**53 + 1, None], dtype=object), r"that become equal, up to 9\.01e\+15"),
        (pd.to_timedelta([1, 2], unit="D"), r"time spans .*\n.*\.dt\.total_seconds"),
        (pd.period_range("2020", periods=2, freq="Y"), "periods"),
        (pd.interval_range(0, 2), r"intervals .*\n.*IntervalIndex"),
        ([datetime.date(2020, 1, 1), None], "dates or times"),
        ([np.ones(2), None], r"of type ndarray.*\n  Use `data\['when'\]\.map"),
        (
            pd.array(pd.to_datetime(["2020"]), dtype=pd.ArrowDtype(pa.timestamp("us"))),
            "dates or times",
        ),
        (pd.array([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), "of type list"),
        (pd.to_datetime(["2020"]).tz_localize("UTC"), "dates or times"),
        (pd.Series([pd.NaT, pd.NaT]), "dates or times"),
        ([b"a", None], "of type bytes"),
        ([(1, 2), None], "of type tuple"),
        (pd.Series([1j], dtype=object), "of type complex"),
        (pd.Series([10**400, 1], dtype=object), "1 infinite value"),
        (pd.Series([np.inf, 1], dtype="Float64"), "1 infinite value"),
        ([{"a": 1}, None], "of type dict"),
        ([True, 2], "of type bool, int"),
        ([1j, 2], "complex"),
        ([1.0, np.inf], "1 infinite value, the first in row 1"),
        ([np.inf, -np.inf], "2 infinite values"),
    ],
    ids=lambda v: str(v)[:30] if isinstance(v, str) else type(v).__name__,
)
def test_f9_f10_f14_columns_that_cannot_be_used(values, says):
    with pytest.raises(DataError, match=says) as error:
        read_column(pd.Series(values), "when")
    assert "`when`" in str(error.value)


_ODD = {
    "dates": pd.Series(pd.to_datetime(["2020-01-02", None])),
    "dates of Python": pd.Series([datetime.date(2020, 1, 2), None]),
    "dates and text": pd.Series([datetime.date(2020, 1, 2), "soon"], dtype=object),
    "dates of Arrow": pd.Series([datetime.date(2020, 1, 2)], dtype=pd.ArrowDtype(pa.date32())),
    "times": pd.Series([datetime.time(8, 30), None]),
    "spans": pd.Series(pd.to_timedelta([1, None], unit="D")),
    "spans of Python": pd.Series([datetime.timedelta(1), None], dtype=object),
    "spans of Arrow": pd.Series([1], dtype=pd.ArrowDtype(pa.duration("s"))),
    "periods": pd.Series(pd.PeriodIndex(["2020-01", None], freq="M")),
    "periods as objects": pd.Series([pd.Period("2020-01"), None], dtype=object),
    "intervals": pd.Series(pd.interval_range(0, 3)),
    "numbers and text": pd.Series([1, "n/a", 3.5], dtype=object),
    "numbers and much text": pd.Series([1, *"abcde"], dtype=object),
    "fractions": pd.Series([fractions.Fraction(3, 2), None]),
    "lists": pd.Series([[1], None]),
    "truth and text": pd.Series([True, "no", None], dtype=object),
}


@pytest.mark.parametrize("case", _ODD)
def test_every_way_out_works(case):
    column = _ODD[case]
    with pytest.raises(DataError) as error:
        read_column(column, "on day")
    ways = re.findall(r"`([^`]*data\[[^`]*)`", str(error.value))
    assert ways
    for way in ways:
        done = pd.Series(eval(way, {"data": pd.DataFrame({"on day": column}), "pandas": pd}))
        assert isinstance(read_column(done, "on day"), Numbers | Labels)
        assert not done[column.isna()].notna().any()
    if case == "numbers and text":
        assert "`na={'on day': ['n/a']}`" in str(error.value)
        frame = read_codes({"on day": ["n/a"]}).applied(pd.DataFrame({"on day": column}))
        np.testing.assert_array_equal(read_column(frame["on day"], "x").values, [1, np.nan, 3.5])


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([None, None], dtype=object),
        pd.Series([pd.NA, None], dtype="string"),
        pd.Series([None, None], dtype=pd.ArrowDtype(pa.null())),
        pd.Series(pd.Categorical([None, None])),
    ],
    ids=lambda s: str(s.dtype),
)
def test_f14_columns_without_a_value_are_labels_without_levels(values):
    labels = read_column(values, "e")
    assert (labels.levels, labels.codes.tolist()) == ((), [-1, -1])


@pytest.mark.parametrize("levels", [[3, 1, 7], [True, False], [2.5, -1.0], ["lo", "mid", "hi"]])
def test_categories_of_anything_keep_their_order_and_unused_levels(levels):
    values = pd.Series(pd.Categorical([levels[0], levels[-1], None], levels, ordered=True))
    labels = read_column(values, "c")
    assert labels.codes.tolist() == [0, len(levels) - 1, -1]
    assert (labels.levels, labels.declared, labels.ordered) == (tuple(levels), True, True)
    narrow = np.array([0.5, 0.1], dtype=np.float32)
    assert read_column(pd.Series(narrow).astype("category"), "c").levels == (0.1, 0.5)


def test_kinds_of_missing_are_the_same_and_make_a_series_nullable():
    text = pd.Series(["a", None, np.nan, pd.NA, pd.NaT], dtype=object)
    assert read_column(text, "s").codes.tolist() == [0, -1, -1, -1, -1]
    mixed = pd.Series([1, None, np.nan, pd.NA, 2.5], dtype=object)
    expected = [1, np.nan, np.nan, np.nan, 2.5]
    np.testing.assert_array_equal(read_column(mixed, "x").values, expected)
    assert read_column(pd.Series(["nan", "", "NA"]), "s").levels == ("", "NA", "nan")
    known, missing = np.array([1.0, 0.0]), np.array([1.0, np.nan])
    kinds = [to_series(Numbers(v, b, not b)).dtype for v in (known, missing) for b in (True, False)]
    assert list(map(str, kinds)) == ["bool", "int64", "boolean", "Int64"]


@pytest.mark.parametrize(
    "column",
    [
        Numbers(np.array([1.0, 0.0]), is_bool=True), Numbers(np.array([1.0, np.nan]), is_bool=True),
        Numbers(np.array([1.0, 2.0**52]), is_integer=True),
        Numbers(np.array([3.0, np.nan]), is_integer=True), Numbers(np.array([0.5, np.nan])),
        Labels(np.array([1, -1, 0]), ("a", "b")),
        Labels(np.array([1, -1, 0]), ("b", "a"), declared=True, ordered=True),
    ],
    ids=repr,
)  # fmt: skip
def test_a_series_of_values_is_read_as_these(column):
    again = read_column(to_series(column), "x")
    for part in dataclasses.fields(column):
        np.testing.assert_array_equal(getattr(again, part.name), getattr(column, part.name))


# --- the same selection from every library and file, and answers in the user's own ----------------


QUICK = {"method": "importance", "k": 3, "n_trees": 5, "seed": 2, "resamples": 2}
FORMULA = "died ~ signal*site + bs(noise, 4) + colour + flag + flag:colour"


@pytest.fixture(scope="module")
def data(mixed):
    return mixed.drop(columns="dose").astype({"site": "str"})


@pytest.fixture(scope="module")
def expected(data):
    return treeselect.select(FORMULA, data, **QUICK)


def parquet(data, folder):
    pl.from_pandas(data).write_parquet(folder / "data.parquet")
    return folder / "data.parquet"


SOURCES = {
    "arrow dtypes": (lambda d, _: d.convert_dtypes(dtype_backend="pyarrow"), pd),
    "nullable": (lambda d, _: d.convert_dtypes(), pd),
    "polars lazy": (lambda d, _: pl.from_pandas(d).lazy(), pl),
    "pyarrow": (lambda d, _: pa.Table.from_pandas(d), pa),
    "parquet": (parquet, pd),
}
FRAMES = {pd: pd.DataFrame, pl: pl.DataFrame, pa: pa.Table}


def to_pandas(frame):
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_answer_from_every_source(source, data, expected, tmp_path):
    make, library = SOURCES[source]
    given = make(data, tmp_path)
    fit = treeselect.select(FORMULA, given, **QUICK)
    for ours, theirs in zip(
        fit.data.design.arrays.columns, expected.data.design.arrays.columns, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert fit.selected == expected.selected
    assert fit.data.design.spec.terms == expected.data.design.spec.terms
    for name in ("tidy", "glance"):
        table = getattr(fit, name)()
        assert isinstance(table, FRAMES[library])
        pd.testing.assert_frame_equal(
            to_pandas(table), getattr(expected, name)(), check_dtype=False
        )
    assert isinstance(fit.path, FRAMES[library])
    assert isinstance(fit.stability.tidy(), FRAMES[library])
    predicted = np.asarray(fit.predict(given))
    np.testing.assert_array_equal(predicted, expected.predict(data).to_numpy())
    longer = fit.augment(given)
    if isinstance(longer, pl.LazyFrame):
        longer = longer.collect()
    assert isinstance(longer, FRAMES[library])
    np.testing.assert_array_equal(np.asarray(longer["fitted"]), predicted)
    assert list(to_pandas(longer).columns) == [*data.columns, "fitted"]


def test_frames_of_other_libraries_are_predicted_and_collected_once(expected, data):
    """Its rows may come in another order the next time."""
    new = data.head(20)
    for frame in (pl.from_pandas(new), pa.Table.from_pandas(new)):
        found = expected.predict(frame, type="class")
        assert type(found).__module__.split(".")[0] == type(frame).__module__.split(".")[0]
        assert (
            [bool(v) for v in found.to_pylist()]
            if isinstance(frame, pa.Table)
            else list(found) == expected.predict(new, type="class").tolist()
        )
    collected = []

    def count(frame):
        collected.append(1)
        return frame

    lazy = pl.from_pandas(data).lazy().map_batches(count)
    expected.augment(lazy)
    assert len(collected) == 1


@pytest.mark.parametrize(
    "make", [lambda d: d, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_answers_come_in_the_users_library(make):
    pandas = pd.DataFrame({"x": [1, 2]}, index=[5, 3])
    data = make(pandas)
    column = as_column([0.5, 1.5], "p", data)
    longer = with_column(data, "p", lambda frame: [0.5, 1.5])
    table = in_library(pd.DataFrame({"k": [1], "terms": [("a", "b")]}), library_of(data))
    assert type(longer) is type(data) is type(table)
    assert list(column) == [0.5, 1.5] or column.to_pylist() == [0.5, 1.5]
    if data is pandas:
        assert column.index.tolist() == longer.index.tolist() == [5, 3]
    with pytest.raises(OptionError, match="must not have a column `x`"):
        with_column(data, "x", lambda frame: [0.5, 1.5])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_tidy_have_the_same_types_whatever_the_method(library):
    data = normal(0, 50, "ab", a=1)
    frame = nw.from_native(data)
    given = {"pandas": data, "polars": frame.to_polars(), "pyarrow": frame.to_arrow()}[library]
    plain, decided = (
        treeselect.select("y ~ .", given, method=method, k=1, seed=1, **options).tidy()
        for method, options in (("mrmr", {}), ("boruta", {"n_trees": 5, "max_rounds": 2}))
    )
    assert nw.from_native(plain).schema == nw.from_native(decided).schema


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_table_without_rows_has_the_types_of_one_with_rows(library):
    full = pd.DataFrame({"a": ["x"], "b": [0.5], "c": [1], "d": [True]})
    types = [in_library(table, library).schema for table in (full, full.head(0))]
    assert types[0] == types[1]
