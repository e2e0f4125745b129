"""A fit as it is printed: terms and units under their labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from treeselect.designs.labels import in_labels, shown_names

if TYPE_CHECKING:
    from treeselect.resampling.effects import EffectRecord
    from treeselect.resampling.fit import Fit

AnyFit = TypeVar("AnyFit", bound="Fit")


def as_shown(fit: AnyFit) -> AnyFit:
    """The same fit with labels in place of the names of terms, units and response.

    Code that prints or draws uses this fit and needs no labels; code that computes or saves uses
    the original. The function is idempotent.
    """
    design = in_labels(fit.design)
    if design is fit.design:
        return fit
    names = shown_names(fit.design)
    resampled, effects = fit.resampled, fit.effect_record
    return dataclasses.replace(
        fit,
        design=design,
        resampled=None
        if resampled is None
        else dataclasses.replace(resampled, units=design.arrays.groups.names),
        effect_record=None if effects is None else _effects(effects, names),
    )


def _effects(record: EffectRecord, names: Mapping[str, str]) -> EffectRecord:
    pairs = record.interactions
    if pairs is not None:
        own = tuple((names.get(a, a), names.get(b, b)) for a, b in pairs.pairs)
        pairs = dataclasses.replace(pairs, pairs=own)
    terms = tuple(names.get(name, name) for name in record.terms)
    return dataclasses.replace(record, terms=terms, interactions=pairs)
