"""Pages in a browser, on a phone, a tablet and a screen: no label leaves its figure or crosses
another, nothing hangs over the page, and no word of a card is split.

Boxes are measured by the program that measures the reports on real data, ``benchmarks/pages.py``.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from comparison_data import made
from quick import quick_fit
from survival_data import small_fit

from treeselect.reports.pages import write_comparison

WIDTHS = (360, 500, 768, 1280)
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def faults(monkeypatch):
    """What is wrong with a page: (width, what, label)."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    pages = importlib.import_module("pages")
    if pages.browser() is None:
        pytest.skip(f"needs a browser: none of {', '.join(pages.BROWSER)} is on the PATH")
    monkeypatch.setattr(pages, "WIDTHS", WIDTHS)
    return pages.faults


def long_names(mixed):
    """Names and levels that need room; three classes, skewed numbers, many missing values."""
    rng = np.random.default_rng(1)
    levels = [
        "no checking account, or all paid duly",
        "病人在过去一年中住院的总天数",
        "W" * 60,
        "a",
    ]
    data = pd.DataFrame(
        {
            "class": pd.cut(mixed["dose"], 3, labels=["low", "middle of the three", "high"]),
            "concentration_of_the_marker_in_the_second_sample": mixed["signal"],
            "income": np.exp(3 * mixed["signal"] + rng.normal(size=len(mixed))),
            "credit history": rng.choice(levels, len(mixed)),
        }
    )
    data.loc[::3, "income"] = np.nan
    return data


def test_a_selection(fitted, faults, tmp_path):
    assert faults(fitted.report(tmp_path / "page.html")) == []


def test_long_names_and_classes(mixed, faults, tmp_path):
    fit = quick_fit("`class` ~ .", long_names(mixed), k=3, keep=["credit history"])
    assert faults(fit.report(tmp_path / "page.html")) == []


def test_survival(faults, tmp_path):
    assert faults(small_fit().report(tmp_path / "page.html")) == []


def test_a_comparison(faults, tmp_path):
    assert faults(write_comparison(made(4, own=(3,)), tmp_path / "page.html")) == []


def test_faults_are_found(faults, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<svg viewBox="0 0 300 50" style="width:300px"><text x="250" y="20">it leaves it</text>'
        '<text x="9" y="20">one</text><text x="20" y="22">other</text></svg>'
        '<p style="width:2000px">too wide</p>'
        '<p class="value" style="width:40px;overflow-wrap:anywhere">interchangeable</p>',
        encoding="utf-8",
    )
    found = faults(page)
    assert {what for _, what, _ in found} == {"leaves", "crosses", "page", "splits"}
    assert {int(width) for width, *_ in found} == set(WIDTHS)
