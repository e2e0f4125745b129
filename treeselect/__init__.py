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
    from treeselect.algorithms.controlburn.options import BestSubset as BestSubset
    from treeselect.algorithms.controlburn.options import Constraints as Constraints
    from treeselect.algorithms.controlburn.options import Forest as Forest
    from treeselect.algorithms.controlburn.options import Hinge as Hinge
    from treeselect.algorithms.controlburn.options import Penalty as Penalty
    from treeselect.algorithms.controlburn.options import SingleFeature as SingleFeature
    from treeselect.algorithms.controlburn.options import Sketch as Sketch
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
    from treeselect.loading import load
    from treeselect.result import SelectionResult
    from treeselect.results.versions import versions as versions
    from treeselect.selection import select
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
_HOME = {
    "BestSubset": "treeselect.algorithms.controlburn.options",
    "Boruta": "treeselect.algorithms.forests.ranking",
    "CFS": "treeselect.algorithms.filters",
    "Constraints": "treeselect.algorithms.controlburn.options",
    "ControlBurn": "treeselect.algorithms.controlburn.controlburn",
    "ExchangeSearch": "treeselect.algorithms.search.exchange",
    "FCBF": "treeselect.algorithms.filters",
    "ForeignSelector": "treeselect.algorithms.foreign",
    "Forest": "treeselect.algorithms.controlburn.options",
    "ForestImportance": "treeselect.algorithms.forests.ranking",
    "GBFS": "treeselect.algorithms.forests.gbfs",
    "GRRF": "treeselect.algorithms.forests.regularised",
    "HSICLasso": "treeselect.algorithms.linear.hsic",
    "Hinge": "treeselect.algorithms.controlburn.options",
    "Lasso": "treeselect.algorithms.linear.penalised",
    "MRMR": "treeselect.algorithms.filters",
    "Method": "treeselect.algorithms.method",
    "Penalty": "treeselect.algorithms.controlburn.options",
    "Problem": "treeselect.designs.problem",
    "RBoost": "treeselect.algorithms.forests.regularised",
    "RRF": "treeselect.algorithms.forests.regularised",
    "RecursiveElimination": "treeselect.algorithms.forests.elimination",
    "SVMRFE": "treeselect.algorithms.linear.penalised",
    "SelectionResult": "treeselect.result",
    "SingleFeature": "treeselect.algorithms.controlburn.options",
    "Sketch": "treeselect.algorithms.controlburn.options",
    "Step": "treeselect.algorithms.task",
    "Stepwise": "treeselect.algorithms.linear.stepwise",
    "Task": "treeselect.algorithms.task",
    "TreeSelector": "treeselect.selector",
    "VarSelRF": "treeselect.algorithms.forests.elimination",
    "compare": "treeselect.comparing",
    "load": "treeselect.loading",
    "methods": "treeselect.algorithms.registry",
    "read": "treeselect.frames.opening",
    "register_method": "treeselect.algorithms.registry",
    "select": "treeselect.selection",
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
