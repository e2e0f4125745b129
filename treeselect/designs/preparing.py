"""From the user's formula and data to what is modelled."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import (
    check_choice,
    check_flag,
    described,
    finite,
    not_found,
    read_mapping,
)
from treeselect.designs.columns import TermSpec
from treeselect.designs.encoding import NewLevels, build_design, read_terms, response_notes
from treeselect.designs.families import Family
from treeselect.designs.labels import read_labels
from treeselect.designs.modeldata import ModelData, row_counts
from treeselect.designs.problem import make_units
from treeselect.designs.row_sample import draw
from treeselect.designs.scoring import Scoring, check_scoring, with_scoring
from treeselect.designs.weights import (
    WeightsKind,
    check_kind,
    check_offset,
    doubt_of_counts,
    read_groups,
    read_offset,
)
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.formula import parse_formula
from treeselect.formulas.terms import Term
from treeselect.frames.opening import read_codes
from treeselect.frames.reading import check_rows
from treeselect.frames.tables import Table, table_of
from treeselect.running.machine import memory_errors, no_collection, warn

if TYPE_CHECKING:
    import pandas as pd

# --- monotone constraints: which terms they are on, and in which direction ---------------------


def read_monotone(
    monotone: Mapping[str, int] | None, terms: Sequence[TermSpec], family: Family
) -> dict[str, int]:
    """The direction of each constrained term, by the term's name."""
    given = read_mapping("monotone", monotone, "from terms to 1 or -1")
    known = {spec.term.name: spec for spec in terms}
    found: dict[str, int] = {}
    for name, direction in given.items():
        text = name if isinstance(name, str) else described(name)
        sign = None if isinstance(direction, bool | np.bool_) else finite(direction)
        if sign not in (1, -1):
            raise OptionError(
                f"The direction of {quoted(text)} in `monotone` must be 1 (predictions must not"
                " decrease with it) or -1 (must not increase).\n"
                f"  Found: {described(direction)}."
            )
        if name not in known:
            raise _unknown(text, [spec.term for spec in terms])
        _check_number(known[name])
        found[name] = 1 if sign == 1 else -1
    if found and family.n_classes > 2:
        raise OptionError(
            "`monotone` needs a single prediction for each row, but a response of more than two"
            f" classes has a probability for each class.\n  Found: {family.n_classes} classes."
            " Model one class against the others, or leave `monotone` out."
        )
    return found


def _check_number(spec: TermSpec) -> None:
    """Refuse what is not a single number."""
    if spec.column_levels == (None,) and not spec.term.is_interaction:
        return
    if spec.term.is_interaction:
        found = "an interaction"
    elif spec.n_levels is not None:
        found = f"a factor of {spec.n_levels} levels"
    else:
        found = f"a transform of {len(spec.column_levels)} columns"
    way = ""
    if spec.n_levels is not None and spec.term.is_plain:
        way = " Of an ordered factor, use the numbers of its levels as a column."
    raise OptionError(
        f"{quoted(spec.term.name)} in `monotone` must be a numeric term of a single column.\n"
        f"  Found: {found}.{way}"
    )


def _unknown(name: str, terms: Sequence[Term]) -> OptionError:
    behind = [term.name for term in terms if name in term.variables]
    if behind:
        return OptionError(
            f"{quoted(name)} in `monotone` must be a term of the formula.\n"
            f"  Found: a variable of {listing(behind)}. Name a term of one column; the constraint"
            " is then on the values of the term."
        )
    return not_found(name, "monotone", [term.name for term in terms], "terms")


def monotone_notes(monotone: Mapping[str, int], terms: Sequence[Term]) -> list[str]:
    """The constraints in words, and where they do not bind a variable."""
    if not monotone:
        return []
    parts = [
        f"never {verb} with {listing(names)}"
        for verb, sign in (("decrease", 1), ("increase", -1))
        if (names := [name for name, own in monotone.items() if own == sign])
    ]
    notes = [
        f"Monotone constraints: predictions of the final model {' and '.join(parts)}. All trees"
        " grown on the response observe them; rows with a missing value may go to either side of a"
        " split."
    ]
    for constrained in (term for term in terms if term.name in monotone):
        name, variables = constrained.name, set(constrained.variables)
        free = [
            term.name
            for term in terms
            if term.name not in monotone and variables & set(term.variables)
        ]
        if free:
            notes.append(
                f"The variable of {quoted(name)} occurs in {listing(free)}, too, which"
                f" {'is' if len(free) == 1 else 'are'} not constrained: if"
                f" {'it is' if len(free) == 1 else 'they are'} selected, predictions need not be"
                " monotone in the variable."
            )
    return notes


# --- from the user's formula and data to what is modelled --------------------------------------


@memory_errors()
@no_collection()
def prepare(
    request: Request,
    frame: pd.DataFrame | Table,
    in_data: Mapping[str, str] | None = None,
    *,
    rows: int | None = None,
    seed: int = 0,
) -> ModelData:
    """Read a user's request for a frame, with the labels that came with it. At most `rows` are
    selected on, a draw with this seed; see ``row_sample``."""
    table = table_of(frame)
    check_rows(table)
    codes = read_codes(request.na)
    codes.check(table.columns)
    parsed = parse_formula(
        request.formula, table.columns, hidden=request.hidden, trusted=request.trusted
    )
    weights, offset = request.weights, request.offset
    if isinstance(offset, str) and offset in parsed.response.variables:
        raise OptionError(
            "`offset` must not be the response.\n"
            f"  Found: {offset!r}, which is on the left-hand side of the formula."
        )
    labels = read_labels(request.labels, in_data or {}, parsed, table.columns)
    units = make_units(parsed.terms, request.groups, request.costs, request.keep)
    kind = request.weights_kind
    try:
        drawn = draw(
            parsed, table, codes, weights=weights, kind=kind, family=request.family,
            also=request.hidden, fold_groups=request.fold_groups, rows=rows, seed=seed,
        )  # fmt: skip
    except DataError as error:
        if table.in_memory:  # raises it together with all other problems
            read_terms(parsed, codes.applied(table.whole([])), also=[error])
        raise
    whole, own, response, used = drawn.frame, drawn.weights, drawn.response, drawn.used
    if request.fold_groups is not None:
        own = own.in_groups(read_groups(request.fold_groups, whole, response.rows))
    scored = with_scoring(response.family, request.scoring, response.follow_up)
    check_scoring(scored, response.y, own.values)
    response = dataclasses.replace(response, family=scored)
    known = read_offset(offset, whole)
    check_offset(known, response.rows)
    if known is not None and response.family.n_classes > 2:
        raise OptionError(
            "`offset` needs a single linear predictor, but a response of more than two classes has"
            f" one for each class.\n  Found: {response.family.n_classes} classes in"
            f" {quoted(response.name)}."
        )
    design, spec, notes = build_design(
        parsed, used, units, own.values, new_levels=request.new_levels, edges=drawn.edges
    )
    directions = read_monotone(request.monotone, spec.terms, response.family)
    design = design.constrained(directions)
    notes += monotone_notes(directions, parsed.terms)
    spec = dataclasses.replace(spec, na=codes)
    notes += response_notes(response, request.family)
    if not parsed.has_intercept:
        notes.append("`-1` and `0 +` in the formula have no effect: the intercept is not a term.")
    if isinstance(weights, str):
        notes.append(f"Case weights: {quoted(weights)}, which `.` in the formula excludes.")
    if offset is not None:
        name = quoted(offset) if isinstance(offset, str) else "an array"
        notes.append(f"Offset: {name}, added to the linear predictor of every model.")
    if doubt := doubt_of_counts(weights, whole, kind):
        warn(doubt)
    sources = used[list(spec.variables)]
    return ModelData(
        arrays=design,
        spec=spec,
        response=response,
        row_weights=own,
        weights=weights if isinstance(weights, str) else weights is not None,
        weights_kind=None if drawn.every.are_constant else kind or own.kind,
        offset=None if known is None else known[response.rows],
        offset_name=offset if isinstance(offset, str) else offset is not None,
        rows=row_counts(drawn),
        notes=tuple(notes),
        sources=sources,
        labels=labels,
        sample=drawn.sample,
    )


# --- The user's request: all arguments except the data, the method and how rows are held out -----


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments that :func:`treeselect.select` and :func:`treeselect.compare` have in common;
    checks that need the data are made by :func:`prepare`."""

    formula: str
    family: str = "auto"
    weights: str | Sequence[float] | None = None
    offset: str | Sequence[float] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    costs: Mapping[str, float] | None = None
    keep: Iterable[str] | str | None = None
    fold_groups: str | Sequence[Any] | None = None
    scoring: Scoring = None
    new_levels: NewLevels = "error"
    trusted: bool = False
    labels: Mapping[str, str | None] | None = None
    monotone: Mapping[str, int] | None = None
    weights_kind: WeightsKind | None = None
    na: Any = None

    def __post_init__(self) -> None:
        check_choice("new_levels", self.new_levels, ("error", "missing", "other"))
        check_kind(self.weights_kind, self.weights)
        object.__setattr__(self, "trusted", check_flag("trusted", self.trusted))
        read_codes(self.na)

    @property
    def hidden(self) -> list[str]:
        """Columns that ``.`` excludes."""
        columns = (self.weights, self.offset, self.fold_groups)
        return [name for name in columns if isinstance(name, str)]

    def arguments(self) -> dict[str, Any]:
        """All but the formula, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "formula"}
