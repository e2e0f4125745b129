"""How rows are held out: a number of folds, fold numbers or a splitter, to pairs of rows."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from treeselect.arguments.checks import (
    MOST_FOLDS,
    MOST_REPEATS,
    as_floats,
    as_group_numbers,
    check_count,
    length,
)
from treeselect.arguments.scalars import answer, described, whole
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.errors import (
    OptionError,
    did_you_mean,
    listing,
    near,
    quoted,
    said_by,
)

if TYPE_CHECKING:
    import pandas as pd

_HIGHEST_FOLD = 2**31
"""Largest number of a fold."""

_NONE_NEEDED = "an integer `k`, which needs none"


@runtime_checkable
class Splitter(Protocol):
    """A splitter of scikit-learn: ``KFold``, ``TimeSeriesSplit``, ``LeaveOneGroupOut``."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...


@dataclass(frozen=True, slots=True)
class Split:
    """Rows of one fold.

    Attributes
    ----------
    train, test : ndarray of int64
        Row numbers of the problem, without a row in common. They need not be all rows.
    """

    train: IntArray
    test: IntArray

    def weights(self, weight: WeightArray) -> tuple[WeightArray, WeightArray]:
        """Case weights of the training and of the held-out rows, 0 elsewhere."""
        train, test = np.zeros_like(weight), np.zeros_like(weight)
        train[self.train], test[self.test] = weight[self.train], weight[self.test]
        return train, test


@dataclass(frozen=True, slots=True)
class Folds:
    """What the user asked for.

    Attributes
    ----------
    folds : int, Splitter, ndarray of int64 of shape (n_rows,), or None
        Fold numbers are those of the rows with a known response; a negative one is never held out.
        None in a model that was loaded from a file that could not hold them.
    repeats : int
    groups : ndarray of int64, shape (n_rows,), or None
        Number of each row's group, -1 where it is not known.
    groups_name : str or bool
        Column of the data with the groups; else whether an array was given.
    choose : bool
        Whether they choose the number of units, which can be given instead.
    """

    folds: int | Splitter | IntArray | None = 5
    repeats: int = 1
    groups: IntArray | None = None
    groups_name: str | bool = False
    choose: bool = True

    def for_rows(self, rows: IntArray) -> Folds:
        """The same of these rows of the data only."""
        folds, groups = self.folds, self.groups
        return dataclasses.replace(
            self,
            folds=folds[rows] if isinstance(folds, np.ndarray) else folds,
            groups=None if groups is None else groups[rows],
        )

    def words(self, n_splits: int) -> str:
        """What is done, for people: ``"5-fold cross-validation"``."""
        if isinstance(self.folds, int):
            text = f"{self.folds}-fold cross-validation"
        elif isinstance(self.folds, Splitter):
            text = f"cross-validation by {type(self.folds).__name__} ({n_splits} folds)"
        else:
            text = f"cross-validation with {n_splits} given folds"
        text += f" repeated {self.repeats} times" if self.repeats > 1 else ""
        if isinstance(self.groups_name, str):
            return f"{text} by groups of {self.groups_name}"
        return f"{text} by groups" if self.groups_name else text


def mean_repeats(splits: Sequence[Split]) -> float:
    """How often a row is held out, on average over the rows that ever are."""
    held_out = np.concatenate([split.test for split in splits])
    return len(held_out) / len(np.unique(held_out))


# --- arguments ---------------------------------------------------------------------------------


def read_folds(
    folds: object,
    repeats: object,
    fold_groups: str | Sequence[Any] | None,
    frame: pd.DataFrame,
    name: str = "folds",
) -> Folds:
    """Check the arguments of that name against all rows of the data.

    Parameters
    ----------
    name : str
        What the argument `folds` is called.

    Raises
    ------
    OptionError
        If one of them is not allowed.
    """
    n_repeats = check_count("repeats", repeats, least=1, most=MOST_REPEATS)
    if isinstance(folds, bool) or whole(folds) is not None:
        known: int | Splitter | IntArray = check_count(name, folds, least=2, most=MOST_FOLDS)
    else:
        if n_repeats != 1:
            raise OptionError(
                "`repeats` needs a number of folds, which it draws anew each time.\n"
                f"  Found: {n_repeats} repeats of {type(folds).__name__}. Leave it out, or give"
                " `RepeatedStratifiedKFold` or the like as `folds`."
            )
        known = folds if _is_splitter(folds) else _fold_numbers(folds, len(frame), name)  # type: ignore[assignment]
    return Folds(
        folds=known,
        repeats=n_repeats,
        groups=None if fold_groups is None else read_groups(fold_groups, frame),
        groups_name=fold_groups if isinstance(fold_groups, str) else fold_groups is not None,
    )


def _is_splitter(value: object) -> bool:
    """Whether it is a splitter, and not the class of one."""
    methods = (answer(value, "split"), answer(value, "get_n_splits"))
    return all(map(callable, methods)) and not isinstance(value, type)


def _fold_numbers(given: object, n_rows: int, name: str) -> IntArray:
    """Fold of each row, whole numbers."""
    allowed = (
        f"`{name}` must be a whole number of at least 2, a splitter of scikit-learn, or an array"
        " with the fold number of each row.\n"
    )
    values = None if isinstance(given, str) else as_floats(given)
    if values is None or values.ndim == 0:
        is_list = isinstance(given, list | tuple)
        found = f"{type(given).__name__} of other things" if is_list else described(given)
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


def read_groups(given: str | Sequence[Any], frame: pd.DataFrame) -> IntArray:
    """Number of each row's group, in order of appearance, -1 where it is missing.

    Raises
    ------
    OptionError
        If the column is not there, or there is not one value per row.
    """
    if isinstance(given, str):
        if given not in frame:
            close = near(given, frame.columns)
            raise OptionError(
                f"Can't find the column {quoted(given)}, named in `fold_groups`.\n"
                f"  {did_you_mean(close) if close else f'Columns: {listing(frame.columns)}.'}"
            )
        labels: str | Sequence[Any] | pd.Series[Any] = frame[given]
    else:
        labels = given
    n = length(labels)
    if n != len(frame):
        found = described(labels) if n is None else f"{n} values"
        raise OptionError(
            "`fold_groups` must be the name of a column, or an array with one value per row,"
            f" {len(frame)}.\n  Found: {found}."
        )
    numbers = as_group_numbers(labels)
    if numbers is None or len(numbers) != n:
        raise OptionError(
            "`fold_groups` must have one label per row: a number, text, or the like.\n"
            f"  Found: {described(labels)}."
        )
    return numbers


def with_groups(
    of_fit: Folds, given: str | Sequence[Any] | None, frame: pd.DataFrame, rows: IntArray
) -> Folds:
    """The folds of a fit with the groups asked for later; with its own if none are.

    Parameters
    ----------
    of_fit : Folds
    given : str, array of shape (n_rows,) or None
        The argument ``fold_groups``.
    frame : DataFrame
        All rows of the data, as far as their columns are known.
    rows : ndarray of int64
        Those with a known response.

    Raises
    ------
    OptionError
        If the groups can't be found.
    """
    here = of_fit.groups is not None
    if (given is None and (here or of_fit.groups_name is False)) or (
        here and isinstance(given, str) and given == of_fit.groups_name
    ):
        return of_fit
    if isinstance(given, str) and given not in frame:
        raise OptionError(
            "`fold_groups` must be a column of `data`, which must be given if it is not behind the"
            f" terms.\n  Found: {quoted(given)}."
        )
    name = of_fit.groups_name
    if given is None and not (isinstance(name, str) and name in frame):
        column = f"`data` with the column {quoted(name)}, or " if isinstance(name, str) else ""
        raise OptionError(
            "`fold_groups` must be given: the fit had them, and they are not in the file that the"
            f" model was loaded from.\n  Give {column}`fold_groups=` with one value per row."
        )
    found = name if given is None else given
    return dataclasses.replace(
        of_fit,
        groups=read_groups(found, frame)[rows],  # type: ignore[arg-type]
        groups_name=found if isinstance(found, str) else True,
    )


# --- pairs of rows -----------------------------------------------------------------------------


def split_rows(problem: Problem, weight: WeightArray, folds: Folds, seed: int) -> tuple[Split, ...]:
    """The training and the held-out rows of each fold, among the rows with a positive weight.

    Raises
    ------
    OptionError
        If there are too few rows, rows of a class or groups, a splitter fails, a side is empty or
        has a row or group of the other, or the response does not vary where it has to.
    """
    rows = np.flatnonzero(weight)
    groups = None if folds.groups is None else known_groups(folds.groups[rows])
    if isinstance(folds.folds, int):
        found = []
        for repeat in range(folds.repeats):
            fold = assign_folds(
                problem, weight, folds.folds, seed,
                groups=groups, repeat=repeat, choose=folds.choose,
            )  # fmt: skip
            found += _splits_of(fold, rows)
    elif isinstance(folds.folds, np.ndarray):
        found = _splits_of(folds.folds, rows)
    elif folds.folds is None:
        raise OptionError(
            "`inner_folds` must be given: the folds of the fit were not a number, and are not in"
            " the file that the model was loaded from."
        )
    else:
        found = _splits_by(_seeded(folds.folds, seed), problem, rows, groups)
    if len(found) < 2:
        raise OptionError(f"`folds` must give at least two folds.\n  Found: {len(found)}.")
    for number, split in enumerate(found):
        _check_split(problem, split, f"fold {number + 1} of {len(found)}", choose=folds.choose)
        if folds.groups is not None:
            _check_apart(folds.groups, split, f"fold {number + 1} of {len(found)}")
    return tuple(found)


def assign_folds(
    problem: Problem,
    weight: WeightArray,
    folds: int,
    seed: int,
    *,
    groups: IntArray | None = None,
    repeat: int = 0,
    choose: bool = True,
) -> IntArray:
    """Fold of each row, -1 for rows without weight; classes are spread evenly over the folds.

    Parameters
    ----------
    groups : ndarray of int, shape (n_rows with weight,), optional
        Rows of one group go to one fold; classes are then spread as evenly as that allows.
    repeat : int
        Another number draws other folds.
    choose : bool
        As of :class:`Folds`.

    Raises
    ------
    OptionError
        If there are fewer rows (of a class) or groups than folds.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    rows = np.flatnonzero(weight)
    y = problem.y[rows]
    stratify = problem.family.has_classes
    fewest = int(np.unique(y, return_counts=True)[1].min()) if stratify else len(rows)
    if folds > fewest:
        kind = "rows of the rarer class" if stratify else "rows"
        raise OptionError(
            f"`folds` must be at most the number of {kind}, {fewest}.\n"
            f"  Found: {folds}. {_way_out('a smaller `folds`', choose=choose)}"
        )
    if groups is not None and folds > (n_groups := len(np.unique(groups))):
        raise OptionError(
            f"`fold_groups` must have at least as many groups as there are folds, {folds}.\n"
            f"  Found: {n_groups}. {_way_out('other `folds`', choose=choose)}"
        )
    parts = ("folds",) if repeat == 0 else ("folds", repeat)
    state = stream_seed(seed, *parts) % 2**32
    if groups is None:
        splitter = (StratifiedKFold if stratify else KFold)(folds, shuffle=True, random_state=state)
    else:
        kind_of = StratifiedGroupKFold if stratify else GroupKFold
        splitter = kind_of(folds, shuffle=True, random_state=state)
    fold = np.full(len(weight), -1, dtype=np.int64)
    for number, (_, held_out) in enumerate(splitter.split(rows, y, groups)):
        fold[rows[held_out]] = number
    return fold


def known_groups(groups: IntArray) -> IntArray:
    """Groups of the rows that are used.

    Raises
    ------
    OptionError
        If one is not known, or there are fewer than two.
    """
    if (groups < 0).any():
        raise OptionError(
            "`fold_groups` must be known for every row that is used.\n"
            f"  Found: {int((groups < 0).sum())} rows where it is missing. Give each of them a"
            " group of its own, or drop them."
        )
    if (groups == groups[0]).all():
        raise OptionError(
            "`fold_groups` must have at least two groups, to leave one out.\n"
            "  Found: one, with all rows. Leave it out."
        )
    return groups


def _splits_of(fold: IntArray, rows: IntArray) -> list[Split]:
    """Each fold held out in turn; a negative number never is."""
    here = fold[rows]
    return [Split(rows[here != f], rows[here == f]) for f in np.unique(here[here >= 0])]


def _seeded(splitter: Splitter, seed: int) -> Splitter:
    """A splitter that would draw anew at each call, drawing by the seed; any other as it is."""
    if getattr(splitter, "random_state", seed) is not None:
        return splitter
    own: Any = copy.copy(splitter)
    own.random_state = stream_seed(seed, "folds") % 2**32
    return own


def _splits_by(
    splitter: Splitter, problem: Problem, rows: IntArray, groups: IntArray | None
) -> list[Split]:
    """What a splitter makes of the rows that are used, which it sees numbered from 0."""
    y = problem.y[rows]
    y = y.astype(np.int64) if problem.family.has_classes else y
    try:
        with warnings.catch_warnings():
            # Whether groups were split is checked for every splitter.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            pairs = [
                (np.asarray(train), np.asarray(test))
                for train, test in splitter.split(np.arange(len(rows))[:, np.newaxis], y, groups)
            ]
        if not all(side.ndim == 1 for pair in pairs for side in pair):
            raise TypeError("a side of a fold is no list of row numbers")
        return [Split(rows[train], rows[test]) for train, test in pairs]
    except MemoryError:
        raise
    except Exception as error:  # a splitter of the user's can fail in any way
        raise OptionError(
            f"`folds` must be a splitter that can split the {len(rows)} rows that are used.\n"
            f"  {type(splitter).__name__} says: {said_by(error)}"
        ) from None


def _way_out(first: str, *more: str, choose: bool) -> str:
    """What to give in place of folds that will not do."""
    ways = [first, *([_NONE_NEEDED] if choose else []), *more]
    return f"Give {', '.join(ways[:-1])}{', or ' if ways[1:] else ''}{ways[-1]}."


def _check_split(problem: Problem, split: Split, where: str, *, choose: bool) -> None:
    """Raise an OptionError if a side is empty, shares rows, or can't be fitted."""
    way_out = _way_out("other `folds`", choose=choose)
    for side, rows in (("training", split.train), ("held-out", split.test)):
        if not len(rows):
            raise OptionError(
                f"`folds` must leave rows on both sides of every fold.\n"
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
            raise OptionError(
                "Cross-validation needs rows of every class in every training set.\n"
                f"  Found: {present} of {needed} classes in that of {where}. {way_out}"
            )
    elif y.min() == y.max():
        raise OptionError(
            "Cross-validation needs a response that varies in every training set.\n"
            f"  Found: {y[0]:g} in all {len(y)} training rows of {where}. {way_out}"
        )
    held_out = problem.y[split.test]
    if problem.family.score_needs_variation and held_out.min() == held_out.max():
        other_score = "a `scoring` that one value will do for"
        way_out = _way_out("a smaller `folds`", other_score, choose=choose)
        raise OptionError(
            "Cross-validation needs a response that varies in every fold.\n"
            f"  Found: {held_out[0]:g} in all {len(held_out)} rows of {where}. {way_out}"
        )


def _check_apart(groups: IntArray, split: Split, where: str) -> None:
    both = np.intersect1d(groups[split.train], groups[split.test])
    if len(both):
        raise OptionError(
            "`folds` must keep the rows of each of the `fold_groups` on one side.\n"
            f"  Found: {len(both)} groups on both sides of {where}. Give a number of folds, or a"
            " splitter that knows groups, such as `LeaveOneGroupOut`."
        )
