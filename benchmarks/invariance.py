"""What must not change an answer: the same question asked in other ways, thousands of times.

    python benchmarks/invariance.py [--quick] [--cases 620] [--seed 7] [--jobs 2]
    python benchmarks/invariance.py --case 123 [--seed 7]    # one again, in this process

A case is drawn from the seed and its number alone: a table with factors, ties, copies and missing
values, a response of one of six families, a method and its arguments; it is asked in all ways of
`PROPERTIES` that its method allows. The answer is all that a fit has to say: selected terms, steps,
scores, resamples, predictions, and (but `UNSAID`) the printed summary. It must be the same to the
last bit or, where sums are taken in another order, but for rounding (`CLOSE`).

``results/invariance.csv`` has a row per case, and those that stand are not run again. The table has
a row per property: questions that were asked in two ways, and answers that differ. ``--methods``
and ``--properties`` restrict what is drawn, with --case.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from harness import Run, methods_of

import treeselect
from treeselect.errors import TreeselectError

FEW: dict[str, dict[str, Any]] = {
    "exchange": {"n_trees": 12}, "controlburn": {"forests": 1, "n_trees": 8},
    "rrf": {"n_trees": 8}, "grrf": {"n_trees": 8}, "rboost": {"n_trees": 6},
    "gbfs": {"n_trees": 15}, "importance": {"n_trees": 15}, "rfe": {"n_trees": 10},
    "boruta": {"n_trees": 10, "max_rounds": 8}, "varselrf": {"n_trees": 15}, "lasso": {},
    "mrmr": {}, "cfs": {}, "fcbf": {}, "hsic_lasso": {}, "svm_rfe": {}, "stepwise": {},
}  # fmt: skip
"""Methods, with options that keep a case short."""

FAMILIES = ("gaussian", "binomial", "multinomial", "ordinal", "poisson", "cox")

FIXED = ("lasso", "mrmr", "cfs", "fcbf", "hsic_lasso", "svm_rfe", "stepwise")
"""Methods that draw nothing: neither the order of rows nor names have an influence."""

BY_RANKS = ("rrf", "grrf", "rboost", "gbfs", "importance", "rfe", "boruta", "varselrf")
"""Methods that see the order of numbers only."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A question: a table, and what is asked of it.

    Attributes
    ----------
    family, formula, data, arguments
        Of the call.
    names : dict
        Of columns that were renamed, the first name.
    asked, compared : arrays or None
        Rows for which predictions are asked, in this order, and those of the answers that are
        compared; None: all.
    unit : float
        Of predictions.
    change
        What is done with the fit before it answers.
    """

    family: str
    formula: str
    data: Any
    arguments: dict[str, Any]
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    asked: Any = None
    compared: Any = None
    unit: float = 1.0
    change: Any = None

    def but(self, data: Any = None, **changes: Any) -> Case:
        """The question with other fields, and other arguments; those that are None are left out."""
        own = {f.name: changes.pop(f.name) for f in dataclasses.fields(self) if f.name in changes}
        arguments = {n: v for n, v in {**self.arguments, **changes}.items() if v is not None}
        data = self.data if data is None else data
        return dataclasses.replace(self, data=data, arguments=arguments, **own)

    def of_rows(self, rows: Any) -> dict[str, Any]:
        """The table and the arguments with a value for each row, of these rows."""
        by_row = {n: self.arguments[n][rows] for n in ("weights", "offset") if n in self.arguments}
        return {"data": self.data.iloc[rows].reset_index(drop=True), **by_row}


# --- what is drawn -----------------------------------------------------------------------------


def draw(seed: int, number: int, methods: Iterable[str] = FEW) -> tuple[Case, Any]:
    """A question, and the generator with which properties draw."""
    rng = np.random.default_rng([seed, number])
    method, family = str(rng.choice(list(methods))), str(rng.choice(FAMILIES))
    data = _table(rng, family)
    n, response = len(data), "Surv(y, died)" if family == "cox" else "y"
    terms = [
        ".",
        "poly(a, 2) + b + c + count + group + yes",
        "a:yes + log(count+1) + group + b + c",
    ]
    right = str(rng.choice(terms, p=[0.6, 0.2, 0.2]))
    arguments: dict[str, Any] = {
        "method": method, "seed": int(rng.integers(99)), "k": int(rng.integers(1, 4)),
        "n_jobs": 1, "progress": False, "family": family, **FEW[method],
    }  # fmt: skip
    if rng.random() < 0.3:
        rules = ["auto", "1se", "best"] if method == "exchange" else ["1se", "best"]
        arguments["k"] = str(rng.choice(rules))
        arguments |= {} if arguments["k"] == "auto" else {"folds": 2}
    kind = rng.choice(["", "frequency", "real"], p=[0.6, 0.2, 0.2])
    if kind == "frequency":
        arguments |= {"weights": rng.integers(0, 4, n), "weights_kind": "frequency"}
    elif kind == "real":
        arguments["weights"] = rng.random(n).round(2)
    if rng.random() < 0.15 and right == ".":
        arguments["keep"] = ["b"]
    if rng.random() < 0.15 and family not in ("multinomial", "ordinal"):
        arguments["offset"] = rng.normal(scale=0.1, size=n)
    if rng.random() < 0.15 and right == ".":
        arguments["groups"] = {"both": ["c", "yes"]}
    if rng.random() < 0.2:
        arguments["resamples"] = 2
    if rng.random() < 0.2:
        arguments["model"] = str(rng.choice(["glm", "gam", "forest", "boosting", "stack"]))
    return Case(family, f"{response} ~ {right}", data, arguments), rng


def _table(rng: np.random.Generator, family: str) -> pd.DataFrame:
    n = int(rng.integers(40, 110))
    data = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n).round(1)})
    data["c"] = data["a"] if rng.random() < 0.3 else data["b"] + rng.normal(size=n)
    data["count"] = rng.poisson(2, n)
    data["group"] = rng.choice(list("pqrstu")[: rng.integers(2, 7)], n)
    data["yes"] = rng.random(n) < 0.4
    eta = data["a"] - 0.7 * data["b"] + (data["group"] == "p") + data["a"] * data["yes"]
    if family == "gaussian":
        data["y"] = (eta + rng.normal(size=n)).round(3)
    elif family == "poisson":
        data["y"] = rng.poisson(np.exp(0.5 * eta))
    elif family == "cox":
        data["y"] = (0.01 + rng.exponential(np.exp(-eta))).round(2)
        data["died"] = (rng.random(n) < 0.7).astype(int)
    else:
        cuts = [0.0] if family == "binomial" else [-0.8, 0.8]
        data["y"] = np.digitize(eta + rng.logistic(size=n), cuts)
        if family != "ordinal":
            data["y"] = np.array(["k", "l", "m"])[data["y"]]
    for name in ("b", "c", "group"):
        if rng.random() < 0.3:
            data[name] = data[name].where(rng.random(n) > 0.1)
    return data[rng.permutation(data.columns)]


# --- properties: the question, and the same in other words ---------------------------------------


def columns(case: Case, rng: Any) -> tuple[Case, Case]:
    return case, case.but(case.data[rng.permutation(case.data.columns)])


def index(case: Case, rng: Any) -> tuple[Case, Case]:
    n = len(case.data)
    kinds = [[f"row {i}" for i in rng.permutation(n)], rng.permutation(n) / 7,
             pd.date_range("2020-01-01", periods=n), np.zeros(n, dtype=int)]  # fmt: skip
    return case, case.but(case.data.set_index(pd.Index(kinds[rng.integers(4)])))


def library(case: Case, rng: Any) -> tuple[Case, Case]:
    kinds = [
        lambda data: pl.from_pandas(data),
        lambda data: pl.from_pandas(data).lazy(),
        lambda data: pa.Table.from_pandas(data, preserve_index=False),
        lambda data: data.convert_dtypes(dtype_backend="pyarrow"),
        lambda data: data.convert_dtypes(),
    ]
    return case, case.but(kinds[rng.integers(len(kinds))](case.data))


def storage(case: Case, rng: Any) -> tuple[Case, Case]:
    """Numbers and texts in other types that hold them."""
    data = case.data.copy()
    data["count"] = data["count"].astype(rng.choice(["int8", "float64", "float32", "uint16"]))
    data["group"] = data["group"].astype(str(rng.choice(["category", "string", "object"])))
    data["a"] = data["a"].astype(str(rng.choice(["float64", "object", "Float64"])))
    if case.family == "poisson":
        data["y"] = data["y"].astype("float64")
    return case, case.but(data)


def levels(case: Case, rng: Any) -> tuple[Case, Case]:
    """Names of levels that sort as the old ones; a level that no row has."""
    group = case.data["group"].map(lambda v: f"grade {ord(v)}" if isinstance(v, str) else v)
    if rng.random() < 0.5:
        group = group.astype(pd.CategoricalDtype([*sorted(group.dropna().unique()), "none"]))
    return case, case.but(case.data.assign(group=group))


def names(case: Case, rng: Any) -> tuple[Case, Case]:
    """Names of columns that sort as the old ones; of exact copies and in forests names decide."""
    left = case.formula.partition(" ~ ")[0]
    first = case.but(case.data.assign(c=case.data["c"] + rng.normal(size=len(case.data))),
                     formula=f"{left} ~ .", model="glm")  # fmt: skip
    new = {n: f"{n}_{rng.integers(99)}" for n in case.data if n not in ("y", "died")}
    groups = {"both": [new["c"], new["yes"]]} if "groups" in case.arguments else None
    keep = [new["b"]] if "keep" in case.arguments else None
    old = {value: name for name, value in new.items()}
    return first, first.but(first.data.rename(columns=new), names=old, keep=keep, groups=groups)


def formula(case: Case, rng: Any) -> tuple[Case, Case]:
    """Terms in another order; those of the dot written out."""
    left, _, right = case.formula.partition(" ~ ")
    terms = right.split(" + ")
    if right == ".":
        terms = [name for name in case.data if name not in ("y", "died")]
    return case, case.but(formula=f"{left} ~ {' + '.join(rng.permutation(terms))}")


def response(case: Case, rng: Any) -> tuple[Case, Case]:
    """Classes by other names that sort as the old ones; events as truth values."""
    if case.family == "cox":
        return case, case.but(case.data.assign(died=case.data["died"].astype(bool)))
    if case.family == "ordinal":
        ordered = pd.Categorical.from_codes(case.data["y"], ["never", "at times", "most"], True)
        return case, case.but(case.data.assign(y=ordered))
    new: list[dict[str, Any]] = [{"k": "1 low", "l": "2 mid", "m": "3 high"}]
    if case.family == "binomial":
        new += [{"k": 0, "l": 1}, {"k": False, "l": True}, {"k": "no", "l": "yes"}]
    renamed = case.data["y"].replace(new[rng.integers(len(new))])
    return case, case.but(case.data.assign(y=renamed.infer_objects()))


def again(case: Case, rng: Any) -> tuple[Case, Case]:
    return case, case


def file(case: Case, rng: Any) -> tuple[Case, Case]:
    """A model from a file, asked for rows in another order."""
    order = rng.permutation(len(case.data))
    return case, case.but(change=_reloaded, asked=order, compared=np.argsort(order))


def jobs(case: Case, rng: Any) -> tuple[Case, Case]:
    return case, case.but(n_jobs=2)


def copies(case: Case, rng: Any) -> tuple[Case, Case]:
    """Rows with counts, written out."""
    counts = rng.integers(0, 4, len(case.data))
    rows = np.repeat(np.arange(len(counts)), counts)
    first = case.but(weights=counts, weights_kind="frequency", compared=rows)
    written = first.but(**case.of_rows(rows)).but(compared=None)
    del written.arguments["weights_kind"], written.arguments["weights"]
    return first, written


def absent(case: Case, rng: Any) -> tuple[Case, Case]:
    """Other rows between them, without a response or of weight 0, with values of their own."""
    n = len(case.data)
    rows = np.sort(np.r_[np.arange(n), rng.integers(0, n, 20)])
    new = np.r_[False, rows[1:] == rows[:-1]]
    changes = case.of_rows(rows)
    data = changes.pop("data")
    data.loc[new, ["a", "b", "c"]] = 1e6 * rng.normal(size=(20, 3))
    data.loc[new, "group"] = [f"new {i}" for i in range(20)]
    if "weights" in changes and rng.random() < 0.5:
        changes["weights"] = np.where(new, 0, changes["weights"])
    else:
        data["y"] = data["y"].where(~new)
    return case, case.but(data, asked=np.flatnonzero(~new), **changes)


USELESS = {"aa": 1.0, "bb": None, "cc": "same", "zz": np.nan}


def useless(case: Case, rng: Any) -> tuple[Case, Case]:
    """Columns that can't split."""
    return case, case.but(case.data.assign(**USELESS))


def rows(case: Case, rng: Any) -> tuple[Case, Case]:
    """Rows in another order; folds, half-samples and forests would draw others."""
    first = case.but(k=int(rng.integers(1, 4)), model="glm", resamples=None)
    order = rng.permutation(len(case.data))
    return first, first.but(**first.of_rows(order), compared=np.argsort(order))


def scale(case: Case, rng: Any) -> tuple[Case, Case]:
    """Numbers in other units."""
    by = {} if "(" in case.formula.replace("Surv(", "") else {
        name: case.data[name] * 2.0 ** int(rng.integers(-8, 9)) for name in ("a", "b", "c")
    }  # fmt: skip
    return case, case.but(case.data.assign(**by))


def unit(case: Case, rng: Any) -> tuple[Case, Case]:
    """Response or times in another unit."""
    if case.family not in ("gaussian", "cox"):
        return case, case
    by = 2.0 ** int(rng.integers(-8, 9))
    changes: dict[str, Any] = {}
    if case.family == "gaussian":
        changes["unit"] = by
        if "offset" in case.arguments:
            changes["offset"] = case.arguments["offset"] * by
    return case, case.but(case.data.assign(y=case.data["y"] * by), **changes)


def monotone(case: Case, rng: Any) -> tuple[Case, Case]:
    """Numbers by an increasing function; rows of weight 0 fall between what trees have seen."""
    left = case.formula.partition(" ~ ")[0]
    first = case.but(formula=f"{left} ~ .", model="forest", weights=None, weights_kind=None)
    return first, first.but(case.data.assign(**{n: np.sinh(case.data[n]) for n in ("a", "b", "c")}))


def resumed(case: Case, rng: Any) -> tuple[Case, Case]:
    """Resamples that were stopped half-way and go on from their checkpoint."""
    return case.but(change=_resampled), case.but(change=partial(_resampled, is_stopped=True))


PROPERTIES = {
    made.__name__: made
    for made in (columns, index, library, storage, levels, names, formula, response, again, file,
                 jobs, copies, absent, useless, rows, scale, unit, monotone, resumed)
}  # fmt: skip

ONLY = {"rows": FIXED, "names": [m for m in FIXED if m != "cfs"], "monotone": BY_RANKS}
"""Methods of which a property is asked; the others draw by it, or choose among equal sets."""

UNSAID = {
    **dict.fromkeys(("index", "library", "again", "file", "jobs"), ()),
    "unit": ("words", "tuning"),
}
"""What is not compared, by property; usually the printed summary, which shows what differs."""

CLOSE = {"names": 1e-5, "rows": 1e-5, "scale": 1e-5, "unit": 1e-6, "useless": 1e-9}
"""Relative differences that rounding makes where sums are taken in another order."""


def _reloaded(fit: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return treeselect.load(fit.save(Path(folder) / "model"))


def _resampled(fit: Any, *, is_stopped: bool = False) -> Any:
    def stop(piece: Any) -> None:
        raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        asked = {"n": 3, "seed": 5, "n_jobs": 1, "checkpoint": Path(folder) / "pieces"}
        if is_stopped and fit.selected:
            with contextlib.suppress(KeyboardInterrupt):
                fit.resample(**asked, on_piece=stop)
        return fit.resample(**asked) if fit.selected else fit


# --- answers and their comparison ---------------------------------------------------------------


def answer(case: Case, fit: Any) -> dict[str, Any]:
    """All that a fit says, by the first names."""
    if case.change is not None:
        fit = case.change(fit)
    units = np.array([case.names.get(n, n) for n in fit.data.design.arrays.groups.names])
    order = np.array([j for j in np.argsort(units) if units[j] not in USELESS])
    data, more = case.data, {n: case.arguments[n] for n in ("offset",) if n in case.arguments}
    if case.asked is not None:
        data, more = data.iloc[case.asked], {n: v[case.asked] for n, v in more.items()}
    predictions = np.asarray(fit.predict(data, **more), dtype=float) / case.unit
    found: dict[str, Any] = {
        "selected": sorted(map(str, units[fit.search.step.selected])),
        "steps": [
            {str(units[j]): step.importance[j].round(12) for j in order if step.selected[j]}
            for step in fit.search.steps
        ],
        "tuning": [step.tuning for step in fit.search.steps],
        "predictions": predictions if case.compared is None else predictions[case.compared],
    }
    if fit.search.scores is not None:
        scores = np.asarray(fit.search.scores.scores)
        found["scores"] = scores[:, np.isfinite(scores).any(axis=0)][:, : len(order) + 1]
    with contextlib.suppress(TreeselectError):
        found["resamples"] = np.asarray(fit.stability.selected)[:, order]
    text = re.sub(r"Call:.*?\nData:", "Data:", str(fit.summary()), flags=re.DOTALL)
    found["words"] = text
    return found


def told(case: Case) -> dict[str, Any]:
    """The answer, or the kind of error."""
    try:
        return answer(case, treeselect.select(case.formula, case.data, **case.arguments))
    except TreeselectError as error:
        return {"refused": type(error).__name__}


def differences(one: Any, other: Any, close: float, where: str = "") -> list[str]:
    """Where two answers differ."""
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return [f"{where}: {sorted(one)} and {sorted(other)}"]
        pairs: Any = ((name, one[name], other[name]) for name in one)
    elif isinstance(one, list) and not (one and isinstance(one[0], float)):
        if len(one) != len(other):
            return [f"{where}: {len(one)} and {len(other)}: {one!r:.200} and {other!r:.200}"]
        pairs = zip(range(len(one)), one, other, strict=True)
    elif isinstance(one, str):
        if one == other:
            return []
        lines = zip(one.splitlines(), other.splitlines(), strict=False)
        first = next(((a, b) for a, b in lines if a != b), ("its end", "its end"))
        return [f"{where}: {first[0]!r} and {first[1]!r}"]
    else:
        a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
        if a.shape != b.shape:
            return [f"{where}: shapes {a.shape} and {b.shape}"]
        size = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
        same = np.allclose(a, b, rtol=close, atol=close * size, equal_nan=True)
        return [] if same else [f"{where}: {a.ravel()[:4]} and {b.ravel()[:4]}"]
    return [d for name, a, b in pairs for d in differences(a, b, close, f"{where}.{name}")]


def outcomes(
    seed: int, number: int, methods: Iterable[str] = FEW, properties: Iterable[str] = PROPERTIES
) -> list[dict[str, Any]]:
    """What becomes of a case when it is asked in all ways."""
    case, rng = draw(seed, number, methods)
    method, found = case.arguments["method"], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = told(case)
        for name in properties:
            if method not in ONLY.get(name, FEW):
                continue
            first, other = PROPERTIES[name](case, rng)
            one, two = plain if first is case else told(first), told(other)
            for key in UNSAID.get(name, ("words",)):
                one, two = ({k: v for k, v in said.items() if k != key} for said in (one, two))
            differ = differences(one, two, CLOSE.get(name, 0.0))
            found.append({
                "number": number, "property": name, "method": method, "family": case.family,
                "is refused": "refused" in one, "differs": " | ".join(differ)[:600],
            })  # fmt: skip
    return found


def row_of(
    seed: int, number: int, methods: Sequence[str], properties: Sequence[str]
) -> dict[str, Any]:
    """The row of a case: how it is found again, what was asked, and what differs."""
    begin = time.process_time()
    found = outcomes(seed, number, methods, properties)
    return {
        "run": f"{seed}, {number}", "method": found[0]["method"], "family": found[0]["family"],
        "not asked": " ".join(sorted({*properties} - {one["property"] for one in found})),
        "refused": sum(one["is refused"] for one in found),
        "differs": " ".join(one["property"] for one in found if one["differs"]),
        "how": " | ".join(one["differs"] for one in found if one["differs"]),
        "CPU s": round(time.process_time() - begin, 1),
    }  # fmt: skip


def main() -> None:
    run = Run(__doc__, methods=tuple(FEW), properties=tuple(PROPERTIES), cases=620, seed=7,
              case=-1, depends=methods_of,
              quick={"cases": 1, "properties": ("columns", "index")})  # fmt: skip
    if run.case >= 0:
        case, _ = draw(run.seed, run.case, run.methods)
        print(case.formula, case.arguments, case.data.dtypes, sep="\n")
        print(row_of(run.seed, run.case, run.methods, run.properties))
        return
    numbers = {f"{run.seed}, {number}": number for number in range(run.cases)}
    left = [number for text, number in numbers.items() if text not in run.stands("invariance")]
    for start in range(0, len(left), AT_ONCE):
        some = left[start : start + AT_ONCE]
        calls = [(run.seed, number, run.methods, run.properties) for number in some]
        run.keep("invariance", run.map(row_of, calls))
    kept = run.kept("invariance", text=("not asked", "differs", "how"))
    for _, bad in kept[kept["differs"] != ""].iterrows():
        print(f"{bad['run']} {bad['method']} {bad['family']} {bad['differs']}: {bad['how']}")
    run.table("invariance", table_of(kept, run.properties), INTRODUCTION)
    if (kept["differs"] != "").any():
        raise SystemExit(1)


def table_of(kept: pd.DataFrame, properties: Sequence[str]) -> pd.DataFrame:
    """How many cases were asked in each other way, and how many answers differ."""
    not_asked, differ = (kept[name].str.split() for name in ("not asked", "differs"))
    lines = [
        (name, sum(name not in names for names in not_asked), sum(name in n for n in differ))
        for name in properties
    ]
    found = pd.DataFrame(lines, columns=["property", "questions", "differ"])
    found.loc[len(found)] = ["all", found["questions"].sum(), found["differ"].sum()]
    return found


AT_ONCE = 20
"""Cases after which rows are written: a run that is stopped goes on where it was."""

INTRODUCTION = (
    "Answers of treeselect that must be the same when a question is asked in another way: questions"
    " of 17 methods and six families of the response with random arguments, each asked in two ways,"
    " and how many answers differ."
)


if __name__ == "__main__":
    main()
