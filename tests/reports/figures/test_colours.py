"""Colours: one set for pages and matplotlib, and contrast enough for everybody (WCAG 2.2)."""

from __future__ import annotations

import re

import pytest

from treeselect.printing.markup import template_folder
from treeselect.reports import colours

TEXT, MARK = 4.5, 3.0


def sheet(dark):
    """The colours of the style sheet by name: those of the page, or of a dark one."""
    text = (template_folder() / "report.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    light, night = (dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in blocks[:2])
    return light | night if dark else light


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


HUES = [f"hue-{i}" for i in range(8)]


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_marks_stand_out_from_the_page(dark):
    found = sheet(dark)
    for name in ("ink", "soft", "accent", *HUES):
        assert contrast(found[name], found["paper"]) >= TEXT, name
    assert contrast(found["faint"], found["paper"]) >= MARK


def test_matplotlib_draws_with_the_colours_of_the_page():
    found = sheet(dark=False)
    assert [found[name] for name in ("accent", "soft", "ink", "faint", "grid")] == [
        colours.ACCENT,
        colours.SOFT,
        colours.INK,
        colours.FAINT,
        colours.GRID,
    ]
    assert list(colours.COLOURS) == [found[name] for name in HUES]
    assert len(set(colours.COLOURS)) == 8
