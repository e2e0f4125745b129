"""Tables and files of every library to one frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from treeselect.errors import DataError
from treeselect.frames.reading import check_rows, read_data
from treeselect.frames.values import Labels, read_column


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
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Found more than once: `a`"),
        (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
         "must have one level"),
        ("nowhere.csv", "Can't find the file `nowhere.csv`"),
    ],
    ids=["dict", "list", "array", "series", "numbered", "half", "twice", "levels", "file"],
)  # fmt: skip
def test_f10_data_that_cannot_be_used(data, says):
    with pytest.raises(DataError, match=says):
        read_data(data)


def test_long_columns_of_a_file_have_one_type(tmp_path):
    """pandas guesses chunk by chunk: numbers and text would be mixed, under a warning."""
    lines = ["zip,y", *["12345,1"] * 200_000, "A1,0"]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    assert read_column(read_data(tmp_path / "d.csv")["zip"], "zip").levels == ("12345", "A1")


def test_f10_names_that_stand_twice_in_a_file_are_refused(tmp_path):
    """pandas makes `x` and `x.1` of them."""
    (tmp_path / "d.csv").write_text("y,x,x\n1,2,3\n")
    with pytest.raises(DataError, match="Found more than once: `x`"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "d.csv").write_text("y,x,x.1\n1,2,3\n")
    assert list(read_data(tmp_path / "d.csv")) == ["y", "x", "x.1"]


def test_data_have_rows(tmp_path):
    (tmp_path / "head.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="must have rows"):
        check_rows(read_data(tmp_path / "head.csv"))


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_file_with_another_separator_is_not_one_column_of_text(sign, tmp_path):
    (tmp_path / "d.csv").write_text(f"a{sign}b\n1{sign}2\n")
    with pytest.raises(DataError, match="must be separated by commas"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "decimal.csv").write_text(f"a{sign}b\n1,5{sign}2,5\n")
    with pytest.raises(DataError, match="must be separated by commas"):
        read_data(tmp_path / "decimal.csv")


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


def check_equal(column, other):
    """Both are read as the same labels or numbers."""
    found, expected = read_column(column, "x"), read_column(other, "x")
    assert type(found) is type(expected)
    if isinstance(expected, Labels):
        assert found.levels == expected.levels
        assert found.codes.tolist() == expected.codes.tolist()
    else:
        np.testing.assert_array_equal(found.values, expected.values)
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_data_are_the_same_in_every_library(library):
    frame = read_data(LIBRARIES[library]())
    assert list(frame.columns) == list(MIXED.columns)
    for name in MIXED:
        found = check_equal(frame[name], MIXED[name])
        expected = read_column(MIXED[name], name)
        for fact in ("ordered", "is_bool", "is_integer"):
            assert getattr(found, fact, None) == getattr(expected, fact, None)


@pytest.mark.parametrize("ending", [".CSV", ".csv.gz", ".parquet", ".feather"])
def test_the_same_data_are_the_same_in_every_file(ending, tmp_path):
    frame = MIXED.drop(columns=["o", "none"]).assign(c=MIXED["c"].astype("str"))
    path = tmp_path / f"d{ending}"
    if "csv" in ending.lower():
        frame.to_csv(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path)
    else:
        pa.feather.write_feather(frame, path)
    again = read_data(path)
    for name in frame:
        check_equal(again[name], frame[name])


def test_categories_of_polars_do_not_depend_on_what_the_session_met_before():
    first = pl.DataFrame({"c": pl.Series(["z", "a", "m"], dtype=pl.Categorical)})
    second = pl.DataFrame({"c": pl.Series(["m", "a", "z"], dtype=pl.Categorical)})
    for frame in (first, second):
        assert read_column(read_data(frame)["c"], "c").levels == ("a", "m", "z")


NUL_IN_POLARS = {
    "name": lambda: pl.DataFrame({"y": [0, 1], "a\0b": [1, 2]}),
    "lazy": lambda: pl.DataFrame({"y": [0, 1], "a\0b": [1, 2]}).lazy(),
    "field": lambda: pl.DataFrame({"y": [0, 1], "a\0b": [[{"c\0": 1}], []]}),
}


@pytest.mark.parametrize("which", NUL_IN_POLARS)
def test_nul_in_names_of_polars_is_no_panic(which, capfd):
    with pytest.raises(DataError, match=r"must not contain NUL characters\.\n  Found: `a\\x00b`\."):
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
    text = pa.chunked_array([pa.array(["b", "a", None, "b"], pa.string_view())])
    packed = pa.chunked_array([pa.array([b"a"] * 4, pa.binary_view())])
    data = {"s": text, "bytes": packed}
    if library == "pyarrow":
        table = pa.table(data)
    else:
        table = pd.DataFrame({k: pd.arrays.ArrowExtensionArray(v) for k, v in data.items()})
    frame = read_data(table).iloc[[0, 1, 3]]
    assert read_column(frame["s"], "s").levels == ("a", "b")
    with pytest.raises(DataError, match="`bytes` must hold only numbers, only text"):
        read_column(frame["bytes"], "bytes")
