"""The names behind the labels, which code needs."""

from __future__ import annotations

from treeselect.reports.material import ContestMaterial
from treeselect.reports.parts import Table, names_table


def gather(material: ContestMaterial) -> Table | None:
    """Names and labels; None without labels."""
    return names_table(material.names)
