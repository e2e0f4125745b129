"""Response, weights and offset: which rows count and how much, and samples of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick import by_mrmr
from scipy.special import expit, logit

import treeselect
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.response import read_response
from treeselect.designs.row_sample import labels_of, sampled, units_of, varies
from treeselect.designs.weights import (
    LARGEST_WEIGHT,
    RowWeights,
    check_offset,
    doubt_of_counts,
    read_groups,
    read_weights,
    row_weights,
)
from treeselect.errors import DataError, NewDataError, OptionError
from treeselect.formula import parse_formula


def response(values, family="auto", left="y"):
    frame = pd.DataFrame({"y": values, "x": range(len(values))})
    return read_response(
        parse_formula(f"{left} ~ x", ["y", "x"]), frame, family, np.ones(len(frame))
    )


@pytest.mark.parametrize(
    ("values", "family", "classes", "y"),
    [
        ([0, 1, 1], "binomial", (0, 1), [0, 1, 1]),
        ([0.0, 1.0, np.nan], "binomial", (0, 1), [0, 1]),
        ([True, False, True], "binomial", (False, True), [1, 0, 1]),
        (["no", "yes", "no"], "binomial", ("no", "yes"), [0, 1, 0]),
        (["yes", None, "no"], "binomial", ("no", "yes"), [1, 0]),
        (pd.Categorical(["b", "a", "b"], ["b", "a"]), "binomial", ("b", "a"), [0, 1, 0]),
        (pd.Categorical(["b", "a", "b"], ["b", "z", "a", "q"]), "binomial", ("b", "a"), [0, 1, 0]),
        ([1, 2, 2], "gaussian", (), [1, 2, 2]),
        ([0.5, 1, 0], "gaussian", (), [0.5, 1, 0]),
        (pd.array([True, None, False], dtype="boolean"), "binomial", (False, True), [1, 0]),
        (pd.array([1, None, 0], dtype="Int64"), "binomial", (0, 1), [1, 0]),
        (pd.array(["b", None, "a"], dtype="string"), "binomial", ("a", "b"), [1, 0]),
        (pd.Categorical([1, 2, None], [2, 1]), "binomial", (2, 1), [1, 0]),
        (pd.Series([True, None, False], dtype=object), "binomial", (False, True), [1, 0]),
        ([3, None, 7, 8], "gaussian", (), [3, 7, 8]),
        ([-1, 1, 1], "gaussian", (), [-1, 1, 1]),
        (["b", "c", None, "a", "b"], "multinomial", ("a", "b", "c"), [1, 2, 0, 1]),
        (
            pd.Categorical(["b", "a", "c"], ["c", "z", "b", "a"]), "multinomial", ("c", "b", "a"),
            [1, 2, 0],
        ),
    ],
)  # fmt: skip
def test_f13_family_and_classes_are_found(values, family, classes, y):
    found = response(values)
    assert found.family.name == family
    assert found.classes == classes
    assert found.y.tolist() == y
    assert found.n_dropped == len(values) - len(y)


def test_families_can_be_asked_for_and_expressions_stand_on_the_left():
    assert response([0, 1, 1], "gaussian").family.name == "gaussian"
    two = response([1, 2, 2], "binomial")
    assert (two.family.name, two.classes, two.y.tolist()) == ("binomial", (1, 2), [0, 1, 1])
    three = response([5, 1, 2, 1], "multinomial")
    assert (three.family.name, three.classes) == ("multinomial", (1, 2, 5))
    assert three.y.tolist() == [2, 0, 1, 0]
    assert response(["a", "b"], "multinomial").family.name == "binomial"
    counts = response([0, 3, 1], "poisson")
    assert (counts.family.name, counts.classes, counts.reason) == ("poisson", (), "as specified")
    assert response([1.0, 10.0, 100.0], left="log10(y)").y.tolist() == pytest.approx([0, 1, 2])
    over = response([1.0, 10.0, np.nan], left="I(y > 3)")
    assert (over.family.name, over.classes, over.n_dropped) == ("binomial", (False, True), 1)


@pytest.mark.parametrize(
    ("values", "family", "error", "says"),
    [
        (["a", "a"], "auto", DataError, "must have at least two classes.\n  Found: only 'a'"),
        ([3.5, 3.5], "auto", DataError, "must vary"),
        ([np.nan, np.nan], "auto", DataError, "Found: none"),
        ([None, None], "auto", DataError, "only missing values"),
        (pd.Categorical(["a", "a"], ["a", "b"]), "auto", DataError, "Found: only 'a'"),
        (["a", "b", "c"], "binomial", OptionError, "has 3: `a`, `b`, `c`"),
        ([str(i) for i in range(300)], "auto", DataError, "at most 255 classes"),
        (["a", "b", "c"], "poisson", OptionError, "needs a numeric response"),
        (pd.to_datetime(["2020", "2021"]), "auto", DataError, "dates or times"),
        ([1.0, np.inf], "auto", DataError, "`y` must be finite"),
        ([1, 2, 3], "binomial", OptionError, 'write `family="multinomial"`'),
        ([1.0, 1e200], "auto", DataError, "must be from 1e-70 to 1e\\+70.(.|\\n)*1e\\+200"),
        ([3e-90, -1e-90], "auto", DataError, "must be from 1e-70 to 1e\\+70.(.|\\n)*3e-90"),
        (["a", "b"], "gaussian", OptionError, "needs a numeric response"),
        ([1, 2.5], "poisson", OptionError, "Found: 2.5 in `y`. To model rates"),
        ([1, -1], "poisson", OptionError, "non-negative whole numbers"),
        ([0, 0], "poisson", DataError, "must vary"),
    ],
)
def test_responses_that_cannot_be_used(values, family, error, says):
    with pytest.raises(error, match=says):
        response(values, family)


def test_rows_with_a_response_are_used_and_it_is_named():
    found = response([np.nan, 3.0, np.nan, 5.0, 4.0])
    assert (found.rows.tolist(), found.n_dropped) == ([1, 3, 4], 2)
    over = response([1.0, np.nan, 9.0], left="I(y > 3)")
    assert (over.rows.tolist(), over.y.tolist()) == ([0, 2], [0, 1])
    assert response(["a", "b"]).reason == "`y` is text with two classes"
    assert response(pd.Categorical(["a", "b"])).reason == "`y` is categorical with two classes"
    assert response([1, 2, 2], left="C(y)").reason == "`C(y)` is categorical with two classes"
    assert response([True, False]).reason == "`y` is logical"
    assert response([0, 1]).reason == "`y` is 0 or 1"
    assert response([0, 2]).reason == "`y` is numeric"
    assert response([0, 1], "gaussian").reason == "as specified"
    with pytest.raises(DataError) as error:
        response(pd.to_datetime(["2020", "2021"]))
    assert "leave it out" not in str(error.value)


# a row of weight 0 is a row that is not there: at every door, in every count, in later calls


FORMULA = "died ~ scale(signal) + bs(dose, 4, extrapolation='clip') + site + colour"
QUICK = {"seed": 2, "method": "importance", "n_trees": 4, "new_levels": "missing"}


def test_weights_are_copies_if_all_are_whole():
    frame = pd.DataFrame({"w": [2.0, 0.0, 1.0], "v": [0.5, 0.0, 1.0]})
    copies, relative = read_weights("w", frame), read_weights("v", frame)
    assert (copies.are_copies, relative.are_copies) == (True, False)
    assert (copies.values.dtype, relative.values.dtype) == (np.int64, np.float64)
    assert copies.used.tolist() == relative.used.tolist() == [True, False, True]
    assert read_weights(None, frame).are_equal
    assert not copies.are_equal
    assert not relative.of(np.array([2, 2])).are_equal
    assert read_weights([0.0, 0.5, 0.5], frame).values.tolist() == [0, 1, 1]
    assert read_weights([LARGEST_WEIGHT, 0, 0], frame, kind="frequency").used.sum() == 1
    with pytest.raises(OptionError, match="must sum to at most"):
        read_weights([LARGEST_WEIGHT - 1, 2, 0], frame, kind="frequency")
    for most, kind in ((11, "frequency"), (12, "sampling")):  # a mean of 10 is the largest
        given = [9.0, 0.0, most]
        assert read_weights(given, frame).kind == kind
        assert (doubt_of_counts(given, frame, None) == "") == (kind == "frequency")
    assert read_weights([1e70, 0.5, 0.0], frame).kind == row_weights(frame["v"]).kind == "precision"
    check_offset(np.array([1e70, -1e70, np.nan]), np.arange(2))  # the largest


def test_groups_go_with_their_rows_and_one_row_is_one():
    with pytest.raises(OptionError, match="one group of all rows"):
        read_groups(["a"], pd.DataFrame({"x": [1]}), np.array([0]))
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


def test_the_fit_and_all_that_is_asked_of_it_later_are_the_same(both, fits, tmp_path):
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
    data, more, _ = both
    a, b = (fit.performance(folds=2, fold_groups=frame["patient"])
            for fit, frame in ((plain, data), (other, more)))  # fmt: skip
    pd.testing.assert_frame_equal(a.tidy().drop(columns="seconds", errors="ignore"),
                                  b.tidy().drop(columns="seconds", errors="ignore"))  # fmt: skip
    resampled, b = (fit.resample(2, seed=1).stability.selected for fit in fits)
    np.testing.assert_array_equal(resampled, b)
    a, b = (str(fit.inference(seed=1).summary()) for fit in fits)
    assert a.split("\n")[1:] == b.split("\n")[1:]
    matrix = other.data.design.model_matrix()
    pd.testing.assert_frame_equal(plain.data.design.model_matrix(), matrix)
    other.save(tmp_path / "model")
    loaded = treeselect.load(tmp_path / "model")
    again = loaded.with_data(more).resample(2, seed=1)
    np.testing.assert_array_equal(again.stability.selected, resampled)


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


# --- a known part of the linear predictor ---------------------------------------------------------


OFFSETS = {"method": "controlburn", "forests": 1, "n_trees": 20, "seed": 4}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    n = 600
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["x", "noise", "more", "z"])
    eta = 1.5 * frame["x"] + 3 * frame["z"]
    return frame.assign(
        died=(rng.random(n) < expit(eta)).astype(int), dose=eta + rng.normal(size=n)
    )


def test_an_offset_is_taken_from_numbers_and_added_to_log_odds(data):
    with_offset = treeselect.select("dose ~ . - died", data, k=1, offset="z", **OFFSETS)
    assert with_offset.selected == ("x",)  # without it, z is not among the terms of `.`
    same = treeselect.select("{dose - z} ~ . - died - dose", data, k=1, **OFFSETS)
    assert same.selected == with_offset.selected
    np.testing.assert_allclose(with_offset.path["tuning"], same.path["tuning"], rtol=1e-9)
    np.testing.assert_allclose(with_offset.predict(data), same.predict(data) + data["z"], atol=1e-9)
    fit = treeselect.select("died ~ x + noise + more", data, k=1, offset="z", **OFFSETS)
    assert fit.selected == ("x",)
    p = fit.predict(data)
    moved = fit.predict(data.assign(z=data["z"] + 1))
    np.testing.assert_allclose(logit(moved) - logit(p), 1, atol=1e-6)
    without = treeselect.select("died ~ x + noise + more", data, k=1, **OFFSETS)
    y = data["died"]

    def log_loss(p):
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))

    truth = expit(1.5 * data["x"] + 3 * data["z"])
    assert log_loss(truth) < log_loss(p) < 0.8 * log_loss(without.predict(data).clip(0.01, 0.99))
    assert abs(p.mean() - y.mean()) < 0.02


def test_a_column_an_array_and_a_file_give_the_same(data, tmp_path):
    named = treeselect.select("died ~ x + noise", data, k=1, offset="z", **OFFSETS)
    given = treeselect.select("died ~ x + noise", data, k=1, offset=data["z"].tolist(), **OFFSETS)
    pd.testing.assert_series_equal(named.predict(data), given.predict(data, offset=data["z"]))
    for fit in (named, given):
        again = treeselect.load(fit.save(tmp_path / "m", include_data=True))
        offset = None if fit is named else data["z"]
        pd.testing.assert_series_equal(
            again.predict(data, offset=offset), fit.predict(data, offset=offset)
        )
        pd.testing.assert_frame_equal(
            again.resample(2).stability.tidy(), fit.resample(2).stability.tidy()
        )
        bare = treeselect.load(fit.save(tmp_path / "n"))
        pd.testing.assert_frame_equal(
            bare.with_data(data, offset=offset).resample(2).stability.tidy(),
            fit.resample(2).stability.tidy(),
        )
    assert "fitted" in given.augment(data, offset=data["z"])


def test_what_prediction_needs_of_it(data):
    named = treeselect.select("died ~ x + noise", data, k=1, offset="z", **OFFSETS)
    given = treeselect.select("died ~ x + noise", data, k=1, offset=data["z"], **OFFSETS)
    plain = treeselect.select("died ~ x + noise", data, k=1, **OFFSETS)
    with pytest.raises(NewDataError, match="must have the column of the offset"):
        named.predict(data.drop(columns="z"))
    with pytest.raises(OptionError, match="`offset` must be given"):
        given.predict(data)
    with pytest.raises(OptionError, match="must have one value per row, 600"):
        given.predict(data, offset=[1.0])
    with pytest.raises(OptionError, match="`offset` must not be given"):
        plain.predict(data, offset=data["z"])
    with pytest.raises(OptionError, match="reads it from the column `z`"):
        named.predict(data, offset=data["z"] + 1)
    with pytest.raises(OptionError, match=r"finite and not missing(.|\n)*nan in row 3"):
        named.predict(data.assign(z=[*[0.5] * 3, np.nan, *[0.5] * 596]))


def test_an_offset_beside_an_empty_selection_and_the_response(data):
    fit = treeselect.select("dose ~ x + noise", data, lam=1e6, offset="z", **OFFSETS)
    mean = (data["dose"] - data["z"]).mean()
    np.testing.assert_allclose(fit.predict(data), mean + data["z"])
    with pytest.raises(OptionError, match="must not be the response"):
        treeselect.select("log(dose) ~ x", data.assign(dose=1.5), k=1, offset="dose")


@pytest.mark.parametrize("family", ["poisson", "binomial"])
def test_totals_of_the_forest_are_right(data, family):
    rng = np.random.default_rng(8)
    counts = data.assign(cases=rng.poisson(np.exp(0.5 * data["x"] + 0.3 * data["z"])))
    y = "cases" if family == "poisson" else "died"
    fit = treeselect.select(f"{y} ~ x + noise", counts, k=1, offset="z", family=family, **OFFSETS)
    assert fit.predict(counts).sum() == pytest.approx(counts[y].sum(), rel=1e-6)


@pytest.mark.parametrize("method", ["gbfs", "rboost", "controlburn"])
def test_exposures_beyond_all_reason_overflow_nowhere(method):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"y": rng.poisson(2, 60), "x": rng.normal(size=60)})
    offset = rng.uniform(-30, 30, 60)
    fit = treeselect.select(
        "y ~ x", data, method=method, k=1, family="poisson", offset=offset, seed=1, n_trees=20
    )
    assert np.isfinite(fit.predict(data, offset=offset)).all()


# --- which rows are drawn -------------------------------------------------------------------------


def drawn(y, rows, seed=1, groups=None, formula="y ~ x", **more):
    frame = pd.DataFrame({"y": y, "x": np.arange(len(y)) % 11, **more})
    return prepare(Request(formula, fold_groups=groups), frame, rows=rows, seed=seed)


@given(st.integers(0, 1000), st.integers(20, 200))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_strata_have_their_shares(seed, rows):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], size=400, p=[0.7, 0.2, 0.1])
    found = drawn(y, rows, seed)
    assert found.rows.used == rows
    assert found.rows.not_drawn == 400 - rows
    assert (np.diff(found.response.rows) > 0).all()
    for level, n in zip(found.response.classes, found.response.counts, strict=True):
        # Largest remainders round by less than one row; the smallest class has at least two.
        assert abs(n - rows * (y == level).mean()) < 2
    np.testing.assert_array_equal(
        y[found.response.rows], np.array(found.response.classes)[found.response.y.astype(int)]
    )
    again = drawn(y, rows, seed)
    np.testing.assert_array_equal(found.response.rows, again.response.rows)
    assert not np.array_equal(drawn(y, rows, seed + 1).response.rows, found.response.rows)


def test_numbers_and_times_are_stratified_and_clusters_drawn_as_a_whole():
    rng = np.random.default_rng(1)
    y = rng.lognormal(size=1_000)
    found = drawn(y, 200)
    assert found.sample.by == "10 quantile groups of y"
    edges = np.quantile(y, np.arange(1, 10) / 10)
    counts = np.bincount(np.searchsorted(edges, found.response.y), minlength=10)
    assert counts.min() == counts.max() == 20
    event = (rng.random(1_000) < 0.05).astype(int)
    found = drawn(y, 200, formula="Surv(y, event) ~ x", event=event)
    assert found.sample.by == "events"
    assert found.response.follow_up.n_events == round(200 * event.mean())
    rng = np.random.default_rng(2)
    site = np.repeat(np.arange(100), 10)
    y = (rng.random(1_000) < np.repeat(rng.random(100), 10)).astype(int)
    found = drawn(y, 300, groups="site", site=site)
    sizes = np.unique(site[found.response.rows], return_counts=True)[1]
    assert (sizes == 10).all()
    assert 250 <= found.rows.used <= 350
    assert found.sample.groups == "site"
    assert found.sample.by == "10 quantile groups of the share of y = 1, whole clusters"
    # Few of them have few strata: of ten sites three, and of fifty hospitals five.
    assert drawn(y, 300, groups="site", site=np.arange(1_000) // 100).rows.used == 300
    for rows in (90, 100):
        few = drawn(y, rows, groups="site", site=np.arange(1_000) // 20).rows.used
        assert abs(few - rows) <= 20
    with pytest.raises(OptionError, match="at least two clusters"):
        drawn(np.tile([0, 1], 300), 20, groups="site", site=np.repeat([0, 1], 300))


@pytest.mark.parametrize("rows", [None, 60])
def test_levels_of_all_rows_are_known(rows):
    frame = pd.DataFrame({"y": np.arange(90.0) % 7, "g": ["b", "c"] * 45, "w": 1})
    frame.loc[80:, "g"], frame.loc[80:84, "y"], frame.loc[85:, "w"] = "a", np.nan, 0
    frame["n"] = ["2", "3"] * 40 + ["x"] * 10
    asked = Request("y ~ g + I(g < 'c') + C(n)", weights="w", na=["x"])
    found = prepare(asked, frame, rows=rows)
    assert found.spec["g"].factors[0].levels == ("b", "c", "a")
    assert found.spec["g"].n_occurring == 2
    assert found.spec["C(n)"].factors[0].levels == (2, 3)
    assert found.spec.encode(frame.tail(2))[-1].tolist() == [3, 3]


def test_rows_that_are_never_drawn_and_samples_that_are_none():
    y = np.where(np.arange(500) % 5 == 0, np.nan, np.arange(500) % 2)
    weight = (np.arange(500) % 3).astype(float) * 2.3
    frame = pd.DataFrame({"y": y, "x": np.arange(500) % 7, "w": weight})
    found = prepare(Request("y ~ x", weights="w"), frame, rows=50, seed=3)
    rows = found.response.rows
    assert (weight[rows] > 0).all()
    assert not np.isnan(y[rows]).any()
    assert (found.weight == weight[rows]).all()
    assert found.rows.used == 50
    assert found.rows.total == 500
    y = np.arange(100) % 2
    assert drawn(y, 100).sample is None
    assert drawn(y, None).sample is None
    assert drawn(y, 99).rows.not_drawn == 1
    with pytest.raises(DataError, match="Draw more with `rows=`"):
        drawn(np.where(np.arange(10_000) == 7, 1.0, 5.0), 20)
    found = drawn(np.arange(60) % 20, 30)
    place, _ = sampled(found.response, None, None, 30, 1)
    assert len(place) == 30


FRAME = pd.DataFrame(
    {
        "time": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "event": [0, 1, 0, 1, 0, 1],
        "label": ["a", "b", "a", "c", "c", "a"], "x": np.arange(6.0),
    }
)  # fmt: skip
ROWS = np.arange(6)


def problem(left, frame=FRAME):
    return prepare(Request(f"{left} ~ x"), frame).problem


@pytest.mark.parametrize(
    ("left", "labels"),
    [("Surv(time, event)", [0, 1, 0, 1, 0, 1]), ("label", [0, 1, 0, 2, 2, 0]), ("time", None)],
)
def test_rows_are_spread_by_event_or_class(left, labels):
    found = labels_of(problem(left), ROWS)
    assert (None if found is None else found.tolist()) == labels


def test_a_group_with_an_event_counts_by_the_rarer_kind():
    groups = np.array([0, 0, 1, 1, 2, 3])
    units = units_of(problem("Surv(time, event)"), row_weights(np.ones(6), groups))
    # Of two kinds that are as rare the first is taken for the rarest.
    assert units.of_row.tolist() == [0, 0, 1, 1, 2, 3]
    rare = units_of(
        problem("Surv(time, event)", FRAME.assign(event=[0, 1, 0, 0, 0, 1])),
        row_weights(np.ones(6), groups),
    )
    assert rare.stratum.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("left", "rows", "expected"),
    [
        ("Surv(time, event)", [0, 1], False),  # the censored row left before the event
        ("Surv(time, event)", [1, 2], True),
        ("Surv(time, event)", [0, 2, 4], False),
        ("Surv(time, event)", [5], False),
        ("label", [0, 2], False),
        ("label", [0, 1], True),
        ("time", [0, 0], False),
        ("time", [0, 1], True),
    ],
)
def test_what_there_is_to_explain(left, rows, expected):
    assert varies(problem(left), np.array(rows)) is expected


@pytest.mark.parametrize("argument", ["weights", "offset", "folds", "fold_groups"])
def test_a_series_in_another_order_than_the_rows_is_refused(argument):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), [f"r{i}" for i in range(40)], list("aby"))
    given = pd.Series(np.repeat(np.arange(1, 11), 4), frame.index)
    options = {"k": "best", "seed": 1, "progress": False, "folds": 2, argument: given}

    def select(own):
        return by_mrmr("y ~ a + b", frame, model="glm", **options | {argument: own})

    fit = select(given)
    calls = [
        select,
        lambda own: treeselect.compare(
            "y ~ a + b", frame, methods=["mrmr"], **options | {argument: own}
        ),
    ]
    if argument == "offset":
        calls += [
            lambda own: fit.predict(frame, offset=own),
            lambda own: fit.refit("glm").predict(frame, offset=own),
            lambda own: fit.with_data(frame, offset=own),
        ]
    elif argument.startswith("fold"):
        calls.append(lambda own: fit.performance(**{"folds": 2, argument: own}))
    for call in calls:
        call(given)
        call(given.reset_index(drop=True))
        with pytest.raises(OptionError, match=f"`{argument}` must be in the order of the rows"):
            call(given[::-1])
