"""A row of weight 0 is a row that is not there: at every door, in every count, in later calls."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs.weights import RowWeights, read_weights
from treeselect.errors import DataError

FORMULA = "died ~ scale(signal) + bs(dose, 4, extrapolation='clip') + site + colour"
QUICK = {"seed": 2, "method": "importance", "n_trees": 8, "new_levels": "missing"}


def test_weights_are_copies_if_all_are_whole():
    frame = pd.DataFrame({"w": [2.0, 0.0, 1.0], "v": [0.5, 0.0, 1.0]})
    copies, relative = read_weights("w", frame), read_weights("v", frame)
    assert (copies.are_copies, relative.are_copies) == (True, False)
    assert (copies.values.dtype, relative.values.dtype) == (np.int64, np.float64)
    assert copies.used.tolist() == relative.used.tolist() == [True, False, True]
    assert read_weights(None, frame).are_equal
    assert not copies.are_equal
    assert not relative.of(np.array([2, 2])).are_equal


def test_groups_go_with_their_rows():
    weights = RowWeights(np.array([2, 1, 3]), are_copies=True).in_groups(np.array([5, 5, 7]))
    part = weights.of(np.array([2, 0]))
    assert (len(part), part.values.tolist(), part.groups.tolist()) == (2, [3, 2], [7, 5])
    each, rows = part.written_out()
    assert each.are_equal
    assert (rows.tolist(), each.groups.tolist()) == ([0, 0, 0, 1, 1], [7, 7, 7, 5, 5])


@pytest.fixture(scope="module")
def both(mixed):
    """The rows; these and 100 others before and behind them; which of the latter are there."""
    rng = np.random.default_rng(4)
    data = mixed.assign(
        w=rng.integers(1, 3, len(mixed)), patient=rng.integers(0, 60, len(mixed)).astype(float),
        fold=np.arange(len(mixed)) % 3, known=rng.normal(size=len(mixed)),
    )  # fmt: skip
    others = data.sample(100, random_state=1, ignore_index=True).assign(
        w=0, signal=1e9, dose=np.inf, colour=[f"id {i}" for i in range(100)], patient=np.nan,
        known=np.nan, fold=7, died=None,
    )  # fmt: skip
    others.loc[50:, "died"] = True
    more = pd.concat([others[:30], data, others[30:]], ignore_index=True)
    more["died"] = more["died"].astype("boolean")
    there = np.zeros(len(more), dtype=bool)
    there[30:-70] = True
    return data, more, there


@pytest.fixture(scope="module")
def fits(both):
    data, more, _ = both
    return [
        treeselect.select(
            FORMULA, frame, weights="w", offset="known", folds=frame["fold"].to_numpy(),
            fold_groups=None, resamples=3, **QUICK,
        )
        for frame in (data, more)
    ]  # fmt: skip


def test_the_fit_is_the_same(both, fits):
    data, more, there = both
    plain, other = fits
    assert plain.selected == other.selected
    pd.testing.assert_frame_equal(plain.path, other.path)
    pd.testing.assert_frame_equal(plain.tidy(), other.tidy())
    np.testing.assert_array_equal(plain.stability.selected, other.stability.selected)
    same = [name for name in plain.glance() if name not in ("call", "data")]
    pd.testing.assert_frame_equal(plain.glance()[same], other.glance()[same])
    assert other.glance()["n"].item() == data["w"].sum()
    assert "Excluded because their weight is 0: 100." in str(other.summary())
    clean = more.assign(dose=np.where(there, more["dose"], 0.0), known=more["known"].fillna(0.0))
    fitted = other.augment(clean)["fitted"]
    assert len(fitted) == len(more)
    assert fitted.notna().all()
    np.testing.assert_array_equal(fitted[there], plain.predict(data))


def test_and_so_is_all_that_is_asked_of_it_later(both, fits, tmp_path):
    data, more, _ = both
    plain, other = fits
    a, b = (fit.performance(folds=2, fold_groups=frame["patient"])
            for fit, frame in ((plain, data), (other, more)))  # fmt: skip
    pd.testing.assert_frame_equal(a.tidy().drop(columns="seconds", errors="ignore"),
                                  b.tidy().drop(columns="seconds", errors="ignore"))  # fmt: skip
    a, b = (fit.resample(2, seed=1).stability.selected for fit in fits)
    np.testing.assert_array_equal(a, b)
    a, b = (str(fit.inference(seed=1).summary()) for fit in fits)
    assert a.split("\n")[1:] == b.split("\n")[1:]
    matrix = other.data.design.model_matrix()
    pd.testing.assert_frame_equal(plain.data.design.model_matrix(), matrix)
    other.save(tmp_path / "model")
    loaded = treeselect.load(tmp_path / "model")
    again = loaded.with_data(more).resample(2, seed=1)
    np.testing.assert_array_equal(
        again.stability.selected, plain.resample(2, seed=1).stability.selected
    )


def test_comparisons_leave_them_out(both):
    data, more, _ = both
    tables = [
        treeselect.compare(
            FORMULA, frame, [treeselect.RRF(n_trees=8), "lasso"], k=2, weights="w", seed=1,
            folds=frame["fold"].to_numpy(), new_levels="missing",
        ).tidy().drop(columns="seconds")
        for frame in (data, more)
    ]  # fmt: skip
    pd.testing.assert_frame_equal(*tables)


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (lambda d: 0 * d["w"], "Case weights must not all be zero."),
        (
            lambda d: d["w"] * d["died"],
            r"at least two classes(.|\n)*rows with weight 0 are left out",
        ),
    ],
)
def test_what_is_wrong_with_the_rows_that_are_left(both, weight, says):
    data = both[0]
    with pytest.raises(DataError, match=says):
        treeselect.select("died ~ site", data, weights=weight(data).astype(int), k=1)
