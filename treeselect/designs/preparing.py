"""From the user's formula and data to what is modelled."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from treeselect.designs.encoding import build_design
from treeselect.designs.labels import read_labels
from treeselect.designs.modeldata import ModelData, row_counts
from treeselect.designs.monotone import monotone_notes, read_monotone
from treeselect.designs.request import Request
from treeselect.designs.row_groups import read_groups
from treeselect.designs.row_sample import draw
from treeselect.designs.scoring import check_scoring, with_scoring
from treeselect.designs.term_values import read_terms
from treeselect.designs.units import make_units
from treeselect.designs.value_notes import response_notes
from treeselect.designs.weights import check_offset, doubt_of_counts, read_offset
from treeselect.errors import DataError, OptionError, TreeselectWarning, quoted
from treeselect.formula import parse_formula
from treeselect.frames.codes import read_codes
from treeselect.frames.reading import check_rows
from treeselect.frames.tables import Table, table_of
from treeselect.running.collecting import no_collection
from treeselect.running.machine import memory_is_told

if TYPE_CHECKING:
    import pandas as pd


@memory_is_told()
@no_collection()
def prepare(
    request: Request,
    frame: pd.DataFrame | Table,
    in_data: Mapping[str, str] | None = None,
    *,
    rows: int | None = None,
    seed: int = 0,
) -> ModelData:
    """Read a user's request for a frame.

    Parameters
    ----------
    request : Request
    frame : pandas.DataFrame or Table
        As ``frames.reading`` or ``frames.tables`` reads it.
    in_data : mapping of str to str, optional
        Labels that came with the data, from ``frames.labels``.
    rows : int, optional
        Most rows to select on; see ``row_sample``.
    seed : int
        Of the draw of these rows.

    Raises
    ------
    FormulaError
        If the formula can't be read, names an unknown column, or would run code.
    DataError
        If the data can't be used as they are.
    OptionError
        If another argument is not allowed.
    """
    table = table_of(frame)
    check_rows(table)
    codes = read_codes(request.na)
    codes.check(table.columns)
    parsed = parse_formula(
        request.formula, table.columns, hidden=request.hidden, trusted=request.trusted
    )
    weights, offset = request.weights, request.offset
    if isinstance(offset, str) and offset in parsed.response.variables:
        raise OptionError(
            "`offset` must not be the response.\n"
            f"  Found: {offset!r}, which is on the left-hand side of the formula."
        )
    labels = read_labels(request.labels, in_data or {}, parsed, table.columns)
    units = make_units(parsed.terms, request.groups, request.costs, request.keep)
    kind = request.weights_kind
    try:
        drawn = draw(
            parsed, table, codes, weights=weights, kind=kind, family=request.family,
            also=request.hidden, fold_groups=request.fold_groups, rows=rows, seed=seed,
        )  # fmt: skip
    except DataError as error:
        if table.in_memory:  # raises it together with all other problems
            read_terms(parsed, codes.applied(table.whole([])), also=[error])
        raise
    whole, own, response, used = drawn.frame, drawn.weights, drawn.response, drawn.used
    if request.fold_groups is not None:
        own = own.in_groups(read_groups(request.fold_groups, whole, response.rows))
    scored = with_scoring(response.family, request.scoring, response.follow_up)
    check_scoring(scored, response.y, own.values)
    response = dataclasses.replace(response, family=scored)
    known = read_offset(offset, whole)
    check_offset(known, response.rows)
    if known is not None and response.family.n_classes > 2:
        raise OptionError(
            "`offset` needs a single linear predictor, but a response of more than two classes has"
            f" one for each class.\n  Found: {response.family.n_classes} classes in"
            f" {quoted(response.name)}."
        )
    design, spec, notes = build_design(
        parsed, used, units, own.values, new_levels=request.new_levels, edges=drawn.edges
    )
    directions = read_monotone(request.monotone, spec.terms, response.family)
    design = design.constrained(directions)
    notes += monotone_notes(directions, parsed.terms)
    spec = dataclasses.replace(spec, na=codes)
    notes += response_notes(response, request.family)
    if not parsed.has_intercept:
        notes.append("`-1` and `0 +` in the formula have no effect: the intercept is not a term.")
    if isinstance(weights, str):
        notes.append(f"Case weights: {quoted(weights)}, which `.` in the formula excludes.")
    if offset is not None:
        name = quoted(offset) if isinstance(offset, str) else "an array"
        notes.append(f"Offset: {name}, added to the linear predictor of every model.")
    if doubt := doubt_of_counts(weights, whole, kind):
        warnings.warn(TreeselectWarning(doubt), stacklevel=5)
    sources = used[list(spec.variables)]
    return ModelData(
        arrays=design,
        spec=spec,
        response=response,
        row_weights=own,
        weights=weights if isinstance(weights, str) else weights is not None,
        weights_kind=None if drawn.every.are_constant else kind or own.kind,
        offset=None if known is None else known[response.rows],
        offset_name=offset if isinstance(offset, str) else offset is not None,
        rows=row_counts(drawn),
        notes=tuple(notes),
        sources=sources,
        labels=labels,
        sample=drawn.sample,
    )
