"""From a result to the content of a model file: a JSON document and arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.registry import method_record
from treeselect.algorithms.task import Step, Trace
from treeselect.designs.columns import TermSpec
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import scoring_record
from treeselect.designs.survival import FollowUp
from treeselect.errors import ModelFileError
from treeselect.frames.opening import codes_record
from treeselect.frames.values import Numbers, read_column
from treeselect.modelfile.asked import asked_record
from treeselect.modelfile.baselines import baseline_arrays
from treeselect.modelfile.effects import pack_effects
from treeselect.modelfile.models import model_arrays, subforest_arrays
from treeselect.modelfile.plain import plain
from treeselect.resampling.choosing import Choice
from treeselect.resampling.fit import Fit, quick_index

_NEW = "not_drawn"
"""A count that older versions do not know; written only where there is a sample."""


def pack(result: Fit, *, include_data: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Document and arrays of a result.

    Raises
    ------
    ModelFileError
        If the data are to be included and are not available.
    """
    arrays: dict[str, NDArray[Any]] = {}
    content = _content(result, arrays)
    if include_data:
        content["sources"] = _add_data(result.design, arrays)
        if isinstance(result.choice.folds.folds, np.ndarray):
            arrays["fold_numbers"] = result.choice.folds.folds
    return content, arrays


def _content(result: Fit, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    data, spec = result.design, result.design.spec
    arrays |= _path_arrays(result.steps, result.step)
    arrays |= model_arrays(result.model)
    arrays |= subforest_arrays(result.subforest)
    arrays |= baseline_arrays(result.baseline)
    edges = [np.empty(0) if e is None else e for e in data.arrays.edges]
    arrays["edges"] = np.concatenate(edges) if edges else np.empty(0)
    arrays["edges_start"] = np.cumsum([0, *(len(e) for e in edges)], dtype=np.int64)
    if result.p_values is not None:
        arrays["size_p_values"] = result.p_values
    if result.scores is not None:
        arrays["fold_scores"] = result.scores.scores
        if result.scores.full is not None:
            arrays["full_scores"] = result.scores.full
        if result.scores.of_halves:
            arrays["scored_halves"] = np.array([1], dtype=np.int64)
        arrays["fold_repeats"] = np.array([result.scores.repeats], dtype=np.float64)
        if result.scores.spared is not None:
            arrays["spared_rows"] = np.array(result.scores.spared, dtype=np.int64)
    content: dict[str, Any] = {
        "formula": {
            "text": spec.formula.text,
            "columns": spec.formula.columns,
            "hidden": spec.formula.hidden,
        },
        "terms": [_term_record(term) for term in spec.terms],
        "schema": list(spec.schema.items()),
        "state": [[name, plain(state)] for name, state in spec.state.items()],
        "new_levels": spec.new_levels,
        "na": codes_record(spec.na),
        "units": dataclasses.asdict(spec.units),
        **({"monotone": data.arrays.directions} if len(data.arrays.monotone) else {}),
        "columns": [data.arrays.column_names, data.arrays.n_levels],
        "response": {
            "name": data.response.name,
            "family": data.response.family.name,
            "reason": data.response.reason,
            "classes": data.response.classes,
            "n_dropped": data.response.n_dropped,
            "scoring": scoring_record(data.response.family),
            "follow_up": _follow_up_record(data.response.follow_up),
            "counts": data.response.counts,
        },
        "choice": _choice_record(result.choice),
        "rows": {name: n for name, n in dataclasses.asdict(data.rows).items() if n or name != _NEW},
        "weights": data.weights,
        "weights_kind": data.weights_kind,
        "offset": data.offset_name,
        "notes": [data.notes, result.notes],
        "library": data.library,
        "labels": list(data.labels.items()),
        "call": dataclasses.asdict(result.call),
        "asked": asked_record(result.asked),
        "method": [plain(part) for part in method_record(result.chosen_method)],
        "cut_from": [s.cut_from for s in (*result.steps, result.step)],
        "gaps": [s.gap for s in (*result.steps, result.step)],
        "seed": result.seed,
    }
    if data.sample is not None:
        content["sample"] = dataclasses.asdict(data.sample)
    if result.held_out is not None:
        held_out = result.held_out
        content["held_out"] = [held_out.score_name, plain(held_out.score), held_out.n_rows]
    if result.step.decisions is not None:
        decisions = result.step.decisions
        arrays["decisions"] = decisions.decision
        arrays["decision_history"] = decisions.history
        arrays["decision_shadows"] = decisions.shadows
    if result.step.trace is not None:
        trace = result.step.trace
        arrays |= _trace_arrays(trace, result.step.size)
        content["trace"] = [trace.n_rivals, trace.n_judged]
    if result.resampled is not None:
        stability = result.resampled
        arrays["resample_selected"] = stability.selected
        arrays["resample_fitted"] = stability.fitted
        arrays["resample_assessed"] = stability.assessed
        content["resamples"] = [
            stability.scheme,
            stability.k,
            stability.seed,
            stability.groups_name,
            stability.fixed_size,
            stability.asked,
            None if np.isnan(index := quick_index(result)) else index,
            result.stability.place_members,
        ]
        associations = result.stability.in_pandas.substitutes["association"]
        if not associations.isna().any():
            content["substitutes"] = associations.to_list()
        if stability.along is not None:
            arrays["resample_path"] = stability.along.counts
    if result.effect_record is not None:
        content["effects"], found = pack_effects(result.effect_record)
        arrays |= found
    return content


def _follow_up_record(known: FollowUp | None) -> dict[str, Any] | None:
    """The follow-up facts that are not in the formula."""
    if known is None:
        return None
    return {
        "n_rows": known.n_rows,
        "n_events": known.n_events,
        "median": known.median,
        "span": known.span,
        "levels": known.levels,
    }


def _term_record(spec: TermSpec) -> dict[str, Any]:
    return {
        "name": spec.term.name,
        "factors": [
            {"levels": part.levels, "fields": part.fields, "is_bool": part.is_bool}
            for part in spec.factors
        ],
        "combinations": spec.combinations,
        "occurring": spec.n_occurring,
        "missing": spec.n_missing,
    }


def _path_arrays(steps: tuple[Step, ...], chosen: Step) -> dict[str, NDArray[Any]]:
    """The steps of the path and, last, the chosen one."""
    rows = (*steps, chosen)
    return {
        "path_tuning": np.array([s.tuning for s in rows], dtype=np.float64),
        "path_train_score": np.array([s.train_score for s in rows], dtype=np.float64),
        "path_selected": np.stack([s.selected for s in rows]),
        "path_importance": np.stack([s.importance for s in rows]),
    }


def _trace_arrays(trace: Trace, size: int) -> dict[str, NDArray[Any]]:
    """Units, and the increase in error with its standard error, of exchanges and rivals."""
    exchanges, rivals = trace.exchanges, trace.rivals
    return {
        "exchange_units": _table([(e.out, e.into) for e in exchanges], np.int64, 2),
        "exchange_rises": _table([(e.rise, e.spread) for e in exchanges], np.float64, 2),
        "rival_units": _table([r.units for r in rivals], np.int64, size),
        "rival_rises": _table([(r.rise, r.spread) for r in rivals], np.float64, 2),
    }


def _table(rows: list[tuple[Any, ...]], dtype: Any, width: int) -> NDArray[Any]:
    return np.array(rows, dtype=dtype).reshape(len(rows), width)


def _add_data(data: ModelData, arrays: dict[str, NDArray[Any]]) -> list[Any]:
    """The columns behind the terms in their internal form, and a record of the type of each."""
    if not data.has_data:
        raise ModelFileError(
            "Can't include the data: this model was loaded from a file without them."
        )
    arrays |= {"y": data.response.y, "rows": data.response.rows, "weight": data.weight}
    if data.offset is not None:
        arrays["offset"] = data.offset
    if data.row_weights.groups is not None:
        arrays["fold_groups"] = data.row_weights.groups
    records: list[Any] = []
    for i, name in enumerate(data.sources):
        column = read_column(data.sources[name], str(name))
        if isinstance(column, Numbers):
            arrays[f"source_{i}"] = column.values
            records.append([name, "numbers", column.is_bool, column.is_integer])
        else:
            arrays[f"source_{i}"] = column.codes.astype(np.int32)
            records.append([name, "labels", column.levels, column.declared, column.ordered])
    return records


def _choice_record(choice: Choice) -> dict[str, Any]:
    """The choice of size; of folds only the number, because a splitter is code."""
    folds = choice.folds
    return {
        "k": choice.k,
        "folds": folds.folds if isinstance(folds.folds, int) else None,
        "repeats": folds.repeats,
        "groups": folds.groups_name,
    }
