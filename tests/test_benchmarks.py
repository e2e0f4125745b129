"""The benchmarks run, on small data and without judging the figures."""

from __future__ import annotations

import importlib
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def written(folder):
    """When each file of a folder was last written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*")}


@pytest.mark.skipif(
    not FOLDER.is_dir() or not Path("/proc/self/clear_refs").exists(),
    reason="needs the repository, and Linux to measure memory",
)
def test_encode_prints_its_table():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "encode.py"), "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 12
    assert "bytes per cell" in done.stdout


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
@pytest.mark.parametrize(
    ("program", "words", "times", "n_lines"),
    [
        ("engine.py", "RRF, golub", 1, 19),
        ("controlburn.py", "objective above cvxpy's", 2, 11),
    ],
)
def test_a_program_prints_its_table(program, words, times, n_lines):
    done = subprocess.run(
        [sys.executable, str(FOLDER / program), "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(words) == times
    assert done.stdout.count("\n") == n_lines


@pytest.mark.skipif(
    not FOLDER.is_dir() or not Path("/proc/self/smaps_rollup").exists(),
    reason="needs the repository, and Linux to measure memory",
)
def test_comparison_prints_its_tables_and_writes_nothing():
    before = written(FOLDER / "results")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / "comparison.py"), "--quick", "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "treeselect" in done.stdout
    assert done.stdout.count("|\n") == 2 + 1 + 2 + 2
    assert written(FOLDER / "results") == before


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
@pytest.mark.parametrize(
    ("program", "n_lines"),
    [
        ("noise.py", 2 + 2),
        ("truth.py", 2 + 6),
        ("pmlb.py", 2 * (2 + 2)),
        ("steadiness.py", 2 + 2 + 2 + 1),
        ("seconds.py", 2 + 2),
        pytest.param(
            "model_files.py",
            2 + 1,
            marks=pytest.mark.skipif(
                not Path("/proc/self/clear_refs").exists(), reason="needs Linux"
            ),
        ),
        ("calibration.py", 2 + 12),
        ("conditional.py", 2 + 1),
    ],
)
def test_a_program_of_all_methods_prints_its_tables_and_writes_nothing(
    program, n_lines, monkeypatch, capsys
):
    before = written(FOLDER / "results")
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr(sys, "argv", [program, "--quick"])
    runpy.run_path(str(FOLDER / program), run_name="__main__")  # here, kernels are loaded already
    text = capsys.readouterr().out
    assert "treeselect" in text
    assert text.count("|\n") == n_lines
    assert written(FOLDER / "results") == before


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
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


PAPERS = sorted(p.name for p in (FOLDER / "papers").glob("*.py") if p.name != "common.py")


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
@pytest.mark.parametrize("program", PAPERS)
def test_a_papers_program_prints_its_tables(program):
    before = written(FOLDER / "papers" / "results")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / "papers" / program), "--quick", "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "treeselect" in done.stdout
    assert done.stdout.count("|\n") >= 4
    assert written(FOLDER / "papers" / "results") == before
