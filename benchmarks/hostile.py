"""Hostile cases by the thousand: calls, formulas, model files and faults that nobody expects.

    python benchmarks/hostile.py [--quick] [--minutes 30] [--seed 1] [--jobs 2] [--families calls]
    python benchmarks/hostile.py --case calls:1234  # one again, in this process

A case is made from the seed, its family and its number alone. It passes if it answers or raises a
TreeselectError that names its subject, within 20 s, without warnings, with all rows accounted for,
and nothing that steers a terminal in what it shows; a formula also if it causes nothing but
arithmetic (by Python's audit hook); a writer if the old file or the new one stands whatever
happened. See ``hostility``. Needs Linux.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import tempfile
import time
from pathlib import Path

import pandas as pd
from harness import Run
from hostility.working import FAMILIES, ORDER, judged, judged_apart, plan_of, warm_up

KINDS = ("answered", "refused", "failed", "void")


def share(families, seed, numbers, minutes):
    """Records of the cases with some numbers, as far as the minutes last."""
    end, found = time.monotonic() + 60 * minutes, []
    order, numbers = [name for name in ORDER if name in families], iter(numbers)
    with tempfile.TemporaryDirectory() as folder:
        while (some := list(itertools.islice(numbers, 50))) and time.monotonic() < end:
            names = [(order[number % len(order)], number) for number in some]
            cases = [(family, plan_of(seed, family, number)) for family, number in names]
            records = judged_apart(cases, Path(folder))
            found += [
                {"family": family, "case": f"{family}:{number}", **record}
                for (family, number), record in zip(names, records, strict=True)
            ]
    return found


def prepared_share(*arguments):
    """The same with everything loaded."""
    warm_up()
    return share(*arguments)


def table_of(records):
    """A line for each family, and one for all."""
    for family, part in [*records.groupby("family"), ("all", records)]:
        slowest = part.loc[part["seconds"].idxmax()]
        yield {
            "family": family, "cases": len(part),
            **{kind: int((part["kind"] == kind).sum()) for kind in KINDS},
            "kinds of failure": part.loc[part["kind"] == "failed", "signature"].nunique(),
            "slowest, s": f"{slowest['seconds']:.1f} ({slowest['case']})",
        }  # fmt: skip


def replayed(case, seed):
    """One case in this process, shown."""
    family, number = case.split(":")
    plan = plan_of(seed, family, int(number))
    print(json.dumps(plan))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        print(json.dumps(judged(family, plan, Path(folder)), indent=1))


def main():
    """Run the cases, write the table and show what failed: then the status is 1."""
    run = Run(__doc__, families=FAMILIES, minutes=5.0, seed=1, case=None)
    if run.case:
        return replayed(run.case, run.seed)
    work = run.pick(share, prepared_share)
    numbers = run.pick([[10]], [itertools.count(first, run.jobs) for first in range(run.jobs)])
    calls = [(run.families, run.seed, some, run.minutes) for some in numbers]
    records = pd.DataFrame(run.flat(work, calls))
    run.table(
        "hostile",
        table_of(records),
        f"treeselect, hostile cases of seed {run.seed}: answered or refused as they should be, or"
        " failed; void cases could not be made (another library refuses the frame).",
    )
    failed = records[records["kind"] == "failed"].sort_values("seconds")
    for signature, part in failed.groupby("signature"):
        first = part.iloc[0]
        print(f"{len(part)} x {signature!a}: {first['case']}\n    {first['message'][:200]!a}")
    return int(len(failed) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
