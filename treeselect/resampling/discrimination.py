"""Discrimination between classes on held-out rows: ROC curves, areas, confusion matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.families import area_under_curve
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least, largest_in_row, least_of_equals
from treeselect.errors import OptionError, quoted
from treeselect.resampling.calibration import positive_classes, probability_of
from treeselect.resampling.held_out import HeldOut

if TYPE_CHECKING:
    import pandas as pd


def roc_table(held: HeldOut) -> pd.DataFrame:
    """One row per corner of a curve (see ``Performance.roc``)."""
    import pandas as pd
    from sklearn.metrics import roc_curve

    parts = []
    for number, label in _asked("roc", held):
        happened, probability = held.y == number, least_of_equals(probability_of(held, number))
        if not 0 < happened.sum() < len(happened):  # a stopped call may have one class only
            continue
        false, true, cutoff = roc_curve(happened, probability, sample_weight=held.mass)
        rows = {"cutoff": cutoff, "false_positive_rate": false, "true_positive_rate": true}
        frame = pd.DataFrame(rows)
        frame.insert(0, "class", pd.Series([label] * len(frame)))
        parts.append(frame)
    if not parts:
        raise OptionError("`roc()` needs two classes among the held-out rows.\n  Found: one.")
    return pd.concat(parts, ignore_index=True)


def areas(held: HeldOut, number: int) -> tuple[float, float]:
    """Area under the ROC curve of a class: over all predictions together, and the mean of the areas
    of the folds, which compares rows within a fold only. NaN if only one class is present."""
    happened, probability = (held.y == number).astype(np.float64), probability_of(held, number)

    def area(own: BoolArray) -> float:
        return area_under_curve(happened[own], probability[own], held.mass[own])

    own = np.array([area(held.fold == fold) for fold in np.unique(held.fold)])
    known = own[~np.isnan(own)]
    mean = float(known.mean()) if len(known) else float("nan")
    return area(np.ones(len(happened), dtype=bool)), mean


def cutoff_table(held: HeldOut, cutoffs: Sequence[float]) -> pd.DataFrame:
    """Classification of two classes at some cut-offs.

    Columns ``cutoff``; ``positive``, share of the rows whose probability reaches it;
    ``sensitivity``, share of the positive rows that reach it; ``specificity``, share of the others
    that do not; missing if there are no such rows.
    """
    import pandas as pd

    yes, mass = held.y > 0, held.mass
    rows = []
    for cutoff in cutoffs:
        reached = at_least(held.predicted, cutoff)
        rows.append(
            (cutoff, _share(reached, mass), _share(reached[yes], mass[yes]),
             _share(~reached[~yes], mass[~yes]))
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["cutoff", "positive", "sensitivity", "specificity"])


def confusion_table(held: HeldOut) -> pd.DataFrame:
    """One row per pair of classes (see ``Performance.confusion``)."""
    import pandas as pd

    _asked("confusion", held)
    n, observed = len(held.classes), held.y.astype(np.int64)
    counts = np.zeros((n, n))
    np.add.at(counts, (observed, _most_probable(held)), held.mass)
    labels = pd.Series(list(held.classes))
    true, taken = np.divmod(np.arange(n * n), n)
    total = counts.sum(axis=1)
    with np.errstate(invalid="ignore"):
        share = counts / total[:, None]
    return pd.DataFrame(
        {
            "observed": labels.iloc[true].array,
            "predicted": labels.iloc[taken].array,
            "n": counts.ravel(),
            "share": share.ravel(),
        }
    )


def per_class_table(held: HeldOut) -> pd.DataFrame:
    """One row per class: ``class``, ``n``, ``recall``, share of its rows that are classified as it,
    ``precision``, share of the rows classified as it that belong to it, and ``area``, the area
    under the ROC curve of the class against the others over all predictions; missing if there are
    no such rows."""
    import pandas as pd

    found = confusion_table(held)
    n = len(held.classes)
    counts = found["n"].to_numpy().reshape(n, n)
    right, total, taken = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "class": pd.Series(list(held.classes)).array,
                "n": total,
                "recall": right / total,
                "precision": right / taken,
                "area": [areas(held, number)[0] for number in range(n)],
            }
        )


def _most_probable(held: HeldOut) -> Any:
    """The predicted class of each row, as in ``predict(type="class")``."""
    if held.predicted.ndim == 2:
        return largest_in_row(held.predicted)
    return at_least(held.predicted, 0.5).astype(np.int64)


def _share(members: BoolArray, mass: FloatArray) -> float:
    return float(mass[members].sum() / mass.sum()) if len(mass) else float("nan")


def _asked(what: str, held: HeldOut) -> list[tuple[int, Any]]:
    if not held.classes:
        raise OptionError(
            f"`{what}()` needs a response with classes.\n"
            f"  Found: family {quoted(held.family.name)}."
            + ("" if held.family.has_times else " `calibration()` also takes numeric responses.")
        )
    return positive_classes(held)
