"""Parts of the sections of a page: tables of texts with small pictures, and cards."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import pandas as pd

from treeselect.comparison.methods import ScoreLine, score_lines, summarise_comparison
from treeselect.comparison.record import Contest
from treeselect.figures.marks import Figure
from treeselect.printing import SummaryContent, cells, interval_text
from treeselect.resampling.coefficient_stability import CoefficientStability
from treeselect.resampling.fit import Fit
from treeselect.resampling.inference import Inference
from treeselect.resampling.performance import Performance
from treeselect.resampling.subgroups import Subgroups
from treeselect.resampling.validation import Validation
from treeselect.results.curves import CurveRow, curve_rows, has_curve
from treeselect.results.effects import effect_table
from treeselect.results.linear_model import GlmFit
from treeselect.results.summary import overview_table, summarise

MOST_UNITS = 30
"""Maximum units in a figure; the others are counted."""

MOST_ROWS = 50
"""Maximum rows in a table; the others are counted."""

_NUMBER = re.compile(r"[+-]?[\d.,]*(e[+-]?\d+)?|\([\d.,]+\)|<0\.0+1|∞|–")


@dataclass(frozen=True, slots=True)
class Card:
    """One of the facts at the top of a page: its name, its value in large type, sentences below."""

    head: str
    value: str
    details: tuple[str, ...] = ()

    @classmethod
    def of(cls, head: str, value: str, *details: str) -> Card:
        """A card without the sentences that are empty."""
        return cls(head, value, tuple(filter(None, details)))


@dataclass(frozen=True, slots=True)
class Mark:
    """A small picture of a number between 0 and 1: a bar from 0, or a dot, filled or not, with its
    interval, whose words are shown on hover or focus; or of a curve, as points between 0 and 1, or
    of points without a line, and where 0 is."""

    at: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    filled: bool = True
    curve: tuple[tuple[float, float], ...] = ()
    line: bool = True


class Note(str):
    """A paragraph in small type."""

    __slots__ = ()


class Heading(str):
    """The head of what follows in a section."""

    __slots__ = ()


class Facts(tuple[tuple[str, str], ...]):
    """Names and values; a call is code."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of code, under a summary if they are folded."""

    lines: tuple[str, ...]
    fold: str = ""


@dataclass(frozen=True, slots=True)
class Panels:
    """Small figures side by side, under a title."""

    title: str
    panels: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A small figure with its title, and how to read it, unless an earlier figure says so."""

    title: str
    words: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Choices:
    """Tables of which one is shown, that `at` first and the others when their label is chosen, each
    below what is said of it. Documents have the first."""

    legend: str
    labels: tuple[str, ...]
    said: tuple[str, ...]
    tables: tuple[Table, ...]
    at: int


class Section:
    """A section of a page: a title and its parts (texts, sentences, and classes of this file) in
    their order; in templates each is an attribute of its name, ``report.path.table``."""

    def __init__(self, anchor: str, title: str, *, sub: bool = False, **parts: object) -> None:
        self.anchor, self.title, self.sub = anchor, title, sub
        self.parts = parts

    def __getattr__(self, name: str) -> Any:
        if name == "parts" or name not in self.parts:
            raise AttributeError(name)
        return self.parts[name]

    @property
    def shown(self) -> list[tuple[str, Any]]:
        """The parts that are not empty, each with its kind."""
        found: list[tuple[str, Any]] = []
        for own in self.parts.values():
            if isinstance(own, tuple) and own and isinstance(own[0], Table):
                found += map(kind_of, own)
            elif own is not None and own not in ("", ()):
                found.append(kind_of(own))
        return found


def kind_of(part: Any) -> tuple[str, Any]:
    """What a part is called in the templates, and the part."""
    if isinstance(part, Table) and not part.rows:
        return "text", "None."
    if isinstance(part, str):
        return {Note: "note", Heading: "heading"}.get(type(part), "text"), part
    if isinstance(part, Figure):
        return "figure", part
    if isinstance(part, tuple) and not isinstance(part, Facts):
        kinds = {Panels: "panels", Picture: "pictures"}
        return kinds.get(type(part[0]), "sentences"), part
    return type(part).__name__.lower(), part


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts; the first cell of each row is its head. `marks` are pictures beside the
    cells of columns by number; `outside` says which rows are outside the selection. With the
    summary `fold` it is folded, and then printed only `on_paper`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0
    marks: Mapping[int, tuple[Mark | None, ...]] = field(default_factory=dict)
    outside: tuple[bool, ...] = ()
    caption: str = ""
    fold: str = ""
    on_paper: bool = False

    def titled(self, caption: str, fold: str = "", *, on_paper: bool = False) -> Table:
        return replace(self, caption=caption, fold=fold, on_paper=on_paper)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column contains only numbers, which are set flush right."""
        return tuple(
            all(_NUMBER.fullmatch(row[i]) for row in self.rows) for i in range(len(self.columns))
        )

    @property
    def is_long(self) -> bool:
        """Whether it can be saved: not what is read at a glance."""
        return len(self.rows) > 5

    @property
    def is_numbers(self) -> bool:
        """Whether each column except the first contains only numbers."""
        return all(self.numeric[1:])

    @property
    def stacks(self) -> bool:
        """Whether rows become blocks on narrow screens: not with few columns, which fit; with so
        many that the table is a matrix, which is read across; or with too many rows."""
        return not self.is_slim and not self.is_matrix and len(self.rows) <= MOST_ROWS

    @property
    def is_slim(self) -> bool:
        """Whether it has so few columns that it fits on narrow screens."""
        return len(self.columns) <= 3

    @property
    def is_matrix(self) -> bool:
        """Whether it has so many columns that their names are rotated."""
        return len(self.columns) > 12


def first_rows(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    """A table of the first rows; the others are counted."""
    return Table(tuple(columns), tuple(rows[:MOST_ROWS]), max(len(rows) - MOST_ROWS, 0))


def listed(found: pd.DataFrame, columns: Mapping[str, cells.Cell], most: int = MOST_ROWS) -> Table:
    heads, rows = cells.table(found.head(most), columns.items())
    return Table(heads, rows, len(found) - len(rows))


def bars(values: Sequence[float]) -> tuple[Mark, ...]:
    """Bars, the longest of length 1; negative values have length 0."""
    largest = max(0.0, *values) if values else 0.0
    return tuple(Mark(max(float(value), 0.0) / (largest or 1.0)) for value in values)


def frequency_mark(row: Mapping[Any, Any]) -> Mark:
    low, high = float(row["ci_low"]), float(row["ci_high"])
    text = interval_text(low, high)
    return Mark(float(row["frequency"]), low, high, text, bool(row["selected"]))


def names(material: FitMaterial | ContestMaterial) -> Section | None:
    """Names and labels of labelled columns and terms, which code needs; None if there are none."""
    if not material.names:
        return None
    table = first_rows(("Name", "Label"), material.names)
    return Section(
        "names",
        "Labels and names",
        lead="This page shows labels; formulas, result tables and other code use names.",
        table=table.titled("Names and labels", "Names behind the labels"),
    )


def notes_section(notes: Sequence[str]) -> Section | None:
    """What a reader should know; None if that is nothing."""
    return Section("notes", "Notes", sentences=tuple(notes)) if notes else None


def table_around(
    columns: Sequence[str], rows: Sequence[tuple[str, ...]], sizes: Sequence[int], chosen: int
) -> Table:
    """A row for each step of a path; for a long path, the steps around the chosen size."""
    at = next((i for i, size in enumerate(sizes) if size >= chosen), len(sizes) - 1)
    first = max(0, min(at - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    shown = tuple(rows[first : first + MOST_ROWS])
    return Table(tuple(columns), shown, len(rows) - len(shown))


class Report(SimpleNamespace):
    """The content of a page, by the names of the functions that made it: ``report.stability`` in
    templates; None if the section is empty."""


MOST_CURVES, MOST_CLASSES = 10, 4
"""Terms with a curve, and classes that have curves of their own."""

_MOST_OTHERS = 10
"""Terms outside the selection; the frequencies of more are in a table of their own."""

_IN_LOOKS = 15, 5
"""The same of both, at other sets."""

_MOST_EFFECTS = 12
"""Terms whose effects are computed for the page, if none are stored."""


@dataclass(frozen=True)
class FitMaterial:
    """Material of a report on a selection, whose fit is as it is shown; `names` are the names
    behind labels. With `whole`, sections may repeat each other."""

    fit: Fit
    performance: Performance | None = None
    coefficients: CoefficientStability | None = None
    linear: GlmFit | None = None
    inference: Inference | None = None
    validation: Validation | None = None
    subgroups: Subgroups | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    written: str = ""
    names: tuple[tuple[str, str], ...] = ()
    whole: bool = False
    is_look: bool = False  # at another set, whose curves say enough

    @cached_property
    def summary(self) -> SummaryContent:
        return summarise(self.fit)

    @cached_property
    def overview(self) -> tuple[pd.DataFrame, int]:
        """The selected terms and their close competitors, and how many have no room."""
        most = _IN_LOOKS if self.is_look else (MOST_ROWS, _MOST_OTHERS)
        return overview_table(self.fit, *most)

    @cached_property
    def effects(self) -> pd.DataFrame | None:
        """Effects of the most important terms; None without the data or stored effects."""
        fit = self.fit
        is_known = fit.effect_record is not None or fit.design.has_data
        if self.is_look or not fit.selected or not is_known:
            return None
        return effect_table(fit, _MOST_EFFECTS)

    @cached_property
    def curve_rows(self) -> tuple[CurveRow, ...]:
        """Partial dependence on the most important terms, empty without the data."""
        fit = self.fit
        if not fit.design.has_data:
            return ()
        eligible = [term for term in fit.selected if has_curve(fit, term)]
        return curve_rows(fit, eligible[:MOST_CURVES], MOST_CLASSES)

    @cached_property
    def terms_have_effects(self) -> bool:
        """Whether the table of terms shows all effects: one step a term, no intervals."""
        found = self.effects
        if self.whole or found is None:
            return False
        return found["term"].is_unique and bool(found["low"].isna().all())


@dataclass(frozen=True)
class ContestMaterial:
    """Material of a report on a comparison, which is as it is shown, under labels."""

    found: Contest
    versions: Mapping[str, str] = field(default_factory=dict)
    written: str = ""
    names: tuple[tuple[str, str], ...] = ()

    @cached_property
    def summary(self) -> SummaryContent:
        return summarise_comparison(self.found)

    @cached_property
    def ranked(self) -> pd.DataFrame:
        """A row for each method, best score first."""
        return self.found.ranked_table()

    @cached_property
    def differences(self) -> pd.DataFrame:
        return self.found.in_pandas.differences()

    @cached_property
    def lines(self) -> Sequence[ScoreLine]:
        """Scores of methods by number of terms, best method first."""
        return score_lines(self.found)
