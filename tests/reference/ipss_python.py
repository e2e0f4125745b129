"""Scores and q-values of the package ipss: writes ipss.csv beside this script.

python ipss_python.py    (needs ipss; written by 1.1.13)

A row per unit: its selection frequencies along a path of eight points, and the expected number of
false positives (efp) and the q-value for each of the three powers. Its integral leaves out the
last point of the path, and is over the logarithm of the penalty, so that equal steps have equal
weights. The cutoff is so high that it stops nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from ipss.helpers import compute_qvalues
from ipss.processing import ipss_scores

HERE = Path(__file__).parent
PAIRS, POINTS, UNITS = 25, 9, 30

rng = np.random.default_rng(7)
strength = np.where(np.arange(UNITS) < 5, 2.0, 0.0) + rng.normal(size=UNITS) / 2
frequency = np.zeros((POINTS, UNITS))
for _ in range(2 * PAIRS):
    order = np.argsort(-strength - rng.normal(size=UNITS))
    for k in range(POINTS):
        frequency[k, order[: k + 1]] += 1 / (2 * PAIRS)

table = pd.DataFrame({f"k{k + 1}": frequency[k] for k in range(POINTS - 1)})
for power in (1, 2, 3):
    scores, integral, *_ = ipss_scores(
        frequency, PAIRS, np.geomspace(1.0, 0.01, POINTS), frequency.sum(axis=1),
        f"h{power}", 1, 1e9,
    )  # fmt: skip
    efp = integral / np.maximum(scores, integral / UNITS)
    q = compute_qvalues(dict(enumerate(efp)))
    table[f"efp{power}"], table[f"q{power}"] = efp, [q[j] for j in range(UNITS)]
table.to_csv(HERE / "ipss.csv", index=False, float_format="%.12g")
