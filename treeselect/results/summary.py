"""The content of the printed summary, which is then set as text, LaTeX, Markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from treeselect.algorithms.method import OWN, Method
from treeselect.algorithms.task import WORDS
from treeselect.designs.columns import count_parameters
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import labelled_names
from treeselect.designs.survival import follow_up_facts
from treeselect.errors import first_few, quoted
from treeselect.printing import (
    MOST_ROWS,
    SummaryContent,
    count_text,
    decimal_text,
    enumeration,
    interval_text,
    number_text,
    plain_score,
    score_text,
)
from treeselect.printing.numbers import counted, every
from treeselect.resampling.assessing import most_of_half
from treeselect.resampling.error_bounds import no_bound
from treeselect.resampling.fit import Fit, as_shown, noun, selected_of_all, selection_clause
from treeselect.resampling.records import stopped
from treeselect.resampling.sample_size import least_rows
from treeselect.resampling.stability import BY_REQUEST, each_selected_all, index_words
from treeselect.results import tables
from treeselect.results.calls import unshown_note
from treeselect.results.effects import effect_notes, effect_tables
from treeselect.results.verdict import (
    FEWEST,
    could_vary,
    kept_units,
    model_sentence,
    outsiders_note,
    place_sentences,
    size_note,
    standing,
    verdict,
)
from treeselect.shown import shown

_MOST_NAMES = 12
"""Names in a sentence."""


def summarise(result: Fit) -> SummaryContent:
    """The summary of a result, with labels for names."""
    names = names_note(result.design, result.selected)
    result = as_shown(result)
    columns = _term_columns(result)
    return SummaryContent(
        title=f"Selected terms: {result.chosen_method.title}",
        facts=_facts(result),
        columns=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        notes=(*_notes(result), *names),
        more=(*effect_tables(result), *tables.search_tables(result)),
    )


def names_note(data: ModelData, terms: Sequence[str]) -> tuple[str, ...]:
    """The names in code of terms that are shown under a label."""
    found = [f"{quoted(name)} is {label}" for name, label in labelled_names(data, terms)]
    return (f"Names in code: {first_few(found, _MOST_NAMES, '; ')}.",) if found else ()


def _facts(result: Fit) -> tuple[tuple[str, str], ...]:
    facts = [
        ("Call", result.call.whole),
        ("Data", result.call.data),
        *sample_facts(result),
        ("Family", result.design.response.family_text),
        *follow_up_facts(result.design.response.follow_up),
        *result.design.weights_facts,
        ("Method", method_words(result.chosen_method)),
        ("Selected (k)", f"{selected_of_all(result)}, {result.call.rule}"),
        ("Final model", result.model.description),
    ]
    facts += [score_fact(result), *reference_facts(result)]
    if result.resampled is not None and (said := verdict(result, result.stability)):
        facts.append(("Stability", said))
    return (*facts, ("Seed", str(result.seed)))


def sample_facts(result: Fit) -> tuple[tuple[str, str], ...]:
    """How many rows were drawn, and the score on the others; nothing if all rows were used."""
    sample, found = result.design.sample, result.held_out
    if sample is None:
        return ()
    n = result.design.rows.used
    said = f"selected on {n:,} of {sample.of:,} rows, stratified by {sample.by}"
    facts = [("Sample", said)]
    if found is not None:
        score = plain_score(found.score) if np.isfinite(found.score) else "not defined"
        rows = f"the {counted(found.n_rows, 'row')}"
        if found.n_rows < result.design.rows.not_drawn:
            rows = f"{found.n_rows:,} of the {result.design.rows.not_drawn:,} rows"
        facts.append(("Held out", f"{found.score_name} {score} on {rows} not drawn"))
    return tuple(facts)


def score_fact(result: Fit) -> tuple[str, str]:
    """The name of the score, and the score of the selection, with the rows it was computed on."""
    glance = tables.glance_table(result).iloc[0]
    if result.scores is not None and np.isfinite(glance["cv_score"]):
        score = f"{score_text(glance['cv_score'], glance['cv_se'])}, {result.scores.kind}"
        score += ", of the previous model" * result.scores_are_past
    elif np.isnan(glance["train_score"]):
        score = "not known"
    else:
        rows = "of the method's model " * (result.k > 0) + "on the training rows"
        rows = "out of bag" if result.chosen_method.tells_out_of_bag and result.k else rows
        rows += result.chosen_method.scored_before
        if result.design.model not in (None, result.chosen_method.usual_model):
            rows += " in the search, not by the final model"
        score = f"{plain_score(glance['train_score'])} {rows}"
        if result.step.cut_from is not None:
            score += f", for the {count_text(result.step.cut_from)} {noun(result)} before the cut"
        if result.leaves_out and result.is_chosen:
            score += f" (optimistic: the {noun(result)} were selected on the same rows)"
    return str(glance["score"]), score


def reference_facts(result: Fit) -> tuple[tuple[str, str], ...]:
    """Scores of the full and the null model on the rows that scored the selection, if any did."""
    scores, n = result.scores, len(result.step.selected)
    if scores is None or scores.full is None:
        return ()
    full, null = plain_score(scores.full_mean), plain_score(scores.mean[0])
    return (("All or none", f"{full} with {every(n, noun(result, 1))}, {null} with none"),)


def method_words(method: Method) -> str:
    """Its title, and the options that differ from their defaults."""
    return f"{method.title}, {options_text(method.changed()) or 'default options'}"


def options_text(options: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in options.items())


def _term_columns(result: Fit) -> dict[str, list[str]]:
    tidy = tables.tidy_table(result)
    selected = tidy[tidy["selected"]]
    table = selected.head(MOST_ROWS)
    rows, specs = table.to_dict("records"), [result.design.spec[term] for term in table["term"]]
    is_first = ~table["group"].duplicated()

    def of_units(cells: Iterable[str]) -> list[str]:
        """What holds for a whole unit, at the first of its terms alone."""
        return [cell if first else "" for cell, first in zip(cells, is_first, strict=True)]

    columns = {"Term": table["term"].to_list()}
    if (selected["term"] != selected["group"]).any():
        columns["Group"] = table["group"].to_list()
    columns["Type"] = [spec.kind for spec in specs]
    levels = [spec.n_occurring for spec in specs]
    if any(n is not None for n in levels):
        columns["Levels"] = ["" if n is None else count_text(n) for n in levels]
    if (selected["n_missing"] > 0).any():
        columns["Missing"] = [number_text(row["n_missing"], ",.0f", "") for row in rows]
    if result.step.decisions is not None:
        columns["Decision"] = table["decision"].to_list()
    columns["Importance"] = of_units(decimal_text(row["importance"], 3) for row in rows)
    if tidy["step"].nunique() > 1:
        columns["Enters at k"] = of_units(number_text(row["step"], ".0f", "") for row in rows)
    if result.resampled is not None and could_vary(result.resampled):
        kept = kept_units(result.resampled)
        columns["Frequency"] = of_units(
            BY_REQUEST if row["group"] in kept else decimal_text(row["frequency"], 2)
            for row in rows
        )
        columns["95% interval"] = of_units(
            "" if row["group"] in kept else interval_text(row["ci_low"], row["ci_high"])
            for row in rows
        )
    if (tidy["cost"] != 1).any():
        columns["Cost"] = of_units(f"{row['cost']:g}" for row in rows)
    return columns


def _notes(result: Fit) -> tuple[str, ...]:
    notes = []
    n_selected = len(result.selected)
    if n_selected == 0:
        why = ""
        if result.p_values is not None:
            why = f": {result.call.rule}"
        elif result.scores is not None:
            why = ": no number of terms improves the cross-validated score enough"
        elif result.step.decisions is not None:
            why = ": none was confirmed to be more important than the shuffled copies"
        elif result.chosen_method.tuning_value == OWN:
            why = f" by {result.chosen_method.name}"
        elif result.chosen_method.tuning_value is not None:
            why = f" at {result.chosen_method.tuning_words}"
        notes.append(f"No term was selected{why}.")
    if n_selected > MOST_ROWS:
        notes.append(f"{n_selected - MOST_ROWS:,} more selected terms are listed by `.tidy()`.")
    if len(result.groups) < n_selected:
        notes.append(
            "Importance, entry, frequency and cost, where shown, are those of the whole group, at"
            " its first term."
        )
    notes += purpose_notes(result)
    notes += filter(None, [result.design.response.family.score_words])
    notes += [*_optimism_notes(result), rows_note(result), *few_rows_note(result)]
    notes += [*stability_notes(result), *effect_notes(result), *tables.search_notes(result)]
    return (
        *notes, *unshown_note(result.call.unshown.split()), *result.all_notes, *result.design.notes,
    )  # fmt: skip


def _optimism_notes(result: Fit) -> list[str]:
    """How to get a score without optimism, if the one above is optimistic."""
    if not result.k or not result.leaves_out:
        return []
    name = result.design.response.family.score_name
    if result.scores is None:
        return [
            f"To estimate the {name} on new data, use `performance()`, which repeats the selection"
            " inside each fold."
        ]
    if result.scores.of_halves:
        most = most_of_half(result.design.rows.used)
        fitted = most and f", fitted to {most}it,"
        # No half may have led to as many units; the score above is then another one.
        what = name if np.isfinite(result.scores.mean[result.k]) else "All or none"
        return [
            f"{what}: each half of the rows was searched, and its models{fitted} were scored on"
            f" {most}the other half; tests on all rows chose k. `performance()` repeats all this"
            " inside each fold."
        ]
    how = f"The selection was repeated inside each fold, but {result.scores.chooser}"
    if result.scores.spared is not None:
        n_searched, n_others = result.scores.spared
        how = f"The search used {n_searched:,} rows; {n_others:,} others scored its models, and"
    how += f" chose k, so the {name} is optimistic; nested cross-validation, `performance()`, tells"
    return [f"{how} by how much."]


def purpose_notes(result: Fit) -> list[str]:
    """What kind of selection it is; the decisions if the method makes any."""
    decisions = result.step.decisions
    if decisions is None:
        minimal = (
            "Minimal selection: a small set that predicts well, not every relevant term. An"
            " unselected term may carry much the same information as a selected one."
        )
        return [minimal] * (result.leaves_out and result.is_chosen)
    said = (
        f"Decisions after {counted(len(decisions.history), 'round')}:"
        f" {'; '.join(_named(result, d, word) for d, word in WORDS.items())}."
    )
    purpose = (
        f"All-relevant selection: every {noun(result, 1)} found to be more important than the"
        " shuffled copies, even if several carry the same information. A smaller set may predict as"
        " well."
        if result.choice.k is None
        else f"k was not left to {result.method}: the selection is neither every relevant"
        f" {noun(result, 1)} nor a minimal set that predicts well."
    )
    return [purpose, said]


def _named(result: Fit, decision: int, word: str) -> str:
    """How many units have a decision, with the names of unselected ones."""
    assert result.step.decisions is not None
    units, known = result.step.decisions.are(decision), result.design.arrays.groups
    order = {spec.term.name: i for i, spec in enumerate(result.design.spec.terms)}
    numbers = np.flatnonzero(units & ~result.step.selected).tolist()
    numbers.sort(key=lambda unit: min(order[term] for term in known.terms[unit]))
    outside = [known.names[unit] for unit in numbers]
    names, n = first_few(outside, _MOST_NAMES), int(units.sum())
    if not names:
        return f"{n:,} {word}"
    return f"{n:,} {word} ({'' if len(outside) == n else 'not selected: '}{names})"


def rows_note(result: Fit) -> str:
    """How many rows were used, and why others were excluded."""
    counts = result.design.rows
    rows = f"Rows used: {counts.used:,}{', copies counted' if counts.more_copies else ''}."
    return " ".join([rows, *excluded_rows(result)])


def excluded_rows(result: Fit) -> list[str]:
    """Why rows were not used, and how many."""
    counts, what = result.design.rows, result.design.response.parts_text
    reasons = {
        "Not drawn into the sample": counts.not_drawn,
        f"Excluded because {what} is missing": counts.no_response,
        "Excluded because their weight is 0": counts.no_weight,
    }
    return [f"{reason}: {n:,}." for reason, n in reasons.items() if n]


def missing_words(fit: Fit, most: int) -> str:
    """How many rows have missing values, and in which variables; empty without the data."""
    if not fit.design.has_data:
        return ""
    named, incomplete = tables.missing_counts(fit)
    if not named:
        return "No missing values in the candidate terms."
    names = enumeration([f"{name} ({n:,})" for name, n in named], most)
    have = "has" if incomplete == 1 else "have"
    return f"{counted(incomplete, 'row')} {have} missing values: {names}."


_FAR_BELOW = 0.5
"""Share of the rows needed below which this is said."""


def few_rows_note(result: Fit) -> list[str]:
    """That a regression model with all candidate terms would need many more rows."""
    design, n = result.design, result.design.rows.used
    counts, follow_up = design.response.counts, design.response.follow_up
    share = float("nan")
    if follow_up is not None:
        share = follow_up.n_events / follow_up.n_rows
    elif len(design.response.classes) == 2 and counts:
        share = counts[1] / sum(counts)
    elif result.family != "gaussian":
        return []
    p = max(count_parameters(design.spec.terms), 1)
    needed = least_rows(result.family, p, share)
    if n >= _FAR_BELOW * needed:
        return []
    return [
        f"Few rows: by Riley's criteria, a regression model with {every(p, 'candidate parameter')}"
        f" needs {needed:,} rows if it explains 15% of what can be explained"
        " (`treeselect.sample_size()`)."
    ]


def stability_notes(result: Fit) -> list[str]:
    """Interchangeable units, indices, sets and error bounds, in sentences."""
    if result.resampled is None:
        return []
    stability = result.stability
    said = [
        *stopped(stability, stability.n_resamples, "resamples"),
        *place_sentences(stability),
        outsiders_note(result, stability),
        size_note(result, stability),
        f"Stability index (Nogueira et al.) over {stability.words}: {index_words(stability)}.",
        model_sentence(stability) if could_vary(stability) else "",
        "" if no_bound(stability) else f"{stability.pfer()}.",
    ]
    return [sentence for sentence in said if sentence]


def overview_table(fit: Fit, most: int, most_others: int) -> tuple[pd.DataFrame, int]:
    """The first selected terms, and unselected terms of which a reader must know, with ``kept``
    (forced in) and ``substitutes``; and the number of rows for which there is no room."""
    tidy = tables.tidy_table(fit)
    inside = tidy["selected"].to_numpy(dtype=bool)
    if fit.resampled is None:
        found = tidy[inside].assign(kept=False)
        found["substitutes"] = [()] * len(found)
        return found.head(most), max(len(found) - most, 0)
    stability = fit.stability
    alike = {unit: place.units for place in stability.places for unit in place.units}
    kept = kept_units(stability)
    table = tidy.assign(kept=tidy["group"].isin(kept))
    table["substitutes"] = [
        tuple(other for other in alike.get(unit, ()) if other != unit) for unit in tidy["group"]
    ]
    units = standing(fit, stability)  # a reader must know of some unselected units
    alone = (u for u in units.outside if units.count[u] and u in units.interchangeable)
    must = [*units.intruders, *units.overtaking, *alone]
    near = ~inside & tidy["group"].isin(must).to_numpy(dtype=bool)
    others = table[near].sort_values("frequency", ascending=False, kind="stable")
    parts = [table[inside].head(most), others.head(most_others)]
    left_out = int(inside.sum()) + len(others) - sum(map(len, parts))
    return pd.concat(parts, ignore_index=True), left_out


# --- a selection in five lines: what ``print(fit)`` shows ----------------------------------------


def fit_lines(fit: Fit) -> tuple[str, ...]:
    """What was selected, how well it predicts, how stable it is, and where to find more."""
    fit = as_shown(fit)
    name, score = score_fact(fit)
    selected = enumeration(fit.selected, most=12, room=120) if fit.selected else "nothing"
    plot = ".plot(), " if fit.selected else ""
    return tuple(
        shown(line)
        for line in (
            selection_clause(fit),
            f"  Selected: {selected}",
            f"  {name}: {score}",
            f"  Stability: {stability_text(fit)}",
            f"  More: .summary(), .report('report.html'), {plot}{with_data(fit)}.performance(),"
            " .predict(new)",
        )
    )


def with_data(fit: Fit) -> str:
    """What a call needs if the data were not saved with the fit."""
    return "" if fit.design.has_data else ".with_data(data)"


def stability_text(fit: Fit) -> str:
    """The verdict, or why there is none."""
    if fit.resampled is None:
        if not fit.selected:
            return "not assessed, because no term was selected"
        return f"not assessed; see {with_data(fit)}.resample(100)"
    stability = fit.stability
    if said := verdict(fit, stability):
        return said
    if stability.n_resamples < FEWEST:
        return f"{stability.words}, too few for a verdict"
    if each_selected_all(stability):
        return f"no verdict: every resample selected all {noun(fit)} that it could"
    if not fit.selected:
        return "no verdict, because no term was selected"
    return f"no verdict, because every selected {noun(fit, 1)} was forced in"
