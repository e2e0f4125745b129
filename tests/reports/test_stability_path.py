"""The section on frequencies along the path and q-values."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
from quick import stability_of

from treeselect.reports.resamples import stability_path
from treeselect.resampling.resampled import StabilityPath


def stability(counts, scheme="complementary"):
    along = StabilityPath(np.array(counts), 4, 0)
    return stability_of([[1, 0, 0]] * 4, ("a", "<b>", "c"), scheme=scheme, along=along)


def gathered(found):
    groups = SimpleNamespace(terms=[("a",), ("<b>", "d"), ("c",)])
    design = SimpleNamespace(arrays=SimpleNamespace(groups=groups))
    return stability_path(SimpleNamespace(fit=SimpleNamespace(resampled=found, k=1, design=design)))


def test_figure_table_and_q_values():
    section = gathered(stability([[4, 0, 0], [4, 3, 1]]))
    assert [line.name for line in section.figure.series] == ["a", "<b>", "c"]
    assert section.table.columns == ("Units (k)", "a", "<b>", "c")
    assert section.table.rows == (("1", "1.00", "0.00", "0.00"), ("2", "1.00", "0.75", "0.25"))
    assert section.q_values.rows[0][0] == "a"
    assert "Dashed curves are units outside the selection" in section.lead


def test_one_size_has_no_figure_and_a_bootstrap_no_q_values():
    section = gathered(stability([[4, 0, 0]], scheme="bootstrap"))
    assert section.figure is None
    assert section.q_values is None
    assert "line" not in section.lead


def test_nothing_to_say():
    assert gathered(None) is None
    assert gathered(dataclasses.replace(stability([[1, 0, 0]]), along=None)) is None
    assert gathered(stability([[0, 0, 0]])) is None
