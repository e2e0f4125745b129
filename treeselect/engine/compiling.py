"""Kernels: functions of arrays that run as machine code, without the interpreter's lock.

Their object code comes with the package, or from the user's cache, or else is compiled (``jit``),
which takes seconds. It is made for an architecture, not for a processor, and depends on no version
of Python or of numba.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import struct
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from treeselect.engine import object_code

AHEAD = 128
"""Rows between asking for a word and needing it; 32 is 25 % slower on 800,000 rows."""


# --- what the decorators make ------------------------------------------------------------------


class Kernel:
    """A function that Python calls with arrays, numbers, and records of these.

    It may use arrays and parts of arrays but must not create one (there are no reference counts),
    which assigning a whole array or a part of it does, too; nor may it raise.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.compiled: dict[str, tuple[_Code, ...]] = {}

    def __call__(self, *arguments: Any) -> Any:
        leaves: list[Any] = []
        kinds = _flatten(arguments, leaves)
        known = self.compiled.get(kinds, ())
        for code in known:
            if (found := code(leaves)) is not _REFUSED:
                return found
        if len(known) > 32:
            raise TypeError(f"{self.name} refuses its arguments")
        with _one_at_a_time:
            if self.compiled.get(kinds, ()) is known:
                self.compiled[kinds] = (*known, _load(self, arguments, kinds))
        return self(*arguments)

    @property
    def _numba_type_(self) -> Any:
        return _jit().type_of(self.py_func, False)


class Inner:
    """A function that only kernels call, as part of them: much less to compile."""

    def __init__(self, function: Callable[..., Any], forceinline: bool) -> None:
        self.py_func, self._forceinline = function, forceinline

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__}() can be called by kernels only")

    @property
    def _numba_type_(self) -> Any:
        return _jit().type_of(self.py_func, self._forceinline)


class _Instruction:
    """An instruction of the processor."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def _numba_type_(self) -> Any:
        return _jit().type_of_instruction(self._name)


KERNELS: list[Kernel] = []


def kernel(function: Callable[..., Any]) -> Any:
    """A function that Python calls; see :class:`Kernel`."""
    KERNELS.append(Kernel(function))
    return KERNELS[-1]


def inner(function: Callable[..., Any]) -> Any:
    """A function that only kernels call; see :class:`Inner`."""
    return Inner(function, False)


def inlined(function: Callable[..., Any]) -> Any:
    """As :func:`inner`, made part of its caller: worth it for what is called for every node and
    column (a call that passes the data and the workspace copies hundreds of words)."""
    return Inner(function, True)


prefetch: Any = _Instruction("prefetch")
lowest_bit: Any = _Instruction("lowest_bit")

_one_at_a_time = threading.RLock()


def _jit() -> Any:
    from treeselect.engine import jit  # which loads numba

    return jit


# --- calls -------------------------------------------------------------------------------------

_REFUSED = object()

_LETTERS = {
    np.ndarray: "A", int: "q", float: "d", bool: "b", type(None): "n",
    np.int64: "q", np.float64: "d", np.bool_: "b",
}  # fmt: skip


def _flatten(record: tuple[Any, ...], leaves: list[Any]) -> str:
    """A letter for each array, number and None in nested tuples, which go to `leaves`: addresses in
    place of arrays, nothing in place of None."""
    letters: list[str] = []
    for part in record:
        letter = _LETTERS.get(type(part))
        if letter == "A":
            leaves.append(id(part))
        elif letter is not None:
            if letter != "n":
                leaves.append(bool(part) if letter == "b" else part)
        elif isinstance(part, tuple):
            letter = _flatten(part, leaves)
        elif isinstance(part, np.ndarray | np.generic):
            letter = "A" if isinstance(part, np.ndarray) else part.dtype.char
            leaves.append(id(part) if letter == "A" else part)
        else:
            raise TypeError(f"a kernel takes no {type(part).__name__}")
        letters.append(letter)
    return "".join(letters)


class _Code:
    """Machine code of a kernel for arguments of certain kinds; `letters` are those of `_flatten`,
    `result` is JSON: a letter for a number, a list of its class and parts for a record; `origin` is
    "package", "cache" or "compiled"."""

    def __init__(self, address: int, letters: str, result: str, origin: str) -> None:
        self.origin = origin
        self._call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(address)
        self._words = struct.Struct("=" + "".join(map(_word, letters)))
        self._result = json.loads(result)
        self._found = struct.Struct("=" + "".join(_words_of(self._result)))

    def __call__(self, leaves: list[Any]) -> Any:
        found = ctypes.create_string_buffer(self._found.size)
        status = self._call(self._words.pack(*leaves), ctypes.addressof(found))
        if status == 0:
            return _rebuilt(self._result, iter(self._found.unpack(found)))
        if status == 1:
            return _REFUSED
        raise RuntimeError("a kernel has failed")


def _word(letter: str) -> str:
    return {"n": "", "f": "d", "d": "d", "L": "Q", "Q": "Q"}.get(letter, "q")


def _words_of(result: Any) -> Iterator[str]:
    if isinstance(result, list):
        for part in result[1:]:
            yield from _words_of(part)
    else:
        yield _word(result)


def _rebuilt(result: Any, words: Iterator[Any]) -> Any:
    """The result from its words."""
    if isinstance(result, list):
        parts = [_rebuilt(part, words) for part in result[1:]]
        return _class(result[0])(*parts) if result[0] else tuple(parts)
    if result == "n":
        return None
    return bool(next(words)) if result == "b" else next(words)


@cache
def _class(name: str) -> Any:
    module, _, own = name.partition(":")
    return getattr(importlib.import_module(module), own)


# --- where object code is ----------------------------------------------------------------------


def _load(kernel: Kernel, arguments: tuple[Any, ...], letters: str) -> _Code:
    """The code of a kernel for arguments like these: from the package, the cache, or compiled."""
    name, origin = name_of(kernel, arguments), "package"
    stored = object_code.packaged(name)
    if stored is None:
        origin, stored = "cache", object_code.kept(name)
    if stored is None:
        if on_compilation is not None:
            on_compilation()
        code, result = _jit().object_code(kernel.py_func, arguments)
        origin, stored = "compiled", result.encode() + b"\0" + code
        object_code.keep(name, stored)
    head, _, code = stored.partition(b"\0")
    return _Code(object_code.linked(code), letters, head.decode(), origin)


def name_of(kernel: Kernel, arguments: tuple[Any, ...]) -> str:
    kinds = "".join(_kinds(arguments))
    return f"{kernel.name}-{hashlib.sha256(kinds.encode()).hexdigest()[:12]}"


on_compilation: Callable[[], None] | None = None
"""Called before a kernel is compiled, which takes seconds."""


def _kinds(record: tuple[Any, ...]) -> Iterator[str]:
    """What code depends on, of arguments."""
    for part in record:
        if isinstance(part, tuple):
            yield f"{type(part).__name__}({''.join(_kinds(part))})"
        elif isinstance(part, np.ndarray):
            flags = part.flags
            layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
            yield f"{part.dtype.str}{part.ndim}{layout}{flags.writeable:d}{flags.aligned:d},"
        else:
            yield f"{_LETTERS.get(type(part)) or part.dtype.str},"
