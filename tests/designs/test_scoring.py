"""Scores of users' own, and scores of times to an event."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.model_selection import LeaveOneOut, PredefinedSplit

import treeselect
from treeselect.designs.families import BINOMIAL, COX, GAUSSIAN, KINDS, POISSON, family_of
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.response import read_response
from treeselect.designs.scoring import check_scoring, frozen_model, scoring_record, with_scoring
from treeselect.engine.survival.times import EVENT, STOP, STRATUM
from treeselect.errors import OptionError
from treeselect.formula import parse_formula

QUICK = {"method": "mrmr", "seed": 1}
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


def test_functions_and_scorers_that_were_made():
    right = (P > 0.4) == TWO
    plain, weighted = (with_scoring(BINOMIAL, own) for own in (half_right, weighted_half_right))
    assert plain.score_name == "half_right"
    assert plain.score(TWO, P, WEIGHT) == right[USED].mean()
    assert weighted.score(TWO, P, WEIGHT) == np.average(right, weights=WEIGHT)
    beta = metrics.make_scorer(metrics.fbeta_score, beta=2)
    family = with_scoring(BINOMIAL, beta)
    assert family.score_name == "fbeta_score"
    expected = metrics.fbeta_score(Y, LABEL, beta=2, sample_weight=W)
    assert family.score(TWO, P, WEIGHT) == pytest.approx(expected)
    family = with_scoring(GAUSSIAN, metrics.make_scorer(metrics.max_error, greater_is_better=False))
    assert family.score_name == "neg_max_error"
    found = family.score(NUMBERS, FITTED, WEIGHT)
    assert found == -metrics.max_error(NUMBERS[USED], FITTED[USED])
    pairs = with_scoring(CLASSES, "roc_auc_ovo").score(THREE, SHARES, np.full(N, 2))  # no weights
    assert pairs == metrics.roc_auc_score(THREE, SHARES, multi_class="ovo")
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
)  # fmt: skip
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


def test_names_of_scores_in_a_fit_and_folds_of_one_value(tmp_path, mixed):
    by_log_loss = treeselect.select(
        "died ~ signal + site + noise", mixed, folds=3, scoring="neg_log_loss", **QUICK
    )
    assert by_log_loss.glance()["score"].tolist() == ["neg_log_loss"]
    text = by_log_loss.summary().as_text()
    assert "neg_log_loss:" in text
    assert "best neg_log_loss at k =" in " ".join(text.split())
    assert "AUC" not in text
    page = by_log_loss.report(tmp_path / "report.html").read_text()
    assert "neg_log_loss, cross-validated" in page
    assert "AUC" not in page
    path = by_log_loss.path
    assert (path["cv_score"] < 0).all()
    assert by_log_loss.k > 0
    assert path["cv_score"].iloc[-1] > path["cv_score"].iloc[0]
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


def test_scores_of_times_and_numbers_are_not_mixed_up():
    frame = pd.DataFrame({"time": [3.0, 2.0, 5.0], "event": [1, 1, 0], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(OptionError, match="for times to an event, which are relative risks"):
        prepare(
            Request("Surv(time, event) ~ x", scoring=metrics.make_scorer(metrics.r2_score)), frame
        )
    with pytest.raises(OptionError, match=r"'uno_c'. That score is for times to an event"):
        with_scoring(GAUSSIAN, "uno_c")
    named = scored("harrell_c")
    assert (named.score_name, named.score_words) == (COX.score_name, COX.score_words)
    assert named.score(PLAIN.y, RISK, FIRST) == COX.score(PLAIN.y, RISK, FIRST)
    assert scoring_record(COX) is None
    assert scoring_record(named) == ["harrell_c", True]


# --- scores of times: scikit-survival's numbers, their definitions, and what is refused -----------


REFERENCE = Path(__file__).parents[1] / "reference"
DATA = pd.read_csv(REFERENCE / "survival_data.csv")
OF_PYTHON = pd.read_csv(REFERENCE / "survival_python.csv").set_index("figure")["value"]
RISK = np.exp(DATA[["x", "z"]].to_numpy() @ [0.7, -0.4])
FIRST = (np.arange(len(DATA)) < 60).astype(float)
WEIGHTS = {"all": np.ones(len(DATA)), "real": DATA["weight"].to_numpy()}


def times(formula="Surv(stop, event) ~ x", data=DATA):
    """The response of some rows."""
    parsed = parse_formula(formula, list(data.columns))
    return read_response(parsed, data, "auto", np.ones(len(data)))


PLAIN = times()
STRATA = times("Surv(stop, event) ~ x + strata(site)")


def scored(scoring, response=PLAIN):
    """The family with a score."""
    return with_scoring(COX, scoring, response.follow_up)


@pytest.mark.parametrize(("scoring", "figure"), [("harrell_c", "harrell"), ("uno_c", "uno")])
def test_held_out_rows_are_scored_as_by_scikit_survival(scoring, figure):
    np.testing.assert_array_equal(PLAIN.follow_up.span, OF_PYTHON["split_span"])
    found = scored(scoring).held_out_score(PLAIN.y, RISK, 1 - FIRST, FIRST)
    assert found == pytest.approx(OF_PYTHON[f"split_{figure}"], abs=1e-8)


def test_brier_scores_are_of_the_survival_that_r_predicts(monkeypatch):
    """With ties: by Efron's hazard, as `predict`."""
    of_r = pd.read_csv(REFERENCE / "survival.csv").set_index("figure")["value"]
    for _ in range(2):
        found = scored("integrated_brier").held_out_score(PLAIN.y, RISK, 1 - FIRST, FIRST)
        assert found == pytest.approx(of_r["split_brier"], abs=1e-8)
        monkeypatch.setattr("treeselect.engine.survival.curves._AT_ONCE", 1)  # time by time


def test_deviance_by_its_definition_and_brier_scores_that_are_none():
    y = PLAIN.y[np.unique(PLAIN.y[:, STOP], return_index=True)[1]]  # no ties
    eta = np.linspace(-1, 2, len(y)) ** 2
    at_risk = y[:, STOP] >= y[:, STOP, np.newaxis]
    dies = y[:, EVENT] > 0

    def deviance(eta):
        return (np.log((at_risk * np.exp(eta)).sum(axis=1)) - eta)[dies].sum()

    found = scored("cox_deviance").score(y, np.exp(eta), np.ones(len(y)))
    assert found == pytest.approx(1 - deviance(eta) / deviance(0 * eta), abs=1e-12)
    family, site = scored("integrated_brier", STRATA), STRATA.y[:, STRATUM]
    train, one = FIRST * (site != 1), site == 1
    found, without, alone = (
        family.held_out_score(STRATA.y, RISK, (1 - FIRST) * test, train) for test in (1, ~one, one)
    )
    assert found == without
    assert np.isnan(alone)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("response", [PLAIN, STRATA], ids=["plain", "strata"])
@pytest.mark.parametrize("scoring", KINDS)
def test_equal_risks_explain_nothing_and_only_ratios_of_risks_count(scoring, response, weight):
    family, weight = scored(scoring, response), WEIGHTS[weight]
    test, train = weight * (1 - FIRST), weight * FIRST
    none = family.held_out_score(response.y, np.full(len(RISK), 2.0), test, train)
    assert none == pytest.approx(family.null_score, abs=1e-12)
    found, of_more, of_copies = (
        family.held_out_score(response.y, risk, factor * test, factor * train)
        for risk, factor in ((RISK, 1), (1000 * RISK, 1), (RISK, 3))
    )
    assert abs(found - none) > 1e-3
    assert of_more == pytest.approx(found, abs=1e-9)
    assert of_copies == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("scoring", KINDS)
def test_training_rows_have_a_say_where_needed_and_what_is_missing_no_score(scoring):
    family = scored(scoring)
    found, alone = (
        family.held_out_score(PLAIN.y, RISK, 1 - FIRST, train) for train in (FIRST, 1 - FIRST)
    )
    rows = FIRST == 0
    assert family.score(PLAIN.y[rows], RISK[rows], np.ones(rows.sum())) == pytest.approx(alone)
    assert (abs(found - alone) > 1e-6) == KINDS[scoring].needs_training
    family, some = scored(scoring), np.where(np.arange(len(RISK)) == 70, np.nan, RISK)
    assert np.isnan(family.held_out_score(PLAIN.y, some, 1 - FIRST, FIRST))
    censored = PLAIN.y * [1, 1, 0, 1]
    assert np.isnan(family.held_out_score(censored, RISK, 1 - FIRST, FIRST))


@pytest.mark.parametrize(
    ("scoring", "said"),
    [
        ("harell_c", "Did you mean `harrell_c`"),
        (3, 'Found: 3. Use "harrell_c", "uno_c", "integrated_brier" or "cox_deviance".'),
    ],
)
def test_unknown_scores_time_scores(scoring, said):
    with pytest.raises(OptionError, match=f"(?s)must be a score of times to an event.*{said}"):
        scored(scoring)


def test_late_entries_have_no_scores_weighted_by_censoring():
    late = times("Surv(start, stop, event) ~ x", DATA.assign(start=DATA["start"].clip(0)))
    for scoring, kind in KINDS.items():
        family = scored(scoring, late)
        if kind.needs_training:
            with pytest.raises(OptionError, match=r'start time. Use "harrell_c" or "cox_deviance"'):
                check_scoring(family, late.y, FIRST)
        else:
            check_scoring(family, late.y, FIRST)


# --- in a fit ----------------------------------------------------------------------------------

OPTIONS = {"method": "stepwise", "folds": 3, "seed": 1}
FORMULA = "Surv(stop, event) ~ x + z"


def test_what_is_printed_says_what_the_score_is_and_folds_need_pairs():
    by_brier = treeselect.select(FORMULA, DATA, k="best", scoring="integrated_brier", **OPTIONS)
    text = " ".join(by_brier.summary().as_text().split())
    assert "Brier R2:" in text
    assert "Brier R2: 1 minus the ratio of the integrated Brier score" in text
    assert "to 14, the time by which 90% of the events occur" in text
    outer = by_brier.performance(folds=2, scoring="harrell_c")
    assert "C: Harrell's concordance" in " ".join(outer.summary().as_text().split())
    assert "Brier R2" in " ".join(outer.summary().as_text().split())  # which chose k
    assert "Brier R2: 1 minus" in by_brier.search.learning_curve([1.0], 2).words
    place = np.arange(len(DATA))
    held_out = PredefinedSplit(np.where((DATA["event"] == 0) & (place % 3 == 0), 0, 1 + place % 2))
    with pytest.raises(OptionError, match='"integrated_brier"`, which needs no pairs of rows'):
        treeselect.select(FORMULA, DATA, k="best", **OPTIONS | {"folds": held_out})
    fit = treeselect.select(
        FORMULA, DATA, k="best", scoring="integrated_brier", **OPTIONS | {"folds": held_out}
    )
    assert np.isfinite(fit.search.scores.scores).all()
