"""Select on one part of the rows, fit and test the linear model on the other."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.method import Method
from treeselect.arguments.checks import AUTO, MOST_REPEATS, check_count, check_share
from treeselect.designs.labels import shown_names
from treeselect.designs.linear import (
    WAYS_OUT,
    LinearCoding,
    coded_words,
    read_coding,
    warn_of_gaps,
)
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.strata import varies
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import DataError, OptionError, TreeselectError, listing, quoted, said_by
from treeselect.models.coefficients import (
    clusters,
    coefficient_table,
    error_words,
    few_events_notes,
    in_print,
    ratio_notes,
    robust_note,
    table_head,
    table_rows,
    term_p_value,
)
from treeselect.models.fit_statistics import dispersion_fact, fit_statistics
from treeselect.models.independence import independent_columns
from treeselect.models.linear import LinearFit, fit_linear
from treeselect.models.linear_data import LinearData, linear_data
from treeselect.models.maketables import changed_labels
from treeselect.printing import MOST_ROWS, SummaryContent, count_text, p_text
from treeselect.resampling.choosing import Choice, choose
from treeselect.resampling.fit import noun
from treeselect.resampling.folds import Folds, Split
from treeselect.resampling.inference import Inference, SplitFit, _aggregated
from treeselect.resampling.sample_splitting import draw_parts
from treeselect.running.parallel import Workers
from treeselect.running.pieces import Course, Kind, run_pieces, some, stopped_note, units_read

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


# --- the linear model of one split, on the rows that did not select its terms ------------------


def fit_part(
    data: ModelData, terms: tuple[str, ...] | None, rows: IntArray, coding: LinearCoding
) -> SplitFit:
    """Fit the linear model of some terms on some rows, and test each of them."""
    if terms is None:
        why = "The response is constant in the rows for selection."
        return SplitFit((), {}, None, why, 0, 0)
    n_fitted = n_dropped = 0
    try:
        here = linear_data(data, terms, rows, data.row_weights.groups, coding)
        n_fitted, n_dropped = len(here.y), here.n_dropped
        aliased: dict[str, int] = {}
        if n_fitted > here.matrix.shape[1]:
            here, aliased = _without_sums(here, terms)
        response = data.response
        fit = fit_linear(here, response.family.name, response.name, response.classes)
        if fit.problems:
            raise DataError(fit.problems[0])
        has_columns = set(here.term_of) | (set(terms) - aliased.keys())
        p_values = {
            term: term_p_value(fit, term) if term in has_columns else float("nan") for term in terms
        }
        tested = [p for term, p in p_values.items() if term in has_columns]
        if not np.isfinite(tested).all():
            raise DataError("The tests can't be computed.")
    except OptionError:
        raise
    except (TreeselectError, np.linalg.LinAlgError) as error:
        why = said_by(error)
        return SplitFit(terms, dict.fromkeys(terms, 1.0), None, why, n_fitted, n_dropped)
    return SplitFit(terms, p_values, fit, "", n_fitted, n_dropped, tuple(aliased))


def _without_sums(data: LinearData, terms: Sequence[str]) -> tuple[LinearData, dict[str, int]]:
    """The same without columns that are linear combinations of preceding ones, as in R.

    Returns
    -------
    data : LinearData
    aliased : dict of str to int
        Terms that lose columns because of other terms, and how many. Columns that are collinear
        within their own term and the intercept do not count: the joint test of a term is the same
        whichever of them is dropped, and its degrees of freedom are the loss of rank without the
        term.
    """
    matrix, term_of = data.compared, np.array(data.term_of, dtype=object)
    free = independent_columns(matrix)
    if free.all():
        return data, {}
    aliased = {}
    inside = ~np.isin(term_of, list(terms))  # the intercept
    for term in terms:
        own = term_of == term
        alone = independent_columns(matrix[:, inside | own])[own[inside | own]]
        lost = int(alone.sum()) - int((free & own).sum())
        if lost:
            aliased[term] = lost
    return data.of_columns(free), aliased


def split_notes(
    data: ModelData, splits: Sequence[SplitFit], coding: LinearCoding
) -> tuple[str, ...]:
    """Notes on aliased columns, missing values and ordered factors."""
    labels, notes = shown_names(data), []
    counts = Counter(name for split in splits for name in split.aliased)
    untested = Counter(
        name for split in splits for name, p in split.p_values.items() if np.isnan(p)
    )
    if counts:
        n = sum(bool(split.aliased) for split in splits)
        where = "" if len(splits) == 1 else f" in {n} of {len(splits)} splits"
        names = (f"{labels.get(name, name)}{_times(counts[name], splits)}" for name in counts)
        notes.append(
            f"Columns of {listing(names)} are linear combinations of columns of preceding terms"
            f"{where} and are dropped, as in R: an effect that they share with these is"
            " attributed to the preceding terms."
        )
    if untested:
        names = (f"{labels.get(name, name)}{_times(untested[name], splits)}" for name in untested)
        notes.append(f"Not tested (NA), as no column is left: {listing(names)}.")
    selected = tuple(dict.fromkeys(name for split in splits for name in split.selected))
    if coding.missing == "drop" and any(split.n_dropped for split in splits):
        notes.append(f"Rows with missing values are dropped. {WAYS_OUT}")
    if coding.missing == "indicator":
        notes.append(
            "Missing values are a level of a factor; for a number they are replaced by the median"
            " of the rows for testing, with an indicator that is tested with the term."
        )
    return (*notes, *coded_words(data.sources, data.spec.terms, selected, coding))


def _times(n: int, splits: Sequence[SplitFit]) -> str:
    return "" if len(splits) == 1 else f" ({n:,})"


# --- select on one part of the rows, fit and test the linear model on the other ----------------


def infer(
    result: Fit,
    data: ModelData,
    *,
    split: float,
    repeats: int,
    seed: int,
    gamma_min: float,
    level: float,
    folds: Folds,
    course: Course,
    call: str,
    missing: object = "drop",
    ordered: object = "treatment",
) -> Inference:
    """See :meth:`SelectionResult.inference`."""
    coding = read_coding(missing, ordered, data.sources, data.spec.terms)
    split, gamma_min = check_share("split", split), check_share("gamma_min", gamma_min)
    level = check_share("level", level)
    repeats = check_count("repeats", repeats, least=1, most=MOST_REPEATS)
    method, weights = result.chosen_method, data.row_weights
    if method.was_fitted:
        raise OptionError(
            "`inference()` must grow the trees on one part of the rows.\n"
            "  Found: a `forest=` fitted earlier, perhaps on all of them. Select with a"
            " forest that is not yet fitted."
        )
    size = _size(result)
    choice = dataclasses.replace(result.choice, k=size, folds=folds)
    problem = dataclasses.replace(data.problem_for(method), wants_scores=False)
    seeds = [stream_seed(seed, "inference", number) for number in range(repeats)]
    parts = draw_parts(problem, weights, split, choice, seeds)
    calls = [
        (problem, method, weights, choice, part.train, own)
        for part, own in zip(parts, seeds, strict=True)
    ]
    if coding.missing == "drop":
        warn_of_gaps(data, result.selected, "inference()", stacklevel=3, splits=True)
    chosen = run_pieces(_select, calls, _kind_of(problem.groups.names), course)
    parts = [parts[number] for number in chosen]
    terms = tuple(spec.term.name for spec in data.spec.terms)
    splits = tuple(
        fit_part(data, None if units is None else _terms_of(data, units), part.test, coding)
        for units, part in zip(chosen.values(), parts, strict=True)
    )
    found = Inference(
        terms=terms,
        splits=splits,
        p_values=np.array([[_multiplied(s, term) for term in terms] for s in splits]),
        gamma_min=gamma_min,
        level=level,
        content=SummaryContent("", (), (), (), ()),
        groups_name=folds.groups_name,
        library=data.library,
        asked=repeats if len(parts) < repeats else None,
        response=data.response.name,
        **_of_model(splits, data),
    )
    sizes = _part_words(parts, weights.groups, folds.groups_name)
    content = _content(found, result, call, sizes, _rule_text(size, result))
    content = _with_notes(content, split_notes(data, splits, coding))
    return dataclasses.replace(found, content=content)


def _of_model(splits: Sequence[SplitFit], data: ModelData) -> dict[str, Any]:
    """Statistics and labels of the model of a single split; several splits have no common model."""
    if len(splits) > 1 or splits[0].fit is None:
        return {}
    fit, are_copies = splits[0].fit, data.row_weights.are_copies
    table = coefficient_table(fit)
    return {
        "statistics": fit_statistics(fit, data.response.family.name, are_copies=are_copies),
        "labels": changed_labels(table, in_print(data, table)),
    }


def _kind_of(names: Sequence[str]) -> Kind:
    """How splits are written to files: the units selected on the first part, or None."""

    def read(_: int, said: Any) -> BoolArray | None:
        if said is None:
            return None
        selected = np.zeros(len(names), dtype=bool)
        selected[units_read(said, len(names))] = True
        return selected

    def units(selected: BoolArray | None) -> list[int] | None:
        return None if selected is None else np.flatnonzero(selected).tolist()

    def told(_: int, selected: BoolArray | None) -> dict[str, Any]:
        found = units(selected)
        return {"selected": None if found is None else tuple(names[g] for g in found)}

    return Kind(
        name="split",
        many="splits",
        label="Splits",
        write=units,
        read=read,
        found=told,
        part=some,
    )


def _size(result: Fit) -> int | str | None:
    """The rule of the fit for the number of units."""
    k = result.choice.k
    if not isinstance(k, int):
        return k
    return max(1, min(k, len(result.design.arrays.groups.names)))


def _rule_text(size: int | str | None, result: Fit) -> str:
    if size is None:
        return result.chosen_method.tuning_words
    if isinstance(size, int):
        return f"{count_text(size)} {noun(result, size)}"
    rule = {"best": "best score", AUTO: "smallest sufficient set"}.get(size, "1 s.e. rule")
    spared = result.scores is not None and result.scores.spared is not None
    done = ", by held-out rows" if spared else ", cross-validated"
    return f"{rule}{'' if size == AUTO else done} within the rows for selection"


def _select(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    choice: Choice,
    rows: IntArray,
    seed: int,
    *,
    n_threads: int = 1,
) -> BoolArray | None:
    """Units selected on some rows; None if the response does not vary there."""
    if not varies(problem, rows):
        return None
    chosen = choose(
        problem,
        method,
        weights.only(rows),
        choice,
        seed=seed,
        workers=Workers(1, n_threads),
        progress=False,
    )
    return chosen.step.selected


def _terms_of(data: ModelData, groups: BoolArray) -> tuple[str, ...]:
    """Terms of some units, in the order of the formula."""
    units = data.arrays.groups.terms
    found = {term for g in np.flatnonzero(groups) for term in units[g]}
    return tuple(spec.term.name for spec in data.spec.terms if spec.term.name in found)


def _multiplied(split: SplitFit, term: str) -> float:
    """P-value of a term in a split, times the number of terms tested there, at most 1."""
    p_value = split.p_values.get(term, 1.0)
    return 1.0 if np.isnan(p_value) else min(1.0, p_value * max(len(split.selected), 1))


def _with_notes(content: SummaryContent, notes: Sequence[str]) -> SummaryContent:
    return dataclasses.replace(content, notes=(*content.notes, *notes))


def _content(found: Inference, result: Fit, call: str, sizes: str, rule: str) -> SummaryContent:
    one = found.n_splits == 1
    fits = [split.fit for split in found.splits if split.fit is not None]
    labels = shown_names(result.design)
    facts = [
        ("Call", call),
        ("Method", f"{result.chosen_method.title}, {rule}"),
        ("Split", sizes),
        ("Model", ", or ".join(dict.fromkeys(f.model for f in fits)) or "none could be fitted"),
        *result.design.weights_facts,
        *dispersion_fact(fits),
    ]
    if found.groups_name and fits:
        facts.append(("Std. errors", error_words(found.groups_name, fits)))
    if one:
        selected = (labels.get(name, name) for name in found.splits[0].selected)
        facts.append(("Selected", ", ".join(selected) or "nothing"))
        facts.append(("Rows dropped", f"{found.splits[0].n_dropped:,} {_MISSING}"))
        columns, rows, about = _coefficients_in_print(found, result.design)
        notes = [*([_ONE_SPLIT] if fits else []), *about]
        notes += few_events_notes(fits)
    else:
        facts.append(("Splits", f"{found.n_splits}, of which {found.n_failed} failed"))
        dropped = sum(split.n_dropped for split in found.splits)
        facts.append(
            ("Rows dropped", f"{round(dropped / found.n_splits, 1):g} per split {_MISSING}")
        )
        columns, rows = _term_rows(found, labels)
        notes = [_SEVERAL_SPLITS] if fits else [_NONE_FITTED]
        notes += [_RARE] if any(row[-1].endswith("*") for row in rows) else []
        notes += [*few_events_notes(fits, "split")]
        if len(found.terms) > MOST_ROWS:
            notes.append(f"{len(found.terms) - MOST_ROWS:,} more terms in `.tidy()`.")
    if found.asked is not None:
        notes.insert(0, stopped_note(found.n_splits, found.asked, "splits"))
    reasons = Counter(split.failure for split in found.splits if split.failure)
    for why, count in reasons.most_common():
        none = (
            "No linear model" if one else f"No linear model in {count} of {found.n_splits} splits"
        )
        notes.append(f"{none}, so p = 1 for the terms: {why}")
    if found.groups_name:
        notes.append(_group_note(found.groups_name, fits))
    title = "P-values after selection: " + ("one split" if one else f"{found.n_splits} splits")
    return SummaryContent(title, tuple(facts), columns, rows, tuple(notes))


def _part_words(parts: Sequence[Split], groups: IntArray | None, name: str | bool) -> str:
    """Sizes of the two parts, for clusters the average over the splits."""
    rows = [round(float(np.mean([len(p) for p in own]))) for own in _sides(parts)]
    if groups is None:
        return f"{rows[0]:,} rows for selection, {rows[1]:,} for testing"
    n = [len(np.unique(groups[own[0]])) for own in _sides(parts)]
    about = "about " if len(parts) > 1 else ""
    return (
        f"{n[0]:,} {clusters(name)} ({about}{rows[0]:,} rows) for selection,"
        f" {n[1]:,} ({rows[1]:,}) for testing"
    )


def _sides(parts: Sequence[Split]) -> tuple[list[IntArray], list[IntArray]]:
    return [part.train for part in parts], [part.test for part in parts]


def _group_note(name: str | bool, fits: Sequence[LinearFit]) -> str:
    each = f"each {quoted(name)} cluster" if isinstance(name, str) else "each cluster"
    said = f"All rows of {each} are in the same part."
    robust = [fit for fit in fits if fit.n_groups is not None]
    return f"{said} {robust_note(robust, ' for testing')}" if robust else said


_Rows = tuple[tuple[str, ...], ...]


def _coefficients_in_print(
    found: Inference, data: ModelData
) -> tuple[tuple[str, ...], _Rows, tuple[str, ...]]:
    """Head and rows of the coefficient table of one split, with notes on its ratios."""
    fit = found.splits[0].fit
    if fit is None:
        return (), (), ()
    table = in_print(data, coefficient_table(fit, found.level))
    return table_head(fit, found.level), table_rows(table, fit), ratio_notes(fit, table)


def _term_rows(
    found: Inference, labels: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    rows = tuple(
        (
            labels.get(row["term"], row["term"]),
            p_text(row["p_value"]),
            str(row["selected"]),
            f"{row['tested']}{'*' if _is_rare(row, found) else ''}",
        )
        for row in _aggregated(found).head(MOST_ROWS).to_dict("records")
    )
    return ("Term", "P-value", "Splits selecting it", "Splits testing it"), rows


def _is_rare(row: Mapping[Any, Any], found: Inference) -> bool:
    """Whether a small p-value comes from a minority of the splits."""
    return bool(row["p_value"] < 0.05 and 2 * row["tested"] < found.n_splits)


_RARE = (
    "* Tested in fewer than half of the splits; the others did not select it. Its p-value is small"
    " because it is very small in these: evidence of an effect, not that another sample would"
    " select the term."
)

_MISSING = "with a missing value in a selected term"


_ONE_SPLIT = (
    "The terms were selected on one part of the rows and the linear model fitted to the other part:"
    " its p-values and intervals are valid for this submodel. P-values are not adjusted for the"
    " number of coefficients. Other splits may select other terms; `repeats=50` combines 50 splits."
)


_NONE_FITTED = (
    "No split has a linear model: no term was tested, and each p-value is 1 by convention."
)

_SEVERAL_SPLITS = (
    "P-values are adjusted for the number of selected terms and combined over the splits"
    " (Meinshausen, Meier and Buehlmann 2009): at level 0.05, the family-wise error rate is at most"
    " 5% if the linear model holds and the selection contains all relevant terms. There are no"
    " combined estimates or intervals."
)
