"""What is checked of a formula before a parser sees it: quotations, lengths, signs, names and what
its terms may share; and what to write instead of R's functions and operators.

`` `a b` `` and ``'north'`` become identifiers of our own, so that no parser behind this module ever
sees a quotation mark or has to agree on where a quotation ends.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from treeselect.errors import FormulaError, listing, near_or, quoted, shortened
from treeselect.formulas.terms import Column, Factor, Strata, Survival, Term, Token, variables
from treeselect.shown import is_broken

LONGEST_FORMULA = 500_000
"""Most characters of a formula."""

LONGEST_TEXT = 5_000
"""Most characters of one name, text between quotation marks, or expression."""

MOST_PRODUCTS = 100_000
"""Most products that the operators of a formula may multiply out."""

_HIGHEST_POWER = 6

_SIGNS = re.compile(r"(?:[^\w\s.]\s*+){250}")
"""More signs in a row than any formula has."""


class Fault(Exception):
    """What is wrong with a formula, the part of it to underline, and advice."""

    def __init__(self, problem: str, at: str, *advice: str) -> None:
        super().__init__(problem, at, *advice)


@contextmanager
def underlined(formula: str) -> Iterator[None]:
    """Make errors of faults: the formula with the part underlined."""
    try:
        yield
    except Fault as fault:
        problem, at, *advice = fault.args
        raise FormulaError.at(problem, formula, at, *advice) from None


def unknown_column(name: str, columns: Iterable[str]) -> Fault:
    columns = list(columns)
    advice = near_or(name, columns, f"Columns: {listing(columns)}.")
    return Fault(f"Can't find column {quoted(name)} in `data`.", name, advice)


# --- Names and texts between quotation marks ------------------------------------------------------

_PARTS = re.compile(r"""`[^`]*`|'(?:[^'\\\n]+|\\.)*+'|"(?:[^"\\\n]+|\\.)*+"|[`'"]""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00[01][0-9a-fA-F]{5}|.)", re.DOTALL)
_ESCAPES = {
    r"\\": "\\", r"\'": "'", r"\"": '"', r"\n": "\n", r"\r": "\r", r"\t": "\t"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A formula in whose `code` identifiers, which begin with a `prefix` that stands nowhere in it,
    take the place of quotations: of names between backticks (`columns`) and of texts (`words`)."""

    code: str
    columns: Mapping[str, str]
    words: Mapping[str, str]
    prefix: str
    _written: Mapping[str, str] = field(repr=False)

    def restore(self, code: str) -> str:
        """A part of the code as the user wrote it."""
        return re.sub(rf" ?({self.prefix}\d+_) ?", lambda found: self._written[found[1]], code)


def unquote(formula: str) -> Unquoted:
    """Take names between backticks and texts between quotes out of a formula."""
    taken = set(re.findall(r"_q(\d+)_", formula))
    prefix = next(f"_q{i}_" for i in itertools.count() if str(i) not in taken)
    columns: dict[str, str] = {}
    words: dict[str, str] = {}
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        part, before = match[0], formula[match.start() - 1 : match.start()]
        if part[0] != "`" and len(part) > 1 and re.match(r"\w", before):
            raise Fault(
                "Quoted text in a formula must not follow a letter or digit: prefixes, as in f'...'"
                " and b'...', are not supported.",
                part,
            )
        if part not in known:
            known[part] = name = f"{prefix}{len(known)}_"
            if part[0] == "`":
                if part == "`":
                    raise Fault("A name in backticks must end with a backtick.", part)
                _check_length(part, "name")
                columns[name] = part[1:-1]
            else:
                words[name] = _word(part)
        return f" {known[part]} "

    with underlined(formula):
        code = _PARTS.sub(replace, formula)
    return Unquoted(code, columns, words, prefix, {name: part for part, name in known.items()})


def _word(part: str) -> str:
    if len(part) == 1:
        raise Fault(
            f"Text in a formula must end with the quotation mark it begins with, {part}.",
            part,
            "Put a column name that contains a quotation mark in backticks.",
        )
    _check_length(part, "text")
    word = _ESCAPE.sub(lambda found: _unescaped(found[0], part), part[1:-1])
    if is_broken(word):
        raise Fault(
            "Text in a formula must not contain an incomplete character (a lone surrogate).", part
        )
    if "`" in word:
        raise Fault(
            "Text in a formula must not contain a backtick, which encloses column names.",
            part,
            "Rename the level, or add the computed column to `data` first.",
        )
    return word


def _unescaped(escape: str, part: str) -> str:
    code = int(escape[2:], 16) if len(escape) > 2 else -1
    if escape not in _ESCAPES and not 0 <= code < 0x110000:
        raise Fault(
            f"Text in a formula must not contain the escape {quoted(escape)}.",
            part,
            f"Write a literal backslash twice. Allowed: {listing(_ESCAPES)} and codes such as"
            r" `\x41` and `\u00e9`.",
        )
    return _ESCAPES[escape] if code < 0 else chr(code)


def _check_length(part: str, kind: str) -> None:
    if len(part) > LONGEST_TEXT:
        raise Fault(
            f"A quoted {kind} in a formula must have at most {LONGEST_TEXT:,} characters.",
            part[:LONGEST_TEXT],
            f"Found: {len(part):,}.",
        )


# --- What R formulas have and ours do not ---------------------------------------------------------

_CUT = (
    "Trees choose their own cut points: write `{x}`. For a fixed one write a comparison, for"
    " example `I({x} > 40)`."
)
_RANDOM = (
    "Random effects can't be fitted. `fold_groups=` keeps the rows of a cluster in one fold, and"
    " makes the standard errors of `refit()` and `inference()` cluster-robust."
)
_LIST = (
    "A formula has no lists of values. Compare with each value instead, for example"
    " `I((x == 1) | (x == 2))`."
)
_MISSING = "`data['missing'] = data['x'].isna()`."

_CALLS = {
    "cluster": "Pass the column as `fold_groups=`: the rows of a cluster then stay in one fold, and"
    " the standard errors of `refit()` and `inference()` are cluster-robust.",
    "frailty": "Random effects can't be fitted. With times to an event, `strata(site)` gives each"
    " site its own baseline hazard; `fold_groups=` keeps the rows of a cluster in one fold.",
    "tt": "Time-varying effects can't be fitted. Time-varying covariates can: write one row for"
    " each interval in which they are constant, and `Surv(start, stop, event)`.",
    "offset": "Pass the column as `offset=` instead. For an expression, add the computed column to"
    " `data` first.",
    "weights": "Pass the column as `weights=` instead.",
    "factor as.factor as_factor as.character": "Write `C({x})`.",
    "droplevels": "Write `{x}`: levels that do not occur are ignored.",
    "relevel": "Trees need no reference level. For linear methods write"
    " `C({x}, contr.treatment('a'))`, where 'a' is the reference level.",
    "ordered as.ordered": "Give the column an order in `data` first: `data['x'] ="
    " pandas.Categorical(data['x'], categories=[...], ordered=True)`.",
    "interaction": "Write `a:b`; columns of numbers need `C()`, as in `C(a):C(b)`.",
    "as.numeric as.double": "Write `{x}`, and convert text in `data` first:"
    " `pandas.to_numeric(data['x'], errors='coerce')`.",
    "as.integer": "Write `{x}`, or `np.trunc({x})` to drop the decimals.",
    "as.logical": "Write a comparison, for example `I({x} != 0)`.",
    "as.Date year month": "Compute it in `data` first, for example `data['year'] ="
    " pandas.to_datetime(data['date']).dt.year`.",
    "is.na": "Trees split on missing values without an indicator. To have one, add it to `data`"
    f" first: {_MISSING}",
    "cut cut2": _CUT,
    "ifelse if_else": "Write `np.where(condition, yes, no)`.",
    "min pmin": "For the smaller of two values per row write `np.minimum(x, z)`.",
    "max pmax": "For the larger of two values per row write `np.maximum(x, z)`.",
    "round": "Write `np.rint({x})`.",
    "ceiling": "Write `ceil({x})`.",
    "trunc": "Write `np.trunc({x})`.",
    "sign": "Write `np.sign({x})`.",
    "square": "Write `I({x} ** 2)`.",
    "c": _LIST,
    "cbind": "Fit each response separately. Write counts of successes and failures as two rows"
    " with a response of 1 and 0, and pass the counts as `weights=`.",
    "Error re": _RANDOM,
    "ns pspline rcs rcspline s t2 lo lsp pol": "Trees fit non-linear effects of the plain column."
    " For linear methods write `cr({x}, df=4, constraints='center')`, a natural cubic spline,"
    " `bs({x}, df=4)` or `poly({x}, 2)`.",
    "mean median sd var sum cumsum diff rank quantile ave nchar substr paste paste0": "Add the"
    " computed column to `data` first: a formula is evaluated row by row, except for `center`,"
    " `scale`, `poly` and splines.",
}
"""By the names of functions a sentence or two, ``{x}`` in the place of the first argument."""

_INSTEAD = {name: said for names, said in _CALLS.items() for name in names.split()}

OPERATORS_OF_R: dict[str, str] = {
    "$": "Name columns without their data frame: `time`, not `data$time`.",
    "::": "Name functions without their package: `Surv(time, event)`.",
    "|": f"Join terms with `+`. {_RANDOM}",
    "||": f"Join terms with `+`. {_RANDOM}",
    "!": "Write `I(~x)` for the opposite of a logical column.",
    "=": "Response and terms are separated by `~`, as in `y ~ x + z`.",
    ",": "The formula ends with its last term: other arguments stand outside its quotation marks.",
    "%%": "Write `I(x % 2)` for the remainder of a division.",
    "%/%": "Write `I(x // 2)` for whole quotients.",
}
"""By the operator, a sentence."""

CONSTANTS_OF_R: dict[str, str] = {
    **dict.fromkeys(("TRUE", "T"), "Write `True`."),
    **dict.fromkeys(("FALSE", "F"), "Write `False`."),
    "NULL": "Write `None`.",
    "NA": "No value equals a missing one. Add an indicator to `data` first, for example"
    f" {_MISSING}",
    "pi": "Write 3.141592653589793.",
}
"""By the name of the constant, a sentence."""

_INSIDE = {
    r"%in%": _LIST,
    **{re.escape(sign): OPERATORS_OF_R[sign] for sign in ("%%", "%/%", "$", "::")},
    r"&&|\|\|": "Write `&` and `|`, with parentheses around each comparison.",
    r"!(?!=)": "Write `~` for `!`, as in `I(~x)`, or `I(~(x > 1))`.",
}
"""What to say of an expression in which such an operator stands."""


def call_instead(name: str, argument: str = "") -> str | None:
    """What to write for a call of R with this first argument; None if it is none that is known."""
    said = _INSTEAD.get(name)
    plain = argument if 0 < len(argument) <= 40 else "x"
    return None if said is None else said.replace("{x}", plain)


def said_of(expression: str) -> str | None:
    """What to say of an expression that Python can't read; None if it is not one of R."""
    for name, argument in re.findall(r"([A-Za-z][\w.]*)\s*\((?=\s*([\w.]*))", expression):
        if "." in name and (said := call_instead(name, argument)):
            return said
    return next((said for sign, said in _INSIDE.items() if re.search(sign, expression)), None)


def power_instead(expression: str) -> str:
    """What to write for an expression with R's sign for powers."""
    is_plain = len(expression) <= 100 and not re.search("[`'\"]", expression)
    written = re.sub(r"\s*\^\s*", " ** ", expression) if is_plain else "I(x ** 2)"
    return f"Write powers as `**`: `{written}`."


# --- Lengths, signs and names ---------------------------------------------------------------------


def too_long(expression: str) -> FormulaError:
    return FormulaError(
        f"An expression in a formula must have at most {LONGEST_TEXT:,} characters.\n"
        f"  Found: {len(expression):,}, beginning {expression[:40]!r}."
    )


def check_lengths(unquoted: Unquoted, text: str, columns: Sequence[str]) -> None:
    """Names of a million letters are found here, and signs: formulaic takes 15 s to read them."""
    for name in re.findall(r"[\w.]+", unquoted.code):
        if len(name) > LONGEST_TEXT and name not in columns:
            raise unknown_column(name, columns)
        if len(name) > LONGEST_TEXT:
            raise Fault(
                f"A name in a formula must have at most {LONGEST_TEXT:,} characters.",
                name,
                f"Found: {len(name):,}. Rename the column.",
            )
    if found := _SIGNS.search(unquoted.code):
        raise Fault("Can't read the formula: it has hundreds of signs in a row.", found[0])
    if len(text) > LONGEST_FORMULA:
        raise FormulaError(
            f"`formula` must have at most {LONGEST_FORMULA:,} characters.\n  Found: {len(text):,}."
            " With this many columns, write `y ~ .` and remove some, as in `y ~ . - id`."
        )


def check_neighbours(tokens: Sequence[Token], text: str, unquoted: Unquoted) -> None:
    """Refuse neighbours without an operator, which formulaic takes minutes to find."""
    for one, other in itertools.pairwise(tokens):
        if all(t.text == "." or t.kind not in ("operator", "context") for t in (one, other)):
            left, right = (shortened(unquoted.restore(token.text)) for token in (one, other))
            raise FormulaError(
                f"Can't read the formula.\n  {shortened(text)}\n  Missing operator between"
                f" {quoted(left.strip('`'))} and {quoted(right.strip('`'))}."
            )


def check_calls(unquoted: Unquoted) -> None:
    """Refuse calls and braces that are long, which formulaic reads in quadratic time."""
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


def check_operators(tokens: Sequence[Token], unquoted: Unquoted) -> None:
    """Refuse operators that a formula does not have, brackets, and too many parentheses."""
    if sum(token.text in ("(", "[") for token in tokens) > 50:
        raise FormulaError("The formula must have at most 50 opening parentheses.")
    if sum(t.text == "~" and t.is_operator for t in tokens) > 1:
        raise Fault("The formula must have exactly one `~`.", "~")
    for i, token in enumerate(tokens):
        if token.is_operator:
            for sign in [token.percent] if token.percent else token.text.split():
                _check_operator(sign)
            if token.percent:
                _check_before(tokens[:i])
        elif token.kind == "context" and token.text in ("[", "]"):
            raise Fault(
                "The formula must not contain square brackets.",
                token.text,
                "Multi-stage formulas are not supported.",
            )
    _check_powers(tokens, unquoted)


def _check_operator(sign: str) -> None:
    core = sign.strip("+-~.")  # the tokenizer may join signs, as in `~-`
    if core == "|":
        raise Fault("The formula must have one right-hand side.", core, OPERATORS_OF_R["|"])
    if core and core not in (":", "*", "**", "/", "^", "%in%"):
        other = "Join terms with `+`, `:`, `*`, `/`, `^` or `%in%`; wrap arithmetic and"
        other += " comparisons in `I()`, for example `I(age > 40)`."
        advice = OPERATORS_OF_R.get(core, other)
        raise Fault(f"`formula` must not contain the operator {quoted(core)}.", core, advice)


def _check_before(tokens: Sequence[Token]) -> None:
    """`%in%` binds closer than `*` and `/` in R, but not in formulaic."""
    depth = 0
    for token in reversed(tokens):
        depth += (token.text == ")") - (token.text == "(")
        if depth < 0 or (depth == 0 and token.text in ("+", "-", "~")):
            return
        if depth == 0 and token.text in ("*", "/"):
            way = f"Write `x {token.text} (a %in% b)` or `(x {token.text} a) %in% b`."
            raise Fault(f"`%in%` after {quoted(token.text)} needs parentheses.", "%in%", way)


def _check_powers(tokens: Sequence[Token], unquoted: Unquoted) -> None:
    """A sum to a high power has more terms than any memory holds."""
    for i, token in enumerate(tokens):
        if token.text not in ("^", "**") or not token.is_operator:
            continue
        exponent = tokens[i + 1].text if i + 1 < len(tokens) else ""
        plain = exponent in map(str, range(1, _HIGHEST_POWER + 1))  # not 04, nor digits of others
        again = i + 2 < len(tokens) and tokens[i + 2].text in ("^", "**")
        if not plain or again:
            raise Fault(
                f"The exponent must be a whole number from 1 to {_HIGHEST_POWER}.",
                unquoted.restore(exponent).strip(),
                "Powers can't be chained: write `(a + b)^3`."
                if again
                else "`(a + b)^2` stands for the terms and their two-way interactions.",
            )


def check_names(
    tokens: Sequence[Token], unquoted: Unquoted, columns: Sequence[str], hidden: Sequence[str]
) -> None:
    """No column may have a name that a formula takes for something else."""
    names = [token.text for token in tokens if token.kind == "name" and token.text != "."]
    named = {unquoted.columns.get(name, name) for name in names}
    if any(token.text == "." for token in tokens):
        named.update(c for c in columns if c not in hidden)
    for name, other in (
        ("1", "the intercept"),
        (".", "the shorthand for all columns"),
        ("~", "the separator of response and terms"),
    ):
        if name in named:
            raise Fault(
                f"The column {quoted(name)} must not share its name with {other}.",
                quoted(name),
                "Rename the column, for example to `x1`.",
            )
    if "" in named or "" in unquoted.columns.values():
        raise Fault("Every column in a formula must have a name.", "``", "Name it or drop it.")
    if odd := sorted(name for name in named if "`" in name):
        raise FormulaError(
            "Column names in a formula must not contain a backtick.\n"
            f"  Found: {', '.join(map(repr, odd[:5]))}. Rename the column."
        )


# --- Terms ----------------------------------------------------------------------------------------


def check_products(size: float, sign: str, text: str) -> None:
    if size > MOST_PRODUCTS:
        raise FormulaError(
            f"The formula must expand to at most {MOST_PRODUCTS:,} products of terms.\n"
            f"  {shortened(text)}\n  Found: about {size:,.0f},"
            f" from the operator {quoted(sign)}. Trees model interactions without product terms:"
            " join the terms with `+`."
        )


def check_response(left: Sequence[Term]) -> None:
    """There must be one response, and it must be one factor."""
    if not any(term.factors for term in left):
        raise Fault(
            "The formula must have the response on its left-hand side.",
            "~",
            "Write `response ~ terms`.",
        )
    if len(left) != 1 or left[0].is_interaction:
        found = f"Found: {listing(t.name or '1' for t in left)}. "
        way = "Fit each response separately."
        if any(len(term.factors) != 1 for term in left):
            way = "Write arithmetic as `{a / b}` or `{a + 1}`."
        raise Fault("The formula must have a single response.", left[-1].name, found + way)
    if any(map(is_strata, left[0].factors)):
        raise Fault(
            "`strata()` must be on the right-hand side of the formula.",
            left[0].name,
            "Write `Surv(time, event) ~ . + strata(site)`.",
        )


def check_terms(terms: Sequence[Term], response: Term, text: str) -> None:
    """There must be terms, none of them of the response, and none twice: nothing could tell a
    column called ``a:b`` from the interaction."""
    if not terms:
        raise FormulaError(
            f"The formula must have at least one term on its right-hand side.\n  {shortened(text)}"
        )
    for term in terms:
        if shared := set(term.variables) & set(response.variables):
            raise Fault(
                f"The term {quoted(term.name)} must not use the response.",
                term.name,
                f"On both sides: {listing(sorted(shared))}. Remove it from the right-hand side.",
            )
    keys, names = Counter(term.key for term in terms), Counter(term.name for term in terms)
    for term in terms:
        if keys[term.key] > 1 or names[term.name] > 1:
            raise Fault(
                f"The column {quoted(term.key)} must not share its name with an interaction.",
                quoted(term.key),
                "Rename the column.",
            )


# --- Where `Surv()` and `strata()` may stand ------------------------------------------------------


def is_strata(factor: Factor) -> bool:
    return isinstance(factor.node, Strata)


def plain_strata(factors: Collection[Factor]) -> list[str]:
    """Columns that are strata as they are: ``.`` does not stand for them."""
    nodes = [factor.node for factor in factors if isinstance(factor.node, Strata)]
    parts = [part.node for node in nodes for part in node.arguments]
    return [node.name for node in parts if isinstance(node, Column)]


def check_kept(removed: Iterable[Term]) -> None:
    """``strata()`` is not taken away again."""
    for term in removed:
        if any(map(is_strata, term.factors)):
            raise Fault(
                "`strata()` must not follow a minus sign.",
                term.name,
                "For a model without strata, leave `strata()` out.",
            )


def take_strata(
    terms: Sequence[Term], response: Term
) -> tuple[tuple[Term, ...], tuple[Factor, ...]]:
    """The terms without those of ``strata()``, and the factors whose combinations are strata."""
    for term in terms:
        _check_place(term)
    calls = [term for term in terms if is_strata(term.factors[0])]
    kept = tuple(term for term in terms if not is_strata(term.factors[0]))
    if calls and not isinstance(response.factors[0].node, Survival):
        raise Fault(
            "`strata()` must be used with times to an event.",
            calls[0].name,
            f"Found: the response {quoted(response.name)}. Strata have separate baseline hazards,"
            " which only a response `Surv(time, event)` has; here write the columns as terms.",
        )
    if calls and not kept:
        raise Fault(
            "The formula must have at least one term besides its strata.",
            calls[0].name,
            "Strata are not candidate terms: write `. + strata(site)`, or name other terms.",
        )
    found: dict[str, Factor] = {}
    for node in (term.factors[0].node for term in calls):
        assert isinstance(node, Strata)
        for part in node.arguments:
            found[part.text] = Factor(part.text, variables(part.node), part.node)
    strata = tuple(found[key] for key in sorted(found))
    for factor in strata:
        if shared := set(factor.variables) & set(response.variables):
            raise Fault(
                f"The strata {quoted(factor.name)} must not use the response.",
                factor.name,
                f"Also on the left-hand side: {listing(sorted(shared))}.",
            )
    names, plain = {own.name for own in strata}, {own.name for own in strata if own.is_plain}
    for term in kept:
        if term.name in names or (term.variables and plain.issuperset(term.variables)):
            raise Fault(
                f"{quoted(term.name)} must not be a term: it uses stratum variables alone.",
                term.name,
                "It is constant within each stratum, so its effect can't be estimated. Remove the"
                " term, or remove its columns from `strata()`.",
            )
    return kept, strata


def _check_place(term: Term) -> None:
    if any(isinstance(factor.node, Survival) for factor in term.factors):
        raise Fault(
            "`Surv()` must be on the left-hand side of the formula.",
            term.name,
            "Write `Surv(time, event) ~ .`.",
        )
    if term.is_interaction and any(map(is_strata, term.factors)):
        raise Fault(
            "`strata()` must not be part of an interaction.",
            term.name,
            "For strata of several columns write `strata(a, b)`."
            if all(map(is_strata, term.factors))
            else "To let an effect differ between strata, write the interaction with the column"
            " itself, as in `age:site + strata(site)`.",
        )
