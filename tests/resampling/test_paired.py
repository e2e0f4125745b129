import numpy as np
import pytest
from scipy import stats

from treeselect.resampling.cross_validation import paired_difference


def test_without_shared_rows_it_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(size=(2, 12))
    found = paired_difference(ours - theirs, 0.0)
    expected = stats.ttest_rel(ours, theirs)
    low, high = expected.confidence_interval(0.95)
    np.testing.assert_allclose(
        (found.mean, found.low, found.high, found.p_value),
        ((ours - theirs).mean(), low, high, expected.pvalue),
    )


def test_the_variance_grows_by_the_share_of_held_out_rows():
    differences = np.array([0.01, 0.03, 0.02, 0.06])
    # Five equal folds would have n_test / n_train = 1 / 4: (1 / 4 + 1 / 4) times the variance.
    found = paired_difference(differences, 0.25)
    error = np.sqrt(0.5 * np.sum((differences - 0.03) ** 2) / 3)
    half = stats.t.ppf(0.975, 3) * error
    np.testing.assert_allclose((found.low, found.high), (0.03 - half, 0.03 + half))
    np.testing.assert_allclose(found.p_value, 2 * stats.t.sf(0.03 / error, 3))


def test_no_differences_are_no_difference():
    found = paired_difference(np.zeros(5), 0.25)
    assert (found.mean, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("differences", [np.full(5, 0.5), np.array([0.3 - 0.2, 0.4 - 0.3, 0.1])])
def test_equal_differences_do_not_tell_how_far_chance_goes(differences):
    """One more row right in each of few folds, by accuracy, is no evidence beyond doubt."""
    found = paired_difference(differences, 0.25)
    np.testing.assert_allclose(found.mean, differences[0])
    assert np.isnan([found.low, found.high, found.p_value]).all()


def test_one_fold_has_no_interval():
    found = paired_difference(np.array([0.2]), 0.5)
    assert found.mean == 0.2
    assert np.isnan([found.low, found.high, found.p_value]).all()
