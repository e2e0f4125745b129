"""What is shown of a fit with labels, and what stays under its names."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import pandas as pd
import pytest
from comparison_data import made
from quick import changed

from treeselect.errors import OptionError
from treeselect.reports.gather import gather, gather_comparison
from treeselect.reports.render import COMPARISON, render
from treeselect.resampling.fit import as_shown
from treeselect.results.curves import curves

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* rows, in which:treeselect.errors.TreeselectWarning"
)
"""The data have missing values; the warning has tests in ``test_missing_terms.py``."""


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


def test_names_stay_names_in_code_and_tables(fitted, labelled):
    assert (labelled.selected, labelled.formula) == (fitted.selected, fitted.formula)
    pd.testing.assert_frame_equal(labelled.tidy(), fitted.tidy())
    pd.testing.assert_frame_equal(labelled.model.effects(), fitted.model.effects())
    pd.testing.assert_frame_equal(labelled.stability.tidy(), fitted.stability.tidy())
    pd.testing.assert_frame_equal(labelled.model.shape("site"), fitted.model.shape("site"))


def test_the_summary_speaks_in_labels_and_gives_the_names(labelled):
    text = " ".join(labelled.summary().as_text().split())
    assert LABELS["site"] in text
    assert "Signal <b>(mV)</b>\\u202e `" in text
    assert f"`site` is {LABELS['site']}" in text
    assert "`died` is Death within 30 days" in text


def test_without_labels_nothing_is_said(fitted):
    assert as_shown(fitted._fit) is fitted._fit
    assert "Names in code" not in fitted.summary().as_text()
    assert gather(fitted._fit, **WHEN).names is None


def test_a_fit_is_shown_once(labelled):
    shown = as_shown(labelled._fit)
    assert as_shown(shown) is shown
    assert shown.formula == labelled.formula
    assert set(shown.stability.units) == {
        "The same signal once more", "Signal <b>(mV)</b>\N{RIGHT-TO-LEFT OVERRIDE} `",
        LABELS["site"], "noise", "colour", "flag",
    }  # fmt: skip


def test_labels_change_no_number_of_a_report(fitted, labelled):
    own, plain = (gather(fit._fit, **WHEN) for fit in (labelled, fitted))
    assert numbers(render(own)) == numbers(render(plain))
    assert own.title == "Which terms predict Death within 30 days?"


def test_a_report_in_labels_has_a_table_of_names(labelled):
    page = render(gather(labelled._fit, **WHEN))
    assert "Signal &lt;b&gt;(mV)&lt;/b&gt;\\u202e `" in page
    assert "<b>(mV)" not in page
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    table = gather(labelled._fit, **WHEN).names
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
            labelled._fit,
            performance=labelled.performance(2),
            coefficients=labelled.model.coefficient_stability(),
            **WHEN,
        )
    )
    del found["names"]
    bare = {section: {*texts(own)} & {*LABELS} for section, own in found.items()}
    assert not {section: names for section, names in bare.items() if names}


def test_axes_bear_labels_of_columns(labelled):
    assert curves(labelled._fit, "site")[0].variable == "site"
    assert curves(as_shown(labelled._fit), LABELS["site"])[0].variable == LABELS["site"]


def test_figures_are_asked_for_by_name(labelled):
    pytest.importorskip("matplotlib")
    ax = labelled.plot("shape", term="site")
    assert ax.get_title(loc="left").startswith("Hospital")
    with pytest.raises(OptionError, match="must be a selected term") as error:
        labelled.plot("shape", term=LABELS["site"])
    assert "`site`" in str(error.value)


def test_linear_models_are_printed_in_labels(labelled):
    found = labelled.refit("glm")
    assert f"{LABELS['site']}: Leeds" in heads(found)
    assert "Death within 30 days; positive class: True" in found.summary().as_text()
    assert "site[T.Leeds]" in set(found.tidy()["column"])
    one = labelled.inference(seed=1)
    assert f"{LABELS['site']}: Leeds" in heads(one)
    several = labelled.inference(repeats=2, seed=1)
    assert LABELS["site"] in heads(several)
    assert "site" in set(several.tidy()["term"])


def test_performance_and_importance_are_printed_in_labels(labelled):
    labelled = with_labels(labelled, {"signal": "Sgl", "site": "Clinic", "copy": "Cpy"})
    for found in (labelled.performance(2), labelled.model.conditional_importance(2, repeats=1)):
        assert "Clinic" in found.summary().as_text()
        assert "Clinic" not in found.tidy().to_string()


def test_stability_is_printed_in_labels(labelled):
    found = labelled.stability
    assert LABELS["copy"] in heads(found)
    assert LABELS["site"] in repr(found)
    assert "site" in set(found.tidy()["term"])
    assert LABELS["site"].split(",")[0] in repr(labelled)


def test_coefficients_on_resamples_are_printed_in_labels(labelled):
    found = labelled.model.coefficient_stability()
    assert f"{LABELS['site']}: Leeds" in heads(found)
    assert "site[T.Leeds]" in set(found.tidy()["column"])


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
