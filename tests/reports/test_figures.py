"""Figures: what they hold, and where it is drawn on a page."""

import dataclasses
import itertools
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from treeselect.figures import charts
from treeselect.figures.axes import TICK, width
from treeselect.figures.marks import Series
from treeselect.figures.shapes import MISSING, Curve, CurvePoint, panels, share_scale
from treeselect.figures.svg import drawn
from treeselect.reports import model

NAN = math.nan
NUMBER = re.compile(r"-?\d+\.?\d*")


class Drawing:
    """A drawing of a figure, the wide one first, as positions by class."""

    def __init__(self, figure, number=0):
        page = drawn(dataclasses.replace(figure, key="id", title="title"))
        self.svg = ElementTree.fromstring(re.findall(r"<svg.*?</svg>", page, re.DOTALL)[number])
        _, _, self.width, self.height = map(float, self.svg.get("viewBox").split())

    def all(self, kind, tag=None):
        return [own for own in self.svg.iter(tag) if kind in (own.get("class") or "").split()]

    def texts(self, kind):
        """Words with their positions."""
        return {
            own.text: (float(own.get("x")), float(own.get("y"))) for own in self.all(kind, "text")
        }

    def starts(self, kind):
        """Where the parts of paths of a class begin."""
        paths = "".join(path.get("d") for path in self.all(kind, "path"))
        return [tuple(map(float, own)) for own in re.findall(r"M([-\d.]+) ([-\d.]+)", paths)]

    def points(self, kind, tag="polyline"):
        """The corners of lines of a class, one list for each."""
        return [
            [tuple(map(float, point.split(","))) for point in own.get("points").split()]
            for own in self.all(kind, tag)
        ]

    @property
    def x_ticks(self):
        return {words: x for words, (x, _) in self.texts("middle").items() if words}

    @property
    def y_ticks(self):
        """Heights of grid lines by their labels."""
        return {words: y - 4 for words, (_, y) in self.texts("end").items()}


def heights(texts):
    return sorted(y for _, y in texts.values())


def test_paths_have_dots_and_rings_and_long_axes_round_ticks():
    figure = charts.path_figure([0, 1, 4], [0.5, 0.7, 0.8], [0.0, 0.02, 0.01], 1, score="AUC")
    drawing = Drawing(figure)
    ((a, b, c),) = drawing.points("line")
    assert c[0] - b[0] == pytest.approx(3 * (b[0] - a[0]), abs=0.2)
    (ring,) = drawing.all("ring")
    assert (float(ring.get("cx")), float(ring.get("cy"))) == b
    bars = [list(map(float, NUMBER.findall(own.get("d"))))[:3] for own in drawing.all("error")]
    assert all(high <= y <= low for (_, low, high), (_, y) in zip(bars, (a, b, c), strict=True))
    assert list(drawing.x_ticks)[:5] == ["0", "1", "2", "3", "4"]
    assert drawing.starts("marker") == [(b[0], 30.0)]
    assert figure.text == "0 terms: 0.500; 1 term: 0.700 (chosen); 4 terms: 0.800"
    figure = charts.path_figure([1, 2, 3], [0.5, NAN, 0.75], None, 2, score="AUC", full=(9, 0.5))
    assert figure.series[0].x == [1, 3]
    assert figure.text.endswith("3 terms: 0.750; all 9 terms: 0.500")
    assert "all 9 terms: 0.500" in Drawing(figure).texts("tick")
    assert not any(figure.series[0].ringed)
    figure = charts.path_figure([1, 33], [0.1, 0.9], None, 33, score="AUC")
    assert list(Drawing(figure).x_ticks)[:6] == ["5", "10", "15", "20", "25", "30"]
    assert len(Drawing(figure, 1).x_ticks) <= len(Drawing(figure).x_ticks)


def test_lines_are_told_apart_and_names_stand_beside_or_below_them():
    values = [[1.0, 0.5, 0.4], [0.0, 0.5, 0.3], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]]
    lines = charts.UnitLines([1, 2, 4], list("abcd"), values, [True] * 3 + [False])
    figure = charts.line_figure(lines, 4, "term")
    assert len({one.mark for one in figure.series}) == 4
    assert [list(one.x) for one in figure.series[1:3]] == [
        [1, 2, 4],
        [2, 4],
    ]  # from where it enters
    assert figure.series[2].text == "c: 2: 0.000, 4: 0.300"
    assert [one.soft for one in figure.series] == [False, False, False, True]
    names = heights(Drawing(figure).texts("name"))
    assert min(b - a for a, b in itertools.pairwise(names)) >= 17.9
    assert all(30 <= height - 4.5 <= 272 for height in names)
    lines = charts.UnitLines(range(1, 200), ["a"], [[0.5] * 199], [True])
    long = charts.line_figure(lines, 3, "term")
    assert sum(long.series[0].marked) <= 20
    assert len(long.series[0].x) == 199
    names = ["age", "sex", "a long name of some thirty letters", "fare"]
    lines = charts.UnitLines([1, 2], names, [[0.5, 0.5]] * 4, [True] * 4)
    figure = charts.line_figure(lines, 2, "term")
    drawing = Drawing(figure, 1)
    at = drawing.texts("name")
    assert all(y > 222 + 50 for _, y in at.values())
    assert not drawing.all("leader")
    age, sex, long = at["age"], at["sex"], at[names[2]]
    assert age[1] == sex[1] < long[1]  # side by side as far as there is room
    assert age[0] < sex[0]
    assert max(y for _, y in at.values()) < drawing.height


def line(name, number, sizes, values, errors=None, ringed=None):
    half, ringed = np.array(errors or [0.01] * len(sizes)), ringed or [False] * len(sizes)
    low, high = ((), ()) if np.isnan(half).all() else (list(values - half), list(values + half))
    look = {"colour": number, "mark": number, "ringed": ringed}
    return Series(x=sizes, y=values, low=low, high=high, name=name, **look)


def compared(series):
    return charts.score_figure(series, 0, what="AUC")


def test_error_bars_have_their_length_and_lines_break_where_values_are_missing():
    figure = compared([line(str(i), i, (1, 2, 3), (0.5, 0.6, 0.7)) for i in range(8)])
    drawing = Drawing(figure)
    at_two = [points[1][0] for points in drawing.points("line")]
    assert min(b - a for a, b in itertools.pairwise(at_two)) >= 4.9  # whiskers are 5 wide
    assert np.mean(at_two) == pytest.approx(drawing.x_ticks["2"], abs=0.1)
    crowded = Drawing(compared([line(str(i), i, range(1, 41), [0.5] * 40) for i in range(8)]))
    ticks = list(crowded.x_ticks.values())
    first, *_, last = (points[0][0] for points in crowded.points("line"))
    per_size = (ticks[1] - ticks[0]) / 5
    assert last - first < per_size / 2  # no method stands at another's size
    figure = compared([line("a", 0, (1, 2), (0.5, 0.7), (0.1, NAN))])
    drawing = Drawing(figure)
    (whiskers,) = drawing.all("whiskers")
    low, high = re.fullmatch(r"M\S+ (\S+)V(\S+)m-2\.5 0h5M\S+ (\S+)h5", whiskers.get("d")).group(
        1, 2
    )
    ticks = drawing.y_ticks
    assert (float(low), float(high)) == (ticks["0.4"], ticks["0.6"])
    assert figure.text == "a: 1: 0.500 ± 0.100, 2: 0.700"
    values = (0.1, 0.2, NAN, 0.4, NAN, 0.5, 0.6)
    figure = compared([line("a", 3, range(7), values, [NAN] * 7)])
    drawing = Drawing(figure)
    assert list(map(len, drawing.points("line"))) == [2, 2]  # a point alone is no line
    assert len(drawing.starts("solid")) == 5 + 1  # and one beside the name
    assert drawing.all("hue-3", "g")
    assert not drawing.all("whiskers")
    ringed = [size == 7 for size in range(100)]
    (one,) = compared([line("a", 0, range(100), [0.5] * 100, None, ringed)]).series
    assert sum(one.marked) <= 21
    assert one.marked[7]


def test_labels_do_not_overlap_and_one_size_has_a_place():
    figure = compared(
        [line(c, i, (1, 9), (0.5, 0.7)) for i, c in enumerate("abcdefg")]
        + [line("own", 7, (4.4,), (0.7,))]
    )
    drawing = Drawing(figure)
    names = heights(drawing.texts("name"))
    assert min(b - a for a, b in itertools.pairwise(names)) >= 17.9
    assert len(drawing.all("leader")) == 7
    drawing = Drawing(compared([line("a", 0, (2.6,), (0.5,))]))
    x, y = drawing.starts("solid")[0]
    assert drawing.x_ticks["2"] < x < drawing.x_ticks["3"]
    assert y == pytest.approx(drawing.y_ticks["0.50"])


@pytest.mark.parametrize("number", [0, 1])
def test_bars_keep_proportion_and_ranges_share_an_axis_with_the_marked_one(number):
    figure = charts.bar_figure(["a", "b"], [0.8, 0.2], 0)
    long, short = Drawing(figure, number).all("bar")
    assert long.get("x") == short.get("x")
    assert float(long.get("width")) == pytest.approx(4 * float(short.get("width")), abs=0.3)
    assert figure.text == "a: 0.800; b: 0.200"
    spans = [(3.0, 2.0, 4.5), (-1.0, -2.5, 0.0)]
    figure = charts.dot_figure(["a", "b"], spans, [True, False], 0, mark=("bar", 1.0))
    drawing = Drawing(figure, number)
    filled, hollow = centres(drawing)
    ((marked, _),) = drawing.starts("marker")
    assert hollow < marked < filled
    assert "bar" in drawing.texts("tick")
    ticks = [words for words in drawing.x_ticks if words != "bar"]
    assert ticks == ["−4", "−2", "0", "2", "4", "6"]
    spans = [tuple(map(float, NUMBER.findall(own.get("d")))) for own in drawing.all("error")]
    for low, _, high in spans:
        assert drawing.x_ticks["−4"] <= low < high <= drawing.x_ticks["6"]
    assert figure.text == "a: 3.00 (2.00 to 4.50), selected; b: -1.00 (-2.50 to 0.00); bar: 1.00"


def test_names_stand_beside_their_bars_or_are_broken_or_above():
    long = "the number of nights in the year before"
    figure = charts.bar_figure([long, "age"], [0.8, 0.2], 3)
    wide, narrow = Drawing(figure), Drawing(figure, 1)
    beside, above = wide.all("name"), narrow.all("name")
    assert " ".join(own.text for own in beside[:-1]) == long
    assert above[0].text == long
    assert "end" in beside[0].get("class")
    assert float(beside[0].get("x")) < float(wide.all("bar")[0].get("x"))
    assert above[0].get("class") == "name"
    assert float(above[0].get("y")) < float(narrow.all("bar")[0].get("y"))
    assert "and 3 more" not in drawn(figure)  # the page says so
    texts = ["0.123, strength 0.45 (0.30 to 0.60)"]
    figure = charts.bar_figure(["port_of_embarkation × class_of_ticket"], [1.0], 0, texts=texts)
    wide, narrow = Drawing(figure), Drawing(figure, 1)
    assert list(wide.texts("name")) == ["port_of_embarkation", "× class_of_ticket"]
    assert list(narrow.texts("name")) == ["port_of_embarkation × class_of_ticket"]
    (bar,) = narrow.all("bar")
    assert narrow.texts("tick")[texts[0]][1] > float(bar.get("y")) + 14
    (bar,) = wide.all("bar")
    assert wide.texts("tick")[texts[0]][0] > float(bar.get("x")) + float(bar.get("width"))


def centres(drawing):
    return [float(own.get("cx")) for own in drawing.all("dot") + drawing.all("hollow")]


def test_shares_have_the_whole_axis_and_differences_one_about_zero():
    drawing = Drawing(charts.dot_figure(["a"], [(1.0, 0.2, 1.0)], [True], 0), 1)
    assert list(drawing.x_ticks) == ["0%", "25%", "50%", "75%", "100%"]
    assert centres(drawing) == [drawing.x_ticks["100%"]]
    figure = charts.difference_figure(["a", "b"], [(-0.02, -0.03, -0.01), (-0.01, -0.03, 0.01)], 0)
    assert [row.dots[0].kind for row in figure.rows] == [0, 1]
    for number in (0, 1):
        drawing = Drawing(figure, number)
        ((zero, _),) = drawing.starts("marker")
        assert drawing.x_ticks["0"] == zero
        first, second = (NUMBER.findall(own.get("d"))[2] for own in drawing.all("error"))
        assert float(first) < zero < float(second)
    assert "selected" not in figure.text
    alone = charts.difference_figure(["a", "b"], [(0.0, 0.0, 0.0), (0.1, NAN, NAN)], 0)
    assert [row.dots[0].kind for row in alone.rows] == [1, 1]
    assert alone.rows[1].dots[0].low == 0.1


def steps(name="low", **changed):
    values = {
        "x": (100.0, 200.0, 300.0, 400.0),
        "y": (1.0, 0.75, 0.75, 0.5),
        "low": (NAN, 0.5, 0.5, 0.25),
        "high": (NAN, 1.0, 1.0, 0.75),
        "ticks": ((100.0, 1.0), (300.0, 0.75)),
    }
    return Series(name=name, **values | changed)


def survival(*groups, ticks=(0.0, 200.0, 400.0), counts=(30, 20, 10)):
    predicted, numbers = [0.8] * len(groups), [counts] * len(groups)
    return charts.survival_figure(groups, predicted, numbers, ticks, time="time", horizon=200.0)


def test_steps_tell_of_censored_rows_and_numbers_at_risk_without_seeing_too():
    drawing = Drawing(survival(steps()))
    (path,) = drawing.all("steps")
    x, y = drawing.x_ticks, drawing.y_ticks
    at = [x["0"], y["100%"], x["200"], y["75%"], x["400"], y["50%"], x["400"]]
    assert path.get("d") == "M{:g} {:g}H{:g}V{:g}H{:g}V{:g}H{:g}".format(*at)
    assert drawing.starts("marker")[0][0] == x["200"]
    assert drawing.starts("open") == [(x["200"], pytest.approx(y["100%"] * 0.8 + y["0%"] * 0.2))]
    assert [y + 4 for _, y in drawing.starts("censored")] == [
        drawing.y_ticks["100%"], drawing.y_ticks["75%"],
    ]  # fmt: skip
    (band,) = drawing.all("band")
    right, left = f"H{drawing.x_ticks['400']:g}", f"M{drawing.x_ticks['200']:g} "
    assert band.get("d").startswith(left)
    assert right in band.get("d")
    assert len(re.findall("[MHV]", band.get("d"))) == 4  # the fifth and sixth corner by `z`
    nothing = steps(low=(NAN,) * 4, high=(NAN,) * 4)
    ends = steps(low=(NAN, NAN, NAN, 0.2), high=(NAN, NAN, NAN, 0.4))  # limits without extent
    for group in (nothing, ends):
        assert not Drawing(survival(group)).all("band")
    drawing = Drawing(survival(steps("low"), steps("high")))
    rows = [(own.text, float(own.get("y"))) for own in drawing.all("name", "text")]
    beside = sorted(y for _, y in rows[:2])
    below = [y for _, y in rows[2:]]
    assert [name for name, _ in rows] == ["low", "high"] * 2
    assert drawing.texts("label")["at risk"][1] < below[0] < below[1] < drawing.height
    assert below[1] - below[0] >= 18  # type of 16 pixels on a phone
    assert beside[1] - beside[0] >= 17.9  # although the curves end alike
    at = [own for own in drawing.all("middle", "text") if float(own.get("y")) in below]
    assert [own.text for own in at] == ["30", "20", "10"] * 2
    ticks = [str(drawing.x_ticks[label]) for label in ("0", "200", "400")]
    assert [str(float(own.get("x"))) for own in at] == ticks * 2
    assert survival(steps()).text == "low: 75% at 200, 50% at 400; predicted 80% at 200"
    short = steps(x=(1.0, 2.0, 3.0, 50.0), ticks=())
    assert survival(short, steps("other")).text.startswith("low: 50% at 50;")
    ticks = tuple(float(t) for t in range(0, 401, 50))
    figure = survival(steps("low"), steps("high"), ticks=ticks, counts=[1234.0] * 9)
    drawing = Drawing(figure, 1)
    assert len(drawing.all("name", "text")) == 2
    numbers = [float(own.get("x")) for own in drawing.all("middle") if own.text == "1,234"]
    assert len(numbers) < 2 * 9
    assert numbers[1] - numbers[0] > 35  # what "1,234" needs


def curve(points, *, is_number=True, term="x"):
    made = tuple(
        CurvePoint(value if is_number else None, str(value), 1 / len(points), effect, value is None)
        for value, effect in points
    )
    return Curve(term, "x", is_number, "mean response", made, 0)


def test_effects_that_round_to_zero_have_no_sign():
    table = model._points_table(((curve([(1.0, 2.0), (2.0, -0.001)]),),))
    assert [row[-1] for row in table.rows] == ["2.00", "0.00"]


def test_panels_share_their_scale_and_missing_values_have_room_by_their_share():
    made = [
        curve([(0.0, -1.0), (1.0, 0.5), (None, 0.1)]),
        curve([("a", 0.0), ("b", 0.2)], is_number=False),
    ]
    figures = panels(made)
    first, second = map(Drawing, figures)
    assert set(first.y_ticks) == {"−1.0", "−0.5", "0", "+0.5"}
    assert set(second.x_ticks) <= set(first.y_ticks)
    assert first.starts("axis")[0][1] == first.y_ticks["0"]
    assert second.starts("axis")[0][0] == second.x_ticks["0"]
    assert "+0.20" in Drawing(panels(made, shared=False)[1]).x_ticks
    assert len(first.points("line")[0]) == 2  # missing values are no part of the line
    assert figures[0].text.endswith("lowest, -1, at 0.0; highest, +0.5, at 1.0.")
    steep, flat = curve([(0.0, -1.0), (1.0, 1.0)]), curve([(0.0, -0.01), (1.0, 0.01)])
    assert share_scale([steep, curve([(0.0, 0.0), (1.0, 0.5)])])
    assert not share_scale([steep, flat])
    assert share_scale([steep, curve([(0.0, 0.0), (1.0, 0.0)])])  # no scale makes nothing steep

    def slot(share):
        points = (
            CurvePoint(0.0, "0", (1 - share) / 2, 0.0, False),
            CurvePoint(1.0, "1", (1 - share) / 2, 1.0, False),
            CurvePoint(None, "missing", share, 0.5, True),
        )
        (panel,) = panels([Curve("x", "x", True, "mean response", points, 0)])
        drawing = Drawing(panel)
        return drawing, 314 - drawing.starts("marker")[0][0]

    few, least = slot(0.001)
    _, wide = slot(0.45)
    assert width(MISSING, TICK) < least < wide
    assert list(few.x_ticks) == ["0", "1", MISSING]
    (square,) = few.all("open")
    assert float(square.get("x")) > few.starts("marker")[0][0]


def test_levels_stand_in_rows_and_panels_may_have_one_value_or_a_flat_curve():
    names = [f"a level of a factor with a long name {i}" for i in range(12)]
    points = [(name, i / 10) for i, name in enumerate(names)]
    drawing = Drawing(panels([curve(points, is_number=False)])[0])
    at = [(float(own.get("cx")), float(own.get("cy"))) for own in drawing.all("dot")]
    assert [x for x, _ in at] == sorted(x for x, _ in at)
    assert min(b[1] - a[1] for a, b in itertools.pairwise(at)) > 30  # two lines
    assert drawing.height > at[-1][1]
    assert {"8%", "rows"} <= set(drawing.texts("end"))
    level = curve([(float(i), 0.0) for i in range(20)], term="log(x)")
    drawn = panels([curve([(3.0, 0.0)]), level, curve([(None, 0.5)])])
    single, flat, lost = map(Drawing, drawn)
    assert list(single.x_ticks) == ["3"]
    assert single.starts("value")[0][0] == single.x_ticks["3"]
    assert flat.x_ticks.pop("x") > 0  # the variable is named below the axis
    places = [x for words, x in flat.x_ticks.items() if words != "x"]
    assert 3 <= len(places) <= 6
    assert all(0 <= place <= 320 for place in places)
    assert list(lost.x_ticks) == ["missing"]


def test_crowded_values_have_an_axis_of_their_own_which_is_said():
    incomes = [10 ** (i / 8) for i in range(40)]
    (log,) = panels([curve([(value, value) for value in incomes])])
    assert log.x.label == "log scale"
    drawing = Drawing(log)
    assert list(drawing.x_ticks)[:5] == ["1", "10", "100", "1,000", "10,000"]
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(drawing.starts("speck"))]
    assert max(gaps) - min(gaps) < 0.3
    fares = [0.0, *(value - 1 for value in incomes[1:])]
    (ranks,) = panels([curve([(value, value) for value in fares], term="sqrt(x)")])
    assert ranks.x.label == "x, rank scale"
    assert ranks.strip
    assert {"0", "100"} <= set(Drawing(ranks).x_ticks)
    (linear,) = panels([curve([(float(i), 0.0) for i in range(40)])])
    assert linear.x.label == ""


def test_bands_are_drawn_where_they_are_known():
    points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (None, 0.0)]
    made = curve(points)
    ends = [(-1.0, 1.0), (0.0, 6.0), (None, None), (2.0, 4.0), (-2.0, 2.0)]
    banded = dataclasses.replace(
        made,
        points=tuple(
            dataclasses.replace(point, low=low, high=high)
            for point, (low, high) in zip(made.points, ends, strict=True)
        ),
    )
    (panel,) = panels([banded])
    drawing = Drawing(panel)
    (band,) = drawing.points("band", "polygon")  # a single point has no area
    assert len(band) == 4
    assert min(drawing.y_ticks.values()) <= min(y for _, y in band)
    assert panel.series[0].texts[1] == "1.0: +1, 0 to +6 (20.0% of rows)"
    (bar,) = drawing.all("error")  # of missing values
    _, low, high = map(float, NUMBER.findall(bar.get("d"))[:3])
    assert high < low
    assert not Drawing(panels([made])[0]).all("band")


# --- squares -------------------------------------------------------------------------------------

LABELS = ("across", "up")


def dots(x, y, lows, highs, texts):
    return Series(x=x, y=y, low=lows, high=highs, texts=texts, line="")


def test_a_long_curve_has_the_corners_of_its_pixels_and_shares_end_at_1():
    share = np.linspace(0, 1, 20_001).tolist()
    figure = charts.curve_figure(share, [s**0.5 for s in share], LABELS, "words")
    (corners,) = Drawing(figure).points("line")
    ((x, y),) = Drawing(figure).starts("marker")
    assert corners[0] == (x, y)
    assert corners[-1] == (306, 26)
    assert len(corners) < 600
    assert figure.text == "words"
    figure = charts.share_figure(
        dots([0.0, 1.0], [0.5, 1.0], [0.0, 0.9], [1.0, 1.0], ["a", "b"]), LABELS
    )
    drawing = Drawing(figure)
    first, last = drawing.starts("value")
    assert (first[0], last[0]) == (drawing.x_ticks["0.0"], drawing.x_ticks["1.0"])
    assert last[1] == drawing.y_ticks["1.0"]
    assert figure.text == "a; b"
    gap = dots([0.0, 1.0], [NAN, 1.0], [NAN, 0.9], [NAN, 1.0], ["observed nan", "b"])
    assert charts.share_figure(gap, LABELS).text == "b"  # what is not drawn is not said


@pytest.mark.parametrize("kind", [charts.agreement_figure, charts.level_figure])
@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0, 5.0], [-1e9, 0.0, 1e9], [3.0], [1e-12, 2e-12, 3e-12]],
    ids=["plain", "large", "one", "tiny"],
)
def test_values_of_any_size(kind, values):
    lows = [values[0], *[NAN] * (len(values) - 1)]
    drawing = Drawing(kind(dots(values, values, lows, lows, ["text"] * len(values)), LABELS))
    assert all(0 <= x <= 306 and 26 <= y <= 268 for x, y in drawing.starts("value"))
    assert len(drawing.all("error")) == 1  # none where an interval is not known
    if kind is charts.level_figure:
        (start,) = drawing.starts("marker")
        assert 26 <= start[1] <= 268
        assert "H" in drawing.all("marker")[0].get("d")
