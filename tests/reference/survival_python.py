"""What lifelines 0.30.3 and scikit-survival 0.28.0 say of survival_data.csv: writes
survival_python.csv beside this script.

python survival_python.py    (needs those two; survival.R writes the data)
"""

from __future__ import annotations

from pathlib import Path

import lifelines
import numpy as np
import pandas as pd
from lifelines.utils import concordance_index
from sksurv.linear_model.coxph import BreslowEstimator, CoxPHOptimizer
from sksurv.metrics import (
    brier_score,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.util import Surv

HERE = Path(__file__).parent
COEFFICIENTS = np.array([0.7, -0.4])
TRAINING = 60
"""So many rows, the first, tell the censoring to the others."""
TIMES = np.arange(2.0, 13.0)

data = pd.read_csv(HERE / "survival_data.csv")
rows: list[tuple[str, str, int, float]] = []


def note(package: str, figure: str, values: object) -> None:
    """Keep some numbers."""
    flat = np.atleast_1d(np.asarray(values, dtype=float)).ravel()
    rows.extend((package, figure, place, value) for place, value in enumerate(flat))


def of_scikit_survival() -> None:
    """Likelihood, curves and scores, without late entries or weights."""
    x, z = data[["x", "z"]].to_numpy(), data["z"].to_numpy()
    event, stop = data["event"].to_numpy() > 0, data["stop"].to_numpy(dtype=float)
    cox = CoxPHOptimizer(x, event, stop, alpha=np.zeros(2), ties="efron")
    note("sksurv", "loglik", -len(data) * cox.nlog_likelihood(COEFFICIENTS))
    cox.update(COEFFICIENTS)
    note("sksurv", "score", -len(data) * cox.gradient)
    note("sksurv", "information", len(data) * cox.hessian)
    baseline = BreslowEstimator().fit(x @ COEFFICIENTS, event, stop)
    note("sksurv", "breslow", baseline.cum_baseline_hazard_(TIMES))
    entered = np.maximum(data["start"].to_numpy(dtype=float), 0.0) + 1e-6
    for name, late in (("plain", None), ("late", np.where(data["start"] < 0, 0.0, entered))):
        times, survival, limits = kaplan_meier_estimator(
            event, stop, time_enter=late, conf_type="log-log"
        )
        of_ends = np.isin(times, stop)  # theirs has the entries, too
        note("sksurv", f"survival_{name}", survival[of_ends])
        note("sksurv", f"limits_{name}", limits[:, of_ends])
    _, survival = kaplan_meier_estimator(event, stop, reverse=True)
    note("sksurv", "censoring", survival)
    both = Surv.from_arrays(event, stop)
    first, others = both[:TRAINING], both[TRAINING:]
    note("sksurv", "harrell", concordance_index_censored(event, stop, z))
    note("sksurv", "uno", concordance_index_ipcw(both, both, z, tau=14.0)[0])
    note("sksurv", "uno_of_others", concordance_index_ipcw(first, others, z[TRAINING:], tau=9.0)[0])
    ended = Surv.from_arrays(event & (stop <= 13), np.minimum(stop, 13.5))
    note("sksurv", "areas", cumulative_dynamic_auc(ended, ended, z, TIMES)[0])
    predicted = np.exp(-np.outer(np.exp(0.3 * z), 0.08 * TIMES))
    note("sksurv", "brier", brier_score(both, both, predicted, TIMES)[1])
    note("sksurv", "brier_of_others", brier_score(first, others, predicted[TRAINING:], TIMES)[1])
    note("sksurv", "integrated", integrated_brier_score(both, both, predicted, TIMES))
    of_a_split(x @ COEFFICIENTS, both, event, stop)


def of_a_split(eta: np.ndarray, both: np.ndarray, event: np.ndarray, stop: np.ndarray) -> None:
    """Scores of the other rows by a model of the first ones, over the span of 90 % of the
    events."""
    first, others = both[:TRAINING], both[TRAINING:]
    span = stop[event].min(), np.quantile(stop[event], 0.9, method="inverted_cdf")
    note("sksurv", "split_span", span)
    harrell = concordance_index_censored(event[TRAINING:], stop[TRAINING:], eta[TRAINING:])
    note("sksurv", "split_harrell", harrell[0])
    uno = concordance_index_ipcw(first, others, eta[TRAINING:], tau=span[1])
    note("sksurv", "split_uno", uno[0])


def of_lifelines() -> None:
    """Likelihood with late entries and weights, Kaplan and Meier's curve with these."""
    x, event = data[["x", "z"]].to_numpy(), data["event"].to_numpy() > 0
    stop, weight = data["stop"].to_numpy(dtype=float), data["weight"].to_numpy()
    entry = np.maximum(data["start"].to_numpy(dtype=float), 0.0)
    order = np.argsort(stop, kind="stable")
    fitter = lifelines.fitters.coxph_fitter.SemiParametricPHFitter()
    hessian, gradient, loglik = fitter._get_efron_values_single(
        pd.DataFrame(x[order]), pd.Series(stop[order]), pd.Series(event[order]),
        pd.Series(weight[order]), None, COEFFICIENTS,
    )  # fmt: skip
    note("lifelines", "loglik_weighted", loglik)
    note("lifelines", "score_weighted", gradient)
    note("lifelines", "information_weighted", -np.asarray(hessian))
    curve = lifelines.KaplanMeierFitter().fit(stop, event, entry=entry)
    at = np.unique(stop)
    note("lifelines", "survival_late", curve.survival_function_.loc[at].to_numpy())
    curve = lifelines.KaplanMeierFitter().fit(stop, event, weights=weight)
    note("lifelines", "survival_weighted", curve.survival_function_.loc[at].to_numpy())
    note("lifelines", "limits_weighted", curve.confidence_interval_.loc[at].to_numpy().T)
    note("lifelines", "harrell", concordance_index(stop, -data["z"], event))
    censoring = lifelines.KaplanMeierFitter().fit(stop, ~event)
    note("lifelines", "censoring", censoring.survival_function_.loc[at].to_numpy())


of_scikit_survival()
of_lifelines()
pd.DataFrame(rows, columns=["package", "figure", "place", "value"]).to_csv(
    HERE / "survival_python.csv", index=False, float_format="%.15g"
)
