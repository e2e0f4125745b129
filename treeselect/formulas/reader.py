"""What an expression of a formula may call, with which arguments: the list that the guard reads."""

from __future__ import annotations

import ast
import keyword
import math
from collections.abc import Callable, Collection
from typing import NoReturn, TypeGuard

from treeselect.errors import listing, literal, near_or, quoted
from treeselect.formulas.checks import (
    CONSTANTS_OF_R,
    Fault,
    call_instead,
    power_instead,
    unknown_column,
)
from treeselect.formulas.terms import (
    Argument,
    Call,
    Code,
    Column,
    Constant,
    Contrast,
    Node,
    Operation,
    Strata,
    Survival,
    Transform,
    nodes,
    variables,
)

LARGEST_POWER = 16  # an exponent
LARGEST_LIST = 1_000  # numbers in a list of knots, and degrees of freedom of a spline
LARGEST_NUMBER = 1e300  # that may stand in an expression

# fmt: off
ARITHMETIC = frozenset([
    "abs", "ceil", "cos", "exp", "exp10", "exp2", "expm1", "floor", "I", "log", "log10", "log1p",
    "log2", "sin", "sqrt", "tan", "tanh",
])
"""Functions of one argument that work row by row."""

NUMPY: dict[str, int] = {
    **dict.fromkeys([
        "abs", "absolute", "arccos", "arcsin", "arcsinh", "arctan", "cbrt", "ceil", "cos", "cosh",
        "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "negative", "reciprocal",
        "rint", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
    ], 1),
    **dict.fromkeys(["maximum", "minimum", "hypot"], 2),
    **dict.fromkeys(["where", "clip"], 3),
}
"""The same behind ``np.``, with their number of arguments."""

NUMBER, WHOLE_NUMBER, FLAG, CENTERED, BEYOND = "number", "whole", "flag", "centered", "beyond"
NUMBERS, LABELS, CONTRASTS = "numbers", "labels", "contrasts"

_SMOOTH = {
    "df": WHOLE_NUMBER, "knots": NUMBERS, "lower_bound": NUMBER, "upper_bound": NUMBER,
    "constraints": CENTERED, "extrapolation": BEYOND,
}

LEARNING: dict[str, dict[str, str]] = {
    "center": {},
    "scale": {"center": FLAG, "scale": FLAG, "ddof": WHOLE_NUMBER},
    "standardize": {"center": FLAG, "rescale": FLAG, "ddof": WHOLE_NUMBER},
    "poly": {"degree": WHOLE_NUMBER, "raw": FLAG},
    "bs": {
        "df": WHOLE_NUMBER, "knots": NUMBERS, "degree": WHOLE_NUMBER, "include_intercept": FLAG,
        "lower_bound": NUMBER, "upper_bound": NUMBER, "extrapolation": BEYOND,
    },
    "cr": _SMOOTH, "cs": _SMOOTH, "cc": _SMOOTH,
    "hashed": {"levels": WHOLE_NUMBER, "contrasts": CONTRASTS, "spans_intercept": FLAG},
    "C": {"contrasts": CONTRASTS, "levels": LABELS, "spans_intercept": FLAG},
}
"""Functions that look at the whole column: their arguments after the column, and of what kind."""

WHOLE = frozenset(["poly", "bs", "cr", "cs", "cc", "hashed", "C"])
"""Functions that give a factor or several columns and can't stand inside an expression."""

CONTRAST_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "contr.treatment": ("base",), "contr.SAS": ("base",), "contr.sum": (), "contr.poly": (),
    "contr.helmert": ("reverse", "scale"), "contr.diff": ("backward",),
    "Treatment": ("reference",), "Sum": (), "Poly": (),
    "Helmert": ("reverse", "scale"), "Diff": ("backward",),
}
"""Contrasts of ``C()`` with their arguments. They matter for linear models only: trees use every
level."""

SPECIAL = frozenset(["Surv", "strata"])
"""Functions that say what a column is for: they stand on one side, and are whole terms."""

FUNCTIONS = frozenset([*ARITHMETIC, *LEARNING, *SPECIAL, "Q"])
"""All functions that an expression may call."""

LIMITS = {"levels": (1, 10_000), "degree": (0, 20), "ddof": (0, 1_000), "df": (1, LARGEST_LIST)}
"""Smallest and largest numbers of some arguments: more would only fill the memory."""

MAYBE_NONE = frozenset(["df", "knots", "lower_bound", "upper_bound", "constraints", "contrasts"])
"""Arguments that may be None."""

KINDS = {
    NUMBER: "a number", WHOLE_NUMBER: "a whole number", FLAG: "True or False", CENTERED: "'center'",
    BEYOND: "'raise', 'clip', 'na', 'zero' or 'extend'",
    NUMBERS: f"a list of at most {LARGEST_LIST:,} numbers",
    LABELS: f"a list of at most {LARGEST_LIST:,} labels, each once",
}
"""The kinds of arguments in words."""
# fmt: on

_WORDS = {CENTERED: ("center",), BEYOND: ("raise", "clip", "na", "zero", "extend")}
"""The words of arguments that take one: formulaic would read others as code of its own."""


def is_of_kind(value: object, kind: str) -> bool:
    if value is None:
        return True
    if kind == FLAG:
        return isinstance(value, bool)
    if kind in _WORDS:
        return isinstance(value, str) and value in _WORDS[kind]
    if kind in (NUMBER, WHOLE_NUMBER):
        return is_number(value) and (kind == NUMBER or value == math.floor(value))
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= LARGEST_LIST
        and all(is_number(v) or (kind == LABELS and isinstance(v, str | bool)) for v in value)
        and (kind == NUMBERS or len(set(value)) == len(value))
    )


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a number, truth values left out, that is not too large."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def is_finite(value: int | float) -> bool:
    """Whether a number is not too large, and not infinite or NaN."""
    return -LARGEST_NUMBER <= value <= LARGEST_NUMBER


# --- From Python's syntax tree of an expression to records, by the list of what is allowed -------

_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class Reader:
    """Makes records of a syntax tree; whatever has no ``_read_`` method here is refused."""

    def __init__(self, expression: str, columns: Collection[str], whole: ast.expr) -> None:
        self._expression, self._columns, self._whole = expression, columns, whole

    def read(self, node: ast.expr) -> Node:
        """The record of a node and of all below it."""
        read = getattr(self, f"_read_{type(node).__name__}", None)
        if read is None:
            self.refuse(_SAID.get(type(node).__name__, f"a {type(node).__name__}"))
        record: Node = read(node)
        return record

    def column(self, name: str) -> Column:
        if name not in self._columns:
            if name.startswith("__"):
                self.refuse(f"the name {quoted(name)}")
            if name in CONSTANTS_OF_R:
                raise self.error(
                    f"Can't find column {quoted(name)} in `data`.", CONSTANTS_OF_R[name], at=name
                )
            raise unknown_column(name, self._columns)
        if keyword.iskeyword(name):
            raise self.error(
                f"Can't use the column {quoted(name)} in an expression.",
                "Its name is a Python keyword: rename the column, for example to"
                f" {quoted(name + '_')}.",
            )
        return Column(name)

    def _read_Name(self, node: ast.Name) -> Node:
        return self.column(node.id.strip("`"))

    def _read_Attribute(self, node: ast.Attribute) -> NoReturn:
        name = ast.unparse(node)
        if name in self._columns:  # R users write Sepal.Length
            raise self.error(
                f"The column {quoted(name)} must be in backticks inside an expression.",
                f"Write {self._expression.replace(name, quoted(name))}.",
                at=name,
            )
        self.refuse(_SAID["Attribute"])

    def _read_Constant(self, node: ast.Constant) -> Node:
        if isinstance(node.value, str):
            self.refuse(f"the text {literal(node.value)} outside a comparison")
        if isinstance(node.value, bool | int | float) and is_finite(node.value):
            return Constant(node.value)
        self.refuse(f"the constant {str(node.value)[:40]}")

    def _read_Compare(self, node: ast.Compare) -> Node:
        if len(node.ops) > 1:
            self.refuse("a chained comparison; write `(a < x) & (x < b)`")
        sides = (
            Constant(part.value)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
            else self.read(part)
            for part in (node.left, *node.comparators)
        )
        return Operation(self._sign(node.ops[0]), tuple(sides))

    def _read_BinOp(self, node: ast.BinOp) -> Node:
        if isinstance(node.op, ast.BitXor):
            raise self.error(
                "The formula must not contain `^` inside an expression.",
                power_instead(self._expression),
            )
        sign = self._sign(node.op)
        if isinstance(node.op, ast.Pow):
            self._check_power(node)
        return Operation(sign, (self.read(node.left), self.read(node.right)))

    def _read_UnaryOp(self, node: ast.UnaryOp) -> Node:
        return Operation(self._sign(node.op), (self.read(node.operand),))

    def _sign(self, node: ast.AST) -> str:
        if type(node) not in _SIGNS:
            self.refuse(_SAID.get(type(node).__name__, f"a {type(node).__name__}"))
        return _SIGNS[type(node)]

    def _check_power(self, node: ast.BinOp) -> None:
        exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
        fixed = isinstance(exponent, ast.Constant) and is_number(exponent.value)
        if not fixed or abs(exponent.value) > LARGEST_POWER:  # type: ignore[attr-defined]
            self.refuse(f"an exponent other than a number from -{LARGEST_POWER} to {LARGEST_POWER}")
        if not any(isinstance(n, ast.Name) for n in ast.walk(node.left)):
            self.refuse("a power of a constant")

    def _read_Call(self, node: ast.Call) -> Node:
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and _numpy(name) in NUMPY:
            self._check_shadow("np")
            return self._row_by_row(node, _numpy(name), NUMPY[_numpy(name)])
        if not isinstance(node.func, ast.Name):
            self.read(node.func)
            self.refuse("a call of anything but a named function")
        self._check_callable(name, node)
        self._check_shadow(name)
        if name == "Q":
            return Call("I", (self.column(self.quoted_name(node)),))
        if name in SPECIAL:
            self.check_whole(node, name)
            return read_special(node, name, self.read)
        if name in ARITHMETIC:
            return self._row_by_row(node, name, 1)
        return self._transform(node, name)

    def _check_callable(self, name: str, node: ast.Call) -> None:
        if name == "lag":
            raise self.error(
                "Can't call `lag`: resamples and folds treat rows as exchangeable.",
                "Add the lagged column to `data` first, for example with `data[name].shift(1)`.",
                at=name,
            )
        argument = ast.unparse(node.args[0]) if node.args else ""
        if (instead := call_instead(name, argument)) is not None:
            raise self.error(f"Can't call {quoted(name)} in a formula.", instead, at=name)
        if name not in FUNCTIONS:
            raise self.error(
                f"Can't call {quoted(name.strip('`'))} in a formula.",
                near_or(name, FUNCTIONS, f"Allowed: {listing(sorted(FUNCTIONS), 99)}."),
                "For anything else, add the computed column to `data` first, or pass"
                " `trusted=True` if you wrote the formula yourself.",
                at=name,
            )

    def _check_shadow(self, name: str) -> None:
        if name in self._columns:
            raise self.error(
                f"The column {quoted(name)} must not share its name with the function"
                f" {quoted(name)}.",
                f"Rename the column, for example to {quoted(name + '_')}.",
                at=name,
            )

    def check_whole(self, node: ast.AST, name: str) -> None:
        """Refuse a call that gives a factor or several columns anywhere but at the top."""
        if node is not self._whole:
            self.refuse(f"`{name}()` inside an expression; it must be the whole term")

    def _row_by_row(self, node: ast.Call, name: str, n: int) -> Node:
        """Arguments by position only: `out=` would write, `where=` would leave values unset."""
        if name == "log" and not node.keywords and len(node.args) == 2:
            base = ast.unparse(node.args[1])
            own = f"log{base}" if base in ("2", "10") else ""
            x = ast.unparse(node.args[0])
            way = f"{own}({x})" if own else f"I(log({x}) / log({base}))"
            raise self.error(
                "`log` is the natural logarithm and has one argument.", f"Write {quoted(way)}."
            )
        if node.keywords or len(node.args) != n:
            plain = "one positional argument" if n == 1 else f"{n} positional arguments"
            self.refuse(f"a call of {quoted(name)} with other than {plain}")
        return Call(name, tuple(map(self.read, node.args)))

    def quoted_name(self, node: ast.Call) -> str:
        """The name in ``Q("name")``, as patsy has it for odd names."""
        argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
        name = argument.value if isinstance(argument, ast.Constant) else None
        if not isinstance(name, str):
            self.refuse("a call of `Q` with other than one quoted name")
        return name

    def _transform(self, node: ast.Call, name: str) -> Node:
        if name in WHOLE:
            self.check_whole(node, name)
        if not node.args or isinstance(node.args[0], ast.Starred):
            self.refuse(f"a call of {quoted(name)} without a column as its first argument")
        given = self._arguments(node, name)
        if name == "hashed" and "levels" not in given:
            self.refuse("a call of `hashed` without its number of levels, as in `hashed(x, 100)`")
        options = [(k, self._option(name, k, LEARNING[name][k], v)) for k, v in given.items()]
        return Transform(name, self.read(node.args[0]), tuple(options), ast.unparse(node))

    def _arguments(self, node: ast.Call, name: str) -> dict[str, ast.expr]:
        """What stands behind the column, by the names of the arguments."""
        allowed = LEARNING[name]
        given = dict(zip(allowed, node.args[1:], strict=False))
        if len(given) < len(node.args) - 1:
            self.refuse(f"a call of {quoted(name)} with more than {len(allowed) + 1} arguments")
        for extra in node.keywords:
            if extra.arg not in allowed:
                self.refuse(
                    f"the argument {quoted(extra.arg or '**')} of {quoted(name)}"
                    f" (allowed: {listing(allowed) if allowed else 'none'})"
                )
            if extra.arg in given:
                self.refuse(f"the argument {quoted(extra.arg)} of {quoted(name)} twice")
            given[extra.arg] = extra.value
        return given

    def _option(self, name: str, argument: str, kind: str, value: ast.expr) -> object:
        if kind == CONTRASTS:
            return self._contrast(name, value)
        try:
            found = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            found = value
        if isinstance(value, ast.Name) and value.id in CONSTANTS_OF_R:
            raise self.error(
                f"{quoted(argument)} of {quoted(name)} must be {KINDS[kind]}.",
                f"Found: {quoted(value.id)}. {CONSTANTS_OF_R[value.id]}",
                at=value.id,
            )
        if not is_of_kind(found, kind) or (found is None and argument not in MAYBE_NONE):
            self.refuse(
                f"{quoted(ast.unparse(value))} as {quoted(argument)} of {quoted(name)}: it must be"
                f" {KINDS[kind]}"
            )
        least, most = LIMITS.get(argument, (-LARGEST_NUMBER, LARGEST_NUMBER))
        if is_number(found) and not least <= found <= most:
            self.refuse(
                f"{found} as {quoted(argument)} of {quoted(name)}: it must be from {least} to"
                f" {most}"
            )
        if kind == WHOLE_NUMBER and found is not None:
            return int(found)
        return tuple(found) if isinstance(found, list) else found

    def _contrast(self, name: str, value: ast.expr) -> Contrast | None:
        called = value.func if isinstance(value, ast.Call) else value
        text = ast.unparse(called)
        if isinstance(value, ast.Constant) and value.value is None:
            return None
        if text not in CONTRAST_ARGUMENTS:
            self._refuse_contrast(name, value)
        self._check_shadow(text.split(".")[0])
        if not isinstance(value, ast.Call):
            return Contrast(text)
        given = [*value.args, *(extra.value for extra in value.keywords)]
        if not all(isinstance(argument, ast.Constant) for argument in given):
            self._refuse_contrast(name, value)
        allowed = CONTRAST_ARGUMENTS[text]
        options = [(str(extra.arg), ast.literal_eval(extra.value)) for extra in value.keywords]
        if len(value.args) > len(allowed) or not {key for key, _ in options} <= set(
            allowed[len(value.args) :]
        ):
            self._refuse_contrast(name, value)
        return Contrast(text, tuple(map(ast.literal_eval, value.args)), tuple(options))

    def _refuse_contrast(self, name: str, value: ast.expr) -> NoReturn:
        self.refuse(
            f"the contrasts {quoted(ast.unparse(value))} in {quoted(name)}; contrasts matter only"
            f" to linear models. Allowed: {listing(sorted(CONTRAST_ARGUMENTS), 99)}"
        )

    def error(self, problem: str, *advice: str, at: str | None = None) -> Fault:
        """The fault of the expression, or of another part of the formula."""
        return Fault(problem, at or self._expression, *advice)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that an expression is not on the list."""
        raise self.error(
            f"The formula must not contain {what}.",
            "Allowed: columns, numbers, arithmetic, comparisons, `&`, `|`, `~` and the functions"
            f" {', '.join(sorted(FUNCTIONS))}.",
            "If you wrote the formula yourself, pass `trusted=True`.",
        )


def _numpy(name: str) -> str:
    return name.removeprefix("np.") if name.startswith("np.") else ""


_SAID = {
    "Attribute": "an attribute (a dot after a name)",
    "Subscript": "a subscript (square brackets)",
    "Lambda": "a lambda",
    **dict.fromkeys(("ListComp", "SetComp", "DictComp", "GeneratorExp"), "a comprehension"),
    "JoinedStr": "an f-string",
    "BoolOp": "`and` or `or`; write `&` or `|`, with parentheses around each comparison",
    "Not": "`not`; write `~`",
    "IfExp": "an `if`",
    "NamedExpr": "an assignment",
    "List": "a list",
    "Tuple": "a tuple",
    "Dict": "a dictionary",
    "Set": "a set",
    "In": "`in`",
    "NotIn": "`not in`",
    "Is": "`is`",
    "IsNot": "`is not`",
    **dict.fromkeys(("LShift", "RShift"), "a bit shift"),
    "MatMult": "a matrix product",
    "Await": "an await",
}


# --- The arguments of `Surv()` and `strata()` -----------------------------------------------------

_WRITE = "Write `Surv(time, event)` or `Surv(start, stop, event)`."

_NAMES = {"time": "stop", "start": "start", "stop": "stop", "time2": "stop", "event": "event"}
"""What the names of the arguments stand for; R has `time` and `time2` for start and stop."""


def read_special(call: ast.Call, name: str, read: Callable[[ast.expr], Node]) -> Survival | Strata:
    if name == "strata":
        if call.keywords or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
            raise Fault(
                "`strata()` must have one or more columns as its only arguments.",
                ast.unparse(call),
                "Write `strata(site)`, or `strata(site, sex)` for their combinations.",
            )
        return Strata(tuple(_argument(a, name, read) for a in call.args))
    given = _by_name(call, ast.unparse(call))
    parts = {key: _argument(value, name, read) for key, value in given.items()}
    return Survival(parts.get("start"), parts["stop"], parts["event"])


def _by_name(call: ast.Call, text: str) -> dict[str, ast.expr]:
    known = [extra.arg for extra in call.keywords]
    values = [*call.args, *(extra.value for extra in call.keywords)]
    if other := [name for name in known if name not in _NAMES]:
        raise Fault(
            f"`Surv()` must not have the argument {quoted(other[0] or '**')}.",
            text,
            f"{_WRITE} With two arguments, time runs from the start of observation; with three, a"
            " row is at risk after `start` up to `stop`. Left- and interval-censored times can't be"
            " modelled.",
        )
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found = literal(value.value)
            raise Fault(
                "`Surv()` must identify the event by a comparison.",
                text,
                f"Found: the text {found}. Write it as in `Surv(time, status == {found})`.",
            )
    n = len(values)
    if n not in (2, 3) or any(isinstance(a, ast.Starred) for a in call.args):
        found = f"{n} argument{'' if n == 1 else 's'}" if n not in (2, 3) else "`*`"
        way = " If every row ended in an event, use a column of ones." if n == 1 else ""
        advice = f"Found: {found}. {_WRITE}{way}"
        raise Fault("`Surv()` must have two or three arguments.", text, advice)
    order = ("stop", "event") if n == 2 else ("start", "stop", "event")
    meaning = dict(_NAMES, time="start") if n == 3 and "stop" not in known else _NAMES
    names = [*order[: len(call.args)], *(meaning[str(name)] for name in known)]
    if sorted(names) != sorted(order):
        advice = f"Found the names: {listing(map(str, known))}. {_WRITE}"
        raise Fault("`Surv()` must have each of its arguments exactly once.", text, advice)
    given = dict(zip(names, values, strict=True))
    return {name: given[name] for name in order}


def _argument(value: ast.expr, function: str, read: Callable[[ast.expr], Node]) -> Argument:
    node, text = read(value), ast.unparse(value)
    if any(isinstance(part, Transform | Code) for part in nodes(node)):
        raise Fault(
            f"The arguments of `{function}()` must be columns, arithmetic or comparisons.",
            text,
            "Found: a function of a whole column. Add the computed column to `data` first.",
        )
    if not variables(node):
        raise Fault(f"Each argument of `{function}()` must use a column of `data`.", text)
    match node:
        case Column(name) | Call("I", (Column(name),)):  # the latter of Q("odd name")
            return Argument(name, Column(name))
    return Argument(text, node)
