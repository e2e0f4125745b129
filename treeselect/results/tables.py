"""Tables of a result, as pandas frames: what ``tidy``, ``glance``, ``path`` and reports show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.rounding import falling
from treeselect.errors import OptionError
from treeselect.results.effects import effect_columns

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


def path_table(result: Fit) -> pd.DataFrame:
    """One row per step (see ``SelectionResult.path``)."""
    import pandas as pd

    names = np.array(result.design.arrays.groups.names, dtype=object)
    gaps = [s.gap for s in result.steps]
    sizes = [s.size for s in result.steps]
    missing = [float("nan")] * len(sizes)
    frame = pd.DataFrame(
        {
            "k": sizes,
            "tuning": [s.tuning for s in result.steps],
            "terms": [
                tuple(n for n in names[falling(s.importance)] if n in kept)
                for s in result.steps
                for kept in [set(names[s.selected])]
            ],
            "train_score": [s.train_score for s in result.steps],
            "cv_score": result.scores.mean[sizes] if result.scores else missing,
            "cv_se": result.scores.standard_error[sizes] if result.scores else missing,
        }
    )
    if any(gap is not None for gap in gaps):
        frame["gap"] = np.array(gaps, dtype=np.float64)
    return frame


def beyond_path(result: Fit) -> tuple[int, float] | None:
    """Number of all units, and held-out score of the model with them, if that is no step."""
    n_units, scores = len(result.step.selected), result.scores
    if scores is None or scores.full is None or result.steps[-1].size == n_units:
        return None
    return n_units, scores.full_mean


def tidy_table(result: Fit) -> pd.DataFrame:
    """One row per term (see ``SelectionResult.tidy``)."""
    import pandas as pd

    groups = result.design.arrays.groups
    unit = groups.unit_of
    terms = [spec.term.name for spec in result.design.spec.terms]
    at = np.array([unit[t] for t in terms])
    entry = np.array([_entry(result, g) for g in range(len(groups.names))])
    frame = pd.DataFrame(
        {
            "term": terms,
            "group": np.array(groups.names, dtype=object)[at],
            "selected": result.step.selected[at],
            "decision": _decisions(result).take(at),
            "step": entry[at],
            "importance": result.importance[at],
            "cost": groups.costs[at],
            "n_missing": _numbers_missing(result),
        }
    )
    if result.resampled is not None:
        by_unit = result.resampled.in_pandas.tidy().set_index("term").loc[list(groups.names)]
        for column in ("frequency", "ci_low", "ci_high"):
            frame[column] = by_unit[column].to_numpy()[at]
    for column, values in effect_columns(result, terms).items():
        frame[column] = values
    return frame.sort_values(
        ["selected", "importance", "step"],
        ascending=[False, False, True],
        kind="stable",
        ignore_index=True,
    )


def _numbers_missing(result: Fit) -> list[int] | list[float]:
    """Rows in which each term is missing; NaN if the file of the model does not say."""
    found = [spec.n_missing for spec in result.design.spec.terms]
    known = [n for n in found if n is not None]
    return known if len(known) == len(found) else [float("nan") if n is None else n for n in found]


def _decisions(result: Fit) -> Any:
    """The decision on each unit in words; missing text of methods that make none."""
    import pandas as pd

    found, n = result.step.decisions, len(result.design.arrays.groups.names)
    words = [None] * n if found is None else list(found.words)
    return pd.Series(words, dtype=pd.Series(["text"]).dtype).array


def history_table(result: Fit) -> pd.DataFrame:
    """One row per round and unit (see ``SelectionResult.history``).

    Raises
    ------
    OptionError
        If the method makes no decisions.
    """
    import pandas as pd

    found = result.step.decisions
    if found is None:
        raise OptionError(
            f"There is no history: {result.method} does not decide in rounds, as `boruta` does.\n"
            "  The importances along its path are in `fit.search.importance_path()`."
        )
    rounds, n = found.history.shape
    least, mean, most = np.repeat(found.shadows, n, axis=0).T
    return pd.DataFrame(
        {
            "round": np.repeat(np.arange(1, rounds + 1), n),
            "term": np.tile(np.array(result.design.arrays.groups.names, dtype=object), rounds),
            "decision": np.tile(np.array(found.words, dtype=object), rounds),
            "importance": found.history.ravel(),
            "shadow_min": least,
            "shadow_mean": mean,
            "shadow_max": most,
        }
    )


def decision_table(result: Fit) -> tuple[pd.DataFrame, float]:
    """One row per unit by falling importance, and the median of the largest shadow importances.

    Columns ``term``, ``decision``, ``hits``, ``rounds`` (in which it took part), and ``median``,
    ``low`` and ``high``, the 5th and 95th percentile, of its importance in these.
    """
    history = history_table(result)
    history["hits"] = history["importance"] > history["shadow_max"]
    by_unit = history.groupby("term", sort=False)
    importance = by_unit["importance"]
    frame = by_unit.agg(
        decision=("decision", "first"), hits=("hits", "sum"), rounds=("importance", "count"),
        median=("importance", "median"),
    )  # fmt: skip
    frame["low"], frame["high"] = importance.quantile(0.05), importance.quantile(0.95)
    bar = float(history.drop_duplicates("round")["shadow_max"].median())
    return frame.sort_values("median", ascending=False, kind="stable").reset_index(), bar


def importances_of(result: Fit, units: Sequence[str]) -> list[float]:
    """Importances of some units in the final model."""
    found = dict(zip(result.design.arrays.groups.names, result.importance, strict=True))
    return [float(found[unit]) for unit in units]


def _entry(result: Fit, group: int) -> float:
    """Size of the step at which a unit first was in."""
    return next((float(s.size) for s in result.steps if s.selected[group]), float("nan"))


def glance_table(result: Fit) -> pd.DataFrame:
    """One row about the whole selection (see ``SelectionResult.glance``)."""
    import pandas as pd

    nan = float("nan")
    scores, resampled = result.scores, result.resampled
    low, high = resampled.index_ci if resampled else (nan, nan)
    known = result.design.response.follow_up
    row = {
        "n": result.design.rows.used,
        "n_dropped": result.design.rows.no_response,
        "p": len(result.design.arrays.groups.names),
        "k": result.k,
        "method": result.method,
        "family": result.family,
        "tuning": result.step.tuning,
        "score": result.design.response.family.score_name,
        "train_score": result.step.train_score,
        "cv_score": float(scores.mean[result.k]) if scores else nan,
        "cv_se": float(scores.standard_error[result.k]) if scores else nan,
        "cv_full": scores.full_mean if scores else nan,
        "cv_null": float(scores.mean[0]) if scores else nan,
        "resamples": resampled.n_resamples if resampled else 0,
        "stability": resampled.index if resampled else nan,
        "stability_low": low,
        "stability_high": high,
        "seed": result.seed,
        "events": nan if known is None else float(known.n_events),
        "n_not_drawn": result.design.rows.not_drawn,
        "held_out_score": nan if result.held_out is None else result.held_out.score,
    }
    return pd.DataFrame([row])
