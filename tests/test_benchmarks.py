"""The benchmarks run, on small data and without judging the figures.

They run in this process, which has loaded the package and its kernels already.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier

import treeselect
from treeselect.algorithms.registry import METHODS

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
on_linux = pytest.mark.skipif(
    not (Path("/proc/self/clear_refs").exists() and Path("/proc/self/smaps_rollup").exists()),
    reason="needs Linux to measure memory",
)


def written(folder):
    """When each file of a folder was last written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*")}


grow = RandomForestClassifier.fit


def fit_few_trees(forest, *rows, **weights):
    return grow(forest.set_params(n_estimators=min(forest.n_estimators, 10)), *rows, **weights)


@functools.cache
def peers():
    """Modules of the packages that only comparisons need, of which a machine has any number."""
    lines = (FOLDER / "requirements.txt").read_text().splitlines()
    needed = {line.split("==")[0] for line in lines if "==" in line}
    modules = importlib.metadata.packages_distributions().items()
    return {module for module, packages in modules if needed.intersection(packages)}


find_spec = importlib.util.find_spec


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a program without its peers; it ends well and writes no results. What it prints."""
    absent = peers()
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in absent else find_spec(name)
    )

    def run(program, *arguments):
        path = FOLDER / program
        results = path.parent / "results"
        monkeypatch.syspath_prepend(FOLDER)  # common.py, which adds it, may be loaded already
        monkeypatch.syspath_prepend(path.parent)
        monkeypatch.setattr(sys, "argv", [program, "--quick", *arguments])
        monkeypatch.setattr("treeselect.models.boosting.MOST_ROUNDS", 50)
        monkeypatch.setattr(RandomForestClassifier, "fit", fit_few_trees)
        before = written(results)
        status = None
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as end:
            status = end.code
        assert not status
        assert written(results) == before
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("program", "n_lines"),
    [
        ("analyses.py", 2 + 1),
        ("answers.py", 2 + 3 + 2 + 1 + 2 + 1 + 2 * (2 + 3) + 2 + 2 + 3), ("engine.py", 2 + 12),
        pytest.param("fuzz.py", 2 + 4, marks=on_linux),
        ("final_models.py", 2 + 1), ("holds.py", 9 * (2 + 1)),
        pytest.param("hostile.py", 2 + 2, marks=on_linux),
        ("invariance.py", 2 + 3), ("kills.py", 2 + 1),
        ("originals.py", 2 + 11), ("pages.py", 0), ("papers/agreement.py", 2 + 81),
        ("papers/controlburn.py", 2 + 3 + 2 + 5 + 2 + 1),
        ("papers/controlburn_sets.py", 2 + 2 + 2 + 6 + 2 + 5),
        ("papers/gbfs.py", 2 + 2 + 2 + 3),
        ("papers/grrf.py", 2 + 54 + 2 + 4 + 2 + 13), ("papers/heinze_bodyfat.py", 2 + 11),
        ("papers/regularized_trees.py", 2 + 3),
        ("prediction.py", 2 + 12 + 2 + 2), ("qvalues.py", 2 + 4 + 1),
        ("same_size.py", 2 + 3 + 2 + 1),
        ("survival.py", 2 + 2), ("tested.py", 2 + 30), ("truth.py", 2 + 4),
        ("truth.py --peers 'forest importance'", 2 + 2), ("truth.py --rank", 2 + 33 + 2 + 3),
        pytest.param("whole.py", 2 + 2 + 2 + 1, marks=on_linux),
    ],
)  # fmt: skip
def test_a_program_prints_its_tables(run, program, n_lines):
    text = run(*shlex.split(program))
    assert "treeselect" in text
    assert text.count("|\n") == n_lines


@on_linux
def test_files_larger_than_memory_are_measured_stage_by_stage(run):
    text = run("beyond_memory.py")
    assert text.count('"peak MB"') == 4


def test_calls_that_are_timed_have_all_arguments(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    whole = importlib.import_module("whole")
    signature, usual = inspect.signature(treeselect.select), whole.Case._field_defaults["ready"]
    monkeypatch.setattr(treeselect, "select", signature.bind)
    points = [axis.case(axis.values[0]) for axis in whole.AXES.values()]
    for case in [*whole.CASES.values(), *points]:
        case.ready("a frame") if case.ready is not usual else case.call("a frame")


def test_each_simulated_case_has_its_truth_among_its_columns(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    cases = importlib.import_module("cases").CASES
    for name in set(cases) - {"madelon"}:
        frame, truth = cases[name](0, n_noise=2)
        again, _ = cases[name](0, n_noise=2)
        assert frame.equals(again), name
        members = [column for group in truth for column in group]
        assert len(members) == len(set(members)), name
        assert set(members) <= set(frame.columns) - {"y"}, name
        assert frame["y"].nunique() > 1, name


# --- all programs as one body of evidence ------------------------------------------------------


@pytest.fixture
def evidence(monkeypatch):
    """The program that runs all others."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("evidence")


def test_each_program_is_in_a_part_or_says_why_not(evidence, run):
    parts = importlib.import_module("parts")
    lines = [program for part in parts.PARTS for program in part.programs]
    told = {shlex.split(program)[0] for program in lines}
    programs = {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*.py")
        if "__main__" in path.read_text("utf-8")
        and path.parent.name not in ("survival", "hostility")
    }
    assert told <= programs
    assert programs - told == {*parts.ELSEWHERE, "evidence.py"}
    assert {name for part in parts.PARTS for name in part.methods} <= {*METHODS, "default"}
    assert run("evidence.py").count("|\n") == 2 + len(lines)


def test_copies_of_the_package_are_not_what_is_tested(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    tested = importlib.import_module("tested")
    counts = dict.fromkeys(tested.COUNTS, 2)
    files = {
        name: {"summary": counts}
        for name in ("treeselect/errors.py", "/elsewhere/treeselect/errors.py")
    }

    def called(command, **options):
        if command[3] == "json":
            Path(command[-1]).write_text(json.dumps({"files": files}))
        return subprocess.CompletedProcess(command, 0, stdout="== 5 passed ==\n")

    monkeypatch.setattr(subprocess, "run", called)
    assert tested.coverage_of([], 1) == ({"treeselect/errors.py": [2, 2, 2, 2]}, "5 passed")


def test_what_a_program_runs_in_processes_can_be_sent_to_them():
    # What is cached in the main module can be pickled only by its name, which others do not have.
    for path in FOLDER.rglob("*.py"):
        text = path.read_text("utf-8")
        if "run.map(" in text or "run.flat(" in text:
            assert "cache\n" not in text, path


def test_fingerprints_ignore_comments_and_are_of_all_that_is_imported(evidence, tmp_path):
    texts = {
        "plain": "def f(x):\n    return x\n",
        "told": '"""About."""\n\n\ndef f(x):  # same\n    """Identity."""\n    return x\n',
        "other": "def f(x):\n    return x + 1\n",
    }
    found = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
        found[name] = evidence.fingerprint_of([tmp_path / f"{name}.py"])
    assert found["plain"] == found["told"] != found["other"]

    def behind(name):
        found = evidence.modules_behind(evidence.FOLDER / name)
        return {path.relative_to(evidence.FOLDER).as_posix() for path in found}

    assert behind("harness.py") == {"harness.py"}
    assert {"same_size.py", "answers.py", "peers.py", "peers.R"} <= behind("same_size.py")
    assert {"papers/common.py", "harness.py"} <= behind("papers/gbfs.py")
    assert {"hostility/calls.py", "hostility/tables.py"} <= behind("hostile.py")
    assert "peers.py" not in behind("papers/gbfs.py")


def test_rows_stand_as_long_as_the_answers_of_their_method_do(evidence, monkeypatch, tmp_path):
    harness = importlib.import_module("harness")
    monkeypatch.setattr(harness, "STORED", tmp_path / "answers")
    monkeypatch.setattr(sys, "argv", ["some.py", "--results", str(tmp_path)])

    def rows():
        run = harness.Run("", depends=harness.methods_of)
        names = ("treeselect", "lasso", "grrf, refined", "another")
        run.keep("found", [{"run": n, "method": n} for n in names if n not in run.stands("found")])
        return run

    (tmp_path / "found.csv").write_text("run,method\ntreeselect,treeselect\nother,other\n")
    (tmp_path / "answers").write_text('{"default, cox": 1, "lasso": 2.0, "grrf": 3}')
    assert harness.Run("", depends=harness.methods_of).stands("found") == {"other"}
    assert len(rows().stands("found")) == 5
    assert "fingerprint" not in rows().kept("found")
    (tmp_path / "answers").write_text('{"default, cox": 0, "lasso": 2.00001, "grrf": 4}')
    monkeypatch.setattr(harness.Run, "keep", lambda *_: None)
    assert rows().stands("found") == {"lasso", "another", "other"}


def test_what_is_done_is_not_run_again_and_what_fails_is(evidence, monkeypatch, tmp_path, capsys):
    def run(part, *options):
        monkeypatch.setattr(sys, "argv", ["evidence.py", "--results", str(tmp_path), *options])
        asked = evidence.Run("", again=False)
        return evidence.run_part(part, asked), list(evidence.earlier(asked))

    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    monkeypatch.setattr(evidence, "PACKAGE", tmp_path / "package")
    harness = importlib.import_module("harness")
    monkeypatch.setattr(harness, "STORED", tmp_path / "answers")
    (tmp_path / "answers").write_text('{"default, cox": 1, "lasso": 2}')
    (tmp_path / "good.py").write_text("open('ran', 'a').write('x')")
    (tmp_path / "bad.py").write_text("raise SystemExit('no such thing')")
    monkeypatch.chdir(tmp_path)
    part = evidence.Part("some", "Why?", ("good.py", "bad.py"), methods=("default",))
    for _ in range(2):
        assert run(part) == (False, ["good.py"])
    assert (tmp_path / "ran").read_text() == "x"
    assert capsys.readouterr().out.count("no such thing") == 2
    (tmp_path / "good.py").write_text("open('ran', 'a').write('y')")
    run(part)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "new.py").write_text("same = 1")
    run(part)
    assert (tmp_path / "ran").read_text() == "xy"
    run(part._replace(measures_time=True))
    assert (tmp_path / "ran").read_text() == "xyy"
    (tmp_path / "answers").write_text('{"default, cox": 1, "lasso": 3}')
    run(part)
    assert (tmp_path / "ran").read_text() == "xyy"
    (tmp_path / "answers").write_text('{"default, cox": 0, "lasso": 3}')
    run(part)
    assert (tmp_path / "ran").read_text() == "xyyy"
    absent = evidence.Part("other", "Why?", ("good.py",), ("no_such_module",))
    assert run(absent, "--again")[0]
    assert "left out, without no_such_module" in capsys.readouterr().out
