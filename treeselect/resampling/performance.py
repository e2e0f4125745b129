"""How good is the whole procedure? Selection, with the choice of k, repeated inside each fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.frames.libraries import in_library
from treeselect.printing import score_text
from treeselect.printing.summary import Summarised
from treeselect.resampling.cross_validation import standard_error
from treeselect.running.pieces import stopped_note

if TYPE_CHECKING:
    from treeselect.printing import Summary, SummaryContent

_MOST_NAMES = 12
"""Terms whose frequency the summary tells."""

_ROOM = 36
"""Characters for the terms of a fold in the summary; ``tidy()`` has all."""


@dataclass(frozen=True, slots=True)
class Performance(Summarised):
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
    score_words : str
        What the score is, a sentence; empty where its name says so.
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
    asked : int or None
        How many folds were asked for, if the call was stopped before all were done.
    """

    scores: FloatArray
    selected: tuple[tuple[str, ...], ...]
    k: IntArray
    n_train: IntArray
    n_test: IntArray
    repeats: float
    score_name: str
    score_words: str
    family: str
    method: str
    scheme: str
    rule: str
    call: str
    k_of_fit: int
    path_score: float
    seed: int
    library: str = "pandas"
    asked: int | None = None

    @property
    def partial(self) -> bool:
        """Whether the call was stopped, and these are the folds that were finished."""
        return self.asked is not None

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
            Prints as text; ``as_text()``, ``as_latex()``, ``as_markdown()``, ``as_gt()``, and HTML
            in notebooks.
        """
        from treeselect.printing import Summary

        return Summary(_content(self))

    def __repr__(self) -> str:
        return (
            f"<Performance: {self.score_name} {score_text(self.mean, self.standard_error)},"
            f" selection repeated inside each fold{', partial' if self.partial else ''}>"
        )


# --- folds -------------------------------------------------------------------------------------


# --- words -------------------------------------------------------------------------------------


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
            ("Kept (k)", f"{sizes} in the folds; {found.k_of_fit} in the fit on all rows"),
            (
                found.score_name,
                f"{score_text(found.mean, found.standard_error)}, on held-out rows",
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
    notes = [] if found.asked is None else [stopped_note(n_folds, found.asked, "folds")]
    notes += [found.score_words] if found.score_words else []
    notes.append(
        "Terms, their number and the model of a fold come from its training rows alone. Levels of"
        " factors, bin edges and what transforms learn are those of all rows, without the response."
    )
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
