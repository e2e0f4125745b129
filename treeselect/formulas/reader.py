"""From Python's syntax tree of an expression to records, by the list of what is allowed."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Collection
from typing import NoReturn

from treeselect.errors import FormulaError, did_you_mean, listing, near, quoted
from treeselect.formulas.allowed import (
    ARITHMETIC,
    CONTRAST_ARGUMENTS,
    CONTRAST_NAMES,
    CONTRASTS,
    FUNCTIONS,
    KINDS,
    LARGEST_NUMBER,
    LARGEST_POWER,
    LEARNING,
    LIMITS,
    MAYBE_NONE,
    NUMPY,
    SPECIAL,
    WHOLE,
    WHOLE_NUMBER,
    is_finite,
    is_number,
    is_of_kind,
)
from treeselect.formulas.expressions import (
    Call,
    Column,
    Constant,
    Contrast,
    Node,
    Operation,
    Transform,
)
from treeselect.formulas.habits import CONSTANTS_OF_R, call_instead, power_instead
from treeselect.formulas.survival import read_special

_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class Reader:
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
            if name in CONSTANTS_OF_R:
                raise FormulaError.at(
                    f"Can't find column {quoted(name)} in `data`.",
                    self._formula,
                    name,
                    CONSTANTS_OF_R[name],
                )
            raise FormulaError.unknown_column(name, self._formula, self._columns)
        if keyword.iskeyword(name):
            raise FormulaError.at(
                f"Can't use the column {quoted(name)} in an expression.",
                self._formula,
                self._expression,
                "Its name is a Python keyword: rename the column, for example to"
                f" {quoted(name + '_')}.",
            )
        return Column(name)

    def _read_Name(self, node: ast.Name) -> Node:
        return self.column(node.id.strip("`"))

    def _read_Attribute(self, node: ast.Attribute) -> NoReturn:
        name = ast.unparse(node)
        if name in self._columns:  # R users write Sepal.Length
            raise FormulaError.at(
                f"The column {quoted(name)} must be in backticks inside an expression.",
                self._formula,
                name,
                f"Write {self._expression.replace(name, quoted(name))}.",
            )
        self.refuse(_SAID["Attribute"])

    def _read_Constant(self, node: ast.Constant) -> Node:
        if isinstance(node.value, str):
            self.refuse(f"the text {node.value!r} outside a comparison")
        if isinstance(node.value, bool | int | float) and is_finite(node.value):
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
        if isinstance(node.op, ast.BitXor):
            raise FormulaError.at(
                "The formula must not contain `^` inside an expression.",
                self._formula,
                self._expression,
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
            return read_special(node, name, self.read, self._formula)
        if name in ARITHMETIC:
            return self._row_by_row(node, name, ARITHMETIC[name])
        return self._transform(node, name)

    def _check_callable(self, name: str, node: ast.Call) -> None:
        if name == "lag":
            raise FormulaError.at(
                "Can't call `lag`: resamples and folds treat rows as exchangeable.",
                self._formula,
                name,
                "Add the lagged column to `data` first, for example with `data[name].shift(1)`.",
            )
        argument = ast.unparse(node.args[0]) if node.args else ""
        if (instead := call_instead(name, argument)) is not None:
            raise FormulaError.at(
                f"Can't call {quoted(name)} in a formula.", self._formula, name, instead
            )
        if name not in FUNCTIONS:
            close = near(name, FUNCTIONS)
            raise FormulaError.at(
                f"Can't call {quoted(name.strip('`'))} in a formula.",
                self._formula,
                name,
                did_you_mean(close) if close else f"Allowed: {listing(sorted(FUNCTIONS), 99)}.",
                "For anything else, add the computed column to `data` first, or pass"
                " `trusted=True` if you wrote the formula yourself.",
            )

    def _check_shadow(self, name: str) -> None:
        if name in self._columns:
            raise FormulaError.at(
                f"The column {quoted(name)} must not share its name with the function"
                f" {quoted(name)}.",
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
        if name == "log" and not node.keywords and len(node.args) == 2:
            base = ast.unparse(node.args[1])
            own = f"log{base}" if base in ("2", "10") else ""
            x = ast.unparse(node.args[0])
            way = f"{own}({x})" if own else f"I(log({x}) / log({base}))"
            raise FormulaError.at(
                "`log` is the natural logarithm and has one argument.",
                self._formula,
                self._expression,
                f"Write {quoted(way)}.",
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
            raise FormulaError.at(
                f"{quoted(argument)} of {quoted(name)} must be {KINDS[kind]}.",
                self._formula,
                value.id,
                f"Found: {quoted(value.id)}. {CONSTANTS_OF_R[value.id]}",
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
            f"the contrasts {quoted(ast.unparse(value))} in {quoted(name)}; contrasts matter only"
            f" to linear models. Allowed: {listing(sorted(CONTRAST_NAMES), 99)}"
        )

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that an expression is not on the list."""
        raise FormulaError.at(
            f"The formula must not contain {what}.",
            self._formula,
            self._expression,
            "Allowed: columns, numbers, arithmetic, comparisons, `&`, `|`, `~` and the functions"
            f" {', '.join(sorted(FUNCTIONS))}.",
            "If you wrote the formula yourself, pass `trusted=True`.",
        )


def _numpy(name: str) -> str:
    return name.removeprefix("np.") if name.startswith("np.") else ""


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


_SAID = {
    "Attribute": "an attribute (a dot after a name)",
    "Subscript": "a subscript (square brackets)",
    "Lambda": "a lambda",
    "ListComp": "a comprehension",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "GeneratorExp": "a comprehension",
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
    "LShift": "a bit shift",
    "RShift": "a bit shift",
    "MatMult": "a matrix product",
    "Await": "an await",
}
