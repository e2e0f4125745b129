"""The section on risk groups, and what a report on times until an event says elsewhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from markup import plain, without_style
from survival_data import small_fit

import treeselect
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import as_times
from treeselect.printing.markup import template_folder
from treeselect.reports.model import risk_section
from treeselect.reports.pages import gather
from treeselect.reports.render import render, template_environment
from treeselect.resampling.conditional import RiskGroups

HOSTILE = "<b>days</b>"


def page_of(fit):
    return render(gather(fit._fit, written="2026-01-02 03:04", versions={"treeselect": "test"}))


@pytest.fixture(scope="module")
def fit():
    return small_fit()


@pytest.fixture(scope="module")
def page(fit):
    return page_of(fit)


def made(stop, event, start=None, time="days") -> RiskGroups:
    """Two groups of the same rows."""
    stop, event = np.array(stop, dtype=float), np.array(event)
    y, weight = as_times(stop, event, start), np.ones(len(stop))
    first = np.full(len(stop), -1.0) if start is None else start
    return RiskGroups(
        names=("low", "high"),
        curves=(kaplan_meier(y, weight),) * 2,
        n_rows=np.array([len(stop)] * 2),
        risk=np.array([0.5, 2.0]),
        horizon=20.0,
        predicted=np.array([0.75, 0.25]),
        time=time,
        scheme="4-fold cross-validation",
        call="select(...)",
        seed=1,
        spans=(np.stack([first, stop, weight]),) * 2,
    )


def drawn(found: RiskGroups) -> str:
    section = risk_section(found)
    template = template_environment([template_folder()]).from_string(
        '{% import "tables.html.j2" as tables %}'
        "<p>{{ s.lead }}</p>"
        "{{ s.figure | drawing }}"
        '{{ tables.table(s.table, "Curves") }}{{ tables.table(s.calibration, "Calibration") }}'
    )
    return template.render(s=section)


def test_the_whole_figure_with_its_tables(snapshot):
    assert without_style(drawn(made([10, 20, 30, 40], [1, 0, 1, 0]))) == snapshot


def test_the_summary(snapshot):
    assert made([10, 20, 30, 40], [1, 0, 1, 0]).summary().as_text() == snapshot


def test_names_are_escaped():
    assert HOSTILE not in drawn(made([10, 20, 30], [1, 0, 1], time=HOSTILE))


def test_what_can_t_be_told_apart_is_not_drawn():
    many = made(np.arange(1, 301), np.arange(300) % 3 == 0)
    assert 'class="censored"' not in drawn(many)
    assert "mark censored rows" not in drawn(many)
    few = drawn(made([10, 20, 30], [1, 0, 1]))
    assert 'class="censored"' in few
    assert "mark censored rows" in few


def test_late_entry_is_said():
    late = drawn(made([10, 20, 30], [1, 0, 1], np.array([0.0, 5.0, 8.0])))
    assert "Rows enter at different times" in late
    assert "Rows enter at different times" not in drawn(made([10, 20, 30], [1, 0, 1]))


def test_numbers_on_the_page_are_those_of_risk_groups(fit, page):
    section = plain(page[page.index('id="risk-groups">') : page.index('id="stability">')])
    for row in fit.model.risk_groups().calibration().to_dict("records"):
        cells = (
            f'<th scope="row">{row["group"]}</th><td>{row["n"]}</td><td>{row["events"]:.0f}</td>'
        )
        assert cells in section
        assert f"{row['predicted']:.3f}</td>" in section
    assert "selected on all rows, including those held out here" in section
    assert section.count("<title id=") == section.count("<desc id=") == 1
    assert section.count('role="img"') == 2  # for a desk and for a phone
    assert section.count("<details>") == 1


def test_the_page_speaks_of_hazards(page):
    assert "mean response" not in page
    assert "probability of" not in page.replace("probability of no event", "")
    assert ">log hazard</text>" in page
    assert "Effects are changes in the log hazard under the final model" in page
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd.*?>(.*?)</dd>", page))
    assert facts["Family"] == "cox (time to event); Cox partial likelihood"
    assert re.fullmatch(r"\d+ in 90 rows \(\d\d\.\d%\)", facts["Events"])
    assert page.count("concordance") == 1  # said once, where the score is shown first


def test_without_the_data_or_times_there_are_no_groups(fit, fitted, tmp_path):
    path = fit.save(tmp_path / "times.treeselect")
    assert 'id="risk-groups"' not in page_of(treeselect.load(path))
    assert 'id="risk-groups"' not in page_of(fitted)


def test_rows_that_can_t_be_held_out_leave_the_section_out(fit, monkeypatch):
    def refuse(*_):
        raise treeselect.errors.OptionError("no")

    monkeypatch.setattr("treeselect.reports.model.risk_groups_of", refuse)
    assert 'id="risk-groups"' not in page_of(fit)
