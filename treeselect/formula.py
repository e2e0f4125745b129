"""R formulas, read by formulaic: the only module that imports it.

formulaic splits a formula into parts, multiplies its terms out and offers its transforms. It never
sees an expression: the guard makes records of these, formulaic gets a number in their place, and
only the records are evaluated (of a formula with ``trusted=True``, code for what the guard
refuses). Plain columns are taken from the frame directly.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from formulaic import Formula, ModelSpec
from formulaic.errors import FormulaicError
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import ASTNode, Token
from formulaic.parser.types import Factor as FormulaicFactor
from formulaic.parser.types import Term as FormulaicTerm
from formulaic.transforms import TRANSFORMS
from formulaic.utils.cast import as_columns
from formulaic.utils.layered_mapping import LayeredMapping
from formulaic.utils.stateful_transforms import stateful_eval

from treeselect.errors import (
    DataError,
    FormulaError,
    did_you_mean,
    listing,
    near,
    quoted,
    shortened,
)
from treeselect.formulas.computing import value_of
from treeselect.formulas.expressions import Code, Column, Contrast, Transform
from treeselect.formulas.guard import ARITHMETIC, check_expression
from treeselect.formulas.quoting import LONGEST_TEXT, Unquoted, unquote
from treeselect.formulas.terms import Factor, Term
from treeselect.frames.values import LARGEST_WHOLE, Labels, Numbers, read_column, to_series

if TYPE_CHECKING:
    import pandas as pd

_PLAIN_OPERATORS = "+-~."

_OPERATORS = frozenset([":", "*", "**", "/", "^", "%in%"])
"""What formulaic reads beyond that."""

_HIGHEST_POWER = 6

_LONG_SUM = 50
"""Number of tokens from which on a formula is read with nested sums."""

LONGEST_FORMULA = 500_000
"""Most characters of a formula."""

_MOST_PRODUCTS = 100_000
"""Most products that the operators of a formula may multiply out."""


@dataclass(frozen=True, slots=True)
class ParsedFormula:
    """A formula for given columns.

    Attributes
    ----------
    text : str
        What the user wrote.
    response : Term
    terms : tuple of Term
        The right-hand side without the intercept, ``.`` written out, in formulaic's order.
    columns : tuple of str
        Columns of the data that it was read for.
    hidden : tuple of str
        Those that ``.`` does not stand for.
    """

    text: str
    response: Term
    terms: tuple[Term, ...]
    columns: tuple[str, ...]
    hidden: tuple[str, ...]


def parse_formula(
    text: str, columns: Sequence[str], *, hidden: Sequence[str] = (), trusted: bool = False
) -> ParsedFormula:
    """Read a formula.

    Parameters
    ----------
    text : str
        ``response ~ terms``.
    columns : sequence of str
        Columns of the data.
    hidden : sequence of str
        Columns that ``.`` does not stand for, such as those with the weights.
    trusted : bool
        Allow any expression.

    Raises
    ------
    FormulaError
        If the formula can't be read or asks for what is not there.
    """
    if not isinstance(text, str):
        raise FormulaError(
            f"`formula` must be text such as 'y ~ .'.\n  Found: {type(text).__name__}."
        )
    unquoted = unquote(text)
    _check_lengths(unquoted, text, columns)
    try:
        tokens = list(tokenize(unquoted.code))
    except FormulaicError as error:
        raise _unreadable(text, error, unquoted.restore) from None
    _check_operators(tokens, text, unquoted)
    _check_names(tokens, text, unquoted, columns, hidden)
    parts = _Parts(text, unquoted, columns, trusted)
    tokens = [parts.numbered(token) for token in tokens]
    visible = [parts.column(c) for c in columns if c not in hidden]
    context: dict[str, Any] = {"__formulaic_variables_available__": visible}
    parser = DefaultFormulaParser()
    try:
        written = " ".join(token.token for token in tokens)
        formulaics = list(parser.get_tokens_from_formula(written, context=context))
        context["__formulaic_variables_used_lhs__"] = parts.on_the_left(tokens)
        tree = parser.get_ast_from_tokens(_balanced(formulaics), context=context)
        _check_size(tree, text, len(visible))
        sides = parser.get_terms_from_ast(tree, context=context)
    except (FormulaicError, RecursionError) as error:
        raise _unreadable(text, error, parts.restore) from None
    if not hasattr(sides, "lhs") or not any(parts.term(t).factors for t in sides.lhs):
        raise FormulaError.at(
            "The formula must name the response on its left.",
            text,
            "~",
            "Write `response ~ terms`.",
        )
    left = [parts.term(t) for t in sides.lhs]
    if len(left) != 1 or left[0].is_interaction:
        raise FormulaError.at(
            "The formula must name one response.",
            text,
            left[-1].name,
            f"Found: {listing(t.name for t in left)}. "
            + ("Select for each of them in turn." if len(left) > 1 else "Write `{a * b}`."),
        )
    _check_removals(tree, context, text, [*left[0].variables, *hidden], parts)
    terms = tuple(parts.term(t) for t in sides.rhs if str(t) != "1")
    if not terms:
        raise FormulaError(
            f"The formula must leave at least one term on its right.\n  {shortened(text)}"
        )
    _check_leak(terms, left[0], text)
    _check_twice(terms, text)
    return ParsedFormula(text, left[0], terms, tuple(columns), tuple(hidden))


def _check_lengths(unquoted: Unquoted, text: str, columns: Sequence[str]) -> None:
    """Names of a million letters are found here; formulaic takes 15 s to read one."""
    for found in re.finditer(r"[\w.]+", unquoted.code):
        name = found[0]
        if len(name) <= LONGEST_TEXT:
            continue
        if name not in columns:
            raise FormulaError.unknown_column(name, text, columns)
        raise FormulaError.at(
            f"A name in a formula must have at most {LONGEST_TEXT:,} characters.",
            text,
            name,
            f"Found: {len(name):,}. Rename the column.",
        )
    if len(text) > LONGEST_FORMULA:
        raise FormulaError(
            f"`formula` must have at most {LONGEST_FORMULA:,} characters.\n  Found: {len(text):,}."
            " With so many columns write `y ~ .` and leave some out, as in `y ~ . - id`."
        )


class _Parts:
    """The columns and expressions of a formula, and the identifiers they have for formulaic.

    ``c7`` is a column, ``e7`` an expression: formulaic multiplies terms out and sees nothing else.
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
        code = token.token
        if token.kind is Token.Kind.NAME and code != ".":
            return Token(self._name(code), kind=Token.Kind.NAME)
        if token.kind is Token.Kind.PYTHON:
            return Token(self._expression(code), kind=Token.Kind.NAME)
        if token.kind is Token.Kind.OPERATOR and _percent(token, self._unquoted):
            return Token("%in%", kind=Token.Kind.OPERATOR)
        return token

    def _name(self, code: str) -> str:
        if code in self._unquoted.words:
            raise FormulaError.at(
                "Can't read the formula: text has a meaning inside of an expression only.",
                self._text,
                self._unquoted.restore(code).strip(),
                "The name of a column stands between backticks.",
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
            raise _not_told_apart(
                checked.node.name, expression, self._text, "Write a column without braces."
            )
        for name in {expression, checked.name} & self._numbers.keys():
            raise _not_told_apart(name, expression, self._text, "Rename the column.")
        if checked.name not in self._by_name:
            identifier = f"e{len(self._by_name)}"
            self._by_name[checked.name] = identifier
            self._factors[identifier] = Factor(checked.name, checked.variables, checked.node)
        return self._by_name[checked.name]

    def restore(self, message: str) -> str:
        """A message of formulaic with names in the place of identifiers."""
        return re.sub(r"\b[ce]\d+\b", lambda found: self.factor(found[0]).name, message)

    def on_the_left(self, tokens: Sequence[Token]) -> list[str]:
        """Identifiers of the columns that the left-hand side reads; ``.`` leaves them out."""
        left = [token.token for token in takewhile(lambda t: t.token != "~", tokens)]
        named = [part for part in left if re.fullmatch(r"[ce]\d+", part)]
        return [self.column(v) for part in named for v in self.factor(part).variables]

    def factor(self, identifier: str) -> Factor:
        """Our record of a column or expression."""
        if identifier in self._factors:
            return self._factors[identifier]
        name = self._names[int(identifier[1:])]
        return Factor(name, (name,), Column(name))

    def term(self, term: Any) -> Term:
        """Our record of a term; a number that scales it is left out: no tree depends on it."""
        lookup = FormulaicFactor.EvalMethod.LOOKUP
        factors = [self.factor(f.expr) for f in term.factors if f.eval_method is lookup]
        return Term(":".join(factor.name for factor in factors), tuple(factors))


def _balanced(tokens: list[Token]) -> list[Token]:
    """The same formula with its long sums in nested parentheses.

    formulaic unites sums from left to right, which takes quadratic time: 10 s for 7,000 names.
    Neither union nor repeated removal depends on how it is nested.
    """
    if len(tokens) < _LONG_SUM:
        return tokens
    opening = next((i for i, t in enumerate(tokens) if t.token == "~"), -1) + 1
    depth = 0
    parts: list[tuple[str, list[Token]]] = [("+", [])]
    for token in tokens[opening:]:
        depth += (token.token in ("(", "[")) - (token.token in (")", "]"))
        sign = token.token if token.kind is Token.Kind.OPERATOR and depth == 0 else ""
        if sign in ("+", "-") and parts[-1][1]:
            parts.append((sign, []))
        elif sign in ("+", "-", "|", "~"):
            return tokens  # a sign before a term, or several parts: leave it as it is
        else:
            parts[-1][1].append(token)
    balanced = tokens[:opening]
    for sign, run in groupby(parts, key=lambda part: part[0]):
        if len(balanced) > opening:
            balanced.append(Token(sign, kind=Token.Kind.OPERATOR))
        balanced += _nested([part for _, part in run])
    return balanced


def _nested(parts: list[list[Token]]) -> list[Token]:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return [
        Token("(", kind=Token.Kind.CONTEXT),
        *_nested(parts[:half]),
        Token("+", kind=Token.Kind.OPERATOR),
        *_nested(parts[half:]),
        Token(")", kind=Token.Kind.CONTEXT),
    ]


def _unreadable(text: str, error: Exception, restore: Callable[[str], str]) -> FormulaError:
    said = str(error).split("\n")[0].replace("⧛", "").replace("⧚", "")
    if "context marker" in said:
        said = "A parenthesis, bracket or brace has no partner."
    said = shortened(restore(said)) or type(error).__name__
    return FormulaError(f"Can't read the formula.\n  {shortened(text)}\n  {said}")


def _percent(token: Token, unquoted: Unquoted) -> str:
    """An operator between percent signs as it is written; formulaic drops the signs."""
    start = token.source_start or 0
    if unquoted.code[start : start + 1] != "%":
        return ""
    return unquoted.restore(unquoted.code[start : unquoted.code.find("%", start + 1) + 1])


def _check_operators(tokens: Sequence[Token], text: str, unquoted: Unquoted) -> None:
    depth = sum(token.token in ("(", "[") for token in tokens)
    if depth > 50:
        raise FormulaError("The formula must not open more than 50 parentheses.")
    if sum(t.token == "~" and t.kind is Token.Kind.OPERATOR for t in tokens) > 1:
        raise FormulaError.at("The formula must have one `~`.", text, "~")
    for token in tokens:
        if token.kind is Token.Kind.OPERATOR:
            percent = _percent(token, unquoted)
            for sign in [percent] if percent else token.token.split():
                _check_operator(sign, text)
        elif token.kind is Token.Kind.CONTEXT and token.token in ("[", "]"):
            raise FormulaError.at(
                "The formula must have one stage.",
                text,
                token.token,
                "Square brackets, for formulas in stages, have no meaning here.",
            )
    _check_powers(tokens, text, unquoted)


def _check_operator(sign: str, text: str) -> None:
    core = sign.strip(_PLAIN_OPERATORS)  # the tokenizer may join signs, as in `~-`
    if core == "|":
        raise FormulaError.at(
            "The formula must have one right-hand side.",
            text,
            sign,
            "Parts behind `|` have no meaning here: join the terms by `+`.",
        )
    if core and core not in _OPERATORS:
        raise FormulaError.at(
            f"A formula has no operator {quoted(sign)}.",
            text,
            sign,
            "Terms are joined by `+`, `:`, `*`, `/`, `^` and `%in%`; arithmetic and"
            " comparisons stand between `I(` and `)`, for example `I(age > 40)`.",
        )


def _check_size(tree: Any, text: str, n_columns: int) -> None:
    """Refuse formulas that stand for more terms than any memory holds."""
    sizes: dict[int, float] = {}
    for node in reversed(list(_nodes(tree))):
        args = [sizes[id(arg)] if isinstance(arg, ASTNode) else 1.0 for arg in node.args]
        sign = str(node.operator)
        if sign == ".":
            size = float(n_columns)
        elif sign == ":":
            size = math.prod(args)
        elif sign == "*":
            size = math.prod(a + 1.0 for a in args)
        elif sign in ("**", "^"):
            size = args[0] ** int(str(node.args[1]))
        else:
            size = sum(args)
        if size > _MOST_PRODUCTS:
            raise FormulaError(
                f"The formula must stand for at most {_MOST_PRODUCTS:,} products of terms.\n"
                f"  {text if len(text) < 200 else text[:200] + ' ...'}\n  Found: about {size:,.0f},"
                f" from the operator {quoted(sign)}. Trees find interactions among plain terms by"
                " themselves: write the terms with `+`."
            )
        sizes[id(node)] = size


def _check_powers(tokens: Sequence[Token], text: str, unquoted: Unquoted) -> None:
    """A sum to a high power has more terms than any memory holds."""
    for i, token in enumerate(tokens):
        if token.token not in ("^", "**") or token.kind is not Token.Kind.OPERATOR:
            continue
        exponent = tokens[i + 1].token if i + 1 < len(tokens) else ""
        plain = exponent.isdecimal() and 1 <= int(exponent[:9]) <= _HIGHEST_POWER
        again = i + 2 < len(tokens) and tokens[i + 2].token in ("^", "**")
        if not plain or again:
            raise FormulaError.at(
                f"The exponent must be a whole number from 1 to {_HIGHEST_POWER}.",
                text,
                unquoted.restore(exponent).strip(),
                "A power has no power of its own: write `(a + b)^3`."
                if again
                else "`(a + b)^2` stands for the terms and their interactions of two.",
            )


def _check_names(
    tokens: Sequence[Token],
    text: str,
    unquoted: Unquoted,
    columns: Sequence[str],
    hidden: Sequence[str],
) -> None:
    """No column may have a name that a formula takes for something else."""
    named = {
        unquoted.columns.get(token.token, token.token)
        for token in tokens
        if token.kind is Token.Kind.NAME and token.token != "."
    }
    if any(token.token == "." for token in tokens):
        named.update(c for c in columns if c not in hidden)
    for name, other in _SIGNS.items():
        if name in named:
            raise FormulaError.at(
                f"Can't tell the column {quoted(name)} from {other}.",
                text,
                quoted(name),
                "Rename the column, for example to `x1`.",
            )
    if "" in named or "" in unquoted.columns.values():
        raise FormulaError.at(
            "Columns in a formula must have a name.", text, "``", "Rename the column."
        )
    odd = sorted(name for name in named if "`" in name)
    if odd:
        raise FormulaError(
            "Columns in a formula must not have a backtick in their name.\n"
            f"  Found: {', '.join(map(repr, odd[:5]))}. Rename the column."
        )


_SIGNS = {
    "1": "the intercept",
    ".": "the sign for all columns",
    "~": "the sign between response and terms",
}


def _not_told_apart(name: str, expression: str, text: str, way: str) -> FormulaError:
    problem = f"Can't tell the column {quoted(name)} from the expression."
    return FormulaError.at(problem, text, expression, way)


def _check_removals(
    tree: Any, context: Mapping[str, Any], text: str, free: Sequence[str], parts: _Parts
) -> None:
    """Every ``- x`` must remove something: formulaic ignores a misspelt one in silence."""
    for node in _nodes(tree):
        if str(node.operator) != "-" or len(node.args) != 2:
            continue
        before, after = (set(arg.to_terms(context=context)) for arg in node.args)
        lost = {parts.term(t).name for t in after - before if str(t) != "1"} - set(free)
        kept = sorted(parts.term(t).name for t in before if str(t) != "1") if lost else []
        for name in sorted(lost):
            close = near(name, kept)
            raise FormulaError.at(
                f"Can't remove {quoted(name)}: the terms before it do not have it.",
                text,
                name,
                did_you_mean(close)
                if close
                else f"Terms before it: {listing(kept)}."
                if kept
                else "No term stands before it: write removals last, as in `y ~ . - x`.",
            )


def _nodes(tree: Any) -> Iterator[ASTNode]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ASTNode):
            yield node
            waiting.extend(node.args)


def _check_leak(terms: Sequence[Term], response: Term, text: str) -> None:
    """The response must not explain itself."""
    for term in terms:
        shared = set(term.variables) & set(response.variables)
        if shared:
            raise FormulaError.at(
                f"The term {quoted(term.name)} must not use the response.",
                text,
                term.name,
                f"{listing(sorted(shared))} stands on both sides. Leave it out on the right.",
            )


def _check_twice(terms: Sequence[Term], text: str) -> None:
    """A column called ``a:b`` beside the interaction ``a:b``: nothing could tell them apart."""
    keys = Counter(term.key for term in terms)
    names = Counter(term.name for term in terms)
    for term in terms:
        if keys[term.key] > 1 or names[term.name] > 1:
            raise FormulaError.at(
                f"Can't tell the column {quoted(term.key)} from the interaction.",
                text,
                quoted(term.key),
                "Rename the column.",
            )


# --- evaluation --------------------------------------------------------------------------------


def transformed(
    node: Transform, values: pd.Series[Any], state: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """What one of formulaic's transforms makes of a column.

    Parameters
    ----------
    node : Transform
        Of the guard.
    values : pandas.Series
        Without missing values.
    state : dict
        What transforms learned, by their texts; filled if there is nothing, else replayed.

    Returns
    -------
    columns : dict of str to array-like
        A single column has the name ``""``, one of several that by which formulaic tells it from
        the others.
    categorical : bool
        Whether formulaic would take the values for categories.
    """
    return _columns_of(_transform(node, values, state))


def _transform(node: Transform, values: Any, state: dict[str, Any]) -> Any:
    function = TRANSFORMS[node.function]
    options = {name: _option(value) for name, value in node.options}
    if node.function == "hashed":
        values = _as_text(values)
    elif node.function != "C":
        values = values.astype(np.float64)  # powers of whole numbers overflow
    if getattr(function, "__is_stateful_transform__", False):
        options["_state"] = state.setdefault(node.text, {})
    with _quiet():
        return function(values, **options)


def _as_text(values: pd.Series[Any]) -> pd.Series[Any]:
    """What is hashed: 1 and 1.0 are the same, whatever type a column has in other data."""
    if values.dtype.kind not in "iuf":
        return values
    import pandas as pd

    text = [
        str(int(v)) if v == np.floor(v) and abs(v) < LARGEST_WHOLE else repr(float(v))
        for v in values
    ]
    return pd.Series(text, values.index, dtype=object)


def _option(value: object) -> Any:
    """An argument of a transform; lists are tuples in our records."""
    if isinstance(value, Contrast):
        family, _, name = value.name.partition(".")
        made = getattr(TRANSFORMS["contr"], name) if name else TRANSFORMS[family]
        return made(*value.arguments, **dict(value.options))
    return list(value) if isinstance(value, tuple) else value


@contextmanager
def _quiet() -> Iterator[None]:
    """Without words about infinite values, which are found afterwards, or formulaic's future."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _columns_of(result: Any) -> tuple[dict[str, Any], bool]:
    columns = as_columns(result)
    metadata = getattr(result, "__formulaic_metadata__", None)
    categorical = metadata is not None and metadata.kind is FormulaicFactor.Kind.CATEGORICAL
    if not isinstance(columns, dict):
        return {"": getattr(columns, "__wrapped__", columns)}, categorical
    named = {str(k): v for k, v in columns.items() if not str(k).startswith("__")}
    return named, categorical


def run_trusted(
    node: Code, environment: Mapping[str, Any], state: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Values of an expression of a formula that the user trusts: it may do anything.

    Parameters
    ----------
    node : Code
    environment : mapping of str to pandas.Series
        Columns of the data, by their names; of the caller's variables nothing is seen.
    state : dict
        As in :func:`transformed`.

    Returns
    -------
    columns, categorical
        As in :func:`transformed`.
    """
    return _columns_of(_run(node, environment, state))


def _run(node: Code, environment: Mapping[str, Any], state: dict[str, Any]) -> Any:
    own = {"exp10": lambda x: 10.0**x}  # formulaic's own is the tenth power
    functions = {**TRANSFORMS, **{name: getattr(np, name) for name in ARITHMETIC if name not in
                 ("I", "exp10")}, **own, "np": np}  # fmt: skip
    known = {name: environment[column] for name, column in node.aliases}
    quoted_name = {"Q": environment.__getitem__}
    with _quiet():
        return stateful_eval(
            node.text,
            LayeredMapping(known, environment, quoted_name, functions),
            {},
            state,
            ModelSpec(formula=[]),
        )


# --- formulaic's own matrix --------------------------------------------------------------------


def _for_formulaic(series: pd.Series[Any], name: str) -> pd.Series[Any]:
    """A column without missing values, of a type that formulaic knows.

    It takes `string` and Arrow text for numbers and passes them through as they are.
    """
    if isinstance(series.dtype, np.dtype) and series.dtype != object:
        return series
    column = read_column(series, name)
    if isinstance(column, Labels):
        return series if column.declared else series.astype(object)
    return series.astype("bool" if column.is_bool else "int64" if column.is_integer else "float64")


def model_matrix(
    text: str,
    frame: pd.DataFrame,
    terms: Sequence[Term],
    *,
    full_rank: bool = False,
) -> pd.DataFrame:
    """What formulaic builds of these terms: the definition of our columns.

    Parameters
    ----------
    text : str
        The formula, for messages.
    frame : pandas.DataFrame
        Rows without missing values in the variables of the terms.
    terms : sequence of Term
    full_rank : bool
        Drop a reference level of each factor, as a linear model with an intercept needs.
    """
    matrix = _matrix(text, frame, terms, full_rank=full_rank)
    return matrix.drop(columns="Intercept") if full_rank else matrix


def term_matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term]
) -> tuple[pd.DataFrame, list[int]]:
    """The matrix of a linear model of these terms, and the term of each of its columns.

    Parameters
    ----------
    text, frame, terms
        As in :func:`model_matrix`.

    Returns
    -------
    matrix : pandas.DataFrame
        Of full rank as far as formulaic can tell from the formula; the intercept comes first.
    term_of : list of int, length n_columns
        Number of the term, -1 for the intercept.

    Raises
    ------
    DataError
        If formulaic can't make the columns of these rows.
    """
    import pandas as pd

    if not terms:
        return pd.DataFrame({"Intercept": np.ones(len(frame))}, index=frame.index), [-1]
    try:
        matrix = _matrix(text, frame, terms, full_rank=True)
        values = np.asarray(matrix, np.float64)
    except (FormulaicError, ValueError) as error:
        said = str(error).split("\n")[0]
        raise DataError(
            f"Can't make the columns of a linear model of {listing(t.name for t in terms)}.\n"
            f"  {len(frame):,} rows without missing values; formulaic says: {said}"
        ) from error
    number = {frozenset(f.name for f in term.factors): i for i, term in enumerate(terms)}
    term_of = [-1] * matrix.shape[1]
    for term, places in matrix.model_spec.term_indices.items():
        for place in places:
            term_of[place] = number.get(frozenset(f.expr for f in term.factors), -1)
    return pd.DataFrame(values, frame.index, list(matrix.columns)), term_of


def _matrix(text: str, frame: pd.DataFrame, terms: Sequence[Term], *, full_rank: bool) -> Any:
    import pandas as pd

    factors = {f.name: f for term in terms for f in term.factors}
    names = list(dict.fromkeys(name for term in terms for name in term.variables))
    frame = pd.DataFrame({name: _for_formulaic(frame[name], name) for name in names})
    values = {name: _for_matrix(f, frame) for name, f in factors.items() if not f.is_plain}
    # The intercept decides whether the first factor, too, gets a reference level.
    one = FormulaicFactor("1", eval_method="literal")
    _check_matrix(terms, frame, values, full_rank=full_rank)
    looked_up = [
        FormulaicTerm([FormulaicFactor(f.name, eval_method="lookup") for f in term.factors])
        for term in terms
    ]
    formula = Formula([FormulaicTerm([one]), *looked_up] if full_rank else looked_up)
    with _quiet():
        matrix = formula.get_model_matrix(
            frame, context=values, ensure_full_rank=full_rank, na_action="ignore"
        )
    if len(matrix) != len(frame):
        raise FormulaError(f"formulaic lost rows of the formula {text!r}.")
    return matrix


_MOST_CELLS = 50_000_000
"""Most values of a matrix of a linear model, 0.4 GB."""


def _check_matrix(
    terms: Sequence[Term], frame: pd.DataFrame, values: Mapping[str, Any], *, full_rank: bool
) -> None:
    """Refuse what formulaic would mix up with its intercept, or fill the memory with."""
    if full_rank and any(f.name == "Intercept" for term in terms for f in term.factors):
        raise DataError(
            "Can't tell the column `Intercept` from the intercept of a linear model.\n"
            "  Rename the column."
        )
    for term in terms:
        n_columns = math.prod(_n_columns(factor, frame, values) for factor in term.factors)
        if n_columns * max(len(frame), 1) > _MOST_CELLS or n_columns > _MOST_PRODUCTS:
            raise DataError(
                f"The term {quoted(term.name)} has too many columns for a linear model.\n"
                f"  Found: {n_columns:,} columns of {len(frame):,} rows. Leave the term out, or"
                " write its factors as terms of their own."
            )


def _n_columns(factor: Factor, frame: pd.DataFrame, values: Mapping[str, Any]) -> int:
    """How many columns formulaic would make of a factor, at most."""
    node = factor.node
    if isinstance(node, Transform) and node.option("levels") is not None:
        levels: Any = node.option("levels")
        return levels if isinstance(levels, int) else len(levels)
    found = frame[factor.name] if factor.is_plain else values[factor.name]
    if isinstance(found, dict):
        return len(found)
    series = _column_of(getattr(found, "__wrapped__", found))
    if isinstance(node, Transform) and node.function == "C":
        return int(series.nunique())
    if series.dtype == "category":
        return len(series.cat.categories)
    return int(series.nunique()) if series.dtype.kind == "O" else 1


def _column_of(values: Any) -> pd.Series[Any]:
    """One column of values of any container; of several, the first."""
    import pandas as pd

    if isinstance(values, pd.Series):
        return values
    array = np.asarray(values)
    return pd.Series(array if array.ndim < 2 else array[:, 0])


def _for_matrix(factor: Factor, frame: pd.DataFrame) -> Any:
    """Values of an expression as formulaic's own evaluation would hand them on."""
    columns = {name: frame[name] for name in factor.variables}
    if isinstance(factor.node, Code):
        return _run(factor.node, columns, {})
    read = {name: read_column(column, name) for name, column in columns.items()}

    def learn(node: Transform, argument: Any) -> Any:
        result = _transform(node, to_series(argument, frame.index), {})
        if node is factor.node:
            return result
        return Numbers(np.asarray(_columns_of(result)[0][""], dtype=np.float64))

    if isinstance(factor.node, Transform) and isinstance(factor.node.argument, Column):
        return _transform(factor.node, columns[factor.node.argument.name], {})
    found = value_of(factor.node, read, learn)
    return to_series(found, frame.index) if isinstance(found, Numbers | Labels) else found
