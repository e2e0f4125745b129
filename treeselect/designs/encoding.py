"""From a parsed formula and a frame to coded columns, and the same for new data.

:class:`DesignSpec` holds what was learned (schema, levels, state of transforms) and replays it;
:class:`~treeselect.designs.problem.CodedColumns` holds the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.designs.column_notes import column_notes, read_terms, value_notes
from treeselect.designs.columns import (
    UNSEEN,
    FactorSpec,
    TermSpec,
    conform,
    design_columns,
    kind_of,
    learn,
    one_hot,
    read_learned,
)
from treeselect.designs.evaluation import Values, as_factor, evaluate, has_learned, missing_rows
from treeselect.designs.problem import CodedColumns
from treeselect.designs.units import Units
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.data.binning import FREE, bin_columns, edges_of_columns
from treeselect.errors import DataError, NewDataError, joined, listing, quoted
from treeselect.formulas.terms import ParsedFormula, Term
from treeselect.frames.opening import NO_CODES, MissingCodes
from treeselect.frames.reading import read_data
from treeselect.frames.values import Labels, Numbers
from treeselect.shown import shown

if TYPE_CHECKING:
    import pandas as pd

NewLevels = Literal["error", "missing", "other"]


@dataclass(frozen=True, slots=True)
class DesignSpec:
    """How to encode new data as the training data were encoded.

    Attributes
    ----------
    schema : dict
        ``"number"``, ``"logical"`` or ``"text"`` for each variable.
    state : dict
        What the transforms of each factor learned, by the factor's name.
    new_levels : {"error", "missing", "other"}
        What to do with levels that did not occur when the model was fitted: refuse them, treat
        them as missing, or treat them as none of the known levels.
    """

    formula: ParsedFormula
    terms: tuple[TermSpec, ...]
    schema: Mapping[str, str]
    state: Mapping[str, Any]
    units: Units
    new_levels: NewLevels
    na: MissingCodes = NO_CODES
    _by_name: dict[str, TermSpec] = field(init=False, repr=False, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {spec.term.name: spec for spec in self.terms})

    def __getitem__(self, name: str) -> TermSpec:
        """The term of that name."""
        return self._by_name[name]

    @property
    def variables(self) -> tuple[str, ...]:
        """Columns of the data that the terms read."""
        return tuple(self.schema)

    def encode(self, new: Any, terms: Sequence[str] | None = None) -> tuple[NDArray[Any], ...]:
        """Encode these terms, by default all, of new data, which hold their variables.

        One array of shape (n_rows,) per coded column, in its order: numbers as float64, factors as
        uint8 codes. A NewDataError names columns that are missing, can't be used, hold text instead
        of numbers or the reverse, or (with ``new_levels="error"``) new labels."""
        frame = read_data(new)
        wanted = [self[name] for name in self.units.term_order if terms is None or name in terms]
        used = {v for spec in wanted for v in spec.term.variables}
        variables = [name for name in self.schema if name in used]
        absent = [name for name in variables if name not in frame]
        errors: list[NewDataError] = []
        if absent:
            errors.append(
                NewDataError(
                    f"`data` must have the columns of the model.\n  Missing: {listing(absent)}.\n"
                    f"  Found: {listing(frame.columns)}."
                )
            )
            variables = [name for name in variables if name in frame]
        frame = self.na.applied(frame[variables]) if self.na else frame
        columns: dict[str, Numbers | Labels] = {}
        for name in variables:
            try:
                columns[name] = read_learned(frame, name, self.schema[name])
            except NewDataError as error:
                errors.append(error)
        values: dict[str, Values] = {}
        for spec in wanted:
            for part in spec.factors:
                name = part.factor.name
                if name in values or not columns.keys() >= set(spec.term.variables):
                    continue
                try:
                    values[name] = self._conform(part, columns, spec.term)
                except NewDataError as error:
                    errors.append(error)
        if errors:
            raise joined(errors, "`data`")
        encoded: list[NDArray[Any]] = []
        for spec in wanted:
            try:
                encoded += design_columns(spec, [values[p.factor.name] for p in spec.factors])
            except DataError as error:
                raise NewDataError(str(error)) from None
        return tuple(encoded)

    def _conform(
        self, spec: FactorSpec, columns: Mapping[str, Numbers | Labels], term: Term
    ) -> Values:
        if not has_learned(spec.factor, self.state[spec.factor.name]):
            # Nothing was learned from a column without values: new data must not change that.
            n_rows = len(missing_rows({v: columns[v] for v in spec.factor.variables}))
            columns = {**columns, **{v: Numbers(np.full(n_rows, np.nan)) for v in term.variables}}
        try:
            values = evaluate(spec.factor, columns, deepcopy(self.state[spec.factor.name]))
        except NewDataError:
            raise
        except DataError as error:
            raise NewDataError(str(error)) from error
        same = conform(values, spec)
        if same is None:
            raise NewDataError(
                f"The term {quoted(term.name)} must give values of the same type as when the model"
                " was fitted.\n  Found: text or categories instead of numbers, or vice versa."
            )
        if isinstance(same, Labels) and self.new_levels != "other":
            unseen = same.codes == UNSEEN
            if unseen.any() and self.new_levels == "error":
                assert isinstance(values, Labels | Numbers)
                self._refuse_levels(as_factor(values), unseen, spec)
            same = Labels(np.where(unseen, -1, same.codes), same.levels)
        return same

    def _refuse_levels(self, labels: Labels, unseen: NDArray[np.bool_], spec: FactorSpec) -> None:
        assert spec.levels is not None
        counts = np.bincount(labels.codes[unseen], minlength=len(labels.levels))
        new = [(v, n) for v, n in zip(labels.levels, counts, strict=True) if n]
        found = ", ".join(f'"{shown(str(v))}" ({n} row{"s" if n > 1 else ""})' for v, n in new[:8])
        levels = ", ".join(f'"{shown(str(v))}"' for v in spec.levels[:12])
        raise NewDataError(
            f"Column {quoted(spec.factor.name)} must contain only levels known to the model.\n"
            f"  New: {found}{' and more' if len(new) > 8 else ''}."
            f" Known: {levels}{' and more' if len(spec.levels) > 12 else ''}.\n"
            '  To allow new levels, refit with `new_levels="missing"` or `new_levels="other"`.'
        )

    def one_hot(self, coded: CodedColumns) -> tuple[list[str], NDArray[np.float64]]:
        """Names and values of the columns as formulaic would expand them, term after term.

        Rows with a missing label are 0 in all columns of the factor; missing numbers are NaN.
        """
        return self.one_hot_of(self.units.term_order, coded.columns)

    def one_hot_of(
        self, terms: Sequence[str], columns: Sequence[NDArray[Any]]
    ) -> tuple[list[str], NDArray[np.float64]]:
        """The same of some terms, whose columns :meth:`encode` gives."""
        expanded: dict[str, NDArray[np.float64]] = {}
        start = 0
        for name in (name for name in self.units.term_order if name in terms):
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


def build_design(
    formula: ParsedFormula,
    frame: pd.DataFrame,
    units: Units,
    weight: WeightArray | None = None,
    *,
    new_levels: NewLevels = "error",
    edges: Mapping[str, FloatArray] | None = None,
) -> tuple[CodedColumns, DesignSpec, list[str]]:
    """Encode the right-hand side of a formula and bin it; also notes for readers of the summary.

    Weights, shape (n_rows,), say how often a row counts where numbers are binned; what transforms
    learn (a mean, knots) does not depend on them. `edges` between the bins of columns that are
    terms by themselves may be known from more rows than these."""
    spec, values = learn_design(formula, frame, units, new_levels=new_levels)
    names: list[str] = []
    columns: list[NDArray[Any]] = []
    n_levels: list[int | None] = []
    for name in units.term_order:
        term = spec[name]
        columns += design_columns(term, [values[part.factor.name] for part in term.factors])
        n_levels += (own := term.column_levels)
        names += [name] * len(own)
    groups = units.feature_groups(names)
    known = [_known_edges(name, spec, edges or {}) for name in names]
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
    )
    return coded, spec, [*column_notes(spec.formula, values, coded), *value_notes(formula, values)]


def _known_edges(name: str, spec: DesignSpec, edges: Mapping[str, FloatArray]) -> FloatArray | None:
    """Known edges of a column, which are none of a logical one."""
    own = edges.get(name)
    return None if own is None or spec[name].factors[0].is_bool else own


def learn_design(
    formula: ParsedFormula, frame: pd.DataFrame, units: Units, *, new_levels: NewLevels = "error"
) -> tuple[DesignSpec, dict[str, Values]]:
    """What :func:`build_design` learns, from the columns of the terms alone, and the values of every
    factor, by its name."""
    columns, state, values = read_terms(formula, frame)
    spec = DesignSpec(
        formula=formula,
        terms=tuple(learn(term, [values[f.name] for f in term.factors]) for term in formula.terms),
        schema={name: kind_of(column) for name, column in columns.items()},
        state=state,
        units=units,
        new_levels=new_levels,
    )
    return spec, values
