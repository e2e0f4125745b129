"""Compile all kernels that do not come with the package for this platform."""

from __future__ import annotations

from collections import Counter
from typing import Any

from treeselect import datasets
from treeselect.engine import compiling, object_code
from treeselect.engine.warming import grow_all
from treeselect.selection import select


def compile_kernels() -> None:
    """Call each kernel with all kinds of arguments that it is called with: also by the default
    call, the sparse forest and predictions."""
    grow_all()
    frame = datasets.load("titanic_correlated")
    few: Any = {"k": 2, "seed": 1, "resamples": 0}
    sparse = {**few, "method": "controlburn", "forests": 1, "n_trees": 8}
    for formula, options in (
        ("survived ~ .", {**few, "k": "auto"}),
        ("survived ~ .", sparse),
        ("age ~ . - survived", sparse),
        ("pclass ~ age + sex", {**sparse, "family": "multinomial"}),
        ("survived ~ sex + femur", {**sparse, "offset": "age"}),
    ):
        select(formula, frame, **options).predict(frame)
    ordered = {**few, "method": "rrf", "n_trees": 8, "monotone": {"femur": 1}}
    select("age ~ femur + sex", frame, **ordered).predict(frame, type="quantile")


def warm() -> str:
    """Do so, and say where the kernels are."""
    compile_kernels()
    codes = [c for own in compiling.KERNELS for found in own.compiled.values() for c in found]
    n = Counter(code.origin for code in codes)
    text = f"{len(codes)} kernels, of which {n['package']} come with the package"
    if n["package"] == len(codes):
        return f"{text}: nothing had to be compiled."
    kept = f"are kept in {object_code.kernel_cache_folder()}"
    if not object_code.kernels_can_be_kept():
        kept = "could not be kept: set TREESELECT_CACHE_DIR to a folder that only you can write to"
    return f"{text}; {n['cache'] + n['compiled']} were compiled ({n['compiled']} now), and {kept}."
