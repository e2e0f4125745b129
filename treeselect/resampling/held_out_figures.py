"""Figures of predictions of held-out rows: ROC curves and calibration."""

from __future__ import annotations

from typing import Any

import pandas as pd

from treeselect.arguments.checks import described
from treeselect.errors import OptionError, listing
from treeselect.figures.axes import shorten
from treeselect.figures.charts import agreement_figure, curve_figure, share_figure
from treeselect.figures.marks import Plane, Series
from treeselect.printing import count_text, decimal_text
from treeselect.resampling.decisions import rates_table
from treeselect.resampling.held_out import HeldOut, areas, calibration_table, roc_table

N_GROUPS = 10
"""Groups of rows with similar predictions."""

_CUTOFFS = tuple(step / 10 for step in range(1, 10))


def roc_figure(held: HeldOut, label: Any = None) -> Plane:
    """The ROC curve of all predictions, of one of more than two classes against the others."""
    curve, number = roc_table(held), 1
    if len(held.classes) > 2:
        curve, number = curve[curve["class"] == label], held.classes.index(label)
    said = f"Area under the curve {decimal_text(areas(held, number)[0], 3)}"
    if len(held.classes) == 2:
        places = [
            f"; sensitivity {row['sensitivity']:.2f} at specificity {row['specificity']:.2f}"
            for row in rates_table(held, _CUTOFFS).to_dict("records")
        ]
        said += "".join(dict.fromkeys(places))
    x, y = (curve[name].to_list() for name in ("false_positive_rate", "true_positive_rate"))
    return curve_figure(x, y, ("1 − specificity", "sensitivity"), said)


def calibration_figure(held: HeldOut, label: Any = None) -> Plane:
    """Predicted and observed means in groups of rows; of more than two classes, of one of them."""
    found, name = calibration_table(held, N_GROUPS), held.name
    if len(held.classes) > 2:
        found = found[found["class"] == label]
    ends = ("observed", "ci_low", "ci_high")
    if not (held.classes or held.family.has_times):
        dots = group_dots(found, "predicted {:,.4g}: observed {:,.4g}{}", *ends)
        return agreement_figure(dots, ("mean prediction", f"mean observed {shorten(name, 15.0)}"))
    if held.classes or held.event is not None:
        name = held.event_words if label is None else f"{name} = {label}"
    dots = group_dots(found, "probability {:.2f}: observed {:.2f}{} in {} rows", *ends)
    of = shorten(name, 18.0)
    return share_figure(dots, ("mean predicted probability", f"observed share of {of}"))


def group_dots(found: pd.DataFrame, text: str, *names: str) -> Series:
    """Values and intervals of groups against their mean predictions, and in words."""
    x, y, lows, highs, n = (found[name].to_list() for name in ("predicted", *names, "n"))
    between = [
        f" ({a:,.3g} to {b:,.3g})" if a == a else "" for a, b in zip(lows, highs, strict=True)
    ]
    texts = [text.format(*one) for one in zip(x, y, between, map(count_text, n), strict=True)]
    return Series(x=x, y=y, low=lows, high=highs, line="", texts=texts)


def drawn(held: HeldOut, kind: str, label: Any) -> Plane:
    """See ``Performance.plot``."""
    classes = held.classes if len(held.classes) > 2 else ()
    if (label is None) == bool(classes) or (classes and label not in classes):
        raise OptionError(
            "`of_class` must be one of more than two classes, and else be left out.\n"
            f"  Found: {described(label)}. Classes: {listing(list(held.classes)) or 'none'}."
        )
    if kind == "roc":
        return roc_figure(held, label)
    return calibration_figure(held, label)
