"""The TRIPOD+AI checklist: what the fit knows, and what the author must add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from treeselect.designs.estimators import Estimator
from treeselect.designs.problem import reads_columns
from treeselect.errors import listing
from treeselect.frames.tables import PrintedTable, in_library
from treeselect.printing import SummaryContent, enumeration
from treeselect.printing.numbers import counted
from treeselect.resampling.fit import Fit, as_shown
from treeselect.resampling.performance import Performance
from treeselect.results.citation import (
    TREATED,
    Citation,
    cluster_sentences,
    limitations,
    methods_text,
    of_model,
    response_words,
    versions_text,
)
from treeselect.results.summary import few_rows_note, missing_words, rows_note, summarise
from treeselect.results.tables import missing_counts

TO_ADD = "To add: "
"""Begins what the author must write."""

Item = tuple[str, str, str]
"""Number, topic, and what is reported; what must be added begins with :data:`TO_ADD`."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Checklist(PrintedTable):
    """The items of TRIPOD+AI [1]_ for a fit.

    References
    ----------
    .. [1] G. S. Collins and others (2024). TRIPOD+AI statement: updated guidance for reporting
       clinical prediction models that use regression or machine learning methods. BMJ 385,
       e078378.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> found = fit.search.checklist().tidy()
    >>> found.loc[found["item"] == "8a", "reported"].item()
    'survived: binomial (`survived` is 0 or 1); positive class: 1 (500 of 1,309).'
    """

    def tidy(self) -> Any:
        """One row per item.

        Returns
        -------
        frame, in the library of the data
            ``item``, its number; ``topic``; ``reported``, what the fit knows, empty for nothing;
            ``to_add``, what the author must add, empty for nothing.
        """
        return in_library(self.table, self.library)


def checklist(fit: Fit, cite: Callable[[], Citation], performance: Performance | None) -> Checklist:
    """See ``SearchView.checklist``."""
    fit = as_shown(fit)
    rows = []
    for number, topic, text in _items(fit, cite(), performance):
        reported, _, to_add = text.partition(TO_ADD)
        rows.append((number, topic, reported.strip(), to_add.strip()))
    table = pd.DataFrame(rows, columns=["item", "topic", "reported", "to_add"])
    return Checklist(table, partial(_content, fit, cite, performance), fit.design.library)


def _content(
    fit: Fit, cite: Callable[[], Citation], performance: Performance | None
) -> SummaryContent:
    return SummaryContent(
        title="TRIPOD+AI checklist",
        facts=tuple((f"{own[0]} {own[1]}", own[2]) for own in _items(fit, cite(), performance)),
        columns=(),
        rows=(),
        notes=(
            f"{TO_ADD.strip()} marks what a fit can't know. Items of Collins and others (2024), in"
            " short.",
        ),
    )


def _items(fit: Fit, cited: Citation, performance: Performance | None) -> Iterator[Item]:
    design, data = fit.design, dict(summarise(fit).facts)["Data"]
    response = design.response
    model = design.model if isinstance(design.model, Estimator) else None
    names = [spec.term.name for spec in design.spec.terms]
    candidates = f"{counted(len(names), 'candidate term')}: {listing(names, most=20)}."
    chosen = enumeration(list(fit.selected)) if fit.selected else "none"
    aim = "Development" + (", and internal validation" if performance is not None else "")
    prepared = " ".join(design.notes) or "Columns as in the data."
    score = f"{TO_ADD}`fit.performance()`, and give it here as `performance`."
    if performance is not None:
        of = of_model(fit, performance)
        score = f"{performance.score_name}{of} {performance.words}, nested cross-validation."
    yield "1", "Title", f"{TO_ADD}that a prediction model is developed, population, outcome."
    yield "2", "Abstract", f"{TO_ADD}see TRIPOD+AI for abstracts."
    yield "3", "Background", f"{TO_ADD}context, existing models, users, known inequalities."
    yield "4", "Objectives", f"{aim}. {TO_ADD}the aim in a sentence."
    yield "5", "Data", f"{data[0].upper()}{data[1:]}. {TO_ADD}source, dates, representativeness."
    yield "6", "Participants", f"{TO_ADD}setting, eligibility, treatments received."
    yield "7", "Data preparation", f"{prepared} {TO_ADD}steps before, alike across groups."
    yield "8a", "Outcome", f"{response.name}: {response.family_text}."
    yield "8b", "Assessment", f"{TO_ADD}how, by whom, when, alike across groups, blinded or not."
    yield "9a", "Predictors", f"{candidates} {TO_ADD}why these."
    yield "9b", "Measurement", f"{TO_ADD}definition, time and way of measurement, units."
    yield "10", "Sample size", f"{' '.join(few_rows_note(fit))} {TO_ADD}how it was decided."
    yield "11", "Missing data", f"{_missing(fit)} {TO_ADD}reasons."
    yield "12a", "Use of data", _use(fit, performance)
    yield "12b", "Predictors in the model", _columns(fit)
    yield "12c", "Model building", methods_text(fit, performance)
    alone = f"Rows are taken as independent. {TO_ADD}`fold_groups`, if they are not."
    yield "12d", "Clusters", " ".join(cluster_sentences(fit)) or alone
    several = len(response.classes) > 2
    has_risks = response.follow_up is not None or len(response.classes) == 2
    measures = f"`calibration()`{' and `decision_curve()`' * has_risks} of `fit.performance()`."
    yield "12e", "Performance measures", f"{response.family.score_name}. {TO_ADD}{measures}"
    yield "12f", "Updating", f"None. {TO_ADD}if the model was updated after validation."
    yield "12g", "Predictions", f"`fit.predict(new)`{', also of a saved model' * (model is None)}."
    balance = "The method does not balance" if response.classes else "There are no"
    if model is not None and model.weights_classes:
        balance = "The selection does not balance classes; the final model weights the"
    weights = " ".join(["", *(f"{name}: {value}." for name, value in design.weights_facts)])
    yield "13", "Class imbalance", f"{balance} classes.{weights}"
    compares = "" if several else "; `performance().by(column)` compares groups"
    yield "14", "Fairness", f"{TO_ADD}what was done{compares}."
    yield "15", "Model output", f"{_output(fit)} {TO_ADD}thresholds, with reasons."
    yield "16", "Development and evaluation", f"{TO_ADD}differences between their data."
    yield "17", "Ethics", f"{TO_ADD}approval, consent."
    known = f"Call: {cited.call} Versions: {versions_text(cited.versions)}. SHA-256 of the data:"
    known += f" {cited.fingerprint or 'not known'}."
    others = f"{TO_ADD}funding, conflicts, protocol, registration, where data and code are."
    yield "18", "Open science", f"{known} {others}"
    yield "19", "Involvement", f"{TO_ADD}of patients and the public."
    used = f"{rows_note(fit)} `fit.data.describe()` is the table of characteristics."
    yield "20", "Participants, flow", f"{used} {TO_ADD}flow, follow-up."
    yield "21", "Model development", f"{response.name}: {response_words(fit)}."
    final = f"{len(fit.selected):,} of {counted(len(names), 'term')}: {chosen}. The final model is"
    final += f" {fit.model.description}."
    file = "file, `fit.save(path)`" if model is None else "itself, `fit.model.fitted.estimator`"
    file = f'{TO_ADD}the model {file}, or `fit.refit("glm").regression_table()`.'
    yield "22", "Model specification", f"{final} {file}"
    yield "23a", "Model performance", score
    by = "performance" if several else "`performance().by(column)`"
    yield "23b", "Heterogeneity", f"{TO_ADD}{by} by site or subgroup."
    yield "24", "Model updating", f"None. {TO_ADD}if there was any."
    yield "25", "Interpretation", f"{TO_ADD}in the light of objectives and other models."
    yield "26", "Limitations", f"{' '.join(limitations(fit, performance))} {TO_ADD}further ones."
    yield "27", "Usability", f"{TO_ADD}poor input, interaction with the user, future research."


def _use(fit: Fit, performance: Performance | None) -> str:
    rows = "rows that are used" if fit.design.missing != "drop" else "rows without missing values"
    said = [f"All {rows} select the terms and fit the model"]
    if fit.scores is not None:
        if (spared := fit.scores.spared) is not None:
            said = [f"{spared.n_searched:,} rows select the terms, and all {rows} fit the model"]
        said.append(f"sets are scored by {fit.scores.words(fit.choice.folds)}")
    if fit.resampled is not None:
        said.append(f"stability is that of {fit.stability.words}")
    if performance is not None:
        said.append(f"performance is that of {performance.scheme}, with the selection in each fold")
    return f"{'; '.join(said)}."


def _columns(fit: Fit) -> str:
    gaps = "a missing number is the median with an indicator, a missing level a level"
    trees, model = "numbers and levels of factors as trees divide them", fit.design.model
    said = {
        "glm": "Numbers as straight lines, levels of factors as indicators",
        "gam": "Numbers as restricted cubic splines, levels of factors as indicators",
        "stack": "Splines of numbers and indicators of levels, and, where a forest fits the rest, "
        + trees,
    }.get(str(model), f"{trees[0].upper()}{trees[1:]}")
    if isinstance(model, Estimator):
        said = "Numbers as they are, levels of factors as indicators"
        if model.takes_missing:
            gaps = "missing numbers are passed on to it, a missing level is a level"
    if fit.design.missing == "impute":
        gaps = "missing values are imputed"
    elif fit.design.missing == "drop":
        gaps = f"rows with missing values are {TREATED['drop']}"
    elif not reads_columns(model):
        gaps = "a missing value is one of its own"
    return f"{said}; {gaps}."


def _missing(fit: Fit) -> str:
    if not fit.design.has_data:
        return "Not known without the data."
    n, treated = missing_counts(fit)[1], TREATED[fit.design.missing]
    they = f" {'It was' if n == 1 else 'They were'} {treated}." * (n > 0)
    return missing_words(fit, 10) + they


def _output(fit: Fit) -> str:
    response = fit.design.response
    if response.follow_up is not None:
        return "Relative hazard, and survival at given times."
    if response.classes:
        what = f"of {response.classes[-1]}" if len(response.classes) == 2 else "of each class"
        return f"Probability {what}."
    return "Mean of the response."
