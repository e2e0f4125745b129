"""Times to an event: their four columns, strata and figures, and what times can't be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from treeselect.designs.families import COX, family_of
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.survival import are_times, strata_of, tells_risks
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM
from treeselect.errors import DataError, NewDataError, OptionError

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


def test_the_columns_of_times():
    response = prepared("Surv(time, dead) ~ x").response
    assert response.family is COX is family_of("cox", 0)
    assert response.y.shape == (6, 4)
    assert (response.y[:, [START, STRATUM]] == [-1, 0]).all()
    assert response.y[:, STOP].tolist() == FRAME["time"].tolist()
    assert response.y[:, EVENT].tolist() == FRAME["dead"].tolist()
    assert response.family_text == "cox (time to event); Cox partial likelihood"
    assert (response.classes, response.n_dropped) == ((), 0)
    assert prepared("Surv(time, dead) ~ x", family="cox").response.reason == "as specified"


@pytest.mark.parametrize(
    "event",
    [
        FRAME["dead"],
        FRAME["dead"] == 1,
        FRAME["dead"].astype(float),
        (FRAME["dead"] == 1).astype("boolean"),
        FRAME["dead"].astype("Int8"),
        (FRAME["dead"] == 1).astype(object),
    ],
)
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


def test_rows_without_weight_are_not_there():
    frame = FRAME.assign(w=[1, 1, 2, 0, 1, 1], time=[*FRAME["time"][:3], -1.0, *FRAME["time"][4:]])
    data = prepared("Surv(time, dead) ~ x", frame, weights="w")
    assert data.response.rows.tolist() == [0, 1, 2, 2, 4, 5]
    with pytest.raises(DataError, match=r"at least 0.\n(.*\n)*.*1 row with weight"):
        prepared("Surv(time, dead) ~ x", frame.assign(time=-1.0), weights="w")


def test_the_same_data_again_and_others():
    frame = FRAME.assign(stop=FRAME["time"] + 2)
    data = prepared("Surv(begin, stop, dead) ~ x + strata(site)", frame)
    assert (data.with_data(frame).response.y == data.response.y).all()
    with pytest.raises(NewDataError, match="different times, events or strata"):
        data.with_data(frame.assign(site=frame["sex"]))
    with pytest.raises(NewDataError, match="Missing: `site`"):
        data.with_data(frame.drop(columns="site"))


@pytest.mark.parametrize(
    ("left", "changes", "said"),
    [
        (
            "Surv(time, status)",
            {},
            r"Found: text in `status`: .*\n.*Surv\(time, status == 'left'\)",
        ),
        ("Surv(time, site)", {"site": pd.Categorical(FRAME["site"])}, "categories in `site`"),
        ("Surv(time, code)", {"code": FRAME["dead"] + 1}, r"code == 2\)`; .*how R reads 1 and 2"),
        ("Surv(time, code)", {"code": FRAME["x"] % 3}, r"0, 1, 2 in `code`.\n.*code == 2\)`"),
        ("Surv(time, code)", {"code": np.linspace(2, 3, 6)}, r"code == 3\)`"),
        ("Surv(dead, x)", {}, r"seem to be swapped: write `Surv\(x, dead\)`"),
        ("Surv(time, dead)", {"dead": 0}, "must have events.\n.*none in 6 rows"),
        ("Surv(time, status == 'Dead')", {}, "Values of `status`: `alive`, `dead`, `left`"),
        ("Surv(time, x == 7)", {}, "Values of `x`: `1`, `2`, `3`, `4`, `5`, `6`"),
        ("Surv(time, dead)", {"time": 3.0}, "must vary.\n.*3 in every row"),
        ("Surv(time, dead)", {"time": [5, -3, -3, 8, 0, 2]}, "-3 in `time`, in row 1.*2 such rows"),
        ("Surv(time - 1, dead)", {}, "-1 in `time - 1`, in row 4"),
        ("Surv(time, dead)", {"time": FRAME["time"] * 1e75}, "at most 1e.70"),
        ("Surv(time, dead)", {"time": [np.inf, 1, 2, 3, 4, 5]}, "must be finite.\n.*1 infinite"),
        ("Surv(time, dead)", {"time": FRAME["time"].astype(str)}, "text in `time`"),
        ("Surv(time, dead)", {"time": FRAME["time"] > 2}, "logical values in `time`"),
        (
            "Surv(time, dead)",
            {"time": pd.to_timedelta(FRAME["time"], "D")},
            r"spans.*\n.*\.dt\.days",
        ),
        (
            "Surv(time, dead)",
            {"time": pd.to_datetime(FRAME["time"], unit="D")},
            r"dates.*\n.*begin",
        ),
        (
            "Surv(time, begin, dead)",
            {},
            r"start 10 and stop 0 in row 0 .*, 6 such rows.*\n.*order of the arguments",
        ),
        ("Surv(begin, time, dead)", {}, r"start 0 and stop 0 in row 4 .*, 1 such row.*\n.*Correct"),
        ("Surv(time, dead)", {"dead": np.nan}, "must have non-missing values"),
        ("Surv(time, dead)", {"time": [0, 1, 1, 0, 1, 1]}, "no such row at any of 4 events"),
    ],
)
def test_what_times_can_not_be(left, changes, said):
    frame = FRAME.assign(**changes)
    if said.startswith("start 10"):
        frame = frame.assign(time=FRAME["time"] + 5)
    if "any of 4" in said:
        frame = frame.assign(dead=[0, 1, 1, 0, 1, 1])
    with pytest.raises(DataError, match=said):
        prepared(f"{left} ~ sex", frame)


def test_a_stratum_for_each_row():
    with pytest.raises(
        DataError, match=r"of the same stratum at any of 4 events.\n  There are 6 strata in 6 rows"
    ):
        prepared("Surv(time, dead) ~ sex + strata(x)")


def test_families_and_responses_that_do_not_go_together():
    with pytest.raises(
        OptionError, match=r'needs a single column on the left.*\n.*\n?.*family="cox"'
    ):
        prepared("Surv(time, dead) ~ x", family="binomial")
    with pytest.raises(OptionError, match=r"needs times to an event.\n.*Write `Surv"):
        prepared("dead ~ x", family="cox")


# --- figures --------------------------------------------------------------------------------------


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
