"""Selection over imputed frames: as `select()` on each, and what enough of them select."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treeselect
from treeselect import imputing
from treeselect.engine.random import stream_seed
from treeselect.errors import MethodError, OptionError
from treeselect.resampling.agreement import clustered_interval, stability_index

QUICK = {"method": "importance", "n_trees": 10, "seed": 3}


@pytest.fixture(scope="module")
def frames():
    """Four imputations of 90 rows: `a` matters, `b` less, and half of `b` is imputed at random."""
    rng = np.random.default_rng(2)
    n = 90
    data = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "c", "d"])
    data["y"] = 2 * data["a"] + 0.9 * data["b"] + rng.normal(size=n)
    missing = rng.random(n) < 0.5
    return [data.assign(b=data["b"].mask(missing, rng.normal(size=n))) for _ in range(4)]


@pytest.fixture(scope="module")
def found(frames):
    return treeselect.select("y ~ .", frames, k=2, resamples=4, **QUICK)


def test_each_fit_is_that_of_select(frames, found):
    assert len(found.fits) == 4
    for number, (fit, frame) in enumerate(zip(found.fits, frames, strict=True)):
        alone = treeselect.select("y ~ .", frame, k=2, **QUICK)
        assert fit.selected == alone.selected
        np.testing.assert_array_equal(fit.model.importance, alone.model.importance)
        again = alone.resample(4, seed=stream_seed(3, "imputation", number))
        np.testing.assert_array_equal(fit.stability.selected, again.stability.selected)
    drawn = [fit.stability.seed for fit in found.fits]
    assert len(set(drawn)) == 4  # rows are drawn anew from each frame


def test_tables(found):
    names = found.fits[0].data.design.arrays.groups.names
    chosen = np.array([fit.search.step.selected for fit in found.fits])
    drawn = np.array([fit.stability.selected for fit in found.fits])
    table = found.tidy().set_index("term").loc[list(names)]
    assert table["imputations"].tolist() == chosen.sum(axis=0).tolist()
    assert table["share"].tolist() == chosen.mean(axis=0).tolist()
    assert table["selected"].tolist() == (chosen.sum(axis=0) >= 2).tolist()
    assert table["frequency"].to_numpy() == pytest.approx(drawn.mean(axis=(0, 1)))
    interval = clustered_interval(drawn.mean(axis=1), 4)
    np.testing.assert_allclose(table[["ci_low", "ci_high"]].to_numpy().T, interval)
    mean = np.mean([fit.model.importance for fit in found.fits], axis=0)
    assert table["importance"].to_numpy() == pytest.approx(mean)
    glance = found.glance().iloc[0]
    assert glance["index"] == pytest.approx(stability_index(chosen)[0], nan_ok=True)
    assert glance["resample_index"] == stability_index(drawn.reshape(16, 4))[0]
    assert (glance["imputations"], glance["resamples"], glance["k_max"]) == (4, 16, 2)
    assert set(found.selected) == set(table.index[table["selected"]])
    assert found.selected == tuple(found.tidy().query("selected")["term"])
    assert found.formula.startswith("y ~ ")


@pytest.mark.parametrize(("share", "kept"), [(0.25, "abc"), (0.5, "ab"), (0.75, "a"), (1, "a")])
def test_the_share_that_must_agree(found, share, kept):
    sets = [{"a", "b"}, {"a", "b"}, {"a", "c"}, {"a"}]
    names = np.array(found.fits[0].data.design.arrays.groups.names)
    fits = [
        dataclasses.replace(
            fit, step=dataclasses.replace(fit.step, selected=np.isin(names, sorted(some)))
        )
        for fit, some in zip(found.records, sets, strict=True)
    ]
    made = dataclasses.replace(found, records=tuple(fits)).with_share(share)
    assert set(made.selected) == set(kept)
    assert made.selected[0] == "a"


def test_a_share_of_three_tenths_is_three_of_ten(found):
    made = dataclasses.replace(found, records=found.records[:1] * 10).with_share(0.1 * 3)
    assert made.needed == 3  # 0.1 * 3 is more than 0.3


def test_the_same_answer_for_any_number_of_processes_and_order_of_columns(frames, found):
    turned = [frame[frame.columns[::-1]] for frame in frames]
    with_two = treeselect.select("y ~ .", turned, k=2, resamples=4, n_jobs=2, **QUICK)
    pd.testing.assert_frame_equal(with_two.tidy(), found.tidy())
    pd.testing.assert_frame_equal(with_two.glance(), found.glance())


def test_copies_of_one_frame_agree(frames):
    found = treeselect.select("y ~ .", frames[:1] * 2, k=1, **QUICK)
    assert found.glance()[["index", "distinct", "resamples"]].to_numpy().tolist() == [[1, 1, 0]]
    assert "frequency" not in found.tidy()
    assert (found.pooled().tidy()["riv"] == 0).all()


def test_other_libraries_and_files(frames, found, tmp_path):
    for number, frame in enumerate(frames):
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    paths = [tmp_path / f"{number}.csv" for number in range(4)]
    assert treeselect.select("y ~ .", paths, k=2, **QUICK).selected == found.selected
    tables = [pl.from_pandas(frame) for frame in frames]
    with_polars = treeselect.select("y ~ .", tables, k=2, **QUICK)
    for table in (with_polars.tidy(), with_polars.glance(), with_polars.pooled().tidy()):
        assert isinstance(table, pl.DataFrame)


def test_the_call_can_be_typed_again(frames):
    found = treeselect.select("y ~ a + b", frames[:2], k=1, method="lasso", keep="a")
    assert found.call == (
        f'treeselect.select("y ~ a + b", frames, method="lasso", k=1, keep="a", seed={found.seed})'
    )
    assert repr(found) == "<ImputedSelection 'y ~ a', method 'lasso', 2 imputations>"


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"resamples": 1}, OptionError, "`resamples` must be 0 or at least 2"),
        ({"n_tree": 1}, MethodError, "n_trees"),
        ({"k": 5}, OptionError, "`k` must be"),
    ],
)
def test_refusals(frames, given, error, said):
    with pytest.raises(error, match=said):
        treeselect.select("y ~ .", frames, **QUICK | {"k": 1} | given)


def test_a_share_is_above_0_and_at_most_1(found):
    with pytest.raises(OptionError, match="`share` must be a number above 0 and at most 1"):
        found.with_share(0)


def test_a_size_that_one_frame_does_not_reach_is_told(frames):
    flat = [frames[0], frames[1].assign(c=0.0, d=0.0)]
    found = treeselect.select("y ~ .", flat, k=3, **QUICK)
    assert [fit.k for fit in found.fits] == [3, 2]
    text = " ".join(found.summary().as_text().split())
    assert "Imputation 2: The call requests 3 terms, but only 2 enter the path" in text


def test_a_stop_ends_the_call(frames, found, monkeypatch):
    stopped = dataclasses.replace(found.records[0].resampled, asked=9)
    monkeypatch.setattr(
        imputing, "resample", lambda fit, n, seed: dataclasses.replace(fit, resampled=stopped)
    )
    with pytest.raises(KeyboardInterrupt):
        treeselect.select("y ~ a", frames, k=1, resamples=9, **QUICK)
