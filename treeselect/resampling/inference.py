"""P-values after selection by sample splitting: select on one part, test on the other."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import MOST_REPEATS, check_count, check_flag, check_share
from treeselect.designs.linear import POOLED, USUAL, warn_of_gaps
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import in_labels, shown_names
from treeselect.designs.row_sample import varies
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, first_few, quoted
from treeselect.models.linear import coefficients as coefs
from treeselect.models.linear.regression_table import InPapers, OfTable
from treeselect.models.linear.statistics import dispersion_fact
from treeselect.models.linear.tests import fit_terms, fitted_terms
from treeselect.printing import MOST_ROWS, Summarised, SummaryContent, p_text
from treeselect.resampling.choosing import Choice, Procedure, choose
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Split
from treeselect.resampling.performance import rule_words
from treeselect.resampling.records import Stoppable, stopped
from treeselect.resampling.sample_splitting import (
    SplitFit,
    aggregate_p_values,
    draw_parts,
    fit_part,
)
from treeselect.running.parallel import Workers
from treeselect.running.pieces import Course, Kind, run_pieces


@dataclass(frozen=True, eq=False)
class Inference(Summarised, Stoppable, InPapers):
    """P-values of terms that were selected on other rows (sample splitting).

    Attributes
    ----------
    p_values : ndarray of float, shape (n_splits, n_terms)
        By split: 1 for terms that it did not select, otherwise the p-value of the joint test times
        the number of selected terms, at most 1.
    asked, library
        As of :class:`treeselect.resampling.records.Stoppable`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.inference(repeats=2)
    >>> found.n_splits, found.n_failed
    (2, 0)
    >>> list(found.tidy().columns)
    ['term', 'p_value', 'selected', 'tested']
    """

    terms: tuple[str, ...]  # all terms of the formula
    splits: tuple[SplitFit, ...]
    p_values: FloatArray
    level: float
    call: str
    facts: tuple[tuple[str, str], ...]  # on the method and the splits
    notes: tuple[str, ...]  # on columns and missing values of the splits
    design: ModelData = field(repr=False)
    groups_name: str | bool = False  # column of the clusters, or whether an array of them was given
    tested: ModelData | None = field(default=None, repr=False)  # the rows of a single split

    def _content(self) -> SummaryContent:
        one, n, design = self.n_splits == 1, self.n_splits, self.design
        fits = [split.fit for split in self.splits if split.fit is not None]
        labels = shown_names(design)
        model = ", or ".join(dict.fromkeys(f.model for f in fits)) or "none could be fitted"
        facts = (
            ("Call", self.call),
            *self.facts,
            ("Model", model),
            *design.weights_facts,
            *dispersion_fact(fits),
        )
        if self.groups_name and fits:
            facts += (("Std. errors", coefs.error_words(self.groups_name, fits)),)
        columns: tuple[str, ...] = ()
        rows: tuple[tuple[str, ...], ...] = ()
        dropped = sum(split.n_dropped for split in self.splits)
        if one:
            (split,) = self.splits
            notes = [_ONE_SPLIT] if fits else []
            if split.fit is not None:
                table = coefs.in_print(design, coefs.coefficient_table(split.fit, self.level))
                columns = coefs.table_head(split.fit, self.level)
                rows = coefs.rows_with_references(
                    coefs.coefficient_table(split.fit),
                    split.references,
                    coefs.table_rows(table, with_ratios=coefs.leads_with_ratios(split.fit)),
                )
                notes += coefs.ratio_notes(split.fit, table)
            notes += coefs.few_events_notes(fits)
            selected = ", ".join(labels.get(name, name) for name in split.selected) or "nothing"
            facts += (("Selected", selected), ("Rows dropped", coefs.dropped_words(dropped)))
        else:
            facts += (
                ("Splits", f"{n}, of which {self.n_failed} failed"),
                ("Rows dropped", coefs.dropped_words(round(dropped / n, 1), " per split")),
            )
            columns, rows = _term_rows(self, labels)
            notes = [_SEVERAL_SPLITS] if fits else [_NONE_FITTED]
            notes += [_RARE] if any(row[-1].endswith("*") for row in rows) else []
            notes += coefs.few_events_notes(fits, "split")
            if len(self.terms) > MOST_ROWS:
                notes.append(f"{len(self.terms) - MOST_ROWS:,} more terms in `.tidy()`.")
        limits = Counter(problem for fit in fits for problem in fit.problems)
        for said, count in limits.most_common():
            notes.append(said if one else f"In {count} of {n} splits: {said}")
        notes = [*stopped(self, n, "splits"), *notes]
        reasons = Counter(split.failure for split in self.splits if split.failure)
        for why, count in reasons.most_common():
            none = "No linear model" if one else f"No linear model in {count} of {n} splits"
            notes.append(f"{none}, so p = 1 for the terms: {why}")
        if self.groups_name:
            name = f"{quoted(self.groups_name)} " if isinstance(self.groups_name, str) else ""
            notes.append(f"All rows of each {name}cluster are in the same part.")
            if robust := [fit for fit in fits if fit.n_groups is not None]:
                notes[-1] += f" {coefs.robust_note(robust, ' for testing')}"
        title = "P-values after selection: " + ("one split" if one else f"{n} splits")
        return SummaryContent(title, facts, columns, rows, (*notes, *self.notes))

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def n_failed(self) -> int:
        """Number of splits without a linear model, in which p = 1 for all terms."""
        return sum(bool(split.failure) for split in self.splits)

    def tidy(self, *, exponentiate: bool = False) -> Any:
        """Coefficients of a single split, or p-values over several splits.

        Parameters
        ----------
        exponentiate : bool
            Whether ``estimate``, ``ci_low`` and ``ci_high`` of a single split are ratios, as in
            ``GlmFit.tidy``.

        Returns
        -------
        frame, in the library of the data
            For a single split, one row per coefficient: ``term``, ``column``, ``estimate``,
            ``std_error``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, with the unadjusted
            p-values of the submodel. If its linear model failed, one row per term with p-value 1
            and no other numbers; a term without a column left has a row without numbers. For
            several splits, one row per term of the formula, in increasing
            order of p-value: ``term``, ``p_value`` (aggregated), and the numbers of splits that
            ``selected`` and ``tested`` it.

        Raises
        ------
        OptionError
            If ratios are requested for several splits, or for a linear model of a numeric response.
        """
        table = _coefficients(self) if self.n_splits == 1 else _aggregated(self)
        if check_flag("exponentiate", exponentiate):
            needs = "`exponentiate` must be False for several splits: they have no common"
            fit = self._only(f"{needs} coefficients.").fit
            table = coefs.exponentiated(table, "ratio" if fit is None else fit.ratio)
        return self._frame(table)

    def _only(self, needs: str) -> SplitFit:
        """The single split; an OptionError if there are several."""
        if self.n_splits > 1:
            raise OptionError(
                f"{needs}\n  Found: {self.n_splits:,} splits. `repeats=1` gives coefficients."
            )
        return self.splits[0]

    def _of_table(self) -> OfTable:
        needs = "A table of models needs coefficients, and several splits have no common ones."
        split = self._only(needs)
        if self.tested is None:
            raise OptionError(
                f"A table of models needs a model, and none could be fitted.\n  {split.failure}"
            )
        full, _, fit = fit_terms(self.tested, split.selected)
        found = fitted_terms(self.tested, full, fit, "inference()", USUAL)
        return found, self.tested, split.selected, (_VALID,)

    def __repr__(self) -> str:
        partial = ", partial" if self.partial else ""
        return f"<Inference, {self.n_splits} split{'s' if self.n_splits > 1 else ''}{partial}>"


# --- tables --------------------------------------------------------------------------------------


def _coefficients(found: Inference) -> pd.DataFrame:
    (split,) = found.splits
    if split.fit is None:
        return _without_estimates(split.selected, 1.0)
    table = coefs.coefficient_table(split.fit, found.level)
    lost = [term for term, p_value in split.p_values.items() if np.isnan(p_value)]
    if not lost:
        return table
    return pd.concat([table, _without_estimates(lost, float("nan"))], ignore_index=True)


def _without_estimates(terms: Sequence[str], p_value: float) -> pd.DataFrame:
    names = ("estimate", "std_error", "statistic", "p_value", "ci_low", "ci_high")
    table = pd.DataFrame({"term": list(terms), "column": list(terms)})
    return table.assign(**dict.fromkeys(names, float("nan"))).assign(p_value=p_value)


def _aggregated(found: Inference) -> pd.DataFrame:
    known = [
        set() if s.failure else {t for t, p in s.p_values.items() if not np.isnan(p)}
        for s in found.splits
    ]
    table = pd.DataFrame(
        {
            "term": found.terms,
            "p_value": aggregate_p_values(found.p_values),
            "selected": [sum(t in s.selected for s in found.splits) for t in found.terms],
            "tested": [sum(t in tested for tested in known) for t in found.terms],
        }
    )
    return table.sort_values(
        ["p_value", "selected"], ascending=[True, False], kind="stable", ignore_index=True
    )


# --- the splits ----------------------------------------------------------------------------------


def infer(
    result: Fit, *, split: float, repeats: int, seed: int, level: float, course: Course, call: str
) -> Inference:
    """See :meth:`SelectionResult.inference`."""
    data, folds = result.in_groups()
    split, level = check_share("split", split), check_share("level", level)
    repeats = check_count("repeats", repeats, least=1, most=MOST_REPEATS)
    method, weights, k = result.chosen_method, data.row_weights, result.choice.k
    if method.was_fitted:
        raise OptionError(
            "`inference()` must grow the trees on one part of the rows.\n"
            "  Found: a `forest=` fitted earlier, perhaps on all of them. Select with a"
            " forest that is not yet fitted."
        )
    if isinstance(k, int):
        k = max(1, min(k, len(result.design.arrays.groups.names)))
    problem = dataclasses.replace(data.problem_for(method), wants_scores=False)
    asked = Procedure(problem, method, weights, Choice(k, folds))
    seeds = [stream_seed(seed, "inference", number) for number in range(repeats)]
    parts = draw_parts(asked, split, seeds)
    calls = [(asked, part.train, own) for part, own in zip(parts, seeds, strict=True)]
    warn_of_gaps(data, result.selected, "inference()", splits=True)
    chosen = run_pieces(_select, calls, Kind("split", BoolArray | None), course)
    parts = [parts[number] for number in chosen]
    terms = tuple(spec.term.name for spec in data.spec.terms)
    splits = tuple(
        fit_part(data, None if units is None else _terms_of(data, units), part.test)
        for units, part in zip(chosen.values(), parts, strict=True)
    )
    tested = None
    if len(splits) == 1 and splits[0].fit is not None:
        tested = dataclasses.replace(data, row_weights=weights.only(parts[0].test))
    return Inference(
        terms,
        splits,
        np.array([[one.adjusted(term) for term in terms] for one in splits]),
        level,
        call,
        (
            ("Method", f"{method.title}, {rule_words(asked, result)}"),
            ("Split", _part_words(parts, asked, folds.groups_name)),
            ("Response", in_labels(data).response.in_linear_models),
        ),
        split_notes(data, splits),
        result.design,
        groups_name=folds.groups_name,
        library=data.library,
        asked=repeats if len(parts) < repeats else None,
        tested=tested,
    )


def _select(asked: Procedure, rows: IntArray, seed: int, *, n_threads: int = 1) -> BoolArray | None:
    """Units selected on some rows; None if the response does not vary there."""
    if not varies(asked.problem, rows):
        return None
    return choose(asked.on(rows), seed, Workers(1, n_threads), progress=False).step.selected


def _terms_of(data: ModelData, groups: BoolArray) -> tuple[str, ...]:
    """Terms of some units, in the order of the formula."""
    found = {term for names in compress(data.arrays.groups.terms, groups) for term in names}
    return tuple(spec.term.name for spec in data.spec.terms if spec.term.name in found)


# --- words ---------------------------------------------------------------------------------------


def _part_words(parts: Sequence[Split], asked: Procedure, name: str | bool) -> str:
    """Sizes of the two parts, for clusters the average over the splits."""
    sides = [part.train for part in parts], [part.test for part in parts]
    groups, copies = asked.weights.groups, asked.weights.copies
    used = zip((copies * asked.problem.in_training, copies), sides, strict=True)
    rows = [round(float(np.mean([own[p].sum() for p in side]))) for own, side in used]
    if groups is None:
        return f"{rows[0]:,} rows for selection, {rows[1]:,} for testing"
    n = [len(np.unique(groups[side[0]])) for side in sides]
    about = "about " if len(parts) > 1 else ""
    return (
        f"{n[0]:,} {coefs.clusters(name)} ({about}{rows[0]:,} rows) for selection,"
        f" {n[1]:,} ({rows[1]:,}) for testing"
    )


def _term_rows(
    found: Inference, labels: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Head and rows of the table of terms; a star marks p-values from a minority of splits."""
    rows = []
    for row in _aggregated(found).head(MOST_ROWS).to_dict("records"):
        is_rare = row["p_value"] < 0.05 and 2 * row["tested"] < found.n_splits
        name, tested = labels.get(row["term"], row["term"]), f"{row['tested']}{'*' * is_rare}"
        rows.append((name, p_text(row["p_value"]), str(row["selected"]), tested))
    return ("Term", "P-value", "Splits selecting it", "Splits testing it"), tuple(rows)


def split_notes(data: ModelData, splits: Sequence[SplitFit]) -> tuple[str, ...]:
    """Notes on aliased columns and missing values."""
    labels, notes = shown_names(data), []
    counts = Counter(name for split in splits for name in split.aliased)
    untested = Counter(
        name for split in splits for name, p in split.p_values.items() if np.isnan(p)
    )

    def told(counted: Counter[str]) -> str:
        several = len(splits) > 1
        names = {name: quoted(labels.get(name, name)) for name in counted}
        return first_few([names[t] + f" ({n:,})" * several for t, n in counted.items()], 12)

    if counts:
        n = sum(bool(split.aliased) for split in splits)
        where = "" if len(splits) == 1 else f" in {n} of {len(splits)} splits"
        notes.append(
            f"Columns of {told(counts)} are linear combinations of columns of preceding terms"
            f"{where} and are dropped, as in R: an effect that they share with these is"
            " attributed to the preceding terms."
        )
    if untested:
        notes.append(f"Not tested (NA), as no column is left: {told(untested)}.")
    if any(split.n_dropped for split in splits):
        notes.append(f"Rows with missing values are dropped. {POOLED}")
    return tuple(notes)


_RARE = (
    "* Tested in fewer than half of the splits; the others did not select it. Its p-value is small"
    " because it is very small in these: evidence of an effect, not that another sample would"
    " select the term."
)

_VALID = (
    "The terms were selected on one part of the rows and the linear model fitted to the other part:"
    " its p-values and intervals are valid for this submodel. P-values are not adjusted for the"
    " number of coefficients."
)

_ONE_SPLIT = f"{_VALID} Other splits may select other terms; `repeats=50` combines 50 splits."


_NONE_FITTED = (
    "No split has a linear model: no term was tested, and each p-value is 1 by convention."
)

_SEVERAL_SPLITS = (
    "P-values are adjusted for the number of selected terms and combined over the splits"
    " (Meinshausen, Meier and Buehlmann 2009): at level 0.05, the family-wise error rate is at most"
    " 5% if the linear model holds and the selection contains all relevant terms. There are no"
    " combined estimates or intervals."
)
