"""R formulas, read by formulaic: the only module that imports it.

formulaic parses the formula and evaluates real expressions. Plain columns never pass through it:
they are taken from the frame directly, which is faster and avoids most of its silent conversions.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from formulaic import Formula, ModelSpec
from formulaic.errors import FormulaicError
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.sanitize_tokens import sanitize_tokens
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import ASTNode, Token
from formulaic.parser.types import Factor as FormulaicFactor
from formulaic.transforms import TRANSFORMS
from formulaic.utils.cast import as_columns
from formulaic.utils.layered_mapping import LayeredMapping
from formulaic.utils.stateful_transforms import stateful_eval

from treeselect.errors import DataError, FormulaError, did_you_mean, listing, near, quoted
from treeselect.frames import Labels, read_column
from treeselect.guard import ARITHMETIC, CONTRAST_NAMES, LEARNING, NUMPY, check_expression
from treeselect.terms import Factor, Term

if TYPE_CHECKING:
    import pandas as pd

_PLAIN_OPERATORS = "+-~."

_OPERATORS = frozenset([":", "*", "**", "/", "^", "in", "%in%"])
"""What formulaic reads beyond that."""

_HIGHEST_POWER = 6

_LONG_SUM = 50
"""Number of tokens from which on a formula is read with nested sums."""

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
    try:
        tokens = list(tokenize(text))
    except FormulaicError as error:
        raise _unreadable(text, error) from None
    _check_operators(tokens, text)
    _check_names(tokens, text, columns, hidden)
    factors = _check_tokens(tokens, text, columns, trusted)
    context: dict[str, Any] = {
        "__formulaic_variables_available__": [c for c in columns if c not in hidden]
    }
    parser = DefaultFormulaParser()
    try:
        tree = parser.get_ast_from_tokens(
            _balanced(list(parser.get_tokens_from_formula(text, context=context))), context=context
        )
        _check_size(tree, text, len(context["__formulaic_variables_available__"]))
        sides = parser.get_terms_from_ast(tree, context=context)
    except (FormulaicError, RecursionError) as error:
        raise _unreadable(text, error) from None
    if not hasattr(sides, "lhs") or not any(_term(t, factors).factors for t in sides.lhs):
        raise FormulaError.at(
            "The formula must name the response on its left.",
            text,
            "~",
            "Write `response ~ terms`.",
        )
    left = [_term(t, factors) for t in sides.lhs]
    if len(left) != 1 or left[0].is_interaction:
        raise FormulaError.at(
            "The formula must name one response.",
            text,
            left[-1].name,
            f"Found: {listing(t.name for t in left)}. "
            + ("Select for each of them in turn." if len(left) > 1 else "Write `{a * b}`."),
        )
    context["__formulaic_variables_used_lhs__"] = list(left[0].variables)
    _check_removals(tree, context, text, [*left[0].variables, *hidden])
    terms = tuple(_term(t, factors) for t in sides.rhs if str(t) != "1")
    if not terms:
        raise FormulaError(f"The formula must leave at least one term on its right.\n  {text}")
    _check_leak(terms, left[0], text)
    _check_twice(terms, text)
    return ParsedFormula(text, left[0], terms, tuple(columns), tuple(hidden))


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


def _unreadable(text: str, error: Exception) -> FormulaError:
    said = str(error).split("\n")[0].replace("⧛", "").replace("⧚", "")
    if "context marker" in said:
        said = "A parenthesis, bracket or brace has no partner."
    return FormulaError(f"Can't read the formula.\n  {text}\n  {said or type(error).__name__}")


def _check_operators(tokens: Sequence[Token], text: str) -> None:
    depth = sum(token.token in ("(", "[") for token in tokens)
    if depth > 50:
        raise FormulaError("The formula must not open more than 50 parentheses.")
    if sum(t.token == "~" and t.kind is Token.Kind.OPERATOR for t in tokens) > 1:
        raise FormulaError.at("The formula must have one `~`.", text, "~")
    for token in tokens:
        if token.kind is Token.Kind.OPERATOR:
            for sign in token.token.split():
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
        elif token.kind is Token.Kind.CONTEXT and token.token in ("[", "]"):
            raise FormulaError.at(
                "The formula must have one stage.",
                text,
                token.token,
                "Square brackets, for formulas in stages, have no meaning here.",
            )
    _check_powers(tokens, text)


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


def _check_powers(tokens: Sequence[Token], text: str) -> None:
    """A sum to a high power has more terms than any memory holds."""
    for before, after in pairwise(tokens):
        if before.token in ("^", "**") and before.kind is Token.Kind.OPERATOR:
            exponent = after.token
            if not exponent.isdigit() or not 1 <= int(exponent[:9]) <= _HIGHEST_POWER:
                raise FormulaError.at(
                    f"The exponent must be a whole number from 1 to {_HIGHEST_POWER}.",
                    text,
                    exponent,
                    "`(a + b)^2` stands for the terms and their interactions of two.",
                )


def _check_names(
    tokens: Sequence[Token], text: str, columns: Sequence[str], hidden: Sequence[str]
) -> None:
    """No column may have a name that formulaic takes for something else."""
    named = {token.token for token in tokens if token.kind is Token.Kind.NAME}
    if any(t.token == "." and t.kind is not Token.Kind.NAME for t in tokens):
        named.update(c for c in columns if c not in hidden)
    for name, other in _SIGNS.items():
        if name in named:
            raise FormulaError.at(
                f"Can't tell the column {quoted(name)} from {other}.",
                text,
                quoted(name),
                "Rename the column, for example to `x1`.",
            )
    if "``" in text or "" in named:
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


def _check_tokens(
    tokens: Sequence[Token], text: str, columns: Sequence[str], trusted: bool
) -> dict[str, Factor]:
    """The factor of every expression, after the guard has seen them all."""
    known = frozenset(columns)
    factors: dict[str, Factor] = {}
    for token in tokens:
        expression = token.token
        if token.kind is Token.Kind.NAME:
            if expression not in known:
                raise FormulaError.unknown_column(expression, text, columns)
        elif token.kind is Token.Kind.PYTHON:
            _check_no_column(expression, expression, text, known)
            found = check_expression(expression, text, known, trusted=trusted)
            if not found:
                raise FormulaError.at(
                    f"The expression {quoted(expression)} must use a column of `data`.",
                    text,
                    expression,
                )
            try:
                (tidy,) = sanitize_tokens([token])  # as formulaic names the factor
            except SyntaxError:
                raise FormulaError.at(
                    f"Can't read the expression {quoted(expression)}.",
                    text,
                    expression,
                    "Columns named like a Python keyword can't stand in an expression: rename it.",
                ) from None
            _check_no_column(tidy.token, expression, text, known)
            factors[tidy.token] = Factor(tidy.token, found, is_plain=False)
    return factors


def _check_no_column(name: str, expression: str, text: str, columns: frozenset[str]) -> None:
    if name in columns:
        raise FormulaError.at(
            f"Can't tell the column {quoted(name)} from the expression.",
            text,
            expression,
            "Write a column without braces." if name.isidentifier() else "Rename the column.",
        )


def _term(term: Any, expressions: Mapping[str, Factor]) -> Term:
    """Our record of a term; a number that scales it is left out, as no tree depends on it."""
    factors = []
    for factor in term.factors:
        if factor.eval_method is factor.EvalMethod.LOOKUP:
            factors.append(Factor(factor.expr, (factor.expr,), is_plain=True))
        elif factor.eval_method is not factor.EvalMethod.LITERAL:
            factors.append(expressions[factor.expr])
    return Term(":".join(factor.name for factor in factors), tuple(factors))


def _check_removals(tree: Any, context: Mapping[str, Any], text: str, free: Sequence[str]) -> None:
    """Every ``- x`` must remove something: formulaic ignores a misspelt one in silence."""
    for node in _nodes(tree):
        if str(node.operator) != "-" or len(node.args) != 2:
            continue
        before, after = (set(arg.to_terms(context=context)) for arg in node.args)
        kept = sorted({str(t) for t in before} - {"1"})
        for name in sorted({str(t) for t in after - before} - {"1"} - set(free)):
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
    counts = Counter(term.key for term in terms)
    for term in terms:
        if counts[term.key] > 1:
            raise FormulaError.at(
                f"Can't tell the column {quoted(term.key)} from the interaction.",
                text,
                quoted(term.key),
                "Rename the column.",
            )


# --- evaluation --------------------------------------------------------------------------------


def _elementwise() -> dict[str, Any]:
    own = {"I": lambda x: x, "exp10": lambda x: 10.0**x}  # formulaic's exp10 is the tenth power
    return {name: own.get(name) or getattr(np, name) for name in ARITHMETIC}


_FUNCTIONS: dict[str, Any] = {
    **{name: TRANSFORMS[name] for name in (*LEARNING, "contr")},
    **{name: TRANSFORMS[name] for name in CONTRAST_NAMES if "." not in name},
    **_elementwise(),
    "np": SimpleNamespace(**{name: getattr(np, name) for name in NUMPY}),
}


def evaluate_expression(
    expression: str,
    environment: Mapping[str, Any],
    state: dict[str, Any],
    *,
    trusted: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Values of an expression that has passed the guard.

    Parameters
    ----------
    expression : str
    environment : mapping
        Columns of the data; nothing else is seen.
    state : dict
        What transforms such as ``scale`` learned; filled if empty, else replayed.
    trusted : bool
        Offer all that formulaic offers.

    Returns
    -------
    columns : dict of str to array-like
        A single column has the name ``""``, one of several that by which formulaic tells it from
        the others.
    categorical : bool
        Whether formulaic would take the values for categories.
    """
    functions = {**TRANSFORMS, **_FUNCTIONS, "np": np} if trusted else _FUNCTIONS
    quoted_name = {"Q": environment.__getitem__}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stateful_eval(
            expression,
            LayeredMapping(environment, quoted_name, functions),
            {},
            state,
            ModelSpec(formula=[]),
        )
    columns = as_columns(result)
    metadata = getattr(result, "__formulaic_metadata__", None)
    categorical = metadata is not None and metadata.kind is FormulaicFactor.Kind.CATEGORICAL
    if not isinstance(columns, dict):
        return {"": getattr(columns, "__wrapped__", columns)}, categorical
    named = {str(k): v for k, v in columns.items() if not str(k).startswith("__")}
    return named, categorical


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
    trusted: bool = False,
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
    trusted : bool
        As in :func:`evaluate_expression`.
    """
    matrix = _matrix(text, frame, terms, full_rank=full_rank, trusted=trusted)
    return matrix.drop(columns="Intercept") if full_rank else matrix


def term_matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], *, trusted: bool = False
) -> tuple[pd.DataFrame, list[int]]:
    """The matrix of a linear model of these terms, and the term of each of its columns.

    Parameters
    ----------
    text, frame, terms, trusted
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
        matrix = _matrix(text, frame, terms, full_rank=True, trusted=trusted)
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
    return pd.DataFrame(np.asarray(matrix, np.float64), frame.index, list(matrix.columns)), term_of


def _matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], *, full_rank: bool, trusted: bool
) -> Any:
    import pandas as pd

    # The intercept decides whether the first factor, too, gets a reference level.
    formula = Formula(" + ".join(["1" if full_rank else "0", *(t.text for t in terms)]))
    names = list(dict.fromkeys(name for term in terms for name in term.variables))
    frame = pd.DataFrame({name: _for_formulaic(frame[name], name) for name in names})
    functions = _FUNCTIONS | ({"np": np} if trusted else {}) | {"Q": frame.__getitem__}
    with warnings.catch_warnings():
        # pandas and formulaic warn here about their own future, not about the user's data.
        warnings.simplefilter("ignore")
        matrix = formula.get_model_matrix(
            frame, context=functions, ensure_full_rank=full_rank, na_action="ignore"
        )
    if len(matrix) != len(frame):
        raise FormulaError(f"formulaic lost rows of the formula {text!r}.")
    return matrix
