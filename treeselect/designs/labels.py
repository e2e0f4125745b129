"""Labels: what columns, terms and units are called in print."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from treeselect.arguments.checks import described, not_found, read_mapping
from treeselect.designs.columns import FactorSpec, TermSpec
from treeselect.designs.modeldata import ModelData
from treeselect.designs.response import Response
from treeselect.designs.survival import survival_of
from treeselect.errors import OptionError, quoted
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
from treeselect.shown import is_broken

# --- what is asked -----------------------------------------------------------------------------


def read_labels(
    given: object, in_data: Mapping[str, str], formula: ParsedFormula, columns: Iterable[str]
) -> dict[str, str]:
    """Labels of the columns and terms of a formula, by name, in alphabetical order. Those `given`
    are of terms and of columns of the data, whether or not in the formula, and take precedence over
    those that came with the data, which None and empty text remove."""
    asked = read_mapping("labels", given, "from names of columns or terms to labels")
    columns = list(columns)
    terms = {_parts(term.key): term.name for term in (formula.response, *formula.terms)}
    found: dict[str, str] = dict(in_data)
    for name, label in asked.items():
        if not isinstance(name, str) or (name not in columns and _parts(name) not in terms):
            raise not_found(name, "labels", [*columns, *terms.values()], "columns and terms")
        own = name if name in columns else terms[_parts(name)]
        found[own] = _read_label(name, label)
    known = {*formula.outcome_variables, *terms.values()}
    known |= {name for term in formula.terms for name in term.variables}
    return {name: found[name] for name in sorted(known) if found.get(name)}


def _parts(name: str) -> str:
    """The same for ``a:b`` and ``b:a``, which are one term."""
    return ":".join(sorted(name.split(":")))


def _read_label(name: str, label: object) -> str:
    if label is None:
        return ""
    if not isinstance(label, str) or is_broken(label):
        raise OptionError(
            f"The label of {quoted(name)} in `labels` must be text.\n"
            f"  Found: {described(label)}. None or empty text means no label."
        )
    return one_line(label)


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
            parts = [_operand(part, labels, name) for part in node.operands]
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


def _operand(node: Node, labels: Mapping[str, str], name: str) -> str:
    """A part of an operation, between parentheses if it is one itself."""
    text = _worded(node, labels, name)
    return f"({text})" if isinstance(node, Operation) else text


def _called(function: str, inner: list[str]) -> str:
    """A call; of functions that say how a column is coded or an expression written, the column."""
    return inner[0] if function in ("C", "I") else f"{function}({', '.join(inner)})"


# --- what is shown -----------------------------------------------------------------------------


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


def column_labels(data: ModelData, columns: Iterable[str], terms: Iterable[str]) -> list[str]:
    """What columns of a linear model are called in print: ``Sex: male × Age (years)``. formulaic
    names them ``sex[T.male]:age``, of more than two classes behind the class; what is no term, as
    the intercept, keeps its name."""
    classes = data.response.classes if len(data.response.classes) > 2 else ()
    known = {spec.term.name: spec for spec in data.spec.terms}
    found = []
    for column, term in zip(columns, terms, strict=True):
        before = next((f"{c}: " for c in classes if column.startswith(f"{c}: ")), "")
        own = column.removeprefix(before)
        label = _column_label(own, known[term], data.labels) if term in known else own
        found.append(before + label)
    return found


def _column_label(column: str, spec: TermSpec, labels: Mapping[str, str]) -> str:
    if column == spec.term.name:
        return term_label(spec.term, labels)
    rests = _brackets(column, spec.factors)
    found = [factor_label(own.factor, labels) for own in spec.factors]
    if rests is None or found == [own.factor.name for own in spec.factors]:
        return column
    return TIMES.join(map(_with_level, found, rests, spec.factors))


def _with_level(label: str, rest: str, own: FactorSpec) -> str:
    """A label with the level, or the number of one of several columns; names as they are."""
    if not rest or label == own.factor.name:
        return f"{label}{rest}"
    inner = rest[1:-1]
    return f"{label} [{inner}]" if own.fields != ("",) else f"{label}: {inner.removeprefix('T.')}"


def _brackets(column: str, factors: Sequence[FactorSpec]) -> list[str] | None:
    """What stands in brackets behind each factor of a column; None if it is written otherwise."""
    first, *others = factors
    name = first.factor.name
    if not others:
        rest = column.removeprefix(name)
        is_own = column.startswith(name) and (not rest or (rest[0], rest[-1]) == ("[", "]"))
        return [rest] if is_own else None
    levels = (False, True) if first.is_bool else first.levels or ()
    inner = [*(f"T.{level}" for level in levels), *map(str, levels), *first.fields]
    for rest in (f"[{text}]" if text else "" for text in inner):
        if column.startswith(f"{name}{rest}:"):
            behind = _brackets(column[len(f"{name}{rest}:") :], others)
            if behind is not None:
                return [rest, *behind]
    return None


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
        groups=dataclasses.replace(
            groups, names=renamed(groups.names), terms=tuple(map(renamed, groups.terms))
        ),
    )
    return dataclasses.replace(
        data, arrays=arrays, spec=spec, response=_response(data), labels={}, words=data.labels
    )


def _response(data: ModelData) -> Response:
    """The response with labels for its name, times and strata."""
    formula, labels, known = data.spec.formula, data.labels, data.response.follow_up
    name = term_label(formula.response, labels)
    if known is None:
        return dataclasses.replace(data.response, name=name)
    node = survival_of(formula)
    follow_up = dataclasses.replace(
        known,
        time=part_label(node.stop, labels),
        event=part_label(node.event, labels),
        start=None if node.start is None else part_label(node.start, labels),
        strata=tuple(factor_label(factor, labels) for factor in formula.strata),
    )
    return dataclasses.replace(data.response, name=name, follow_up=follow_up)
