"""Several methods on the same folds of the same encoded data, and the words of their summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.algorithms.method import Method, is_method
from treeselect.algorithms.registry import find_method
from treeselect.algorithms.task import Step, Task
from treeselect.arguments.checks import SCORE_RULES, check_rule, described, members
from treeselect.comparison.record import NO_VARIANCE, Contest, Run, choices, difference_cells
from treeselect.designs.problem import FeatureGroups, Problem, check_size, noun_of
from treeselect.designs.survival import follow_up_facts
from treeselect.designs.weights import RowWeights
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, TreeselectError, quoted
from treeselect.printing import cells
from treeselect.printing.numbers import every, span
from treeselect.resampling.choosing import most_units
from treeselect.resampling.cross_validation import FoldPath, follow_fold
from treeselect.resampling.folds import Split
from treeselect.resampling.records import stopped
from treeselect.results.calls import unshown_note
from treeselect.results.summary import options_text
from treeselect.running.pieces import FEWEST, Course, Found, Kind, run_pieces
from treeselect.shown import is_broken

Methods = Sequence[Any] | Mapping[str, Any]
"""Names, methods, or scikit-learn selectors."""


class Contestant(NamedTuple):
    """A method under its name in the comparison."""

    label: str
    method: Method


# --- arguments ---------------------------------------------------------------------------------


def read_methods(methods: object) -> tuple[Contestant, ...]:
    """The methods under distinct names."""
    none = OptionError("`methods` must have at least one method.\n  Found: none.")
    if isinstance(methods, Mapping):
        if not methods:
            raise none
        for label in methods:
            if not isinstance(label, str) or not label.strip():
                raise OptionError(
                    f"`methods` must have text keys, the names of the methods.\n"
                    f"  Found: {described(label)}."
                )
            if is_broken(label):
                raise OptionError(
                    "`methods` must have keys of complete characters.\n"
                    f"  Found: {quoted(label)}, which contains half a surrogate pair."
                )
        return tuple(Contestant(name, find_method(m, {})) for name, m in methods.items())
    listed = None if is_method(methods) else members(methods)
    if listed is None:
        one = described(methods)
        way = "['exchange', 'lasso']" if methods is None else f"[{one}]"
        raise OptionError(
            "`methods` must be a list of names or methods, or a dict of them.\n"
            f"  Found: {one}. Give `{way}`, or several."
        )
    found = [find_method(method, {}) for method in listed]
    if not found:
        raise none
    shared = Counter(method.name for method in found)
    labels = [m.name if shared[m.name] == 1 else m.label for m in found]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise OptionError(
            "`methods` must be different methods.\n"
            f"  Found: {twice[0]} twice. Remove one, or name them in a dict."
        )
    return tuple(map(Contestant, labels, found))


def read_sizes(k: object, groups: FeatureGroups) -> tuple[int | str, tuple[int, ...]]:
    """The rule of comparison, and the sizes that are scored, 0 for the constant model."""
    least = max(1, int(groups.keep.sum()))
    if isinstance(k, str):
        check_rule(k, "a whole number, a list of these", SCORE_RULES)
        return str(k), (0, *range(least, most_units(groups) + 1))
    listed = members(k) if isinstance(k, Sequence | np.ndarray) else None
    if listed is None:
        size = check_size(k, groups)
        return size, (0, *range(least, size + 1))
    given = [check_size(size, groups) for size in listed]
    if not given:
        raise OptionError("`k` must have at least one size.\n  Found: an empty list.")
    sizes = tuple(sorted(set(given)))
    return "1se" if len(sizes) > 1 else sizes[0], sizes


# --- runs --------------------------------------------------------------------------------------


def run_methods(
    problems: Sequence[Problem],
    contestants: Sequence[Contestant],
    weights: RowWeights,
    splits: Sequence[Split],
    asked: Sequence[tuple[int, ...] | None],
    seed: int,
    course: Course,
) -> tuple[tuple[Run, ...], list[int]]:
    """All methods, each at its own sizes, in all folds, with the numbers of the folds: if the call
    was stopped, those in which all methods are finished. Seeds are those of ``select()``."""
    own = stream_seed(seed, "cross-validation")
    seeds = [stream_seed(own, "fold", number) for number in range(len(splits))]
    calls = [
        (label, number, problem, method, weights, split, sizes, seeds[number])
        for number, split in enumerate(splits)
        for problem, (label, method), sizes in zip(problems, contestants, asked, strict=True)
    ]
    n = len(contestants)
    kind = Kind("pair", FoldPath, _whole_folds(n), "pairs of method and fold", "Comparison")
    found = run_pieces(_one_pair, calls, kind, course)
    runs = tuple(
        Run(
            label=contestant.label,
            title=contestant.method.title,
            options=contestant.method.changed(),
            sizes=of_method,
            folds=tuple(own for number, own in found.items() if number % n == i),
            paper=contestant.method.paper,
        )
        for i, (contestant, of_method) in enumerate(zip(contestants, asked, strict=True))
    )
    return runs, sorted({number // n for number in found})


def _whole_folds(n: int) -> Callable[[Found], Found]:
    """What is left of finished pairs: the folds of which all `n` are finished, if two or more."""

    def whole(found: Found) -> Found:
        have = Counter(number // n for number in found)
        folds = {fold for fold, count in have.items() if count == n}
        if len(folds) < FEWEST:
            return {}
        return {number: own for number, own in found.items() if number // n in folds}

    return whole


def _one_pair(label: str, number: int, *call: Any, n_threads: int = 1) -> FoldPath:
    """See :func:`follow_fold`; an error says of which method and fold it is."""
    try:
        return follow_fold(*call, n_threads=n_threads)
    except TreeselectError as error:
        raise type(error)(f"{error}\n  This was {quoted(label)} in fold {number + 1}.") from None


def run_notes(
    contestants: Sequence[Contestant], runs: Sequence[Run], of_data: tuple[str, ...]
) -> tuple[str, ...]:
    notes = []
    for (label, method), run in zip(contestants, runs, strict=True):
        if method.was_fitted:
            notes.append(
                f"{label} was fitted earlier, on unknown rows: if held-out rows were among them,"
                " its score is optimistic."
            )
        warned, n = Counter(text for fold in run.folds for text in fold.warnings), len(run.folds)
        notes += [f"{label}, in {count} of {n} folds: {text}" for text, count in warned.items()]
    return (*notes, *of_data)


# --- the null and the full model, beside which methods are read ----------------------------------


@dataclass(frozen=True)
class AllTerms(Method):
    """No selection: a single step with all units, refitted as the final model of methods is."""

    @property
    def name(self) -> str:
        return "reference models"

    def path(self, task: Task) -> Sequence[Step]:
        n = len(task.problem.groups.names)
        return [Step(0.0, np.ones(n, dtype=bool), np.full(n, 1 / n), np.nan)]


def summarise_comparison(found: Contest) -> printing.SummaryContent:
    """Content of the summary of a comparison: a row for each method, the best score first."""
    several, is_fixed = len(found.runs) > 1, isinstance(found.rule, int) and _can_choose(found)
    against = found.in_pandas.differences().set_index("method").to_dict("index")

    def difference(i: int) -> cells.Cell:
        own = {method: difference_cells(row)[i] for method, row in against.items()}
        return lambda row: own.get(row["method"], "" if i else "reference")

    columns, rows = cells.table(
        found.ranked_table(),
        [
            ("Method", "method"),
            ("k", lambda row: size_text(row["k"], row["n_selected"])),
            *([("k (1 s.e.)", lambda row: size_text(row["k_1se"], np.nan))] if is_fixed else []),
            (found.score_name, lambda row: printing.plain_score(row["score"])),
            ("s.e.", lambda row: printing.error_text(row["standard_error"])),
            *([("Difference", difference(0)), ("95% interval", difference(1))] if several else []),
            ("Stability", cells.decimal("stability", 2, "–")),
            ("Seconds", lambda row: f"{row['seconds']:.2g}"),
            *([("Front", cells.yes("front"))] if several else []),
        ],
    )
    return printing.SummaryContent(
        title="Comparison of methods: selection repeated inside each fold",
        facts=(
            ("Call", found.call),
            ("Data", found.data),
            ("Family", found.family),
            *follow_up_facts(found.follow_up),
            *found.weights_facts,
            ("Folds", f"{found.scheme}, the same for every method"),
            ("Compared at", _rule(found)),
            ("Score", f"{found.score_name} on held-out rows"),
            ("Seed", str(found.seed)),
        ),
        columns=columns,
        rows=rows,
        notes=_notes(found),
    )


def _can_choose(found: Contest) -> bool:
    return any(len(choices(found, run)) > 1 for run in found.runs)


def _rule(found: Contest) -> str:
    sizes = sorted({size for run in found.runs for size in choices(found, run)})
    if not sizes:
        return "the set at each method's given tuning parameter"
    if isinstance(found.rule, int):
        text = f"k = {found.rule}: the largest set of at most {units_text(found.rule, found)}"
    else:
        name = "1 s.e. rule" if found.rule == "1se" else "best score"
        whole = sizes == list(range(sizes[0], sizes[-1] + 1))
        among = span(sizes) if whole else ", ".join(map(str, sizes))
        text = f"each method's own k by the {name}, from {among}"
    if any(run.sizes is None for run in found.runs):
        text += "; with a given tuning parameter, the set at that value"
    return text


def size_text(k: object, mean: float) -> str:
    """A size, or the mean size in parentheses if no size was requested."""
    if pd.isna(k):  # type: ignore[call-overload]
        return "–" if np.isnan(mean) else f"({mean:.1f})"
    return str(k)


def units_text(mean: float, found: Contest) -> str:
    """ "3 terms", "all 7 terms" or "2.6 terms on average"; units where there are groups."""
    n_units = len(found.units)
    if not float(mean).is_integer():
        return f"{mean:.1f} {noun_in(found)} on average"
    if mean == n_units:
        return every(mean, noun_in(found, 1))
    return f"{printing.count_text(mean)} {noun_in(found, mean)}"


def noun_in(found: Contest, n: float = 2) -> str:
    """ "term" or "unit" of a comparison, in the plural unless `n` is 1."""
    return noun_of(found.terms_of_unit, n)


def _reference_models(found: Contest) -> list[str]:
    """A sentence on the scores of the null and the full model."""
    rows = found.in_pandas.references().to_dict("records")
    if not rows:
        return []
    null, full = (
        f"{printing.plain_score(row['score'])} (s.e. {printing.error_text(row['standard_error'])})"
        for row in rows
    )
    several = " They are not methods and do not count in differences or the Pareto front."
    return [
        f"Reference models: {found.score_name} is {null} for the null model, without terms, and"
        f" {full} for the full model, with {units_text(len(found.units), found)}, on"
        f" the same folds.{several if len(found.runs) > 1 else ''}"
    ]


def _notes(found: Contest) -> tuple[str, ...]:
    n_folds = len(found.n_test)
    notes = [*stopped(found, n_folds, "folds"), *filter(None, [found.score_words])]
    notes += _reference_models(found)
    if any(run.sizes is None for run in found.runs):
        notes.append(
            f"k in parentheses: mean number of {noun_in(found)} selected at a given tuning"
            " parameter."
        )
    if isinstance(found.rule, str) and _can_choose(found):
        notes.append(
            "The same folds chose k, so scores are optimistic, for some methods more than for"
            " others; `select(...).performance()`, which chooses k inside each fold, tells by how"
            " much."
        )
    if len(found.runs) > 1:
        scores = found.ranked_table()["score"]
        n_best = int((scores == scores.iloc[0]).sum())
        which = "which has" if n_best == 1 else f"one of {n_best} with"
        notes += [
            f"Differences are from {found.best}, {which} the best mean score, and paired by fold:"
            " corrected resampled t (Nadeau and Bengio 2003; p-values in `.differences()`), not"
            " adjusted for the number of methods or for the choice of the best.",
            "Pareto front: no other method is at least as good in score, number of"
            f" {noun_in(found)} and stability, and better in one of them.",
        ]
    notes += [NO_VARIANCE] if found.in_pandas.differences()["p_value"].isna().any() else []
    notes += [
        "Stability: Nogueira's index over the folds. Training sets share rows, so the index is"
        " higher than over independent samples.",
        "Seconds: wall-clock time of the whole selection path and the refitted model on the"
        " training rows of a fold, median over the folds.",
        "In each fold, selection and refitting use the training rows only. Factor levels, bin edges"
        " and the parameters of transforms come from all rows, without the response.",
    ]
    return (*notes, *method_notes(found), *unshown_note(found.unshown), *found.notes)


def method_notes(found: Contest) -> tuple[str, ...]:
    """The method behind each name, with its non-default options."""
    return tuple(
        f"{run.label}: {', '.join(filter(None, (run.title, options_text(run.options))))}."
        for run in found.runs
    )


def told_apart(differences: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Methods that do not differ detectably from the best, and those that are worse."""
    less = differences["ci_high"] < 0
    return differences.loc[~less, "method"].tolist(), differences.loc[less, "method"].tolist()


# --- score against number of units, by method: the data of figures of a comparison ---------------


class ScoreLine(NamedTuple):
    """A method over its sizes; a single point if it has one size."""

    method: str
    size: str  # size at which it is compared, as text: "3", or "(2.6)" for a mean number of units
    # rows of ``Contest.curves`` with ``size``, the mean number of units if a tuning parameter
    # determines it, and ``compared``, whether the method is compared at this size
    curve: pd.DataFrame


def score_lines(found: Contest) -> tuple[ScoreLine, ...]:
    """Methods over their sizes, the best score first. Sizes at which no fold selects anything are
    omitted, unless the method is compared there: the constant model scores far lower."""
    curves = dict(list(found.in_pandas.curves().groupby("method", sort=False)))
    lines = []
    for compared in found.ranked_table().to_dict("records"):
        curve = curves[compared["method"]]
        own = bool(curve["k"].isna().all())
        here = own | (curve["k"] == compared["k"]).fillna(False).astype(bool)
        sizes = curve["n_selected" if own else "k"].astype(float)
        shown = curve.assign(size=sizes, compared=here)[(curve["n_selected"] > 0) | here]
        text = size_text(compared["k"], compared["n_selected"])
        lines.append(ScoreLine(str(compared["method"]), text, shown))
    return tuple(lines)
