"""Coefficients of linear models: estimates, intervals, tests, and their printed form."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy

from treeselect.designs.evaluation import spline_basis
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import column_labels, distinct_labels, term_label
from treeselect.designs.weights import quartiles
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import PRECISION
from treeselect.errors import OptionError, listing, quoted
from treeselect.models.linear.data import LinearData
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.rule import pooled_df
from treeselect.printing import common_form, interval_text, number_text, p_text, significant


def coefficient_table(fit: LinearFit, level: float = 0.95) -> pd.DataFrame:
    """One row per coefficient: ``term``, ``column``, ``estimate``, ``std_error``, ``statistic``,
    ``p_value``, ``ci_low``, ``ci_high``."""
    variance = np.diag(fit.covariance)
    # In a singular fit, a variance may be negative and has no standard error.
    error = np.sqrt(np.where(variance >= 0, variance, np.nan))
    law = scipy.stats.norm() if fit.df is None else scipy.stats.t(fit.df)
    return estimates_table(fit, fit.estimate, error, law, level)


def estimates_table(
    fit: LinearFit, estimate: FloatArray, error: FloatArray, law: Any, level: float = 0.95
) -> pd.DataFrame:
    """The same of other estimates of these coefficients, whose statistics have this law."""
    with np.errstate(divide="ignore", invalid="ignore"):  # an exact fit has standard errors of 0
        statistic = estimate / error
    half = law.ppf((1 + level) / 2) * error
    return pd.DataFrame({
        "term": fit.terms, "column": fit.names, "estimate": estimate, "std_error": error,
        "statistic": statistic, "p_value": 2 * law.sf(np.abs(statistic)),
        "ci_low": estimate - half, "ci_high": estimate + half,
    })  # fmt: skip


def readable(
    fit: LinearFit, data: LinearData, units: Mapping[str, float] | None = None
) -> LinearFit:
    """The coefficients that a reader can use: in place of those of a spline the difference of the
    linear predictor between the quartiles of the number (Harrell 2015, section 5.5); of other
    numbers that of some units."""
    keep, names, terms = [], [], []
    rows = np.eye(len(fit.names))
    for j, (name, term) in enumerate(zip(fit.names, fit.terms, strict=True)):
        if term in data.splines and bent_columns([name], [term], term).any():
            continue
        if term in data.splines and name.endswith(term):
            x = data.matrix[term].to_numpy()
            gaps = data.matrix.loc[:, np.array(data.term_of) == term].filter(like="missing(")
            known = data.row_weights.values * (gaps == 0).all(axis=1).to_numpy()
            low, high = quartiles(x, known)
            if not low < high:  # where the quartiles coincide, the extremes
                low, high = float(x.min()), float(x.max())
            basis = spline_basis(np.array([low, high]), data.splines[term])
            for k, step in enumerate(basis[1] - basis[0]):
                own = name + "'" * k
                if own in fit.names:
                    rows[j, fit.names.index(own)] = step
            name = f"{name}: {high:.4g} vs {low:.4g}"
        elif units and term in units and name.endswith(term):
            rows[j, j] = units[term]
            name = f"{name}: per {units[term]:.4g}"
        keep.append(j)
        names.append(name)
        terms.append(term)
    return combinations(fit, rows[keep], names, terms)


def combinations(
    fit: LinearFit, made: FloatArray, names: Sequence[str], terms: Sequence[str]
) -> LinearFit:
    """Linear combinations of coefficients, as if they were coefficients."""
    return dataclasses.replace(
        fit, names=tuple(names), terms=tuple(terms), estimate=made @ fit.estimate,
        covariance=made @ fit.covariance @ made.T,
    )  # fmt: skip


def bent_columns(names: Iterable[str], terms: Iterable[str], term: str) -> BoolArray:
    """Which columns, or coefficients, are the non-linear part of the spline of a term."""
    behind = (n.rpartition(term)[2] if t == term else "" for n, t in zip(names, terms, strict=True))
    return np.array([bool(text) and not text.strip("'") for text in behind])


def wald_test(fit: LinearFit, tested: BoolArray) -> tuple[float, float]:
    """Statistic and p-value of the Wald test of some coefficients, an F test if `df` is known;
    missing where they diverge so far that their robust variances are negative."""
    at = np.flatnonzero(tested)
    own, part = fit.estimate[at], fit.covariance[np.ix_(at, at)]
    if (np.diag(part) < 0).any():
        return float("nan"), float("nan")
    wald = float(own @ np.linalg.solve(part, own))
    if fit.df is None:
        return wald, float(scipy.stats.chi2.sf(wald, len(at)))
    return wald / len(at), float(scipy.stats.f.sf(wald / len(at), len(at), fit.df))


def exponentiated(table: pd.DataFrame, ratio: str) -> pd.DataFrame:
    """The table with estimates and intervals as ratios; other columns as they are."""
    if not ratio:
        raise OptionError(
            "`exponentiate` must be False: these coefficients aren't on a log scale.\n"
            "  Found: a least-squares fit, whose coefficients are differences."
        )
    columns = ["estimate", "ci_low", "ci_high"]
    with np.errstate(over="ignore"):
        return table.assign(**{name: np.exp(table[name]) for name in columns})


def table_head(
    fit: LinearFit, level: float, letter: str = "", df: tuple[str, ...] = ()
) -> tuple[str, ...]:
    letter = letter or ("z" if fit.df is None else "t")
    head = f"{100 * level:g}% interval"
    tests = "Estimate", "Std. error", letter, *df, f"P(>|{letter}|)"
    if leads_with_ratios(fit):
        return ("Column", fit.ratio.capitalize(), head, *tests)
    return ("Column", *tests, head)


def leads_with_ratios(fit: LinearFit) -> bool:
    return fit.n_events is not None


def table_rows(table: pd.DataFrame, *, with_ratios: bool) -> tuple[tuple[str, ...], ...]:
    """The printed rows of a table of coefficients, or of pooled ones."""
    form, records = coefficient_form(table), cast(Any, table.itertuples(index=False))
    rows = []
    for row in records:
        *tests, p_value = tests_cells(row, form)
        tests += [number_text(row.df, ".4g", "∞"), p_value] if "df" in table else [p_value]
        beside = ratio_cells(row) if with_ratios else ()
        behind = [] if with_ratios else [interval_text(row.ci_low, row.ci_high, form)]
        behind += [number_text(row.fmi, ".2f")] if "fmi" in table else []
        rows.append((str(row.column), *beside, *tests, *behind))
    return tuple(rows)


def coefficient_form(table: pd.DataFrame) -> str:
    """Format of estimates, standard errors and intervals, as in R: enough decimals to give the
    smallest standard error three digits; if these are too many, four significant digits each."""
    errors = table["std_error"].to_numpy(dtype=np.float64)
    return common_form(errors, digits=significant(3))


def tests_cells(row: Any, form: str) -> tuple[str, str, str, str]:
    """An estimate with its standard error, statistic and p-value, printed."""
    return (
        number_text(row.estimate, form),
        number_text(row.std_error, form),
        number_text(row.statistic, ".3f"),
        p_text(row.p_value),
    )


def ratio_cells(row: Any) -> tuple[str, str]:
    """A ratio and its interval, printed: by default three digits of the ratio, or two of the width
    of the interval if that takes more decimals."""
    with np.errstate(over="ignore", invalid="ignore"):
        ratio, low, high = np.exp([row.estimate, row.ci_low, row.ci_high])
        form = common_form([ratio, 10 * (high - low)], digits=significant(3))
    return format(ratio, form), f"{format(low, form)} to {format(high, form)}"


_ENOUGH_EVENTS = 10
"""Events per coefficient below which a note is given."""


_FEW_GROUPS = 50
"""With fewer clusters than this, a note says that robust errors need many."""


def error_words(name: str | bool, fits: Sequence[LinearFit]) -> str:
    """How cluster-robust standard errors were computed, and from how many clusters."""
    n = sorted({fit.n_groups for fit in fits if fit.n_groups is not None})
    number = f"{n[0]:,}" if len(n) == 1 else f"{n[0]:,} to {n[-1]:,}"
    df = f", {n[0] - 1:,} degrees of freedom" if len(n) == 1 else ""
    return f"cluster-robust, {number} {clusters(name)}{df}"


def clusters(name: str | bool) -> str:
    return f"{quoted(name)} clusters" if isinstance(name, str) else "clusters"


def robust_note(fits: Sequence[LinearFit], unit: str = "") -> str:
    """What cluster-robust standard errors are valid for; `unit` is what has so few clusters."""
    said = "Standard errors are cluster-robust, valid for any dependence within clusters."
    n = min(fit.n_groups for fit in fits if fit.n_groups is not None)
    if n >= _FEW_GROUPS:
        return said
    return (
        f"{said} They require many clusters: with {n}{unit}, p-values may be too small (Cameron and"
        " Miller 2015)."
    )


def in_print(data: ModelData, table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(column=column_labels(data, table["column"], table["term"]))


def ratio_notes(fit: LinearFit, printed: pd.DataFrame) -> tuple[str, ...]:
    if not leads_with_ratios(fit) or not fit.names:
        return ()
    between = " (or between two values)" * any(" vs " in name for name in fit.names)
    pairs = zip(fit.names, printed["column"], strict=True)
    levels = [label for name, label in pairs if "[T." in name and ":" not in name]
    return (
        f"Hazard ratios are for a difference of 1 in the column{between}, with all others fixed,"
        " and are assumed constant over time (proportional hazards, not checked here). Estimates"
        " and standard errors are on the log scale.",
        *(
            f"Columns such as {quoted(label)} compare a level with its factor's reference level:"
            " the first, unless the formula says otherwise."
            for label in levels[:1]
        ),
    )


def dropped_words(n: float, each: str = "") -> str:
    return f"{n:,.10g}{each} with a missing value in a selected term" if n else "none"


def few_events_notes(fits: Sequence[LinearFit], unit: str = "") -> tuple[str, ...]:
    """A note if there are few events per coefficient; none for other responses."""
    known = [(fit.n_events, len(fit.names)) for fit in fits if fit.n_events is not None]
    n_events, n_columns = min(known, key=lambda own: own[0] / max(own[1], 1), default=(0, 0))
    if n_events >= _ENOUGH_EVENTS * n_columns:
        return ()
    where = f"In one {unit} there" if unit else "There"
    are = "are" if n_events > 1 else "is"
    return (
        f"{where} {are} {n_events:,} event{'s' if n_events > 1 else ''} for {n_columns:,}"
        f" coefficient{'s' if n_columns > 1 else ''} ({n_events / n_columns:.2g} per coefficient)."
        f" With fewer than about {_ENOUGH_EVENTS}, estimates can be biased and intervals too"
        " narrow (Peduzzi et al. 1995).",
    )


def left_out_note(left_out: Sequence[str], fit: LinearFit) -> tuple[str, ...]:
    if not left_out:
        return ()
    beside = "" if fit.n_events is None else ", or of these and columns constant within strata"
    return (
        "Dropped because they are linear combinations of preceding columns"
        f"{beside}: {listing(left_out)}.",
    )


@dataclass(frozen=True, slots=True)
class Reference:
    """A level with which the others are compared."""

    column: str  # as its column would be called
    label: str  # in print


def level_columns(factor: str, level: Any) -> tuple[str, ...]:
    """Names that the column of a level may have: as a reference, and as another; of a whole number
    in a column of decimals also as one."""
    spelled = (level, float(level)) if isinstance(level, int) else (level,)
    return tuple(f"{factor}[{way}{own}]" for own in spelled for way in ("", "T."))


def reference_levels(data: ModelData, full: LinearData) -> dict[str, Reference]:
    """The reference level of each factor, by its term: of those that occur in the rows."""
    found, columns = {}, full.matrix.columns
    made = None if full.columns is None else full.columns.columns.made
    labels = distinct_labels(data)
    occurring = {} if made is None else made.levels
    for spec in data.spec.terms:
        own, *others = spec.factors
        known = (False, True) if own.is_bool else own.levels or ()
        levels = [level for level in known if level in occurring.get(own.factor.name, known)]
        names = {level: level_columns(own.factor.name, level)[1::2] for level in levels}
        without = [level for level, own in names.items() if not any(c in columns for c in own)]
        if not others and len(without) == 1 < len(levels):
            name, label = spec.term.name, term_label(spec.term, labels)
            # ``f[T.a]`` may be the column of a level ``a``
            column = next(own for own in level_columns(name, without[0]) if own not in columns)
            found[name] = Reference(column, f"{label}: {without[0]} (reference)")
    return found


def with_references(table: pd.DataFrame, references: Mapping[str, Reference]) -> pd.DataFrame:
    """The table with a row of estimate 0 for each reference level, above its term's others."""
    rows: list[dict[str, Any]] = []
    above: tuple[str, str] | None = None
    for row in table.to_dict("records"):
        term, column = str(row["term"]), str(row["column"])
        before = column[: column.index(f"{term}[")] if f"{term}[" in column else ""
        if term in references and (term, before) != above:
            rows.append(
                dict.fromkeys(map(str, table), np.nan)
                | {"term": term, "column": before + references[term].column, "estimate": 0.0}
            )
        above = (term, before)
        rows.append({str(name): value for name, value in row.items()})
    return pd.DataFrame(rows, columns=list(table)).astype(table.dtypes.to_dict())


def rows_with_references(
    table: pd.DataFrame, references: Mapping[str, Reference], rows: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """The printed rows of a table of coefficients, with those of reference levels."""
    full, own, known = with_references(table, references), iter(rows), set(table["column"])

    def empty(column: str, reference: Reference) -> tuple[str, ...]:
        label = column.removesuffix(reference.column) + reference.label
        return (label, *[""] * (len(rows[0]) - 1))

    pairs = zip(full["column"], full["term"], strict=True)
    return tuple(next(own) if c in known else empty(c, references[t]) for c, t in pairs)


@dataclass(frozen=True, slots=True)
class Pooled:
    """Estimates pooled over imputations; each array has shape (n_estimates,)."""

    estimate: FloatArray  # mean over the imputations
    std_error: FloatArray  # square root of the total variance, within and between imputations
    df: FloatArray  # degrees of freedom of the t distribution
    riv: FloatArray  # relative increase in variance due to missing values, at least 0
    fmi: FloatArray  # fraction of missing information, in [0, 1]


def pool(estimates: FloatArray, variances: FloatArray, df_complete: float | None) -> Pooled:
    """Pool estimates and their variances, shape (n_imputations, n_estimates), by the rules of Rubin
    (1987, chapter 3), with the degrees of freedom of :func:`pooled_df`. NaN propagates."""
    m = len(estimates)
    within = variances.mean(axis=0)
    centre = estimates.mean(axis=0)
    apart = estimates - centre
    # If imputations agree up to rounding, no information is missing.
    apart[np.abs(apart) <= PRECISION * np.abs(centre)] = 0.0
    between = (1 + 1 / m) * (apart**2).sum(axis=0) / (m - 1)
    total = within + between
    df, riv = pooled_df(between / total, m, df_complete), between / within
    return Pooled(centre, np.sqrt(total), df, riv, fmi=(riv + 2 / (df + 3)) / (riv + 1))
