"""Fits whose numbers are made by hand: what is printed of them is the same on every processor."""

import dataclasses

import numpy as np
from quick import changed

from treeselect.algorithms.task import Exchange, Rival, Trace
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.stability import Stability


def with_round_numbers(fit, *units, at_once=False, **call):
    """A fit that selects these units, one after the other or all at once, with round numbers in
    place of all that was computed.

    Parameters
    ----------
    call : str
        What of its words depends on numbers, such as ``rule``.
    """
    record = fit._fit
    names = np.array(record.design.arrays.groups.names)
    first = len(units) if at_once else 0
    steps = tuple(
        dataclasses.replace(
            record.step, tuning=0.25 / size if size else np.inf,
            selected=np.isin(names, units[:size]), importance=_shares(names, units[:size]),
            train_score=0.5 + 0.125 * size, cut_from=None,
        )
        for size in range(first, len(units) + 1)
    )  # fmt: skip
    return changed(
        fit, call=dataclasses.replace(record.call, **call), steps=steps, step=steps[-1],
        scores=None if record.scores is None else _scores(len(units)),
        model=dataclasses.replace(record.model, importance=_shares(names, units)),
        resampled=None if record.resampled is None else _resampled(names, units),
    )  # fmt: skip


EXCHANGES = (("noise", "copy", -0.25, 0.0625), ("copy", "signal", -0.021, 0.004))
RIVALS = (
    (("copy", "site"), -0.0002, 0.0),
    (("signal", "flag"), 0.003, 0.004),
    (("noise", "flag"), 0.0125, 0.015625),
    (("noise", "copy"), 0.0625, 0.125),
)
"""For :func:`with_trace`: units out and in, or of the set, the change of the error and its s.e."""


def with_trace(fit, exchanges=(), rivals=(), *, n_rivals=None, n_judged=None):
    """A fit that selects `signal` and `site` with round numbers, and the trace of a search."""
    made = with_round_numbers(fit, "signal", "site")
    number = {name: unit for unit, name in enumerate(made.data.design.arrays.groups.names)}
    near = [Rival(tuple(sorted(number[name] for name in r[0])), *r[1:]) for r in rivals]
    n = len(near) if n_rivals is None else n_rivals
    trace = Trace(
        tuple(Exchange(number[out], number[into], *rest) for out, into, *rest in exchanges),
        tuple(near), n, n if n_judged is None else n_judged,
    )  # fmt: skip
    return changed(made, step=dataclasses.replace(made.search.step, trace=trace))


def _shares(names, units):
    """Twice as much for each unit as for the next one."""
    worth = {unit: 2.0**-place for place, unit in enumerate(units)}
    found = np.array([worth.get(name, 0.0) for name in names])
    return found / max(found.sum(), 1.0)


def _scores(size):
    """Of three folds, one up and one down by a sixteenth, best at the size given."""
    mean = 0.5 + 0.125 * np.minimum(np.arange(size + 2), size)
    return ScoreBySize(mean + np.array([[-0.0625], [0.0], [0.0625]]) * (mean > 0.5))


def _resampled(names, units):
    """Ten resamples: the first unit gives way to the first of the others in four of them."""
    selected = np.tile(np.isin(names, units), (10, 1))
    other = next(place for place, name in enumerate(names) if name not in units)
    selected[6:, list(names).index(units[0])] = False
    selected[6:, other] = True
    return Stability(
        units=tuple(names.tolist()), fitted=np.isin(names, units),
        assessed=np.ones(len(names), dtype=bool), selected=selected, scheme="bootstrap",
        k=len(units), seed=1,
    )  # fmt: skip
