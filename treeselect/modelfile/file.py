"""Model files: one documented, versioned zip of JSON and arrays; nothing in it is code.

Layout, version 3, in the container that ``archive`` describes:

``model.json``
    ``{"format": "treeselect model", "version": 3, "treeselect": ..., "content": {...}}``: the
    formula, the schema, levels, the states of transforms, units, method and options, the chosen
    step, the text of the call. Tuples are lists; ``plain`` encodes values that JSON lacks.
``arrays/<name>.npy``
    Arrays in NumPy's format, booleans and numbers only: the path (``path_*``), the forest
    (``forest_*``), boosted trees (``boost_*``) or an additive model plus a forest (``stack_*``),
    the sparse forest (``sub_*``), bin edges (``edges``, ``edges_start``), decisions of methods that
    make them and the importances behind them (``decisions``, ``decision_*``), the exchanges of a
    search and its near-equivalent sets (``exchange_*``, ``rival_*``), held-out scores
    (``fold_scores``, ``fold_repeats``, ``spared_rows``), tests of sizes (``size_p_values``),
    resamples (``resample_*``), effects of terms (``effect_*``), and, optionally, the data (``y``,
    ``rows``, ``weight``, ``offset``, ``source_<i>``, ``fold_numbers``, ``fold_groups``).
    Of splitters, scikit-learn selectors and scores that are functions, only the names are stored.

Nodes of trees are whole numbers in the narrowest type that holds them (``widths``), and float64. Of
trees of zeros and ones with whole weights the file has counts of leaves, ``*_leaf_weight`` and
``*_leaf_ones``, in place of weights, values and gains, which follow from them (``counted``).
Version 2, which is still read, had all members uncompressed and one type for each array.

The formula is parsed again when the file is loaded, with the same security checks.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from treeselect._version import __version__
from treeselect.arguments.paths import current_folder, reason
from treeselect.arguments.scalars import described
from treeselect.errors import FormulaError, ModelFileError, quoted, said_by
from treeselect.modelfile.archive import read_archive, write_archive
from treeselect.modelfile.packing import pack
from treeselect.modelfile.unpacking import unpack
from treeselect.resampling.fit import Fit

FORMAT = "treeselect model"
VERSION = 3
READ = (2, 3)
"""Versions that can be read. Files of version 2 differ in nothing but their size."""


def save_result(result: Fit, path: Path, *, include_data: bool) -> Path:
    """Write a model file; see :meth:`SelectionResult.save`."""
    content, arrays = pack(result, include_data=include_data)
    try:
        text = json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "treeselect": __version__,
                "content": content,
            },
            allow_nan=False,
        )
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            "Can't save this model: labels must be text, numbers or truth values.\n"
            f"  {error}. Convert the column to text before the fit."
        ) from None
    write_archive(path, text, arrays)
    return path


def read_fit(path: Path, *, trusted: bool) -> Fit:
    """The fit in a model file; see :func:`treeselect.load`."""
    if not os.path.isfile(path):  # unlike Path.is_file, it accepts names of any length
        found = (
            "It is not a file." if os.path.exists(path) else f"Current folder: {current_folder()}"
        )
        raise ModelFileError(f"Can't find the model file {quoted(str(path))}.\n  {found}")
    try:
        document, arrays = read_archive(path)
        return unpack(_check_document(path, document), arrays, trusted=trusted)
    except ModelFileError:
        raise
    except FormulaError as error:
        raise FormulaError(
            f"Can't load {quoted(path.name)}: its formula is not allowed.\n  {error}"
        ) from None
    except MemoryError as error:
        raise ModelFileError(f"Can't read {quoted(path.name)}.\n  {reason(error)}") from None
    except Exception as error:  # untrusted bytes can fail in any way
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it is not a model file, or it is damaged.\n"
            f"  {said_by(error)}"
        ) from None


def _check_document(path: Path, document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"Can't read {quoted(path.name)}: it is not a model file.")
    found, writer = document.get("version"), document.get("treeselect")
    if found not in READ:
        readable = " and ".join(map(str, READ))
        is_newer = isinstance(found, int | float) and found > VERSION
        raise ModelFileError(
            f"Can't read {quoted(path.name)}: it needs format {described(found)}.\n"
            f"  This is treeselect {__version__}, which reads formats {readable}; the"
            f" file was written by treeselect {described(writer)}. "
            + ("Update treeselect." if is_newer else "Use that version.")
        )
    content: dict[str, Any] = document["content"]
    return content
