"""R formulas, read by formulaic: the only module that imports it.

formulaic parses the formula and evaluates real expressions. Plain columns never pass through it:
they are taken from the frame directly, which is faster and avoids most of its silent conversions.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from formulaic import Formula, ModelSpec
from formulaic.errors import FormulaicError
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.sanitize_tokens import sanitize_tokens
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import ASTNode, Token
from formulaic.transforms import TRANSFORMS
from formulaic.utils.layered_mapping import LayeredMapping
from formulaic.utils.stateful_transforms import stateful_eval, stateful_transform
from numpy.typing import NDArray

from treeselect.errors import (
    DataError,
    FormulaError,
    NotBuiltError,
    did_you_mean,
    listing,
    near,
    quoted,
)
from treeselect.frames import Labels, Numbers, read_column
from treeselect.guard import check_expression, formula_name, without_backticks

if TYPE_CHECKING:
    import pandas as pd

_PLAIN_OPERATORS = "+-~."

_LATER_OPERATORS = frozenset([":", "*", "**", "/", "^", "|", "in"])
"""What formulaic reads beyond that."""


@dataclass(frozen=True, slots=True)
class Term:
    """One side of the formula is a sum of these: a column, or an expression of columns.

    Attributes
    ----------
    name : str
        As formulaic writes it: ``age``, ``log(fare)``.
    variables : tuple of str
        Columns of the data that it reads.
    is_plain : bool
        Whether it is a column as it is.
    """

    name: str
    variables: tuple[str, ...]
    is_plain: bool

    @property
    def text(self) -> str:
        """The term as a formula needs it: odd columns in backticks, bare expressions in braces."""
        if self.is_plain:
            return formula_name(self.name)
        code = ast.parse(without_backticks(self.name)[0], mode="eval").body
        return self.name if isinstance(code, ast.Call) else f"{{{self.name}}}"

    @property
    def factor_argument(self) -> str | None:
        """The argument of ``C(...)`` if that is what the expression is."""
        if self.is_plain or not self.name.startswith("C("):
            return None
        return self.name[2:-1]


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
    """

    text: str
    response: Term
    terms: tuple[Term, ...]


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
    NotBuiltError
        For interactions and everything else that formulaic reads and this version does not.
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
    variables = _check_tokens(tokens, text, columns, trusted)
    context: dict[str, Any] = {
        "__formulaic_variables_available__": [c for c in columns if c not in hidden]
    }
    parser = DefaultFormulaParser()
    try:
        tree = parser.get_ast(text, context=context)
        sides = parser.get_terms(text, context=context)
    except (FormulaicError, RecursionError) as error:
        raise _unreadable(text, error) from None
    if not hasattr(sides, "lhs") or all(str(t) in ("0", "1") for t in sides.lhs):
        raise FormulaError.at(
            "The formula must name the response on its left.",
            text,
            "~",
            "Write `response ~ terms`.",
        )
    left = [_term(t, variables) for t in sides.lhs]
    if len(left) != 1:
        raise FormulaError.at(
            "The formula must name one response.",
            text,
            left[1].name,
            f"Found: {listing(t.name for t in left)}. Select for each of them in turn.",
        )
    right = sides.rhs
    context["__formulaic_variables_used_lhs__"] = list(left[0].variables)
    _check_removals(tree, context, text, [*left[0].variables, *hidden])
    terms = tuple(_term(t, variables) for t in right if str(t) != "1")
    if not terms:
        raise FormulaError(f"The formula must leave at least one term on its right.\n  {text}")
    _check_leak(terms, left[0], text)
    return ParsedFormula(text, left[0], terms)


def _unreadable(text: str, error: Exception) -> FormulaError:
    said = str(error).split("\n")[0].replace("⧛", "").replace("⧚", "")
    if "context marker" in said:
        said = "A parenthesis, bracket or brace has no partner."
    return FormulaError(f"Can't read the formula.\n  {text}\n  {said or type(error).__name__}")


def _check_operators(tokens: Sequence[Token], text: str) -> None:
    depth = sum(token.token in ("(", "[") for token in tokens)
    if depth > 50:
        raise FormulaError("The formula must not open more than 50 parentheses.")
    if sum(token.token == "~" for token in tokens) > 1:
        raise FormulaError.at("The formula must have one `~`.", text, "~")
    for token in tokens:
        if token.kind is Token.Kind.OPERATOR:
            for sign in token.token.split():
                core = sign.strip(_PLAIN_OPERATORS)  # the tokenizer may join signs, as in `~-`
                if not core:
                    continue
                if core in _LATER_OPERATORS:
                    raise NotBuiltError(
                        f"The operator {quoted(sign)} (interactions, nesting) is not built yet.\n"
                        f"  {text}\n"
                        "  Trees find interactions among plain terms by themselves: write the terms"
                        " with `+`."
                    )
                raise FormulaError.at(
                    f"A formula has no operator {quoted(sign)}.",
                    text,
                    sign,
                    "Terms are joined by `+`; arithmetic and comparisons stand between `I(` and"
                    " `)`, for example `I(age > 40)`.",
                )
        elif token.kind is Token.Kind.CONTEXT and token.token in ("[", "]"):
            raise NotBuiltError(f"Formulas with several stages are not built yet.\n  {text}")


def _check_names(
    tokens: Sequence[Token], text: str, columns: Sequence[str], hidden: Sequence[str]
) -> None:
    """No column may have a name that formulaic takes for something else."""
    named = {token.token for token in tokens if token.kind is Token.Kind.NAME}
    if any(t.token == "." and t.kind is not Token.Kind.NAME for t in tokens):
        named.update(c for c in columns if c not in hidden)
    if "1" in named:
        raise FormulaError(
            f"Can't tell the column `1` from the intercept.\n  {text}\n"
            "  Rename the column, for example to `x1`."
        )
    odd = sorted(name for name in named if "`" in name)
    if odd:
        raise FormulaError(
            "Columns in a formula must not have a backtick in their name.\n"
            f"  Found: {', '.join(map(repr, odd[:5]))}. Rename the column."
        )


def _check_tokens(
    tokens: Sequence[Token], text: str, columns: Sequence[str], trusted: bool
) -> dict[str, tuple[str, ...]]:
    """Variables of every name and expression, after the guard has seen them all."""
    known = frozenset(columns)
    variables: dict[str, tuple[str, ...]] = {}
    for token in tokens:
        expression = token.token
        if token.kind is Token.Kind.NAME:
            if expression not in known:
                raise FormulaError.unknown_column(expression, text, columns)
            variables[expression] = (expression,)
        elif token.kind is Token.Kind.PYTHON:
            if expression in known:
                raise FormulaError.at(
                    f"Can't tell the column {quoted(expression)} from the expression.",
                    text,
                    expression,
                    "Write a column without braces."
                    if expression.isidentifier()
                    else "Rename the column.",
                )
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
            variables[tidy.token] = found
    return variables


def _term(term: Any, variables: Mapping[str, tuple[str, ...]]) -> Term:
    (factor,) = term.factors
    is_plain = factor.eval_method is factor.EvalMethod.LOOKUP
    return Term(factor.expr, (factor.expr,) if is_plain else variables[factor.expr], is_plain)


def _check_removals(tree: Any, context: Mapping[str, Any], text: str, free: Sequence[str]) -> None:
    """Every ``- x`` must remove something: formulaic ignores a misspelt one in silence."""
    for node in _nodes(tree):
        if str(node.operator) != "-" or len(node.args) != 2:
            continue
        kept, removed = ({str(t) for t in arg.to_terms(context=context)} for arg in node.args)
        for name in sorted(removed - kept - {"1"} - set(free)):
            close = near(name, kept)
            before = sorted(kept - {"1"})
            raise FormulaError.at(
                f"Can't remove {quoted(name)}: the terms before it do not have it.",
                text,
                name,
                did_you_mean(close)
                if close
                else f"Terms before it: {listing(before)}."
                if before
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


# --- evaluation --------------------------------------------------------------------------------


@stateful_transform
def _center(data: Any, _state: Any = None) -> Any:
    """Formulaic's ``center``, but a missing value makes only its own row missing."""
    values = np.asarray(data, dtype=np.float64)
    if "mean" not in _state:
        _state["mean"] = float(np.nanmean(values))
    return data - _state["mean"]


@stateful_transform
def _scale(data: Any, _state: Any = None) -> Any:
    """Formulaic's ``scale``, but a missing value makes only its own row missing."""
    values = np.asarray(data, dtype=np.float64)
    if "mean" not in _state:
        _state["mean"] = float(np.nanmean(values))
        _state["sd"] = float(np.nanstd(values, ddof=1))
    return (data - _state["mean"]) / _state["sd"]


_FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("abs", "ceil", "floor", "sqrt", "exp", "expm1")},
    **{name: getattr(np, name) for name in ("log", "log1p", "log2", "log10", "exp2")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "tanh")},
    "exp10": lambda x: 10.0**x,
    "I": lambda x: x,
    "center": _center,
    "scale": _scale,
}


def evaluate(
    term: Term,
    frame: pd.DataFrame,
    state: dict[str, Any],
    *,
    trusted: bool = False,
    columns: Mapping[str, Numbers | Labels],
) -> Numbers | Labels:
    """Values of an expression, row by row; missing wherever one of its columns is missing.

    Parameters
    ----------
    term : Term
        Not plain.
    frame : pandas.DataFrame
        Holds the term's variables.
    state : dict
        What transforms such as ``scale`` learned; filled if empty, else replayed.
    trusted : bool
        Offer formulaic's own transforms, too.
    columns : mapping
        The term's variables in their internal form.

    Raises
    ------
    DataError
        If the result is not one column of numbers or labels, or is not finite where its columns
        are not missing.
    """
    import pandas as pd

    code = term.factor_argument
    missing = np.zeros(len(frame), dtype=bool)
    environment: dict[str, Any] = {}
    for name in term.variables:
        column = columns[name]
        if isinstance(column, Numbers):
            missing |= np.isnan(column.values)
            environment[name] = pd.Series(_for_python(column, term, as_levels=code is not None))
        else:
            missing |= column.codes < 0
            if column.declared:
                _check_not_ordered(term, name)
            environment[name] = frame[name].reset_index(drop=True).astype(object)
    if code is not None and code.strip("` ") in environment:
        return as_factor(columns[code.strip("` ")])
    inner = term.name[2:-1].strip("` ")
    if term.name.startswith("I(") and isinstance(columns.get(inner), Labels):
        return columns[inner]
    if missing.all() and not _LEARNS.search(term.name):
        nothing = Numbers(np.full(len(frame), np.nan))
        return nothing if code is None else as_factor(nothing)
    expression = code if code is not None else term.name
    functions = {**TRANSFORMS, **_FUNCTIONS} if trusted else _FUNCTIONS
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = stateful_eval(
                expression.strip("{}") if expression.startswith("{") else expression,
                LayeredMapping(environment, functions),
                {},
                state,
                ModelSpec(formula=[]),
            )
    except Exception as error:
        raise DataError(
            f"Can't compute the term {quoted(term.name)}.\n  {type(error).__name__}: {error}"
        ) from error
    return _column_of(result, term, missing, as_levels=code is not None)


def _for_python(column: Numbers, term: Term, *, as_levels: bool) -> NDArray[Any]:
    """Values of the type that the user sees, as far as missing values allow."""
    known = ~np.isnan(column.values)
    if column.is_bool and (known.all() or not _LEARNS.search(term.name)):
        # `~` and `&` need truth values; a row with a missing one is set to missing afterwards.
        return np.where(known, column.values, 0.0).astype(bool)
    if as_levels and column.is_integer and known.all() and np.all(abs(column.values) < 2**53):
        return column.values.astype(np.int64)  # the label of C(x % 2) is 0, not 0.0
    return column.values


_LEARNS = re.compile(r"\b(center|scale)\(")


def _check_not_ordered(term: Term, name: str) -> None:
    """Text is compared by the alphabet, ordered categories are not meant so."""
    code, aliases = without_backticks(term.name)
    for node in ast.walk(ast.parse(code.strip(), mode="eval")):
        if not isinstance(node, ast.Compare) or isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        if any(isinstance(n, ast.Name) and aliases.get(n.id, n.id) == name for n in ast.walk(node)):
            raise NotBuiltError(
                f"Comparing categories by their order is not built yet.\n"
                f"  Found: {quoted(term.name)}, where {quoted(name)} is a category.\n"
                "  Name the levels, for example"
                f" `I(({formula_name(name)} == 'a') | ({formula_name(name)} == 'b'))`."
            )


def as_factor(column: Numbers | Labels) -> Labels:
    """``C(x)``: the distinct values as levels."""
    if isinstance(column, Labels):
        return column
    present = ~np.isnan(column.values)
    levels, codes = np.unique(column.values[present], return_inverse=True)
    if column.is_bool or column.is_integer:  # labels as the user and formulaic write them
        levels = levels.astype(bool if column.is_bool else int)
    full = np.full(len(column.values), -1, dtype=np.int64)
    full[present] = codes
    return Labels(full, tuple(levels.tolist()))


def _column_of(
    result: Any, term: Term, missing: NDArray[np.bool_], *, as_levels: bool
) -> Numbers | Labels:
    import pandas as pd

    if isinstance(result, np.ndarray) and result.ndim == 1:
        result = pd.Series(result)
    if not (isinstance(result, pd.Series) and len(result) == len(missing)):
        raise NotBuiltError(
            f"The term {quoted(term.name)} must give one column.\n"
            f"  Found: {type(result).__name__}. Terms of several columns are not built yet."
        )
    if result.dtype == object:
        result = result.infer_objects()
    numeric = pd.api.types.is_numeric_dtype(result.dtype)
    if not numeric:
        labels = read_column(result, term.name)
        if isinstance(labels, Labels):
            return Labels(np.where(missing, -1, labels.codes), labels.levels, labels.declared)
    values = np.array(result.to_numpy(), dtype=np.float64)
    bad = ~np.isfinite(values) & ~missing
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"The term {quoted(term.name)} must be finite wherever its columns are known.\n"
            f"  Found: {values[row]} in row {row} (counted from 0), {int(bad.sum())} such"
            f" row{'s' if bad.sum() > 1 else ''} in all.\n"
            "  Change the expression (`log1p(x)` is finite at 0) or the data."
        )
    values[missing] = np.nan
    column = Numbers(
        values,
        is_bool=bool(pd.api.types.is_bool_dtype(result.dtype)),
        is_integer=bool(pd.api.types.is_integer_dtype(result.dtype)),
    )
    return as_factor(column) if as_levels else column


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
    text: str, frame: pd.DataFrame, terms: Sequence[Term], *, full_rank: bool = False
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
    # The intercept decides whether the first factor, too, gets a reference level.
    formula = Formula(" + ".join(["1" if full_rank else "0", *(t.text for t in terms)]))
    names = dict.fromkeys(name for term in terms for name in term.variables)
    frame = frame.assign(**{name: _for_formulaic(frame[name], name) for name in names})
    with warnings.catch_warnings():
        # pandas and formulaic warn here about their own future, not about the user's data.
        warnings.simplefilter("ignore")
        matrix = formula.get_model_matrix(
            frame, context=_FUNCTIONS, ensure_full_rank=full_rank, na_action="ignore"
        )
    if len(matrix) != len(frame):
        raise FormulaError(f"formulaic lost rows of the formula {text!r}.")
    return matrix.drop(columns="Intercept") if full_rank else matrix
