"""What an expression in a formula may do: arithmetic on columns, and nothing else.

A formula is code: formulaic hands its expressions to ``eval``. Every expression passes this
allow-list before anything is evaluated (formulaic evaluates parts of some expressions already
while parsing, so the check comes before that, too).
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Mapping

from treeselect.errors import FormulaError, NotBuiltError, did_you_mean, listing, near, quoted

LONGEST = 5_000
"""Most characters of one expression."""

LARGEST_POWER = 16
"""Largest exponent."""

# fmt: off
FUNCTIONS = frozenset([
    "abs", "C", "center", "ceil", "cos", "exp", "exp10", "exp2", "expm1", "floor", "I", "log",
    "log10", "log1p", "log2", "scale", "sin", "sqrt", "tan", "tanh",
])
"""Functions that an expression may call, with one argument."""

LATER = frozenset([
    "bs", "cc", "cr", "cs", "te", "poly", "hashed", "lag", "Q", "contr", "Treatment", "Sum",
    "Poly", "Helmert", "Diff", "np",
])
# fmt: on
"""What formulaic offers beyond that."""

_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.BitAnd, ast.BitOr, ast.Invert, ast.UAdd, ast.USub,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Load,
)  # fmt: skip

_BACKTICKED = re.compile(r"`([^`]*)`")


def check_expression(
    expression: str, formula: str, columns: Collection[str], *, trusted: bool = False
) -> tuple[str, ...]:
    """Check one expression of a formula.

    Parameters
    ----------
    expression : str
        As it stands in the formula, for example ``"log(`a b` + 1)"``.
    formula : str
        The whole formula, for the message.
    columns : collection of str
        Names of the columns of the data.
    trusted : bool
        Skip the allow-list: the names of columns are still found, nothing is refused.

    Returns
    -------
    tuple of str
        Columns that the expression reads, in order of appearance, each once.

    Raises
    ------
    FormulaError
        If the expression does anything but arithmetic, comparison and calls of
        :data:`FUNCTIONS` on columns and constants; if it reads what is no column; if a column
        has the name of a function that the expression calls.
    NotBuiltError
        If it calls a function of formulaic that this version does not offer.
    """
    if len(expression) > LONGEST and not trusted:
        raise FormulaError(
            f"An expression in a formula must have at most {LONGEST} characters.\n"
            f"  Found {len(expression)}, beginning {expression[:40]!r}."
        )
    code, aliases = without_backticks(expression)
    try:
        tree = ast.parse(code.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError.at(
            f"Can't read the expression {quoted(expression)}.",
            formula,
            expression,
            f"Python says: {error}.",
        ) from None
    if trusted:
        names = [aliases.get(n.id, n.id) for n in ast.walk(tree) if isinstance(n, ast.Name)]
        return tuple(dict.fromkeys(name for name in names if name in columns))
    visitor = _Checker(expression, formula, columns, aliases, tree.body)
    visitor.visit(tree.body)
    return tuple(dict.fromkeys(visitor.variables))


def formula_name(column: str) -> str:
    """A column's name as a formula needs it: between backticks unless it is an identifier."""
    plain = column.isidentifier() and not keyword.iskeyword(column)
    return column if plain else f"`{column}`"


def without_backticks(expression: str) -> tuple[str, dict[str, str]]:
    """Python code for an expression, and the column behind each name that replaced backticks."""
    aliases: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        name = next((a for a, c in aliases.items() if c == match[1]), None)
        if name is None:
            name = f"_column_{len(aliases)}"
            while name in expression:
                name += "_"
            aliases[name] = match[1]
        return name

    return _BACKTICKED.sub(replace, expression), aliases


class _Checker(ast.NodeVisitor):
    """Walks an expression; whatever has no ``visit_`` method here is refused."""

    def __init__(
        self,
        expression: str,
        formula: str,
        columns: Collection[str],
        aliases: Mapping[str, str],
        whole: ast.expr,
    ) -> None:
        self._expression, self._formula = expression, formula
        self._columns, self._aliases, self._whole = columns, aliases, whole
        self.variables: list[str] = []

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, _OPERATORS):
            self._refuse(_SAID.get(type(node).__name__, f"a {type(node).__name__}"))

    def visit_Name(self, node: ast.Name) -> None:
        name = self._aliases.get(node.id, node.id)
        if name not in self._columns:
            if node.id.startswith("__"):
                self._refuse(f"the name {quoted(node.id)}")
            raise FormulaError.unknown_column(name, self._formula, self._columns)
        if keyword.iskeyword(name):  # evaluated, `True` would be the constant, not the column
            raise FormulaError.at(
                f"Can't use the column {quoted(name)} in an expression.",
                self._formula,
                self._expression,
                "Columns named like a Python keyword can't stand in an expression: rename it, for"
                f" example to {quoted(name + '_')}.",
            )
        self.variables.append(name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = ast.unparse(node)
        if name in self._columns:  # R users write Sepal.Length
            raise FormulaError.at(
                f"The column {quoted(name)} must stand between backticks in an expression.",
                self._formula,
                name,
                f"Write {self._expression.replace(name, quoted(name))}.",
            )
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._refuse(f"the text {node.value!r} outside a comparison")
        if not isinstance(node.value, bool | int | float):
            self._refuse(f"the constant {node.value!r}")

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) > 1:
            self._refuse("a chained comparison; write `(a < x) & (x < b)`")
        self.generic_visit(node.ops[0])
        for side in (node.left, *node.comparators):
            if not (isinstance(side, ast.Constant) and isinstance(side.value, str)):
                self.visit(side)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.generic_visit(node.op)
        if isinstance(node.op, ast.Pow):
            self._check_power(node)
        self.visit(node.left)
        self.visit(node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.generic_visit(node.op)
        self.visit(node.operand)

    def visit_Call(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Name):
            if isinstance(node.func, ast.Attribute) and _root(node.func) in LATER:
                self._not_built(ast.unparse(node.func))
            self.visit(node.func)
            self._refuse("a call of something that is not a function's name")
            return
        name = node.func.id
        if name in LATER:
            self._not_built(name)
        if name not in FUNCTIONS:
            close = near(name, FUNCTIONS)
            raise FormulaError.at(
                f"Can't call {quoted(name)} in a formula.",
                self._formula,
                name,
                did_you_mean(close) if close else f"Allowed: {listing(sorted(FUNCTIONS), 99)}.",
                "Anything else: compute the column beforehand, or pass `trusted=True` for a"
                " formula that you wrote yourself.",
            )
        if name in self._columns:
            raise FormulaError.at(
                f"Can't tell the column {quoted(name)} from the function {quoted(name)}.",
                self._formula,
                name,
                f"Rename the column, for example to {quoted(name + '_')}.",
            )
        if node.keywords or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            if name == "C":
                self._not_built("C() with levels or contrasts")
            self._refuse(f"a call of {quoted(name)} with other than one plain argument")
        if name == "C" and node is not self._whole:
            self._refuse("`C()` inside an expression; it must be the whole term")
        self.visit(node.args[0])

    def _check_power(self, node: ast.BinOp) -> None:
        exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
        fixed = isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float)
        if not fixed or abs(exponent.value) > LARGEST_POWER:  # type: ignore[attr-defined]
            self._refuse(f"an exponent that is not a number of at most {LARGEST_POWER}")
        if not any(isinstance(n, ast.Name) for n in ast.walk(node.left)):
            self._refuse("a power of a constant")

    def _refuse(self, what: str) -> None:
        raise FormulaError.at(
            f"The formula must not contain {what}.",
            self._formula,
            self._expression,
            "Allowed are columns, numbers, arithmetic, comparisons, `&`, `|`, `~` and the functions"
            f" {', '.join(sorted(FUNCTIONS))}.",
            "For a formula that you wrote yourself, pass `trusted=True`.",
        )

    def _not_built(self, name: str) -> None:
        raise NotBuiltError(
            f"{quoted(name)} in a formula is not built yet.\n"
            f"  {self._formula}\n"
            "  Compute its columns beforehand and name them in `groups`, to be selected as one."
        )


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


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
