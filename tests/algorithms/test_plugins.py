"""Methods of others: that of the documentation, installed as a package of its own, and its kin."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import treeselect
from treeselect.algorithms import registry
from treeselect.errors import MethodError, ModelFileError, TreeselectWarning

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "extending.md"

RUN = """
import sys, numpy as np, pandas as pd, treeselect
if __name__ == "__main__":
    folder = sys.argv[1]
    data = treeselect.datasets.load("titanic_correlated").sample(200, random_state=0)
    fit = treeselect.select("survived ~ .", data, method="screen", k=2, seed=1)
    assert "screen" in treeselect.methods()["method"].tolist()
    one, two = (fit.resample(4, n_jobs=n).stability.selected for n in (1, 2))
    assert np.array_equal(one, two)
    given = treeselect.select("survived ~ .", data, method=type(fit.search.method)(), k=2, seed=1)
    assert given.path.equals(fit.path)
    table = treeselect.compare("survived ~ .", data, ["screen", "mrmr"], k=2, folds=2)
    assert set(table.tidy()["method"]) == {"screen", "mrmr"}
    assert treeselect.TreeSelector("screen", k=1).fit(data[["age", "sex"]], data["survived"]).k == 1
    fit.report(folder + "/report.html")
    fit.save(folder + "/fit.tsm")
    again = treeselect.load(folder + "/fit.tsm")
    assert again.search.method == fit.search.method
    assert np.array_equal(again.predict(data), fit.predict(data))
    print(*fit.selected)
"""


def install(folder: Path, name: str, code: str, points: str) -> None:
    """A package as it lies in a folder of installed ones."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "RECORD").write_text(f"{name}.py,,\n{name}-1.0.dist-info/METADATA,,\n")
    (info / "entry_points.txt").write_text(f"[treeselect.methods]\n{points}\n", encoding="utf-8")


def code_of_the_page() -> str:
    found = re.search(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    return found.group(1)


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})


def test_the_method_of_the_page_does_everything(tmp_path, data):
    installed = tmp_path / "installed"
    installed.mkdir()
    install(installed, "screens", code_of_the_page(), "screen = screens:Screen")
    path = os.pathsep.join([str(installed), str(ROOT), os.environ.get("PYTHONPATH", "")])
    script = tmp_path / "run.py"
    script.write_text(RUN, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(tmp_path)],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["sex", "height"]
    assert "Screening by explained variance" in (tmp_path / "report.html").read_text("utf-8")
    # here the package is not installed
    with pytest.warns(TreeselectWarning, match=r"method `screen`.* package `screens` 1\.0"):
        lost = treeselect.load(tmp_path / "fit.tsm")
    assert lost.selected == ("sex", "height")
    assert len(lost.predict(data)) == len(data)
    assert "Screening by explained variance" in str(lost.summary())
    with pytest.raises(MethodError, match="package `screens`"):
        lost.with_data(
            treeselect.datasets.load("titanic_correlated").sample(200, random_state=0)
        ).resample(2)
    lost.save(tmp_path / "again.tsm")
    with pytest.warns(TreeselectWarning, match="package `screens`"):
        assert treeselect.load(tmp_path / "again.tsm").k == 2


@pytest.fixture(scope="module")
def data():
    return treeselect.datasets.load("titanic_correlated").head(60)


@dataclass(frozen=True)
class Sorted(treeselect.Method):
    """Units as they stand."""

    most: int = 9

    name = "sorted"

    def path(self, task):
        first = np.arange(len(task.problem.groups.names))
        sizes = range(min(self.most, task.max_size) + 1)
        return [self.scored_step(task, n, first < n, np.ones(len(first))) for n in sizes]


def test_an_object_and_a_child_of_a_method_are_methods(data):
    fit = treeselect.select("survived ~ sex + age", data, method=Sorted(), most=1, k=1, seed=1)
    assert fit.selected == ("age",)
    assert fit._fit.call.text.endswith("method=Sorted(), k=1, seed=1, most=1)")
    assert Sorted(most=3).label == "sorted(most=3)"
    with pytest.raises(MethodError, match="Sorted has no option `least`"):
        treeselect.select("survived ~ sex + age", data, method=Sorted(), least=1)

    @dataclass(frozen=True, kw_only=True)
    class Quick(treeselect.RRF):
        n_trees: int = 5

    quick, plain = (
        treeselect.select("survived ~ sex + age", data, method=m, k=1, seed=1)
        for m in (Quick(), treeselect.RRF(n_trees=5))
    )
    assert quick.path.equals(plain.path)


def test_names_are_registered_once_and_options_need_defaults():
    treeselect.register_method("sorted", Sorted)
    treeselect.register_method("sorted", Sorted)
    assert treeselect.methods()["method"].tolist()[-1] == "sorted"
    with pytest.raises(MethodError, match="`sorted` is already used"):
        treeselect.register_method("sorted", type("Other", (Sorted,), {}))
    with pytest.raises(MethodError, match="`rrf` is already used"):
        treeselect.register_method("rrf", Sorted)
    with pytest.raises(MethodError, match="Did you mean `sorted`"):
        treeselect.select("y ~ x", {"y": [1], "x": [1]}, method="sortde")

    @dataclass(frozen=True, kw_only=True)
    class Asking(Sorted):
        needed: int

    with pytest.raises(MethodError, match=r"must have a default for every option.*\n.*`needed`"):
        treeselect.register_method("asking", Asking)


@pytest.mark.parametrize("name", ["", "Sorted", "a b", "1st", None, 3])
def test_a_name_is_a_word(name):
    with pytest.raises(MethodError, match="must be a word of lower-case letters"):
        treeselect.register_method(name, Sorted)


class Pathless(treeselect.Method):
    name = "pathless"


class Nameless(treeselect.Method):
    def path(self, task):
        return ()


class Plain:
    name = "plain"

    def path(self, task):
        return ()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Pathless, "Pathless must define `path`"),
        (Nameless, "Nameless must define `name`"),
        (Plain, "Plain must be a subclass of `treeselect.Method`"),
        (Plain(), "`kind` must be a subclass of"),
    ],
)
def test_what_is_missing_is_named_of_classes_and_objects(data, kind, said):
    with pytest.raises(MethodError, match=said):
        treeselect.register_method("mine", kind)
    if isinstance(kind, type):
        as_object = "It has a `path`: make its class a subclass of" if kind is Plain else said
        with pytest.raises(MethodError, match=as_object):
            treeselect.select("survived ~ sex", data, method=kind())


def answering(made):
    """A method whose path is what is made of the task."""
    kind = type("Odd", (Sorted,), {"path": lambda self, task: made(self, task)})
    return kind()


HALF = np.array([0.5, 0.5])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda self, task: None, "must return at least one step.\n  Found: None"),
        (lambda self, task: (), "must return at least one step"),
        (lambda self, task: Sorted.path(self, task)[::-1], "of increasing size"),
        (lambda self, task: [treeselect.Step(1, HALF, HALF, 0.5)], "True or False in `selected`"),
        (lambda self, task: [treeselect.Step(1, HALF > 0, -HALF, 0.5)], "of at least 0"),
        (lambda self, task: [treeselect.Step(1, HALF > 0, HALF * np.nan, 0.5)], "a finite number"),
        (lambda self, task: [treeselect.Step(1, HALF > 1, HALF, 0.5)], "0 for terms not selected"),
    ],
)
def test_answers_that_are_no_path(data, made, said):
    with pytest.raises(MethodError, match=said):
        treeselect.select("survived ~ sex + age", data, method=answering(made), k=1)


def test_scores_that_a_path_does_not_tell_are_found(data):
    def made(self, task):
        return [treeselect.Step(1, HALF > 0, HALF, np.nan)]

    fit = treeselect.select("survived ~ sex + age", data, method=answering(made), k=2, seed=1)
    assert 0.5 < fit.search.step.train_score < 1


@pytest.mark.parametrize(
    ("code", "points", "said"),
    [
        ("1 / 0", "mine = odd_methods:A", "`odd_methods` provides.*`mine`.*\n.*division by zero"),
        ("A = 3", "mine = odd_methods:A", "`odd_methods` provides.*\n.*isn't a class"),
        ("class A: pass", "mine = odd_methods:A", "`odd_methods` provides.*\n.*must be a subclass"),
        ("", "mine = odd_methods:A", "`odd_methods` provides.*\n.*has no attribute 'A'"),
    ],
)
def test_a_broken_package_is_named(tmp_path, monkeypatch, code, points, said):
    install(tmp_path, "odd_methods", code, points)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd_methods", raising=False)
    for call in (treeselect.methods, lambda: registry.find_kind("mine")):
        with pytest.raises(MethodError, match=said):
            call()
    assert registry.find_kind("yours") is None


def test_a_package_may_take_no_name_of_another(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "takers", "", "rrf = takers:A")
    with pytest.raises(MethodError, match="`takers` provides a method named `rrf`"):
        treeselect.methods()
    for name in ("firsts", "seconds"):
        install(tmp_path, name, "", f"mine = {name}:A")
    with pytest.raises(
        MethodError, match="`firsts` and `seconds` both provide a method named `mine`"
    ):
        registry.find_kind("mine")


def test_a_method_of_a_script_is_found_by_its_name(tmp_path, data, monkeypatch):
    monkeypatch.setattr(Sorted, "__module__", "no_package")
    fit = treeselect.select("survived ~ sex + age", data, method=Sorted(most=2), k=1, seed=1)
    fit.save(tmp_path / "fit.tsm")
    with pytest.warns(TreeselectWarning, match="Can't find the method `sorted` of the module"):
        lost = treeselect.load(tmp_path / "fit.tsm")
    assert lost.search.method.label == "sorted(most=2)"
    assert str(lost.summary()) == str(fit.summary())
    treeselect.register_method("sorted", Sorted)
    assert treeselect.load(tmp_path / "fit.tsm").search.method == Sorted(most=2)


def test_a_file_that_tells_nothing_of_its_method_is_refused(tmp_path, data, monkeypatch):
    fit = treeselect.select("survived ~ sex + age", data, method=Sorted(), k=1, seed=1)
    monkeypatch.setattr("treeselect.algorithms.registry.told", lambda method, name: {"name": name})
    fit.save(tmp_path / "fit.tsm")
    with pytest.raises(ModelFileError):
        treeselect.load(tmp_path / "fit.tsm")
