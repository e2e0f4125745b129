"""Figures of predictions of held-out rows: calibration and ROC curves."""

import numpy as np
import pandas as pd
import pytest
from survival_data import small_fit

import treeselect
from treeselect.errors import OptionError


@pytest.fixture(scope="module")
def died(mixed):
    fit = treeselect.select("died ~ signal + noise", mixed, method="mrmr", k=2, seed=1)
    return fit.performance(3)


@pytest.mark.parametrize("kind", ["calibration", "roc"])
def test_figures_are_of_the_tables(died, kind):
    import matplotlib.pyplot as plt

    ax = died.plot(kind)
    labels = {"calibration": "observed share of died = True", "roc": "sensitivity"}
    assert ax.get_ylabel() == labels[kind]
    table = died.calibration() if kind == "calibration" else died.roc()
    column = "observed" if kind == "calibration" else "true_positive_rate"
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    assert np.abs(table[column].to_numpy()[:, None] - drawn).min(axis=1).max() < 0.005
    plt.close("all")


def test_figures_of_other_responses(mixed, died):
    import matplotlib.pyplot as plt

    three = mixed.assign(dose=pd.cut(mixed["dose"], 3, labels=["low", "middle", "high"]))
    fit = treeselect.select("dose ~ signal + noise", three, method="mrmr", k=1, seed=1)
    found = fit.performance(2)
    assert found.plot(of_class="low").get_ylabel() == "observed share of dose = low"
    assert found.plot("roc", of_class="low").get_ylabel() == "sensitivity"
    for given in ({}, {"of_class": "none"}):
        with pytest.raises(OptionError, match="`of_class` must be one of more than two classes"):
            found.plot(**given)
    with pytest.raises(OptionError, match="`of_class` must be"):
        died.plot(of_class=True)
    times = small_fit().performance(2, horizon=200)
    assert times.plot().get_ylabel() == "observed share of event by time = 200"
    with pytest.raises(OptionError, match=r"`roc\(\)` needs a response with classes"):
        times.plot("roc")
    with pytest.raises(OptionError, match="`kind` must be one of `calibration`, `roc`"):
        times.plot("qq")
    numbers = treeselect.select("dose ~ signal", mixed, method="mrmr", k=1, seed=1).performance(2)
    assert numbers.plot().get_ylabel() == "mean observed dose"
    plt.close("all")
