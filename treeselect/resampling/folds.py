"""How rows are held out: a number of folds, fold numbers or a splitter."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from treeselect.arguments import checks
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.row_sample import labels_of, units_of, varies
from treeselect.designs.weights import RowWeights, read_groups
from treeselect.engine.arrays import AnyArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.times import START
from treeselect.errors import OptionError, quoted, said_by
from treeselect.frames.reading import read_data
from treeselect.quiet import own_filters


@runtime_checkable
class Splitter(Protocol):
    """A splitter of scikit-learn: ``KFold``, ``TimeSeriesSplit``, ``LeaveOneGroupOut``."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...


@dataclass(frozen=True, slots=True)
class Split:
    """Rows of one fold."""

    # Row numbers of the problem, without a row in common. They need not be all rows.
    train: IntArray
    test: IntArray

    def weights(self, weights: RowWeights) -> tuple[RowWeights, RowWeights]:
        """Case weights of the training and of the held-out rows, 0 elsewhere."""
        return weights.only(self.train), weights.only(self.test)


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds that the user requested."""

    # (n_rows,), or None; fold numbers are those of the rows with a known response; rows with a
    # negative number are never held out. None in a model loaded from a file that could not hold the
    # folds.
    folds: int | Splitter | IntArray | None = 5
    repeats: int = 1
    # Column of the data with the clusters of rows; otherwise, whether an array of clusters was
    # given. The clusters themselves are in ``RowWeights``.
    groups_name: str | bool = False
    # Whether the folds choose the number of units, so that an integer `k` is an alternative
    choose: bool = True

    def for_rows(self, rows: IntArray) -> Folds:
        """The same folds for these rows of the data only."""
        if not isinstance(self.folds, np.ndarray):
            return self
        return dataclasses.replace(self, folds=self.folds[rows])

    def words(self, n_splits: int) -> str:
        """The scheme in words: ``"5-fold cross-validation"``."""
        if isinstance(self.folds, int):
            text = f"{self.folds}-fold cross-validation"
        elif isinstance(self.folds, Splitter):
            text = f"cross-validation by {type(self.folds).__name__} ({n_splits} folds)"
        else:
            text = f"cross-validation with {n_splits} given folds"
        if self.groups_name:
            name = f"{self.groups_name} " if isinstance(self.groups_name, str) else ""
            text += f" of whole {name}clusters"
        return f"{text} repeated {self.repeats} times" if self.repeats > 1 else text


def mean_repeats(splits: Sequence[Split]) -> float:
    """How often a row is held out, on average over the rows that are held out at all."""
    held_out = np.concatenate([split.test for split in splits])
    return len(held_out) / len(np.unique(held_out))


# --- folds as users give them: numbers, splitters, arrays; and clusters that are given later -----

_HIGHEST_FOLD = 2**31
"""Largest number of a fold."""


def read_folds(
    folds: object, repeats: object, fold_groups: str | Sequence[Any] | None, n_rows: int
) -> Folds:
    """Check the first two arguments against all rows of the data."""
    n_repeats = checks.check_count("repeats", repeats, least=1, most=checks.MOST_REPEATS)
    if isinstance(folds, bool) or checks.whole(folds) is not None:
        known: int | Splitter | IntArray = checks.check_count(
            "folds", folds, least=2, most=checks.MOST_FOLDS
        )
    else:
        if n_repeats != 1:
            raise OptionError(
                "`repeats` needs a number of folds, which are drawn anew in each repeat.\n"
                f"  Found: {n_repeats} repeats of {type(folds).__name__}. Omit `repeats`, or give"
                " a repeated splitter such as `RepeatedStratifiedKFold` as `folds`."
            )
        known = folds if _is_splitter(folds) else _fold_numbers(folds, n_rows)
    return Folds(folds=known, repeats=n_repeats, groups_name=_name_of(fold_groups))


def _is_splitter(value: object) -> TypeGuard[Splitter]:
    """Whether it is a splitter, not the class of one."""
    methods = (checks.answer(value, "split"), checks.answer(value, "get_n_splits"))
    return all(map(callable, methods)) and not isinstance(value, type)


def _fold_numbers(given: object, n_rows: int) -> IntArray:
    allowed = (
        "`folds` must be a whole number of at least 2, a scikit-learn splitter, or an array with"
        " the fold number of each row.\n"
    )
    values = None if isinstance(given, str) else checks.as_floats(given)
    if values is None or values.ndim == 0:
        is_list = isinstance(given, list | tuple)
        found = f"a {type(given).__name__} of non-numbers" if is_list else checks.described(given)
        raise OptionError(f"{allowed}  Found: {found}.")
    if values.shape != (n_rows,):
        raise OptionError(
            f"{allowed}  Found: an array of shape {values.shape} for {n_rows} rows of data."
        )
    is_number = (values == np.floor(values)) & (np.abs(values) <= _HIGHEST_FOLD)
    if not is_number.all():
        odd = values[~is_number][0]
        is_large = odd == np.floor(odd)
        why = f"which is beyond {_HIGHEST_FOLD:,}" if is_large else "which is not a whole number"
        raise OptionError(f"{allowed}  Found: {odd:g}, {why}.")
    return values.astype(np.int64)


def in_own_groups(here: ModelData, folds: Folds, data: Any) -> ModelData:
    """The rows of a fit with its clusters, if these are known or a column of the data."""
    name = folds.groups_name
    if here.row_weights.groups is not None or not isinstance(name, str):
        return here
    frame = _all_rows(here, data)
    if name not in frame:
        return here
    groups = read_groups(name, frame, here.response.rows)
    return dataclasses.replace(here, row_weights=here.row_weights.in_groups(groups))


def with_groups(
    here: ModelData, folds: Folds, given: str | Sequence[Any] | None, data: Any
) -> tuple[ModelData, Folds]:
    """The rows and folds of a fit with the given clusters; with its own if none are given."""
    here, name = in_own_groups(here, folds, data), folds.groups_name
    known = here.row_weights.groups is not None
    if (given is None and (known or name is False)) or (
        known and isinstance(given, str) and given == name
    ):
        return here, folds
    frame = _all_rows(here, data)
    if isinstance(given, str) and given not in frame:
        raise OptionError(
            "`fold_groups` must be a column of the data; use `fit.with_data(data)` if no term uses"
            " the column.\n"
            f"  Found: {quoted(given)}."
        )
    if given is None:
        known = isinstance(name, str)
        column = f"`fit.with_data(data)` with the column {quoted(str(name))}, or " if known else ""
        raise OptionError(
            "`fold_groups` must be known: the fit used them, and the model file does not hold"
            f" them.\n  Use {column}`fit.update(data=..., fold_groups=...)`."
        )
    groups = read_groups(given, frame, here.response.rows)
    here = dataclasses.replace(here, row_weights=here.row_weights.in_groups(groups))
    return here, dataclasses.replace(folds, groups_name=_name_of(given))


def _all_rows(here: ModelData, data: Any) -> Any:
    return here.all_rows() if data is None else here.spec.na.applied(read_data(data))


def _name_of(groups: object) -> str | bool:
    """The column of clusters, or whether clusters were given."""
    return groups if isinstance(groups, str) else groups is not None


# --- from folds to pairs of training and held-out rows -------------------------------------------


def split_rows(problem: Problem, weights: RowWeights, folds: Folds, seed: int) -> tuple[Split, ...]:
    """The training and the held-out rows of each fold, among the rows with a positive weight."""
    rows = weights.rows
    groups = None if weights.groups is None else weights.groups[rows]
    if isinstance(folds.folds, int):
        found = []
        for repeat in range(folds.repeats):
            fold = assign_folds(
                problem, weights, folds.folds, seed,
                groups=groups, repeat=repeat, choose=folds.choose,
            )  # fmt: skip
            found += _splits_of(fold, rows)
    elif isinstance(folds.folds, np.ndarray):
        found = _splits_of(folds.folds, rows)
    elif folds.folds is None:
        raise OptionError(
            "The folds that chose `k` must be known: they were not a number, and are not in the"
            " file that the model was loaded from.\n  Use the fit before it is saved, or select"
            " with a number of folds."
        )
    else:
        splitter: Any = folds.folds
        state = getattr(splitter, "random_state", seed)
        if not isinstance(state, int | np.integer):  # it would draw anew at each call
            splitter = copy.copy(splitter)
            is_free = state in (None, np.random)
            state = stream_seed(seed, "folds") % 2**32 if is_free else copy.deepcopy(state)
            splitter.random_state = state
        found = _splits_by(splitter, problem, rows, groups)
        if (known := weights.groups) is not None and all(
            own.train.max(initial=-1) < own.test.min(initial=len(weights)) for own in found
        ):  # of a time series, without the training rows of a block that a split divides
            found = [
                Split(own.train[~np.isin(known[own.train], known[own.test])], own.test)
                for own in found
            ]
    if len(found) < 2:
        raise OptionError(f"`folds` must give at least two folds.\n  Found: {len(found)}.")
    for number, split in enumerate(found):
        where = f"fold {number + 1} of {len(found)}"
        _check_split(problem, split, weights.groups, where, choose=folds.choose)
    return tuple(found)


def assign_folds(
    problem: Problem,
    weights: RowWeights,
    folds: int,
    seed: int,
    *,
    groups: IntArray | None = None,
    repeat: int = 0,
    choose: bool = True,
) -> IntArray:
    """Fold of each row, -1 for rows without weight; classes or events are balanced."""
    rows = weights.rows
    y = labels_of(problem, rows)
    fewest, kind, few = len(rows), "rows", "more of them"
    if y is not None:
        # Every fold must contain an event; it is no problem if all rows end in one.
        times = problem.family.has_times
        kind = "rows with an event" if times else "rows of the rarer class"
        if problem.family.n_classes > 2:
            kind, few = "rows of the rarest class", "a response in which it is merged with another"
        fewest = int(y.sum()) if times else int(np.unique(y, return_counts=True)[1].min())
    if folds > fewest:
        first = "a smaller `folds`" if fewest > 1 else few
        raise OptionError(
            f"`folds` must be at most the number of {kind}, {fewest}.\n"
            f"  Found: {folds}. {_way_out(first, choose=choose)}"
        )
    if groups is not None and folds > (n_groups := len(np.unique(groups))):
        raise OptionError(
            f"`fold_groups` must have at least as many clusters as there are folds, {folds}.\n"
            f"  Found: {n_groups}. {_way_out('other `folds`', choose=choose)}"
        )
    state = stream_seed(seed, "folds", *([repeat] if repeat else [])) % 2**32
    fold = np.full(len(weights), -1, dtype=np.int64)
    if groups is None:
        random = np.random.RandomState(state)
        shuffled = _shuffled(len(rows), folds, random) if y is None else _balanced(y, folds, random)
        fold[rows] = shuffled
        return fold
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    kind_of = GroupKFold if y is None else StratifiedGroupKFold
    splitter = kind_of(folds, shuffle=True, random_state=state)
    with own_filters():
        # scikit-learn warns of a class with fewer rows than folds. Too few rows of a class and too
        # few events are refused above; too few censored rows are no problem.
        warnings.filterwarnings("ignore", message="The least populated class")
        for number, (_, held_out) in enumerate(splitter.split(rows, y, groups)):
            fold[rows[held_out]] = number
    return fold


def _shuffled(n: int, folds: int, random: np.random.RandomState) -> IntArray:
    """The folds of scikit-learn's ``KFold``, whose import takes a second."""
    order = np.arange(n)
    random.shuffle(order)
    fold = np.empty(n, dtype=np.int64)
    for number, held_out in enumerate(np.array_split(order, folds)):
        fold[held_out] = number
    return fold


def _balanced(y: AnyArray, folds: int, random: np.random.RandomState) -> IntArray:
    """The folds of scikit-learn's ``StratifiedKFold``."""
    _, first, number = np.unique(y, return_index=True, return_inverse=True)
    label = np.argsort(np.argsort(first))[number]  # in the order of their first rows
    ordered = np.sort(label)
    counts = [np.bincount(ordered[i::folds], minlength=len(first)) for i in range(folds)]
    fold = np.empty(len(y), dtype=np.int64)
    for k in range(len(first)):
        of_class = np.arange(folds).repeat([count[k] for count in counts])
        random.shuffle(of_class)
        fold[label == k] = of_class
    return fold


def _splits_of(fold: IntArray, rows: IntArray) -> list[Split]:
    """Each fold held out once; rows with a negative number never are."""
    here = fold[rows]
    return [Split(rows[here != f], rows[here == f]) for f in np.unique(here[here >= 0])]


def _splits_by(
    splitter: Splitter, problem: Problem, rows: IntArray, groups: IntArray | None
) -> list[Split]:
    """The splits of a splitter, which receives the rows in use, numbered from 0."""
    labels = labels_of(problem, rows)
    y = problem.y[rows] if labels is None else labels
    try:
        with own_filters():
            # Divided clusters are checked for every splitter.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            pairs = [
                (np.asarray(train), np.asarray(test))
                for train, test in splitter.split(np.arange(len(rows))[:, np.newaxis], y, groups)
            ]
        if not all(side.ndim == 1 for pair in pairs for side in pair):
            raise TypeError("a side of a fold is not a list of row numbers")
        return [Split(rows[train], rows[test]) for train, test in pairs]
    except MemoryError:
        raise
    except Exception as error:  # a splitter of the user's can fail in any way
        raise OptionError(
            f"`folds` must be a splitter that can split the {len(rows)} rows in use.\n"
            f"  {type(splitter).__name__} says: {said_by(error)}"
        ) from None


def _way_out(first: str, *more: str, choose: bool) -> str:
    """What to give instead of folds that do not work."""
    ways = [first, *(["an integer `k`, which needs none"] if choose else []), *more]
    return f"Give {', '.join(ways[:-1])}{', or ' if ways[1:] else ''}{ways[-1]}."


def _check_split(
    problem: Problem, split: Split, groups: IntArray | None, where: str, *, choose: bool
) -> None:
    """Raise an OptionError if a side is empty, shares rows or clusters, or can't be fitted."""
    way_out = _way_out("other `folds`", choose=choose)

    def unfit(needed: str, of: str, found: str) -> OptionError:
        return OptionError(
            f"Cross-validation needs {needed} in every {of}.\n  Found: {found} {where}. {way_out}"
        )

    for side, rows in (("training", split.train), ("held-out", split.test)):
        if not len(rows):
            raise OptionError(
                f"`folds` must leave training and held-out rows in every fold.\n"
                f"  Found: no {side} rows in {where}. {way_out}"
            )
    both = np.intersect1d(split.train, split.test)
    if len(both):
        raise OptionError(
            "`folds` must not train on held-out rows.\n"
            f"  Found: {len(both)} rows on both sides of {where}."
        )
    y = problem.y[split.train]
    if problem.family.has_classes:
        present, needed = len(np.unique(y)), problem.family.n_classes
        if present < needed:
            found = f"{present} of {needed} classes in that of"
            raise unfit("rows of every class", "training set", found)
    elif not varies(problem, split.train):
        lacking = f"{_lacking(problem, y)} {len(y)} training rows of"
        raise unfit(_variation(problem), "training set", lacking)
    held_out = problem.y[split.test]
    if problem.family.score_needs_variation and not varies(problem, split.test):
        others = ["a `scoring` that allows a constant response"]
        if problem.family.has_times:
            late = (problem.y[:, START] >= 0).any()
            others = [] if late else ['`scoring="integrated_brier"`, which needs no pairs of rows']
        way_out = _way_out("a smaller `folds`", *others, choose=choose)
        lacking = f"{_lacking(problem, held_out)} {len(held_out)} rows of"
        raise unfit(_variation(problem), "fold", lacking)
    divided = () if groups is None else np.intersect1d(groups[split.train], groups[split.test])
    if len(divided):
        raise OptionError(
            "`folds` must not divide the clusters in `fold_groups`.\n"
            f"  Found: {len(divided)} of them on both sides of {where}. Give a number of folds, or"
            " a splitter that uses groups, such as `LeaveOneGroupOut`."
        )


def _variation(problem: Problem) -> str:
    """What the rows must contain."""
    if problem.family.has_times:
        return "an event, with other rows at risk at its time,"
    return "a response that varies"


def _lacking(problem: Problem, y: FloatArray) -> str:
    """What the rows contain instead."""
    return "none among the" if problem.family.has_times else f"{y[0]:g} in all"


def part_rows(
    problem: Problem, weights: RowWeights, split: float, seed: int
) -> tuple[IntArray, IntArray]:
    """Rows for selection and for testing: the same share of classes or events, whole clusters."""
    rng = np.random.default_rng(seed)
    units, rows = units_of(problem, weights), weights.rows
    in_first = np.zeros(len(units.stratum), dtype=bool)
    for stratum in np.unique(units.stratum):
        order = rng.permutation(np.flatnonzero(units.stratum == stratum))
        in_first[order[: int(np.floor(split * len(order) + 0.5))]] = True
    of_row = in_first[units.of_row]
    return rows[of_row], rows[~of_row]
