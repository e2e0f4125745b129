"""Comparisons made by hand, for tests of what is shown of them."""

import numpy as np

from treeselect.comparing import Comparison
from treeselect.comparison.record import Run
from treeselect.resampling.cross_validation import FoldPath


def made(
    n_methods=4,
    sizes=tuple(range(10)),
    n_units=12,
    *,
    own=(),
    labels=None,
    rule="1se",
    n_folds=5,
    repeats=1,
    names=None,
    **changes,
):
    """Methods whose scores rise with the size and fall with their number.

    Parameters
    ----------
    own : sequence of int
        Numbers of the methods whose tuning value decides.
    names : sequence of str, optional
        Of the units.
    """
    rng = np.random.default_rng(7)
    labels = labels or [f"method{i}" for i in range(n_methods)]
    total = n_folds * repeats
    ease = rng.normal(scale=0.02, size=total)
    runs = tuple(
        _run(rng, i, label, None if i in own else tuple(sizes), ease, n_units)
        for i, label in enumerate(labels)
    )
    units = tuple(names or (f"unit{g:03d}" for g in range(n_units)))
    fields = {
        "runs": runs, "units": units,
        "terms_of_unit": tuple((u,) for u in units),
        "assessed": np.ones(n_units, dtype=bool), "rule": rule,
        "place_of_fold": np.c_[np.divmod(np.arange(total), n_folds)],
        "n_train": np.full(total, 80), "n_test": np.full(total, 20),
        "repeats": float(repeats), "response": "died",
        "family": "binomial (`died` is 0 or 1)", "score_name": "AUC", "score_words": "",
        "score_bounds": (0.0, 1.0), "scheme": f"{n_folds}-fold cross-validation",
        "call": "compare('died ~ .', data, methods=[...])",
        "data": "a data frame of 100 rows and 13 columns", "seed": 1,
        "notes": ("`died` is a note.",),
    }  # fmt: skip
    return Comparison(**(fields | changes))


def _run(rng, i, label, sizes, ease, n_units):
    at = np.array([4.0 + i]) if sizes is None else np.array(sizes, dtype=float)
    folds = []
    for shift in ease:
        order = np.argsort(np.arange(n_units) + rng.normal(scale=0.5 + 0.7 * i, size=n_units))
        counts = np.minimum(at.astype(int), n_units)
        curve = 0.5 + (0.35 - 0.012 * i) * (1 - np.exp(-at / 2)) + shift * (at > 0)
        folds.append(
            FoldPath(
                scores=curve + rng.normal(scale=0.02, size=len(at)) * (at > 0),
                units=tuple(order[:n] for n in counts),
                seconds=np.full(len(at), 0.25 * (i + 1)),
                warnings=(),
            )
        )
    return Run(
        label=label, title=f"Method number {i}", options={"n_trees": 50} if i % 2 else {},
        sizes=sizes, folds=tuple(folds), paper=f"Author {i} ({2000 + i}). On methods.",
    )  # fmt: skip
