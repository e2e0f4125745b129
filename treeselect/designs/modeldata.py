"""The encoded data of one fit, kept so that later calls need no data argument."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import described
from treeselect.brief import brief
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.matrix import model_matrix
from treeselect.designs.problem import CodedColumns, Problem, Wants
from treeselect.designs.response import Response
from treeselect.designs.row_sample import Drawn, RowSample, draw
from treeselect.designs.weights import (
    WORDS_OF_KIND,
    RowWeights,
    WeightsKind,
    check_offset,
    read_offset,
)
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.survival.times import STRATUM
from treeselect.errors import DataError, NewDataError, OptionError, listing, quoted
from treeselect.frames.tables import open_table
from treeselect.frames.values import Labels, read_column
from treeselect.running.machine import memory_errors

if TYPE_CHECKING:
    import pandas as pd

INTERCEPT = "Intercept"
"""Name of the intercept where terms are named."""


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many observations are used, and why others are not: without a response or a stratum,
    though with a weight; with the weight 0; not drawn. A frequency weight of 2 makes two
    observations of a row, one of them more than the data have rows."""

    used: int
    no_response: int
    no_weight: int
    not_drawn: int = 0
    more_copies: int = 0

    @property
    def total(self) -> int:
        """All rows of the data."""
        seen = self.used + self.no_response + self.no_weight + self.not_drawn
        return seen - self.more_copies


def row_counts(drawn: Drawn) -> RowCounts:
    """How many observations are used, and why others are not."""
    n, every = drawn.weights.n_observations, drawn.every
    n_all, n_zero = every.n_observations, int((~every.used).sum())
    missing, more = n_all - drawn.n_in_use, n_all + n_zero - len(every)
    return RowCounts(n, missing, n_zero, drawn.n_in_use - n, more)


@dataclass(frozen=True, slots=True)
class AllRows:
    """Columns of rows in use among all rows, one of which is spread out at a time: a sample may be
    a small part of them."""

    sources: pd.DataFrame
    rows: IntArray
    n_rows: int

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.sources.columns)

    def __len__(self) -> int:
        return self.n_rows

    def __contains__(self, name: object) -> bool:
        return name in self.sources

    def __getitem__(self, name: str) -> pd.Series[Any]:
        rows, first = np.unique(self.rows, return_index=True)
        return self.sources[name].iloc[first].set_axis(rows).reindex(range(self.n_rows))


@dataclass(frozen=True, slots=True)
class ModelData:
    """Encoded data and how they were encoded.

    Attributes
    ----------
    arrays : CodedColumns
        Without rows in a model that was saved without its data.
    row_weights : RowWeights
        Of the rows that are used, which have a response and a weight. The copies that frequency
        weights count are rows of their own.
    weights, offset_name : str, bool
        Columns of the case weights and the offset; else whether an array was given.
    offset : ndarray of float, shape (n_rows,), or None
        Known part of the linear predictor.
    notes : tuple of str
        Notes on the data for readers of the summary.
    sources : pandas.DataFrame
        The columns behind the terms, for :meth:`model_matrix`.
    library : str
        Library of the user's data, in which tables are given.
    weights_kind : {"frequency", "sampling", "precision"}, or None
        Given or found; None if there are none, or if all rows used have the same, which has no
        effect.
    labels, words : mapping of str to str
        What columns and terms are called in print, by name; and the columns of a design whose terms
        already have their labels as names.
    sample : RowSample or None
        None if all rows with a response and a weight are here.
    """

    arrays: CodedColumns
    spec: DesignSpec
    response: Response
    row_weights: RowWeights
    weights: str | bool
    offset: FloatArray | None
    offset_name: str | bool
    rows: RowCounts
    notes: tuple[str, ...]
    sources: pd.DataFrame
    library: str = "pandas"
    weights_kind: WeightsKind | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    sample: RowSample | None = None

    __repr__ = brief

    @property
    def has_data(self) -> bool:
        """Whether the rows are here."""
        return len(self.row_weights) > 0

    @property
    def weight(self) -> WeightArray:
        """Weights of the rows as methods and trees take them: whole numbers are copies."""
        return self.row_weights.values

    @property
    def weights_facts(self) -> tuple[tuple[str, str], ...]:
        """The case weights and their kind, for the head of a summary; nothing without weights."""
        if self.weights is False:
            return ()
        name = quoted(self.weights) if isinstance(self.weights, str) else "an array"
        if self.weights_kind is not None:
            return (("Case weights", f"{name}, {WORDS_OF_KIND[self.weights_kind]}"),)
        if self.rows.no_weight:
            return (("Case weights", f"{name}, equal in all rows used"),)
        return (("Case weights", f"{name}, all equal: they have no effect"),)

    def word_for(self, column: str) -> str:
        """What a column of the data is called in print: its name, or its label in a design from
        ``designs.labels.in_labels``."""
        return self.words.get(column, column)

    def terms_of(self, units: Iterable[str]) -> tuple[str, ...]:
        """Terms of these units, in their order; those of a unit in the user's order."""
        groups = self.arrays.groups
        members = dict(zip(groups.names, groups.terms, strict=True))
        order = [spec.term.name for spec in self.spec.terms]
        return tuple(term for name in units for term in sorted(members[name], key=order.index))

    def offset_of(self, frame: pd.DataFrame, given: Sequence[float] | None) -> FloatArray | None:
        """Offset of all rows of `frame`: its column, or the array given."""
        if isinstance(self.offset_name, str):
            if given is not None:
                raise OptionError(
                    "`offset` must not be given: the model reads it from the column"
                    f" {quoted(self.offset_name)} of the data."
                )
            if self.offset_name not in frame:
                raise NewDataError(
                    "`data` must have the column of the offset.\n"
                    f"  Missing: {quoted(self.offset_name)}."
                )
            return read_offset(self.offset_name, self.spec.na.applied(frame[[self.offset_name]]))
        if self.offset_name != (given is not None):
            raise OptionError(
                "`offset` must be given: the model was fitted with an offset array."
                if self.offset_name
                else "`offset` must not be given: the model was fitted without an offset array."
            )
        return read_offset(given, frame)

    def again(
        self, data: Any, weights: Sequence[float] | None, offset: Sequence[float] | None
    ) -> ModelData:
        """The same with its rows, which are taken from `data` if it is given."""
        if data is not None:
            return self.with_data(data, weights, offset)
        for name, given in (("weights", weights), ("offset", offset)):
            if given is not None:
                raise OptionError(
                    f"`{name}` must be given together with `data`, or left out: the model already"
                    f" has the values of the fit.\n  Found: {described(given)}."
                )
        self.check_data()
        return self

    @memory_errors()
    def with_data(
        self,
        data: Any,
        weights: Sequence[float] | None = None,
        offset: Sequence[float] | None = None,
    ) -> ModelData:
        """The same with the rows of the data of the fit, which were left out when the model was
        saved; with weights and offset if the fit had arrays of them."""
        sample = self.sample
        table = open_table(data, None if sample is None else sample.wanted)
        absent = [n for n in self.spec.formula.outcome_variables if n not in table.columns]
        if absent:
            raise NewDataError(
                "`data` must have the columns of the response.\n"
                f"  Missing: {listing(absent)}. Pass the data that the model was fitted to."
            )
        given = self.weights if isinstance(self.weights, str) else weights
        if weights is not None and self.weights is not True:
            raise OptionError(
                "`weights` must not be given: the model was fitted without an array of weights."
            )
        if self.weights is True and weights is None:
            raise OptionError(
                "`weights` must be given with `data`: the model was fitted with an array of"
                " weights."
            )
        if sample is not None and sample.groups is True:
            raise OptionError(
                "The rows of the fit can't be drawn again, because its `fold_groups` were an"
                " array.\n  Give them as a column of `data`, or save with `include_data=True`."
            )
        hidden = self.spec.formula.hidden
        groups = None if sample is None or sample.groups is False else str(sample.groups)
        wanted, seed = (None, 0) if sample is None else (sample.wanted, sample.seed)
        drawn = draw(
            self.spec.formula, table, self.spec.na, weights=given, kind=self.weights_kind,
            family=self.response.family.name, also=hidden, fold_groups=groups, rows=wanted,
            seed=seed,
        )  # fmt: skip
        frame, response, used = drawn.frame, drawn.response, drawn.used
        known = self.offset_of(frame, offset)
        check_offset(known, response.rows)
        columns = self.spec.encode(used)
        rows, other = row_counts(drawn), ""
        if rows != self.rows:
            other = (
                f"{rows.used:,} rows with a response and a weight, {rows.no_response:,} without a"
                f" response; the fit had {self.rows.used:,} and {self.rows.no_response:,}."
            )
        elif response.classes != self.response.classes:
            now, then = (listing(own.classes, 6) for own in (response, self.response))
            other = f"the classes {now}; the fit had {then}."
        elif response.follow_up != self.response.follow_up:
            other = "different times, events or strata, in the same number of rows."
        if other:
            problem = "`data` must be the data that the model was fitted to."
            raise NewDataError(f"{problem}\n  Found: {other}")
        arrays = dataclasses.replace(self.arrays, columns=columns, binned=self.arrays.bin(columns))
        return dataclasses.replace(
            self,
            arrays=arrays,
            response=dataclasses.replace(self.response, y=response.y, rows=response.rows),
            row_weights=drawn.weights.in_groups(self.row_weights.groups),
            offset=None if known is None else known[response.rows],
            sources=used[list(self.spec.variables)],
        )

    @property
    def problem(self) -> Problem:
        """What a method sees."""
        self.check_data()
        return Problem(
            self.arrays.binned,
            self.arrays.groups,
            self.response.y,
            self.response.family,
            self.offset,
        )

    def problem_for(self, method: Wants) -> Problem:
        """What this method sees."""
        return self.problems_for([method])[0]

    def problems_for(self, methods: Sequence[Wants]) -> list[Problem]:
        """What each of these methods sees; the arrays are the same for all of them."""
        problem = self.problem
        exact = self.arrays.exact(self.weight) if any(m.splits_exactly for m in methods) else None
        return [
            dataclasses.replace(
                problem,
                exact=exact if method.splits_exactly else None,
                columns=self.arrays if method.reads_columns else None,
            )
            for method in methods
        ]

    def all_rows(self) -> AllRows:
        """The columns behind the terms for all rows of the data; missing in rows not used."""
        return AllRows(self.sources, self.response.rows, self.rows.total)

    def model_matrix(self, *, full_rank: bool = False) -> pd.DataFrame:
        """formulaic's own matrix of the right-hand side, without an intercept, of the rows without
        a missing value in any variable, under their numbers among the rows that are used. Full rank
        drops a reference level of each factor."""
        self.check_data()
        complete, terms = self.sources.dropna(), [spec.term for spec in self.spec.terms]
        return model_matrix(self.spec.formula.text, complete, terms, full_rank=full_rank)

    def check_data(self) -> None:
        """Raise a DataError if the rows are not here."""
        if not self.has_data:
            raise DataError(
                "Can't do this without the data of the fit, which were not saved with the model.\n"
                "  Pass them as `data=` where that is an argument, or save the model with"
                " `include_data=True`."
            )


# --- A fingerprint of the data of a fit: the same for the same values, wherever they are ---------

COVERED = (
    "SHA-256 of the response, the columns behind the candidate terms, case weights and offset, with"
    " their names, in the rows used and in their order. It does not depend on the order of columns,"
    " on unused columns, or on the library and data type that hold the values."
)
"""What the fingerprint is of."""


def data_fingerprint(design: ModelData) -> str | None:
    """64 hexadecimal digits; None without the data.

    Numbers, truth values among them, are read as 64-bit floating point, all missing ones as the
    same; labels as their texts. Values follow each other in the order of the names, each with its
    length, little end first.
    """
    if not design.has_data:
        return None
    found = hashlib.sha256()
    _add(found, design.spec.formula.response.name, _response(design))
    for name in sorted(map(str, design.sources.columns)):
        column = read_column(design.sources[name], name)
        own = _labels(column) if isinstance(column, Labels) else [_numbers(column.values)]
        _add(found, name, own)
    _add(found, "case weights", [_numbers(design.weight)])
    if design.offset is not None:
        _add(found, "offset", [_numbers(design.offset)])
    return found.hexdigest()


def _response(design: ModelData) -> list[bytes]:
    response = design.response
    if response.classes:
        return _labels(Labels(response.y.astype(np.int64), response.classes))
    if response.follow_up is None:
        return [_numbers(response.y)]
    strata = Labels(
        response.y[:, STRATUM].astype(np.int64), tuple(map(str, response.follow_up.levels))
    )
    return [_numbers(response.y[:, :STRATUM]), *_labels(strata)]


def _numbers(values: Any) -> bytes:
    plain = np.asarray(values, dtype=np.float64) + 0.0  # no zero has a sign
    return np.where(np.isnan(plain), np.nan, plain).astype("<f8").tobytes()


def _labels(column: Labels) -> list[bytes]:
    """Levels that occur, sorted, and the place of each row's label among them, -1 if missing."""
    codes = np.asarray(column.codes, dtype=np.int64)
    texts = [str(level) for level in column.levels]
    used = sorted({texts[code] for code in np.unique(codes[codes >= 0])})
    place = {text: i for i, text in enumerate(used)}
    new = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int64)
    return [json.dumps(used).encode(), new[codes].astype("<i8").tobytes()]


def _add(found: Any, name: str, parts: list[bytes]) -> None:
    for part in (name.encode("utf-8", "surrogatepass"), *parts):
        found.update(struct.pack("<q", len(part)))  # so that no two lists of parts read alike
        found.update(part)
