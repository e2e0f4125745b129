"""Figures with matplotlib: they show the tables; what can't be shown; nothing is left behind."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from comparison_data import made
from quick import quick_fit
from survival_data import small_fit

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection
from quick import burnt

import treeselect
from treeselect.comparison.methods import score_lines
from treeselect.errors import (
    DataError,
    MissingPackageError,
    OptionError,
    StabilityError,
    TreeselectError,
)
from treeselect.figures.charts import UnitLines, line_figure
from treeselect.figures.plotting import plotted
from treeselect.reports.plots import CONTEST_KINDS, KINDS
from treeselect.results.shapes import shape_table
from treeselect.results.tables import selected_first

HOSTILE = "$a_{b$ _%"


@pytest.fixture(autouse=True)
def closed():
    """Every figure is drawn whole, without a warning, and closed."""
    before = dict(matplotlib.rcParams)
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="module")
def classes(mixed):
    data = mixed.assign(dose=pd.cut(mixed["dose"], 3, labels=["low", "middle", "high"]))
    return treeselect.select("dose ~ . - died", data, k=3, seed=1, method="rrf", n_trees=20)


@pytest.fixture(scope="module")
def hostile(mixed):
    data = mixed.rename(columns={"signal": HOSTILE, "site": "_site"})
    data["_site"] = data["_site"].cat.rename_categories({"York": "$Y$ork"})
    return quick_fit("died ~ . - dose - copy", data, k=3)


def texts(axis_labels):
    return [label.get_text() for label in axis_labels]


REFUSED = {
    "risk_groups": "need a survival response", "stability": "without resamples",
}  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "substitutes"])
@pytest.mark.parametrize("name", ["fitted", "cross_validated", "classes", "hostile"])
def test_every_kind_of_every_result(kind, name, request):
    fit = request.getfixturevalue(name)
    drawn = kind not in REFUSED or (kind == "stability" and fit._fit.resampled is not None)
    if drawn:
        ax = fit.plot(kind, term=fit.selected[0] if kind == "shape" else None)
        assert isinstance(ax, matplotlib.axes.Axes)
    else:
        with pytest.raises((OptionError, StabilityError), match=REFUSED[kind]):
            fit.plot(kind)
    assert len(plt.get_fignums()) == drawn


def test_axes_of_the_user_are_drawn_on(fitted, four):
    figure = matplotlib.figure.Figure()
    ax = figure.subplots()
    assert fitted.plot("importance", ax=ax) is ax
    assert plt.get_fignums() == []  # pyplot knows nothing of it
    ax = matplotlib.figure.Figure().subplots()
    assert four.plot(ax=ax) is ax
    assert plt.get_fignums() == []  # pyplot knows nothing of it


def test_figures_of_paths_importances_and_frequencies_show_the_tables(cross_validated, fitted):
    fit = cross_validated
    line = next(own for own in fit.plot("path").lines if own.get_marker() == "o")
    np.testing.assert_allclose(line.get_xdata(), fit.path["k"])
    np.testing.assert_allclose(line.get_ydata(), fit.path["cv_score"])
    ax = fit.plot("importance")
    assert texts(ax.get_yticklabels()) == list(fit.groups)
    widths = [bar.get_width() for bar in ax.patches]
    assert [text.get_text() for text in ax.texts] == [f"{width:.3f}" for width in widths]
    tidy = fit.tidy().query("selected")
    np.testing.assert_allclose(widths, tidy["importance"])
    assert ax.yaxis_inverted()
    ax = fitted.plot("stability")
    table = selected_first(fitted.stability.tidy(), 30, 50)
    assert texts(ax.get_yticklabels()) == table["term"].to_list()
    drawn = np.concatenate([line.get_xdata() for line in ax.lines])
    np.testing.assert_allclose(sorted(drawn), sorted(table["frequency"]))
    ax = fitted.plot()
    tidy = fitted.tidy().query("selected")
    names = texts(ax.get_yticklabels())
    assert names[:2] == tidy["term"].to_list()  # most important first
    table = fitted.stability.tidy().set_index("term")
    assert set(names) == set(table.index)
    worth = [*tidy["importance"], *[0.0] * (len(names) - 2)]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], worth)
    drawn = {line.get_label(): line for line in ax.lines}
    filled = drawn["frequency, selected"]
    np.testing.assert_allclose(filled.get_xdata(), table["frequency"][names[:2]])
    assert drawn["frequency, not selected"].get_markerfacecolor() == "white"
    assert not cross_validated.plot().lines  # without resamples importances only
    kept = fitted.update(keep="noise", k=2, resamples=6).plot("stability")
    assert texts(kept.get_yticklabels())[0] == "noise (forced in)"
    (own,) = [s for c in kept.collections for s in c.get_segments() if s[0, 1] == 0]
    assert (own[:, 0] == 1).all()  # no interval
    n = 4
    lines = UnitLines(range(1, 6), list("abcd"), [[0.5] * 5] * n, [True] * n)
    ax = plotted(line_figure(lines, 3, "term"), None, (7.2, 4.2))
    assert len(ax.texts) == n
    heights = sorted(text.xyann[1] for text in ax.texts)
    assert min(np.diff(heights), default=1) > 0.05  # of the height of the axes
    marks = [line.get_marker() for line in ax.lines if line.get_marker() != "None"]
    assert len(marks) == 2 * n  # of each line, and beside its name
    assert len(set(marks)) == n


def test_risk_groups_have_curves_numbers_at_risk_and_predictions():
    fit = small_fit()
    ax = fit.plot("risk_groups")
    found = fit.model.risk_groups()
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    assert [line.get_ydata()[0] for line in hollow] == found.predicted.tolist()
    steps = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    assert [line.get_ydata()[-1] for line in steps] == [c.survival[-1] for c in found.curves]
    assert len({line.get_linestyle() for line in steps}) == 2  # all but the first are dashed
    said = [text.get_text() for text in ax.texts]
    counts = found.at(ax.get_xticks())["at_risk"]
    assert "at risk" in said
    assert [text for text in said if text.isdigit()] == [f"{n:.0f}" for n in counts]
    assert [said.count(name) for name in found.names] == [2, 2, 2]
    assert ax.get_xlabel() == "time"


def test_the_map_of_pairs_is_symmetric(classes):
    ax = classes.plot("correlation")
    values = ax.images[0].get_array().filled(np.nan)
    np.testing.assert_array_equal(values, values.T)
    assert np.isnan(values.diagonal()).all()
    table = classes.data.neighbours(most=100).query("other in @classes.selected")
    names = texts(ax.get_xticklabels())
    for row in table.to_dict("records"):
        value = values[names.index(row["term"]), names.index(row["other"])]
        assert value == pytest.approx(row["association"])
    written = {text.get_text() for text in ax.texts}
    assert written == {f"{value:.2f}" for value in table["association"]}


def test_interactions_are_bars_in_the_order_of_their_table(classes):
    ax = classes.plot("interactions")
    table = classes.model.interactions()
    pairs = [f"{a} × {b}" for a, b in zip(table["term"], table["other"], strict=True)]
    assert texts(ax.get_yticklabels()) == pairs
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["size"])
    assert [text.split(" ")[-1] for text in texts(ax.texts)] == [
        f"{strength:.2f}" for strength in table["strength"]
    ]


def test_shapes_of_numbers_and_of_missing_values(fitted, mixed):
    ax = fitted.plot("shape", term="signal")
    shape = fitted.model.shape("signal").dropna()
    line = ax.lines[1]
    part = np.array_split(np.arange(len(shape)), 20)  # all have about the same share
    for name, drawn in (("signal", line.get_xdata()), ("effect", line.get_ydata())):
        own = shape[["share", name]].to_numpy()
        means = [np.average(own[rows, 1], weights=own[rows, 0]) for rows in part]
        assert len(drawn) == 20
        np.testing.assert_allclose(drawn, means, atol=0.15 * np.ptp(own[:, 1]))
        assert np.mean(drawn) == pytest.approx(np.average(own[:, 1], weights=own[:, 0]), abs=0.02)
    assert ax.get_ylabel() == "centred effect on P(died = True)"
    fit = burnt("dose ~ noise", mixed, k=1)
    ax = fit.plot("shape", term="noise")
    assert texts(ax.get_xticklabels())[-1] == "missing"
    known = ax.lines[1].get_xdata()
    (lost,) = [line for line in ax.lines if line.get_marker() == "s"]
    assert max(known) < lost.get_xdata()[0] < ax.get_xlim()[1]
    assert lost.get_markerfacecolor() == "white"
    assert ax.get_ylabel() == "centred effect on the mean response"


def test_figures_of_one_factor_classes_and_a_map_of_two_terms(fitted, classes):
    ax = fitted.plot("shape", term="site")
    shape = fitted.model.shape("site").dropna().sort_values("effect", ascending=False)
    assert texts(ax.get_yticklabels()) == [*shape["site"], "missing"]
    assert ax.yaxis_inverted()
    assert texts(ax.texts)[:4] == ["rows", *(f"{share:.0%}" for share in shape["share"])]
    ax = classes.plot("shape", term="signal")
    assert {t.get_text() for t in ax.get_legend().get_texts()} == {
        f"P(dose = {c})" for c in ("low", "middle", "high")
    }
    ax = fitted.plot("shape", term="signal", other="site")
    table = fitted.model.shape("signal", "site")
    values = ax.images[0].get_array().filled(np.nan)
    assert values.shape == (4, table["signal"].nunique())
    assert np.isfinite(values).sum() == len(table)
    row = table.dropna().iloc[0]
    levels = texts(ax.get_yticklabels())
    assert levels == ["Bath", "Leeds", "York", "missing"]
    x = np.sort(table["signal"].unique()).tolist().index(row["signal"])
    assert values[levels.index(row["site"]), x] == pytest.approx(row["mean"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("signal", "site")
    classes.plot("shape", term=classes.selected[0], other=classes.selected[1])


def test_a_long_path_and_many_terms():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        rng.normal(size=(80, 60)), columns=[f"probe_{i:03d}_expression" for i in range(60)]
    )
    data["y"] = data.iloc[:, :5].sum(axis=1)
    fit = treeselect.select("y ~ .", data, method="controlburn", k=25, seed=1, forests=1, n_trees=5)
    for kind in ("path", "importance", "correlation", "interactions"):
        ax = fit.plot(kind)
    assert len({text.get_text() for text in ax.texts}) == len(ax.texts)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("pth",), r"`kind` must be one of .*\n  Found: 'pth'\. Did you mean `path`\?"),
        ((None,), "`kind` must be one of"),
        (("shape",), "`term` must be given for 'shape'"),
        (("shape", "sgnal"), "Did you mean `signal`"),
        (("shape", "signal", "colour"), "`other` must be a selected term"),
        (("shape", "signal", "signal"), "`other` must use a different variable"),
        (("path", "signal"), "`term` must not be given for 'path'"),
        (("importance", None, "signal"), "`other` must not be given for 'importance'"),
    ],
)
def test_what_can_t_be_plotted(fitted, arguments, says):
    kind, term, other = (*arguments, None, None)[:3]
    with pytest.raises(OptionError, match=says):
        fitted.plot(kind, term=term, other=other)
    assert plt.get_fignums() == []


def test_nothing_or_one_selected_and_terms_of_several_variables(mixed):
    fit = burnt("dose ~ signal:noise + site", mixed, k=2)
    with pytest.raises(OptionError, match="a figure shows one variable"):
        fit.plot("shape", term="signal:noise")
    empty = burnt("dose ~ . - died", mixed, lam=1e9)
    for kind in ("importance", "correlation", "interactions"):
        with pytest.raises(OptionError):
            empty.plot(kind)
    with pytest.raises(OptionError, match=r"two steps with a score\.\n  With a score: k = 0\."):
        empty.plot("path")
    one = burnt("dose ~ signal", mixed, k=1)
    with pytest.raises(OptionError, match="at least two selected terms"):
        one.plot("interactions")


def test_axes_of_scores_counts_and_shares(cross_validated, fitted):
    """Scores of at most 1, and whole numbers of units."""
    ax = cross_validated.plot("path")
    assert ax.get_ylim()[1] <= 1
    ticks = ax.get_xticks()
    assert len(ticks) > 1
    np.testing.assert_array_equal(ticks, np.round(ticks))
    ax = matplotlib.figure.Figure().subplots()
    ax.plot([-5, 30], [-3, 2])
    cross_validated.plot("path", ax=ax)  # what is there stays in view
    assert ax.get_xlim()[0] <= -5
    assert ax.get_xlim()[1] >= 30
    assert ax.get_ylim()[0] <= -3
    assert ax.get_ylim()[1] >= 2
    assert fitted.plot("stability").get_xlim() == (0, 1)


def test_without_the_data_or_matplotlib_the_error_says_what_to_do(fitted, tmp_path, monkeypatch):
    loaded = treeselect.load(fitted.save(tmp_path / "fit"))
    loaded.plot("importance")
    for kind, term in (("correlation", None), ("interactions", None), ("shape", "signal")):
        with pytest.raises(DataError, match="without the data"):
            loaded.plot(kind, term=term)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "treeselect\[plot\]"') as caught:
        fitted.plot("path")
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, TreeselectError)


def test_the_module_of_plots_does_not_load_matplotlib():
    script = (
        "import sys, treeselect.reports.plots;"
        " print('matplotlib' in sys.modules, 'jinja2' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_bands_of_shapes(fitted, monkeypatch):
    def banded(result, term, other):
        table = shape_table(result, term, other)
        return table.assign(low=table["effect"] - 0.5, high=table["effect"] + 0.25)

    monkeypatch.setattr("treeselect.results.curves.shape_table", banded)
    ax = fitted.plot("shape", term="signal")
    (band,) = [c for c in ax.collections if isinstance(c, PolyCollection)]
    effect = fitted.model.shape("signal").dropna()["effect"]
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(effect.min() - 0.5)
    assert heights.max() == pytest.approx(effect.max() + 0.25)
    ax = fitted.plot("shape", term="site")
    (bars,) = ax.collections
    assert len(bars.get_segments()) == len(fitted.model.shape("site"))


def test_crowded_values_have_the_axis_of_the_report():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"income": np.exp(2 * rng.normal(size=200)), "x": rng.normal(size=200)})
    data["y"] = np.log(data["income"]) + rng.normal(size=200)
    data["debt"] = data["income"] * (rng.random(200) < 0.7)
    fit = quick_fit("y ~ .", data, k=3)
    ax = fit.plot("shape", term="income")
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "income (log scale)"
    assert "1" in texts(ax.get_xticklabels())
    ax = fit.plot("shape", term="debt")
    assert ax.get_xlabel() == "debt (rank scale)"
    drawn = ax.lines[1].get_xdata()
    assert drawn[0] == 0
    assert (np.diff(drawn) > 0).all()
    assert len(drawn) < 20 < len(fit.model.shape("debt"))


@pytest.fixture(scope="module")
def four():
    return made(4, own=(3,))


@pytest.mark.parametrize("kind", CONTEST_KINDS)
@pytest.mark.parametrize(
    "found",
    [
        made(4, own=(3,)), made(12, range(31), 40, own=(5,), rule=20), made(2, own=(0, 1)),
        made(3, (2, 5, 9), repeats=3), made(2, labels=[HOSTILE, "_hidden"], score_name="_$x$"),
    ],
    ids=["four", "twelve", "no sizes", "list and repeats", "hostile"],
)  # fmt: skip
def test_every_kind_of_every_comparison(found, kind):
    assert isinstance(found.plot(kind), matplotlib.axes.Axes)
    assert len(plt.get_fignums()) == 1


def test_scores_show_the_curves_with_rings_where_methods_are_compared(four):
    ax = four.plot("scores")
    curves = four.curves()
    drawn = {c.get_label().split(",")[0]: c for c in ax.containers}
    assert list(drawn) == four.glance().sort_values("score", ascending=False)["method"].tolist()
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
    rings = [line for line in ax.lines if line.get_fillstyle() == "none"]
    glance = four.glance().sort_values("score", ascending=False)
    np.testing.assert_allclose([ring.get_ydata(orig=False)[0] for ring in rings], glance["score"])
    at = glance["k"].astype(float).fillna(glance["n_selected"])
    assert np.abs([ring.get_xdata(orig=False)[0] for ring in rings] - at).max() < 0.3


def test_of_many_methods_the_best_are_shown():
    found = made(12, range(31), 40)
    names = texts(found.plot("scores").get_legend().get_texts())
    assert len(names) == 9
    assert names[-1] == "and 4 more"
    best = found.glance().sort_values("score", ascending=False)["method"].head(8)
    assert [name.split(",")[0] for name in names[:-1]] == best.tolist()


def test_no_score_is_above_what_is_possible_and_the_constant_model_left_out():
    found = made(2, own=(1,))
    line, point = score_lines(found)
    assert line.curve["size"].to_list() == list(range(1, 10))
    assert len(point.curve) == 1
    assert point.size == "(5.0)"
    nothing = made(1, (0, 1, 2), n_units=4)
    for fold in nothing.runs[0].folds:
        fold.scores[:] = 0.5
    (line,) = score_lines(nothing)  # the smallest of equal sizes is nothing
    assert line.curve["size"].to_list() == [0, 1, 2]
    assert line.curve["compared"].to_list() == [True, False, False]
    found = made(2, (1, 2))
    for run in found.runs:
        for fold in run.folds:
            fold.scores[:] = [0.97, 1.0]
    for fold in found.runs[0].folds[1:]:
        fold.scores[0] = 0.999
    ax = found.plot("scores")
    assert ax.get_ylim()[1] == 1
    bars = ax.collections[0].get_segments()
    assert max(end[1] for _, end in bars) <= 1


def test_differences_have_their_intervals(four):
    ax = four.plot("differences")
    table = four.differences().sort_values("difference", ascending=False)
    assert texts(ax.get_yticklabels()) == table["method"].tolist()
    drawn = np.concatenate([line.get_xdata(orig=False) for line in ax.lines[1:]])
    np.testing.assert_allclose(sorted(drawn), sorted(table["difference"]))
    segments = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in segments], table[["ci_low", "ci_high"]])
    assert f"AUC minus AUC of {four.best}" in ax.get_xlabel()
    assert list(ax.lines[0].get_xdata(orig=False)) == [0, 0]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("score", r"`kind` must be one of .*\n  Found: 'score'\. Did you mean `scores`\?"),
        (None, "`kind` must be one of"),
        ("differences", "differences need at least two methods"),
    ],
)
def test_what_can_t_be_plotted_of_a_comparison(kind, says):
    with pytest.raises(OptionError, match=says):
        made(1).plot(kind)
    assert plt.get_fignums() == []


def test_substitutes_show_the_table(cross_validated, mixed):
    # `copy` is as good as `signal`, so they share the place across resamples.
    noisy = mixed["signal"] + np.random.default_rng(2).normal(scale=0.1, size=len(mixed))
    data = mixed.assign(copy=noisy)
    fit = treeselect.select("dose ~ . - died", data, k=1, seed=1, method="importance", n_trees=5)
    copies = fit.resample(12)
    table = copies.stability.substitutes
    ax = copies.plot("substitutes")
    pairs = [f"{row.substitute} for {row.term}" for row in table.itertuples()]
    assert texts(ax.get_yticklabels()) == pairs
    np.testing.assert_allclose(ax.lines[0].get_xdata(), table["share"])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), table["share_otherwise"])
    assert texts(ax.texts) == ["association", *(f"{a:.2f}" for a in table["association"])]
    legend, head = (part.get_window_extent() for part in (ax.get_legend(), ax.texts[0]))
    assert not head.overlaps(legend)
    with pytest.raises(StabilityError, match="without resamples"):
        cross_validated.plot("substitutes")
    whole = burnt("dose ~ signal", mixed, k=1)
    whole = whole.resample(2)
    with pytest.raises(OptionError, match="There are no substitutes to plot"):
        whole.plot("substitutes")
