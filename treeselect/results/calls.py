"""A call in words: as it could be typed again, and what its data were."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.shared.method import is_method
from treeselect.algorithms.shared.strategies import Strategy
from treeselect.arguments.checks import USUAL_METHOD, members
from treeselect.arguments.scalars import NotGiven
from treeselect.frames.csv_files import EncodedFile
from treeselect.resampling.folds import Splitter

if TYPE_CHECKING:
    import pandas as pd

_DEFAULTS = {
    "method": USUAL_METHOD,
    "family": "auto",
    "resamples": 0,
    "folds": 5,
    "repeats": 1,
    "new_levels": "error",
    "trusted": False,
}

_ORDER = (
    "method", "methods", "k", "family", "weights", "offset", "groups", "costs", "keep", "resamples",
    "folds", "repeats", "fold_groups", "scoring", "new_levels", "trusted", "labels",
    "na",
)  # fmt: skip
"""As in the signature; options of a method stand behind."""

_NONE = ("weights", "offset", "groups", "costs", "keep", "fold_groups", "scoring", "labels", "na")
"""Arguments without a value by default; an option of a method may be None on purpose."""

_SHORT = (str, int, float, dict, list, tuple, type(None))
"""Values that are shown; an array is shown by the name of its argument."""

_LONG = 200
"""Most characters of labels in a call."""

_PER_ROW = ("weights", "offset", "folds", "fold_groups")


def call_text(function: str, formula: str, data: object, arguments: Mapping[str, Any]) -> str:
    """The call as it could be typed again, without the arguments that have their default."""
    source = _source(data)
    names = [name for name in _ORDER if name in arguments]
    names += [name for name in arguments if name not in _ORDER]
    values = ((name, arguments[name]) for name in names)
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values}
    given = [
        f"{name}={_shown(name, value)}"
        for name, value in plain.items()
        if not (value is None and name in _NONE) and not _is_default(name, value)
    ]
    return f"{function}({', '.join([repr(formula), source, *given])})"


def _source(data: object) -> str:
    if isinstance(data, EncodedFile):
        return f"treeselect.read({data.path!r}, encoding={data.encoding!r})"
    if isinstance(data, str | os.PathLike):
        return repr(str(data))
    return "frames" if isinstance(data, list) else "data"


def data_text(data: object, frame: pd.DataFrame) -> str:
    """The name of the file, or the size of the frame."""
    if isinstance(data, str | os.PathLike):
        return Path(data).name
    return f"a data frame of {frame.shape[0]:,} rows and {frame.shape[1]:,} columns"


def _is_default(name: str, value: object) -> bool:
    if isinstance(value, NotGiven):
        return True
    return name in _DEFAULTS and isinstance(value, _SHORT) and value == _DEFAULTS[name]


def _shown(name: str, value: object) -> str:
    """A value as it could be typed; what has one value per row by the name of its argument."""
    if name in _PER_ROW and isinstance(value, list | tuple):
        return name
    plain = (
        isinstance(value, _SHORT)
        or is_method(value)
        or isinstance(value, Strategy)
        or (name == "folds" and isinstance(value, Splitter))
    )
    text = _text(value)
    if name == "labels" and len(text) > _LONG:
        return name
    return text if plain and not text.startswith("<") else name


def _text(value: object) -> str:
    """A value as it could be typed."""
    if is_method(value):
        return value.text
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, np.ndarray | np.generic):
        return _text(value.tolist())
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(k)}: {_text(_listed(v))}' for k, v in value.items())}}}"
    try:
        return repr(value)
    except Exception:  # of an object inside a list that nobody reads, of somebody else's code
        return f"<{type(value).__name__}>"


def _listed(value: object) -> object:
    """What is in a group, whose terms may be given as any collection."""
    listed = members(value)
    return value if listed is None else listed
