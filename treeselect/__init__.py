"""Which few of these variables carry the signal, and would another sample lead to the same ones?

One call answers: ``treeselect.select("y ~ . - id", data)``. Its result prints a summary, writes an
HTML report and predicts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from treeselect._version import __version__

if TYPE_CHECKING:
    from treeselect.algorithms.controlburn.controlburn import ControlBurn
    from treeselect.algorithms.controlburn.solvers import (
        BestSubset,
        Constraints,
        Hinge,
        Penalty,
        Sketch,
    )
    from treeselect.algorithms.controlburn.trees import Forest, SingleFeature
    from treeselect.algorithms.filters import CFS, FCBF, MRMR
    from treeselect.algorithms.foreign import ForeignSelector
    from treeselect.algorithms.forests.boruta import Boruta
    from treeselect.algorithms.forests.elimination import RecursiveElimination, VarSelRF
    from treeselect.algorithms.forests.gbfs import GBFS
    from treeselect.algorithms.forests.importance import ForestImportance
    from treeselect.algorithms.forests.rboost import RBoost
    from treeselect.algorithms.forests.rrf import GRRF, RRF
    from treeselect.algorithms.linear.hsic import HSICLasso
    from treeselect.algorithms.linear.lasso import Lasso
    from treeselect.algorithms.linear.stepwise import Stepwise
    from treeselect.algorithms.linear.svm import SVMRFE
    from treeselect.algorithms.method import Method
    from treeselect.algorithms.registry import methods, register_method
    from treeselect.algorithms.search.exchange import ExchangeSearch
    from treeselect.algorithms.task import Step, Task
    from treeselect.comparing import Comparison, compare
    from treeselect.comparing_fits import compare_fits
    from treeselect.comparison.record import FitComparison
    from treeselect.designs.problem import Problem
    from treeselect.formula_selector import FormulaSelector
    from treeselect.frames.opening import read
    from treeselect.imputing import ImputedSelection, select_imputed
    from treeselect.loading import load
    from treeselect.resampling.performance import Performance
    from treeselect.result import SelectionResult
    from treeselect.results.versions import Versions, versions
    from treeselect.selection import select
    from treeselect.selector import TreeSelector
    from treeselect.updating import update

__all__ = [
    "CFS",
    "FCBF",
    "GBFS",
    "GRRF",
    "MRMR",
    "RRF",
    "SVMRFE",
    "BestSubset",
    "Boruta",
    "Comparison",
    "Constraints",
    "ControlBurn",
    "ExchangeSearch",
    "FitComparison",
    "ForeignSelector",
    "Forest",
    "ForestImportance",
    "FormulaSelector",
    "HSICLasso",
    "Hinge",
    "ImputedSelection",
    "Lasso",
    "Method",
    "Penalty",
    "Performance",
    "Problem",
    "RBoost",
    "RecursiveElimination",
    "SelectionResult",
    "SingleFeature",
    "Sketch",
    "Step",
    "Stepwise",
    "Task",
    "TreeSelector",
    "VarSelRF",
    "Versions",
    "__version__",
    "compare",
    "compare_fits",
    "datasets",
    "errors",
    "load",
    "methods",
    "read",
    "register_method",
    "select",
    "select_imputed",
    "update",
    "versions",
]

# Names are imported on first use, so that `import treeselect` alone is fast.
_HOME = {
    "BestSubset": "treeselect.algorithms.controlburn.solvers",
    "Boruta": "treeselect.algorithms.forests.boruta",
    "CFS": "treeselect.algorithms.filters",
    "Comparison": "treeselect.comparing",
    "Constraints": "treeselect.algorithms.controlburn.solvers",
    "ControlBurn": "treeselect.algorithms.controlburn.controlburn",
    "ExchangeSearch": "treeselect.algorithms.search.exchange",
    "FCBF": "treeselect.algorithms.filters",
    "FitComparison": "treeselect.comparison.record",
    "ForeignSelector": "treeselect.algorithms.foreign",
    "Forest": "treeselect.algorithms.controlburn.trees",
    "ForestImportance": "treeselect.algorithms.forests.importance",
    "FormulaSelector": "treeselect.formula_selector",
    "GBFS": "treeselect.algorithms.forests.gbfs",
    "GRRF": "treeselect.algorithms.forests.rrf",
    "HSICLasso": "treeselect.algorithms.linear.hsic",
    "Hinge": "treeselect.algorithms.controlburn.solvers",
    "ImputedSelection": "treeselect.imputing",
    "Lasso": "treeselect.algorithms.linear.lasso",
    "MRMR": "treeselect.algorithms.filters",
    "Method": "treeselect.algorithms.method",
    "Penalty": "treeselect.algorithms.controlburn.solvers",
    "Performance": "treeselect.resampling.performance",
    "Problem": "treeselect.designs.problem",
    "RBoost": "treeselect.algorithms.forests.rboost",
    "RRF": "treeselect.algorithms.forests.rrf",
    "RecursiveElimination": "treeselect.algorithms.forests.elimination",
    "SVMRFE": "treeselect.algorithms.linear.svm",
    "SelectionResult": "treeselect.result",
    "SingleFeature": "treeselect.algorithms.controlburn.trees",
    "Sketch": "treeselect.algorithms.controlburn.solvers",
    "Step": "treeselect.algorithms.task",
    "Stepwise": "treeselect.algorithms.linear.stepwise",
    "Task": "treeselect.algorithms.task",
    "TreeSelector": "treeselect.selector",
    "VarSelRF": "treeselect.algorithms.forests.elimination",
    "Versions": "treeselect.results.versions",
    "compare": "treeselect.comparing",
    "compare_fits": "treeselect.comparing_fits",
    "load": "treeselect.loading",
    "methods": "treeselect.algorithms.registry",
    "read": "treeselect.frames.opening",
    "register_method": "treeselect.algorithms.registry",
    "select": "treeselect.selection",
    "select_imputed": "treeselect.imputing",
    "update": "treeselect.updating",
    "versions": "treeselect.results.versions",
}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "errors"):
        return importlib.import_module(f"treeselect.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'treeselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
