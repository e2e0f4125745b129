"""A call in words: as it could be typed again, and what its data were."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from treeselect.algorithms.method import is_method
from treeselect.algorithms.registry import method_text
from treeselect.arguments.checks import NotGiven, described, members
from treeselect.designs.modeldata import data_fingerprint
from treeselect.errors import OptionError
from treeselect.frames.files import DataFile
from treeselect.printing import enumeration
from treeselect.resampling.coefficient_stability import CoefficientStability
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Splitter
from treeselect.resampling.inference import Inference
from treeselect.resampling.performance import Performance
from treeselect.resampling.subgroups import Subgroups
from treeselect.resampling.validation import Validation
from treeselect.results.linear_model import GlmFit

_SHORT = (str, int, float, dict, list, tuple, type(None))
"""Values that are shown; an array is shown by the name of its argument."""

_LONG = {"labels": 200}
"""Most characters of a value in a call."""

_LONGEST = 2_000

_PER_ROW = ("weights", "offset", "folds", "fold_groups")

_DATA = ("data", "frames")

NO_PART = (*_DATA, "n_jobs", "progress", "checkpoint", "on_piece")
"""Arguments on which no answer depends, and the data, which have their own place."""


class Typed(NamedTuple):
    """A call as it could be typed again, and the arguments that have their name only."""

    text: str
    unshown: tuple[str, ...]


def code_text(code: str, ours: Collection[str] = ()) -> str:
    """An expression on one line, with double quotes, and with the package before our names."""
    tree = ast.parse(code, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ours:
            node.func.id = f"treeselect.{node.func.id}"
    return _STRING.sub(_double_quoted, ast.unparse(tree))


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"' r"|'(?:[^'\\]|\\.)*'")


def _double_quoted(found: re.Match[str]) -> str:
    text = found[0]
    return text if '"' in text else f'"{text[1:-1]}"'


def once(value: Any) -> Any:
    """An iterator as a tuple, because it can be read only once; any other value unchanged."""
    return tuple(value) if isinstance(value, Iterator) else value


def call_text(
    name: str, data: object, arguments: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Typed:
    """The call of a function with what it was given, as it could be typed again: in the order of
    the defaults, options of a method behind, without arguments that have their default."""
    source = _source(data)
    order = dict.fromkeys([*defaults, *arguments])
    names = [own for own in order if own in arguments and own not in ("formula", *NO_PART)]
    typed = []
    unshown = []
    for own in names:
        value = arguments[own]
        value = value.item() if isinstance(value, np.generic) else value
        if own in defaults and _is_default(value, defaults[own]):
            continue
        shown = _shown(own, value)
        if shown is None:
            unshown.append(own)
        typed.append(f"{own}={own if shown is None else shown}")
    first = _text(arguments["formula"])
    text = f"{name}({', '.join([code_text(first), source, *typed])})"
    return Typed(code_text(text, {name}), tuple(unshown))


def step_text(method: Callable[..., Any], arguments: Mapping[str, Any], view: str = "") -> str:
    """A further step of a call, such as ``.resample(50, seed=1)``, with the order and the defaults
    of the method's signature; the first argument stands without its name where that is allowed."""
    typed = []
    for i, (key, parameter) in enumerate(
        (k, p) for k, p in inspect.signature(method).parameters.items() if k != "self"
    ):
        if key not in arguments or key in NO_PART:
            continue
        value = arguments[key]
        value = value.item() if isinstance(value, np.generic) else value
        positional = i == 0 and parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        if value is None and not (positional and parameter.default is not None):
            continue
        if not positional and _is_default(value, parameter.default):
            continue
        shown = repr(value) if value is None else _shown(key, value) or key
        typed.append(shown if positional else f"{key}={shown}")
    return f"{view and '.'}{view}.{method.__name__}({', '.join(typed)})"


Found = TypeVar("Found")


def with_step(
    fit: Fit, found: Found, method: Callable[..., Any], given: Mapping[str, Any], view: str = ""
) -> Found:
    """What a step found, with its call: that of the fit, and the step (see :func:`step_text`)."""
    call = fit.call.made + step_text(method, given, view)
    return cast(Found, dataclasses.replace(cast(Any, found), call=call))


def _source(data: object) -> str:
    if isinstance(data, DataFile):
        how = {"encoding": data.encoding, "sheet": data.sheet}
        typed = [f"{key}={value!r}" for key, value in how.items() if value is not None]
        return f"treeselect.read({', '.join([repr(data.path), *typed])})"
    if isinstance(data, str | os.PathLike):
        return repr(str(data))
    return "frames" if isinstance(data, list) else "data"


def data_text(data: object, shape: tuple[int, int]) -> str:
    """The name of the file, or the size of the frame, from its numbers of rows and columns."""
    if isinstance(data, str | os.PathLike):
        sheet = getattr(data, "sheet", None)
        return Path(data).name + (f", sheet {sheet}" if sheet else "")
    return f"a data frame of {shape[0]:,} rows and {shape[1]:,} columns"


def _is_default(value: object, default: object) -> bool:
    if isinstance(value, NotGiven):
        return True
    if isinstance(default, NotGiven) or value is None or default is None:
        return value is default
    return isinstance(value, _SHORT) and type(value) is type(default) and value == default


def _shown(name: str, value: object) -> str | None:
    """A value as it could be typed; None for what has one value per row, or no short text."""
    if name in _PER_ROW and isinstance(value, list | tuple):
        return None
    if name in ("method", "model"):
        value = method_text(value)
    elif name == "methods" and isinstance(value, Mapping):
        value = {label: method_text(method) for label, method in value.items()}
    elif name == "methods":
        value = [method_text(method) for method in cast(Any, value)]
    is_splitter = name == "folds" and isinstance(value, Splitter)
    if not (isinstance(value, (*_SHORT, set, frozenset)) or is_method(value) or is_splitter):
        return None
    try:
        text = code_text(_text(value), _own_names(value))
    except (SyntaxError, ValueError, RecursionError):
        return None  # "<object at ...>"
    return text if len(text) <= _LONG.get(name, _LONGEST) else None


def _own_names(value: object) -> set[str]:
    """Names of the classes of our package behind a value: methods, and what is in their options."""
    if isinstance(value, dict):
        return set().union(*map(_own_names, value.values()))
    if isinstance(value, list | tuple):
        return set().union(*map(_own_names, value))
    if not type(value).__module__.startswith("treeselect.") or isinstance(value, str):
        return set()
    own = {type(value).__name__}
    if dataclasses.is_dataclass(value):
        own |= _own_names([getattr(value, part.name) for part in dataclasses.fields(value)])
    return own


def _text(value: object) -> str:
    """A value as it could be typed."""
    if is_method(value):
        return value.text
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, set | frozenset):
        return _text(sorted(value, key=str))
    if isinstance(value, np.ndarray | np.generic):
        return _text(value.tolist())
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(k)}: {_text(_listed(v))}' for k, v in value.items())}}}"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    try:
        return repr(value)
    except Exception:  # of an object inside a list that nobody reads, of somebody else's code
        return f"<{type(value).__name__}>"


def _listed(value: object) -> object:
    """What is in a group, whose terms may be given as any collection."""
    listed = members(value)
    return value if listed is None else listed


def unshown_note(unshown: Iterable[str]) -> tuple[str, ...]:
    """That a call has names in the place of values; nothing if it has none."""
    names = list(unshown)
    if not names:
        return ()
    listed = enumeration([f"`{name}`" for name in names])
    verb = "stands for a value" if len(names) == 1 else "stand for values"
    return (f"The call is incomplete: {listed} {verb} not printed there.",)


# --- whether a result belongs to a fit -----------------------------------------------------------

_MAKERS = {
    "performance": ("performance()", Performance),
    "coefficients": ("coefficient_stability()", CoefficientStability),
    "linear": ('refit("glm")', GlmFit),
    "inference": ("inference()", Inference),
    "validation": ("validate()", Validation),
    "subgroups": ("performance().by()", Subgroups),
}
"""What makes an argument, and its class."""


def check_found(fit: Fit, name: str, found: Any) -> None:
    """Raise an OptionError unless an argument is None, or what a method of this fit has found, on
    the same data as far as both are known."""
    maker, kind = _MAKERS[name]
    if found is None:
        return
    if not isinstance(found, kind):
        raise OptionError(
            f"`{name}` must be what `fit.{maker}` gives.\n  Found: {described(found)}."
        )
    facts = (
        dict(found.content.facts)
        if isinstance(found, GlmFit)
        else {"Call": getattr(found, "call", "")}
    )
    own = facts.get("Formula", fit.formula), getattr(found, "k_of_fit", fit.k)
    is_linear = name in ("coefficients", "linear", "inference")  # of terms, whatever predicts
    start, call = fit.call.text if is_linear else fit.call.made, facts["Call"]
    is_own = call.startswith(f"{start}.") and (is_linear or not call.startswith(f"{start}.refit("))
    if not is_own or own != (fit.formula, fit.k):
        raise OptionError(
            f"`{name}` must belong to the same fit.\n"
            f"  Found: that of {facts['Call']}, which selected other terms or has other arguments."
        )
    known = getattr(found, "fingerprint", None), data_fingerprint(fit.design)
    if None not in known and known[0] != known[1]:
        raise OptionError(
            f"`{name}` must belong to the same fit.\n  Found: that of the same call on other data"
            f" (fingerprint {str(known[0])[:8]}, of the fit {str(known[1])[:8]})."
        )
