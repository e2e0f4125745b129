"""Changes of a model file: of its bytes, its members, its document and its arrays."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np


def damage(original: bytes, changes: list[dict[str, Any]]) -> bytes:
    """The file with all changes, but those that an earlier one made impossible."""
    for change in changes:
        rng = random.Random(change["seed"])
        way = {"bytes": _bytes, "zip": _members, "json": _document, "array": _array}[change["kind"]]
        with contextlib.suppress(Exception):
            original = way(original, change, rng)
    return original


def _bytes(data: bytes, change: dict[str, Any], rng: random.Random) -> bytes:
    at = int(change["at"] * len(data))
    how = change["how"]
    if how == "flip":
        found = bytearray(data)
        found[at] ^= 1 << rng.randrange(8)
        return bytes(found)
    return {
        "cut": data[:at], "insert": data[:at] + rng.randbytes(rng.randint(1, 20)) + data[at:],
        "zero": data[:at] + bytes(50) + data[at + 50 :],
        "head": data[at:], "empty": b"", "double": data + data, "text": b"y ~ x\n",
    }[how]  # fmt: skip


def read_members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _members(data: bytes, change: dict[str, Any], rng: random.Random) -> bytes:
    members, how = read_members(data), change["how"]
    name = sorted(members)[int(change["at"] * len(members))]
    if how in ("rename", "remove"):
        content = members.pop(name)
        if how == "rename":
            members[
                rng.choice(
                    [
                        "arrays/x.npy",
                        "x",
                        "arrays/../x.npy",
                        "arrays/a b.npy",
                        "model.json",
                        "\x1b.npy",
                    ]
                )
            ] = content
    elif how in ("add", "outside", "pickle", "folder"):
        new = {
            "add": "arrays/extra.npy",
            "outside": "../../pwned",
            "pickle": "arrays/evil.npy",
            "folder": "arrays/",
        }[how]
        members[new] = {"add": members[name], "pickle": b"\x80\x04cos\nsystem\n."}.get(how, b"")
    elif how == "twice":
        return _write(members) + _write({name: members[name]})
    elif how == "deflate":
        return _write(members, zipfile.ZIP_DEFLATED)
    elif how == "bomb":
        return _write({**members, "arrays/bomb.npy": bytes(20_000_000)}, zipfile.ZIP_DEFLATED)
    elif how == "comment":
        return _write(members)[:-2] + b"\x05\x00hello"
    elif how == "encrypted":
        found = bytearray(_write(members))
        at = found.find(b"PK\x01\x02")
        found[at + 8] |= 1
        return bytes(found)
    else:
        members["model.json"] = b"[" * 100_000 + b"]" * 100_000
    return _write(members)


def _document(data: bytes, change: dict[str, Any], rng: random.Random) -> bytes:
    members = read_members(data)
    document = json.loads(members["model.json"])
    if change["how"] == "text":
        text = members["model.json"].decode()
        at = int(change["at"] * len(text))
        members["model.json"] = (
            text[:at]
            + rng.choice(['"', "{", "]", "NaN", "1e999", "\\ud800", ",", "0"])
            + text[at + 1 :]
        ).encode()
        return _write(members)
    places = list(_places(document["content"], document, "content"))
    holder, key = places[int(change["at"] * len(places))]
    old = holder[key]
    how = change["how"]
    if how == "drop":
        del holder[key]
    elif how == "sign" and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = rng.choice([-old, old + 1, old - 1, old * 1000, old + 0.5, 10**9])
    elif how == "nest":
        holder[key] = [old]
    elif how in ("swap", "copy"):
        other, name = places[rng.randrange(len(places))]
        holder[key] = copy.deepcopy(other[name])
    else:
        holder[key] = eval(change["value"])
    members["model.json"] = json.dumps(document).encode()
    return _write(members)


def _places(value: Any, holder: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    yield holder, key
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, part in inner:
        yield from _places(part, value, name)


def _array(data: bytes, change: dict[str, Any], rng: random.Random) -> bytes:
    members, how = read_members(data), change["how"]
    names = sorted(name for name in members if name.endswith(".npy"))
    name = names[int(change["at"] * len(names))]
    if how == "gone":
        del members[name]
        return _write(members)
    if how in ("one byte", "header", "cut"):
        raw = bytearray(members[name])
        at = rng.randrange(len(raw)) if how == "one byte" else rng.randrange(min(len(raw), 120))
        raw[at] = rng.randrange(256)
        members[name] = bytes(raw[:-1] if how == "cut" else raw)
        return _write(members)
    array = np.lib.format.read_array(io.BytesIO(members[name]))
    buffer = io.BytesIO()
    changed = _changed(array, how, rng)
    np.lib.format.write_array(buffer, changed, allow_pickle=True)
    members[name] = buffer.getvalue()
    return _write(members)


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
