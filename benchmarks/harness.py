"""What all programs share: arguments, rows that stay, processes, clocks, tables and figures.

A program is its experiment, and a ``main`` like this::

    run = Run(__doc__, methods=FORMS, seeds=10, quick={"methods": ("lasso",), "seeds": 1})
    for method in run.methods:
        results = run.map(one_seed, [(method, seed) for seed in range(run.seeds)])
        run.keep("found", {"run": method, **means(("recall", "false"), results)}, by="run")
    run.table("found", table_of(run.kept("found")), "What the table shows.")

Rows are kept in ``results/NAME.csv``: those that are not run again stay as they are (``depends``
says which still hold), and an option without a value, as in ``--methods``, only writes the tables
anew. Sets are read from the folder in TREESELECT_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import io
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

import treeselect
from treeselect import ControlBurn, ForestImportance
from treeselect.algorithms.registry import METHODS
from treeselect.writing import write_file

RESULTS = Path(__file__).parent / "results"


class Run:
    """What a program was asked for, and where its results go.

    Parameters
    ----------
    doc : str
        Docstring of the program; its first line says what it does.
    quick : dict
        What ``--quick`` takes in place of the defaults.
    results : Path
        Folder of the tables.
    depends : callable, optional
        Names the methods on whose stored answers a row depends (none: on all), or None for other
        software, by its method, program or model. Rows then have a fingerprint of these answers,
        and stand as long as it is the present one.
    **asked
        Defaults of the options, which become attributes: names to choose from (``--sets a b``), a
        number, text or None, False for a switch, or () for names without a default, then None;
        of ``jobs`` the default is 1.
    """

    def __init__(
        self,
        doc: str | None,
        *,
        quick: Mapping[str, Any] = {},
        results: Path = RESULTS,
        depends: Callable[[str], tuple[str, ...] | None] | None = None,
        **asked: Any,
    ) -> None:
        parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
        jobs = asked.pop("jobs", 1)
        parser.add_argument("--quick", action="store_true", help="small data, nothing written")
        parser.add_argument("--jobs", type=int, default=jobs, help="processes")
        parser.add_argument("--results", type=Path, default=results, help="folder to write to")
        for name, default in asked.items():
            self._add(parser, f"--{name.replace('_', '-')}", default)
        given = vars(parser.parse_args())
        self.quick, self.jobs, self.results = (
            given.pop(name) for name in ("quick", "jobs", "results")
        )
        instead = quick if self.quick else {}
        for name, value in given.items():
            default = list(asked[name]) or None if _is_choice(asked[name]) else asked[name]
            setattr(self, name, instead.get(name, default) if value is None else value)
        self._rows: dict[str, pd.DataFrame] = {}
        self._depends = depends

    @staticmethod
    def _add(parser: argparse.ArgumentParser, name: str, default: Any) -> None:
        if isinstance(default, bool):
            parser.add_argument(name, action="store_true", default=None)
        elif _is_choice(default):
            values = list(default)
            of = type(values[0]) if values else str
            only = values if values and of is str else None
            parser.add_argument(name, nargs="*", type=of, choices=only)
        else:
            parser.add_argument(name, type=str if default is None else type(default))

    def pick(self, quick: Any, usual: Any) -> Any:
        """One of two settings."""
        return quick if self.quick else usual

    def map(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Results of all calls, in processes."""
        return list(joblib.Parallel(self.jobs)(joblib.delayed(function)(*c) for c in calls))

    def flat(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The rows of all calls, each of which gives several."""
        return [row for rows in self.map(function, calls) for row in rows]

    # --- rows ----------------------------------------------------------------------------------

    def keep(self, name: str, rows: Any, by: str | tuple[str, ...] | None = "run") -> None:
        """Add rows to ``NAME.csv`` (of a quick run: in memory), in the place of those like them, or
        of all (None)."""
        new = pd.DataFrame([rows] if isinstance(rows, Mapping) else rows)
        if not len(new):
            return
        new = _read(io.StringIO(new.to_csv(index=False)))
        if self._depends is not None:
            new["fingerprint"] = self._fingerprints(new)
        old = self._text(name)
        if len(old) and by is not None:
            old = old[~_keys(old, by).isin(_keys(new, by))]
            new = pd.concat([old, new], ignore_index=True).fillna("")
        self._rows[name] = new
        if not self.quick:
            self.results.mkdir(exist_ok=True)
            write_file(self.results / f"{name}.csv", new.to_csv(index=False))

    def _text(self, name: str) -> pd.DataFrame:
        path = self.results / f"{name}.csv"
        if name not in self._rows:
            there = path.exists() and not self.quick
            self._rows[name] = _read(path) if there else pd.DataFrame()
        return self._rows[name]

    def kept(self, name: str, *, text: bool | tuple[str, ...] = ()) -> pd.DataFrame:
        """All rows, numbers as such but those (or all: True) that stay as they were written."""
        rows = self._text(name).drop(columns="fingerprint", errors="ignore")
        if text is True or not len(rows):
            return rows
        found = pd.read_csv(io.StringIO(rows.to_csv(index=False)), dtype=dict.fromkeys(text, str))
        words = found.columns[[not pd.api.types.is_numeric_dtype(t) for t in found.dtypes]]
        return found.fillna(dict.fromkeys(words, ""))

    def stands(self, name: str, by: str | tuple[str, ...] = "run") -> set[str]:
        """What has rows that hold; several columns are joined by commas."""
        rows = self._text(name)
        if self._depends is not None and len(rows):
            stored = rows.get("fingerprint", pd.Series("", rows.index))
            rows = rows[stored == self._fingerprints(rows)]
        return set(_keys(rows, by)) if len(rows) else set()

    def _fingerprints(self, rows: pd.DataFrame) -> list[str]:
        assert self._depends is not None
        column = next(name for name in ("method", "program", "model") if name in rows)
        behind = {name: self._depends(name) for name in set(rows[column])}
        known = {
            name: "" if own is None else fingerprint(answers_of(own))
            for name, own in behind.items()
        }
        return [known[name] for name in rows[column]]

    # --- tables and figures --------------------------------------------------------------------

    def table(self, name: str, frame: Any, intro: str) -> None:
        """Print a table, and write it unless this is a quick run."""
        text = table_text(pd.DataFrame(frame), intro)
        print(text)
        if not self.quick:
            self.results.mkdir(exist_ok=True)
            write_file(self.results / f"{name}.md", text)

    def figure(self, name: str, figure: Any) -> None:
        """Draw a figure, and write it unless this is a quick run: same numbers, same file."""
        import matplotlib

        text = io.StringIO()
        settings = {
            "svg.hashsalt": "treeselect",
            "svg.fonttype": "none",  # letters as letters: smaller, and can be searched
            "font.sans-serif": ["DejaVu Sans", "Verdana"],
        }
        with matplotlib.rc_context(settings):
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        if not self.quick:
            short = re.sub(r"\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", text.getvalue())
            lines = [line.strip() for line in short.splitlines()]
            write_file(self.results / f"{name}.svg", "\n".join(lines) + "\n")


STORED = Path(treeselect.__file__).parent / "data" / "reference_answers.json"
OF_DEFAULT = ("exchange", "default")
"""Stored answers of the default."""


def answers_of(methods: tuple[str, ...] = ()) -> str:
    """The stored answers of methods, all if none is named; "default" is that of each family.
    Numbers have four decimals: what another order of sums changes does not change a table."""
    stored = json.loads(STORED.read_text("utf-8"), parse_float=lambda text: f"{float(text):.4f}")
    known = {name: stored[name] for name in stored if not methods or name.split(",")[0] in methods}
    return json.dumps(known)


def methods_of(name: str) -> tuple[str, ...] | None:
    """A method and its forms; None for other software."""
    name = name.split(",")[0]
    return (
        OF_DEFAULT if name in ("treeselect", "exchange") else (name,) if name in METHODS else None
    )


def fingerprint(text: str) -> str:
    """Twelve characters that change with the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _is_choice(default: Any) -> bool:
    return isinstance(default, Sequence | Mapping | set) and not isinstance(default, str)


def _keys(rows: pd.DataFrame, by: str | tuple[str, ...]) -> pd.Series:
    return rows[by] if isinstance(by, str) else rows[list(by)].agg(", ".join, axis=1)


def _read(source: Any) -> pd.DataFrame:
    return pd.read_csv(source, dtype=str, keep_default_na=False)


def table_text(frame: pd.DataFrame, intro: str) -> str:
    """A table in Markdown under its introduction."""
    rows = [frame.columns.tolist(), *frame.astype(str).to_numpy().tolist()]
    widths = [max(len(str(row[j])) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(str(c).ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return f"{intro.strip()}\n\n" + "\n".join(lines) + "\n"


def data_folder() -> Path:
    """Where the benchmark sets are."""
    return Path(os.environ.get("TREESELECT_DATA", "../shared/data"))


def stored(name: str, response: str = "", renamed: str = "y", without: Any = ()) -> pd.DataFrame:
    """A benchmark set without some columns, its response renamed."""
    frame = pd.read_parquet(data_folder() / f"{name}.parquet").drop(columns=list(without))
    return frame.rename(columns={response: renamed})


# --- means and their errors --------------------------------------------------------------------


def mean_and_error(values: Any) -> tuple[float, float]:
    """Mean and its standard error."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return (float(array.mean()) if len(array) else np.nan), np.nan
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def means(names: Iterable[str], results: Iterable[Iterable[float]]) -> dict[str, float]:
    """By name, mean and standard error of results that have a number for each name."""
    line = {}
    for name, values in zip(names, zip(*results, strict=True), strict=True):
        line[name], line[f"{name} s.e."] = mean_and_error(values)
    return line


def shown(mean: float, error: float | None = None, digits: int = 2) -> str:
    """A mean with its standard error in brackets."""
    if not np.isfinite(mean):
        return ""
    bracket = "" if error is None or not np.isfinite(error) else f" ({error:.{digits}f})"
    return f"{mean:.{digits}f}{bracket}"


def shown_mean(values: Any, digits: int = 2) -> str:
    """The mean of values with its standard error."""
    return shown(*mean_and_error(values), digits)


def cell(row: Any, name: str, digits: int = 2) -> str:
    """A mean of a row of :func:`means` with its standard error."""
    return shown(row[name], row.get(f"{name} s.e."), digits)


def signed(mean: float, error: float | None = None, digits: int = 2) -> str:
    """A difference with its sign, and its standard error in brackets."""
    text = shown(mean, error, digits)
    return f"+{text}" if text and mean >= 0 else text


# --- methods -----------------------------------------------------------------------------------

REDUCED = {
    "rrf": {"n_trees": 100}, "grrf": {"n_trees": 100}, "rboost": {"n_trees": 20},
    "gbfs": {"n_trees": 100}, "boruta": {"max_rounds": 30},
}  # fmt: skip
"""Options of methods that would take hours otherwise; the others have their defaults."""

_MORE = {
    "importance, mdi": ForestImportance(kind="mdi"),
    "controlburn, paper": ControlBurn.published(),
    "controlburn, refined": ControlBurn(refine=True),
}

FORMS = {name: kind(**REDUCED.get(name, {})) for name, kind in METHODS.items()} | _MORE
"""All methods of the package, and other forms of two of them, by the names in tables."""


def options_text(options: Mapping[str, Any]) -> str:
    """The options of a method that are not the default."""
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "default"


def told(form: str) -> str:
    """The options of a form that its name does not tell, in words."""
    return "see name" if form in _MORE else options_text(REDUCED.get(form, {}))


def in_order(names: Iterable[str], order: Iterable[str] = FORMS) -> list[str]:
    """Names in the order of the forms; others last."""
    place = {name: i for i, name in enumerate(order)}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def sorted_rows(rows: pd.DataFrame, **orders: Iterable[str]) -> pd.DataFrame:
    """Rows in the order of the names of some columns."""
    for column, order in reversed(orders.items()):
        place = {name: i for i, name in enumerate(order)}
        rows = rows.sort_values(column, key=lambda names: names.map(place), kind="stable")
    return rows


# --- other software ----------------------------------------------------------------------------


def is_here(package: str) -> bool:
    """Whether a module can be imported."""
    return importlib.util.find_spec(package) is not None


def r_has(*packages: str) -> set[str]:
    """Those packages that R finds, in its usual library and in the folder that R_PEERS names."""
    if shutil.which("Rscript") is None:
        return set()
    code = (
        ".libPaths(c(Sys.getenv('R_PEERS'), .libPaths()));"
        "for (p in commandArgs(TRUE)) if (nzchar(system.file(package = p))) cat(p, '')"
    )
    done = subprocess.run(["Rscript", "-e", code, *packages], capture_output=True, text=True)
    return set(done.stdout.split())


def by_r(script: str, name: str, frame: pd.DataFrame, *more: str) -> list[str]:
    """What an R script of this folder prints, given a name, the CSV file of a frame, and more; the
    time to write and read the file counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        frame.to_csv(path, index=False)
        command = ["Rscript", Path(__file__).parent / script, name, path, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return done.stdout.split()


# --- clocks and memory -------------------------------------------------------------------------


def in_turns(
    calls: Mapping[str, Callable[[], Any]],
    runs: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, tuple[float, Any]]:
    """Least seconds of each call, and what it gave last; they take turns."""
    found: dict[str, tuple[float, Any]] = dict.fromkeys(calls, (np.inf, None))
    for _ in range(runs):
        for name, call in calls.items():
            begin = clock()
            answer = call()
            found[name] = min(found[name][0], clock() - begin), answer
    return found


_CHILD = """
import importlib, json, sys
sys.path[:0] = {folders!r}
found = getattr(importlib.import_module({module!r}), {function!r})(*json.loads(sys.argv[1]))
print("\\n" + json.dumps(found))
"""


def child(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Command of a process that calls a function of a program, and prints what it gives."""
    path = Path(function.__code__.co_filename).resolve()
    folders = [str(path.parent), str(Path(__file__).parent)]
    code = _CHILD.format(folders=folders, module=path.stem, function=function.__name__)
    return [sys.executable, "-c", code, json.dumps(arguments)]


def in_process(function: Callable[..., Any], *arguments: Any, **environment: str) -> Any:
    """What a function of a program gives in a process of its own."""
    done = subprocess.run(
        child(function, *arguments), env=os.environ | environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{function.__name__}{arguments}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _cpu() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _forked(pipe: Any, call: Callable[[], Any], most: int) -> None:
    os.setsid()
    spent = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + most, spent + most))
    begin = _cpu()
    try:
        pipe.send((call(), _cpu() - begin, ""))
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())[-120:]}"
        seconds = _cpu() - begin  # a program that this one started may have been ended
        pipe.send((None, seconds, text if seconds < 0.9 * most else f"more than {most} s"))
    pipe.close()


def limited(call: Callable[[], Any], most: int) -> tuple[Any, float, str]:
    """What a call gives in a process forked from this one, its CPU seconds and those of what it
    starts, and what went wrong; ended after `most` seconds."""
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe()
    process = context.Process(target=_forked, args=(its, call, most))
    process.start()
    its.close()
    try:
        with suppress(EOFError):
            if mine.poll(10 * most):
                return mine.recv()
        return None, float(most), f"more than {most} s"
    finally:
        if process.is_alive():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                process.kill()
        process.join()


def _family() -> set[int]:
    """This process and those below it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(text.rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _memory_of(process: int) -> int:
    """Proportional bytes of a process, 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def held() -> int:
    """Bytes of this process and those below it; a page that several share counts once."""
    return sum(map(_memory_of, _family()))


def _cpu_seconds() -> float:
    """Of this process and those below it, the ended ones that were waited for included."""
    ticks = 0
    for process in _family():
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def watched(call: Callable[[], Any], before: int | None = None) -> tuple[Any, dict[str, float]]:
    """What a call gives and takes, all processes together, memory above what they held before.

    Memory is read twenty times a second, the proportional set size. Needs Linux.
    """
    before = held() if before is None else before
    most, done = 0, threading.Event()

    def look() -> None:
        nonlocal most
        is_done = False
        while not is_done:
            is_done = done.wait(0.05)
            most = max(most, held())

    thread = threading.Thread(target=look)
    thread.start()
    cpu, wall = _cpu_seconds(), time.perf_counter()
    try:
        answer = call()
        wall, cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
    finally:
        done.set()
        thread.join()
    return answer, {
        "CPU s": cpu, "wall s": wall, "MB": max(most - before, 0) / 1e6, "load": os.getloadavg()[0]
    }  # fmt: skip


def peak_memory() -> float:
    """Most megabytes that this process has had. Needs Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
