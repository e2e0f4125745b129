"""A small set of times until an event, and a fit of it."""

import numpy as np
import pandas as pd

import treeselect


def small_times(n: int = 90) -> pd.DataFrame:
    """Times that `risky` shortens; `late` is when rows come under observation."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["risky", "x", "z"])
    time = rng.exponential(np.exp(-1.2 * frame["risky"])) * 400
    ends = rng.uniform(50, 900, n)
    frame["time"] = np.ceil(np.minimum(time, ends))
    frame["dead"] = (time <= ends).astype(int)
    frame["late"] = np.floor(frame["time"] * rng.uniform(0, 0.5, n))
    frame["site"] = np.where(np.arange(n) % 3 == 0, "Bath", "York")
    return frame


def small_fit(formula: str = "Surv(time, dead) ~ risky + x + z", k: int = 2):
    """A fit that takes a moment."""
    return treeselect.select(formula, small_times(), method="mrmr", k=k, seed=1)
