"""Random answers beside those of the original packages, for the page "does it match".

    python benchmarks/originals.py [--quick] [--seeds 20] [--parts boruta varselrf]

boruta      what Boruta with the 500 trees of the R package decides of each column of
            tests/reference/stepwise_data.csv, run after run, beside tests/reference/boruta.csv
varselrf    groups found and bad columns on the simulated data of the GRRF paper, section 5.1,
            beside the R package (benchmarks/papers/results/grrf_simulated_peers.csv)

Parts that are not run stay as they are in the results.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from tables import arguments, run_all, with_earlier, write_table

import treeselect

REFERENCE = Path(__file__).resolve().parents[1] / "tests" / "reference"
PARTS = ("boruta", "varselrf")
TERMS = "x1 + x2 + x3 + x4 + x5 + sum + site + shade + lot"


def boruta(response: str, seed: int, n_trees: int) -> list[dict[str, object]]:
    """Decisions of one run."""
    data = pd.read_csv(REFERENCE / "stepwise_data.csv")
    method = treeselect.Boruta(level=0.01, n_trees=n_trees)
    fit = treeselect.select(f"{response} ~ {TERMS}", data, method=method, seed=seed)
    return [
        {"part": "boruta", "case": response, "seed": seed, "what": term, "found": decision}
        for term, decision in zip(fit.tidy()["term"], fit.tidy()["decision"], strict=True)
    ]


def varselrf(seed: int, n: int, n_trees: int) -> list[dict[str, object]]:
    """Groups and bad columns of one data set."""
    made = treeselect.datasets.simulate_friedman(n=n, seed=seed)
    method = treeselect.VarSelRF(n_trees=n_trees, c_sd=1.0)
    fit = treeselect.select(made.formula, made.data, method=method, seed=seed)
    groups = sum(bool(pair & set(fit.selected)) for pair in made.truth)
    found = {"groups": groups, "bad": fit.k - groups}
    return [
        {"part": "varselrf", "case": "groups", "seed": seed, "what": what, "found": str(value)}
        for what, value in found.items()
    ]


def main() -> None:
    """Run the parts and write how often each answer came."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    args = parser.parse_args()
    seeds = range(1, 2 if args.quick else args.seeds + 1)
    found: list[list[dict[str, object]]] = []
    if "boruta" in args.parts:
        responses = ("number",) if args.quick else ("number", "two")
        n_trees = 20 if args.quick else 500
        calls = [(response, seed, n_trees) for response in responses for seed in seeds]
        found += run_all(boruta, calls, args.jobs)
    if "varselrf" in args.parts:
        size = (200, 20) if args.quick else (1000, 1000)
        found += run_all(varselrf, [(seed, *size) for seed in seeds], args.jobs)
    runs = pd.DataFrame([row for rows in found for row in rows])
    runs = with_earlier("originals", runs, by="part", quick=args.quick, folder=args.results)
    counts = runs.groupby(["part", "case", "what", "found"], sort=True)["seed"].agg(runs="count")
    write_table(
        "originals",
        counts.reset_index(),
        "How often treeselect gave each answer, over seeds (benchmarks/originals.py).",
        quick=args.quick,
        folder=args.results,
    )


if __name__ == "__main__":
    main()
