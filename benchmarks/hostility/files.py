"""Model files with damaged values or arrays, which are loaded and used."""

from __future__ import annotations

import functools
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest

import treeselect
from hostility.damaging import damage
from hostility.judging import (
    ANSWERED,
    VOID,
    Defect,
    Outcome,
    check_page,
    check_refusal,
    check_text,
    judge,
    streams,
)  # fmt: skip
from treeselect import select
from treeselect.errors import TreeselectError

Plan = dict[str, Any]

FITS = (
    "sparse", "classes", "boosted", "linear", "counts", "with data", "searched", "resampled",
    "foreign",
)  # fmt: skip

_USES = (
    "predict(data)", "predict(data, 'link')", "predict(data, 'class')", "model.trees()",
    "model.nodes()", "model.rules()", "model.rules(2)", "model.shape(TERM)", "summary()",
    "report(page)", "tidy()", "glance()", "path", "search.importance_path()",
    "model.interactions()", "data.neighbours()", "data.describe()", "save(copy)",
    "save(copy, True)", "resample(2)", "with_data(data).resample(2)",
    "with_data(data).refit('glm')", "with_data(data).inference(seed=1)",
    "with_data(data).performance(2)", "with_data(data).model.conditional_importance(2, repeats=1)",
    "__repr__()", "stability", "formula", "selected", "augment(data)", "search.alternatives()",
    "model.effects()", "search.exchanges()", "search.history()", "search.notes", "search.scores",
    "plot()", "with_data(data).search.citation()",
    "with_data(data).search.learning_curve((1.0,), 2)",
    "with_data(data).model.coefficient_stability()", "predict(data, interval='prediction')",
    "predict(data, 'quantile', quantiles=[0.5])", "variables", "model.importance", "search.steps",
    "with_data(data).resample(2).search.alternatives()",
    "with_data(data).performance(2).calibration(3)", "with_data(data).validate(2)",
)  # fmt: skip

_LEAVES = (
    "None", "True", "False", "0", "1", "-1", "2", "10**6", "10**30", "-2**63", "2**63", "0.5",
    "-0.5", "1e308", "''", "'x'", "'y ~ x'", "'\\x00'", "'\\x1b[31m'",
    "'\\ud800'", "'\\u202e'", "'`'", "'<b>'", "[]", "[1]", "['x']", "[None]", "[[]]", "{}",
    "{'x': 1}", "[0] * 1000", "'x' * 100000", "{'__class__': 'os'}",
    "[[[[[[1]]]]]]", "'gaussian'", "'binomial'", "'multinomial'", "'fcbf'", "'controlburn'",
    "'error'", "'numbers'", "'labels'", "'nan'", "float('nan')", "float('inf')",
)  # fmt: skip

_ARRAYS = (
    "zero", "ones", "minus", "huge", "nan", "inf", "shuffle", "one value", "shorter", "longer",
    "empty", "flat", "column", "wider", "dtype float64", "dtype int64", "dtype int32", "dtype bool",
    "dtype uint8", "dtype <U5", "dtype object", "dtype float16", "dtype >f8", "fortran", "scalar",
    "3d", "random", "gone",
)  # fmt: skip


def draw(rng: random.Random) -> Plan:
    """A fit, what is changed in its file, and what is done with what is loaded."""
    kind = rng.choice(["value", "array"])
    changes = [_change(rng, kind) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    uses = rng.sample(_USES, rng.choice([2, 4, 6]))
    return {"fit": rng.choice(FITS), "changes": changes, "then": uses}


def _change(rng: random.Random, kind: str) -> dict[str, Any]:
    """Places are shares of what there is, so that a plan knows nothing of the file."""
    change: dict[str, Any] = {"kind": kind, "at": rng.random(), "seed": rng.randrange(2**31)}
    if kind == "value":
        change["how"] = rng.choice(
            ["value", "value", "value", "sign", "drop", "swap", "copy", "nest"]
        )
        change["value"] = rng.choice(_LEAVES)
    else:
        change["how"] = rng.choice(_ARRAYS)
    return change


@functools.cache
def data() -> Any:
    """What all model files are fitted on."""
    rng = np.random.default_rng(4)
    n = 60
    x, z = rng.normal(size=n).round(3), rng.normal(size=n).round(3)
    site = rng.choice(["Bath", "Leeds", "York"], n)
    frame = pd.DataFrame({
        "y": (x + (site == "York") + rng.normal(size=n) / 2 > 0.3).astype(int), "x": x, "z": z,
        "site": site,
        "colour": pd.Categorical(rng.choice(["blue", "red"], n), ordered=True),
        "flag": rng.random(n) < 0.5, "a b": rng.integers(0, 5, n),
        "dose": x * 2 + rng.normal(size=n), "count": rng.poisson(2.0, n),
        "kind": np.where(x > 0.5, "p", np.where(z > 0, "q", "r")),
        "w": rng.integers(0, 3, n), "when": pd.Timestamp("2020-01-01"),
    })  # fmt: skip
    frame.loc[::9, "z"] = np.nan
    return frame


@functools.cache
def originals() -> dict[str, bytes]:
    """The files of all fits, as they are."""
    quick: dict[str, Any] = {"seed": 1, "n_jobs": 1, "progress": False}
    few: dict[str, Any] = {"method": "controlburn", "forests": 1, "n_trees": 5, **quick}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = {
            "sparse": select("y ~ x*site + scale(z) + colour + C(flag) + hashed(site, 3) + `a b`",
            data(), method="controlburn", k=2, refit=None, forests=1, **quick),
            "classes": select("kind ~ x + z + poly(x, 2) + site", data(), k=2, **few),
            "boosted": select("dose ~ x + site + bs(z, 4, extrapolation='clip')", data(), k=2,
            **few).refit("boosting"),
            "linear": select("y ~ x + site + I(z > 0) + colour", data(), method="stepwise",
            folds=2, weights="w", keep="x", **quick),
            "counts": select("count ~ x + z + flag", data(), k=1, family="poisson",
            groups={"both": ["x", "flag"]}, new_levels="other", **few),
            "with data": select("y ~ x + z + site + colour + flag + `a b`", data(), k=2,
            method="rrf", n_trees=4, **quick),
            "searched": select("dose ~ x + z + site + colour", data(), k=2, n_trees=10, **quick),
            "resampled": select("dose ~ x + z + site", data(), k=1, method="importance",
            n_trees=4, resamples=2, **quick),
            "foreign": select("y ~ x + z + flag", data().fillna(0), method=SelectKBest(k=1),
            **quick),
        }  # fmt: skip
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for name, fit in fits.items():
                path = fit.save(Path(folder) / "m", include_data=name in ("with data", "classes"))
                found[name] = path.read_bytes()
    return found


def run(plan: Plan, folder: Path) -> Outcome:
    """Damage the file, load it and use it."""
    original = originals()[plan["fit"]]
    damaged = damage(original, plan["changes"])
    if damaged == original:
        return Outcome(VOID)
    return used(damaged, plan["then"], folder)


def used(data: bytes, uses: list[str], folder: Path) -> Outcome:
    """Load a file and use it."""
    path = folder / "damaged.treeselect"
    path.write_bytes(data)
    with streams():
        found = judge(_use, uses, path, folder)
    for name in ("damaged.treeselect", "page.html", "copy.treeselect"):
        (folder / name).unlink(missing_ok=True)
    return found


def _use(uses: list[str], path: Path, folder: Path) -> str:
    fit = treeselect.load(path)
    page, again = folder / "page.html", folder / "copy.treeselect"
    for use in uses:
        space = {
            "fit": fit, "data": data(), "page": page, "copy": again,
            "TERM": fit.selected[0] if fit.selected else "x",
        }  # fmt: skip
        try:
            answer = eval(f"fit.{use}", space)
        except TreeselectError as error:
            check_refusal(error, use)
            continue
        if use.startswith(("predict", "augment")) and len(answer) != len(data()):
            raise Defect("predict() lost rows")
        if hasattr(answer, "as_text"):
            check_text(answer.as_text(), f"{use.split('(')[0]}().as_text()")
        elif isinstance(answer, str):
            check_text(answer, f"{use.split('(')[0]}()")
        if use == "report(page)":
            check_page(page.read_bytes(), "a report")
    return ANSWERED
