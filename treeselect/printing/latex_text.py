"""Text as LaTeX: what it would act on is escaped, code between backticks is set as code."""

from __future__ import annotations

import re

from treeselect.printing.code import code_and_words


def escaped(text: str) -> str:
    """Text with everything that LaTeX would act on escaped, ligatures and brackets included."""
    return _LIGATURE.sub(r"\1{}", "".join(_LATEX.get(c, c) for c in text))


def prose(text: str) -> str:
    """A sentence, in which code stands between backticks."""
    return "".join(
        typed(part) if is_code else escaped(part) for part, is_code in code_and_words(text)
    )


def typed(text: str) -> str:
    """Code in typewriter letters; its quotation marks are straight."""
    straight = escaped(text).replace("'", r"\textquotesingle{}")
    return f"\\texttt{{{straight}}}"


_LIGATURE = re.compile(r"([-'`,!?])(?=[-'`,])")
"""What TeX draws as one: dashes, quotation marks."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "[": "{[}",  # after the end of a row it would be its argument, as a star would be
    "]": "{]}",
    "*": "{*}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "→": r"$\rightarrow$",
    "²": r"$^2$",
    "³": r"$^3$",
    "µ": r"$\mu$",
    "°": r"$^\circ$",
}

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi . pi rho varsigma"
    " sigma tau upsilon phi chi psi omega"
)
_CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_LATEX |= {chr(0x3B1 + i): f"$\\{name}$" for i, name in enumerate(_GREEK.split()) if name != "."}
_LATEX |= dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", (f"$\\{n}$" for n in _CAPITALS.split()), strict=True))


_KNOWN = "–—\u2018\u2019“”…•†‡€"
"""Of the characters behind the Latin ones, those that pdfLaTeX knows."""


def fallbacks(text: str) -> list[str]:
    """What pdfLaTeX prints for a character that it does not know, where it would stop; LuaLaTeX and
    XeLaTeX never ask for it."""
    odd = sorted({c for c in text if ord(c) >= 0x180 and c not in _KNOWN})
    return [
        f"\\ifcsname u8:\\detokenize{{{c}}}\\endcsname\\else"
        f"\\expandafter\\def\\csname u8:\\detokenize{{{c}}}\\endcsname{{[U+{ord(c):04X}]}}\\fi"
        for c in odd
    ]
