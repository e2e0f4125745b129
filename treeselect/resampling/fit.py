"""What a selection has come to: all that is known of it, and nothing that is done with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd

from treeselect.algorithms.method import Method
from treeselect.algorithms.task import Step, shares
from treeselect.brief import brief
from treeselect.designs.modeldata import AllRows, Associations, ModelData
from treeselect.designs.preparing import in_labels, shown_names
from treeselect.designs.problem import is_grouped, noun_of
from treeselect.designs.weights import check_order
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.rounding import falling
from treeselect.engine.survival.curves import Baseline
from treeselect.errors import OptionError, StabilityError
from treeselect.frames.opening import NO_CODES, MissingCodes
from treeselect.frames.reading import read_data
from treeselect.frames.values import Numbers, read_column
from treeselect.models.model import TreeModel, WeightedForest
from treeselect.printing import count_text
from treeselect.printing.numbers import every
from treeselect.resampling.choosing import Choice
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.folds import Folds, in_own_groups, with_groups
from treeselect.resampling.stability import Stability


@dataclass(frozen=True, slots=True)
class Call:
    """The call, in words."""

    text: str  # the call as it could be typed again
    data: str  # name and size of the data
    rule: str  # how the number of units was chosen
    # Later steps that changed the result, such as ``.resample(100, seed=1)``, one on a line
    steps: str = ""
    unshown: str = ""  # arguments in whose place the text has their name only, separated by spaces

    @property
    def whole(self) -> str:
        """The call with all steps."""
        return self.text + self.steps.replace("\n", "")

    @property
    def made(self) -> str:
        """The call with the step that changed the final model."""
        return self.text + "".join(s for s in self.steps.splitlines() if s.startswith(".refit("))

    def then(self, step: str, *, scores_stay: bool = False) -> Call:
        """The call with one more step, which replaces the last ones if they have the same name, but
        for the one that drew half-samples whose scores stay."""
        steps, name = self.steps.splitlines(), step.partition("(")[0]
        while steps and steps[-1].partition("(")[0] == name:
            # No scores are drawn with these arguments.
            if scores_stay and not any(own in steps[-1] for own in ('="boot', '="subs', " k=")):
                break
            steps.pop()
        return dataclasses.replace(self, steps="\n".join([*steps, step]))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What was given to ``select()``, for ``fit.update()``."""

    # All arguments on which the answer depends, the drawn seed among them, and options of the
    # method; without the data
    arguments: Mapping[str, Any]
    data: Any = None  # the data, or None in a copy and in a model from a file
    lost: tuple[str, ...] = ()  # arguments that a model file does not hold

    __repr__ = brief

    def __reduce__(self) -> Any:
        """Without the data: copies are sent to processes."""
        return Asked, (self.arguments, None, self.lost)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """All rows of the data behind a result, for columns that it does not hold."""

    data: Any  # frame or path, or the columns behind the terms; None in a copy
    n_rows: int
    behind: AllRows | None = None  # the columns behind the terms, as they were fitted
    na: MissingCodes = NO_CODES

    __repr__ = brief

    def frame(self) -> Any:
        """The data; an OptionError if they are not those of the fit any more."""
        if isinstance(self.data, AllRows):
            return self.data
        frame = self.na.applied(read_data(self.data))
        is_same = len(frame) == self.n_rows
        if is_same and self.behind is not None:
            for name in set(self.behind.columns[:3]) & set(frame.columns):
                own = _values(self.behind.sources[name], name)
                is_same = is_same and own.equals(_values(frame[name].iloc[self.behind.rows], name))
        if not is_same:
            raise OptionError(
                "The data must be those of the fit for a column that no term uses.\n  Found: other"
                " rows, or rows in another order, than when it was fitted. Give the values of the"
                " column, or use `fit.with_data(data)`."
            )
        return frame

    def __reduce__(self) -> Any:
        """Without the data, which are not to be in a file by accident."""
        return Source, (None, self.n_rows)


def _values(series: pd.Series[Any], name: str) -> pd.Series[Any]:
    """Numbers, or labels as text, whatever the type of the column."""
    read = read_column(series, name)
    if isinstance(read, Numbers):
        return pd.Series(read.values)
    return pd.Series(np.append(list(map(str, read.levels)), "")[read.codes])


NO_SOURCE = Source(None, 0)

_OF_PREVIOUS = "Scores belong to the previous model."
"""A note until the sets are scored again."""


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """A score on the rows that were not drawn."""

    score_name: str
    score: float  # of the final model; NaN if it is not defined for these rows
    n_rows: int  # how many of them are scored: all, or five million at equal distances


@dataclass(frozen=True)  # no slots: its stability is kept once it is measured
class Fit:
    """The result of a selection, and what follows from it alone. What ``SelectionResult`` and
    ``SearchView`` show of it is explained there."""

    design: ModelData  # the encoded data
    call: Call
    chosen_method: Method  # the method with its options
    steps: tuple[Step, ...]  # the path
    step: Step  # the chosen one
    scores: ScoreBySize | None
    model: TreeModel  # predicts from the selected units
    seed: int
    n_jobs: int | None
    progress: bool | None
    notes: tuple[str, ...]  # what a reader should know of this selection
    resampled: Stability | None = None
    # how the number of units is chosen, as specified, for :meth:`performance`
    choice: Choice = field(default_factory=Choice)
    # effects of the terms in the model, with intervals from models of the resamples, if these were
    # fitted
    effect_record: EffectRecord | None = None
    # cumulative hazard beside the risks that the model predicts, if the response is times
    baseline: Baseline | None = None
    asked: Asked | None = None  # what was given to ``select()``
    held_out: HeldOutScore | None = None
    p_values: FloatArray | None = None
    # the data as :meth:`with_data` was given them, for columns that are not in the design
    source: Any = field(default=None, repr=False, compare=False)
    scored: str | None = None  # the kind of model that the scores are of, see :attr:`final`
    n_able: int | None = None  # number of units that vary or are forced in

    @property
    def final(self) -> str:
        """The kind of the final model: its name, or the call that creates an estimator."""
        return str(self.design.model or getattr(self.chosen_method, "refit", "forest"))

    @property
    def scores_are_past(self) -> bool:
        """Whether the scores by size are of a model that the final one replaced."""
        return self.scored not in (None, self.final)

    @property
    def scores_flatter(self) -> bool:
        """Whether rows that scored the sets chose how many units are selected, and not none."""
        return self.scores is not None and not self.scores.of_halves and self.k > 0

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and whose the scores are if they are not of the final model."""
        return (*self.notes, *([_OF_PREVIOUS] if self.scores_are_past else []))

    # --- its data ---

    def with_data(
        self,
        data: Any,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> Self:
        """The same fit with the rows of `data`, which must be those that it was made of."""
        check_order(data, weights=weights, offset=offset)
        here = self.design.with_data(data, weights, offset)
        here = in_own_groups(here, self.choice.folds, data)
        return dataclasses.replace(self, design=here, source=data)

    def in_groups(self, fold_groups: str | Sequence[Any] | None = None) -> tuple[ModelData, Folds]:
        """Rows and folds of the fit, with other clusters if given."""
        self.design.check_data()
        check_order(self.given, fold_groups=fold_groups)
        data = self.source
        if data is None and isinstance(fold_groups, str) and fold_groups not in self.design.sources:
            whole = self.all_rows()
            data = None if isinstance(whole.data, AllRows) else whole.frame()
        return with_groups(self.design, self.choice.folds, fold_groups, data)

    @property
    def given(self) -> Any:
        """The data as given; None if they are not known."""
        return self.asked.data if self.source is None and self.asked is not None else self.source

    def all_rows(self) -> Source:
        """The data as given, if they are known; otherwise the columns behind the terms."""
        given, rows = self.given, self.design.all_rows()
        return Source(rows if given is None else given, len(rows), rows, self.design.spec.na)

    # --- the answer ---

    @property
    def groups(self) -> tuple[str, ...]:
        names = self.design.arrays.groups.names
        selected = np.flatnonzero(self.step.selected)
        return tuple(names[g] for g in selected[falling(self.importance[selected])])

    @property
    def importance(self) -> FloatArray:
        """Importance of each unit in the final model: see ``ModelView.importance``."""
        return shares(self.model.importance)

    @property
    def selected(self) -> tuple[str, ...]:
        return self.design.terms_of(self.groups)

    @property
    def variables(self) -> tuple[str, ...]:
        found = (v for name in self.selected for v in self.design.spec[name].term.variables)
        return tuple(dict.fromkeys(found))

    @property
    def formula(self) -> str:
        return self.design.spec.formula.text_of(self.selected)

    @property
    def family(self) -> str:
        return self.design.response.family.name

    @property
    def method(self) -> str:
        return self.chosen_method.name

    @property
    def k(self) -> int:
        return self.step.size

    @property
    def leaves_out(self) -> bool:
        """Whether a unit was left out that could have been selected."""
        return self.k < (len(self.step.selected) if self.n_able is None else self.n_able)

    @property
    def is_chosen(self) -> bool:
        """Whether the rows decided on the selected units: not if all of them were forced in, nor if
        the number given left none out."""
        is_every = isinstance(self.choice.k, int) and not self.leaves_out
        return not is_every and int(self.design.arrays.groups.keep.sum()) < self.k

    @property
    def subforest(self) -> WeightedForest | None:
        """The sparse forest behind the selection: see ``ModelView.sparse``."""
        if self.model.sparse is not None:
            return self.model.sparse
        found = self.step.ensemble
        return None if found is None else found.within(self.step.selected)

    @cached_property
    def stability(self) -> Stability:
        """Selections on resamples; a StabilityError if there are none yet."""
        if self.resampled is None:
            k = "" if self.k else ", k=1"  # of none there is no stability
            raise StabilityError(
                "Can't tell the stability without resamples.\n"
                f"  Use `fit = fit.resample(100{k})`, or `select(...{k}, resamples=100)`."
            )
        stability = dataclasses.replace(
            self.resampled,
            library=self.design.library,
            labels=shown_names(self.design),
            one=noun_of(self.design.arrays.groups.terms, 1),
        )
        if not self.design.has_data:
            return stability
        return dataclasses.replace(stability, association=Associations(self.design).units)


# --- effects of terms: direction, size and intervals, as stored in a fit -------------------------

LEAST_RESAMPLES = 20
"""Fewest resamples for an interval: with fewer it would be little more than their range."""

DIRECTIONS = ("up", "down", "mixed", "flat", "by level", "joint")

NONE = "none"
STEPS = ("quartiles", "deciles", "range", "values", "levels", NONE)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A contrast between two values of a term."""

    term: int  # number of the term
    step: str  # {"quartiles", "deciles", "range", "values", "levels", "none"}
    start: str = ""  # values or levels as text; empty if there is no contrast
    end: str = ""


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """Effects of terms."""

    terms: tuple[str, ...]  # most important first
    directions: tuple[tuple[str, ...], ...]  # direction of each term, for each output
    contrasts: tuple[Contrast, ...]  # at least one per term, in the order of the terms
    # (n_contrasts, n_outputs); change of the mean prediction, with its interval over the resamples;
    # missing if there is none
    effect: FloatArray
    low: FloatArray  # (n_contrasts, n_outputs)
    high: FloatArray  # (n_contrasts, n_outputs)
    count: IntArray  # (n_contrasts,); number of resamples in which the effect is known
    # (n_points, n_outputs); interval limits at the points of all curves, term after term
    curve_low: FloatArray
    curve_high: FloatArray  # (n_points, n_outputs)
    curve_size: IntArray  # (n_terms,); number of points of each curve
    n_resamples: int

    __repr__ = brief

    def band(self, term: str) -> tuple[FloatArray, FloatArray]:
        """Interval limits of the curve of a term, each of shape (n_points, n_outputs)."""
        at = self.terms.index(term)
        first = int(self.curve_size[:at].sum())
        here = slice(first, first + int(self.curve_size[at]))
        return self.curve_low[here], self.curve_high[here]


# --- what a fit has selected, counted: terms, or units where there are groups of terms -----------


def noun(fit: Fit, n: float = 2) -> str:
    """ "term" or "unit" of a fit, in the plural unless `n` is 1."""
    return noun_of(fit.design.arrays.groups.terms, n)


def selected_of_all(fit: Fit, of: str = "") -> str:
    """ "3 of 22 terms", or "3 of 20 units (5 of 22 terms)"; `of` stands before the noun."""
    known = fit.design.arrays.groups.terms
    said = f"{count_text(fit.k)} of {count_text(len(known))} {of}{noun(fit, len(known))}"
    if not is_grouped(known):
        return said
    n_terms = sum(map(len, known))
    return f"{said} ({count_text(len(fit.selected))} of {count_text(n_terms)} terms)"


def selection_clause(fit: Fit) -> str:
    """ "Exchange search selected 4 of 7 candidate terms to predict survived", or "none of 7"."""
    n, text = len(fit.design.arrays.groups.terms), selected_of_all(fit, "candidate ")
    said = f"selected {text}" if fit.selected else f"selected none{text[1:]}"
    if fit.k == n or n == 1:
        said = (
            f"{'selected' if fit.k else 'did not select'} {every(n, f'candidate {noun(fit, 1)}')}"
        )
    return f"{fit.chosen_method.title} {said} to predict {fit.design.response.name}"


# --- a fit as it is printed: terms and units under their labels ----------------------------------

AnyFit = TypeVar("AnyFit", bound="Fit")


def as_shown(fit: AnyFit) -> AnyFit:
    """The same fit with labels in place of the names of terms, units and response, for code that
    prints or draws; code that computes or saves uses the original. The function is idempotent."""
    design = in_labels(fit.design)
    if design is fit.design:
        return fit
    names = shown_names(fit.design)
    resampled, effects = fit.resampled, fit.effect_record
    if resampled is not None:
        resampled = dataclasses.replace(resampled, units=design.arrays.groups.names)
    if effects is not None:
        terms = tuple(names.get(name, name) for name in effects.terms)
        effects = dataclasses.replace(effects, terms=terms)
    return dataclasses.replace(fit, design=design, resampled=resampled, effect_record=effects)
