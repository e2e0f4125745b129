"""The section of checks on held-out rows."""

import dataclasses
import re

import numpy as np
import pytest
from markup import page_of, plain, report_of, without_style
from survival_data import small_fit

import treeselect
from treeselect.designs.families import BINOMIAL, GAUSSIAN, POISSON, multinomial
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import as_times
from treeselect.printing.markup import template_folder
from treeselect.reports import checks
from treeselect.reports.model import risk_section
from treeselect.reports.render import render, template_environment
from treeselect.resampling.decisions import decide
from treeselect.resampling.held_out import HeldOut
from treeselect.resampling.risk_groups import RiskGroups

HOSTILE = "<b>yes</b>"


def content_of(found, tables):
    """Words of a section, and its tables, a line per row."""
    lines = [found.lead, *found.sentences]
    for table in tables:
        rows = map(" | ".join, (table.columns, *table.rows))
        lines += ["", table.caption, *rows, f"and {table.more} more"]
    return "\n".join(lines)


def held(y, predicted, family, classes=(), weight=1.0, times=1, grouped=False):
    n = len(y)
    return HeldOut(
        row=np.arange(n), fold=np.arange(n) % 2 + 1, y=np.array(y, dtype=float),
        predicted=np.array(predicted, dtype=float), weight=np.full(n, weight),
        mass=np.full(n, weight / times), times=np.full(n, times), are_copies=True, grouped=grouped,
        family=family, classes=classes, name="died", unit=np.arange(n),
    )  # fmt: skip


P = np.tile([0.125, 0.25, 0.5, 0.75, 0.875], 8)
Y = (7 * np.arange(40) % 11 < 3 + 5 * P).astype(int)
TWO = held(Y, P, BINOMIAL, ("no", HOSTILE))
CURVE = decide(TWO, [0.25, 0.5], scheme="2 folds", seed=1)
NUMBERS = held(Y + P, 2 * P, GAUSSIAN)


def said(found):
    return " ".join((found.lead, *found.sentences))


def test_two_classes_in_words_and_numbers(snapshot):
    found = checks._risks(TWO, CURVE)
    titles = ["ROC curve", "Calibration", "Net benefit"]
    assert [picture.title for picture in found.pictures] == titles
    assert content_of(found, found.folded) == snapshot


def test_numbers_in_words_and_numbers(snapshot):
    found = checks._numbers(NUMBERS)
    assert [picture.title for picture in found.pictures] == [
        "Observed against predicted",
        "Residuals",
    ]
    assert content_of(found, found.folded) == snapshot


def test_classes_in_words_and_numbers(snapshot):
    predicted = np.stack([P, (1 - P) / 4, 3 * (1 - P) / 4], axis=1)
    found = checks._classes(
        held(np.tile([0, 1, 2, 0], 10), predicted, multinomial(3), tuple("abc")), "site"
    )
    assert [picture.title for picture in found.pictures] == ["site = a", "site = b", "site = c"]
    assert content_of(found, found.opened) == snapshot


def test_many_classes_what_must_be_known_and_what_is_predicted_to_be_none():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(8), size=200)
    y = np.array([rng.choice(8, p=own) for own in shares])
    found = checks._classes(held(y, shares, multinomial(8), tuple("abcdefgh")), "site")
    assert len(found.pictures) == 6
    assert len(found.opened) == 1
    assert "the 6 most frequent classes" in found.lead
    assert not checks._cautions(TWO)
    several = held(Y, P, BINOMIAL, (False, True), np.arange(len(Y)), times=3, grouped=True)
    several = dataclasses.replace(several, are_copies=False)
    text = " ".join(checks._cautions(several))
    assert "are down-weighted" in text
    assert "by their case weights" in text
    found = checks._numbers(held(np.tile([0, 1, 1, 2], 10), np.tile([0, 0.5, 0, 1.5], 10), POISSON))
    assert "Poisson regression" in said(found)


def test_the_page_has_the_figures_and_no_names_that_act(cross_validated):
    measured = cross_validated.performance(2)
    data = report_of(cross_validated, performance=measured)
    page = render(data)
    assert page.count('<svg class="square"') == 2
    data.checks = checks._risks(TWO, CURVE)
    page = render(data)
    assert HOSTILE not in page
    assert "&lt;b&gt;yes" in page
    for found in re.findall(r'<svg class="square".*?</svg>', page, re.DOTALL):
        assert re.search(r'aria-labelledby="(check-\d)-title" aria-describedby="\1-desc"', found)
    assert page.count("<title id=") == len(set(re.findall(r'<title id="(.*?)"', page)))
    fit = small_fit()
    found = checks.checks(_Material(fit._fit, fit.performance(2)))
    assert [picture.title for picture in found.pictures] == ["Calibration", "Net benefit"]
    assert "Kaplan and Meier's estimate" in said(found)


def test_without_performance_there_is_no_section(cross_validated):
    assert report_of(cross_validated).checks is None


@dataclasses.dataclass
class _Material:
    fit: treeselect.SelectionResult
    performance: object


HOSTILE = "<b>days</b>"


@pytest.fixture(scope="module")
def fit():
    return small_fit()


def made(stop, event, start=None, time="days") -> RiskGroups:
    """Two groups of the same rows."""
    stop, event = np.array(stop, dtype=float), np.array(event)
    y, weight = as_times(stop, event, start), np.ones(len(stop))
    first = np.full(len(stop), -1.0) if start is None else start
    return RiskGroups(
        names=("low", "high"), curves=(kaplan_meier(y, weight),) * 2,
        n_rows=np.array([len(stop)] * 2), n_events=np.array([sum(event)] * 2),
        risk=np.array([0.5, 2.0]), horizon=20.0, predicted=np.array([0.75, 0.25]), time=time,
        scheme="4-fold cross-validation", call="select(...)", seed=1,
        spans=(np.stack([first, stop, weight]),) * 2,
    )  # fmt: skip


def drawn(found: RiskGroups) -> str:
    section = risk_section(found)
    template = template_environment((template_folder(),)).from_string(
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


def test_names_are_escaped_and_what_can_t_be_told_apart_is_not_drawn():
    assert HOSTILE not in drawn(made([10, 20, 30], [1, 0, 1], time=HOSTILE))
    many = made(np.arange(1, 301), np.arange(300) % 3 == 0)
    assert 'class="censored"' not in drawn(many)
    assert "mark censored rows" not in drawn(many)
    few = drawn(made([10, 20, 30], [1, 0, 1]))
    assert 'class="censored"' in few
    late = drawn(made([10, 20, 30], [1, 0, 1], np.array([0.0, 5.0, 8.0])))
    assert "Rows enter at different times" in late
    assert "Rows enter at different times" not in drawn(made([10, 20, 30], [1, 0, 1]))


def test_the_page_speaks_of_hazards_with_the_numbers_of_risk_groups(fit):
    page = page_of(fit)
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
    assert "mean response" not in page
    assert "probability of" not in page.replace("probability of no event", "")
    assert ">log hazard</text>" in page
    assert "Effects are changes in the log hazard under the final model" in page
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd.*?>(.*?)</dd>", page))
    assert facts["Family"] == "cox (time to event); Cox partial likelihood"
    assert re.fullmatch(r"\d+ in 90 rows \(\d\d\.\d%\)", facts["Events"])
    assert page.count("concordance") == 1  # said once, where the score is shown first


def test_without_data_times_or_held_out_rows_there_are_no_groups(
    fit, fitted, tmp_path, monkeypatch
):
    path = fit.save(tmp_path / "times.treeselect")
    assert 'id="risk-groups"' not in page_of(treeselect.load(path))
    assert 'id="risk-groups"' not in page_of(fitted)

    def refuse(_, horizon):
        asked.append(horizon)
        raise treeselect.errors.OptionError("no")

    asked = []
    monkeypatch.setattr("treeselect.reports.model.group_by_risk", refuse)
    assert 'id="risk-groups"' not in page_of(fit)
    fit.report(tmp_path / "r.md", performance=fit.performance(2, horizon=2.5))
    assert asked == [None, 2.5]
