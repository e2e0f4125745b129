"""How good is the whole procedure? Selection, with the choice of k, repeated inside each fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.shared.base import SelectionMethod, tuning_words
from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import Scoring, check_scoring, is_lost, with_scoring
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import MethodError, OptionError, quoted
from treeselect.frames.libraries import in_library
from treeselect.frames.reading import read_data
from treeselect.resampling.choosing import Choice, run_selection
from treeselect.resampling.cross_validation import held_out_score, standard_error
from treeselect.resampling.folds import (
    Folds,
    Split,
    Splitter,
    mean_repeats,
    read_folds,
    split_rows,
    with_groups,
)
from treeselect.running.parallel import Workers, run_all
from treeselect.running.progress import track

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.printing import Summary, SummaryContent
    from treeselect.resampling.fit import Fit

_MOST_NAMES = 12
"""Terms whose frequency the summary tells."""

_ROOM = 36
"""Characters for the terms of a fold in the summary; ``tidy()`` has all."""


@dataclass(frozen=True, slots=True)
class Performance:
    """Scores of the whole selection on rows that had no part in it.

    Attributes
    ----------
    scores : ndarray of float, shape (n_folds,)
        On the held-out rows of each fold; greater is better.
    selected : tuple of tuple of str, length n_folds
        Terms that the training rows of each fold selected, most important first.
    k : ndarray of int64, shape (n_folds,)
        Number of units that they selected.
    n_train, n_test : ndarray of int64, shape (n_folds,)
        Rows that were used.
    repeats : float
        How often a row is held out, on average.
    score_name, family, method : str
    scheme : str
        How rows are held out, in words.
    rule : str
        How the number of units is chosen in each fold, in words.
    call : str
        The call of the fit.
    k_of_fit : int
        Units that the fit on all rows selected.
    path_score : float
        Cross-validated score of the fit at that size; NaN without one.
    seed : int
    library : str
        In which tables are given.
    """

    scores: FloatArray
    selected: tuple[tuple[str, ...], ...]
    k: IntArray
    n_train: IntArray
    n_test: IntArray
    repeats: float
    score_name: str
    family: str
    method: str
    scheme: str
    rule: str
    call: str
    k_of_fit: int
    path_score: float
    seed: int
    library: str = "pandas"

    @property
    def mean(self) -> float:
        """Mean score over the folds."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean: the standard deviation over all folds, divided by the root of
        the number of folds in one repeat (see
        ``treeselect.resampling.cross_validation.standard_error``)."""
        return float(standard_error(self.scores, self.repeats))

    @property
    def frequency(self) -> dict[str, int]:
        """Number of folds that selected each term, most frequent first."""
        names = [name for terms in self.selected for name in terms]
        counts = {name: names.count(name) for name in dict.fromkeys(names)}
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def tidy(self) -> Any:
        """One row per fold.

        Returns
        -------
        frame, in the library of the data
            ``fold``, from 1 through all repeats; ``k``, units selected; ``score`` on the held-out
            rows; ``selected``, tuple of terms, most important first; ``n_train`` and ``n_test``,
            rows used.
        """
        import pandas as pd

        frame = pd.DataFrame(
            {
                "fold": np.arange(1, len(self.scores) + 1),
                "k": self.k,
                "score": self.scores,
                "selected": list(self.selected),
                "n_train": self.n_train,
                "n_test": self.n_test,
            }
        )
        return in_library(frame, self.library)

    def glance(self) -> Any:
        """One row about all folds.

        Returns
        -------
        frame, in the library of the data
            ``score`` (its name), ``mean``, ``standard_error``, ``folds`` (of all repeats),
            ``repeats``, ``k_mean``, ``k_min``, ``k_max``, ``method``, ``family``, ``seed``.
        """
        import pandas as pd

        row = {
            "score": self.score_name,
            "mean": self.mean,
            "standard_error": self.standard_error,
            "folds": len(self.scores),
            "repeats": self.repeats,
            "k_mean": float(self.k.mean()),
            "k_min": int(self.k.min()),
            "k_max": int(self.k.max()),
            "method": self.method,
            "family": self.family,
            "seed": self.seed,
        }
        return in_library(pd.DataFrame([row]), self.library)

    def summary(self) -> Summary:
        """Printed summary; its first line says that the selection was repeated in each fold.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, and HTML in notebooks.
        """
        from treeselect.printing import Summary

        return Summary(_content(self))

    def __repr__(self) -> str:
        return (
            f"<Performance: {self.score_name} {self.mean:.3f} (s.e. {self.standard_error:.3f}),"
            " selection repeated inside each fold>"
        )


def measure(
    result: Fit,
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    inner_folds: int | Splitter | Sequence[int] | None,
    scoring: Scoring,
    seed: int,
    workers: Workers,
    data: Any,
    weights: Sequence[float] | None,
    offset: Sequence[float] | None,
) -> Performance:
    """Repeat the whole selection in folds; see :meth:`SelectionResult.performance`."""
    here = result.design.again(data, weights, offset)
    frame = here.all_rows() if data is None else read_data(data)
    outer = _outer_folds(result.choice.folds, here, frame, folds, repeats, fold_groups)
    choice = _inner_choice(result.choice, here, frame, inner_folds, outer)
    inside, outside = _families(here.response.family, scoring)
    check_scoring(outside, here.response.y, here.weight)
    problem = dataclasses.replace(
        here.problem_for(result.chosen_method), family=inside, wants_scores=False
    )
    splits = split_rows(
        dataclasses.replace(problem, family=outside),
        here.weight,
        outer,
        stream_seed(seed, "performance"),
    )
    calls = [
        (
            problem,
            result.chosen_method,
            here.weight,
            split,
            choice,
            outside,
            stream_seed(seed, "performance", number),
            f"{number + 1} of {len(splits)}",
        )
        for number, split in enumerate(splits)
    ]
    found = list(track(run_all(_one_fold, calls, workers), "Folds", len(calls), result.progress))
    names = here.arrays.groups.names
    used = here.weight > 0
    return Performance(
        scores=np.array([score for score, _ in found]),
        selected=tuple(here.terms_of([names[g] for g in units]) for _, units in found),
        k=np.array([len(units) for _, units in found], dtype=np.int64),
        n_train=np.array([used[s.train].sum() for s in splits], dtype=np.int64),
        n_test=np.array([used[s.test].sum() for s in splits], dtype=np.int64),
        repeats=mean_repeats(splits),
        score_name=outside.score_name,
        family=result.family,
        method=result.method,
        scheme=outer.words(len(splits)),
        rule=_rule(choice, inside, result.chosen_method),
        call=result.call.text,
        k_of_fit=result.k,
        path_score=(
            float(result.scores.mean[result.k])
            if result.scores is not None and scoring is None
            else float("nan")
        ),
        seed=seed,
        library=result.design.library,
    )


def _one_fold(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    split: Split,
    choice: Choice,
    family: Family,
    seed: int,
    where: str,
    *,
    n_threads: int = 1,
) -> tuple[float, IntArray]:
    """Score on the held-out rows, and the units selected on the others, most important first."""
    train, test = split.weights(weight)
    try:
        found = run_selection(
            problem, method, train, choice, seed=seed, workers=Workers(1, n_threads), progress=False
        )
    except MethodError:  # it is not about the folds
        raise
    except OptionError as error:
        raise OptionError(
            f"{error}\n  This was among the training rows of fold {where}, which are split again to"
            " choose `k`; `inner_folds` says how."
        ) from None
    score = held_out_score(
        dataclasses.replace(problem, family=family), found.model, test, n_threads
    )
    units = np.flatnonzero(found.step.selected)
    return score, units[falling(found.model.importance[units])]


# --- folds -------------------------------------------------------------------------------------


def _outer_folds(
    of_fit: Folds,
    here: ModelData,
    frame: pd.DataFrame,
    folds: int | Splitter | Sequence[int],
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
) -> Folds:
    """The folds asked for, with the groups of the fit unless others are given."""
    rows = here.response.rows
    asked = read_folds(folds, repeats, None, frame).for_rows(rows)
    grouped = with_groups(of_fit, fold_groups, frame, rows)
    return dataclasses.replace(
        asked, groups=grouped.groups, groups_name=grouped.groups_name, choose=False
    )


def _inner_choice(
    of_fit: Choice,
    here: ModelData,
    frame: pd.DataFrame,
    inner_folds: int | Splitter | Sequence[int] | None,
    outer: Folds,
) -> Choice:
    """The fit's choice of size, with other folds if they are given."""
    asked = None if inner_folds is None else read_folds(inner_folds, 1, None, frame, "inner_folds")
    if not isinstance(of_fit.k, str):
        return of_fit
    folds = of_fit.folds
    if folds.groups is None and folds.groups_name is not False:
        in_data = isinstance(folds.groups_name, str) and folds.groups_name in frame
        if in_data:
            folds = with_groups(folds, None, frame, here.response.rows)
        else:
            folds = dataclasses.replace(folds, groups=outer.groups)
    if asked is not None:
        own = asked.for_rows(here.response.rows)
        folds = dataclasses.replace(folds, folds=own.folds, repeats=1)
    return dataclasses.replace(of_fit, folds=folds)


def _families(of_fit: Family, scoring: Scoring) -> tuple[Family, Family]:
    """The family with the score that chooses k, and with that of the held-out rows."""
    outside = with_scoring(of_fit, scoring)
    if not is_lost(of_fit):
        return of_fit, outside
    if scoring is None:
        raise OptionError(
            f"`scoring` must be given: that of the fit, {quoted(of_fit.score_name)}, is a function,"
            " which is not in the file that the model was loaded from."
        )
    return outside, outside


# --- words -------------------------------------------------------------------------------------


def _rule(choice: Choice, family: Family, method: SelectionMethod) -> str:
    if choice.k is None:
        return f"{tuning_words(method)}, as in the fit"
    if isinstance(choice.k, int):
        return f"{choice.k}, as in the fit"
    folds = choice.folds
    count = folds.folds if isinstance(folds.folds, int) else None
    done = "the fit's folds of the training rows" if count is None else folds.words(count)
    name = "1 s.e. rule" if choice.k == "1se" else "best"
    return f"{name} by {family.score_name}, {done} inside each fold"


def _content(found: Performance) -> SummaryContent:
    from treeselect.printing import SummaryContent

    low, high = int(found.k.min()), int(found.k.max())
    sizes = str(low) if low == high else f"{low} to {high}"
    rows = tuple(
        (
            str(fold + 1),
            str(found.k[fold]),
            f"{score:.3f}",
            f"{found.n_train[fold]:,}",
            f"{found.n_test[fold]:,}",
            _names(found.selected[fold]),
        )
        for fold, score in enumerate(found.scores)
    )
    return SummaryContent(
        title="Performance: selection repeated inside each fold",
        facts=(
            ("Call", found.call),
            ("Folds", found.scheme),
            ("Choice of k", found.rule),
            ("Units kept (k)", f"{sizes} in the folds; {found.k_of_fit} in the fit on all rows"),
            (
                found.score_name,
                f"{found.mean:.3f} (s.e. {found.standard_error:.3f}), on held-out rows",
            ),
            ("Seed", str(found.seed)),
        ),
        columns=("Fold", "k", found.score_name, "Training", "Held out", "Terms"),
        rows=rows,
        notes=_notes(found),
    )


def _names(terms: tuple[str, ...]) -> str:
    """As many terms as there is room for, at least one, and how many more."""
    shown = [
        name for i, name in enumerate(terms) if i == 0 or len(", ".join(terms[: i + 1])) <= _ROOM
    ]
    more = len(terms) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _notes(found: Performance) -> tuple[str, ...]:
    n_folds = len(found.scores)
    notes = [
        "Terms, their number and the model of a fold come from its training rows alone. Levels of"
        " factors, bin edges and what transforms learn are those of all rows, without the response."
    ]
    if found.frequency:
        counts = [f"{name} ({count})" for name, count in found.frequency.items()]
        more = len(counts) - _MOST_NAMES
        notes.append(
            f"Folds that selected a term, of {n_folds}: {', '.join(counts[:_MOST_NAMES])}"
            f"{f' and {more} more terms' if more > 0 else ''}."
        )
    if np.isfinite(found.path_score):
        notes.append(
            f"The path of the fit has {found.score_name} {found.path_score:.3f} at k ="
            f" {found.k_of_fit}, from folds that also chose k."
        )
    notes.append(
        "The standard error is approximate: folds share training rows (Bengio and Grandvalet 2004)."
    )
    return tuple(notes)
