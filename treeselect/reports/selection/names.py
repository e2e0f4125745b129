"""The names behind the labels, which code needs."""

from __future__ import annotations

from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table, names_table


def gather(material: FitMaterial) -> Table | None:
    """Names and labels, selected terms first; None without labels."""
    return names_table(material.names)
