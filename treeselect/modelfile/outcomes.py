"""From a model file's records to classes, their rows, and facts about times to an event."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from treeselect.designs.follow_up import FollowUp, described_follow_up
from treeselect.formulas.terms import ParsedFormula
from treeselect.modelfile.checks import check


def read_level_names(levels: list[Any]) -> tuple[Any, ...]:
    """Levels of a factor."""
    check(all(isinstance(v, str | int | float | bool) for v in levels), "levels")
    return tuple(levels)


def read_counts(record: Any, classes: tuple[Any, ...]) -> tuple[int, ...]:
    """Rows of the classes; files of older versions have none."""
    counts = tuple(map(int, record))
    check(not counts or not classes or len(counts) == len(classes), "classes and their rows")
    check(len(counts) <= 2 or bool(classes), "the rows of the response")
    return counts


def read_follow_up(record: Mapping[str, Any], formula: ParsedFormula) -> FollowUp:
    """Facts about times to an event."""
    n_rows, n_events, median = (record[part] for part in ("n_rows", "n_events", "median"))
    first, last = record["span"]
    levels = tuple(read_level_names(own) for own in record["levels"])
    check(
        type(n_rows) is int
        and type(n_events) is int
        and 0 < n_events <= n_rows
        and (median is None or (type(median) is float and 0 <= median < math.inf)),
        "times to an event",
    )
    check(
        type(first) is type(last) is float and 0 <= first <= last < math.inf, "span of the events"
    )
    check(
        all(len(own) == len(formula.strata) for own in levels)
        and len(set(levels)) == len(levels) > 0,
        "strata and their levels",
    )
    return described_follow_up(formula, n_rows, n_events, median, (first, last), levels)
