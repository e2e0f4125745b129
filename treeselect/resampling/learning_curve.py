"""Learning curve: score and stability of the whole selection by the number of training rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import described, finite, members
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import is_lost
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.frames.tables import in_library
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import differences, paired_difference, standard_error
from treeselect.resampling.folds import Split, Splitter, mean_repeats
from treeselect.resampling.outer_folds import inner_choice, inside_weights, one_fold, outer_folds
from treeselect.resampling.sample_splitting import part_rows
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """Scores on the same held-out rows, and selected sets, by the number of training rows.

    Attributes
    ----------
    shares : tuple of float
        Shares of the training rows of each fold, increasing.
    n_train : ndarray of int64, shape (n_shares, n_folds)
        Number of training rows used.
    test_share : float
        Ratio of held-out to training rows (all of them), mean over the folds.
    scores : ndarray of float, shape (n_shares, n_folds)
        On the held-out rows; greater is better.
    selected : ndarray of bool, shape (n_shares, n_folds, n_groups)
    assessed : ndarray of bool, shape (n_groups,)
        Units that are not forced in.
    repeats : float
        How often a row is held out, on average.
    score_name, scheme, call : str
    seed : int
    library : str
        Data frame library of the tables.
    score_words : str
        A sentence that explains the score; empty if its name suffices.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> curve = fit.learning_curve([0.5, 1.0], folds=2)
    >>> print(*curve.tidy().columns)
    share rows score standard_error k stability stability_low stability_high
    """

    shares: tuple[float, ...]
    n_train: IntArray
    test_share: float
    scores: FloatArray
    selected: BoolArray
    assessed: BoolArray
    repeats: float
    score_name: str
    scheme: str
    call: str
    seed: int
    library: str = "pandas"
    score_words: str = ""

    def tidy(self) -> Any:
        """One row per share of the training rows.

        Returns
        -------
        frame, in the library of the data
            ``share``; ``rows``, mean number over the folds; ``score``, mean on the held-out rows;
            ``standard_error``; ``k``, mean number of selected units; ``stability``, Nogueira's
            index over the folds, with its 95% Monte Carlo interval ``stability_low`` and
            ``stability_high``. With one fold the standard error and the index are missing; so is
            the index if every fold selects all units or none.
        """
        return in_library(self.table(), self.library)

    def table(self) -> pd.DataFrame:
        """:meth:`tidy` as a pandas frame."""
        import pandas as pd

        nothing = np.nan, (np.nan, np.nan)
        folds = self.scores.shape[1]
        judged = self.selected[:, :, self.assessed]
        index = [stability_index(own) if folds > 1 else nothing for own in judged]
        return pd.DataFrame(
            {
                "share": self.shares,
                "rows": self.n_train.mean(axis=1),
                "score": self.scores.mean(axis=1),
                "standard_error": [
                    standard_error(own, self.repeats) if folds > 1 else np.nan
                    for own in self.scores
                ],
                "k": self.selected.sum(axis=2).mean(axis=1),
                "stability": [value for value, _ in index],
                "stability_low": [low for _, (low, _) in index],
                "stability_high": [high for _, (_, high) in index],
            }
        )

    @property
    def words(self) -> str:
        """What the last training rows added, and what the score is, in sentences."""
        return " ".join(filter(None, (self._gain_words, self.score_words)))

    @property
    def _gain_words(self) -> str:
        table = self.table()
        last = table.iloc[-1]
        if len(table) == 1:
            return (
                f"With {_rows(last['rows'])}, the mean {self.score_name} on held-out rows is"
                f" {last['score']:.3f}."
            )
        before = table.iloc[-2]
        found = paired_difference(differences(self.scores[-1], self.scores[-2]), self.test_share)
        interval = (
            f" (95% interval {found.low:+.3f} to {found.high:+.3f}, paired by fold)"
            if np.isfinite(found.low)
            else ""
        )
        said = (
            f"From {before['rows']:,.0f} to {_rows(last['rows'])}, the mean {self.score_name} on"
            f" held-out rows changed by {last['score'] - before['score']:+.3f}{interval}, to"
            f" {last['score']:.3f}."
        )
        if np.isfinite([before["stability"], last["stability"]]).all():
            old, new = f"{before['stability']:.2f}", f"{last['stability']:.2f}"
            moved = f"stayed at {new}" if old == new else f"changed from {old} to {new}"
            said += (
                f" The stability index of the selected sets {moved}; larger training sets share"
                " more rows, which in itself raises the index."
            )
        return said

    def __repr__(self) -> str:
        return f"<LearningCurve, {len(self.shares)} shares, {self.scores.shape[1]} folds>"


def _rows(mean: float) -> str:
    return f"{mean:,.0f} training rows"


# --- The whole selection on parts of the training rows, scored on the same held-out rows ---------


def learn(
    result: Fit,
    shares: Sequence[float],
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    inner_folds: int | Splitter | Sequence[int] | None,
    seed: int,
    workers: Workers,
    data: Any,
    weights: Sequence[float] | None,
    offset: Sequence[float] | None,
) -> LearningCurve:
    """See :meth:`SelectionResult.learning_curve`."""
    parts = _read_shares(shares)
    here = result.design.again(data, weights, offset)
    family = here.response.family
    if is_lost(family):
        raise OptionError(
            f"The score of the fit, {quoted(family.score_name)}, is a function, which a model file"
            " does not hold: a loaded model has no learning curve by it.\n"
            "  Use the fit before it is saved, or select with the name of a scorer, which a model"
            " file holds."
        )
    frame = here.all_rows() if data is None else read_data(data)
    outer = outer_folds(
        result, here, frame, folds, repeats=repeats, fold_groups=fold_groups, scoring=None,
        data=data, seed=stream_seed(seed, "learning"),
    )  # fmt: skip
    choice = inner_choice(result.choice, here, frame, inner_folds)
    inside = inside_weights(result, here, outer, data)
    problem = dataclasses.replace(here.problem_for(result.chosen_method), wants_scores=False)
    splits = [
        _part(problem, outer.weights, split, share, stream_seed(seed, "learning", number))
        for share in parts
        for number, split in enumerate(outer.splits)
    ]
    n_folds = len(outer.splits)
    calls = [
        (
            problem,
            result.chosen_method,
            inside,
            split,
            choice,
            outer.family,
            stream_seed(seed, "learning", number % n_folds),
            f"{number % n_folds + 1} of {n_folds}, with {parts[number // n_folds]:g} of its rows",
        )
        for number, split in enumerate(splits)
    ]
    found = run_all(one_fold, calls, workers, "Fits", result.progress)
    shape = len(parts), n_folds
    selected = np.zeros((len(splits), len(here.arrays.groups.names)), dtype=bool)
    for own, fold in zip(selected, found, strict=True):
        own[fold.units] = True
    used = here.row_weights.used
    return LearningCurve(
        shares=parts,
        n_train=np.array([used[s.train].sum() for s in splits], dtype=np.int64).reshape(shape),
        test_share=outer.test_share,
        scores=np.array([fold.score for fold in found]).reshape(shape),
        selected=selected.reshape(*shape, -1),
        assessed=~here.arrays.groups.keep,
        repeats=mean_repeats(outer.splits),
        score_name=outer.family.score_name,
        score_words=outer.family.score_words,
        scheme=outer.folds.words(n_folds),
        call=result.call.text,
        seed=seed,
        library=result.design.library,
    )


def _part(problem: Problem, weights: RowWeights, split: Split, share: float, seed: int) -> Split:
    """A split with a share of its training rows: of each class, in whole clusters. Smaller shares
    are subsets of larger ones."""
    if share == 1:
        return split
    rows, _ = part_rows(problem, split.weights(weights)[0], share, seed)
    if len(rows) < 2:
        raise OptionError(
            f"`shares` must leave at least two training rows.\n  Found: {len(rows)}, with"
            f" {share:g} of {len(split.train):,}."
        )
    return dataclasses.replace(split, train=rows)


def _read_shares(shares: object) -> tuple[float, ...]:
    """The shares; an OptionError unless they are increasing."""
    found = [finite(share) for share in members(shares) or ()]
    numbers = [share for share in found if share is not None and 0 < share <= 1]
    if not numbers or len(numbers) < len(found) or numbers != sorted(set(numbers)):
        raise OptionError(
            "`shares` must be increasing numbers above 0 and at most 1, such as `[0.25, 0.5, 1]`.\n"
            f"  Found: {described(shares)}."
        )
    return tuple(numbers)
