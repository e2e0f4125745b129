"""A selection as notebooks show it: the first screen of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.printing.markup import style_sheet, template_folder
from treeselect.reports.material import FitMaterial
from treeselect.reports.render import template_environment
from treeselect.reports.selection import head
from treeselect.reports.selection.terms import terms
from treeselect.resampling.fit import as_shown

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

_TEMPLATE = "notebook.html.j2"


def fit_html(fit: Fit) -> str:
    """HTML without scripts, with a style sheet that applies only to it."""
    material = FitMaterial(as_shown(fit), None, None, versions={}, written="", whole=True)
    found = terms(material)
    return (
        template_environment([template_folder()])
        .get_template(_TEMPLATE)
        .render(
            style=style_sheet(),
            answer=head.answer(material),
            cards=head.cards(material),
            table=found.table if fit.selected else None,
            notes=found.notes,
        )
    )
