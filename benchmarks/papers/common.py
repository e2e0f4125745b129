"""What the programs beside this one share: problems from arrays and frames, forests, figures."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from treeselect import ExchangeSearch
from treeselect.algorithms.method import Method
from treeselect.algorithms.task import Task, step_of_size
from treeselect.designs.encoding import build_design
from treeselect.designs.families import BINOMIAL, multinomial
from treeselect.designs.problem import FeatureGroups, Problem
from treeselect.designs.units import make_units
from treeselect.designs.weights import row_weights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import MAX_BINS, BinnedData, bin_columns, bin_edges
from treeselect.engine.forest.bagging import BOOTSTRAP, bagged_forest
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.target import class_target
from treeselect.engine.tree.workspace import UNBOUNDED, Growth
from treeselect.formula import parse_formula

sys.path.append(str(Path(__file__).resolve().parents[1]))  # harness.py is beside this folder

import harness

RESULTS = Path(__file__).parent / "results"
Run = functools.partial(harness.Run, results=RESULTS)


def seed_tables(paper: str) -> Any:
    """The printed tables of a paper; nothing where the file is not at hand."""
    path = harness.data_folder() / "seed_tables.json"
    return json.loads(path.read_text())[paper] if path.exists() else {}


def ones(problem: Problem) -> IntArray:
    """Weights of all rows."""
    return np.ones(len(problem.y), dtype=np.int64)


def path_of(method: Method, problem: Problem, weight: IntArray, size: int, seed: int) -> Any:
    """The path of a method on rows with weights."""
    return method.path(Task(problem, row_weights(weight), max_size=size, seed=seed))


def binned(
    X: FloatArray, edges: Sequence[FloatArray] | None = None
) -> tuple[BinnedData, Sequence[FloatArray]]:
    """Every value a bin of its own, or bins by given edges."""
    columns = [np.ascontiguousarray(column, dtype=np.float64) for column in X.T]
    edges = [bin_edges(column, None) for column in columns] if edges is None else edges
    return bin_columns(columns, edges, [0] * len(columns), np.arange(len(columns))), edges


def class_problem(X: FloatArray, y: IntArray, bags: Sequence[int] | None = None) -> Problem:
    """Classes numbered from 0, each column a unit by itself or those of a bag together.

    Columns of a bag must stand beside each other.
    """
    ids = np.arange(X.shape[1]) if bags is None else np.asarray(bags)
    columns = [np.ascontiguousarray(column, dtype=np.float64) for column in X.T]
    n = int(ids.max()) + 1
    names = tuple(f"x{g:06d}" for g in range(n))
    groups = FeatureGroups(
        names=names,
        terms=tuple((name,) for name in names),
        ids=ids.astype(np.int64),
        items=tuple(np.array([g]) for g in range(n)),
        item_costs=np.ones(n),
        keep=np.zeros(n, dtype=np.bool_),
        keys=names,
    )
    data, exact = (
        bin_columns(columns, [bin_edges(c, most) for c in columns], [0] * len(columns), ids)
        for most in (MAX_BINS, None if len(y) > MAX_BINS else MAX_BINS)
    )
    n_classes = int(y.max()) + 1
    family = BINOMIAL if n_classes == 2 else multinomial(n_classes)
    return Problem(data, groups, y.astype(np.float64), family, exact=exact)


def frame_problem(frame: pd.DataFrame, target: str) -> Problem:
    """Classes to be told apart by the other columns of a frame: text is a factor."""
    frame = frame.rename(columns={target: "the_response"})
    terms = [f"`{name}`" for name in frame.columns if name != "the_response"]
    parsed = parse_formula(f"the_response ~ {' + '.join(terms)}", list(frame.columns))
    units = make_units(parsed.terms, None, None, None)
    design, _, _ = build_design(parsed, frame, units)
    y = pd.factorize(frame["the_response"], sort=True)[0]
    n_classes = int(y.max()) + 1
    family = BINOMIAL if n_classes == 2 else multinomial(n_classes)
    exact = design.exact(np.ones(len(y), dtype=np.int64))
    return Problem(design.binned, design.groups, y.astype(np.float64), family, exact=exact)


def sets_by_size(
    method: Method, problem: Problem, weight: IntArray, sizes: Sequence[int], seed: int
) -> dict[int, BoolArray]:
    """By size, the units that a method selects when it is asked for so many.

    Exchange search looks for each size by itself; the sizes of the others are steps of one path.
    """
    task = Task(problem, row_weights(weight), max_size=max(sizes), seed=seed)
    keep = problem.groups.keep
    if isinstance(method, ExchangeSearch):
        tasks = {k: dataclasses.replace(task, max_size=k, every_size=False) for k in sizes}
        return {k: step_of_size(method.path(own), k, keep).selected for k, own in tasks.items()}
    path = method.path(task)
    return {k: step_of_size(path, k, keep).selected for k in sizes}


def forest_error(
    X: FloatArray,
    y: IntArray,
    new_X: FloatArray,
    new_y: IntArray,
    used: BoolArray,
    *,
    seed: int,
    n_trees: int = 1000,
) -> float:
    """Share of new rows that a random forest on some columns gets wrong; ties go by a coin."""
    n_classes = int(max(y.max(), new_y.max())) + 1
    if not used.any():
        return float(np.mean(np.bincount(y).argmax() != new_y))
    data, edges = binned(X[:, used])
    trees = bagged_forest(
        data, class_target(y, n_classes), np.ones(len(y), dtype=np.int64), n_trees=n_trees,
        growth=Growth(UNBOUNDED, 1, max(int(np.sqrt(used.sum())), 1), 0.0, random_ties=True),
        seed=seed, rank=np.arange(data.n_groups), sampling=BOOTSTRAP,
    ).trees  # fmt: skip
    share = predict_mean(trees, binned(new_X[:, used], edges)[0])
    return float(np.mean(share.argmax(axis=1) != new_y))


def apart(ours: tuple[float, float], peer: tuple[float, float | None]) -> bool:
    """Whether two means differ by more than two standard errors of their difference."""
    error = np.hypot(ours[1], peer[1] or 0.0)
    return bool(abs(ours[0] - peer[0]) > 2 * error + 1e-9)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, its size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def dress(axes: Any, title: str, x: str, y: str) -> None:
    """Title, axis labels and a faint grid."""
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
