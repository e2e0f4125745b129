"""Estimators and selectors of other packages: in words, copied with seeds, and as final models."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.arguments.checks import answer, described, parameters_of
from treeselect.designs.response import Response
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import MethodError, OptionError, listing, said_by

_LONGEST = 100
"""Most characters of a value that is shown by its repr."""

_WHOLE = 1e-9
"""How far the ratio of two weights may be from a whole number, relative to it."""


# --- in words ------------------------------------------------------------------------------------


def last_step(selector: Any) -> Any:
    """The selector itself, or the last step of a pipeline."""
    return selector.steps[-1][1] if is_pipeline(selector) else selector


def is_pipeline(selector: Any) -> bool:
    """Whether it has steps, of which the last one selects."""
    steps = answer(selector, "steps")
    return (
        isinstance(steps, list) and len(steps) > 0 and answer(selector, "named_steps") is not None
    )


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
        return f"{type(value).__name__}({options_of(value)})"
    try:
        text = repr(value)
    except Exception:  # code of others can fail in any way
        return f"<{type(value).__name__}>"
    plain = len(text) <= _LONGEST and " at 0x" not in text and "\n" not in text
    return text if plain else f"<{type(value).__name__}>"


def options_of(estimator: Any, *, full: bool = False) -> str:
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
    is_plain = type(value) is type(default) and isinstance(value, str | int | float | bool | tuple)
    return value is default or (is_plain and bool(value == default))


# --- a copy of one's own -------------------------------------------------------------------------


def copy_of(selector: Any) -> Any:
    """An unfitted copy, independent of later changes to the original."""
    from sklearn.base import clone

    try:
        return clone(selector, safe=False)
    except Exception as error:  # third-party code can fail in any way
        raise MethodError(
            f"Can't copy {type(selector).__name__}, and every fit needs a fresh copy.\n"
            f"  {said_by(error)}"
        ) from None


def seeded(selector: Any, seed: int) -> Any:
    """An unfitted copy whose random numbers all come from the seed: each ``random_state`` of None
    is set from it, in the selector, in estimators inside it, in splitters, and in functions among
    its parameters (``mutual_info_classif``)."""
    twin = copy_of(selector)
    known = twin.get_params(deep=True) if hasattr(twin, "get_params") else {}
    changed: dict[str, Any] = {}
    for name, value in known.items():
        own = stream_seed(seed, "selector", name) % 2**31
        taken = parameters_of(value) if inspect.isfunction(value) else {}
        if name.endswith("random_state"):
            if value is None:
                changed[name] = own
        elif "random_state" in taken and taken["random_state"].default is None:
            changed[name] = functools.partial(value, random_state=own)
        elif not hasattr(value, "get_params") and getattr(value, "random_state", own) is None:
            value.random_state = own  # a splitter, copied with the selector
    return twin.set_params(**changed) if changed else twin


# --- weights -------------------------------------------------------------------------------------


def copies_or_shares(
    estimator: Any, weights: RowWeights, name: str, way: str
) -> tuple[IntArray | None, dict[str, FloatArray]]:
    """How often each row is repeated, None for once, and the weights as arguments of the `fit` of
    an object of that name. Of a pipeline, all steps that take weights have them, if the last one
    does. The `way` ends the error for weights that can't be used."""
    weight = weights.values
    if (weight == weight[0]).all() and (weight[0] == 1 or not weights.are_copies):
        return None, {}
    in_steps = is_pipeline(estimator)
    steps = {f"{n}__": own for n, own in estimator.steps} if in_steps else {"": estimator}
    fits = {n: parameters_of(getattr(own, "fit", len)) for n, own in steps.items()}
    takes = [n for n, known in fits.items() if "sample_weight" in known]
    if [*steps][-1] in takes and not (in_steps and weights.are_copies):
        return None, {f"{n}sample_weight": weight.astype(np.float64) for n in takes}
    if weights.are_copies:
        return weight.astype(np.int64), {}
    times = weight / weight.min()
    if np.abs(times - np.rint(times)).max() > _WHOLE * times.max():
        raise MethodError(
            f"`weights` must be multiples of the smallest one, as {name} has no `sample_weight`.\n"
            f"  Found: weights from {weight.min():g} to {weight.max():g}. Leave them out, or"
            f" {way}."
        )
    return np.rint(times).astype(np.int64), {}


# --- estimators ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimator:
    """An estimator of scikit-learn as the final model, and the classes of the response as they are
    passed to it."""

    unfitted: Any
    classes: tuple[Any, ...]

    @property
    def name(self) -> str:
        return type(self.unfitted).__name__

    @property
    def takes_missing(self) -> bool:
        """Whether missing numbers are passed to it as they are."""
        from sklearn.utils import get_tags

        return bool(get_tags(self.unfitted).input_tags.allow_nan)

    @property
    def weights_classes(self) -> bool:
        known = self.unfitted.get_params()
        return any(known[n] is not None for n in known if n.split("__")[-1] == "class_weight")

    def __str__(self) -> str:
        """The call that creates it, of a pipeline those of its steps; names if that is long."""
        own = self.unfitted
        parts = [step for _, step in own.steps] if is_pipeline(own) else [own]
        text = ", then ".join(map(text_of, parts))
        return (
            text if len(text) <= _LONGEST else ", then ".join(type(own).__name__ for own in parts)
        )


def read_estimator(
    given: Any, models: Sequence[str], response: Response, *, has_offset: bool
) -> Estimator:
    """A copy of an estimator that is given as `model`; an OptionError unless it can be one."""
    check_estimator(given, models)
    name = type(given).__name__
    if response.family.has_times:
        raise OptionError(
            "`model` can't be an estimator for times to an event.\n"
            f'  Found: {name}. Use `model="glm"`, Cox\'s model, or another model by its name.'
        )
    check_kind(given, response)
    if response.classes and not callable(answer(given, "predict_proba")):
        raise OptionError(
            "`model` must be a classifier that gives probabilities.\n  Found:"
            f" {name}, without `predict_proba`. Wrap it in scikit-learn's `CalibratedClassifierCV`."
        )
    if has_offset:
        raise OptionError(
            "`model` can't be an estimator where there is an offset, which it would ignore.\n"
            '  Use `model="glm"`, or another model by its name.'
        )
    return Estimator(copy_of(given), tuple(response.classes))


def check_estimator(estimator: Any, models: Sequence[str]) -> None:
    """Raise an OptionError unless this is an estimator; others have one of these names."""
    if isinstance(estimator, type):
        raise OptionError(
            "`model` must be an estimator, not its class.\n"
            f"  Found: {estimator.__name__}. Write `{estimator.__name__}()`."
        )
    if not all(callable(answer(estimator, name)) for name in ("fit", "predict", "get_params")):
        raise OptionError(
            f"`model` must be one of {listing(models)}, or an estimator of scikit-learn.\n"
            f"  Found: {described(estimator)}."
        )


def check_kind(estimator: Any, response: Response) -> None:
    """Raise an OptionError unless the estimator is for such a response, other than times."""
    from sklearn.base import is_classifier, is_regressor

    needed = "classifier" if response.classes else "regressor"
    try:
        fits = (is_classifier if response.classes else is_regressor)(estimator)
    except Exception:  # it does not say what it is
        fits = False
    if not fits:
        raise OptionError(
            f"`model` must be a {needed}: the family of the response is"
            f" {response.family.name}.\n  Found: {type(estimator).__name__}."
        )


@contextmanager
def fitting(estimator: Any) -> Iterator[None]:
    """An error inside becomes an OptionError, with the estimator's own words."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # code of others can fail in any way
        raise OptionError(
            "`model` must be an estimator that can be fitted to the selected columns.\n"
            f"  {type(estimator).__name__} says: {said_by(error)}"
        ) from error


def class_shares(estimator: Any, x: FloatArray, classes: Sequence[Any]) -> FloatArray:
    """Probability of each class, shape (n_rows, n_classes): 0 if the estimator saw none of it."""
    shares = np.asarray(estimator.predict_proba(x), dtype=np.float64)
    place = {value: k for k, value in enumerate(classes)}
    found = np.zeros((len(x), len(classes)))
    found[:, [place[value] for value in np.asarray(estimator.classes_).tolist()]] = shares
    return found
