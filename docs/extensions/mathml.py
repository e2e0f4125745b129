"""Formulas as MathML: the browser sets them, without a script or fonts from a host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_UNKNOWN = re.compile(r"\\[a-zA-Z]+")


def setup(app: Sphinx) -> dict[str, Any]:
    """Make ``html_math_renderer = "mathml"`` known."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def mathml(formula: str, *, block: bool = False) -> str:
    r"""A formula of LaTeX as a ``<math>`` element.

    Raises
    ------
    ExtensionError
        If it has a command that MathML can't say.
    """
    made: str = convert(formula, display="block" if block else "inline")
    unknown = _UNKNOWN.search(re.sub(r"<annotation.*?</annotation>", "", made, flags=re.DOTALL))
    if unknown:
        raise ExtensionError(f"MathML can't say {unknown[0]} in the formula {formula!r}.")
    return made


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    names = "".join(f'<span id="{name}"></span>' for name in node.get("ids", ()))
    formula = mathml(node.astext(), block=True)
    translator.body.append(f'<div class="math">{names}{formula}</div>\n')
    raise nodes.SkipNode
