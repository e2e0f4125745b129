"""The suffix of a path chooses the language of an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from treeselect.arguments.scalars import described
from treeselect.errors import OptionError
from treeselect.exporting.onnx_model import onnx_model
from treeselect.exporting.program import program_of
from treeselect.exporting.python_source import python_source
from treeselect.exporting.sql import sql_source
from treeselect.resampling.fit import Fit
from treeselect.writing import write_file

SUFFIXES = (".py", ".sql", ".onnx")


def export_model(fit: Fit, path: Path, table: object = None, columns: object = None) -> Path:
    """Write the final model in another language; see :meth:`SelectionResult.export`."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise OptionError(
            f"`path` must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, which chooses the"
            f" language.\n  Found: {described(path.name)}."
        )
    if suffix != ".sql" and (table is not None or columns is not None):
        raise OptionError(
            "`table` and `columns` are for SQL only.\n"
            f"  Found: a path that ends in {suffix}. Leave them out, or write a .sql file."
        )
    program = program_of(fit)
    if suffix == ".sql":
        names = _names("table", table, needed=True)
        kept = (
            tuple(c.name for c in program.inputs) if columns is None else _names("columns", columns)
        )
        return _write(path, sql_source(program, names, kept))
    if suffix == ".onnx":
        return write_file(path, onnx_model(program), what="exported model")
    return _write(path, python_source(program))


def _names(argument: str, given: object, *, needed: bool = False) -> tuple[str, ...]:
    """A name or a sequence of names."""
    names = (given,) if isinstance(given, str) else given
    if (
        not isinstance(names, Sequence)
        or not all(isinstance(name, str) and name for name in names)
        or (needed and not names)
    ):
        way = (
            'Name the table, for example `table="patients"` or `table=("clinic", "patients")`.'
            if needed
            else 'Name columns of the table, for example `columns=["id"]`.'
        )
        raise OptionError(
            f"`{argument}` must be a name or a sequence of names.\n"
            f"  Found: {described(given)}. {way}"
        )
    return tuple(names)


def _write(path: Path, pieces: Iterator[str]) -> Path:
    def write(file: IO[bytes]) -> None:
        for piece in pieces:
            file.write(piece.encode("utf-8"))

    return write_file(path, write, what="exported model")
