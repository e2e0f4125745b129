"""Python code in print: sentences with code between backticks, and calls on several lines."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

_INDENT = "    "

_MANY = 8
"""Items of a list that stand on a line each; those of a longer one fill the lines."""


def code_and_words(text: str) -> list[tuple[str, bool]]:
    """Pieces of a sentence, and whether each is code.

    Examples
    --------
    >>> from treeselect.printing.code import code_and_words
    >>> code_and_words("See `tidy()`.")
    [('See ', False), ('tidy()', True), ('.', False)]
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner is part of some name
        return [(text, False)]
    return [(part, i % 2 == 1) for i, part in enumerate(parts) if part]


def code_text(code: str, ours: Collection[str] = ()) -> str:
    """An expression on one line, with double quotes and spaces as black sets them.

    Parameters
    ----------
    code : str
    ours : collection of str
        Names to be written with the name of the package: ``treeselect.RRF``.

    Raises
    ------
    SyntaxError, ValueError
        If the code isn't an expression.

    Examples
    --------
    >>> from treeselect.printing.code import code_text
    >>> print(code_text("select('y ~ .', data, method=RRF(n_trees=5))", {"select", "RRF"}))
    treeselect.select("y ~ .", data, method=treeselect.RRF(n_trees=5))
    """
    tree = ast.parse(code, mode="eval").body
    return _line(_Qualified(ours).visit(tree))


def code_lines(code: str, width: int) -> list[str]:
    """An expression on lines of at most `width` characters where possible, as black breaks them.

    What isn't an expression is one line, unchanged.

    Examples
    --------
    >>> from treeselect.printing.code import code_lines
    >>> print("\\n".join(code_lines('select("y ~ .", data, k=3, seed=1)', 30)))
    select(
        "y ~ .", data, k=3, seed=1
    )
    """
    if len(code) <= width:
        return [code]
    try:
        return _lines(ast.parse(code, mode="eval").body, width)
    except (SyntaxError, ValueError, RecursionError):
        return [code]


class _Qualified(ast.NodeTransformer):
    """Writes the names of our package with the package."""

    def __init__(self, ours: Collection[str]) -> None:
        self._ours = ours

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._ours:
            node.func = ast.Attribute(ast.Name("treeselect"), node.func.id)
        return node


def _line(node: ast.expr) -> str:
    """An expression on one line."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _quoted(node.value)
    parts = _parts(node)
    if parts is None:
        if isinstance(node, ast.Attribute):
            return f"{_line(node.value)}.{node.attr}"
        return ast.unparse(node)
    opened, inside, closed = parts
    one = isinstance(node, ast.Tuple) and len(inside) == 1
    items = (f"{name}{_line(value)}" for name, value in inside)
    return f"{opened}{', '.join(items)}{',' if one else ''}{closed}"


def _lines(node: ast.expr, width: int, before: str = "", after: str = "") -> list[str]:
    """An expression on lines, with some text before and behind it."""
    whole = f"{before}{_line(node)}{after}"
    parts = _parts(node)
    if len(whole) <= width or parts is None or not parts[1]:
        return [whole]
    opened, inside, closed = parts
    lead = [f"{before}{opened}"]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        lead = _lines(node.func.value, width, before, f".{node.func.attr}(")
    room = width - len(_INDENT)
    body = ", ".join(f"{name}{_line(value)}" for name, value in inside)
    last = f"{lead[-1]}{body}{closed}{after}"
    if len(lead) > 1 and len(last) <= width:
        return [*lead[:-1], last]
    lines = [body]
    if len(body) > room or (isinstance(node, ast.Tuple) and len(inside) == 1):
        lines = _filled(node, room) or [
            line for name, value in inside for line in _lines(value, room, name, ",")
        ]
    return [*lead, *(f"{_INDENT}{line}" for line in lines), f"{closed}{after}"]


def _filled(node: ast.expr, room: int) -> list[str]:
    """The items of a long list of names or numbers, as many on a line as fit; else nothing."""
    if not isinstance(node, ast.List) or len(node.elts) <= _MANY:
        return []
    if not all(isinstance(item, ast.Constant) for item in node.elts):
        return []
    lines = [""]
    for item in map(_line, node.elts):
        if len(lines[-1]) + len(item) + 2 > room:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return lines


def _parts(node: ast.expr) -> tuple[str, Sequence[tuple[str, ast.expr]], str] | None:
    """What is between brackets: the items, each with its name; None for what can't be broken."""
    if isinstance(node, ast.Call):
        named = [(f"{k.arg}=" if k.arg else "**", k.value) for k in node.keywords]
        return f"{_line(node.func)}(", [*(("", value) for value in node.args), *named], ")"
    if isinstance(node, ast.List):
        return "[", [("", value) for value in node.elts], "]"
    if isinstance(node, ast.Tuple):
        return "(", [("", value) for value in node.elts], ")"
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_line(key) for key in node.keys if key is not None]
        return "{", [(f"{k}: ", v) for k, v in zip(keys, node.values, strict=True)], "}"
    return None


def _quoted(text: str) -> str:
    """Text between double quotes, unless it has some."""
    found = repr(text)
    return f'"{found[1:-1]}"' if found[0] == "'" and '"' not in text else found
