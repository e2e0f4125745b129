"""The encoded data of one fit, kept so that later calls need no data argument, their fingerprint,
and the association of their columns."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_choice
from treeselect.brief import brief
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.estimators import Estimator, read_estimator
from treeselect.designs.evaluation import model_matrix
from treeselect.designs.problem import (
    CodedColumns,
    FinalModel,
    Missing,
    Problem,
    Wants,
    reads_columns,
)
from treeselect.designs.response import Response, with_positive
from treeselect.designs.row_sample import Drawn, RowSample, draw
from treeselect.designs.weights import (
    WORDS_OF_KIND,
    RowWeights,
    WeightsKind,
    check_offset,
    read_offset,
)
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.survival.times import STRATUM
from treeselect.engine.tree.used_groups import can_split
from treeselect.errors import DataError, NewDataError, OptionError, listing, quoted
from treeselect.frames.tables import open_table
from treeselect.frames.values import Labels, read_column, recoded
from treeselect.running.machine import memory_errors

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
        seen = self.used + self.no_response + self.no_weight + self.not_drawn
        return seen - self.more_copies


def row_counts(drawn: Drawn) -> RowCounts:
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
    """Encoded data and how they were encoded."""

    arrays: CodedColumns  # without rows in a model that was saved without its data
    spec: DesignSpec
    response: Response
    # of the rows that are used, which have a response and a weight. The copies that frequency
    # weights count are rows of their own
    row_weights: RowWeights
    # weights, offset_name: columns of the case weights and the offset; else whether an array was
    # given
    weights: str | bool
    offset: FloatArray | None  # shape (n_rows,); known part of the linear predictor
    offset_name: str | bool
    rows: RowCounts
    notes: tuple[str, ...]  # notes on the data for readers of the summary
    sources: pd.DataFrame  # the columns behind the terms, for :meth:`model_matrix`
    library: str = "pandas"  # library of the user's data, in which tables are given
    # given or found; None if there are none, or if all rows used have the same, which has no effect
    weights_kind: WeightsKind | None = None
    # labels, words: what columns and terms are called in print, by name; and the columns of a
    # design whose terms already have their labels as names
    labels: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    sample: RowSample | None = None  # None if all rows with a response and a weight are here
    # what predicts; None for the method's own final model
    model: FinalModel | Estimator | None = None
    missing: Missing = "level"
    fingerprint: str | None = None  # of the data that a model file leaves out, if it has it

    __repr__ = brief

    @property
    def has_data(self) -> bool:
        return len(self.row_weights) > 0

    @property
    def free(self) -> BoolArray:
        """Units that are neither forced in nor constant, shape (n_groups,)."""
        return ~self.arrays.groups.keep & can_split(self.arrays.binned, self.weight)

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
        ``designs.preparing.in_labels``."""
        return self.words.get(column, column)

    def terms_of(self, units: Iterable[str]) -> tuple[str, ...]:
        """Terms of these units, in their order; those of a unit in the user's order."""
        groups = self.arrays.groups
        members = dict(zip(groups.names, groups.terms, strict=True))
        order = [spec.term.name for spec in self.spec.terms]
        return tuple(term for name in units for term in sorted(members[name], key=order.index))

    def offset_of(self, frame: pd.DataFrame, given: Sequence[float] | None) -> FloatArray | None:
        """Offset of all rows of `frame`: its column, or the array given."""
        _check_given("offset", self.offset_name, given)
        if isinstance(self.offset_name, str):
            if self.offset_name not in frame:
                raise NewDataError(
                    "`data` must have the column of the offset.\n"
                    f"  Missing: {quoted(self.offset_name)}."
                )
            own = self.spec.na.applied(frame[[self.offset_name]], {self.offset_name: "number"})
            return read_offset(self.offset_name, own)
        return read_offset(given, frame)

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
        _check_given("weights", self.weights, weights)
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
        if len(response.classes) == 2 and response.classes == self.response.classes[::-1]:
            response = with_positive(response, self.response.classes[-1])
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
        problem = "`data` must be the data that the model was fitted to.\n  Found: "
        if other:
            raise NewDataError(problem + other)
        arrays = dataclasses.replace(self.arrays, columns=columns, binned=self.arrays.bin(columns))
        found = dataclasses.replace(
            self,
            arrays=arrays,
            response=dataclasses.replace(self.response, y=response.y, rows=response.rows),
            row_weights=drawn.weights.in_groups(self.row_weights.groups),
            offset=None if known is None else known[response.rows],
            sources=used[list(self.spec.variables)],
        )
        own = data_fingerprint(self) or self.fingerprint
        if own not in (None, data_fingerprint(found)):
            raise NewDataError(f"{problem}as many rows, with other values or in another order.")
        return found

    def with_model(self, model: Any, known: Sequence[str] = get_args(FinalModel)) -> ModelData:
        """The same with a final model that is asked for; None for the method's own. Other models
        are `known` by name."""
        if isinstance(model, str):
            check_choice("model", model, known, dict.fromkeys(("coxph", "lm", "multinom"), "glm"))
        elif model is not None:
            has_offset = self.offset_name is not False
            model = read_estimator(model, known, self.response, has_offset=has_offset)
        if self.arrays.directions and reads_columns(model):
            raise OptionError(
                f"`monotone` can't be observed by the model {quoted(str(model))}.\n"
                '  Use a model of trees, such as `model="stack"`, or leave `monotone` out.'
            )
        return dataclasses.replace(self, model=model)

    @property
    def problem(self) -> Problem:
        self.check_data()
        return Problem(
            self.arrays.binned,
            self.arrays.groups,
            self.response.y,
            self.response.family,
            self.offset,
            columns=self.arrays if reads_columns(self.model) or self.missing == "impute" else None,
            model=self.model,
            missing=self.missing,
        )

    def problem_for(self, method: Wants) -> Problem:
        return self.problems_for([method])[0]

    def problems_for(self, methods: Sequence[Wants]) -> list[Problem]:
        """What each of these methods sees; the arrays are the same for all of them."""
        problem = self.problem
        exact = self.arrays.exact(self.weight) if any(m.splits_exactly for m in methods) else None
        return [
            dataclasses.replace(
                problem,
                exact=exact if method.splits_exactly else None,
                columns=self.arrays if method.reads_columns else problem.columns,
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
        if not self.has_data:
            raise DataError(
                "Can't do this without the data of the fit, which were not saved with the model.\n"
                "  Use `fit.with_data(data)`, or save the model with `include_data=True`."
            )


def _check_given(argument: str, known: str | bool, given: object) -> None:
    """Raise an OptionError unless an array is given where the fit had one, and only there."""
    if isinstance(known, str) and given is not None:
        where = f"the model reads it from the column {quoted(known)} of the data."
        raise OptionError(f"`{argument}` must not be given: {where}")
    if not isinstance(known, str) and known != (given is not None):
        no, out = ("", "") if known else (" not", "out")
        raise OptionError(
            f"`{argument}` must{no} be given: the model was fitted with{out} such an array."
        )


# --- A fingerprint of the data of a fit: the same for the same values, wherever they are ---------

COVERED = (
    "SHA-256 of the response, the columns behind the candidate terms, case weights and offset, with"
    " their names, in the rows used and in their order. It does not depend on the order of columns,"
    " on unused columns, or on the library and data type that hold the values."
)
"""What the fingerprint is of."""


def data_fingerprint(design: ModelData) -> str | None:
    """64 hexadecimal digits; None without the data. Numbers, truth values among them, are read as
    64-bit floating point, all missing ones as the same; labels as their texts. Values follow each
    other in the order of the names, each with its length, little end first."""
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
    texts = Labels(column.codes, tuple(str(level) for level in column.levels))
    used = sorted({texts.levels[code] for code in np.unique(column.codes[column.codes >= 0])})
    return [json.dumps(used).encode(), recoded(texts, used).astype("<i8").tobytes()]


def _add(found: Any, name: str, parts: list[bytes]) -> None:
    for part in (name.encode("utf-8", "surrogatepass"), *parts):
        found.update(struct.pack("<q", len(part)))  # so that no two lists of parts read alike
        found.update(part)


# --- Strength of association of two columns: one measure for each pair of types ------------------


class Coded(NamedTuple):
    """A column as codes: of a number the rank of its value among the distinct values, of a factor
    its level; -1 where it is missing."""

    codes: IntArray
    is_factor: bool


def coded_number(values: FloatArray) -> Coded:
    return Coded(pd.factorize(values, sort=True)[0].astype(np.int64), False)


def association(first: Coded, second: Coded, weight: FloatArray) -> float:
    """Strength in [0, 1] of the association of two columns, over the rows where neither is missing;
    0 if one of them is constant. For two numbers the absolute Spearman rank correlation (1904); for
    a number and a factor Pearson's correlation ratio (1905), the square root of the proportion of
    the variance of the ranks between the levels; for two factors Cramer's V (1946)."""
    rows = (first.codes >= 0) & (second.codes >= 0) & (weight > 0)
    if not rows.any():
        return 0.0
    a, b, own = first.codes[rows], second.codes[rows], weight[rows].astype(np.float64)
    if first.is_factor and second.is_factor:
        return _cramers_v(a, b, own)
    if first.is_factor:
        return _correlation_ratio(a, _ranks(b, own), own)
    if second.is_factor:
        return _correlation_ratio(b, _ranks(a, own), own)
    x, z = (r - np.average(r, weights=own) for r in (_ranks(a, own), _ranks(b, own)))
    spread = (own @ x**2) * (own @ z**2)
    return min(abs(float(own @ (x * z))) / float(np.sqrt(spread)), 1.0) if spread > 0 else 0.0


def _ranks(codes: IntArray, weight: FloatArray) -> FloatArray:
    """Mid-rank of each row, counted by weight, up to a constant."""
    at = np.bincount(codes, weight)
    return np.asarray((np.cumsum(at) - at / 2)[codes])


def _correlation_ratio(level: IntArray, values: FloatArray, weight: FloatArray) -> float:
    centred = values - np.average(values, weights=weight)
    total = float(weight @ centred**2)
    of_level = np.bincount(level, weight)
    sums = np.bincount(level, weight * centred)
    between = float((sums[of_level > 0] ** 2 / of_level[of_level > 0]).sum())
    return float(np.sqrt(min(between / total, 1.0))) if total > 0 else 0.0


def _cramers_v(a: IntArray, b: IntArray, weight: FloatArray) -> float:
    n_levels = int(b.max()) + 1
    table = np.bincount(a * n_levels + b, weight, (int(a.max()) + 1) * n_levels)
    table = table.reshape(-1, n_levels) / weight.sum()
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    fewest = min(table.shape)
    if fewest < 2:
        return 0.0
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sqrt(min(((table - chance) ** 2 / chance).sum() / (fewest - 1), 1.0)))


_MEASURES = ("Spearman", "correlation ratio", "Cramer's V")
"""By the number of factors among two terms."""


class Associations:
    """Strength of association of terms and units in the data of a fit: the strongest of their
    columns', 0 of a factor that is entirely missing. Each column is coded once, when it is first
    needed."""

    def __init__(self, data: ModelData) -> None:
        data.check_data()
        self._arrays = data.arrays
        self._weight = data.weight.astype(np.float64)
        self._coded: dict[int, Coded] = {}
        self._columns: dict[str, list[int]] = {}
        self._between: dict[frozenset[str], float] = {}
        for j, term in enumerate(data.arrays.column_names):
            self._columns.setdefault(term, []).append(j)

    def terms(self, term: str, other: str) -> tuple[str, float]:
        """Name of the measure and strength in [0, 1] of two terms."""
        first, second = (self._columns.get(name, []) for name in (term, other))
        n_factors = sum(not own or self._column(own[0]).is_factor for own in (first, second))
        return _MEASURES[n_factors], self._strongest(first, second)

    def units(self, unit: str, other: str) -> float:
        """Strength in [0, 1] of two units."""
        pair = frozenset((unit, other))
        if pair not in self._between:
            groups = self._arrays.groups
            first, second = (
                np.flatnonzero(groups.ids == groups.names.index(name)).tolist()
                for name in (unit, other)
            )
            self._between[pair] = self._strongest(first, second)
        return self._between[pair]

    def among(self, units: Sequence[str]) -> FloatArray:
        """Strengths of all pairs of some units, shape (n_units, n_units), with ones on the
        diagonal."""
        found = np.eye(len(units))
        for i, j in itertools.combinations(range(len(units)), 2):
            found[i, j] = found[j, i] = self.units(units[i], units[j])
        return found

    def _strongest(self, first: Sequence[int], second: Sequence[int]) -> float:
        pairs = itertools.product(first, second)
        strengths = (association(self._column(a), self._column(b), self._weight) for a, b in pairs)
        return max(strengths, default=0.0)

    def _column(self, j: int) -> Coded:
        if j not in self._coded:
            column = self._arrays.columns[j]
            if self._arrays.n_levels[j] is None:
                self._coded[j] = coded_number(column)
            else:  # 0 is missing, 255 none of the column's levels
                self._coded[j] = Coded(column.astype(np.int64) - 1, True)
        return self._coded[j]
