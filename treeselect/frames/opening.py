"""``read()``: data from files and queries, as ``select()`` reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from treeselect.arguments.paths import file_path
from treeselect.arguments.scalars import described
from treeselect.errors import DataError, OptionError, quoted, said_by
from treeselect.frames.codes import Codes, read_codes
from treeselect.frames.csv_files import EncodedFile
from treeselect.frames.extras import needed
from treeselect.frames.labels import labels_in
from treeselect.frames.reading import read_data, read_sheet
from treeselect.frames.workbooks import is_workbook
from treeselect.running.machine import memory_is_told

if TYPE_CHECKING:
    import pandas as pd


# --- the user's SQL, run by DuckDB in memory ---------------------------------------------------

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": "false",  # a table's name must not find a variable of ours
    "autoinstall_known_extensions": "false",  # nothing is downloaded
}


def read_query(sql: object) -> pd.DataFrame:
    """The rows of a query.

    Parameters
    ----------
    sql : str
        One query, which may name files: ``select * from 'x.parquet' where year > 2010``.

    Raises
    ------
    OptionError
        If it is not text, or no query.
    DataError
        If DuckDB refuses it.
    MissingPackageError
        If DuckDB is not installed.
    """
    if not isinstance(sql, str) or not sql.strip():
        raise OptionError(
            "`sql` must be the text of a query, such as \"select * from 'x.parquet'\".\n"
            f"  Found: {described(sql)}."
        )
    duckdb = needed("duckdb", "sql", "`sql`")
    from treeselect.frames.reading import read_data

    with duckdb.connect(config=_SETTINGS) as connection:
        try:
            statements = connection.extract_statements(sql)
            if [str(part.type).rpartition(".")[2] for part in statements] != ["SELECT"]:
                raise OptionError(
                    "`sql` must be one query, which begins with SELECT, FROM or WITH.\n"
                    f"  Found: {described(sql)}."
                )
            return read_data(connection.sql(sql))
        except duckdb.Error as error:
            raise DataError(f"DuckDB can't run the query in `sql`.\n  {said_by(error)}") from None


# --- ``read()`` --------------------------------------------------------------------------------


@memory_is_told()
def read(
    path: str | os.PathLike[str] | None = None,
    *,
    sql: str | None = None,
    na: Codes = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> pd.DataFrame:
    """Read a data file, or the rows of a query.

    :func:`treeselect.select` and ``predict()`` read paths in the same way. This function is needed
    for `sql`, `encoding` and `sheet`, or to look at the data first.

    Parameters
    ----------
    path : str or path, optional
        A file: CSV (``.csv``, ``.csv.gz``), Parquet, Feather; Stata (``.dta``), SPSS (``.sav``,
        ``.zsav``, ``.por``) and SAS (``.sas7bdat``, ``.xpt``) with
        ``pip install "treeselect[stats]"``; Excel and OpenDocument (``.xlsx``, ``.xlsm``,
        ``.xlsb``, ``.xls``, ``.ods``) with ``pip install "treeselect[excel]"``.
    sql : str, optional
        A query instead of a file, which DuckDB runs (``pip install "treeselect[sql]"``):
        ``"select * from 'x.parquet' where year > 2010"``. It can read every file that the user can
        read: never run text from elsewhere.
    na : str, number, list or dict, optional
        Codes for missing values, as in :func:`treeselect.select`.
    encoding : str, optional
        Encoding of the text of a CSV file, UTF-8 by default; of a file of Stata, SPSS or SAS, what
        the file says by default.
    sheet : str, optional
        Sheet of a workbook; needed if several hold data.

    Returns
    -------
    pandas.DataFrame
        Labels of columns are in ``attrs["labels"]``, where ``select()`` finds them. Of Stata, SPSS
        and SAS files, values that the file declares as missing are missing, and a column all of
        whose values have labels is a factor with the labels as levels, in the order of their codes.

    Raises
    ------
    DataError
        If the file can't be read, or has no or repeated names of columns.
    OptionError
        If an argument does not fit the file, or not exactly one of `path` and `sql` is given.
    MissingPackageError
        If the package that reads the file is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import treeselect
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.csv"
    >>> _ = path.write_text("died,age\\n0,41\\n1,?\\n0,-9\\n")
    >>> treeselect.read(path, na=["?", -9])["age"].tolist()
    [41.0, nan, nan]
    """
    if (path is None) == (sql is None):
        raise OptionError(
            "`read()` needs either `path` or `sql`.\n"
            f"  Found: {'neither' if path is None else 'both'}."
        )
    codes = read_codes(na)
    labels: dict[str, str] = {}
    if sql is not None:
        for name, given in (("encoding", encoding), ("sheet", sheet)):
            if given is not None:
                raise OptionError(
                    f"`{name}` must not be given with `sql`.\n  Found: {described(given)}."
                )
        frame = read_query(sql)
    else:
        assert path is not None
        found = file_path(path, error=DataError)
        if sheet is not None:
            if not isinstance(sheet, str) or not is_workbook(found) or encoding is not None:
                raise OptionError(
                    "`sheet` must be the name of a sheet, of a workbook.\n"
                    f"  Found: {described(sheet)}, of {quoted(str(found))}."
                )
            frame = read_sheet(found, sheet)
        else:
            file = str(found) if encoding is None else EncodedFile(str(found), encoding)
            frame, labels = read_data(file), labels_in(file)
    codes.check(frame.columns)
    done = codes.applied(frame)
    if labels:
        done = done.copy(deep=False)
        done.attrs["labels"] = labels
    return done
