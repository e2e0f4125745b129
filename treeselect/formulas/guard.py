"""What an expression in a formula may do: arithmetic on columns, and nothing else.

A formula is code. The guard reads an expression once, by the list of what is allowed, and makes the
records of :mod:`~treeselect.formulas.expressions` of it; these are what is evaluated, never the
text. Only ``trusted=True`` makes a record of code, for what the list refuses.
"""

from __future__ import annotations

import ast
import copy
import unicodedata
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from treeselect.errors import FormulaError, quoted
from treeselect.formulas.allowed import LARGEST_NUMBER, SPECIAL
from treeselect.formulas.expressions import Code, Node, variables
from treeselect.formulas.habits import said_of
from treeselect.formulas.quoting import LONGEST_TEXT, Unquoted, too_long
from treeselect.formulas.reader import Reader
from treeselect.frames.names import formula_name
from treeselect.quiet import own_filters

DEEPEST = 200
"""Most operations of one expression that stand inside one another."""

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
        Accept what the allow-list refuses as a Python expression.

    Raises
    ------
    FormulaError
        If the expression does anything but arithmetic, comparison and calls of functions on columns
        and constants as :mod:`~treeselect.formulas.allowed` lists them; if it reads an unknown
        column; if a column has the name of a function that it calls.
    """
    code = code.strip()
    expression = unquoted.restore(code).strip()
    if len(expression) > LONGEST_TEXT and not trusted:
        raise too_long(expression)
    tree = _parse(code, expression, formula)
    _check_depth(tree, expression, formula)
    _check_digits(tree, expression, formula)
    _check_spelling(code, tree, unquoted, expression, formula)
    worded = _Filled(unquoted.words, {}).visit(tree)
    named = _Filled({}, unquoted.columns).visit(copy.deepcopy(worded))
    reader = Reader(expression, formula, columns, named)
    node: Node
    try:
        node = reader.read(named)
    except FormulaError:
        # Factors are coded by what the guard has read of them, also in a trusted formula, and what
        # is a time or a stratum must be known.
        known = ("C", "hashed", *SPECIAL)
        if not trusted or any(_calls(part, known) for part in ast.walk(named)):
            raise
        node = _trusted_code(worded, reader, unquoted, columns)
    return Checked(ast.unparse(named), node, variables(node))


def _parse(code: str, expression: str, formula: str) -> ast.expr:
    try:
        with own_filters():
            warnings.simplefilter("ignore", SyntaxWarning)  # as of `1 is x`, which is refused
            return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", "") or str(error) or type(error).__name__
        advice = [f"Python says: {said}{'' if said.endswith('?') else '.'}"]
        if in_r := said_of(expression):
            advice = [in_r]
        raise FormulaError.at(
            f"Can't read the expression {quoted(expression)}.", formula, expression, *advice
        ) from None


def _check_depth(tree: ast.AST, expression: str, formula: str) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise FormulaError.at(
        f"An expression must not nest more than {DEEPEST} operations.",
        formula,
        expression,
        "Add the computed column to `data` first.",
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
                f"Python normalises its characters and reads {quoted(read)}: rename the column.",
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


def _trusted_code(
    code: ast.expr, reader: Reader, unquoted: Unquoted, columns: Collection[str]
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
