"""Folds by number, splitter, fold numbers and groups; and what can't be split."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

import treeselect
from treeselect.arguments.checks import MOST_FOLDS
from treeselect.designs.families import area_under_curve, r_squared
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.weights import row_weights
from treeselect.engine.rounding import levels
from treeselect.engine.survival.times import EVENT
from treeselect.errors import OptionError
from treeselect.resampling.choosing import one_standard_error_size
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.folds import (
    Folds,
    _balanced,
    _shuffled,
    mean_repeats,
    read_folds,
    split_rows,
)

QUICK = {"method": "mrmr", "seed": 1}
N = 400
CLUSTERS = np.repeat(np.arange(40), 10)


@pytest.fixture(scope="module")
def problem(fitted):
    return fitted.data.design.problem


@pytest.fixture(scope="module")
def numeric(cross_validated):
    return cross_validated.data.design.problem


def splits(problem, folds=5, repeats=1, groups=None, weight=None, seed=1):
    frame = pd.DataFrame(index=range(N))
    weight = np.ones(N, dtype=np.int64) if weight is None else weight
    return split_rows(
        problem, row_weights(weight, groups), read_folds(folds, repeats, groups, len(frame)),
        seed=seed,
    )  # fmt: skip


def test_repeats_do_not_shrink_the_standard_error_as_folds_do():
    """Two repeats of two folds; at size 2 the deviation of (.6, .8, .6, .8) is 0.11547."""
    scores = np.array([[0.5, 0.62, 0.6], [0.5, 0.62, 0.8], [0.5, 0.62, 0.6], [0.5, 0.62, 0.8]])
    once, twice = ScoreBySize(scores), ScoreBySize(scores, repeats=2)
    assert once.standard_error[2] == pytest.approx(0.11547 / np.sqrt(4), abs=1e-5)
    assert twice.standard_error[2] == pytest.approx(0.11547 / np.sqrt(2), abs=1e-5)
    # 0.7 - 0.0577 = 0.642 leaves size 1 out; 0.7 - 0.0816 = 0.618 lets it in.
    assert one_standard_error_size([0, 1, 2], once) == 2
    assert one_standard_error_size([0, 1, 2], twice) == 1


@pytest.mark.parametrize(
    ("folds", "repeats", "n_folds", "expected"),
    [
        (5, 1, 5, 1),
        (5, 3, 15, 3),
        (RepeatedKFold(n_splits=4, n_repeats=2, random_state=1), 1, 8, 2),
        (TimeSeriesSplit(4), 1, 4, 1),
        (np.arange(N) % 3, 1, 3, 1),
    ],
)
def test_how_often_a_row_is_held_out(problem, folds, repeats, n_folds, expected):
    found = splits(problem, folds, repeats)
    assert len(found) == n_folds
    assert mean_repeats(found) == expected


def test_numbers_of_folds_hold_rows_with_weight_out_once_per_repeat(problem):
    found = splits(problem, 4, repeats=2)
    for repeat in (found[:4], found[4:]):
        assert np.array_equal(np.sort(np.concatenate([s.test for s in repeat])), np.arange(N))
        shares = [problem.y[s.test].mean() for s in repeat]
        assert max(shares) - min(shares) < 0.02
    assert not np.array_equal(found[0].test, found[4].test)
    assert len({splits(problem, 4, seed=s)[0].test.tobytes() for s in range(100)}) == 100
    weight = np.ones(N, dtype=np.int64)
    weight[:40] = 0
    for s in splits(problem, TimeSeriesSplit(3), weight=weight):
        assert s.train.min() == 40
        assert s.test.min() > 40


@pytest.mark.parametrize("name", ["problem", "numeric"])
@pytest.mark.parametrize("folds", [4, GroupKFold(4), LeaveOneGroupOut()])
def test_groups_are_never_split(name, folds, request):
    found = splits(request.getfixturevalue(name), folds, groups=CLUSTERS)
    for s in found:
        assert not set(CLUSTERS[s.train]) & set(CLUSTERS[s.test])
    assert np.array_equal(np.sort(np.concatenate([s.test for s in found])), np.arange(N))


def test_every_fit_of_a_time_series_sees_the_past_only(mixed, monkeypatch):
    """Rows that have weight when a path is made: up to the start of each fold, then all."""
    seen, path = [], treeselect.MRMR.path

    def recorded(self, task):
        seen.append(task.weights.rows)
        return path(self, task)

    monkeypatch.setattr(treeselect.MRMR, "path", recorded)
    data = mixed.assign(dose=mixed["dose"].mask(np.arange(N) < 40))  # rows 40, 41, ... are used
    fit = treeselect.select("dose ~ signal + noise", data, folds=TimeSeriesSplit(3), **QUICK)
    assert [rows.tolist() for rows in seen] == [list(range(n)) for n in (90, 180, 270, 360)]
    assert "cross-validation by TimeSeriesSplit (3 folds)" in fit._fit.call.rule
    assert "folds=TimeSeriesSplit(" in fit._fit.call.text


def test_splitters_draw_by_the_seed_and_negative_fold_numbers_always_train(problem):
    fold = np.arange(N) % 3 - 1
    found = splits(problem, fold)
    assert [sorted(set(fold[s.test])) for s in found] == [[0], [1]]
    assert all((np.isin(np.flatnonzero(fold == -1), s.train)).all() for s in found)
    predefined = splits(problem, PredefinedSplit(fold))
    assert all(np.array_equal(a.test, b.test) for a, b in zip(found, predefined, strict=True))
    # 100 splits that hold out a fifth each are not worth 100 folds.
    found = splits(problem, ShuffleSplit(100, test_size=0.2, random_state=1))
    assert mean_repeats(found) == pytest.approx(20, rel=1e-6)
    free = ShuffleSplit(3)
    first, again = (splits(problem, free, seed=s) for s in (1, 1))
    other = splits(problem, free, seed=2)
    own = splits(problem, ShuffleSplit(3, random_state=5), seed=1)
    state = ShuffleSplit(3, random_state=np.random.RandomState(5))
    stated = [splits(problem, state, seed=s) for s in (1, 2)]  # its draws do not move it on
    same = [(first, again), *((own, each) for each in stated)]
    assert all(np.array_equal(a.test, b.test) for p in same for a, b in zip(*p, strict=True))
    assert not np.array_equal(first[0].test, other[0].test)
    assert not np.array_equal(first[0].test, own[0].test)
    assert free.random_state is None

    class Telling(KFold):
        def split(self, *rows):
            warnings.warn("of the splitter", stacklevel=1)
            return super().split(*rows)

    with pytest.warns(UserWarning, match="of the splitter"):
        splits(problem, Telling(3))


def test_the_column_of_the_groups_is_hidden_from_the_dot(mixed):
    data = mixed[["died", "signal", "noise"]].assign(ward=[f"w{c}" for c in CLUSTERS])
    fit = treeselect.select("died ~ .", data, fold_groups="ward", repeats=2, **QUICK)
    assert "ward" not in fit.tidy()["term"].tolist()
    assert "of whole ward clusters repeated 2 times" in fit._fit.call.rule
    assert fit.search.scores.repeats == 2
    assert len(fit.search.scores.scores) == 10
    assert "Rows with the same `ward` stay together" in fit.summary().as_text().replace("\n  ", " ")
    array = treeselect.select("died ~ . - ward", data, fold_groups=CLUSTERS, repeats=2, **QUICK)
    assert np.array_equal(array.search.scores.scores, fit.search.scores.scores)


class Thrice(KFold):
    """Three folds of the same rows."""

    def __init__(self, train, test):
        super().__init__(3)
        self.train, self.test = train, test

    def split(self, X, y=None, groups=None):
        return [(np.array(self.train, dtype=int), np.array(self.test, dtype=int))] * 3


MISSING = np.where(np.arange(N) == 7, None, CLUSTERS.astype(object))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"folds": MOST_FOLDS + 1}, f"at most {MOST_FOLDS:,}"),
        ({"folds": np.zeros(3)}, r"array of shape \(3,\) for 400 rows"),
        ({"folds": np.full(N, 0.5)}, "0.5, which is not a whole number"),
        ({"folds": np.zeros(N)}, "`folds` must give at least two folds.\n  Found: 1"),
        ({"folds": KFold(N + 1)}, "`folds` must be a splitter that can split the 400 rows"),
        ({"folds": Thrice([0, 1], [])}, "no held-out rows in fold 1 of 3"),
        ({"folds": Thrice([], [0, 1])}, "no training rows in fold 1 of 3"),
        ({"folds": Thrice([0, 1], [1])}, "`folds` must not train on held-out rows"),
        ({"folds": ShuffleSplit(1, random_state=1)}, "`folds` must give at least two folds"),
        ({"folds": LeaveOneOut()}, "varies in every fold"),
        ({"folds": LeaveOneGroupOut()}, "LeaveOneGroupOut says: .*groups"),
        ({"folds": KFold(3), "repeats": 2}, "`repeats` needs a number of folds"),
        ({"fold_groups": np.zeros(N)}, "`fold_groups` must have at least two groups"),
        ({"fold_groups": CLUSTERS[:9]}, "one value per row, 400.\n  Found: 9 values"),
        ({"fold_groups": np.ones((N, 2))}, "`fold_groups` must have one label per row"),
        ({"fold_groups": MISSING}, "1 row in which it is missing"),
        ({"fold_groups": "sit"}, "among the columns.\n  Did you mean `site`"),
        (
            {"fold_groups": CLUSTERS, "folds": KFold(7)},
            "divide the clusters.*\n.*Give a number of folds",
        ),
    ],
)
def test_what_can_not_be_split(mixed, arguments, said):
    with pytest.raises(OptionError, match=f"(?s){said}"):
        treeselect.select("dose ~ signal + noise", mixed, **QUICK, **arguments)


def test_groups_that_hold_one_class_each_and_folds_of_some_rows(mixed):
    groups = np.where(mixed["died"], 0, 1)
    with pytest.raises(OptionError, match="of every class in every training set"):
        treeselect.select("died ~ signal", mixed, folds=2, fold_groups=groups, **QUICK)
    folds = Folds(np.arange(4), groups_name=True).for_rows(np.array([1, 3]))
    assert folds.folds.tolist() == [1, 3]


# --- times to an event ---------------------------------------------------------------------------


def timed(n_events=20, n=60):
    """Times that rise from row to row, the first of which are events."""
    frame = pd.DataFrame({"time": np.arange(1.0, n + 1), "x": 1.0, "dead": np.arange(n) < n_events})
    return prepare(Request("Surv(time, dead) ~ x"), frame).problem


def events(problem, found):
    return [int(problem.y[split.test, EVENT].sum()) for split in found]


def split_times(problem, folds, groups=None):
    frame = pd.DataFrame(index=range(len(problem.y)))
    weights = row_weights(np.ones(len(problem.y)), groups)
    return split_rows(problem, weights, read_folds(folds, 1, groups, len(frame)), seed=1)


@pytest.mark.parametrize("n_events", [5, 20, 58, 60])
def test_events_are_spread_over_folds(n_events):
    problem = timed(n_events)
    found = events(problem, split_times(problem, 5))
    assert sum(found) == n_events
    assert max(found) - min(found) <= 1


def test_events_are_spread_over_folds_of_groups_and_by_splitters():
    problem = timed()
    assert events(problem, split_times(problem, 4, np.arange(60) % 20)) == [5] * 4
    assert events(problem, split_times(problem, StratifiedKFold(4))) == [5] * 4


@pytest.mark.parametrize(
    ("n_events", "folds", "said"),
    [
        (4, 5, "at most the number of rows with an event, 4.\n.*Found: 5"),
        (20, [0] * 20 + [1] * 40, "at its time, in every training set.\n.*none among the 40"),
        (20, [-1] * 10 + [0] * 30 + [1] * 20, "in every fold.\n.*among the 20 rows of fold 2 of 2"),
    ],
)
def test_folds_without_events(n_events, folds, said):
    folds = folds if isinstance(folds, int) else np.array(folds)
    with pytest.raises(OptionError, match=said):
        split_times(timed(n_events), folds)


def test_a_class_of_one_row_is_refused_with_a_way_out():
    data = pd.DataFrame({"x": np.arange(40.0), "y": ["a", "b"] * 19 + ["a", "c"]})
    fit = treeselect.select("y ~ x", data, method="mrmr", k=1, seed=1)
    with pytest.raises(OptionError, match="Give a response in which it is merged"):
        fit.performance()


# --- folds and scores that replace those of scikit-learn are the same to the last bit ------------


@pytest.mark.parametrize("seed", range(20))
def test_folds_and_scores_are_those_of_scikit_learn(seed: int):
    rng = np.random.default_rng(seed)
    n, folds = int(rng.integers(20, 60)), int(rng.integers(2, 7))
    y = np.append(rng.choice(4, n), np.repeat(np.arange(4), folds))
    for found, splitter in (
        (_shuffled(len(y), folds, np.random.RandomState(seed)), KFold),
        (_balanced(y, folds, np.random.RandomState(seed)), StratifiedKFold),
    ):
        expected = np.empty(len(y), dtype=np.int64)
        pairs = splitter(folds, shuffle=True, random_state=seed).split(y, y)
        for number, (_, held_out) in enumerate(pairs):
            expected[held_out] = number
        np.testing.assert_array_equal(found, expected)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 300))
    y = np.append([0.0, 1.0], rng.choice([0.0, 1.0], n))
    ties = rng.choice(5, n + 2) / 7 if seed % 2 else rng.random(n + 2)
    weight = np.ones(n + 2) if seed % 3 else rng.random(n + 2)
    expected = roc_auc_score(y, levels(ties), sample_weight=weight)
    assert area_under_curve(y, ties, weight) == expected
    numbers = rng.normal(size=n + 2)
    expected = r2_score(numbers, ties, sample_weight=weight)
    assert r_squared(numbers, ties, weight) == expected
    assert r_squared(numbers, numbers, weight) == 1.0


# --- clusters of a fit in each call, of an array and of a file; and others of a performance -----

CALLS = {
    "resample": lambda fit: fit.resample(3).stability.selected,
    "inference": lambda fit: fit.inference(repeats=2).p_values,
    "performance": lambda fit: fit.performance(2).scores,
}
ASKED = {"method": "lasso", "k": 2, "seed": 1}


@pytest.mark.parametrize("name", CALLS)
def test_clusters_of_the_fit_of_an_array_and_of_a_file_are_the_same(name, wards, tmp_path):
    call = CALLS[name]
    fit = treeselect.select("y ~ .", wards, fold_groups="ward", **ASKED)
    bare = treeselect.load(fit.save(tmp_path / "bare"))
    whole = treeselect.load(fit.save(tmp_path / "whole", include_data=True))
    rest, array = wards.drop(columns="ward"), wards["ward"].to_numpy()
    by_array = treeselect.select("y ~ .", rest, fold_groups=array, **ASKED)
    unused = pd.concat([wards.tail(1).assign(y=np.nan), wards], ignore_index=True)
    more = treeselect.select("y ~ .", unused, fold_groups="ward", **ASKED)
    for one in (by_array, whole, bare.with_data(wards), more):
        np.testing.assert_array_equal(call(one), call(fit))
    said = r"`fold_groups` must be known(.|\n)*with_data\(data\)` with the column `ward`"
    with pytest.raises(OptionError, match=said):
        call(bare.with_data(rest))


def test_a_performance_may_hold_out_other_clusters(wards):
    plain = treeselect.select("y ~ . - ward", wards, **ASKED)
    here, array = plain.with_data(wards), wards["ward"].to_numpy()
    later = here.performance(2, fold_groups="ward").scores
    np.testing.assert_array_equal(plain.performance(2, fold_groups=array).scores, later)
    for given, groups_name in ((None, False), (array, True), ("ward", "ward")):
        assert here._fit.in_groups(given)[1].groups_name == groups_name
