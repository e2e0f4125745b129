"""Formulas by grammar, and formulas that were damaged."""

from __future__ import annotations

import random

_FUNCTIONS = (
    "abs", "ceil", "cos", "exp", "exp10", "expm1", "floor", "I", "log", "log10", "log1p", "log2",
    "sin", "sqrt", "tan", "tanh", "np.log", "np.exp", "np.sqrt", "np.sign", "np.cbrt", "np.square",
    "np.arcsin", "np.negative", "np.rint", "center", "scale", "standardize",
)  # fmt: skip
_WHOLE = (
    "poly({}, 2)", "poly({}, degree=3, raw=True)", "bs({}, 4)",
    "bs({}, df=5, degree=2, extrapolation='clip')", "bs({}, knots=[0, 1], extrapolation='na')",
    "cr({}, 4)", "cs({}, df=3)", "cc({}, df=4)", "cr({}, 4, constraints='center')", "hashed({}, 3)",
    "hashed({}, levels=10)", "C({})", "C({}, Treatment)", "C({}, contr.sum)",
    "C({}, contr.treatment('a'))", "C({}, levels=['a', 'b'])", "C({}, levels=[0, 1])",
    "C(I({} > 0))", "C({} == 'a')", "scale({}, center=False)", "scale({}, ddof=0)",
    "hashed({}, 2, contr.treatment)", "bs({}, df=4, lower_bound=0, upper_bound=1)", "poly({}, 0)",
    "bs({}, 0)", "hashed({}, 0)", "C({}, contr.poly)", "C({}, contr.helmert, spans_intercept=True)",
    "lag({})",
)  # fmt: skip
_NUMBERS = ("0", "1", "-1", "2", "0.5", "1e3", "1e-300", "1e308", "16", "1_000", "0x10", "True")
_TEXTS = (
    "'a'", '"b"', "'it\\'s'", "''", "'x y'", "'\\\\'", "'a\"b'", "'\\x61'", "'~'", "'|'", "'(' ",
)  # fmt: skip
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "&", "|")
_COMPARE = ("==", "!=", "<", "<=", ">", ">=")
_JOINS = (
    " + ", " + ", " + ", " - ", ":", " * ", " / ", " %in% ", " ^ ", " ** ", " | ", "~", "  ",
    " %*% ",
)  # fmt: skip

BITS = (
    "`", "'", '"', "\\", "(", ")", "[", "]", "{", "}", "~", "+", "-", "*", "**", "^", "/", ":", "|",
    ",", ".", "=", "==", "%in%", "%", "#", ";", "\n", "\r", "\t", "\x0c", "\x00", "\x1b", " ", "  ",
    "\\\n", "\\x60", "\\140", "\\N{GRAVE ACCENT}", "_", "__class__", ".real", "lambda: ",
    "if 1 else 2", "for i in x", ":=", "*x", "**{}", "@", "!", "$", "?", "&", "<", "0", "1", "2",
    "99", "1e400", "0x", "1_0", "1j", "None", "True", "...", "not ", "await ", "yield ", "f'{x}'",
    "b'a'", "r'`'", "\u2018", "\u00b4", "\uff40", "\uff08", "\u03bb", "\u200b", "\ud800", "\u202e",
    "\xa0", "\u2028", "np.", "C(", "I(", "Q('", "hashed(", "contr.treatment(", "levels=", "''' ",
    '"""',
)  # fmt: skip
"""What mutations put in."""


def name_text(name: str, rng: random.Random | None = None) -> str:
    """A column as a formula has it; now and then as it must not."""
    odd = not name.isidentifier()
    if rng is not None and rng.random() < 0.1:
        return name if odd else f"`{name}`"
    return f"`{name}`" if odd else name


def draw_formula(rng: random.Random, names: list[str]) -> str:
    """A formula over some of the columns."""
    names = names or ["x"]
    left = name_text(names[0], rng) if rng.random() < 0.9 else _term(rng, names)
    if rng.random() < 0.25:
        right = "." + (f" - {name_text(rng.choice(names))}" if rng.random() < 0.3 else "")
    else:
        others = names[1:] or names
        right = _term(rng, others)
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 5])):
            right += rng.choice(_JOINS[: 4 if rng.random() < 0.7 else len(_JOINS)]) + _term(
                rng, others
            )
    if rng.random() < 0.06:
        right = f"({right})" + rng.choice(
            ["^2", "**2", "^2^2", "^0", "^x", "^-1", "^20", ":(1)", "^2.0"]
        )
    if rng.random() < 0.06:
        right += rng.choice([" - 1", " + 0", " + 1", " - .", " + . ", " - 0", " | x", " + -1"])
    formula = f"{left} ~ {right}"
    return mutated(rng, formula) if rng.random() < 0.12 else formula


def _term(rng: random.Random, names: list[str]) -> str:
    name = name_text(rng.choice(names), rng)
    kind = rng.random()
    if kind < 0.55:
        return name
    if kind < 0.68:
        return f"{rng.choice(_FUNCTIONS)}({_expression(rng, names, 1)})"
    if kind < 0.80:
        return rng.choice(_WHOLE).format(name)
    if kind < 0.90:
        return f"I({_expression(rng, names, 2)})"
    if kind < 0.94:
        return f"{{{_expression(rng, names, 2)}}}"
    if kind < 0.96:
        return f"Q({rng.choice(names)!r})"
    return rng.choice(
        [f"({name})", f"({name} + {name})", f"({name}:{name})", f"-{name}", "1", "0", "3"]
    )


def _expression(rng: random.Random, names: list[str], depth: int) -> str:
    name = name_text(rng.choice(names), rng)
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return name if rng.random() < 0.85 else rng.choice(_NUMBERS)
    first, second = (_expression(rng, names, depth - 1) for _ in range(2))
    if kind < 0.6:
        return f"{first} {rng.choice(_OPERATORS)} {second}"
    if kind < 0.8:
        value = rng.choice(_TEXTS) if rng.random() < 0.5 else rng.choice(_NUMBERS)
        return f"({name} {rng.choice(_COMPARE)} {value})"
    if kind < 0.85:
        return f"{rng.choice(['-', '~', '+', 'not '])}{first}"
    if kind < 0.9:
        return f"np.where({first} > 0, {second}, {name})"
    return f"{rng.choice(_FUNCTIONS)}({first})"


def mutated(rng: random.Random, text: str) -> str:
    """The text with a few changes of characters, bits or pieces."""
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
        at = rng.randrange(len(text) + 1)
        other = rng.randrange(len(text) + 1)
        low, high = min(at, other), min(max(at, other), min(at, other) + 30)
        kind = rng.random()
        if kind < 0.45:
            text = text[:at] + rng.choice(BITS) + text[at:]
        elif kind < 0.6:
            text = text[:at] + text[at + rng.choice([1, 1, 1, 2, 5]) :]
        elif kind < 0.7:
            text = text[:at] + text[low:high] + text[at:]
        elif kind < 0.8:
            text = text[:low] + text[high:]
        elif kind < 0.9 and text:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(BITS) + text[at + 1 :]
        else:
            text = _respelled(rng, text)
    return text


def _respelled(rng: random.Random, text: str) -> str:
    """One character as one that Python reads for it, or as an escape."""
    letters = [i for i, c in enumerate(text) if "!" <= c <= "~"]
    if not letters:
        return text
    at = rng.choice(letters)
    code = ord(text[at])
    new = rng.choice([chr(code + 0xFEE0), f"\\x{code:02x}", f"\\u{code:04x}", f"\\{code:o}"])
    return text[:at] + new + text[at + 1 :]
