"""Random answers beside those of the original packages, for the page "does it match".

    python benchmarks/originals.py [--quick] [--seeds 20] [--parts boruta varselrf]

boruta      what Boruta with the 500 trees of the R package decides of each column of
            tests/reference/stepwise_data.csv, run after run, beside tests/reference/boruta.csv
varselrf    groups found and bad columns on the simulated data of the GRRF paper, section 5.1,
            beside the R package (benchmarks/papers/results/grrf_simulated_peers.csv)
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from harness import Run

import treeselect

REFERENCE = Path(__file__).resolve().parents[1] / "tests" / "reference"
TERMS = "x1 + x2 + x3 + x4 + x5 + sum + site + shade + lot"


def boruta(response, seed, n_trees):
    """Decisions of one run."""
    data = pd.read_csv(REFERENCE / "stepwise_data.csv")
    method = treeselect.Boruta(level=0.01, n_trees=n_trees)
    found = treeselect.select(f"{response} ~ {TERMS}", data, method=method, seed=seed).tidy()
    return [
        {"part": "boruta", "case": response, "seed": seed, "what": term, "found": decision}
        for term, decision in zip(found["term"], found["decision"], strict=True)
    ]


def varselrf(seed, n, n_trees):
    """Groups and bad columns of one data set."""
    made = treeselect.datasets.simulate_friedman(n=n, seed=seed)
    method = treeselect.VarSelRF(n_trees=n_trees, c_sd=1.0)
    fit = treeselect.select(made.formula, made.data, method=method, seed=seed)
    groups = sum(bool(pair & set(fit.selected)) for pair in made.truth)
    return [
        {"part": "varselrf", "case": "groups", "seed": seed, "what": what, "found": value}
        for what, value in {"groups": groups, "bad": fit.k - groups}.items()
    ]


def main():
    """Run the parts and write how often each answer came."""
    run = Run(__doc__, seeds=20, parts=("boruta", "varselrf"), quick={"seeds": 1})
    seeds = range(1, run.seeds + 1)
    if "boruta" in run.parts:
        responses, n_trees = run.pick((("number",), 20), (("number", "two"), 500))
        calls = [(response, seed, n_trees) for response in responses for seed in seeds]
        run.keep("originals", run.flat(boruta, calls), by="part")
    if "varselrf" in run.parts:
        size = run.pick((200, 20), (1000, 1000))
        run.keep("originals", run.flat(varselrf, [(s, *size) for s in seeds]), by="part")
    runs = run.kept("originals", text=True)
    counts = runs.groupby(["part", "case", "what", "found"], sort=True)["seed"].agg(runs="count")
    run.table(
        "originals",
        counts.reset_index(),
        "How often treeselect gave each answer, over seeds (benchmarks/originals.py).",
    )


if __name__ == "__main__":
    main()
