"""The container of a model file: a zip with one JSON document and arrays only.

Members are stored uncompressed, so that a file can't expand when read, and nothing is unpacked to
disk. Arrays contain only booleans and numbers.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.paths import reason
from treeselect.errors import ModelFileError, quoted
from treeselect.writing import write_file

_JSON = "model.json"
_DTYPES = frozenset(["bool", "uint8", "int32", "int64", "float64"])


def write_archive(path: Path, text: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a JSON text and arrays atomically: an interrupted run leaves no partial file.

    Raises
    ------
    ModelFileError
        If the file can't be written.
    """

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_member(_JSON), text)
            for array_name, array in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
                archive.writestr(_member(f"arrays/{array_name}.npy"), buffer.getvalue())

    write_file(path, write, what="model", error=ModelFileError)


def _member(name: str) -> zipfile.ZipInfo:
    """A member without a timestamp: the same model gives the same file."""
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def read_archive(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The JSON document and the arrays of a file.

    Raises
    ------
    ModelFileError
        If the file can't be opened, or contains a member that :func:`write_archive` never writes.
    Exception
        Of many kinds, if the file is damaged.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise ModelFileError(f"Can't read {quoted(path.name)}.\n  {reason(error)}") from None
    with file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_members(path, members)
        document = json.loads(archive.read(_JSON).decode("utf-8"), parse_constant=_no_constant)
        json.dumps(document, ensure_ascii=False).encode(
            "utf-8"
        )  # unpaired surrogates can't be shown
        arrays = {
            member.filename[len("arrays/") : -len(".npy")]: _read_array(archive.read(member))
            for member in members
            if member.filename != _JSON
        }
    return document, arrays


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    if _JSON not in names:
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it is a zip file, but not a model file.\n"
            "  Model files are written by `fit.save(path)`."
        )
    for member in members:
        name = member.filename
        own = name.removeprefix("arrays/").removesuffix(".npy")
        expected = name == _JSON or (name == f"arrays/{own}.npy" and own.isidentifier())
        stored = member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1
        if not expected or not stored or member.file_size != member.compress_size:
            raise ModelFileError(
                f"Can't read {quoted(path.name)}: a model file has no such member.\n"
                f"  Found: {name!r}. The file was not written by treeselect, or it was modified."
            )
    if len(set(names)) < len(names) or sum(m.file_size for m in members) > path.stat().st_size:
        raise ModelFileError(f"Can't read {quoted(path.name)}: its members overlap.")


def _no_constant(text: str) -> Any:
    raise ValueError(f"JSON has no {text}")


def _read_array(data: bytes) -> NDArray[Any]:
    """An array of booleans or numbers whose header matches the number of bytes that follow."""
    buffer = io.BytesIO(data)
    version = np.lib.format.read_magic(buffer)
    if version != (1, 0):
        raise ValueError(f"an array of the format version {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    rest = data[buffer.tell() :]
    if dtype.name not in _DTYPES or not dtype.isnative or fortran:
        raise ValueError(f"an array of type {dtype}")
    if math.prod(shape) * dtype.itemsize != len(rest) or len(shape) > 2:
        raise ValueError(f"an array of shape {shape} in {len(rest)} bytes")
    return np.frombuffer(rest, dtype=dtype).reshape(shape).copy()
