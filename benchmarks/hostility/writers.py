"""What writes files: methods of results, and the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostility.judging import streams

WRITERS = (
    "save", "save with data", "report", "comparison", "predict -o", "select --json",
    "select --save", "select --report", "compare --json",
)  # fmt: skip


@functools.cache
def made() -> tuple[Any, Any, Path]:
    """A fit, a comparison, and a folder with a model file and data, for the command line."""
    import atexit
    import shutil
    import tempfile

    import treeselect
    from hostility.attacks import frame

    quick: dict[str, Any] = {"seed": 1, "n_jobs": 1, "progress": False}
    fit = treeselect.select("y ~ x + g + v", frame(), method="fcbf", k=1, **quick)
    compared = treeselect.compare("y ~ x + g + v", frame(), ["fcbf", "cfs"], k=1, folds=2, **quick)
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    fit.save(folder / "model")
    frame().to_csv(folder / "table.csv", index=False)
    with streams():
        fit.report(folder / "warm.html")
        compared.report(folder / "warm.html")
    return fit, compared, folder


def writer_of(name: str) -> Callable[[str], Any]:
    from treeselect.cli import main as cli

    fit, compared, folder = made()
    table, quick = str(folder / "table.csv"), ["-m", "fcbf", "-k", "1", "--seed", "1"]

    def by_command(*arguments: str) -> Callable[[str], Any]:
        def write(path: str) -> None:
            from treeselect.errors import TreeselectError

            with streams() as (_, error):
                code = cli.main([*arguments, path])
            if code:
                error.flush()
                raise TreeselectError(error.buffer.getvalue().decode())  # type: ignore[attr-defined]

        return write

    compare = [
        "compare", "y ~ x + g", table, "-m", "fcbf,cfs", "-k", "1", "--folds", "2", "--seed", "1",
    ]  # fmt: skip
    return {
        "save": fit.save, "save with data": lambda path: fit.save(path, include_data=True),
        "report": fit.report, "comparison": compared.report,
        "predict -o": by_command("predict", str(folder / "model"), table, "-o"),
        "select --json": by_command("select", "y ~ x + g", table, *quick, "--json"),
        "select --save": by_command("select", "y ~ x + g", table, *quick, "--save"),
        "select --report": by_command("select", "y ~ x + g", table, *quick, "--report"),
        "compare --json": by_command(*compare, "--json"),
    }[name]  # fmt: skip


@functools.cache
def size_of(name: str) -> int:
    """Bytes of what a writer writes."""
    path = made()[2] / "size"
    writer_of(name)(str(path))
    return path.stat().st_size
