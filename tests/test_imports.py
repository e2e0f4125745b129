"""What `import treeselect` and a first call load: each of these takes part of a second."""

import subprocess
import sys

import pytest

CALL = "treeselect.select('survived ~ .', treeselect.datasets.load('titanic_correlated'), k=2)"
HEAVY = ["sklearn", "statsmodels", "scipy.stats", "cvxpy", "jinja2", "matplotlib", "polars"]


@pytest.mark.parametrize(
    ("call", "heavy"),
    [("pass", [*HEAVY, "formulaic", "scipy", "numba", "llvmlite", "joblib"]), (CALL, HEAVY)],
    ids=["import", "select"],
)
def test_only_what_is_needed_is_loaded(call, heavy):
    script = f"import sys, treeselect; {call}; print(*sorted(set({heavy}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
