"""Digits that somebody chose: the numbers of the kinds that are named have them on every page."""

import dataclasses
import html
import re

import comparison_data
import pytest
from markup import without_style
from quick import WITH_GAPS

from treeselect.errors import OptionError
from treeselect.printing import chosen_digits
from treeselect.reports.head import terms
from treeselect.reports.parts import FitMaterial
from treeselect.reports.path import path
from treeselect.reports.resamples import coefficients

pytestmark = WITH_GAPS


_DECIMALS = re.compile(r"\d\.(\d+)")
_TICK = re.compile(r"[+−-]?\d+\.\d{1,2}")


@pytest.fixture(scope="module")
def resampled(cross_validated):
    return cross_validated.resample(6, path=2, effects=True)


@pytest.fixture(scope="module")
def performance(resampled):
    return resampled.performance(2)


@pytest.fixture(scope="module")
def found(resampled):
    return resampled.model.coefficient_stability()


@pytest.fixture(scope="module")
def compared():
    return comparison_data.made(3)


def unchanged(report, folder, section, **given):
    """Texts with decimals that are the same with one digit and with six, ticks aside."""
    one, six = (
        _texts(report(folder / "page.html", sections=[section], digits=digits, **given))
        for digits in (1, 6)
    )
    assert any(len(own) == 6 for _, text in six for own in _DECIMALS.findall(text))
    common = {(tag, text) for tag, text in one if _DECIMALS.search(text)} & set(six)
    ticks = {(tag, text) for tag, text in common if tag == "text" and _TICK.fullmatch(text)}
    return sorted(text for _, text in common - ticks if "association" not in text)


def _texts(page):
    """What a page says, to eyes and to ears, each with its element."""
    body = without_style(page.read_text(encoding="utf-8"))
    shown = re.findall(r"<(\w+)[^>]*>([^<]+)", body)
    told = re.findall(r'(aria-label|alt)="([^"]*)"', body)
    return [(tag, html.unescape(text).strip()) for tag, text in shown + told]


@pytest.mark.parametrize("section", ["stability", "stability_path", "models", "interactions"])
def test_no_number_of_a_section_keeps_its_form(resampled, tmp_path, section):
    assert unchanged(resampled.report, tmp_path, section) == []


def test_no_number_of_held_out_rows_keeps_its_form(resampled, performance, tmp_path):
    given = {"performance": performance}
    assert unchanged(resampled.report, tmp_path, "performance", **given) == []


@pytest.mark.parametrize("section", ["scores", "terms"])
def test_no_number_of_a_comparison_keeps_its_form(compared, tmp_path, section):
    assert unchanged(compared.report, tmp_path, section) == []


def _cells(columns, rows, named):
    """The cells of some columns that hold a number with decimals."""
    places = [at for at, column in enumerate(columns) if column in named]
    assert len(places) == len(named)
    return [row[at] for row in rows for at in places if _DECIMALS.search(row[at])]


@pytest.mark.parametrize("digits", [1, 6])
def test_columns_have_the_decimals_that_were_asked_for(
    resampled, performance, found, compared, digits
):
    def cells_of(content, *named):
        return _cells(content.columns, content.rows, named)

    with chosen_digits(digits):
        material = FitMaterial(resampled._fit, performance, found)
        steps, beside = path(material).table, terms(material).table
        listed = beside.tables[beside.at]
    cells = [
        *cells_of(steps, "R2, training", "R2, cross-validated", "s.e."),
        *cells_of(listed, "Importance", "Frequency"),
        *cells_of(
            resampled.summary(digits=digits).content, "Importance", "Frequency", "95% interval"
        ),
        *cells_of(
            resampled.stability.summary(digits=digits).content, "Frequency", "95% interval"
        ),
        *cells_of(performance.summary(digits=digits).content, "R2"),
        *cells_of(found.summary(digits=digits).content, "Freq."),
        *cells_of(
            compared.summary(digits=digits).content,
            compared.score_name, "s.e.", "Difference", "95% interval", "Stability",
        ),
    ]  # fmt: skip
    assert cells
    assert {len(own) for cell in cells for own in _DECIMALS.findall(cell)} == {digits}


def test_effects_and_coefficients_have_significant_digits(resampled, found):
    def texts(digits):
        effects = resampled.summary(digits=digits).content.more[0].rows
        with chosen_digits(digits):
            own = coefficients(found)
        linear = _cells(own.table.columns, own.table.rows, ("Full (s.e.)", "Selected", "Median"))
        return [cell for row in effects for cell in row[1:] if cell], linear

    for one, six, usual in zip(*map(texts, (1, 6, None)), strict=True):
        assert all(a != b != c for a, b, c in zip(one, six, usual, strict=False))
        assert sum(map(len, one)) < sum(map(len, usual)) < sum(map(len, six))


def test_every_summary_has_digits_and_notes(resampled, compared, performance, found):
    glm = resampled.refit("glm")
    for own in (
        resampled, resampled.stability, compared, performance, found, glm, glm.drop1(),
        glm.regression_table(), glm.diagnostics(folds=2), resampled.inference(),
    ):  # fmt: skip
        usual, six, bare = own.summary(), own.summary(digits=6), own.summary(notes=False)
        assert str(six) != str(usual) == str(own.summary(digits=None)), type(own)
        assert usual.content.notes
        assert bare.content == dataclasses.replace(usual.content, notes=())
        with pytest.raises(OptionError, match="`notes`"):
            own.summary(notes="no")


@pytest.mark.parametrize("digits", [0, 11, 2.5, True, "3"])
def test_digits_are_a_whole_number_from_1_to_10(resampled, compared, tmp_path, digits):
    for call in (
        lambda: resampled.summary(digits=digits),
        lambda: resampled.stability.summary(digits=digits),
        lambda: resampled.report(tmp_path / "page.html", digits=digits),
        lambda: compared.report(tmp_path / "page.html", digits=digits),
    ):
        with pytest.raises(OptionError, match="`digits` must be a whole number, at least 1, at"):
            call()
    assert not list(tmp_path.iterdir())
