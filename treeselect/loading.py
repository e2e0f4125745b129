"""``load()``: from a model file to a result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from treeselect.arguments.checks import check_flag, file_path
from treeselect.errors import FormulaError, ModelFileError, quoted, reason, said_by
from treeselect.modelfile.coding import FORMAT, LINEAR_FORMAT, read_record
from treeselect.modelfile.restored import restored
from treeselect.modelfile.saved import SavedFit
from treeselect.resampling.fit import Fit
from treeselect.result import SelectionResult
from treeselect.results.linear_file import SavedLinear, linear_parts
from treeselect.results.linear_model import GlmFit
from treeselect.running.machine import warn


def load(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Load a model that was saved with :meth:`SelectionResult.save` or ``GlmFit.save``.

    Parameters
    ----------
    path : path
    trusted : bool
        Allow any Python expression in the model's formula. This is never stored: set it only for a
        file that you wrote yourself, with a formula that needs it.

    Returns
    -------
    SelectionResult or GlmFit
        What was saved; its predictions are identical. If the file does not hold the data, methods
        of a selection that need them work after :meth:`SelectionResult.with_data`; a linear model
        predicts and has its tables, but no tests of its terms.

    Raises
    ------
    ModelFileError
        If the file is missing, can't be read, is not a model file, is truncated, damaged or
        tampered with, or has another version. Nothing in a model file is run.
    FormulaError
        If its formula needs `trusted`.
    OptionError
        If `trusted` is not True or False.

    Examples
    --------
    >>> import tempfile, treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="importance", k=1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = treeselect.load(fit.save(f"{folder}/fit.treeselect"))
    >>> bool((again.predict(data) == fit.predict(data)).all())
    True
    """
    trusted = check_flag("trusted", trusted)
    found = _read(file_path(path, error=ModelFileError), trusted=trusted)
    if isinstance(found, GlmFit):
        return found
    lost = found.chosen_method.missing
    if lost is not None:
        warn(lost)
    return SelectionResult(found)


_KINDS: dict[str, type[Any]] = {FORMAT: SavedFit, LINEAR_FORMAT: SavedLinear}


def _read(path: Path, *, trusted: bool) -> Fit | GlmFit:
    try:
        found: Any = read_record(path, _KINDS)
        if isinstance(found, SavedLinear):
            return GlmFit(**linear_parts(found, trusted=trusted))
        return restored(found, trusted=trusted)
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
