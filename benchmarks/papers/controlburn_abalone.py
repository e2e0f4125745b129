"""ControlBurn paper, section 3.2.2 and Figure 6: the out-of-bag stop of bag-boosting on abalone.

    python benchmarks/papers/controlburn_abalone.py [--quick] [--jobs 2]

Rings of abalone by incremental depth bag-boosting (Algorithm 2), grown beyond the stage at which it
would stop, on 20 random samples of four fifths of the rows: by how much each iteration lowers the
out-of-bag error, and the mean squared error on the other rows. Iteration t grows trees of depth t.
The algorithm stops after the first iteration without an improvement, which it keeps.
"""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np
import pandas as pd
from common import (
    LOOKS,
    data_folder,
    dress,
    frame_problem,
    mean_and_error,
    new_figure,
    run_all,
    shown,
    write_figure,
    write_table,
)

from treeselect.datasets import simulate_friedman
from treeselect.designs.families import GAUSSIAN
from treeselect.engine.forest.bag_boosting import BagBoosting, _Stages
from treeselect.engine.forest.bagging import BOOTSTRAP
from treeselect.engine.tree.used_groups import no_penalty

DEPTHS = 12
SPLITS = 20
TRAIN = 0.8


def load():
    """Columns and rings."""
    return pd.read_parquet(data_folder() / "abalone.parquet").rename(columns={"rings": "target"})


def simulated():
    """A small set of numbers."""
    data = simulate_friedman(300, seed=1, binary=False).data
    return data.rename(columns={"y": "target"})


def number_problem(frame):
    """The problem of a frame whose target is a number."""
    y = frame["target"].to_numpy(np.float64)
    return dataclasses.replace(frame_problem(frame, "target"), y=y, family=GAUSSIAN)


def grown(problem, weight, depths, seed):
    """The trees of one forest of as many depths as are asked for, whatever the improvements."""
    rules = BagBoosting(
        tail=5, tolerance=1e-3, min_trees=1, max_trees=200, max_depth=depths, min_weight=1,
        n_candidates=problem.data.n_groups,
    )  # fmt: skip
    stages = _Stages(
        problem.data, problem.family.loss, problem.y, weight, problem.constant(weight), rules,
        seed, problem.groups.ranks(seed), no_penalty(len(problem.data.n_codes)), BOOTSTRAP,
    )  # fmt: skip
    for depth in range(1, depths + 1):
        stages.grow(depth)
        stages.advance()
    return stages.forest()


def one_split(problem, split, depths):
    """Improvement, test error and trees by iteration; iteration 0 is the constant model."""
    rng = np.random.default_rng(split)
    weight = (rng.permutation(len(problem.y)) < TRAIN * len(problem.y)).astype(np.int64)
    test = np.flatnonzero(weight == 0)
    bag = grown(problem, weight, depths, split)
    eta = problem.constant(weight)[test]
    rows = [(split, 0, np.nan, np.mean((problem.y[test] - eta) ** 2), 0)]
    for stage in range(depths):
        trees = np.flatnonzero(bag.stages == stage)
        eta = eta + np.mean([bag.values[t][bag.leaves[t][test], 0] for t in trees], axis=0)
        improvement = 2 * bag.improvements[stage]  # the loss is half the squared error
        error = np.mean((problem.y[test] - eta) ** 2)
        rows.append((split, stage + 1, improvement, error, len(trees)))
    return rows


def stops_and_bests(found):
    """By split, the iteration after which the algorithm stops, that of the least test error, and
    by what share the test error at the stop is above the least."""
    rows = []
    for _, part in found.groupby("split"):
        part = part.set_index("iteration")
        stop = min([*part.index[part["improvement"] <= 0], part.index.max()])
        error = part["error"]
        rows.append((stop, error.idxmin(), error[stop] / error.min() - 1))
    return pd.DataFrame(rows, columns=["stop", "best", "excess"])


def table_of(found):
    """Mean and standard error over the splits, by iteration."""
    lines = [
        [t, shown(*mean_and_error(part["improvement"]), 3),
         shown(*mean_and_error(part["error"]), 3), f"{part['n_trees'].mean():.1f}"]
        for t, part in found.groupby("iteration")
    ]  # fmt: skip
    columns = ["iteration", "out-of-bag improvement", "test error", "trees"]
    return pd.DataFrame(lines, columns=columns)


def figure_of(found, stops):
    """Out-of-bag improvement and test error by iteration, one above the other."""
    figure = new_figure(6.4, 5.4)
    upper, lower = figure.subplots(2, sharex=True)
    panels = (
        (upper, "improvement", "paper", "out-of-bag improvement\n(rings²)"),
        (lower, "error", "default", "test error, mean squared\n(rings²)"),
    )
    for axes, column, look, label in panels:
        part = found[found["iteration"] > 0].groupby("iteration")[column]
        mean, error = part.mean(), 2 * part.sem()
        axes.errorbar(mean.index, mean, error, **LOOKS[look], markersize=5)
        dress(axes, "", "boosting iteration = depth of its trees" if axes is lower else "", label)
        axes.axvline(stops["stop"].median(), color="#666666", linestyle=":")
        axes.axvline(stops["best"].median(), color="#666666", linestyle="--")
    upper.axhline(0, color="#666666", linewidth=0.8)
    upper.set_title("Abalone: out-of-bag stop (dotted) and least test error (dashed), medians",
                    fontsize="medium")  # fmt: skip
    lower.set_title("bars: two standard errors over the splits", fontsize="small")
    lower.set_xticks(sorted(found["iteration"].unique())[1:])
    return figure


def main():
    """Write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    problem = number_problem(simulated() if options.quick else load())
    depths = 4 if options.quick else DEPTHS
    calls = [(problem, split, depths) for split in range(2 if options.quick else SPLITS)]
    rows = [row for part in run_all(one_split, calls, options.jobs) for row in part]
    columns = ["split", "iteration", "improvement", "error", "n_trees"]
    found = pd.DataFrame(rows, columns=columns)
    stops = stops_and_bests(found)
    write_table(
        "controlburn_abalone",
        table_of(found),
        f"ControlBurn paper, Figure 6, by treeselect: abalone, mean (s.e.) over {len(stops)} random"
        f" samples of four fifths of the rows, squared error in rings². It stops at iteration"
        f" {shown(*mean_and_error(stops['stop']), 1)}, median {stops['stop'].median():g}; the test"
        f" error is least at {shown(*mean_and_error(stops['best']), 1)}, median"
        f" {stops['best'].median():g}; at the stop it is"
        f" {shown(*mean_and_error(100 * stops['excess']), 1)} % above the least. The paper, one"
        " run: stops at 6, least test error at 7.",
        quick=options.quick,
    )
    write_figure("controlburn_abalone", figure_of(found, stops), quick=options.quick)


if __name__ == "__main__":
    main()
