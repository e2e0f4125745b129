"""A fingerprint of the data of a fit: the same for the same values, wherever they are."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import numpy as np

from treeselect.designs.modeldata import ModelData
from treeselect.engine.survival.times import STRATUM
from treeselect.frames.values import Labels, read_column

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
