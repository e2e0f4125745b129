"""Strata of times to an event: the numbered combinations of the arguments of ``strata()``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.evaluation import Basis, as_factor, evaluate
from treeselect.designs.follow_up import FollowUp
from treeselect.engine.arrays import IntArray
from treeselect.errors import DataError, NewDataError, listing
from treeselect.formulas.terms import Factor, ParsedFormula
from treeselect.frames.values import Labels, read_column

if TYPE_CHECKING:
    import pandas as pd


def strata_of(follow_up: FollowUp, formula: ParsedFormula, frame: pd.DataFrame) -> IntArray:
    """Number of the stratum of each row of new data, shape (n_rows,); -1 where one of its columns
    is missing.

    Raises
    ------
    NewDataError
        If a column is missing or can't be used, or a stratum did not occur in the fit.
    """
    names = list(dict.fromkeys(v for factor in formula.strata for v in factor.variables))
    absent = [name for name in names if name not in frame]
    if absent:
        raise NewDataError(
            f"`data` must have the columns of the strata.\n  Missing: {listing(absent)}."
        )
    try:
        labels = strata_labels(formula.strata, frame)
    except DataError as error:
        raise NewDataError(str(error)) from None
    number = {own: code for code, own in enumerate(follow_up.levels)}
    found = np.zeros(len(frame), dtype=np.int64)
    if not labels:
        return found
    codes, inverse = np.unique(
        np.column_stack([own.codes for own in labels]), axis=0, return_inverse=True
    )
    unseen: list[str] = []
    lookup = np.full(len(codes), -1)
    for i, row in enumerate(codes):
        if (row < 0).any():
            continue
        own = tuple(label.levels[c] for label, c in zip(labels, row, strict=True))
        lookup[i] = number.get(own, -1)
        if own not in number:
            unseen.append(", ".join(map(str, own)))
    if unseen:
        raise NewDataError(
            f"The strata of {listing(follow_up.strata)} must be the same as in the fit.\n"
            f"  New: {listing(unseen)}.\n"
            "  Each stratum has its own baseline hazard, which can't be estimated without its rows."
            ' Leave these rows out, or use `type="response"`, which needs no stratum.'
        )
    return np.asarray(lookup[inverse.ravel()])


def strata_labels(factors: Sequence[Factor], frame: pd.DataFrame) -> list[Labels]:
    """Labels of what ``strata()`` is given; each distinct number is one."""
    found = []
    for factor in factors:
        columns = {v: read_column(frame[v], v) for v in factor.variables}
        values = evaluate(factor, columns, {})
        assert not isinstance(values, Basis)
        found.append(as_factor(values))
    return found


def crossed(
    labels: Sequence[Labels], rows: IntArray
) -> tuple[tuple[tuple[Any, ...], ...], IntArray | None]:
    """The combinations of labels that occur, and the number of that of each row."""
    if not labels:
        return ((),), None
    codes = np.column_stack([own.codes[rows] for own in labels])
    found, number = np.unique(codes, axis=0, return_inverse=True)
    levels = tuple(
        tuple(own.levels[c] for own, c in zip(labels, row, strict=True)) for row in found
    )
    return levels, np.asarray(number.ravel(), dtype=np.int64)
