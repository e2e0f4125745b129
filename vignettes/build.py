"""Run the vignettes and write one HTML file of each, which opens without a network.

    python -m vignettes.build [SOURCE ...] [--output FOLDER] [--cells FOLDER]

Exit code 1 if one of them fails: the message names the file, the cell and the error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from treeselect.errors import quoted, reason
from treeselect.writing import check_place, write_file
from vignettes.executing import CELLS, executed
from vignettes.rendering import render
from vignettes.sources import Vignette, VignetteError

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
    parser.add_argument(
        "--cells",
        metavar="FOLDER",
        type=Path,
        default=CELLS,
        help="where outputs are stored, so that unchanged vignettes are not run again",
    )
    options = parser.parse_args(arguments)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = f"Can't make the folder {quoted(str(options.output))}.\n  {reason(error)}"
        print(f"vignettes: {said}", file=sys.stderr, flush=True)
        return 1
    failed = False
    sources = options.sources or sorted(FOLDER.glob("*.md"))
    for source, vignette in executed(sources, options.cells):
        try:
            print(build(source, vignette, options.output), flush=True)
        except VignetteError as error:
            print(f"vignettes: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


def build(source: Path, vignette: Vignette | VignetteError, output: Path) -> str:
    """Write the page of a vignette that has run; if it has failed, an older page goes.

    Returns
    -------
    str
        What was done, in a line.

    Raises
    ------
    VignetteError
        If it was not run or can't be rendered; there is no page then. Or if the page can't be
        written; an older one is then as it was.
    """
    page = output / f"{source.stem}.html"
    check_place(page, what="page", error=VignetteError)
    try:
        if isinstance(vignette, VignetteError):
            raise vignette
        text = render(vignette, output)
    except Exception:
        page.unlink(missing_ok=True)  # it would pass for what the source gives now
        raise
    write_file(page, text, what="page", error=VignetteError)
    return f"{page.name}: {len(text.encode()) / 1000:,.0f} kB"


if __name__ == "__main__":
    sys.exit(main())
