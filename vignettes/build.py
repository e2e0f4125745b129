"""Run the vignettes and write one HTML file of each, which opens without a network.

    python -m vignettes.build [SOURCE ...] [--output FOLDER]

Exit code 1 if one of them fails: the message names the file, the cell and the error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from treeselect.arguments.paths import reason
from treeselect.errors import quoted
from treeselect.writing import check_place, write_file
from vignettes.rendering import render
from vignettes.running import run
from vignettes.sources import VignetteError, read_vignette

FOLDER = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Build all vignettes, or those that are named; returns the exit code, 0 or 1.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` by default.
    """
    parser = argparse.ArgumentParser(
        prog="python -m vignettes.build", description="Run the vignettes and write their pages."
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="*", type=Path)
    parser.add_argument("--output", metavar="FOLDER", type=Path, default=FOLDER / "html")
    options = parser.parse_args(arguments)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = f"Can't make the folder {quoted(str(options.output))}.\n  {reason(error)}"
        print(f"vignettes: {said}", file=sys.stderr, flush=True)
        return 1
    failed = False
    for source in options.sources or sorted(FOLDER.glob("*.md")):
        try:
            print(build(source, options.output), flush=True)
        except VignetteError as error:
            print(f"vignettes: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


def build(source: Path, output: Path) -> str:
    """Run one vignette and write its page; if it fails, an older page goes.

    Returns
    -------
    str
        What was done, in a line.

    Raises
    ------
    VignetteError
        If it can't be run or rendered; there is no page then. Or if the page can't be written; an
        older one is then as it was.
    """
    begin = time.perf_counter()
    page = output / f"{source.stem}.html"
    check_place(page, what="page", error=VignetteError)
    try:
        text = render(run(read_vignette(source)))
    except Exception:
        page.unlink(missing_ok=True)  # it would pass for what the source gives now
        raise
    write_file(page, text, what="page", error=VignetteError)
    size = len(text.encode()) / 1000
    return f"{page.name}: {size:,.0f} kB, {time.perf_counter() - begin:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
