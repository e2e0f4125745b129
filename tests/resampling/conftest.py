"""Data that several files of tests resample."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def wards():
    """40 wards of 10 rows; `gene` is that of the ward and tells its level, as seven others do a
    little by chance."""
    rng = np.random.default_rng(2)
    ward = np.repeat(np.arange(40), 10)
    by_ward = rng.normal(size=(40, 8))
    level = 0.5 * by_ward[:, 0] + rng.normal(size=40)
    data = pd.DataFrame(by_ward[ward], columns=["gene", *(f"n{i}" for i in range(7))])
    return data.assign(y=level[ward] + 0.3 * rng.normal(size=400), ward=[f"w{w}" for w in ward])
