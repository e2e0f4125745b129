"""What a process of its own takes: memory, compilation, the first call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MEMORY = """
import sys, json
sys.path.insert(0, {folder!r})
from engine import *
X, y = numbers({rows}, {columns})
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
before = peak()
if {ours}:
    data = binned(X)
    boosting(data, y, SquaredLoss(), 5)
else:
    lgb.train(PEER | {{"objective": "l2", "num_threads": 1}}, lgb.Dataset(X, y, params=PEER), 5)
print(json.dumps(peak() - before))
"""

START = """
import time, json
begin = time.process_time()
import numpy as np
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.tree.workspace import *
from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.engine.tree.target import class_target, mean_target
loaded = time.process_time()
x = np.random.default_rng(0).normal(size=(4, 2000))
data = bin_columns(list(x), [bin_edges(c) for c in x], [0] * 4, np.arange(4))
rank, ones = np.arange(4), np.ones(2000, dtype=np.int64)
grow = Growth(UNBOUNDED, 1, 2, 0.0)
bagged_forest(data, mean_target(x[0]), ones, n_trees=1, growth=grow, seed=1, rank=rank)
bagged_forest(data, class_target(x[0] > 0, 2), ones, n_trees=1, growth=grow, seed=1, rank=rank)
if {whole}:
    import treeselect
    for n_threads in (1, 2):
        rules = Boosting(1, 0.1, grow._replace(max_leaves=8, order=BEST_FIRST, n_candidates=9))
        boost(data, SquaredLoss(), x[0], ones, 0.0, rules, seed=1, rank=rank, n_threads=n_threads)
    frame = treeselect.datasets.load("titanic_correlated")
    fit = treeselect.select("survived ~ .", frame, method="controlburn", k=3, seed=1, forests=1,
                            n_trees=10)
    fit.predict(frame)
print(json.dumps(time.process_time() - (begin if {whole} else loaded)))
"""


def run(program: str, **environment: str) -> float:
    """What a program in a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout))


def memory(rows: int, columns: int, *, ours: bool) -> float:
    """Megabytes that boosting takes at most above its data; LightGBM's unless ``ours``."""
    folder = str(Path(__file__).parent)
    return run(MEMORY.format(folder=folder, rows=rows, columns=columns, ours=ours))


def first_calls(cache: str, *, whole: bool) -> float:
    """CPU seconds of a process's first forests; of imports and whole calls with ``whole``."""
    return run(START.format(whole=whole), TREESELECT_CACHE_DIR=cache)
