"""P-values after selection: select on one part of the rows, fit the linear model on the other."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.shared.base import SelectionMethod, tuning_words
from treeselect.arguments.checks import MOST_REPEATS, check_count, check_share
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.errors import DataError, OptionError, TreeselectError, quoted, said_by
from treeselect.frames.libraries import in_library
from treeselect.models.coefficients import coefficient_table, table_head, table_row, term_p_value
from treeselect.models.independence import independent_columns
from treeselect.models.linear import LinearData, LinearFit, fit_linear, linear_data
from treeselect.printing import MOST_ROWS, Summary, SummaryContent, p_text
from treeselect.resampling.choosing import Choice, choose
from treeselect.resampling.folds import Folds, Split
from treeselect.resampling.halves import draw_parts
from treeselect.running.parallel import Workers, run_all
from treeselect.running.progress import track

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

_FEW_GROUPS = 50
"""With fewer groups than this, a reader is told that the tests need many."""


def aggregate_p_values(p_values: FloatArray, gamma_min: float = 0.05) -> FloatArray:
    """One p-value per term from those of several splits.

    Parameters
    ----------
    p_values : ndarray of float, shape (n_splits, n_terms)
        From 0 to 1, already multiplied by the number of terms that were tested with them.
    gamma_min : float
        Least quantile that is looked at, above 0 and below 1.

    Returns
    -------
    ndarray of float, shape (n_terms,)
        At most 1.

    Notes
    -----
    Equations 2.2 and 2.3 of [1]_. The empirical gamma-quantile of B values is the k-th smallest
    for gamma in ((k - 1) / B, k / B], so that ``Q(gamma)`` is least at ``gamma = k / B``: the
    infimum is the least of ``B / k`` times the k-th smallest, for ``k / B`` above `gamma_min`.

    References
    ----------
    .. [1] N. Meinshausen, L. Meier, P. Buehlmann (2009). p-values for high-dimensional regression.
       Journal of the American Statistical Association 104, 1671-1681.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.inference import aggregate_p_values
    >>> p_values = np.array([[0.001, 1.0], [0.002, 0.5]])
    >>> print(aggregate_p_values(p_values).round(6))
    [0.007991 1.      ]
    """
    n = len(p_values)
    k = np.arange(1, n + 1)
    looked_at = k / n > gamma_min * (1 + 1e-12)
    quantiles = np.sort(p_values, axis=0)[looked_at] * (n / k[looked_at])[:, np.newaxis]
    least = np.minimum(quantiles.min(axis=0), 1.0)
    return np.asarray(np.minimum((1 - np.log(gamma_min)) * least, 1.0))


@dataclass(frozen=True, slots=True)
class SplitFit:
    """What one split found.

    Attributes
    ----------
    selected : tuple of str
        Terms selected on the first part.
    p_values : dict of str to float
        Of the joint test of each selected term on the second part, not multiplied by anything;
        1 if there is no linear model.
    fit : LinearFit or None
        The linear model on the second part, None if it failed.
    failure : str
        Why, in a sentence; empty if it did not.
    n_fitted, n_dropped : int
        Rows of the second part without and with a missing value in a selected term.
    """

    selected: tuple[str, ...]
    p_values: dict[str, float]
    fit: LinearFit | None
    failure: str
    n_fitted: int
    n_dropped: int


@dataclass(frozen=True, slots=True)
class Inference:
    """P-values of terms that were selected on other rows.

    Attributes
    ----------
    terms : tuple of str
        All terms of the formula.
    splits : tuple of SplitFit
    p_values : ndarray of float, shape (n_splits, n_terms)
        Of each split: 1 for terms that it did not select, else that of the joint test times the
        number of selected terms, at most 1.
    gamma_min, level : float
    content : SummaryContent
        What :meth:`summary` says.
    groups_name : str or bool
        Column whose groups of rows were in one part as a whole; else whether an array of them was
        given.
    library : str
        Library in which tables are given.
    """

    terms: tuple[str, ...]
    splits: tuple[SplitFit, ...]
    p_values: FloatArray
    gamma_min: float
    level: float
    content: SummaryContent
    groups_name: str | bool = False
    library: str = "pandas"

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def n_failed(self) -> int:
        """Splits without a linear model, whose terms count as p = 1."""
        return sum(bool(split.failure) for split in self.splits)

    def tidy(self) -> Any:
        """Coefficients of one split, or p-values of several.

        Returns
        -------
        frame, in the library of the data
            Of one split a row per coefficient: ``term``, ``column``, ``estimate``, ``std_error``,
            ``statistic``, ``p_value``, ``ci_low``, ``ci_high``; the p-values are those of the
            submodel, not multiplied by anything. If its linear model failed, a row per term with
            p-value 1 and nothing else. Of several a row per term of the formula, by p-value:
            ``term``, ``p_value`` (aggregated), ``selected`` and ``tested``, numbers of splits.
        """
        table = _coefficients(self) if self.n_splits == 1 else _aggregated(self)
        return in_library(table, self.library)

    def summary(self) -> Summary:
        """Printed summary."""
        return Summary(self.content)

    def __repr__(self) -> str:
        return f"<Inference, {self.n_splits} split{'s' if self.n_splits > 1 else ''}>"


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
    workers: Workers,
) -> Inference:
    """See :meth:`SelectionResult.inference`."""
    split, gamma_min = check_share("split", split), check_share("gamma_min", gamma_min)
    level = check_share("level", level)
    repeats = check_count("repeats", repeats, least=1, most=MOST_REPEATS)
    method, weight = result.chosen_method, data.weight
    if method.was_fitted:
        raise OptionError(
            "`inference()` must grow the trees on one part of the rows.\n"
            "  Found: `forest=` that was fitted before, perhaps on all of them. Select with trees"
            " that are grown here."
        )
    size = _size(result)
    choice = dataclasses.replace(result.choice, k=size, folds=folds)
    problem = dataclasses.replace(data.problem_for(method), wants_scores=False)
    seeds = [stream_seed(seed, "inference", number) for number in range(repeats)]
    parts = draw_parts(problem, weight, split, choice, seeds)
    calls = [
        (problem, method, weight, choice, part.train, own)
        for part, own in zip(parts, seeds, strict=True)
    ]
    chosen = track(run_all(_select, calls, workers), "Splits", len(calls), result.progress)
    terms = tuple(spec.term.name for spec in data.spec.terms)
    splits = tuple(
        _fit_part(data, None if units is None else _terms_of(data, units), part.test, folds.groups)
        for units, part in zip(chosen, parts, strict=True)
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
    )
    other = _other_groups(result.choice.folds.groups_name, folds.groups_name)
    call = f"{result.call.text}.inference({split:g}, {repeats}, seed={seed}{other})"
    sizes = _part_words(parts, folds)
    content = _content(found, result, call, sizes, _rule_text(size, result))
    return dataclasses.replace(found, content=content)


def _other_groups(of_fit: str | bool, name: str | bool) -> str:
    """The argument ``fold_groups`` as it could be typed, if it says more than the fit."""
    if name == of_fit:
        return ""
    return f", fold_groups={name!r}" if isinstance(name, str) else ", fold_groups=..."


def _size(result: Fit) -> int | str | None:
    """The rule of the fit for the number of units."""
    k = result.choice.k
    if not isinstance(k, int):
        return k
    return max(1, min(k, len(result.design.arrays.groups.names)))


def _rule_text(size: int | str | None, result: Fit) -> str:
    if size is None:
        return tuning_words(result.chosen_method)
    if isinstance(size, int):
        return f"{size} unit{'s' if size > 1 else ''}"
    rule = "best score" if size == "best" else "1 s.e. rule"
    return f"{rule}, cross-validated within that part"


# --- selecting ----------------------------------------------------------------------------------


def _select(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    choice: Choice,
    rows: IntArray,
    seed: int,
    *,
    n_threads: int = 1,
) -> BoolArray | None:
    """Units selected on some rows; None if the response does not vary there."""
    if len(np.unique(problem.y[rows])) < 2:
        return None
    own = np.zeros_like(weight)
    own[rows] = weight[rows]
    chosen = choose(
        problem, method, own, choice, seed=seed, workers=Workers(1, n_threads), progress=False
    )
    return chosen.step.selected


def _terms_of(data: ModelData, groups: BoolArray) -> tuple[str, ...]:
    """Terms of some units, in the order of the formula."""
    units = data.arrays.groups.terms
    found = {term for g in np.flatnonzero(groups) for term in units[g]}
    return tuple(spec.term.name for spec in data.spec.terms if spec.term.name in found)


# --- testing -----------------------------------------------------------------------------------


def _fit_part(
    data: ModelData, terms: tuple[str, ...] | None, rows: IntArray, groups: IntArray | None
) -> SplitFit:
    """Fit the linear model of some terms on some rows, and test each of them."""
    if terms is None:
        why = "The response does not vary in the rows to select on."
        return SplitFit((), {}, None, why, 0, 0)
    n_fitted = n_dropped = 0
    try:
        here = linear_data(data, terms, rows, groups)
        n_fitted, n_dropped = len(here.y), here.n_dropped
        if n_fitted > here.matrix.shape[1]:
            here = _without_sums(here, terms)
        response = data.response
        fit = fit_linear(here, response.family.name, response.name, response.classes)
        if fit.problems:
            raise DataError(fit.problems[0])
        p_values = {term: term_p_value(fit, term) for term in terms}
        if not np.isfinite(list(p_values.values())).all():
            raise DataError("The tests can't be computed.")
    except OptionError:
        raise
    except (TreeselectError, np.linalg.LinAlgError) as error:
        why = said_by(error)
        return SplitFit(terms, dict.fromkeys(terms, 1.0), None, why, n_fitted, n_dropped)
    return SplitFit(terms, p_values, fit, "", n_fitted, n_dropped)


def _without_sums(data: LinearData, terms: Sequence[str]) -> LinearData:
    """The same without columns that are sums of columns of their own term and the intercept.

    The test of a term is the same whichever of them is left out: that of as many columns as the
    rank falls by without the term.

    Raises
    ------
    DataError
        If a term can't be told from the others.
    """
    matrix, term_of = data.matrix.to_numpy(), np.array(data.term_of, dtype=object)
    free = independent_columns(matrix)
    if free.all():
        return data
    for term in terms:
        own = term_of == term
        rank_of_others = int(independent_columns(matrix[:, ~own]).sum())
        if int(free.sum()) - rank_of_others != int((free & own).sum()):
            raise DataError(
                f"Columns of {quoted(term)} are sums of those of other terms, or the reverse."
            )
    return data.of_columns(free)


def _multiplied(split: SplitFit, term: str) -> float:
    """P-value of a term in a split, times the number of terms that were tested there."""
    return min(1.0, split.p_values.get(term, 1.0) * max(len(split.selected), 1))


# --- tables ------------------------------------------------------------------------------------


def _coefficients(found: Inference) -> pd.DataFrame:
    import pandas as pd

    (split,) = found.splits
    if split.fit is not None:
        return coefficient_table(split.fit, found.level)
    nan = [float("nan")] * len(split.selected)
    names = ("estimate", "std_error", "statistic", "p_value", "ci_low", "ci_high")
    columns: dict[str, Sequence[Any]] = {"term": split.selected, "column": split.selected}
    columns |= {name: [1.0] * len(nan) if name == "p_value" else nan for name in names}
    return pd.DataFrame(columns)


def _aggregated(found: Inference) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(
        {
            "term": found.terms,
            "p_value": aggregate_p_values(found.p_values, found.gamma_min),
            "selected": [sum(t in s.selected for s in found.splits) for t in found.terms],
            "tested": [
                sum(t in s.selected and not s.failure for s in found.splits) for t in found.terms
            ],
        }
    )
    return table.sort_values(
        ["p_value", "selected"], ascending=[True, False], kind="stable", ignore_index=True
    )


# --- words -------------------------------------------------------------------------------------


def _content(found: Inference, result: Fit, call: str, sizes: str, rule: str) -> SummaryContent:
    one = found.n_splits == 1
    fits = [split.fit for split in found.splits if split.fit is not None]
    facts = [
        ("Call", call),
        ("Method", f"{result.chosen_method.title}, {rule}"),
        ("Split", sizes),
        ("Model", f"{fits[0].model} (statsmodels)" if fits else "none could be fitted"),
    ]
    if found.groups_name and fits:
        facts.append(("Std. errors", _error_words(found.groups_name, fits)))
    if one:
        facts.append(("Selected", ", ".join(found.splits[0].selected) or "nothing"))
        dropped = found.splits[0].n_dropped
        facts.append(("Rows dropped", f"{dropped:,}, {_MISSING}"))
        columns, rows = _coefficient_rows(found)
        notes = [_ONE_SPLIT]
    else:
        facts.append(("Splits", f"{found.n_splits}, of which {found.n_failed} failed"))
        dropped = sum(split.n_dropped for split in found.splits)
        facts.append(
            ("Rows dropped", f"{round(dropped / found.n_splits, 1):g} per split, {_MISSING}")
        )
        columns, rows = _term_rows(found)
        notes = [_SEVERAL_SPLITS]
        if len(found.terms) > MOST_ROWS:
            notes.append(f"{len(found.terms) - MOST_ROWS:,} more terms in `.tidy()`.")
    reasons = Counter(split.failure for split in found.splits if split.failure)
    for why, count in reasons.most_common():
        times = "The split" if one else f"{count} split{'s' if count > 1 else ''}"
        notes.append(f"{times} without a linear model, p = 1 for its terms: {why}")
    if found.groups_name:
        notes.append(_group_note(found.groups_name, fits))
    title = "P-values after selection: " + ("one split" if one else f"{found.n_splits} splits")
    return SummaryContent(title, tuple(facts), columns, rows, tuple(notes))


def _part_words(parts: Sequence[Split], folds: Folds) -> str:
    """Sizes of the two parts: of rows the same in each draw, of whole groups on average."""
    rows = [round(float(np.mean([len(p) for p in own]))) for own in _sides(parts)]
    if folds.groups is None:
        return f"{rows[0]:,} rows to select on, {rows[1]:,} to fit on"
    groups = folds.groups
    n = [len(np.unique(groups[own[0]])) for own in _sides(parts)]
    about = "about " if len(parts) > 1 else ""
    return (
        f"{n[0]:,} groups{_of(folds.groups_name)} ({about}{rows[0]:,} rows) to select on,"
        f" {n[1]:,} ({rows[1]:,}) to fit on"
    )


def _sides(parts: Sequence[Split]) -> tuple[list[IntArray], list[IntArray]]:
    return [part.train for part in parts], [part.test for part in parts]


def _of(name: str | bool) -> str:
    return f" of {quoted(name)}" if isinstance(name, str) else ""


def _error_words(name: str | bool, fits: Sequence[LinearFit]) -> str:
    """How standard errors were computed, and on how many groups."""
    n = sorted({fit.n_groups for fit in fits if fit.n_groups is not None})
    number = f"{n[0]:,}" if len(n) == 1 else f"{n[0]:,} to {n[-1]:,}"
    df = f", {n[0] - 1:,} degrees of freedom" if len(n) == 1 else ""
    return f"cluster-robust, {number} groups{_of(name)}{df}"


def _group_note(name: str | bool, fits: Sequence[LinearFit]) -> str:
    each = f"each {quoted(name)}" if isinstance(name, str) else "each group"
    said = f"All rows of {each} are in one part"
    numbers = [fit.n_groups for fit in fits if fit.n_groups is not None]
    if not numbers:
        return f"{said}."
    said += ", and may depend on each other in any way: standard errors are cluster-robust."
    if min(numbers) >= _FEW_GROUPS:
        return said
    return (
        f"{said} They are right for many groups: with {min(numbers)} to fit on, p-values may be too"
        " small (Cameron and Miller 2015)."
    )


def _coefficient_rows(found: Inference) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    fit = found.splits[0].fit
    if fit is None:
        return (), ()
    table = coefficient_table(fit, found.level)
    rows = tuple(table_row(row) for row in table.itertuples(index=False))
    return table_head(fit, found.level), rows


def _term_rows(found: Inference) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    rows = tuple(
        (str(row.term), p_text(row.p_value), str(row.selected), str(row.tested))  # type: ignore[arg-type]
        for row in _aggregated(found).head(MOST_ROWS).itertuples(index=False)
    )
    return ("Term", "P-value", "Splits that selected it", "and tested it"), rows


_MISSING = "with a missing value in a selected term"

_ONE_SPLIT = (
    "Valid for the submodel of the terms that were selected on the first part of the rows: they are"
    " fitted and tested on the other part alone. P-values are not adjusted for the number of"
    " coefficients. Another split may select other terms: `repeats=50` combines so many."
)

_SEVERAL_SPLITS = (
    "P-values are adjusted for the number of selected terms and combined over the splits"
    " (Meinshausen, Meier and Buehlmann 2009): at level 0.05, the chance of any false term is at"
    " most 5 % if the linear model holds and the selection contains all terms that matter. There"
    " are no combined estimates or intervals."
)
