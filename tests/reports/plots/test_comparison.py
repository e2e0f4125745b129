"""Figures of a comparison: they show the tables, and what can't be drawn."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from comparison_data import made

from treeselect.comparison.methods import score_lines
from treeselect.errors import MissingPackageError, OptionError
from treeselect.reports.plots.comparison import KINDS

HOSTILE = "$a_{b$ _%"


@pytest.fixture(autouse=True)
def closed():
    """Every figure is drawn whole, without a warning, and closed."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.fixture(scope="module")
def four():
    return made(4, own=(3,))


def texts(labels):
    return [label.get_text() for label in labels]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "found",
    [
        made(4, own=(3,)),
        made(12, range(31), 40, own=(5,), rule=20),
        made(2, own=(0, 1)),
        made(3, (2, 5, 9), repeats=3),
        made(2, labels=[HOSTILE, "_hidden"], score_name="_$x$"),
    ],
    ids=["four", "twelve", "no sizes", "list and repeats", "hostile"],
)
def test_every_kind_of_every_comparison(found, kind):
    assert isinstance(found.plot(kind), matplotlib.axes.Axes)
    assert len(plt.get_fignums()) == 1


def test_axes_of_the_user_are_drawn_on(four):
    ax = matplotlib.figure.Figure().subplots()
    assert four.plot(ax=ax) is ax
    assert plt.get_fignums() == []  # pyplot knows nothing of it


def test_scores_show_the_curves(four):
    ax = four.plot("scores")
    curves = four.curve_table()
    drawn = {c.get_label().split(",")[0]: c for c in ax.containers}
    assert (
        list(drawn) == four.glance_table().sort_values("score", ascending=False)["method"].tolist()
    )
    for method, container in drawn.items():
        rows = curves[(curves["method"] == method) & (curves["n_selected"] > 0)]
        line, _, (bars,) = container
        np.testing.assert_allclose(line.get_ydata(orig=False), rows["score"])
        size = rows["n_selected"] if rows["k"].isna().all() else rows["k"].astype(float)
        assert np.abs(line.get_xdata(orig=False) - size).max() < 0.3  # moved aside, and no more
        heights = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
        np.testing.assert_allclose(heights, 2 * rows["standard_error"])
    places = [tuple(container[0].get_xdata(orig=False)[:1]) for container in drawn.values()]
    assert len(set(places)) == 4
    assert len({container[0].get_marker() for container in drawn.values()}) == 4


def test_rings_are_where_methods_are_compared(four):
    ax = four.plot("scores")
    rings = [line for line in ax.lines if line.get_fillstyle() == "none"]
    glance = four.glance_table().sort_values("score", ascending=False)
    np.testing.assert_allclose([ring.get_ydata(orig=False)[0] for ring in rings], glance["score"])
    at = glance["k"].astype(float).fillna(glance["n_selected"])
    assert np.abs([ring.get_xdata(orig=False)[0] for ring in rings] - at).max() < 0.3


def test_of_many_methods_the_best_are_shown():
    found = made(12, range(31), 40)
    names = texts(found.plot("scores").get_legend().get_texts())
    assert len(names) == 9
    assert names[-1] == "and 4 more"
    best = found.glance_table().sort_values("score", ascending=False)["method"].head(8)
    assert [name.split(",")[0] for name in names[:-1]] == best.tolist()


def test_the_constant_model_is_left_out_unless_it_is_compared():
    found = made(2, own=(1,))
    line, point = score_lines(found)
    assert [p.size for p in line.points] == list(range(1, 10))
    assert len(point.points) == 1
    assert point.size == "(5.0)"
    nothing = made(1, (0, 1, 2), n_units=4)
    for fold in nothing.runs[0].folds:
        fold.scores[:] = 0.5
    (line,) = score_lines(nothing)  # the smallest of equal sizes is nothing
    assert [(p.size, p.compared) for p in line.points] == [(0, True), (1, False), (2, False)]


def test_the_front_has_its_errors_and_whole_numbers_of_units():
    found = made(3, (2,), rule=2)
    ax = found.plot("front")
    table = found.ranked_table()
    (bars,) = ax.collections
    heights = [end[1] - start[1] for start, end in bars.get_segments()]
    np.testing.assert_allclose(heights, 2 * table["standard_error"])
    assert ax.get_ylim()[1] - ax.get_ylim()[0] >= 4 * table["standard_error"].max()
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert ticks == [2]


def test_no_score_above_what_is_possible():
    found = made(2, (1, 2))
    for run in found.runs:
        for fold in run.folds:
            fold.scores[:] = [0.97, 1.0]
    for fold in found.runs[0].folds[1:]:
        fold.scores[0] = 0.999
    for kind in ("scores", "front"):
        ax = found.plot(kind)
        assert ax.get_ylim()[1] == 1
        bars = ax.collections[0].get_segments()
        assert max(end[1] for _, end in bars) <= 1


def test_differences_have_their_intervals(four):
    ax = four.plot("differences")
    table = four.difference_table().sort_values("difference", ascending=False)
    assert texts(ax.get_yticklabels()) == table["method"].tolist()
    np.testing.assert_allclose(ax.lines[1].get_xdata(orig=False), table["difference"])
    segments = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in segments], table[["ci_low", "ci_high"]])
    assert f"AUC minus AUC of {four.best}" in ax.get_xlabel()
    assert list(ax.lines[0].get_xdata(orig=False)) == [0, 0]


def test_the_front_is_marked(four):
    ax = four.plot("front")
    glance = four.glance_table()
    for line, inside in zip(ax.lines, (True, False), strict=True):
        rows = glance[glance["front"] == inside].sort_values("score", ascending=False)
        np.testing.assert_allclose(line.get_xdata(orig=False), rows["n_selected"])
        np.testing.assert_allclose(line.get_ydata(orig=False), rows["score"])
    labels = texts(ax.texts)
    for row in glance.itertuples():
        assert f"{row.method} ({row.stability:.2f})" in labels
    heights = sorted(text.xyann[1] for text in ax.texts)
    assert min(np.diff(heights)) > 0.059


def test_undefined_stability_is_a_dash():
    found = made(2, (1, 4), n_units=4, rule=4)  # all four units in every fold
    assert set(texts(found.plot("front").texts)) == {"method0 (–)", "method1 (–)"}


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("score", r"`kind` must be one of .*\n  Found: 'score'\. Did you mean `scores`\?"),
        (None, "`kind` must be one of"),
        ("differences", "differences need at least two methods"),
    ],
)
def test_what_can_t_be_plotted(kind, says):
    with pytest.raises(OptionError, match=says):
        made(1).plot(kind)
    assert plt.get_fignums() == []


def test_one_method_has_scores_and_a_front():
    one = made(1)
    (label,) = texts(one.plot("scores").get_legend().get_texts())
    assert label.startswith("method0, k = ")
    front = one.plot("front")
    at = one.glance().iloc[0]
    (x,), (y,) = front.get_lines()[0].get_data()
    assert (x, y) == (at["n_selected"], at["score"])


def test_without_matplotlib_the_error_says_what_to_install(four, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "treeselect\[plot\]"'):
        four.plot()


def test_the_module_does_not_load_matplotlib():
    script = (
        "import sys, treeselect.reports.plots.comparison;"
        "print([name in sys.modules for name in ('matplotlib', 'jinja2')])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[False, False]"
