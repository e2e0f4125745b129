"""From a parsed formula and a frame to coded columns, and the same for new data.

:class:`DesignSpec` holds what was learned (schema, levels, state of transforms) and replays it;
:class:`~treeselect.designs.problem.CodedColumns` holds the arrays.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.designs.columns import (
    UNSEEN,
    FactorSpec,
    TermSpec,
    conform,
    design_columns,
    in_new_data,
    kind_of,
    learn,
    one_hot,
    read_learned,
)
from treeselect.designs.evaluation import Values, as_factor, evaluate, learning, missing_rows
from treeselect.designs.imputer import Block
from treeselect.designs.problem import CodedColumns
from treeselect.designs.response import Response
from treeselect.designs.units import Units
from treeselect.designs.weights import copies_of
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.columns import FREE, bin_columns, edges_of_columns
from treeselect.errors import (
    DataError,
    NewDataError,
    column_code,
    first_few,
    joined,
    listing,
    literal,
    quoted,
    shortened,
)
from treeselect.formulas.checks import unquote
from treeselect.formulas.guard import DOT
from treeselect.formulas.terms import Factor, ParsedFormula
from treeselect.frames.opening import NO_CODES, MissingCodes
from treeselect.frames.reading import read_data
from treeselect.frames.values import (
    Labels,
    Numbers,
    NumberText,
    formula_name,
    number_text,
    read_column,
)
from treeselect.shown import shown

NewLevels = Literal["error", "missing", "other"]


@dataclass(frozen=True, slots=True)
class DesignSpec:
    """How to encode new data as the training data were encoded."""

    formula: ParsedFormula
    terms: tuple[TermSpec, ...]
    schema: Mapping[str, str]  # of each variable, see ``kind_of``
    state: Mapping[str, Any]  # what the transforms of each factor learned, by the factor's name
    units: Units
    # what to do with levels that did not occur when the model was fitted: refuse them, treat them
    # as missing, or treat them as none of the known levels
    new_levels: NewLevels
    na: MissingCodes = NO_CODES
    _by_name: dict[str, TermSpec] = field(init=False, repr=False, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {spec.term.name: spec for spec in self.terms})

    def __getitem__(self, name: str) -> TermSpec:
        return self._by_name[name]

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.schema)

    @property
    def blocks(self) -> dict[str, tuple[Block, ...]]:
        return {spec.term.name: spec.blocks for spec in self.terms}

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(name for name, kind in self.schema.items() if kind == "number")

    def read(self, frame: pd.DataFrame, name: str) -> Numbers | Labels:
        """A column of new data, of the kind that it was in the data of the fit."""
        own = self.na.applied(frame[[name]], self.schema) if self.na else frame
        return read_learned(own, name, self.schema[name])

    def encode(self, new: Any, terms: Sequence[str] | None = None) -> tuple[NDArray[Any], ...]:
        """Encode these terms, by default all, of new data, which hold their variables. One array of
        shape (n_rows,) per coded column, in its order: numbers as float64, factors as uint8 codes.
        A NewDataError names columns that are missing, can't be used, hold text instead of numbers
        or the reverse, or (with ``new_levels="error"``) new labels."""
        frame = read_data(new)
        wanted = [self[name] for name in self.units.term_order if terms is None or name in terms]
        used = {v for spec in wanted for v in spec.term.variables}
        variables = [name for name in self.schema if name in used]
        errors: list[NewDataError] = []
        if absent := [name for name in variables if name not in frame]:
            said = f"Missing: {listing(absent)}.\n  Found: {listing(frame.columns)}."
            errors.append(NewDataError(f"`data` must have the columns of the model.\n  {said}"))
            variables = [name for name in variables if name in frame]
        columns: dict[str, Numbers | Labels] = {}
        for name in variables:
            try:
                columns[name] = self.read(frame, name)
            except NewDataError as error:
                errors.append(error)
        values: dict[str, Values] = {}
        for part in {p.factor.name: p for spec in wanted for p in spec.factors}.values():
            if columns.keys() >= set(part.factor.variables):
                try:
                    values[part.factor.name] = self._conform(part, columns)
                except NewDataError as error:
                    errors.append(error)
        if errors:
            raise joined(errors, "`data`")
        encoded: list[NDArray[Any]] = []
        for spec in wanted:
            with in_new_data():
                encoded += design_columns(spec, [values[p.factor.name] for p in spec.factors])
        return tuple(encoded)

    def _conform(self, spec: FactorSpec, columns: Mapping[str, Numbers | Labels]) -> Values:
        if not learning(spec.factor) <= self.state[spec.factor.name].keys():
            # Nothing was learned from a column without values: new data must not change that.
            n_rows = len(missing_rows({v: columns[v] for v in spec.factor.variables}))
            columns = dict.fromkeys(spec.factor.variables, Numbers(np.full(n_rows, np.nan)))
        with in_new_data():
            values = evaluate(spec.factor, columns, deepcopy(self.state[spec.factor.name]))
        same = conform(values, spec)
        if same is None:
            raise NewDataError(
                f"The term {quoted(spec.factor.name)} must give values of the same type as when the"
                " model was fitted.\n  Found: text or categories instead of numbers, or vice versa."
            )
        if isinstance(same, Labels) and self.new_levels != "other":
            unseen = same.codes == UNSEEN
            if unseen.any() and self.new_levels == "error":
                assert isinstance(values, Labels | Numbers)
                labels = as_factor(values)
                counts = np.bincount(labels.codes[unseen], minlength=len(labels.levels))
                new = [(v, n) for v, n in zip(labels.levels, counts, strict=True) if n]
                rows = (f"{_level(v)} ({n} row{'s' if n > 1 else ''})" for v, n in new[:8])
                known = ", ".join(map(_level, same.levels[:12]))
                raise NewDataError(
                    f"Column {quoted(spec.factor.name)} must contain only levels known to the"
                    f" model.\n  New: {', '.join(rows)}{' and more' if len(new) > 8 else ''}."
                    f" Known: {known}{' and more' if len(same.levels) > 12 else ''}.\n"
                    '  To allow new levels, select with `new_levels="missing"` or'
                    ' `new_levels="other"`.'
                )
            same = Labels(np.where(unseen, -1, same.codes), same.levels)
        return same

    def one_hot(
        self, columns: Sequence[NDArray[Any]], terms: Sequence[str] | None = None
    ) -> tuple[list[str], NDArray[np.float64]]:
        """Names and values of the columns that :meth:`encode` gives as formulaic would expand them.
        Rows with a missing label are 0 in all columns of the factor; missing numbers are NaN."""
        expanded: dict[str, NDArray[np.float64]] = {}
        start = 0
        for name in (name for name in self.units.term_order if terms is None or name in terms):
            spec = self[name]
            end = start + len(spec.column_levels)
            own = one_hot(spec, columns[start:end])
            if twice := own.keys() & expanded.keys():
                raise DataError(
                    f"Columns of different terms must have different names.\n  Found more than"
                    f" once: {listing(sorted(twice))}. Rename the column."
                )
            expanded |= own
            start = end
        if not expanded:  # only factors, none with a level
            return [], np.empty((len(columns[0]) if columns else 0, 0))
        return list(expanded), np.column_stack(list(expanded.values())).astype(np.float64)


def _level(level: Any) -> str:
    return f'"{shortened(level)}"' if isinstance(level, str) else str(level)


def build_design(
    formula: ParsedFormula,
    frame: pd.DataFrame,
    units: Units,
    weight: WeightArray | None = None,
    *,
    new_levels: NewLevels = "error",
    edges: Mapping[str, FloatArray] | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
) -> tuple[CodedColumns, DesignSpec, list[str]]:
    """Encode the right-hand side of a formula and bin it; also notes for readers of the summary.
    Weights, shape (n_rows,), say how often a row counts where numbers are binned; what transforms
    learn (a mean, knots) does not depend on them. `edges` between the bins of columns that are
    terms by themselves, and `levels` of text, may be known from more rows than these."""
    read, state, values = read_terms(formula, frame, levels=levels)
    copies = np.ones(len(frame), dtype=np.int64) if weight is None else copies_of(weight)
    spec = DesignSpec(
        formula=formula,
        terms=tuple(
            learn(term, [values[f.name] for f in term.factors], copies) for term in formula.terms
        ),
        schema={name: kind_of(column) for name, column in read.items()},
        state=state,
        units=units,
        new_levels=new_levels,
    )
    names: list[str] = []
    columns: list[NDArray[Any]] = []
    n_levels: list[int | None] = []
    for name in units.term_order:
        term = spec[name]
        columns += design_columns(term, [values[part.factor.name] for part in term.factors])
        n_levels += (own := term.column_levels)
        names += [name] * len(own)
    groups = units.feature_groups(names)
    given = edges or {}
    known = [None if spec[name].factors[0].is_bool else given.get(name) for name in names]
    unknown = [
        column
        for column, own, n in zip(columns, known, n_levels, strict=True)
        if n is None and own is None
    ]
    learned = iter(edges_of_columns(unknown, weight))
    between = tuple(
        None if n is not None else next(learned) if own is None else own
        for own, n in zip(known, n_levels, strict=True)
    )
    coded = CodedColumns(
        column_names=tuple(names),
        columns=tuple(columns),
        n_levels=tuple(n_levels),
        edges=between,
        groups=groups,
        binned=bin_columns(columns, between, [n or 0 for n in n_levels], groups.ids),
        monotone=FREE,
        blocks_of=spec.blocks,
    )
    return coded, spec, [*column_notes(spec.formula, values, coded), *value_notes(formula, values)]


# --- Values of all terms of a formula, or one error with all that stands in their way ------------


def read_terms(
    formula: ParsedFormula,
    frame: pd.DataFrame,
    also: Sequence[DataError] = (),
    levels: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, Numbers | Labels], dict[str, dict[str, Any]], dict[str, Values]]:
    """Columns behind the terms, what their transforms learned, and values of their factors; or one
    error with all problems, those that are known already among them."""
    columns: dict[str, Numbers | Labels] = {}
    errors = list(also)
    unusable: list[str] = []
    names = list(dict.fromkeys(v for term in formula.terms for v in term.variables))
    for name in names:
        try:
            found = read_column(frame[name], name)
            if isinstance(found, Labels) and levels and name in levels:
                more = sorted({*levels[name]} - {*found.levels})
                found = replace(found, levels=(*found.levels, *more))
            columns[name] = found
        except DataError as error:
            errors.append(error)
            unusable.append(name)
    factors = {f.name: f for term in formula.terms for f in term.factors}
    state: dict[str, dict[str, Any]] = {name: {} for name in factors}
    values: dict[str, Values] = {}
    for name, factor in factors.items():
        if columns.keys() >= set(factor.variables):
            try:
                values[name] = evaluate(factor, columns, state[name])
            except DataError as error:
                errors.append(error)
    problems, suspects = identifier_problems(formula, values)
    if errors or problems:
        way = without_columns(formula, [*unusable, *suspects])
        raise joined([*errors, *problems], "`data`", *way)
    return columns, state, values


# --- Text that is no factor: identifiers of rows, and numbers stored as text ---------------------

IDENTIFIER_LEVELS = 10
"""Text with more levels than this, and than half of its rows, counts as an identifier."""

_MOST_LETTERS = 1_000
"""Length of a formula that is advised."""


def identifier_problems(
    formula: ParsedFormula, values: Mapping[str, Values]
) -> tuple[list[DataError], list[str]]:
    """Errors for text that would fit each row separately as a factor, and its columns."""
    errors: list[DataError] = []
    suspects: list[str] = []
    ids: dict[str, str] = {}
    for factor in {f.name: f for t in formula.terms for f in t.factors if f.is_plain}.values():
        column = values.get(factor.name)  # C(x) would say that it is meant as a factor
        if not isinstance(column, Labels):
            continue
        counts = np.bincount(column.codes[column.codes >= 0])
        n_known, n_levels = int(counts.sum()), int(np.count_nonzero(counts))
        if n_levels <= max(IDENTIFIER_LEVELS, n_known / 2):
            continue
        suspects.append(factor.name)
        found = f"{n_levels:,} distinct values in {n_known:,} rows"
        numbers = None if column.declared else number_text(column.levels)
        if numbers is None:
            ids[factor.name] = f"{quoted(factor.name)} has {found}"
        else:
            errors.append(_as_text(factor, numbers, found))
    if ids:
        first = shortened(formula_name(next(iter(ids))))
        error = DataError(
            f"Text columns with this many values look like identifiers: {listing(ids)}.\n"
            f"  Found: {first_few(ids.values(), 12, '; ')}.\n"
            f"  If a column is a factor after all, write `C({first})`."
        )
        errors.append(error)
    return errors, suspects


def _as_text(factor: Factor, numbers: NumberText, found: str) -> DataError:
    example = f"{found}, such as {literal(numbers.example)}"
    name = factor.name
    ways = f"`{column_code(name)} = {numbers.conversion(name)}`"
    if numbers.codes:
        codes = ", ".join(map(literal, numbers.codes))
        example += f", and {codes}"
        if numbers.code is None:
            ways = f"`{shortened(f'na={{{name!r}: [{codes}]}}')}`, or {ways}"
    what = "dates" if numbers.is_date else "numbers"
    return DataError(
        f"Column {quoted(name)} holds {what} as text.\n  Found: {example}.\n  Convert it: {ways}."
    )


def without_columns(formula: ParsedFormula, names: Sequence[str]) -> tuple[str, ...]:
    """The formula without the terms of these columns, as advice; nothing if it can't be left."""
    if not names:
        return ()
    left = [term for term in formula.terms if not set(term.variables) & set(names)]
    if not left:
        return ()
    text = formula.text.strip()
    written = f"{text.partition('~')[0].strip()} ~ {' + '.join(term.text for term in left)}"
    if DOT.search(unquote(text.partition("~")[2]).code):
        gone = (term for term in formula.terms if term not in left)
        written = f"{text} {' '.join(f'- {term.text}' for term in gone)}"
    elif "strata(" in text:
        return ()
    them = "it" if len(set(names)) == 1 else "them"
    return (f"To leave {them} out: `{shown(written)}`.",) if len(written) <= _MOST_LETTERS else ()


# --- Values that deserve a second look: codes, levels that are nearly alike, copies, few numbers -

_MOST = 6
"""Most columns that one kind of note names."""

_SENTINELS = frozenset(
    sign * int(text)
    for digit in "789"
    for n in range(1, 6)
    for text in (digit * n, "9" * (n - 1) + digit)
    for sign in ((-1, 1) if n > 1 else (-1,))
)
"""Numbers that often stand for missing values: -9, 77, 98, 999 and the like."""

_MANY = 20
"""Whole numbers with a smaller median may be counts."""

_FEW = 5
"""randomForest, too, warns of responses with at most so many different numbers; a column with fewer
has no end to be far from."""


def value_notes(formula: ParsedFormula, values: Mapping[str, Values]) -> list[str]:
    """Notes on the values of columns that are terms as they are."""
    plain = [term.name for term in formula.terms if term.is_plain]
    codes, alike, far, days = [], [], [], []
    for name in plain:
        column = values[name]
        if isinstance(column, Numbers):
            far += _far_code(name, column.values)
            if _are_dates(column.values):
                code = column_code(name)
                days.append(f"{quoted(name)} (`{code} = {code} // 10000` makes years of it)")
        elif isinstance(column, Labels) and all(isinstance(v, str) for v in column.levels):
            numbers = None if column.declared else number_text(column.levels)
            if numbers is not None and numbers.codes:
                listed = ", ".join(map(repr, numbers.codes))
                way = shortened(f"na={{{name!r}: [{listed}]}}")
                n = len(column.levels)
                codes.append(
                    f"{quoted(name)}, a factor with {n:,} levels because of {shortened(listed)}:"
                    f" `{way}`"
                )
            elif numbers is not None and numbers.code:
                codes.append(f"{quoted(name)}: `{column_code(name)} = {numbers.conversion(name)}`")
            alike += _alike(name, column.levels)
    found = [
        ("Numbers or dates as text, modelled as a factor", codes),
        ("Levels that may be one", alike),
        ("Dates written as numbers, whose differences are not days", days),
        ("Numbers far from all others, perhaps codes for missing values", far),
        ("Exact copies", _copies(plain, values)),
    ]
    return [f"{head}: {first_few(texts, _MOST, '; ')}." for head, texts in found if texts]


def response_notes(response: Response, family: str) -> list[str]:
    """Notes on the response; a family that the user chose needs none."""
    found = []
    if family == "auto" and response.ordered and len(response.classes) > 2:
        found = [f'{quoted(response.name)} is ordered: `family="ordinal"` scores by the order.']
    if response.classes and all(isinstance(level, str) for level in response.classes):
        alike = _alike(response.name, response.classes)
        return [
            *found,
            *([f"Classes that may be one: {first_few(alike, _MOST, '; ')}."] if alike else []),
        ]
    if family != "auto" or response.family.name != "gaussian":
        return found
    numbers, counts = np.unique(response.y, return_counts=True)
    if (numbers != np.floor(numbers)).any():
        return []
    counted = bool(numbers[0] == 0 and np.median(response.y) < _MANY)
    if len(numbers) > _FEW:
        text = (
            f"The response {quoted(response.name)} holds whole numbers from 0 to {numbers[-1]:g}"
            ' and is modelled as a measurement; for counts pass `family="poisson"`.'
        )
        return [text] if counted else []
    listed = ", ".join(f"{v:g} ({n:,})" for v, n in zip(numbers, counts, strict=True))
    way = '`family="binomial"`' if len(numbers) == 2 else '`family="multinomial"` or `"ordinal"`'
    return [
        f"The response {quoted(response.name)} has only {len(numbers)} values, {listed}, and is"
        f" modelled as a number; for classes pass {way}"
        + (', for counts `family="poisson"`.' if counted else ".")
    ]


def _alike(name: str, levels: Iterable[str]) -> list[str]:
    """Levels that differ only in case or blanks, and empty text."""
    by_word: dict[str, list[str]] = {}
    for level in levels:
        by_word.setdefault(" ".join(level.split()).casefold(), []).append(level)
    found = [
        f"{', '.join(repr(shortened(level)) for level in same)} of {quoted(name)}"
        for word, same in by_word.items()
        if len(same) > 1 and word
    ]
    if found:
        found = [
            f"{'; '.join(found[:3])} (`{column_code(name)}.str.strip().str.lower()` makes them one)"
        ]
    if "" in by_word:
        found.append(f"empty text is a level of {quoted(name)} (`na={{{name!r}: ''}}`)")
    return found


def _far_code(name: str, values: FloatArray) -> list[str]:
    """Usual codes at one end of a column, further away than the others are from each other."""
    with np.errstate(invalid="ignore"):
        ends = np.fmax.reduce(values), np.fmin.reduce(values)
    if not _SENTINELS.intersection(ends):
        return []
    distinct = np.unique(values[~np.isnan(values)])
    for inwards in (distinct[::-1], distinct):
        usual = len([*takewhile(_SENTINELS.__contains__, inwards.tolist())])
        for n in range(min(usual, len(inwards) - _FEW), 0, -1):
            codes, others = inwards[:n], inwards[n:]
            if abs(codes[-1] - others[0]) > abs(others[0] - others[-1]):
                text = ", ".join(f"{code:g}" for code in codes)
                rows = int(np.isin(values, codes).sum())
                return [
                    f"{text} of {quoted(name)} in {rows:,} row{'s' if rows > 1 else ''}"
                    f" (`na={{{name!r}: {text if n == 1 else f'[{text}]'}}}`)"
                ]
    return []


def _are_dates(values: FloatArray) -> bool:
    """Whether all are of the form 20240131."""
    known = values[~np.isnan(values)]
    parts = (known // 10_000, 1900, 2099), (known // 100 % 100, 1, 12), (known % 100, 1, 31)
    return len(known) > 0 and all(np.isin(own, np.arange(a, b + 1)).all() for own, a, b in parts)


def _copies(names: list[str], values: Mapping[str, Values]) -> list[str]:
    """Columns that are equal to another in every row."""
    alike: dict[bytes, list[str]] = {}  # by their first values: few columns are read as a whole
    for name in names:
        column = values[name]
        first = column.values if isinstance(column, Numbers) else ()
        alike.setdefault(np.ascontiguousarray(first[:8]).tobytes(), []).append(name)
    likely = {name for some in alike.values() if len(some) > 1 for name in some}
    same: dict[bytes, list[str]] = {}
    for name in filter(likely.__contains__, names):
        column = values[name]
        if isinstance(column, Numbers):
            known = column.values[~np.isnan(column.values)]
            if not len(known) or (known[0] == known[-1] and bool((known == known[0]).all())):
                continue
            content = np.ascontiguousarray(column.values).tobytes()
        elif isinstance(column, Labels) and len(np.unique(column.codes)) > 1:
            content = column.codes.astype(np.int64).tobytes() + repr(column.levels).encode(
                "utf-8", "replace"
            )
        else:
            continue
        same.setdefault(hashlib.blake2b(content, digest_size=16).digest(), []).append(name)
    return [" = ".join(map(quoted, equal[:_MOST])) for equal in same.values() if len(equal) > 1]


# --- what readers should know of the columns behind the terms ----------------------------------


def column_notes(
    formula: ParsedFormula, values: Mapping[str, Values], coded: CodedColumns
) -> list[str]:
    varying = set()
    for name, coded_values in zip(coded.column_names, coded.columns, strict=True):
        first = coded_values[0]
        if not (np.isnan(coded_values) if first != first else coded_values == first).all():
            varying.add(name)
    found: dict[str, list[str]] = {
        "Entirely missing, can't be selected": [],
        "Constant, can't be selected": [],
        "Entirely missing or constant, though forced in": [],
        "Whole numbers that increase from row to row, perhaps an identifier": [],
        "Row numbers": [],
    }
    empty, constant, forced, keys, index = found.values()
    units = zip(coded.groups.terms, coded.groups.keep, strict=True)
    kept = {name for names, is_kept in units if is_kept for name in names}
    for term in formula.terms:
        columns = [values[factor.name] for factor in term.factors]
        is_empty = any(missing_rows({"": column}).all() for column in columns)
        if is_empty or term.name not in varying:
            (forced if term.name in kept else empty if is_empty else constant).append(term.name)
        elif term.is_plain and _counts_rows(columns[0], term.name):
            (index if _INDEX.fullmatch(term.name) else keys).append(term.name)
    notes = [f"{what}: {listing(names)}." for what, names in found.items() if names]
    if index:
        notes[-1] = " ".join([notes[-1], *without_columns(formula, index)])
    return notes


_INDEX = re.compile(r"Unnamed: 0(\.\d+)*|index|row_?names")
"""Names that pandas and R give to numbers of rows, which stay numbers of rows in any order."""


def _counts_rows(values: Values, name: str) -> bool:
    if not isinstance(values, Numbers) or len(values.values) <= IDENTIFIER_LEVELS:
        return False
    column = np.sort(values.values) if _INDEX.fullmatch(name) else values.values
    rises = column[0] < column[1] and bool((column[1:] > column[:-1]).all())
    return rises and bool((column == np.floor(column)).all())
