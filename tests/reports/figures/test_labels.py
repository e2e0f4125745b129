"""Names that fit beside a figure and stay distinct."""

from __future__ import annotations

import itertools

import pytest

from treeselect.reports.figures.labels import distinct, folded, shorten, spread


@pytest.mark.parametrize("wanted", [[5, 5, 5], [0, 100, 99], [100, 100, 1], [50], []])
def test_labels_are_spread(wanted):
    places = spread(wanted, 10, 0, 100)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    ordered = [places[i] for i in order]
    assert all(b - a >= 9.9 for a, b in itertools.pairwise(ordered))
    assert all(0 <= place <= 100 for place in places)


def test_labels_show_where_names_differ():
    names = [f"probe_{i:05d}_expression" for i in (3, 14, 290)]
    assert distinct(names, 6.2) == ["…00003_…", "…00014_…", "…00290_…"]
    assert distinct(["age", "sex"], 6.0) == ["age", "sex"]
    assert distinct([names[0]] * 2, 6.0)[0] == shorten(names[0], 6.0)


def test_labels_keep_both_ends():
    assert shorten("age") == "age"
    labels = [shorten(f"concentration in the second sample, marker {i:02d}") for i in range(30)]
    assert labels[3].startswith("conc")
    assert len(set(labels)) == 30
    assert len(shorten("W" * 80)) < len(shorten("x" * 80)) < len(shorten("i" * 80)) < 80


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("age", ("age",)),
        ("no checking account or all paid", ("no checking", "account or all paid")),
        ("property_magnitude_of_spouse", ("property_", "magnitude_of_spouse")),
        ("x" * 24, ("x" * 12, "x" * 12)),
        ("", ("",)),
    ],
)
def test_names_are_folded_at_their_gaps(name, lines):
    (found,) = folded([name], 13.0)
    assert "".join(found).replace(" ", "") == name.replace(" ", "")
    assert len(found) == len(lines)


def test_names_of_forty_characters_stay_whole():
    name = "existing credits paid back duly till now"
    assert len(name) == 40
    assert " ".join(folded([name], 13.0)[0]) == name


def test_still_longer_names_are_shortened_and_stay_different():
    names = [f"{'concentration in the sample ' * 3}number {i}" for i in range(4)]
    found = folded(names, 13.0)
    assert all(len(own) == 1 for own in found)
    assert len(set(found)) == 4
    pairs = folded([f"{a} × b" for a in names], 13.0, [(f"{a} ×", "b") for a in names])
    assert all(len(own) == 2 and own[1] == "b" for own in pairs)
    assert len(set(pairs)) == 4
