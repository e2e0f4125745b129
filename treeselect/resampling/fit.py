"""What a selection has come to: all that is known of it, and nothing that is done with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from treeselect.algorithms.method import Method
from treeselect.algorithms.task import Step, shares, skipped_sizes
from treeselect.brief import brief
from treeselect.designs.association import Associations
from treeselect.designs.labels import shown_names
from treeselect.designs.modeldata import ModelData
from treeselect.designs.nouns import noun_of
from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import falling
from treeselect.engine.survival.curves import Baseline
from treeselect.errors import (
    StabilityError,
)
from treeselect.models.model import Model
from treeselect.models.weighted import WeightedForest
from treeselect.resampling.choosing import Choice
from treeselect.resampling.confirming import HeldOutScore
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.effects import EffectRecord
from treeselect.resampling.stability import Stability

_MOST_CELLS = 5_000_000
"""Rows times pairs of columns up to which their similarity is measured by default: about a
second."""


@dataclass(frozen=True, slots=True)
class Call:
    """The call, in words.

    Attributes
    ----------
    text : str
        The call as it could be typed again.
    data : str
        Name and size of the data.
    rule : str
        How the number of units was chosen.
    steps : str
        Later steps that changed the result, such as ``.resample(100, seed=1)``, one on a line.
    unshown : str
        Arguments in whose place the text has their name only, separated by spaces.
    """

    text: str
    data: str
    rule: str
    steps: str = ""
    unshown: str = ""

    @property
    def whole(self) -> str:
        """The call with all steps."""
        return self.text + self.steps.replace("\n", "")

    def then(self, step: str) -> Call:
        """The call with one more step, which replaces an earlier one of the same name."""
        name = step.partition("(")[0]
        kept = [own for own in self.steps.splitlines() if own.partition("(")[0] != name]
        return dataclasses.replace(self, steps="\n".join([*kept, step]))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What was given to ``select()``, for ``treeselect.update``.

    Attributes
    ----------
    arguments : dict
        All arguments on which the answer depends, the drawn seed among them, and options of the
        method; without the data.
    data : object
        The data, or None in a copy and in a model from a file.
    lost : tuple of str
        Arguments that a model file does not hold.
    """

    arguments: Mapping[str, Any]
    data: Any = None
    lost: tuple[str, ...] = ()

    __repr__ = brief

    def __reduce__(self) -> Any:
        """Without the data: copies are sent to processes."""
        return Asked, (self.arguments, None, self.lost)


@dataclass(frozen=True)  # no slots: its stability is kept once it is measured
class Fit:
    """The result of a selection, and what follows from it alone.

    Attributes
    ----------
    design : ModelData
        The encoded data.
    call : Call
    chosen_method : Method
        The method with its options.
    steps : tuple of Step
        The path.
    step : Step
        The chosen one.
    scores : ScoreBySize or None
        Scores by size on rows that the search did not use: cross-validated ones if they chose the
        number of units, or those of half-samples.
    model : Model
        Predicts from the selected units.
    seed : int
    notes : tuple of str
        What a reader should know of this selection.
    choice : Choice
        How the number of units is chosen, as specified, for :meth:`performance`.
    effect_record : EffectRecord or None
        Effects of the terms in the model, with intervals from models of the resamples, if these
        were fitted.
    baseline : Baseline or None
        Cumulative hazard beside the risks that the model predicts, if the response is times.
    asked : Asked or None
        What was given to ``select()``; None in files of older versions.
    p_values : ndarray of float, shape (n_tested,), or None
        By size, for ``k="auto"``: of the hypothesis that no larger set predicts better, up to the
        size chosen; NaN for sizes not tested.
    held_out : HeldOutScore or None
        Score of the final model on the rows that were not drawn; None if all rows were used. See
        ``rows`` of ``select()``.
    """

    design: ModelData
    call: Call
    chosen_method: Method
    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None
    model: Model
    seed: int
    n_jobs: int | None
    progress: bool | None
    notes: tuple[str, ...]
    resampled: Stability | None = None
    choice: Choice = field(default_factory=Choice)
    effect_record: EffectRecord | None = None
    baseline: Baseline | None = None
    asked: Asked | None = None
    held_out: HeldOutScore | None = None
    p_values: FloatArray | None = None

    # --- the answer ---

    @property
    def groups(self) -> tuple[str, ...]:
        """Selected units, most important first."""
        names = self.design.arrays.groups.names
        selected = np.flatnonzero(self.step.selected)
        return tuple(names[g] for g in selected[falling(self.importance[selected])])

    @property
    def importance(self) -> FloatArray:
        """Importance of each unit in the final model, shape (n_groups,), summing to 1 (or 0): its
        share of the out-of-bag gain of a forest, of the gain of boosted trees, or of the weighted
        standard deviations of the trees of a sparse forest (each divided by gain)."""
        return shares(self.model.importance)

    @property
    def selected(self) -> tuple[str, ...]:
        """Selected terms, most important first; the terms of a group in the user's order."""
        return self.design.terms_of(self.groups)

    @property
    def variables(self) -> tuple[str, ...]:
        """Columns of the data behind the selected terms."""
        found = (v for name in self.selected for v in self.design.spec[name].term.variables)
        return tuple(dict.fromkeys(found))

    @property
    def formula(self) -> str:
        """The selection as a formula: ``'survived ~ sex + pclass'``."""
        return self.design.spec.formula.text_of(self.selected)

    @property
    def family(self) -> str:
        """``"gaussian"``, ``"binomial"``, ``"multinomial"``, ``"poisson"`` or ``"cox"``."""
        return self.design.response.family.name

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.chosen_method.name

    @property
    def k(self) -> int:
        """Number of selected units."""
        return self.step.size

    @property
    def subforest(self) -> WeightedForest | None:
        """The sparse forest behind the selection, of ControlBurn; without the trees that use a
        unit which was cut or pruned from it."""
        if self.model.sparse is not None:
            return self.model.sparse
        found = self.step.ensemble
        return None if found is None else found.within(self.step.selected)

    @property
    def skipped_sizes(self) -> tuple[int, ...]:
        """Numbers of units, between those of the first and the last step of the path, that no
        step has: a tree that enters may bring several units."""
        return tuple(skipped_sizes(self.steps))

    @cached_property
    def stability(self) -> Stability:
        """Selections on resamples: ``.tidy()``, ``.index``, ``.index_ci``,
        ``.correlated_index``, ``.models()``, ``.pairs()``, ``.co_selection()``, ``.substitutes``,
        ``.pfer()``, ``.threshold()``.

        Raises
        ------
        StabilityError
            If there are no resamples yet.
        """
        if self.resampled is None:
            raise StabilityError(
                "Can't tell the stability without resamples.\n"
                "  Use `fit = fit.resample(100)`, or `select(..., resamples=100)`."
            )
        stability = dataclasses.replace(
            self.resampled,
            library=self.design.library,
            labels=shown_names(self.design),
            one=noun_of(self.design.arrays.groups.terms, 1),
        )
        if not self.design.has_data:
            return stability
        measured = Associations(self.design)
        return dataclasses.replace(
            stability, association=measured.units, similarity=measured.similarity
        )


def index_told(fit: Fit) -> float:
    """The correlated index of a fit with resamples, where it is known or can be measured soon; else
    missing."""
    n_cells = len(fit.design.row_weights) * len(fit.design.arrays.columns) ** 2
    return fit.stability.correlated_index if n_cells <= _MOST_CELLS else float("nan")
