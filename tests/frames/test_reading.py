"""Tables and files of every library to one frame."""

from __future__ import annotations

import gzip

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
    with pytest.raises(DataError, match="Found more than once: `x`"):
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
        ("d.html", DataError, "must end in"),
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
