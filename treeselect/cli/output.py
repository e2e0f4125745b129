"""Output of the commands: text on standard output, tables as JSON, and files."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from treeselect._version import __version__
from treeselect.arguments.checks import file_path
from treeselect.errors import OptionError, quoted, reason
from treeselect.shown import HIDDEN, shown
from treeselect.writing import check_place, write_file

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.comparing import Comparison
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.performance import Performance
    from treeselect.result import SelectionResult


def stopped(*found: Any) -> bool:
    """Whether any result is partial: what is finished is written, and nothing else is begun."""
    return any(result is not None and result.partial for result in found)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table for JSON; missing and infinite values are null."""
    import pandas as pd

    def plain(value: Any) -> Any:
        is_odd = value is pd.NA or (isinstance(value, float) and not math.isfinite(value))
        return None if is_odd else value

    rows = frame.to_dict("records")
    return [{str(name): plain(value) for name, value in row.items()} for row in rows]


WRITTEN = {"report": "report", "save": "model", "json": "tables", "output": "predictions"}
"""What each option writes."""


def check_places(arguments: Mapping[str, Any]) -> None:
    """Raise an OptionError before the work starts if a file can't be written later."""
    given = {name: arguments.get(name, "") for name in ("data", "saved")}
    taken = {os.path.realpath(text): name for name, text in given.items() if os.path.isfile(text)}
    for name, what in WRITTEN.items():
        if arguments.get(name):
            if arguments[name] == "-":
                raise OptionError(
                    f"`--{name}` must be the name of a file.\n"
                    "  Found: '-', which is not written to standard output. For a file of that"
                    " name write './-'."
                )
            path = file_path(arguments[name], name=f"--{name}")
            check_place(path, what=what)
            twin = taken.setdefault(os.path.realpath(path), name)
            if twin != name and (path.is_file() or not path.exists()):
                other = {"data": "DATA", "saved": "MODEL"}.get(twin) or f"the {WRITTEN[twin]}"
                said = f"The {what} must not replace {other}.\n  Found: {quoted(str(path))}, twice."
                raise OptionError(said)
            if name == "output":
                from treeselect.frames.reading import ENDINGS

                if path.name.lower().endswith(ENDINGS[1:]):
                    raise OptionError(
                        "Predictions must be written as CSV, to a file such as `predictions.csv`.\n"
                        f"  Found: {quoted(path.name)}."
                    )
            if name == "report":
                from treeselect.reports.pages import check_name

                check_name(path)


SCHEMA = 1
"""Version of the form of the JSON; keys may be added within a version, and none is removed."""


def json_text(tables: Mapping[str, Any]) -> str:
    """Tables and single values as JSON, with versions; control characters are escaped."""
    versioned = {"treeselect": __version__, "schema": SCHEMA, **tables}
    text = json.dumps(versioned, indent=1, allow_nan=False, ensure_ascii=False)
    lines = text.split("\n")
    escaped = (HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], line) for line in lines)
    return "\n".join(escaped) + "\n"


def write_text(path: str, text: str, option: str) -> str:
    return str(write_file(Path(path), text, what=WRITTEN[option]))


def put(*lines: str) -> None:
    """Print on standard output; nothing once its reader has closed the pipe (``| head -1``)."""
    with _standard_output() as output:
        output.write("\n".join(lines) + "\n")


def end_output() -> None:
    """Flush standard output; raises as :func:`put` does."""
    if sys.stdout is not None:
        with _standard_output() as output:
            output.flush()


@contextlib.contextmanager
def _standard_output() -> Iterator[IO[str]]:
    if sys.stdout is None:
        raise OptionError("Can't write to standard output.\n  It is closed.")
    try:
        yield sys.stdout
    except OSError as error:
        # Otherwise Python would flush once more at exit and report an error.
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        if not isinstance(error, BrokenPipeError):  # files are still to be written then
            raise OptionError(f"Can't write to standard output.\n  {reason(error)}") from None


def write_all(asked: Mapping[str, Any], **makers: Callable[[str], object]) -> None:
    """Write the files that are asked for, and list them below the earlier output."""
    if lines := written(asked, **makers):
        put("", *lines)


def written(asked: Mapping[str, Any], **makers: Callable[[str], object]) -> list[str]:
    """Write the files that are asked for, by what is called with the path of each and gives text or
    the path of what it wrote; a line for each."""
    lines = []
    for option, make in makers.items():
        if asked.get(option):
            replaced = ", replaced" * os.path.isfile(asked[option])
            made = make(asked[option])
            path = write_text(asked[option], made, option) if isinstance(made, str) else made
            lines.append(shown(f"{WRITTEN[option].capitalize()}: {path}{replaced}"))
    return lines


# --- tables ---------------------------------------------------------------------------------------


def tables_of(
    result: SelectionResult,
    performance: Performance | None,
    coefficients: CoefficientStability | None,
) -> dict[str, Any]:
    """Tables of a result: ``glance`` is an object; ``tidy``, ``path`` and the tables of a search
    and of resamples are lists of objects; ``performance`` is an object with the first two."""
    tables: dict[str, Any] = {
        "call": result.search.call,
        "formula": result.formula,
        "selected": result.selected,
        "groups": result.groups,
        "variables": result.variables,
        "glance": records(result.glance())[0],
        "tidy": records(result.tidy()),
        "path": records(result.path),
    }
    if result.search.step.trace is not None:
        tables["exchanges"] = records(result.search.exchanges())
        tables["alternatives"] = records(result.search.alternatives())
    if result._fit.effect_record is not None:
        tables["effects"] = records(result.model.effects())
    if result._fit.resampled is not None:
        tables["stability"] = records(result.stability.tidy())
        tables["models"] = records(result.stability.models(None))
        tables["pairs"] = records(result.stability.pairs())
        tables["substitutes"] = records(result.stability.substitutes)
        tables["partial"] = result.stability.partial
    if coefficients is not None:
        tables["coefficients"] = records(coefficients.tidy())
    if performance is not None:
        tables["performance"] = {
            "partial": performance.partial,
            "glance": records(performance.glance())[0],
            "tidy": records(performance.tidy()),
        }
    return tables


def tables_of_comparison(found: Comparison) -> dict[str, Any]:
    """Tables of a comparison as lists of objects, one for each row."""
    return {
        "call": found.call,
        "seed": found.seed,
        "partial": found.partial,
        "score": found.score_name,
        "best": found.best,
        **{name: records(getattr(found, name)()) for name in _OF_COMPARISON},
    }


_OF_COMPARISON = ("glance", "curves", "differences", "terms", "references", "tidy")
