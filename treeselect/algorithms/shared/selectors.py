"""Selectors of other packages: description, copies, and seeds."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treeselect.algorithms.shared.references import Reference
from treeselect.arguments.scalars import answer
from treeselect.engine.random import stream_seed
from treeselect.errors import MethodError, said_by

SIZES = ("k", "n_features_to_select", "max_features")
"""Parameters for the number of columns that a selector selects."""

_LONGEST = 100
"""Most characters of a value that is shown by its repr."""

SCIKIT_LEARN = Reference(
    ("F. Pedregosa", "others"),
    2011,
    "Scikit-learn: Machine Learning in Python",
    journal="JMLR",
    volume="12",
    pages="2825-2830",
)


# --- what it is ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Words:
    """Description of a selector, as stored in a model file.

    Attributes
    ----------
    name : str
        Its class; for a pipeline, the class of the last step.
    title : str
        The name with its package.
    paper : str
    text : str
        The call that creates it, without defaults.
    parameters : str
        All of its parameters.
    size : str
        The parameter for the number of columns; empty if there is none.
    """

    name: str
    title: str
    paper: str
    text: str
    parameters: str
    size: str

    @property
    def references(self) -> tuple[Reference, ...]:
        """That of scikit-learn, for its selectors."""
        return (SCIKIT_LEARN,) if self.paper == SCIKIT_LEARN.text else ()


def looks_like_selector(value: object) -> bool:
    """Whether it has ``fit`` and ``get_support``, or may have ``support_`` once fitted."""
    if isinstance(value, type):
        return False
    last = last_step(value)
    # An object with `predict` and no `get_support` is a model; a transformer shows after its fit.
    could = _has(last, "transform") and not _has(last, "predict")
    return _has(value, "fit") and (_has(last, "get_support") or could)


def not_a_method(found: object) -> MethodError:
    """The error for what is neither a method nor a selector."""
    what = type(found).__name__
    advice = "It has no `get_support()`." if answer(found, "fit") is not None else ""
    if isinstance(found, type):
        what, advice = f"the class {found.__name__}", f"Write `{found.__name__}(...)`."
    elif callable(answer(found, "path")):
        advice = "It has a `path`: make its class a subclass of `treeselect.Method`."
    elif advice and answer(found, "predict") is not None:
        advice += " Wrap an estimator in `SelectFromModel` or `RFE`."
    return MethodError(
        "`method` must be the name of a method, a method such as ControlBurn(), or a scikit-learn"
        f" selector such as SelectKBest().\n  Found: {what}. {advice}".rstrip()
    )


def _has(value: object, method: str) -> bool:
    return callable(answer(value, method))


def last_step(selector: Any) -> Any:
    """The selector itself, or the last step of a pipeline."""
    return selector.steps[-1][1] if is_pipeline(selector) else selector


def is_pipeline(selector: Any) -> bool:
    """Whether it has steps, of which the last one selects."""
    steps = answer(selector, "steps")
    return (
        isinstance(steps, list) and len(steps) > 0 and answer(selector, "named_steps") is not None
    )


def size_parameter(selector: Any) -> str | None:
    """The parameter for the number of columns, if there is one."""
    last = last_step(selector)
    known = last.get_params(deep=False) if hasattr(last, "get_params") else {}
    return next((name for name in SIZES if name in known), None)


def words_of(selector: Any) -> Words:
    """Description of a selector."""
    last = last_step(selector)
    name, package = type(last).__name__, type(last).__module__.split(".")[0]
    origin = {"sklearn": " (scikit-learn)", "__main__": ""}.get(package, f" ({package})")
    title = f"{name}{origin}{'' if last is selector else ' in a pipeline'}"
    paper = SCIKIT_LEARN.text if package == "sklearn" else f"The selector {name}{origin}."
    return Words(
        name=name,
        title=title,
        paper=paper,
        text=text_of(selector),
        parameters=_parameters_of(selector, full=True),
        size=size_parameter(selector) or "",
    )


def warning_note(name: str, warned: Sequence[Warning]) -> str | None:
    """A note on the warnings of a selector; None without any."""
    if not warned:
        return None
    first = textwrap.shorten(str(warned[0]), 200, placeholder=" ...")
    more = f" Other warnings: {len(warned) - 1}." if len(warned) > 1 else ""
    return f"{name} issued a {type(warned[0]).__name__}: {first}{more}"


def text_of(value: Any) -> str:
    """A parameter as it would be typed; for estimators, only changed parameters."""
    if isinstance(value, functools.partial):
        options = "".join(f", {k}={text_of(v)}" for k, v in value.keywords.items())
        return f"partial({text_of(value.func)}{options})"
    if isinstance(value, type) or inspect.isroutine(value):
        return str(value.__name__)
    if isinstance(value, list | tuple) and len(value) <= _LONGEST:
        inside = ", ".join(map(text_of, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}({_parameters_of(value)})"
    try:
        text = repr(value)
    except Exception:  # code of others can fail in any way
        return f"<{type(value).__name__}>"
    plain = len(text) <= _LONGEST and " at 0x" not in text and "\n" not in text
    return text if plain else f"<{type(value).__name__}>"


def _parameters_of(estimator: Any, *, full: bool = False) -> str:
    """Parameters of an estimator: all, or those that differ from the defaults."""
    if not hasattr(estimator, "get_params"):
        return ""
    defaults = {n: p.default for n, p in inspect.signature(type(estimator)).parameters.items()}
    shown = [
        f"{name}={text_of(value)}"
        for name, value in estimator.get_params(deep=False).items()
        if full or not _is_same(value, defaults.get(name, inspect.Parameter.empty))
    ]
    return ", ".join(shown)


def _is_same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    plain = (str, int, float, bool, tuple)
    return type(value) is type(default) and isinstance(value, plain) and bool(value == default)


# --- a copy of one's own -------------------------------------------------------------------------


def copy_of(selector: Any) -> Any:
    """An unfitted copy, independent of later changes to the original.

    Raises
    ------
    MethodError
        If it can't be copied.
    """
    from sklearn.base import clone

    try:
        return clone(selector, safe=False)
    except Exception as error:  # third-party code can fail in any way
        raise MethodError(
            f"Can't copy {type(selector).__name__}, and every fit needs a fresh copy.\n"
            f"  {said_by(error)}"
        ) from None


def seeded(selector: Any, seed: int) -> Any:
    """An unfitted copy whose random numbers all come from the seed.

    Each ``random_state`` of None is set from the seed: in the selector, in estimators inside it, in
    splitters, and in functions among its parameters (``mutual_info_classif``).
    """
    twin = copy_of(selector)
    known = twin.get_params(deep=True) if hasattr(twin, "get_params") else {}
    changed: dict[str, Any] = {}
    for name, value in known.items():
        own = stream_seed(seed, "selector", name) % 2**31
        if name.endswith("random_state"):
            if value is None:
                changed[name] = own
        elif inspect.isfunction(value) and _draws(value):
            changed[name] = functools.partial(value, random_state=own)
        elif not hasattr(value, "get_params") and getattr(value, "random_state", own) is None:
            value.random_state = own  # a splitter, copied with the selector
    return twin.set_params(**changed) if changed else twin


def _draws(function: Callable[..., Any]) -> bool:
    found = inspect.signature(function).parameters.get("random_state")
    return found is not None and found.default is None
