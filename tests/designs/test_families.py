"""Families and their scores; times to an event as a response."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from statsmodels.duration.survfunc import SurvfuncRight

import treeselect
from treeselect.algorithms.task import Task
from treeselect.designs.families import BINOMIAL, COX, GAUSSIAN, POISSON, family_of, multinomial
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.survival import are_times, strata_of, tells_risks
from treeselect.designs.weights import row_weights
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM
from treeselect.errors import DataError, NewDataError, OptionError


@pytest.fixture(scope="module")
def flowers() -> pd.DataFrame:
    """Three kinds, by two of four columns and a factor."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(450, 4)), columns=list("abcd"))
    data["soil"] = rng.choice(["clay", "sand"], size=450)
    score = np.stack([3 * data["a"], 3 * data["b"], 2.5 * (data["soil"] == "sand")], axis=1)
    data["kind"] = np.array(["iris", "lily", "rose"])[(score + rng.gumbel(size=(450, 3))).argmax(1)]
    data.loc[::17, "c"] = np.nan
    return data


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    """Counts that rise with `a` and with the time that was watched."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
    data["time"] = rng.uniform(0.5, 4, size=500)
    data["log_time"] = np.log(data["time"])
    data["n"] = rng.poisson(data["time"] * np.exp(data["a"]))
    return data


def test_three_classes_have_a_probability_each(flowers):
    three = treeselect.select(
        "kind ~ .", flowers, method="gbfs", k=3, seed=1, n_trees=30, newton=True, resamples=2
    )
    assert set(three.selected) == {"a", "b", "soil"}
    assert three.family == "multinomial"
    new = flowers.iloc[5:50].set_index(np.arange(45) * 2)
    shares = three.predict(new)
    assert list(shares.columns) == ["iris", "lily", "rose"]
    assert shares.index.tolist() == new.index.tolist()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    likely = three.predict(new, "class")
    assert likely.tolist() == shares.idxmax(axis=1).tolist()
    assert np.mean(likely == new["kind"]) > 0.7
    np.testing.assert_allclose(np.exp(three.predict(new, "link")), np.maximum(shares, 1e-6))
    assert three.augment(new)["fitted"].tolist() == likely.tolist()


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL, POISSON, multinomial(3)])
def test_rows_with_one_value_have_no_score_and_weight_0_leaves_nothing(family):
    y, weight = np.array([1.0, 1.0, 0.0]), np.array([1, 1, 0])
    prediction = np.full((3, 3), 1 / 3) if family.n_classes > 2 else np.full(3, 0.5)
    assert np.isnan(family.score(y, prediction, weight))
    assert np.isfinite(family.score(y, prediction, np.ones(3)))
    # Not even rounding, nor a label that only they have.
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 30).astype(float)
    prediction = rng.uniform(0.1, 0.9, (30, 3) if family.n_classes > 2 else 30)
    weight = np.where(np.arange(30) % 3 > 0, rng.random(30), 0.0)
    y[0] = max(family.n_classes - 1, 1)
    there = weight > 0
    assert family.score(y, prediction, weight) == family.score(
        y[there], prediction[there], weight[there]
    )


def test_nothing_selected_predicts_the_shares_of_the_classes(flowers):
    fit = treeselect.select("kind ~ c", flowers, method="rrf", lam=0.0, n_trees=5, seed=1)
    assert fit.selected == ()
    expected = flowers["kind"].value_counts(normalize=True).sort_index()
    np.testing.assert_allclose(fit.predict(flowers).iloc[0], expected)


@pytest.mark.parametrize("method", ["controlburn", "rrf", "rboost", "gbfs"])
def test_a_class_without_rows_in_a_resample_is_no_obstacle(flowers, method):
    few_rows = np.arange(150) < 2
    rare = flowers[:150].assign(kind=np.where(few_rows, "tulip", flowers["kind"][:150]))
    few = {"n_trees": 5} | ({"forests": 1} if method == "controlburn" else {})
    fit = treeselect.select("kind ~ .", rare, method=method, k=2, seed=1, **few)
    problem = fit.data.design.problem_for(fit.search.method)
    task = Task(problem, row_weights(np.where(few_rows, 0, 1)), max_size=2, seed=1)
    steps = fit.search.method.path(task)
    assert all(np.isfinite(step.train_score) for step in steps)
    model = fit.search.method.final_model(task, steps[-1])
    assert not model.predict(problem)[:, 3].any()
    assert fit.resample(2).stability.n_resamples == 2


def test_strata_and_families_that_do_not_go_together(flowers):
    with pytest.raises(
        DataError, match=r"of the same stratum at any of 4 events.\n  There are 6 strata in 6 rows"
    ):
        prepared("Surv(time, dead) ~ sex + strata(x)")
    with pytest.raises(
        OptionError, match=r'needs a single column on the left.*\n.*\n?.*family="cox"'
    ):
        prepared("Surv(time, dead) ~ x", family="binomial")
    with pytest.raises(OptionError, match=r"needs times to an event.\n.*Write `Surv"):
        prepared("dead ~ x", family="cox")
    with pytest.raises(OptionError, match="`offset` needs a single linear predictor"):
        treeselect.select("kind ~ a", flowers, method="rrf", k=1, offset="b")


@pytest.mark.parametrize("method", ["controlburn", "rrf", "rboost", "gbfs"])
def test_counts_with_and_without_an_exposure(visits, method):
    plain = treeselect.select(
        "n ~ a + b + c + time", visits, family="poisson", method=method, k=2, seed=1, n_trees=40
    )
    assert set(plain.selected) == {"a", "time"}
    assert (plain.predict(visits) > 0).all()
    known = treeselect.select(
        "n ~ a + b + c", visits, family="poisson", method=method, k=1, seed=1, n_trees=40,
        offset="log_time",
    )  # fmt: skip
    assert known.selected == ("a",)
    twice = visits.assign(log_time=visits["log_time"] + np.log(2))
    np.testing.assert_allclose(known.predict(twice), 2 * known.predict(visits))
    np.testing.assert_allclose(np.exp(known.predict(visits, "link")), known.predict(visits))
    explained = POISSON.score(visits["n"].to_numpy(float), known.predict(visits).to_numpy(),
                              np.ones(500))  # fmt: skip
    assert explained > 0.5


def test_families_by_name_score_by_the_definition():
    rng = np.random.default_rng(0)
    y, shares = rng.integers(0, 3, size=50), rng.dirichlet(np.ones(3), size=50)
    weight = rng.random(50)
    base = np.tile(np.bincount(y, weight) / weight.sum(), (50, 1))
    expected = 1 - log_loss(y, shares, sample_weight=weight) / log_loss(
        y, base, sample_weight=weight
    )
    assert multinomial(3).score(y * 1.0, shares, weight) == pytest.approx(expected)
    counts, mean = rng.poisson(3, size=50) * 1.0, rng.uniform(1, 5, size=50)

    def deviance(m):
        part = np.where(counts > 0, counts * np.log(np.where(counts > 0, counts, 1) / m), 0)
        return 2 * np.average(part - counts + m, weights=weight)

    centre = np.full(50, np.average(counts, weights=weight))
    expected = 1 - deviance(mean) / deviance(centre)
    assert POISSON.score(counts, mean, weight) == pytest.approx(expected)
    assert family_of("multinomial", 4).n_classes == 4
    assert family_of("poisson", 0) is POISSON
    for name, n in (("multinomial", 2), ("binomial", 3), ("gaussian", 2), ("normal", 0)):
        with pytest.raises(KeyError):
            family_of(name, n)


# --- times to an event: their four columns, strata and figures, and what times can't be -----------


FRAME = pd.DataFrame(
    {
        "time": [5.0, 3.0, 3.0, 8.0, 0.0, 2.0],
        "dead": [1, 0, 1, 0, 1, 1],
        "status": ["dead", "alive", "dead", "left", "dead", "dead"],
        "begin": [0.0, 1.0, 0.0, 5.0, 0.0, 1.0],
        "site": ["York", "Bath", "York", "Bath", "York", "Bath"],
        "sex": ["f", "f", "m", "m", "m", "f"],
        "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)


def prepared(formula, frame=FRAME, **options):
    return prepare(Request(formula, **options), frame)


def test_the_columns_of_times_and_the_same_data_again():
    response = prepared("Surv(time, dead) ~ x").response
    assert response.family is COX is family_of("cox", 0)
    assert -800 < COX.link(np.array([0.0]))[0] < -700  # a risk too small for a number
    assert response.y.shape == (6, 4)
    assert (response.y[:, [START, STRATUM]] == [-1, 0]).all()
    assert response.y[:, STOP].tolist() == FRAME["time"].tolist()
    assert response.y[:, EVENT].tolist() == FRAME["dead"].tolist()
    assert response.family_text == "cox (time to event); Cox partial likelihood"
    assert (response.classes, response.n_dropped) == ((), 0)
    assert prepared("Surv(time, dead) ~ x", family="cox").response.reason == "as specified"
    frame = FRAME.assign(w=[1, 1, 2, 0, 1, 1], time=[*FRAME["time"][:3], -1.0, *FRAME["time"][4:]])
    data = prepared("Surv(time, dead) ~ x", frame, weights="w")
    assert data.response.rows.tolist() == [0, 1, 2, 2, 4, 5]
    with pytest.raises(DataError, match=r"at least 0.\n(.*\n)*.*1 row with weight"):
        prepared("Surv(time, dead) ~ x", frame.assign(time=-1.0), weights="w")
    frame = FRAME.assign(stop=FRAME["time"] + 2)
    data = prepared("Surv(begin, stop, dead) ~ x + strata(site)", frame)
    assert (data.with_data(frame).response.y == data.response.y).all()
    with pytest.raises(NewDataError, match="different times, events or strata"):
        data.with_data(frame.assign(site=frame["sex"]))
    with pytest.raises(NewDataError, match="Missing: `site`"):
        data.with_data(frame.drop(columns="site"))


@pytest.mark.parametrize(
    "event",
    [
        FRAME["dead"], FRAME["dead"] == 1, FRAME["dead"].astype(float),
        (FRAME["dead"] == 1).astype("boolean"), FRAME["dead"].astype("Int8"),
        (FRAME["dead"] == 1).astype(object),
    ],
)  # fmt: skip
def test_events_as_numbers_and_truth_values(event):
    response = prepared("Surv(time, dead) ~ x", FRAME.assign(dead=event)).response
    assert response.y[:, EVENT].tolist() == [1, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("kind", [object, "category", "string"])
def test_events_that_are_named(kind):
    frame = FRAME.assign(status=FRAME["status"].astype(kind), code=FRAME["dead"] + 1)
    for left in ("Surv(time, status == 'dead')", "Surv(time, code == 2)", "Surv(time, code > 1)"):
        assert prepared(f"{left} ~ x", frame).response.y[:, EVENT].tolist() == [1, 0, 1, 0, 1, 1]


def test_starts_strata_and_missing_values():
    frame = FRAME.assign(
        site=[None, *FRAME["site"][1:]],
        dead=FRAME["dead"].where(FRAME["x"] != 2),
        stop=FRAME.time + 2,
    )
    data = prepared("Surv(begin, stop, dead) ~ . - status - time + strata(site, sex == 'm')", frame)
    response, known = data.response, data.response.follow_up
    assert [spec.term.name for spec in data.spec.terms] == ["sex", "x"]
    assert response.parts_text == "the response or a stratum"
    assert (response.rows.tolist(), data.rows.no_response) == ([2, 3, 4, 5], 2)
    # A start at 0 is no late one: nobody has an event before.
    assert response.y.tolist() == [[-1, 5, 1, 2], [5, 10, 0, 1], [-1, 2, 1, 2], [1, 4, 1, 0]]
    assert known.strata == ("sex == 'm'", "site")
    assert known.levels == ((False, "Bath"), (True, "Bath"), (True, "York"))
    assert (known.time, known.start, known.event) == ("stop", "begin", "dead")
    assert (known.n_rows, known.n_events, known.median) == (4, 3, None)
    assert response.in_linear_models == f"{response.name}; strata: sex == 'm', site"
    # New data are told their strata by the levels of the fit.
    new = frame.iloc[[5, 0, 2]]
    assert strata_of(known, data.spec.formula, new).tolist() == [0, -1, 2]
    with pytest.raises(NewDataError, match="New: `False, Leeds`"):
        strata_of(known, data.spec.formula, new.assign(site="Leeds", sex="f"))
    with pytest.raises(NewDataError, match="Missing: `site`"):
        strata_of(known, data.spec.formula, new.drop(columns="site"))


def test_strata_that_compare_levels_have_the_order_of_the_fit(tmp_path):
    rng = np.random.default_rng(0)
    levels, data = ["low", "mid", "high"], pd.DataFrame({"x": rng.normal(size=60), "dead": 1})
    data["time"], stage = rng.exponential(size=60), rng.choice(levels, 60)
    data["stage"] = pd.Categorical(stage, levels, ordered=True)
    formula = "Surv(time, dead) ~ x + strata(stage > 'low')"
    fit = treeselect.select(formula, data, k=1, seed=1, method="mrmr", progress=False)
    asked = {"type": "survival", "times": [0.5]}
    for own in (fit, treeselect.load(fit.save(tmp_path / "m"))):
        found = own.predict(data.assign(stage=stage), **asked)
        pd.testing.assert_frame_equal(found, fit.predict(data, **asked))


@pytest.mark.parametrize(
    ("left", "changes", "said"),
    [
        ("Surv(time, status)", {},
         r"Found: text in `status`: .*\n.*Surv\(time, status == 'left'\)"),
        ("Surv(time, site)", {"site": pd.Categorical(FRAME["site"])}, "categories in `site`"),
        ("Surv(time, code)", {"code": FRAME["dead"] + 1}, r"code == 2\)`; .*how R reads 1 and 2"),
        ("Surv(time, code)", {"code": FRAME["x"] % 3}, r"0, 1, 2 in `code`.\n.*code == 2\)`"),
        ("Surv(time, code)", {"code": np.linspace(2, 3, 6)}, r"code == 3\)`"),
        ("Surv(dead, x)", {}, r"seem to be swapped: write `Surv\(x, dead\)`"),
        ("Surv(time, dead)", {"dead": 0}, "must have events.\n.*none in 6 rows"),
        ("Surv(time, status == 'Dead')", {}, "Values of `status`: `alive`, `dead`, `left`"),
        ("Surv(time, dead)", {"time": 3.0}, "must vary.\n.*3 in every row"),
        ("Surv(time, dead)", {"time": [5, -3, -3, 8, 0, 2]}, "-3 in `time`, in row 1.*2 such rows"),
        ("Surv(time - 1, dead)", {}, "-1 in `time - 1`, in row 4"),
        ("Surv(time, dead)", {"time": FRAME["time"] * 1e75}, "at most 1e.70"),
        ("Surv(time, dead)", {"time": FRAME["time"].astype(str)}, "text in `time`"),
        ("Surv(time, dead)", {"time": FRAME["time"] > 2}, "logical values in `time`"),
        ("Surv(time, dead)", {"time": pd.to_timedelta(FRAME["time"], "D")},
         r"spans.*\n.*\.dt\.days"),
        ("Surv(time, dead)", {"time": pd.to_datetime(FRAME["time"], unit="D")},
         r"dates.*\n.*begin"),
        ("Surv(time, begin, dead)", {},
         r"start 10 and stop 0 in row 0 .*, 6 such rows.*\n.*order of the arguments"),
        ("Surv(begin, time, dead)", {}, r"start 0 and stop 0 in row 4 .*, 1 such row.*\n.*Correct"),
        ("Surv(time, dead)", {"dead": np.nan}, "must have non-missing values"),
        ("Surv(time, dead)", {"time": [0, 1, 1, 0, 1, 1]}, "no such row at any of 4 events"),
    ],
)  # fmt: skip
def test_what_times_can_not_be(left, changes, said):
    frame = FRAME.assign(**changes)
    if said.startswith("start 10"):
        frame = frame.assign(time=FRAME["time"] + 5)
    if "any of 4" in said:
        frame = frame.assign(dead=[0, 1, 1, 0, 1, 1])
    with pytest.raises(DataError, match=said):
        prepared(f"{left} ~ sex", frame)


times = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(0, 1), st.integers(0, 1)),
    min_size=1,
    max_size=12,
).map(lambda rows: np.array([(a - 1, a + b - 1, e, s) for a, b, e, s in rows], dtype=float))


@settings(deadline=None, max_examples=50)
@given(times)
def test_rows_that_tell_risks_by_their_definition(y):
    """Whoever leaves at the time of an event outlives it."""
    expected = any(
        event == 1
        and other[STRATUM] == stratum
        and other[START] < stop <= other[STOP]
        and not (other[STOP] == stop and other[EVENT])
        for _, stop, event, stratum in y
        for other in y
    )
    assert tells_risks(y) == expected


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.booleans(), st.integers(1, 3)), min_size=3, max_size=20
    )
)
def test_the_median_follow_up_is_that_of_the_reversed_curve(rows):
    frame = pd.DataFrame(rows, columns=["time", "dead", "w"]).assign(x=1.0)
    try:
        found = prepared("Surv(time, dead) ~ x", frame, weights="w").response.follow_up.median
    except DataError:
        return
    written_out = frame.loc[frame.index.repeat(frame["w"])]
    curve = SurvfuncRight(written_out["time"], 1.0 - written_out["dead"])
    below = curve.surv_times[curve.surv_prob <= 0.5 + 1e-9]
    assert found == (below[0] if len(below) else None)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (START, 0.0), (START, -2.0), (STOP, -1.0), (EVENT, 0.5), (EVENT, 0.0), (EVENT, 1.0),
        (STRATUM, 1.0), (STRATUM, -1.0), (STRATUM, 0.5),
    ],
)  # fmt: skip
def test_arrays_that_are_no_times(column, value):
    response = prepared("Surv(time, dead) ~ x").response
    assert are_times(response.y, np.ones(len(response.y)), response.follow_up)
    changed = response.y.copy()
    changed[0 if value == 0 else 1, column] = value
    assert not are_times(changed, np.ones(len(changed)), response.follow_up)
