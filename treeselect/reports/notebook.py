"""A selection as notebooks show it: the answer and the table of terms of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.printing import notebook
from treeselect.reports.material import FitMaterial
from treeselect.reports.selection.answer import gather
from treeselect.results.summary import summarise

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def fit_html(fit: Fit) -> str:
    """HTML without a script, whose style holds for it alone."""
    content = summarise(fit).shown()
    material = FitMaterial(fit, performance=None, coefficients=None, versions={}, written="")
    first, *others = gather(material)
    return notebook.boxed(
        [
            notebook.paragraph(first, "answer"),
            *map(notebook.paragraph, others),
            notebook.table(content.columns, content.rows) if content.rows else "",
            notebook.folded("How it was found", notebook.facts(content.facts)),
            notebook.notes(content.notes),
        ]
    )
