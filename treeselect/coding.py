"""Records of plain values and arrays as bytes: MessagePack, in gzip.

Models and finished pieces of long calls are such files, each one map of ``format``, ``version``,
``treeselect`` (the version that wrote it) and ``content``. An array is an extension of type 1: a
list of its type, its shape and its bytes. Nothing but numbers, text, lists, maps and arrays is
stored, so that nothing in a file is code; what is read is checked against the annotations of the
records.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec
import numpy as np
from msgspec.msgpack import Ext
from numpy.typing import NDArray

from treeselect._version import __version__
from treeselect.arguments.checks import current_folder, described
from treeselect.errors import ModelFileError, quoted, reason
from treeselect.writing import write_file

Record = TypeVar("Record")

FORMAT, LINEAR_FORMAT = "treeselect model", "treeselect linear model"
PIECE_FORMAT = "treeselect piece"
VERSION = 4

_LEVEL = 3
"""Of the compression; fixed, so that the same model gives the same file."""

_RATIO = 64
"""Bytes to which a compressed byte may expand; trees expand to less than 10."""

_ALLOWANCE = 2**21
"""Bytes by which a file may exceed that: what is small may be mostly zeros. Arrays of small numbers
take eight times as many in memory."""

_ARRAY = 1
"""Type of the extension."""

_Stored = Literal["|u1", "|i1", "<u2", "<i2", "<i4", "<i8", "<f8", "|b1"]

_WHOLE = tuple(np.dtype(kind) for kind in get_args(_Stored)[:6])


class _Header(msgspec.Struct):
    format: str
    version: Any
    treeselect: Any
    content: msgspec.Raw


# --- values to bytes and back --------------------------------------------------------------------


def raw(value: Any) -> msgspec.Raw:
    """A plain value, whose type no record knows, in bytes."""
    return msgspec.Raw(_encode(value))


def plain(value: msgspec.Raw, most: int) -> Any:
    """The inverse of :func:`raw`, with lists for tuples; a ValueError if it has more bytes."""
    if len(bytes(value)) > most:
        raise ValueError("a value that is too long")
    return msgspec.msgpack.decode(value, ext_hook=_array_of)


def _encode(value: Any) -> bytes:
    return msgspec.msgpack.encode(value, enc_hook=_plain_of)


def _plain_of(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        raise TypeError(f"Found: {described(value)}, of type {type(value).__name__}")
    if value.dtype.kind in "iu":
        value = _narrowed(value)
    kind = "|b1" if value.dtype == np.bool_ else "<f8"
    kind = value.dtype.newbyteorder("<").str if value.dtype.kind in "iu" else kind
    return Ext(_ARRAY, _encode((kind, value.shape, value.astype(kind).tobytes())))


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the first type that holds all of them."""
    if array.size == 0:
        return array.astype(np.uint8)
    least, most = int(array.min()), int(array.max())
    limits = ((kind, np.iinfo(kind)) for kind in _WHOLE)
    return array.astype(next(kind for kind, own in limits if own.min <= least and most <= own.max))


def _array_of(code: int, data: memoryview) -> NDArray[Any]:
    kind, shape, values = msgspec.msgpack.decode(data, type=tuple[_Stored, tuple[int, ...], bytes])
    if code != _ARRAY or len(shape) > 2 or min(shape, default=0) < 0:
        raise ValueError("an array of a kind that models do not have")
    if kind == "|b1":
        return np.frombuffer(values, np.uint8).reshape(shape) != 0
    own = np.dtype(kind)
    return np.frombuffer(values, own).reshape(shape).astype(np.int64 if own in _WHOLE else own)


def _checked(annotation: Any, value: Any) -> NDArray[Any]:
    """An array of the type that the annotation says."""
    if not isinstance(value, np.ndarray):
        raise ValueError("a value in place of an array")
    (kind,) = get_args(get_args(annotation)[1])
    if kind is Any or value.dtype == kind:
        return value
    with np.errstate(invalid="ignore"):  # such as NaN as a whole number: it is not equal
        cast = value.astype(kind)
    if value.dtype != np.int64 or cast.dtype not in _WHOLE or not np.array_equal(cast, value):
        raise ValueError(f"an array of type {value.dtype}, not {cast.dtype}")
    return cast


# --- files ---------------------------------------------------------------------------------------


def write_record(path: Path, make: Callable[[], object], form: str = FORMAT) -> None:
    """Write the record of a model that is made, as a whole."""
    try:
        content = bytes_of(make(), form)
    except ModelFileError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(
            "Can't save this model: labels must be text, numbers or truth values.\n"
            f"  {error}. Convert the column to text before the fit."
        ) from None
    write_file(path, content, what="model", error=ModelFileError)


def bytes_of(content: object, form: str) -> bytes:
    """The bytes of a file with such a content."""
    data = _encode(_Header(form, VERSION, __version__, msgspec.Raw(_encode(content))))
    small = gzip.compress(data, _LEVEL, mtime=0)
    return small if len(data) <= _most(len(small)) else gzip.compress(data, 0, mtime=0)


_GZIP = b"\x1f\x8b"
"""How such files begin."""


def _most(n_bytes: int) -> int:
    return _RATIO * n_bytes + _ALLOWANCE


def read_record(path: Path, kinds: Mapping[str, type[Record]]) -> Record:
    """The record in a file, of the kind that its format has. Raises a ModelFileError if it can't be
    read, would expand too far or has another version, and errors of many kinds if the file is
    damaged."""
    if not os.path.isfile(path):  # unlike Path.is_file, it accepts names of any length
        found = (
            "It is not a file." if os.path.exists(path) else f"Current folder: {current_folder()}"
        )
        raise ModelFileError(f"Can't find the model file {quoted(str(path))}.\n  {found}")
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"Can't read {quoted(path.name)}.\n  {reason(error)}") from None
    form, content = _content(path, _expanded(path, packed), kinds)
    return msgspec.msgpack.decode(content, type=kinds[form], dec_hook=_checked, ext_hook=_array_of)


def _expanded(path: Path, packed: bytes) -> bytes:
    """The bytes of a file that may be hostile, and expand without end."""
    stream = zlib.decompressobj(wbits=31)
    most = _most(len(packed))
    told = int.from_bytes(packed[-4:], "little")  # gzip ends with the size, of which it may lie
    if packed.startswith(_GZIP) and told > most:
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it would expand to more than {most / 2**20:,.0f}"
            " MiB.\n  No file of this size that treeselect writes does; it was modified."
        )
    data = stream.decompress(packed, 1 + (told if most < 2**32 else most))
    if not stream.eof or stream.unused_data:
        raise ValueError("it is cut off, or more follows it")
    return data


def _content(path: Path, data: bytes, known: Collection[str]) -> tuple[str, msgspec.Raw]:
    header = msgspec.msgpack.decode(data, type=_Header)
    if header.format not in known:
        raise ModelFileError(f"Can't read {quoted(path.name)}: it is not a model file.")
    if header.version != VERSION:
        is_newer = isinstance(header.version, int | float) and header.version > VERSION
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it needs format {described(header.version)}.\n"
            f"  This is treeselect {__version__}, which reads format {VERSION}; the file was"
            f" written by treeselect {described(header.treeselect)}. "
            + ("Update treeselect." if is_newer else "Use that version.")
        )
    return header.format, header.content
