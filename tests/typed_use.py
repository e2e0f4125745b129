"""How users call the package, checked by mypy (strict), never run: `make test` fails if what is
said here of the types is not so."""

from typing import assert_type

import pandas as pd

import treeselect
from treeselect.comparing import Comparison
from treeselect.errors import TreeselectError


def selected(data: pd.DataFrame) -> tuple[str, ...]:
    fit = treeselect.select("y ~ .", data, method="grrf", k=3, seed=1, gamma=0.2)
    assert_type(fit, treeselect.SelectionResult)
    assert_type(fit.selected, tuple[str, ...])
    assert_type(fit.resample(100), treeselect.SelectionResult)
    print(fit.summary())
    fit.report("page.html")
    fit.save("model.treeselect")
    again: treeselect.SelectionResult = treeselect.load("model.treeselect")  # or a linear model
    assert again.k == fit.k
    return fit.selected


def compared(data: pd.DataFrame) -> Comparison:
    try:
        return treeselect.compare("y ~ .", data, ["rrf", treeselect.GRRF(gamma=0.1)], k=3, folds=5)
    except TreeselectError as error:
        raise SystemExit(str(error)) from error


def in_a_pipeline() -> treeselect.TreeSelector:
    return treeselect.TreeSelector(method="rrf", k=5)
