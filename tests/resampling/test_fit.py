"""Effects that a fit holds, by hand; and what is shown of a fit with labels, and what is not."""

import dataclasses
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from comparison_data import made
from quick import WITH_GAPS, changed

from treeselect.errors import OptionError
from treeselect.reports.pages import gather, gather_comparison
from treeselect.reports.render import COMPARISON, render
from treeselect.resampling.fit import LEAST_RESAMPLES, as_shown
from treeselect.results.curves import curves
from treeselect.results.effects import direction, steps
from treeselect.results.shapes import intervals


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([0.0, 1.0, 2.0], "up"),
        ([2.0, 1.0, 0.0], "down"),
        ([4.0, 1.0, 0.0, 1.0, 4.0], "mixed"),
        ([0.0, 10.0, 7.0], "up"),  # two means of 8.5 leave 4.5 of 52.7
        ([0.0, 10.0, 6.0], "mixed"),  # two means of 8 leave 8 of 50.7
        ([2.0, 0.0, 10.0], "up"),
        ([0.0, 4.0, 3.5, 8.0, 7.5, 7.2, 6.9], "up"),
        ([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], "mixed"),
        ([10.0, 11.0, 0.0], "down"),
        ([3.0, 3.0, 3.0], "flat"),
        ([0.1 + 0.2, 0.3], "flat"),
        ([5.0], "flat"),
        ([], "flat"),
    ],
)
def test_direction(curve, expected):
    assert direction(np.array(curve), np.ones(len(curve))) == expected


def test_directions_turn_with_sign_and_axis_and_few_rows_have_no_say():
    curve, share = np.array([9.0, 0.0, 1.0, 2.0, -3.0]), np.full(5, 0.32)
    share[[0, -1]] = 0.02
    assert direction(curve, share) == "up"
    share[[0, 2]] = 0.03, 0.31
    assert direction(curve, share) == "mixed"
    share[-1] = 0.9
    assert direction(curve[1:], share[1:]) == "down"
    rng = np.random.default_rng(0)
    turned = {"up": "down", "down": "up", "mixed": "mixed", "flat": "flat"}
    for _ in range(200):
        curve = np.cumsum(rng.normal(0.5, 1, size=6))
        share = np.ones(6)
        opposite = turned[direction(curve, share)]
        assert direction(-curve, share) == direction(curve[::-1], share) == opposite


def test_intervals_are_percentiles_of_what_is_known_and_steps_need_ends():
    n = 41
    values = np.arange(n, dtype=float)[:, np.newaxis, np.newaxis] * [[[1.0], [10.0], [1.0]]]
    values[:1, 1] = np.nan
    values[LEAST_RESAMPLES - 1 :, 2] = np.nan
    low, high, count = intervals(values)
    assert count.ravel().tolist() == [n, n - 1, LEAST_RESAMPLES - 1]
    np.testing.assert_allclose(
        low.ravel(), [1.0, 19.75, np.nan]
    )  # places 1 of 0..40, .975 of 1..40
    np.testing.assert_allclose(high.ravel(), [39.0, 390.25, np.nan])
    found = steps(np.array([[1.0, 2.0], [4.0, 1.0]]), np.array([[0, 1], [-1, -1]]))
    np.testing.assert_array_equal(found, [[3.0, -1.0], [np.nan, np.nan]])


# --- what is shown of a fit with labels, and what stays under its names --------------------------


pytestmark = WITH_GAPS


LABELS = {
    "copy": "The same signal once more",
    "died": "Death within 30 days",
    "signal": "Signal <b>(mV)</b>\N{RIGHT-TO-LEFT OVERRIDE} `",
    "site": "Hospital in which the patient was treated, in the year of the first admission",
}

WHEN = {"written": "now", "versions": {"treeselect": "0"}}


def with_labels(fit, labels=LABELS):
    return changed(fit, design=dataclasses.replace(fit.data.design, labels=labels))


@pytest.fixture(scope="module")
def labelled(fitted):
    return with_labels(fitted)


def heads(found):
    """First cells of a summary's table."""
    return [row[0] for row in found.summary().content.rows]


def numbers(page):
    """All decimals in the text of a page."""
    return sorted(re.findall(r"\d+\.\d+", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)))


def test_names_stay_names_in_tables_and_the_summary_speaks_in_labels(fitted, labelled):
    assert (labelled.selected, labelled.formula) == (fitted.selected, fitted.formula)
    pd.testing.assert_frame_equal(labelled.tidy(), fitted.tidy())
    pd.testing.assert_frame_equal(labelled.model.effects(), fitted.model.effects())
    pd.testing.assert_frame_equal(labelled.stability.tidy(), fitted.stability.tidy())
    pd.testing.assert_frame_equal(labelled.model.shape("site"), fitted.model.shape("site"))
    text = " ".join(labelled.summary().as_text().split())
    assert LABELS["site"] in text
    assert "Signal <b>(mV)</b>\\u202e `" in text
    assert f"`site` is {LABELS['site']}" in text
    assert "`died` is Death within 30 days" in text


def test_a_fit_is_shown_once_in_labels_and_a_report_has_their_names(fitted, labelled):
    assert as_shown(fitted._fit) is fitted._fit
    assert "Names in code" not in fitted.summary().as_text()
    assert gather(fitted._fit, **WHEN).names is None
    shown = as_shown(labelled._fit)
    assert as_shown(shown) is shown
    assert shown.formula == labelled.formula
    assert set(shown.stability.units) == {
        "The same signal once more", "Signal <b>(mV)</b>\N{RIGHT-TO-LEFT OVERRIDE} `",
        LABELS["site"], "noise", "colour", "flag",
    }  # fmt: skip
    own, plain = (gather(fit._fit, **WHEN) for fit in (labelled, fitted))
    assert numbers(render(own)) == numbers(render(plain))
    assert own.title == "Which terms predict Death within 30 days?"
    page = render(gather(labelled._fit, **WHEN))
    assert "Signal &lt;b&gt;(mV)&lt;/b&gt;\\u202e `" in page
    assert "<b>(mV)" not in page
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    table = gather(labelled._fit, **WHEN).names.table
    assert table.columns == ("Name", "Label")
    assert dict(table.rows) == LABELS


def texts(value):
    """All texts that sections have gathered."""
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            yield from texts(getattr(value, part.name))
    elif isinstance(value, Mapping):
        yield from texts([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts(part)


def test_no_section_has_a_name_that_has_a_label(labelled):
    found = vars(
        gather(
            labelled._fit, performance=labelled.performance(2),
            coefficients=labelled.model.coefficient_stability(), **WHEN,
        )
    )  # fmt: skip
    del found["names"]
    bare = {section: {*texts(own)} & {*LABELS} for section, own in found.items()}
    assert not {section: names for section, names in bare.items() if names}


def test_figures_are_asked_for_by_name_and_bear_labels(labelled):
    assert curves(labelled._fit, "site")[0].variable == "site"
    assert curves(as_shown(labelled._fit), LABELS["site"])[0].variable == LABELS["site"]
    pytest.importorskip("matplotlib")
    ax = labelled.plot("shape", term="site")
    assert ax.get_title(loc="left").startswith("Hospital")
    with pytest.raises(OptionError, match="must be a selected term") as error:
        labelled.plot("shape", term=LABELS["site"])
    assert "`site`" in str(error.value)


def test_tables_performance_and_importance_are_printed_in_labels(labelled):
    found = labelled.refit("glm")
    assert f"{LABELS['site']}: Leeds" in heads(found)
    assert "Death within 30 days; positive class: True" in found.summary().as_text()
    assert "site[T.Leeds]" in set(found.tidy()["column"])
    one = labelled.inference(seed=1)
    assert f"{LABELS['site']}: Leeds" in heads(one)
    several = labelled.inference(repeats=2, seed=1)
    assert LABELS["site"] in heads(several)
    assert "site" in set(several.tidy()["term"])
    found = labelled.stability
    assert LABELS["copy"] in heads(found)
    assert LABELS["site"] in repr(found)
    assert "site" in set(found.tidy()["term"])
    assert LABELS["site"].split(",")[0] in repr(labelled)
    found = labelled.model.coefficient_stability()
    assert f"{LABELS['site']}: Leeds" in heads(found)
    assert "site[T.Leeds]" in set(found.tidy()["column"])
    labelled = with_labels(labelled, {"signal": "Sgl", "site": "Clinic", "copy": "Cpy"})
    for found in (labelled.performance(2), labelled.model.conditional_importance(2, repeats=1)):
        assert "Clinic" in found.summary().as_text()
        assert "Clinic" not in found.tidy().to_string()


def test_a_comparison_in_labels():
    found = made(3, labels=["a", "b", "c"], names=[f"x{i}" for i in range(12)])
    labels = {"x0": "First <i>of</i> all", "died": "Death"}
    labelled = dataclasses.replace(found, labels=labels)
    page = render(gather_comparison(labelled, **WHEN), standard=COMPARISON)
    assert "Which method predicts Death best?" in page
    assert "First &lt;i&gt;of&lt;/i&gt; all" in page
    assert "Labels and names" in page
    assert "First" not in labelled.terms().to_string()
    assert gather_comparison(found, **WHEN).names is None
