"""Every dtype to one internal form."""

from __future__ import annotations

import datetime
import decimal
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from treeselect.errors import DataError
from treeselect.frames.reading import Labels, Numbers, check_rows, read_column, read_data

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
        ([decimal.Decimal("1.5"), 2.0], "of type Decimal, float"),
        (
            pd.array(pd.to_datetime(["2020"]), dtype=pd.ArrowDtype(pa.timestamp("us"))),
            "dates or times",
        ),
        (pd.array([datetime.date(2020, 1, 1)], dtype=pd.ArrowDtype(pa.date32())), "dates or times"),
        (pd.array([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), "of type list"),
        (pd.to_datetime(["2020"]).tz_localize("UTC"), "dates or times"),
        (pd.Series([pd.NaT, pd.NaT]), "dates or times"),
        ([b"a", None], "of type bytes"),
        ([(1, 2), None], "of type tuple"),
        ([True, "a", None], "of type bool, str"),
        (pd.Series([1j], dtype=object), "of type complex"),
        (pd.Series([10**400, 1], dtype=object), "1 infinite value"),
        (pd.Series([np.inf, 1], dtype=object), "1 infinite value"),
        (pd.Series([np.inf, 1], dtype="Float64"), "1 infinite value"),
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


def test_the_way_out_can_be_typed():
    dates = pd.Series(pd.to_datetime(["2020"]))
    with pytest.raises(DataError, match="leave it out with `- `on day``"):
        read_column(dates, "on day")
    with pytest.raises(DataError) as error:
        read_column(dates, "on day", needed=True)
    assert "leave it out" not in str(error.value)


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


@pytest.mark.parametrize(
    ("levels", "codes"),
    [([3, 1, 7], [0, 1, -1]), ([True, False], [0, 1, -1]), ([2.5, -1.0], [0, 1, -1])],
)
def test_categories_of_anything_keep_their_levels(levels, codes):
    values = pd.Series(pd.Categorical([levels[0], levels[1], None], levels))
    labels = read_column(values, "c")
    assert (labels.levels, labels.codes.tolist()) == (tuple(levels), codes)


def test_every_kind_of_missing_is_the_same():
    text = pd.Series(["a", None, np.nan, pd.NA, pd.NaT], dtype=object)
    assert read_column(text, "s").codes.tolist() == [0, -1, -1, -1, -1]
    mixed = pd.Series([1, None, np.nan, pd.NA, 2.5], dtype=object)
    expected = [1, np.nan, np.nan, np.nan, 2.5]
    np.testing.assert_array_equal(read_column(mixed, "x").values, expected)
    assert read_column(pd.Series(["nan", "", "NA"]), "s").levels == ("", "NA", "nan")


def test_f6_rows_are_numbered_anew():
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 5])
    assert read_data(frame).index.tolist() == [0, 1]
    assert frame.index.tolist() == [5, 5]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"a": [1]}, "must be a pandas, polars or pyarrow table"),
        ([[1]], "must be a pandas, polars or pyarrow table"),
        (np.ones((2, 2)), r"numpy\.ndarray"),
        (pd.Series([1]), "pandas"),
        (pd.DataFrame([[1, 2]]), "must be text"),
        (pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object)), "must be text"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "More than once: `a`"),
        (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
         "must have one level"),
        ("nowhere.csv", "Can't find the file `nowhere.csv`"),
    ],
    ids=["dict", "list", "array", "series", "numbered", "half", "twice", "levels", "file"],
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


def test_the_same_data_from_a_frame_and_from_files(tmp_path):
    frame = pd.DataFrame(
        {"i": [1, 2, 3], "x": [1.5, None, 2], "s": ["x", None, "y"], "b": [True, False, True]}
    )
    frame.to_csv(tmp_path / "D.CSV", index=False)
    frame.convert_dtypes().to_parquet(tmp_path / "nullable.parquet")
    frame.assign(s=frame["s"].astype("category")).to_parquet(tmp_path / "category.parquet")
    for path in tmp_path.iterdir():
        read = read_data(str(path))
        for name in frame:
            ours, theirs = read_column(frame[name], name), read_column(read[name], name)
            for part in ("values", "codes"):
                if hasattr(ours, part):
                    np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
            assert getattr(ours, "levels", ()) == getattr(theirs, "levels", ())
            assert getattr(ours, "is_bool", False) == getattr(theirs, "is_bool", False)


def test_long_columns_of_a_file_have_one_type(tmp_path):
    """pandas guesses chunk by chunk: numbers and text would be mixed, under a warning."""
    lines = ["zip,y", *["12345,1"] * 200_000, "A1,0"]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    assert read_column(read_data(tmp_path / "d.csv")["zip"], "zip").levels == ("12345", "A1")


def test_f10_names_that_stand_twice_in_a_file_are_refused(tmp_path):
    """pandas makes `x` and `x.1` of them."""
    (tmp_path / "d.csv").write_text("y,x,x\n1,2,3\n")
    with pytest.raises(DataError, match="More than once: `x`"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "d.csv").write_text("y,x,x.1\n1,2,3\n")
    assert list(read_data(tmp_path / "d.csv")) == ["y", "x", "x.1"]


def test_broken_files_are_an_error(tmp_path):
    whole = gzip.compress(b"a,b\n1,2\n" * 3000)
    frame = pd.DataFrame({"a": [1]})
    frame.to_parquet(tmp_path / "d.parquet")
    for name, content in [
        ("cut.csv.gz", whole[:40]),
        ("damaged.csv.gz", whole[:20] + b"zzzzzzzzzz" + whole[30:]),
        ("other.csv.gz", b"no gzip"),
        ("latin.csv", "a\né\n".encode("latin1")),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n"),
        ("cut.parquet", (tmp_path / "d.parquet").read_bytes()[:-20]),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="Can't read the file"):
            read_data(tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="Can't find the file"):
        read_data(tmp_path / "folder.csv")
    (tmp_path / "head.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="must have rows"):
        check_rows(read_data(tmp_path / "head.csv"))


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_file_with_another_separator_is_not_one_column_of_text(sign, tmp_path):
    (tmp_path / "d.csv").write_text(f"a{sign}b\n1{sign}2\n")
    with pytest.raises(DataError, match="must be separated by commas"):
        read_data(tmp_path / "d.csv")


MIXED = pd.DataFrame(
    {
        "n": [1.5, np.nan, 3.0, 0.0],
        "i": pd.array([3, None, 1, 2], dtype="Int64"),
        "j": [4, 3, 2, 1],
        "s": ["b", None, "a", "b"],
        "c": pd.Categorical(["v", "u", None, "v"], ["u", "v"]),
        "o": pd.Categorical(["lo", "hi", None, "lo"], ["lo", "mid", "hi"], ordered=True),
        "t": [True, False, True, True],
        "m": pd.array([True, None, False, True], dtype="boolean"),
        "none": [None] * 4,
    }
)


def in_polars():
    ordered = pl.Enum(["lo", "mid", "hi"])
    return pl.DataFrame(
        {name: MIXED[name].astype(object).where(MIXED[name].notna(), None).tolist()
         for name in MIXED},
        schema_overrides={"c": pl.Categorical, "o": ordered},
    )  # fmt: skip


LIBRARIES = {
    "object": lambda: MIXED.astype({"s": object}),
    "string": lambda: MIXED.astype({"s": "string", "j": "Int16"}),
    "arrow dtypes": lambda: MIXED.astype({"s": pd.ArrowDtype(pa.string()),
                                          "n": pd.ArrowDtype(pa.float64()),
                                          "i": "int64[pyarrow]", "m": "bool[pyarrow]"}),
    "float for missing": lambda: MIXED.astype({"i": float, "m": object}),
    "shuffled index": lambda: MIXED.set_axis([7, 7, 1, 0]),
    "pyarrow": lambda: pa.Table.from_pandas(MIXED),
    "pyarrow in chunks": lambda: pa.concat_tables(
        [pa.Table.from_pandas(MIXED.head(1)), pa.Table.from_pandas(MIXED.tail(3))]
    ),
    "polars": in_polars,
    "polars lazy": lambda: in_polars().lazy(),
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_data_are_the_same_in_every_library(library):
    frame = read_data(LIBRARIES[library]())
    assert list(frame.columns) == list(MIXED.columns)
    for name in MIXED:
        expected, found = read_column(MIXED[name], name), read_column(frame[name], name)
        assert type(found) is type(expected)
        if isinstance(expected, Labels):
            assert (found.levels, found.codes.tolist()) == (
                expected.levels,
                expected.codes.tolist(),
            )
            assert found.ordered == expected.ordered
        else:
            np.testing.assert_array_equal(found.values, expected.values)
            assert (found.is_bool, found.is_integer) == (expected.is_bool, expected.is_integer)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".feather"])
def test_the_same_data_are_the_same_in_every_file(ending, tmp_path):
    frame = MIXED.drop(columns=["o", "none"]).assign(c=MIXED["c"].astype("str"))
    path = tmp_path / f"d{ending}"
    if "csv" in ending:
        frame.to_csv(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path)
    else:
        pa.feather.write_feather(frame, path)
    again = read_data(path)
    for name in frame:
        expected, found = read_column(frame[name], name), read_column(again[name], name)
        assert type(found) is type(expected)
        if isinstance(expected, Labels):
            assert (found.levels, found.codes.tolist()) == (
                expected.levels,
                expected.codes.tolist(),
            )
        else:
            np.testing.assert_array_equal(found.values, expected.values)


def test_categories_of_polars_do_not_depend_on_what_the_session_met_before():
    first = pl.DataFrame({"c": pl.Series(["z", "a", "m"], dtype=pl.Categorical)})
    second = pl.DataFrame({"c": pl.Series(["m", "a", "z"], dtype=pl.Categorical)})
    for frame in (first, second):
        assert read_column(read_data(frame)["c"], "c").levels == ("a", "m", "z")


def test_files_that_cannot_be_read(tmp_path):
    for name, error, says in [
        ("d.xlsx", DataError, "must end in"),
        ("d.feather", DataError, "Can't read the file"),
        ("d.parquet", DataError, "Can't read the file"),
        ("d.csv", DataError, "Can't read the file"),
    ]:
        (tmp_path / name).write_bytes(b"" if name == "d.csv" else b"nonsense")
        with pytest.raises(error, match=says):
            read_data(tmp_path / name)


NUL_IN_POLARS = {
    "name": lambda: pl.DataFrame({"y": [0, 1], "a\0b": [1, 2]}),
    "lazy": lambda: pl.DataFrame({"y": [0, 1], "a\0b": [1, 2]}).lazy(),
    "field": lambda: pl.DataFrame({"y": [0, 1], "a\0b": [[{"c\0": 1}], []]}),
}


@pytest.mark.parametrize("which", NUL_IN_POLARS)
def test_nul_in_names_of_polars_is_no_panic(which, capfd):
    with pytest.raises(DataError, match=r"must not hold NUL characters\.\n  Found: `a\\x00b`\."):
        read_data(NUL_IN_POLARS[which]())
    assert "panicked" not in capfd.readouterr().err


def test_a_panic_of_polars_is_a_data_error(monkeypatch):
    panic = type("PanicException", (BaseException,), {})

    def breaks_off(self):
        raise panic("called `Result::unwrap()`")

    monkeypatch.setattr(pl.DataFrame, "to_arrow", breaks_off)
    with pytest.raises(DataError, match="PanicException: called"):
        read_data(pl.DataFrame({"a": [1]}))


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_layouts_of_arrow_that_pandas_does_not_know_are_read_or_refused(library):
    text = pa.chunked_array([pa.array(TEXT, pa.string_view())])
    packed = pa.chunked_array([pa.array([b"a"] * 4, pa.binary_view())])
    data = {"s": text, "bytes": packed}
    if library == "pyarrow":
        table = pa.table(data)
    else:
        table = pd.DataFrame({k: pd.arrays.ArrowExtensionArray(v) for k, v in data.items()})
    frame = read_data(table).iloc[[0, 1, 3]]
    assert read_column(frame["s"], "s").levels == ("a", "b")
    with pytest.raises(DataError, match="`bytes` must hold numbers, or text"):
        read_column(frame["bytes"], "bytes")
