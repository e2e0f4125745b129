"""Does a result hold? Intervals, p-values, error rates and performance, against simulated truth.

    python benchmarks/holds.py [--quick] [--jobs 2] [--simulations 200] [--methods lasso ...]
                               [--parts line nested noise outside counts refits resamples gaps
                               enough]

200 simulations for each method (of what takes long fewer: `MOST`), a row that is not run again.

line       200 rows of 12 independent normal columns, y = x1 + 0.7 x2 + 0.4 x3 + noise of deviation
           1. Since columns are independent, a coefficient is the same in every model, so that the
           truth of each interval is known whatever is selected. Three terms are selected.
             refit        95 % intervals of ``refit("glm")`` on the rows of the selection
             inference    those of ``inference(repeats=1)``, on the other half of the rows
             performance  R2 by ``performance(folds=5)`` less that of the fitted model on 20,000 new
                          rows (bias), and how often 1.96 standard errors reach it
nested     how often the 95 % interval of ``performance()`` holds the expected score (its mean over
           the simulations): R2 of line, AUC, log loss and rare AUC (10 % events, at least 10) of
           logistic responses, and C of exponential times (30 % censored), with the same
           coefficients; 100, 300 and 1,000 rows; 3, 5 and 10 folds; three terms of the lasso
noise      the same columns, and y is noise of itself. Three terms are selected.
             refit        share of p < 0.05 among the selected terms
             inference    the same for ``inference(repeats=1)``
             any of five  share of simulations in which a term has p < 0.05 after aggregation over
                          ``inference(repeats=5)``, which bounds the familywise error
outside    200 rows of 500 columns and the sign of y, all noise: the AUC of new rows is one half.
             inside       AUC of the selection with k by the one-standard-error rule from three
                          folds, repeated in each of five folds, as ``performance()`` does
             outside      AUC of a model of ten columns that were selected on all rows, in five
                          folds: what it is above one half is the price of looking at all rows
counts     400 rows (200 on each side of ``inference()``) of the columns of noise, and counts of
           mean 3 that no column tells: Poisson, or negative binomial of shape 8, 1 and 0.3 (Pearson
           dispersion 1.4, 4 and 11). Share of p < 0.05 in ``inference(repeats=1)``.
refits     200 rows of the first four columns of line, x4 without effect, and a factor of three
           levels, without effect: all forced in. Coverage of 95 % intervals of the four
           coefficients, and the share of p < 0.05 of terms without effect (``drop1()``): least
           squares, logistic, proportional odds, negative binomial, gamma and Cox models;
           clusters of five rows, x1 and x4 the same in each; Firth's penalty with 60 rows and few
           events; splines, whose test is that of non-linearity in logistic models; interactions in
           ``diagnostics()``, of which any may have p < 0.05 after Holm; and
           ``conditional_importance()`` in least squares.
resamples  the data of line with 40 columns; only methods that take less than 0.1 s a selection.
             frequency    how often the 95 % interval of ``resample(25)`` holds the frequency in 400
                          other resamples
             index        the same for the stability index
             q = 0.1      mean share of false terms among those with q <= 0.1, from 25 complementary
                          pairs; power is the share of the three true terms
             false, 0.8   mean number of false terms selected in 80 % of the pairs, and the mean of
                          the bound ``pfer(0.8)``
gaps       300 rows of ten normal columns of correlation .5 between neighbours,
           y = x1 + x3 + (x5 > 0) + noise. About a third of x1, x4, x5 and x8 is missing at random,
           by two complete columns. The default selection of complete data, and with ``missing=``
           level, drop and impute.
             exact        how often the set is that of the true columns
             any of noise how often something is selected where y is permuted
             R2           on 4,000 new rows with the same gaps, and the bias of the printed score
enough     ``learning_curve((.25, .5, 1), folds=2, repeats=10).rows_needed()`` from 200 rows of the
           columns of line with noise of deviation 2, against the number of rows at which 300 new
           samples reach the stability index (interpolated between sizes on the log scale).
             median       of the estimates, infinite ones included, and the truth
             interval     how often the 95 % interval holds the truth

``conditional.py`` has p-values of ``conditional_importance()`` where columns are copies. Brackets
are 95 % intervals by Clopper and Pearson, or standard errors of means.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from harness import FORMS, Run, mean_and_error, methods_of, shown, signed, told
from scipy.stats import beta as beta_distribution

import treeselect
from treeselect.engine.random import stream_seed
from treeselect.resampling.agreement import stability_index

BETA = np.zeros(40)
BETA[:3] = 1.0, 0.7, 0.4
METHODS = tuple(name for name in FORMS if "," not in name)
ALONE = {
    "nested": ("R2", "AUC", "AUC, rare", "C", "log loss"),
    "outside": ("exchange", "controlburn", "lasso", "mrmr"), "counts": ("lasso",),
    "resamples": ("lasso", "mrmr", "fcbf"),
    "refits": ("least squares", "clusters", "logistic", "firth", "ordinal", "negative-binomial",
               "gamma", "cox", "splines", "interactions", "conditional"),
    "gaps": ("complete data", "level", "drop", "impute"), "enough": ("lasso", "mrmr"),
}  # fmt: skip
"""Methods of parts that are not run for all, or scores."""

MOST = {"outside": 10, "gaps": 60, "enough": 100}
"""Simulations of parts that take long."""


def simulate(seed: int, n_rows: int, n_columns: int, *, signal: bool = True) -> pd.DataFrame:
    """Independent normal columns and y."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    y = rng.standard_normal(n_rows) + (X @ BETA[:n_columns] if signal else 0.0)
    return pd.DataFrame(X, columns=[f"x{j + 1:02}" for j in range(n_columns)]).assign(y=y)


def truth_of(term: str) -> float:
    """The coefficient of a column."""
    return float(BETA[int(term[1:]) - 1])


def fitted(method: str, frame: pd.DataFrame, seed: int, k: int | str = 3, **options):
    """Three terms by a method."""
    options = {"method": FORMS[method], "k": k, "seed": seed} | options
    return treeselect.select("y ~ .", frame, n_jobs=1, progress=False, **options)


def covered(table: pd.DataFrame) -> tuple[int, int]:
    """How many intervals of coefficients hold the truth, of how many."""
    table = table[table["column"].str.match(r"x\d\d$")] if "column" in table else table
    rows = table.dropna(subset=["ci_low", "ci_high"])
    truth = np.array([truth_of(term) for term in rows["term"]])
    inside = (rows["ci_low"].to_numpy() <= truth) & (truth <= rows["ci_high"].to_numpy())
    return int(inside.sum()), len(rows)


def below(p_values: pd.Series) -> tuple[int, int]:
    """How many p-values are below 5 %, of how many."""
    known = p_values.dropna()
    return int((known < 0.05).sum()), len(known)


# --- simulations -------------------------------------------------------------------------------


def line(method: str, seed: int, n_rows: int) -> dict[str, object]:
    """Intervals and performance where three columns matter."""
    frame, fresh = simulate(seed, n_rows, 12), simulate(10**6 + seed, 100 * n_rows, 12)
    fit = fitted(method, frame, seed)
    found, truth = fit.performance(folds=5), score_of(fit, fresh)
    single = fit.inference(repeats=1).tidy()
    return {
        "refit": covered(_coefficients(fit)),
        "inference": covered(single),
        "1.96 s.e.": (int(abs(found.mean - truth) <= 1.96 * found.standard_error), 1),
        "bias": found.mean - truth,
    }


def score_of(fit, fresh: pd.DataFrame) -> float:
    """R2 on new rows."""
    y, predicted = fresh["y"].to_numpy(float), np.asarray(fit.predict(fresh), dtype=float)
    return float(1 - np.mean((y - predicted) ** 2) / np.var(y))


def nested(kind: str, seed: int, n_rows: int) -> dict[str, object]:
    """Intervals of one score, by rows and folds."""
    sizes, numbers = ((100, 300, 1000), (3, 5, 10)) if n_rows > 100 else ((100,), (3,))
    found: dict[str, object] = {}
    for n in sizes:
        left, frame, scoring = _responses(kind, stream_seed(seed, "nested", n), n)
        fit = treeselect.select(
            f"{left} ~ .", frame, method="lasso", k=3, seed=seed, n_jobs=1, progress=False
        )
        for folds in numbers:
            score = fit.performance(folds, scoring=scoring)
            found[f"{n:,} rows, {folds} folds"] = (score.mean, *score.mean_ci)
    return found


def _responses(kind: str, seed: int, n: int) -> tuple[str, pd.DataFrame, str | None]:
    """Left-hand side, data and score."""
    frame = simulate(seed, n, 12)
    rng = np.random.default_rng(stream_seed(seed, kind))
    if kind == "R2":
        return "y", frame, None
    eta = frame[[c for c in frame if c != "y"]].to_numpy() @ BETA[:12]
    if kind == "C":
        time, end = rng.exponential(np.exp(-eta)), rng.exponential(2.0, n)
        times = {"time": np.minimum(time, end), "event": (time <= end).astype(int)}
        return "Surv(time, event)", frame.drop(columns="y").assign(**times), None
    chance = 1 / (1 + np.exp(-eta + 3.0 * (kind == "AUC, rare")))
    event = rng.random(n) < chance
    while event.sum() < 10:  # one for each fold
        event = rng.random(n) < chance
    return "y", frame.assign(y=event), "neg_log_loss" if kind == "log loss" else None


def _coefficients(fit) -> pd.DataFrame:
    table = fit.refit("glm").tidy()
    return table[table["term"].str.match(r"x\d\d$")]


def noise(method: str, seed: int, n_rows: int) -> dict[str, object]:
    """P-values where nothing matters."""
    fit = fitted(method, simulate(seed, n_rows, 12, signal=False), seed)
    many = fit.inference(repeats=5).tidy()["p_value"]
    return {
        "refit": below(_coefficients(fit)["p_value"]),
        "inference": below(fit.inference(repeats=1).tidy()["p_value"]),
        "any of five": (int((many < 0.05).any()), 1),
    }


def outside(method: str, seed: int, n_rows: int) -> dict[str, object]:
    """AUC on noise, of a selection inside the folds and of one outside them."""
    frame = simulate(seed, n_rows, 500 if n_rows > 100 else 12, signal=False)
    frame["y"] = (frame["y"] > 0).astype(int)
    nested = fitted(method, frame, seed, k="1se", folds=3).performance(folds=5)
    chosen = list(fitted(method, frame, seed, k=10).selected)
    model = fitted("mrmr", frame[[*chosen, "y"]], seed, k=len(chosen), keep=chosen)
    return {"AUC inside": nested.mean, "AUC outside": model.performance(folds=5).mean}


def counts(method: str, seed: int, n_rows: int) -> dict[str, object]:
    """P-values of counts that vary more than a Poisson response, where nothing matters."""
    frame, found = simulate(seed, 2 * n_rows, 12, signal=False), {}
    rng = np.random.default_rng(stream_seed(seed, "counts"))
    for name, shape in {"Poisson": np.inf, "1.4": 8.0, "4": 1.0, "11": 0.3}.items():
        mean = 3.0 if shape == np.inf else rng.gamma(shape, 3 / shape, len(frame))
        given = frame.assign(y=rng.poisson(mean, len(frame)))
        fit = fitted(method, given, seed, family="poisson")
        table = fit.inference(repeats=1).tidy()
        found[name] = below(table.loc[table["term"] != "Intercept", "p_value"])
    return found


FAMILIES = {
    "logistic": "binomial", "firth": "binomial", "splines": "binomial", "ordinal": "ordinal",
    "negative-binomial": "poisson",
}  # fmt: skip
"""Families that are not found in the response."""


def refits(kind: str, seed: int, n_rows: int) -> dict[str, object]:
    """Intervals and tests of one kind of linear model, without a selection."""
    n = 60 if kind == "firth" else n_rows
    rng = np.random.default_rng(stream_seed(seed, kind))
    frame = simulate(seed, n, 4).drop(columns="y").assign(g=rng.choice(["a", "b", "c"], n))
    frame["cluster"] = np.arange(n) // 5
    if kind == "clusters":
        for name in ("x01", "x04"):
            frame[name] = rng.standard_normal(n)[frame["cluster"]]
    eta = frame[["x01", "x02", "x03", "x04"]].to_numpy() @ BETA[:4]
    frame = frame.assign(**_drawn(kind, eta, frame["cluster"], rng))
    left = "Surv(time, event)" if kind == "cox" else "y"
    terms = ["x01", "x02", "x03", "x04", "g"]
    fit = treeselect.select(
        f"{left} ~ {' + '.join(terms)}", frame, method="mrmr", k=5, keep=terms, seed=seed,
        family=FAMILIES.get(kind, "auto"), fold_groups="cluster" if kind == "clusters" else None,
        resamples=0, n_jobs=1, progress=False, model="stack" if kind == "ordinal" else "glm",
    )  # fmt: skip
    if kind == "conditional":
        found = fit.model.conditional_importance(None).tidy().set_index("term")["p_value"]
        return {"P of noise": below(found[["x04", "g"]])}
    named = {"splines": "gam"} | {own: own for own in ("firth", *FITTED)}
    model = fit.refit(named.get(kind, "glm"))
    if kind == "interactions":
        adjusted = model.diagnostics(folds=2).interactions["p_adjusted"]
        return {"any P of noise": (int((adjusted < 0.05).any()), 1)}
    tests = model.drop1().tidy().set_index("term")["p_value"]
    if kind == "splines":
        return {"P of noise": below(tests[tests.index.str.contains("nonlinear")])}
    found = {"Wald": covered(model.tidy()), "P of noise": below(tests[["x04", "g"]])}
    if kind in ("logistic", "firth", "cox", "negative-binomial"):
        found["profile"] = covered(model.confint())
    return found


FITTED = ("negative-binomial", "gamma")
"""Models by their own name."""


def _drawn(kind: str, eta: np.ndarray, cluster: pd.Series, rng) -> dict[str, np.ndarray]:
    """The response of these linear predictors."""
    n = len(eta)
    mean = np.exp(eta)
    if kind in ("logistic", "splines", "firth"):
        return {"y": (rng.random(n) < 1 / (1 + np.exp(1.5 * (kind == "firth") - eta))).astype(int)}
    if kind == "ordinal":
        return {"y": np.digitize(eta + rng.logistic(size=n), [-1.0, 1.0])}
    if kind == "negative-binomial":
        return {"y": rng.poisson(rng.gamma(2.0, mean / 2.0))}
    if kind == "gamma":
        return {"y": rng.gamma(2.0, mean / 2.0)}
    if kind == "cox":
        time, end = rng.exponential(1 / mean), rng.exponential(2.0, n)
        return {"time": np.minimum(time, end), "event": (time <= end).astype(int)}
    own = rng.standard_normal(n)[cluster] if kind == "clusters" else 0.0
    return {"y": eta + own + rng.standard_normal(n)}


def resamples(method: str, seed: int, n_rows: int) -> dict[str, object]:
    """Frequencies, the index, and what is called true."""
    frame = simulate(seed, n_rows, 40 if n_rows > 100 else 8)
    fit = fitted(method, frame, seed, k=5)
    n_few, n_many, n_pairs = (25, 400, 50) if n_rows > 100 else (8, 10, 4)
    few, many = (fit.resample(n, seed=stream_seed(seed, "holds", n)) for n in (n_few, n_many))
    both = few.stability.tidy().merge(many.stability.tidy(), on="term", suffixes=("", "_many"))
    inside = both["frequency_many"].between(both["ci_low"], both["ci_high"])
    low, high = few.stability.index_ci
    pairs = fit.resample(n_pairs, scheme="complementary", path=True).stability
    q = pairs.q_values()
    called = q.loc[q["q_value"] <= 0.1, "term"]
    true = sum(truth_of(term) != 0 for term in called)
    at = pairs.tidy()
    at_80 = at.loc[at["frequency"] >= 0.8, "term"]
    return {
        "frequency": (int(inside.sum()), len(both)),
        "index": (int(low <= many.stability.index <= high), 1),
        "false share": (len(called) - true) / max(len(called), 1),
        "power": true / 3,
        "false at 0.8": sum(truth_of(term) == 0 for term in at_80),
        "bound at 0.8": pairs.pfer(0.8).bound,
    }


GAPS = ("x1", "x4", "x5", "x8")


def gaps(rule: str, seed: int, n_rows: int) -> dict[str, object]:
    """The default selection from rows with values missing at random, by what is done about them."""
    n, n_new, n_folds = (300, 4_000, 5) if n_rows > 100 else (60, 200, 2)
    frame, fresh = (_with_gaps(10**6 * i + seed, m, rule) for i, m in enumerate((n, n_new)))
    options = {} if rule == "complete data" else {"missing": rule}
    options |= {"seed": seed, "resamples": 0, "n_jobs": 1, "progress": False}
    order = np.random.default_rng(seed).permutation(n)
    noise = frame.assign(y=frame["y"].to_numpy()[order])
    fit = treeselect.select("y ~ .", frame, **options)
    score = score_of(fit, fresh)
    return {
        "exact": (int(set(fit.selected) == {"x1", "x3", "x5"}), 1),
        "any of noise": (int(bool(treeselect.select("y ~ .", noise, **options).selected)), 1),
        "R2": score,
        "bias of performance()": fit.performance(n_folds).mean - score,
    }


def _with_gaps(seed: int, n: int, rule: str) -> pd.DataFrame:
    rng = np.random.default_rng(stream_seed(seed, "gaps"))
    x = rng.standard_normal((n, 10))
    for j in range(1, 10):
        x[:, j] = 0.5 * x[:, j - 1] + np.sqrt(0.75) * x[:, j]
    y = x[:, 0] + x[:, 2] + (x[:, 4] > 0) + rng.standard_normal(n)
    frame = pd.DataFrame(x, columns=[f"x{j + 1}" for j in range(10)])
    chance = 1 / (1 + np.exp(0.8 - frame["x2"] - frame["x6"]))
    for name in GAPS if rule != "complete data" else ():
        frame[name] = frame[name].where(rng.random(n) >= chance)
    return frame.assign(y=y)


def enough(method: str, seed: int, n_rows: int) -> dict[str, object]:
    """Rows that would make a selection stable, against those that do."""
    fit = fitted(method, _noisier(seed, n_rows), seed)
    curve = fit.search.learning_curve((0.25, 0.5, 1), folds=2, repeats=10, seed=seed)
    found = curve.rows_needed(INDICES, seed=seed)
    low = np.minimum(found.low, found.limit)  # "more than the limit" has no lower number
    each = zip(INDICES, found.rows, low, found.high, strict=True)
    return {str(index): (rows, least, most) for index, rows, least, most in each}


INDICES = (0.6, 0.75)


def _noisier(seed: int, n: int) -> pd.DataFrame:
    frame = simulate(seed, n, 12)
    rng = np.random.default_rng(stream_seed(seed, "enough"))
    return frame.assign(y=frame["y"] + np.sqrt(3.0) * rng.standard_normal(n))


def _reached(method: str, *, whole: bool) -> tuple[float, ...]:
    """Numbers of rows at which new samples have these stability indices."""
    sizes, n_samples = ((50, 100, 200, 400, 800, 1600, 3200), 300) if whole else ((50, 100), 5)
    index = []
    for n in sizes:
        sets = np.zeros((n_samples, 12), dtype=bool)
        for i in range(n_samples):
            for term in fitted(method, _noisier(10**7 + i, n), i).selected:
                sets[i, int(term[1:]) - 1] = True
        index.append(stability_index(sets)[0])
    reached = np.maximum.accumulate(index)
    return tuple(np.exp(np.interp(INDICES, reached, np.log(sizes), right=np.inf)))


PARTS = {
    part.__name__: part
    for part in (line, nested, noise, outside, counts, refits, resamples, gaps, enough)
}


def one(part: str, method: str, seed: int, n_rows: int) -> dict[str, object]:
    """A simulation, without warnings of small data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PARTS[part](method, seed, n_rows)


# --- table -------------------------------------------------------------------------------------


def exact(hits: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share."""
    low = beta_distribution.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = beta_distribution.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def summary(part: str, method: str, found: list[dict[str, object]]) -> dict[str, object]:
    """Sums of counts as a share with its interval, means with their errors."""
    row: dict[str, object] = {"run": f"{part}, {method}", "part": part, "method": method}
    row |= {"options": told(method) if method in FORMS else "", "simulations": len(found)}
    truth = _reached(method, whole=len(found) > 1) if part == "enough" else ()
    for i, name in enumerate(found[0]):
        values = [one[name] for one in found]
        if part == "enough":
            rows, low, high = np.array(values).T
            hits = int(((low <= truth[i]) & (truth[i] <= high)).sum())
            row[f"median, {name}"] = f"{np.median(rows):,.0f} (truth {truth[i]:,.0f})"
            row[f"interval, {name}"] = _share(hits, len(values))
        elif isinstance(values[0], tuple) and len(values[0]) == 3:
            mean, low, high = np.array([value for value in values if np.isfinite(value).all()]).T
            inside = (low <= mean.mean()) & (mean.mean() <= high)
            row[name] = f"{inside.mean():.3f}, width {np.median(high - low):.2f}"
        elif isinstance(values[0], tuple):
            hits, n = np.sum(values, axis=0)
            row[name] = _share(int(hits), int(n))
        else:
            told_as = signed if "bias" in name else shown
            digits = 3 if "bias" in name or "AUC" in name else 2
            row[name] = told_as(*mean_and_error(values), digits)
    return row


def _share(hits: int, n: int) -> str:
    if n == 0:
        return ""
    low, high = exact(hits, n)
    return f"{hits / n:.3f} [{low:.3f}, {high:.3f}]"


INTRO = {
    "line": "where three of 12 columns matter: coverage of 95 % intervals of coefficients after"
    " selection, on the same rows (refit) and on others (inference); how often 1.96 standard errors"
    " of `performance()` reach the fitted model's R2 on 20,000 new rows, and the bias",
    "nested": "where three of 12 columns matter and the lasso selects three: how often the 95 %"
    " interval of `performance()` holds the expected score, and its median width",
    "noise": "where nothing matters: share of p-values below 0.05, and of simulations with any"
    " aggregated p-value below 0.05",
    "outside": "where none of 500 columns matters, 200 rows of two classes: AUC of the selection"
    " inside five folds, and of a model of ten columns that were selected outside them",
    "counts": "counts that no column tells, 400 rows: share of p-values below 0.05 in"
    " `inference()`, by the dispersion of the counts",
    "refits": "linear models of all terms, without a selection: coverage of 95 % intervals, and"
    " share of p-values below 0.05 where there is no effect (interactions: of simulations with"
    " any)",
    "resamples": "from resamples, three of 40 columns matter: coverage of 95 % intervals of"
    " frequencies and index; mean share of false terms at q <= 0.1, and the power; mean number of"
    " false terms in 80 % of complementary pairs, and its bound",
    "gaps": "the default selection from 300 rows of which a third of four of ten columns is missing"
    " at random: how often the true set is selected, and anything where nothing matters; R2 on new"
    " rows with the same gaps, and the bias of `performance(5)`",
    "enough": "rows needed for a stability index of .6 and .75, told from 200 rows: median of the"
    " estimates, and coverage of 95 % bootstrap intervals",
}


def main() -> None:
    """Write the tables."""
    run = Run(__doc__, simulations=200, methods=METHODS, parts=PARTS, quick={"simulations": 1},
              depends=lambda name: methods_of(name) or ())  # fmt: skip
    known = run.stands("holds")
    for part in run.parts:
        own = [name for name in run.methods if name in ALONE.get(part, METHODS)]
        own = list(ALONE[part]) if part in ("nested", "refits", "gaps") else own
        for method in ALONE.get(part, ("stepwise",))[-1:] if run.quick else own:
            if f"{part}, {method}" not in known:
                seeds = range(min(run.simulations, MOST.get(part, run.simulations)))
                calls = [(part, method, seed, run.pick(60, 200)) for seed in seeds]
                run.keep("holds", summary(part, method, run.map(one, calls)))
    rows = run.kept("holds", text=True)
    for part, words in INTRO.items():
        mine = rows[rows["part"] == part].drop(columns=["run", "part"])
        mine = mine.loc[:, (mine != "").any()]
        if len(mine):
            intro = f"treeselect, {words}. In brackets 95 % intervals or (standard errors)."
            run.table(f"holds_{part}", mine, intro)


if __name__ == "__main__":
    main()
