"""What to write of a selection, and what to cite."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np

from treeselect._version import __version__
from treeselect.algorithms.references import Reference, entry, texts
from treeselect.algorithms.task import CONFIRMED
from treeselect.designs.modeldata import COVERED, data_fingerprint
from treeselect.engine.survival.times import EVENT
from treeselect.printing import enumeration, percent_text, score_text
from treeselect.printing.numbers import counted
from treeselect.resampling.assessing import most_of_half
from treeselect.resampling.choosing import LEVEL, reduced_words
from treeselect.resampling.fit import Fit, as_shown, noun
from treeselect.resampling.performance import Performance
from treeselect.resampling.stability import index_words
from treeselect.results.summary import options_text, purpose_notes, sample_facts
from treeselect.results.tables import class_counts, missing_counts
from treeselect.results.verdict import kept_units
from treeselect.shown import shown

# --- the limitations of a selection: the sentences that apply to a fit -------------------------

FEW = 10.0
"""Fewer events (or rows of the rarest class, or rows) per candidate term are few."""

HEINZE = Reference(
    ("G. Heinze", "C. Wallisch", "D. Dunkler"),
    2018,
    "Variable selection: a review and recommendations for the practicing statistician",
    journal="Biometrical Journal",
    volume="60",
    pages="431-449",
)


def limitations(fit: Fit, performance: Performance | None) -> tuple[str, ...]:
    """Sentences, the most serious first."""
    n_selected, n_terms = len(fit.selected), len(fit.design.spec.terms)
    said = [few_events(fit)]
    if n_selected == 0:
        said.append("The absence of selected terms is not evidence that no term matters.")
    elif fit.leaves_out and fit.is_chosen:
        said += [_score(fit, performance), _others(fit)]
    elif fit.leaves_out:
        forced = f"All selected {noun(fit)} were forced in; none was chosen by the data."
        said += [_score(fit, performance), forced]
    elif n_terms > 1:
        which = "that vary " if n_selected < n_terms else ""
        said.append(f"All candidate terms {which}were selected, so the data left none of them out.")
        said += [_score(fit, performance)] if isinstance(fit.choice.k, str) else []
    if fit.is_chosen:
        said.append(
            "Tests and intervals from a model fitted to the selected terms on the same rows ignore"
            " the selection and are not valid; they are usually anti-conservative."
        )
    said.append(_stability(fit))
    causal = "Selected terms predict the response; selection is not evidence of a causal effect."
    return tuple(text for text in (*said, causal if n_selected else "") if text)


def few_events(fit: Fit) -> str:
    """That there are few events or rows per candidate term, if that is so and is known."""
    n_terms, design, response = len(fit.design.spec.terms), fit.design, fit.design.response
    times, classes = response.follow_up, response.classes if response.counts else ()
    n = design.rows.used if times is None else times.n_events
    counts = [*response.counts] if classes else [n]
    if design.missing == "drop" and design.has_data:
        copies, y = design.row_weights.copies * design.problem.in_training, response.y
        every = np.ones(len(y)) if times is None else y[:, EVENT]
        rows = [y == code for code in range(len(classes))] or [every]
        counts = [int(copies @ own) for own in rows]
    count, what = min(counts), "row" if times is None else "event"
    of = f" of the class {classes[counts.index(count)]}" if classes else ""
    if count >= FEW * n_terms:
        return ""
    each = "less than one" if count < n_terms else f"{count / n_terms:.2g}"
    return (
        f"There {'is' if count == 1 else 'are'} only {counted(count, what)}{of} for"
        f" {counted(n_terms, 'candidate term')} ({each} per term); with so few, selections and"
        f" estimates vary considerably from sample to sample [{HEINZE.short}]."
    )


def _score(fit: Fit, performance: Performance | None) -> str:
    name = fit.design.response.family.score_name
    if performance is None and fit.held_out is not None and np.isfinite(fit.held_out.score):
        return (
            f"The {name} on the rows that were not drawn is that of the final model; other samples"
            " of rows may lead to other terms."
        )
    if performance is not None:
        return (
            f"The {performance.score_name} of the outer folds assesses the whole procedure, which"
            " may select other terms in each fold, not this particular set of terms."
        )
    if fit.scores is None or not np.isfinite(fit.scores.mean[fit.k]):
        return (
            f"No {name} was estimated on rows outside the selection, so performance on new data is"
            " unknown."
        )
    if fit.scores.of_halves:
        most = most_of_half(fit.design.rows.used)
        return (
            f"The {name} on held-out halves is that of models fitted to {most and f'{most}each '}"
            f"half of the rows; the number of {noun(fit)} was chosen on all rows."
        )
    chooser = fit.scores.chooser.capitalize()
    return f"{chooser} chose the number of {noun(fit)}, so their {name} is optimistic."


def _others(fit: Fit) -> str:
    if fit.step.decisions is not None and fit.choice.k is None:
        return purpose_notes(fit)[0]
    return (
        "Which of several associated terms is selected may be arbitrary: an unselected term can be"
        " as informative about the response as a selected one."
    )


def _stability(fit: Fit) -> str:
    if fit.resampled is not None:
        return (
            "Stability measures how consistently the procedure selects on resamples of these rows,"
            " not how close the selected terms are to the true ones."
        )
    is_given = not fit.is_chosen and fit.choice.k == fit.k
    if not fit.selected or not fit.leaves_out or is_given:
        return ""
    return "Stability was not assessed; another sample may lead to other terms."


# --- what to write of a selection, and what to cite --------------------------------------------

_WIDTH = 88
_TITLE = "treeselect: variable selection by sparse tree ensembles"


@dataclass(frozen=True, slots=True)
class Citation:
    """What to write of a selection: prints as text.

    Attributes
    ----------
    methods : str
        A paragraph for the section on methods, with the numbers in it.
    limitations : tuple of str
        What must be known of this selection, in sentences.
    references : tuple of str
        What paragraph and limitations cite.
    bibtex : str
        The same as BibTeX, the software included.
    call : str
        Of the selection, with its seed, to be typed again.
    seed : int
    versions : dict of str to str
        Of the software here.
    fingerprint : str or None
        Of the data, 64 hexadecimal digits; None where they are not here.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> "mRMR" in fit.search.citation().as_text()
    True
    """

    methods: str
    limitations: tuple[str, ...]
    references: tuple[str, ...]
    bibtex: str
    call: str
    seed: int
    versions: dict[str, str]
    fingerprint: str | None

    @property
    def fingerprint_words(self) -> str:
        """What the fingerprint is of, or why there is none."""
        if self.fingerprint is None:
            return "not known: the data were not saved with the model"
        return COVERED

    def as_text(self) -> str:
        """Plain text, at most 88 characters wide unless names are longer."""
        facts = {
            "Call": self.call,
            "Seed": str(self.seed),
            "Versions": versions_text(self.versions),
            "Data": self.fingerprint or self.fingerprint_words,
        }
        lines = _wrapped(self.methods)
        for head, said in (("Limitations", self.limitations), ("References", self.references)):
            lines += ["", head, *(line for one in said for line in _wrapped(one, "- "))]
        lines += [""]
        for name, value in facts.items():
            lines += _wrapped(value, f"{name}: ".ljust(10))
        return "\n".join([*lines, "", *map(shown, self.bibtex.splitlines())])

    __repr__ = __str__ = as_text


def cite(fit: Fit, versions: Mapping[str, str], performance: Performance | None = None) -> Citation:
    """What to write of a fit, and what to cite; see ``SearchView.citation``."""
    fingerprint, fit = data_fingerprint(fit.design), as_shown(fit)
    cited = [*papers(fit), *([HEINZE] if few_events(fit) else [])]
    paper = fit.chosen_method.paper
    others = [one.text for one in cited if one not in fit.chosen_method.references]
    own = versions.get("treeselect", __version__)
    python = f", Python {versions['Python']}" if "Python" in versions else ""
    methods = methods_text(fit, performance)
    ours = {"author": "{treeselect developers}", "title": f"{{{_TITLE}}}"}
    ours["note"] = f"Python package, version {own}"
    return Citation(
        methods=f"{methods} Software: treeselect {own}{python}; seed {fit.seed}.",
        limitations=limitations(fit, performance),
        references=(paper, *others, f"{_TITLE}. Python package, version {own}."),
        bibtex="\n\n".join([entry("manual", "treeselect", ours), *(one.bibtex for one in cited)]),
        call=fit.call.whole,
        seed=fit.seed,
        versions=dict(versions),
        fingerprint=fingerprint,
    )


def versions_text(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _wrapped(text: str, lead: str = "") -> list[str]:
    return textwrap.wrap(
        shown(text),
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


# --- the paragraph on methods --------------------------------------------------------------------

_MOST_NAMES, _ROOM = 20, 600
"""Terms that the paragraph names, and the characters that they may take."""

NESTED_MODELS = Reference(
    ("T. E. Clark", "K. D. West"),
    2007,
    "Approximately normal tests for equal predictive accuracy in nested models",
    journal="Journal of Econometrics",
    volume="138",
    number="1",
    pages="291-311",
)

ONE_STANDARD_ERROR = Reference(
    ("L. Breiman", "J. H. Friedman", "R. A. Olshen", "C. J. Stone"),
    1984,
    "Classification and Regression Trees",
    book="Wadsworth",
    is_book=True,
)
INDEX = Reference(
    ("S. Nogueira", "K. Sechidis", "G. Brown"),
    2018,
    "On the stability of feature selection algorithms",
    journal="Journal of Machine Learning Research",
    volume="18",
    number="174",
)


def methods_text(fit: Fit, performance: Performance | None) -> str:
    """The paragraph, without versions."""
    said = [_what(fit), *_which_rows(fit), _how_many(fit)]
    said += [*reduced_words(fit.step, fit.p_values, noun(fit)), _result(fit)]
    said += [*_scores(fit, performance), *_stability_sentences(fit)]
    said += [f"The final model was {fit.model.description}."] if fit.selected else []
    return " ".join(said)


def papers(fit: Fit) -> tuple[Reference, ...]:
    """What the paragraph cites, except the software."""
    found = [*fit.chosen_method.references]
    found += {"1se": [ONE_STANDARD_ERROR], "auto": [NESTED_MODELS]}.get(str(fit.choice.k), [])
    if fit.resampled is not None and np.isfinite(fit.resampled.index):
        found.append(INDEX)
    return tuple(found)


def _what(fit: Fit) -> str:
    method, n_terms = fit.chosen_method, len(fit.design.spec.terms)
    n_units = len(fit.design.arrays.groups.names)
    candidates = "one candidate term" if n_terms == 1 else f"{n_terms:,} candidate terms"
    if n_units < n_terms:
        candidates = f"{n_units:,} candidate {noun(fit, n_units)} ({n_terms:,} terms)"
    options = options_text(method.changed())
    return (
        f"Terms predicting {fit.design.response.name} ({response_words(fit)}) were selected from"
        f" {candidates} by {method.title}{_cited(fit)}, with {options or 'default options'}."
    )


def _cited(fit: Fit) -> str:
    """Short citations of the method's papers; of our own methods, of those that they build on."""
    method = fit.chosen_method
    if not method.references:
        return ""
    after = "" if method.paper == texts(method.references) else "after "
    return f" [{after}{'; '.join(reference.short for reference in method.references)}]"


def response_words(fit: Fit) -> str:
    """The kind of the response, with its rows, and those of a class or with an event."""
    response, counts, used = fit.design.response, class_counts(fit), fit.design.rows.used
    classes, n = response.classes, counted(used, "row")
    if response.follow_up is not None:
        return f"time to event; {counted(response.follow_up.n_events, 'event')} in {n}"
    if len(classes) == 2 and counts:
        count = dict(counts)[str(classes[1])]
        return f"binary; {count:,} of {n} with {response.name} = {classes[1]}"
    if classes:
        least = f", the smallest with {counted(counts[0][1], 'row')}" if counts else ""
        ordered = "ordered " if response.family.is_ordered else ""
        return f"{len(classes):,} {ordered}classes{least}; {n}"
    return f"{'counts' if fit.family == 'poisson' else 'numeric'}; {n}"


TREATED = {
    "level": "retained",
    "impute": "imputed by regression on the other terms, without the response, learned from the"
    " training rows of each fold and resample",
    "drop": "left out of all training",
}
"""What became of rows with missing values."""


def _which_rows(fit: Fit) -> list[str]:
    design, rows, said, drawn = fit.design, fit.design.rows, [], dict(sample_facts(fit))
    if design.sample is not None:
        said.append(f"Terms were {drawn['Sample']}, drawn at random (seed {design.sample.seed}).")
    if fit.held_out is not None and np.isfinite(fit.held_out.score):
        said.append(f"The final model has {drawn['Held out']}.")
    its = "its" if rows.no_weight == 1 else "their"
    reasons = {f"{design.response.parts_text} was missing": rows.no_response}
    for why, n in (reasons | {f"{its} weight was 0": rows.no_weight}).items():
        if n:
            said.append(f"{n:,} row{' was' if n == 1 else 's were'} excluded because {why}.")
    if design.has_data and (incomplete := missing_counts(fit)[1]):
        one = incomplete == 1
        said.append(
            f"{counted(incomplete, 'row')} with missing values in candidate terms"
            f" {'was' if one else 'were'} {TREATED[design.missing]}."
        )
    if design.weights is not False and design.weights_kind:  # equal ones have no effect
        kind = f"{design.weights_kind.capitalize()} weights"
        said.append(f"{kind}{_named(design.weights)} were used.")
    if design.offset_name is not False:
        said.append(f"The linear predictor included an offset{_named(design.offset_name)}.")
    if (known := design.response.follow_up) is not None:
        if known.start is not None:
            said.append(f"Rows entered observation at {known.start} (left truncation).")
        if known.strata:
            said.append(f"Baseline hazards were stratified by {enumeration(known.strata)}.")
    return [*said, *cluster_sentences(fit), *_asked(fit)]


def cluster_sentences(fit: Fit) -> list[str]:
    """That clusters were kept together, if there are any."""
    if (groups := fit.choice.folds.groups_name) is False:
        return []
    which = f"Rows with the same {groups}" if isinstance(groups, str) else "Clustered rows"
    return [f"{which} were kept together in folds, bags of trees and resamples."]


def _asked(fit: Fit) -> list[str]:
    """Costs and monotone constraints, if there are any."""
    groups, ways = fit.design.arrays.groups, fit.design.arrays.directions
    costs = zip(groups.names, groups.costs.tolist(), strict=True)
    said = {
        "The selection took costs into account, 1 unless stated:": [
            f"{name} ({cost:g})" for name, cost in costs if cost != 1
        ],
        "Predictions were constrained not to decrease with": [n for n in ways if ways[n] > 0],
        "Predictions were constrained not to increase with": [n for n in ways if ways[n] < 0],
    }
    return [f"{a} {enumeration(b, _MOST_NAMES, _ROOM)}." for a, b in said.items() if b]


def _named(name: str | bool) -> str:
    return f" ({name})" if isinstance(name, str) else ""


def _how_many(fit: Fit) -> str:
    what, k = f"The number of {noun(fit)}", fit.choice.k
    if k is None:
        return f"{what} was determined by the method."
    if isinstance(k, int):
        if fit.k == k:
            return f"{what} was fixed at {k:,}."
        return f"Of {k:,} {noun(fit, k)} requested, only {fit.k:,} entered the path."
    if fit.p_values is not None:
        ridits = " of ridits" if fit.design.response.family.is_ordered else ""
        signs = fit.design.row_weights.error_groups is not None or fit.family == "poisson"
        by = "random-sign" if signs else "permutation"
        return (
            f"{what} was chosen by tests at level {LEVEL:g}: {fit.call.rule}. They are a score test"
            f" of all other terms in an additive model{ridits}, with a {by} null, and out-of-bag"
            f" tests of nested models [{NESTED_MODELS.short}]."
        )
    assert fit.scores is not None
    family, folds = fit.design.response.family, fit.scores.words(fit.choice.folds)
    rule = "was chosen to maximise"
    if k == "1se":
        rule = f"was chosen by the one-standard-error rule [{ONE_STANDARD_ERROR.short}] for"
    if fit.scores.spared is not None:
        return (
            f"{what} {rule} {family.score_name} on {folds}; the search used"
            f" {fit.scores.spared.n_searched:,} other rows, to which the models scored were fitted."
        )
    return (
        f"{what} {rule} {family.score_name} in {folds}, with the selection repeated inside each"
        " fold."
    )


def _result(fit: Fit) -> str:
    n = len(fit.selected)
    if n == 0:
        return "No term was selected."
    names = enumeration(fit.selected, _MOST_NAMES, _ROOM)
    groups, decisions = fit.design.arrays.groups, fit.step.decisions
    kept = fit.design.terms_of(compress(groups.names, groups.keep))
    forced = f", with {enumeration(kept)} forced in" if kept else ""
    if len(kept) == n:
        forced = ", forced in" if n == 1 else ", all forced in"
    if decisions is not None:
        doubted = compress(groups.names, fit.step.selected & ~decisions.are(CONFIRMED))
        if others := fit.design.terms_of(doubted):
            forced += f"; the method did not confirm {enumeration(others, _MOST_NAMES, _ROOM)}"
    which = "selected term was" if n == 1 else f"{n:,} selected terms were"
    return f"The {which} {names}{forced}."


def _scores(fit: Fit, performance: Performance | None) -> list[str]:
    family, said, words = fit.design.response.family, [], []
    if fit.scores is not None and np.isfinite(fit.scores.mean[fit.k]):
        mean, error = fit.scores.mean[fit.k], fit.scores.standard_error[fit.k]
        where = "In the same folds" if fit.scores.spared is None else "On the held-out rows"
        if fit.scores.of_halves:
            where = f"In {fit.scores.words(fit.choice.folds)}"
        said.append(
            f"{where}, {family.score_name} with this number of {noun(fit)} was"
            f" {score_text(mean, error, 'standard error')}"
            f"{', with the model that the final one replaced' if fit.scores_are_past else ''}."
        )
        words.append(family.score_words)
    if performance is not None and np.isfinite(performance.mean):
        included = ", including the choice of this number," if isinstance(fit.choice.k, str) else ""
        score = performance.words
        said.append(
            f"In an outer {performance.scheme}, with the whole selection{included} repeated inside"
            f" each fold, {performance.score_name}{of_model(fit, performance)} on the held-out rows"
            f" was {score}, averaged over {len(performance.scores):,} folds."
        )
        words.append(performance.score_words)
    return [*said, *(text for text in dict.fromkeys(words) if text)]


def of_model(fit: Fit, performance: Performance) -> str:
    """Whose score it is, where another model than the final one predicted the held-out rows."""
    own = performance.model in ("", fit.model.description)
    return "" if own else f" of {performance.model}"


def _stability_sentences(fit: Fit) -> list[str]:
    if fit.resampled is None:
        return []
    stability = fit.stability
    fixed = f", with the number of {noun(fit)} fixed at {stability.k:,}"
    how = fixed if stability.fixed_size else ""
    said = [f"The selection was repeated on {stability.words}{how}."]
    if not np.isfinite(stability.index):
        return [*said, f"The stability index is {index_words(stability)}."]
    said.append(
        f"The stability index of {INDEX.short.rpartition(' ')[0]} [{INDEX.year}] was"
        f" {index_words(stability)}."
    )
    kept = kept_units(stability)
    frequency = dict(zip(stability.units, stability.frequency.tolist(), strict=True))
    own = [frequency[unit] for unit in fit.groups if unit not in kept]
    if own:
        low, high = min(own), max(own)
        least, most = percent_text(low), percent_text(high)
        share = least if least == most else f"{least} to {most}"
        one = len(own) == 1
        chosen = f" that {'was' if one else 'were'} not forced in" if kept else ""
        said.append(
            f"The selected {noun(fit, len(own))}{chosen} had"
            f" {'a selection frequency' if one else 'selection frequencies'} of {share}."
        )
    return said
