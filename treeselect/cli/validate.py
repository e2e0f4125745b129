"""Does this installation answer as it should? Reference answers, R's results, and sameness.

``python -m treeselect.cli.validate`` writes the reference answers that come with the package.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.errors import listing
from treeselect.printing import Summary, SummaryContent

if TYPE_CHECKING:
    from treeselect.result import SelectionResult

_FOLDER = Path(__file__).parents[1] / "data"
ANSWERS, OF_R = _FOLDER / "reference_answers.json", _FOLDER / "reference_r.csv"

_CLOSE = 1e-6
"""Relative difference to a reference that other libraries of linear algebra may make."""

_FEW: dict[str, dict[str, int]] = {
    **{name: {"n_trees": 20} for name in ("exchange", "rrf", "grrf", "rboost", "gbfs", "rfe")},
    **{name: {"n_trees": 50} for name in ("importance", "varselrf")},
    "controlburn": {"forests": 1, "n_trees": 10},
    "boruta": {"n_trees": 20, "max_rounds": 12},
}

_PASSENGERS = "survived ~ sex + age + pclass + fare + sibsp + parch + embarked"

_FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gaussian": ("siri ~ .", "bodyfat", {}),
    "binomial": (_PASSENGERS, "titanic", {"resamples": 4}),
    "multinomial": ("pclass ~ age + fare + sex", "titanic", {"family": "multinomial"}),
    "poisson": ("parch ~ age + fare + sex + pclass", "titanic", {"family": "poisson"}),
    "cox": ("Surv(time, cens) ~ .", "gbsg2", {}),
}
"""Default calls, by the family of the response."""

_MODELS = {
    "lm": ("siri ~ abdomen + weight_kg + wrist + age", "bodyfat"),
    "glm": ("survived ~ sex + age + pclass", "titanic"),
    "coxph": ("Surv(time, cens) ~ horTh + tgrade + tsize + pnodes", "gbsg2"),
}

Check = tuple[str, str, Callable[[], str]]
"""A requirement, a case of it, and a call that says what is wrong, if anything."""


def validate() -> tuple[Summary, bool]:
    """Check this installation; the page, and whether all checks passed."""
    import datetime

    from treeselect.results.versions import versions

    rows = []
    for requirement, case, check in _checks():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wrong = check()
            except Exception as error:  # whatever it is, this check has failed
                wrong = f"{type(error).__name__}: {error}"
        rows.append((requirement, case, wrong or "passed"))
    failed = sum(row[-1] != "passed" for row in rows)
    content = SummaryContent(
        title="Validation of this installation of treeselect",
        facts=(
            ("Result", f"{failed} of {len(rows)} checks failed" if failed
             else f"all {len(rows)} checks passed"),
            ("Date", datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")),
            *versions().content.facts,
            ("Signature", "name ____________________  date ____________________"),
        ),
        columns=("Requirement", "Case", "Result"),
        rows=tuple(rows),
        notes=(
            f"Numbers agree if they differ by less than {_CLOSE:g} of their size.",
            "The page Validation of the documentation says what tests each requirement has.",
        ),
    )  # fmt: skip
    return Summary(content), not failed


def as_page(found: Summary) -> str:
    """The page as an HTML file."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    title = f"<title>{found.content.title}</title>"
    return f'<!doctype html><html lang="en">{head}{title}<body>{found._repr_html_()}</body></html>'


def _checks() -> Iterator[Check]:
    import pyarrow as pa

    questions = _questions()
    for name, answer in json.loads(ANSWERS.read_text(encoding="utf-8")).items():
        yield "answers are those of the release", name, partial(_ask, questions[name], answer)
    for name in _MODELS:
        yield "linear models are those of R", f"{name}()", partial(_model, name)
    yield "stepwise selection is that of R", "step()", _stepwise
    ways: dict[str, Callable[[Any], Any]] = {
        "columns in another order": lambda data: _select(data[data.columns[::-1]]),
        "two processes": lambda data: _select(data, n_jobs=2),
        "an Arrow table": lambda data: _select(pa.Table.from_pandas(data)),
        "a model from a file": lambda data: _reloaded(_select(data)),
        "resampling that was stopped goes on": _stopped,
    }
    for case, way in ways.items():
        yield "the same question has the same answer", case, partial(_same, way)


# --- reference answers -------------------------------------------------------------------------


def _questions() -> dict[str, Callable[[], Any]]:
    """Calls by name: each method, and the default for each family."""
    from treeselect.algorithms.registry import METHODS

    calls: dict[str, tuple[str, str, dict[str, Any]]] = {
        name: (_PASSENGERS, "titanic", {"method": name, "k": 3, **_FEW.get(name, {})})
        for name in METHODS
    }
    calls |= {f"default, {family}": call for family, call in _FAMILIES.items()}
    return {name: partial(_answer, *call) for name, call in calls.items()}


def _answer(formula: str, data: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What is stored of an answer."""
    frame = _data(data).iloc[::2]
    fit = _call(formula, frame, **arguments)
    predicted = np.asarray(fit.predict(frame), dtype=np.float64)
    frequency = fit.stability.tidy()["frequency"].sum() if "resamples" in arguments else 0.0
    importance = fit.search.step.importance.max()
    numbers = predicted.mean(), predicted.std(), predicted.ravel()[0], importance, frequency
    return {"selected": list(fit.selected), "numbers": [float(f"{n:.10g}") for n in numbers]}


def _ask(question: Callable[[], dict[str, Any]], stored: dict[str, Any]) -> str:
    found = question()
    if found["selected"] != stored["selected"]:
        return f"selects {listing(found['selected'])}, not {listing(stored['selected'])}"
    return _apart(found["numbers"], stored["numbers"])


def _apart(found: Any, expected: Any) -> str:
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if a.shape == b.shape and np.allclose(a, b, rtol=_CLOSE, atol=1e-9, equal_nan=True):
        return ""
    return f"{a.ravel()[:4].tolist()}, not {b.ravel()[:4].tolist()}"


# --- R -----------------------------------------------------------------------------------------


def _rows_of_r(name: str) -> Any:
    import pandas as pd

    rows = pd.read_csv(OF_R)
    return rows[rows["model"] == name]


def _model(name: str) -> str:
    formula, data = _MODELS[name]
    fit = _call(formula, _data(data), method="mrmr", k=formula.count(" + ") + 1)
    found, known = fit.refit("glm").tidy(), _rows_of_r(name)
    return _apart(found[["estimate", "std_error"]], known[["estimate", "std_error"]])


def _stepwise() -> str:
    fit = _call("siri ~ .", _data("bodyfat"), method="stepwise", penalty=2.0)
    expected = _rows_of_r("step")["column"].tolist()
    return "" if set(fit.selected) == set(expected) else f"selects {listing(fit.selected)}"


# --- the same answer ---------------------------------------------------------------------------


def _data(name: str) -> Any:
    from treeselect import datasets

    return datasets.load(name)


def _call(formula: str, data: Any, **arguments: Any) -> SelectionResult:
    from treeselect.result import SelectionResult
    from treeselect.selection import select

    fit = select(formula, data, seed=1, **{"n_jobs": 1, **arguments})
    assert isinstance(fit, SelectionResult)
    return fit


def _select(data: Any, **arguments: Any) -> SelectionResult:
    return _call(_PASSENGERS, data, k=3, n_trees=20, **{"resamples": 4, **arguments})


def _reloaded(fit: Any) -> Any:
    from treeselect.selection import load

    with tempfile.TemporaryDirectory() as folder:
        return load(fit.save(Path(folder) / "model"))


def _stopped(data: Any) -> SelectionResult:
    def stop(piece: Any) -> None:
        raise KeyboardInterrupt

    fit = _select(data, resamples=0)
    with tempfile.TemporaryDirectory() as folder:
        asked: Any = {"n": 4, "checkpoint": Path(folder) / "pieces"}
        with contextlib.suppress(KeyboardInterrupt):
            fit.resample(**asked, on_piece=stop)
        return fit.resample(**asked)


def _same(way: Callable[[Any], SelectionResult]) -> str:
    """What differs if the same is asked in another way; nothing may, to the last bit."""
    data = _data("titanic").iloc[::2]
    one, other = _select(data), way(data)
    if one.selected != other.selected:
        return f"selects {listing(other.selected)}, not {listing(one.selected)}"
    pairs = [
        (one.predict(data), other.predict(data)),
        (one.stability.selected, other.stability.selected),
    ]
    return "" if all(np.array_equal(a, b) for a, b in pairs) else "other numbers"


if __name__ == "__main__":
    from treeselect.writing import write_file

    found = {name: ask() for name, ask in _questions().items()}
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items()]
    print(write_file(ANSWERS, "{\n" + ",\n".join(lines) + "\n}\n"))
