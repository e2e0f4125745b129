"""From the values of a term's factors to the columns of a design, and back to their one-hot form.

A factor (in the statistician's sense) stays one column of codes, and so does an interaction of
factors: its levels are the combinations that occur. Splines and polynomials are several columns;
an interaction of numbers with factors has one column per level and number.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.designs.evaluation import Basis, Values, arrays_of, as_factor, missing_rows
from treeselect.designs.imputer import Block
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.columns import MAX_BINS, OTHER
from treeselect.errors import DataError, NewDataError, column_code, literal, quoted
from treeselect.formulas.terms import Factor, Term
from treeselect.frames.values import Labels, Numbers, NumberText, number_text, read_column, recoded

MISSING = -1
"""Code of a missing label."""

UNSEEN = -2
"""Code of a label that is none of the levels."""

_MOST_COLUMNS = 100_000
"""Most columns of one interaction."""

_MOST_VALUES = 250_000_000
"""Most values of one interaction, 2 GB."""


@dataclass(frozen=True, slots=True)
class FactorSpec:
    """What was learned about one factor of a term: the levels of labels, None for numbers; the
    names of the columns of a spline or polynomial, ``("",)`` for one number."""

    factor: Factor
    levels: tuple[Any, ...] | None
    fields: tuple[str, ...] = ("",)
    is_bool: bool = False

    @property
    def names(self) -> list[str]:
        """formulaic's names of the columns that it would make of the factor."""
        name = self.factor.name
        if self.levels is not None:
            return [f"{name}[{level}]" for level in self.levels]
        return [f"{name}[{field}]" if field else name for field in self.fields]


@dataclass(frozen=True, slots=True)
class TermSpec:
    """What was learned about one term."""

    term: Term
    factors: tuple[FactorSpec, ...]
    # for an interaction of several factors with labels: the combinations of level numbers that
    # occur, in order. Factors count in alphabetical order here
    combinations: tuple[tuple[int, ...], ...] | None = None
    # n_occurring, n_missing: number of levels that occur in the data, None for a number; number of
    # rows in which the term is missing, None if that was not stored
    n_occurring: int | None = None
    n_missing: int | None = None

    __repr__ = brief

    @property
    def order(self) -> list[int]:
        """Alphabetical order of the factors: the columns of ``a:b`` are those of ``b:a``."""
        return sorted(range(len(self.factors)), key=lambda i: self.factors[i].factor.name)

    @property
    def kind(self) -> str:
        """``"factor"``, ``"logical"``, ``"numeric"``, or ``"factor x numeric"``."""
        labelled = [spec.levels is not None for spec in self.factors]
        if all(labelled):
            return "factor"
        if any(labelled):
            return "factor x numeric"
        return "logical" if all(spec.is_bool for spec in self.factors) else "numeric"

    @property
    def n_levels(self) -> int | None:
        """Number of levels, None for a number."""
        labelled = [spec.levels for spec in self.factors if spec.levels is not None]
        if not labelled:
            return None
        return len(labelled[0]) if self.combinations is None else len(self.combinations)

    @property
    def n_fields(self) -> int:
        """Number of numeric columns, for each level if there are any."""
        return math.prod(len(spec.fields) for spec in self.factors if spec.levels is None)

    @property
    def column_levels(self) -> tuple[int | None, ...]:
        """Number of levels of each design column, None for a number."""
        n = self.n_levels or 0
        if self.kind != "factor":
            return (None,) * (max(n, 1) * self.n_fields)
        return tuple(min(MAX_BINS, n - start) for start in range(0, max(n, 1), MAX_BINS))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What its columns are to an imputer. Levels of a factor of several columns stay
        missing."""
        levels = self.column_levels
        if self.kind == "factor x numeric":
            return ((max(self.n_levels or 0, 1), self.n_fields),)
        if levels[0] is None:
            return ((None, 1),) * len(levels)
        return ((levels[0], 0),) if len(levels) == 1 else ((0, 0),) * len(levels)


def count_parameters(terms: Sequence[TermSpec]) -> int:
    """Number of coefficients of a linear model of these terms, without the intercept: those of a
    term are its cells less what the intercept and terms that it contains account for."""
    known, n = {(frozenset[str](), frozenset[str]())}, 0
    for spec in terms:
        factors = [spec.factors[i] for i in spec.order]
        numbers = frozenset(own.factor.name for own in factors if own.levels is None)
        sizes = {own.factor.name: len(own.levels) for own in factors if own.levels is not None}
        if spec.combinations is not None:
            sizes = {name: len({c[i] for c in spec.combinations}) for i, name in enumerate(sizes)}
        n_cells = math.prod(sizes.values()) if spec.n_occurring is None else spec.n_occurring
        parts = {
            (numbers, frozenset(own)): math.prod(max(sizes[name] - 1, 0) for name in own)
            for size in range(len(sizes) + 1)
            for own in itertools.combinations(sizes, size)
        }
        n += max(n_cells - sum(parts[own] for own in parts.keys() & known), 0) * spec.n_fields
        known |= parts.keys()
    return n


def learn(term: Term, values: Sequence[Values], copies: IntArray) -> TermSpec:
    """What has to be known about a term to make the same columns from other data; rows count as
    often as they have copies."""
    if len(values) == 1 and isinstance(number := values[0], Numbers):  # soon, for thousands of them
        single = FactorSpec(term.factors[0], None, is_bool=number.is_bool)
        return TermSpec(term, (single,), n_missing=int(copies[np.isnan(number.values)].sum()))
    own = []
    for factor, value in zip(term.factors, values, strict=True):
        levels = value.levels if isinstance(value, Labels) else None
        fields = value.fields if isinstance(value, Basis) else ("",)
        own.append(FactorSpec(factor, levels, fields, getattr(value, "is_bool", False)))
    spec = TermSpec(term, specs := tuple(own))
    codes = [v.codes for i in spec.order if isinstance(v := values[i], Labels)]
    if len(codes) == 1:
        n_occurring = len(np.unique(codes[0][codes[0] >= 0]))
        spec = TermSpec(term, specs, n_occurring=n_occurring)
    if len(codes) > 1:
        n = math.prod(len(spec.levels) for spec in specs if spec.levels)
        if n >= 2**62:  # the number of a combination must fit into 64 bits
            raise DataError(
                f"The term {quoted(term.name)} must have at most 2**62 combinations of levels.\n"
                f"  Found: {n:.3g}. Write its factors as separate terms."
            )
        known = np.logical_and.reduce([c >= 0 for c in codes])
        found = np.unique(np.stack([c[known] for c in codes], axis=1), axis=0)
        spec = TermSpec(term, specs, tuple(map(tuple, found.tolist())), len(found))
    gaps = missing_rows(dict(enumerate(values)))
    if len(specs) > 1:
        _check_size(spec, len(gaps))
    return dataclasses.replace(spec, n_missing=int(copies[gaps].sum()))


def _check_size(spec: TermSpec, n_rows: int) -> None:
    n_columns = len(spec.column_levels)
    n_values = n_columns * n_rows
    if n_columns > _MOST_COLUMNS or n_values > _MOST_VALUES:
        raise DataError(
            f"The term {quoted(spec.term.name)} must have at most {_MOST_COLUMNS:,} columns and"
            f" {_MOST_VALUES:,} values.\n"
            f"  Found: {n_columns:,} columns of {n_rows:,} rows. Trees model interactions without"
            " product terms: write its factors as separate terms."
        )


def conform(values: Values, spec: FactorSpec) -> Values | None:
    """Values of other data in the form that was learned, or None if they are of another type.
    Labels get the codes of the learned levels, :data:`UNSEEN` if they are none of them."""
    if spec.levels is not None:
        if isinstance(values, Basis):
            return None
        return Labels(recoded(as_factor(values), spec.levels, UNSEEN), spec.levels)
    if isinstance(values, Numbers) and spec.fields != ("",) and np.isnan(values.values).all():
        return Basis(spec.fields, (values.values,) * len(spec.fields))
    fields = values.fields if isinstance(values, Basis) else ("",)
    return None if isinstance(values, Labels) or fields != spec.fields else values


def design_columns(spec: TermSpec, values: Sequence[Values]) -> tuple[NDArray[Any], ...]:
    """The columns of a term, each of shape (n_rows,), from the conforming values of its factors:
    codes (uint8: 0 missing, level + 1, 255 none of the column's levels) or float64."""
    values = [values[i] for i in spec.order]
    labels = [value.codes for value in values if isinstance(value, Labels)]
    numbers = [arrays_of(value) for value in values if not isinstance(value, Labels)]
    products = _products(spec, numbers) if numbers else ()
    if not labels:
        return products
    codes = labels[0] if spec.combinations is None else _cross(labels, spec)
    if not numbers:
        return _code_columns(codes, spec.n_levels or 0)
    # One column per level and number, 0 where the row has another level, whatever the number.
    lost = codes == MISSING
    return tuple(
        np.where(lost, np.nan, np.where(codes == level, number, 0.0))
        for level in range(max(spec.n_levels or 0, 1))  # missing in all rows if there is none
        for number in products
    )


def _products(spec: TermSpec, numbers: Sequence[tuple[FloatArray, ...]]) -> tuple[FloatArray, ...]:
    """Row-wise products of columns, the first factor's varying fastest, as formulaic has them."""
    products = []
    for chosen in itertools.product(*reversed(numbers)):
        product = chosen[-1]
        for column in reversed(chosen[:-1]):
            with np.errstate(over="ignore"):
                product = product * column
            _check_finite(spec, product)  # at once, as infinity times 0 would be a missing value
        products.append(product)
    return tuple(products)


def _check_finite(spec: TermSpec, product: FloatArray) -> None:
    """Raise a DataError for products that overflow: the numbers themselves are finite."""
    n_rows = int(np.isinf(product).sum())
    if n_rows:
        raise DataError(
            f"The products of {quoted(spec.term.name)} must be finite.\n"
            f"  Found: {n_rows:,} row{'s' if n_rows > 1 else ''} with a product beyond 1.8e308, the"
            " largest floating-point number.\n"
            "  Rescale the variables first, for example `I(x / 1e200)`."
        )


def _cross(labels: Sequence[NDArray[Any]], spec: TermSpec) -> NDArray[np.int64]:
    """Number of the combination of labels of each row."""
    assert spec.combinations is not None
    factors = [spec.factors[i] for i in spec.order]
    sizes = [len(factor.levels) for factor in factors if factor.levels is not None]
    flat = np.zeros(len(labels[0]), dtype=np.int64)
    learned = np.zeros(len(spec.combinations), dtype=np.int64)
    table = np.array(spec.combinations, dtype=np.int64).reshape(-1, len(sizes))
    for i, (codes, size) in enumerate(zip(labels, sizes, strict=True)):
        flat = flat * size + codes
        learned = learned * size + table[:, i]
    at = np.searchsorted(learned, flat)
    at[at == len(learned)] = 0
    found = learned[at] == flat if len(learned) else np.zeros(len(flat), dtype=bool)
    crossed = np.where(found, at, UNSEEN)
    crossed[np.logical_or.reduce([codes == UNSEEN for codes in labels])] = UNSEEN
    crossed[np.logical_or.reduce([codes == MISSING for codes in labels])] = MISSING
    return crossed


def _code_columns(codes: NDArray[Any], n_levels: int) -> tuple[NDArray[np.uint8], ...]:
    """Codes of a factor: one column, or several with a share of the levels each."""
    columns = []
    for start in range(0, max(n_levels, 1), MAX_BINS):
        inside = min(MAX_BINS, n_levels - start)
        # Entry c of the table is for code c; the last two are for UNSEEN and MISSING.
        table = np.full(n_levels + 2, OTHER, dtype=np.uint8)
        table[start : start + inside] = np.arange(1, inside + 1)
        table[MISSING] = 0
        columns.append(table[codes])
    return tuple(columns)


def one_hot(spec: TermSpec, columns: Sequence[NDArray[Any]]) -> Mapping[str, NDArray[np.float64]]:
    """formulaic's columns of a term, from its design columns. Missing labels are 0 in all columns
    of the factor; missing numbers are NaN, in products with a label in the columns of that."""
    n_rows = len(columns[0]) if columns else 0
    expanded: dict[str, NDArray[np.float64]] = {}
    labelled = [i for i in spec.order if spec.factors[i].levels is not None]
    numeric = [i for i in spec.order if spec.factors[i].levels is None]
    sizes = [len(factor.names) for factor in spec.factors]
    if math.prod(sizes) > _MOST_COLUMNS:
        raise DataError(
            f"The term {quoted(spec.term.name)} must expand to at most {_MOST_COLUMNS:,} columns.\n"
            f"  Found: {math.prod(sizes):,}. Leave the term out, or write its factors as separate"
            " terms."
        )
    number = {c: i for i, c in enumerate(spec.combinations or ())}
    for reverse in itertools.product(*(range(size) for size in reversed(sizes))):
        at = reverse[::-1]
        name = ":".join(factor.names[i] for factor, i in zip(spec.factors, at, strict=True))
        field = 0
        for i in reversed(numeric):
            field = field * sizes[i] + at[i]
        if not labelled:
            expanded[name] = columns[field]
            continue
        level = at[labelled[0]]
        if spec.combinations is not None:
            level = number.get(tuple(at[i] for i in labelled), -1)
        if level < 0:  # does not occur
            expanded[name] = np.zeros(n_rows)
        elif numeric:
            expanded[name] = columns[level * spec.n_fields + field]
        else:
            here = columns[level // MAX_BINS] == level % MAX_BINS + 1
            expanded[name] = here.astype(np.float64)
    return expanded


# --- Columns of new data, read as those of the data of the fit -----------------------------------

KINDS = {
    "number": "numbers", "logical": "logical values", "text": "text or categories",
    "coded": "categories that are numbers",
}  # fmt: skip


def kind_of(column: Numbers | Labels) -> str:
    """``"number"``, ``"logical"``, ``"text"`` or, of categories that are numbers, ``"coded"``."""
    if isinstance(column, Labels):
        return "text" if all(isinstance(level, str) for level in column.levels) else "coded"
    return "logical" if column.is_bool else "number"


@contextmanager
def in_new_data() -> Iterator[None]:
    """Say of data that they do not match those of the fit."""
    try:
        yield
    except NewDataError:
        raise
    except DataError as error:
        raise NewDataError(str(error)) from error


def read_learned(frame: pd.DataFrame, name: str, learned: str) -> Numbers | Labels:
    """A column of new data, given the kind that it had in the data of the fit."""
    with in_new_data():
        column = read_column(frame[name], name)
    found = kind_of(column)
    if found == learned and found in ("text", "coded"):
        return column
    if isinstance(column, Numbers) and learned == "coded":
        return dataclasses.replace(as_factor(column), declared=True)
    if isinstance(column, Numbers) and learned == "number":
        return Numbers(column.values, is_integer=column.is_integer or column.is_bool)
    if isinstance(column, Numbers) and learned == "logical":
        known = column.values[~np.isnan(column.values)]
        if np.isin(known, (0.0, 1.0)).all():
            return Numbers(column.values, is_bool=True)
    if frame[name].isna().all():
        # A column without a single value has no type of its own.
        if learned in ("text", "coded"):
            return Labels(np.full(len(frame), -1), ())
        return Numbers(np.full(len(frame), np.nan), is_bool=learned == "logical")
    raise NewDataError(
        f"Column {quoted(name)} must hold {KINDS[learned]}, as it did when the model was"
        f" fitted.\n  Found: {KINDS[found]} ({frame[name].dtype}).\n"
        f"  Convert it, for example `{_conversion(column, name, learned)}` in pandas."
    )


def _conversion(column: Numbers | Labels, name: str, learned: str) -> str:
    """Python code that makes of a column what the model knows."""
    text = column_code(name)
    if isinstance(column, Numbers):
        known = column.values[~np.isnan(column.values)]
        whole = column.is_integer or bool((known == np.floor(known)).all())
        kind = ".astype('Int64').astype('string')" if whole else ".map(str, na_action='ignore')"
        return f"{text} != 0" if learned == "logical" else f"{text}{kind}"
    if learned == "logical":
        return f"{text} == {literal(column.levels[-1])}"
    if learned == "text":
        return f"{text}.map(str, na_action='ignore')"
    found = number_text(column.levels)
    if found is None and pd.to_numeric(pd.Series(column.levels), errors="coerce").isna().all():
        return f"{text}.map({{{literal(column.levels[0])}: ...}})"
    return (found or NumberText("")).conversion(name)
