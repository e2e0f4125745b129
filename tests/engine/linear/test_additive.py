"""Additive models: without rows, searches for the best sets, and the score test."""

import itertools

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import binned

from treeselect.designs.families import BINOMIAL, COX, GAUSSIAN, POISSON, multinomial
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.linear import additive, additive_search
from treeselect.engine.linear.additive import fit_additive, score_test
from treeselect.engine.linear.additive_search import (
    AdditiveSearch,
    counted_error,
    folds_of_clusters,
    ridge_outside,
    rises_without,
)
from treeselect.engine.linear.basis import AdditiveColumns, bases_of
from treeselect.engine.survival.times import as_times


def data_of(seed, n=60, *, missing=True):
    """A number, a factor and a number with few values, and the numbers themselves."""
    rng = np.random.default_rng(seed)
    x, few = rng.standard_normal(n), rng.integers(1, 4, n)
    known = x.copy()
    if missing:
        known[:3] = np.nan
    factor = rng.integers(0, 4, n)
    columns = [known, (factor + 1).astype(np.uint8), few.astype(np.float64)]
    edges = [bin_edges(known), None, bin_edges(columns[2])]
    return bin_columns(columns, edges, [0, 4, 0], np.arange(3)), x


def plain(data):
    """Additive columns of rows that count once."""
    return AdditiveColumns(data, np.ones(data.n_rows, dtype=np.int64))


def without_row(x, penalty, truth, weight, row, ridge):
    """Prediction of a weighted ridge regression for a row of which one copy is left out."""
    weight = weight.copy()
    weight[row] -= 1
    rows = np.vstack([np.ones(x.shape[1]), x])
    gram = (rows * weight) @ rows.T + ridge * np.diag([0.0, *penalty])
    return rows[:, row] @ np.linalg.solve(gram, (rows * weight) @ truth)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=20)
def test_ridge_predicts_rows_without_them(seed, copies):
    data, x = data_of(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, len(x)) if copies else np.ones(len(x), dtype=np.int64)
    truth = np.column_stack([x + rng.standard_normal(len(x)), rng.standard_normal(len(x))])
    columns = AdditiveColumns(data, weight)
    found = ridge_outside(columns, [0, 1], truth)
    values, penalty, _ = columns.groups([0, 1])
    candidates = [
        np.array([
            without_row(values, penalty, truth, weight.astype(float), row, ridge)
            for row in range(len(x))
        ])
        for ridge in (1.0, 10.0, 100.0, 1000.0)
    ]  # fmt: skip
    # The constant is that of all rows, so that predictions differ a little.
    assert min(np.abs(found - other).max() for other in candidates) < 0.05 * np.ptp(truth)


def test_ridge_without_terms_is_the_mean_and_clusters_are_left_out_whole():
    data, x = data_of(3)
    columns = plain(data)
    truth = x[:, np.newaxis]
    mean = (x.sum() - x) / (len(x) - 1)
    assert ridge_outside(columns, [], truth)[:, 0] == pytest.approx(mean)
    data, x = data_of(4)
    clusters = np.arange(len(x)) % 7
    folds = folds_of_clusters(clusters)
    assert len(np.unique(folds)) == 7
    assert (np.unique(folds, return_counts=True)[1] <= 9).all()
    columns = plain(data)
    truth = np.column_stack([x, x])
    changed = truth.copy()
    changed[clusters == 2] += 1.0  # the same ridge: a change of level has no other effect there
    first = ridge_outside(columns, [], truth, folds)
    second = ridge_outside(columns, [], changed, folds)
    own = clusters == 2
    assert second[own] == pytest.approx(first[own])
    assert (second[~own] > first[~own]).all()


def functions_of(codes, weight):
    """Functions of a number by its codes: scores, missing values, hinges; shape (n, n_rows)."""
    share = weight / weight.sum()
    known = np.where(codes > 0, share, 0.0)
    below = np.array([known[(codes < c) & (codes > 0)].sum() for c in codes])
    equal = np.array([known[codes == c].sum() for c in codes])
    n_values, parts = len(np.unique(codes[known > 0])), []
    if n_values > 1:
        rank = (below + equal / 2) / known.sum()
        score = np.where(codes > 0, np.clip(scipy.stats.norm.ppf(rank), -2.5, 2.5), 0.0)
        score = np.where(codes > 0, score - known @ score / known.sum(), 0.0)
        score /= np.sqrt(known @ score**2)
        parts.append(score)
    missing = share[codes == 0].sum()
    if missing > 0 and n_values:
        parts.append(2.0 * ((codes == 0) - missing))
    n_hinges = max(min(5, n_values - 2), 0)
    for knot in scipy.stats.norm.ppf(np.arange(1, n_hinges + 1) / (n_hinges + 1)):
        hinge = np.where(codes > 0, np.maximum(score - knot, 0), 0.0)
        hinge = np.where(codes > 0, hinge - known @ hinge / known.sum(), 0.0)
        hinge -= score * (known * score @ hinge)
        if known @ hinge**2 > 1e-9:
            parts.append(hinge)
    return np.array(parts).reshape(-1, len(codes))


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_functions_of_many_numbers_are_those_of_each(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    numbers = [rng.integers(0, top, n).astype(float) for top in (1, 2, 3, 5, 100, 100)]
    for column in numbers[2:5]:
        column[rng.random(n) < 0.3] = np.nan
    numbers.append(np.full(n, np.nan))
    edges = [bin_edges(column) for column in numbers]
    data = bin_columns(numbers, edges, [0] * 7, np.arange(7))
    weight = rng.uniform(0.5, 2, n) if rng.random() < 0.5 else np.ones(n)
    for j, basis in enumerate(bases_of(data, range(7), weight)):
        expected = functions_of(data.column(j).astype(int), weight)
        assert basis.of(data) == pytest.approx(expected, abs=1e-9)


def test_basis_functions_have_mean_zero_and_rise_as_penalised_squares():
    data, x = data_of(5)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(x))
    for basis in bases_of(data, range(3), weight):
        values = basis.of(data)
        assert values @ weight == pytest.approx(np.zeros(len(values)), abs=1e-8)
    (basis,) = bases_of(data, [0], weight)
    values, penalty = basis.of(data), basis.penalty
    hinges = values[penalty == 1]
    assert len(hinges) == 5
    assert (hinges * weight) @ values[0] == pytest.approx(np.zeros(5), abs=1e-8)
    data, x = data_of(6)
    columns = plain(data)
    truth = (x + 0.3 * np.random.default_rng(1).standard_normal(len(x)))[:, np.newaxis]
    above = truth - truth.mean()
    values, penalty, _ = columns.groups([0, 1])

    def squares(kept, ridge):
        own, least = values[kept], penalty[kept]
        coef = np.linalg.solve(own @ own.T + ridge * np.diag(least), own @ above)
        return ((above - own.T @ coef) ** 2).sum() + ridge * (least @ coef**2).sum()

    n_first = len(columns.group(0)[0])
    every = np.arange(len(values))
    rises = rises_without(columns, [0, 1], truth)
    expected = [
        [squares(kept, r) - squares(every, r) for kept in (every[n_first:], every[:n_first])]
        for r in (1.0, 10.0, 100.0, 1000.0)
    ]
    assert any(rises == pytest.approx(e, rel=1e-6) for e in expected)


def response(family, x, rng):
    n = len(x)
    if family.has_times:
        return as_times(rng.exponential(np.exp(-x)) + 0.01, rng.random(n) < 0.8)
    if family.n_classes > 2:
        return (rng.random(n) * 3 * (1 + (x > 0)) / 2).astype(int).astype(float)
    if family.n_classes == 2:
        return (rng.random(n) < 1 / (1 + np.exp(-x))).astype(float)
    return rng.poisson(np.exp(x / 2)).astype(float) if family is POISSON else x + rng.random(n)


@pytest.mark.parametrize("ridges", [[3.0], [30.0, 3.0]])
@pytest.mark.parametrize(
    "family", [GAUSSIAN, BINOMIAL, POISSON, COX, multinomial(3), multinomial(4)]
)  # of the four classes one has no rows
def test_fit_has_no_slope_left(family, ridges):
    data, x = data_of(7, 150)
    rng = np.random.default_rng(2)
    y, weight = response(family, x, rng), np.ones(len(x), dtype=np.int64)
    loss = family.loss.of(y, weight)
    base = np.atleast_1d(family.loss.constant(y, weight)) * np.ones((len(x), 1))
    columns = AdditiveColumns(data, weight)
    fit = fit_additive(
        columns, [0, 1], loss, base, has_constant=family.loss.has_constant, ridges=ridges
    )
    values, penalty, _ = columns.groups([0, 1])
    flat = fit.eta if fit.eta.shape[1] > 1 else fit.eta[:, 0]
    slope = values @ loss.negative_gradient(flat).reshape(fit.eta.shape)
    ends = [ridge * penalty[:, np.newaxis] * fit.coef for ridge in ridges]
    assert any(slope == pytest.approx(end, abs=0.01) for end in ends)
    assert fit.eta == pytest.approx(base + fit.constant + values.T @ fit.coef)


@pytest.mark.parametrize("family", [GAUSSIAN, COX, multinomial(3)], ids=lambda f: f.name)
def test_more_functions_than_rows_are_rotated_without_effect(family, monkeypatch):
    data, x = data_of(3, 18)
    y, weight = response(family, x, np.random.default_rng(2)), np.ones(len(x), dtype=np.int64)
    columns, loss = AdditiveColumns(data, weight), family.loss.of(y, weight)
    base = np.zeros((len(x), max(family.n_classes, 1)))
    fits = []
    for wide in (0, 1_000):
        monkeypatch.setattr("treeselect.engine.linear.columns._WIDE", wide)
        fits.append(fit_additive(columns, [0, 1, 2], loss, base, has_constant=False))
    for name in ("coef", "eta", "outside", "effects_outside", "error"):
        one, other = (getattr(fit, name) for fit in fits)
        assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL, POISSON], ids=lambda f: f.name)
def test_approximate_predictions_are_near_those_of_fits_without_the_row(family):
    data, x = data_of(8, 100, missing=False)
    rng = np.random.default_rng(3)
    y, weight = response(family, x, rng), np.ones(len(x), dtype=np.int64)
    base = np.full((len(x), 1), family.loss.constant(y, weight))
    columns = AdditiveColumns(data, weight)
    fit = fit_additive(columns, [0, 2], family.loss.of(y, weight), base, ridges=[5.0])
    for row in range(0, len(x), 9):
        others = weight.astype(float)
        others[row] = 1e-9
        again = AdditiveColumns(data, weight)
        again.groups([0, 2])  # the same functions
        again.weight = others
        own = fit_additive(again, [0, 2], family.loss.of(y, weight), base, ridges=[5.0])
        near = 0.02 + 0.1 * abs(own.eta[row, 0] - fit.eta[row, 0])
        assert fit.outside[row] == pytest.approx(own.eta[row], abs=near)
        lower = fit.eta.mean(axis=0) - own.eta.mean(axis=0)
        assert fit.mean_outside[row] == pytest.approx(lower, rel=0.2, abs=1e-3)


def test_what_must_not_fall_stays_level():
    data, x = data_of(9)
    data = data._replace(monotone=np.array([1, 0, 0], dtype=np.int8))
    weight = np.ones(len(x), dtype=np.int64)
    columns = AdditiveColumns(data, weight)
    base = np.zeros((len(x), 1))
    fit = fit_additive(columns, [0], GAUSSIAN.loss.of(-x, weight), base)
    assert fit.coef[0, 0] == 0
    fit = fit_additive(columns, [0], GAUSSIAN.loss.of(x, weight), base)
    assert fit.coef[0, 0] > 0
    rising = ridge_outside(columns, [0], x[:, np.newaxis])[:, 0]
    level = ridge_outside(columns, [0], -x[:, np.newaxis])[:, 0]
    known = data.column(0) > 0
    assert np.corrcoef(rising[known], x[known])[0, 1] > 0.9
    assert np.ptp(level[known]) < 0.1 * np.ptp(rising[known])


# --- searches for sets, and the score test -------------------------------------------------------


def drawn(seed, n, p):
    """Numbers, shape (n, p), and a random stream."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng


def search_of(x, y, fixed=(), candidates=None, clusters=None):
    fixed = np.isin(np.arange(x.shape[1]), fixed)
    candidates = np.arange(x.shape[1]) if candidates is None else np.asarray(candidates)
    folds = None if clusters is None else folds_of_clusters(clusters)
    return AdditiveSearch(plain(binned(x)), y[:, np.newaxis], fixed, candidates, folds)


def best(x, y, size, **options):
    """Numbers of the best set of a size."""
    return np.flatnonzero(search_of(x, y, **options).best_of_size(size)).tolist()


def test_the_error_is_that_of_generalised_cross_validation():
    x, rng = drawn(0, 80, 3)
    y = x[:, 0] + rng.standard_normal(80)
    columns = plain(binned(x))
    values, penalty, _ = columns.groups([0, 2])

    def error(ridge):
        hat = values.T @ np.linalg.solve(values @ values.T + ridge * np.diag(penalty), values)
        hat += 1 / 80
        return ((y - hat @ y) ** 2).sum() / (80 - 3 * np.trace(hat)) ** 2

    expected = min(error(ridge) for ridge in (1.0, 10.0, 100.0, 1000.0))
    assert counted_error(columns, [0, 2], y[:, np.newaxis], 3.0) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_sets_is_found(seed):
    x, rng = drawn(seed, 150, 9)
    y = x[:, 0] + x[:, 1] ** 2 + 0.5 * x[:, 2] + 0.5 * rng.standard_normal(150)
    search = search_of(x, y)
    for size in (1, 2, 3, 4):
        sets = [np.isin(np.arange(9), one) for one in itertools.combinations(range(9), size)]
        np.testing.assert_array_equal(search.best_of_size(size), min(sets, key=search.error))


def test_an_exchange_replaces_the_first_and_fixed_groups_stay():
    x, rng = drawn(1, 300, 6)
    y = x[:, 0] + x[:, 1]
    x[:, 4] = y + 0.6 * rng.standard_normal(300)  # alone better than either
    y = y + 0.3 * rng.standard_normal(300)
    assert [best(x, y, size) for size in (1, 2)] == [[4], [0, 1]]
    x, rng = drawn(2, 200, 5)
    y = x[:, 0] + x[:, 1] + 0.5 * rng.standard_normal(200)
    options = {"fixed": [4], "candidates": [4, 1, 2, 3]}
    assert best(x, y, 2, **options) == [1, 4]
    assert search_of(x, y, **options).best_of_size(5) is None  # there are four
    x[:, 0] = 1.0
    assert best(x, y, 2, fixed=[0]) == [0, 1]
    assert search_of(x, y, candidates=[0]).best_of_size(1) is None
    x, _ = drawn(3, 400, 5)
    assert search_of(x, np.sign(x[:, 0] * x[:, 1])).best_of_size(2) is None


def test_column_order_does_not_matter():
    x, rng = drawn(4, 120, 12)
    y = x[:, :4] @ [1, 0.5, 0.3, 0.2] + rng.standard_normal(120)
    order = rng.permutation(12)
    for size in (2, 5):
        moved = best(x[:, order], y, size, candidates=np.argsort(order))
        assert sorted(order[moved].tolist()) == best(x, y, size)


def test_what_only_tells_clusters_apart_is_not_found():
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(12), 20)
    level = rng.standard_normal(12)
    x = rng.standard_normal((240, 4))
    x[:, 3] = rng.standard_normal(12)[clusters]  # differs between clusters only
    y = 0.3 * x[:, 0] + level[clusters] + 0.3 * rng.standard_normal(240)
    assert best(x, y, 1) == [3]
    assert best(x, y, 1, clusters=clusters) == [0]


def outcome(x, y, inside=(), family=GAUSSIAN, **options):
    """The score test of all other columns, and the additive columns."""
    columns = plain(binned(x))
    loss = family.loss.of(y, columns.weight)
    base = np.full((len(y), 1), family.loss.constant(y, columns.weight))
    fit = fit_additive(columns, list(inside), loss, base, ridges=[1.0])
    others = [j for j in range(x.shape[1]) if j not in inside]
    return score_test(columns, list(inside), fit, loss, others, **options), columns


def p_value(*arguments, **options):
    return outcome(*arguments, **options)[0].p_value


@pytest.mark.parametrize("cells", [1, 2_000])
def test_groups_are_read_in_parts_with_the_same_answers(monkeypatch, cells):
    """Of a group that has more cells than are held at once, too."""
    x, rng = drawn(3, 200, 5)
    y = x[:, 0] + x[:, 1] ** 2 + rng.standard_normal(200)
    sets, evidence = [best(x, y, size) for size in (1, 2)], outcome(x, y, [0])[0].evidence
    for module in (additive, additive_search):
        monkeypatch.setattr(module, "_CELLS", cells)
    assert [best(x, y, size) for size in (1, 2)] == sets
    np.testing.assert_allclose(outcome(x, y, [0])[0].evidence, evidence, rtol=1e-9)


def test_evidence_is_that_of_score_tests_of_linear_and_logistic_models():
    x, rng = drawn(0, 300, 2)
    y = 0.2 * x[:, 1] + rng.standard_normal(300)
    found, columns = outcome(x, y)
    own = columns.group(1)[0][0]  # normal scores
    r = np.corrcoef(own, y)[0, 1]
    statistic = len(y) * r**2 * (1 - 1 / len(y))
    assert found.evidence[1] == pytest.approx(-scipy.stats.chi2.logsf(statistic, 1), rel=1e-6)
    x, rng = drawn(1, 600, 2)
    y = (rng.random(600) < 1 / (1 + np.exp(-x[:, 0] - 0.4 * x[:, 1]))).astype(float)
    found, columns = outcome(x, y, [0], BINOMIAL)
    inside = np.column_stack([np.ones(600), columns.group(0)[0].T, columns.group(1)[0][0]])
    wald = sm.Logit(y, inside).fit(disp=0).tvalues[-1] ** 2
    assert found.evidence[0] == pytest.approx(-scipy.stats.chi2.logsf(wald, 1), rel=0.15)


@given(rows=st.integers(2, 12), columns=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_orthonormal_columns_span_the_same_and_leave_out_combinations(rows, columns, seed):
    x = np.random.default_rng(seed).integers(-1, 2, (rows, columns)).astype(float)
    x[:, columns // 2] = x[:, : columns // 2].sum(axis=1)  # a combination of those before it
    found = additive._orthonormal(x)
    assert found @ found.T == pytest.approx(x @ np.linalg.pinv(x, rcond=1e-9), abs=1e-9)
    ranks = [0, *(np.linalg.matrix_rank(x[:, : j + 1]) for j in range(columns))]
    assert found.any(axis=0).tolist() == np.diff(ranks).astype(bool).tolist()


@given(
    first=st.integers(1, 600),
    others=st.lists(st.integers(1, 60), min_size=1, max_size=7),
    seed=st.integers(0, 1000),
)
@settings(max_examples=50)
def test_no_function_of_a_few_values_is_rounding(first, others, seed):
    """A hinge below all scores is a straight line, and nothing without it: what rounding leaves of
    it would be a function of its own, another one on each machine."""
    values = np.repeat(np.arange(1.0 + len(others)), [first, *others])
    data = bin_columns([values], [bin_edges(values)], [0], np.zeros(1, dtype=np.int64))
    columns = plain(data)
    functions = columns.group(0)[0]
    assert (functions**2).mean(axis=1).min() > 1e-10
    y = np.random.default_rng(seed).standard_normal(len(values))[:, np.newaxis]
    loss = GAUSSIAN.loss.of(y[:, 0], np.ones(len(y)))
    fit = fit_additive(columns, [], loss, np.zeros_like(y), ridges=[1.0])
    found = [score_test(columns, [], fit, loss, [0]).evidence]
    functions *= 1 + 1e-13 * np.random.default_rng(seed).standard_normal(functions.shape)
    found.append(score_test(columns, [], fit, loss, [0]).evidence)
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_evidence_has_p_value_one_of_nothing_and_is_not_told_by_trees():
    x, _ = drawn(2, 50, 1)
    assert p_value(x, x[:, 0], [0]) == 1
    x, rng = drawn(4, 400, 3)
    y = x[:, 0] + 0.5 * x[:, 1] + 0.1 * rng.standard_normal(400)
    assert p_value(x, y, [0]) < 1e-4
    assert p_value(x, y, [0], explained=0.5 * x[:, [1]]) > 0.01


def test_p_values_are_uniform_beside_a_term_that_matters():
    found = []
    for seed in range(60):
        x, rng = drawn(1_000 + seed, 120, 6)
        found.append(p_value(x, x[:, 0] ** 2 + rng.standard_normal(120), [0]))
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01


@pytest.mark.parametrize("clusters", [None, np.arange(120) // 2])
def test_the_level_holds_beside_many_functions_and_with_many_columns(clusters):
    """Of a residual in another order the model takes as large a part again: without that, half of
    these p-values are below 0.05."""
    found = []
    for seed in range(24):
        x, rng = drawn(2_000 + seed, 120, 160)
        y = x[:, :5].sum(axis=1) + rng.standard_normal(120)
        found.append(p_value(x, y, range(5), clusters=clusters))
    assert np.mean(np.array(found) < 0.05) < 0.2
    assert np.median(found) > 0.2


@pytest.mark.parametrize(("counted", "low", "high"), [(True, 0.2, 1), (False, 0, 0.05)])
def test_clusters_are_counted_and_not_their_rows(counted, low, high):
    found, own = [], np.arange(200) % 50
    for seed in range(15):
        x, rng = drawn(1_000 + seed, 200, 4)
        y = rng.standard_normal(50)[own] + 0.3 * rng.standard_normal(200)
        found.append(p_value(x[own], y, clusters=own if counted else None))
    assert low < np.median(found) < high


@pytest.mark.parametrize(
    "effect",
    [lambda x: 0.25 * x[:, 0], lambda x: x @ np.full(16, 0.11), lambda x: np.abs(x[:, 0]) * 0.6],
    ids=["one", "many", "bent"],
)
def test_strong_and_many_weak_effects_are_seen(effect):
    x, rng = drawn(3, 300, 16)
    assert p_value(x, effect(x) + rng.standard_normal(300)) < 0.01


def test_strata_are_permuted_apart_in_any_order_of_columns():
    stratum = np.repeat([0.0, 1.0], 100)
    x, rng = drawn(5, 200, 1)
    x += stratum[:, np.newaxis]
    y = stratum + 0.1 * rng.standard_normal(200)
    assert p_value(x, y) < 0.01
    assert p_value(x, y, strata=stratum) > 0.001
    x, rng = drawn(6, 150, 5)
    y = 0.2 * x[:, 2] + rng.standard_normal(150)
    first, second = outcome(x, y)[0], outcome(x[:, ::-1], y)[0]
    assert first.p_value == second.p_value
    assert first.evidence == pytest.approx(second.evidence[::-1])


@pytest.mark.parametrize("strata", [None, np.arange(100) % 3])
def test_it_does_not_matter_how_many_draws_are_in_memory(monkeypatch, strata):
    x, rng = drawn(4, 100, 3)
    y, found = x[:, 0] + rng.standard_normal(100), []
    for at_once in (7, 2_000):
        monkeypatch.setattr("treeselect.engine.linear.additive._AT_ONCE", at_once)
        found.append(p_value(x, y, strata=strata))
    assert found[0] == found[1]


@pytest.mark.parametrize("shift", [1.0, 0.0, -1e-13])
def test_a_root_of_the_inverse_even_where_rounding_makes_a_matrix_indefinite(shift):
    functions = np.random.default_rng(4).normal(size=(3, 5))
    matrix = functions.T @ functions + shift * np.eye(5)
    root = additive_search._inverse_root(matrix)
    inside = functions.T  # where the inverse of all three is about that of the least squares
    np.testing.assert_allclose(matrix @ (root.T @ (root @ inside)), inside, rtol=1e-4, atol=1e-4)
