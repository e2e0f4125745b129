"""All evidence, part by part: the programs of this folder that measure what the package claims.

    make evidence
    python benchmarks/evidence.py [--parts noise ...] [--jobs 2] [--again] [--list]

Each part (``parts.py``) is one question and the programs that answer it. They write their tables
and figures to ``results`` and ``papers/results``; the last lines of a program that fails are
printed, and the next one runs. What has finished is a row of ``results/evidence.csv``, with its
date, its cost and two fingerprints, both of the program and of what it imports from this folder,
without comments and docstrings: with the code of the package, and with its answers, those that
``treeselect validate`` stores of the methods of the part. A program is not run again while the
second is the present one (of programs that measure time, the first), so that a run that was
stopped goes on where it was; ``--again`` runs it nevertheless. ``--list`` runs nothing.

Exits 1 if a program failed. A part whose peers are not installed is left out, and told:
``pip install -r benchmarks/requirements.txt``.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness import Run, answers_of, fingerprint
from parts import PARTS, Part

import treeselect

FOLDER = Path(__file__).resolve().parent
CLOCKS = ("CPU min", "wall min")


# --- what ran ----------------------------------------------------------------------------------


def code_of(path: Path) -> str:
    """A module without comments, docstrings and layout; other files as they are."""
    if path.suffix != ".py":
        return path.read_text("utf-8")
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not isinstance(line, ast.Expr) or _acts(line)]
    return ast.unparse(tree)


def _acts(line: ast.Expr) -> bool:
    return not isinstance(getattr(line.value, "value", None), str)


def fingerprint_of(paths: Iterable[Path], answers: str = "") -> str:
    """A fingerprint of the code of modules, and of answers."""
    return fingerprint("".join([answers, *(code_of(path) for path in paths)]))


PACKAGE = Path(treeselect.__file__).parent


def named_in(path: Path) -> set[Path]:
    """Modules of this folder that a module imports, and R scripts beside it that it names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {f"{node.module}"}
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".R"):
            names.add(str(node.value))
    files = {name if name.endswith(".R") else f"{name.replace('.', '/')}.py" for name in names}
    folders = (FOLDER, path.parent)
    return {folder / file for folder in folders for file in files if (folder / file).is_file()}


def modules_behind(program: Path) -> list[Path]:
    """A program, and all of this folder that it imports, directly or not."""
    found, new = {program}, [program]
    while new:
        path = new.pop()
        more = set() if path.suffix == ".R" else named_in(path) - found
        found |= more
        new += more
    return sorted(found)


def behind(program: str, part: Part) -> dict[str, str]:
    """Fingerprints of what a program runs: with the code of the package, and with its answers."""
    own = modules_behind(FOLDER / shlex.split(program)[0])
    package = sorted(PACKAGE.rglob("*.py"))
    return {
        "code": fingerprint_of([*package, *own]),
        "answers": fingerprint_of(own, answers_of(part.methods)),
    }


def holds(row: Mapping[str, Any], part: Part) -> bool:
    """Whether what a program found is still what it would find."""
    counts = "code" if part.measures_time else "answers"
    return bool(row.get(counts) == behind(str(row["program"]), part)[counts])


# --- runs --------------------------------------------------------------------------------------


def missing(part: Part) -> list[str]:
    """What a part needs and is not installed."""
    return [
        name
        for name in part.needs
        if importlib.util.find_spec(name) is None and shutil.which(name) is None
    ]


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def minutes_of(program: str, jobs: int) -> dict[str, float] | None:
    """CPU and wall minutes of a program, in a process of its own; None if it failed."""
    command = [sys.executable, *shlex.split(program.format(jobs=jobs))]
    command[1] = str(FOLDER / command[1])
    print("$", program.format(jobs=jobs), flush=True)
    cpu, wall = _children(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    spent = (_children() - cpu) / 60, (time.monotonic() - wall) / 60
    minutes = {clock: round(value, 2) for clock, value in zip(CLOCKS, spent, strict=True)}
    if done.returncode:
        print(*done.stdout.splitlines()[-15:], sep="\n")
        print(f"failed with status {done.returncode}")
        return None
    print(f"{minutes['CPU min']:.1f} CPU minutes, {minutes['wall min']:.1f} of wall time")
    return minutes


def run_part(part: Part, run: Run) -> bool:
    """Whether all programs of a part have finished, now or earlier."""
    lacking = missing(part)
    if lacking:
        print(f"{part.name}: left out, without {', '.join(lacking)}")
        return True
    good = True
    for program in part.programs:
        row = earlier(run).get(program)
        if not run.again and row is not None and holds(row, part):
            print(f"{part.name}: {program.split(' --jobs')[0]} is done")
            continue
        ran = behind(program, part)
        minutes = minutes_of(program, run.jobs)
        if minutes is None:
            good = False
            continue
        row = {
            "part": part.name, "program": program, "date": time.strftime("%Y-%m-%d"),
            "version": treeselect.__version__, **ran, "jobs": run.jobs, **minutes,
        }  # fmt: skip
        run.keep("evidence", row, by="program")
    return good


def earlier(run: Run) -> dict[str, dict[str, Any]]:
    """Rows of finished programs."""
    rows = run.kept("evidence", text=("code", "answers")).to_dict("records")
    return {row["program"]: row for row in rows}


# --- table -------------------------------------------------------------------------------------


def table(run: Run) -> list[dict[str, object]]:
    """A line for each program: question, what ran, when, cost, and whether the code has changed."""
    rows, lines = earlier(run), []
    for part in PARTS:
        for number, program in enumerate(part.programs):
            row = rows.get(program)
            state = "no record" if row is None else str(row["date"])
            if row is not None and not holds(row, part):
                state += ", other code" if part.measures_time else ", other answers"
            costs = {clock: "" if row is None else f"{row[clock]:.1f}" for clock in CLOCKS}
            lines.append({
                "part": "" if number else part.name, "question": "" if number else part.question,
                "program": program.replace(" --jobs {jobs}", ""), "last run": state, **costs,
            })  # fmt: skip
    return lines


def main() -> None:
    """Run the parts that are not done, and write the table."""
    names = [part.name for part in PARTS]
    run = Run(__doc__, parts=names, again=False, list=False, jobs=os.cpu_count() or 1)
    asked = [part for part in PARTS if part.name in run.parts and not (run.list or run.quick)]
    good = all([run_part(part, run) for part in asked])
    lines = table(run)
    hours = sum(float(line["wall min"] or 0) for line in lines) / 60
    run.table(
        "evidence",
        lines,
        "The evidence for treeselect, part by part: when each program last ran, and what it cost."
        ' "Other answers": the stored answers of the package or the program have changed since;'
        ' "other code", of programs that measure time: the code has. Of a program without a record,'
        " the results that stand were written by a run of its own. `truth.py`, `same_size.py`,"
        " `answers.py`, `invariance.py` and `holds.py` run only the rows that lack, and their cost"
        " is that of these."
        f"{f' {hours:.1f} hours of wall time.' if hours else ''}",
    )
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
