"""The directive ``names``: a table of public names, a line each, and then their docstrings.

Below it stand full names, one a line, as in::

    ```{names}
    treeselect.select
    treeselect.SelectionResult.k
    ```
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.ext.autosummary import import_by_name
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("names", Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Names(SphinxDirective):
    """The directive; autosummary makes its table, autodoc and numpydoc its entries."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Nodes of table and entries."""
        names = [line.strip() for line in self.content if line.strip()]
        lines = ["```{eval-rst}", ".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   ~{name}" for name in names]
        for name in names:
            lines += ["", f".. auto{kind(name)}:: {name}"]
        place = nodes.Element()
        text = StringList([*lines, "```"], source=self.get_source_info()[0])
        self.state.nested_parse(text, self.content_offset, place)
        return place.children


def kind(name: str) -> str:
    """What a public name stands for, in the words of autodoc.

    Examples
    --------
    >>> kind("treeselect.select"), kind("treeselect.SelectionResult.k")
    ('function', 'property')
    """
    _, found, parent, _ = import_by_name(name)
    if inspect.ismodule(found):
        return "module"
    if inspect.isclass(found):
        return "exception" if issubclass(found, Exception) else "class"
    if not inspect.isclass(parent):
        return "function"
    static = inspect.getattr_static(parent, name.rpartition(".")[2])
    return "property" if isinstance(static, property | cached_property) else "method"
