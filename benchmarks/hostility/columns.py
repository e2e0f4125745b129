"""Frames of three libraries from columns whose values are text that Python reads."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from hostility.words import HOSTILE, PLAIN

Column = dict[str, Any]
"""``name``; ``dtype``, one of :data:`DTYPES` of the library; ``values``, a list of texts."""

_POOLS = {
    kind: (usual.split("; "), odd.split("; ") if odd else [])
    for kind, usual, odd in (
        ("numbers", "0.0; 1.0; -1.0; 0.5; 2.25; 3.0; -7.125; 10.0; 100.5",
         "nan; inf; -inf; 1e300; -1e300; 1.7e308; 5e-324; 1e-300; 2.0**53; 2.0**63; -0.0; 1e16"),
        ("whole", "0; 1; 2; 3; 4; 5; -1; 7; 100",
         "2**63 - 1; -2**63; 2**53 + 1; 2**31; 127; 255"),
        ("text", "'a'; 'b'; 'c'; 'north'; 'south'; 'x y'",
         r"""''; ' '; 'nan'; 'None'; '1'; '1.0'; 'True'; '\x00'; '\x1b[1m'; '\ud800'; """
         r"""'\u202eb'; '`'; 'it\'s'; 'a"b'; '[a]'; 'a:b'; '\n'; '<b>'; '=1+1'; '\U0001f600'; """
         r"""'e\u0301'; '\u00e9'; 'z' * 5000; 'missing'; 'other'; '{x}'; '\\'"""),
        ("mixed", "1; 1.0; '1'; True; None; nan; 'a'; b'a'; (1, 2); [1]; {'a': 1}; pd.NA; pd.NaT; "
         "decimal.Decimal('1'); datetime.date(2020, 1, 1); pd.Timestamp('2020'); 1j; float('inf'); "
         "2**70; object(); np.float64(1); np.str_('a'); Strange(); frozenset(); "
         "fractions.Fraction(1, 2); datetime.time(1); Colour.RED; Raises()", ""),
        ("flags", "True; False", ""),
        ("dates", "pd.Timestamp('2020-01-01'); pd.Timestamp('2021-06-01'); "
         "pd.Timestamp('1999-12-31 23:59'); pd.Timestamp('2262-01-01')", ""),
        ("spans", "pd.Timedelta(1, 'D'); pd.Timedelta(0); pd.Timedelta(-5, 's'); "
         "pd.Timedelta(100, 'D')", ""),
        ("intervals", "pd.Interval(0, 1); pd.Interval(1, 2); pd.Interval(2, 3)", ""),
        ("periods", "pd.Period('2020-01', 'M'); pd.Period('2021-01', 'M'); "
         "pd.Period('1970-01', 'M')", ""),
        ("complex", "1j; 0j; 1+2j; complex('nan')", ""), ("lists", "[1]; []; [1, 2]", ""),
        ("bytes", r"b'a'; b''; b'\xff'", ""),
    )
}  # fmt: skip
"""Usual and odd values by kind."""

_KINDS = {
    "pandas": {
        "numbers": "float64; float32; float16; Float64; Float32; Sparse[float64]; double[pyarrow]; "
        "float[pyarrow]; object:numbers",
        "whole": "int64; int32; int16; int8; uint64; uint32; uint8; Int64; Int8; UInt64; UInt8; "
        "Sparse[int64]; int64[pyarrow]; uint8[pyarrow]; category:numbers; ordered:numbers; "
        "arrow:decimal128",
        "flags": "bool; boolean; bool[pyarrow]; Sparse[bool]; object:flags",
        "text": "object:text; str; string; string[pyarrow]; category; ordered; category:unused; "
        "arrow:dictionary",
        "mixed": "object; category:object; arrow:null",
        "dates": "datetime64[ns]; datetime64[s]; datetime64[us, UTC]; object:dates; "
        "category:dates; timestamp[ns][pyarrow]",
        "spans": "timedelta64[ns]", "intervals": "interval; category:intervals",
        "periods": "period[M]", "complex": "complex128", "lists": "object:lists; arrow:list",
        "bytes": "object:bytes; arrow:binary",
    },
    "polars": {
        "numbers": "Float64; Float32; Struct",
        "whole": "Int64; Int8; UInt8; UInt64; Int16; Int128; Decimal; Time", "flags": "Boolean",
        "text": "String; Categorical; Enum", "dates": "Date; Datetime", "spans": "Duration",
        "lists": "List", "bytes": "Binary", "mixed": "Null; Object",
    },
    "pyarrow": {
        "numbers": "float64; float32; float16; struct; chunked",
        "whole": "int64; int8; uint8; uint64; decimal128; dictionary:numbers", "flags": "bool_",
        "text": "string; large_string; string_view; dictionary; dictionary:ordered",
        "dates": "date32; timestamp", "spans": "duration", "lists": "list_", "bytes": "binary",
        "mixed": "null",
    },
}  # fmt: skip
DTYPES = {
    library: {dtype: kind for kind, dtypes in kinds.items() for dtype in dtypes.split("; ")}
    for library, kinds in _KINDS.items()
}
"""Types of columns by library, and what their values are."""

_USUAL = {
    "pandas": ["float64", "int64", "object:text", "bool", "category", "str", "Int64"],
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
    kind = rng.choice(["days", "days", "ties", "odd" if "values" in hostile else "days"])
    pool = ["1", "2", "2", "3", "5"] if kind == "ties" else [str(v) for v in range(1, 400)]
    if kind == "odd":
        pool = [*_POOLS["numbers"][0], *rng.sample(_POOLS["numbers"][1], 3)]
    stop = rng.choices(pool, k=n_rows)
    dead = rng.choices(["0", "1", "1"] if rng.random() < 0.9 else [rng.choice("01")], k=n_rows)
    made = {"stop": (floats, stop), "dead": (whole, dead)}
    if rng.random() < 0.3:
        made["dead"] = flags, [str(v == "1") for v in dead]
    if rng.random() < 0.3:
        made["start"] = floats, [f"{rng.random():.2f} * ({v})" for v in stop]
    if rng.random() < 0.3:
        made["site"] = text, rng.choices(_POOLS["text"][0][:2], k=n_rows)
    return [{"name": n, "dtype": dtype, "values": v} for n, (dtype, v) in made.items()]


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


def _with_gaps(rng: random.Random, values: list[str], share: float, gap: str) -> list[str]:
    return [gap if rng.random() < share else value for value in values]


def _response(rng: random.Random, library: str, name: str, n_rows: int) -> Column:
    """A response that most families can use, now and then with values missing."""
    floats, whole, text = _USUAL[library][:3]
    letters, digits = _POOLS["text"][0], _POOLS["whole"][0]
    share = 0.2 if rng.random() < 0.2 else 0.0
    kind = rng.choice(["two", "two", "numbers", "counts", "three", "labels"])
    if kind == "numbers":
        values = [repr(round(rng.gauss(0, 3), 2)) for _ in range(n_rows)]
        return {"name": name, "dtype": floats, "values": _with_gaps(rng, values, share, "nan")}
    pool = {"two": digits[:2], "counts": digits[:6], "three": letters[:3], "labels": letters[:2]}
    values = rng.choices(pool[kind], k=n_rows)
    if kind in ("two", "counts"):
        return {"name": name, "dtype": whole, "values": values}
    return {"name": name, "dtype": text, "values": _with_gaps(rng, values, share, "None")}


def _column(rng: random.Random, library: str, name: str, n_rows: int, hostile: set[str]) -> Column:
    is_usual = "types" not in hostile or rng.random() < 0.4
    dtype = rng.choice(_USUAL[library] if is_usual else sorted(DTYPES[library]))
    kind = DTYPES[library][dtype]
    pool = _pool(rng, kind, odd="values" in hostile)
    if dtype.lower().startswith("uint"):
        pool = [text for text in pool if not text.startswith("-") and len(text) < 4]
    elif kind == "whole" and dtype not in ("int64", "Int64", "Sparse[int64]", "int64[pyarrow]"):
        pool = [text for text in pool if len(text) < 4]
    shape = rng.random() if "values" in hostile else 0.2 + 0.8 * rng.random()
    if shape < 0.07:
        values = [rng.choice(pool)] * n_rows
    elif shape < 0.11 and _takes_none(dtype):
        values = ["None"] * n_rows
    elif shape < 0.15:
        values = [pool[0]] * max(n_rows - 1, 0) + pool[-1:] * min(n_rows, 1)
    elif kind == "numbers" and shape < 0.7:
        values = [repr(round(rng.gauss(0, 10), 2)) for _ in range(n_rows)]
    else:
        values = rng.choices(pool, k=n_rows)
    share = 0.15 if _takes_none(dtype) and rng.random() < 0.25 else 0.0
    return {"name": name, "dtype": dtype, "values": _with_gaps(rng, values, share, "None")}


def _pool(rng: random.Random, kind: str, *, odd: bool) -> list[str]:
    """Values of a kind, of texts and mixed ones not all; odd ones among them if they may be."""
    usual, more = _POOLS[kind]
    if kind == "mixed":
        return rng.sample(usual, rng.randint(1, 4))
    if kind == "text":
        usual = usual[: rng.randint(1, 6)]
    is_odd = more and odd and rng.random() < 0.6
    return usual + rng.sample(more, 1 if kind == "whole" else 2) if is_odd else usual


def _takes_none(dtype: str) -> bool:
    plain = ("int", "uint", "bool", "complex", "Sparse[int", "Sparse[bool")
    return not dtype.startswith(plain) or "pyarrow" in dtype or dtype in ("bool_", "int8")


def build(columns: list[Column], library: str, space: dict[str, Any]) -> Any:
    """The frame; whatever the library itself refuses is raised."""
    names = [c["name"] for c in columns]
    make = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_pyarrow}[library]
    made = [
        make(*c["dtype"].partition(":")[::2], eval(f"[{','.join(c['values'])}]", space))
        for c in columns
    ]
    if library == "polars":
        return pl.DataFrame([s.rename(name) for name, s in zip(names, made, strict=True)])
    if library == "pyarrow":
        return pa.table(made, names=names)
    return pd.DataFrame(dict(enumerate(made))).set_axis(pd.Index(names, dtype=object), axis=1)


def _of_pandas(base: str, detail: str, values: list[Any]) -> pd.Series:
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
        return pd.Series(pd.arrays.IntervalArray(values))
    return pd.Series(pd.array(values, dtype=base))


def _of_polars(base: str, detail: str, values: list[Any]) -> pl.Series:
    if base == "Struct":
        return pl.Series("", [{"a": v} for v in values], strict=False)
    values = [None] * len(values) if base == "Null" else values
    kinds = {
        "Enum": lambda: pl.Enum(sorted(set(values) - {None})),
        "List": lambda: pl.List(pl.Int64),
    }
    return pl.Series("", values, dtype=kinds.get(base, lambda: getattr(pl, base))(), strict=False)


def _of_pyarrow(base: str, detail: str, values: list[Any]) -> Any:
    if base == "dictionary":
        kind = pa.int64() if detail == "numbers" else pa.string()
        array = pa.array(values, type=kind).dictionary_encode()
        parts = array.indices, array.dictionary
        return (
            pa.DictionaryArray.from_arrays(*parts, ordered=True) if detail == "ordered" else array
        )
    if base == "chunked":
        half = len(values) // 2
        return pa.chunked_array([values[:half], values[half:]], type=pa.float64())
    if base == "struct":
        return pa.array([{"a": v} for v in values], type=pa.struct([("a", pa.float64())]))
    if base == "null":
        return pa.nulls(len(values))
    options = {
        "timestamp": ["us"],
        "duration": ["us"],
        "decimal128": [20, 2],
        "list_": [pa.int64()],
    }
    return pa.array(values, type=getattr(pa, base)(*options.get(base, [])))


def n_rows(columns: list[Column]) -> int:
    """Rows of a frame that is still text."""
    return max((len(c["values"]) for c in columns), default=0)


def with_rows(columns: list[Column], rows: slice) -> list[Column]:
    """The same with some of the rows."""
    return [{**c, "values": c["values"][rows]} for c in columns]
