"""Kernels look at nothing twice, neither at indices: run by Python, which does, they stay inside
their arrays and give the same trees."""

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np


def interpret() -> None:
    """From now on kernels are plain functions of Python."""
    import numba

    from treeselect.engine import compiling

    def plain(function, **_):
        function.py_func = function
        return function

    compiling.kernel = compiling.inner = compiling.inlined = plain
    numba.njit = lambda function=None, **_: function or plain
    compiling.prefetch = lambda array, index: array[index]
    compiling.lowest_bit = lambda word: (int(word) & -int(word)).bit_length() - 1
    np.seterr(all="ignore")


def grow_many() -> str:
    """Trees of every kind, grown in every way, on random data; what they look like."""

    with mock.patch("treeselect.engine.tree.workspace.ENOUGH_ROWS", 60):
        return "\n".join(grow_one(number) for number in range(36))


def grow_one(number: int) -> str:
    """Two trees of one of the kinds."""
    from tree_data import both_targets, make_data

    from treeselect.engine.forest.bagging import Sampling, bagged_forest
    from treeselect.engine.forest.out_of_bag import out_of_bag
    from treeselect.engine.forest.walk import predict_sum
    from treeselect.engine.tree.used_groups import SplitPenalty
    from treeselect.engine.tree.workspace import Growth

    rng = np.random.default_rng(number)
    n, p = int(rng.integers(2, 200)), int(rng.integers(1, 18))
    columns = [
        rng.integers(rng.integers(2), rng.choice([2, 4, 200, 60_000]), size=n) for _ in range(p)
    ]
    groups = np.unique(np.sort(rng.integers(0, p, size=p)), return_inverse=True)[1]
    data = make_data(columns, rng.random(p) < 0.4, groups)
    weight = rng.integers(0, 3, size=n)
    weight[0] = 1
    target, _ = both_targets(number % 5, rng.integers(-4, 5, size=n), weight, rng)
    n_candidates = int(rng.choice([1, 3, 99]))
    growth = Growth(9, int(rng.integers(1, 4)), n_candidates, 0.0, number % 2 == 0, number % 3, 12)
    penalty = SplitPenalty(np.full(p, 0.8), np.full(p, 0.001), number % 5 == 0)
    in_groups = rng.integers(0, 9, size=n) if number % 4 == 3 else None
    sampling = Sampling(number % 7 < 4, 0.8, in_groups)
    forest = bagged_forest(
        data, target, weight, n_trees=2, growth=growth, seed=number, shared=number % 2 == 1,
        rank=rng.permutation(data.n_groups), sampling=sampling, penalty=penalty,
    )  # fmt: skip
    trees = forest.trees
    predictions = predict_sum(trees, data)
    outside = out_of_bag(forest).n_trees
    return f"{trees.nodes.column.tolist()} {predictions.sum():.9f} {outside.sum()}"


def test_kernels_run_by_python_stay_inside_their_arrays():
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", "import test_bounds as t; t.interpret(); print(t.grow_many())"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parents[1])])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == grow_many()
