"""A summary as an object of great_tables, an optional package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.errors import MissingPackageError
from treeselect.printing.columns import column_of
from treeselect.printing.content import SummaryContent

if TYPE_CHECKING:
    from great_tables import GT


def as_gt(content: SummaryContent) -> GT:
    """The table of terms with its title, facts and notes; where there is none, that of the facts.

    Raises
    ------
    MissingPackageError
        Without great_tables.
    """
    try:
        from great_tables import GT
    except ImportError:
        raise MissingPackageError(
            "`as_gt()` needs great_tables, which can't be found.\n"
            "  Install it: pip install 'treeselect[tables]'"
        ) from None
    import pandas as pd

    c = content.shown()
    columns, rows = (c.columns, c.rows) if c.rows else (("Of", "Found"), c.facts)
    said = [*(f"{name}: {value}" for name, value in c.facts if c.rows), *c.notes]
    names = [f"column_{j}" for j in range(len(columns))]
    right = [n for j, n in enumerate(names) if column_of([row[j] for row in rows]).is_number]
    found = (
        GT(pd.DataFrame(rows, columns=names, dtype=object))
        .tab_header(title=c.title)
        .cols_label(dict(zip(names, map(_literal, columns), strict=True)))
        .cols_align("left")
    )
    if right:
        found = found.cols_align("right", columns=right)
    for note in said:
        found = found.tab_source_note(note)
    return found


def _literal(head: str) -> str:
    """A head in which great_tables finds no units of measurement, which it reads in ``{{ }}``."""
    return head.replace("{{", "{ {")
