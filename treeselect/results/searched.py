"""The exchanges of a search, and the near-equivalent sets: as tables, and in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treeselect.algorithms.task import Trace
from treeselect.errors import OptionError, quoted
from treeselect.printing import SmallTable, count_text, signed
from treeselect.resampling.fit import noun

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

_MOST_NAMES = 3
"""Names of units on each side of an exchange of several."""

HEADS = ("Change in error, %", "s.e.")
"""Of the columns of numbers."""

_NEAREST = 3
"""Near-equivalent sets that the summary shows."""

# --- tables ------------------------------------------------------------------------------------


def exchange_table(result: Fit) -> pd.DataFrame:
    """One row per exchange (see ``SelectionResult.exchanges``).

    Raises
    ------
    OptionError
        If no search found this set.
    """
    import pandas as pd

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
    """One row per near-equivalent set (see ``SelectionResult.alternatives``).

    Raises
    ------
    OptionError
        If no search found this set.
    """
    import pandas as pd

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
    return tuple(
        (f"{_few(row['into'])} in place of {_few(row['out'])}", *_percent(row))
        for row in alternative_table(result).head(most).to_dict("records")
    )


def search_notes(result: Fit, most: int = _NEAREST) -> list[str]:
    """How many sets are near-equivalent, of how many, and what the numbers are."""
    trace = result.step.trace
    if trace is None:
        return []
    said, units = [], f"{count_text(result.k)} {noun(result, result.k)}"
    if trace.n_judged:
        listed = "" if trace.n_rivals <= most else f" {_listed(trace)}"
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


def _listed(trace: Trace) -> str:
    listed = len(trace.rivals)
    which = "them" if listed == trace.n_rivals else f"the best {listed}"
    return f"`.alternatives()` lists {which}."


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _percent(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """A change with its standard error, in percent."""
    change, spread = 100 * row["change"], 100 * row["change_se"]
    return signed(change, "+,.1f"), f"{spread:,.1f}"
