"""The models of R's coxph() in tests/reference, with the rows that they were fitted to.

`coxph.R` wrote the figures from the sets beside the benchmarks, and says which rows have which
weights, entries and strata.
"""

import re
from pathlib import Path

import formulaic
import numpy as np
import pandas as pd
import pytest

from treeselect.engine.survival.times import as_times

REFERENCE = Path(__file__).parent / "reference"
SETS = Path(__file__).parents[1] / "benchmarks" / "data" / "survival"
COEFFICIENTS = pd.read_csv(REFERENCE / "coxph.csv")
FITS = pd.read_csv(REFERENCE / "coxph_fits.csv", keep_default_na=False)
HAZARDS = pd.read_csv(REFERENCE / "coxph_hazard.csv", keep_default_na=False)


def rows_of(fit):
    """The columns of a model of R as a frame, its response, weights, offset and clusters."""
    data = pd.read_csv(SETS / f"{fit.set}.csv").rename(columns={"cens": "event"})
    row = np.arange(1, len(data) + 1)
    data["weight"] = 1 + row % 3
    data["entry"] = np.where(row % 2 == 0, data["time"] // 4, 0)
    data["site"] = row % 4
    terms = fit.formula.split("~")[1]
    strata = re.findall(r"strata\((\w+)\)", terms)
    offset = 0.02 * data["age"] if "offset" in terms else 0.0 * data["time"]
    terms = re.sub(r"\+ (strata|offset)\([^)]*\)", "", terms)
    data = data.dropna(subset=[fit.cluster]) if fit.cluster else data
    x = formulaic.model_matrix(terms, data).iloc[:, 1:]
    data = data.loc[x.index]
    y = as_times(
        data["time"].to_numpy(),
        data["event"].to_numpy(),
        data["entry"].to_numpy() if "entry" in fit.formula else None,
        pd.factorize(data[strata[0]], sort=True)[0] if strata else None,
    )
    weight = data["weight"].to_numpy(float) if fit.weights else np.ones(len(data))
    cluster = data[fit.cluster].to_numpy() if fit.cluster else np.arange(len(data))
    return x.astype(float), y, weight, offset.loc[x.index].to_numpy(), cluster


EFRON = list(FITS[FITS["ties"] == "efron"].itertuples())

needs_sets = pytest.mark.skipif(not SETS.is_dir(), reason="needs the repository")
"""The sdist has these tests, but neither the benchmarks nor their sets."""

every_model = pytest.mark.parametrize("fit", EFRON, ids=[f"{fit.set}-{fit.model}" for fit in EFRON])
"""Of a test of one model of R, as `fit`."""
