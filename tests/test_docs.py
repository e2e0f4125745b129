"""The page of features: each call in its tables is made."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import matplotlib
import pytest
import sklearn
from sklearn.feature_selection import SelectKBest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import treeselect
from treeselect.arguments.checks import USUAL_METHOD

PAGE = Path(__file__).parent.parent / "docs" / "features.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the sdist has no docs")

CALL = re.compile(
    r"`((?:fit\.|pairs\.|select\(|select_imputed\(|compare\(|treeselect\.|TreeSelector\()[^`]*)`"
)

WITHOUT_TREES = ("cfs", "fcbf", "hsic_lasso", "lasso", "mrmr", "stepwise", "svm_rfe")
QUICK = {
    "controlburn": {"forests": 1, "n_trees": 5},
    "boruta": {"n_trees": 5, "max_rounds": 5},
    "exchange": {"n_trees": 10},
    **{method: {} for method in WITHOUT_TREES},
}
"""Small models for calls that say nothing of their size."""


def calls():
    if not PAGE.exists():
        return []
    page = PAGE.read_text(encoding="utf-8")
    return sorted(
        {call for line in page.splitlines() if line.startswith("|") for call in CALL.findall(line)}
    )


def quick_select(formula, data, **arguments):
    """``select`` with two units of a small model, unless the call says otherwise."""
    method = arguments.get("method", USUAL_METHOD)
    small = QUICK.get(method, {"n_trees": 5}) if isinstance(method, str) else {}
    return treeselect.select(formula, data, **({"k": 2, "seed": 1} | small | arguments))


def quick_imputed(formula, frames):
    """``select_imputed`` with two units of a small model."""
    return treeselect.select_imputed(formula, frames, method="importance", k=2, n_trees=5, seed=1)


def quick_compare(formula, data, methods):
    """``compare`` at one size in two folds."""
    return treeselect.compare(formula, data, methods, k=[2], folds=2, seed=1)


@pytest.fixture(scope="module")
def names():
    data = treeselect.datasets.load("titanic_correlated").sample(150, random_state=0)
    fit = quick_select("survived ~ .", data, method="importance", resamples=8)
    return {
        "data": data,
        "X": data.drop(columns="survived"),
        "y": data["survived"],
        "fit": fit,
        "pairs": fit.resample(8, scheme="complementary"),
        "frames": [data, data.assign(age=data["age"] + 1)],
        "select": quick_select,
        "select_imputed": quick_imputed,
        "compare": quick_compare,
        "SelectKBest": SelectKBest,
        "treeselect": treeselect,
        "TreeSelector": treeselect.TreeSelector,
    }


@pytest.mark.parametrize("call", calls())
def test_calls(call, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if call.startswith("treeselect.load"):
        names["fit"].save("model.treeselect")
    with sklearn.config_context(enable_metadata_routing="request" in call):
        assert eval(call, dict(names)) is not None
    plt.close("all")


def test_the_page_has_calls():
    assert len(calls()) > 60


DOCS = PAGE.parent
FOLDERS = ("", "guides", "methods", "reference")
APART = ("features.md", "long-runs.md", "survival.md")
"""Pages with a test of their own."""


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def pages():
    found = [page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md"))]
    return [page for page in found if page.name not in APART and blocks(page)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_code_of_each_page_runs(page, tmp_path, monkeypatch):
    """From top to bottom, on a fifth of the data that it loads, and by a fast method where the page
    names none, unless it speaks of exchanges or costs."""
    monkeypatch.chdir(tmp_path)
    whole, full = treeselect.datasets.load, treeselect.select
    needs_usual = re.search(r"\.exchanges\(\)|costs=", page.read_text("utf-8"))
    usual = USUAL_METHOD if needs_usual else "mrmr"

    def small(formula, data, *, method=usual, **arguments):
        return full(formula, data, method=method, **arguments)

    monkeypatch.setattr(treeselect, "select", small)
    monkeypatch.setattr(
        treeselect.datasets, "load", lambda name: whole(name)[lambda data: data.index % 5 == 0]
    )
    names = {"__name__": "__main__"}
    for block in blocks(page):
        exec(block, names)
    plt.close("all")


def test_the_readme_shows_what_is_printed():
    """Labels and heads of the printed summary, whose numbers can differ with the processor."""
    page = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (code,) = blocks(DOCS.parent / "README.md")
    quick = code.replace("resamples=25", "resamples=10").replace("data,", "data[::4],")
    names = {"print": lambda summary: None}
    exec("\n".join(line for line in quick.splitlines() if "report" not in line), names)
    printed = names["fit"].summary().as_text()
    labels = re.compile(r"^(?:[A-Z][A-Za-z ()]*:|Term .*)", re.MULTILINE)
    of_readme = [" ".join(label.split()) for label in labels.findall(shown)]
    of_fit = [" ".join(label.split()) for label in labels.findall(printed)]
    assert len(of_readme) > 8
    assert [label for label in of_readme if label not in of_fit] == []


def test_the_page_of_long_runs_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (PAGE.parent / "guides" / "long-runs.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 2
    assert not names["comparison"].partial
    kinds = Counter(path.name.partition("-")[0] for path in (tmp_path / "saved").iterdir())
    assert kinds == {"resample": 20, "fold": 3, "split": 3, "pair": 6}
    assert capsys.readouterr().out.count("resample ") == 20


def test_the_page_of_survival_runs(capsys):
    page = (PAGE.parent / "guides" / "survival.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    names = {}
    for block in blocks:
        exec(block, names)
    plt.close("all")
    said = capsys.readouterr().out
    assert "Name the event" in said
    assert said.count("Can't call") == 3
    assert "must not have the argument `type`" in said
    assert names["late"].formula.endswith("+ strata(site)")
