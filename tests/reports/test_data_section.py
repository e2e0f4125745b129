"""The section on the data: its numbers, its words, and where there is nothing to say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from survival_data import small_fit, small_times

import treeselect
from treeselect.reports.pages import gather
from treeselect.reports.render import render

ODD = "<b>odd</b>"


def selected(formula, data, **options):
    return treeselect.select(formula, data, **{"method": "mrmr", "k": 1, "seed": 1} | options)


def report_of(fit):
    return gather(fit._fit, written="2026-01-02 03:04", versions={})


def cells(table, name):
    found = next(v for v in table.variables if v.name == name)
    return found.cells, dict((row[0], row[1:]) for row in found.rows)


def test_numbers_are_those_of_describe(fitted):
    section = report_of(fitted).data
    assert [v.name for v in section.table.variables] == list(fitted.variables)
    assert section.table.caption == "Variables in the selected terms, by died"
    table = fitted.data.describe("site")
    head = table[table["kind"] == "missing"]
    assert section.table.columns == (
        "Variable", *(f"{g} (n\u00a0=\u00a0{n})" for g, n in zip(
            ["All", "False", "True"], head["n_group"], strict=True)),
    )  # fmt: skip
    _, rows = cells(section.table, "site")
    assert list(rows) == ["Bath", "Leeds", "York", "missing"]
    for level, own in table[table["kind"] == "level"].groupby("level"):
        assert rows[level] == tuple(
            f"{n} ({share:.0%})" for n, share in zip(own["n"], own["share"], strict=True)
        )
    quartiles, rows = cells(section.table, "signal")
    assert not rows  # nothing is missing
    own = fitted.data.describe("signal").iloc[0]
    assert [float(v) for v in re.findall(r"-?[\d.]+", quartiles[0])] == pytest.approx(
        [own["median"], own["q25"], own["q75"]], rel=0.006
    )


def test_others_are_folded_and_counted(mixed):
    noise = np.random.default_rng(0).normal(size=(400, 30))
    data = mixed.assign(**{f"x{i:02d}": noise[:, i] for i in range(30)})
    fit = selected("died ~ . - dose", data)
    section = report_of(fit).data
    assert len(section.others.variables) == 20
    assert section.others.more == 35 - 20
    page = render(report_of(fit))
    assert "and 15 more variables" in page
    assert page.count('<table class="baseline">') == 2


def test_what_was_left_out_and_what_is_rare_is_said_once(mixed):
    site = mixed["site"].cat.add_categories("Hull")
    site.iloc[:2] = "Hull"
    data = mixed.assign(
        site=site, empty=np.nan, weight=[0] * 5 + [1] * 395, died=mixed["died"].astype(object)
    )
    data.loc[10:15, "died"] = None
    data.loc[20:22, "site"] = "Hull"
    page = render(report_of(selected("died ~ . - dose", data, weights="weight")))
    said = "Levels with fewer than 5 rows: Hull of site (3)."
    assert page.count(said) == 1
    assert (
        page.count(
            "Excluded because the response is missing: 6. Excluded because their weight is 0: 5."
        )
        == 1
    )
    assert page.count("Entirely missing, can&#39;t be selected") == 1


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (None, ""),
        (2, " Each row counts as often as its case weight."),
        (0.5, " Each row counts once, whatever its weight."),
    ],
)
def test_how_rows_are_counted_is_said(mixed, weights, said):
    given = {} if weights is None else {"weights": weights + np.arange(400) % 2}
    section = report_of(selected("died ~ signal + site", mixed, **given)).data
    assert section.lead.endswith(f"Columns are the classes of died.{said}")


def test_columns_by_times_and_thirds(mixed):
    times = report_of(small_fit()).data
    assert [c.split(" (")[0] for c in times.table.columns[1:]] == ["All", "event", "censored"]
    assert times.lead.endswith("separate rows with an event from censored rows.")
    thirds = report_of(selected("dose ~ signal + site", mixed)).data
    assert thirds.lead.endswith("Columns are thirds of dose, as nearly equal as ties allow.")
    every = selected("Surv(time, dead) ~ risky + x", small_times().assign(dead=1))
    section = report_of(every).data
    assert section.table.caption == "Variables in the selected terms"
    assert section.lead.endswith("counted where there are any.")


def test_hostile_names_and_levels(mixed):
    data = mixed.assign(**{ODD: np.where(mixed["died"], ODD, "no"), "died": np.where(
        mixed["died"], ODD, "no")})  # fmt: skip
    page = render(report_of(selected(f"died ~ `{ODD}` + signal", data)))
    assert ODD not in page
    assert "&lt;b&gt;odd&lt;/b&gt; (n" in page


def test_a_share_that_is_not_all_is_not_rounded_to_it(mixed):
    rare = np.where(np.arange(400) < 1, "a", "b")
    section = report_of(selected("died ~ rare + signal", mixed.assign(rare=rare))).data
    tables = [table for table in (section.table, section.others) if table]
    rows = next(cells(t, "rare")[1] for t in tables if "rare" in [v.name for v in t.variables])
    assert rows["a"][0] == "1 (<1%)"
    assert rows["b"][0] == "399 (>99%)"
    assert "0" in rows["a"][1:]


def test_nothing_selected_and_no_data(mixed, tmp_path):
    none = selected(
        "dose ~ noise + colour", mixed, method="controlburn", k=None, lam=1e9, forests=1, n_trees=5
    )
    section = report_of(none).data
    assert section.table is None
    assert len(section.others.variables) == 2
    render(report_of(none))
    loaded = treeselect.load(selected("died ~ signal + site", mixed).save(tmp_path / "m"))
    report = report_of(loaded)
    assert report.data is None
    assert 'id="data"' not in render(report)
    assert report.notes


def test_variables_bear_their_labels(mixed):
    labels = {"signal": "Signal (mV)", "noise": "Two", "copy": "Two", "died": "Death"}
    fit = selected("died ~ log1p(abs(signal)) + noise + copy", mixed, k=3, labels=labels)
    report = report_of(fit)
    assert {v.name for v in report.data.table.variables} == {
        "Signal (mV)", "Two (noise)", "Two (copy)",
    }  # fmt: skip
    assert report.data.table.caption.endswith("by Death")
    assert set(fit.data.describe()["variable"]) == {"signal", "noise", "copy"}
    render(report)
