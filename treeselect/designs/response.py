"""The left-hand side: values, classes, family, and the rows that can be used."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeselect.arguments.checks import check_choice, described
from treeselect.designs import families
from treeselect.designs.evaluation import Basis, evaluate
from treeselect.designs.survival import FollowUp, follow_up_of, read_times
from treeselect.designs.weights import RowWeights, copies_of
from treeselect.engine.arrays import WeightArray
from treeselect.engine.tree.target import MOST_CLASSES
from treeselect.errors import DataError, FormulaError, OptionError, first_few, listing, quoted
from treeselect.formulas.terms import ParsedFormula
from treeselect.frames.values import Labels, Numbers, read_column
from treeselect.shown import shown

FAMILIES = ("auto", "gaussian", "binomial", "multinomial", "ordinal", "poisson", "cox")

_MEANT = {
    "logistic": "binomial", "quasipoisson": "poisson", "negative-binomial": "poisson",
    "gamma": "gaussian", "tweedie": "gaussian",
}  # fmt: skip
"""The family whose selection is refitted by a model of this name, or that has another name."""

_SMALLEST, _LARGEST = 1e-70, 1e70
"""Responses whose fourth powers (variances of squared errors) are above 0 and sum to numbers."""


@dataclass(frozen=True, slots=True)
class Response:
    """The response of the rows where it is observed."""

    name: str  # the left-hand side
    # shape (n_rows,), or (n_rows, 4); for two classes the indicator of the second, for more their
    # number from 0; of times to an event four columns: see ``engine.survival.times``
    y: NDArray[np.float64]
    # shape (n_rows,); rows of the data that are used; a row with a frequency weight as often as it
    # says
    rows: NDArray[np.int64]
    family: families.Family
    reason: str  # how the family was found
    # the classes as in the user's data, the positive one of two last; empty for numbers
    classes: tuple[Any, ...]
    # observations with a weight that are left out because the response, or a stratum, is missing
    n_dropped: int
    follow_up: FollowUp | None = None
    # observations of each class; of numbers their number, and of counts their sum behind it. Empty
    # for times, and in models saved by versions that did not keep them
    counts: tuple[int, ...] = ()
    # whether the classes were said to be ordered; not kept in model files
    ordered: bool = False

    @property
    def family_text(self) -> str:
        """The family with the reason for it, and rows: for two classes those of the positive one,
        for more those of each, for counts their sum; for times to an event the likelihood."""
        text = f"{self.family.name} ({self.reason})"
        if self.follow_up is not None:
            return f"{text}; Cox partial likelihood"
        if len(self.classes) == 2:
            text += f"; positive class: {self.classes[-1]}"
        if not self.counts:
            return text
        if len(self.classes) == 2:
            return f"{text} ({self.counts[1]:,} of {sum(self.counts):,})"
        if self.classes:
            each = [f"{c} ({n:,})" for c, n in zip(self.classes, self.counts, strict=True)]
            between = " < " if self.family.is_ordered else ", "
            return f"{text}; classes: {first_few(each, 6, between)}"
        total = f", total count {self.counts[1]:,}" if len(self.counts) > 1 else ""
        return f"{text}; n = {self.counts[0]:,}{total}"

    @property
    def parts_text(self) -> str:
        """What a row needs to be used: ``the response``, or with strata one of them, too."""
        has_strata = self.follow_up is not None and bool(self.follow_up.strata)
        return "the response or a stratum" if has_strata else "the response"

    @property
    def in_linear_models(self) -> str:
        """Its name, with the positive class or the reference class of the coefficients, the order
        of the classes, or the strata."""
        if self.follow_up is not None and self.follow_up.strata:
            return f"{self.name}; strata: {', '.join(self.follow_up.strata)}"
        if not self.classes:
            return self.name
        if self.family.is_ordered:
            return f"{self.name}; a higher class of {' < '.join(map(str, self.classes))}"
        if len(self.classes) == 2:
            return f"{self.name}; positive class: {self.classes[-1]}"
        return f"{self.name}; compared with the class: {self.classes[0]}"


def read_response(
    formula: ParsedFormula, frame: pd.DataFrame, family: str, weight: WeightArray
) -> Response:
    """Evaluate the left-hand side and determine the family. Text, logical values, categories and
    numbers that are only 0 or 1 are classes. The positive class of two is 1, True, the last
    category, or the second in sorted order."""
    check_choice("family", family, FAMILIES, _MEANT)
    found = _read(formula, frame, family, weight)
    copies = copies_of(weight)[found.rows]
    counts: tuple[int, ...] = ()
    if found.classes:
        each = np.bincount(found.y.astype(np.int64), copies, minlength=len(found.classes))
        counts = tuple(each.astype(np.int64).tolist())
    elif not found.family.has_times:
        n = int(copies.sum())
        counts = (n, int(copies @ found.y)) if found.family is families.POISSON else (n,)
    return dataclasses.replace(found, counts=counts)


def with_positive(response: Response, positive: object) -> Response:
    """The response with this one of two classes as the positive one; the usual one by default."""
    if positive is None:
        return response
    text = positive if isinstance(positive, str) else described(positive)
    classes = [str(c) for c in response.classes]
    twin = {"0": "False", "1": "True", "False": "0", "True": "1"}
    if set(classes) not in ({"0", "1"}, {"False", "True"}):
        twin = {}
    own = [at for at, c in enumerate(classes) if text in (c, f"{c}.0", twin.get(c))]  # 1.0 is 1
    if len(response.classes) != 2 or not own:
        found = listing(response.classes, 6) if response.classes else "a response without classes"
        raise OptionError(
            f"`positive` must be one of the two classes of {quoted(response.name)}.\n"
            f"  Found: {described(positive)}; {'classes: ' * bool(response.classes)}{found}."
        )
    if own == [1]:
        return response
    return dataclasses.replace(
        response, y=1.0 - response.y, classes=response.classes[::-1], counts=response.counts[::-1]
    )


def _read(
    formula: ParsedFormula, frame: pd.DataFrame, family: str, weight: WeightArray
) -> Response:
    term = formula.response
    if formula.survival is not None:
        if family not in ("auto", families.COX.name):
            raise OptionError(
                f"`family={family!r}` needs a single column on the left-hand side of the formula.\n"
                f"  Found: {quoted(term.name)}, times to an event. Leave `family` out, or write"
                ' `family="cox"`.'
            )
        orders: dict[str, Any] = {}
        y, rows, levels = read_times(formula, frame, orders)
        reason = "time to event" if family == "auto" else "as specified"
        known = follow_up_of(formula, y, weight[rows], levels, orders)
        n_dropped = len(frame) - len(rows)
        return Response(term.name, y, rows, families.COX, reason, (), n_dropped, known)
    if family == "cox":
        raise OptionError(
            '`family="cox"` needs times to an event.\n'
            f"  Found: the response {quoted(term.name)}. Write `Surv(time, event)` on the left-hand"
            " side of the formula."
        )
    columns = {name: read_column(frame[name], name) for name in term.variables}
    values = evaluate(term.factors[0], columns, {})
    if isinstance(values, Labels):
        return _classes(term.name, values, family)
    if isinstance(values, Basis):
        raise FormulaError(
            f"The response {quoted(term.name)} must be one column.\n  {shown(formula.text)}\n"
            "  Found: a spline or a polynomial, which belongs on the right-hand side."
        )
    return _numbers(term.name, values, family)


def response_with_weight(
    formula: ParsedFormula, frame: pd.DataFrame, weights: RowWeights, family: str
) -> Response:
    """The response of the rows with a weight above 0; the others are ignored."""
    rows = weights.rows
    if len(rows) == len(frame):
        return read_response(formula, frame, family, weights.values)
    if not len(rows):
        raise DataError("Case weights must not all be zero.")
    there = frame[list(formula.outcome_variables)].iloc[rows].reset_index(drop=True)
    try:
        found = read_response(formula, there, family, weights.values[rows])
    except DataError as error:
        left_out = len(frame) - len(rows)
        raise DataError(
            f"{error}\n  This applies to the rows with a positive weight; {left_out:,}"
            f" row{'s' if left_out > 1 else ''} with weight 0"
            f" {'are' if left_out > 1 else 'is'} left out."
        ) from None
    return dataclasses.replace(found, rows=rows[found.rows])


def _classes(name: str, labels: Labels, family: str) -> Response:
    if family in ("gaussian", "poisson"):
        raise OptionError(
            f"`family={family!r}` needs a numeric response.\n"
            f"  Found: {quoted(name)} holds text or categories."
        )
    rows = np.flatnonzero(labels.codes >= 0)
    present, y = np.unique(labels.codes[rows], return_inverse=True)
    is_text = not labels.declared and all(isinstance(level, str) for level in labels.levels)
    kind = "text" if is_text else "categorical"
    classes = tuple(labels.levels[c] for c in present)
    reason = f"{quoted(name)} is {kind} with {_COUNTS.get(len(classes), len(classes))} classes"
    found = _class_response(name, classes, y, rows, len(labels.codes), family, reason)
    if family == "ordinal":
        check_ordered(name, classes, ordered=labels.ordered, argument='family="ordinal"')
    return dataclasses.replace(found, ordered=labels.ordered)


def check_ordered(name: str, classes: Sequence[Any], *, ordered: bool, argument: str) -> None:
    """Raise an OptionError for text whose alphabetical order says nothing."""
    classes = list(classes)
    if not ordered and all(isinstance(c, str) for c in classes) and classes == sorted(classes):
        raise OptionError(
            f"`{argument}` needs ordered classes.\n  Found: text, in alphabetical order:"
            f" {listing(classes, 6)}. Make {quoted(name)} an ordered categorical,"
            " `pandas.Categorical(values, levels, ordered=True)`, or number the classes."
        )


_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def _numbers(name: str, numbers: Numbers, family: str) -> Response:
    rows = np.flatnonzero(~np.isnan(numbers.values))
    y = numbers.values[rows]
    distinct = np.unique(y)
    if not len(distinct):
        raise DataError(
            f"The response {quoted(name)} must have non-missing values.\n  Found: none."
        )
    zero_one = bool(np.isin(distinct, (0.0, 1.0)).all())
    if family in ("gaussian", "poisson") or (family == "auto" and not zero_one):
        _check_numbers(name, y, distinct, family)
        reason = f"{quoted(name)} is numeric" if family == "auto" else "as specified"
        kind = families.POISSON if family == "poisson" else families.GAUSSIAN
        return Response(name, y, rows, kind, reason, (), len(numbers.values) - len(rows))
    kinds = (bool if numbers.is_bool else int if v == int(v) else float for v in distinct)
    classes = tuple(kind(v) for kind, v in zip(kinds, distinct, strict=True))
    reason = f"{quoted(name)} is 0 or 1" if zero_one else "as specified"
    reason = f"{quoted(name)} is logical" if numbers.is_bool else reason
    at = y if zero_one and len(distinct) == 2 else np.searchsorted(distinct, y)  # less memory
    return _class_response(name, classes, at, rows, len(numbers.values), family, reason)


def _check_numbers(
    name: str, y: NDArray[np.float64], distinct: NDArray[np.float64], family: str
) -> None:
    if len(distinct) < 2:
        raise DataError(
            f"The response {quoted(name)} must vary.\n  Found: {distinct[0]:g} in every row."
        )
    largest = np.abs(y).max()
    if not _SMALLEST <= largest <= _LARGEST:
        raise DataError(
            f"The largest absolute value of the response {quoted(name)} must be from {_SMALLEST:g}"
            f" to {_LARGEST:g}.\n  Found: {largest:g}. Rescale it."
        )
    odd = np.flatnonzero((y < 0) | (y != np.floor(y)))
    if family == "poisson" and len(odd):
        raise OptionError(
            '`family="poisson"` needs counts: non-negative whole numbers.\n'
            f"  Found: {y[odd[0]]:g} in {quoted(name)}. To model rates, multiply them by the"
            " exposure and pass its logarithm as `offset`."
        )


def _class_response(
    name: str,
    classes: tuple[Any, ...],
    y: NDArray[Any],
    rows: NDArray[np.int64],
    n_rows: int,
    family: str,
    reason: str,
) -> Response:
    if len(classes) < 2:
        found = f"only {described(classes[0])}" if classes else "only missing values"
        raise DataError(
            f"The response {quoted(name)} must have at least two classes.\n  Found: {found}.\n"
            "  Check which rows are in `data`."
        )
    if len(classes) > 2 and family == "binomial":
        raise OptionError(
            f'`family="binomial"` needs two classes.\n'
            f"  Found: {quoted(name)} has {len(classes)}: {listing(classes, 6)}. Leave `family` out"
            ' or write `family="multinomial"`.'
        )
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f"The response {quoted(name)} must have at most {MOST_CLASSES} classes.\n"
            f"  Found: {len(classes)}. Is it an identifier, or a number stored as text?"
        )
    if len(classes) == 2 and family == "ordinal":
        raise OptionError(
            f'`family="ordinal"` needs more than two classes.\n'
            f"  Found: {quoted(name)} has {listing(classes)}. Leave `family` out, or write"
            ' `family="binomial"`.'
        )
    name_of = "binomial" if len(classes) == 2 else "multinomial" if family != "ordinal" else family
    kind = families.family_of(name_of, len(classes))
    y = y.astype(np.float64, copy=False)
    return Response(name, y, rows, kind, reason, classes, n_rows - len(rows))
