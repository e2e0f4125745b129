"""The section of checks on held-out rows."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from survival_data import small_fit

import treeselect
from treeselect.designs.families import BINOMIAL, GAUSSIAN, POISSON, multinomial
from treeselect.reports import checks
from treeselect.reports.pages import gather
from treeselect.reports.render import render
from treeselect.resampling.held_out import HeldOut

HOSTILE = "<b>yes</b>"


def content(found, tables):
    """Words of a section, and tables by their captions."""
    listed = {table.caption: (table.columns, table.rows, table.more) for table in tables}
    return {"lead": found.lead, "sentences": found.sentences, "tables": listed}


def held(y, predicted, family, classes=(), weight=1.0, times=1, grouped=False):
    n = len(y)
    return HeldOut(
        row=np.arange(n),
        fold=np.arange(n) % 2 + 1,
        y=np.array(y, dtype=float),
        predicted=np.array(predicted, dtype=float),
        weight=np.full(n, weight),
        mass=np.full(n, weight / times),
        times=np.full(n, times),
        are_copies=True,
        grouped=grouped,
        family=family,
        classes=classes,
    )


P = np.tile([0.125, 0.25, 0.5, 0.75, 0.875], 8)
Y = (7 * np.arange(40) % 11 < 3 + 5 * P).astype(int)
TWO = held(Y, P, BINOMIAL, ("no", HOSTILE))
NUMBERS = held(Y + P, 2 * P, GAUSSIAN)


@pytest.fixture(scope="module")
def measured(cross_validated):
    return cross_validated.performance(2)


def said(found):
    return " ".join((found.lead, *found.sentences))


def test_two_classes_in_words_and_numbers(snapshot):
    found = checks._two_classes(TWO, "died")
    assert [picture.title for picture in found.pictures] == ["ROC curve", "Calibration"]
    assert content(found, found.folded) == snapshot


def test_numbers_in_words_and_numbers(snapshot):
    found = checks._numbers(NUMBERS, "dose")
    assert [picture.title for picture in found.pictures] == [
        "Observed against predicted",
        "Residuals",
    ]
    assert content(found, found.folded) == snapshot


def test_classes_in_words_and_numbers(snapshot):
    predicted = np.stack([P, (1 - P) / 4, 3 * (1 - P) / 4], axis=1)
    found = checks._classes(
        held(np.tile([0, 1, 2, 0], 10), predicted, multinomial(3), tuple("abc")), "site"
    )
    assert [picture.title for picture in found.pictures] == ["site = a", "site = b", "site = c"]
    assert content(found, found.opened) == snapshot


def test_of_many_classes_the_most_frequent_have_figures():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(8), size=200)
    y = np.array([rng.choice(8, p=own) for own in shares])
    found = checks._classes(held(y, shares, multinomial(8), tuple("abcdefgh")), "site")
    assert len(found.pictures) == 6
    assert len(found.opened) == 1
    assert "the 6 most frequent classes" in found.lead


def test_what_must_be_known_is_said():
    assert not checks._cautions(TWO)
    several = held(Y, P, BINOMIAL, (False, True), weight=2.0, times=3, grouped=True)
    text = " ".join(checks._cautions(several))
    assert "are down-weighted" in text
    assert "by their case weights" in text
    assert "too narrow" in text


def test_counts_that_are_predicted_to_be_none():
    found = checks._numbers(
        held(np.tile([0, 1, 1, 2], 10), np.tile([0, 0.5, 0, 1.5], 10), POISSON), "visits"
    )
    assert "Poisson regression" in said(found)


def test_the_page_has_the_figures_and_no_names_that_act(cross_validated, measured):
    data = gather(cross_validated._fit, written="", versions={}, performance=measured)
    page = render(data)
    assert page.count('<svg class="square"') == 2
    data.checks = checks._two_classes(TWO, "died")
    page = render(data)
    assert HOSTILE not in page
    assert "&lt;b&gt;yes" in page
    for found in re.findall(r'<svg class="square".*?</svg>', page, re.DOTALL):
        assert re.search(r'aria-labelledby="(check-\d)-title" aria-describedby="\1-desc"', found)
    assert page.count("<title id=") == len(set(re.findall(r'<title id="(.*?)"', page)))


def test_without_performance_and_for_times_there_is_no_section(cross_validated):
    assert gather(cross_validated._fit, written="", versions={}).checks is None
    fit = small_fit()
    assert checks.checks(_Material(fit._fit, fit.performance(2))) is None


@dataclasses.dataclass
class _Material:
    fit: treeselect.SelectionResult
    performance: object
