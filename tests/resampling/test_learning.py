"""Score and stability by the number of rows; standard errors and intervals; performance."""

import dataclasses
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from quick import by_mrmr, changed, normal
from scipy import stats
from sklearn.model_selection import KFold, TimeSeriesSplit

import treeselect
from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.designs.weights import RowWeights
from treeselect.errors import OptionError
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import paired_difference, sampling_error, score_interval
from treeselect.resampling.learning import LearningCurve


def curve(scores, selected, shares):
    scores = np.array(scores)
    rows = [[round(100 * share)] * scores.shape[1] for share in shares]
    return LearningCurve(
        shares=shares, n_train=np.array(rows), test_share=0.5, scores=scores,
        selected=np.array(selected, dtype=bool), assessed=np.array([True, True, False]),
        repeats=1.0, score_name="R2", scheme="2 folds", call="select()", seed=0,
    )  # fmt: skip


def test_the_table_and_its_words_by_hand():
    found = curve(
        [[0.2, 0.4], [0.5, 0.5]], [[[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [1, 0, 1]]], (0.5, 1.0)
    )
    table = found.tidy()
    assert table["share"].to_list() == [0.5, 1.0]
    assert table["rows"].to_list() == [50.0, 100.0]
    np.testing.assert_allclose(table["score"], [0.3, 0.5])
    np.testing.assert_allclose(table["standard_error"], [0.1, 0.0], atol=1e-12)
    assert table["k"].to_list() == [2.0, 2.0]
    # Kept units have no say in the index.
    assert table["stability"][0] == stability_index(np.array([[1, 0], [0, 1]], dtype=bool))[0]
    assert table["stability"][1] == 1.0
    assert found.words.startswith(
        "From 50 to 100 training rows, the mean R2 on held-out rows changed by +0.200 (95% interval"
    )
    assert "from -1.00 to 1.00; larger training sets share more rows" in found.words
    found = curve([[0.2, 0.4], [0.5, 0.5]], [[[1, 0, 1], [0, 1, 1]]] * 2, (0.5, 1.0))
    assert "The stability index of the selected sets stayed at -1.00; larger" in found.words
    apart = dataclasses.replace(found, apart=np.array([[0, 1]]))
    assert "The stability index of the selected sets stayed at -1.00." in apart.words
    found = curve([[0.2, 0.4]], [[[1, 0, 1], [0, 1, 1]]], (0.5,))
    assert found.words == "With 50 training rows, the mean R2 on held-out rows is 0.300."
    found = curve([[0.2, 0.2], [0.5, 0.5]], [[[1, 1, 1]] * 2, [[0, 0, 1]] * 2], (0.5, 1.0))
    assert found.tidy()["stability"].isna().all()
    assert found.words == (
        "From 50 to 100 training rows, the mean R2 on held-out rows changed by +0.300, to 0.500."
    )


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((90, 4)), columns=list("abcd"))
    frame["site"] = np.repeat(np.arange(30), 3)
    return frame.assign(y=np.where(frame["b"] + rng.standard_normal(90) > 0, "yes", "no"))


@pytest.fixture(scope="module")
def fit(data):
    return by_mrmr("y ~ a + b + c + d", data, k=1, model="glm")


def test_all_rows_give_the_scores_of_the_same_folds_and_groups_stay_together(data, fit):
    own = np.arange(90) % 3
    found = fit.search.learning_curve([0.5, 1], own)
    assert found.n_train.tolist() == [[30] * 3, [60] * 3]
    alone = fit.search.learning_curve([1], own)
    np.testing.assert_array_equal(found.scores[1], alone.scores[0])
    again = changed(fit, n_jobs=2).search.learning_curve([0.5, 1], own)
    np.testing.assert_array_equal(again.scores, found.scores)
    turned = by_mrmr("y ~ d + c + b + a", data[data.columns[::-1]], k=1, model="glm")
    np.testing.assert_array_equal(turned.search.learning_curve([0.5, 1], own).scores, found.scores)
    found = fit.update(fold_groups="site").search.learning_curve([0.5, 1], 3)
    assert (found.n_train % 3 == 0).all()


def test_parts_are_within_larger_ones_and_their_shares_rise(fit):
    from treeselect.resampling.folds import Split
    from treeselect.resampling.learning import _part

    split = Split(np.arange(60), np.arange(60, 90))
    here = fit.data.design
    parts = [_part(here.problem, here.row_weights, split, share, 5) for share in (0.3, 0.6, 1.0)]
    for small, large in pairwise(parts):
        assert set(small.train) < set(large.train)
    for shares in ([0.5, 0.5], [0, 1], [0.5, 1.1]):
        with pytest.raises(OptionError, match="`shares` must be increasing numbers"):
            fit.search.learning_curve(shares)
    with pytest.raises(OptionError, match="`shares` must leave at least two training rows"):
        fit.search.learning_curve([0.001, 1])
    frame = pd.DataFrame({"x": np.arange(16) % 5, "y": np.repeat([0, 0, 0, 1], 4)})
    few = treeselect.select("y ~ x", frame, method="mrmr", k=1, fold_groups=np.arange(16) // 2)
    with pytest.raises(OptionError, match=r"the response varies.\n  Found: 2, with 0.2 of 8"):
        few.search.learning_curve([0.2, 1], 2)


def test_what_chooses_k_inside_a_part_may_have_too_few_rows(data):
    fit = by_mrmr("y ~ a + b", data, k="best", folds=10, model="glm")
    with pytest.raises(OptionError, match="which are split again to choose `k`"):
        fit.search.learning_curve([0.1, 1], 3)
    gaps = data.assign(a=data["a"].where(data.index < 15))
    fit = by_mrmr("y ~ a + b", gaps, k=1, missing="drop")
    with pytest.raises(OptionError, match=r"in the training rows of fold \d\.$"):
        fit.performance(2)


# --- standard errors of held-out scores, and what an interval of them is made of -----------------


RNG = np.random.default_rng(8)
N = 400
Y = (RNG.random(N) < 0.3).astype(float)
P = 1 / (1 + np.exp(-(1.2 * Y + RNG.normal(size=N))))


def rows(values, groups=None, *, are_copies=True):
    return RowWeights(np.asarray(values), are_copies, groups)


def error(y, predicted, test, family=BINOMIAL, train=0, in_training=True):
    training = rows(np.full(len(test), train))
    problem = SimpleNamespace(family=family, y=y, in_training=np.full(len(y), in_training))
    return sampling_error(problem, predicted, training, test, seed=1)


def delong(y, predicted):
    """Standard error of the AUC (DeLong and others 1988)."""
    higher = predicted[y == 1][:, np.newaxis] > predicted[y == 0]
    placed = higher.mean(axis=1).var(ddof=1) / (y == 1).sum()
    return np.sqrt(placed + higher.mean(axis=0).var(ddof=1) / (y == 0).sum())


def test_errors_are_delongs_and_of_the_influence_function():
    found = error(Y, P, rows(np.ones(N, dtype=np.int64)))
    assert found == pytest.approx(delong(Y, P), rel=0.2)
    part = np.where(np.arange(N) % 2, 1, 0)
    assert error(Y, P, rows(part)) == pytest.approx(delong(Y[part > 0], P[part > 0]), rel=0.2)
    groups = np.arange(4 * N) // 4
    together = error(np.repeat(Y, 4), np.repeat(P, 4), rows(np.ones(4 * N, dtype=np.int64), groups))
    assert together == pytest.approx(delong(Y, P), rel=0.2)
    y = RNG.normal(size=N)
    predicted = 0.5 * y + RNG.normal(size=N) / 2
    lost, whole = (y - predicted) ** 2, (y - y.mean()) ** 2
    influence = (lost - whole * lost.mean() / whole.mean()) / whole.mean()
    found = error(y, predicted, rows(np.ones(N, dtype=np.int64)), GAUSSIAN)
    assert found == pytest.approx(influence.std() / np.sqrt(N), rel=0.2)


def test_a_score_learns_from_rows_that_train():
    of_both = SimpleNamespace(held_out_score=lambda y, _, held, train: held @ y * (1 + train.sum()))
    test = rows(np.arange(N) % 2)
    one = error(Y, P, test, of_both)
    assert error(Y, P, test, of_both, train=1) == pytest.approx((N + 1) * one)
    assert error(Y, P, test, of_both, train=1, in_training=False) == one


def test_copies_are_drawn_one_by_one_other_weights_as_rows_and_few_have_no_error():
    twice = np.full(N, 2)
    copied = error(np.repeat(Y, 2), np.repeat(P, 2), rows(np.ones(2 * N, dtype=np.int64)))
    assert error(Y, P, rows(twice)) == pytest.approx(copied, rel=0.2)
    assert error(Y, P, rows(twice.astype(float), are_copies=False)) == pytest.approx(
        copied * np.sqrt(2), rel=0.2
    )
    one = np.zeros(N)
    one[0] = 1
    lonely = rows(np.where(np.arange(N) < 2, 1, 0))
    assert error(one, P, lonely) == 0  # of half of the samples: the others lack a class
    assert np.isnan(error(np.zeros(N), P, lonely))


def test_the_interval_shrinks_with_cases_and_repeats_do_not_add_rows():
    scores, errors = np.array([0.7, 0.8, 0.75, 0.72]), np.full(4, 0.06)
    low, high = score_interval(scores, errors, 1000.0, 1.0, (0.0, 1.0))
    few = score_interval(scores, errors, 20.0, 1.0, (0.0, 1.0))
    assert few[0] < low < scores.mean() < high < few[1]
    twice = score_interval(np.tile(scores, 2), np.tile(errors, 2), 1000.0, 2.0, (0.0, 1.0))
    assert twice == pytest.approx((low, high))
    assert np.isnan(score_interval(scores, np.full(4, np.nan), 1000.0, 1.0, (0.0, 1.0))).all()
    beside = score_interval(np.full(4, 1 - 1e-9), errors, 1000.0, 1.0, (-np.inf, 1.0))
    assert beside[0] == -np.inf
    assert beside[1] <= 1
    assert score_interval(np.ones(4), errors, 1000.0, 1.0, (0.0, 1.0))[1] == 1.0


def test_differences_are_those_of_the_paired_t_test_by_the_share_of_held_out_rows():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(size=(2, 12))
    found = paired_difference(ours - theirs, 0.0)
    expected = stats.ttest_rel(ours, theirs)
    low, high = expected.confidence_interval(0.95)
    np.testing.assert_allclose(
        (found.mean, found.low, found.high, found.p_value),
        ((ours - theirs).mean(), low, high, expected.pvalue),
    )
    differences = np.array([0.01, 0.03, 0.02, 0.06])
    # Five equal folds would have n_test / n_train = 1 / 4: (1 / 4 + 1 / 4) times the variance.
    found = paired_difference(differences, 0.25)
    error = np.sqrt(0.5 * np.sum((differences - 0.03) ** 2) / 3)
    half = stats.t.ppf(0.975, 3) * error
    np.testing.assert_allclose((found.low, found.high), (0.03 - half, 0.03 + half))
    np.testing.assert_allclose(found.p_value, 2 * stats.t.sf(0.03 / error, 3))
    found = paired_difference(np.zeros(5), 0.25)
    assert (found.mean, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)
    found = paired_difference(np.array([0.2]), 0.5)
    assert found.mean == 0.2
    assert np.isnan([found.low, found.high, found.p_value]).all()


@pytest.mark.parametrize("differences", [np.full(5, 0.5), np.array([0.3 - 0.2, 0.4 - 0.3, 0.1])])
def test_equal_differences_do_not_tell_how_far_chance_goes(differences):
    """One more row right in each of few folds, by accuracy, is no evidence beyond doubt."""
    found = paired_difference(differences, 0.25)
    np.testing.assert_allclose(found.mean, differences[0])
    assert np.isnan([found.low, found.high, found.p_value]).all()


QUICK = {"method": "mrmr"}
CLUSTERS = np.repeat(np.arange(40), 10)


@pytest.fixture(scope="module")
def measured(cross_validated):
    return cross_validated.performance(folds=3)


def test_noise_has_no_credit_unless_the_terms_were_chosen_outside_the_folds():
    """Terms that all rows selected seem to tell labels apart that were drawn at random."""
    few = {"method": "controlburn", "forests": 1, "n_trees": 10, "seed": 1}
    rng = np.random.default_rng(6)
    inside, outside = [], []
    for _ in range(3):
        data = pd.DataFrame(rng.normal(size=(100, 30)), columns=[f"x{j}" for j in range(30)])
        data["y"] = rng.random(100) < 0.5
        fit = treeselect.select("y ~ .", data, k=5, **few)
        nested = fit.performance(folds=5)
        assert abs(nested.mean - 0.5) < 3 * nested.standard_error
        inside.append(nested.mean)
        chosen = [*fit.selected]
        again = treeselect.select(fit.formula, data, k="best", keep=chosen, **few)
        outside.append(again.path.set_index("k").loc[5, "cv_score"])
        assert outside[-1] > nested.mean
    assert np.mean(outside) > 0.55
    assert np.mean(outside) > np.mean(inside) + 0.1


def test_tables_and_summary(measured, cross_validated):
    tidy = measured.tidy()
    assert list(tidy) == ["fold", "k", "score", "selected", "n_train", "n_test"]
    assert tidy["fold"].tolist() == [1, 2, 3]
    assert tidy["n_test"].sum() == N
    assert (tidy["n_train"] + tidy["n_test"] == N).all()
    assert [len(terms) for terms in tidy["selected"]] == tidy["k"].tolist()
    assert all("signal" in terms or "copy" in terms for terms in tidy["selected"])
    assert measured.mean == tidy["score"].mean()
    assert measured.standard_error == pytest.approx(tidy["score"].std() / np.sqrt(3))
    glance = measured.glance().iloc[0]
    assert glance["score"] == "R2"
    assert glance["mean"] == measured.mean
    assert (glance["k_min"], glance["k_max"]) == (tidy["k"].min(), tidy["k"].max())
    text = measured.summary().as_text()
    assert "nested cross-validation" in text.splitlines()[0]
    joined = " ".join(text.split())
    assert "1 s.e. rule on R2, 3-fold cross-validation within each training set" in joined
    assert f"R2: {measured.mean:.3f} (s.e. {measured.standard_error:.3f})" in joined
    best = cross_validated.path.set_index("k").loc[cross_validated.k, "cv_score"]
    of_path = f"R2 of the fit at k = {cross_validated.k}: {best:.3f}, cross-validated; the same"
    assert f"{of_path} folds chose k." in joined
    assert "nested cross-validation" in repr(measured)
    assert max(map(len, text.splitlines())) <= 88


def test_intervals_are_from_folds_and_cases_and_end_at_the_bounds(measured):
    within, between = np.mean(measured.errors**2), measured.scores.var(ddof=1)
    assert (measured.errors > 0).all()
    error = np.sqrt(max(within, between) / 3)
    half = stats.t.ppf(0.975, N / 10) * error / (1 - measured.mean)
    low, high = measured.mean_ci
    assert 1 - low == pytest.approx((1 - measured.mean) * np.exp(half))
    assert 1 - high == pytest.approx((1 - measured.mean) * np.exp(-half))
    glance = measured.glance().iloc[0]
    assert (glance["ci_low"], glance["ci_high"]) == (low, high)
    assert f"95% interval: {low:.3f} to {high:.3f}" in measured.summary().as_text()
    wide = dataclasses.replace(measured, scores=np.array([0.5, 0.9, 1.0]), score_bounds=(0.0, 1.0))
    low, high = wide.mean_ci
    assert 0 < low < 0.8 < high < 1
    assert np.log(high / (1 - high)) + np.log(low / (1 - low)) == pytest.approx(2 * np.log(4))
    free = dataclasses.replace(wide, score_bounds=(-np.inf, np.inf))
    assert sum(free.mean_ci) / 2 == pytest.approx(free.mean)
    above = dataclasses.replace(wide, score_bounds=(0.0, np.inf))
    assert np.log(above.mean_ci).sum() / 2 == pytest.approx(np.log(above.mean))
    same = dataclasses.replace(measured, scores=np.full(3, 0.75), errors=np.zeros(3))
    assert np.isnan(same.mean_ci).all()
    assert "interval" not in same.summary().as_text()
    assert same.words == "0.750 (standard error 0.000)"


def same(a, b):
    assert np.array_equal(a.scores, b.scores)
    assert a.selected == b.selected
    return True


def test_a_fold_is_a_selection_on_its_training_rows(mixed):
    """Each half has all values of the other, so that its bins are those of all rows."""
    from treeselect.engine.random import stream_seed

    numbers = mixed[["signal", "copy", "noise"]]
    mixed = mixed.assign(**(2 * numbers).round().clip(-3, 3))
    fit = treeselect.select("dose ~ . - died", mixed, seed=2, folds=3, **QUICK)
    found = fit.performance(folds=KFold(2))
    for number, (train, test) in enumerate(KFold(2).split(mixed)):
        weights = np.zeros(N, dtype=int)
        weights[train] = 1
        alone = treeselect.select(
            "dose ~ . - died", mixed, weights=weights, folds=3, **QUICK,
            seed=stream_seed(fit.search.seed, "performance", number),
        )  # fmt: skip
        assert alone.selected == found.selected[number]
        known = mixed["dose"][test]
        errors = known - alone.predict(mixed.iloc[test])
        expected = 1 - (errors**2).sum() / ((known - known.mean()) ** 2).sum()
        assert found.scores[number] == pytest.approx(expected)


def test_groups_of_the_fit_are_kept_together(mixed, monkeypatch):
    from treeselect.algorithms.filters import MRMR

    seen, path = [], MRMR.path

    def recorded(self, task):
        seen.append(set(task.weights.rows))
        return path(self, task)

    data = mixed.assign(ward=CLUSTERS)
    fit = treeselect.select(
        "died ~ signal + noise", data, fold_groups="ward", folds=5, seed=1, **QUICK
    )
    monkeypatch.setattr(MRMR, "path", recorded)
    found = fit.performance(folds=2)
    assert "of whole ward clusters" in found.scheme
    assert len(seen) == 2 * (5 + 1)
    for rows in seen:
        inside = {CLUSTERS[row] for row in rows}
        assert len(rows) == 10 * len(inside)


def test_the_interval_is_that_of_the_clusters_held_out(mixed):
    fit = treeselect.select("dose ~ signal + noise", mixed, k=1, model="glm", seed=1, **QUICK)
    apart = fit.performance(3, fold_groups=CLUSTERS)
    own = fit.update(fold_groups=CLUSTERS).performance(3)
    assert same(apart, own)
    np.testing.assert_array_equal(apart.errors, own.errors)


def test_which_arguments_of_the_fit_are_kept_and_other_folds_and_scores(mixed):
    fit = treeselect.select("dose ~ . - died", mixed, method="rrf", lam=0.5, seed=1, n_trees=10)
    assert "lam = 0.5, as in the fit" in fit.performance(2).summary().as_text()
    two = treeselect.select("dose ~ . - died", mixed, k=2, seed=1, **QUICK).performance(2)
    assert two.k.tolist() == [2, 2]
    fit = treeselect.select("dose ~ signal + noise", mixed, k=1, seed=1, **QUICK)
    assert fit.performance(2, fold_groups=np.where(mixed["flag"], 1, 0)).n_test.sum() == N
    data = mixed.assign(dose=mixed["dose"].mask(np.arange(N) < 40))
    fit = treeselect.select("dose ~ signal + noise", data, k=1, seed=1, **QUICK)
    found = fit.performance(np.arange(N) // 100)
    assert found.n_test.tolist() == [60, 100, 100, 100]
    assert same(found, fit.with_data(data).performance(np.arange(N) // 100))
    past = fit.performance(TimeSeriesSplit(3))
    assert past.n_train.tolist() == [90, 180, 270]
    assert past.n_cases == past.n_test.sum()  # no fold holds out the first rows
    fit = treeselect.select("died ~ signal + noise", mixed, seed=1, folds=3, **QUICK)
    own, other = fit.performance(2), fit.performance(2, scoring="neg_brier_score")
    assert own.selected == other.selected
    assert own.score_name == "AUC"
    assert other.score_name == "neg_brier_score"
    assert (other.scores < 0).all()
    assert "1 s.e. rule on AUC" in " ".join(other.summary().as_text().split())


def saved(fit, folder, **arguments):
    return treeselect.load(fit.save(folder / "fit.treeselect", **arguments))


def test_a_model_file_keeps_sizes_and_groups_of_inner_folds(
    mixed, cross_validated, measured, tmp_path
):
    again = saved(cross_validated, tmp_path)
    assert same(again.with_data(mixed).performance(3), measured)
    assert same(saved(cross_validated, tmp_path, include_data=True).performance(3), measured)
    data = mixed.assign(ward=CLUSTERS, hospital=CLUSTERS // 5)
    fit = treeselect.select(
        "died ~ signal + noise", data, folds=3, fold_groups="ward", seed=1, **QUICK
    )
    expected = fit.with_data(data).performance(2, fold_groups="hospital")
    assert "of whole hospital clusters" in expected.scheme
    assert "of whole ward clusters within each training set" in expected.rule
    again = saved(fit, tmp_path)
    assert same(again.with_data(data).performance(2, fold_groups="hospital"), expected)


def test_a_model_file_keeps_groups_and_fold_numbers_with_the_data(mixed, tmp_path):
    data = mixed.assign(ward=CLUSTERS)
    fold = CLUSTERS % 4
    fit = treeselect.select(
        "died ~ signal + noise", data, folds=fold, fold_groups="ward", scoring="accuracy", seed=1,
        **QUICK,
    )  # fmt: skip
    expected = fit.performance(2)
    with_data = saved(fit, tmp_path, include_data=True)
    assert with_data.glance()["score"].tolist() == ["accuracy"]
    assert same(with_data.performance(2), expected)
    without = saved(fit, tmp_path)
    with pytest.raises(OptionError, match="The folds that chose `k` must be known"):
        without.with_data(data).performance(2)


def brier(y_true, prediction):
    return -float(((prediction - y_true) ** 2).mean())


def test_functions_are_not_in_a_model_file(mixed, tmp_path):
    fit = treeselect.select(
        "died ~ signal + noise", mixed, folds=TimeSeriesSplit(3), repeats=1, scoring=brier, seed=1,
        **QUICK,
    )  # fmt: skip
    again = saved(fit, tmp_path, include_data=True)
    assert again.path["cv_score"].equals(fit.path["cv_score"])
    assert again.glance()["score"].tolist() == ["brier"]
    assert again.resample(2).stability.n_resamples == 2
    with pytest.raises(OptionError, match=r"`scoring` must be given: .* `brier`, is a function"):
        again.performance(2)
    with pytest.raises(OptionError, match="`scoring` must be given"):
        again.model.conditional_importance(2)
    tests = [own.model.conditional_importance(None).tidy() for own in (fit, again)]
    assert tests[0].equals(tests[1])
    with pytest.raises(OptionError, match="The folds that chose `k` must be known"):
        again.performance(2, scoring=brier)


def test_no_number_of_units_takes_the_place_of_outer_folds(mixed, cross_validated):
    for arguments in ({"folds": N + 1}, {"folds": N}, {"fold_groups": np.arange(N) % 3}):
        with pytest.raises(OptionError) as error:
            cross_validated.performance(**arguments)
        assert "Give " in str(error.value)
        assert "an integer `k`" not in str(error.value)
    ordered = mixed.sort_values("died")
    fit = treeselect.select("died ~ signal", ordered, k=1, seed=1, **QUICK)
    with pytest.raises(OptionError, match=r"1 of 2 classes .*. Give other `folds`.$"):
        fit.performance(ordered["died"].to_numpy())


# --- how many rows would make a selection stable -------------------------------------------------


def pairs_that_differ(power, scale, n, n_pairs=40, n_units=400, seed=0):
    """Pairs of sets whose instability is `scale * n ** -power`: half of the units are selected."""
    rng = np.random.default_rng(seed)
    sets = np.zeros((len(n), 2 * n_pairs, n_units), dtype=bool)
    for own, rows in zip(sets, n, strict=True):
        own[:] = np.repeat(np.arange(n_units) % 2, 1)
        changed_units = rng.random((n_pairs, n_units)) < 0.5 * scale * rows**-power
        own[1::2] ^= changed_units
    n_train = np.repeat(np.array(n)[:, np.newaxis], 2 * n_pairs, axis=1)
    return LearningCurve(
        shares=tuple(rows / max(n) for rows in n), n_train=n_train, test_share=1.0,
        scores=np.zeros((len(n), 2 * n_pairs)), selected=sets,
        assessed=np.ones(n_units, dtype=bool), repeats=1.0, score_name="R2", scheme="halves",
        call="select()", seed=1, apart=np.arange(2 * n_pairs).reshape(-1, 2),
    )  # fmt: skip


@pytest.mark.parametrize(("power", "scale"), [(0.5, 4.0), (1.0, 50.0), (0.25, 2.0)])
def test_the_law_of_instability_is_found_again(power, scale):
    found = pairs_that_differ(power, scale, (100, 200, 400, 800)).rows_needed((0.5, 0.8))
    table = found.tidy()
    for row in table.itertuples():
        truth = max((scale / (1 - row.index)) ** (1 / power), 100)
        assert row.low <= truth <= row.high or (truth > found.limit and row.high == np.inf)
        assert np.isinf(row.rows) == (truth > found.limit) or abs(truth / found.limit - 1) < 0.3
    assert found.power == pytest.approx(power, abs=0.15)
    assert found.limit == 3200


def test_no_number_is_given_beyond_what_the_curve_supports(snapshot):
    flat = pairs_that_differ(0.0, 0.6, (50, 100, 200))
    found = flat.rows_needed([0.3, 0.9])
    assert np.isinf(found.tidy().loc[1, "low"])
    assert "not in sight: it needs more than 800 rows, if rows help at all" in found.words
    assert found.summary().as_text() == snapshot
    never = pairs_that_differ(0.0, 0.0, (50, 100, 200)).rows_needed()
    assert (never.tidy()["rows"] == 50).all()  # perfectly stable at the fewest rows seen


def test_disjoint_halves_are_what_it_needs():
    data = normal(4, 200, "abcde", a=1, b=0.4)
    fit = by_mrmr("y ~ .", data, k=2, model="glm")
    halves = fit.search.learning_curve((0.25, 0.5, 1), 2, repeats=5)
    assert halves.apart.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    found = halves.rows_needed(0.75)
    table = found.tidy()
    assert table["low"][0] <= table["rows"][0] <= table["high"][0]
    pd.testing.assert_frame_equal(table, halves.rows_needed(0.75).tidy())
    for other in (
        fit.search.learning_curve((0.25, 0.5, 1), 5),
        fit.search.learning_curve((0.5, 1), 2, repeats=5),
    ):
        with pytest.raises(OptionError, match="share no rows"):
            other.rows_needed(0.75)
    for wrong in (0.0, 1.0, "x", [], [0.5, 2.0]):
        with pytest.raises(OptionError, match="`index` must be"):
            halves.rows_needed(wrong)
