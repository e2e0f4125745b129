"""What a model file holds of a fit: records of plain values and arrays, and how a fit becomes one.

Their annotations are all that the file's writer and reader know of them.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeVar

import numpy as np
from msgspec import Raw, Struct, field

from treeselect.algorithms.method import is_method, is_plain
from treeselect.algorithms.registry import method_record
from treeselect.algorithms.task import Decisions, Step, Trace
from treeselect.arguments.checks import NotGiven
from treeselect.coding import raw
from treeselect.designs.columns import TermSpec
from treeselect.designs.encoding import NewLevels
from treeselect.designs.estimators import Estimator
from treeselect.designs.imputer import Imputer
from treeselect.designs.modeldata import ModelData, RowCounts, data_fingerprint
from treeselect.designs.problem import FinalModel, Missing
from treeselect.designs.row_sample import RowSample
from treeselect.designs.scoring import scoring_record
from treeselect.designs.units import Units
from treeselect.designs.weights import WeightsKind
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.survival.curves import Baseline
from treeselect.engine.tree.nodes import Trees, join_trees
from treeselect.errors import ModelFileError
from treeselect.frames.opening import MissingCodes
from treeselect.frames.values import Labels, read_column
from treeselect.models.importing import ImportedBins
from treeselect.models.linear.model import LinearPart
from treeselect.resampling.choosing import Choice
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.fit import Asked, Call, EffectRecord, Fit, HeldOutScore
from treeselect.resampling.resampled import Scheme, StabilityPath

Level = str | int | float | bool

AnyRecord = TypeVar("AnyRecord")


def alike(kind: type[AnyRecord], source: object, **others: Any) -> AnyRecord:
    """A record with the attributes of the same names of `source`, and others."""
    names = {name for name in names_of(kind) if hasattr(source, name)} - others.keys()
    return kind(**{name: getattr(source, name) for name in names}, **others)


def names_of(kind: Any) -> tuple[str, ...]:
    if issubclass(kind, Struct):
        return kind.__struct_fields__
    return tuple(field.name for field in dataclasses.fields(kind))


# --- the data and how they were encoded ----------------------------------------------------------


class SavedFactor(Struct, frozen=True):
    """See ``FactorSpec``."""

    levels: tuple[Level, ...] | None
    fields: tuple[str, ...]
    is_bool: bool


class SavedTerm(Struct, frozen=True):
    """See ``TermSpec``."""

    name: str
    factors: tuple[SavedFactor, ...]
    combinations: tuple[tuple[int, ...], ...] | None
    n_occurring: int | None
    n_missing: int | None


class SavedFollowUp(Struct, frozen=True):
    """What the formula does not say of times to an event; see ``FollowUp``."""

    n_rows: int
    n_events: int
    median: float | None
    span: tuple[float, float]
    levels: tuple[tuple[Level, ...], ...]
    orders: dict[str, dict[str, list[Level]]] = field(default_factory=dict)


class SavedResponse(Struct, frozen=True):
    """See ``Response``."""

    name: str
    family: str
    reason: str
    classes: tuple[Level, ...]
    n_dropped: int
    scoring: tuple[str, bool] | None  # name of the score, and whether it is enough to find it
    follow_up: SavedFollowUp | None
    counts: tuple[int, ...]


class SavedColumn(Struct, frozen=True):
    """A column of the data; see ``Numbers`` and ``Labels``."""

    values: AnyArray  # numbers, or positions in the levels
    levels: tuple[Level, ...] | None = None  # None for numbers
    declared: bool = False
    ordered: bool = False
    is_bool: bool = False
    is_integer: bool = False


class SavedRows(Struct, frozen=True):
    """The rows used."""

    y: FloatArray
    rows: IntArray
    weight: AnyArray
    offset: FloatArray | None
    groups: IntArray | None
    folds: IntArray | None
    columns: dict[str, SavedColumn]


class SavedDesign(Struct, frozen=True):
    """See ``ModelData``, ``DesignSpec`` and ``CodedColumns``."""

    formula: tuple[str, tuple[str, ...], tuple[str, ...]]  # text, columns and hidden ones
    terms: tuple[SavedTerm, ...]
    schema: dict[str, Literal["number", "logical", "text", "coded"]]
    state: dict[str, Raw]
    new_levels: NewLevels
    na: MissingCodes
    units: Units
    monotone: dict[str, Literal[-1, 1]]
    model: FinalModel | None
    column_names: tuple[str, ...]
    n_levels: tuple[int | None, ...]
    edges: tuple[FloatArray | None, ...]
    response: SavedResponse
    rows: RowCounts
    weights: str | bool
    weights_kind: WeightsKind | None
    offset_name: str | bool
    notes: tuple[str, ...]
    library: Literal["pandas", "polars", "pyarrow"]
    labels: dict[str, str]
    sample: RowSample | None
    data: SavedRows | None
    missing: Missing = "level"
    fingerprint: str | None = None


# --- the models ----------------------------------------------------------------------------------


class SavedModel(Struct, frozen=True):
    """A forest, boosted trees, an additive model and a forest, or a linear model."""

    stored_as: Literal["forest", "boost", "stack", "linear"]
    groups: BoolArray
    trees: Trees | None
    constant: FloatArray
    importance: FloatArray
    n_additive: int = 0
    parts: tuple[LinearPart, ...] = ()
    bends: bool = False


class SavedForest(Struct, frozen=True):
    """See ``WeightedForest``."""

    groups: BoolArray
    trees: Trees | None
    weights: FloatArray
    gains: FloatArray
    shares: FloatArray
    constant: FloatArray
    importance: FloatArray
    group_of: IntArray
    bins: ImportedBins | None


# --- the selection -------------------------------------------------------------------------------


class SavedPath(Struct, frozen=True):
    """The steps of the path and, last, the chosen one."""

    tuning: FloatArray  # (n_steps,)
    train_score: FloatArray  # (n_steps,)
    selected: BoolArray  # (n_steps, n_groups)
    importance: FloatArray  # (n_selected,); of the units selected, step after step
    cut_from: tuple[int | None, ...]
    gap: tuple[float | None, ...]
    decisions: Decisions | None
    trace: Trace | None


class SavedChoice(Struct, frozen=True):
    """The choice of size; of folds only the number, because a splitter is code."""

    k: int | str | None
    folds: int | None
    repeats: int
    groups_name: str | bool


class SavedStability(Struct, frozen=True):
    """See ``Stability``."""

    fitted: BoolArray
    assessed: BoolArray
    selected: BoolArray
    scheme: Scheme
    k: int
    seed: int
    groups_name: str | bool
    fixed_size: bool
    asked: int | None
    measured_places: tuple[tuple[tuple[int, ...], float], ...]
    measured_associations: tuple[float, ...]
    along: StabilityPath | None


class SavedArguments(Struct, frozen=True):
    """What was given to ``select()``; ``trusted`` is never stored."""

    arguments: dict[str, Raw]
    method: Raw  # of None, if there is none or it was given by name
    lost: tuple[str, ...]


class SavedFit(Struct, frozen=True):
    """See ``Fit``."""

    design: SavedDesign
    call: Call
    method: Raw
    path: SavedPath
    scores: ScoreBySize | None
    p_values: FloatArray | None
    model: SavedModel | None  # None if the sparse forest predicts
    subforest: SavedForest | None
    seed: int
    notes: tuple[str, ...]
    resampled: SavedStability | None
    choice: SavedChoice
    effect_record: EffectRecord | None
    baseline: Baseline | None
    asked: SavedArguments | None
    held_out: HeldOutScore | None
    imputer: Imputer | None = None
    scored: str | None = None
    n_able: int | None = None


# --- from a fit to its record --------------------------------------------------------------------


def saved_fit(fit: Fit, *, include_data: bool) -> SavedFit:
    forest, folds = fit.subforest, fit.choice.folds
    trees = join_trees(forest.trees) if forest is not None and forest.trees else None
    number = folds.folds if isinstance(folds.folds, int) else None
    return alike(
        SavedFit,
        fit,
        design=saved_design(fit.design, fit.choice if include_data else None),
        method=raw(method_record(fit.chosen_method)),
        path=_path((*fit.steps, fit.step)),
        model=None
        if fit.model.sparse is not None
        else alike(SavedModel, fit.model, trees=fit.model.joined()),
        subforest=None if forest is None else alike(SavedForest, forest, trees=trees),
        imputer=fit.model.imputer,
        resampled=_stability(fit),
        choice=alike(SavedChoice, folds, k=fit.choice.k, folds=number),
        asked=_arguments(fit.asked),
    )


def saved_design(data: ModelData, choice: Choice | None = None) -> SavedDesign:
    """How data are encoded, with the data themselves where the choice of size is given."""
    spec, arrays, response, model = data.spec, data.arrays, data.response, data.model
    if isinstance(model, Estimator):
        raise ModelFileError(
            "Can't save this model: files hold no estimators, which only code can restore.\n"
            f'  Found: {model}. Save `fit.refit("forest")`, which has the same terms.'
        )
    follow_up = response.follow_up
    return SavedDesign(
        formula=(spec.formula.text, spec.formula.columns, spec.formula.hidden),
        terms=tuple(map(_term, spec.terms)),
        schema=dict(spec.schema),  # type: ignore[arg-type]
        state={name: raw(learned) for name, learned in spec.state.items()},
        new_levels=spec.new_levels,
        na=spec.na,
        units=spec.units,
        monotone=arrays.directions if len(arrays.monotone) else {},  # type: ignore[arg-type]
        model=model,
        column_names=arrays.column_names,
        n_levels=arrays.n_levels,
        edges=arrays.edges,
        response=alike(
            SavedResponse,
            response,
            family=response.family.name,
            classes=_plain_levels(response.classes),
            scoring=scoring_record(response.family),
            follow_up=None
            if follow_up is None
            else alike(
                SavedFollowUp, follow_up, levels=tuple(map(_plain_levels, follow_up.levels))
            ),
        ),
        rows=data.rows,
        weights=data.weights,
        weights_kind=data.weights_kind,
        offset_name=data.offset_name,
        notes=data.notes,
        library=data.library,  # type: ignore[arg-type]
        labels=dict(data.labels),
        sample=data.sample,
        data=None if choice is None else _rows(data, choice),
        missing=data.missing,
        fingerprint=data_fingerprint(data) or data.fingerprint,
    )


def _plain_levels(levels: tuple[Any, ...]) -> tuple[Level, ...]:
    odd = [level for level in levels if not isinstance(level, Level)]
    if odd:
        raise TypeError(f"Found: {odd[0]!r}, of type {type(odd[0]).__name__}")
    return levels


def _term(spec: TermSpec) -> SavedTerm:
    factors = [
        alike(SavedFactor, own, levels=None if own.levels is None else _plain_levels(own.levels))
        for own in spec.factors
    ]
    return alike(SavedTerm, spec, name=spec.term.name, factors=tuple(factors))


def _rows(data: ModelData, choice: Choice) -> SavedRows:
    if not data.has_data:
        raise ModelFileError(
            "Can't include the data: this model was loaded from a file without them."
        )
    columns = {}
    for name in map(str, data.sources):
        column, others = read_column(data.sources[name], name), {}
        if isinstance(column, Labels):
            others = {"values": column.codes, "levels": _plain_levels(column.levels)}
        columns[name] = alike(SavedColumn, column, **others)
    folds = choice.folds.folds
    return SavedRows(
        y=data.response.y,
        rows=data.response.rows,
        weight=data.weight,
        offset=data.offset,
        groups=data.row_weights.groups,
        folds=folds if isinstance(folds, np.ndarray) else None,
        columns=columns,
    )


def _path(steps: tuple[Step, ...]) -> SavedPath:
    selected = np.stack([step.selected for step in steps])
    return SavedPath(
        tuning=np.array([step.tuning for step in steps], dtype=np.float64),
        train_score=np.array([step.train_score for step in steps], dtype=np.float64),
        selected=selected,
        importance=np.concatenate([step.importance[step.selected] for step in steps]),
        cut_from=tuple(step.cut_from for step in steps),
        gap=tuple(step.gap for step in steps),
        decisions=steps[-1].decisions,
        trace=steps[-1].trace,
    )


def _stability(fit: Fit) -> SavedStability | None:
    if fit.resampled is None:
        return None
    associations = fit.stability.in_pandas.substitutes["association"]
    return alike(
        SavedStability,
        fit.resampled,
        measured_places=fit.stability.place_members,
        measured_associations=() if associations.isna().any() else tuple(associations.to_list()),
    )


_MOST_BYTES = 2**18
"""Most bytes of an argument in a file; longer ones are lost, except the formula."""


def _arguments(asked: Asked | None) -> SavedArguments | None:
    """The arguments that are plain values; others are named as lost."""
    if asked is None:
        return None
    kept: dict[str, Raw] = {}
    method = raw(None)
    lost = list(asked.lost)
    for name, value in asked.arguments.items():
        if isinstance(value, NotGiven) or name == "trusted":
            continue
        if name == "method" and is_method(value):
            method = raw(method_record(value))
        elif is_plain(value) and (len(own := raw(value)) <= _MOST_BYTES or name == "formula"):
            kept[name] = own
        else:
            lost.append(name)
    return SavedArguments(kept, method, tuple(lost))
