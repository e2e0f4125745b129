"""Checks of a formula that need no parser: lengths, signs, names, and what the terms may share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from treeselect.errors import FormulaError, listing, quoted, shortened
from treeselect.formulas.guard import LONGEST_TEXT, Unquoted, too_long
from treeselect.formulas.habits import OPERATORS_OF_R
from treeselect.formulas.terms import Column, Factor, Strata, Survival, Term, Token, variables

LONGEST_FORMULA = 500_000
"""Most characters of a formula."""

MOST_PRODUCTS = 100_000
"""Most products that the operators of a formula may multiply out."""

_HIGHEST_POWER = 6

_PLAIN_OPERATORS = "+-~."

_OPERATORS = frozenset([":", "*", "**", "/", "^", "%in%"])
"""What a formula has beyond that."""

_SIGNS = {
    "1": "the intercept",
    ".": "the shorthand for all columns",
    "~": "the separator of response and terms",
}


def check_lengths(unquoted: Unquoted, text: str, columns: Sequence[str]) -> None:
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
            " With this many columns, write `y ~ .` and remove some, as in `y ~ . - id`."
        )


def check_neighbours(tokens: Sequence[Token], text: str, unquoted: Unquoted) -> None:
    """Refuse terms without an operator between them here: formulaic takes minutes to find that
    where there are thousands of dots."""
    for one, other in pairwise(tokens):
        if _is_operand(one) and _is_operand(other):
            left, right = (shortened(unquoted.restore(token.text)) for token in (one, other))
            raise FormulaError(
                f"Can't read the formula.\n  {shortened(text)}\n  Missing operator between"
                f" {quoted(left.strip('`'))} and {quoted(right.strip('`'))}."
            )


def _is_operand(token: Token) -> bool:
    return token.text == "." or not (token.is_operator or token.kind == "context")


def check_calls(unquoted: Unquoted) -> None:
    """Refuse calls and braces of too many characters before formulaic reads them, which takes
    quadratic time."""
    code = unquoted.code
    if len(code) <= LONGEST_TEXT:
        return
    opened: list[int] = []
    for found in re.finditer(r"[\w.]*[({]|[)}]", code):
        sign = found[0]
        if sign[-1] in "({":
            # Parentheses without a name before them hold terms, which may be many.
            opened.append(-1 if sign == "(" else found.start())
            continue
        start = opened.pop() if opened else -1
        if start >= 0 and found.end() - start > LONGEST_TEXT:
            expression = unquoted.restore(code[start : found.end()])
            if len(expression) > LONGEST_TEXT:
                raise too_long(expression)


def check_operators(tokens: Sequence[Token], text: str, unquoted: Unquoted) -> None:
    """Refuse operators that a formula does not have, brackets, and too many parentheses."""
    depth = sum(token.text in ("(", "[") for token in tokens)
    if depth > 50:
        raise FormulaError("The formula must have at most 50 opening parentheses.")
    if sum(t.text == "~" and t.is_operator for t in tokens) > 1:
        raise FormulaError.at("The formula must have exactly one `~`.", text, "~")
    for token in tokens:
        if token.is_operator:
            for sign in [token.percent] if token.percent else token.text.split():
                _check_operator(sign, text)
        elif token.kind == "context" and token.text in ("[", "]"):
            raise FormulaError.at(
                "The formula must not contain square brackets.",
                text,
                token.text,
                "Multi-stage formulas are not supported.",
            )
    _check_powers(tokens, text, unquoted)


def _check_operator(sign: str, text: str) -> None:
    core = sign.strip(_PLAIN_OPERATORS)  # the tokenizer may join signs, as in `~-`
    sign = core or sign
    if core == "|":
        raise FormulaError.at(
            "The formula must have one right-hand side.", text, sign, OPERATORS_OF_R["|"]
        )
    if core and core not in _OPERATORS:
        raise FormulaError.at(
            f"`formula` must not contain the operator {quoted(sign)}.",
            text,
            sign,
            OPERATORS_OF_R.get(
                sign,
                "Join terms with `+`, `:`, `*`, `/`, `^` or `%in%`; wrap arithmetic and"
                " comparisons in `I()`, for example `I(age > 40)`.",
            ),
        )


def _check_powers(tokens: Sequence[Token], text: str, unquoted: Unquoted) -> None:
    """A sum to a high power has more terms than any memory holds."""
    for i, token in enumerate(tokens):
        if token.text not in ("^", "**") or not token.is_operator:
            continue
        exponent = tokens[i + 1].text if i + 1 < len(tokens) else ""
        plain = exponent.isdecimal() and 1 <= int(exponent[:9]) <= _HIGHEST_POWER
        again = i + 2 < len(tokens) and tokens[i + 2].text in ("^", "**")
        if not plain or again:
            raise FormulaError.at(
                f"The exponent must be a whole number from 1 to {_HIGHEST_POWER}.",
                text,
                unquoted.restore(exponent).strip(),
                "Powers can't be chained: write `(a + b)^3`."
                if again
                else "`(a + b)^2` stands for the terms and their two-way interactions.",
            )


def check_names(
    tokens: Sequence[Token],
    text: str,
    unquoted: Unquoted,
    columns: Sequence[str],
    hidden: Sequence[str],
) -> None:
    """No column may have a name that a formula takes for something else."""
    named = {
        unquoted.columns.get(token.text, token.text)
        for token in tokens
        if token.kind == "name" and token.text != "."
    }
    if any(token.text == "." for token in tokens):
        named.update(c for c in columns if c not in hidden)
    for name, other in _SIGNS.items():
        if name in named:
            raise FormulaError.at(
                f"The column {quoted(name)} must not share its name with {other}.",
                text,
                quoted(name),
                "Rename the column, for example to `x1`.",
            )
    if "" in named or "" in unquoted.columns.values():
        raise FormulaError.at(
            "Every column in a formula must have a name.", text, "``", "Rename the column."
        )
    odd = sorted(name for name in named if "`" in name)
    if odd:
        raise FormulaError(
            "Column names in a formula must not contain a backtick.\n"
            f"  Found: {', '.join(map(repr, odd[:5]))}. Rename the column."
        )


def check_products(size: float, sign: str, text: str) -> None:
    """Refuse operators that stand for more terms than any memory holds."""
    if size > MOST_PRODUCTS:
        raise FormulaError(
            f"The formula must expand to at most {MOST_PRODUCTS:,} products of terms.\n"
            f"  {text if len(text) < 200 else text[:200] + ' ...'}\n  Found: about {size:,.0f},"
            f" from the operator {quoted(sign)}. Trees model interactions without product terms:"
            " join the terms with `+`."
        )


def check_response(left: Sequence[Term], text: str) -> None:
    """There must be one response, and it must be one factor."""
    if not any(term.factors for term in left):
        raise FormulaError.at(
            "The formula must have the response on its left-hand side.",
            text,
            "~",
            "Write `response ~ terms`.",
        )
    if len(left) != 1 or left[0].is_interaction:
        raise FormulaError.at(
            "The formula must have a single response.",
            text,
            left[-1].name,
            f"Found: {listing(t.name for t in left)}. "
            + (
                "Fit each response separately."
                if len(left) > 1
                else "For their product write `{a * b}`."
            ),
        )


def check_terms(terms: Sequence[Term], response: Term, text: str) -> None:
    """There must be terms, none of them of the response, and none twice."""
    if not terms:
        raise FormulaError(
            f"The formula must have at least one term on its right-hand side.\n  {shortened(text)}"
        )
    _check_leak(terms, response, text)
    _check_twice(terms, text)


def _check_leak(terms: Sequence[Term], response: Term, text: str) -> None:
    """The response must not explain itself."""
    for term in terms:
        shared = set(term.variables) & set(response.variables)
        if shared:
            raise FormulaError.at(
                f"The term {quoted(term.name)} must not use the response.",
                text,
                term.name,
                f"On both sides: {listing(sorted(shared))}. Remove it from the right-hand side.",
            )


def _check_twice(terms: Sequence[Term], text: str) -> None:
    """A column called ``a:b`` beside the interaction ``a:b``: nothing could tell them apart."""
    keys = Counter(term.key for term in terms)
    names = Counter(term.name for term in terms)
    for term in terms:
        if keys[term.key] > 1 or names[term.name] > 1:
            raise FormulaError.at(
                f"The column {quoted(term.key)} must not share its name with an interaction.",
                text,
                quoted(term.key),
                "Rename the column.",
            )


# --- where `Surv()` and `strata()` may stand ------------------------------------------------------


def is_strata(factor: Factor) -> bool:
    """Whether a factor is a call of ``strata()``."""
    return isinstance(factor.node, Strata)


def plain_strata(factors: Collection[Factor]) -> list[str]:
    """Columns that are strata as they are: ``.`` does not stand for them."""
    return [
        part.node.name
        for factor in factors
        if isinstance(factor.node, Strata)
        for part in factor.node.arguments
        if isinstance(part.node, Column)
    ]


def check_left(response: Term, text: str) -> None:
    """``strata()`` does not stand on the left."""
    if any(map(is_strata, response.factors)):
        raise FormulaError.at(
            "`strata()` must be on the right-hand side of the formula.",
            text,
            response.name,
            "Write `Surv(time, event) ~ . + strata(site)`.",
        )


def check_kept(removed: Iterable[Term], text: str) -> None:
    """``strata()`` is not taken away again."""
    for term in removed:
        if any(map(is_strata, term.factors)):
            raise FormulaError.at(
                "`strata()` must not follow a minus sign.",
                text,
                term.name,
                "For a model without strata, leave `strata()` out.",
            )


def take_strata(
    terms: Sequence[Term], response: Term, text: str
) -> tuple[tuple[Term, ...], tuple[Factor, ...]]:
    """The terms without those of ``strata()``, and the factors whose combinations are strata."""
    for term in terms:
        _check_place(term, text)
    calls = [term for term in terms if is_strata(term.factors[0])]
    kept = tuple(term for term in terms if not is_strata(term.factors[0]))
    if calls and not isinstance(response.factors[0].node, Survival):
        raise FormulaError.at(
            "`strata()` must be used with times to an event.",
            text,
            calls[0].name,
            f"Found: the response {quoted(response.name)}. Strata have separate baseline hazards,"
            " which only a response `Surv(time, event)` has; here write the columns as terms.",
        )
    found: dict[str, Factor] = {}
    for node in (term.factors[0].node for term in calls):
        assert isinstance(node, Strata)
        for part in node.arguments:
            found[part.text] = Factor(part.text, variables(part.node), part.node)
    if calls and not kept:
        raise FormulaError.at(
            "The formula must have at least one term besides its strata.",
            text,
            calls[0].name,
            "Strata are not candidate terms: write `. + strata(site)`, or name other terms.",
        )
    strata = tuple(found[key] for key in sorted(found))
    for factor in strata:
        _check_factor(factor, kept, response, text)
    return kept, strata


def _check_place(term: Term, text: str) -> None:
    if any(isinstance(factor.node, Survival) for factor in term.factors):
        raise FormulaError.at(
            "`Surv()` must be on the left-hand side of the formula.",
            text,
            term.name,
            "Write `Surv(time, event) ~ .`.",
        )
    if term.is_interaction and any(map(is_strata, term.factors)):
        both = all(map(is_strata, term.factors))
        raise FormulaError.at(
            "`strata()` must not be part of an interaction.",
            text,
            term.name,
            "For strata of several columns write `strata(a, b)`."
            if both
            else "To let an effect differ between strata, write the interaction with the column"
            " itself, as in `age:site + strata(site)`.",
        )


def _check_factor(factor: Factor, terms: Sequence[Term], response: Term, text: str) -> None:
    shared = set(factor.variables) & set(response.variables)
    if shared:
        raise FormulaError.at(
            f"The strata {quoted(factor.name)} must not use the response.",
            text,
            factor.name,
            f"Also on the left-hand side: {listing(sorted(shared))}.",
        )
    if any(len(t.factors) == 1 and t.factors[0].name == factor.name for t in terms):
        raise FormulaError.at(
            f"{quoted(factor.name)} must be a term or a stratum variable, not both.",
            text,
            factor.name,
            "It is constant within each stratum, so its effect can't be estimated. Remove the term,"
            " or remove it from `strata()`.",
        )
