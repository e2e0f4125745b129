"""The sections with maps: their numbers, their words, and where there is nothing to draw."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from quick import changed

import treeselect
from treeselect.reports.pages import gather
from treeselect.reports.render import render
from treeselect.resampling.stability import Stability
from treeselect.results.describing import near_units

ODD = "<b>odd</b>"


def report_of(fit):
    return gather(fit._fit, written="2026-01-02 03:04", versions={})


def drawn(fit, share, kept=()):
    """The fit with 40 resamples that selected units with these shares."""
    units = fit.data.design.arrays.groups.names
    wanted = np.array([share.get(unit, 0.0) for unit in units])
    selected = np.random.default_rng(1).random((40, len(units))) < wanted
    return changed(
        fit,
        resampled=Stability(
            units=units, fitted=fit.search.step.selected, assessed=~np.isin(units, kept),
            selected=selected, scheme="bootstrap", k=2, seed=1,
        ),
    )  # fmt: skip


SHARE = {"signal": 0.5, "site": 1.0, "copy": 0.4, "noise": 0.3, "flag": 0.02}


@pytest.fixture(scope="module")
def unstable(fitted):
    return drawn(fitted, SHARE)


def test_the_map_of_associations_has_the_numbers_of_neighbours(unstable):
    section = report_of(unstable).associations
    units = near_units(unstable._fit)
    assert list(section.figure.x) == list(units)
    by_pair = {(row[0], row[1]): row[2] for row in section.table.rows}
    assert len(by_pair) == len(units) * (len(units) - 1) // 2
    for unit in units:
        table = unstable.data.neighbours(unit)
        known = dict(zip(table["other"], table["association"], strict=True))
        for other in units:
            if (unit, other) in by_pair:
                assert by_pair[unit, other] == f"{known[other]:.2f}"
    for unit, tiles in zip(units, section.figure.tiles, strict=True):
        others = units[: units.index(unit)]
        for other, tile in zip(others, filter(None, tiles), strict=True):
            assert float(tile.text) == float(by_pair[other, unit])
    assert section.figure.text.startswith("signal and copy 1.00; ")
    assert section.figure.bold == [True, True, False, False]


def test_the_map_of_pairs_has_the_numbers_of_pairs(unstable):
    section = report_of(unstable).pairs
    together = unstable.stability.co_selection()
    names = list(section.figure.x)
    assert names == ["signal", "copy", "noise"]  # site was always selected
    cells = [tile.text for tiles in section.figure.tiles for tile in tiles]
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            cell, share = cells[3 * i + j], together.loc[one, other]
            if i >= j:
                assert cell == f"{100 * share:.0f}"
            else:
                by_chance = together.loc[one, one] * together.loc[other, other]
                value = float(cell.replace("–", "-"))
                assert value == pytest.approx(100 * (share - by_chance), abs=0.5001)
    table = unstable.stability.pairs()
    table = table[table["term"].isin(names) & table["other"].isin(names)]
    assert [row[:2] for row in section.table.rows] == list(
        zip(table["term"], table["other"], strict=True)
    )
    assert {row[4] for row in section.table.rows} <= {"more often", "less often", ""}


def test_what_is_kept_is_named(fitted):
    fit = drawn(fitted, SHARE, kept=["site"])
    assert "omitted, among them site, which was always included." in report_of(fit).pairs.lead
    assert "always included" not in report_of(drawn(fitted, SHARE)).pairs.lead


def test_where_no_near_units_vary_there_is_a_table_only(fitted):
    fit = drawn(fitted, {})
    selected = np.zeros_like(fit._fit.resampled.selected)
    selected[:, np.isin(fit._fit.resampled.units, ["signal", "site"])] = True
    selected[0, np.isin(fit._fit.resampled.units, ["flag", "colour"])] = True
    fit = changed(fit, resampled=dataclasses.replace(fit._fit.resampled, selected=selected))
    section = report_of(fit).pairs
    assert section.figure is None
    assert [row[:2] for row in section.table.rows] == [("colour", "flag")]
    page = render(report_of(fit))
    assert 'id="pairs-map-title"' not in page
    assert "Pairs as a table" in page


def test_maps_are_drawn_for_a_desk_and_for_a_phone(unstable):
    page = render(report_of(unstable))
    for name in ("pair-map", "association-map"):
        assert page.count(f'id="{name}-title"') == page.count(f'id="{name}-desc"') == 1
    maps = page.split('<div class="figure heat">')[1:]
    assert len(maps) == 2
    for text in maps:
        assert text.index('<svg class="wide"') < text.index('<svg class="narrow"')


def test_who_is_on_the_map_is_said(mixed, unstable, cross_validated):
    lead = report_of(unstable).associations.lead
    assert lead.endswith(
        "in bold; then the most frequent of the other terms, each selected by at least 10% of the"
        " resamples."
    )
    lead = report_of(cross_validated).associations.lead
    assert lead.endswith("in bold; then the terms that enter next along the path.")
    every = treeselect.select("dose ~ signal + site", mixed, method="mrmr", k=2, seed=1)
    assert report_of(every).associations.lead.endswith("can count as interchangeable.")


def test_of_many_selected_units_the_most_important_are_shown(mixed):
    noise = np.random.default_rng(0).normal(size=(400, 20))
    data = mixed.assign(**{f"x{i:02d}": noise[:, i] for i in range(20)})
    fit = treeselect.select("dose ~ . - died", data, method="mrmr", k=18, seed=1)
    section = report_of(fit).associations
    assert section.lead.endswith("The map shows the 12 most important of the 18 selected terms.")
    assert list(section.figure.x) == list(fit.groups[:12])
    assert section.table.more == 12 * 11 // 2 - 20
    assert section.figure.text.endswith("The table has more.")
    assert len(render(report_of(fit))) < 300_000


def test_one_term_or_no_data_have_no_map(mixed, tmp_path):
    one = treeselect.select("dose ~ signal", mixed, method="mrmr", k=1, seed=1)
    assert report_of(one).associations is None
    two = treeselect.select("dose ~ signal + site", mixed, method="mrmr", k=2, seed=1)
    loaded = treeselect.load(two.save(tmp_path / "fit.treeselect"))
    assert report_of(loaded).associations is None


def test_hostile_names(mixed):
    data = mixed[["dose", "signal"]].assign(**{ODD: mixed["noise"], f"{ODD}\x1b": mixed["copy"]})
    fit = treeselect.select("dose ~ .", data, method="mrmr", k=3, seed=1)
    page = render(report_of(fit))
    assert ODD not in page
    assert "\x1b" not in page
    assert "&lt;b&gt;odd" in page


def test_of_many_rows_fewer_are_measured(unstable, monkeypatch):
    monkeypatch.setattr("treeselect.reports.data._MOST_MEASURED", 400 * 3 * 3)
    monkeypatch.setattr("treeselect.reports.data._MOST_CELLS", 400)
    report = report_of(unstable)
    assert report.associations.figure.x == near_units(unstable._fit)[:3]
    assert len(report.data.table.variables) == report.data.table.more == 1
    assert report.data.others is None
