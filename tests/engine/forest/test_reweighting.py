"""SAMME."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.engine.forest.boosting import reweight


def test_two_classes_are_adaboost():
    """After the step the round's classifier is as good as guessing."""
    weight = np.array([1.0, 2.0, 3.0, 0.0, 4.0])
    wrong = np.array([True, False, False, True, False])
    found = reweight(weight, wrong, 2)
    assert found.error == pytest.approx(0.1)
    assert found.vote == pytest.approx(np.log(9))
    assert found.weight.sum() == pytest.approx(1)
    assert found.weight[wrong].sum() == pytest.approx(0.5)
    assert found.weight[3] == 0


def test_more_classes_vote_while_they_beat_guessing():
    weight = np.ones(10)
    wrong = np.arange(10) < 6
    assert reweight(weight, wrong, 2).vote == 0
    found = reweight(weight, wrong, 4)
    assert found.vote == pytest.approx(np.log(4 / 6) + np.log(3))
    # Guessing among K classes is right in 1 / K.
    assert found.weight[wrong].sum() == pytest.approx(0.75)


@pytest.mark.parametrize("wrong", [np.zeros(4, dtype=bool), np.ones(4, dtype=bool)])
def test_no_error_and_nothing_but_errors_begin_anew(wrong):
    found = reweight(np.array([0.5, 0.3, 0.2, 0.0]), wrong, 3)
    np.testing.assert_allclose(found.weight, [1 / 3, 1 / 3, 1 / 3, 0])
    assert np.isfinite(found.vote)
    assert (found.vote > 0) == (not wrong.any())
