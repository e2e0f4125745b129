"""Rows that a search spares score its sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

import treeselect
from treeselect.algorithms.forests.rrf import RRF
from treeselect.algorithms.search.exchange import ExchangeSearch
from treeselect.designs.weights import row_weights
from treeselect.resampling import choosing
from treeselect.resampling.choosing import spared_rows
from treeselect.resampling.folds import Folds

SEARCHED = 300


@pytest.fixture
def short(monkeypatch):
    """Searches on 300 rows, so that 1,309 are long data."""
    monkeypatch.setattr(ExchangeSearch, "searches_on", SEARCHED)
    monkeypatch.setattr(choosing, "_LEAST_RARE", 20)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1200, 4))
    chance = 1 / (1 + np.exp(-2 * x[:, 0] - x[:, 1]))
    frame = pd.DataFrame(x, columns=list("abcd"))
    return frame.assign(y=np.where(rng.uniform(size=1200) < chance, "yes", "no"))


@pytest.fixture(scope="module")
def problem(data):
    return treeselect.select("y ~ .", data, k=1, seed=1, n_jobs=1).design.problem_for(
        ExchangeSearch()
    )


def all_rows(problem):
    return row_weights(np.ones(len(problem.y), dtype=np.int64))


@pytest.mark.usefixtures("short")
def test_rows_are_searched_or_held_out_and_classes_balanced(problem):
    found = spared_rows(problem, ExchangeSearch(), all_rows(problem), Folds(4), seed=1)
    held_out = [split.test for split in found.splits]
    assert len(found.searched) <= SEARCHED
    assert len(held_out) == 4
    together = np.concatenate([found.searched, *held_out])
    assert sorted(together.tolist()) == list(range(1200))
    share = problem.y.mean()
    for rows in (found.searched, *held_out):
        assert problem.y[rows].sum() == pytest.approx(share * len(rows), abs=1)


@pytest.mark.usefixtures("short")
def test_at_most_so_many_rows_are_held_out(problem, monkeypatch):
    monkeypatch.setattr(choosing, "_MOST_HELD_OUT", 500)
    found = spared_rows(problem, ExchangeSearch(), all_rows(problem), Folds(5), seed=1)
    held_out = np.concatenate([split.test for split in found.splits])
    assert len(np.unique(held_out)) == len(held_out)
    assert 400 <= len(held_out) <= 500


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("case", ["splitter", "repeats", "clusters", "method", "rare", "few"])
def test_otherwise_sets_are_cross_validated(problem, monkeypatch, case):
    method, weights, folds = ExchangeSearch(), all_rows(problem), Folds(5)
    if case == "splitter":
        folds = Folds(StratifiedKFold(5))
    elif case == "repeats":
        folds = Folds(5, repeats=2)
    elif case == "clusters":
        weights = weights.in_groups(np.arange(len(weights)) // 3)
    elif case == "method":
        method = RRF()
    elif case == "rare":
        monkeypatch.setattr(choosing, "_LEAST_RARE", 500)
    else:
        weights = weights.only(np.arange(2 * SEARCHED))
    assert spared_rows(problem, method, weights, folds, seed=1) is None


@pytest.mark.usefixtures("short")
def test_a_fit_says_so_and_its_file_keeps_it(data, tmp_path):
    fit = treeselect.select("y ~ .", data, k="1se", seed=1, n_jobs=1)
    assert fit.scores.spared == (300, 900)
    assert fit.scores.scores.shape == (5, 5)
    assert set(fit.selected) >= {"a", "b"}
    said = " ".join(str(fit.summary()).split())
    assert "900 held-out rows in 5 parts" in said
    assert ", on held-out rows" in said
    assert "The search used 300 rows; 900 others scored its models" in said
    page = fit.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "900 held-out rows in 5 parts; the search used 300 other rows" in page
    fit.save(tmp_path / "fit.tsel")
    loaded = treeselect.load(tmp_path / "fit.tsel")
    assert loaded.scores.spared == fit.scores.spared
    assert "900 others" in " ".join(str(loaded.summary()).split())
    again = treeselect.select("y ~ .", data[["d", "b", "y", "c", "a"]], k="1se", seed=1, n_jobs=2)
    assert set(again.selected) == set(fit.selected)
    assert np.array_equal(again.scores.scores, fit.scores.scores)
