"""Hostile cases by the thousand: calls, formulas, model files and faults that nobody expects.

    python benchmarks/hostile.py --minutes 30 [--seed 1] [--jobs 2] [--family calls]
    python benchmarks/hostile.py --cases 20000 --results hostile.jsonl
    python benchmarks/hostile.py --case calls:1234      # one again, in this process
    python benchmarks/hostile.py --minimise calls:1234  # and as small as it can be made

A case is made from the seed, its family and its number alone. It passes if it answers or raises a
TreeselectError that names its subject, within 20 s, without warnings, with all rows accounted for,
and nothing that steers a terminal in what it shows; a formula also if it causes nothing but
arithmetic (by Python's audit hook); a writer if the old file or the new one stands whatever
happened. With ``--results``, each finished case is a line of that file, and is not run again: a run
that was stopped goes on. See ``hostility``.

The table has a row per family: cases, answered, refused, failed, kinds of failures, and the
slowest case.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hostility.families import FAMILIES, SHARES, family_of, minimised, plan_of
from hostility.working import judged, run_all

Key = tuple[str, int]


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.case:
        return _replay(options)
    if options.minimise:
        return _minimise(options)
    done = _run(options)
    table = _table(done.values())
    print(table)
    failures = [r for r in done.values() if r["kind"] == "failed"]
    for signature, record in sorted(_first(failures).items()):
        n = sum(r["signature"] == signature for r in failures)
        print(f"{n} x {signature!a}: {record['family']}:{record['number']}")
        print(f"    {record['message'][:200]!a}")
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Hostile cases; see the head of this file.")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--cases", type=int, help="the numbers from 0 to this one; default: no end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--family", choices=sorted(FAMILIES), help="default: all, by their shares")
    parser.add_argument("--results", type=Path, help="a file of finished cases")
    parser.add_argument("--case", metavar="FAMILY:NUMBER", help="run one again, and show it")
    parser.add_argument("--minimise", metavar="FAMILY:NUMBER", help="shrink one that fails")
    return parser


def _run(options: argparse.Namespace) -> dict[Key, dict[str, Any]]:
    """Records of all cases, of this run and of the results."""
    if options.cases is None and options.minutes == float("inf"):
        raise SystemExit("Give `--minutes` or `--cases`: there is no last case.")
    end = time.monotonic() + 60 * options.minutes
    done = _read(options.results, options.seed)
    path = options.results or Path(os.devnull)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="ascii") as file:
        for (family, number), found in run_all(_tasks(options, done, end), options.jobs):
            record = {"seed": options.seed, "family": family, "number": number, **found}
            if record["kind"] != "failed":
                record["message"] = record["message"][:200]
            file.write(json.dumps(record) + "\n")
            file.flush()
            done[family, number] = record
    return done


def _tasks(
    options: argparse.Namespace, done: dict[Key, dict[str, Any]], end: float
) -> Iterator[tuple[Key, str, dict[str, Any]]]:
    number = 0
    while (options.cases is None or number < options.cases) and time.monotonic() < end:
        family = options.family or family_of(number)
        if (family, number) not in done:
            yield (family, number), family, plan_of(options.seed, family, number)
        number += 1


def _read(path: Path | None, seed: int) -> dict[Key, dict[str, Any]]:
    """Records of this seed; a line that was cut off is a case to be run again."""
    found = {}
    if path is not None and path.exists():
        for line in path.read_text(encoding="ascii").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["seed"] == seed:
                found[record["family"], record["number"]] = record
    return found


def _first(failures: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """One record of each kind: the quickest."""
    found: dict[str, dict[str, Any]] = {}
    for record in sorted(failures, key=lambda r: r["seconds"]):
        found.setdefault(record["signature"], record)
    return found


def _table(records: Any) -> str:
    records = list(records)
    head = "| family | cases | answered | refused | failed | kinds | void | slowest, s |"
    lines = [head, "|---" * head.count(" | ") + "|---|"]
    for family in [*(name for name, _ in SHARES), "all"]:
        own = [r for r in records if family in (r["family"], "all")]
        if not own:
            continue
        n = collections.Counter(r["kind"] for r in own)
        kinds = len({r["signature"] for r in own if r["kind"] == "failed"})
        slow = max(own, key=lambda r: r["seconds"])
        counts = (
            f"{len(own)} | {n['answered']} | {n['refused']} | {n['failed']} | {kinds} | {n['void']}"
        )
        lines.append(
            f"| {family} | {counts} | {slow['seconds']:.1f} ({slow['family']}:{slow['number']}) |"
        )
    return "\n".join(lines)


def _asked(case: str, seed: int) -> tuple[str, dict[str, Any]]:
    family, number = case.split(":")
    return family, plan_of(seed, family, int(number))


def _replay(options: argparse.Namespace) -> int:
    family, plan = _asked(options.case, options.seed)
    print(json.dumps(plan))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = judged(family, plan, Path(folder))
    print(json.dumps(found, indent=1))
    return 1 if found["kind"] == "failed" else 0


def _minimise(options: argparse.Namespace) -> int:
    family, plan = _asked(options.minimise, options.seed)
    asked = [plan]
    answers = run_all(((0, family, asked.pop()) for _ in iter(lambda: bool(asked), False)), jobs=1)
    _, record = next(answers)
    if record["kind"] != "failed":
        raise SystemExit(f"{options.minimise} does not fail.")

    def fails(candidate: dict[str, Any]) -> bool:
        asked.append(candidate)
        return bool(next(answers)[1]["signature"] == record["signature"])

    print(json.dumps(minimised(family, plan, fails)))
    answers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
