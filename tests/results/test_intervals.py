"""Quantiles and prediction intervals of the final forest."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treeselect
from treeselect.errors import DataError, OptionError
from treeselect.models.forest import outside_bags
from treeselect.models.stacked import outside_stack
from treeselect.results.predicting import _bound


def simulated(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = x[:, 0] + rng.normal(size=n) * np.exp(0.5 * x[:, 0])
    known = rng.normal(size=n)
    frame = pd.DataFrame(x, columns=list("abc")).assign(y=y, shifted=y + known, known=known)
    return frame.assign(site=np.arange(n) // 4, kind=np.where(y > 0, "p", "n"))


DATA, NEW = simulated(200, 1), simulated(400, 2)


@pytest.fixture(scope="module")
def fit():
    return treeselect.select("y ~ a + b + c", DATA, method="rrf", k=3, n_trees=5, seed=1)


def covered(found, y):
    low, high = found.columns[-2:] if "low" in found else (found.columns[0], found.columns[-1])
    return float(((y >= found[low]) & (y <= found[high])).mean())


def test_intervals_and_quantiles_cover_new_rows_in_frames_of_theirs(fit):
    """A binomial error of 400 rows and that of 200 residuals: 0.9 +- 0.06."""
    found = fit.predict(NEW, interval="prediction")
    np.testing.assert_array_equal(found["fit"], fit.predict(NEW))
    assert 0.82 <= covered(found, NEW["y"]) <= 0.97
    wider = fit.predict(NEW, interval="prediction", level=0.98)
    assert (wider["low"] < found["low"]).all()
    assert (wider["high"] > found["high"]).all()
    rows = NEW.iloc[[5, 3]]
    assert fit.predict(rows, interval="prediction").index.tolist() == [5, 3]
    assert isinstance(fit.predict(pl.from_pandas(rows), type="quantile"), pl.DataFrame)
    found = fit.predict(NEW, type="quantile")
    assert list(found) == ["0.05", "0.5", "0.95"]
    assert 0.8 <= covered(found, NEW["y"]) <= 0.99
    width = found["0.95"] - found["0.05"]
    assert width[NEW["a"] > 0.5].mean() > 1.3 * width[NEW["a"] < -0.5].mean()
    one = fit.predict(NEW, type="quantile", quantiles=0.5)
    np.testing.assert_array_equal(one["0.5"], found["0.5"])
    with pytest.raises(OptionError, match="must be increasing"):
        fit.predict(NEW, type="quantile", quantiles=(0.5, 0.5 + 1e-14))  # of one name
    near = fit.predict(NEW, type="quantile", quantiles=(0.99999991, 0.99999992))
    assert list(near) == ["0.99999991", "0.99999992"]


def test_offsets_move_intervals_and_clusters_stay_out_of_their_residuals():
    given = {"method": "mrmr", "k": 2, "seed": 1}
    fit = treeselect.select("shifted ~ a + b", DATA, offset="known", **given)
    moved = NEW.head(3).assign(known=lambda d: d["known"] + 2)
    for asked in ({"type": "quantile"}, {"interval": "prediction"}):
        before, after = fit.predict(NEW.head(3), **asked), fit.predict(moved, **asked)
        np.testing.assert_allclose(after - before, 2.0)
    assert 0.8 <= covered(fit.predict(NEW, interval="prediction"), NEW["shifted"]) <= 0.98
    # Copies of rows in clusters: no tree out of whose bag a row is has seen its copies.
    data = pd.concat([DATA.head(60)] * 4).sort_index().reset_index(drop=True)
    apart = treeselect.select("y ~ a + b", data.assign(site=data.index // 4), **given)
    together = treeselect.select(
        "y ~ a + b", data.assign(site=data.index // 4), fold_groups="site", **given
    )

    def width(fit):
        found = fit.predict(NEW.head(1), interval="prediction")
        return float((found["high"] - found["low"]).iloc[0])

    assert width(together) > 1.5 * width(apart)


def test_bags_are_those_of_the_forest(fit):
    from treeselect.engine.random import stream_seed

    design, stacked = fit.data.design, fit.refit("stack")
    for name, is_own in (("fit", True), ("other", False)):
        seed = stream_seed(fit.search.seed, name)
        for outside, own in ((outside_stack, stacked), (outside_bags, fit)):
            found = outside(design.problem, design.row_weights, own.model.fitted, seed)
            assert (found is not None) == is_own
            if found is not None:
                assert 0.2 < np.corrcoef(found, design.response.y)[0, 1] < 0.95
    found = stacked.predict(NEW, interval="prediction")
    assert 0.82 <= covered(found, NEW["y"]) <= 0.97
    again = fit.refit("forest").predict(NEW.head(3), interval="prediction")
    pd.testing.assert_frame_equal(again, fit.predict(NEW.head(3), interval="prediction"))


def test_the_rank_counts_the_new_row():
    """Of 9 residuals the 9th is the bound at 0.9, of 8 none is."""
    nine = np.arange(9.0)
    assert _bound(nine, np.ones(9, dtype=int), 0.9) == 8.0
    assert _bound(nine[:8], np.ones(8, dtype=int), 0.9) == np.inf
    # A weight of 2 is two copies.
    assert _bound(np.arange(4.0), np.array([2, 2, 2, 3]), 0.7) == _bound(
        np.repeat(np.arange(4.0), [2, 2, 2, 3]), np.ones(9, dtype=int), 0.7
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"quantiles": [0.5]}, "`quantiles` must be left out for `type='response'`"),
        ({"type": "quantile", "quantiles": [0.5, 0.1]}, "increasing numbers above 0 and below 1"),
        ({"type": "quantile", "quantiles": []}, "increasing numbers above 0 and below 1"),
        ({"type": "quantile", "quantiles": "0.5"}, "increasing numbers above 0 and below 1"),
        ({"type": "quantile", "interval": "prediction"}, "`interval` must be left out"),
        ({"interval": "confidence"}, "`interval` must be"),
        ({"level": 1.0}, "`level` must be"),
        ({"level": 0.9}, "`level` must be left out without an interval"),
        ({"interval": "prediction", "level": 0.999}, "`level` is too high for 200"),
    ],
)
def test_what_is_not_allowed_is_refused(fit, asked, words):
    with pytest.raises(OptionError) as error:
        fit.predict(NEW.head(2), **asked)
    assert words in str(error.value)


def test_other_models_and_responses_are_refused(fit, tmp_path):
    bare = treeselect.load(fit.save(tmp_path / "without"))
    with pytest.raises(DataError, match=r"`include_data=True` \(`--include-data`\)"):
        bare.predict(NEW.head(5), interval="prediction")
    with pytest.raises(OptionError, match=r'Use `fit.refit\("stack"\).predict'):
        fit.refit("boosting").predict(NEW.head(2), interval="prediction")
    classes = treeselect.select("kind ~ a", DATA, method="mrmr", k=1, seed=1)
    with pytest.raises(OptionError, match="needs a numeric response"):
        classes.predict(NEW.head(2), type="quantile")
