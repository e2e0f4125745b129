"""Files of released versions open and predict what they predicted; nothing public is lost."""

from __future__ import annotations

import importlib.util
import json
from operator import attrgetter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import TreeselectError

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*/*.treeselect"))


def facts_of(name, fit, frame):
    """What the program that wrote the corpus notes down."""
    spec = importlib.util.spec_from_file_location("write", CORPUS / "write.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.facts(name, fit, frame)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_files_of_released_versions_open_and_predict_the_same(file):
    written = json.loads((file.parent / "expected.json").read_text(encoding="utf-8"))
    expected, frame = written["fits"][file.stem], pd.DataFrame(written["data"])
    found = facts_of(file.stem, treeselect.load(file), frame)
    # Sums are in the same order, but exp and log may differ in the last bits between processors.
    for name in ("predictions", "stability"):
        own, other = (np.array(part.pop(name), dtype=np.float64) for part in (found, expected))
        np.testing.assert_allclose(own, other, rtol=1e-9)
    assert json.loads(json.dumps(found)) == expected


def test_each_version_has_all_its_files():
    for folder in CORPUS.glob("*/expected.json"):
        names = set(json.loads(folder.read_text(encoding="utf-8"))["fits"])
        assert names == {file.stem for file in folder.parent.glob("*.treeselect")}


@pytest.fixture(scope="module")
def known(mixed):
    """A fit with resamples and labels."""
    return treeselect.select(
        "died ~ . - dose",
        mixed,
        method="mrmr",
        k=2,
        resamples=3,
        seed=1,
        labels={"signal": "Signal at rest", "site": "Hospital"},
    )


NO_NAMES = {"n_jobs", "progress", "design", "model", "resampled", "call", "chosen_method", "choice",
            "step", "steps", "effect_record", "baseline", "scores", "asked", "source", "search",
            "data", "method"}  # fmt: skip
"""Records of the parts of a fit, which its tables and predictions are read from."""

MEASURED = {"association", "similarity", "measured_index", "measured_places",
            "measured_associations"}  # fmt: skip
"""Functions of the columns, and what a file stores of their answers."""

TABLES = ("tidy", "glance", "search.importance_path", "search.history", "search.exchanges")


def public(found, skipped=frozenset()):
    """Names of all properties and fields of a record."""
    names = {name for name in dir(type(found)) if not name.startswith("_")} - skipped
    return sorted(name for name in names if not callable(getattr(type(found), name)))


def said(read, *arguments):
    """A value as text, or the error instead of it."""
    try:
        found = read(*arguments)
    except TreeselectError as error:
        return str(error)
    return found.to_csv() if hasattr(found, "to_csv") else str(found)


def test_all_that_is_public_comes_along(known, mixed, tmp_path):
    after = treeselect.load(known.save(tmp_path / "fit"))
    assert known.stability.substitutes["association"].notna().sum() > 0
    assert {"selected", "path", "stability", "formula"} <= set(public(known))
    views = [(known._fit, after._fit), (known, after), (known.search, after.search)]
    for one, other in views:
        for name in public(one, NO_NAMES):
            assert said(getattr, other, name) == said(getattr, one, name), name
    for name in public(known.stability, MEASURED):
        own, other = (said(getattr, f.stability, name) for f in (after, known))
        assert own == other, name
    for name in TABLES:
        assert said(read, after, name) == said(read, known, name), name
    assert str(after.summary()) == str(known.summary())
    assert str(after.stability.summary()) == str(known.stability.summary())
    assert after.data.design.labels == known.data.design.labels != {}
    np.testing.assert_array_equal(after.predict(mixed), known.predict(mixed))


def read(fit, name):
    """A table, whether it is a property or a method."""
    found = attrgetter(name)(fit)
    return found() if callable(found) else found
