"""The benchmarks run, on small data and without judging the figures."""

from __future__ import annotations

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
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 12
    assert "bytes per cell" in done.stdout


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
def test_engine_prints_its_table():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "engine.py"), "--quick"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 19
    assert "RRF, golub" in done.stdout


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
def test_controlburn_prints_its_table():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "controlburn.py"), "--quick"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 11
    assert "objective above cvxpy's" in done.stdout


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
def test_outputs_prints_its_table():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "outputs.py"), "--quick"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("one tree for all") == 8


PAPERS = sorted(p.name for p in (FOLDER / "papers").glob("*.py") if p.name != "common.py")


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")
@pytest.mark.parametrize("program", PAPERS)
def test_a_papers_program_prints_its_tables(program):
    before = {p: p.stat().st_mtime_ns for p in (FOLDER / "papers").rglob("*")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / "papers" / program), "--quick", "--jobs", "1"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "treeselect" in done.stdout
    assert done.stdout.count("|\n") >= 4
    written = {p: p.stat().st_mtime_ns for p in (FOLDER / "papers").rglob("*.md")}
    assert written == {p: t for p, t in before.items() if p.suffix == ".md"}
