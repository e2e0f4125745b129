"""treeselect from R: a script does what the page says, where R and reticulate are installed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SCRIPT = TESTS.parent / "docs" / "guides" / "from_r.R"


def run_r(*arguments, folder=None, **environment):
    return subprocess.run(
        ["Rscript", "--vanilla", *arguments], capture_output=True, text=True, encoding="utf-8",
        cwd=folder, env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
    )  # fmt: skip


def test_a_data_frame_there_and_results_back(tmp_path):
    asked = ("-e", "reticulate::py_config()")
    if not shutil.which("Rscript") or run_r(*asked, RETICULATE_PYTHON=sys.executable).returncode:
        pytest.skip("R or its package reticulate is not installed, or too old for this Python")
    done = run_r(
        str(TESTS / "from_r.R"), folder=tmp_path, FROM_R=str(SCRIPT),
        RETICULATE_PYTHON=sys.executable, PYTHONPATH=str(TESTS.parent),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^0\.\d+$", done.stdout, re.MULTILINE)) == 4
    assert "</html>" in (tmp_path / "patients.html").read_text("utf-8")
