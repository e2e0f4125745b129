"""The user's SQL, run by DuckDB in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.arguments.scalars import described
from treeselect.errors import DataError, OptionError, said_by
from treeselect.frames.extras import needed

if TYPE_CHECKING:
    import pandas as pd

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
