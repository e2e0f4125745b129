"""Calls in words: what could be typed again, and names for what could not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

from treeselect import RRF
from treeselect.arguments.checks import USUAL_SIZE
from treeselect.results.calls import call_text, data_text


def text_of(**arguments):
    """The arguments in words."""
    text = call_text("select", "y ~ .", pd.DataFrame(), arguments)
    assert text.startswith("select('y ~ .', data")
    return text.removeprefix("select('y ~ .', data").removesuffix(")").removeprefix(", ")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("k", 3, "k=3"),
        ("k", np.int64(3), "k=3"),
        ("k", USUAL_SIZE, ""),
        ("k", "1se", "k='1se'"),
        ("folds", np.int64(5), ""),
        ("folds", TimeSeriesSplit(3), "folds=TimeSeriesSplit("),
        ("folds", [0, 1, 0, 1], "folds=folds"),
        ("weights", "w", "weights='w'"),
        ("weights", None, ""),
        ("weights", np.ones(3), "weights=weights"),
        ("mtry", None, "mtry=None"),
        ("lam", np.float64(0.5), "lam=0.5"),
        ("groups", {"body": ["height", "weight"]}, "groups={'body': ['height', 'weight']}"),
        ("labels", {"age": "Age", "sex": None}, "labels={'age': 'Age', 'sex': None}"),
        ("labels", {"age": "long " * 50}, "labels=labels"),
        ("labels", None, ""),
        ("method", RRF(n_trees=5), "method=RRF(n_trees=5)"),
        ("methods", {"mine": RRF()}, "methods={'mine': RRF()}"),
        ("scoring", np.median, "scoring=scoring"),
    ],
)
def test_values_in_words(name, value, text):
    found = text_of(**{name: value})
    assert found.startswith(text) if text.endswith("(") else found == text


def test_data_in_words():
    path = Path("somewhere") / "passengers.csv"
    frame = pd.DataFrame(np.zeros((1200, 2)))
    assert data_text(path, frame) == "passengers.csv"
    assert data_text(frame, frame) == "a data frame of 1,200 rows and 2 columns"
    assert call_text("compare", "y ~ .", str(path), {}) == f"compare('y ~ .', {str(path)!r})"
