"""From a model file's records to the encoded data: formula, terms, response, columns."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.columns import FactorSpec, TermSpec
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.families import Family, family_of
from treeselect.designs.labels import read_labels
from treeselect.designs.modeldata import ModelData, RowCounts
from treeselect.designs.problem import CodedColumns, Units
from treeselect.designs.response import Response
from treeselect.designs.row_sample import LEAST_ROWS, RowSample
from treeselect.designs.scoring import with_lost_scoring, with_scoring
from treeselect.designs.survival import (
    FollowUp,
    are_times,
    described_follow_up,
    has_times,
)
from treeselect.designs.weights import KINDS, LARGEST_WEIGHT, RowWeights, no_weights
from treeselect.engine.arrays import WeightArray
from treeselect.engine.data.binning import FREE, MAX_BINS, bin_columns
from treeselect.formula import parse_formula
from treeselect.formulas.terms import Code, Factor, ParsedFormula, Transform, nodes
from treeselect.frames.files import one_line
from treeselect.frames.opening import codes_from
from treeselect.frames.values import Labels, Numbers, to_series
from treeselect.modelfile.checks import are_plain, check, directions
from treeselect.modelfile.plain import unplain

if TYPE_CHECKING:
    import pandas as pd


# --- from a model file's records to classes, their rows, and facts about times to an event -----


def read_level_names(levels: list[Any]) -> tuple[Any, ...]:
    """Levels of a factor."""
    check(all(isinstance(v, str | int | float | bool) for v in levels), "levels")
    return tuple(levels)


def read_counts(record: Any, classes: tuple[Any, ...]) -> tuple[int, ...]:
    """Rows of the classes; files of older versions have none."""
    counts = tuple(map(int, record))
    check(not counts or not classes or len(counts) == len(classes), "classes and their rows")
    check(len(counts) <= 2 or bool(classes), "the rows of the response")
    return counts


def read_follow_up(record: Mapping[str, Any], formula: ParsedFormula) -> FollowUp:
    """Facts about times to an event."""
    n_rows, n_events, median = (record[part] for part in ("n_rows", "n_events", "median"))
    first, last = record["span"]
    levels = tuple(read_level_names(own) for own in record["levels"])
    check(
        type(n_rows) is int
        and type(n_events) is int
        and 0 < n_events <= n_rows
        and (median is None or (type(median) is float and 0 <= median < math.inf)),
        "times to an event",
    )
    check(
        type(first) is type(last) is float and 0 <= first <= last < math.inf, "span of the events"
    )
    check(
        all(len(own) == len(formula.strata) for own in levels)
        and len(set(levels)) == len(levels) > 0,
        "strata and their levels",
    )
    return described_follow_up(formula, n_rows, n_events, median, (first, last), levels)


# --- what a model file says of a term must fit together ----------------------------------------


def check_term(spec: TermSpec) -> None:
    """Raise a ModelFileError unless levels, combinations and counts of a term fit together."""
    _check_combinations(spec)
    _check_counts(spec)


def _check_combinations(spec: TermSpec) -> None:
    labelled = [n for i in spec.order if (n := spec.factors[i].levels) is not None]
    check((spec.combinations is None) == (len(labelled) < 2), "levels and combinations")
    for combination in spec.combinations or ():
        check(
            len(combination) == len(labelled)
            and all(0 <= c < len(n) for c, n in zip(combination, labelled, strict=True)),
            "levels and combinations",
        )
    combinations = list(spec.combinations or ())
    check(combinations == sorted(set(combinations)), "combinations")


def _check_counts(spec: TermSpec) -> None:
    n, most = spec.n_occurring, spec.n_levels
    check((n is None) == (most is None), "levels that occur")
    check(n is None or (type(n) is int and 0 <= n <= (most or 0)), "levels that occur")
    gaps = spec.n_missing
    check(gaps is None or (type(gaps) is int and gaps >= 0), "missing values")


# --- from a model file's records to the encoded data -------------------------------------------


def data_of(
    content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, trusted: bool
) -> ModelData:
    """The data of a result, without rows unless they were included.

    Raises
    ------
    FormulaError
        If the formula needs `trusted`.
    Exception
        Of many kinds, if parts are missing or inconsistent.
    """
    spec = _spec(content, trusted)
    response = _response(content["response"], spec.formula)
    empty = _empty_design(content, arrays, spec)
    weights, library, offset = content["weights"], content["library"], content["offset"]
    check(isinstance(weights, str | bool) and isinstance(offset, str | bool), "weights")
    older = None if weights is False else "frequency"  # older files have no kind
    kind = content.get("weights_kind", older)
    check(kind is None or (kind in KINDS and weights is not False), "weights")
    data = ModelData(
        arrays=empty,
        spec=spec,
        response=response,
        row_weights=no_weights(0),
        weights=weights,
        offset=None if offset is False else np.empty(0),
        offset_name=offset,
        rows=RowCounts(**{k: int(v) for k, v in content["rows"].items()}),
        notes=tuple(map(str, content["notes"][0])),
        sources=_no_sources(spec),
        library=library if library in ("polars", "pyarrow") else "pandas",
        weights_kind=kind,
        labels=_labels_in_print(content.get("labels", []), spec.formula),
        sample=_sample(content.get("sample")),
    )
    if "sources" in content:
        data = _with_sources(data, content["sources"], arrays)
    return data


def _sample(record: Mapping[str, Any] | None) -> RowSample | None:
    """The sample of rows; None without one, and in files of older versions."""
    if record is None:
        return None
    found = RowSample(**record)
    counts = (found.wanted, found.of, found.seed)
    check(
        all(type(n) is int and n >= 0 for n in counts)
        and found.wanted >= LEAST_ROWS
        and isinstance(found.by, str)
        and isinstance(found.groups, str | bool),
        "the sample of rows",
    )
    return found


def _spec(content: Mapping[str, Any], trusted: bool) -> DesignSpec:
    formula = content["formula"]
    columns = [str(name) for name in formula["columns"]]
    parsed = parse_formula(
        formula["text"], columns, hidden=[str(n) for n in formula["hidden"]], trusted=trusted
    )
    records = {str(record["name"]): record for record in content["terms"]}
    check(list(records) == [term.name for term in parsed.terms], "formula and terms")
    terms = []
    for term in parsed.terms:
        record = records[term.name]
        parts = [
            FactorSpec(
                factor,
                None if part["levels"] is None else read_level_names(part["levels"]),
                tuple(map(str, part["fields"])),
                bool(part["is_bool"]),
            )
            for factor, part in zip(term.factors, record["factors"], strict=True)
        ]
        found = record["combinations"]
        combinations = None if found is None else tuple(tuple(map(int, c)) for c in found)
        counts = record["occurring"], record.get("missing")  # which old files do not have
        terms.append(TermSpec(term, tuple(parts), combinations, *counts))
        check_term(terms[-1])
    schema = {str(name): str(kind) for name, kind in content["schema"]}
    check(set(schema.values()) <= {"number", "logical", "text"}, "the schema")
    check({v for t in parsed.terms for v in t.variables} == set(schema), "formula and schema")
    state = {str(name): unplain(learned) for name, learned in content["state"]}
    check(
        set(state) == {f.name for t in parsed.terms for f in t.factors}
        and all(isinstance(learned, dict) for learned in state.values()),
        "formula and transforms",
    )
    for factor in (f for t in parsed.terms for f in t.factors):
        check(_fits(factor, state[factor.name]), "formula and transforms")
    check(content["new_levels"] in ("error", "missing", "other"), "new_levels")
    return DesignSpec(
        formula=parsed,
        terms=tuple(terms),
        schema=schema,
        state=state,
        units=_units(content["units"], [term.name for term in parsed.terms]),
        new_levels=content["new_levels"],
        na=codes_from(content.get("na")),  # files of older versions have none
    )


def _fits(factor: Factor, learned: Mapping[str, Any]) -> bool:
    """Whether each transform has a state: otherwise new data would define it.

    A column without values has no state; trusted code may have any.
    """
    texts = {
        node.text
        for node in nodes(factor.node)
        if isinstance(node, Transform) and node.function not in ("C", "hashed")
    }
    found = set(learned) - {"fitted"}
    empty = [text for text in found if not learned[text] and not text.startswith("poly(")]
    if not _is_small(learned) or empty:
        return False
    return not found or found == texts or any(isinstance(n, Code) for n in nodes(factor.node))


_MOST_LEARNED = 1_100
"""Maximum numbers of one kind in the state of a transform; a spline has at most 1,000 knots."""


def _is_small(learned: Any) -> bool:
    """Whether a state is small enough: a million knots would exhaust the memory."""
    if isinstance(learned, Mapping):
        return len(learned) <= _MOST_LEARNED and all(map(_is_small, learned.values()))
    if isinstance(learned, list):
        return len(learned) <= _MOST_LEARNED and all(map(_is_small, learned))
    return np.size(learned) <= _MOST_LEARNED


def _labels_in_print(pairs: list[Any], formula: ParsedFormula) -> dict[str, str]:
    """Labels of columns and terms; files of older versions have none."""
    check(
        all(isinstance(text, str) for pair in pairs for text in pair)
        and all(label and label == one_line(label) for _, label in pairs),
        "labels",
    )
    return read_labels(dict(pairs), {}, formula, formula.columns)


def _units(record: Mapping[str, Any], terms: list[str]) -> Units:
    units = Units(
        names=tuple(map(str, record["names"])),
        terms=tuple(tuple(map(str, unit)) for unit in record["terms"]),
        items=tuple(tuple(map(int, units)) for units in record["items"]),
        item_costs=tuple(map(float, record["item_costs"])),
        keep=tuple(map(bool, record["keep"])),
        keys=tuple(map(str, record["keys"])),
    )
    n = len(units.names)
    check(
        n == len(units.terms) == len(units.keep) == len(units.keys) > 0
        and len(set(units.names)) == n
        and sorted(units.term_order) == sorted(terms)
        and len(units.items) == len(units.item_costs)
        and all(item and all(0 <= unit < n for unit in item) for item in units.items)
        and all(0 <= cost < math.inf for cost in units.item_costs),
        "units",
    )
    return units


def _response(record: Mapping[str, Any], formula: ParsedFormula) -> Response:
    classes = read_level_names(record["classes"])
    family = family_of(record["family"], len(classes))
    check(family.has_times == has_times(formula), "formula and family")
    known = record.get("follow_up")
    check((known is not None) == family.has_times, "family and times")
    follow_up = None if known is None else read_follow_up(known, formula)
    return Response(
        name=str(record["name"]),
        y=np.empty((0, 4) if family.has_times else 0),
        rows=np.empty(0, dtype=np.int64),
        family=_with_scoring(family, record["scoring"], follow_up),
        reason=str(record["reason"]),
        classes=classes,
        n_dropped=int(record["n_dropped"]),
        follow_up=follow_up,
        counts=read_counts(record.get("counts", ()), classes),
    )


def _with_scoring(family: Family, record: list[Any] | None, follow_up: FollowUp | None) -> Family:
    if record is None:
        return family
    name, by_name = record
    check(isinstance(name, str) and isinstance(by_name, bool), "scoring")
    if not by_name:
        return with_lost_scoring(family, name)
    return with_scoring(family, name, follow_up)


def _empty_design(
    content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], spec: DesignSpec
) -> CodedColumns:
    """The coded columns without rows."""
    names, levels = content["columns"]
    expected = [(name, n) for name in spec.units.term_order for n in spec[name].column_levels]
    check([(str(n), v) for n, v in zip(names, levels, strict=True)] == expected, "columns")
    start, values = arrays["edges_start"], arrays["edges"]
    check(
        start.dtype == np.int64
        and values.dtype == np.float64
        and len(start) == len(levels) + 1
        and start[0] == 0
        and start[-1] == len(values)
        and bool(((start >= 0) & (start <= len(values))).all())
        and bool((np.diff(start) >= 0).all())
        and bool((np.diff(start) < MAX_BINS).all()),
        "bin edges",
    )
    edges = tuple(
        None if n is not None else values[start[j] : start[j + 1]] for j, n in enumerate(levels)
    )
    check(
        all(
            e is None or (bool(np.isfinite(e).all()) and bool((np.diff(e) > 0).all()))
            for e in edges
        ),
        "bin edges",
    )
    columns = tuple(np.empty(0, dtype=np.float64 if n is None else np.uint8) for n in levels)
    groups = spec.units.feature_groups(names)
    empty = CodedColumns(
        column_names=tuple(map(str, names)),
        columns=columns,
        n_levels=tuple(levels),
        edges=edges,
        groups=groups,
        binned=bin_columns(columns, edges, [n or 0 for n in levels], groups.ids),
        monotone=FREE,
    )
    return empty.constrained(directions(content.get("monotone", {}), spec))


def _no_sources(spec: DesignSpec) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: [] for name in spec.schema})


def _with_sources(
    data: ModelData, records: list[Any], arrays: Mapping[str, NDArray[Any]]
) -> ModelData:
    import pandas as pd

    n = len(arrays["y"])
    series = {}
    for i, (name, kind, *rest) in enumerate(records):
        values = arrays[f"source_{i}"]
        check(values.shape == (n,), "data")
        if kind == "numbers":
            is_bool, is_integer = map(bool, rest)
            column: Numbers | Labels = Numbers(values.astype(np.float64), is_bool, is_integer)
        else:
            levels, declared, ordered = rest
            check(
                kind == "labels" and bool(((values >= -1) & (values < len(levels))).all()), "data"
            )
            column = Labels(values, read_level_names(levels), bool(declared), bool(ordered))
        series[str(name)] = to_series(column)
    frame = pd.DataFrame(series)
    check(list(frame) == list(data.spec.schema), "data and schema")
    y, rows, weight = (arrays[name] for name in ("y", "rows", "weight"))
    are_copies = weight.dtype == np.int64
    check(
        y.dtype == np.float64
        and rows.dtype == np.int64
        and (are_copies or weight.dtype == np.float64)
        and y.shape == (len(frame), *data.response.y.shape[1:])
        and rows.shape == weight.shape == (len(frame),)
        and bool(((weight >= 0) & (weight < np.inf)).all())
        and bool(weight.any())
        and (not are_copies or weight.sum(dtype=np.float64) <= LARGEST_WEIGHT)
        and are_plain(y)
        and len(frame) == len(y) > 0,
        "data",
    )
    _check_response(data.response, y, weight)
    offset = None if data.offset is None else arrays["offset"]
    check(
        offset is None
        or (
            offset.shape == weight.shape
            and offset.dtype == np.float64
            and bool(np.isfinite(offset).all())
        ),
        "offset",
    )
    groups = arrays.get("fold_groups")
    check(
        groups is None
        or (
            groups.shape == weight.shape
            and groups.dtype == np.int64
            and bool(((groups >= 0) & (groups < data.rows.total)).all())
        ),
        "groups",
    )
    is_sample = not are_copies and data.weights_kind == "sampling"
    columns = data.spec.encode(frame)
    coded = dataclasses.replace(data.arrays, columns=columns, binned=data.arrays.bin(columns))
    return dataclasses.replace(
        data,
        arrays=coded,
        response=dataclasses.replace(data.response, y=y, rows=rows),
        row_weights=RowWeights(weight, are_copies, groups, is_sample),
        offset=offset,
        sources=frame,
    )


def _check_response(response: Response, y: NDArray[np.float64], weight: WeightArray) -> None:
    """Raise unless classes are numbered from 0, and times could be read from a formula."""
    if response.follow_up is not None:
        check(are_times(y, weight, response.follow_up), "times to an event")
        return
    n = response.family.n_classes
    check(n == 0 or bool(((y >= 0) & (y < n) & (y == np.floor(y))).all()), "response and classes")
