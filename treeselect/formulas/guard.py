"""What an expression in a formula may do: arithmetic on columns, and nothing else.

A formula is code. The guard reads an expression once, by the list of what is allowed, and makes the
records of :mod:`~treeselect.formulas.terms` of it; these are what is evaluated, never the text.
Only ``trusted=True`` makes a record of code, for what the list refuses.
"""

from __future__ import annotations

import ast
import copy
import re
import unicodedata
import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from treeselect.errors import FormulaError, quoted, shortened
from treeselect.formulas.checks import (
    LONGEST_TEXT,
    Fault,
    Unquoted,
    said_of,
    too_long,
    unknown_column,
    unquote,
)
from treeselect.formulas.reader import LARGEST_NUMBER, SPECIAL, Reader
from treeselect.formulas.terms import Code, Column, Factor, Node, Term, Token, variables
from treeselect.frames.values import formula_name
from treeselect.quiet import own_filters

_KEYWORDS = frozenset(["True", "False", "None"])
"""Constants of Python that a column may be called, too."""

DEEPEST = 200
"""Most operations of one expression that stand inside one another."""


def check_expression(
    code: str, unquoted: Unquoted, columns: Collection[str], *, trusted: bool = False
) -> Factor:
    """Check one expression of a formula (a part of ``unquoted.code``) and make what can be
    evaluated of it, under its name in one form for all spellings: ``log(x + 1)``. ``trusted=True``
    accepts as Python code what the allow-list refuses."""
    code = code.strip()
    expression = unquoted.restore(code).strip()
    if len(expression) > LONGEST_TEXT and not trusted:
        raise too_long(expression)
    tree = _parse(code, expression)
    _check_depth(tree, expression)
    _check_spelling(code, tree, unquoted, expression)
    worded = _Filled(unquoted.words, {}).visit(tree)
    named = _Filled({}, unquoted.columns).visit(copy.deepcopy(worded))
    reader = Reader(expression, columns, named)
    node: Node
    try:
        node = reader.read(named)
    except Fault:
        # Factors are coded by what the guard has read of them, also in a trusted formula, and what
        # is a time or a stratum must be known.
        known = ("C", "hashed", *SPECIAL)
        if not trusted or any(_calls(part, known) for part in ast.walk(named)):
            raise
        node = _trusted_code(worded, reader, unquoted, columns)
    return Factor(ast.unparse(named), variables(node), node)


def _parse(code: str, expression: str) -> ast.expr:
    try:
        with own_filters():
            warnings.simplefilter("ignore", SyntaxWarning)  # as of `1 is x`, which is refused
            return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", "") or str(error) or type(error).__name__
        advice = said_of(expression) or f"Python says: {said}{'' if said.endswith('?') else '.'}"
        problem = f"Can't read the expression {quoted(expression)}."
        raise Fault(problem, expression, advice) from None


def _check_depth(tree: ast.AST, expression: str) -> None:
    """Refuse deep nesting, and numbers of thousands of digits, which Python does not write."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise Fault(
            f"An expression must not nest more than {DEEPEST} operations.",
            expression,
            "Add the computed column to `data` first.",
        )
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else 0
        if isinstance(value, int) and value.bit_length() > 1_000:
            raise Fault(f"A number in a formula must be at most {LARGEST_NUMBER:g}.", expression)


def _check_spelling(code: str, tree: ast.AST, unquoted: Unquoted, expression: str) -> None:
    """Refuse names that Python takes for others: it reads ``µ``, the micro sign, as the letter."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    written = {ast.get_source_segment(code, n) or n.id: n.id for n in names if not code.isascii()}
    columns = [unquoted.columns[node.id] for node in names if node.id in unquoted.columns]
    written |= {c: unicodedata.normalize("NFKC", c) for c in columns if c.isidentifier()}
    for name, read in written.items():
        if name != read:
            raise Fault(
                f"Can't use the name {quoted(name)} in an expression.",
                expression,
                f"Python normalises its characters and reads {quoted(read)}: rename the column.",
            )


class _Filled(ast.NodeTransformer):
    """Puts texts or names that stood between quotation marks into a syntax tree, odd names between
    backticks, so that the tree is written as a formula writes it."""

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


# --- Names and expressions of a formula as identifiers, so that no parser sees what they hold ----


class Identifiers:
    """The columns and expressions of a formula, and the identifiers that stand for them. ``c7`` is
    a column, ``e7`` an expression: the parser multiplies terms out and sees nothing else."""

    def __init__(self, unquoted: Unquoted, columns: Sequence[str], trusted: bool) -> None:
        self._unquoted, self._trusted = unquoted, trusted
        self._numbers = {name: i for i, name in enumerate(columns)}
        self._names = list(columns)
        self._factors: dict[str, Factor] = {}
        self._by_name: dict[str, str] = {}

    def column(self, name: str) -> str:
        return f"c{self._numbers[name]}"

    def numbered(self, token: Token) -> Token:
        """A token without names and expressions."""
        if token.kind == "name" and token.text != ".":
            return Token(self._name(token.text), "name")
        if token.kind == "python":
            return Token(self._expression(token.text), "name")
        return Token("%in%", "operator") if token.percent else token

    def _name(self, code: str) -> str:
        if code in self._unquoted.words:
            raise Fault(
                "Can't read the formula: quoted text is allowed only inside an expression.",
                self._unquoted.restore(code).strip(),
                "Put column names in backticks.",
            )
        name = self._unquoted.columns.get(code, code)
        if name not in self._numbers:
            raise unknown_column(name, self._names)
        return self.column(name)

    def _expression(self, code: str) -> str:
        expression = self._unquoted.restore(code)
        factor = check_expression(code, self._unquoted, self._numbers, trusted=self._trusted)
        if not factor.variables:
            problem = f"The expression {quoted(expression)} must use a column of `data`."
            raise Fault(problem, expression)
        if factor.is_plain:
            problem = f"The column {quoted(factor.variables[0])} must not be in braces."
            raise Fault(problem, expression, "Write it without them.")
        for name in {expression, factor.name} & self._numbers.keys():
            problem = f"The column {quoted(name)} must not share its name with an expression."
            raise Fault(problem, expression, "Rename the column.")
        if factor.name not in self._by_name:
            identifier = f"e{len(self._by_name)}"
            self._by_name[factor.name] = identifier
            self._factors[identifier] = factor
        return self._by_name[factor.name]

    def restore(self, message: str) -> str:
        """A message of the parser with names in the place of identifiers."""
        return re.sub(r"\b[ce]\d+\b", lambda found: self.factor(found[0]).name, message)

    def on_the_left(self, tokens: Sequence[Token]) -> list[str]:
        """Identifiers of the columns that the left-hand side reads; ``.`` leaves them out."""
        left = [token.text for token in takewhile(lambda t: t.text != "~", tokens)]
        named = [part for part in left if re.fullmatch(r"[ce]\d+", part)]
        return [self.column(v) for part in named for v in self.factor(part).variables]

    @property
    def expressions(self) -> list[Factor]:
        return list(self._factors.values())

    def factor(self, identifier: str) -> Factor:
        if identifier in self._factors:
            return self._factors[identifier]
        name = self._names[int(identifier[1:])]
        return Factor(name, (name,), Column(name))

    def term(self, identifiers: Sequence[str]) -> Term:
        factors = [self.factor(identifier) for identifier in identifiers]
        return Term(":".join(factor.name for factor in factors), tuple(factors))


# --- A new formula in terms of an old one, as R's ``update.formula`` -----------------------------

DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.])")
"""A dot that stands for a side; not that of ``1.5``, ``.5`` or ``np.log``."""

_NAME = re.compile(r"\w+|`[^`]*`")


def updated_formula(old: str, new: str) -> str:
    """The new formula, with the sides of the old one in the place of its dots; without a left-hand
    side, the response is the old one: ``~ . - b`` for ``y ~ a + b`` is ``y ~ a + b - b``."""
    left, right = _sides(old)
    response, terms = _sides(new)
    if not terms.strip():
        raise FormulaError(f"`formula` must have a right-hand side.\n  Found: {new}")
    code = unquote(terms).code  # does it begin with the old one, and only add to it or take away?
    only_adds = re.match(r"\s*\.\s*([+-]|$)", code) and len(DOT.findall(code)) == 1
    terms = _put(terms, right, bare=bool(only_adds))
    inside = "(" in response or response.strip() in ("", ".")
    response = _put(response or ".", left, bare=inside)
    return f"{response} ~ {terms}"


def _sides(formula: str) -> tuple[str, str]:
    plain = unquote(formula)
    parts = plain.code.split("~")
    if len(parts) != 2:
        raise FormulaError(
            "`formula` must have one `~`, such as `~ . - age` or `log(.) ~ .`.\n"
            f"  Found: {shortened(formula)}"
        )
    left, right = (plain.restore(part).strip() for part in parts)
    return left, right


def _put(side: str, old: str, *, bare: bool) -> str:
    """A side with the old one in the place of each dot."""
    plain = unquote(side)
    given = old if bare or _NAME.fullmatch(old) else f"({old})"
    return given.join(plain.restore(part) for part in DOT.split(plain.code)).strip()
