"""Rows with ties, late entries, strata and weights of 0, as hypothesis draws them."""

import numpy as np
from hypothesis import strategies as st

from treeselect.engine.survival.times import as_times


def survival_rows(seed, *, n=None, late=None, strata=None, weights=None, n_times=8):
    """Response, weights, linear predictor; what isn't said is drawn."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30)) if n is None else n
    late = rng.random() < 0.5 if late is None else late
    strata = int(rng.integers(1, 4)) if strata is None else strata
    stop = rng.integers(1, n_times + 1, n).astype(float)
    start = np.where(rng.random(n) < 0.7, np.floor(rng.random(n) * stop), -1.0) if late else None
    event = rng.random(n) < rng.uniform(0.2, 1)
    y = as_times(stop, event, start, rng.integers(0, strata, n))
    if weights is None:
        weights = rng.choice(["one", "whole", "real"])
    weight = {
        "one": np.ones(n),
        "whole": rng.integers(0, 4, n).astype(float),
        "real": rng.random(n) * (rng.random(n) < 0.8),
    }[str(weights)]
    return y, weight, rng.normal(size=n) * rng.choice([0.0, 1.0, 3.0])


SEEDS = st.integers(0, 2**32 - 1)
