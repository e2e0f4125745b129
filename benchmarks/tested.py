"""Which lines and branches of the package do the tests run?

    python benchmarks/tested.py [--quick] [--jobs 2]

All tests run once, as in ``make test``, beneath coverage.py, which follows their processes, too;
but one, which counts objects. Copies of the package that tests install elsewhere do not count.
Kernels do not count: numba compiles them, so that their lines are never run as Python; tests/engine
compares each with a definition of a few lines.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from harness import Run

HOUSE = Path(__file__).resolve().parents[1]
SETTINGS = """
[run]
branch = True
source_pkgs = treeselect
parallel = True
patch = subprocess
data_file = {folder}/data
[report]
exclude_also =
    ^ *@(kernel|inner|inlined)\\b
    if TYPE_CHECKING:
"""
COUNTS_OBJECTS = "tests/running/test_parallel.py::test_calls_leave_no_objects_behind"
"""Those of coverage.py, too."""
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def coverage_of(tests, jobs):
    """Counts by module, and the last line that the tests print."""
    with tempfile.TemporaryDirectory() as folder:
        settings, result = Path(folder, "settings"), Path(folder, "result.json")
        settings.write_text(SETTINGS.format(folder=folder), "utf-8")

        def called(*arguments):
            command = [sys.executable, "-m", "coverage", arguments[0], f"--rcfile={settings}"]
            return subprocess.run(
                [*command, *arguments[1:]], cwd=HOUSE, capture_output=True, text=True
            )

        given = ["-q", "-n", str(jobs), "--dist", "worksteal", "--deselect", COUNTS_OBJECTS, *tests]
        ran = called("run", "-m", "pytest", *given)
        if ran.returncode:
            raise SystemExit(ran.stdout[-2000:] + ran.stderr[-2000:])
        for step in (("combine", "-q"), ("json", "-q", "-o", str(result))):
            called(*step).check_returncode()
        files = json.loads(result.read_text("utf-8"))["files"]
    said = ran.stdout.strip().splitlines()[-1].strip("= ")
    here = {name: file["summary"] for name, file in files.items() if not Path(name).is_absolute()}
    return {name: [found[count] for count in COUNTS] for name, found in here.items()}, said


def table_of(found):
    """A row per folder, and one of all; a percentage is 100 only if nothing is missing."""
    counts = pd.DataFrame.from_dict(found, orient="index", columns=COUNTS).assign(modules=1)
    rooms = counts.groupby([Path(name).parent.as_posix() for name in found]).sum()
    for room, of in [*rooms.iterrows(), ("all", rooms.sum())]:
        lines, run, branches, taken, modules = of
        if lines:
            yield {
                "folder": room, "modules": modules, "statements": f"{lines:,}",
                "% run": f"{1000 * run // lines / 10:.1f}", "branches": f"{branches:,}",
                "% taken": f"{1000 * taken // branches / 10:.1f}" if branches else "",
            }  # fmt: skip


def main():
    """Write the table."""
    run = Run(__doc__, jobs=2)
    found, said = coverage_of(run.pick(["-n0", "tests/engine/test_rounding.py"], []), run.jobs)
    run.table("tested", table_of(found), f"Lines and branches that the tests run ({said}).")


if __name__ == "__main__":
    main()
