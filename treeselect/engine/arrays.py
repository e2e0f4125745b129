"""Names for array types: what a signature says about the numbers behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
WeightArray = NDArray[np.int64] | NDArray[np.float64]
Int8Array = NDArray[np.int8]
Int32Array = NDArray[np.int32]
UInt8Array = NDArray[np.uint8]
UInt16Array = NDArray[np.uint16]
UInt32Array = NDArray[np.uint32]
UInt64Array = NDArray[np.uint64]
LeafArray = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
"""Leaf numbers, as narrow as they can be."""

AnyArray = NDArray[Any]
