"""What pmsampsize 0.1.0 (Python) asks for: writes sample_size.csv beside this script.

python sample_size_python.py    (needs pmsampsize)

Its search for a precise mean stops one row after it began, whatever the mean: only cases that meet
that criterion at once are here. Nagelkerke's R2 is rounded by it, and fails for times.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pandas as pd
from pmsampsize.pmsampsize import cstat2rsq, pmsampsize_bin, pmsampsize_cont, pmsampsize_surv

rows = []


def note(family: str, found: dict[str, object], **given: float) -> None:
    """Keep the numbers of rows by all criteria and in all."""
    table = [row for row in found["results_table"] if isinstance(row, list)]
    asked = {f"n{i + 1}": row[1] for i, row in enumerate(table[:-1])}
    kept = {name: found.get(name) for name in ("max_r2a", "events", "int_lci", "int_uci")}
    shrunk = {"shrinkage2": table[1][2]}
    rows.append({"family": family, **given, "n": found["sample_size"], **asked, **kept, **shrunk})


for p, r2, q, s in itertools.product(
    (1, 5, 24, 60), (0.03, 0.1, 0.288), (0.05, 0.174, 0.5), (0.8, 0.9)
):
    if r2 < 0.2 * (1 if q == 0.05 else 9):
        given = {"parameters": p, "r2": r2, "prevalence": q, "shrinkage": s}
        note("binomial", pmsampsize_bin(r2, p, q, s, None, True), **given)
for p, r2, rate, s in itertools.product(
    (1, 5, 25), (0.02, 0.051, 0.1), (0.02, 0.065, 0.4), (0.9, 0.95)
):
    given = {
        "parameters": p,
        "r2": r2,
        "rate": rate,
        "shrinkage": s,
        "follow_up": 2.07,
        "horizon": 2,
    }
    note("cox", pmsampsize_surv(r2, p, rate, 2, 2.07, s, 1.1, True), **given)
for p, r2, s in itertools.product((1, 2, 5, 25, 80), (0.05, 0.2, 0.5, 0.8), (0.9, 0.95)):
    given = {"parameters": p, "r2": r2, "mean": 1.9, "sd": 0.6, "shrinkage": s}
    note("gaussian", pmsampsize_cont(r2, p, 1.9, 0.6, s, 1.1, True), **given)
for auc, prevalence in ((0.6, 0.05), (0.7, 0.5), (0.89, 0.174), (0.97, 0.3)):
    simulated = cstat2rsq(auc, prevalence, 123456, True)["R2_coxsnell"]
    rows.append({"family": "area", "auc": auc, "prevalence": prevalence, "r2": simulated})
pd.DataFrame(rows).to_csv(Path(__file__).parent / "sample_size.csv", index=False)
