"""From the user's formula and data to what is modelled, and labels: what it is called in print."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np
import pandas as pd

from treeselect.arguments import checks
from treeselect.designs.columns import FactorSpec, TermSpec
from treeselect.designs.encoding import (
    IDENTIFIER_LEVELS,
    NewLevels,
    build_design,
    read_terms,
    response_notes,
)
from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData, row_counts
from treeselect.designs.problem import CodedColumns, Missing
from treeselect.designs.response import Response, with_positive
from treeselect.designs.row_sample import draw
from treeselect.designs.scoring import Scoring, check_scoring, with_scoring
from treeselect.designs.units import make_units
from treeselect.designs.weights import (
    RowWeights,
    WeightsKind,
    check_kind,
    check_offset,
    doubt_of_counts,
    read_groups,
    read_offset,
)
from treeselect.engine.threads import no_collection
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.formula import parse_formula
from treeselect.formulas.terms import (
    Argument,
    Call,
    Column,
    Constant,
    Contrast,
    Factor,
    Node,
    Operation,
    ParsedFormula,
    Strata,
    Survival,
    Term,
    Transform,
    variables,
)
from treeselect.frames.files import one_line
from treeselect.frames.opening import read_codes
from treeselect.frames.reading import check_rows
from treeselect.frames.tables import Table, table_of
from treeselect.running.machine import memory_errors, warn
from treeselect.shown import is_broken

# --- monotone constraints: which terms they are on, and in which direction ---------------------


def read_monotone(
    monotone: Mapping[str, int] | None, terms: Sequence[TermSpec], family: Family
) -> dict[str, int]:
    given = checks.read_mapping("monotone", monotone, "from terms to 1 or -1")
    known = {spec.term.name: spec for spec in terms}
    found: dict[str, int] = {}
    for name, direction in given.items():
        text = name if isinstance(name, str) else checks.described(name)
        sign = None if isinstance(direction, bool | np.bool_) else checks.finite(direction)
        if sign not in (1, -1):
            raise OptionError(
                f"The direction of {quoted(text)} in `monotone` must be 1 (predictions must not"
                " decrease with it) or -1 (must not increase).\n"
                f"  Found: {checks.described(direction)}."
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
    return checks.not_found(name, "monotone", [term.name for term in terms], "terms")


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
        " grown on the response observe them, linear models and selections without trees do not;"
        " rows with a missing value may go to either side of a split."
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
            f"  Found: {checks.described(offset)}, which is on the left-hand side of the formula."
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
    whole, own, used = drawn.frame, drawn.weights, drawn.used
    response = with_positive(drawn.response, request.positive)
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
            f" {quoted(response.name)}.\n  Compare one class with the others, as in `I(kind == 'a')"
            " ~ .`, or leave out `offset`."
        )
    design, spec, notes = build_design(
        parsed, used, units, own.values, new_levels=request.new_levels, edges=drawn.edges,
        levels=drawn.levels,
    )  # fmt: skip
    directions = read_monotone(request.monotone, spec.terms, response.family)
    design = design.constrained(directions)
    notes += monotone_notes(directions, parsed.terms)
    notes += _missing_notes(request.missing, design, own)
    spec = dataclasses.replace(spec, na=codes)
    notes += response_notes(response, request.family)
    if not parsed.has_intercept:
        notes.append("`-1` and `0 +` in the formula have no effect: the intercept is not a term.")
    n_rows = len(response.rows) if drawn.every.are_constant else len(np.unique(response.rows))
    has_copies = own.groups is None and own.n_observations > n_rows
    if has_copies:
        n_distinct = max(len(np.unique(response.y, axis=0)), used.nunique().max())
        notes += [_COPIES_NOTE] if n_distinct > max(IDENTIFIER_LEVELS, n_rows / 2) else []
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
        missing=request.missing,
    ).with_model(request.model)


_COPIES_NOTE = (
    "Copies of a row, which frequency weights count, are drawn one by one: some train the models"
    " that others score. If they are of one observation, as values that differ from row to row"
    " suggest, scores are too good: give its number as `fold_groups`."
)


def _missing_notes(rule: Missing, design: CodedColumns, weights: RowWeights) -> list[str]:
    if rule == "impute":
        return [
            "Missing values are imputed by the other candidate terms, in the final model by the"
            " other selected terms, without the response; each fold and resample learns this from"
            " its own training rows. It is regression imputation, not multiple: intervals and"
            " tests take imputed values for known ones."
        ]
    if rule == "level":
        return []
    n = int(weights.copies[np.logical_or.reduce(design.gaps)].sum()) if design.columns else 0
    rows = {0: "Rows", 1: "1 of the rows used"}.get(n, f"{n:,} of the rows used")
    verb, they = ("has", "it is") if n == 1 else ("have", "they are")
    return [
        f"{rows} with a missing value in a candidate term {verb} no part in the selection or in"
        f" the final model; {they} predicted and scored, but for `refit()`."
    ]


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
    positive: object = None
    new_levels: NewLevels = "error"
    trusted: bool = False
    labels: Mapping[str, str | None] | None = None
    monotone: Mapping[str, int] | None = None
    model: Any = None
    weights_kind: WeightsKind | None = None
    na: Any = None
    missing: Missing = "level"

    def __post_init__(self) -> None:
        checks.check_choice("new_levels", self.new_levels, ("error", "missing", "other"))
        checks.check_choice("missing", self.missing, get_args(Missing))
        check_kind(self.weights_kind, self.weights)
        object.__setattr__(self, "trusted", checks.check_flag("trusted", self.trusted))
        read_codes(self.na)

    @property
    def hidden(self) -> list[str]:
        """Columns that ``.`` excludes."""
        columns = (self.weights, self.offset, self.fold_groups)
        return [name for name in columns if isinstance(name, str)]

    def arguments(self) -> dict[str, Any]:
        """All but the formula, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "formula"}


# --- labels that are asked for ------------------------------------------------------------------


def read_labels(
    given: object, in_data: Mapping[str, str], formula: ParsedFormula, columns: Iterable[str]
) -> dict[str, str]:
    """Labels of the columns and terms of a formula, by name, in alphabetical order. Those `given`
    are of terms and of columns of the data, whether or not in the formula, and take precedence over
    those that came with the data, which None and empty text remove."""
    asked = checks.read_mapping("labels", given, "from names of columns or terms to labels")
    columns = list(columns)
    terms = {_parts(term.key): term.name for term in (formula.response, *formula.terms)}
    found: dict[str, str] = dict(in_data)
    for name, label in asked.items():
        if not isinstance(name, str) or (name not in columns and _parts(name) not in terms):
            raise checks.not_found(name, "labels", [*columns, *terms.values()], "columns and terms")
        own = name if name in columns else terms[_parts(name)]
        if label is not None and (not isinstance(label, str) or is_broken(label)):
            raise OptionError(
                f"The label of {quoted(name)} in `labels` must be text.\n"
                f"  Found: {checks.described(label)}. None or empty text means no label."
            )
        found[own] = one_line(label or "")
    known = {*formula.outcome_variables, *terms.values()}
    known |= {name for term in formula.terms for name in term.variables}
    return {name: found[name] for name in sorted(known) if found.get(name)}


def _parts(name: str) -> str:
    """The same for ``a:b`` and ``b:a``, which are one term."""
    return ":".join(sorted(name.split(":")))


# --- one term: its label, or one made of the labels of its columns -------------------------------

TIMES = " × "
"""Between the factors of an interaction."""


def term_label(term: Term, labels: Mapping[str, str]) -> str:
    """What a term is called: its label, or one made of the labels of its columns, as in ``log(White
    cells)`` and ``White cells × age``; its name if there are none."""
    own = labels.get(term.name)
    if own is not None:
        return own
    found = [factor_label(factor, labels) for factor in term.factors]
    if found == [factor.name for factor in term.factors]:
        return term.name
    return TIMES.join(found)


def factor_label(factor: Factor, labels: Mapping[str, str]) -> str:
    """The same of one factor of a term."""
    own = labels.get(factor.name)
    if own is not None:
        return own
    if not any(name in labels for name in factor.variables):
        return factor.name
    return _worded(factor.node, labels, factor.name)


def part_label(part: Argument, labels: Mapping[str, str]) -> str:
    """The same of what stands in a call of ``Surv()``."""
    has_label = any(name in labels for name in variables(part.node))
    return _worded(part.node, labels, part.text) if has_label else part.text


def _worded(node: Node, labels: Mapping[str, str], name: str) -> str:
    """An expression with labels; one that is not looked into under its name."""
    match node:
        case Column():
            return labels.get(node.name, node.name)
        case Constant():
            return repr(node.value) if isinstance(node.value, str) else str(node.value)
        case Operation():
            texts = (_worded(part, labels, name) for part in node.operands)
            parts = [
                f"({text})" if isinstance(part, Operation) else text
                for part, text in zip(node.operands, texts, strict=True)
            ]
            return f"{node.sign}{parts[0]}" if len(parts) == 1 else f" {node.sign} ".join(parts)
        case Call():
            return _called(node.function, [_worded(part, labels, name) for part in node.arguments])
        case Transform():
            options = [
                f"{key}={value.name if isinstance(value, Contrast) else repr(value)}"
                for key, value in node.options
            ]
            return _called(node.function, [_worded(node.argument, labels, name), *options])
        case Survival():
            given = [part for part in (node.start, node.stop, node.event) if part is not None]
            return _called("Surv", [part_label(part, labels) for part in given])
        case Strata():
            return _called("strata", [part_label(part, labels) for part in node.arguments])
    return name


def _called(function: str, inner: list[str]) -> str:
    """A call; of functions that say how a column is coded or an expression written, the column."""
    return inner[0] if function in ("C", "I") else f"{function}({', '.join(inner)})"


# --- labels that are shown ----------------------------------------------------------------------


def shown_names(data: ModelData) -> dict[str, str]:
    """What terms and units are called in print, by name; only those with a label. Labels stay
    distinct: if two labels are the same, or one is the name of another term, the names follow in
    parentheses. A group keeps the name that the user gave it."""
    terms = [spec.term for spec in data.spec.terms]
    wanted = {term.name: term_label(term, data.labels) for term in terms}
    names = {*wanted, *data.arrays.groups.names}
    found = _told_apart(wanted, names, lambda name: f"{wanted[name]} ({name})")
    found = _told_apart(found, names, lambda name: name)
    return {name: label for name, label in found.items() if label != name}


def _told_apart(
    found: Mapping[str, str], names: Collection[str], another: Callable[[str], str]
) -> dict[str, str]:
    """The same, with another label where one is not unique."""
    counts = Counter(found.values())
    return {
        name: another(name) if label != name and (counts[label] > 1 or label in names) else label
        for name, label in found.items()
    }


def distinct_labels(data: ModelData) -> dict[str, str]:
    """The labels of the user, those of terms as they are shown."""
    shown = shown_names(data)
    return {name: shown.get(name, label) for name, label in data.labels.items()}


def response_label(data: ModelData) -> dict[str, str]:
    """What the response is called in print, by its name; nothing if that is the name."""
    name, label = data.response.name, _response(data).name
    return {} if label == name else {name: label}


def labelled_names(data: ModelData, terms: Iterable[str]) -> list[tuple[str, str]]:
    """Names and labels of these terms, of the columns behind them and of the response, as far as
    they have labels."""
    response = data.spec.formula.response
    names = [name for term in terms for name in (term, *data.spec[term].term.variables)]
    names += [response.name, *data.spec.formula.outcome_variables]
    return [(name, data.labels[name]) for name in dict.fromkeys(names) if name in data.labels]


def column_labels(
    data: ModelData, columns: Iterable[str], terms: Iterable[str], *, spelled: bool = False
) -> list[str]:
    """What columns of a linear model are called in print: ``Sex: male × Age (years)``. formulaic
    names them ``sex[T.male]:age``, of more than two classes behind the class; what is no term, as
    the intercept, keeps its name, as do columns without labels, unless levels are `spelled` as in
    ``sex: male``."""
    classes = data.response.classes if len(data.response.classes) > 2 else ()
    known, labels = {spec.term.name: spec for spec in data.spec.terms}, distinct_labels(data)
    found = []
    for column, term in zip(columns, terms, strict=True):
        own_classes = (f"{c}: " for c in classes if column.startswith(f"{c}: "))
        before = max(own_classes, key=len, default="")
        own = column.removeprefix(before)
        spec = known.get(term)
        found.append(before + (_column_label(own, spec, labels, spelled) if spec else own))
    return found


def _column_label(column: str, spec: TermSpec, labels: Mapping[str, str], spelled: bool) -> str:
    rest = column.removeprefix(spec.term.name)
    if rest != column and not rest.lstrip("'").partition(": ")[0]:  # the number, or of its spline
        return term_label(spec.term, labels) + rest
    gap = column.removeprefix("missing(").removesuffix(")")  # of the indicator of a variable
    if gap in labels and column == f"missing({gap})":
        return f"missing({labels[gap]})"
    names = [own.factor.name for own in spec.factors]
    found = [factor_label(own.factor, labels) for own in spec.factors]
    # Names of factors with what stands in brackets behind them
    parts = re.fullmatch(":".join(rf"{re.escape(x)}(\[.*\])?" for x in names), column, re.DOTALL)
    if parts is None or (found == names and not spelled):
        return column
    own = zip(found, parts.groups(""), spec.factors, strict=True)
    return (":" if found == names else TIMES).join(_with_level(*part, spelled) for part in own)


def _with_level(label: str, rest: str, own: FactorSpec, spelled: bool) -> str:
    """A label with the level, or the number of one of several columns; names as they are, unless
    they are `spelled`."""
    if not rest or (label == own.factor.name and not spelled):
        return f"{label}{rest}"
    inner = rest[1:-1]
    if own.fields != ("",) and not spelled:
        return f"{label} [{inner}]"
    level, levels = inner.removeprefix("T."), [str(level) for level in own.levels or ()]
    return f"{label}: {inner if inner in levels and level not in levels else level}"


def in_labels(data: ModelData) -> ModelData:
    """The same design, whose terms, units and response bear their labels as names. Whatever reads
    names from it prints labels, and there are no further ones. Formulas, columns, variables and all
    numbers are unchanged: random draws and orders depend on keys and positions."""
    if not data.labels:
        return data
    labels = shown_names(data)

    def renamed(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(labels.get(name, name) for name in names)

    def term(own: Term) -> Term:
        return dataclasses.replace(own, name=labels.get(own.name, own.name))

    units, groups = data.spec.units, data.arrays.groups
    spec = dataclasses.replace(
        data.spec,
        formula=dataclasses.replace(
            data.spec.formula, terms=tuple(map(term, data.spec.formula.terms))
        ),
        terms=tuple(dataclasses.replace(own, term=term(own.term)) for own in data.spec.terms),
        units=dataclasses.replace(
            units, names=renamed(units.names), terms=tuple(map(renamed, units.terms))
        ),
    )
    arrays = dataclasses.replace(
        data.arrays,
        column_names=renamed(data.arrays.column_names),
        blocks_of={labels.get(name, name): own for name, own in data.arrays.blocks_of.items()},
        groups=dataclasses.replace(
            groups, names=renamed(groups.names), terms=tuple(map(renamed, groups.terms))
        ),
    )
    words = _told_apart(distinct_labels(data), (), lambda name: f"{data.labels[name]} ({name})")
    return dataclasses.replace(
        data, arrays=arrays, spec=spec, response=_response(data), labels={}, words=words
    )


def _response(data: ModelData) -> Response:
    """The response with labels for its name, times and strata."""
    formula, labels, known = data.spec.formula, data.labels, data.response.follow_up
    name, node = term_label(formula.response, labels), formula.survival
    if known is None or node is None:
        return dataclasses.replace(data.response, name=name)
    follow_up = dataclasses.replace(
        known,
        time=part_label(node.stop, labels),
        event=part_label(node.event, labels),
        start=None if node.start is None else part_label(node.start, labels),
        strata=tuple(factor_label(factor, labels) for factor in formula.strata),
    )
    return dataclasses.replace(data.response, name=name, follow_up=follow_up)
