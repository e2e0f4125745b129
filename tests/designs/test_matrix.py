"""The matrix of a linear model: what is refused, in whose words."""

from __future__ import annotations

import pandas as pd
import pytest

from treeselect.designs.evaluation import model_matrix, term_matrix
from treeselect.errors import DataError
from treeselect.formula import parse_formula


def test_our_own_words_are_not_formulaics():
    frame = pd.DataFrame({"y": [0.0, 1.0], "Intercept": [1.0, 2.0]})
    terms = parse_formula("y ~ .", list(frame)).terms
    for matrix in (term_matrix, lambda *given: model_matrix(*given, full_rank=True)):
        with pytest.raises(DataError, match=r"^No column may be called `Intercept`"):
            matrix("y ~ .", frame, terms)


def test_what_formulaic_cannot_make_is_our_error_in_its_words():
    frame = pd.DataFrame({"y": [0.0, 1.0], "x": [1.0, 2.0]})
    terms = parse_formula("y ~ {x.undefined()}", list(frame), trusted=True).terms
    for matrix in (term_matrix, model_matrix):
        with pytest.raises(DataError, match=r"formulaic says: AttributeError: .*undefined"):
            matrix("y ~ {x.undefined()}", frame, terms)
