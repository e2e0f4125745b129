"""The configuration file: the arguments of a command as TOML.

It is data, never code: values are read by ``tomllib`` and checked like those of flags. Keys are the
names of the arguments in Python.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from treeselect._version import __version__
from treeselect.arguments.checks import described, file_path, read_seed, reason
from treeselect.cli.arguments import check_data
from treeselect.cli.flags import Flag, given
from treeselect.cli.output import write_text
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted, shortened

_NOT_SAVED = ("config", "save_config")

_LARGEST = 10_000_000
"""Most bytes of a configuration file."""


def read_arguments(options: argparse.Namespace, flags: Iterable[Flag]) -> dict[str, Any]:
    """Arguments of a command by name: those of the configuration file, replaced by those typed.

    Raises
    ------
    OptionError
        If a flag or the configuration file can't be read, or the file has an unknown key.
    SystemExit
        If the formula or the data are in neither.
    """
    flags = tuple(flags)
    typed = {**_positional(options), **given(options, flags)}
    config = typed.get("config")
    saved = _read(config, flags) if config is not None else {}
    for one, other in (("data", "sql"), ("sql", "data")):
        if one in typed:
            saved.pop(other, None)
    arguments = {**saved, **typed}
    if "formula" not in arguments:
        options.usage("the following arguments are required: FORMULA, DATA")
    check_data(arguments, options.usage)
    if "save_config" in arguments:
        arguments["seed"] = read_seed(arguments.get("seed"))
    return arguments


def save_arguments(arguments: Mapping[str, Any], command: str) -> list[str]:
    """Write the configuration file of ``--save-config``; returns a line that names it, if any.

    Raises
    ------
    OptionError
        If it can't be written.
    """
    if "save_config" not in arguments:
        return []
    path = arguments["save_config"]
    head = f"# treeselect {__version__}: treeselect {command} --config FILE\n\n"
    saved = {name: value for name, value in arguments.items() if name not in _NOT_SAVED}
    return [f"Configuration: {write_text(path, head + toml_text(saved), 'save_config')}"]


def _positional(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("formula", "data") if name in options}


# --- reading -------------------------------------------------------------------------------------


def _read(path: str, flags: Iterable[Flag]) -> dict[str, Any]:
    """The arguments in a file; their values are checked where flags' are."""
    found = _parsed(file_path(path, name="--config"))
    known = ["formula", "data", *(f.argument for f in flags if f.argument not in _NOT_SAVED)]
    for key, value in found.items():
        if key not in known:
            raise _unknown(key, known, path)
        if key in _TEXTS and not isinstance(value, str):
            raise OptionError(
                f"`{key}` must be text in {quoted(path)}.\n  Found: {described(value)}."
            )
        if key in _FLAGS and not isinstance(value, bool):
            raise OptionError(
                f"`{key}` must be true or false in {quoted(path)}.\n  Found: {described(value)}."
            )
        if key in _TABLES and not isinstance(value, dict):
            raise OptionError(
                f"`{key}` must be a table in {quoted(path)}.\n  Found: {described(value)}. Write"
                f" its names and values under the line `[{key}]`."
            )
    return found


_TEXTS = {
    "formula", "data", "encoding", "sheet", "sql", "method", "report", "save", "json", "checkpoint",
}  # fmt: skip
_FLAGS = {"effects", "coefficients"}
_TABLES = {"set", "groups", "costs", "labels", "monotone"}
"""Types that no later check expects to be others, because flags have no others."""


def _unknown(key: str, known: Iterable[str], path: str) -> OptionError:
    said = f"Can't use the key {quoted(key)} in {quoted(path)}."
    if key == "trusted":
        return OptionError(
            f"{said}\n  Formulas that run code can be used in Python only:"
            " `treeselect.select(..., trusted=True)`."
        )
    known = list(known)
    close = near(key.replace("-", "_"), known)
    advice = did_you_mean(close) if close else f"Keys: {listing(known, len(known))}."
    return OptionError(f"{said}\n  {advice}")


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise OptionError(
                f"`--config` must be a file of at most {_LARGEST:,} bytes.\n"
                f"  Found: {quoted(str(path))}, which is larger."
            )
        return tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise OptionError(
            f"Can't read the configuration file {quoted(str(path))}.\n  {reason(error)}"
        ) from None
    except RecursionError:
        problem = "It is nested too deeply."
    except ValueError as error:  # of the decoder, too
        if isinstance(error, OptionError):
            raise
        problem = f"{shortened(str(error))}."
    raise OptionError(
        f"The configuration file {quoted(str(path))} must be TOML in UTF-8.\n  Found: {problem}"
    ) from None


# --- writing -------------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(values: Mapping[str, Any]) -> str:
    """Values as TOML: tables last, as they must be.

    Parameters
    ----------
    values : mapping
        Text, numbers, bool, and lists and dictionaries of these.

    Examples
    --------
    >>> print(toml_text({"k": 3, "costs": {"MRI scan": 40.0}}))
    k = 3
    <BLANKLINE>
    [costs]
    "MRI scan" = 40.0
    <BLANKLINE>
    """
    return "\n".join(_lines(values, ())) + "\n"


def _lines(values: Mapping[str, Any], inside: tuple[str, ...]) -> list[str]:
    lines = [f"{_key(k)} = {_value(v)}" for k, v in values.items() if not isinstance(v, dict)]
    for key, value in values.items():
        if isinstance(value, dict):
            within = (*inside, _key(key))
            lines += [*([""] if lines else []), f"[{'.'.join(within)}]", *_lines(value, within)]
    return lines


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    """Text between quotation marks; JSON's escapes are TOML's, which has one more."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise OptionError(
            "`--save-config` can't write text with unpaired surrogates, such as a file name that is"
            f" not UTF-8.\n  Found: {described(text)}."
        ) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    return repr(value)
