"""Kernels: functions of arrays that run as machine code, without the interpreter's lock.

Their object code comes with the package, or from the user's cache, or else is compiled (``jit``),
which takes seconds. Object code is for one architecture, not for one processor, version of Python
or of numba, and gives the same bits on all machines of its architecture. Both places are named
after a hash of the engine's sources: an edit anywhere makes what is there no longer fit.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import json
import os
import platform
import struct
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from treeselect._version import __version__

_ENGINE = Path(__file__).resolve().parent

ENTRY = "treeselect_kernel"
"""The one symbol of a kernel's object code."""

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
    return importlib.import_module("treeselect.engine.jit")


# --- calls -------------------------------------------------------------------------------------

_REFUSED = object()

_LETTERS = {
    np.ndarray: "A", int: "q", float: "d", bool: "b", type(None): "n",
    np.int64: "q", np.float64: "d", np.bool_: "b",
}  # fmt: skip


def _flatten(record: tuple[Any, ...], leaves: list[Any]) -> str:
    """A letter for each array, number and None in nested tuples, which go to `leaves`: addresses in
    place of arrays, nothing in place of None."""
    letters = ""
    for part in record:
        letter = _LETTERS.get(type(part))
        if letter is None and isinstance(part, tuple):
            letters += _flatten(part, leaves)
            continue
        if letter is None:
            if not isinstance(part, np.ndarray | np.generic):
                raise TypeError(f"a kernel takes no {type(part).__name__}")
            letter = "A" if isinstance(part, np.ndarray) else part.dtype.char
        if letter != "n":
            leaves.append(id(part) if letter == "A" else part)
        letters += letter
    return letters


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
    kinds = "".join(_kinds(arguments))
    name = f"{kernel.name}-{hashlib.sha256(kinds.encode()).hexdigest()[:12]}"
    origin = "package"
    stored = _packaged(name)
    if stored is None:
        origin, stored = "cache", _kept(name)
    if stored is None:
        if on_compilation is not None:
            on_compilation()
        code, result = _jit().object_code(kernel.py_func, arguments)
        origin, stored = "compiled", result.encode() + b"\0" + code
        _keep(name, stored)
    head, _, code = stored.partition(b"\0")
    return _Code(_address(code), letters, head.decode(), origin)


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


@cache
def _sources() -> str:
    """A hash of all sources of the engine."""
    digest = hashlib.sha256()
    for source in sorted(_ENGINE.rglob("*.py")):
        digest.update(source.relative_to(_ENGINE).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def kernel_cache_folder() -> Path:
    """Folder of the compiled kernels of exactly these engine sources.

    ``TREESELECT_CACHE_DIR`` names the folder above it; the platform's user cache is the default.
    """
    return _user_cache() / f"kernels-{__version__}-{_sources()}-{_platform()}"


def _user_cache() -> Path:
    """Folder for the user's caches, by the customs of the platform; an OSError if there is no home
    folder, as in some containers."""
    chosen = os.environ.get("TREESELECT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    named = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    base = os.environ.get(named)
    if base:
        return Path(base) / "treeselect"
    inside = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        return Path.home() / inside / "treeselect"
    except RuntimeError as error:
        raise OSError(str(error)) from error


def kernels_can_be_kept() -> bool:
    """Tell whether the cache folder can be written, by this user alone; otherwise every process
    compiles for itself."""
    try:
        folder = kernel_cache_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return _is_safe(folder)
    except OSError:
        return False


def _is_safe(folder: Path) -> bool:
    """Whether only this user, or the administrator, can have written there: its code is run."""
    if not hasattr(os, "getuid"):
        return True
    found = folder.stat()
    return found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def _kept(name: str) -> bytes | None:
    """Code in the cache. What a killed process or a full disk has left of it counts as not there:
    before the code stands its checksum."""
    try:
        folder = kernel_cache_folder()
        whole = (folder / name).read_bytes() if _is_safe(folder) else b""
    except OSError:
        return None
    return _checked(whole)


def _keep(name: str, stored: bytes) -> None:
    if not kernels_can_be_kept():
        return
    with contextlib.suppress(OSError):  # no room: it is compiled again next time
        folder = kernel_cache_folder()
        part = folder / f"{name}.{os.getpid()}.{threading.get_ident()}"
        try:
            part.write_bytes(hashlib.sha256(stored).digest() + stored)
            part.replace(folder / name)
        finally:
            part.unlink(missing_ok=True)


def _checked(whole: bytes) -> bytes | None:
    """What stands behind a checksum, if it is right."""
    digest, stored = whole[:32], whole[32:]
    return stored if hashlib.sha256(stored).digest() == digest else None


# --- object code that comes with the package ---------------------------------------------------


def pack_file() -> Path:
    """The kernels of this platform that come with the package."""
    return _ENGINE / "kernels" / f"{_platform()}.zip"


@cache
def _pack() -> zipfile.ZipFile | None:
    """That file, if it is of these sources."""
    try:
        pack = zipfile.ZipFile(pack_file())
    except (OSError, zipfile.BadZipFile):
        return None
    return pack if pack.comment.decode().startswith(_sources()) else None


def _packaged(name: str) -> bytes | None:
    pack = _pack()
    if pack is None or name not in pack.NameToInfo:
        return None
    try:
        return _checked(pack.read(name))
    except (OSError, zipfile.BadZipFile, zlib.error):
        return None


def write_pack(compile_kernels: Callable[[], None]) -> Path:
    """Compile all kernels and put them into the package, for this platform: into an empty cache,
    which ``TREESELECT_CACHE_DIR`` names. The same sources and versions make the same file."""
    file = pack_file()
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    _pack.cache_clear()
    compile_kernels()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as pack:
        pack.comment = f"{_sources()} {_jit().VERSIONS}".encode()
        for path in sorted(kernel_cache_folder().iterdir()):
            pack.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return file


# --- the processor -----------------------------------------------------------------------------


@cache
def _processor() -> str:
    """What code is made for: the same on all processors of an architecture, but for old ones."""
    import llvmlite.binding as llvm

    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "generic"
    has = llvm.get_host_cpu_features()
    new = all(has.get(name) for name in ("avx2", "bmi", "bmi2", "fma", "lzcnt", "movbe", "f16c"))
    return "x86-64-v3" if new else "x86-64"


@cache
def _platform() -> str:
    architecture = {"amd64": "x86_64", "aarch64": "arm64"}
    machine = platform.machine().lower()
    name = architecture.get(machine, machine)
    level = "-v3" if _processor() == "x86-64-v3" else ""
    return f"{sys.platform}-{name}{level}"


def target_machine() -> Any:
    """LLVM's model of the processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=_processor(), opt=3, reloc="static" if target.name.startswith("x86") else "default",
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


_engines: list[Any] = []
"""Of LLVM, which own the code; as long as the process."""


def _address(code: bytes) -> int:
    """Address of the entry of object code, which is made ready to run."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(ENTRY))
