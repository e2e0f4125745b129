"""Labels that come with the data."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from treeselect.frames.files import labels_in
from treeselect.frames.reading import read_data

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


def test_the_first_key_wins_label_by_label_each_on_one_line():
    both = frame(labels={"age": " Age\n(years)\t"}, variable_labels={"age": "b", "sex": "Sex"})
    assert labels_in(both) == AGE | {"sex": "Sex"}


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


def test_metadata_of_pandas_beside_an_arrow_table():
    assert labels_in(pa.Table.from_pandas(frame(variable_labels=AGE))) == AGE
    odd = pa.table({"age": [1.0]}).replace_schema_metadata({b"pandas": b"{", b"PANDAS_ATTRS": b"3"})
    assert labels_in(odd) == {}


def test_others_have_none(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("age\n1\n")
    assert labels_in(path) == labels_in(pl.DataFrame({"age": [1.0]})) == {}


def test_frames_are_read_without_metadata():
    # pandas would copy them with each column.
    own = frame(labels=AGE)
    assert read_data(own).attrs == {}
    assert own.attrs == {"labels": AGE}
