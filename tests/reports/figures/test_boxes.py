"""No label leaves its figure or covers another, in either form, whatever things are called.

Widths are those of DejaVu Sans, among the widest faces that a browser takes for ``sans-serif``.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from xml.etree import ElementTree

import numpy as np
import pytest
from jinja2 import Environment, FileSystemLoader

from treeselect.printing.markup import template_folder
from treeselect.reports.figures.bars import bar_figure
from treeselect.reports.figures.differences import difference_figure
from treeselect.reports.figures.dots import dot_figure, range_figure
from treeselect.reports.figures.lines import line_figure
from treeselect.reports.figures.panels import panels
from treeselect.reports.figures.path import path_figure
from treeselect.reports.figures.series import Series, series_figure
from treeselect.reports.figures.survival import Steps, survival_figure
from treeselect.results.curves import Curve, CurvePoint

NAMES = {
    "short": ["age", "sex", "class", "fare"],
    "of forty": [f"concentration in the {i}. sample of serum" for i in range(8)],
    "of sixty": [f"concentration_of_a_marker_in_the_second_sample_of_s_{i:08d}" for i in range(8)],
    "wide": [f"病人在过去一年中住院的总天数以及在重症监护室的天数{i}" for i in range(8)],
    "capital": [f"{'WMWM' * 15}{i}" for i in range(8)],
    "Greek": [f"συγκέντρωση του δείκτη στο δεύτερο δείγμα {i}" for i in range(8)],
    "hostile": ["</svg><script>", "a\nb\x00\x1b[31m", "&amp;", "x" * 200, "", " "],
}  # fmt: skip


@functools.cache
def advance(character):
    """Width of a character, as a share of the size of type."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    if unicodedata.east_asian_width(character) in "WF":
        return 1.0  # the face has none
    face = FT2Font(findfont(FontProperties(family="DejaVu Sans")))
    face.set_size(100, 72)
    return face.load_char(ord(character)).linearHoriAdvance / 65536 / 100


def boxes(svg):
    """The boxes of the texts of a drawing: name, left, right, top, bottom."""
    for text in svg.iter("text"):
        kinds, words = text.get("class").split(), text.text or ""
        size = 12.0 if {"tick", "label", "level"} & set(kinds) else 13.0
        if "head" in kinds:
            size *= 1.12  # bold
        wide = size * sum(map(advance, words))
        x, y = float(text.get("x")), float(text.get("y"))
        left = x - wide if "end" in kinds else x - wide / 2 if "middle" in kinds else x
        if words.strip():
            yield words, left, left + wide, y - 0.75 * size, y + 0.2 * size


def check(page):
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert drawings
    for drawing in drawings:
        svg = ElementTree.fromstring(drawing)
        _, _, width, height = map(float, svg.get("viewBox").split())
        found = list(boxes(svg))
        for words, left, right, top, bottom in found:
            assert 0 <= left <= right <= width, (words, left, right, width)
            assert 0 <= top <= bottom <= height, (words, top, bottom, height)
        for a, b in itertools.combinations(found, 2):
            apart = a[2] <= b[1] or b[2] <= a[1] or a[4] <= b[3] + 1 or b[4] <= a[3] + 1
            assert apart, (a, b)
        for mark in svg.iter("circle"):
            assert 0 <= float(mark.get("cx")) <= width
            assert 0 <= float(mark.get("cy")) <= height


@functools.cache
def environment():
    from treeselect.reports.render import _shown

    return Environment(
        loader=FileSystemLoader(template_folder()), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, finalize=_shown,
    )  # fmt: skip


def drawn(macro, *arguments):
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    template = f'{{% import "figures.svg.j2" as figures %}}{{{{ figures.{macro}({names}) }}}}'
    values = {f"a{i}": argument for i, argument in enumerate(arguments)}
    return environment().from_string(template).render(values)


@pytest.fixture(params=NAMES)
def names(request):
    return NAMES[request.param]


def test_bars(names):
    values = [1 / (i + 1) for i in range(len(names))]
    check(drawn("bars", bar_figure(names, values, 0), "id", "Importance"))
    pairs = list(itertools.pairwise(names))
    texts = [f"{value:.3g}, strength 0.45 (0.30 to 0.60)" for value in values[1:]]
    parts = [(f"{a} ×", b) for a, b in pairs]
    figure = bar_figure([f"{a} × {b}" for a, b in pairs], values[1:], 3, parts=parts, texts=texts)
    check(drawn("bars", figure, "id", "Interactions"))


def test_dots(names):
    n = len(names)
    values = np.linspace(1, 0, n).tolist()
    check(drawn("dots", dot_figure(names, values, [0.0] * n, [1.0] * n, [True] * n, 0), "id", "t"))
    lows, highs = [-1234.5 * (v + 1) for v in values], [2e5 * (v + 1) for v in values]
    mark = ("greatest shadow", 4e5)
    check(drawn("dots", range_figure(names, values, lows, highs, [True] * n, mark, 0), "id", "t"))
    small = [value / 1e3 for value in values]
    lows = [value - 0.0004 for value in small]
    check(drawn("dots", difference_figure(names, small, lows, small, 0), "id", "t"))


@pytest.mark.parametrize("sizes", [[1, 2], list(range(1, 40)), [0, 5, 7129]])
def test_lines(names, sizes):
    values = [[0.125 / (i + 1)] * len(sizes) for i in range(len(names))]
    figure = line_figure(sizes, names, values, [True] * len(names), sizes[1], 4)
    check(drawn("lines", figure, "id", "t", "importance"))
    series = [
        Series(name, i, tuple(map(float, sizes)), tuple(own), tuple(own), (False,) * len(sizes))
        for i, (name, own) in enumerate(zip(names, values, strict=True))
    ]
    check(drawn("series", series_figure(series, 0), "id", "t", names[0]))


@pytest.mark.parametrize("scores", [[0.5, 0.75], [-123456.0, 2e9], [0.0001, 0.00011]])
def test_the_path(names, scores):
    for sizes in ([1, 2], [0, 7129]):
        figure = path_figure(sizes, scores, [0.01, 0.01], sizes[1])
        check(drawn("path", figure, "id", "t", names[-1]))


@pytest.mark.parametrize("last", [0.004, 60.0, 2659.0, 4e9])
def test_survival(names, last):
    ticks = [last * i / 6 for i in range(7)]
    groups = [
        Steps(name, (last / 2, last), (0.9, 0.5), (0.8, 0.4), (1.0, 0.6), (), 0.7)
        for name in names[:3]
    ]
    for horizon in (last / 100, last):
        figure = survival_figure(
            groups, [[12345.0] * 7] * len(groups), ticks, time=names[-1], horizon=horizon
        )
        check(drawn("survival", figure, "id", "t"))


def points(labels, values, effects):
    share = 1 / len(effects)
    return tuple(
        CurvePoint(value, label, share, effect, label == "missing", effect - 1.0, effect + 1.0)
        for label, value, effect in zip(labels, values, effects, strict=True)
    )


@pytest.mark.parametrize("height", [0.001, 1.0, 123456.0])
def test_shapes(names, height):
    effects = np.linspace(height, -height, len(names)).tolist()
    number = list(range(40))
    made = [
        Curve(names[0], names[1], False, f"P({names[3 % len(names)]} = {names[2]})",
              points([*names, "missing"], [None] * (len(names) + 1), [*effects, 0.5]), 3),
        *(
            Curve(names[0], names[1], True, f"linear predictor of {names[2]}",
                  points([*map(str, number), "missing"], [*values, None],
                         np.linspace(-height, height, 41)), 0)
            for values in (
                [float(i) for i in number],
                [1000.0 * 1.5**i for i in number],
                [1.5**i - 1.5**20 for i in number],
                [2e-9 * i for i in number],
                [1e300 * i / 40 for i in number],
            )
        ),
        Curve("x", "x", True, "mean response",
              points(["1990", "2000", "2005"], [1990.0, 2000.0, 2005.0], [0.0, height, 0.0]), 0),
    ]  # fmt: skip
    for shared in (True, False):
        for i, panel in enumerate(panels(made, shared=shared)):
            check(drawn("panel", panel, f"id-{i}"))
