"""Frames of three libraries from columns whose values are text that Python reads."""

from __future__ import annotations

import random
from typing import Any

from hostility.words import HOSTILE, PLAIN

Column = dict[str, Any]
"""``name``; ``dtype``, one of :data:`DTYPES` of the library; ``values``, a list of texts."""

_NUMBERS = ["0.0", "1.0", "-1.0", "0.5", "2.25", "3.0", "-7.125", "10.0", "100.5"]
_EXTREME = [
    "nan", "inf", "-inf", "1e300", "-1e300", "1.7e308", "5e-324", "1e-300", "2.0**53", "2.0**63",
    "-0.0", "1e16",
]  # fmt: skip
_WHOLE = ["0", "1", "2", "3", "4", "5", "-1", "7", "100"]
_LARGE = ["2**63 - 1", "-2**63", "2**53 + 1", "2**31", "127", "255"]
_TEXT = ["'a'", "'b'", "'c'", "'north'", "'south'", "'x y'"]
_ODD_TEXT = [
    "''", "' '", "'nan'", "'None'", "'1'", "'1.0'", "'True'", "'\\x00'", "'\\x1b[1m'", "'\\ud800'",
    "'\\u202eb'", "'`'", "'it\\'s'", "'a\"b'", "'[a]'", "'a:b'", "'\\n'", "'<b>'", "'=1+1'",
    "'\\U0001f600'", "'e\\u0301'", "'\\u00e9'", "'z' * 5000", "'missing'", "'other'", "'{x}'",
    "'\\\\'",
]  # fmt: skip
_MIXED = [
    "1", "1.0", "'1'", "True", "None", "nan", "'a'", "b'a'", "(1, 2)", "[1]", "{'a': 1}", "pd.NA",
    "pd.NaT", "decimal.Decimal('1')", "datetime.date(2020, 1, 1)", "pd.Timestamp('2020')", "1j",
    "float('inf')", "2**70", "object()", "np.float64(1)", "np.str_('a')", "Strange()",
    "frozenset()", "fractions.Fraction(1, 2)", "datetime.time(1)", "Colour.RED", "Raises()",
]  # fmt: skip
_DATES = [
    "pd.Timestamp('2020-01-01')", "pd.Timestamp('2021-06-01')", "pd.Timestamp('1999-12-31 23:59')",
    "pd.Timestamp('2262-01-01')",
]  # fmt: skip
_SPANS = [
    "pd.Timedelta(1, 'D')", "pd.Timedelta(0)", "pd.Timedelta(-5, 's')", "pd.Timedelta(100, 'D')",
]  # fmt: skip
_INTERVALS = ["pd.Interval(0, 1)", "pd.Interval(1, 2)", "pd.Interval(2, 3)"]
_PERIODS = ["pd.Period('2020-01', 'M')", "pd.Period('2021-01', 'M')", "pd.Period('1970-01', 'M')"]

NUMBERS, WHOLE, FLAGS, TEXT, MIXED = "numbers", "whole", "flags", "text", "mixed"
DATES, SPANS, INTERVALS, PERIODS, COMPLEX, LISTS, BYTES = (
    "dates", "spans", "intervals", "periods", "complex", "lists", "bytes",
)  # fmt: skip

DTYPES: dict[str, dict[str, str]] = {
    "pandas": {
        **dict.fromkeys(["float64", "float32", "float16", "Float64", "Float32",
        "Sparse[float64]"], NUMBERS),
        **dict.fromkeys(["double[pyarrow]", "float[pyarrow]"], NUMBERS),
        **dict.fromkeys(["int64", "int32", "int16", "int8", "uint64", "uint32", "uint8"], WHOLE),
        **dict.fromkeys(["Int64", "Int8", "UInt64", "UInt8", "Sparse[int64]", "int64[pyarrow]",
        "uint8[pyarrow]"], WHOLE),
        **dict.fromkeys(["bool", "boolean", "bool[pyarrow]", "Sparse[bool]"], FLAGS),
        **dict.fromkeys(["object:text", "str", "string", "string[pyarrow]", "category", "ordered",
        "category:unused"], TEXT),
        **dict.fromkeys(["category:numbers", "ordered:numbers"], WHOLE),
        **dict.fromkeys(["object:flags"], FLAGS), "object": MIXED, "category:object": MIXED,
        "object:numbers": NUMBERS,
        "datetime64[ns]": DATES, "datetime64[s]": DATES, "datetime64[us, UTC]": DATES,
        "object:dates": DATES,
        "category:dates": DATES, "timedelta64[ns]": SPANS, "interval": INTERVALS,
        "category:intervals": INTERVALS, "period[M]": PERIODS,
        "complex128": COMPLEX, "object:lists": LISTS, "object:bytes": BYTES,
        "timestamp[ns][pyarrow]": DATES,
        "arrow:decimal128": WHOLE, "arrow:list": LISTS, "arrow:dictionary": TEXT,
        "arrow:binary": BYTES, "arrow:null": MIXED,
    },
    "polars": {
        **dict.fromkeys(["Float64", "Float32"], NUMBERS),
        **dict.fromkeys(["Int64", "Int8", "UInt8", "UInt64", "Int16", "Int128"], WHOLE),
        "Boolean": FLAGS,
        **dict.fromkeys(["String", "Categorical", "Enum"], TEXT), "Date": DATES,
        "Datetime": DATES, "Duration": SPANS,
        "Decimal": WHOLE, "List": LISTS, "Binary": BYTES, "Null": MIXED, "Object": MIXED,
        "Struct": NUMBERS, "Time": WHOLE,
    },
    "pyarrow": {
        **dict.fromkeys(["float64", "float32", "float16"], NUMBERS),
        **dict.fromkeys(["int64", "int8", "uint8", "uint64"], WHOLE), "bool_": FLAGS,
        **dict.fromkeys(["string", "large_string", "string_view", "dictionary",
        "dictionary:ordered"], TEXT), "date32": DATES, "timestamp": DATES,
        "duration": SPANS, "decimal128": WHOLE, "list_": LISTS, "binary": BYTES, "null": MIXED,
        "struct": NUMBERS, "chunked": NUMBERS,
        "dictionary:numbers": WHOLE,
    },
}  # fmt: skip
"""Types of columns by library, and what their values are."""

_USUAL = {
    "pandas": ["float64", "int64", "object:text", "category", "bool", "str", "Int64"],
    "polars": ["Float64", "Int64", "String", "Boolean"],
    "pyarrow": ["float64", "int64", "string", "bool_"],
}


def draw_columns(
    rng: random.Random, library: str, n_rows: int, n_columns: int, hostile: set[str]
) -> list[Column]:
    """Columns, the first of which is a response more often than not.

    Parameters
    ----------
    hostile : set of str
        Of ``names``, ``types`` and ``values`` those that are.
    """
    twice = library == "pandas" and rng.random() < 0.05
    names = draw_names(rng, n_columns, repeated=twice, hostile="names" in hostile)
    columns = [_column(rng, library, name, n_rows, hostile) for name in names]
    if columns and (not hostile or rng.random() < 0.9):
        columns[0] = _response(rng, library, columns[0]["name"], n_rows)
    return columns


def draw_times(rng: random.Random, library: str, n_rows: int, hostile: set[str]) -> list[Column]:
    """Columns ``stop`` and ``dead``, now and then ``start`` and ``site`` before other columns."""
    floats, whole, text, flags = _USUAL[library][:4]
    flags = {"pandas": "bool", "polars": "Boolean", "pyarrow": "bool_"}[library]
    kind = rng.choice(["days", "days", "ties", "odd" if "values" in hostile else "days"])
    pool = ["1", "2", "2", "3", "5"] if kind == "ties" else [str(v) for v in range(1, 400)]
    if kind == "odd":
        pool = [*_NUMBERS, *rng.sample(_EXTREME, 3)]
    stop = [rng.choice(pool) for _ in range(n_rows)]
    dead = [rng.choice(["0", "1", "1"]) for _ in range(n_rows)]
    if rng.random() < 0.1:
        dead = [rng.choice(["0", "1"])] * n_rows
    is_flag = rng.random() < 0.3
    made = [
        {"name": "stop", "dtype": floats, "values": stop},
        {
            "name": "dead",
            "dtype": flags if is_flag else whole,
            "values": [str(v == "1") for v in dead] if is_flag else dead,
        },
    ]
    if rng.random() < 0.3:
        begin = [f"{rng.random():.2f} * ({v})" for v in stop]
        made.append({"name": "start", "dtype": floats, "values": begin})
    if rng.random() < 0.3:
        made.append(
            {"name": "site", "dtype": text, "values": [rng.choice(_TEXT[:2]) for _ in stop]}
        )
    return made


def draw_names(
    rng: random.Random, n: int, *, repeated: bool = False, hostile: bool = True
) -> list[str]:
    """Names of columns: usual ones, hostile ones, or both."""
    share = rng.choice([0.2, 1.0]) if hostile else 0.0
    names = [rng.choice(HOSTILE) if rng.random() < share else rng.choice(PLAIN) for _ in range(n)]
    if n and rng.random() < 0.6:
        names[0] = "y"
    if not (repeated and hostile):
        names = [name if name not in names[:i] else f"{name}{i}" for i, name in enumerate(names)]
    return names


def _response(rng: random.Random, library: str, name: str, n_rows: int) -> Column:
    """A response that most families can use, now and then with values missing."""
    floats, whole, text = _USUAL[library][0], _USUAL[library][1], _USUAL[library][2]
    kind = rng.choice(["two", "two", "numbers", "counts", "three", "labels"])
    if kind == "numbers":
        values = [repr(round(rng.gauss(0, 3), 2)) for _ in range(n_rows)]
        if rng.random() < 0.2:
            values = [v if rng.random() < 0.8 else "nan" for v in values]
        return {"name": name, "dtype": floats, "values": values}
    pool = {"two": ["0", "1"], "counts": _WHOLE[:6], "three": _TEXT[:3], "labels": _TEXT[:2]}[kind]
    values = [rng.choice(pool) for _ in range(n_rows)]
    if kind in ("three", "labels") and rng.random() < 0.2:
        values = [v if rng.random() < 0.8 else "None" for v in values]
    return {"name": name, "dtype": text if kind in ("three", "labels") else whole, "values": values}


def _column(rng: random.Random, library: str, name: str, n_rows: int, hostile: set[str]) -> Column:
    usual = "types" not in hostile or rng.random() < 0.4
    dtype = rng.choice(_USUAL[library] if usual else sorted(DTYPES[library]))
    kind = DTYPES[library][dtype]
    pool = _pool(rng, kind, odd="values" in hostile)
    if dtype.lower().startswith("uint"):
        pool = [text for text in pool if not text.startswith("-") and len(text) < 4]
    elif kind == WHOLE and dtype not in ("int64", "Int64", "Sparse[int64]", "int64[pyarrow]"):
        pool = [text for text in pool if len(text) < 4]
    shape = rng.random() if "values" in hostile else 0.2 + 0.8 * rng.random()
    if shape < 0.07:
        values = [rng.choice(pool)] * n_rows
    elif shape < 0.11 and _takes_none(dtype):
        values = ["None"] * n_rows
    elif shape < 0.15:
        values = [pool[0]] * max(n_rows - 1, 0) + pool[-1:] * min(n_rows, 1)
    elif kind == NUMBERS and shape < 0.7:
        values = [repr(round(rng.gauss(0, 10), 2)) for _ in range(n_rows)]
    else:
        values = [rng.choice(pool) for _ in range(n_rows)]
    if _takes_none(dtype) and rng.random() < 0.25:
        values = [v if rng.random() < 0.85 else "None" for v in values]
    return {"name": name, "dtype": dtype, "values": values}


def _pool(rng: random.Random, kind: str, *, odd: bool) -> list[str]:
    odd = odd and rng.random() < 0.6
    if kind == NUMBERS:
        return _NUMBERS + rng.sample(_EXTREME, 2) if odd else _NUMBERS
    if kind == WHOLE:
        return [*_WHOLE, rng.choice(_LARGE)] if odd else _WHOLE
    if kind == TEXT:
        return _TEXT[: rng.randint(1, 6)] + (rng.sample(_ODD_TEXT, 2) if odd else [])
    if kind == MIXED:
        return rng.sample(_MIXED, rng.randint(1, 4))
    return {
        FLAGS: ["True", "False"],
        DATES: _DATES,
        SPANS: _SPANS,
        INTERVALS: _INTERVALS,
        PERIODS: _PERIODS,
        COMPLEX: ["1j", "0j", "1+2j", "complex('nan')"],
        LISTS: ["[1]", "[]", "[1, 2]"],
        BYTES: ["b'a'", "b''", "b'\\xff'"],
    }[kind]


def _takes_none(dtype: str) -> bool:
    plain = ("int", "uint", "bool", "complex", "Sparse[int", "Sparse[bool")
    return not dtype.startswith(plain) or "pyarrow" in dtype or dtype in ("bool_", "int8")


def build(columns: list[Column], library: str, space: dict[str, Any]) -> Any:
    """The frame; whatever the library itself refuses is raised."""
    values = [eval(f"[{','.join(c['values'])}]", space) for c in columns]  # our own text
    names = [c["name"] for c in columns]
    if library == "pandas":
        return _pandas(names, [c["dtype"] for c in columns], values)
    if library == "polars":
        return _polars(names, [c["dtype"] for c in columns], values)
    return _pyarrow(names, [c["dtype"] for c in columns], values)


def _pandas(names: list[str], dtypes: list[str], values: list[Any]) -> Any:
    import pandas as pd

    series = [_pandas_column(dtype, v) for dtype, v in zip(dtypes, values, strict=True)]
    frame = pd.DataFrame(dict(enumerate(series)))
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _pandas_column(dtype: str, values: list[Any]) -> Any:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    base, _, detail = dtype.partition(":")
    if base == "object":
        array = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            array[i] = value
        return pd.Series(array)
    if base in ("category", "ordered"):
        made = pd.Series(pd.Categorical(values, ordered=base == "ordered"))
        return made.cat.add_categories(["unused"]) if detail == "unused" else made
    if base == "arrow":
        kinds = {
            "decimal128": pa.decimal128(20, 2), "list": pa.list_(pa.int64()), "binary": pa.binary(),
            "null": pa.null(), "dictionary": pa.dictionary(pa.int32(), pa.string()),
        }  # fmt: skip
        values = [None] * len(values) if detail == "null" else values
        return pd.Series(pd.array(values, dtype=pd.ArrowDtype(kinds[detail])))
    if base == "interval":
        return pd.Series(pd.arrays.IntervalArray([None if v is None else v for v in values]))
    return pd.Series(pd.array(values, dtype=base))


def _polars(names: list[str], dtypes: list[str], values: list[Any]) -> Any:
    import polars as pl

    made = {}
    for name, dtype, column in zip(names, dtypes, values, strict=True):
        if dtype == "Enum":
            kind: Any = pl.Enum(sorted({v for v in column if v is not None}))
        elif dtype == "List":
            kind = pl.List(pl.Int64)
        elif dtype == "Struct":
            column, kind = [{"a": v} for v in column], None
        elif dtype in ("Null", "Object"):
            kind = getattr(pl, dtype)
            column = [None] * len(column) if dtype == "Null" else column
        else:
            kind = getattr(pl, dtype)
        made[name] = pl.Series(name, column, dtype=kind, strict=False)
    return pl.DataFrame(list(made.values()))


def _pyarrow(names: list[str], dtypes: list[str], values: list[Any]) -> Any:
    import pyarrow as pa

    arrays = []
    for dtype, column in zip(dtypes, values, strict=True):
        base, _, detail = dtype.partition(":")
        if base == "dictionary":
            array = pa.array(column, type=pa.int64() if detail == "numbers" else pa.string())
            array = array.dictionary_encode()
            if detail == "ordered":
                array = pa.DictionaryArray.from_arrays(
                    array.indices, array.dictionary, ordered=True
                )
        elif base == "chunked":
            half = len(column) // 2
            array = pa.chunked_array([column[:half], column[half:]], type=pa.float64())
        elif base == "struct":
            array = pa.array([{"a": v} for v in column], type=pa.struct([("a", pa.float64())]))
        elif base == "null":
            array = pa.nulls(len(column))
        else:
            kinds = {
                "timestamp": lambda: pa.timestamp("us"), "duration": lambda: pa.duration("us"),
                "decimal128": lambda: pa.decimal128(20, 2), "list_": lambda: pa.list_(pa.int64()),
            }  # fmt: skip
            array = pa.array(column, type=kinds.get(base, getattr(pa, base))())
        arrays.append(array)
    return pa.table(arrays, names=names)


def n_rows(columns: list[Column]) -> int:
    """Rows of a frame that is still text."""
    return max((len(c["values"]) for c in columns), default=0)


def with_rows(columns: list[Column], rows: slice) -> list[Column]:
    """The same with some of the rows."""
    return [{**c, "values": c["values"][rows]} for c in columns]
