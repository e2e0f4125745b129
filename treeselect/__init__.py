"""Which few of these variables carry the signal, and would another sample lead to the same ones?

One call answers: ``treeselect.select("y ~ . - id", data)``. Its result prints a summary, writes an
HTML report and predicts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from treeselect._version import __version__

if TYPE_CHECKING:
    from treeselect.algorithms.controlburn.controlburn import ControlBurn as ControlBurn
    from treeselect.algorithms.filters import CFS as CFS
    from treeselect.algorithms.filters import FCBF as FCBF
    from treeselect.algorithms.filters import MRMR as MRMR
    from treeselect.algorithms.foreign import ForeignSelector as ForeignSelector
    from treeselect.algorithms.forests.elimination import (
        RecursiveElimination as RecursiveElimination,
    )
    from treeselect.algorithms.forests.elimination import VarSelRF as VarSelRF
    from treeselect.algorithms.forests.gbfs import GBFS as GBFS
    from treeselect.algorithms.forests.ranking import Boruta as Boruta
    from treeselect.algorithms.forests.ranking import ForestImportance as ForestImportance
    from treeselect.algorithms.forests.regularised import GRRF as GRRF
    from treeselect.algorithms.forests.regularised import RRF as RRF
    from treeselect.algorithms.forests.regularised import RBoost as RBoost
    from treeselect.algorithms.linear.hsic import HSICLasso as HSICLasso
    from treeselect.algorithms.linear.penalised import SVMRFE as SVMRFE
    from treeselect.algorithms.linear.penalised import Lasso as Lasso
    from treeselect.algorithms.linear.stepwise import Stepwise as Stepwise
    from treeselect.algorithms.method import Method
    from treeselect.algorithms.registry import methods, register_method
    from treeselect.algorithms.search.exchange import ExchangeSearch as ExchangeSearch
    from treeselect.algorithms.task import Step, Task
    from treeselect.comparing import compare
    from treeselect.designs.problem import Problem
    from treeselect.frames.opening import read
    from treeselect.resampling.sample_size import sample_size as sample_size
    from treeselect.result import SelectionResult
    from treeselect.results.incidence import cumulative_incidence as cumulative_incidence
    from treeselect.results.versions import versions as versions
    from treeselect.selection import load, select
    from treeselect.selector import TreeSelector

__all__ = [
    "Method",
    "Problem",
    "SelectionResult",
    "Step",
    "Task",
    "TreeSelector",
    "__version__",
    "compare",
    "datasets",
    "errors",
    "load",
    "methods",
    "read",
    "register_method",
    "select",
]

# Names are imported on first use, so that `import treeselect` alone is fast.
_NAMES_IN = {
    "algorithms.controlburn.controlburn": "ControlBurn",
    "algorithms.filters": "CFS FCBF MRMR",
    "algorithms.foreign": "ForeignSelector",
    "algorithms.forests.elimination": "RecursiveElimination VarSelRF",
    "algorithms.forests.gbfs": "GBFS",
    "algorithms.forests.ranking": "Boruta ForestImportance",
    "algorithms.forests.regularised": "GRRF RBoost RRF",
    "algorithms.linear.hsic": "HSICLasso",
    "algorithms.linear.penalised": "Lasso SVMRFE",
    "algorithms.linear.stepwise": "Stepwise",
    "algorithms.method": "Method",
    "algorithms.registry": "methods register_method",
    "algorithms.search.exchange": "ExchangeSearch",
    "algorithms.task": "Step Task",
    "comparing": "compare",
    "designs.problem": "Problem",
    "frames.opening": "read",
    "resampling.sample_size": "sample_size",
    "result": "SelectionResult",
    "results.incidence": "cumulative_incidence",
    "results.versions": "versions",
    "selection": "load select",
    "selector": "TreeSelector",
}

_HOME = {name: module for module, names in _NAMES_IN.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "errors"):
        return importlib.import_module(f"treeselect.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"treeselect.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'treeselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
