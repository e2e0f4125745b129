"""As many columns as the default takes: does another method take better ones?

    python benchmarks/same_size.py [--quick] [--jobs 2] [--sets titanic ...] [--methods grrf ...]
                                   [--seconds 30]

The sixty tables of answers.py, split and judged as there. Where treeselect's default selected k
columns, each other method of the package selects k (some of them with reduced options: the default
would take hours), and of other software the first k of its ranking (peers.py) are taken. A method
that finds fewer is judged on those it has. It is ended after ``--seconds`` CPU seconds. Run
answers.py before: it writes what the default selected.
"""

from __future__ import annotations

import json
import zlib
from functools import partial

import answers
import numpy as np
import peers
from answers import NOTABLE, Judge
from answers_data import DEVELOPMENT, FRESH, split, table
from answers_programs import DEFAULT, ours, warm
from harness import REDUCED, Run, limited, mean_and_error, signed

from treeselect.algorithms.registry import METHODS

KINDS = ("binomial", "multinomial", "gaussian")
"""What the other software takes."""
OTHERS = (*(name for name in METHODS if name != "exchange"), *peers.RANKS)


def columns_by(method, train, new, kind, seed, k):
    """The k columns that a method takes."""
    with peers.quiet():
        if method in peers.RANKS:
            return peers.RANKS[method](train, "y", kind, seed)[:k]
        form = METHODS[method](**REDUCED.get(method, {}))
        return ours(train, new, kind, seed, method=form, k=k, new_levels="missing")[0]


def one_table(name, methods, default, seconds):
    """A row of each method on a set; `default` are the columns to compare with."""
    frame, kind = table(name)
    train, new = split(frame, kind)
    judge, seed = Judge(frame, kind, train, new), zlib.crc32(name.encode()) % 10_000
    given = [frame.iloc[part].reset_index(drop=True) for part in (train, new)]
    lines = []
    warm()
    for method in methods:
        if method in peers.RANKS and kind not in KINDS:
            continue
        call = partial(columns_by, method, *given, kind, seed, len(default))
        found, spent, problem = limited(call, seconds)
        line = {"case": name, "method": method, "k": len(default), "seconds": round(spent, 2)}
        if problem:
            lines.append(line | {"problem": problem})
            continue
        scores = judge.score(found), judge.score(default)
        ahead = scores[0] - scores[1] > NOTABLE
        lines.append(line | {
            "problem": "", "taken": len(found), "score": scores[0], "default's": scores[1],
            "s.e.": judge.gap_error(found, default) if ahead else np.nan,
            "columns": json.dumps(sorted(found)),
        })  # fmt: skip
    return lines


def by_method(rows):
    """A line per method, those with the highest scores first."""
    lines = []
    for method in OTHERS:
        of = rows[rows["method"] == method]
        there = of[of["score"].notna()]
        if not len(there):
            continue
        gap = there["score"] - there["default's"]
        mean, error = mean_and_error(gap)
        lines.append({
            "method": method, "software": "treeselect" if method in METHODS else "other",
            "sets": len(there), "no answer": len(of) - len(there), "gap": mean,
            "score less the default's": signed(mean, error, 3),
            "better": int((gap > NOTABLE).sum()), "worse": int((gap < -NOTABLE).sum()),
            "the same columns": int(there["same"].sum()),
            "CPU s": f"{there['seconds'].median():.1f}",
        })  # fmt: skip
    lines.sort(key=lambda line: -line.pop("gap"))
    return lines


def losses(rows):
    """The sets on which other columns are better beyond chance, largest differences first."""
    lines = []
    for name, of in rows[rows["score"].notna()].groupby("case", sort=False):
        gap = of["score"] - of["default's"]
        ahead = of[(gap > NOTABLE) & (gap > 1.96 * of["s.e."])]
        if len(ahead):
            best = ahead.loc[gap[ahead.index].idxmax()]
            there = best["default's"]
            lines.append({
                "set": name, "half": "development" if name in DEVELOPMENT else "fresh",
                "columns": f"{best['k']:.0f}", "default": f"{there:.3f}",
                "ahead": f"{len(ahead)} of {len(of)}", "best": best["method"],
                "gap": gap[best.name], "its score less the default's":
                signed(gap[best.name], best["s.e."], 3),
            })  # fmt: skip
    lines.sort(key=lambda line: -line.pop("gap"))
    return lines


def write(run):
    """Both tables."""
    rows = run.kept("same_size", text=("problem", "columns"))
    of = {name: answers.columns_of(run, name, DEFAULT) for name in rows["case"].unique()}
    rows = rows.assign(
        same=[text and json.loads(text) == of[name]
              for text, name in zip(rows["columns"], rows["case"], strict=True)]
    )  # fmt: skip
    run.table(
        "same_size", by_method(rows),
        "Other columns, as many as treeselect's default takes: the score on new rows of a forest or"
        " a linear model of these, less that of the default's columns, mean over sets (s.e.);"
        f" better and worse: sets with a difference above {NOTABLE}. No answer: it failed, does"
        " not take the kind of response, or took too long. CPU seconds are the median.",
    )  # fmt: skip
    run.table(
        "same_size_losses", losses(rows) or [{"set": "none"}],
        "Sets on which other columns of the same number predict better, by more than"
        f" {NOTABLE} and 1.96 standard errors (bootstrap of the new rows): how many of the"
        " methods that ran do, and the best of them. With so many methods a set, some of this"
        " is chance.",
    )  # fmt: skip


def main():
    """Run what is missing, then write the tables."""
    run = Run(
        __doc__, sets=(*FRESH, *DEVELOPMENT), methods=OTHERS, seconds=30,
        depends=lambda method: (),  # all take as many columns as the default
        quick={"sets": ("simulated",), "methods": ("lasso", "mrmr", "forest importance")},
    )  # fmt: skip
    lacking = peers.absent()
    methods = [method for method in run.methods if method not in lacking]
    if run.quick:
        run.keep(
            "answers_tables",
            {"run": f"simulated, {DEFAULT}", "method": DEFAULT, "columns": '["a", "b"]'},
        )
    done, calls = run.stands("same_size"), []
    for name in run.sets:
        left = [method for method in methods if f"{name}, {method}" not in done]
        default = answers.columns_of(run, name, DEFAULT)
        if left and default:
            calls.append((name, left, default, run.seconds))
    calls.sort(key=lambda call: table(call[0])[0].shape[1])
    for start in range(0, len(calls), run.jobs):
        for lines in run.map(one_table, calls[start : start + run.jobs]):
            run.keep("same_size", [{"run": f"{x['case']}, {x['method']}", **x} for x in lines])
    write(run)


if __name__ == "__main__":
    main()
