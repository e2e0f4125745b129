"""From a parsed formula and a frame to a design, and the same for new data.

:class:`DesignSpec` holds what was learned (schema, levels, state of transforms) and replays it;
:class:`~treeselect.design.Design` holds the arrays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeselect.design import Design
from treeselect.engine.binning import MAX_BINS, bin_columns, bin_edges
from treeselect.errors import DataError, NewDataError, NotBuiltError, listing, quoted
from treeselect.formula import ParsedFormula, Term, as_factor, evaluate
from treeselect.frames import Labels, Numbers, read_column, read_data
from treeselect.units import Units

if TYPE_CHECKING:
    import pandas as pd

NewLevels = Literal["error", "missing", "other"]

OTHER_CODE = 255
"""Code of a level that was not there when the model was fitted: none of its levels."""

_IDENTIFIER_LEVELS = 10
"""Text with more levels than this, and than half of its rows, is taken for an identifier."""

_KINDS = {"number": "numbers", "text": "text or categories"}


@dataclass(frozen=True, slots=True)
class TermSpec:
    """What was learned of one term.

    Attributes
    ----------
    term : Term
    levels : tuple or None
        Levels of a factor, None for a number.
    is_bool : bool
        Whether the values are truth values.
    """

    term: Term
    levels: tuple[Any, ...] | None
    is_bool: bool = False

    @property
    def kind(self) -> str:
        """``"factor"``, ``"logical"`` or ``"numeric"``."""
        if self.levels is not None:
            return "factor"
        return "logical" if self.is_bool else "numeric"


@dataclass(frozen=True, slots=True)
class DesignSpec:
    """How to encode new data as the training data were encoded.

    Attributes
    ----------
    formula : ParsedFormula
    terms : tuple of TermSpec
        In the user's order.
    schema : dict
        ``"number"`` or ``"text"`` for each variable.
    state : dict
        What the transforms of each term learned.
    units : Units
    new_levels : {"error", "missing", "other"}
        What to do with labels that were not there when the model was fitted: refuse them, treat
        them as missing, or treat them as none of the known levels.
    trusted : bool
        Whether the formula may run any code.
    """

    formula: ParsedFormula
    terms: tuple[TermSpec, ...]
    schema: Mapping[str, str]
    state: Mapping[str, Any]
    units: Units
    new_levels: NewLevels
    trusted: bool

    def __getitem__(self, name: str) -> TermSpec:
        """The term of that name."""
        return next(spec for spec in self.terms if spec.term.name == name)

    @property
    def variables(self) -> tuple[str, ...]:
        """Columns of the data that the terms read."""
        return tuple(self.schema)

    def encode(self, new: pd.DataFrame | str | os.PathLike[str]) -> tuple[NDArray[Any], ...]:
        """Encode new data.

        Parameters
        ----------
        new : pandas.DataFrame or path
            Must hold the variables; other columns are ignored.

        Returns
        -------
        tuple of ndarray, each of shape (n_rows,)
            One array per column of the design, in its order: numbers as float64, factors as
            uint8 codes.

        Raises
        ------
        NewDataError
            If a column is missing, can't be used, holds text instead of numbers or the reverse,
            or (with ``new_levels="error"``) holds new labels.
        """
        frame = read_data(new)
        absent = [name for name in self.schema if name not in frame]
        if absent:
            raise NewDataError(
                f"New data must have the columns of the model.\n  Missing: {listing(absent)}.\n"
                f"  Found: {listing(frame.columns)}."
            )
        columns = {name: self._read(frame, name) for name in self.schema}
        encoded: dict[str, NDArray[Any]] = {}
        for spec in self.terms:
            name = spec.term.name
            values = _values(spec.term, frame, columns, dict(self.state[name]), self.trusted)
            if spec.levels is None:
                encoded[name] = _number(values, spec)
            else:
                encoded[name] = self._codes(_factor(values), spec)
        return tuple(encoded[name] for name in self.units.term_order)

    def _read(self, frame: pd.DataFrame, name: str) -> Numbers | Labels:
        try:
            column = read_column(frame[name], name, needed=True)
        except DataError as error:
            raise NewDataError(str(error)) from None
        found = _kind(column)
        if found == self.schema[name]:
            return column
        if frame[name].isna().all():
            # A column without a single value has no type of its own.
            if self.schema[name] == "number":
                return Numbers(np.full(len(frame), np.nan))
            return Labels(np.full(len(frame), -1), ())
        way = "float" if self.schema[name] == "number" else "str"
        raise NewDataError(
            f"Column {quoted(name)} must hold {_KINDS[self.schema[name]]} as when the model was"
            f" fitted.\n  Found: {_KINDS[found]} ({frame[name].dtype}).\n"
            f"  Convert it, for example with `.astype({way})`."
        )

    def _codes(self, labels: Labels, spec: TermSpec) -> NDArray[np.uint8]:
        assert spec.levels is not None
        known = {level: code for code, level in enumerate(spec.levels, start=1)}
        unseen = OTHER_CODE if self.new_levels == "other" else 0
        lookup = np.array([*(known.get(v, unseen) for v in labels.levels), 0], dtype=np.uint8)
        if self.new_levels == "error":
            self._check_levels(labels, spec, known)
        return lookup[labels.codes]  # code -1, missing, takes the 0 at the end

    def _check_levels(self, labels: Labels, spec: TermSpec, known: Mapping[Any, int]) -> None:
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.levels))
        new = [(v, n) for v, n in zip(labels.levels, counts, strict=True) if n and v not in known]
        if new:
            found = ", ".join(f'"{v}" ({n} row{"s" if n > 1 else ""})' for v, n in new[:8])
            levels = ", ".join(f'"{v}"' for v in list(known)[:12])
            raise NewDataError(
                f"Column {quoted(spec.term.name)} must only have levels seen when the model was"
                f" fitted.\n  Unseen: {found}{' and more' if len(new) > 8 else ''}."
                f" Seen: {levels}{' and more' if len(known) > 12 else ''}.\n"
                '  Or fit with `new_levels="missing"` or `new_levels="other"`.'
            )


def build_design(
    formula: ParsedFormula,
    frame: pd.DataFrame,
    units: Units,
    *,
    new_levels: NewLevels = "error",
    trusted: bool = False,
) -> tuple[Design, DesignSpec, list[str]]:
    """Encode the right-hand side of a formula.

    Parameters
    ----------
    formula : ParsedFormula
    frame : pandas.DataFrame
        Checked, without rows that are not to be used.
    units : Units

    Returns
    -------
    design : Design
    spec : DesignSpec
    notes : list of str
        What a reader of the summary should know of the columns.

    Raises
    ------
    DataError
        If a column can't be used; text that looks like an identifier among them.
    """
    names = dict.fromkeys(v for term in formula.terms for v in term.variables)
    columns = {name: read_column(frame[name], name) for name in names}
    state: dict[str, dict[str, Any]] = {term.name: {} for term in formula.terms}
    values = {
        term.name: _values(term, frame, columns, state[term.name], trusted)
        for term in formula.terms
    }
    _check_identifiers(formula, values)
    specs = tuple(_learn(term, values[term.name]) for term in formula.terms)
    spec = DesignSpec(
        formula=formula,
        terms=specs,
        schema={name: _kind(column) for name, column in columns.items()},
        state=state,
        units=units,
        new_levels=new_levels,
        trusted=trusted,
    )
    return _arrays(spec, values), spec, _notes(specs, values)


def _values(
    term: Term,
    frame: pd.DataFrame,
    columns: Mapping[str, Numbers | Labels],
    state: dict[str, Any],
    trusted: bool,
) -> Numbers | Labels:
    if term.is_plain:
        return columns[term.name]
    return evaluate(term, frame, state, trusted=trusted, columns=columns)


def _learn(term: Term, values: Numbers | Labels) -> TermSpec:
    if isinstance(values, Labels):
        return TermSpec(term, values.levels)
    return TermSpec(term, None, values.is_bool)


def _kind(column: Numbers | Labels) -> str:
    return "number" if isinstance(column, Numbers) else "text"


def _number(values: Numbers | Labels, spec: TermSpec) -> NDArray[np.float64]:
    if isinstance(values, Labels):
        raise NewDataError(f"Term {quoted(spec.term.name)} must be numeric, as in the model.")
    return values.values


def _factor(values: Numbers | Labels) -> Labels:
    return values if isinstance(values, Labels) else as_factor(values)


def _arrays(spec: DesignSpec, values: Mapping[str, Numbers | Labels]) -> Design:
    columns: list[NDArray[Any]] = []
    levels: list[tuple[Any, ...] | None] = []
    edges: list[NDArray[np.float64] | None] = []
    for name in spec.units.term_order:
        column = values[name]
        if isinstance(column, Labels):
            columns.append((column.codes + 1).astype(np.uint8))
            levels.append(column.levels)
            edges.append(None)
        else:
            columns.append(column.values)
            levels.append(None)
            edges.append(bin_edges(column.values))
    groups = spec.units.feature_groups()
    binned = bin_columns(columns, edges, [len(v or ()) for v in levels], groups.ids)
    return Design(
        column_names=spec.units.term_order,
        columns=tuple(columns),
        levels=tuple(levels),
        edges=tuple(edges),
        groups=groups,
        binned=binned,
    )


def _check_identifiers(formula: ParsedFormula, values: Mapping[str, Numbers | Labels]) -> None:
    """A text key as a factor would fit every row by itself."""
    suspects = []
    for term in formula.terms:
        column = values[term.name]
        if not isinstance(column, Labels):
            continue
        n_known = int(np.count_nonzero(column.codes >= 0))
        n_levels = len(column.levels)
        insists = not term.is_plain  # C(x) says that it is meant as a factor
        like_key = n_levels > max(_IDENTIFIER_LEVELS, n_known / 2) and not insists
        if like_key or n_levels > MAX_BINS:
            suspects.append((term, n_levels, n_known, like_key))
    if not suspects:
        return
    found = "; ".join(
        f"{quoted(t.name)} has {a:,} different in {b:,} rows" for t, a, b, _ in suspects
    )
    removal = " ".join(f"- {t.text}" for t, *_ in suspects)
    keys = [t for t, *_, like_key in suspects if like_key]
    if keys:
        raise DataError(
            f"Text columns with so many different values look like identifiers:"
            f" {listing(t.name for t, *_ in suspects)}.\n  Found: {found}.\n"
            f"  Leave them out: `{formula.text.strip()} {removal}`. A column that is a factor all"
            f" the same may be written `C({keys[0].text})`, with at most {MAX_BINS} levels."
        )
    raise NotBuiltError(
        f"Factors with more than {MAX_BINS} levels are not built yet.\n  Found: {found}.\n"
        f"  Leave them out (`{removal}`) or join rare levels."
    )


def _notes(specs: Sequence[TermSpec], values: Mapping[str, Numbers | Labels]) -> list[str]:
    empty, constant, keys = [], [], []
    for spec in specs:
        name, column = spec.term.name, values[spec.term.name]
        if isinstance(column, Labels):
            present: NDArray[Any] = column.codes[column.codes >= 0]
        else:
            present = column.values[~np.isnan(column.values)]
        if len(present) == 0:
            empty.append(name)
        elif len(present) == len(_all(column)) and (present == present[0]).all():
            constant.append(name)
        elif isinstance(column, Numbers) and spec.term.is_plain and _counts_rows(present, column):
            keys.append(name)
    notes = []
    if empty:
        notes.append(f"No known value, can't be selected: {listing(empty)}.")
    if constant:
        notes.append(f"Constant, can't be selected: {listing(constant)}.")
    if keys:
        notes.append(
            f"Whole numbers that rise from row to row, perhaps an identifier: {listing(keys)}."
        )
    return notes


def _all(column: Numbers | Labels) -> NDArray[Any]:
    return column.values if isinstance(column, Numbers) else column.codes


def _counts_rows(present: NDArray[Any], column: Numbers) -> bool:
    whole = len(present) > _IDENTIFIER_LEVELS and bool((present == np.floor(present)).all())
    return whole and len(present) == len(column.values) and bool((np.diff(present) > 0).all())
