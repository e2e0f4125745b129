"""The same selection from every library and file, and answers in the user's own."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.frames.tables import as_column, in_library, library_of, with_column

QUICK = {"method": "controlburn", "k": 3, "forests": 1, "n_trees": 10, "seed": 2, "resamples": 2}
FORMULA = "died ~ signal*site + bs(noise, 4) + colour + flag + flag:colour"


@pytest.fixture(scope="module")
def data(mixed):
    return mixed.drop(columns="dose").astype({"site": "str"})


@pytest.fixture(scope="module")
def expected(data):
    return treeselect.select(FORMULA, data, **QUICK)


def file(ending):
    def make(data, folder):
        path = folder / f"data{ending}"
        if ending.startswith(".csv"):
            data.to_csv(path, index=False)
        elif ending == ".parquet":
            pl.from_pandas(data).write_parquet(path)
        else:
            pl.from_pandas(data).write_ipc(path)
        return path

    return make


SOURCES = {
    "category": (lambda d, _: d.astype({"site": "category", "colour": "category"}), pd),
    "arrow dtypes": (lambda d, _: d.convert_dtypes(dtype_backend="pyarrow"), pd),
    "nullable": (lambda d, _: d.convert_dtypes(), pd),
    "polars": (lambda d, _: pl.from_pandas(d), pl),
    "polars lazy": (lambda d, _: pl.from_pandas(d).lazy(), pl),
    "polars categorical": (
        lambda d, _: pl.from_pandas(d).with_columns(pl.col("site").cast(pl.Categorical)), pl,
    ),
    "pyarrow": (lambda d, _: pa.Table.from_pandas(d), pa),
    "csv": (file(".csv"), pd),
    "csv.gz": (file(".csv.gz"), pd),
    "parquet": (file(".parquet"), pd),
    "feather": (file(".feather"), pd),
}  # fmt: skip
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


def test_a_model_of_one_library_predicts_frames_of_another(expected, data):
    new = data.head(20)
    for frame in (pl.from_pandas(new), pa.Table.from_pandas(new)):
        found = expected.predict(frame, type="class")
        assert type(found).__module__.split(".")[0] == type(frame).__module__.split(".")[0]
        assert (
            [bool(v) for v in found.to_pylist()]
            if isinstance(frame, pa.Table)
            else list(found) == expected.predict(new, type="class").tolist()
        )


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


def test_lazy_frames_stay_lazy():
    data = pl.LazyFrame({"x": [1, 2]})
    longer = with_column(data, "p", lambda frame: frame["x"] * 2)
    assert longer.collect()["p"].to_list() == [2, 4]
    assert isinstance(as_column([1, 2], "p", data), pl.Series)
    assert isinstance(in_library(pd.DataFrame({"k": [1]}), library_of(data)), pl.DataFrame)


def test_a_lazy_frame_is_collected_once(expected, data):
    """Its rows may come in another order the next time."""
    collected = []

    def count(frame):
        collected.append(1)
        return frame

    lazy = pl.from_pandas(data).lazy().map_batches(count)
    expected.augment(lazy)
    assert len(collected) == 1


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_tidy_have_the_same_types_whatever_the_method(library):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"])
    data["y"] = data["a"] + rng.normal(size=50)
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
