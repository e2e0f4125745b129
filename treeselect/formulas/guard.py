"""Names and texts between quotation marks, taken out of a formula before anything reads it.

`` `a b` `` and ``'north'`` become identifiers of our own, so that no parser behind this one ever
sees a quotation mark or has to agree on where a quotation ends.
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
import unicodedata
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from treeselect.errors import FormulaError, listing, quoted
from treeselect.formulas.habits import said_of
from treeselect.formulas.reader import LARGEST_NUMBER, SPECIAL, Reader
from treeselect.formulas.terms import Code, Column, Factor, Node, Term, Token, variables
from treeselect.frames.values import formula_name
from treeselect.quiet import own_filters
from treeselect.shown import is_broken

LONGEST_TEXT = 5_000
"""Most characters of one name, text between quotation marks, or expression."""

_PARTS = re.compile(r"""`[^`]*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[`'"]""", re.DOTALL)

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00[01][0-9a-fA-F]{5}|.)", re.DOTALL)

_ESCAPES = {
    r"\\": "\\", r"\'": "'", r"\"": '"', r"\n": "\n", r"\r": "\r", r"\t": "\t"
}  # fmt: skip

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A formula without quotations.

    Attributes
    ----------
    code : str
        The formula, an identifier in the place of each quotation.
    columns, words : mapping of str to str
        Name between backticks, or text between quotes, by identifier.
    prefix : str
        Beginning of all identifiers; it stands nowhere in the formula.
    """

    code: str
    columns: Mapping[str, str]
    words: Mapping[str, str]
    prefix: str
    _written: Mapping[str, str] = field(repr=False)

    def restore(self, code: str) -> str:
        """A part of the code as the user wrote it."""
        return re.sub(rf" ?({self.prefix}\d+_) ?", lambda found: self._written[found[1]], code)


def too_long(expression: str) -> FormulaError:
    """The error for an expression of too many characters."""
    return FormulaError(
        f"An expression in a formula must have at most {LONGEST_TEXT:,} characters.\n"
        f"  Found: {len(expression):,}, beginning {expression[:40]!r}."
    )


def unquote(formula: str) -> Unquoted:
    """Take names between backticks and texts between quotes out of a formula."""
    taken = set(re.findall(r"_q(\d+)_", formula))
    prefix = next(f"_q{i}_" for i in itertools.count() if str(i) not in taken)
    columns: dict[str, str] = {}
    words: dict[str, str] = {}
    written: dict[str, str] = {}
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        part = match[0]
        if part not in known:
            name = f"{prefix}{len(known)}_"
            if part[0] == "`":
                columns[name] = _column(part, formula)
            else:
                words[name] = _word(part, formula, match.start())
            known[part] = name
            written[name] = part
        elif part[0] != "`":
            _check_prefix(part, formula, match.start())
        return f" {known[part]} "

    return Unquoted(_PARTS.sub(replace, formula), columns, words, prefix, written)


def _column(part: str, formula: str) -> str:
    if part == "`":
        raise FormulaError.at("A name in backticks must end with a backtick.", formula, part)
    _check_length(part, "name", formula)
    return part[1:-1]


def _word(part: str, formula: str, start: int) -> str:
    if len(part) == 1:
        raise FormulaError.at(
            f"Text in a formula must end with the quotation mark it begins with, {part}.",
            formula,
            part,
            "Put a column name that contains a quotation mark in backticks.",
        )
    _check_prefix(part, formula, start)
    _check_length(part, "text", formula)
    word = _ESCAPE.sub(lambda found: _unescaped(found[0], part, formula), part[1:-1])
    if is_broken(word):
        raise FormulaError.at(
            "Text in a formula must not contain an incomplete character (a lone surrogate).",
            formula,
            part,
        )
    if "`" in word:
        raise FormulaError.at(
            "Text in a formula must not contain a backtick, which encloses column names.",
            formula,
            part,
            "Rename the level, or add the computed column to `data` first.",
        )
    return word


def _unescaped(escape: str, part: str, formula: str) -> str:
    code = int(escape[2:], 16) if len(escape) > 2 else -1
    if escape not in _ESCAPES and not 0 <= code < 0x110000:
        raise FormulaError.at(
            f"Text in a formula must not contain the escape {quoted(escape)}.",
            formula,
            part,
            f"Write a literal backslash twice. Allowed: {listing(_ESCAPES)} and codes such as"
            r" `\x41` and `\u00e9`.",
        )
    return _ESCAPES[escape] if code < 0 else chr(code)


def _check_prefix(part: str, formula: str, start: int) -> None:
    if _WORD.match(formula[start - 1 : start]):
        raise FormulaError.at(
            "Quoted text in a formula must not follow a letter or digit: prefixes, as in f'...' and"
            " b'...', are not supported.",
            formula,
            part,
        )


def _check_length(part: str, kind: str, formula: str) -> None:
    if len(part) > LONGEST_TEXT:
        raise FormulaError.at(
            f"A quoted {kind} in a formula must have at most {LONGEST_TEXT:,} characters.",
            formula,
            part[:LONGEST_TEXT],
            f"Found: {len(part):,}.",
        )


# --- What an expression in a formula may do: arithmetic on columns, and nothing else -------------
# A formula is code. The guard reads an expression once, by the list of what is allowed, and makes
# the records of :mod:`~treeselect.formulas.terms` of it; these are what is evaluated, never the
# text. Only ``trusted=True`` makes a record of code, for what the list refuses.

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
    code: str, unquoted: Unquoted, formula: str, columns: Collection[str], *, trusted: bool = False
) -> Checked:
    """Check one expression of a formula (a part of ``unquoted.code``) and make what can be
    evaluated of it.

    ``trusted=True`` accepts as Python code what the allow-list refuses."""
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


# --- Names and expressions of a formula as identifiers, so that no parser sees what they hold ----


class Identifiers:
    """The columns and expressions of a formula, and the identifiers that stand for them.

    ``c7`` is a column, ``e7`` an expression: the parser multiplies terms out and sees nothing else.
    """

    def __init__(
        self, text: str, unquoted: Unquoted, columns: Sequence[str], trusted: bool
    ) -> None:
        self._text, self._unquoted, self._trusted = text, unquoted, trusted
        self._numbers = {name: i for i, name in enumerate(columns)}
        self._names = list(columns)
        self._factors: dict[str, Factor] = {}
        self._by_name: dict[str, str] = {}

    def column(self, name: str) -> str:
        """The identifier of a column."""
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
            raise FormulaError.at(
                "Can't read the formula: quoted text is allowed only inside an expression.",
                self._text,
                self._unquoted.restore(code).strip(),
                "Put column names in backticks.",
            )
        name = self._unquoted.columns.get(code, code)
        if name not in self._numbers:
            raise FormulaError.unknown_column(name, self._text, self._names)
        return self.column(name)

    def _expression(self, code: str) -> str:
        expression = self._unquoted.restore(code)
        checked = check_expression(
            code, self._unquoted, self._text, self._numbers, trusted=self._trusted
        )
        if not checked.variables:
            raise FormulaError.at(
                f"The expression {quoted(expression)} must use a column of `data`.",
                self._text,
                expression,
            )
        if isinstance(checked.node, Column):
            raise FormulaError.at(
                f"The column {quoted(checked.node.name)} must not be in braces.",
                self._text,
                expression,
                "Write it without them.",
            )
        for name in {expression, checked.name} & self._numbers.keys():
            raise FormulaError.at(
                f"The column {quoted(name)} must not share its name with an expression.",
                self._text,
                expression,
                "Rename the column.",
            )
        if checked.name not in self._by_name:
            identifier = f"e{len(self._by_name)}"
            self._by_name[checked.name] = identifier
            self._factors[identifier] = Factor(checked.name, checked.variables, checked.node)
        return self._by_name[checked.name]

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
        """Those of the formula."""
        return list(self._factors.values())

    def factor(self, identifier: str) -> Factor:
        """Our record of a column or expression."""
        if identifier in self._factors:
            return self._factors[identifier]
        name = self._names[int(identifier[1:])]
        return Factor(name, (name,), Column(name))

    def term(self, identifiers: Sequence[str]) -> Term:
        """Our record of a term."""
        factors = [self.factor(identifier) for identifier in identifiers]
        return Term(":".join(factor.name for factor in factors), tuple(factors))


# --- A new formula in terms of an old one, as R's ``update.formula`` -----------------------------

_DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.])")
"""A dot that stands for a side; not that of ``1.5``, ``.5`` or ``np.log``."""

_SUM = re.compile(r"\s*\.\s*([+-]|$)")
"""A right-hand side that begins with the old one and only adds to it or takes from it."""

_NAME = re.compile(r"\w+|`[^`]*`")


def updated_formula(old: str, new: str) -> str:
    """The new formula, with the sides of the old one in the place of its dots.

    Parameters
    ----------
    old : str
        With a response.
    new : str
        ``"~ . - age"``; without a left-hand side, the response is the old one.

    Examples
    --------
    >>> from treeselect.formulas.guard import updated_formula
    >>> updated_formula("y ~ a + b", "~ . - b")
    'y ~ a + b - b'
    >>> updated_formula("y ~ a + b", "log(.) ~ .:x")
    'log(y) ~ (a + b):x'
    """
    left, right = _sides(old)
    response, terms = _sides(new)
    if not terms.strip():
        raise FormulaError(f"`formula` must have a right-hand side.\n  Found: {new}")
    terms = _put(terms, right, bare=_only_adds(terms))
    inside = "(" in response or response.strip() in ("", ".")
    response = _put(response or ".", left, bare=inside or _NAME.fullmatch(left) is not None)
    return f"{response} ~ {terms}"


def _sides(formula: str) -> tuple[str, str]:
    """What is to the left and to the right of the tilde."""
    plain = unquote(formula)
    parts = plain.code.split("~")
    if len(parts) != 2:
        raise FormulaError(
            f"`formula` must have one `~`, such as `~ . - age` or `log(.) ~ .`.\n  Found: {formula}"
        )
    left, right = (plain.restore(part).strip() for part in parts)
    return left, right


def _only_adds(terms: str) -> bool:
    plain = unquote(terms)
    return _SUM.match(plain.code) is not None and len(_DOT.findall(plain.code)) == 1


def _put(side: str, old: str, *, bare: bool) -> str:
    """A side with the old one in the place of each dot."""
    plain = unquote(side)
    given = old if bare or _NAME.fullmatch(old) else f"({old})"
    parts = _DOT.split(plain.code)
    return given.join(plain.restore(part) for part in parts).strip()
