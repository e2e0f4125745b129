"""Names that fit beside a figure and stay distinct."""

from __future__ import annotations

import itertools

import pytest

from treeselect.reports.figures.labels import distinct, shorten, spread


@pytest.mark.parametrize("wanted", [[5, 5, 5], [0, 100, 99], [100, 100, 1], [50], []])
def test_labels_are_spread(wanted):
    places = spread(wanted, 10, 0, 100)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    ordered = [places[i] for i in order]
    assert all(b - a >= 9.9 for a, b in itertools.pairwise(ordered))
    assert all(0 <= place <= 100 for place in places)


def test_labels_show_where_names_differ():
    names = [f"probe_{i:05d}_expression" for i in (3, 14, 290)]
    assert distinct(names, 6.0) == ["…00003_…", "…00014_…", "…00290_…"]
    assert distinct(["age", "sex"], 6.0) == ["age", "sex"]
    assert distinct([names[0]] * 2, 6.0)[0] == shorten(names[0], 6.0)


def test_labels_keep_both_ends():
    assert shorten("age") == "age"
    labels = [shorten(f"concentration in the second sample, marker {i:02d}") for i in range(30)]
    assert labels[3].startswith("conc")
    assert len(set(labels)) == 30
    assert len(shorten("W" * 40)) < len(shorten("x" * 40)) < len(shorten("i" * 40)) < 40
