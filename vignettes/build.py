"""Run the vignettes and write one HTML file of each, which opens without a network.

    python -m vignettes.build [SOURCE ...] [--output FOLDER]

Exit code 1 if one of them fails: the message names the file, the cell and the error.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

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
    options.output.mkdir(parents=True, exist_ok=True)
    failed = False
    for source in options.sources or sorted(FOLDER.glob("*.md")):
        try:
            print(build(source, options.output), flush=True)
        except VignetteError as error:
            print(f"vignettes: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


def build(source: Path, output: Path) -> str:
    """Run one vignette and write its page; an older page goes first, so that none outlives a
    failure.

    Returns
    -------
    str
        What was done, in a line.

    Raises
    ------
    VignetteError
        If it can't be run or rendered. There is no page then.
    """
    begin = time.perf_counter()
    page = output / f"{source.stem}.html"
    page.unlink(missing_ok=True)
    text = render(run(read_vignette(source)))
    # Written under another name: a page appears whole or not at all.
    with tempfile.TemporaryDirectory(dir=output, prefix=".part") as folder:
        part = Path(folder) / page.name
        part.write_text(text, encoding="utf-8")
        os.replace(part, page)
    size = len(text.encode()) / 1000
    return f"{page.name}: {size:,.0f} kB, {time.perf_counter() - begin:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
