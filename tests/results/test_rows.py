"""Rows, events and missing values."""

from __future__ import annotations

import treeselect
from treeselect.results.tables import RowFacts, row_facts


def test_counts_are_those_of_the_data(mixed, fitted):
    assert row_facts(fitted._fit) == RowFacts(
        used=400,
        no_response=0,
        no_weight=0,
        events=None,
        classes=tuple(
            sorted(
                ((str(label), int(n)) for label, n in mixed["died"].value_counts().items()),
                key=lambda own: own[1],
            )
        ),
        missing=(("noise", 37), ("site", 31)),
        incomplete=int(mixed[["noise", "site"]].isna().any(axis=1).sum()),
    )


def test_without_the_data_less_is_known(fitted, tmp_path):
    found = row_facts(treeselect.load(fitted.save(tmp_path / "fit"))._fit)
    assert found == RowFacts(400, 0, 0, None, (), None, 0)


def test_numbers_have_no_classes(cross_validated):
    assert row_facts(cross_validated._fit).classes == ()
