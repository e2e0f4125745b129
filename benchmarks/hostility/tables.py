"""Data files that were never meant to be read: odd headers, encodings, cells and ends."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path
from typing import Any

import treeselect
from hostility.attacks import QUICK, by_command, frame
from hostility.columns import draw_names
from hostility.formulas import name_text
from hostility.judging import ANSWERED, Defect, Outcome, check_text, judge, streams

Plan = dict[str, Any]

_CELLS = (
    "1", "0", "2.5", "-3", "1e300", "1e999", "nan", "NaN", "NA", "", " ", "inf", "True", "false",
    "a", "b", "c", "2020-01-01", "12:30", "1,5", "1_000", "0x10", "99999999999999999999999", "=1+1",
    "@x", "-1+1", "\x00", "\x1b[31m", "\u202ex", "\u00e9", "\U0001f600", 'a"b', "a;b", "a,b",
    "a\nb", "\r", "None", "null", "#", "x" * 1000, "'", "\\", "<b>", "\ufeff",
)  # fmt: skip
_ENCODINGS = (
    "utf-8", "utf-8", "utf-8", "latin-1", "cp1252", "utf-16", "utf-8-sig", "utf-32", "cp037",
)  # fmt: skip
_DAMAGE = (
    "none", "none", "none", "cut", "flip", "insert", "nul", "ragged", "no end", "cr",
    "semicolons", "tabs",
    "quote", "blank lines", "no header", "header only", "empty", "twice", "bytes", "long line",
)  # fmt: skip
_KINDS = (".csv", ".csv.gz", ".parquet", ".txt", ".CSV", ".xlsx", ".json", "")
_CHANNELS = ("select", "cli", "cli predict", "predict")


def draw(rng: random.Random) -> Plan:
    """A table as text, how it is written, what is damaged, and who reads it."""
    n_columns, n_rows = rng.choice([1, 2, 3, 4, 6]), rng.choice([0, 1, 3, 12, 12, 30, 30])
    names = draw_names(rng, n_columns, repeated=rng.random() < 0.1, hostile=rng.random() < 0.4)
    tame = rng.random() < 0.75
    columns = [_column(rng, n_rows, tame) for _ in names]
    if rng.random() < 0.8:
        columns[0] = [str(i % 2) for i in range(n_rows)]
    formula = f"{name_text(names[0])} ~ ."
    if rng.random() < 0.2:
        formula += f" - {name_text(rng.choice(names))}"
    odd = [side for side in ("kind", "encoding", "damage") if rng.random() < 0.3]
    return {
        "names": names, "columns": columns, "formula": formula,
        "kind": rng.choice(_KINDS) if "kind" in odd else ".csv",
        "encoding": rng.choice(_ENCODINGS) if "encoding" in odd else "utf-8",
        "damage": rng.choice(_DAMAGE) if "damage" in odd else "none", "at": rng.random(),
        "told": rng.choice(["", "", "", *_ENCODINGS, "nosuch", "\x1b", "idna", "rot13"]),
        "channel": rng.choice(_CHANNELS), "seed": rng.randrange(2**31),
    }  # fmt: skip


def _column(rng: random.Random, n_rows: int, tame: bool) -> list[str]:
    if tame and rng.random() < 0.5:
        return [f"{rng.gauss(0, 5):.2f}" for _ in range(n_rows)]
    pool = rng.sample(_CELLS[:20] if tame else _CELLS, 3)
    return [rng.choice(pool) for _ in range(n_rows)]


def _bytes(plan: Plan) -> bytes:
    """The file."""
    rng = random.Random(plan["seed"])
    buffer = io.StringIO()
    delimiter = {"semicolons": ";", "tabs": "\t"}.get(plan["damage"], ",")
    end = "\r" if plan["damage"] == "cr" else "\n"
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, escapechar="\\")
    rows: list[list[str]] = [list(row) for row in zip(*plan["columns"], strict=True)]
    if plan["damage"] == "ragged":
        rows = [row[: rng.randint(0, len(row))] + ["1"] * rng.randint(0, 2) for row in rows]
    if plan["damage"] != "no header":
        rows.insert(0, plan["names"])
    writer.writerows(rows[:1] if plan["damage"] == "header only" else rows)
    data = buffer.getvalue().encode(plan["encoding"], "replace")
    data = _damaged(data, plan, rng)
    if plan["kind"] == ".csv.gz":
        data = gzip.compress(data, mtime=0)
        return data if plan["at"] < 0.8 else data[:-9]
    return data


def _damaged(data: bytes, plan: Plan, rng: random.Random) -> bytes:
    at, how = int(plan["at"] * len(data)), plan["damage"]
    if how == "flip" and data:
        found = bytearray(data)
        found[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        return bytes(found)
    return {
        "cut": data[:at], "insert": data[:at] + rng.randbytes(5) + data[at:],
        "nul": data[:at] + b"\x00" + data[at:],
        "no end": data.rstrip(b"\n"), "quote": data[:at] + b'"' + data[at:],
        "blank lines": data.replace(b"\n", b"\n\n"),
        "empty": b"", "twice": data + data, "bytes": rng.randbytes(200),
        "long line": data + b"1," * 5000,
    }.get(how, data)  # fmt: skip


def run(plan: Plan, folder: Path) -> Outcome:
    """Write the file, and have it read."""
    path = folder / f"data{plan['kind']}"
    path.write_bytes(_bytes(plan))
    frame()
    try:
        with streams() as (out, error):
            return judge(_use, plan, path, folder, out, error)
    finally:
        path.unlink()
        (folder / "model").unlink(missing_ok=True)


def _use(plan: Plan, path: Path, folder: Path, out: Any, error: Any) -> str:
    channel = plan["channel"]
    if channel == "select":
        fit = treeselect.select(plan["formula"], path, method="fcbf", **QUICK)
        check_text(fit.summary().as_text(), "a summary")
        rows = fit.data.design.rows
        if len(fit.predict(path)) != rows.used + rows.no_response + rows.no_weight:
            raise Defect("predict() lost rows")
        return ANSWERED
    if "predict" in channel:
        fit = treeselect.select("y ~ x + v", frame(), method="fcbf", **QUICK)
        if channel == "predict":
            fit.predict(path)
            return ANSWERED
        arguments = ["predict", str(fit.save(folder / "model")), str(path)]
    else:
        arguments = ["select", plan["formula"], str(path), "-m", "fcbf", "-k", "1", "--seed", "1"]
    if plan["told"]:
        arguments += ["--encoding", plan["told"]]
    return by_command(arguments, out, error)
