"""Tasks of methods, made without a fit."""

import dataclasses
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from treeselect.algorithms.method import Method
from treeselect.algorithms.task import Step, Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.weights import row_weights
from treeselect.results.fitting import ARGUMENTS

NO_PROBLEM: Any = SimpleNamespace(ready=lambda weights: (None, weights))

FIELDS = [field.name for field in dataclasses.fields(Request)]


def task_of(
    data: pd.DataFrame,
    method: Method,
    formula: str = "y ~ .",
    *,
    max_size: int = 6,
    seed: int = 2,
    **arguments: Any,
) -> Task:
    """What this method sees of a formula, with arguments of ``select()``."""
    given = ARGUMENTS | {"formula": formula} | arguments
    design = prepare(Request(**{name: given[name] for name in FIELDS}), data)
    return Task(design.problem_for(method), design.row_weights, max_size=max_size, seed=seed)


def with_problem(task: Task, **changes: Any) -> Task:
    """The task with changes of its problem."""
    return dataclasses.replace(task, problem=dataclasses.replace(task.problem, **changes))


def with_weights(task: Task, weight: Any) -> Task:
    """The task with other weights."""
    return dataclasses.replace(task, weights=row_weights(np.asarray(weight)))


def in_families(task: Task, shrink: float = 3.0) -> list[Task]:
    """The task, with three classes of its numbers, and with counts of mean ``exp(y / shrink)``."""
    y = task.problem.y
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y / shrink)).astype(float)
    return [
        task,
        with_problem(task, y=classes, family=multinomial(3)),
        with_problem(task, y=counts, family=POISSON),
    ]


def names_of(task: Task, selected: Any) -> set[str]:
    """Names of the selected units."""
    return set(np.array(task.problem.groups.names)[selected].tolist())


def sizes_of(steps: Sequence[Step]) -> list[int]:
    """Sizes of the steps of a path."""
    return [step.size for step in steps]
