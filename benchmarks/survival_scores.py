"""How well predicted survival agrees with the times of new rows."""

from __future__ import annotations

import numpy as np


def harrell(y_time, event, risk):
    """Share of the pairs whose order is known in which the one with the higher risk died first;
    a tie of risks is half."""
    sooner = (y_time[:, None] < y_time) | ((y_time[:, None] == y_time) & ~event)
    known = event[:, None] & sooner
    right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    return (known * right).sum() / known.sum()


def breslow(train, link, new_link, times):
    """Survival at the times, a row for each of the new link."""
    middle = link.mean()
    when, stop = np.unique(train["time"][train["event"] == 1]), train["time"].to_numpy()
    died = np.bincount(np.searchsorted(when, stop[train["event"] == 1]), minlength=len(when))
    at_risk = np.exp(link - middle) @ (stop[:, None] >= when)
    hazard = np.concatenate([[0.0], np.cumsum(died / at_risk)])
    steps = hazard[np.searchsorted(when, times, side="right")]
    return np.exp(-np.exp(new_link - middle)[:, None] * steps)


def unseen_curve(train, wanted, side):
    """Kaplan-Meier of the censoring of the training rows, up to (right) or before (left) times."""
    stop = train["time"].to_numpy()
    when = np.unique(stop)
    at_risk = (stop[:, None] >= when).sum(axis=0)
    ended = ((stop[:, None] == when) & (train["event"] == 0).to_numpy()[:, None]).sum(axis=0)
    curve = np.concatenate([[1.0], np.cumprod(1 - ended / at_risk)])
    return curve[np.searchsorted(when, wanted, side=side)]


def integrated_brier(train, test, survival, times):
    """The mean of the Brier score over the times, by trapezes (Graf and others 1999); weights are
    from the Kaplan-Meier curve of the training rows' censoring."""
    stop, event = test["time"].to_numpy(), test["event"].to_numpy() == 1
    before = np.maximum(unseen_curve(train, stop, "left"), 1e-9)[:, None]
    died = (stop[:, None] <= times) & event[:, None]
    alive = stop[:, None] > times
    then = unseen_curve(train, times, "right")
    scores = (died * survival**2 / before + alive * (1 - survival) ** 2 / then).mean(axis=0)
    return np.trapezoid(scores, times) / (times[-1] - times[0])
