"""What a term adds to others: tested on all rows, and scored on held-out ones.

For the test the response, and functions of the unit, are each predicted from the other units for
rows that the prediction has not seen. If the response does not depend on the unit, what is left of
one has mean 0 given what is left of the other, so that their products have mean 0 as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy

from treeselect import printing
from treeselect.algorithms.method import named_model
from treeselect.arguments.checks import check_choice, described, found_near, read_names, whole
from treeselect.designs.families import GAUSSIAN
from treeselect.designs.preparing import shown_names
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.columns import FREE, select_groups
from treeselect.engine.linear.additive_search import folds_of_clusters, ridge_outside
from treeselect.engine.linear.basis import AdditiveColumns
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, listing
from treeselect.models.forest import Grower, best_forest, n_trees_for
from treeselect.models.stacked import stack_outside
from treeselect.printing import cells
from treeselect.printing.numbers import counted
from treeselect.resampling.cross_validation import (
    PairedDifference,
    differences,
    held_out_score,
    paired_difference,
)
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Folds, Split, Splitter
from treeselect.resampling.outer_folds import check_known, outer_folds
from treeselect.resampling.records import Scored
from treeselect.running.parallel import Workers, run_all


@dataclass(frozen=True, eq=False)
class ConditionalImportance(printing.Summarised, Scored):
    """Tests of whether the response depends on each of some units given others, and the loss of
    score on held-out rows without the unit.

    Attributes
    ----------
    score_name, score_words, scheme, call, seed, library
        As of :class:`treeselect.resampling.records.Scored`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.model.conditional_importance(repeats=2)
    >>> print(*found.tidy().columns)
    term selected p_value e_value level score_with score_without importance ci_low ci_high
    """

    # in decreasing order of loss, or without folds in increasing order of p-value
    units: tuple[str, ...]
    # a unit that is not is added instead of removed, unless all others are given
    selected: BoolArray
    p_value: FloatArray
    e_value: FloatArray
    level: FloatArray
    score: FloatArray  # (n_folds,); of a stack on the given units, on the held-out rows
    others: FloatArray  # (n_folds, n_units); without the unit or, if it is added, with it
    given: str  # "selected" or "all"
    test_share: float  # ratio of held-out to training rows
    labels: Mapping[str, str] = field(default_factory=dict)  # labels of units in print, by name

    def lost(self, unit: int) -> PairedDifference:
        """Score with a unit minus score without it: mean, interval, two-sided p-value."""
        loss = differences(self.score, self.others[:, unit])
        return paired_difference(-loss if self._is_added[unit] else loss, self.test_share)

    @property
    def _is_added(self) -> BoolArray:
        return ~self.selected & (self.given == "selected")

    def tidy(self) -> Any:
        """One row per unit, in decreasing order of loss.

        Returns
        -------
        frame, in the library of the data
            ``term`` (a group has one row); ``selected``; ``p_value`` and ``e_value`` of the
            hypothesis that the response does not depend on it given the others; ``level``, the
            lowest false discovery rate at which it is called, at most 1. With folds also
            ``score_with`` and ``score_without``, mean scores over the folds with and without the
            unit; ``importance``, their difference; ``ci_low`` and ``ci_high``, its 95% interval.
        """
        table = pd.DataFrame({
            "term": pd.Series(list(self.units), dtype=pd.Series(["text"]).dtype),
            "selected": self.selected, "p_value": self.p_value, "e_value": self.e_value,
            "level": self.level,
        })  # fmt: skip
        if len(self.score):
            lost = np.array([self.lost(unit) for unit in range(len(self.units))])
            own, other, added = self.score.mean(), self.others.mean(axis=0), self._is_added
            table["score_with"] = np.where(added, other, own)
            table["score_without"] = np.where(added, own, other)
            table[["importance", "ci_low", "ci_high"]] = lost[:, :3]
        return self._frame(table)

    def _content(self) -> printing.SummaryContent:
        is_all, is_mixed = self.given == "all", not self.selected.all()
        losses = [
            ("Loss", cells.decimal("importance", 3)),
            ("95% interval", cells.interval("ci_low", "ci_high", "", "unknown", places=3)),
        ]
        columns, rows = cells.table(
            self.in_pandas.tidy(),
            [
                ("Term", lambda row: self.labels.get(row["term"], row["term"])),
                *([("Selected", cells.yes("selected"))] if is_mixed else []),
                ("p", lambda row: printing.p_text(row["p_value"])),
                ("e", cells.number("e_value", ".3g")),
                ("Level", lambda row: printing.p_text(row["level"])),
                *(losses if len(self.score) else []),
            ],
        )
        added = "A term that is not selected is added to the selected ones."
        notes = [
            "Test that the response and the term are independent given the others, on all rows (or"
            f" {_MOST_ROWS:,} of more), by products of out-of-sample residuals of both (Shah and"
            " Peters 2020). A term that the others make redundant, such as a copy, is not found.",
            *([added] if is_mixed and not is_all else []),
            "e: e-value, at most 1 on average under independence. Level: lowest false discovery"
            " rate at which independence is rejected (closed e-BH, Xu et al. 2025); it accounts for"
            " all terms of the table, and may be chosen after seeing it.",
        ]
        facts = [("Call", self.call)]
        if len(self.score):
            mean, terms = self.score.mean(), "all" if is_all else "the selected"
            scored = f"{printing.decimal_text(mean, 3)} with {terms} terms, on held-out rows"
            facts += [("Folds", self.scheme), (self.score_name, scored)]
            notes += [
                *([self.score_words] if self.score_words else []),
                "Loss: difference in score of models (additive plus forest) with and without"
                " the term, fitted to the training rows of a fold and scored on the others;"
                " intervals by the corrected resampled t (Nadeau and Bengio 2003).",
            ]
        if self.is_chosen and not is_all:
            notes.append(
                "The terms were selected on all of these rows. After selection from many terms,"
                ' p-values and losses claim too much; `given="all"` tests each term given all'
                " others, whatever is selected, and `inference()` on other rows."
            )
        others = "all others" if is_all else "the other selected ones"
        return printing.SummaryContent(
            title=f"Conditional importance: what a term adds to {others}",
            facts=(*facts, ("Seed", str(self.seed))),
            columns=columns,
            rows=rows,
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        return f"<ConditionalImportance: {counted(len(self.units), 'term')}, {self.scheme}>"


# --- stacks with and without each of some units, scored on held-out rows -------------------------


def leave_out(
    result: Fit,
    folds: int | Splitter | Sequence[int] | None,
    *,
    given: Literal["selected", "all"],
    terms: str | Sequence[str] | None,
    repeats: int | None,
    scoring: Scoring,
    seed: int,
    workers: Workers,
) -> ConditionalImportance:
    """See :meth:`ModelView.conditional_importance`."""
    check_choice("given", given, ("selected", "all"))
    is_all = given == "all"
    units = _units(result, terms, is_all=is_all)
    usual = 1 if whole(folds) is None else 5
    for name, value in (("repeats", repeats), ("scoring", scoring)):
        if folds is None and value is not None:
            raise OptionError(
                f"`{name}` needs `folds`.\n  Found: {described(value)}, and no folds. Leave it out."
            )
    outer = outer_folds(
        result, Folds(None) if folds is None else folds, scoring=scoring,
        repeats=usual if repeats is None else repeats, seed=stream_seed(seed, "conditional"),
    )  # fmt: skip
    here, family = outer.here, outer.family
    if outer.splits:
        check_known(family)
    problem = dataclasses.replace(here.problem, family=family, wants_scores=False)
    own = result.step.selected
    base = own | is_all
    sets = [base ^ (np.arange(len(own)) == unit) for unit in units]
    calls = [
        (problem, outer.weights, split, [base, *sets], stream_seed(seed, "conditional", number))
        for number, split in enumerate(outer.splits)
    ]
    scores = np.array(run_all(_scores, calls, workers, "Folds", result.progress))
    scores = scores.reshape(-1, 1 + len(units))
    filled, weights = problem.ready(outer.weights)
    free = dataclasses.replace(filled, exact=None, columns=None, given=None)
    tests = [
        (free, weights, base & others, unit, stream_seed(seed, "conditional"))
        for others, unit in zip(sets, units, strict=True)
    ]
    tested = run_all(dependence_given, tests, workers, "Tests", result.progress)
    p_value, e_value = np.array(tested).T
    lost = scores[:, :1] - scores[:, 1:]
    order = np.argsort(p_value, kind="stable")
    if len(scores):
        order = falling(lost.mean(axis=0) * np.where(base[units], 1, -1))
    return ConditionalImportance(
        units=tuple(here.arrays.groups.names[units[i]] for i in order),
        selected=own[units][order],
        p_value=p_value[order],
        e_value=e_value[order],
        level=closed_levels(e_value)[order],
        score=scores[:, 0],
        others=scores[:, 1:][:, order],
        given=given,
        test_share=outer.test_share if outer.splits else float("nan"),
        labels=shown_names(result.design),
        **outer.scored(result, seed) | ({"scheme": "no folds"} if folds is None else {}),
    )


def _units(result: Fit, terms: str | Sequence[str] | None, *, is_all: bool) -> list[int]:
    """The named units, by their names or those of their terms; by default the selected, or all."""
    known = result.design.arrays.groups
    if terms is None and is_all:
        return list(range(len(known.names)))
    if terms is None:
        if not result.step.selected.any():
            raise OptionError(
                "`terms` must be given because nothing is selected: each of them is then added.\n"
                f"  Known: {listing(known.names)}."
            )
        return np.flatnonzero(result.step.selected).tolist()
    unit_of = known.unit_of | {name: unit for unit, name in enumerate(known.names)}
    asked = read_names("terms", terms)
    if not asked:
        raise OptionError("`terms` must name at least one term, or be omitted.\n  Found: none.")
    if unknown := [term for term in asked if term not in unit_of]:
        raise OptionError(
            "`terms` must be terms of the formula, or groups of them.\n"
            f"{found_near(unknown[0], list(unit_of), f'Known: {listing(known.names)}.')}"
        )
    return list(dict.fromkeys(unit_of[term] for term in asked))


def _scores(
    problem: Problem,
    weights: RowWeights,
    split: Split,
    sets: Sequence[BoolArray],
    seed: int,
    *,
    n_threads: int = 1,
) -> FloatArray:
    """Held-out score of a stack on each set, fitted to the training rows."""
    train, test = split.weights(weights)
    found = []
    for own in sets:
        model = named_model(
            "stack", problem, train, own, seed=seed, n_threads=n_threads, wants_importance=False
        )
        found.append(held_out_score(problem, model, train, test, n_threads))
    return np.array(found)


# --- tests of independence, and the level of a table of them --------------------------------------

_MOST_ROWS, _TREES = 20_000, 100
"""Rows of a test, and trees of each forest: with as many, even weak dependence is found."""

_CURVES = 3
"""Most directions in which a number may bend."""

_FLAT, _FLAT_BY_PENALTY = 1e-4, 30.0
"""A function is tested if the others leave more of its variance than the first share, and than the
square of the second times its penalty over the number of rows, which is left even of copies."""

_OF_ROWS = 0.2
"""Most directions of products of residuals that are tested, as a share of the rows or clusters:
with as many as these, nothing is found, whatever the products."""

_SHARES = 0.5, 0.25, 0.25
"""Weights of levels and slopes, of bends, and of products with other units."""

_EXPECTED, _MOST = 8.0, 600.0
"""Prior variance of a standardised effect, by which e-values reach 20 as early as they can, and the
largest logarithm of an e-value, so that sums of them are numbers."""


class Tested(NamedTuple):
    """A p-value and an e-value."""

    p_value: float
    e_value: float


def dependence_given(
    problem: Problem,
    weights: RowWeights,
    given: BoolArray,
    unit: int,
    seed: int,
    *,
    n_threads: int = 1,
) -> Tested:
    """Test that the response is independent of a unit given some others, by products of
    out-of-sample residuals of both (Shah and Peters 2020): of levels and slopes, bends, and
    products with others (Scheidegger et al. 2022). P-values are combined by Cauchy's distribution,
    e-values by their mean."""
    rows = weights.rows
    if len(rows) > _MOST_ROWS:
        rng = np.random.default_rng(stream_seed(seed, "tests"))
        rows = np.sort(rng.choice(rows, _MOST_ROWS, replace=False))
    free = problem.data._replace(monotone=FREE)  # no effect is constrained
    problem = dataclasses.replace(problem, data=free, exact=None, columns=None).only(rows)
    weights = weights.of(rows)
    part = select_groups(problem.data, given) if given.any() else None
    others = np.flatnonzero(given).tolist()
    columns = AdditiveColumns(problem.data, weights.values)
    functions, basis = columns.group(unit)
    truth = np.ascontiguousarray(functions.T)
    folds = None if weights.blocks is None else folds_of_clusters(weights.blocks)
    left = np.ascontiguousarray(truth - ridge_outside(columns, others, truth, folds))
    if part is not None and truth.shape[1]:
        own_seed, rank = stream_seed(seed, "unit"), problem.groups.ranks(seed)[given]
        grower = Grower(part, left, weights, GAUSSIAN, own_seed, rank, n_threads)
        left = best_forest(grower, n_trees=n_trees_for(weights, _TREES)).rest(left, weights.values)
    mass = columns.weight
    bends = basis.penalty >= 1
    flat = np.maximum(_FLAT, (_FLAT_BY_PENALTY * basis.penalty / len(left)) ** 2)
    left[:, mass @ left**2 <= flat * (mass @ truth**2)] = 0.0
    slopes, curves = left[:, ~bends], left[:, bends]
    variance, vectors = np.linalg.eigh((curves.T * mass) @ curves)
    main = np.flatnonzero(variance > 1e-6 * variance.max(initial=0.0))[::-1][:_CURVES]
    curves = curves @ vectors[:, main]
    known = [columns.group(g) for g in others]
    beside = [z[:, None] for values, own in known for z in values[own.penalty < 1]]
    parts = [(slopes, 1.0)], [(c[:, None], 1.0) for c in curves.T], [(slopes, z) for z in beside]
    y_left = stack_outside(problem, weights, given, seed, _TREES, n_threads, False).left
    found = [
        (share / len(some), *tested)
        for share, some in zip(_SHARES, parts, strict=True)
        for tested in (_test(y_left * z, x, weights) for x, z in some)
        if tested is not None
    ]
    if not found:
        return Tested(1.0, 1.0)
    share, p_values, e_values = np.array(found).T
    share /= share.sum()
    cauchy = share @ (1 / np.tan(np.pi * np.clip(p_values, 1e-15, 0.99)))
    return Tested(float(scipy.stats.cauchy.sf(cauchy)), float(share @ e_values))


def _test(y_left: FloatArray, x: FloatArray, weights: RowWeights) -> Tested | None:
    """Test that products of residuals have mean 0, by Hotelling's statistic about 0; None if all
    are 0. The e-value is a mixture of likelihood ratios over normal effects: its mean is at most 1
    if products are as likely to have the other sign (de la Pena et al. 2004), or in the limit."""
    products = (y_left[:, :, np.newaxis] * x[:, np.newaxis]).reshape(len(x), -1)
    counts = weights.values.astype(np.float64)
    if weights.groups is not None or not weights.are_copies:
        products = products * (counts / counts.mean())[:, np.newaxis]
        if weights.groups is not None:
            _, own = np.unique(weights.groups, return_inverse=True)
            products = np.array([np.bincount(own, column) for column in products.T]).T
        counts = np.ones(len(products))
    scale = np.sqrt(counts @ products**2)
    products = products[:, scale > 0] / scale[scale > 0]
    if not products.size:
        return None
    variance, vectors = np.linalg.eigh((products.T * counts) @ products)
    n = float(counts.sum())
    kept = variance > 1e-6 * variance[-1]
    kept[: -max(int(_OF_ROWS * n), 1)] = False  # the signs of rows have no part in the choice
    statistic = float((((counts @ products) @ vectors[:, kept]) ** 2 / variance[kept]).sum())
    d = int(kept.sum())
    ratio = (n - d) * statistic / max(d * (n - statistic), 1e-12)
    prior = _EXPECTED / np.sqrt(d)
    log_e = (statistic * prior / (1 + prior) - d * np.log1p(prior)) / 2
    return Tested(
        float(scipy.stats.f.sf(ratio, d, max(n - d, 1.0))), float(np.exp(min(log_e, _MOST)))
    )


def closed_levels(e_values: FloatArray) -> FloatArray:
    """For each e-value the lowest false discovery rate, at most 1, at which closed e-BH calls it
    and all that are as large (Xu et al. 2025); of s others the smallest are the worst."""
    order = np.argsort(-e_values, kind="stable")
    falling, m = e_values[order], len(e_values)
    least = np.concatenate([[0.0], np.cumsum(falling[::-1])])  # sums of the smallest
    level = np.full(m, np.inf)
    for k in np.unique(np.searchsorted(-falling, -falling, side="right")).tolist():
        called = np.cumsum(falling[:k][::-1])[:, np.newaxis]
        r, s = np.arange(1, k + 1)[:, np.newaxis], np.arange(m - k + 1)
        level[k - 1] = (r * (r + s) / k / np.maximum(called + least[s], 1e-300)).max()
    of_rank = np.minimum(np.minimum.accumulate(level[::-1])[::-1], 1.0)
    return of_rank[np.searchsorted(-falling, -e_values)]
