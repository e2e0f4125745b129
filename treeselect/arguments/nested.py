"""Options of methods as nested parameters of scikit-learn, ``method__gamma``.

Methods are frozen records without ``set_params``: what is set makes a new record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from treeselect.arguments.scalars import answer, described
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted

JOINT = "__"


def nested_parameters(record: Any) -> dict[str, Any]:
    """Options of a record by name, with the options of those that are records or estimators.

    Parameters
    ----------
    record : object
        Anything without options gives none.

    Examples
    --------
    >>> from treeselect import GRRF
    >>> nested_parameters(GRRF(gamma=0.2))["gamma"]
    0.2
    """
    if _is_estimator(record):
        return dict(record.get_params())
    found: dict[str, Any] = {}
    for name in _options(record):
        value = getattr(record, name)
        found[name] = value
        found |= {name + JOINT + inner: v for inner, v in nested_parameters(value).items()}
    return found


def with_nested(record: Any, values: Mapping[str, Any], where: str) -> Any:
    """The record with some options replaced; its own are unchanged.

    Parameters
    ----------
    record : object
    values : mapping of str to object
        By name; options of options as ``"forest__n_trees"``.
    where : str
        Parameter that holds the record, for messages.

    Raises
    ------
    OptionError
        If the record has no such option.
    """
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        name, joint, rest = path.partition(JOINT)
        _check_option(record, name, where)
        if joint:
            inner.setdefault(name, {})[rest] = value
        else:
            own[name] = value
    if _is_estimator(record):
        from sklearn.base import clone

        return clone(record).set_params(**values)
    for name, within in inner.items():
        value = own.get(name, getattr(record, name))
        own[name] = with_nested(value, within, where + JOINT + name)
    return dataclasses.replace(record, **own)


def _options(record: Any) -> list[str]:
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        return []
    fields = [field.name for field in dataclasses.fields(record) if field.init]
    defaults = answer(record, "defaults")  # of a method whose keywords are more than its fields
    return list(dict.fromkeys([*fields, *(defaults() if callable(defaults) else ())]))


def _is_estimator(record: Any) -> bool:
    return not isinstance(record, type) and callable(answer(record, "get_params"))


def _check_option(record: Any, name: str, where: str) -> None:
    known = (
        [n for n in record.get_params() if JOINT not in n]
        if _is_estimator(record)
        else _options(record)
    )
    if name in known:
        return
    asked = quoted(where + JOINT + name)
    if isinstance(record, str):
        raise OptionError(
            f"{asked} needs an object in `{where}`, not a name.\n"
            f"  Found: {where}={record!r}. Pass an object, such as `{where}=GRRF()`, or use"
            " `method_options`."
        )
    if not known:
        raise OptionError(
            f"{asked} can't be set: `{where}` has no options.\n  Found: {described(record)}."
        )
    close = near(name, known)
    advice = did_you_mean(close) if close else f"Options: {listing(known, len(known))}."
    raise OptionError(f"{type(record).__name__} has no option {quoted(name)}.\n  {advice}")
