"""Scores of one's own: those of scikit-learn against its metrics, functions, and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.model_selection import LeaveOneOut

import treeselect
from treeselect.designs.families import BINOMIAL, GAUSSIAN, POISSON, family_of
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.scoring import check_scoring, frozen_model, with_scoring
from treeselect.errors import OptionError

QUICK = {"method": "controlburn", "forests": 1, "n_trees": 10, "seed": 1}
RNG = np.random.default_rng(4)
N = 60
WEIGHT = RNG.integers(0, 4, N)
USED = WEIGHT > 0
TWO = RNG.integers(0, 2, N).astype(float)
P = np.clip(0.3 * TWO + RNG.random(N) * 0.7, 0, 1)
THREE = np.arange(N) % 3 * 1.0
SHARES = RNG.dirichlet([2, 2, 2], N)
NUMBERS = RNG.normal(size=N)
FITTED = NUMBERS + RNG.normal(size=N)
COUNTS = RNG.poisson(2, N).astype(float)
MEANS = np.clip(COUNTS + RNG.normal(size=N), 0, None)  # some are 0, which a deviance can't take

Y, Y3, W = TWO[USED].astype(int), THREE[USED].astype(int), WEIGHT[USED]
LABEL = (P[USED] >= 0.5).astype(int)
CLASSES = family_of("multinomial", 3)


MEAN = np.clip(MEANS[USED], 1e-6, None)
BY_SCIKIT_LEARN = {
    (BINOMIAL, "roc_auc"): metrics.roc_auc_score(Y, P[USED], sample_weight=W),
    (BINOMIAL, "neg_log_loss"): -metrics.log_loss(Y, P[USED], sample_weight=W),
    (BINOMIAL, "neg_brier_score"): -metrics.brier_score_loss(Y, P[USED], sample_weight=W),
    (BINOMIAL, "average_precision"): metrics.average_precision_score(Y, P[USED], sample_weight=W),
    (BINOMIAL, "balanced_accuracy"): metrics.balanced_accuracy_score(Y, LABEL, sample_weight=W),
    (BINOMIAL, "matthews_corrcoef"): metrics.matthews_corrcoef(Y, LABEL, sample_weight=W),
    (CLASSES, "accuracy"): metrics.accuracy_score(Y3, SHARES[USED].argmax(1), sample_weight=W),
    (CLASSES, "neg_log_loss"): -metrics.log_loss(Y3, SHARES[USED], sample_weight=W),
    (CLASSES, "roc_auc_ovr"): metrics.roc_auc_score(
        Y3, SHARES[USED], multi_class="ovr", sample_weight=W
    ),
    (GAUSSIAN, "r2"): metrics.r2_score(NUMBERS[USED], FITTED[USED], sample_weight=W),
    (POISSON, "neg_mean_poisson_deviance"): -metrics.mean_poisson_deviance(
        COUNTS[USED], MEAN, sample_weight=W
    ),
}
VALUES = {BINOMIAL: (TWO, P), CLASSES: (THREE, SHARES), GAUSSIAN: (NUMBERS, FITTED),
          POISSON: (COUNTS, MEANS)}  # fmt: skip


@pytest.mark.parametrize(
    ("family", "scoring"), BY_SCIKIT_LEARN, ids=lambda given: getattr(given, "name", given)
)
def test_scores_of_scikit_learn(family, scoring):
    with_score = with_scoring(family, scoring)
    assert with_score.score_name == scoring
    found = with_score.score(*VALUES[family], WEIGHT)
    assert found == pytest.approx(BY_SCIKIT_LEARN[family, scoring], abs=1e-9)


def half_right(y_true, prediction):
    return float(((prediction > 0.4) == y_true).mean())


def weighted_half_right(y_true, prediction, sample_weight=None):
    return float(np.average((prediction > 0.4) == y_true, weights=sample_weight))


def test_functions():
    right = (P > 0.4) == TWO
    plain, weighted = (
        with_scoring(BINOMIAL, half_right),
        with_scoring(BINOMIAL, weighted_half_right),
    )
    assert plain.score_name == "half_right"
    assert plain.score(TWO, P, WEIGHT) == right[USED].mean()
    assert weighted.score(TWO, P, WEIGHT) == np.average(right, weights=WEIGHT)


def test_a_scorer_that_was_made():
    beta = metrics.make_scorer(metrics.fbeta_score, beta=2)
    family = with_scoring(BINOMIAL, beta)
    assert family.score_name == "fbeta_score"
    expected = metrics.fbeta_score(Y, LABEL, beta=2, sample_weight=W)
    assert family.score(TWO, P, WEIGHT) == pytest.approx(expected)


def test_a_scorer_that_takes_no_weights_and_turns_an_error_round():
    family = with_scoring(GAUSSIAN, metrics.make_scorer(metrics.max_error, greater_is_better=False))
    assert family.score_name == "neg_max_error"
    found = family.score(NUMBERS, FITTED, WEIGHT)
    assert found == -metrics.max_error(NUMBERS[USED], FITTED[USED])


def test_the_frozen_model_has_predicted_already():
    model = frozen_model(np.array([0.2, 0.5]), 2)
    assert model.predict(None).tolist() == [0, 1]
    assert model.predict_proba(None).tolist() == [[0.8, 0.2], [0.5, 0.5]]
    assert not hasattr(frozen_model(np.array([1.5]), 0), "predict_proba")


@pytest.mark.parametrize(
    ("family", "y", "scoring", "said"),
    [
        (GAUSSIAN, NUMBERS, "roc_auc", "numeric response.\n  Found: `roc_auc`, which needs class"),
        (GAUSSIAN, NUMBERS, "neg_mean_squared_log_error", "which says: ValueError"),
        (CLASSES, THREE, "f1", "3 classes.\n  Found: `f1`, which says"),
        (BINOMIAL, TWO, lambda y: 1.0, "2 classes.\n  Found: `<lambda>`, which says: TypeError"),
        (BINOMIAL, TWO, lambda y, p: "good", "which says: ValueError: could not convert"),
    ],
)
def test_what_the_model_does_not_predict(family, y, scoring, said):
    with pytest.raises(OptionError, match=f"(?s)`scoring` must be a score of .* for .*{said}"):
        check_scoring(with_scoring(family, scoring), y, WEIGHT)


@pytest.mark.parametrize(
    ("scoring", "said"),
    [("roc_acu", "Did you mean `roc_auc`"), (3, "Found: 3"), ("!", "Examples: `roc_auc`, `r2`")],
)
def test_unknown_scores(mixed, scoring, said):
    with pytest.raises(
        OptionError, match=f"(?s)`scoring` must be the name of a scikit-learn scorer.*{said}"
    ):
        treeselect.select("died ~ signal", mixed, scoring=scoring, **QUICK)


# --- in a fit ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_log_loss(mixed):
    return treeselect.select(
        "died ~ signal + site + noise", mixed, folds=3, scoring="neg_log_loss", **QUICK
    )


def test_its_name_stands_everywhere(by_log_loss, tmp_path):
    assert by_log_loss.glance()["score"].tolist() == ["neg_log_loss"]
    text = by_log_loss.summary().as_text()
    assert "neg_log_loss:" in text
    assert "best neg_log_loss at k =" in " ".join(text.split())
    assert "AUC" not in text
    page = by_log_loss.report(tmp_path / "report.html").read_text()
    assert "neg_log_loss, cross-validated" in page
    assert "AUC" not in page


def test_greater_is_better(by_log_loss):
    path = by_log_loss.path
    assert (path["cv_score"] < 0).all()
    assert by_log_loss.k > 0
    assert path["cv_score"].iloc[-1] > path["cv_score"].iloc[0]


def test_the_score_of_scikit_learn_is_the_familys_own(mixed):
    own, same = (
        treeselect.select("died ~ signal + site", mixed, folds=3, scoring=scoring, **QUICK)
        for scoring in (None, "roc_auc")
    )
    assert np.allclose(own.search.scores.scores, same.search.scores.scores, atol=1e-12)
    assert np.allclose(
        own.path["train_score"], same.path["train_score"], atol=1e-12, equal_nan=True
    )


def test_one_value_in_a_fold_will_do_for_some_scores(mixed):
    few = mixed.head(30)
    fit = treeselect.select("died ~ signal", few, folds=LeaveOneOut(), scoring="accuracy", **QUICK)
    assert set(np.unique(fit.search.scores.scores)) <= {0.0, 1.0}
    with pytest.raises(OptionError, match=r"defined for the held-out rows.*\n.*`roc_auc` is nan"):
        treeselect.select("died ~ signal", few, folds=LeaveOneOut(), scoring="roc_auc", **QUICK)


# --- times to an event ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "fields"),
    [
        ("Surv(stop, event) ~ x", ("event", "time")),
        ("Surv(begin, stop, event) ~ x", ("event", "time", "start", "stratum")),
        ("Surv(stop, event) ~ x + strata(site)", ("event", "time", "start", "stratum")),
    ],
)
def test_a_score_of_times_gets_them_as_scikit_survival_has_them(formula, fields):
    """Of rows of one stratum, too: the fields are those of the formula."""
    frame = pd.DataFrame(
        {"begin": [0.0, 1.0, 0.0], "stop": [3.0, 2.0, 5.0], "event": [True, True, False],
         "x": [1.0, 2.0, 3.0], "site": ["b", "a", "b"]}
    )  # fmt: skip
    seen = []

    def largest(y_true, prediction):
        seen.append((y_true, prediction))
        return 7.0

    response = prepare(Request(formula, scoring=largest), frame).response
    y, prediction = response.y[:2], np.array([2.0, 1.0])
    assert response.family.score(y, prediction, np.array([1.0, 0.0])) == 7.0
    assert (seen[0][1] == 1).all()  # of the constant model, when it was asked for
    truth, known = seen[-1]
    assert truth.dtype.names == fields
    assert (truth["event"].tolist(), truth["time"].tolist()) == ([True], [3.0])
    assert truth["event"].dtype == bool
    assert known.tolist() == [2.0]
    assert response.family.score_name == "largest"


def test_a_score_of_numbers_does_not_fit_times():
    frame = pd.DataFrame({"time": [3.0, 2.0, 5.0], "event": [1, 1, 0], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(OptionError, match="for times to an event, which are relative risks"):
        prepare(
            Request("Surv(time, event) ~ x", scoring=metrics.make_scorer(metrics.r2_score)), frame
        )
