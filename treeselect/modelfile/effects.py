"""Effects of terms to a model file and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.modelfile.checks import are_plain, check
from treeselect.resampling.fit import (
    DIRECTIONS,
    LEAST_RESAMPLES,
    NONE,
    STEPS,
    Contrast,
    EffectRecord,
    InteractionRecord,
)


def pack_effects(record: EffectRecord) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The effects as a JSON document and arrays."""
    said: dict[str, Any] = {
        "terms": record.terms,
        "directions": record.directions,
        "contrasts": [[c.term, c.step, c.start, c.end] for c in record.contrasts],
        "n_resamples": record.n_resamples,
    }
    arrays = {
        "effect_values": np.hstack([record.effect, record.low, record.high]),
        "effect_count": record.count,
        "effect_bands": np.hstack([record.curve_low, record.curve_high]),
        "effect_points": record.curve_size,
    }
    own = record.interactions
    if own is not None:
        said["pairs"] = own.pairs
        arrays["interaction_values"] = np.column_stack([own.strength, own.low, own.high, own.size])
        arrays["interaction_count"] = own.count
    return said, arrays


def effects_of(
    content: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    selected: tuple[str, ...],
    n_outputs: int,
    n_resamples: int,
) -> EffectRecord | None:
    """The effects in a file; everything is checked, because the file may be hostile."""
    if "effects" not in content:
        return None
    said = content["effects"]
    terms, directions = tuple(said["terms"]), tuple(map(tuple, said["directions"]))
    contrasts = tuple(Contrast(*one) for one in said["contrasts"])
    values, bands = arrays["effect_values"], arrays["effect_bands"]
    count, sizes, n = arrays["effect_count"], arrays["effect_points"], said["n_resamples"]
    check(type(n) is int and n == n_resamples, "effects")
    check(
        sorted(terms) == sorted(selected)
        and len(directions) == len(terms)
        and all(len(own) == n_outputs and set(own) <= set(DIRECTIONS) for own in directions)
        and all(_is_contrast(own, len(terms)) for own in contrasts)
        and np.unique([own.term for own in contrasts]).tolist() == list(range(len(terms)))
        and [own.term for own in contrasts] == sorted(own.term for own in contrasts),
        "effects",
    )
    check(
        values.dtype == bands.dtype == np.float64
        and count.dtype == sizes.dtype == np.int64
        and values.shape == (len(contrasts), 3 * n_outputs)
        and count.shape == (len(contrasts),)
        and sizes.shape == (len(terms),)
        and bool(((sizes > 0) & (sizes <= len(bands))).all())
        and bands.shape == (int(sizes.sum()), 2 * n_outputs)
        and bool(((count >= 0) & (count <= n)).all())
        and are_plain(np.nan_to_num(values, posinf=np.inf, neginf=-np.inf))
        and are_plain(np.nan_to_num(bands, posinf=np.inf, neginf=-np.inf)),
        "effects",
    )
    effect, low, high = np.split(values, 3, axis=1)
    curve_low, curve_high = np.split(bands, 2, axis=1)
    none = np.array([own.step == NONE for own in contrasts], dtype=bool)
    few = count < LEAST_RESAMPLES
    check(
        np.array_equal(np.isnan(effect).all(axis=1), none)
        and np.array_equal(np.isnan(effect).any(axis=1), none)
        and np.array_equal(np.isnan(low), np.isnan(high))
        and np.array_equal(np.isnan(low), np.repeat(few[:, np.newaxis], n_outputs, axis=1))
        and np.array_equal(np.isnan(curve_low), np.isnan(curve_high))
        and not (low > high).any()
        and not (curve_low > curve_high).any(),
        "effects",
    )
    pairs = _interactions_of(said, arrays, set(terms), n)
    return EffectRecord(
        terms,
        directions,
        contrasts,
        effect,
        low,
        high,
        count,
        curve_low,
        curve_high,
        sizes,
        n,
        pairs,
    )


def _interactions_of(
    said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], terms: set[str], n_resamples: int
) -> InteractionRecord | None:
    if "pairs" not in said:
        return None
    pairs = tuple((first, second) for first, second in said["pairs"])
    values, count = arrays["interaction_values"], arrays["interaction_count"]
    check(
        all(len({*pair}) == 2 and {*pair} <= terms for pair in pairs)
        and len({frozenset(pair) for pair in pairs}) == len(pairs)
        and values.dtype == np.float64
        and count.dtype == np.int64
        and values.shape == (len(pairs), 4)
        and count.shape == (len(pairs),)
        and bool(((count >= 0) & (count <= n_resamples)).all()),
        "interactions",
    )
    strength, low, high, size = values.T
    few = count < LEAST_RESAMPLES
    check(
        bool(((strength >= 0) & (strength <= 1) & (size >= 0) & (size < np.inf)).all())
        and np.array_equal(np.isnan(low), few)
        and np.array_equal(np.isnan(high), few)
        and bool(((low >= 0) & (low <= high) & (high <= 1))[~few].all()),
        "interactions",
    )
    return InteractionRecord(pairs, strength, low, high, size, count)


def _is_contrast(own: Contrast, n_terms: int) -> bool:
    return (
        type(own.term) is int
        and 0 <= own.term < n_terms
        and own.step in STEPS
        and all(isinstance(text, str) for text in (own.start, own.end))
    )
