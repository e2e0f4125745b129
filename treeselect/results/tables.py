"""Tables of a result, as pandas frames: what ``tidy``, ``glance``, ``path`` and reports show."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from treeselect.algorithms.task import Trace
from treeselect.designs.linear import missing_terms
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, first_few, quoted
from treeselect.models.model import permuted_changes
from treeselect.printing import SmallTable, count_text, signed
from treeselect.resampling.fit import Fit, noun


def path_table(result: Fit) -> pd.DataFrame:
    """One row per step (see ``SelectionResult.path``)."""
    names = np.array(result.design.arrays.groups.names, dtype=object)
    gaps, sizes = [s.gap for s in result.steps], [s.size for s in result.steps]
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
    groups = result.design.arrays.groups
    unit = groups.unit_of
    terms = [spec.term.name for spec in result.design.spec.terms]
    at = np.array([unit[t] for t in terms])
    entry = [
        next((float(s.size) for s in result.steps if s.selected[g]), float("nan"))
        for g in range(len(groups.names))
    ]
    found = result.step.decisions  # methods that make none have missing text
    words = [None] * len(entry) if found is None else list(found.words)
    frame = pd.DataFrame({
        "term": terms, "group": np.array(groups.names, dtype=object)[at],
        "selected": result.step.selected[at],
        "decision": pd.Series(words, dtype=pd.Series(["text"]).dtype).array.take(at),
        "step": np.array(entry)[at], "importance": result.importance[at], "cost": groups.costs[at],
        "n_missing": [spec.n_missing for spec in result.design.spec.terms],
    })  # fmt: skip
    if result.resampled is not None:
        by_unit = result.resampled.in_pandas.tidy().set_index("term").loc[list(groups.names)]
        for column in ("frequency", "ci_low", "ci_high"):
            frame[column] = by_unit[column].to_numpy()[at]
    place = {term: i for i, term in enumerate(result.selected)}
    frame.index = pd.Index([place.get(term, len(place)) for term in terms], name="place")
    return frame.sort_values(["place", "step"], ignore_index=True)


def history_table(result: Fit) -> pd.DataFrame:
    """One row per round and unit (see ``SearchView.history``)."""
    found = result.step.decisions
    if found is None:
        raise OptionError(
            f"There is no history: {result.method} does not decide in rounds, as `boruta` does.\n"
            "  The importances along its path are in `fit.search.importance_path()`."
        )
    rounds, n = found.history.shape
    least, mean, most = np.repeat(found.shadows, n, axis=0).T
    return pd.DataFrame({
        "round": np.repeat(np.arange(1, rounds + 1), n),
        "term": np.tile(np.array(result.design.arrays.groups.names, dtype=object), rounds),
        "decision": np.tile(np.array(found.words, dtype=object), rounds),
        "importance": found.history.ravel(), "shadow_min": least, "shadow_mean": mean,
        "shadow_max": most,
    })  # fmt: skip


def decision_table(result: Fit) -> tuple[pd.DataFrame, float]:
    """One row per unit by falling importance, with the 5th and 95th percentiles of its importance
    over the rounds, and the median of the largest shadow importances."""
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


def member_table(result: Fit) -> pd.DataFrame:
    """One row per term of a selected group of several, with its part of the group's importance."""
    design, arrays = result.design, result.design.arrays
    design.check_data()
    names, rows = np.array(arrays.column_names, dtype=object), []
    for group in result.groups:
        terms = design.terms_of([group])
        if len(terms) == 1:
            continue
        parts = [np.flatnonzero(names == term) for term in terms]
        found = permuted_changes(result.model, arrays, design.weight, parts, result.seed)
        share = found / max(found.sum(), 1e-300)
        (whole,) = importances_of(result, [group])
        order = np.argsort(-share, kind="stable")
        rows += [(group, terms[i], whole * share[i], share[i]) for i in order]
    return pd.DataFrame(rows, columns=["group", "term", "importance", "share"])


def glance_table(result: Fit) -> pd.DataFrame:
    """One row about the whole selection (see ``SelectionResult.glance``)."""
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


def selected_first(table: pd.DataFrame, length: int, most: int) -> pd.DataFrame:
    """The units of the selection, at most `most`, then the most frequent others."""
    ordered = table.sort_values("selected", ascending=False, kind="stable", ignore_index=True)
    return ordered.head(min(max(length, int(table["selected"].sum())), most))


def class_counts(fit: Fit) -> tuple[tuple[str, int], ...]:
    """Rows of each class, the fewest first; none for numbers."""
    response = fit.design.response
    counted = zip(map(str, response.classes), response.counts, strict=False)
    return tuple(sorted(counted, key=lambda own: own[1]))


def missing_counts(fit: Fit) -> tuple[list[tuple[str, int]], int]:
    """Rows in which each column behind the terms is missing, the most first, columns without any
    left out; and rows in which one of them is. A term that is missing in other rows, such as those
    with a level that ``C(x, levels=...)`` leaves out, counts beside its columns. They need the
    data."""
    absent, copies = fit.design.sources.isna(), fit.design.row_weights.copies
    terms = [spec.term for spec in fit.design.spec.terms if not spec.term.is_plain]
    variables = {term.name: list(term.variables) for term in terms}
    for term, rows in missing_terms(fit.design, variables).items():
        if (rows & ~absent[variables[term]].any(axis=1)).any():
            absent[term] = rows
    count = absent.mul(copies, axis=0).sum().sort_values(ascending=False, kind="stable")
    label = fit.design.words
    found = [(label.get(str(name), str(name)), int(n)) for name, n in count.items() if n]
    return found, int(copies[absent.any(axis=1)].sum())


# --- exchanges and alternatives ------------------------------------------------------------------

_MOST_NAMES = 3
"""Names of units on each side of an exchange of several."""

HEADS = ("Change in error, %", "s.e.")
"""Of the columns of numbers."""

_NEAREST = 3
"""Near-equivalent sets that the summary shows."""


def exchange_table(result: Fit) -> pd.DataFrame:
    """One row per exchange (see ``SearchView.exchanges``)."""
    made, names = _trace(result).exchanges, result.design.arrays.groups.names
    text = pd.Series(["text"]).dtype
    return pd.DataFrame(
        {
            "exchange": pd.Series(range(1, len(made) + 1), dtype="int64"),
            "out": pd.Series([names[e.out] for e in made], dtype=text),
            "into": pd.Series([names[e.into] for e in made], dtype=text),
            "change": pd.Series([e.rise for e in made], dtype="float64"),
            "change_se": pd.Series([e.spread for e in made], dtype="float64"),
        }
    )


def alternative_table(result: Fit) -> pd.DataFrame:
    """One row per near-equivalent set (see ``SearchView.alternatives``)."""
    near, names = _trace(result).rivals, result.design.arrays.groups.names
    units, chosen = [tuple(names[u] for u in rival.units) for rival in near], result.groups
    both = [tuple(unit for unit in chosen if unit in own) for own in units]
    into = [tuple(unit for unit in own if unit not in chosen) for own in units]
    out = [tuple(unit for unit in chosen if unit not in own) for own in units]
    return pd.DataFrame(
        {
            "terms": pd.Series([a + b for a, b in zip(both, into, strict=True)], dtype=object),
            "out": pd.Series(out, dtype=object),
            "into": pd.Series(into, dtype=object),
            "change": pd.Series([rival.rise for rival in near], dtype="float64"),
            "change_se": pd.Series([rival.spread for rival in near], dtype="float64"),
        }
    )


def _trace(result: Fit) -> Trace:
    if result.step.trace is None:
        raise OptionError(
            "There are no exchanges or alternatives to show: no exchange search ended with this"
            f' set.\n  Found: the method {result.method}. `method="exchange"`, or any other method'
            " with `refine=True`, records them, unless backward elimination (`prune=True`) or a cut"
            " to `k` changes the set afterwards."
        )
    return result.step.trace


# --- in words ----------------------------------------------------------------------------------


def search_tables(result: Fit) -> tuple[SmallTable, ...]:
    """The exchanges, and the nearest sets, if there are any."""
    if result.step.trace is None:
        return ()
    tables = {
        "Exchanges, in order": exchange_rows(result),
        "Near-equivalent sets": rival_rows(result, _NEAREST),
    }
    return tuple(SmallTable((head, *HEADS), rows) for head, rows in tables.items() if rows)


def exchange_rows(result: Fit) -> tuple[tuple[str, ...], ...]:
    """Each exchange in words, with the change of the error and its standard error."""
    return tuple(
        (f"{row['into']} replaced {row['out']}", *_percent(row))
        for row in exchange_table(result).to_dict("records")
    )


def rival_rows(result: Fit, most: int) -> tuple[tuple[str, ...], ...]:
    """How the nearest sets, and their errors, differ from the selection."""
    rows = alternative_table(result).head(most).to_dict("records")
    sides = ([first_few(row[side], _MOST_NAMES) for side in ("into", "out")] for row in rows)
    words = map(" in place of ".join, sides)
    return tuple((said, *_percent(row)) for said, row in zip(words, rows, strict=True))


def search_notes(result: Fit, most: int = _NEAREST) -> list[str]:
    """How many sets are near-equivalent, of how many, and what the numbers are."""
    trace = result.step.trace
    if trace is None:
        return []
    said, units = [], f"{count_text(result.k)} {noun(result, result.k)}"
    if trace.n_judged:
        n_listed = len(trace.rivals)
        which = "them" if n_listed == trace.n_rivals else f"the best {n_listed}"
        listed = "" if trace.n_rivals <= most else f" `fit.search.alternatives()` lists {which}."
        said.append(
            f"{_how_many(trace, units)} one standard error above the error of the"
            f" selection.{listed}"
            " Sets that the search did not evaluate may be as good."
        )
    if trace.exchanges or trace.rivals:
        groups = result.choice.folds.groups_name
        of_what = f" ({quoted(groups)})" if isinstance(groups, str) else " of rows"
        over = f"clusters{of_what}" if groups else "rows"
        said.append(
            "Changes in error are relative changes in out-of-bag error. Their standard"
            f" errors reflect variation between {over}, given the bootstrap samples of the trees."
        )
    return said


def _how_many(trace: Trace, units: str) -> str:
    if trace.n_judged == 1:
        return (
            f"The only other set of {units} that the search evaluated with all its trees has an"
            f" out-of-bag error {'at most' if trace.n_rivals else 'more than'}"
        )
    n = trace.n_rivals
    near = "none has" if n == 0 else f"{n:,} {'has' if n == 1 else 'have'}"
    near = "all have" if n == trace.n_judged else near
    return (
        f"Of {trace.n_judged:,} other sets of {units} that the search evaluated with all its trees,"
        f" {near} an out-of-bag error at most"
    )


def _percent(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """A change with its standard error, in percent."""
    change, spread = 100 * row["change"], 100 * row["change_se"]
    return signed(change, "+,.1f"), f"{spread:,.1f}"
