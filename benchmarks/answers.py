"""The whole answer: what a user gets who names no size, from treeselect and from others.

    python benchmarks/answers.py [--quick] [--jobs 2] [--parts tables] [--methods ...]
                                 [--cases xor ...] [--seeds 5] [--seconds 120]

Each program selects on the rows it is given, and chooses the number of columns by its own rule;
nothing else is asked of it. `glmnet` (lasso, ten folds; one standard error, minimum, relaxed),
`step` by AIC, and `projpred` (horseshoe prior, projection, suggested size) run in R, `answers.R`;
Boruta takes the confirmed columns, RFECV the set of LightGBM's elimination in five folds, ipss
those of an expected number of false ones of at most 1, abess the size of its criterion, DART the
columns in more than half of the posterior's ensembles of trees, permutation those whose
importance on a quarter of the rows is above 0 in a one-sided t test at .05, VSURF its set for
prediction. The weights of TabPFN cannot be had without an account: it is left out.

truth   the simulations of cases.py, seeds that were never used before (from 1000 on). Exact: one
        column of each true group and no other. New rows are 4,000 of the same simulation.
tables  sixty sets of real data, of 100 to 54,000 rows: two thirds of the rows, at most 1,000, are
        drawn to select on, the others, at most 2,000, are new. On half of them treeselect was
        developed; the others (``FRESH``) were named before any program had seen them.
        A random forest or a linear model with a ridge penalty, whichever predicts better in three
        folds of the first part, is fitted to the selected columns there and judged on the new
        rows: AUC, R2, deviance explained, or Harrell's C.
large   the largest of the fresh sets once more, two thirds of all their rows.
seeds   the same rows of fresh sets once more, with another seed, by the quicker of the programs
        that draw random numbers.

Of treeselect it is also told what it says of itself: the score that it prints with its standard
error and that of its final model on the new rows; the mean selection frequency of the selected
terms on half-samples, and the share of them that another sample's selection has, too.

A case is a process of its own, ended after ``--seconds`` of CPU time. A program that is ended is
not run on other samples of the same simulation, nor on sets of the same kind with no fewer rows and
columns. Rows are written at once; what stands is not run again.
"""

from __future__ import annotations

import inspect
import itertools
import json
import os
import zlib
from functools import partial

import numpy as np
import pandas as pd
from answers_data import DEVELOPMENT, FRESH, LARGE, MOST_ROWS, split, table
from answers_programs import ANSWERS, DEFAULT, can_run, responses, score, truth_of, warm
from cases import CASES, SEEDS
from harness import Run, limited, mean_and_error, methods_of, shown, shown_mean, signed
from peers import filled, forest_of, is_number, quiet
from statsmodels.stats.proportion import proportion_confint
from truth import judged

from treeselect.writing import write_file

FIRST_SEED = 1000
N_NEW = 4000
N_BOOTSTRAP = 200
NOTABLE = 0.01
"""Difference in score from which a table counts as won or lost."""
INSTEAD = {
    'treeselect, k="1se"': '`k="1se"`', "all columns": "a model of all columns",
    "Boruta": '`method="boruta"`', "RFECV": '`method="rfe"`',
    "permutation": '`method="importance"`',
    **dict.fromkeys(("glmnet, 1se", "glmnet, min", "glmnet, relaxed", "step, AIC", "projpred",
                     "abess"), '`method="lasso"`'),
}  # fmt: skip
"""What a user can do who wants what a program finds, the nearest first."""
DRAWING = (
    DEFAULT, 'treeselect, k="1se"', "glmnet, 1se", "glmnet, min", "Boruta", "ipss", "permutation",
)  # fmt: skip
"""Programs that draw random numbers, and are quick enough to be asked twice."""
BEFORE = "not run, as it took too long before"


class Judge:
    """The score on new rows of a random forest or a linear model with a ridge penalty of some
    columns, whichever predicts better in three folds of the first rows; each set is judged once.
    Of times to an event both learn the martingale residuals of the null model."""

    def __init__(self, frame, kind, train, new):
        self._y = truth_of(frame, kind)
        self._kind, self._train, self._new, self._known = kind, train, new, {}
        self._columns = filled(frame.drop(columns=responses(kind)))

    def score(self, names):
        """Score on the new rows."""
        return round(self._score(self._predicted(names), self._train, self._new), 5)

    def gap_error(self, names, others):
        """Standard error of the difference of two scores, by the bootstrap of the new rows."""
        both, rng, n = (
            [self._predicted(names), self._predicted(others)],
            np.random.default_rng(0),
            len(self._new),
        )
        gaps = []
        for _ in range(N_BOOTSTRAP):
            rows = rng.integers(n, size=n)
            one, other = (self._score(p[rows], self._train, self._new[rows]) for p in both)
            gaps.append(one - other)
        return round(float(np.nanstd(gaps, ddof=1)), 5)

    def _score(self, predicted, train, new):
        return score(self._y[new], predicted, self._kind, self._y[train])

    def _predicted(self, names):
        key = tuple(sorted(names))
        if key not in self._known:
            constant = pd.Series(1.0, self._columns.index)  # a model without columns is constant
            parts = [self._columns[name] for name in key] or [constant]
            codes = [c if is_number(c) else pd.factorize(c)[0] for c in parts]
            wide = [c if is_number(c) else pd.get_dummies(c).to_numpy(float) for c in parts]
            models = ((True, np.column_stack(codes)), (False, np.column_stack(wide)))
            folds = np.arange(len(self._train)) % 3
            inside = [
                np.mean([self._score(self._of(*m, self._train[folds != f], self._train[folds == f]),
                                     self._train[folds != f], self._train[folds == f])
                         for f in range(3)])
                for m in models
            ]  # fmt: skip
            best = models[int(np.argmax(inside))]
            self._known[key] = self._of(*best, self._train, self._new)
        return self._known[key]

    def _of(self, is_forest, X, train, new):
        """Predictions of a model of some rows for others."""
        y = target = self._y
        if self._kind == "survival":
            target = np.zeros(len(y))
            target[train] = martingale(y[train])
        model = (forest if is_forest else linear)(self._kind).fit(X[train], target[train])
        if self._kind not in ("binomial", "multinomial"):
            return model.predict(X[new])
        chance = np.full((len(new), y.max() + 1), 1e-9)
        chance[:, model.classes_] = model.predict_proba(X[new])
        return chance[:, 1] if self._kind == "binomial" else chance


def forest(kind):
    """A random forest with leaves of ten rows."""
    return forest_of(kind, 100, min_samples_leaf=10, max_features=0.5, random_state=0)


def linear(kind):
    """A linear model of standardised columns with a small ridge penalty."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = {
        "binomial": LogisticRegression(max_iter=1000),
        "multinomial": LogisticRegression(max_iter=1000),
        "poisson": PoissonRegressor(alpha=0.01, max_iter=1000),
    }.get(kind, RidgeCV(np.geomspace(0.01, 1000, 11)))
    return make_pipeline(StandardScaler(), model)


def martingale(times):
    """Event less the cumulative hazard (Nelson and Aalen) until the time of the row."""
    order = np.argsort(times[:, 0], kind="stable")
    at_risk = len(times) - np.searchsorted(times[order, 0], times[order, 0])
    hazard = np.concatenate([[0.0], np.cumsum(times[order, 1] / at_risk)])
    return times[:, 1] - hazard[np.searchsorted(times[order, 0], times[:, 0], side="right")]


# --- one case ----------------------------------------------------------------------------------


def answered(method, train, new, kind, seed, seconds):
    """What a program selects and says, its CPU seconds, and what went wrong."""
    call, kinds, _ = ANSWERS[method]
    if kind not in kinds:
        return None, {}, np.nan, f"not for {kind}"
    warm()

    def quietly():
        with quiet():
            return call(train, new, kind, seed)

    answer, spent, problem = limited(quietly, seconds)
    return *(answer or (None, {})), round(spent, 2), problem


def one_truth(method, case, seed, seconds, quick, ended):
    """The row of a simulation."""
    line = {"case": case, "method": method, "seed": seed}
    if (method, case) in ended:
        return line | {"seconds": np.nan, "problem": BEFORE}
    make = partial(CASES[case], **({"n_noise": 2} if quick else {}))
    usual = inspect.signature(CASES[case]).parameters["n"].default
    n, more = (80, 200) if quick else (usual, 0 if case == "madelon" else N_NEW)
    whole, truth = make(seed, n + more)
    train, new = whole[:n], whole[n:].reset_index(drop=True) if more else whole
    kind = "binomial" if train["y"].nunique() == 2 else "gaussian"
    found, claims, spent, problem = answered(method, train, new, kind, seed, seconds)
    line |= {"seconds": spent, "problem": problem}
    if found is None:
        return line
    recall, false = judged(found, truth)
    exact = float(not false and (not truth or recall == 1))
    return line | claims | {
        "k": len(found), "recall": recall, "false": false, "exact": exact,
        "columns": json.dumps(sorted(found)),
    }  # fmt: skip


def one_table(name, methods, seconds, ended, beside=None, most=MOST_ROWS):
    """The rows of a set: all programs, judged by the same models; `ended` are programs with the
    kind, rows and columns of sets that took them too long, `beside` the default's columns if its
    row stands."""
    frame, kind = table(name)
    train, new = split(frame, kind, most)
    judge = Judge(frame, kind, train, new)
    seed = first_seed(name)
    given = [frame.iloc[part].reset_index(drop=True) for part in (train, new)]
    lines, n, p = [], len(train), frame.shape[1] - len(np.atleast_1d(responses(kind)))
    for method in methods:
        if any([method, kind] == of and rows <= n and wide <= p for *of, rows, wide in ended):
            found, spent, problem = None, np.nan, BEFORE
        else:
            found, claims, spent, problem = answered(method, *given, kind, seed, seconds)
        line = {
            "case": name, "method": method, "kind": kind, "n": n, "p": p, "seconds": spent,
            "problem": problem,
        }  # fmt: skip
        if found is not None:
            beside = found if method == DEFAULT else beside
            line |= claims | {
                "k": len(found), "score": judge.score(found),
                "s.e. beside": np.nan if beside is None else judge.gap_error(found, beside),
                "columns": json.dumps(sorted(map(str, found))),
            }  # fmt: skip
        lines.append(line)
    return lines


def first_seed(name):
    """The seed of a set."""
    return zlib.crc32(name.encode()) % 10_000


def one_seed(name, method, seconds):
    """What a program selects of a set with another seed."""
    frame, kind = table(name)
    given = [frame.iloc[part].reset_index(drop=True) for part in split(frame, kind)]
    found, _, spent, problem = answered(method, *given, kind, first_seed(name) + 1, seconds)
    columns = "" if found is None else json.dumps(sorted(map(str, found)))
    return {
        "run": f"{name}, {method}", "case": name, "method": method, "seconds": spent,
        "problem": problem, "columns": columns,
    }  # fmt: skip


# --- tables ------------------------------------------------------------------------------------


def between_seeds(seeds, tables):
    """How much a program's set of the same rows depends on the seed, a line per program."""
    first = tables.set_index("run")["columns"]
    lines = []
    for method in DRAWING:
        own = seeds[(seeds["method"] == method) & seeds["run"].isin(first.index)]
        texts = zip(own["columns"], first[own["run"]], strict=True)
        pairs = [(set(json.loads(a)), set(json.loads(b))) for a, b in texts if a and b]
        if pairs:
            shares = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]
            lines.append({
                "program": method, "sets": len(pairs), "Jaccard index": shown_mean(shares),
                "same columns": shown(np.mean([a == b for a, b in pairs])),
                "same number": shown(np.mean([len(a) == len(b) for a, b in pairs])),
            })  # fmt: skip
    return lines


def overall_truth(rows):
    """A line per program, means over the simulations that all lines of it have."""
    rows = rows[rows["k"].notna()]
    told = rows[rows["case"] != "noise"]
    by_case = told.groupby(["method", "case"])[["exact", "recall", "false", "seconds"]].mean()
    steady = told.groupby(["method", "case"])["columns"].agg(again).groupby("method").mean()
    lines = []
    for method in ANSWERS:
        if method not in by_case.index:
            continue
        own = by_case.loc[method]
        there = by_case.loc[DEFAULT].reindex(own.index)
        noise = rows[(rows["method"] == method) & (rows["case"] == "noise")]
        lines.append({
            "program": method, "simulations": len(own),
            "fewest seeds": told[told["method"] == method].groupby("case").size().min(),
            "exact": shown(own["exact"].mean()), "default's there": shown(there["exact"].mean()),
            "recall": shown(own["recall"].mean()), "false": shown(own["false"].mean()),
            "again": shown(steady[method]), "nothing of noise": shown(noise["exact"].mean()),
            "CPU s": shown(own["seconds"].mean(), None, 1),
        })  # fmt: skip
    return lines


def truth_by_case(rows):
    """Share of exact sets, a line per simulation."""
    rows = rows[rows["k"].notna()]
    names = [m for m in ANSWERS if m in set(rows["method"]) and m != "all columns"]
    lines = []
    for case in CASES:
        own = rows[rows["case"] == case]
        if len(own):
            found = own.groupby("method")["exact"].mean()
            lines.append(
                {"simulation": case, "seeds": own["seed"].nunique()}
                | {m: shown(found.get(m, np.nan)) for m in names}
            )
    return lines


def again(columns):
    """Share of the selected columns that are selected of another sample, too."""
    sets = [set(json.loads(text)) for text in columns]
    shares = [len(a & b) / len(a) for a, b in itertools.permutations(sets, 2) if a]
    return np.mean(shares) if shares else np.nan


def claims(truths):
    """What treeselect says of its answer, and what is found."""
    lines = []
    own = truths[(truths["method"] == DEFAULT) & truths["said"].notna()]
    own = own[own["case"] != "madelon"]  # of which there are no new rows
    for case in CASES:
        rows = own[own["case"] == case]
        if not len(rows):
            continue
        covers = (rows["said"] - rows["found"]).abs() <= 1.96 * rows["said s.e."]
        lines.append({
            "simulation": case, "seeds": len(rows), "score, printed": shown_mean(rows["said"], 3),
            "its s.e.": shown(rows["said s.e."].mean(), None, 3),
            "score on new rows": shown_mean(rows["found"], 3),
            "within 1.96 s.e.": f"{covers.sum()} of {len(rows)}",
            "frequency, printed": shown(rows["frequency"].mean()),
            "again in another sample": shown(again(rows["columns"])),
        })  # fmt: skip
    return lines


def overall_tables(rows):
    """A line per program and half, differences from treeselect's default on the same sets."""
    rows = rows[rows["k"].notna()]
    default = rows[rows["method"] == DEFAULT].set_index("case")
    lines = []
    known = rows["case"].isin(DEVELOPMENT)
    for half, there in (("fresh", ~known), ("development", known)):
        for method in ANSWERS:
            own = rows[(rows["method"] == method) & there].set_index("case")
            own = own[own.index.isin(default.index)]
            if not len(own):
                continue
            beside = default.loc[own.index]
            gap = own["score"] - beside["score"]
            lines.append({
                "half": half, "program": method, "sets": len(own),
                "columns": f"{own['k'].mean():.1f}", "default's": f"{beside['k'].mean():.1f}",
                "of": f"{own['p'].mean():.0f}",
                "score less the default's": "" if method == DEFAULT
                else signed(*mean_and_error(gap), 3),
                "better": int((gap > NOTABLE).sum()), "worse": int((gap < -NOTABLE).sum()),
                "CPU s": f"{own['seconds'].mean():.1f}",
            })  # fmt: skip
    return lines


def losses(rows):
    """Sets on which a program predicts better beyond chance, largest differences first."""
    rows = rows[rows["k"].notna()]
    lines = []
    for name, own in rows.groupby("case", sort=False):
        own = own.set_index("method")
        if DEFAULT not in own.index:
            continue
        default = own.loc[DEFAULT]
        own = own.assign(gap=own["score"] - default["score"])
        ahead = own[(own["gap"] > 0) & (own["gap"] > 1.96 * own["s.e. beside"])]
        if not len(ahead):
            continue
        smaller = ahead[ahead["k"] <= default["k"]]
        lines.append({
            "set": name, "half": "development" if name in DEVELOPMENT else "fresh",
            "default": f"{default['score']:.3f} ({default['k']:.0f} of {default['p']:.0f})",
            "ahead": f"{len(ahead)} of {len(own) - 1}", "best": _one_ahead(ahead),
            "best of no more columns": _one_ahead(smaller) if len(smaller) else "none",
            "why": "other columns" if len(smaller) else "too few columns",
            "try": _instead(ahead), "gap": ahead["gap"].max(),
        })  # fmt: skip
    lines.sort(key=lambda line: -line.pop("gap"))
    return lines


def _instead(ahead):
    """The nearest of INSTEAD that is as good as the best, or notably no worse."""
    as_good = set(ahead.index[ahead["gap"] >= ahead["gap"].max() - NOTABLE])
    return next((done for name, done in INSTEAD.items() if name in as_good), "that program")


def _one_ahead(rows):
    best = rows.loc[rows["gap"].idxmax()]
    return f"{best.name} {signed(best['gap'], best['s.e. beside'], 3)}, {best['k']:.0f} columns"


def words(truths, tables):
    """What the evidence shows, in three sentences."""
    told = truths[truths["k"].notna() & (truths["case"] != "noise") & (truths["case"] != "madelon")]
    exact = told.groupby("method")["exact"].agg(["sum", "size"])
    others = exact.drop([m for m in exact.index if m.startswith(DEFAULT)])
    n_cases = told.groupby("method")["case"].nunique()
    others = others[n_cases[others.index] >= 0.9 * n_cases[DEFAULT]]
    second = (others["sum"] / others["size"]).idxmax()
    own = tables[tables["method"] == DEFAULT].set_index("case")
    every = tables[tables["method"] == "all columns"].set_index("case")
    own = own.loc[own.index.isin(every.index)]
    gap, new = (own["score"] - every["score"]).dropna(), (own["said"] - own["found"]).dropna()
    return (
        f"On {told['case'].nunique()} simulations with a known truth the default selected exactly"
        f" the true variables in {_share(*exact.loc[DEFAULT])} of the samples; the next best of"
        f" {len(others) - 1} other programs with their own choice of size, {second}, in"
        f" {_share(*exact.loc[second])}.\n"
        f"On {len(own)} real tables it selected {own['k'].mean():.1f} of {own['p'].mean():.0f}"
        " columns on average, and models of these predicted new rows"
        f" {'worse' if gap.mean() < 0 else 'better'} than models of all columns by"
        f" {abs(gap.mean()):.3f} (95% interval {_interval(gap * np.sign(gap.mean()))}) in AUC, R2,"
        " D2 or C.\n"
        f"The score that it printed was {'above' if new.mean() > 0 else 'below'} that of its final"
        f" model on new rows by {abs(new.mean()):.3f} on average ({_interval(new)}).\n"
    )


def _share(hits, n):
    low, high = proportion_confint(hits, n, method="wilson")
    return f"{hits / n:.0%} ({low:.0%} to {high:.0%})"


def _interval(values):
    mean, error = mean_and_error(values)
    return f"{mean - 1.96 * error:.3f} to {mean + 1.96 * error:.3f}"


def write(run):
    """All tables."""
    truths = run.kept("answers_truth", text=("problem", "columns"))
    if len(truths):
        run.table(
            "answers_truth", overall_truth(truths),
            "The whole answer on simulated truth, the number of columns chosen by each program:"
            " means over simulations. Exact: one column of each true group and no other; recall:"
            " share of the groups; false: other columns; again: share of the selected columns that"
            " are selected of another sample, too. Nothing of noise: share of the sets of"
            " noise of which nothing was selected.",
        )  # fmt: skip
        run.table(
            "answers_cases",
            truth_by_case(truths),
            "Share of the samples in which exactly the true columns are selected (of noise: none).",
        )
        run.table(
            "answers_claims",
            claims(truths),
            "What treeselect's default says of its answer, and what is found: score on 4,000 new"
            " rows, and the share of the selected terms that the selection on another sample of the"
            " same size has, too; means over seeds.",
        )
    tables = run.kept("answers_tables", text=("problem", "columns", "kind"))
    seeds = run.kept("answers_seeds", text=("problem", "columns"))
    if len(seeds) and len(tables):
        run.table(
            "answers_seeds",
            between_seeds(seeds, tables),
            "The same rows of fresh sets with another seed: mean Jaccard index (s.e.) of the two"
            " sets of columns, and shares of the sets of data whose columns, or their number, are"
            " the same.",
        )
    if len(truths) and len(tables) and not run.quick:
        write_file(run.results / "answers_words.md", words(truths, tables))
    large = run.kept("answers_large", text=("problem", "columns", "kind"))
    if len(large):
        run.table(
            "answers_large",
            overall_tables(large),
            "The largest of the fresh sets, selected on two thirds of all their rows, 2,583 to"
            " 35,960: otherwise as on 1,000 rows.",
        )
    if len(tables):
        lost = losses(tables)
        own = tables[tables["method"] == DEFAULT]
        gap = (own["said"] - own["found"]).dropna()
        run.table(
            "answers_tables",
            overall_tables(tables),
            "The whole answer on real data: a forest or a linear model of the selected columns, on"
            " new rows. Score less the default's: mean over sets (s.e.); better and worse: sets"
            f" with a difference above {NOTABLE}. The score that treeselect prints is above that of"
            f" its final model on the new rows by {shown_mean(gap, 3)} (s.e.) on average.",
        )
        run.table(
            "answers_losses",
            lost or [{"set": "none"}],
            "Sets on which columns of another program, or all, predict better by more than 1.96"
            " standard errors of the difference (bootstrap of the new rows, in brackets): how many"
            " of the programs that ran do, the best of them, and the best with no more columns than"
            " the default. Where none of these is ahead, the default took too few columns to"
            " predict best; otherwise it took others. To try: what comes within"
            f" {NOTABLE} of the best. With a dozen programs a set, some of this is chance.",
        )


def columns_of(run, name, method, file="answers_tables"):
    """Columns that a program selected of a set; None without a row."""
    rows = run.kept(file, text=("columns",))
    found = rows.loc[rows["run"] == f"{name}, {method}", "columns"] if len(rows) else ()
    return json.loads(found.iloc[0]) if len(found) and found.iloc[0] else None


def ended_in(run, name, *columns):
    """Columns of the rows of programs that were ended."""
    rows = run.kept(name, text=("problem",))
    if not len(rows):
        return set()
    late = rows[rows["problem"].fillna("").str.startswith("more than")]
    return set(late[list(columns)].itertuples(index=False, name=None))


def run_tables(run, file, sets, most, methods):
    """The rows of sets, at most so many rows of each, that are missing in a file."""
    done = run.stands(file)
    lacking = {n: [m for m in methods if f"{n}, {m}" not in done] for n in sets}
    calls = sorted((table(name)[0].shape[1], name) for name, left in lacking.items() if left)
    for start in range(0, len(calls), run.jobs):
        ended = ended_in(run, file, "method", "kind", "n", "p")
        for lines in run.map(one_table, [
            (name, lacking[name], run.seconds, ended, columns_of(run, name, DEFAULT, file), most)
            for _, name in calls[start : start + run.jobs]
        ]):  # fmt: skip
            keys = [f"{line['case']}, {line['method']}" for line in lines]
            rows = [{"run": key, **line} for key, line in zip(keys, lines, strict=True)]
            run.keep(file, rows)


def main():
    """Run what is missing, then write the tables."""
    run = Run(
        __doc__, parts=("truth", "tables", "large", "seeds"), methods=ANSWERS, cases=CASES,
        sets=(*FRESH, *DEVELOPMENT), seeds=10, seconds=120, depends=methods_of,
        quick={"methods": (DEFAULT, "permutation", "all columns"), "cases": ("few",),
               "sets": ("simulated",), "seeds": 1},
    )  # fmt: skip
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    methods = [*filter(can_run, run.methods)]
    if "truth" in run.parts:
        done = run.stands("answers_truth")
        for step in range(run.seeds):
            seed = FIRST_SEED + step
            ended = ended_in(run, "answers_truth", "method", "case")
            calls = [
                (method, case, seed, run.seconds, run.quick, ended)
                for case in run.cases for method in methods
                if step < SEEDS[CASES[case]] and f"{case}, {method}, {seed}" not in done
            ]  # fmt: skip
            for start in range(0, len(calls), 8):
                for line in run.map(one_truth, calls[start : start + 8]):
                    key = f"{line['case']}, {line['method']}, {line['seed']}"
                    run.keep("answers_truth", {"run": key, **line})
    large = run.sets if run.quick else LARGE
    for part, sets, most in (("tables", run.sets, MOST_ROWS), ("large", large, np.inf)):
        if part in run.parts:
            run_tables(run, f"answers_{part}", sets, most, methods)
    if "seeds" in run.parts:
        done = run.stands("answers_seeds")
        sets = [name for name in run.sets if name in FRESH or run.quick]
        calls = [
            (name, method, run.seconds) for name in sets for method in methods
            if method in DRAWING and f"{name}, {method}" not in done
        ]  # fmt: skip
        for start in range(0, len(calls), 8):
            run.keep("answers_seeds", run.map(one_seed, calls[start : start + 8]))
    write(run)


if __name__ == "__main__":
    main()
