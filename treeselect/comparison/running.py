"""Several methods on the same folds of the same encoded data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treeselect.algorithms.method import Method, is_method
from treeselect.algorithms.registry import find_method
from treeselect.algorithms.task import Step, Task
from treeselect.arguments.checks import SCORE_RULES, check_rule, described, members
from treeselect.comparison.record import Run
from treeselect.designs.problem import FeatureGroups, Problem, check_size
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, TreeselectError, quoted
from treeselect.resampling.choosing import most_units
from treeselect.resampling.cross_validation import FoldPath, follow_fold
from treeselect.resampling.folds import Folds, Split
from treeselect.running.pieces import (
    FEWEST,
    Course,
    Found,
    Kind,
    number_read,
    run_pieces,
    units_read,
)
from treeselect.shown import is_broken

Methods = Sequence[Any] | Mapping[str, Any]
"""Names, methods, or scikit-learn selectors."""


class Contestant(NamedTuple):
    """A method under its name in the comparison."""

    label: str
    method: Method


# --- arguments ---------------------------------------------------------------------------------


def read_methods(methods: object) -> tuple[Contestant, ...]:
    """The methods under distinct names."""
    if isinstance(methods, Mapping):
        if not methods:
            raise OptionError("`methods` must have at least one method.\n  Found: none.")
        for label in methods:
            if not isinstance(label, str) or not label.strip():
                raise OptionError(
                    f"`methods` must have text keys, the names of the methods.\n"
                    f"  Found: {described(label)}."
                )
            if is_broken(label):
                raise OptionError(
                    "`methods` must have keys of complete characters.\n"
                    f"  Found: {quoted(label)}, which contains half a surrogate pair."
                )
        return tuple(Contestant(name, find_method(m, {})) for name, m in methods.items())
    listed = None if is_method(methods) else members(methods)
    if listed is None:
        one = described(methods)
        raise OptionError(
            "`methods` must be a list of names or methods, or a dict of them.\n"
            f"  Found: {one}. Give `[{one}]`, or several."
        )
    found = [find_method(method, {}) for method in listed]
    if not found:
        raise OptionError("`methods` must have at least one method.\n  Found: none.")
    shared = Counter(method.name for method in found)
    labels = [m.name if shared[m.name] == 1 else m.label for m in found]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise OptionError(
            "`methods` must be different methods.\n"
            f"  Found: {twice[0]} twice. Remove one, or name them in a dict."
        )
    return tuple(map(Contestant, labels, found))


def read_sizes(k: object, groups: FeatureGroups) -> tuple[int | str, tuple[int, ...]]:
    """The rule by which methods are compared, and the sizes that are scored.

    Returns
    -------
    rule : int, "1se" or "best"
    sizes : tuple of int
        Increasing; 0 is the constant model.
    """
    most = most_units(groups)
    if isinstance(k, str):
        check_rule(k, "a whole number, a list of these", SCORE_RULES)
        return str(k), _up_to(most, groups)
    listed = members(k) if isinstance(k, Sequence | np.ndarray) else None
    if listed is None:
        size = check_size(k, groups)
        return size, _up_to(size, groups)
    given = [check_size(size, groups) for size in listed]
    if not given:
        raise OptionError("`k` must have at least one size.\n  Found: an empty list.")
    twice = [size for size, count in Counter(given).items() if count > 1]
    if twice:
        raise OptionError(
            f"`k` must list each size once.\n  Found: {twice[0]} more than once in"
            f" {plain_sizes(given)}. Remove the duplicates."
        )
    return "1se", tuple(sorted(given))


def _up_to(most: int, groups: FeatureGroups) -> tuple[int, ...]:
    return 0, *range(max(1, int(groups.keep.sum())), most + 1)


def plain_sizes(k: Any) -> Any:
    """A size or sizes as they could be typed."""
    return k if isinstance(k, str | int | np.integer) else [int(size) for size in k]


def fold_repeats(folds: Folds, n_splits: int) -> IntArray:
    """The repeat of each fold, from 0."""
    per_repeat = folds.folds if isinstance(folds.folds, int) else n_splits
    return np.arange(n_splits) // per_repeat


# --- runs --------------------------------------------------------------------------------------


def run_methods(
    problems: Sequence[Problem],
    contestants: Sequence[Contestant],
    weights: RowWeights,
    splits: Sequence[Split],
    asked: Sequence[tuple[int, ...] | None],
    seed: int,
    course: Course,
) -> tuple[tuple[Run, ...], list[int]]:
    """All methods, each at its own sizes, in all folds, with the numbers of the folds. If the user
    stopped the call, these are the folds in which all methods are finished. Folds have the seeds of
    ``select()``."""
    own = stream_seed(seed, "cross-validation")
    calls = [
        (problem, contestant, weights, split, of_method, stream_seed(own, "fold", number), number)
        for number, split in enumerate(splits)
        for problem, contestant, of_method in zip(problems, contestants, asked, strict=True)
    ]
    n = len(contestants)
    kind = _kind_of([label for label, _ in contestants], asked, len(problems[0].groups.names))
    found = run_pieces(_one_pair, calls, kind, course)
    runs = tuple(
        Run(
            label=contestant.label,
            title=contestant.method.title,
            options=contestant.method.changed(),
            sizes=of_method,
            folds=tuple(own for number, own in found.items() if number % n == i),
            paper=contestant.method.paper,
        )
        for i, (contestant, of_method) in enumerate(zip(contestants, asked, strict=True))
    )
    return runs, sorted({number // n for number in found})


def _kind_of(labels: Sequence[str], sizes: Sequence[tuple[int, ...] | None], n_units: int) -> Kind:
    """How pairs of method and fold are written to and read from files: a path and its scores."""
    n = len(labels)

    def whole_folds(found: Found) -> Found:
        have = Counter(number // n for number in found)
        whole = {fold for fold, count in have.items() if count == n}
        if len(whole) < FEWEST:
            return {}
        return {number: own for number, own in found.items() if number // n in whole}

    def found_of(number: int, path: FoldPath) -> dict[str, Any]:
        method = number % n
        return {
            "method": labels[method],
            "fold": number // n + 1,
            "k": sizes[method],
            "score": tuple(path.scores.tolist()),
            "n_selected": tuple(map(len, path.units)),
        }

    def read(number: int, saved: Any) -> FoldPath:
        return _read(saved, n_units, sizes[number % n])

    many = "pairs of method and fold"
    return Kind("pair", _written, read, found_of, whole_folds, many, "Comparison")


_LONGEST = 100_000
"""Limit on the characters of all warnings of a path, in a file that need not be trusted."""


def _written(path: FoldPath) -> dict[str, Any]:
    return {
        "scores": path.scores.tolist(),
        "units": [units.tolist() for units in path.units],
        "seconds": path.seconds.tolist(),
        "warnings": list(path.warnings),
    }


def _read(saved: Any, n_units: int, sizes: tuple[int, ...] | None) -> FoldPath:
    n_sizes = 1 if sizes is None else len(sizes)
    scores, units, seconds = (saved[name] for name in ("scores", "units", "seconds"))
    warned = saved["warnings"]
    if not len(scores) == len(units) == len(seconds) == n_sizes:
        raise ValueError("other sizes")
    texts = [isinstance(text, str) and not is_broken(text) for text in warned]
    if not all(texts) or sum(map(len, warned)) > _LONGEST:
        raise ValueError("no texts")
    return FoldPath(
        scores=np.array([number_read(score) for score in scores]),
        units=tuple(units_read(own, n_units) for own in units),
        seconds=np.array([number_read(time) for time in seconds]),
        warnings=tuple(warned),
    )


def _one_pair(
    problem: Problem,
    contestant: Contestant,
    weights: RowWeights,
    split: Split,
    sizes: tuple[int, ...] | None,
    seed: int,
    number: int,
    *,
    n_threads: int = 1,
) -> FoldPath:
    try:
        return follow_fold(
            problem, contestant.method, weights, split, sizes, seed, n_threads=n_threads
        )
    except TreeselectError as error:
        raise type(error)(
            f"{error}\n  This was {quoted(contestant.label)} in fold {number + 1}."
        ) from None


# --- words -------------------------------------------------------------------------------------


def run_notes(
    contestants: Sequence[Contestant], runs: Sequence[Run], of_data: tuple[str, ...]
) -> tuple[str, ...]:
    """Notes on the runs, and then on the data."""
    notes = []
    for (label, method), run in zip(contestants, runs, strict=True):
        if method.was_fitted:
            notes.append(
                f"{label} was fitted earlier, on unknown rows: if held-out rows were among them,"
                " its score is optimistic."
            )
        warned = Counter(text for fold in run.folds for text in fold.warnings)
        notes += [
            f"{label}, in {count} of {len(run.folds)} folds: {text}"
            for text, count in warned.items()
        ]
    return (*notes, *of_data)


# --- the null and the full model, beside which methods are read ----------------------------------


@dataclass(frozen=True)
class AllTerms(Method):
    """No selection: a single step with all units, refitted as the final model of methods is."""

    @property
    def name(self) -> str:
        """Name in tables of progress and in errors."""
        return "reference models"

    def path(self, task: Task) -> Sequence[Step]:
        """All units."""
        n = len(task.problem.groups.names)
        return [Step(0.0, np.ones(n, dtype=bool), np.full(n, 1 / n), np.nan)]


def reference_sizes(n_units: int) -> tuple[int, int]:
    """Sizes of the null and of the full model."""
    return 0, n_units
