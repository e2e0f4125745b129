"""LightGBM trained by the workers of a Dask cluster on all rows."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import DataError, OptionError

distributed = pytest.importorskip("distributed")
lightgbm = pytest.importorskip("lightgbm")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask and LightGBM, on ports and threads

TREES = {"n_estimators": 20, "num_leaves": 8, "min_child_samples": 5, "verbose": -1}


def passengers(n_times=2):
    data = treeselect.datasets.load("titanic_correlated")
    data["survived"] = np.where(data["survived"] == 1, "yes", "no")
    data["weight"] = 1 + np.arange(len(data)) % 3
    return pd.concat([data] * n_times, ignore_index=True)


@pytest.fixture(scope="module")
def rows():
    return passengers()


@pytest.fixture(scope="module")
def frame(rows):
    return dd.from_pandas(rows, npartitions=3)


@pytest.fixture(scope="module")
def fit(frame):
    return treeselect.select(
        "survived ~ . - weight", frame, method="rrf", k=3, rows=500, seed=1, n_trees=20
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as found,
        distributed.Client(found),
    ):
        yield found


def test_a_dask_frame_gives_the_answer_of_its_rows_in_memory(fit, rows):
    here = treeselect.select(
        "survived ~ . - weight", rows, method="rrf", k=3, rows=500, seed=1, n_trees=20
    )
    assert fit.selected == here.selected
    assert fit.search.held_out == here.search.held_out
    pd.testing.assert_frame_equal(fit.tidy(), here.tidy())


def test_two_workers_train_on_all_rows(fit, frame, rows, cluster):
    spread = fit.with_data(frame).refit(lightgbm.DaskLGBMClassifier(**TREES))
    assert spread.classes == ("no", "yes")
    assert any("all 2,618 rows" in note for note in spread.notes)
    assert type(spread.estimator) is lightgbm.LGBMClassifier
    # The root of the first tree has counted the rows of all partitions.
    tree = spread.estimator.booster_.dump_model()["tree_info"][0]["tree_structure"]
    assert tree["internal_count"] == len(rows)
    # Workers bin their own rows, so that the trees are not those of one machine.
    alone = fit.with_data(frame).refit(lightgbm.LGBMClassifier(**TREES))
    there, here = (found.predict_proba(rows)["yes"].to_numpy() for found in (spread, alone))
    assert np.corrcoef(there, here)[0, 1] > 0.9
    assert set(spread.predict(rows)) == {"no", "yes"}


def test_case_weights_and_numbers(frame, cluster):
    fit = treeselect.select(
        "age ~ sex + pclass + parch", frame, method="mrmr", k=2, rows=300, seed=1, weights="weight"
    )
    spread = fit.with_data(frame).refit(lightgbm.DaskLGBMRegressor(**TREES))
    observed = frame.compute().dropna(subset=["age"])
    assert any(f"all {len(observed):,} rows" in note for note in spread.notes)
    expected = np.average(observed["age"], weights=observed["weight"])
    assert np.mean(spread.predict(observed)) == pytest.approx(expected, rel=0.02)


def test_each_partition_must_have_all_classes(fit, rows):
    ordered = dd.from_pandas(rows.sort_values("survived", ignore_index=True), npartitions=3)
    sorted_fit = treeselect.select(
        "survived ~ . - weight", ordered, method="mrmr", k=2, rows=500, seed=1
    )
    with pytest.raises(DataError, match=r"Partition 0 has none of class .yes."):
        sorted_fit.with_data(ordered).refit(lightgbm.DaskLGBMClassifier(**TREES))


def test_what_can_not_be_trained_there_is_refused(fit, frame, rows):
    with pytest.raises(OptionError, match="`data` must be a Dask frame"):
        fit.refit(lightgbm.DaskLGBMClassifier(**TREES))
    with pytest.raises(OptionError, match="DaskLGBMClassifier`, `DaskLGBMRegressor` of LightGBM"):
        fit.with_data(frame).refit(lightgbm.DaskLGBMRanker(**TREES))
    with pytest.raises(OptionError, match="must be a classifier"):
        fit.with_data(frame).refit(lightgbm.DaskLGBMRegressor(**TREES))
    weighted = treeselect.select(
        "survived ~ sex + age", frame, method="mrmr", k=1, rows=300, seed=1,
        weights=rows["weight"].to_numpy(),
    )  # fmt: skip
    with pytest.raises(OptionError, match="must be a column of the Dask frame"):
        weighted.with_data(frame, weights=rows["weight"].to_numpy()).refit(
            lightgbm.DaskLGBMClassifier(**TREES)
        )
