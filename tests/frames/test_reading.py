"""Files and tables of any library, read; codes for missing values; labels; data in batches."""

import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from treeselect.engine.columns import bin_edges
from treeselect.errors import DataError, OptionError
from treeselect.frames import files, tables
from treeselect.frames.files import DataFile, labels_in
from treeselect.frames.reading import Scan, check_rows, frame_of_arrow, read_data, scan_of
from treeselect.frames.tables import InMemory, Scanned, open_table
from treeselect.frames.values import Labels, read_column


def test_f10_rows_are_numbered_columns_have_one_type_and_names_stand_once(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 5])
    assert read_data(frame).index.tolist() == [0, 1]
    assert frame.index.tolist() == [5, 5]
    (tmp_path / "head.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="must have rows"):
        check_rows(read_data(tmp_path / "head.csv"))
    with pytest.raises(DataError, match="pandas"):
        read_data(pd.Series([1]))
    with pytest.raises(DataError, match="must be text"):
        read_data(pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object)))
    # pandas guesses chunk by chunk: numbers and text would be mixed, under a warning.
    lines = ["zip,y", *["12345,1"] * 200_000, "A1,0"]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    assert read_column(read_data(tmp_path / "d.csv")["zip"], "zip").levels == ("12345", "A1")
    # pandas makes `x` and `x.1` of them.
    (tmp_path / "d.csv").write_text("y,x,x\n1,2,3\n")
    with pytest.raises(DataError, match="Found more than once: `x`"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "d.csv").write_text("y,x,x.1\n1,2,3\n")
    assert list(read_data(tmp_path / "d.csv")) == ["y", "x", "x.1"]


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_file_with_another_separator_is_not_one_column_of_text(sign, tmp_path):
    (tmp_path / "d.csv").write_text(f"a{sign}b\n1{sign}2\n")
    with pytest.raises(DataError, match="must be separated by commas"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "decimal.csv").write_text(f"a{sign}b\n1,5{sign}2,5\n")
    with pytest.raises(DataError, match="must be separated by commas"):
        read_data(tmp_path / "decimal.csv")
    (tmp_path / "d.csv").write_text(f"sep={sign}\na{sign}b\n1.5{sign}2\n")  # as Excel takes it
    with pytest.raises(DataError, match=r", skiprows=1\)`"):
        read_data(tmp_path / "d.csv")


MIXED = pd.DataFrame(
    {
        "n": [1.5, np.nan, 3.0, 0.0], "i": pd.array([3, None, 1, 2], dtype="Int64"),
        "j": [4, 3, 2, 1], "s": ["b", None, "a", "b"],
        "c": pd.Categorical(["v", "u", None, "v"], ["u", "v"]),
        "o": pd.Categorical(["lo", "hi", None, "lo"], ["lo", "mid", "hi"], ordered=True),
        "t": [True, False, True, True], "m": pd.array([True, None, False, True], dtype="boolean"),
        "none": [None] * 4,
    }
)  # fmt: skip


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


def test_categories_of_polars_do_not_depend_on_what_the_session_met_before(tmp_path):
    for text in ("zam", "maz"):
        frame = pl.DataFrame({"c": pl.Series(list(text), dtype=pl.Categorical)})
        frame.write_parquet(path := tmp_path / "c.parquet")
        for data in (frame, frame.to_arrow(), path, tmp_path, ds.dataset(path)):
            assert read_column(read_data(data)["c"], "c").levels == ("a", "m", "z")


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("end", ["", "\r", "\n"])
def test_a_header_without_end_is_not_read(tmp_path, monkeypatch, ending, end):
    monkeypatch.setattr(files, "_LONGEST_HEADER", 8)
    path, text = tmp_path / f"x.{ending}", f"y,x{end}1,22222222{end}".encode()
    path.write_bytes(gzip.compress(text) if ending == "csv.gz" else text)
    if end:
        assert list(read_data(path)) == ["y", "x"]
    else:
        with pytest.raises(DataError, match="must have at most 8 bytes"):
            read_data(path)


def test_a_panic_of_polars_is_a_data_error():
    with pytest.raises(DataError, match=r"PanicException: called .*NulError"):
        read_data(pl.DataFrame({"y": [0, 1], "a\0b": [1, 2]}))


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


def test_categories_must_differ_in_their_text():
    """Tables, rules of trees and files know them by it: a tree of these could not be read."""
    column = pd.Series(pd.Categorical([1, "1", "b"], categories=[1, "1", "b"]))
    with pytest.raises(DataError, match=r"`grade` must differ in their text.\n  Found: 1 and '1'"):
        read_column(column, "grade")
    assert read_column(column.map(str), "grade").levels == ("1", "b")


# CSV files that are not plain UTF-8 with commas: read as they are meant, or refused by name


TEXT = "name,café\nZoë,1\n"


def write(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


OTHERS = {
    "latin-1": (TEXT.encode("latin-1"), "byte 0xe9"),
    "cp1252": ("name,x\n“a”,1\n".encode("cp1252"), "byte 0x93"),
    "utf-16": (TEXT.encode("utf-16"), "byte 0xff"),
    "utf-16-le": ("name,x\nb,1\n".encode("utf-16-le"), r"`n\x00"),
}


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("encoding", OTHERS)
def test_another_encoding_is_refused_with_the_way_out(encoding, name, tmp_path):
    content, found = OTHERS[encoding]
    path = write(tmp_path, content, name)
    with pytest.raises(DataError) as error:
        read_data(path)
    text = str(error.value)
    assert f"`{path}`" in text
    assert found in text
    assert "encoding='cp1252')`, or `--encoding cp1252`" in text
    frame = read_data(DataFile(str(path), encoding))
    assert frame.columns[0] == "name"
    assert len(frame) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_is_read_with_its_mark_and_without(encoding, tmp_path):
    frame = read_data(write(tmp_path, TEXT.encode(encoding)))
    assert frame.to_dict("list") == {"name": ["Zoë"], "café": [1]}


@pytest.mark.parametrize("encoding", ["ascii", "utf-16"])
def test_a_wrong_encoding_is_named(encoding, tmp_path):
    path = write(tmp_path, TEXT.encode("latin-1"))
    with pytest.raises(DataError, match=f"as {encoding}[^$]*(0xe9|BOM|byte 0x)"):
        read_data(DataFile(str(path), encoding))


@pytest.mark.parametrize("encoding", ["no such", "hex", "a\0", "rot13", {}])
def test_encodings_must_be_known_ones_of_text(encoding):
    with pytest.raises(OptionError, match="must be the name of a text encoding"):
        DataFile("data.csv", encoding)


def test_values_without_a_name_and_encodings_of_other_files_are_refused(tmp_path):
    with pytest.raises(OptionError, match="CSV, Stata, SPSS and SAS files only"):
        DataFile("data.parquet", "latin-1")
    frame = read_data(write(tmp_path, b"a,b\n1,2,\n3,4,\n"))
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert list(read_data(write(tmp_path, b",a,,b,\n0,1,,2,\n"))) == ["Unnamed: 0", "a", "b"]
    path = write(tmp_path, b"a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match=r"more values than its header(.|\n)*index_col=0"):
        read_data(path)


DAMAGED = {
    "nothing.csv": b"", "lines.csv": b"\n\n", "ragged.csv": b"a,b\n1,2\n1,2,3\n",
    "quote.csv": b'a,b\n"1,2\n3,4\n', "nul.csv": b"a\0,b\n1,2\n", "none.parquet": b"",
    "garbage.parquet": b"garbage that is longer than a footer",
    "garbage.feather": b"garbage that is longer than a footer", "page.html": b"nonsense",
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_end_in_a_data_error(name, tmp_path):
    with pytest.raises(DataError):
        read_data(write(tmp_path, DAMAGED[name], name))


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:-20]],
    ids=["plain", "truncated"],
)
def test_damaged_archives_end_in_a_data_error(content, tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="Can't read the file"):
        read_data(path)


@pytest.mark.parametrize("name", ["folder.csv", "folder"])
def test_a_folder_is_no_file(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="It is a folder"):
        read_data(tmp_path / name)


@pytest.mark.parametrize("name", ["a\0.csv", "a" * 5000 + ".csv", ""])
def test_paths_that_no_file_can_have(name):
    with pytest.raises(DataError):
        read_data(name)


# --- labels that come with the data ---------------------------------------------------------------


AGE = {"age": "Age (years)"}


def frame(**attrs):
    data = pd.DataFrame({"age": [1.0, 2.0], "sex": ["f", "m"]})
    data.attrs.update(attrs)
    return data


@pytest.mark.parametrize(
    "key", ["labels", "variable_labels", "column_names_to_labels", "column_labels"]
)
def test_labels_of_a_frame(key):
    assert labels_in(frame(**{key: AGE})) == AGE


def test_labels_of_frames_and_metadata_that_have_none(tmp_path):
    both = frame(labels={"age": " Age\n(years)\t"}, variable_labels={"age": "b", "sex": "Sex"})
    assert labels_in(both) == AGE | {"sex": "Sex"}
    assert labels_in(pa.Table.from_pandas(frame(variable_labels=AGE))) == AGE
    odd = pa.table({"age": [1.0]}).replace_schema_metadata({b"pandas": b"{", b"PANDAS_ATTRS": b"3"})
    assert labels_in(odd) == {}
    path = tmp_path / "data.csv"
    path.write_text("age\n1\n")
    assert labels_in(path) == labels_in(pl.DataFrame({"age": [1.0]})) == {}
    # pandas would copy them with each column.
    own = frame(labels=AGE)
    assert read_data(own).attrs == {}
    assert own.attrs == {"labels": AGE}


@pytest.mark.parametrize(
    "labels", [["a", "b"], {"age": None}, {"age": ""}, {"age": 3}, {3: "x"}, {"age": "\ud800"}]
)
def test_metadata_that_are_no_labels_are_passed_over(labels):
    assert labels_in(frame(labels=labels)) == {}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_what_pandas_keeps_in_a_file(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    getattr(frame(labels=AGE), f"to_{ending}")(path)
    assert labels_in(path) == AGE


@pytest.mark.parametrize("metadata", [{b"label": b"Age (years)"}, None])
def test_metadata_of_arrow_fields(tmp_path, metadata):
    schema = pa.schema([pa.field("age", pa.float64(), metadata=metadata)])
    table = pa.table([pa.array([1.0])], schema=schema)
    wanted = AGE if metadata else {}
    assert labels_in(table) == wanted
    pq.write_table(table, tmp_path / "data.parquet")
    assert labels_in(str(tmp_path / "data.parquet")) == wanted
    with pa.ipc.new_file(tmp_path / "data.feather", schema) as file:
        file.write_table(table)
    assert labels_in(tmp_path / "data.feather") == wanted


# --- data that are read in batches are those in memory, however they come -------------------------


N = 3_000


@pytest.fixture(scope="module")
def scanning_frame():
    rng = np.random.default_rng(3)
    found = pd.DataFrame(
        {
            "x": rng.normal(size=N).round(2), "whole": rng.integers(0, 400, size=N),
            "logical": rng.random(N) < 0.4, "text": np.where(rng.random(N) < 0.5, "a", "b"),
            "level": pd.Categorical(rng.choice(["low", "high"], size=N), ["low", "high", "none"]),
        }
    )  # fmt: skip
    found.loc[rng.random(N) < 0.1, "x"] = np.nan
    found.loc[N - 2, "text"] = "rare"
    return found.assign(money=[Decimal(f"{v:.6f}") for v in rng.normal(size=N)])


@pytest.fixture(scope="module")
def folder(scanning_frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts")
    for number, rows in enumerate(np.array_split(np.arange(N), 5)):
        scanning_frame.iloc[rows].to_parquet(path / f"part-{number}.parquet", row_group_size=200)
    (path / "_SUCCESS").write_text("")
    return path


def sources(scanning_frame, folder):
    yield "folder", str(folder)
    yield "pattern", folder / "part-*.parquet"
    yield "dataset", ds.dataset(folder, format="parquet")
    duckdb = pytest.importorskip("duckdb")
    yield "relation", duckdb.connect().from_parquet(str(folder / "*.parquet"))


def plain(column):
    return column.astype(object).where(column.notna(), None).tolist()


def test_all_rows_are_read_with_the_edges_and_levels_of_memory(scanning_frame, folder):
    rows = np.sort(np.random.default_rng(1).choice(N - 2, 300, replace=False))
    every = np.flatnonzero(np.arange(N) % 7 != 3)
    weight = 1 + np.arange(len(every)) % 3
    numbers = {"x", "whole", "money"}
    asked = (list(scanning_frame.columns), rows, every, weight, numbers)
    here, known, levels = InMemory(scanning_frame, {}).some(*asked)
    assert sorted(levels["text"]) == ["a", "b", "rare"]
    expected = bin_edges(scanning_frame["x"].to_numpy()[every], weight=weight)
    np.testing.assert_array_equal(known["x"], expected)
    for name, data in sources(scanning_frame, folder):
        scan = scan_of(data)
        assert scan is not None, name
        taken, found, own = Scanned(scan).some(*asked)
        assert found.keys() == known.keys() == numbers
        assert sorted(own["text"]) == sorted(levels["text"])
        for column, edges in found.items():
            np.testing.assert_array_equal(edges, known[column])
        for column in scanning_frame:
            assert plain(taken[column]) == plain(here[column]), (name, column)
    for name, data in sources(scanning_frame, folder):
        found = read_data(data)
        assert found["text"].tolist() == scanning_frame["text"].tolist(), name
        whole = open_table(data, 100).whole(["whole", "text"])
        assert list(whole) == ["whole", "text"]
        assert list(whole["text"].cat.categories) == ["a", "b", "rare"]
    filtered = ds.dataset(folder, format="parquet").filter(ds.field("whole") < 100)
    assert len(open_table(filtered, None)) == int((scanning_frame["whole"] < 100).sum())
    assert open_table(str(folder), None).in_memory
    assert not open_table(str(folder), 100).in_memory


def test_files_may_differ_in_what_they_hold(tmp_path):
    first = pd.DataFrame({"x": [1, 2], "y": ["a", None]}, index=[7, 3])  # whose index is no column
    first.to_parquet(tmp_path / "1.parquet")
    assert list(read_data(pa.Table.from_pandas(first))) == ["x", "y"]
    pd.DataFrame({"x": [1.5], "z": [3.0]}).to_parquet(tmp_path / "2.parquet")
    (tmp_path / "year=2020").mkdir()
    pd.DataFrame({"x": [4]}).to_parquet(tmp_path / "year=2020" / "3.parquet")
    found = read_data(tmp_path)
    assert list(found) == ["x", "y", "z", "year"]
    assert found["x"].tolist() == [1.0, 2.0, 1.5, 4.0]
    assert found["year"].tolist()[-1] == 2020
    assert found["z"].notna().tolist() == [False, False, True, False]


def test_what_can_not_be_read_is_an_error(tmp_path, folder):
    with pytest.raises(DataError, match="It is a folder without Parquet"):
        scan_of(tmp_path)
    with pytest.raises(DataError, match="No file has such a name"):
        scan_of(str(tmp_path / "*.parquet"))
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="must name Parquet files"):
        scan_of(str(tmp_path / "*.csv"))
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="Can't read `data`"):
        scan_of(tmp_path)
    table = pa.table({"x": [1.0]})
    with pytest.raises(DataError, match="same rows each time"):
        list(Scan("it", table.schema, 2, lambda names: iter([table.select(names)])).batches(["x"]))
    infinite = Scan("it", table.schema, 1, lambda _: iter([pa.table({"x": [np.inf]})]))
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(DataError, match="must be finite"):
        Scanned(infinite).some(["x"], one, one, np.ones(1), {"x"})
    assert scan_of(frame_of_arrow(table)) is None


def test_too_many_levels_are_no_factor(monkeypatch):
    monkeypatch.setattr(tables, "_MOST_LEVELS", 2)
    scanning_frame = pd.DataFrame({"text": ["a", "b", "c", "d"]})
    rows, every = np.array([0, 1]), np.arange(4)
    table = pa.Table.from_pandas(scanning_frame)
    scan = Scan("it", table.schema, 4, lambda names: iter([table.select(names)]))
    for table_of_it in (InMemory(scanning_frame, {}), Scanned(scan)):
        assert table_of_it.some(["text"], rows, every, np.ones(4), ())[2] == {}
