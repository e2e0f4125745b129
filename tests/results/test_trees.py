"""Reading trees: the table says what the trees do."""

import numpy as np
import pandas as pd
import pytest
from quick import burnt

import treeselect
from treeselect.errors import OptionError
from treeselect.results.trees import label_columns, rules, tidy_trees

FORMULA = "dose ~ signal + site + bs(noise, 4, extrapolation='clip') + site:colour + signal:flag"


@pytest.fixture(scope="module")
def fit(mixed):
    return treeselect.select(
        FORMULA, mixed, method="controlburn", k=5, forests=1, n_trees=8, seed=3
    )


@pytest.fixture(scope="module")
def frame(fit):
    return tidy_trees(fit.model.fitted, fit.data.design)


def follow(frame, tree, levels, row):
    """Value of the leaf that a row reaches by what the table says."""
    own = frame[frame["tree"] == tree].set_index("node")
    node = 1
    while not pd.isna(own.loc[node, "split"]):
        here = own.loc[node]
        name = here["split"].rsplit(" <= ", 1)[0].removesuffix(" is missing")
        if here["split"].endswith(" is missing"):
            goes_left = not row[levels[name]].any() if name in levels else np.isnan(row[name])
        elif np.isnan(here["threshold"]):
            goes_left = row[name] == 1
        elif np.isnan(row[name]):
            goes_left = here["missing"] == "left"
        else:
            goes_left = row[name] <= here["threshold"]
        node = here["left"] if goes_left else here["right"]
    return own.loc[node, "value"]


def test_following_the_table_is_predicting(fit, frame, mixed):
    names, matrix = fit.data.design.spec.one_hot(fit.data.design.arrays.columns)
    expanded = pd.DataFrame(matrix, columns=names)
    labels = label_columns(fit.data.design.spec, fit.data.design.arrays)
    levels = {label.name: list(label.levels.values()) for label in labels if label.levels}
    n_trees = frame["tree"].max()
    predicted = fit.predict(mixed)[fit.data.design.response.rows]
    for i in range(0, len(expanded), 17):
        row = expanded.iloc[i]
        found = np.mean([follow(frame, tree, levels, row) for tree in range(1, n_trees + 1)])
        assert found == pytest.approx(predicted.iloc[i], abs=1e-9)


def test_columns_and_labels_of_the_table(fit, frame):
    assert list(frame) == [
        "tree", "node", "depth", "term", "split", "threshold", "missing", "left", "right", "gain",
        "n", "value",
    ]  # fmt: skip
    is_leaf = frame["split"].isna()
    assert (
        frame.loc[is_leaf, ["term", "threshold", "missing", "left", "right"]].isna().all(axis=None)
    )
    assert (frame.loc[is_leaf, "gain"] == 0).all()
    assert (frame.loc[~is_leaf, "gain"] > 0).all()
    assert set(frame.loc[~is_leaf, "term"]) <= set(fit.selected)
    roots = frame[frame["node"] == 1]
    assert (roots["depth"] == 0).all()
    assert len(roots) == fit.model.fitted.trees.n_trees
    split = frame[~is_leaf].iloc[0]
    children = frame[
        (frame["tree"] == split["tree"]) & frame["node"].isin([split["left"], split["right"]])
    ]
    assert (children["depth"] == split["depth"] + 1).all()
    assert children["n"].sum() == split["n"]
    labels = label_columns(fit.data.design.spec, fit.data.design.arrays)
    names, _ = fit.data.design.spec.one_hot(fit.data.design.arrays.columns)
    assert [label.term for label in labels] == list(fit.data.design.arrays.column_names)
    told = {
        n for label in labels for n in (label.levels.values() if label.levels else [label.name])
    }
    assert told <= set(names)
    assert any("bs(noise" in name for name in told)
    assert any(name.startswith("site[") and ":colour[" in name for name in told)


def test_rules_of_a_small_tree_and_shares_of_trees(mixed):
    fit = burnt("dose ~ signal", mixed, k=1, n_trees=2)
    frame = tidy_trees(fit.model.fitted, fit.data.design)
    text = rules(frame, 2)
    assert text.count(" -> ") == frame[frame["tree"] == 2]["split"].isna().sum()
    assert text.splitlines()[0].startswith("if signal <= ")
    assert "otherwise" in text
    with pytest.raises(OptionError, match="from 1 to"):
        rules(frame, 10**6)
    fit = treeselect.select("dose ~ signal + noise", mixed, method="mrmr", k=2, seed=1)
    table, nodes = fit.model.trees().set_index("tree"), fit.model.nodes()
    leaves = nodes[nodes["split"].isna()]
    rows = leaves.loc[leaves.index.repeat(leaves["n"])]
    spread = rows.groupby("tree")["value"].std(ddof=0)
    np.testing.assert_allclose(table["share"], (spread / spread.sum())[table.index])
    assert table["share"].is_monotonic_decreasing
