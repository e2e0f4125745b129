"""R formulas, read by formulaic: the only module that imports it.

formulaic splits a formula into parts, multiplies its terms out and offers its transforms. It never
sees an expression: the guard makes records of these, formulaic gets a number in their place, and
only the records are evaluated (of a formula with ``trusted=True``, code for what the guard
refuses). Plain columns are taken from the frame directly.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from formulaic import Formula, ModelSpec
from formulaic.errors import FormulaicError
from formulaic.materializers.types import FactorValues
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import ASTNode
from formulaic.parser.types import Factor as FormulaicFactor
from formulaic.parser.types import Term as FormulaicTerm
from formulaic.parser.types import Token as FormulaicToken
from formulaic.transforms import TRANSFORMS
from formulaic.utils.cast import as_columns
from formulaic.utils.layered_mapping import LayeredMapping
from formulaic.utils.stateful_transforms import stateful_eval
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.errors import FormulaError, joined, listing, near_or, quoted, shortened
from treeselect.formulas.checks import (
    OPERATORS_OF_R,
    Fault,
    Unquoted,
    check_calls,
    check_kept,
    check_lengths,
    check_names,
    check_neighbours,
    check_operators,
    check_products,
    check_response,
    check_terms,
    plain_strata,
    take_strata,
    underlined,
    unquote,
)
from treeselect.formulas.guard import Identifiers
from treeselect.formulas.reader import ARITHMETIC
from treeselect.formulas.terms import (
    Code,
    Contrast,
    ParsedFormula,
    Term,
    Token,
    Transform,
    balanced,
)
from treeselect.frames.values import LARGEST_WHOLE
from treeselect.quiet import own_filters


def parse_formula(
    text: str, columns: Sequence[str], *, hidden: Sequence[str] = (), trusted: bool = False
) -> ParsedFormula:
    """Read ``response ~ terms`` for data with these columns; ``.`` leaves the hidden ones out.

    ``trusted=True`` allows any expression."""
    if not isinstance(text, str):
        raise FormulaError(
            f"`formula` must be text such as 'y ~ .'.\n  Found: {type(text).__name__}."
        )
    with underlined(text):
        return _parsed(text, columns, hidden, trusted)


def _parsed(
    text: str, columns: Sequence[str], hidden: Sequence[str], trusted: bool
) -> ParsedFormula:
    unquoted = unquote(text)
    check_lengths(unquoted, text, columns)
    if not trusted:
        check_calls(unquoted)
    tokens = _tokens(unquoted, text)
    check_operators(tokens, unquoted)
    check_names(tokens, unquoted, columns, hidden)
    check_neighbours(tokens, text, unquoted)
    names = Identifiers(unquoted, columns, trusted)
    tokens = _numbered(tokens, names, text)
    visible = [names.column(c) for c in columns if c not in hidden]
    context: dict[str, Any] = {"__formulaic_variables_available__": visible}
    parser = DefaultFormulaParser()
    try:
        written = " ".join(token.text for token in tokens)
        read = list(parser.get_tokens_from_formula(written, context=context))
        strata = [names.column(name) for name in plain_strata(names.expressions)]
        context["__formulaic_variables_used_lhs__"] = [*names.on_the_left(tokens), *strata]
        ours = [Token(token.token, token.kind.value) for token in read]
        if (nested := balanced(ours)) != ours:  # long sums in nested parentheses
            read = [FormulaicToken(t.text, kind=t.kind) for t in nested]
        tree = parser.get_ast_from_tokens(read, context=context)
        _check_size(tree, text, len(visible))
        sides = parser.get_terms_from_ast(tree, context=context)
    except (FormulaicError, RecursionError, TypeError) as error:  # the last of `(a - a) / b`
        raise _unreadable(text, error, names.restore) from None
    left = [_term(t, names) for t in getattr(sides, "lhs", ())]
    check_response(left)
    response = left[0]
    free = [*response.variables, *hidden, *plain_strata(names.expressions)]
    _check_removals(tree, context, free, names)
    right = [_term(t, names) for t in sides.rhs if str(t) != "1"]
    terms, strata_of = take_strata(right, response)
    check_terms(terms, response, text)
    one = len(right) < len(sides.rhs)
    return ParsedFormula(text, response, terms, tuple(columns), tuple(hidden), strata_of, one)


_MOST_PROBLEMS = 20
"""After so many the rest of a formula is not read: to find names that resemble each takes time."""


def _numbered(tokens: Sequence[Token], names: Identifiers, text: str) -> list[Token]:
    """Tokens with identifiers for names and expressions; all that can't be read are refused."""
    done: list[Token] = []
    failed: set[Token] = set()
    errors: dict[str, FormulaError] = {}
    for token in tokens:
        try:
            if token not in failed:
                with underlined(text):
                    done.append(names.numbered(token))
        except FormulaError as error:
            failed.add(token)
            errors.setdefault(str(error), error)
            if len(failed) > _MOST_PROBLEMS:
                break
    if errors:
        is_read = len(failed) <= _MOST_PROBLEMS
        what = "The formula" if is_read else "The beginning of the formula"
        raise joined(list(errors.values()), what)
    return done


def _tokens(unquoted: Unquoted, text: str) -> list[Token]:
    found, code = [], unquoted.code
    try:
        for token in tokenize(code):
            start, percent = token.source_start or 0, ""
            if token.kind is FormulaicToken.Kind.OPERATOR and code[start : start + 1] == "%":
                # As it is written: formulaic drops the signs.
                percent = unquoted.restore(code[start : code.find("%", start + 1) + 1])
            found.append(Token(token.token, token.kind.value, percent))
    except FormulaicError as error:
        raise _unreadable(text, error, unquoted.restore) from None
    return found


def _term(term: Any, names: Identifiers) -> Term:
    """Our record of a term; a number that scales it is left out: no tree depends on it."""
    lookup = FormulaicFactor.EvalMethod.LOOKUP
    return names.term([f.expr for f in term.factors if f.eval_method is lookup])


def _unreadable(text: str, error: Exception, restore: Callable[[str], str]) -> FormulaError:
    said = str(error).split("\n")[0].replace("⧛", "").replace("⧚", "")
    if "context marker" in said:
        said = "Unmatched parenthesis, bracket or brace."
    elif isinstance(error, TypeError):
        said = "Nothing is left on one side of `/` or `%in%`."
    elif in_r := next((OPERATORS_OF_R[sign] for sign in ("%%", "%/%") if sign in text), None):
        said = in_r
    said = shortened(restore(said)) or type(error).__name__
    return FormulaError(f"Can't read the formula.\n  {shortened(text)}\n  {said}")


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
        if size > 2 * n_columns:  # `.` alone may stand for any number
            check_products(size, sign, text)
        sizes[id(node)] = size


def _check_removals(
    tree: Any, context: Mapping[str, Any], free: Sequence[str], names: Identifiers
) -> None:
    """Every ``- x`` must remove something: formulaic ignores a misspelt one in silence."""
    for node in _nodes(tree):
        if str(node.operator) != "-":
            continue
        after = set(node.args[-1].to_terms(context=context))
        check_kept(_term(t, names) for t in after)
        if len(node.args) != 2:
            continue
        before = set(node.args[0].to_terms(context=context))
        lost = {_term(t, names).name for t in after - before if str(t) != "1"} - set(free)
        kept = sorted(_term(t, names).name for t in before if str(t) != "1") if lost else []
        for name in sorted(lost):
            way = "There are no terms before it: write removals last, as in `y ~ . - x`."
            way = f"Terms before it: {listing(kept)}." if kept else way
            problem = f"Can't remove {quoted(name)}: it is not among the terms before it."
            raise Fault(problem, name, near_or(name, kept, way))


def _nodes(tree: Any) -> Iterator[ASTNode]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ASTNode):
            yield node
            waiting.extend(node.args)


def transform(node: Transform, values: Any, state: dict[str, Any]) -> Any:
    """The result of one of formulaic's transforms of a column without missing values, for
    :func:`columns_of`; `state` is what transforms learned, filled if empty, else replayed."""
    function = TRANSFORMS[node.function]
    options = {name: _option(value) for name, value in node.options}
    if node.function == "hashed":
        if values.dtype.kind in "iuf":  # 1 and 1.0 are the same, whatever type other data have
            text = [
                str(int(v)) if v == np.floor(v) and abs(v) < LARGEST_WHOLE else repr(float(v))
                for v in values
            ]
            values = pd.Series(text, values.index, dtype=object)
    elif node.function != "C":
        values = values.astype(np.float64)  # powers of whole numbers overflow
    if getattr(function, "__is_stateful_transform__", False):
        options["_state"] = state.setdefault(node.text, {})
    with quiet():
        return function(values, **options)


def _option(value: object) -> Any:
    """An argument of a transform; lists are tuples in our records."""
    if isinstance(value, Contrast):
        family, _, name = value.name.partition(".")
        made = getattr(TRANSFORMS["contr"], name) if name else TRANSFORMS[family]
        return made(*value.arguments, **dict(value.options))
    return list(value) if isinstance(value, tuple) else value


def columns_of(result: Any) -> tuple[dict[str, Any], bool]:
    """The columns of such a result, and whether formulaic would treat them as categories.

    A single column has the name ``""``; several have formulaic's names for them."""
    columns = as_columns(result)
    metadata = getattr(result, "__formulaic_metadata__", None)
    categorical = metadata is not None and metadata.kind is FormulaicFactor.Kind.CATEGORICAL
    if not isinstance(columns, dict):
        return {"": getattr(columns, "__wrapped__", columns)}, categorical
    named = {str(k): v for k, v in columns.items() if not str(k).startswith("__")}
    return named, categorical


def run_trusted(node: Code, environment: Mapping[str, Any], state: dict[str, Any]) -> Any:
    """The value of an expression in a formula that the user trusts: it may do anything with the
    columns in `environment`, but can't see the caller's variables."""
    plain = {name: getattr(np, name) for name in ARITHMETIC - {"I", "exp10"}}
    own = {"exp10": lambda x: 10.0**x, "np": np}  # formulaic's own is the tenth power
    known = {name: environment[column] for name, column in node.aliases}
    quoted_name = {"Q": environment.__getitem__}
    names = LayeredMapping(known, environment, quoted_name, {**TRANSFORMS, **plain, **own})
    with quiet():
        return stateful_eval(node.text, names, {}, state, ModelSpec(formula=[]))


def several_columns(columns: Mapping[str, NDArray[np.float64]]) -> Any:
    """A factor of several numeric columns, called by its own name and what is behind it."""
    return FactorValues(dict(columns), kind=FormulaicFactor.Kind.NUMERICAL, format="{name}{field}")


def formulaic_matrix(
    text: str,
    frame: pd.DataFrame,
    values: Mapping[str, Any],
    terms: Sequence[Term],
    *,
    full_rank: bool,
) -> FormulaicMatrix:
    """formulaic's own matrix of terms, of rows without missing values; `values` are those of the
    factors that are no columns, by name. Of full rank means that the intercept comes first, and
    factors lose a level of reference."""
    # The intercept decides whether the first factor, too, gets a reference level.
    one = FormulaicFactor("1", eval_method="literal")
    looked_up = [
        FormulaicTerm([FormulaicFactor(f.name, eval_method="lookup") for f in term.factors])
        for term in terms
    ]
    formula = Formula([FormulaicTerm([one]), *looked_up] if full_rank else looked_up)
    with quiet():
        matrix = formula.get_model_matrix(
            frame, context=values, ensure_full_rank=full_rank, na_action="ignore"
        )
    if len(matrix) != len(frame):
        raise FormulaError(f"formulaic dropped rows of the formula {text!r}.")
    number = {frozenset(f.name for f in term.factors): i for i, term in enumerate(terms)}
    term_of = [-1] * matrix.shape[1]
    for term, places in matrix.model_spec.term_indices.items():
        for place in places:
            term_of[place] = number.get(frozenset(f.expr for f in term.factors), -1)
    return FormulaicMatrix(matrix, term_of, matrix.model_spec)


# --- A matrix that formulaic made, to make it again from other rows ------------------------------


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings about infinite values, which are found afterwards, or deprecations."""
    with np.errstate(all="ignore"), own_filters():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, slots=True)
class FormulaicMatrix:
    """formulaic's own matrix of terms: the number of the term of each column, -1 for the intercept,
    and how it was made, a ``formulaic.ModelSpec``."""

    matrix: pd.DataFrame
    term_of: list[int]
    spec: Any

    __repr__ = brief

    @property
    def without_rows(self) -> FormulaicMatrix:
        return replace(self, matrix=self.matrix.iloc[:0].copy())

    @property
    def levels(self) -> dict[str, list[Any]]:
        """Levels of each factor that formulaic coded, by its name."""
        states = ((name, state) for name, (_, state) in self.spec.encoder_state.items())
        return {name: list(state["categories"]) for name, state in states if "categories" in state}

    def again(self, frame: pd.DataFrame, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """The columns for other rows, shape (n_rows, n_columns); an unknown label is 0 in all."""
        with quiet():
            found = self.spec.get_model_matrix(frame, context=values, na_action="ignore")
        return np.asarray(found[list(self.matrix.columns)], dtype=np.float64)
