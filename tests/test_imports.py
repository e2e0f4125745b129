"""What `import treeselect` loads."""

import subprocess
import sys

# each takes part of a second to load, and most calls need only some of them
HEAVY = [
    "formulaic", "scipy", "sklearn", "numba", "statsmodels", "cvxpy", "jinja2", "joblib",
    "matplotlib",
]  # fmt: skip


def test_importing_treeselect_stays_light() -> None:
    script = f"import sys, treeselect; print(*sorted(set({HEAVY}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
