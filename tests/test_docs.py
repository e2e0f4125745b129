"""Pages of the site: each block of Python is run, and each call in the tables of features.

That all public names are in the reference is tested here, too; links are looked at when the site is
built.
"""

import dataclasses
import inspect
import pkgutil
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
from treeselect.algorithms.registry import METHODS
from treeselect.arguments.checks import USUAL_METHOD

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "features.md"

CALL = re.compile(
    r"`((?:fit\.|pairs\.|select\(|compare\(|treeselect\.|TreeSelector\()"
    r"[^`]*)`"
)

QUICK = {
    **{name: {"n_trees": 5} for name, kind in METHODS.items() if "n_trees" in kind.defaults()},
    "controlburn": {"forests": 1, "n_trees": 5},
    "boruta": {"n_trees": 5, "max_rounds": 5},
    "exchange": {"n_trees": 10},
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
    small = QUICK.get(method, {}) if isinstance(method, str) else {}
    return treeselect.select(formula, data, **({"k": 2, "seed": 1} | small | arguments))


def quick_compare(formula, data, methods):
    """``compare`` at one size in two folds."""
    return treeselect.compare(formula, data, methods, k=[2], folds=2, seed=1)


@pytest.fixture(scope="module")
def names():
    data = treeselect.datasets.load("titanic_correlated").sample(150, random_state=0)
    fit = quick_select("survived ~ .", data, method="importance", resamples=8)
    return {
        "data": data, "X": data.drop(columns="survived"), "y": data["survived"], "fit": fit,
        "pairs": fit.resample(8, scheme="complementary"),
        "frames": [data, data.assign(age=data["age"] + 1)], "select": quick_select,
        "compare": quick_compare, "SelectKBest": SelectKBest, "treeselect": treeselect,
        "TreeSelector": treeselect.TreeSelector,
    }  # fmt: skip


@pytest.mark.parametrize("call", calls())
def test_calls(call, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("treeselect.models.boosting.MOST_ROUNDS", 50)
    if call.startswith("treeselect.load"):
        names["fit"].save("model.treeselect")
    with sklearn.config_context(enable_metadata_routing="request" in call):
        assert eval(call, dict(names)) is not None
    plt.close("all")


def test_all_pages_and_calls_are_read():
    assert len(calls()) > 60
    assert {"README", "get-started", "features", "survival", "exchange"} <= {p.stem for p in PAGES}
    assert not [page for page in PAGES if "no-run" in page.read_text(encoding="utf-8")]


def folder(name):
    return sorted((DOCS / name).glob("*.md"))


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


PAGES = [
    page
    for page in [
        DOCS.parent / "README.md",
        *sorted(DOCS.glob("*.md")),
        *(page for name in ("guides", "methods", "reference") for page in folder(name)),
    ]
    if blocks(page)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    """One after the other, with the same names: on a fifth of most data that they load, by a fast
    method where the page names none, unless it speaks of exchanges or costs, with few repeats and
    folds."""
    monkeypatch.chdir(tmp_path)
    whole, full = treeselect.datasets.load, treeselect.select
    needs_usual = re.search(r"\.exchanges\(\)|costs=", "".join(blocks(page)))
    usual = USUAL_METHOD if needs_usual else "mrmr"

    def small(formula, data, *, method=usual, resamples=None, **arguments):
        few = resamples and min(resamples, 20)
        trees = {"n_trees": 20} if method == "exchange" else {}
        folds = {"folds": 2} if "folds" in arguments else {}
        return full(formula, data, method=method, resamples=few, **trees | arguments | folds)

    def short(view, shares, *, repeats=1, **arguments):
        return curve(view, shares, repeats=min(repeats, 5), **arguments)

    curve = treeselect.results.views.SearchView.learning_curve
    monkeypatch.setattr(treeselect.results.views.SearchView, "learning_curve", short)
    monkeypatch.setattr(treeselect, "select", small)
    monkeypatch.setattr("treeselect.models.boosting.MOST_ROUNDS", 50)
    monkeypatch.setattr(
        treeselect.datasets,
        "load",
        lambda name: whole(name)[lambda data: (data.index % 5 == 0) | (name == "gbsg2")],
    )
    names = {}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)
    plt.close("all")
    said = capsys.readouterr().out
    if page.stem == "survival":
        assert "Name the event" in said
        assert said.count("Can't call") == 3
        assert "must not have the argument `type`" in said
        assert names["late"].formula.endswith("+ strata(site)")
    if page.stem == "long-runs":
        assert not names["comparison"].partial
        kinds = Counter(path.name.partition("-")[0] for path in (tmp_path / "saved").iterdir())
        assert kinds == {"resample": 20, "fold": 3, "split": 3, "pair": 9}
        assert said.count("resample ") == 20


def test_the_readme_shows_what_is_printed():
    """Labels and heads of the printed summary, whose numbers can differ with the processor."""
    page = DOCS.parent / "README.md"
    (shown,) = re.findall(r"^```text\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (code,) = blocks(page)
    quick = code.replace("data,", "data[::5],")
    names = {"print": lambda summary: None}
    exec("\n".join(line for line in quick.splitlines() if "report" not in line), names)
    printed = names["fit"].summary().as_text()
    labels = re.compile(r"^(?:[A-Z][A-Za-z ()]*:|Term .*)", re.MULTILINE)
    of_readme = [" ".join(label.split()) for label in labels.findall(shown)]
    of_fit = [" ".join(label.split()) for label in labels.findall(printed)]
    assert len(of_readme) > 8
    assert [label for label in of_readme if label not in of_fit] == []


def documented():
    """Names in the lists of the reference, and those with a directive of their own."""
    text = "".join(page.read_text(encoding="utf-8") for page in folder("reference"))
    lists = re.findall(r"^```\{names\}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return "\n".join(lists).split() + re.findall(r"^\.\. py:data:: (\S+)", text, flags=re.MULTILINE)


RESULTS = (
    "treeselect.comparing.Comparison", "treeselect.comparison.fits.FitComparison",
    "treeselect.imputing.ImputedSelection", "treeselect.resampling.performance.Performance",
    "treeselect.SelectionResult",
    "treeselect.resampling.coefficient_stability.CoefficientStability",
    "treeselect.resampling.conditional.ConditionalImportance",
    "treeselect.resampling.decisions.DecisionCurve",
    "treeselect.resampling.error_bounds.ErrorBound", "treeselect.resampling.inference.Inference",
    "treeselect.resampling.learning.LearningCurve",
    "treeselect.resampling.learning.RowsNeeded",
    "treeselect.resampling.risk_groups.RiskGroups", "treeselect.resampling.sample_size.SampleSize",
    "treeselect.resampling.stability.Stability", "treeselect.resampling.subgroups.Subgroups",
    "treeselect.resampling.validation.Validation", "treeselect.results.checklist.Checklist",
    "treeselect.results.citation.Citation", "treeselect.results.views.DataView",
    "treeselect.results.views.ModelView", "treeselect.results.views.SearchView",
    "treeselect.results.linear_model.GlmFit",
    "treeselect.models.linear.tests.TermTests", "treeselect.results.diagnostics.Diagnostics",
    "treeselect.models.linear.regression_table.RegressionTable",
)  # fmt: skip
"""What calls return: each with all that it can do."""

ATTRIBUTES = {
    "treeselect.comparison.record.Contest",
    "treeselect.imputation.record.Imputed",
    "treeselect.resampling.records.OfFolds",
    "treeselect.resampling.records.Scored",
    "treeselect.resampling.records.Stoppable",
    "treeselect.resampling.resampled.Resampled",
}
"""Records from which results inherit their attributes."""

FOR_REPORTS = re.compile(
    r"(?<!regression)_table$|^table|^in_pandas$|^as_shown$|_words$|^words$|^printed$|^facts$|^place_members$"
)
"""Plain data that pages and summaries of the package read; users have the same as methods."""

FOR_PAGES = {"treeselect.resampling.conditional.ConditionalImportance.lost"}
"""The same, under names that do not say so."""


def members(cls):
    """Public methods and properties of a class; fields are in its docstring."""
    fields = {field.name for field in dataclasses.fields(cls)}
    return {n for n in dir(cls) if not n.startswith("_")} - fields


def test_each_method_is_public_and_told():
    assert {kind.__name__ for kind in METHODS.values()} <= set(treeselect._HOME)
    told = "".join(page.read_text(encoding="utf-8") for page in folder("methods"))
    assert [name for name in METHODS if f"`{name}`" not in told and f'"{name}"' not in told] == []


def test_each_public_name_is_in_the_reference_once():
    top = {*treeselect.__all__, *treeselect._HOME}
    public = {f"treeselect.{name}" for name in top} | set(RESULTS) | ATTRIBUTES
    public |= {f"treeselect.datasets.{name}" for name in treeselect.datasets.__all__}
    public |= {
        f"treeselect.errors.{name}"
        for name, found in vars(treeselect.errors).items()
        if isinstance(found, type) and issubclass(found, Exception | Warning)
    }
    for result in RESULTS:
        names = members(pkgutil.resolve_name(result))
        public |= {f"{result}.{name}" for name in names if not FOR_REPORTS.search(name)}
    public |= {f"treeselect.TreeSelector.{name}" for name in ("fit", "transform")}
    public -= FOR_PAGES
    counts = Counter(documented())
    assert [name for name, count in counts.items() if count > 1] == []
    assert sorted(public - set(counts)) == []
    assert sorted(set(counts) - public) == []


def parameters_of(docstring):
    """Names in the section on parameters; ``a, b : int`` are two."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", docstring, re.M | re.S)
    heads = (
        [line for line in found[1].splitlines() if line and not line[0].isspace()] if found else []
    )
    return {name.strip().lstrip("*") for head in heads for name in head.split(" : ")[0].split(",")}


def public_functions():
    """Public functions and methods with their class, which may have the example; properties have
    no parameters."""
    for name in {*treeselect.__all__, *treeselect._HOME}:
        if inspect.isfunction(found := getattr(treeselect, name)):
            yield f"treeselect.{name}", found, found
    for result in RESULTS:
        cls = pkgutil.resolve_name(result)
        for name in sorted(members(cls)):
            full, found = f"{result}.{name}", inspect.getattr_static(cls, name)
            if FOR_REPORTS.search(name) or full in FOR_PAGES:
                continue
            yield full, getattr(found, "fget", None) or getattr(found, "func", None) or found, cls


def test_each_public_function_tells_its_parameters_and_has_an_example():
    wrong, without = {}, []
    for name, function, home in public_functions():
        said = inspect.cleandoc(function.__doc__ or "")
        assert said, f"{name} has no docstring"
        real = set(inspect.signature(function).parameters) - {"self"}
        if different := real ^ parameters_of(said):
            wrong[name] = different
        if ">>>" not in said + (home.__doc__ or ""):
            without.append(name)
    assert wrong == {}
    assert without == []
