"""The benchmarks run, on small data and without judging the figures."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


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
        ("seconds.py", "treeselect", 1, 7),
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


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
@pytest.mark.parametrize(
    ("program", "n_lines"),
    [
        ("noise.py", 2 + 2),
        ("truth.py", 2 + 6),
        ("pmlb.py", 2 * (2 + 2)),
        ("steadiness.py", 2 + 2 + 2 + 1),
        pytest.param(
            "comparison.py",
            2 + 1 + 2 + 2,
            marks=pytest.mark.skipif(
                not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux"
            ),
        ),
    ],
)
def test_a_program_of_all_methods_prints_its_table_and_writes_nothing(program, n_lines):
    results = FOLDER / "results"
    before = {p: p.stat().st_mtime_ns for p in results.glob("*")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / program), "--quick", "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "treeselect" in done.stdout
    assert done.stdout.count("|\n") == n_lines
    assert {p: p.stat().st_mtime_ns for p in results.glob("*")} == before


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
    before = {p: p.stat().st_mtime_ns for p in (FOLDER / "papers" / "results").iterdir()}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / "papers" / program), "--quick", "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "treeselect" in done.stdout
    assert done.stdout.count("|\n") >= 4
    after = {p: p.stat().st_mtime_ns for p in (FOLDER / "papers" / "results").iterdir()}
    assert after == before
