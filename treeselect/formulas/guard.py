"""What an expression in a formula may do: arithmetic on columns, and nothing else.

A formula is code. The guard reads an expression once, by this allow-list, and makes the records of
:mod:`~treeselect.formulas.expressions` of it; these are what is evaluated, never the text. Only
``trusted=True`` makes a record of code, for what the list refuses.
"""

from __future__ import annotations

import ast
import copy
import keyword
import math
import unicodedata
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeGuard

from treeselect.errors import FormulaError, did_you_mean, listing, near, quoted
from treeselect.formulas.expressions import (
    Call,
    Code,
    Column,
    Constant,
    Contrast,
    Node,
    Operation,
    Transform,
    variables,
)
from treeselect.formulas.quoting import Unquoted
from treeselect.frames.names import formula_name

LONGEST = 5_000
"""Most characters of one expression."""

DEEPEST = 200
"""Most operations of one expression that stand inside one another."""

LARGEST_POWER = 16
"""Largest exponent."""

LARGEST_LIST = 1_000
"""Most numbers in a list of knots, and most degrees of freedom of a spline."""

LARGEST_NUMBER = 1e300
"""Largest number that may stand in an expression."""

# fmt: off
ARITHMETIC: dict[str, int] = {
    **dict.fromkeys([
        "abs", "ceil", "cos", "exp", "exp10", "exp2", "expm1", "floor", "I", "log", "log10",
        "log1p", "log2", "sin", "sqrt", "tan", "tanh",
    ], 1),
}
"""Functions of each row by itself, with their number of arguments."""

NUMPY: dict[str, int] = {
    **dict.fromkeys([
        "abs", "absolute", "arccos", "arcsin", "arcsinh", "arctan", "cbrt", "ceil", "cos", "cosh",
        "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "negative", "reciprocal",
        "rint", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
    ], 1),
    **dict.fromkeys(["maximum", "minimum", "hypot"], 2),
    **dict.fromkeys(["where", "clip"], 3),
}
"""The same behind ``np.``."""

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

CONTRAST_NAMES = frozenset(CONTRAST_ARGUMENTS)
# fmt: on

FUNCTIONS = frozenset([*ARITHMETIC, *LEARNING, "Q"])
"""All functions that an expression may call."""

_LIMITS = {
    "levels": (1, 10_000), "degree": (0, 20), "ddof": (0, 1_000), "df": (1, LARGEST_LIST)
}  # fmt: skip
"""Smallest and largest numbers of some arguments: more would only fill the memory."""

_MAYBE_NONE = frozenset(["df", "knots", "lower_bound", "upper_bound", "constraints", "contrasts"])
"""Arguments that may be None."""

_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip

_KEYWORDS = frozenset(["True", "False", "None"])
"""Constants of Python that a column may be called, too."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An expression that has passed the guard.

    Attributes
    ----------
    name : str
        As a formula writes it, in one form for all spellings: ``log(x + 1)``.
    node : Node
        What is evaluated.
    variables : tuple of str
        Columns of the data that it reads.
    """

    name: str
    node: Node
    variables: tuple[str, ...]


def check_expression(
    code: str,
    unquoted: Unquoted,
    formula: str,
    columns: Collection[str],
    *,
    trusted: bool = False,
) -> Checked:
    """Check one expression of a formula and make what can be evaluated of it.

    Parameters
    ----------
    code : str
        A part of ``unquoted.code``.
    unquoted : Unquoted
        The formula without quotation marks.
    formula : str
        The whole formula, for the message.
    columns : collection of str
        Names of the columns of the data.
    trusted : bool
        Take what the allow-list refuses for any Python expression.

    Raises
    ------
    FormulaError
        If the expression does anything but arithmetic, comparison and calls of
        :data:`FUNCTIONS` on columns and constants, with arguments as :data:`LEARNING` lists them;
        if it reads what is no column; if a column has the name of a function that it calls.
    """
    code = code.strip()
    expression = unquoted.restore(code).strip()
    if len(expression) > LONGEST and not trusted:
        raise FormulaError(
            f"An expression in a formula must have at most {LONGEST} characters.\n"
            f"  Found {len(expression)}, beginning {expression[:40]!r}."
        )
    tree = _parse(code, expression, formula)
    _check_depth(tree, expression, formula)
    _check_digits(tree, expression, formula)
    _check_spelling(code, tree, unquoted, expression, formula)
    worded = _Filled(unquoted.words, {}).visit(tree)
    named = _Filled({}, unquoted.columns).visit(copy.deepcopy(worded))
    reader = _Reader(expression, formula, columns, named)
    node: Node
    try:
        node = reader.read(named)
    except FormulaError:
        # Factors are coded by what the guard has read of them, also in a trusted formula.
        if not trusted or any(_calls(part, ("C", "hashed")) for part in ast.walk(named)):
            raise
        node = _trusted_code(worded, reader, unquoted, columns)
    return Checked(ast.unparse(named), node, variables(node))


def _parse(code: str, expression: str, formula: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # as of `1 is x`, which is refused
            return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", "") or str(error) or type(error).__name__
        raise FormulaError.at(
            f"Can't read the expression {quoted(expression)}.",
            formula,
            expression,
            f"Python says: {said}.",
        ) from None


def _check_depth(tree: ast.AST, expression: str, formula: str) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise FormulaError.at(
        f"An expression must not be more than {DEEPEST} operations deep.",
        formula,
        expression,
        "Compute the column beforehand.",
    )


def _check_digits(tree: ast.AST, expression: str, formula: str) -> None:
    """Python does not write numbers of thousands of digits, not even in a message."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else 0
        if isinstance(value, int) and value.bit_length() > 1_000:
            raise FormulaError.at(
                f"A number in a formula must be at most {LARGEST_NUMBER:g}.", formula, expression
            )


def _check_spelling(
    code: str, tree: ast.AST, unquoted: Unquoted, expression: str, formula: str
) -> None:
    """Refuse names that Python takes for others: it reads ``µ``, the micro sign, as the letter."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    written = {ast.get_source_segment(code, n) or n.id: n.id for n in names if not code.isascii()}
    columns = [unquoted.columns[node.id] for node in names if node.id in unquoted.columns]
    written |= {c: unicodedata.normalize("NFKC", c) for c in columns if c.isidentifier()}
    for name, read in written.items():
        if name != read:
            raise FormulaError.at(
                f"Can't use the name {quoted(name)} in an expression.",
                formula,
                expression,
                f"Python takes some of its characters for others and reads {quoted(read)}:"
                " rename the column.",
            )


class _Filled(ast.NodeTransformer):
    """Puts texts or names that stood between quotation marks into a syntax tree.

    Odd names stand between backticks there, so that the tree is written as a formula writes it.
    """

    def __init__(self, words: Mapping[str, str], columns: Mapping[str, str]) -> None:
        self._words, self._columns = words, columns

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._words:
            return ast.Constant(self._words[node.id])
        if node.id in self._columns:
            return ast.Name(formula_name(self._columns[node.id]), ast.Load())
        return node


class _Reader:
    """Makes records of a syntax tree; whatever has no ``_read_`` method here is refused."""

    def __init__(
        self, expression: str, formula: str, columns: Collection[str], whole: ast.expr
    ) -> None:
        self._expression, self._formula = expression, formula
        self._columns, self._whole = columns, whole

    def read(self, node: ast.expr) -> Node:
        """The record of a node and of all below it."""
        read = getattr(self, f"_read_{type(node).__name__}", None)
        if read is None:
            self.refuse(_SAID.get(type(node).__name__, f"a {type(node).__name__}"))
        record: Node = read(node)
        return record

    def column(self, name: str) -> Column:
        """The column of that name."""
        if name not in self._columns:
            if name.startswith("__"):
                self.refuse(f"the name {quoted(name)}")
            raise FormulaError.unknown_column(name, self._formula, self._columns)
        if keyword.iskeyword(name):
            raise FormulaError.at(
                f"Can't use the column {quoted(name)} in an expression.",
                self._formula,
                self._expression,
                "Columns named like a Python keyword can't stand in an expression: rename it, for"
                f" example to {quoted(name + '_')}.",
            )
        return Column(name)

    def _read_Name(self, node: ast.Name) -> Node:
        return self.column(node.id.strip("`"))

    def _read_Attribute(self, node: ast.Attribute) -> NoReturn:
        name = ast.unparse(node)
        if name in self._columns:  # R users write Sepal.Length
            raise FormulaError.at(
                f"The column {quoted(name)} must stand between backticks in an expression.",
                self._formula,
                name,
                f"Write {self._expression.replace(name, quoted(name))}.",
            )
        self.refuse(_SAID["Attribute"])

    def _read_Constant(self, node: ast.Constant) -> Node:
        if isinstance(node.value, str):
            self.refuse(f"the text {node.value!r} outside a comparison")
        if isinstance(node.value, bool | int | float) and _is_finite(node.value):
            return Constant(node.value)
        self.refuse(f"the constant {str(node.value)[:40]}")

    def _read_Compare(self, node: ast.Compare) -> Node:
        if len(node.ops) > 1:
            self.refuse("a chained comparison; write `(a < x) & (x < b)`")
        return Operation(
            self._sign(node.ops[0]), tuple(map(self._side, (node.left, *node.comparators)))
        )

    def _side(self, node: ast.expr) -> Node:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return Constant(node.value)
        return self.read(node)

    def _read_BinOp(self, node: ast.BinOp) -> Node:
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
        fixed = isinstance(exponent, ast.Constant) and _is_number(exponent.value)
        if not fixed or abs(exponent.value) > LARGEST_POWER:  # type: ignore[attr-defined]
            self.refuse(f"an exponent that is not a number of at most {LARGEST_POWER}")
        if not any(isinstance(n, ast.Name) for n in ast.walk(node.left)):
            self.refuse("a power of a constant")

    def _read_Call(self, node: ast.Call) -> Node:
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and _numpy(name) in NUMPY:
            self._check_shadow("np")
            return self._row_by_row(node, _numpy(name), NUMPY[_numpy(name)])
        if not isinstance(node.func, ast.Name):
            self.read(node.func)
            self.refuse("a call of something that is not a function's name")
        self._check_callable(name)
        self._check_shadow(name)
        if name == "Q":
            return Call("I", (self.column(self.quoted_name(node)),))
        if name in ARITHMETIC:
            return self._row_by_row(node, name, ARITHMETIC[name])
        return self._transform(node, name)

    def _check_callable(self, name: str) -> None:
        if name == "lag":
            raise FormulaError.at(
                "Can't call `lag`: rows are taken for exchangeable, as resamples and folds need.",
                self._formula,
                name,
                "Compute the column beforehand, for example with `data[name].shift(1)`.",
            )
        if name not in FUNCTIONS:
            close = near(name, FUNCTIONS)
            raise FormulaError.at(
                f"Can't call {quoted(name.strip('`'))} in a formula.",
                self._formula,
                name,
                did_you_mean(close) if close else f"Allowed: {listing(sorted(FUNCTIONS), 99)}.",
                "Anything else: compute the column beforehand, or pass `trusted=True` for a"
                " formula that you wrote yourself.",
            )

    def _check_shadow(self, name: str) -> None:
        if name in self._columns:
            raise FormulaError.at(
                f"Can't tell the column {quoted(name)} from the function {quoted(name)}.",
                self._formula,
                name,
                f"Rename the column, for example to {quoted(name + '_')}.",
            )

    def check_whole(self, node: ast.AST, name: str) -> None:
        """Refuse a call that gives a factor or several columns anywhere but at the top."""
        if node is not self._whole:
            self.refuse(f"`{name}()` inside an expression; it must be the whole term")

    def _row_by_row(self, node: ast.Call, name: str, n: int) -> Node:
        """Arguments by position only: `out=` would write, `where=` would leave values unset."""
        if node.keywords or len(node.args) != n:
            plain = "one plain argument" if n == 1 else f"{n} plain arguments"
            self.refuse(f"a call of {quoted(name)} with other than {plain}")
        return Call(name, tuple(map(self.read, node.args)))

    def quoted_name(self, node: ast.Call) -> str:
        """The name in ``Q("name")``, as patsy has it for odd names."""
        argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
        name = argument.value if isinstance(argument, ast.Constant) else None
        if not isinstance(name, str):
            self.refuse("a call of `Q` with other than one name between quotes")
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
                    f" (it has {listing(allowed) if allowed else 'none'})"
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
        if not _is_of_kind(found, kind) or (found is None and argument not in _MAYBE_NONE):
            self.refuse(
                f"{quoted(ast.unparse(value))} as {quoted(argument)} of {quoted(name)}: it must be"
                f" {_KINDS[kind]}"
            )
        least, most = _LIMITS.get(argument, (-LARGEST_NUMBER, LARGEST_NUMBER))
        if _is_number(found) and not least <= found <= most:
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
        if text not in CONTRAST_NAMES:
            self._refuse_contrast(name, value)
        self._check_shadow(text.split(".")[0])
        if not isinstance(value, ast.Call):
            return Contrast(text)
        given = [*value.args, *(extra.value for extra in value.keywords)]
        if not all(isinstance(argument, ast.Constant) for argument in given):
            self._refuse_contrast(name, value)
        allowed = CONTRAST_ARGUMENTS[text]
        options = [(str(extra.arg), _constant(extra.value)) for extra in value.keywords]
        if len(value.args) > len(allowed) or not {key for key, _ in options} <= set(
            allowed[len(value.args) :]
        ):
            self._refuse_contrast(name, value)
        return Contrast(text, tuple(map(_constant, value.args)), tuple(options))

    def _refuse_contrast(self, name: str, value: ast.expr) -> NoReturn:
        self.refuse(
            f"the contrasts {quoted(ast.unparse(value))} in {quoted(name)}; trees use every"
            f" level by itself. It has {listing(sorted(CONTRAST_NAMES), 99)}"
        )

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that an expression is not on the list."""
        raise FormulaError.at(
            f"The formula must not contain {what}.",
            self._formula,
            self._expression,
            "Allowed are columns, numbers, arithmetic, comparisons, `&`, `|`, `~` and the functions"
            f" {', '.join(sorted(FUNCTIONS))}.",
            "For a formula that you wrote yourself, pass `trusted=True`.",
        )


def _numpy(name: str) -> str:
    return name.removeprefix("np.") if name.startswith("np.") else ""


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _trusted_code(
    code: ast.expr, reader: _Reader, unquoted: Unquoted, columns: Collection[str]
) -> Code:
    """An expression that may do anything with its columns."""
    found: dict[str, str] = {}  # column by the name under which the code knows it
    for node in ast.walk(code):
        if _calls(node, ("Q",)):
            name = reader.quoted_name(node)  # type: ignore[arg-type]
            found[name] = reader.column(name).name
        elif isinstance(node, ast.Name):
            name = unquoted.columns.get(node.id, node.id)
            if name in columns:
                found[node.id] = reader.column(name).name
        elif isinstance(node, ast.Constant) and {str(node.value)} & _KEYWORDS & set(columns):
            reader.column(str(node.value))
    aliases = tuple((name, column) for name, column in found.items() if name != column)
    is_call = isinstance(code, ast.Call)
    return Code(ast.unparse(code), aliases, tuple(dict.fromkeys(found.values())), is_call)


def _calls(node: ast.AST, functions: Collection[str]) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions
    )


_KINDS = {
    NUMBER: "a number",
    WHOLE_NUMBER: "a whole number",
    FLAG: "True or False",
    CENTERED: "'center'",
    BEYOND: "'raise', 'clip', 'na', 'zero' or 'extend'",
    NUMBERS: f"a list of at most {LARGEST_LIST:,} numbers",
    LABELS: f"a list of at most {LARGEST_LIST:,} labels, each once",
}


_WORDS = {CENTERED: ("center",), BEYOND: ("raise", "clip", "na", "zero", "extend")}
"""The words of arguments that take one: formulaic would read others as code of its own."""


def _is_of_kind(value: object, kind: str) -> bool:
    if value is None:
        return True
    if kind == FLAG:
        return isinstance(value, bool)
    if kind in _WORDS:
        return isinstance(value, str) and value in _WORDS[kind]
    if kind in (NUMBER, WHOLE_NUMBER):
        return _is_number(value) and (kind == NUMBER or value == math.floor(value))
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= LARGEST_LIST
        and all(_is_number(v) or (kind == LABELS and isinstance(v, str | bool)) for v in value)
        and (kind == NUMBERS or len(set(value)) == len(value))
    )


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: int | float) -> bool:
    return -LARGEST_NUMBER <= value <= LARGEST_NUMBER


_SAID = {
    "Attribute": "an attribute (a dot after a name)",
    "Subscript": "a subscript (square brackets)",
    "Lambda": "a lambda",
    "ListComp": "a comprehension",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "GeneratorExp": "a comprehension",
    "JoinedStr": "an f-string",
    "BoolOp": "`and` or `or`; write `&` or `|` between parentheses",
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
    "LShift": "a bit shift",
    "RShift": "a bit shift",
    "BitXor": "`^` inside an expression",
    "MatMult": "a matrix product",
    "Await": "an await",
}
