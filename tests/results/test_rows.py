"""Rows of each class, and missing values."""

from __future__ import annotations

import treeselect
from treeselect.results.tables import class_counts, missing_counts


def test_counts_are_those_of_the_data(mixed, fitted):
    counts = {str(label): int(n) for label, n in mixed["died"].value_counts().items()}
    assert class_counts(fitted._fit) == tuple(sorted(counts.items(), key=lambda own: own[1]))
    incomplete = int(mixed[["noise", "site"]].isna().any(axis=1).sum())
    assert missing_counts(fitted._fit) == ([("noise", 37), ("site", 31)], incomplete)


def test_without_the_data_less_is_known(fitted, tmp_path):
    assert class_counts(treeselect.load(fitted.save(tmp_path / "fit"))._fit) == ()


def test_numbers_have_no_classes(cross_validated):
    assert class_counts(cross_validated._fit) == ()
