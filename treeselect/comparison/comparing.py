"""``compare()``: several methods on the same folds of the same encoded data."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from treeselect.algorithms.registry import find_method, method_label, method_text
from treeselect.algorithms.shared.base import SelectionMethod, changed_options, is_method, settled
from treeselect.arguments.checks import USUAL_SIZE, check_choice, check_size, members, read_seed
from treeselect.arguments.scalars import described
from treeselect.comparison.record import Comparison, Run
from treeselect.designs.design import FeatureGroups, WeightArray
from treeselect.designs.encoding import NewLevels
from treeselect.designs.preparing import prepare
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import Scoring
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, TreeselectError, quoted
from treeselect.frames.libraries import library_of
from treeselect.frames.reading import read_data
from treeselect.resampling.choosing import most_units
from treeselect.resampling.cross_validation import FoldPath, follow_fold
from treeselect.resampling.folds import Folds, Split, Splitter, mean_repeats, read_folds, split_rows
from treeselect.results.calls import call_text, data_text
from treeselect.running.parallel import check_n_jobs, run_all
from treeselect.running.progress import announce_compilation, read_progress, track
from treeselect.shown import is_broken

Methods = Sequence[Any] | Mapping[str, Any]
"""Names, methods, or selectors of scikit-learn."""


class Contestant(NamedTuple):
    """A method under the name that tells it from the others."""

    label: str
    method: SelectionMethod


def compare(
    formula: str,
    data: Any,
    methods: Methods,
    *,
    k: int | Sequence[int] | Literal["1se", "best"] = USUAL_SIZE,
    folds: int | Splitter | Sequence[int] = 5,
    repeats: int = 1,
    fold_groups: str | Sequence[Any] | None = None,
    scoring: Scoring = None,
    family: str = "auto",
    weights: str | Sequence[float] | None = None,
    offset: str | Sequence[float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Iterable[str] | str | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    new_levels: NewLevels = "error",
    trusted: bool = False,
    progress: bool | None = None,
) -> Comparison:
    """Compare methods: score against size, differences, stability over the folds, and time.

    In each fold every method selects on the training rows, along its whole path; each size is
    refitted and scored on the held-out rows. Folds, seeds and encoded arrays are the same for all
    methods. A score at k is that of the largest set of at most k units.

    Parameters
    ----------
    formula, data
        As in :func:`treeselect.select`.
    methods : list of str, method or selector, or dict of str to these
        Names in ``treeselect.methods()``, objects such as ``RRF(n_trees=50)``, or selectors of
        scikit-learn such as ``SelectKBest()``; the keys of a dict are the names under which they
        are told apart. A method whose tuning value is given takes part with the set that it leads
        to, whatever its size; so does a selector that finds a set of its own size.
    k : int, list of int, "1se" or "best"
        Where methods are compared. An integer: each at k units at most, with the sizes up to k for
        the path. ``"1se"`` and ``"best"``: each at its own size by that rule, of at most 30. A
        list: only these sizes are scored, and each method is compared at its own of them, by the
        one-standard-error rule.
    folds, repeats, fold_groups, scoring
        As in :func:`treeselect.select`: how rows are held out, and the score on them.
    family, weights, offset, groups, costs, keep, new_levels, trusted
        As in :func:`treeselect.select`. Costs are refused by methods that have no part for them.
    seed : int, optional
        All randomness, 0 to 2**64 - 1. The scores by size of a method are those of
        ``select(..., method, seed=seed).path`` with the same folds.
    n_jobs : int, optional
        Processes, as joblib counts them, among which pairs of method and fold are shared out; None
        follows ``joblib.parallel_config``, else this process alone.
    progress : bool, optional
        Progress on standard error; None shows it in a terminal only.

    Returns
    -------
    Comparison
        ``.summary()``, ``.plot(kind)``, ``.report(path)``; tables ``.glance()``, ``.curves()``,
        ``.differences()``, ``.terms()``, ``.tidy()``.

    Raises
    ------
    FormulaError
        If the formula can't be read, names what is not there, or would run code.
    DataError
        If the data can't be used as they are.
    OptionError, MethodError
        If an argument, a method, or one of its options is not allowed.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process ends before its work is done or can't be given it.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> methods = [treeselect.RRF(n_trees=20), "mrmr"]
    >>> found = treeselect.compare("survived ~ .", data, methods, k=3, folds=3, seed=1)
    >>> found.glance()["method"].tolist()
    ['rrf', 'mrmr']
    """
    n_jobs, seed, progress = check_n_jobs(n_jobs), read_seed(seed), read_progress(progress)
    if isinstance(methods, Iterator):
        methods = tuple(methods)  # they are read twice, to run and to be named in the call
    contestants = tuple(
        Contestant(label, settled(method, k)) for label, method in read_methods(methods)
    )
    frame = read_data(data)
    # An integer `k` needs folds here, too: no advice to give one.
    asked = dataclasses.replace(read_folds(folds, repeats, fold_groups, frame), choose=False)
    hidden = [name for name in (weights, offset, fold_groups) if isinstance(name, str)]
    model_data = prepare(
        formula, frame, hidden, weights, offset, groups, costs, keep, family, scoring, new_levels,
        trusted=trusted,
    )  # fmt: skip
    rule, sizes = read_sizes(k, model_data.arrays.groups)
    announce_compilation(progress)
    asked = asked.for_rows(model_data.response.rows)
    splits = split_rows(
        model_data.problem, model_data.weight, asked, stream_seed(seed, "cross-validation")
    )
    problems = model_data.problems_for([method for _, method in contestants])
    runs = _run(problems, contestants, model_data.weight, splits, sizes, seed, n_jobs, progress)
    arguments = {
        "methods": _texts(methods), "k": _plain(k),
        "family": family, "weights": weights, "offset": offset, "groups": groups, "costs": costs,
        "keep": keep, "folds": folds, "repeats": repeats, "fold_groups": fold_groups,
        "scoring": scoring, "new_levels": new_levels, "trusted": trusted,
    }  # fmt: skip
    used = model_data.weight > 0
    response = model_data.response
    names = model_data.arrays.groups.names
    return Comparison(
        runs=runs,
        units=names,
        terms_of_unit=tuple(model_data.terms_of([name]) for name in names),
        assessed=~model_data.arrays.groups.keep,
        rule=rule,
        repeat_of_fold=_repeat_of_fold(asked, len(splits)),
        n_train=np.array([used[s.train].sum() for s in splits], dtype=np.int64),
        n_test=np.array([used[s.test].sum() for s in splits], dtype=np.int64),
        repeats=mean_repeats(splits),
        response=response.name,
        family=f"{response.family.name} ({response.reason})",
        score_name=response.family.score_name,
        scheme=asked.words(len(splits)),
        call=call_text("compare", formula, data, arguments),
        data=data_text(data, frame),
        seed=seed,
        notes=_notes(contestants, runs, model_data.notes),
        library=library_of(data),
    )


# --- arguments ---------------------------------------------------------------------------------


def read_methods(methods: object) -> tuple[Contestant, ...]:
    """The methods under names that differ.

    Raises
    ------
    OptionError
        If there are none, or two of them are the same.
    MethodError
        If one of them is not known.
    """
    if isinstance(methods, Mapping):
        if not methods:
            raise OptionError("`methods` must have at least one method.\n  Found: none.")
        for label in methods:
            if not isinstance(label, str) or not label.strip():
                raise OptionError(
                    f"`methods` must have names that are text for keys.\n"
                    f"  Found: {described(label)}."
                )
            if is_broken(label):
                raise OptionError(
                    "`methods` must have names of whole characters for keys.\n"
                    f"  Found: {quoted(label)}, with half of one."
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
    labels = [m.name if shared[m.name] == 1 else method_label(m) for m in found]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise OptionError(
            "`methods` must differ.\n"
            f"  Found: {twice[0]} twice. Leave one out, or give them names in a dict."
        )
    return tuple(map(Contestant, labels, found))


def _texts(methods: Methods) -> Any:
    """The methods as they could be typed."""
    if isinstance(methods, Mapping):
        return {label: method_text(method) for label, method in methods.items()}
    return [method_text(method) for method in methods]


def read_sizes(k: object, groups: FeatureGroups) -> tuple[int | str, tuple[int, ...]]:
    """Where methods are compared, and the sizes that are scored.

    Returns
    -------
    rule : int, "1se" or "best"
    sizes : tuple of int
        Increasing; 0 is the constant model.

    Raises
    ------
    OptionError
        If one of them can't be, or comes twice.
    """
    most = most_units(groups)
    if isinstance(k, str):
        check_choice("k", k, ("1se", "best"))
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
            f"`k` must have each size once.\n  Found: {twice[0]} more than once in"
            f" {_plain(given)}. Leave the others out."
        )
    return "1se", tuple(sorted(given))


def _up_to(most: int, groups: FeatureGroups) -> tuple[int, ...]:
    return 0, *range(max(1, int(groups.keep.sum())), most + 1)


def _plain(k: Any) -> Any:
    """A size or sizes as they could be typed."""
    return k if isinstance(k, str | int | np.integer) else [int(size) for size in k]


def _repeat_of_fold(folds: Folds, n_splits: int) -> Any:
    per_repeat = folds.folds if isinstance(folds.folds, int) else n_splits
    return np.arange(n_splits) // per_repeat


# --- runs --------------------------------------------------------------------------------------


def _run(
    problems: Sequence[Problem],
    contestants: Sequence[Contestant],
    weight: WeightArray,
    splits: Sequence[Split],
    sizes: tuple[int, ...],
    seed: int,
    n_jobs: int | None,
    progress: bool | None,
) -> tuple[Run, ...]:
    """All methods in all folds. The folds' seeds are those of ``select()``."""
    own = stream_seed(seed, "cross-validation")
    asked = [sizes if method.tuning_value is None else None for _, method in contestants]
    calls = [
        (problem, contestant, weight, split, of_method, stream_seed(own, "fold", number), number)
        for number, split in enumerate(splits)
        for problem, contestant, of_method in zip(problems, contestants, asked, strict=True)
    ]
    found = list(track(run_all(_one_cell, calls, n_jobs), "Comparison", len(calls), progress))
    return tuple(
        Run(
            label=contestant.label,
            title=contestant.method.title,
            options=changed_options(contestant.method),
            sizes=of_method,
            folds=tuple(found[i :: len(contestants)]),
            paper=contestant.method.paper,
        )
        for i, (contestant, of_method) in enumerate(zip(contestants, asked, strict=True))
    )


def _one_cell(
    problem: Problem,
    contestant: Contestant,
    weight: WeightArray,
    split: Split,
    sizes: tuple[int, ...] | None,
    seed: int,
    number: int,
) -> FoldPath:
    try:
        return follow_fold(problem, contestant.method, weight, split, sizes, seed)
    except TreeselectError as error:
        raise type(error)(
            f"{error}\n  This was {quoted(contestant.label)} in fold {number + 1}."
        ) from None


# --- words -------------------------------------------------------------------------------------


def _notes(
    contestants: Sequence[Contestant], runs: Sequence[Run], of_data: tuple[str, ...]
) -> tuple[str, ...]:
    notes = []
    for (label, method), run in zip(contestants, runs, strict=True):
        if method.was_fitted:
            notes.append(
                f"{label} was fitted before, on rows that nobody knows: if held-out rows were among"
                " them, its score is too good."
            )
        warned = Counter(text for fold in run.folds for text in fold.warnings)
        notes += [
            f"{label}, in {count} of {len(run.folds)} folds: {text}"
            for text, count in warned.items()
        ]
    return (*notes, *of_data)
