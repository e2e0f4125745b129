"""The house stands: arrows point down, and each room keeps to what it is for."""

import importlib
import inspect

import layout
import pytest

ALONE = {
    "formulaic": {"treeselect.formula"},
    "jinja2": {"treeselect.reports"},
    "matplotlib": {
        "treeselect.figures", "treeselect.reports", "treeselect.resampling", "treeselect.results",
        "treeselect.result", "treeselect.comparing",
    },
    "statsmodels": {"treeselect.models"},
}  # fmt: skip
"""Packages, and the only modules or folders that import them."""


def test_no_modules_or_rooms_import_each_other_in_a_circle():
    assert layout.circle(layout.imports()) == []
    assert layout.circle(layout.rooms(layout.imports())) == []


def test_the_figure_of_the_rooms_is_true():
    shown = (layout.ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert layout.figure() in shown, (
        f"ARCHITECTURE.md must show the rooms as they are:\n\n{layout.figure()}\n"
    )


@pytest.mark.parametrize("package", ALONE)
def test_a_package_is_imported_where_it_belongs(package):
    users = {
        name
        for name, path in layout.modules().items()
        if any(n.split(".")[0] == package for n in layout.imported(path))
    }
    homes = ALONE[package]
    assert users
    strays = {u for u in users if not any(u == h or u.startswith(f"{h}.") for h in homes)}
    assert strays == set()


def test_the_engine_knows_arrays_alone():
    for name, path in layout.modules().items():
        if layout.room_of(name) == "engine":
            found = {n.split(".")[0] for n in layout.imported(path)}
            strays = {layout.room_of(n) for n in layout.imports()[name]} - {
                "engine", "errors", "brief", "_version",
            }  # fmt: skip
            assert not strays, f"{name} imports {strays}"
            assert not found & {"pandas", "polars", "pyarrow", "narwhals", "formulaic"}, name


def drawing_functions():
    """Functions of the engine that draw single rows unless they are told how to draw."""
    found = {
        name
        for module in layout.modules()
        if layout.room_of(module) == "engine"
        for name, value in vars(importlib.import_module(module)).items()
        if inspect.isfunction(value)
        and (asked := inspect.signature(value).parameters.get("sampling"))
        and asked.default is not inspect.Parameter.empty
    }
    assert {"bagged_forest", "bag_boost"} <= found
    return found


def test_rows_that_belong_together_are_drawn_together():
    """Nobody above the engine draws rows without saying which of them are a group."""
    drawing = drawing_functions()
    for name, path in layout.modules().items():
        if layout.room_of(name) != "engine":
            assert layout.drawn_apart(path.read_text(encoding="utf-8"), drawing) == [], name


@pytest.mark.parametrize(
    ("source", "n_found"),
    [
        ("bagged_forest(data, n_trees=2, sampling=Sampling(groups=task.weights.groups))", 0),
        ("Sampling(rules.replace, rules.share, task.weights.groups)", 0),
        ("bagged_forest(data, n_trees=2, sampling=ALL_ROWS)", 0),
        ("bagged_forest(data, n_trees=2)", 1),
        ("forests.bagged_forest(data, **options)", 1),
        ("from treeselect.engine.forest.bag_boosting import bag_boost as grow\ngrow(data)", 1),
        ("sampling = Sampling()", 1),
        ("sampling = Sampling(groups=None)", 1),
        ("Sampling(True, 0.5)", 1),
        ("Sampling(replace=False, share=0.5)", 1),
        ("bags_of(weight, BOOTSTRAP, seeds)", 1),
        ("bagged_forest(data, sampling=forests.BOOTSTRAP)", 1),
        ("from forests import BOOTSTRAP as plain\nout_of_bag(trees, data, counts, plain, 1)", 1),
    ],
)
def test_rows_drawn_apart_are_found(source, n_found):
    assert len(layout.drawn_apart(source, {"bagged_forest", "bag_boost"})) == n_found


def test_rooms_and_long_files_say_why():
    for folder in sorted(p for p in layout.PACKAGE.rglob("*") if (p / "__init__.py").is_file()):
        words = (folder / "__init__.py").read_text(encoding="utf-8")
        assert words.startswith('"""'), folder
        assert len(words.split()) > 10, folder
    for path in layout.modules().values():
        lines = path.read_text(encoding="utf-8").splitlines()
        head = " ".join(lines[:8])
        assert len(lines) <= 600 or " long " in head, f"{path.name} has {len(lines)} lines"
