"""Every dtype to one internal form."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from treeselect.errors import DataError, NotBuiltError
from treeselect.frames import Labels, Numbers, read_column, read_data

TEXT = ["b", "a", None, "b"]
NUMBERS = [1, 2, None, 5]
TRUTH = [True, None, False, True]


@pytest.mark.parametrize(
    "dtype",
    [object, "str", "string[python]", "string[pyarrow]", pd.ArrowDtype(pa.string()), "category"],
    ids=str,
)
def test_f1_text_of_every_dtype_is_the_same_labels(dtype):
    labels = read_column(pd.Series(TEXT, dtype=dtype), "s")
    assert isinstance(labels, Labels)
    assert labels.levels == ("a", "b")
    assert labels.codes.tolist() == [1, 0, -1, 1]


@pytest.mark.parametrize(
    "dtype",
    [object, "float64", "float32", "Int64", "Float64", pd.ArrowDtype(pa.int32()), "UInt8"],
    ids=str,
)
def test_numbers_of_every_dtype_are_the_same_floats(dtype):
    numbers = read_column(pd.Series(NUMBERS, dtype=dtype), "x")
    assert isinstance(numbers, Numbers)
    np.testing.assert_array_equal(numbers.values, [1, 2, np.nan, 5])
    assert numbers.values.dtype == np.float64
    assert not numbers.is_bool


@pytest.mark.parametrize("dtype", [object, "boolean", pd.ArrowDtype(pa.bool_())], ids=str)
def test_f12_truth_values_of_every_dtype_are_one_column(dtype):
    numbers = read_column(pd.Series(TRUTH, dtype=dtype), "t")
    np.testing.assert_array_equal(numbers.values, [1, np.nan, 0, 1])
    assert numbers.is_bool
    assert read_column(pd.Series([True, False]), "t").is_bool


def test_floats_are_a_view():
    values = np.arange(5.0)
    assert np.shares_memory(read_column(pd.Series(values, copy=False), "x").values, values)


def test_categories_keep_their_order_and_unused_levels():
    series = pd.Series(pd.Categorical(["lo", "hi", None], ["lo", "mid", "hi"], ordered=True))
    labels = read_column(series, "c")
    assert labels.levels == ("lo", "mid", "hi")
    assert labels.codes.tolist() == [0, 2, -1]
    assert labels.declared


def test_an_empty_column_has_no_level():
    assert read_column(pd.Series([None, None], dtype=object), "e").levels == ()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (pd.to_datetime(["2020-01-01", None]), "dates or times"),
        (pd.to_timedelta([1, 2], unit="D"), "dates or times"),
        (pd.period_range("2020", periods=2, freq="Y"), "dates or times"),
        (pd.interval_range(0, 2), "must hold numbers, text or categories"),
        ([datetime.date(2020, 1, 1), None], "dates or times"),
        ([decimal.Decimal("1.5"), None], "of type Decimal"),
        ([[1], [2]], "of type list"),
        ([{"a": 1}, None], "of type dict"),
        (["a", 1], "of type int, str"),
        ([True, 2], "of type bool, int"),
        ([1j, 2], "complex"),
        ([1.0, np.inf], "1 infinite value, the first in row 1"),
        ([np.inf, -np.inf], "2 infinite values"),
        (pd.array([1.0, np.inf], dtype=pd.ArrowDtype(pa.float64())), "infinite"),
    ],
    ids=lambda v: str(v)[:30] if isinstance(v, str) else type(v).__name__,
)
def test_f9_f10_f14_columns_that_cannot_be_used(values, says):
    with pytest.raises(DataError, match=says) as error:
        read_column(pd.Series(values), "when")
    assert "`when`" in str(error.value)


def test_f6_rows_are_numbered_anew():
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 5])
    assert read_data(frame).index.tolist() == [0, 1]
    assert frame.index.tolist() == [5, 5]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"a": [1]}, "must be a pandas DataFrame"),
        ([[1]], "must be a pandas DataFrame"),
        (np.ones((2, 2)), r"numpy\.ndarray"),
        (pd.Series([1]), "pandas"),
        (pd.DataFrame({"a": []}), "must have rows"),
        (pd.DataFrame([[1, 2]]), "must be text"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "More than once: `a`"),
        (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
         "must have one level"),
        ("nowhere.csv", "Can't find the file `nowhere.csv`"),
    ],
    ids=["dict", "list", "array", "series", "no rows", "numbered", "twice", "levels", "file"],
)  # fmt: skip
def test_f10_data_that_cannot_be_used(data, says):
    with pytest.raises(DataError, match=says):
        read_data(data)


def test_files_are_read(tmp_path):
    frame = pd.DataFrame({"a": [1.5, None], "s": ["x", None]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_csv(tmp_path / "d.csv.gz", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    for name in ("d.csv", "d.csv.gz", "d.parquet"):
        read = read_data(tmp_path / name)
        np.testing.assert_array_equal(read_column(read["a"], "a").values, [1.5, np.nan])
        assert read_column(read["s"], "s").codes.tolist() == [0, -1]


def test_files_that_cannot_be_read(tmp_path):
    for name, error, says in [
        ("d.xlsx", DataError, "must end in"),
        ("d.feather", NotBuiltError, "not built yet"),
        ("d.parquet", DataError, "Can't read the file"),
        ("d.csv", DataError, "Can't read the file"),
    ]:
        (tmp_path / name).write_bytes(b"" if name == "d.csv" else b"nonsense")
        with pytest.raises(error, match=says):
            read_data(tmp_path / name)
