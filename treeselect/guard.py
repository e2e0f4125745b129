"""What an expression in a formula may do: arithmetic on columns, and nothing else.

A formula is code: formulaic hands its expressions to ``eval``. Every expression passes this
allow-list before anything is evaluated (formulaic evaluates parts of some expressions already
while parsing, so the check comes before that, too).
"""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
from collections.abc import Collection, Mapping

from treeselect.errors import FormulaError, did_you_mean, listing, near, quoted

LONGEST = 5_000
"""Most characters of one expression."""

DEEPEST = 200
"""Most operations of one expression that stand inside one another."""

LARGEST_POWER = 16
"""Largest exponent."""

LARGEST_LIST = 1_000
"""Most numbers in a list of knots, and most degrees of freedom of a spline."""

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

NUMBER, FLAG, WORD = "number", "flag", "word"
NUMBERS, LABELS, CONTRASTS = "numbers", "labels", "contrasts"

_SMOOTH = {
    "df": NUMBER, "knots": NUMBERS, "lower_bound": NUMBER, "upper_bound": NUMBER,
    "constraints": WORD, "extrapolation": WORD,
}

LEARNING: dict[str, dict[str, str]] = {
    "center": {},
    "scale": {"center": FLAG, "scale": FLAG, "ddof": NUMBER},
    "standardize": {"center": FLAG, "rescale": FLAG, "ddof": NUMBER},
    "poly": {"degree": NUMBER, "raw": FLAG},
    "bs": {
        "df": NUMBER, "knots": NUMBERS, "degree": NUMBER, "include_intercept": FLAG,
        "lower_bound": NUMBER, "upper_bound": NUMBER, "extrapolation": WORD,
    },
    "cr": _SMOOTH, "cs": _SMOOTH, "cc": _SMOOTH,
    "hashed": {"levels": NUMBER, "contrasts": CONTRASTS, "spans_intercept": FLAG},
    "C": {"contrasts": CONTRASTS, "levels": LABELS, "spans_intercept": FLAG},
}
"""Functions that look at the whole column: their arguments after the column, and of what kind."""

WHOLE = frozenset(["poly", "bs", "cr", "cs", "cc", "hashed", "C"])
"""Functions that give a factor or several columns and can't stand inside an expression."""

CONTRAST_NAMES = frozenset([
    "contr.treatment", "contr.SAS", "contr.sum", "contr.helmert", "contr.poly", "contr.diff",
    "Treatment", "Sum", "Helmert", "Poly", "Diff",
])
# fmt: on
"""Contrasts of ``C()``. They matter for linear models only: trees use every level."""

FUNCTIONS = frozenset([*ARITHMETIC, *LEARNING, "Q"])
"""All functions that an expression may call."""

_LIMITS = {"levels": 100_000, "degree": 20, "ddof": 1_000, "df": LARGEST_LIST}
"""Largest numbers of some arguments: more would only fill the memory."""

_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.BitAnd, ast.BitOr, ast.Invert, ast.UAdd, ast.USub,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Load,
)  # fmt: skip

_WORD = re.compile(r"\w+")
"""Characters of a name as formulaic reads it: fewer than Python allows."""

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
        :data:`FUNCTIONS` on columns and constants, with arguments as :data:`LEARNING` lists them;
        if it reads what is no column; if a column has the name of a function that it calls.
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
    _check_depth(tree, expression, formula)
    _check_spelling(code.strip(), tree, aliases, expression, formula)
    visitor = _Checker(expression, formula, columns, aliases, tree.body)
    if trusted:
        return visitor.columns_in(tree)
    visitor.visit(tree.body)
    return tuple(dict.fromkeys(visitor.variables))


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


def _check_spelling(
    code: str, tree: ast.AST, aliases: Mapping[str, str], expression: str, formula: str
) -> None:
    """Refuse names that Python takes for others: it reads ``µ``, the micro sign, as the letter."""
    written = {
        ast.get_source_segment(code, node) or node.id: node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not code.isascii()
    }
    written |= {c: unicodedata.normalize("NFKC", c) for c in aliases.values() if c.isidentifier()}
    for name, read in written.items():
        if name != read:
            raise FormulaError.at(
                f"Can't use the name {quoted(name)} in an expression.",
                formula,
                expression,
                f"Python takes some of its characters for others and reads {quoted(read)}:"
                " rename the column.",
            )


def formula_name(column: str) -> str:
    """A column's name as a formula needs it: between backticks unless it is an identifier."""
    plain = column.isidentifier() and not keyword.iskeyword(column) and _WORD.fullmatch(column)
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

    def columns_in(self, tree: ast.AST) -> tuple[str, ...]:
        """Columns that a trusted expression reads; it may do anything with them."""
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in ("C", "hashed"):
                self._check_whole(node, called.id)
            if isinstance(called, ast.Name) and called.id == "Q":
                self._visit_quoted(node)  # type: ignore[arg-type]
            name = self._aliases.get(node.id, node.id) if isinstance(node, ast.Name) else None
            if name in self._columns:
                self._check_keyword(str(name))
                self.variables.append(str(name))
        for constant in (n for n in ast.walk(tree) if isinstance(n, ast.Constant)):
            if str(constant.value) in self._columns and keyword.iskeyword(str(constant.value)):
                self._check_keyword(str(constant.value))
        return tuple(dict.fromkeys(self.variables))

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, _OPERATORS):
            self._refuse(_SAID.get(type(node).__name__, f"a {type(node).__name__}"))

    def visit_Name(self, node: ast.Name) -> None:
        name = self._aliases.get(node.id, node.id)
        if name not in self._columns:
            if node.id.startswith("__"):
                self._refuse(f"the name {quoted(node.id)}")
            raise FormulaError.unknown_column(name, self._formula, self._columns)
        self._check_keyword(name)
        self.variables.append(name)

    def _check_keyword(self, name: str) -> None:
        if keyword.iskeyword(name):  # evaluated, `True` would be the constant, not the column
            raise FormulaError.at(
                f"Can't use the column {quoted(name)} in an expression.",
                self._formula,
                self._expression,
                "Columns named like a Python keyword can't stand in an expression: rename it, for"
                f" example to {quoted(name + '_')}.",
            )

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
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and name.removeprefix("np.") in NUMPY:
            self._check_shadow("np")
            self._visit_arguments(node, name, NUMPY[name.removeprefix("np.")])
            return
        if not isinstance(node.func, ast.Name):
            self.visit(node.func)
            self._refuse("a call of something that is not a function's name")
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
                f"Can't call {quoted(name)} in a formula.",
                self._formula,
                name,
                did_you_mean(close) if close else f"Allowed: {listing(sorted(FUNCTIONS), 99)}.",
                "Anything else: compute the column beforehand, or pass `trusted=True` for a"
                " formula that you wrote yourself.",
            )
        self._check_shadow(name)
        if name == "Q":
            self._visit_quoted(node)
        elif name in ARITHMETIC:
            self._visit_arguments(node, name, ARITHMETIC[name])
        else:
            self._visit_learning(node, name)

    def _check_shadow(self, name: str) -> None:
        if name in self._columns:
            raise FormulaError.at(
                f"Can't tell the column {quoted(name)} from the function {quoted(name)}.",
                self._formula,
                name,
                f"Rename the column, for example to {quoted(name + '_')}.",
            )

    def _check_whole(self, node: ast.AST, name: str) -> None:
        if node is not self._whole:
            self._refuse(f"`{name}()` inside an expression; it must be the whole term")

    def _visit_arguments(self, node: ast.Call, name: str, n: int) -> None:
        """Arguments by position only: `out=` would write, `where=` would leave values unset."""
        if node.keywords or len(node.args) != n:
            plain = "one plain argument" if n == 1 else f"{n} plain arguments"
            self._refuse(f"a call of {quoted(name)} with other than {plain}")
        for argument in node.args:
            self.visit(argument)

    def _visit_quoted(self, node: ast.Call) -> None:
        """``Q("name")``, as patsy has it for odd names."""
        argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
        name = argument.value if isinstance(argument, ast.Constant) else None
        if not isinstance(name, str):
            self._refuse("a call of `Q` with other than one name between quotes")
        if name not in self._columns:
            raise FormulaError.unknown_column(str(name), self._formula, self._columns)
        self.variables.append(str(name))

    def _visit_learning(self, node: ast.Call, name: str) -> None:
        if name in WHOLE:
            self._check_whole(node, name)
        if not node.args or isinstance(node.args[0], ast.Starred):
            self._refuse(f"a call of {quoted(name)} without a column as its first argument")
        allowed = LEARNING[name]
        given = list(zip(allowed, node.args[1:], strict=False))
        if len(given) < len(node.args) - 1:
            self._refuse(f"a call of {quoted(name)} with more than {len(allowed) + 1} arguments")
        for extra in node.keywords:
            if extra.arg not in allowed:
                self._refuse(
                    f"the argument {quoted(extra.arg or '**')} of {quoted(name)}"
                    f" (it has {listing(allowed) if allowed else 'none'})"
                )
            given.append((str(extra.arg), extra.value))
        if name == "hashed" and "levels" not in dict(given):
            self._refuse("a call of `hashed` without its number of levels, as in `hashed(x, 100)`")
        for argument, value in given:
            self._check_argument(name, argument, allowed[argument], value)
        self.visit(node.args[0])

    def _check_argument(self, name: str, argument: str, kind: str, value: ast.expr) -> None:
        if kind == CONTRASTS:
            called = value.func if isinstance(value, ast.Call) else value
            constant = not isinstance(value, ast.Call) or all(
                isinstance(a, ast.Constant)
                for a in [*value.args, *(k.value for k in value.keywords)]
            )
            text = ast.unparse(called)
            if text not in CONTRAST_NAMES or not constant:
                self._refuse(
                    f"the contrasts {quoted(ast.unparse(value))} in {quoted(name)}; trees use every"
                    f" level by itself. It has {listing(sorted(CONTRAST_NAMES))}"
                )
            self._check_shadow(text.split(".")[0])
            return
        try:
            found = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            found = value
        if not _is_of_kind(found, kind):
            self._refuse(
                f"{quoted(ast.unparse(value))} as {quoted(argument)} of {quoted(name)}: it must be"
                f" {_KINDS[kind]}"
            )
        most = _LIMITS.get(argument)
        if most is not None and isinstance(found, int | float) and not 0 <= found <= most:
            self._refuse(
                f"{found} as {quoted(argument)} of {quoted(name)}: it must be from 0 to {most}"
            )

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


_KINDS = {
    NUMBER: "a number",
    FLAG: "True or False",
    WORD: "a word between quotes",
    NUMBERS: f"a list of at most {LARGEST_LIST:,} numbers",
    LABELS: f"a list of at most {LARGEST_LIST:,} labels",
}


def _is_of_kind(value: object, kind: str) -> bool:
    if value is None:
        return True
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == WORD:
        return isinstance(value, str)
    entries = (int, float) if kind == NUMBERS else (int, float, str, bool)
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= LARGEST_LIST
        and all(isinstance(entry, entries) for entry in value)
    )


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
