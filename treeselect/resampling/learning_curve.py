"""Learning curve: score and stability of the whole selection by the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.frames.libraries import in_library
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import standard_error
from treeselect.resampling.paired import differences, paired_difference

if TYPE_CHECKING:
    import pandas as pd


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
