"""Figures on pages of methods are those of the tables they were taken from."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "methods"
TRUTH = ROOT / "benchmarks" / "results" / "truth_fixed.csv"

pytestmark = pytest.mark.skipif(not PAGES.exists(), reason="the pages are not beside the tests")

RECALL = re.compile(
    r"(\d\.\d\d)\s+\(s\.e\.\s+(\d\.\d\d)\),\s+with\s+(\d\.\d)\s+false\s+(?:terms?|picks?)"
)
SEVERAL = {"rrf": ["rrf", "grrf"], "rfe": ["rfe", "svm_rfe"]}


@pytest.fixture(scope="module")
def truth():
    return pd.read_csv(TRUTH)


def recalls():
    """Each recall on a page, with its standard error, the false terms and the page's methods."""
    found = []
    for page in sorted(PAGES.glob("*.md")):
        methods = SEVERAL.get(page.stem, [page.stem.replace("-", "_")])
        text = page.read_text(encoding="utf-8")
        found += [(page.name, methods, *each) for each in RECALL.findall(text)]
    return found


@pytest.mark.parametrize(("page", "methods", "recall", "error", "false"), recalls())
def test_a_recall_on_a_page_is_measured(truth, page, methods, recall, error, false):
    rows = truth[truth["method"].isin(methods)]
    shown = {
        (f"{row['recall']:.2f}", f"{row['recall s.e.']:.2f}", f"{row['false']:.1f}")
        for _, row in rows.iterrows()
    }
    assert (recall, error, false) in shown, page


def test_pages_tell_recalls_and_the_figures_of_the_evidence():
    told = (ROOT / "benchmarks" / "results" / "answers_words.md").read_text("utf-8")
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert " ".join(told.split()) in readme
    results = ROOT / "benchmarks" / "results"
    lost = (results / "answers_losses.md").read_text("utf-8").count("\n| ") - 1
    others = (results / "answers_losses.md").read_text("utf-8").count("| other columns")
    n = pd.read_csv(results / "answers_tables.csv")["case"].nunique()
    page = (PAGES.parent / "evidence" / "learned.md").read_text("utf-8")
    assert f"On {lost} of {n} real tables" in page
    assert f"On {lost - others} of these only larger sets do" in page
    assert f"On {others} of the {n} tables" in page
    assert len(recalls()) >= 8
