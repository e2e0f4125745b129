"""From the content of a model file to a result; everything is checked, as it may be hostile."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.registry import method_of_record
from treeselect.algorithms.task import MOST_RIVALS, WORDS, Decisions, Exchange, Rival, Step, Trace
from treeselect.arguments.checks import AUTO, MOST_RESAMPLES, RULES, SCORE_RULES
from treeselect.designs.problem import Units
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.modelfile.asked import asked_of
from treeselect.modelfile.baselines import baseline_of_file
from treeselect.modelfile.checks import are_plain, are_shares, check
from treeselect.modelfile.data import data_of
from treeselect.modelfile.effects import effects_of
from treeselect.modelfile.models import boosted_of, forest_of, stacked_of, subforest_of
from treeselect.modelfile.plain import unplain
from treeselect.models.model import Model
from treeselect.models.probing import n_outputs_of
from treeselect.resampling.agreement import LEAST_ASSOCIATION
from treeselect.resampling.choosing import Choice
from treeselect.resampling.cross_validation import ScoreBySize, Spared
from treeselect.resampling.fit import Call, Fit
from treeselect.resampling.folds import Folds
from treeselect.resampling.held_out import HeldOutScore
from treeselect.resampling.resampled import SCHEMES, StabilityPath
from treeselect.resampling.stability import Stability

_MOST_JUDGED = 2**31
"""More sets than any search evaluates."""


def unpack(content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, trusted: bool) -> Fit:
    """The result of a document and arrays.

    Raises
    ------
    FormulaError
        If the formula needs `trusted`.
    Exception
        Of many kinds, if parts are missing or inconsistent.
    """
    data = data_of(content, arrays, trusted=trusted)
    spec, design, family = data.spec, data.arrays, data.response.family
    n_groups = len(spec.units.names)
    gaps = content.get("gaps", [None] * len(content["cut_from"]))
    decisions = _decisions(arrays, n_groups)
    steps = _steps(content["cut_from"], gaps, arrays, n_groups, decisions)
    subforest = subforest_of(arrays, design, family)
    model: Model | None = subforest
    if "forest_groups" in arrays:
        model = forest_of(
            arrays, design, family, on_link=data.offset is not None or family.has_times
        )
    if "stack_groups" in arrays:
        model = stacked_of(arrays, design, family)
    elif "boost_groups" in arrays:
        model = boosted_of(arrays, design, family)
    if model is None:
        raise ValueError("there is no model")
    check(np.array_equal(model.groups, steps[-1].selected), "the model and the path")
    scores = _scores(arrays, steps)
    choice = _choice(content["choice"], arrays, len(data.weight), n_groups)
    p_values = _p_values(arrays, steps[-1].size)
    told = scores is not None and not scores.of_halves
    check(told == (choice.k in SCORE_RULES), "the scores and the choice of size")
    check((p_values is not None) == (choice.k == AUTO), "the choice of size")
    found = Fit(
        design=data,
        call=Call(**{k: str(v) for k, v in content["call"].items()}),
        chosen_method=method_of_record(*map(unplain, content["method"])),
        steps=steps[:-1],
        step=dataclasses.replace(
            steps[-1], ensemble=subforest, trace=_trace(content, arrays, steps[-1].selected)
        ),
        scores=scores,
        model=model,
        seed=int(content["seed"]),
        n_jobs=None,
        progress=None,
        notes=tuple(map(str, content["notes"][1])),
        resampled=_stability(content, arrays, spec.units),
        choice=choice,
        baseline=baseline_of_file(arrays, data.response),
        asked=asked_of(content.get("asked")),
        held_out=_held_out(content.get("held_out")),
        p_values=p_values,
    )
    n_resamples = 0 if found.resampled is None else found.resampled.n_resamples
    effects = effects_of(content, arrays, found.selected, n_outputs_of(family), n_resamples)
    return dataclasses.replace(found, effect_record=effects)


def _held_out(record: list[Any] | None) -> HeldOutScore | None:
    if record is None:
        return None
    name, score, n_rows = record
    check(isinstance(name, str) and type(n_rows) is int and n_rows > 0, "the held-out score")
    return HeldOutScore(name, float(unplain(score)), n_rows)


def _choice(
    record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], n_rows: int, n_groups: int
) -> Choice:
    k, n_folds, repeats, name = (record[part] for part in ("k", "folds", "repeats", "groups"))
    check(
        (k in (None, *RULES) or (type(k) is int and 0 < k <= n_groups))
        and (n_folds is None or (type(n_folds) is int and n_folds > 1))
        and type(repeats) is int
        and repeats > 0
        and isinstance(name, str | bool),
        "the choice of size",
    )
    folds = arrays.get("fold_numbers")
    check(folds is None or (folds.shape == (n_rows,) and folds.dtype == np.int64), "folds")
    return Choice(k, Folds(n_folds if folds is None else folds, repeats, name))


def _steps(
    cut_from: list[Any],
    gaps: list[Any],
    arrays: Mapping[str, NDArray[Any]],
    n_groups: int,
    decisions: Decisions | None,
) -> tuple[Step, ...]:
    n = len(cut_from)
    tuning, score = arrays["path_tuning"], arrays["path_train_score"]
    selected, importance = arrays["path_selected"], arrays["path_importance"]
    check(
        n > 1
        and len(gaps) == n
        and tuning.shape == score.shape == (n,)
        and selected.shape == importance.shape == (n, n_groups)
        and selected.dtype == np.bool_
        and tuning.dtype == score.dtype == importance.dtype == np.float64
        and not np.isnan(tuning).any()
        # Some are missing: a user-defined score may be undefined for a constant.
        and not np.isinf(score).any()
        and are_shares(importance)
        and not importance[~selected].any(),
        "the path",
    )
    return tuple(
        Step(
            float(tuning[i]),
            selected[i],
            importance[i],
            float(score[i]),
            None if cut_from[i] is None else int(cut_from[i]),
            gap=None if gaps[i] is None else float(gaps[i]),
            decisions=decisions,
        )
        for i in range(n)
    )


def _decisions(arrays: Mapping[str, NDArray[Any]], n_groups: int) -> Decisions | None:
    """The decisions, for methods that make them."""
    if "decisions" not in arrays:
        return None
    decision, history = arrays["decisions"], arrays["decision_history"]
    shadows = arrays["decision_shadows"]
    check(
        decision.shape == (n_groups,)
        and decision.dtype == np.int64
        and set(decision.tolist()) <= set(WORDS)
        and history.dtype == shadows.dtype == np.float64
        and history.ndim == 2
        and history.shape[1] == n_groups
        and shadows.shape == (len(history), 3)
        and len(history) > 0
        and not np.isinf(history).any()
        and bool(np.isfinite(shadows).all()),
        "the decisions",
    )
    return Decisions(decision, history, shadows)


def _trace(
    content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], selected: BoolArray
) -> Trace | None:
    """The record of the search for the chosen set, if there was one."""
    if "trace" not in content:
        return None
    n_rivals, n_judged = content["trace"]
    units, rises = arrays["exchange_units"], arrays["exchange_rises"]
    others, higher = arrays["rival_units"], arrays["rival_rises"]
    check(
        all(type(n) is int for n in (n_rivals, n_judged))
        and len(others) == min(n_rivals, MOST_RIVALS)
        and n_rivals <= n_judged <= _MOST_JUDGED
        and units.shape == rises.shape == (len(units), 2)
        and others.shape == (len(others), int(selected.sum()))
        and higher.shape == (len(others), 2)
        and units.dtype == others.dtype == np.int64
        and all(bool(((u >= 0) & (u < len(selected))).all()) for u in (units, others))
        and bool((units[:, 0] != units[:, 1]).all())
        and bool((np.diff(others, axis=1) > 0).all())
        and not selected[others].all(axis=1).any()
        and rises.dtype == higher.dtype == np.float64
        and are_plain(rises, higher)
        and all(bool((r[:, 1] >= 0).all()) for r in (rises, higher)),
        "the trace of the search",
    )
    return Trace(
        tuple(Exchange(*u, *r) for u, r in zip(units.tolist(), rises.tolist(), strict=True)),
        tuple(Rival(tuple(u), *r) for u, r in zip(others.tolist(), higher.tolist(), strict=True)),
        n_rivals,
        n_judged,
    )


def _scores(arrays: Mapping[str, NDArray[Any]], steps: tuple[Step, ...]) -> ScoreBySize | None:
    if "fold_scores" not in arrays:
        return None
    scores = arrays["fold_scores"]
    largest = max(step.size for step in steps)
    check(
        scores.dtype == np.float64
        and scores.ndim == 2
        and len(scores) > 1
        and scores.shape[1] > largest
        and bool((np.isfinite(scores).all(axis=0) | np.isnan(scores).all(axis=0)).all()),
        "scores",
    )
    full = arrays.get("full_scores")
    check(
        full is None
        or (full.dtype == np.float64 and full.shape == (len(scores),) and np.isfinite(full).all()),
        "scores",
    )
    repeats = arrays["fold_repeats"]
    check(repeats.shape == (1,) and 1 <= repeats[0] <= len(scores), "scores")
    if "spared_rows" not in arrays:
        halves = "scored_halves" in arrays
        return ScoreBySize(scores, full, float(repeats[0]), of_halves=halves)
    rows = arrays["spared_rows"]
    check(rows.shape == (2,) and rows.dtype == np.int64 and bool((rows > 0).all()), "scores")
    return ScoreBySize(scores, full, float(repeats[0]), Spared(*rows.tolist()))


def _p_values(arrays: Mapping[str, NDArray[Any]], size: int) -> FloatArray | None:
    values = arrays.get("size_p_values")
    if values is None:
        return None
    check(values.dtype == np.float64 and values.shape == (size + 1,), "the choice of size")
    known = values[~np.isnan(values)]
    check(bool(((known >= 0) & (known <= 1)).all()), "the choice of size")
    return values


def _stability(
    content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], units: Units
) -> Stability | None:
    if "resamples" not in content:
        return None
    scheme, k, seed, groups_name, fixed_size, asked, index, places = content["resamples"]
    selected, fitted = arrays["resample_selected"], arrays["resample_fitted"]
    assessed, n = arrays["resample_assessed"], len(units.names)
    check(
        scheme in SCHEMES
        and isinstance(groups_name, str | bool)
        and isinstance(fixed_size, bool)
        and selected.ndim == 2
        and len(selected) > 1
        and (asked is None or (type(asked) is int and len(selected) < asked <= MOST_RESAMPLES))
        and (index is None or (isinstance(index, float) and -np.inf < index <= 1))
        and selected.shape[1] == n
        and fitted.shape == assessed.shape == (n,)
        and all(a.dtype == np.bool_ for a in (selected, fitted, assessed)),
        "resamples",
    )
    return Stability(
        units=units.names,
        fitted=fitted,
        assessed=assessed,
        selected=selected,
        scheme=scheme,
        k=int(k),
        seed=int(seed),
        groups_name=groups_name,
        fixed_size=fixed_size,
        asked=asked,
        measured_index=float("nan") if index is None else index,
        measured_places=_places(places, n),
        measured_associations=_associations(content.get("substitutes", []), n),
        along=_stability_path(arrays, assessed, selected),
    )


def _associations(said: list[Any], n_units: int) -> tuple[float, ...]:
    check(
        len(said) <= n_units**2 and all(type(one) is float and 0 <= one <= 1 for one in said),
        "substitutes",
    )
    return tuple(said)


def _places(said: list[Any], n_units: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    places = tuple((tuple(units), association) for units, association in said)
    check(
        all(
            len(units) > 1
            and all(type(unit) is int for unit in units)
            and list(units) == sorted(set(units))
            and units[0] >= 0
            and units[-1] < n_units
            and type(association) is float
            and LEAST_ASSOCIATION <= association <= 1
            for units, association in places
        ),
        "places",
    )
    return places


def _stability_path(
    arrays: Mapping[str, NDArray[Any]], assessed: NDArray[np.bool_], selected: NDArray[np.bool_]
) -> StabilityPath | None:
    if "resample_path" not in arrays:
        return None
    counts, n_kept = arrays["resample_path"], int((~assessed & selected.all(axis=0)).sum())
    check(
        counts.dtype == np.int64
        and counts.ndim == 2
        and counts.shape[1] == len(assessed)
        and 1 <= len(counts) <= assessed.sum()
        and bool(((counts >= 0) & (counts <= len(selected))).all()),
        "resamples",
    )
    return StabilityPath(counts, len(selected), n_kept)
