"""Data that are read in batches are those in memory, however they come."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from treeselect.engine.columns import bin_edges
from treeselect.errors import DataError
from treeselect.frames import tables
from treeselect.frames.reading import Scan, frame_of_arrow, read_data, scan_of
from treeselect.frames.tables import InMemory, Scanned, open_table

N = 3_000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    found = pd.DataFrame(
        {
            "x": rng.normal(size=N).round(2),
            "whole": rng.integers(0, 400, size=N),
            "logical": rng.random(N) < 0.4,
            "text": np.where(rng.random(N) < 0.5, "a", "b"),
            "level": pd.Categorical(rng.choice(["low", "high"], size=N), ["low", "high", "none"]),
        }
    )
    found.loc[rng.random(N) < 0.1, "x"] = np.nan
    found.loc[N - 2, "text"] = "rare"
    return found


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts")
    for number, rows in enumerate(np.array_split(np.arange(N), 5)):
        frame.iloc[rows].to_parquet(path / f"part-{number}.parquet", row_group_size=200)
    (path / "_SUCCESS").write_text("")
    return path


def sources(frame, folder):
    yield "folder", str(folder)
    yield "pattern", folder / "part-*.parquet"
    yield "dataset", ds.dataset(folder, format="parquet")
    duckdb = pytest.importorskip("duckdb")
    yield "relation", duckdb.connect().from_parquet(str(folder / "*.parquet"))


def plain(column):
    return column.astype(object).where(column.notna(), None).tolist()


def test_rows_edges_and_levels_are_those_in_memory(frame, folder):
    rows = np.sort(np.random.default_rng(1).choice(N - 2, 300, replace=False))
    every = np.flatnonzero(np.arange(N) % 7 != 3)
    weight = 1 + np.arange(len(every)) % 3
    asked = (list(frame.columns), rows, every, weight, {"x", "whole"})
    here = InMemory(frame, {}).some(*asked)
    assert list(here.frame["text"].cat.categories) == ["a", "b", "rare"]
    expected = bin_edges(frame["x"].to_numpy()[every], weight=weight)
    np.testing.assert_array_equal(here.edges["x"], expected)
    for name, data in sources(frame, folder):
        scan = scan_of(data)
        assert scan is not None, name
        taken = Scanned(scan).some(*asked)
        assert taken.edges.keys() == {"x", "whole"}
        for column, edges in taken.edges.items():
            np.testing.assert_array_equal(edges, here.edges[column])
        for column in frame:
            assert plain(taken.frame[column]) == plain(here.frame[column]), (name, column)


def test_all_rows_are_read_and_only_the_columns_that_are_needed(frame, folder):
    for name, data in sources(frame, folder):
        found = read_data(data)
        assert found["text"].tolist() == frame["text"].tolist(), name
        whole = open_table(data, 100).whole(["whole", "text"])
        assert list(whole) == ["whole", "text"]
        assert list(whole["text"].cat.categories) == ["a", "b", "rare"]
    filtered = ds.dataset(folder, format="parquet").filter(ds.field("whole") < 100)
    assert len(open_table(filtered, None)) == int((frame["whole"] < 100).sum())
    assert open_table(str(folder), None).in_memory
    assert not open_table(str(folder), 100).in_memory


def test_files_may_differ_in_what_they_hold(tmp_path):
    pd.DataFrame({"x": [1, 2], "y": ["a", None]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"x": [1.5], "z": [3.0]}).to_parquet(tmp_path / "2.parquet")
    (tmp_path / "year=2020").mkdir()
    pd.DataFrame({"x": [4]}).to_parquet(tmp_path / "year=2020" / "3.parquet")
    found = read_data(tmp_path)
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
    frame = pd.DataFrame({"text": ["a", "b", "c", "d"]})
    rows, every = np.array([0, 1]), np.arange(4)
    table = pa.Table.from_pandas(frame)
    scan = Scan("it", table.schema, 4, lambda names: iter([table.select(names)]))
    for table_of_it in (InMemory(frame, {}), Scanned(scan)):
        found = table_of_it.some(["text"], rows, every, np.ones(4), ())
        assert not isinstance(found.frame["text"].dtype, pd.CategoricalDtype)
