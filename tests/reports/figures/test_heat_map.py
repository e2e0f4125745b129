"""Maps of pairs: geometry of both forms, and that their text can be read on every shade."""

from __future__ import annotations

import re

import pytest

from treeselect.printing.markup import template_folder
from treeselect.reports.figures.heat_map import DARK, Pair, heat_map
from treeselect.reports.figures.labels import ems


def pair(strength=0.5, negative=False):
    return Pair(f"{strength:.2f}", strength, negative)


def drawn(n, name="a name of many words"):
    names = [f"{name} {i}" for i in range(n)]
    cells = [[None if i == j else pair(i / n) for j in range(n)] for i in range(n)]
    return heat_map(names, [i < 2 for i in range(n)], cells, "all")


@pytest.mark.parametrize("n", [2, 8, 9, 12])
def test_nothing_leaves_the_figure(n):
    figure = drawn(n)
    for form in (figure.wide, figure.narrow):
        boxes = re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", form.diagonal)
        assert len(boxes) == n
        for x, y, width, height in [map(int, box) for box in boxes]:
            assert x >= form.left
            assert x + width <= form.width
            assert y + height <= form.height
            assert width >= 22  # room for three characters of 11 pixels
        assert [len(texts) for _, texts in form.rows] == [n - 1] * n
        strokes = "".join(path for _, path in form.fills)
        assert strokes.count("M") == n * sum(pair(i / n).shade > 0 for i in range(n)) - sum(
            pair(i / n).shade > 0 for i in range(n)
        )
        room = form.width - 26 if form.is_listed else form.left - 26
        for head in form.names:
            size = 11 if form is figure.narrow else 13
            assert sum(map(ems, head.label)) * size <= room
            assert head.inside == (head.number <= 2)


def test_on_a_phone_names_of_many_stand_above():
    few, many = drawn(8).narrow, drawn(9).narrow
    assert not few.is_listed
    assert many.is_listed
    assert many.names[-1].y < many.top
    assert many.names[-1].row_y > many.top
    assert not drawn(12).wide.is_listed


def test_shades_by_hand():
    shades = {0: 0, 0.09: 0, 0.1: 1, 0.29: 1, 0.3: 2, 0.5: 3, 0.69: 3, 0.7: 4, 0.9: 5, 1: 5}
    assert {strength: pair(strength).shade for strength in shades} == shades
    assert [pair(s, True).shade for s in (0.0, 0.3, 0.6, 1.0)] == [0, 2, 3, 3]
    figure = heat_map(["a", "b"], [True, False], [[None, pair(0.8)], [pair(0.4, True), None]], "x")
    assert [name for name, _ in figure.wide.fills] == ["shade-2 minus", "shade-4"]
    assert [text.on_dark for _, (text,) in figure.wide.rows] == [True, False]


def luminance(colour):
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours():
    """Colours of the page on a screen, light and dark, and on paper."""
    text = (template_folder() / "report.css").read_text(encoding="utf-8")
    found, light = {}, {}
    for name, block in zip(
        ("light", "dark", "paper"), re.findall(r":root \{(.*?)\}", text, re.S), strict=True
    ):
        own = re.findall(r"--([\w-]+): ?(#[0-9a-f]+)", block)
        light = light or dict(own)
        found[name] = light | dict(own)
    shades = re.findall(r"svg \.shade-(\d) \{ stroke-opacity: ([\d.]+)", text)
    return found, {0: 0.0, **{int(shade): float(opacity) for shade, opacity in shades}, 5: 1.0}


def rgb(text):
    text = text.lstrip("#")
    text = "".join(c + c for c in text) if len(text) == 3 else text
    return [int(text[i : i + 2], 16) for i in (0, 2, 4)]


@pytest.mark.parametrize("where", ["light", "dark", "paper"])
def test_text_can_be_read_on_every_shade(where):
    found, opacities = colours()
    assert sorted(opacities) == [0, 1, 2, 3, 4, 5]
    assert list(opacities.values()) == sorted(opacities.values())
    known = found[where]
    paper = rgb(known["paper"])
    for fill, most in ((rgb(known["accent"]), 5), (rgb(known["hue-1"]), DARK - 1)):
        for shade, opacity in list(opacities.items())[: most + 1]:
            behind = [p + opacity * (f - p) for f, p in zip(fill, paper, strict=True)]
            text = paper if shade >= DARK else rgb(known["ink"])
            assert contrast(text, behind) >= 4.5, (where, fill, shade)
