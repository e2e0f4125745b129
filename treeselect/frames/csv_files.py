"""CSV files: read correctly or not at all, with the remedy in the error."""

from __future__ import annotations

import codecs
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from treeselect.arguments.scalars import described
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.frames.names import not_different
from treeselect.frames.statistical import is_statistical
from treeselect.quiet import own_filters

if TYPE_CHECKING:
    import pandas as pd

UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class EncodedFile(os.PathLike[str]):
    """The path of a CSV file whose text has another encoding than UTF-8, or of a file of Stata,
    SPSS or SAS that does not say its own.

    Attributes
    ----------
    path : str
    encoding : str
        A name that Python knows, such as ``"latin-1"``.
    """

    path: str
    encoding: str

    def __post_init__(self) -> None:
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise OptionError(
                "`encoding` must be the name of a text encoding that Python knows, such as"
                f" 'latin-1', 'cp1252' or 'utf-16'.\n  Found: {described(self.encoding)}."
            ) from None
        if not is_csv(Path(self.path)) and not is_statistical(Path(self.path)):
            raise OptionError(
                "`encoding` must be given for CSV, Stata, SPSS and SAS files only: other formats"
                " record their own.\n"
                f"  Found: {quoted(self.path)}."
            )

    def __fspath__(self) -> str:
        return self.path


def is_csv(path: Path) -> bool:
    """Whether a path has the ending of a CSV file."""
    return path.name.lower().endswith((".csv", ".csv.gz"))


def read_csv(path: Path, encoding: str = UTF8) -> pd.DataFrame:
    """The columns of a CSV file.

    Parameters
    ----------
    path : pathlib.Path
        A file.
    encoding : str

    Raises
    ------
    DataError
        If its bytes are not in this encoding, column names are repeated, rows have more values than
        there are names, or columns are not separated by commas.
    Exception
        Of many kinds, if the file is damaged.
    """
    import pandas as pd

    try:
        with own_filters():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # One guess of the type for the whole column, not one for each chunk of rows. And no
            # column is made an index of, which is left out: pandas does so if rows are too long.
            frame = pd.read_csv(path, low_memory=False, index_col=False, encoding=encoding)
        header = pd.read_csv(
            path, header=None, nrows=1, dtype=str, keep_default_na=False, encoding=encoding
        )
    except UnicodeError as error:
        raise _undecodable(path, encoding, error) from error
    except pd.errors.ParserWarning as error:
        with _opened(path) as file:
            first = file.readline().decode(encoding, "replace").strip()
        separator = next((sign for sign in ";\t|" if first.count(sign) > first.count(",")), None)
        if separator:  # and commas in the rows, as decimal signs
            raise _other_separator(path, separator, first) from error
        raise DataError(
            f"The rows of {quoted(str(path))} must not have more values than its header has"
            " names.\n"
            "  Name every column. If the first column holds row names, read the file yourself:"
            f" `pandas.read_csv({str(path)!r}, index_col=0)`."
        ) from error
    _check_header(path, frame, header.iloc[0])
    return frame


def _check_header(path: Path, frame: pd.DataFrame, names: pd.Series[str]) -> None:
    """Refuse repeated names (pandas would silently make `x` and `x.1` of them), a file that seems
    to have one column because its separator is not a comma, and text of two bytes per character,
    which is UTF-8 with a NUL after each letter."""
    if any("\0" in name for name in names):
        raise DataError(
            f"The header of {quoted(str(path))} must not contain NUL characters.\n"
            f"  Found: {listing(names, most=5)}.\n  {_way_out(path, _marked(path))}"
        )
    separator = next((sign for sign in ";\t|" if sign in str(names[0])), None)
    if len(names) == 1 and separator:
        raise _other_separator(path, separator, str(names[0]))
    twice = sorted({name for name in names[names.duplicated()] if name})
    if twice and len(names) == frame.shape[1]:
        raise not_different(twice)


def _other_separator(path: Path, separator: str, header: str) -> DataError:
    decimal = ", decimal=','" if separator == ";" else ""
    return DataError(
        f"The columns of {quoted(str(path))} must be separated by commas.\n"
        f"  Found: one column, {header!r}.\n"
        f"  Read the file yourself: `pandas.read_csv({str(path)!r}, sep={separator!r}{decimal})`."
    )


# --- encodings ---------------------------------------------------------------------------------

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _undecodable(path: Path, encoding: str, error: UnicodeError) -> DataError:
    """Build the error for bytes that are no text in this encoding."""
    found, guess = f"{error}", None
    place = _first_wrong(path, encoding)
    if place is not None:
        byte, at, line, beyond_ascii = place
        found = f"byte 0x{byte:02x} at position {at:,} (line {line:,})"
        guess = _guess(path, encoding, beyond_ascii)
        if beyond_ascii and guess is None:
            found += ", after valid non-ASCII characters; the file mixes encodings or is damaged"
    return DataError(
        f"Can't read the file {quoted(str(path))} as {encoding}.\n"
        f"  Found: {found}.\n  {_way_out(path, guess)}"
    )


def _way_out(path: Path, guess: str | None) -> str:
    read = f"pandas.read_csv({str(path)!r}, encoding="
    if guess is None:
        return (
            f"Read it in its own encoding, for example `{read}'cp1252')`, or replace unreadable"
            f" characters: `{read}'utf-8', encoding_errors='replace')`."
        )
    return f"It may be in {guess}: `{read}{guess!r})`, or `--encoding {guess}` on the command line."


def _guess(path: Path, tried: str, beyond_ascii: bool) -> str | None:
    """What the encoding may be instead, from the first bytes; None without any evidence."""
    guess = _marked(path)
    if guess is None and tried == UTF8 and not beyond_ascii:
        guess = "cp1252" if _has_c1(path) else "latin-1"
    return guess if guess != tried else None


def _marked(path: Path) -> str | None:
    """An encoding of several bytes for each character that the first ones show."""
    with _opened(path) as file:
        start = file.read(4)
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if marked is None and start[::2] == b"\0\0":
        return "utf-16-be"
    return "utf-16-le" if marked is None and start[1::2] == b"\0\0" else marked


def _has_c1(path: Path) -> bool:
    """Whether bytes stand for quotes and dashes in Windows, and for nothing in Latin-1."""
    return any(any(0x80 <= byte < 0xA0 for byte in part) for part in _parts(path))


def _first_wrong(path: Path, encoding: str) -> tuple[int, int, int, bool] | None:
    """The first byte that can't be decoded: its value, position, line, and whether characters
    beyond ASCII stand before it. None if the decoder knows no place.

    pandas names the position within a part of the file.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    at, line, beyond_ascii = 0, 1, False
    held = b""
    for part in (*_parts(path), b""):
        before = decoder.getstate()[0]
        try:
            text = decoder.decode(part, final=not part)
        except UnicodeDecodeError as error:
            held = before + part
            wrong = at - len(before) + error.start
            valid = held[: error.start]
            more = any(byte > 0x7F for byte in valid)
            return held[error.start], wrong, line + valid.count(b"\n"), beyond_ascii or more
        except UnicodeError:
            return None
        at += len(part)
        line += text.count("\n")
        beyond_ascii = beyond_ascii or not text.isascii()
    return None


def _parts(path: Path) -> Iterator[bytes]:
    """The bytes of a file, decompressed, a part at a time."""
    with _opened(path) as file:
        while part := file.read(1 << 20):
            yield part


def _opened(path: Path) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        import gzip

        return gzip.open(path, "rb")  # type: ignore[return-value]
    return open(path, "rb")
