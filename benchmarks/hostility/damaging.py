"""Changes of the values and arrays of a model file (bytes: ``tests/modelfile/test_damaged.py``)."""

from __future__ import annotations

import contextlib
import copy
import gzip
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from treeselect import coding


def damage(original: bytes, changes: list[dict[str, Any]]) -> bytes:
    """The file with all changes, but those that an earlier one made impossible."""
    for change in changes:
        rng = random.Random(change["seed"])
        with contextlib.suppress(Exception):
            document = read_content(original)
            change_value(document, change, rng)
            original = write_content(document)
    return original


def read_content(data: bytes) -> Any:
    """The map in a model file."""
    return msgspec.msgpack.decode(gzip.decompress(data), ext_hook=coding._array_of)


def write_content(content: Any) -> bytes:
    """A file with such a map."""
    return gzip.compress(coding._encode(content))


def places(value: Any, holder: Any, key: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """All values in a content: their names, and where they are."""
    yield name, holder, key
    inner = value.items() if isinstance(value, dict) else ()
    for own, part in enumerate(value) if isinstance(value, list) else inner:
        yield from places(part, value, own, f"{name}[{own!r}]")


def place(document: Any, change: dict[str, Any]) -> tuple[str, Any, Any]:
    """What is changed: any value, or an array."""
    all_of_it = list(places(document["content"], document, "content", "content"))
    if change["kind"] == "array":
        all_of_it = [one for one in all_of_it if isinstance(one[1][one[2]], np.ndarray)]
    return all_of_it[int(change["at"] * len(all_of_it))]


def change_value(document: Any, change: dict[str, Any], rng: random.Random) -> None:
    """Change one value of the content of a document."""
    _, holder, key = place(document, change)
    old, how = holder[key], change["how"]
    if how in ("drop", "gone"):
        del holder[key]
    elif change["kind"] == "array":
        holder[key] = _changed(old, how, rng)
    elif how == "sign" and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = rng.choice([-old, old + 1, old - 1, old * 100, old + 0.5, 10**9])
    elif how == "nest":
        holder[key] = [old]
    elif how in ("swap", "copy"):
        _, other, name = place(document, change | {"at": rng.random()})
        holder[key] = copy.deepcopy(other[name])
    else:
        holder[key] = eval(change["value"])


def _changed(array: Any, how: str, rng: random.Random) -> Any:
    if how.startswith("dtype "):
        with np.errstate(all="ignore"):
            return array.astype(how[6:])
    flat = array.copy().ravel()
    if how in ("one value", "minus", "huge", "nan", "inf", "random") and flat.size:
        value: Any = {
            "one value": rng.choice([-1, 0, 1, 2, 100]), "minus": -1, "huge": 2**31 - 1,
            "nan": np.nan, "inf": np.inf, "random": rng.randrange(-5, 50),
        }[how]  # fmt: skip
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = (
                np.array(value).astype(array.dtype) if array.dtype.kind != "b" else bool(value)
            )
        return flat.reshape(array.shape)
    if how == "shuffle":
        order = list(range(flat.size))
        rng.shuffle(order)
        return flat[order].reshape(array.shape)
    return {
        "zero": lambda: np.zeros_like(array), "ones": lambda: np.ones_like(array),
        "shorter": lambda: array[:-1], "longer": lambda: np.concatenate([array, array[:1]]),
        "empty": lambda: array[:0], "flat": lambda: flat, "column": lambda: flat[:, None],
        "wider": lambda: np.stack([flat, flat]), "fortran": lambda: np.asfortranarray(array),
        "scalar": lambda: flat[:1].reshape(()), "3d": lambda: flat.reshape(1, 1, -1),
    }.get(how, lambda: array)()  # fmt: skip
