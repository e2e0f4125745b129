"""Bounds on the expected number of false selections."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.error_bounds import (
    concave_bound,
    largest_tail,
    unimodal_bound,
    worst_case_bound,
)
from treeselect.resampling.stability import Stability

# Printed by the R package stabs 0.6-4 for q = 1, ..., 10 of p = 100, cutoff 0.6 and 50 pairs.
UNIMODAL_IN_R = [
    0.02631579, 0.1052632, 0.2368421, 0.4210526, 0.6578947,
    0.9473684, 1.289474, 1.684211, 2.131579, 2.631579,
]  # fmt: skip
CONCAVE_IN_R = [
    0.006971364, 0.03342845, 0.08691176, 0.1637231, 0.2605329,
    0.3820466, 0.5295188, 0.7042719, 0.9077127, 1.141338,
]  # fmt: skip


def made(selected, scheme="complementary", kept=0):
    """Stability of selections made by hand; the first `kept` units are kept."""
    selected = np.asarray(selected, dtype=bool)
    p = selected.shape[1]
    return Stability(
        units=tuple(f"x{j}" for j in range(p)),
        fitted=selected[0],
        assessed=np.arange(p) >= kept,
        selected=selected,
        scheme=scheme,
        k=int(selected[0].sum()),
        seed=0,
    )


def guesses(p, q, n, seed=0):
    """n selections of q out of p at random."""
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(p) < q for _ in range(n)])


# --- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "p", "threshold", "bound"), [(1, 100, 0.6, 0.05), (10, 100, 0.6, 5.0), (3, 10, 1.0, 0.9)]
)
def test_worst_case_is_theorem_1(q, p, threshold, bound):
    assert worst_case_bound(q, p, threshold) == pytest.approx(bound)


def test_unimodal_and_concave_are_those_of_r():
    # R searches with a tolerance of 1e-4 in `a`, which is small for q = 1, and so finds less.
    for q in range(1, 11):
        assert unimodal_bound(q, 100, 0.6, 50) == pytest.approx(UNIMODAL_IN_R[q - 1], rel=1e-6)
        found = concave_bound(q, 100, 0.6, 50)
        assert found == pytest.approx(CONCAVE_IN_R[q - 1], rel=4e-3)
        assert found >= CONCAVE_IN_R[q - 1] * (1 - 1e-6)


def test_unimodal_above_three_quarters_is_that_of_r():
    assert unimodal_bound(3, 10, 0.96, 50) == pytest.approx(0.176, abs=5e-4)
    assert unimodal_bound(2, 9, 0.75, 50) == pytest.approx(0.4535147)


def test_a_threshold_between_two_frequencies_is_the_upper_one():
    for bound in (unimodal_bound, concave_bound):
        assert bound(3, 40, 0.70001, 10) == bound(3, 40, 0.75, 10)


@pytest.mark.parametrize(("q", "p", "n_pairs"), [(1, 9, 10), (4, 40, 25), (10, 1000, 50)])
def test_bounds_fall_with_the_threshold_and_with_the_assumption(q, p, n_pairs):
    thresholds = np.arange(n_pairs + 3, 2 * n_pairs + 1) / (2 * n_pairs)
    worst = [worst_case_bound(q, p, t) for t in thresholds]
    unimodal = [unimodal_bound(q, p, t, n_pairs) for t in thresholds]
    concave = [concave_bound(q, p, t, n_pairs) for t in thresholds]
    for bounds in (worst, unimodal, concave):
        assert (np.diff(bounds) < 0).all()
    assert (np.array(unimodal) < worst).all()
    assert (np.array(concave) < unimodal).all()


def is_concave(f, r):
    """Probabilities to the power r are convex on their support, which is an interval."""
    support = np.flatnonzero(f > 0)
    g = f[support] ** r
    return len(support) == support[-1] - support[0] + 1 and (np.diff(g, 2) > -1e-9 * g[2:]).all()


@pytest.mark.parametrize(("mean", "least", "r"), [(0.1, 3, -0.5), (0.2, 6, -0.5), (0.15, 4, -0.25)])
def test_no_concave_distribution_has_a_larger_tail(mean, least, r):
    """4000 draws of convex f^r: the largest comes near to the bound, and none above it."""
    n, rng = 8, np.random.default_rng(0)
    place, largest = np.arange(n + 1), 0.0
    for _ in range(4000):
        slopes = np.cumsum(rng.exponential(size=n) * (rng.random(n) < 0.3) * 10)
        g = np.concatenate([[0.0], np.cumsum(rng.exponential() + slopes)]) + rng.exponential()
        last = rng.integers(least, n + 1)
        f = np.where(place <= last, g ** (1 / r), 0.0)
        f /= f.sum()
        assert is_concave(f, r)
        if place @ f <= mean * n:
            largest = max(largest, f[least:].sum())
    bound = largest_tail(mean, least, n, r)
    assert 0.6 * bound < largest <= bound + 1e-9


def test_a_tail_below_twice_the_mean_is_not_bounded():
    assert largest_tail(0.25, 5, 10, -0.5) == 1.0
    assert largest_tail(0.25, 6, 10, -0.5) < 1.0


# --- what is false among what passed -------------------------------------------------------------


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
def test_guesses_pass_no_more_often_than_the_bound(assumption):
    """Units chosen at random are exchangeable noise: the mean number that passes over 200 draws."""
    passed, bound = [], math.nan
    for seed in range(200):
        found = made(guesses(10, 3, 10, seed)).pfer(0.7, assumption)
        passed.append(len(found.units))
        bound = found.bound
    assert 0 < np.mean(passed) <= bound


def test_noise_alone_passes_no_more_often_than_the_bound():
    """The same with a method on halves of data without signal."""
    passed, bound = 0, math.nan
    for seed in range(6):
        rng = np.random.default_rng(seed)
        columns = {f"x{j}": rng.normal(size=60) for j in range(6)}
        data = pd.DataFrame(columns | {"y": rng.normal(size=60)})
        fit = treeselect.select("y ~ .", data, method="importance", k=1, seed=seed, n_trees=5)
        found = fit.resample(10, scheme="complementary").stability.pfer(0.6)
        passed, bound = passed + len(found.units), found.bound
    assert bound == pytest.approx(1 / (0.2 * 6))
    assert passed / 6 <= bound


def test_pfer_by_hand():
    selected = np.zeros((10, 5), dtype=bool)
    selected[:, 0] = True  # kept
    selected[:, 1] = True
    selected[:6, 2] = True
    selected[6:, 3] = True
    found = made(selected, "subsample", kept=1).pfer(0.6)
    assert (found.q, found.p, found.n_resamples) == (2, 4, 10)
    assert found.bound == pytest.approx(2**2 / (0.2 * 4))
    assert found.units == ("x1", "x2")
    assert found.threshold == 0.6
    assert str(found).startswith("The bound is uninformative: up to 5 false selections are")
    assert not found.informative


def test_a_bound_is_compared_with_what_passed():
    selected = np.zeros((10, 400), dtype=bool)
    selected[:, :4] = True
    told = made(selected, "subsample").pfer(0.75)
    assert told.informative
    assert str(told).startswith("At most 0.08 false selections expected among 4 terms")
    alone = made(selected[:, :5], "subsample").pfer(0.75)
    assert not alone.informative
    assert "up to 6.4 false selections are expected" in str(alone)
    none = made(guesses(40, 2, 10), "subsample").pfer(0.95)
    assert none.units == ()
    assert none.informative
    assert str(none).startswith("No term with selection frequency 0.95 or more; the bound on")


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
@pytest.mark.parametrize("kept", [0, 1])
def test_the_way_out_of_a_bound_that_no_threshold_holds_works(assumption, kept):
    with pytest.raises(StabilityError, match="No threshold gives") as caught:
        made(guesses(20, 7, 20), kept=kept).threshold(0.09, assumption)
    k = int(
        re.search(r"`fit.resample\(20, scheme=\"complementary\", k=(\d+)\)`", str(caught.value))[1]
    )
    assert 0 < k < 7
    found = made(guesses(20, k, 20), kept=kept)
    assert found.pfer(found.threshold(0.09, assumption), assumption).bound <= 0.09
    more = made(guesses(20, k + 1, 20), kept=kept)
    with pytest.raises(StabilityError, match="No threshold gives"):
        more.threshold(0.09, assumption)


def test_the_way_out_where_even_one_unit_is_too_many():
    with pytest.raises(StabilityError, match="Even one on each resample needs") as caught:
        made(guesses(7, 3, 10)).threshold(0.01)
    pfer = float(re.search(r"`pfer=([\d.]+)`", str(caught.value))[1])
    assert made(guesses(7, 1, 10)).threshold(pfer) == 1.0


def bound_or_inf(stability, threshold, assumption):
    """The bound; infinite where the threshold is too low for one."""
    try:
        return stability.pfer(threshold, assumption).bound
    except OptionError:
        return math.inf


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
@pytest.mark.parametrize("pfer", [0.3, 1.0])
def test_threshold_is_the_lowest_that_holds_the_bound(assumption, pfer):
    stability = made(guesses(20, 2, 40))
    threshold = stability.threshold(pfer, assumption)
    assert stability.pfer(threshold, assumption).bound <= pfer
    lower = threshold - 1 / 40
    if lower > 0.5:
        assert bound_or_inf(stability, lower, assumption) > pfer


def test_threshold_of_r():
    """stabs finds 0.62 and 0.81 for q = 7 of p = 200, 50 pairs, and a bound of 0.2."""
    stability = made(guesses(200, 7, 100))
    assert stability.threshold(0.2, "r-concave") == pytest.approx(0.62)
    assert stability.threshold(0.2, "unimodal") == pytest.approx(0.81)


# --- refusals ------------------------------------------------------------------------------------


def test_bootstrap_has_no_bound():
    with pytest.raises(
        StabilityError, match=r'bootstrap resamples.\n  Use `fit.resample\(100, scheme="c'
    ):
        made(guesses(5, 2, 10), "bootstrap").pfer()


@pytest.mark.parametrize("assumption", ["unimodal", "r-concave"])
def test_stronger_assumptions_need_whole_pairs(assumption):
    with pytest.raises(StabilityError, match="complementary pairs only"):
        made(guesses(5, 2, 10), "subsample").pfer(0.8, assumption)
    with pytest.raises(StabilityError, match="complete pairs"):
        made(guesses(5, 2, 11)).threshold(1, assumption)


def test_a_tuning_value_has_no_bound_in_files_either(mixed, tmp_path):
    fit = treeselect.select("dose ~ . - died", mixed, method="rrf", lam=0.9, n_trees=10, seed=1)
    free = fit.resample(8, scheme="complementary").stability
    assert len(set(free.selected.sum(axis=1))) > 1
    with pytest.raises(StabilityError, match="a tuning parameter determines"):
        free.pfer()
    fixed = fit.resample(8, scheme="complementary", k=2)
    assert fixed.stability.pfer().q == 2
    loaded = treeselect.load(fit.resample(8, scheme="complementary").save(tmp_path / "free"))
    with pytest.raises(StabilityError, match="a tuning parameter determines"):
        loaded.stability.pfer()
    loaded = treeselect.load(fixed.save(tmp_path / "fixed"))
    assert loaded.stability.pfer() == fixed.stability.pfer()


def test_kept_units_alone_have_no_bound():
    with pytest.raises(StabilityError, match="every selected term is forced in"):
        made([[1, 0, 0]] * 4, kept=1).pfer()


@pytest.mark.parametrize("threshold", [0.5, 0.4, 1.01, "high", True, None, math.nan])
def test_thresholds_that_are_not_allowed(threshold):
    with pytest.raises(OptionError, match=r"`threshold` must be a number above 0.5 and at most 1"):
        made(guesses(5, 2, 10)).pfer(threshold)


@pytest.mark.parametrize("pfer", [0, -1, math.inf, math.nan, "one", True])
def test_bounds_that_can_not_be_asked_for(pfer):
    with pytest.raises(OptionError, match="`pfer` must be a number above 0"):
        made(guesses(5, 2, 10)).threshold(pfer)


def test_a_bound_that_no_threshold_holds():
    with pytest.raises(
        StabilityError, match=r"No threshold gives a bound of at most 0.1: at threshold 1 it is 0.8"
    ):
        made(guesses(5, 2, 10)).threshold(0.1)


def test_assumptions_are_checked():
    with pytest.raises(OptionError, match="`assumption` must be one of"):
        made(guesses(5, 2, 10)).pfer(0.8, "convex")


def test_too_many_units_for_a_shape():
    with pytest.raises(OptionError, match="at most 5 selected of 9"):
        made(guesses(9, 6, 10)).pfer(0.8, "unimodal")
    with pytest.raises(OptionError, match="at most 4 selected of 9"):
        made(guesses(9, 5, 10)).pfer(0.8, "r-concave")


def test_thresholds_too_low_for_a_shape_name_the_lowest():
    stability = made(guesses(20, 2, 10))
    with pytest.raises(OptionError, match=r"`threshold` must be at least 0.7 for this bound"):
        stability.pfer(0.6, "unimodal")
    assert stability.pfer(0.7, "unimodal").bound < stability.pfer(0.7).bound
    crowded = made(guesses(9, 4, 10))
    with pytest.raises(OptionError, match=r"`threshold` must be at least 0.8 for this bound"):
        crowded.pfer(0.7, "r-concave")
    assert crowded.pfer(0.8, "r-concave").bound < 9


def test_few_pairs():
    with pytest.raises(OptionError, match="needs more than 2 resamples"):
        made(guesses(5, 1, 2)).pfer(0.9, "unimodal")
    with pytest.raises(OptionError, match="needs more than 2 resamples"):
        made(guesses(2, 1, 2)).threshold(3, "r-concave")
    assert concave_bound(1, 4, 0.75, 2) == worst_case_bound(1, 4, 0.75)


# --- what the summary says -----------------------------------------------------------------------


def test_summary_says_what_passed_where_a_bound_holds(fitted):
    bootstrap = str(fitted.summary())
    assert "without signal" not in bootstrap
    many = fitted.resample(10, scheme="complementary")
    assert not many.stability.pfer().informative
    assert "the bound is uninformative" in " ".join(str(many.summary()).split())
    drawn = np.tile([unit == fitted.groups[0] for unit in many.stability.units], (10, 1))
    pairs = dataclasses.replace(
        many, resampled=dataclasses.replace(many.resampled, selected=drawn, k=1)
    )
    found = pairs.stability.pfer()
    text = " ".join(str(pairs.summary()).split())
    assert found.units
    named = ", ".join(found.units)
    assert f"Selected in at least 75% of the 10 resamples: {named}. At most" in text
    assert f"At most {found.bound:.2g} terms without signal are expected among them" in text


def test_constant_terms_are_none_to_select_from():
    """Forty of them would let any noise pass."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")).assign(
        y=rng.normal(size=60)
    )
    wide = data.assign(**{f"same{i}": 1.0 for i in range(40)})
    draw = {"k": 1, "scheme": "complementary", "seed": 1}
    plain, more = (
        treeselect.select("y ~ .", frame, method="lasso", k=1, keep="d", seed=1)
        .resample(10, **draw | {"k": 2}, path=True)
        .stability
        for frame in (data, wide)
    )
    assert more.assessed.sum() == 3
    assert more.kept.sum() == 1
    assert (more.index, more.pfer().bound) == (plain.index, plain.pfer().bound)
    ours, theirs = (s.q_values().set_index("term")["efp"] for s in (more, plain))
    assert ours.to_dict() == theirs.to_dict()
