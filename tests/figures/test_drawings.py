"""Drawings: no label leaves its figure or covers another, whatever things are called.

Widths are those of DejaVu Sans, among the widest faces that a browser takes for ``sans-serif``.
"""

import dataclasses
import functools
import importlib
import itertools
import re
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from comparison_data import made
from quick import quick_fit
from survival_data import small_fit

from treeselect.figures import charts, marks
from treeselect.figures.shapes import Curve, CurvePoint, panels
from treeselect.figures.svg import drawn
from treeselect.printing.markup import template_folder
from treeselect.reports.pages import write_comparison

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


def check(figure):
    page = drawn(dataclasses.replace(figure, key="id", title="title"))
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


@pytest.fixture(params=NAMES)
def names(request):
    return NAMES[request.param]


def test_bars_and_dots(names):
    values = [1 / (i + 1) for i in range(len(names))]
    check(charts.bar_figure(names, values, 0))
    pairs = list(itertools.pairwise(names))
    texts = [f"{value:.3g}, strength 0.45 (0.30 to 0.60)" for value in values[1:]]
    check(charts.bar_figure([f"{a} × {b}" for a, b in pairs], values[1:], 3, texts=texts))
    n = len(names)
    values = np.linspace(1, 0, n).tolist()
    check(charts.dot_figure(names, [(v, 0.0, 1.0) for v in values], [True] * n, 0))
    wide = [(v, -1234.5 * (v + 1), 2e5 * (v + 1)) for v in values]
    check(charts.dot_figure(names, wide, [True] * n, 0, mark=("greatest shadow", 4e5)))
    check(
        charts.difference_figure(names, [(v / 1e3, v / 1e3 - 0.0004, v / 1e3) for v in values], 0)
    )


@pytest.mark.parametrize("sizes", [[1, 2], list(range(1, 40)), [0, 5, 7129]])
def test_lines(names, sizes):
    values = [[0.125 / (i + 1)] * len(sizes) for i in range(len(names))]
    lines = charts.UnitLines(sizes, names, values, [True] * len(names), more=4)
    check(charts.line_figure(lines, sizes[1], "term"))
    series = [
        marks.Series(
            x=sizes, y=own, low=[0.0] * len(sizes), high=[2 * v for v in own], name=name,
            colour=i, mark=i, ringed=[False] * len(sizes),
        )
        for i, (name, own) in enumerate(zip(names, values, strict=True))
    ]  # fmt: skip
    check(charts.score_figure(series, 0, what=names[0]))


@pytest.mark.parametrize("scores", [[0.5, 0.75], [-123456.0, 2e9], [0.0001, 0.00011]])
def test_the_path(names, scores):
    for sizes in ([1, 2], [0, 7129]):
        check(charts.path_figure(sizes, scores, [0.01, 0.01], sizes[1], score=names[-1]))


@pytest.mark.parametrize("last", [0.004, 60.0, 2659.0, 4e9])
def test_survival(names, last):
    ticks = [last * i / 6 for i in range(7)]
    groups = [
        marks.Series(x=(last / 2, last), y=(0.9, 0.5), low=(0.8, 0.4), high=(1.0, 0.6), name=name)
        for name in names[:3]
    ]
    numbers = [[12345.0] * 7] * len(groups)
    for horizon in (last / 100, last):
        predicted = [0.7] * len(groups)
        check(
            charts.survival_figure(
                groups, predicted, numbers, ticks, time=names[-1], horizon=horizon
            )
        )


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
        for panel in panels(made, shared=shared):
            check(panel)


# --- colours: one set for pages and matplotlib, and contrast enough for everybody (WCAG 2.2) ------

TEXT, MARK = 4.5, 3.0


def palettes():
    """Colours of the page on a screen, light and dark, and on paper."""
    text = (template_folder() / "report.css").read_text(encoding="utf-8")
    found, light = {}, {}
    for name, block in zip(
        ("light", "dark", "paper"), re.findall(r":root \{(.*?)\}", text, re.S), strict=True
    ):
        own = re.findall(r"--([\w-]+): ?(#[0-9a-f]+)", block)
        light = light or dict(own)
        found[name] = light | dict(own)
    return found


def rgb(text):
    """A colour of the style sheet as three numbers."""
    text = text.lstrip("#")
    text = "".join(c + c for c in text) if len(text) == 3 else text
    return [int(text[i : i + 2], 16) for i in (0, 2, 4)]


def luminance(colour):
    parts = [c / 255 for c in rgb(colour)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard_and_matplotlib_has_the_same_colours():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    found = palettes()["light"]
    assert [found[name] for name in ("accent", "soft", "ink", "faint", "grid")] == [
        marks.ACCENT, marks.SOFT, marks.INK, marks.FAINT, marks.GRID,
    ]  # fmt: skip
    assert list(marks.COLOURS) == [found[name] for name in HUES]
    assert len(set(marks.COLOURS)) == 8


HUES = [f"hue-{i}" for i in range(8)]


@pytest.mark.parametrize("where", ["light", "dark"])
def test_text_and_marks_stand_out_from_the_page(where):
    found = palettes()[where]
    for name in ("ink", "soft", "accent", *HUES):
        assert contrast(found[name], found["paper"]) >= TEXT, name
    assert contrast(found["faint"], found["paper"]) >= MARK


WIDTHS = (360, 500, 768, 1280)
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def faults(monkeypatch):
    """What is wrong with a page: (width, what, label)."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    pages = importlib.import_module("pages")
    if pages.browser() is None:
        pytest.skip(f"needs a browser: none of {', '.join(pages.BROWSER)} is on the PATH")
    monkeypatch.setattr(pages, "WIDTHS", WIDTHS)
    return pages.faults


def long_names(mixed):
    """Names and levels that need room; three classes, skewed numbers, many missing values."""
    rng = np.random.default_rng(1)
    levels = [
        "no checking account, or all paid duly", "病人在过去一年中住院的总天数", "W" * 60, "a",
    ]  # fmt: skip
    data = pd.DataFrame(
        {
            "class": pd.cut(mixed["dose"], 3, labels=["low", "middle of the three", "high"]),
            "concentration_of_the_marker_in_the_second_sample": mixed["signal"],
            "income": np.exp(3 * mixed["signal"] + rng.normal(size=len(mixed))),
            "credit history": rng.choice(levels, len(mixed)),
        }
    )
    data.loc[::3, "income"] = np.nan
    return data


def test_pages_have_no_faults(fitted, faults, tmp_path, mixed):
    assert faults(fitted.report(tmp_path / "page.html")) == []
    fit = quick_fit("`class` ~ .", long_names(mixed), k=3, keep=["credit history"])
    assert faults(fit.report(tmp_path / "page.html")) == []
    assert faults(small_fit().report(tmp_path / "page.html")) == []
    assert faults(write_comparison(made(4, own=(3,)), tmp_path / "page.html")) == []


def test_faults_are_found(faults, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<svg viewBox="0 0 300 50" style="width:300px"><text x="250" y="20">it leaves it</text>'
        '<text x="9" y="20">one</text><text x="20" y="22">other</text></svg>'
        '<p style="width:2000px">too wide</p>'
        '<p class="value" style="width:40px;overflow-wrap:anywhere">interchangeable</p>',
        encoding="utf-8",
    )
    found = faults(page)
    assert {what for _, what, _ in found} == {"leaves", "crosses", "page", "splits"}
    assert {int(width) for width, *_ in found} == set(WIDTHS)
