"""The table of a paper: terms alone and together, with counts, ratios, intervals and tests."""

from __future__ import annotations

import contextlib
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_choice, described, finite, read_names
from treeselect.designs.columns import TermSpec
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import column_labels, in_labels
from treeselect.engine.columns import MAX_BINS
from treeselect.engine.survival.times import EVENT
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.frames.tables import PrintedTable, in_library
from treeselect.models.linear import coefficients
from treeselect.models.linear.data import FIRTH, ORDINAL
from treeselect.models.linear.tests import (
    FittedTerms,
    drop_tests,
    fit_terms,
    fitted_terms,
    intervals,
    test_words,
)
from treeselect.printing import (
    SummaryContent,
    chosen_form,
    common_form,
    interval_text,
    number_text,
    p_text,
)

MODELS = ("univariable", "all", "selected")
"""A model for each term; one of all candidate terms; that of the selected ones."""

_TEXTS = ("model", "term", "column", "label")
_NUMBERS = ("n", "events", "estimate", "ci_low", "ci_high", "p_value")
"""Columns of the table."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RegressionTable(PrintedTable):
    """Models of a response side by side, as a paper prints them.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> fit.refit("glm").regression_table().tidy()["model"].unique().tolist()
    ['univariable', 'selected']
    """

    def tidy(self) -> Any:
        """One row per coefficient and model, reference levels among them.

        Returns
        -------
        frame, in the library of the data
            ``model``, ``term``, ``column``, ``label``; ``n`` and ``events``, rows in which the term
            is known, or of the level, and those of the positive class or with an event, with
            copies; ``estimate``, ``ci_low``, ``ci_high``, ratios where there are any; ``p_value``
            of the whole term given the others of the model, in the first row of the term.
        """
        return in_library(self.table, self.library)


OfTable = tuple[FittedTerms, ModelData, Sequence[str], Sequence[str]]
"""A model, its data, the selected terms, and cautions on its p-values, the selection's first."""


class InPapers:
    """A linear model that has the table of a paper."""

    __slots__ = ()

    library: str

    @abstractmethod
    def _of_table(self) -> OfTable:
        """What the table is made of."""

    def regression_table(
        self,
        models: Sequence[str] = ("univariable", "selected"),
        *,
        per: Literal["sd"] | Mapping[str, float] | None = None,
        interval: Literal["wald", "profile"] | None = None,
    ) -> RegressionTable:
        """The table of a paper: each term alone, and beside the others.

        Parameters
        ----------
        models : sequence of {"univariable", "all", "selected"}
            A model for each term, one of all candidates, one of the selected ones, side by side.
        per : "sd", or dict of float by term, optional
            Differences of numbers that the ratios are of: a standard deviation of each that has
            more than two values, or some of your choice, ``{"age": 10}``; by default 1. Splines
            compare the quartiles.
        interval : {"wald", "profile"}, optional
            Confidence intervals as those of :meth:`confint`; by default Wald's, for Firth's
            penalised likelihood profile intervals.

        Returns
        -------
        RegressionTable
            ``.summary()``, with as many ``digits`` as you like and with or without ``notes``, which
            has ``as_docx()``, ``as_markdown()`` and ``as_latex()``; ``.tidy()``.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        DataError
            If one of the models can't be fitted.

        Notes
        -----
        P-values are of whole terms, by likelihood ratio, for a gaussian
        response by F, and with robust errors by Wald's test; they stand in the first row of a term.
        Levels have the numbers of their rows and events. Each model drops the rows in which its own
        terms are missing. After a selection on the same rows, as of ``refit()``, p-values are too
        small; those of ``inference()`` are of other rows.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
        >>> table = fit.refit("glm").regression_table(per="sd")
        >>> table.tidy()["term"].unique().tolist()
        ['pclass', 'sex']
        """
        found, data, chosen, cautions = self._of_table()
        wanted = read_names("models", models)
        if not wanted or not set(wanted) <= set(MODELS):
            raise OptionError(
                f"`models` must be some of {listing(MODELS)}.\n"
                f"  Found: {listing(wanted) or 'none'}."
            )
        wanted = [name for name in MODELS if name in wanted]
        if interval is None:
            interval = "profile" if found.family == FIRTH else "wald"
        check_choice("interval", interval, ("wald", "profile"))
        if interval == "profile" and found.data.splines:
            raise OptionError(
                "`interval` must be 'wald' for splines, whose rows compare two values.\n"
                f"  Found: 'profile', and splines of {listing(found.data.splines)}."
            )
        candidates = [spec.term.name for spec in data.spec.terms]
        terms = [t for t in candidates if "all" in wanted or t in chosen]
        if not terms:
            raise OptionError(
                "A regression table needs terms.\n"
                '  Found: none selected. `models=["univariable", "all"]` has those of all'
                " candidates."
            )
        blocks: list[tuple[str, FittedTerms, Sequence[str]]] = []
        if "univariable" in wanted:
            blocks += [("univariable", _fitted(found, data, [term]), [term]) for term in terms]
        if "all" in wanted:
            blocks.append(("all", _fitted(found, data, candidates), terms))
        if "selected" in wanted:
            blocks.append(("selected", found, [t for t in terms if t in chosen]))
        bent = {term for _, model, _ in blocks for term in model.data.splines}
        units = _units(per, data, [term for term in terms if term not in bent])
        rows = [
            {"model": name} | row
            for name, model, own in blocks
            for row in _rows(model, data, own, units, interval)
        ]
        types: dict[str, Any] = dict.fromkeys(_TEXTS, pd.Series(["text"]).dtype)
        types |= dict.fromkeys(_NUMBERS, np.float64)
        table = pd.DataFrame(rows, columns=[*types]).astype(types)
        if per == "sd":
            own = table["label"].str.replace(r": per (\S+)$", r": per s.d. (\1)", regex=True)
            table["label"] = own.where(table["term"].isin(units), table["label"])
        of_all = "all" in wanted and "selected" not in wanted  # whatever is selected
        said = (*_notes([block[:2] for block in blocks], interval), *cautions[of_all:])
        write = partial(_content, table, found, data, wanted, terms, said)
        return RegressionTable(table, write, self.library)


def _fitted(found: FittedTerms, data: ModelData, terms: Sequence[str]) -> FittedTerms:
    full, _, fit = fit_terms(data, terms, found.coding)
    return fitted_terms(data, full, fit, found.call, found.coding)


def _units(per: object, data: ModelData, terms: Sequence[str]) -> dict[str, float]:
    """Differences of numbers that ratios are of, by term, where they are not 1."""
    if per is None:
        return {}
    arrays = data.arrays
    numbers = {
        name: arrays.columns[j]
        for j, name in enumerate(arrays.column_names)
        if name in terms and arrays.n_levels[j] is None and arrays.column_names.count(name) == 1
    }
    if isinstance(per, str) and per == "sd":
        known = {name: x for name, x in numbers.items() if len(np.unique(x[~np.isnan(x)])) > 2}
        found = {}
        for name, x in known.items():
            rows = ~np.isnan(x) & (data.weight > 0)
            mass, largest = data.weight[rows], np.abs(x[rows]).max()  # no square overflows
            x = x[rows] / largest
            total = max(mass.sum() - 1, 1) if mass.dtype.kind in "iu" else mass.sum()
            squares = mass * (x - np.average(x, weights=mass)) ** 2
            found[name] = float(largest * np.sqrt(squares.sum() / total))
        return found
    steps = dict(per) if isinstance(per, Mapping) else None
    wrong = [name for name in steps or () if name not in numbers]
    if steps is None or wrong or not all((finite(s) or 0) > 0 for s in steps.values()):
        no_number = f"{quoted(str(wrong[0]))}, which is no number, or has a spline" if wrong else ""
        raise OptionError(
            "`per` must be 'sd', or positive differences by term, such as {'age': 10}.\n"
            f"  Found: {no_number or described(per)}. Numbers: {listing(numbers) or 'none'}."
        )
    return {name: float(step) for name, step in steps.items()}


def _rows(
    found: FittedTerms,
    data: ModelData,
    terms: Sequence[str],
    units: Mapping[str, float],
    interval: str,
) -> list[dict[str, Any]]:
    fit = coefficients.readable(found.fit, found.data, units)
    table = coefficients.coefficient_table(fit)
    if interval == "profile":
        unit = np.sqrt(np.diag(fit.covariance) / np.diag(found.fit.covariance))
        profiled = intervals(found, interval, 0.95, "interval")
        table[["ci_low", "ci_high"]] = profiled * unit[:, np.newaxis]
    table = coefficients.with_references(table, found.references)
    tests: dict[str, float] = {}  # p-value of each term given all others
    with contextlib.suppress(DataError):  # a model without a term can't be fitted
        tested = drop_tests(found, (), "pandas").table
        tests = dict(zip(tested["term"], tested["p_value"], strict=True))
    labels = column_labels(data, table["column"], table["term"], spelled=True)
    rows = []
    for row, text in zip(table.to_dict("records"), labels, strict=True):
        term = str(row["term"])
        if term not in terms:
            continue
        reference = found.references.get(term)
        if reference is not None and str(row["column"]).endswith(reference.column):
            text = str(row["column"]).removesuffix(reference.column) + reference.label
        n, events = _counts(data, data.spec[term], str(row["column"]))
        ends = [row[name] for name in ("estimate", "ci_low", "ci_high")]
        if found.fit.ratio:
            with np.errstate(over="ignore"):
                ends = np.exp(np.array(ends, dtype=np.float64)).tolist()
        rows.append(
            {
                "term": term, "column": row["column"], "label": text, "n": n, "events": events,
                "estimate": ends[0], "ci_low": ends[1], "ci_high": ends[2],
                "p_value": tests.pop(term, np.nan),  # in its first row
            }
        )  # fmt: skip
    return rows


def _counts(data: ModelData, spec: TermSpec, column: str) -> tuple[float, float]:
    """Rows, and events among them, in which a term of one variable is known, or has a level."""
    mass, y = data.row_weights.copies, data.response.y
    if len(spec.term.factors) > 1 or len(spec.term.variables) > 1:
        return float("nan"), float("nan")
    arrays = data.arrays
    pairs = zip(arrays.column_names, arrays.columns, strict=True)
    own = [values for name, values in pairs if name == spec.term.name]
    here = own[0] != 0 if spec.kind == "factor" else ~np.isnan(own).any(axis=0)
    if column.startswith("missing(") or re.search(r"\[T\.\(+missing\)+\]$", column):
        here = data.sources[spec.term.variables[0]].isna().to_numpy(dtype=bool)
    if spec.kind == "factor":
        name = spec.factors[0].factor.name
        levels = [coefficients.level_columns(name, own) for own in spec.factors[0].levels or ()]
        for way in (0, 1):  # ``f[T.a]`` is rather the column of ``a`` than of a reference ``T.a``
            for code, known in enumerate(levels):
                if column.endswith(known[way::2]):
                    here = own[code // MAX_BINS] == code % MAX_BINS + 1
    n = float(mass[here].sum())
    family = data.response.family
    if family.has_times:
        return n, float(mass[here] @ (y[here, EVENT] > 0))
    return n, float(mass[here] @ (y[here] > 0)) if family.name == "binomial" else float("nan")


# --- in print ------------------------------------------------------------------------------------

_KINDS = {
    "gaussian": "linear regression", "binomial": "logistic regression",
    "multinomial": "multinomial logistic regression", "poisson": "Poisson regression",
    "cox": "Cox regression", "negative-binomial": "negative binomial regression",
    "gamma": "gamma regression",
    "ordinal": "proportional odds regression",
    "firth": "logistic regression with Firth's penalty",
}  # fmt: skip
_LARGEST = 1e6
"""Ends of intervals beyond are those of estimates that diverge."""

_HEADS = {"univariable": "Univariable", "all": "All terms", "selected": "Selected terms"}


def _content(
    table: pd.DataFrame,
    found: FittedTerms,
    data: ModelData,
    models: Sequence[str],
    terms: Sequence[str],
    notes: tuple[str, ...],
) -> SummaryContent:
    ratio = found.fit.ratio.capitalize() or "Difference"
    has_events = bool(table["events"].notna().any())
    columns = ["Term", "Events/n" if has_events else "n"]
    for name in models:
        columns += [f"{_HEADS[name]}: {ratio.lower()} (95% CI)", "P"]
    # A column, whatever values of its number are compared
    keys = table["column"].str.replace(r": (\S+ vs|per) [^\s\]]+$", "", regex=True)
    by_place = {
        (model, key): row
        for model, key, row in zip(table["model"], keys, table.to_dict("records"), strict=True)
    }
    rows = []
    for term in terms:
        own = dict.fromkeys(keys[table["term"] == term])
        for key in own:
            found_rows = [by_place.get((name, key)) for name in models]
            first = next(row for row in found_rows if row is not None)
            cells = [cell for row in found_rows for cell in _cells(row, ratio)]
            n = "" if np.isnan(first["n"]) else f"{first['n']:,.0f}"
            n = f"{first['events']:,.0f}/{n}" if n and has_events else n
            rows.append((str(first["label"]), n, *cells))
    title = f"{ratio}s: {response_words(data, found.family)}"
    return SummaryContent(title, (), tuple(columns), tuple(rows), notes)


def response_words(data: ModelData, family: str) -> str:
    """The response with the class that ratios are of; of ordered classes that is any higher one."""
    named = in_labels(data).response
    return named.name if family == ORDINAL else named.in_linear_models


def _cells(row: Mapping[Any, Any] | None, ratio: str) -> tuple[str, str]:
    if row is None:
        return "", ""
    p = p_text(row["p_value"]) if np.isfinite(row["p_value"]) else ""
    ends = [row[name] for name in ("estimate", "ci_low", "ci_high")]
    if str(row["label"]).endswith("(reference)") and np.isnan(ends[1:]).all():
        return "1" if ratio != "Difference" else "0", p
    most = np.inf if ratio == "Difference" else _LARGEST
    if not np.isfinite(ends).all() or max(ends) > most:  # the level separates the classes
        return "not estimable", p
    at, low, high = ends
    form = chosen_form(",") or common_form([at, 10 * (high - low)], digits=3)
    return f"{number_text(at, form)} ({interval_text(low, high, form)})", p


def _notes(blocks: Sequence[tuple[str, FittedTerms]], interval: str) -> list[str]:
    notes = []
    for name, found in dict(blocks).items():
        own = [model for head, model in blocks if head == name]
        events = "" if np.isnan(found.n_events) else f" with {found.n_events:,.0f} events"
        dropped = found.data.n_dropped
        out = f"; {dropped:,} with missing values are left out" if dropped else ""
        quasi = sum(model.fit.is_quasi for model in own)
        if name != "univariable":
            kind = "quasi-" * quasi + _KINDS[found.family]
            notes.append(f"{_HEADS[name]}: {kind} of {found.whole.n:,.0f} rows{events}{out}.")
        else:
            if found.coding.missing == "drop":
                notes.append("Univariable models use the rows in which their term is known.")
            if quasi:
                notes.append(f"Univariable: quasi-Poisson in {quasi} of {len(own)} models.")
        gone = [c for model in own for c in model.data.matrix.columns[~model.data.is_free]]
        for said in coefficients.left_out_note([*dict.fromkeys(map(str, gone))], found.fit):
            notes.append(f"{_HEADS[name]}: d{said.removeprefix('D')}")
    every = [model for _, model in blocks]
    kind, family = "Wald", every[0].family
    if interval == "profile" and family != "gaussian":
        kind = "penalised " * (family == FIRTH) + "profile-likelihood"
    has_contained = any(len(model.droppable) < len(model.terms) for model in every)
    no_test = ", none of a term that an interaction contains" * has_contained
    if any(model.data.splines for model in every):
        notes.append("Splines: the difference between two values; P is of the whole spline.")
    tests = " or ".join(dict.fromkeys(map(test_words, every)))
    of = f"of each term given the others of the model{no_test}"
    return [*notes, f"CI: {kind} confidence interval. P: {tests} {of}."]
