"""A final model as one SELECT for DuckDB, SQLite and PostgreSQL.

Each tree is nested CASE expressions. SQLite's parser holds about fifteen, so that deeper parts of a
tree are summands that hold where the conditions on their path do. All conditions are written for
missing values as well: none is ever negated. Steps are materialised because engines would otherwise
put the expressions of features into every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from treeselect._version import __version__
from treeselect.arguments.scalars import described
from treeselect.errors import OptionError
from treeselect.exporting.formulas import Formula
from treeselect.exporting.program import (
    AT_MOST,
    AT_MOST_OR_MISSING,
    IDENTITY,
    LOG,
    LOGIT,
    MISSING,
    FactorFeature,
    Feature,
    Program,
    Tree,
    TreeNode,
    batched,
    levels_in_order,
    number_text,
)

_DEEPEST = 11
"""Nested CASE expressions."""

_SUMMANDS = 50
"""Summands of one pair of brackets."""

_TOGETHER = 20
"""Trees in one sum: engines limit the depth of expressions."""

_DOUBLE = "DOUBLE PRECISION"


def sql_source(program: Program, table: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """The statement, in pieces.

    Parameters
    ----------
    program : Program
    table : sequence of str
        Name of the table, after those of its schema and catalogue, if any.
    columns : sequence of str
        Columns of the table in the answer, before the prediction.
    """
    yield f"-- Written by treeselect {__version__}: one prediction for each row of the table.\n"
    kept = [f"t.{_name(name)} AS k{i}" for i, name in enumerate(columns)]
    found = [f"{_feature(program, f)} AS f{i}" for i, f in enumerate(program.features)]
    offset = ["0 AS o"]
    if program.offset is not None:
        offset = [f"{_read(program, program.offset)} AS o"]
    valid = [f"{_valid(program)} AS v"]
    yield "WITH rows_ AS MATERIALIZED (\n  SELECT\n    "
    yield ",\n    ".join([*kept, *_raw(program), *offset])
    yield f"\n  FROM {'.'.join(map(_name, table))} AS t\n)"
    yield ",\nfeatures_ AS MATERIALIZED (\n  SELECT\n    "
    yield ",\n    ".join(
        [*(f"k{i}" for i in range(len(columns))), *found, *_raw_names(program), "o"]
    )
    yield "\n  FROM rows_\n),\nsums_ AS MATERIALIZED (\n  SELECT\n    "
    yield ",\n    ".join([*(f"k{i}" for i in range(len(columns))), *valid, "o"])
    n_outputs, n_sums = len(program.constant), 0
    for trees in batched(program.trees(), _TOGETHER):
        for k in range(n_outputs):
            yield f",\n    CAST(\n      {_sum(trees, k)}\n    AS {_DOUBLE}) AS s{n_sums}_{k}"
        n_sums += 1
    yield "\n  FROM features_\n),\ntotals_ AS MATERIALIZED (\n  SELECT\n    "
    totals = [
        " + ".join(
            [f"CAST({_number(constant)} AS {_DOUBLE})", *(f"s{i}_{k}" for i in range(n_sums))]
        )
        for k, constant in enumerate(program.constant)
    ]
    yield ",\n    ".join(
        [
            *(f"k{i}" for i in range(len(columns))),
            "v",
            *(f"{total} + o AS e{k}" for k, total in enumerate(totals)),
        ]
    )
    yield "\n  FROM sums_\n)\nSELECT\n  "
    answers = [
        f"CASE WHEN v = 1 THEN {answer} END AS {_name(name)}"
        for answer, name in _responses(program)
    ]
    yield ",\n  ".join([*(f"k{i} AS {_name(name)}" for i, name in enumerate(columns)), *answers])
    yield "\nFROM totals_\n"


def _name(name: str) -> str:
    return '"' + _checked(name).replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + _checked(text).replace("'", "''") + "'"


def _checked(text: str) -> str:
    if "\0" in text:
        raise OptionError(
            f"SQL has no text with NUL characters.\n  Found: {described(text)}. Rename the table,"
            " column or level."
        )
    return text


def _number(value: float) -> str:
    """With an exponent: numbers without one are decimals in DuckDB."""
    text = number_text(value)
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if value < 0 else text


def _raw(program: Program) -> list[str]:
    found = []
    for i, column in enumerate(program.inputs):
        source = f"t.{_name(column.name)}"
        found.append(f"{source if column.kind == 'text' else _read(program, i)} AS c{i}")
    return found


def _raw_names(program: Program) -> list[str]:
    return [f"c{i}" for i in range(len(program.inputs))]


def _read(program: Program, i: int) -> str:
    """A number; NaN is missing where the engine has it."""
    column = program.inputs[i]
    source = f"t.{_name(column.name)}"
    if column.kind == "logical":
        return f"CAST(CAST({source} AS INTEGER) AS {_DOUBLE})"
    return f"NULLIF(CAST({source} AS {_DOUBLE}), 'NaN')"


def _literal(level: Any) -> str:
    return _text(level) if isinstance(level, str) else _number(float(level))


def _feature(program: Program, feature: Feature) -> str:
    if not isinstance(feature, FactorFeature):
        return _written(feature.formula)
    missing = " OR ".join(f"c{j} IS NULL" for j in feature.inputs)
    parts = [f"WHEN {missing} THEN NULL"]
    if program.new_levels != "other":
        # With `error`, the prediction of such a row is missing: see _valid.
        known = " AND ".join(
            f"c{j} IN ({', '.join(map(_literal, own))})" if own else "1 = 0"
            for j, own in zip(feature.inputs, feature.levels, strict=True)
        )
        other = "NULL" if program.new_levels == "missing" else "-2"
        parts.append(f"WHEN {known} THEN {_codes(feature, '-1')}")
        return f"CASE {' '.join(parts)} ELSE {other} END"
    return f"CASE {' '.join(parts)} ELSE {_codes(feature, '-1')} END"


def _codes(feature: FactorFeature, other: str) -> str:
    parts = []
    for code, labels in levels_in_order(feature):
        same = zip(feature.inputs, labels, strict=True)
        parts.append(f"WHEN {' AND '.join(f'c{j} = {_literal(v)}' for j, v in same)} THEN {code}")
    return f"CASE {' '.join(parts)} ELSE {other} END" if parts else other


def _valid(program: Program) -> str:
    """1 where there is a prediction: levels are known, and expressions finite."""
    conditions = ["o IS NOT NULL"]
    for i, feature in enumerate(program.features):
        if isinstance(feature, FactorFeature):
            if program.new_levels == "error":
                conditions.append(f"(f{i} <> -2 OR f{i} IS NULL)")
        elif not feature.is_plain:
            unknown = " OR ".join(f"c{j} IS NULL" for j in feature.inputs)
            conditions.append(f"(f{i} IS NOT NULL OR {unknown})")
    return f"CASE WHEN {' AND '.join(conditions)} THEN 1 ELSE 0 END"


def _written(formula: Formula) -> str:
    """An expression, missing outside of its domain."""
    sign, *parts = formula
    if sign == "column":
        return f"c{parts[0]}"
    if sign == "number":
        return f"CAST({_number(parts[0])} AS {_DOUBLE})"
    one, *others = [_written(part) for part in parts]
    if sign == "ln":
        return f"CASE WHEN {one} > 0 THEN ln({one}) END"
    if sign == "sqrt":
        return f"CASE WHEN {one} >= 0 THEN sqrt({one}) END"
    if sign == "exp":
        return f"CASE WHEN {one} < 709 THEN exp({one}) END"
    if sign == "power":
        exponent = parts[1][1]
        domain = "1 = 1" if exponent.is_integer() and exponent > 0 else f"{one} > 0"
        return f"CASE WHEN {domain} THEN power({one}, {others[0]}) END"
    if sign == "/":
        return f"({one} / NULLIF({others[0]}, 0))"
    if others:
        return f"({one} {sign} {others[0]})"
    return f"{sign}({one})"


# --- trees ---------------------------------------------------------------------------------------


def _sum(trees: Sequence[Tree], output: int) -> str:
    return _bracketed([part for tree in trees for part in _parts(tree, output)])


def _bracketed(parts: list[str]) -> str:
    """A sum whose depth grows with the logarithm of its length."""
    while len(parts) > _SUMMANDS:
        parts = [
            "(" + " +\n      ".join(parts[i : i + _SUMMANDS]) + ")"
            for i in range(0, len(parts), _SUMMANDS)
        ]
    return " +\n      ".join(parts)


def _parts(tree: Tree, output: int) -> Iterator[str]:
    """A tree as summands; each but the first holds on one path only."""
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        root, path = waiting.pop()
        below: list[tuple[int, tuple[str, ...]]] = []
        text = _case(tree, root, path, output, _DEEPEST, below)
        waiting += below
        yield f"CASE WHEN {' AND '.join(path)} THEN {text} ELSE 0e0 END" if path else text


def _case(
    tree: Tree, at: int, path: tuple[str, ...], output: int, room: int,
    below: list[tuple[int, tuple[str, ...]]],
) -> str:  # fmt: skip
    node = tree[at]
    if not node.test:
        return _number(node.value[output])
    if not room:
        below.append((at, path))
        return "0e0"
    left, right = _conditions(node)
    first = _case(tree, node.left, (*path, left), output, room - 1, below)
    second = _case(tree, node.left + 1, (*path, right), output, room - 1, below)
    return f"CASE WHEN {left} THEN {first} ELSE {second} END"


def _conditions(node: TreeNode) -> tuple[str, str]:
    """Conditions of going left and of going right."""
    name = f"f{node.feature}"
    if node.test == MISSING:
        return f"{name} IS NULL", f"{name} IS NOT NULL"
    if node.test == AT_MOST:
        limit = _number(node.number)
        return f"{name} <= {limit}", f"({name} > {limit} OR {name} IS NULL)"
    if node.test == AT_MOST_OR_MISSING:
        limit = _number(node.number)
        return f"({name} <= {limit} OR {name} IS NULL)", f"{name} > {limit}"
    code = int(node.number)
    return f"{name} = {code}", f"({name} <> {code} OR {name} IS NULL)"


def _responses(program: Program) -> Iterator[tuple[str, str]]:
    """Each answer and the name of its column."""
    names = program.classes or ("prediction",)
    for k, name in enumerate(names):
        if program.link == IDENTITY:
            yield f"e{k}", name
        elif program.link == LOGIT:
            yield f"CASE WHEN e{k} < -700 THEN 0e0 ELSE 1e0 / (1e0 + exp(-e{k})) END", name
        elif program.link == LOG:
            yield f"exp(CASE WHEN e{k} > 300 THEN 300e0 ELSE e{k} END)", name
        else:
            share = " + ".join(
                f"exp(CASE WHEN e{j} - e{k} > 700 THEN 700e0 WHEN e{j} - e{k} < -700 THEN -700e0"
                f" ELSE e{j} - e{k} END)"
                for j in range(len(names))
            )
            yield f"1e0 / ({share})", name
