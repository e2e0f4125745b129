"""Selections on several imputed frames, and their agreement on each term."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from treeselect.designs.columns import KINDS
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.response import Response
from treeselect.designs.survival import follow_up_facts
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least, falling
from treeselect.errors import DataError, OptionError, TreeselectError, listing, quoted
from treeselect.frames.files import labels_in
from treeselect.frames.reading import read_data
from treeselect.frames.tables import in_library
from treeselect.printing import (
    MOST_ROWS,
    SummaryContent,
    cells,
    count_text,
    decimal_text,
    interval_text,
)
from treeselect.printing.numbers import every, span
from treeselect.resampling.agreement import clustered_interval, stability_index, wilson_interval
from treeselect.resampling.fit import Fit, as_shown, noun
from treeselect.resampling.stability import BY_REQUEST
from treeselect.results.calls import unshown_note
from treeselect.results.summary import method_words, names_note, rows_note
from treeselect.results.verdict import FIXED, size_note


@dataclass(frozen=True, slots=True, eq=False)
class Imputed:
    """Selections on imputed frames, and the selection that combines them.

    Attributes
    ----------
    records : tuple of Fit
        The selection on each frame, all with the same seed.
    least_share : float
        Share of the imputations that must select a unit, above 0 and at most 1.
    resamples : int
        Number of resamples requested for each imputation.
    """

    records: Sequence[Fit]
    least_share: float
    resamples: int
    call: str
    data: str  # a description of the frames
    library: str = "pandas"
    unshown: tuple[str, ...] = ()  # arguments in whose place the call has their name only

    @property
    def n_imputations(self) -> int:
        """Number of frames."""
        return len(self.records)

    @property
    def seed(self) -> int:
        """Seed of all selections."""
        return self.records[0].seed

    @property
    def needed(self) -> int:
        """Number of imputations that must select a unit."""
        counts = np.arange(1, self.n_imputations + 1)
        return int(counts[at_least(counts, self.least_share * self.n_imputations)][0])

    @property
    def chosen(self) -> BoolArray:
        """The selection of each imputation, shape (n_imputations, n_groups)."""
        return np.array([fit.step.selected for fit in self.records])

    @property
    def counts(self) -> IntArray:
        """Number of imputations that selected each unit, shape (n_groups,)."""
        return np.asarray(self.chosen.sum(axis=0))

    @property
    def importance(self) -> FloatArray:
        """Mean importance of each unit over the imputations, 0 in those that did not select it,
        shape (n_groups,)."""
        return np.asarray(np.mean([fit.importance for fit in self.records], axis=0))

    @property
    def kept(self) -> BoolArray:
        """Units that enough imputations selected, shape (n_groups,)."""
        return self.counts >= self.needed

    @property
    def groups(self) -> tuple[str, ...]:
        """Units that enough imputations selected, by number of imputations, then by importance."""
        names = self.records[0].design.arrays.groups.names
        order = falling(self.importance)
        order = order[np.argsort(-self.counts[order], kind="stable")]
        return tuple(names[unit] for unit in order if self.kept[unit])

    @property
    def selected(self) -> tuple[str, ...]:
        """Terms that enough imputations selected, in the order of :attr:`groups`."""
        return self.records[0].design.terms_of(self.groups)

    @property
    def formula(self) -> str:
        """The selection as a formula: ``'survived ~ sex + pclass'``."""
        return self.records[0].design.spec.formula.text_of(self.selected)

    @property
    def index(self) -> float:
        """Nogueira's stability index over the imputations, for the units neither forced in nor
        constant; NaN if every imputation selected all of these or none."""
        return stability_index(self.chosen[:, self._assessed])[0]

    @property
    def resample_index(self) -> float:
        """The same over all resamples of all imputations; NaN also without resamples."""
        if not (drawn := self._drawn):
            return float("nan")
        return stability_index(np.concatenate(drawn)[:, self._assessed])[0]

    @property
    def n_resampled(self) -> int:
        """Number of imputations that were resampled: those with a non-empty selection."""
        return len(self._drawn)

    @property
    def _assessed(self) -> BoolArray:
        return np.any([fit.design.free for fit in self.records], axis=0)

    @property
    def _drawn(self) -> list[BoolArray]:
        """The selections on the resamples of each resampled imputation."""
        return [fit.resampled.selected for fit in self.records if fit.resampled is not None]

    def frequencies(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Selection frequency of each unit over all resamples, and its interval, each (n_groups,);
        NaN if no imputation was resampled."""
        if not (drawn := self._drawn):
            return (np.full(len(self.kept), np.nan),) * 3
        shares, n = np.array([one.mean(axis=0) for one in drawn]), len(drawn[0])
        if len(drawn) == 1:
            return shares[0], *wilson_interval(shares[0], n)
        return np.asarray(shares.mean(axis=0)), *clustered_interval(shares, n)

    def tidy(self) -> Any:
        """One row per term, those selected in the most imputations first.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``group``, its unit; ``selected``, whether enough imputations selected it;
            ``imputations`` that selected it, and their ``share``; mean ``importance``, with 0 for
            the other imputations. With resamples also ``frequency``, the share of all resamples of
            all imputations, and ``ci_low`` and ``ci_high``, its 95% interval: Wilson's interval
            with the effective number of independent resamples, each frame being a cluster (see
            :func:`treeselect.resampling.agreement.clustered_interval`). An imputation that selected
            nothing is not resampled, and does not count in the frequency.
        """
        design = self.records[0].design
        groups, unit_of = design.arrays.groups, design.arrays.groups.unit_of
        terms = [spec.term.name for spec in design.spec.terms]
        at = np.array([unit_of[term] for term in terms])
        frame = pd.DataFrame({
            "term": terms, "group": np.array(groups.names, dtype=object)[at],
            "selected": self.kept[at], "imputations": self.counts[at],
            "share": self.counts[at] / self.n_imputations, "importance": self.importance[at],
        })  # fmt: skip
        if self.resamples:
            frame[["frequency", "ci_low", "ci_high"]] = np.column_stack(self.frequencies())[at]
        order = falling(self.importance[at])
        order = order[np.argsort(-self.counts[at][order], kind="stable")]
        return in_library(frame.iloc[order].reset_index(drop=True), self.library)

    def glance(self) -> Any:
        """One row for all imputations together.

        Returns
        -------
        frame, in the library of the data
            ``n`` and ``n_dropped``, rows used and dropped in each frame; ``p``, number of units;
            ``imputations``, ``least_share``; ``k``, number of units selected by enough imputations;
            ``k_min`` and ``k_max``, its range in single imputations; ``distinct``, number of
            different sets; ``method``, ``family``; ``index``, Nogueira's index over the
            imputations; ``resamples`` of all imputations together, and ``resample_index``, the
            index over them; ``seed``.
        """
        first, sizes = self.records[0], self.chosen.sum(axis=1)
        row = {
            "n": first.design.rows.used,
            "n_dropped": first.design.rows.no_response,
            "p": len(first.design.arrays.groups.names),
            "imputations": self.n_imputations,
            "least_share": self.least_share,
            "k": int(self.kept.sum()),
            "k_min": int(sizes.min()),
            "k_max": int(sizes.max()),
            "distinct": len(np.unique(self.chosen, axis=0)),
            "method": first.method,
            "family": first.family,
            "index": self.index,
            "resamples": self.resamples * self.n_resampled,
            "resample_index": self.resample_index,
            "seed": self.seed,
        }
        return in_library(pd.DataFrame([row]), self.library)


# --- checks that frames are imputations of the same data: rows, columns, kinds and response ------


@contextmanager
def in_frame(number: int, n_frames: int) -> Iterator[None]:
    """Name the frame in an error message, unless an error in the first may concern all frames."""
    try:
        yield
    except TreeselectError as error:
        if number == 0 and not isinstance(error, DataError):
            raise
        raise type(error)(
            f"{error}\n  This was in frame {number + 1} of the {n_frames} in `data`."
        ) from error


def check_alike(request: Request, frames: Sequence[Any]) -> tuple[int, int]:
    """Numbers of rows and columns, if all frames, at least two, agree in what no imputation
    changes."""
    if len(frames) < 2:
        raise OptionError(
            "`data` must be a table or a path, or a list of at least two of these: imputations of"
            f" the same rows.\n  Found: a list of {len(frames)}."
        )
    first = None
    for number, data in enumerate(frames):
        here = f"frame {number + 1}"
        with in_frame(number, len(frames)):
            frame = read_data(data)
        shape = len(frame), tuple(map(str, frame.columns))
        if first is not None:
            _check_shape(first[0], shape, here)
        with in_frame(number, len(frames)):
            prepared = prepare(request, frame, labels_in(data))
        if first is None:
            first = shape, prepared.spec.schema, prepared.response
        else:
            _check_kinds(first[1], prepared.spec.schema, here)
            _check_response(first[2], prepared.response, here)
    assert first is not None
    n_rows, columns = first[0]
    return n_rows, len(columns)


Shape = tuple[int, tuple[str, ...]]
"""Number of rows, and names of the columns."""


def _check_shape(first: Shape, other: Shape, here: str) -> None:
    if other[0] != first[0]:
        raise DataError(
            "The frames in `data` must have the same rows.\n"
            f"  Found: {first[0]:,} in frame 1, {other[0]:,} in {here}. Imputation fills in"
            " values and drops no rows."
        )
    for names, others, one, without in both_ways(first[1], other[1], here):
        if lost := [name for name in names if name not in others]:
            raise DataError(
                "The frames in `data` must have the same columns.\n"
                f"  Found: {listing(lost)} in {one} and not in {without}. Drop columns that are"
                " not in all frames."
            )


def both_ways(first: Any, other: Any, here: str) -> Any:
    """Two sides with their frames, and turned round."""
    return (first, other, "frame 1", here), (other, first, here, "frame 1")


def _check_kinds(first: Mapping[str, str], other: Mapping[str, str], here: str) -> None:
    for name, kind in first.items():
        if other[name] != kind:
            raise DataError(
                f"Column {quoted(name)} must be of the same kind in all frames of `data`.\n"
                f"  Found: {KINDS[kind]} in frame 1, {KINDS[other[name]]} in {here}. Convert one"
                " of them, for example with `.astype`."
            )


def _check_response(first: Response, other: Response, here: str) -> None:
    name, family, its_family = quoted(first.name), first.family.name, other.family.name
    if family != its_family:
        raise DataError(
            f"The response {name} must be of the same family in all frames of `data`.\n"
            f"  Found: {family} in frame 1, {its_family} in {here}. Impute possible values"
            " of the response, or give `family`."
        )
    if first.classes != other.classes:
        raise DataError(
            f"The response {name} must have the same classes in all frames of `data`.\n"
            f"  Found: {listing(first.classes)} in frame 1, {listing(other.classes)} in {here}."
        )
    for one, two, there, without in both_ways(first.rows, other.rows, here):
        rows = np.setdiff1d(one, two)
        if len(rows):
            more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
            raise DataError(
                "Rows with a response and a weight must be the same in all frames of `data`.\n"
                f"  Found: row {rows[0]}{more}, counted from 0, in {there} and not in {without}.\n"
                f"  Impute {name} in these rows in all frames or in none; a weight of 0 also"
                " excludes a row."
            )


# --- the printed summary of selections on imputed frames -----------------------------------------


def summarise_imputed(found: Imputed) -> SummaryContent:
    """Content of the summary, with labels."""
    names = names_note(found.records[0].design, found.selected)
    records = tuple(map(as_shown, found.records))
    found = dataclasses.replace(found, records=records, library="pandas")
    table = found.tidy()
    seen = table[table["imputations"] > 0]
    spec, m = found.records[0].design.spec, found.n_imputations
    groups = found.records[0].design.arrays.groups
    forced = {name for name, is_kept in zip(groups.names, groups.keep, strict=True) if is_kept}

    def frequency(row: cells.Record) -> str:
        return BY_REQUEST if row["group"] in forced else decimal_text(row["frequency"], 2)

    def interval(row: cells.Record) -> str:
        return "" if row["group"] in forced else interval_text(row["ci_low"], row["ci_high"])

    columns, rows = cells.table(
        seen.head(MOST_ROWS),
        [
            ("Term", "term"),
            *([("Group", "group")] if (seen["term"] != seen["group"]).any() else []),
            ("Type", lambda row: spec[row["term"]].kind),
            *([] if seen["selected"].all() else [("Selected", cells.yes("selected"))]),
            ("Imputations", lambda row: f"{row['imputations']} of {m}"),
            ("Importance", cells.decimal("importance", 3)),
            *([("Frequency", frequency), ("95% interval", interval)] if found.n_resampled else []),
        ],
    )
    return SummaryContent(
        title=f"Selected terms over imputations: {found.records[0].chosen_method.title}",
        facts=_facts(found),
        columns=columns,
        rows=rows,
        notes=(*_notes(found, len(seen)), *names),
    )


def _facts(found: Imputed) -> tuple[tuple[str, str], ...]:
    first, m = found.records[0], found.n_imputations
    p, needed = len(found.kept), found.needed
    share = f"in all {m} imputations" if needed == m else f"in at least {needed} of {m} imputations"
    of_all = f"of {count_text(p)} {_noun(found, p)}"
    return (
        ("Call", found.call),
        ("Data", found.data),
        ("Family", first.design.response.family_text),
        *follow_up_facts(first.design.response.follow_up),
        *first.design.weights_facts,
        ("Method", method_words(first.chosen_method)),
        ("Selected (k)", f"{count_text(int(found.kept.sum()))} {of_all}, selected {share}"),
        ("Each imputation", f"{span(found.chosen.sum(axis=1))} {of_all}"),
        ("Seed", str(found.seed)),
    )


def _noun(found: Imputed, n: float = 2) -> str:
    return noun(found.records[0], n)


def _notes(found: Imputed, n_seen: int) -> tuple[str, ...]:
    notes = [_agreement(found)]
    if n_seen and not found.kept.any():
        notes.append(f"No {_noun(found, 1)} was selected in enough imputations.")
    if n_seen > MOST_ROWS:
        notes.append(f"{n_seen - MOST_ROWS:,} more terms selected in an imputation: `.tidy()`.")
    if np.isfinite(found.index):
        notes.append(
            f"Stability index (Nogueira) over the imputations: {decimal_text(found.index, 2)};"
            " 1 is the same selection each time, 0 is chance. All imputations share one seed, so"
            " any difference is due to the imputed values."
        )
    notes += _resample_notes(found)
    rows = dict.fromkeys(map(rows_note, found.records))
    notes += [f"In each frame: {note}" for note in rows if len(rows) == 1]
    where: dict[str, list[int]] = {}  # each note once, with the imputations that it concerns
    for number, fit in enumerate(found.records, start=1):
        own = (rows_note(fit),) if len(rows) > 1 else ()
        for note in dict.fromkeys((*own, *fit.notes, *fit.design.notes)):
            where.setdefault(note, []).append(number)
    notes += [
        note
        if len(numbers) == found.n_imputations
        else f"Imputation{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}: {note}"
        for note, numbers in where.items()
    ]
    return (*notes, *unshown_note(found.unshown))


def _agreement(found: Imputed) -> str:
    """How many different sets the imputations selected, and how many selected the final one."""
    m, chosen = found.n_imputations, found.chosen
    distinct = len(np.unique(chosen, axis=0))
    if not chosen.any():
        return f"None of the {m} imputations selected any {_noun(found, 1)}."
    if distinct == 1:
        those = _noun(found, chosen[0].sum())
        return f"{every(m, 'imputation').capitalize()} selected the same {those}."
    same = int((chosen == found.kept).all(axis=1).sum())
    return (
        f"The {m} imputations selected {distinct} different sets of {_noun(found)};"
        f" {same or 'none'} of them selected exactly the final set."
    )


def _resample_notes(found: Imputed) -> Iterator[str]:
    if not found.resamples:
        return
    n, m = found.n_resampled, found.n_imputations
    empty = m - n
    if n:
        drawn = next(fit.resampled for fit in found.records if fit.resampled is not None)
        intervals = (
            "Intervals treat each frame as a cluster of resamples (Korn and Graubard 1998), so few"
            " imputations can make them wide."
            if n > 1
            else "Intervals are for this frame alone and ignore variation between imputations."
        )
        yield (
            f"Frequency: share of {n * drawn.n_resamples:,} resamples, {drawn.words} from each"
            f" imputed frame{' with a non-empty selection' if empty else ''}. {intervals}"
        )
    if empty:
        yield (
            f"{empty} of {m} imputations selected nothing and {'was' if empty == 1 else 'were'} not"
            " resampled; frequencies are those of the others."
            if n
            else "No imputation selected anything, so none was resampled."
        )
    if any(size_note(fit, fit.resampled) for fit in found.records if fit.resampled is not None):
        yield f"In each frame, {FIXED}."
    if np.isfinite(found.resample_index):
        index = decimal_text(found.resample_index, 2)
        yield f"Stability index (Nogueira) over all resamples: {index}."
