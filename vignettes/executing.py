"""Vignettes to their outputs, several at a time; what has run once for the same code is read."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import cache
from importlib.metadata import distributions
from multiprocessing import get_context
from pathlib import Path

from joblib import cpu_count

from treeselect.writing import write_file
from vignettes.running import ROOT, run
from vignettes.sources import Cell, Output, Vignette, VignetteError, read_vignette

CELLS = ROOT / "docs" / "_build" / "cells"
"""Where cells that have run are stored: the standalone pages and the site are made from them."""

_RUN_BY = ("running.py", "session.py", "sources.py")


def executed(
    sources: Sequence[Path], folder: Path = CELLS
) -> Iterator[tuple[Path, Vignette | VignetteError]]:
    """Run vignettes, as many at a time as there are cores, or read what they gave before.

    Parameters
    ----------
    sources : sequence of path
    folder : path
        Where outputs are stored, one file per vignette. It is read if source, package and the
        versions of all installed packages are those of the run.

    Yields
    ------
    tuple of path and (Vignette or VignetteError)
        In the order of `sources`.
    """
    jobs = min(cpu_count(), sum(not _stored(source, folder).is_file() for source in sources))
    if jobs < 2:
        yield from ((source, _one(source, folder)) for source in sources)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from zip(sources, pool.map(_one, sources, [folder] * len(sources)), strict=True)


def _one(source: Path, folder: Path) -> Vignette | VignetteError:
    """An error is returned, so that it does not end the others."""
    stored = _stored(source, folder)
    try:
        if stored.is_file():
            return _from_text(source, stored.read_text(encoding="utf-8"))
        vignette = run(read_vignette(source))
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps([asdict(cell) for cell in vignette.cells])
        write_file(stored, text, what="outputs", error=VignetteError)
    except VignetteError as error:
        return error
    for other in folder.glob(f"{source.stem}.*.json"):
        if other != stored:
            other.unlink(missing_ok=True)
    return vignette


def _stored(source: Path, folder: Path) -> Path:
    text = source.read_bytes() if source.is_file() else b""
    key = hashlib.sha256(text + _surroundings()).hexdigest()
    return folder / f"{source.stem}.{key[:20]}.json"


@cache
def _surroundings() -> bytes:
    """A hash of all that outputs depend on beside the source."""
    files = [
        path
        for name in ("treeselect", "templates")
        for path in sorted((ROOT / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    files += [ROOT / "vignettes" / name for name in _RUN_BY]
    parts = [b"%s\0%s" % (str(p.relative_to(ROOT)).encode(), p.read_bytes()) for p in files]
    packages = sorted(f"{found.name} {found.version}" for found in distributions())
    parts.append("\n".join([platform.platform(), platform.python_version(), *packages]).encode())
    return hashlib.sha256(b"\0".join(parts)).digest()


def _from_text(source: Path, text: str) -> Vignette:
    cells = tuple(
        Cell(
            **{
                **cell,
                "tags": tuple(cell["tags"]),
                "outputs": tuple(Output(**output) for output in cell["outputs"]),
            }
        )
        for cell in json.loads(text)
    )
    return Vignette(source, cells)
