"""Cells to outputs: a kernel of this Python, in a folder of its own, without network or ports."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat.v4
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from vignettes.sources import CHECK, RAISES, STDERR, Cell, Output, Vignette, VignetteError

ROOT = Path(__file__).resolve().parent.parent

_PATIENCE = 3600
"""Seconds that a kernel may take to start and its output to arrive: on a busy machine that is not a
matter of a few. A cell may take as long as it takes."""

_SET_UP = "from vignettes import session as _session; _session.begin()"
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
_ARROW = re.compile(r"^-+> \d+ (.*)$", re.MULTILINE)
_PICTURES = {"image/svg+xml", "image/png"}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def run(vignette: Vignette) -> Vignette:
    """Run all cells, in order, in a fresh kernel.

    Parameters
    ----------
    vignette : Vignette

    Returns
    -------
    Vignette
        With outputs, and values in the place of the prose's expressions; without cells that are
        only checks.

    Raises
    ------
    VignetteError
        If a cell fails, warns, takes too long, does not raise although it should, or shows
        something that differs between machines.
    """
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(_SET_UP), *map(_as_run, vignette.cells)]
    )
    with tempfile.TemporaryDirectory(prefix="vignette") as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        with _environment(folder):
            manager = AsyncKernelManager(
                # Without folders to look in, "python3" is the Python that runs this.
                kernel_name="python3",
                kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
                transport="tcp" if os.name == "nt" else "ipc",
                connection_file=str(folder / "k.json"),
            )
            client = NotebookClient(
                notebook,
                km=manager,
                startup_timeout=_PATIENCE,
                iopub_timeout=_PATIENCE,
                shutdown_kernel="immediate",
                resources={"metadata": {"path": str(work)}},
            )
            _execute(client, vignette)
        private = tuple(str(f) for f in (folder, ROOT, Path.home()) if len(f.parts) > 1)
        done = [
            checked(vignette, cell, _outputs(ran), private)
            for cell, ran in zip(vignette.cells, notebook.cells[1:], strict=True)
        ]
    return replace(vignette, cells=tuple(cell for cell in done if CHECK not in cell.tags))


def _as_run(cell: Cell) -> Any:
    """A cell as the kernel gets it; prose asks for the values of its expressions."""
    if cell.kind == "prose":
        # A line of its own for each, so that the error shows which one it is.
        asked = "\n".join(f"{expression}," for expression in cell.expressions)
        return nbformat.v4.new_code_cell(f"_session.inline(\n{asked}\n)" if asked else "")
    source = f"%%bash -e\n{cell.text}" if cell.language == "bash" else cell.text
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(cell.tags)})


@contextmanager
def _environment(folder: Path) -> Iterator[None]:
    """All that jupyter and IPython write goes into `folder`; commands are those of this Python."""
    changed = {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_NO_CONFIG": "1",
        "IPYTHONDIR": str(folder / "ipython"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "COLUMNS": "88",
        "NO_COLOR": "1",
    }
    before: Mapping[str, str | None] = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _execute(client: NotebookClient, vignette: Vignette) -> None:
    ran = {id(cell): i for i, cell in enumerate(client.nb.cells[1:])}
    current: list[int] = [-1]

    def note(cell: Any, **_: Any) -> None:
        current[0] = ran.get(id(cell), -1)

    client.on_cell_execute = note
    try:
        client.execute(cleanup_kc=True)
    except CellExecutionError as error:
        place = _ARROW.search(_COLOURS.sub("", error.traceback))
        at = f"At `{place[1].strip().rstrip(',')}`:\n" if place else ""
        problem = f"{at}{error.ename}: {error.evalue}\n{_stderr(client, current[0])}"
    except DeadKernelError:
        problem = "The kernel died."
    else:
        return
    if current[0] < 0:
        raise VignetteError(f"{vignette.path.name}: the kernel can't be set up.\n  {problem}")
    raise vignette.fails(vignette.cells[current[0]], problem)


def _stderr(client: NotebookClient, number: int) -> str:
    """What a cell wrote before it failed: of commands it says more than their exit code."""
    outputs = client.nb.cells[number + 1].outputs
    return "".join(o.text for o in outputs if o.output_type == "stream" and o.name == "stderr")


def checked(
    vignette: Vignette, cell: Cell, outputs: tuple[Output, ...], private: tuple[str, ...] = ()
) -> Cell:
    """The cell with what it has shown, or with its expressions filled in.

    Parameters
    ----------
    vignette, cell : Vignette, Cell
    outputs : tuple of Output
    private : tuple of str
        Folders of this machine.

    Raises
    ------
    VignetteError
        If it warns or does not raise although it should, has a figure without words for it, or
        shows what differs between machines.
    """
    warned = [output.content for output in outputs if output.kind == "stderr"]
    if warned and STDERR not in cell.tags:
        raise vignette.fails(cell, f"It writes to standard error:\n{''.join(warned)}")
    if cell.kind == "prose":
        return cell.filled(json.loads(outputs[0].content)) if outputs else cell
    if RAISES in cell.tags and not any(output.kind == "error" for output in outputs):
        raise vignette.fails(cell, "It was to raise an error, and does not.")
    for output in outputs:
        if output.kind in ("svg", "png") and not cell.alt:
            raise vignette.fails(cell, 'Its figure needs `alt="..."`: what it shows, in words.')
        for text in (*_ADDRESS.findall(output.content), *private):
            if output.kind != "png" and text in output.content:
                raise vignette.fails(cell, f"Its output differs between machines: {text!r}.")
    return replace(cell, outputs=outputs)


def _outputs(ran: Any) -> tuple[Output, ...]:
    """Outputs in their order; text that came in pieces is one. Beside a figure the value of the
    last line is left out: it is matplotlib's name for what is seen."""
    has_figure = any(set(output.get("data", ())) & _PICTURES for output in ran.outputs)
    joined: list[Output] = []
    for found in ran.outputs:
        if has_figure and set(found.get("data", ())) == {"text/plain"}:
            continue
        output = _output(found)
        if joined and joined[-1].kind == output.kind and output.kind in ("text", "stderr"):
            output = Output(output.kind, joined.pop().content + output.content)
        joined.append(output)
    return tuple(joined)


def _output(output: Any) -> Output:
    """One output of a kernel; of several forms of a value the richest."""
    if output.output_type == "stream":
        return Output("text" if output.name == "stdout" else "stderr", output.text)
    if output.output_type == "error":
        return Output("error", _COLOURS.sub("", f"{output.ename}: {output.evalue}"))
    data = output.data
    if "image/svg+xml" in data:
        return Output("svg", data["image/svg+xml"])
    if "image/png" in data:
        return Output("png", data["image/png"])
    if "text/html" in data:
        return Output("html", data["text/html"])
    return Output("text", data["text/plain"])
