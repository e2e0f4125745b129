"""Selections by the authors' package ControlBurn: writes controlburn.csv beside this script.

python controlburn_python.py titanic_correlated.csv    (needs ControlBurn; written by 0.1.3)

The argument is ``treeselect.datasets.load("titanic_correlated")`` as a CSV file without row names.
ControlBurn 0.1.3 runs with numpy 1.23, pandas 1.5 and scikit-learn 1.2, not with numpy 2 or
scikit-learn 1.3. Ten random samples of 70 % of the rows, columns standardised; one forest by
bag-boosting for each sample, and the penalties one after the other on it. A row per sample and
penalty: trees grown, trees with weight, and the columns that these use.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from ControlBurn.ControlBurnModel import ControlBurnClassifier

data = pd.read_csv(sys.argv[1])
rows = []
for seed in range(10):
    train = np.random.RandomState(seed).permutation(len(data))[: round(0.7 * len(data))]
    part = data.iloc[train].reset_index(drop=True)
    x = part.drop(columns="survived")
    x = (x - x.mean()) / x.std()
    np.random.seed(seed)
    model = ControlBurnClassifier(alpha=0.1)
    model.bagboost_forest(x, part["survived"])
    for alpha in (0.1, 0.03, 0.01, 0.003):
        model.alpha = alpha
        model.solve_lasso()
        selected = " ".join(sorted(map(str, model.features_selected_)))
        rows.append((seed, alpha, len(model.forest), len(model.subforest), selected))
frame = pd.DataFrame(rows, columns=["seed", "alpha", "trees", "kept", "selected"])
frame.to_csv(Path(__file__).parent / "controlburn.csv", index=False)
