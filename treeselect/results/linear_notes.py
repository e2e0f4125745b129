"""Notes below a refitted linear model: clusters, dropped columns, weights."""

from __future__ import annotations

from collections.abc import Sequence

from treeselect.designs.modeldata import ModelData
from treeselect.errors import listing, quoted
from treeselect.models.linear.coefficients import robust_note
from treeselect.models.linear.fit import LinearFit


def group_notes(name: str | bool, data: ModelData, fits: Sequence[LinearFit]) -> tuple[str, ...]:
    """What is assumed of rows of the same cluster."""
    if not name or data.row_weights.is_sample:
        return ()
    if all(fit.n_groups is not None for fit in fits):
        return (robust_note(fits),)
    return (naive_words(name),)


def naive_words(name: str | bool) -> str:
    """That standard errors ignore clusters."""
    of = f"the same {quoted(name)}" if isinstance(name, str) else "one cluster"
    return f"Standard errors treat rows of {of} as independent and are too small if they are not."


def left_out_note(left_out: Sequence[str], fit: LinearFit) -> tuple[str, ...]:
    if not left_out:
        return ()
    beside = "" if fit.n_events is None else ", or of these and columns constant within strata"
    return (
        "Dropped because they are linear combinations of preceding columns"
        f"{beside}: {listing(left_out)}.",
    )


def weight_notes(data: ModelData, fit: LinearFit) -> tuple[str, ...]:
    notes = []
    of_events = fit.n_events is not None
    if of_events and not data.row_weights.are_equal:
        notes.append(
            "Case weights multiply rows at risk and events, as in R's `coxph`; an event of weight 2"
            " is one event, not two tied ones."
            + ("" if data.row_weights.are_copies else " They are divided by their mean.")
        )
    elif data.row_weights.is_sample:
        notes.append("Case weights are relative: divided by their mean.")
    elif not data.row_weights.are_copies:
        notes.append("Case weights are relative: divided by their mean (statsmodels: var_weights).")
    elif (data.weight > 1).any():
        notes.append("Case weights are frequencies: each row counts as so many rows.")
    if data.row_weights.is_sample:
        notes.append(_robust_words(fit))
    if data.offset is not None:
        least_squares = fit.model.startswith(("OLS", "WLS"))
        notes.append(
            "The offset is subtracted from the response."
            if least_squares
            else "The offset is part of the linear predictor."
        )
    return tuple(notes)


def _robust_words(fit: LinearFit) -> str:
    units = "rows" if fit.n_groups is None else f"{fit.n_groups:,} clusters"
    return (
        f"Standard errors are robust (linearised, over {units}), as in R's `survey`; strata and"
        " finite populations are not taken into account."
    )
