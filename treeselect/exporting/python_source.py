"""A final model as Python source that needs the standard library only."""

from __future__ import annotations

from collections.abc import Iterator

from treeselect._version import __version__
from treeselect.exporting.formulas import Formula
from treeselect.exporting.program import (
    IDENTITY,
    LOG,
    LOGIT,
    SOFTMAX,
    FactorFeature,
    NumberFeature,
    Program,
    Tree,
    levels_in_order,
    number_text,
)

_HEAD = '''\
"""A model written by treeselect {version}. It needs Python 3.9 or newer and nothing else.

``predict(row)`` takes a mapping from columns to values; None and NaN are missing.
``predict_rows(rows)`` takes an iterable of such mappings and returns a list.
"""

import math

INPUTS = {inputs}
CLASSES = {classes}
'''

_BODY = '''

def _number(row, name):
    value = row[name]
    if value is None or value != value:
        return None
    if isinstance(value, (str, bytes)):
        raise ValueError("column %r must hold numbers, found %r" % (name, value))
    return float(value)


def _code(row, names, levels, codes):
    found = []
    for name, own in zip(names, levels):
        value = row[name]
        if value is None or value != value:
            return None
        found.append(value)
    for name, own, value in zip(names, levels, found):
        if value not in own:
            if NEW_LEVELS == "error":
                raise ValueError("column %r has the new level %r" % (name, value))
            return None if NEW_LEVELS == "missing" else -1
    return codes.get(tuple(found), -1)


def _finite(value, term):
    if not math.isfinite(value):
        raise ValueError("the term %r must be finite" % term)
    return value


def _tree(text):
    nodes = []
    for node in text.split():
        feature, test, number, left, *value = node.split(",")
        nodes.append(
            (int(feature), int(test), float(number), int(left), tuple(map(float, value)))
        )
    return nodes


def _leaf(nodes, features):
    at = 0
    while True:
        feature, test, number, left, value = nodes[at]
        if test == 0:
            return value
        found = features[feature]
        if found is None:
            goes_left = test in (2, 3)
        elif test == 4:
            goes_left = found == number
        else:
            goes_left = test < 3 and found <= number
        at = left if goes_left else left + 1


def predict(row):
    """The prediction for one row, a mapping from columns to values."""
    missing = [name for name in INPUTS if name not in row]
    if missing:
        raise ValueError("columns are missing: %s" % ", ".join(missing))
    features = _features(row)
    total = list(CONSTANT)
    for nodes in TREES:
        for k, value in enumerate(_leaf(nodes, features)):
            total[k] += value
    return _response(total, row)


def predict_rows(rows):
    """The predictions for several rows."""
    return [predict(row) for row in rows]


'''

_RESPONSES = {
    IDENTITY: "    return {one}\n",
    LOGIT: (
        "    eta = {one}\n"
        "    return 1 / (1 + math.exp(-eta)) if eta > -700 else math.exp(max(eta, -745))\n"
    ),
    LOG: "    return math.exp(min({one}, 300.0))\n",
    SOFTMAX: (
        "    high = max(total)\n"
        "    share = [math.exp(eta - high) for eta in total]\n"
        "    return {{name: value / sum(share) for name, value in zip(CLASSES, share)}}\n"
    ),
}


def python_source(program: Program) -> Iterator[str]:
    """The source of a module, in pieces."""
    names = [column.name for column in program.inputs]
    yield _HEAD.format(version=__version__, inputs=ascii(names), classes=ascii(program.labels))
    yield f"NEW_LEVELS = {program.new_levels!r}\n"
    yield f"CONSTANT = ({', '.join(map(number_text, program.constant))},)\n"
    yield _BODY
    yield from _features(program)
    yield "\n\ndef _response(total, row):\n"
    one = "total[0]"
    if program.offset is not None:
        name = names[program.offset]
        yield f"    offset = _number(row, {name!a})\n"
        yield '    if offset is None:\n        raise ValueError("the offset is missing")\n'
        one = "total[0] + offset"
    if program.classes and program.link == IDENTITY:
        yield "    return dict(zip(CLASSES, total))\n"
    else:
        yield _RESPONSES[program.link].format(one=one)
    yield "\n\n# Each node: feature, test, threshold or level, left child, leaf's values. Tests:"
    yield "\n# 1 at most, 2 at most or missing, 3 missing, 4 level, 0 a leaf. Right is left + 1.\n"
    yield "TREES = [\n"
    for tree in program.trees():
        yield f'    _tree("{_nodes(tree)}"),\n'
    yield "]\n"


def _nodes(tree: Tree) -> str:
    return " ".join(
        f"{n.feature},{n.test},{number_text(n.number)},{n.left}"
        + ("" if n.test else "".join(f",{number_text(v)}" for v in n.value))
        for n in tree
    )


def _features(program: Program) -> Iterator[str]:
    names = [column.name for column in program.inputs]
    found = []
    for i, feature in enumerate(program.features):
        if isinstance(feature, FactorFeature):
            own = [names[j] for j in feature.inputs]
            levels = [frozenset(part) for part in feature.levels]
            shown = ", ".join(f"{{{', '.join(map(ascii, part))}}}" if part else "()" for part in
                              (sorted(s, key=ascii) for s in levels))  # fmt: skip
            codes = ", ".join(f"{key!a}: {code}" for code, key in levels_in_order(feature))
            yield f"_LEVELS_{i} = ({shown},)\n_CODES_{i} = {{{codes}}}\n"
            found.append(f"_code(row, {own!a}, _LEVELS_{i}, _CODES_{i})")
        else:
            yield f"\n\ndef _feature_{i}(row):\n{_number(feature, names)}\n\n"
            found.append(f"_feature_{i}(row)")
    yield "\n\ndef _features(row):\n    return [\n"
    yield "".join(f"        {part},\n" for part in found)
    yield "    ]\n"


def _number(feature: NumberFeature, names: list[str]) -> str:
    if feature.is_plain:
        return f"    return _number(row, {names[feature.inputs[0]]!a})"
    lines = [f"    c{j} = _number(row, {names[j]!a})" for j in feature.inputs]
    lines.append(f"    if {' or '.join(f'c{j} is None' for j in feature.inputs)}:")
    lines.append("        return None")
    lines.append(f"    return _finite({_written(feature.formula)}, {feature.term!a})")
    return "\n".join(lines)


_CALLS = {"ln": "math.log", "exp": "math.exp", "sqrt": "math.sqrt", "abs": "abs",
          "floor": "math.floor", "ceil": "math.ceil", "power": "math.pow"}  # fmt: skip


def _written(formula: Formula) -> str:
    sign, *parts = formula
    if sign == "column":
        return f"c{parts[0]}"
    if sign == "number":
        return f"({number_text(parts[0])})"
    operands = [_written(part) for part in parts]
    if sign in _CALLS:
        return f"{_CALLS[sign]}({', '.join(operands)})"
    return f"({operands[0]} {sign} {operands[1]})"
