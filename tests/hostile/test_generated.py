"""Two hundred cases of ``benchmarks/hostile.py``.

One that fails is replayed by ``python benchmarks/hostile.py --seed 17 --case FAMILY:NUMBER``, made
small, and becomes a row of ``test_cases.py``.
"""

import inspect
import re
from pathlib import Path

import pytest

import treeselect
from treeselect import SelectionResult, comparing
from treeselect.algorithms.registry import METHODS
from treeselect.comparing import Comparison
from treeselect.results import fitting

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SEED = 17

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")


@pytest.fixture(autouse=True)
def _rooms(monkeypatch):
    """The rooms of the program can be imported."""
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.mark.parametrize(
    ("family", "first", "last"),
    [("calls", first, first + 40) for first in range(0, 80, 40)]
    + [("formulas", 0, 60), ("files", 0, 30), ("tables", 0, 20), ("faults", 0, 10)],
)
def test_no_case_fails(family, first, last, tmp_path, monkeypatch):
    from hostility.watching import fenced
    from hostility.working import FAMILIES, plan_of

    monkeypatch.chdir(tmp_path)
    failures = {}
    for number in range(first, last):
        plan = plan_of(SEED, family, number)
        with fenced():
            found = FAMILIES[family].run(plan, tmp_path)
        if found.kind == "failed":
            failures[f"{family}:{number}"] = f"{found.signature}: {found.message[:300]!a}"
    assert not failures, "\n".join(f"{case}: {said}" for case, said in failures.items())


def test_what_would_run_code_or_take_all_memory_is_refused(tmp_path):
    from hostility.attacks import BOMBS, CANARY, HOLES, PAYLOADS, PLAIN_WAYS
    from hostility.working import judged

    formulas = list(BOMBS)
    for number, way in enumerate((*HOLES, *PLAIN_WAYS)):
        payload = PAYLOADS[number % len(PAYLOADS)].format(file=CANARY, mark=CANARY)
        formulas.append(way.replace("{t}", "'`' + str({p}) + '`'").replace("{p}", payload))
    for formula in formulas:
        found = judged("formulas", {"formula": formula, "channel": "select"}, tmp_path)
        assert found["kind"] == "refused", (formula, found)


def called(library, columns, then, folder):
    """What becomes of a quick selection of the first column by the others."""
    from hostility import calls

    quick = {"method": "'fcbf'", "k": "1", "seed": "1", "progress": "False", "n_jobs": "1"}
    columns = [dict(zip(("name", "dtype", "values"), column, strict=True)) for column in columns]
    plan = {"library": library, "columns": columns, "formula": "y ~ .", "call": "select",
            "options": quick, "then": then}  # fmt: skip
    return calls.run(plan, folder)


def test_a_name_is_answered_and_shown_escaped(tmp_path):
    from hostility.words import HOSTILE

    for number, name in enumerate(HOSTILE):
        columns = [
            ("y", "int64", [*"01"] * 12),
            (name, "float64", [f"{i * 7 % 11}" for i in range(24)]),
        ]
        then = ["again()", *(["report(html)"] if number % 20 == 0 or "\x1b" in name else [])]
        found = called("pandas", columns, then, tmp_path)
        is_none = name in ("", "1", ".", "~") or re.search("[`\ud800-\udfff]", name)
        assert found.kind == ("refused" if is_none else "answered"), (name, found)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_of_any_type_is_answered_or_refused(library, tmp_path):
    from hostility.columns import _POOLS, DTYPES

    whole = {"pandas": "int64", "polars": "Int64", "pyarrow": "int64"}[library]
    for dtype, kind in DTYPES[library].items():
        pool = [text for text in _POOLS[kind][0] if text[0] != "-"][:8]
        for values in ((pool * 12)[:12], [*(pool * 10)[:10], "None", "None"]):
            columns = [("y", whole, [*"01"] * 6), ("z", dtype, values)]
            found = called(library, columns, ["predict(few)"], tmp_path)
            assert found.kind != "failed", (dtype, found)


def test_cases_call_every_method_with_every_argument():
    from hostility.arguments import ARGUMENTS, FEW, METHOD_OPTIONS

    assert set(METHODS) == set(FEW)
    assert {name for kind in METHODS.values() for name in kind.defaults()} == set(METHOD_OPTIONS)
    given = {"formula", "data", "method", "methods", "options", "checkpoint", "on_piece"}
    for call in (treeselect.select, treeselect.compare):
        assert set(inspect.signature(call).parameters) - given <= set(ARGUMENTS)
    assert {*fitting.ARGUMENTS, *comparing.OTHERS} - {*given, "progress"} <= set(ARGUMENTS)


def test_cases_use_all_that_an_answer_has():
    from hostility.uses import COMPARED, USES

    for kind, uses in ((SelectionResult, USES), (Comparison, COMPARED)):
        used = {name for use in uses for name in re.findall(r"(?:^|\.)(\w+)", use)}
        has = {name for cls in kind.__mro__ for name, value in vars(cls).items()
               if inspect.isfunction(value) and name[0] != "_"}  # fmt: skip
        assert has - {"save", "as_shown", "choices"} <= used  # again() saves


def test_the_watch_knows_the_modules_that_handle_formulas():
    from hostility.watching import HANDLES

    package = FOLDER.parent / "treeselect"
    handling = {p.relative_to(package).as_posix() for p in package.rglob("*.py")
                if HANDLES.search(str(p))}  # fmt: skip
    known = {p.relative_to(package).as_posix() for p in package.glob("formulas/*.py")}
    assert known | {"formula.py", "designs/evaluation.py"} == handling
    assert "formulas/guard.py" in known


def test_the_watch_hears_what_a_formula_must_not_do(tmp_path):
    from hostility.watching import watching

    code = compile(f"open({str(tmp_path / 'x')!r}, 'w').close()", "<string>", "exec")
    with watching() as heard:
        exec(code)
        __import__("__hello__")
    assert any(said.startswith("open") for said in heard)
    assert "import of __hello__" in heard
    with watching() as heard:
        (tmp_path / "y").write_text("honest")
        sorted([2, 1])
    assert heard == []


def test_the_fence_keeps_cases_from_other_files(tmp_path):
    from hostility.watching import fenced

    outside = Path(FOLDER.anchor) / "a case wrote this"
    with fenced():
        (tmp_path / "x").write_text("here")
        with pytest.raises(PermissionError):
            outside.write_text("there")
        with pytest.raises(PermissionError):
            (tmp_path / "x").replace(outside)
    assert not outside.exists()
