"""Model files: one documented, versioned zip of JSON and arrays; nothing in it is code.

Layout, version 3, in a zip with one JSON document and arrays only:

``model.json``
    ``{"format": "treeselect model", "version": 3, "treeselect": ..., "content": {...}}``: the
    formula, the schema, levels, the states of transforms, units, method and options, the chosen
    step, the text of the call. Tuples are lists; ``plain`` encodes values that JSON lacks.
``arrays/<name>.npy``
    Arrays in NumPy's format, booleans and numbers only: the path (``path_*``), the forest
    (``forest_*``), boosted trees (``boost_*``) or an additive model plus a forest (``stack_*``),
    the sparse forest (``sub_*``), bin edges (``edges``, ``edges_start``), decisions of methods that
    make them and the importances behind them (``decisions``, ``decision_*``), the exchanges of a
    search and its near-equivalent sets (``exchange_*``, ``rival_*``), held-out scores
    (``fold_scores``, ``fold_repeats``, ``spared_rows``), tests of sizes (``size_p_values``),
    resamples (``resample_*``), effects of terms (``effect_*``), and, optionally, the data (``y``,
    ``rows``, ``weight``, ``offset``, ``source_<i>``, ``fold_numbers``, ``fold_groups``).
    Of splitters, scikit-learn selectors and scores that are functions, only the names are stored.

Nodes of trees are whole numbers in the narrowest type that holds them, and float64. Of
trees of zeros and ones with whole weights the file has counts of leaves, ``*_leaf_weight`` and
``*_leaf_ones``, in place of weights, values and gains, which follow from them.
Version 2, which is still read, had all members uncompressed and one type for each array.

The formula is parsed again when the file is loaded, with the same security checks.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treeselect._version import __version__
from treeselect.arguments.checks import current_folder, described, reason
from treeselect.errors import FormulaError, ModelFileError, quoted, said_by
from treeselect.modelfile.packing import pack
from treeselect.modelfile.unpacking import unpack
from treeselect.resampling.fit import Fit
from treeselect.writing import write_file

# --- the container of a model file -------------------------------------------------------------

# Members are deflated. Those of a hostile file could expand without end, so that sizes are checked
# before anything is expanded, and no member expands beyond the size that was checked: in all, a
# file holds at most 64 MiB more than 64 times its compressed bytes. What would expand further is
# stored as it is. Nothing is unpacked to disk. Arrays contain only booleans and numbers.

_JSON = "model.json"
_DTYPES = frozenset(["bool", "int8", "uint8", "int16", "uint16", "int32", "int64", "float64"])

_LEVEL = 3
"""Of deflate; fixed, so that the same model gives the same file."""

_RATIO = 64
"""Bytes to which a compressed byte may expand; trees expand to less than 10."""

_ALLOWANCE = 2**26
"""Bytes by which all members together may exceed that: paths of many columns are mostly zeros."""

_HEADER = 30
"""Bytes before the name of a member."""


def write_archive(path: Path, text: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a JSON text and arrays atomically: an interrupted run leaves no partial file.

    Raises
    ------
    ModelFileError
        If the file can't be written.
    """

    def write(file: IO[bytes]) -> None:
        allowance = _ALLOWANCE
        with zipfile.ZipFile(file, "w") as archive:
            allowance -= _add(archive, _JSON, text.encode("utf-8"), allowance)
            for array_name, array in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
                name = f"arrays/{array_name}.npy"
                allowance -= _add(archive, name, buffer.getbuffer(), allowance)

    write_file(path, write, what="model", error=ModelFileError)


def _add(archive: zipfile.ZipFile, name: str, data: bytes | memoryview, allowance: int) -> int:
    """Add a member and return what it takes of the allowance; stored if that would be too much."""
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same at any time
    expands = len(data) > allowance and len(data) > allowance + _RATIO * _deflated_size(data)
    kind = zipfile.ZIP_STORED if expands else zipfile.ZIP_DEFLATED
    archive.writestr(member, data, kind, _LEVEL)
    return _excess(member)


def _deflated_size(data: bytes | memoryview) -> int:
    return len(zlib.compress(data, _LEVEL, -zlib.MAX_WBITS))


def _excess(member: zipfile.ZipInfo) -> int:
    """Bytes by which a member expands to more than the ratio permits."""
    return max(0, member.file_size - _RATIO * member.compress_size)


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
        text = _expand(archive, archive.getinfo(_JSON)).decode("utf-8")
        document = json.loads(text, parse_constant=_no_constant)
        json.dumps(document, ensure_ascii=False).encode(
            "utf-8"
        )  # unpaired surrogates can't be shown
        arrays = {
            member.filename[len("arrays/") : -len(".npy")]: _read_array(_expand(archive, member))
            for member in members
            if member.filename != _JSON
        }
    return document, arrays


def _expand(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than it declares.

    ``ZipFile.read`` would expand all that is there before it cuts it to the declared size.
    """
    with archive.open(member) as stream:
        data = stream.read(member.file_size)
        if len(data) != member.file_size:
            raise ValueError(f"{member.filename!r} is shorter than it declares")
    return data


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
        if not expected or not _is_ours(member):
            raise ModelFileError(
                f"Can't read {quoted(path.name)}: a model file has no such member.\n"
                f"  Found: {name!r}. The file was not written by treeselect, or it was modified."
            )
    if len(set(names)) < len(names) or _overlap(members, path.stat().st_size):
        raise ModelFileError(f"Can't read {quoted(path.name)}: its members overlap.")
    if sum(map(_excess, members)) > _ALLOWANCE:
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it would expand to"
            f" {sum(m.file_size for m in members) / 2**20:,.0f} MiB.\n"
            "  No file of this size that treeselect writes does; it was modified."
        )


def _is_ours(member: zipfile.ZipInfo) -> bool:
    """Whether a member is deflated, or stored without change, and is not encrypted."""
    if member.flag_bits & 1:
        return False
    if member.compress_type == zipfile.ZIP_STORED:
        return member.file_size == member.compress_size
    return member.compress_type == zipfile.ZIP_DEFLATED


def _overlap(members: list[zipfile.ZipInfo], n_bytes: int) -> bool:
    """Whether members share bytes: then each would count them as its own."""
    spans = sorted(
        (m.header_offset, m.header_offset + _HEADER + len(m.filename) + m.compress_size)
        for m in members
    )
    starts = [start for start, _ in spans[1:]] + [n_bytes]
    return any(end > start for (_, end), start in zip(spans, starts, strict=True))


def _no_constant(text: str) -> Any:
    raise ValueError(f"JSON has no {text}")


_START = re.compile(
    rb"\x93NUMPY\x01\x00(?s:(..))"
    rb"\{'descr': '([<|][bifu]\d)', 'fortran_order': False, 'shape': \(([\d, ]{0,40})\), \} *\n"
)
"""What ``numpy.lib.format`` writes before an array. numpy reads it as an expression of Python,
which a damaged file could be; this is the only form that it writes."""


def _read_array(data: bytes) -> NDArray[Any]:
    """An array of booleans or numbers whose header matches the number of bytes that follow."""
    found = _START.match(data)
    if found is None or found.end() != 10 + int.from_bytes(found[1], "little"):
        raise ValueError("an array with another header than numpy writes")
    dtype = np.dtype(found[2].decode())
    shape = tuple(int(n) for n in found[3].split(b",") if n.strip())
    rest = memoryview(data)[found.end() :]
    if dtype.name not in _DTYPES:
        raise ValueError(f"an array of type {dtype}")
    if math.prod(shape) * dtype.itemsize != len(rest) or len(shape) > 2:
        raise ValueError(f"an array of shape {shape} in {len(rest)} bytes")
    return np.frombuffer(rest, dtype=dtype).reshape(shape).copy()


# --- model files -------------------------------------------------------------------------------

FORMAT = "treeselect model"
VERSION = 3
READ = (2, 3)
"""Versions that can be read. Files of version 2 differ in nothing but their size."""


def save_result(result: Fit, path: Path, *, include_data: bool) -> Path:
    """Write a model file; see :meth:`SelectionResult.save`."""
    content, arrays = pack(result, include_data=include_data)
    try:
        text = json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "treeselect": __version__,
                "content": content,
            },
            allow_nan=False,
        )
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            "Can't save this model: labels must be text, numbers or truth values.\n"
            f"  {error}. Convert the column to text before the fit."
        ) from None
    write_archive(path, text, arrays)
    return path


def read_fit(path: Path, *, trusted: bool) -> Fit:
    """The fit in a model file; see :func:`treeselect.load`."""
    if not os.path.isfile(path):  # unlike Path.is_file, it accepts names of any length
        found = (
            "It is not a file." if os.path.exists(path) else f"Current folder: {current_folder()}"
        )
        raise ModelFileError(f"Can't find the model file {quoted(str(path))}.\n  {found}")
    try:
        document, arrays = read_archive(path)
        return unpack(_check_document(path, document), arrays, trusted=trusted)
    except ModelFileError:
        raise
    except FormulaError as error:
        raise FormulaError(
            f"Can't load {quoted(path.name)}: its formula is not allowed.\n  {error}"
        ) from None
    except MemoryError as error:
        raise ModelFileError(f"Can't read {quoted(path.name)}.\n  {reason(error)}") from None
    except Exception as error:  # untrusted bytes can fail in any way
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it is not a model file, or it is damaged.\n"
            f"  {said_by(error)}"
        ) from None


def _check_document(path: Path, document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"Can't read {quoted(path.name)}: it is not a model file.")
    found, writer = document.get("version"), document.get("treeselect")
    if found not in READ:
        readable = " and ".join(map(str, READ))
        is_newer = isinstance(found, int | float) and found > VERSION
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it needs format {described(found)}.\n"
            f"  This is treeselect {__version__}, which reads formats {readable}; the"
            f" file was written by treeselect {described(writer)}. "
            + ("Update treeselect." if is_newer else "Use that version.")
        )
    content: dict[str, Any] = document["content"]
    return content
