"""Where the compiled kernels are kept, the decorators that make a kernel, and two instructions.

Numba looks only at the file of a kernel to decide whether its cached machine code is still good,
not at the files of the kernels it calls. The cache folder is therefore named after the package's
version and a hash of all engine sources: an edit anywhere opens a new folder, and a read-only
installation is no obstacle because the folder lies in the user's cache.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic

from treeselect._version import __version__

_ENGINE = Path(__file__).resolve().parent


@cache
def kernel_cache_folder() -> Path:
    """Folder of the compiled kernels of exactly these engine sources. ``TREESELECT_CACHE_DIR``
    names the folder above it; the platform's user cache is the default."""
    digest = hashlib.sha256()
    for source in sorted(_ENGINE.rglob("*.py")):
        digest.update(source.relative_to(_ENGINE).as_posix().encode())
        digest.update(source.read_bytes())
    return _user_cache() / f"kernels-{__version__}-{digest.hexdigest()[:16]}"


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


def kernels_are_compiled() -> bool:
    """Tell whether these sources have been compiled on this machine before."""
    try:
        folder = kernel_cache_folder()
        return folder.is_dir() and any(folder.glob("*.nbc"))
    except OSError:
        return False


def kernels_can_be_kept() -> bool:
    """Tell whether the cache folder can be written; otherwise every process compiles for itself."""
    try:
        folder = kernel_cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


class _EngineLocator(_CacheLocator):
    """Tells Numba that the cache is in our folder."""

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], path: str) -> _EngineLocator | None:
        locator = cls(function, path)
        try:
            locator.ensure_cache_path()
        except OSError:  # nowhere to write: numba then compiles in memory
            return None
        return locator

    def get_cache_path(self) -> str:
        return str(kernel_cache_folder())

    def get_source_stamp(self) -> str:
        # The folder's name already stands for the sources.
        return kernel_cache_folder().name

    def get_disambiguator(self) -> str:
        return str(self._line)


class _EngineCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_EngineLocator]  # noqa: RUF012


class _CheckedFiles(IndexDataCacheFile):
    """Numba's files, of which a killed process or a full disk may have left a part: what is damaged
    counts as not there, and is written again. The code stands behind its checksum, as damaged code
    would run."""

    def _load_index(self) -> dict[Any, str]:
        try:
            index: dict[Any, str] = super()._load_index()
        except Exception:  # damaged pickles fail in any way
            return {}
        return index

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(code).digest() + code)

    def _load_data(self, name: str) -> Any:
        stored = Path(self._data_path(name)).read_bytes()
        digest, code = stored[:_DIGEST], stored[_DIGEST:]
        if hashlib.sha256(code).digest() != digest:
            raise OSError(f"{name} is damaged")  # numba takes it for a file that has gone
        return pickle.loads(code)


_DIGEST = hashlib.sha256().digest_size


class _EngineCache(FunctionCache):
    _impl_class = _EngineCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _CheckedFiles(
            cache_path=locator.get_cache_path(),
            filename_base=self._impl.filename_base,
            source_stamp=locator.get_source_stamp(),
        )

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # no room: it is compiled again next time
            super().save_overload(sig, data)


class _InnerLibrary(JITCodeLibrary):
    """Code of a function that only kernels call: linked into them, never run by itself. Numba would
    optimise and translate it once for itself and once more for each of its callers, and for
    theirs."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(super().codegen)


class _NoEnvironment:
    """Numba's code generator without the environment in memory, which code that only runs as part
    of other code does not have: it is for calls of Python, of which kernels make none."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _KernelLibrary(JITCodeLibrary):
    """Code of a kernel, optimised once: numba's first round is there to find reference counts."""

    def _optimize_final_module(self) -> None:
        # Joining single operations to vectors costs a tenth of the time and gains nothing here;
        # loops are vectorised all the same.
        passes, builder = self._codegen._module_pass_manager(slp_vectorize=False)
        passes.run(self._final_module, builder)


class _InnerCompiler(Compiler):
    """Numba's compiler, but for the library that it fills."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, _InnerLibrary(target.codegen(), "inner"), *rest)


class _KernelCompiler(Compiler):
    """Numba's compiler, but for the library that it fills."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        own = _KernelLibrary(target.codegen(), "kernel")
        own.enable_object_caching()
        super().__init__(typing, target, own, *rest)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that releases the interpreter lock, and cache its machine code. It may use
    arrays and parts of arrays but must not create one, which assigning a whole array or a part of
    it does, too."""
    dispatcher = _compiled(function, pipeline_class=_KernelCompiler)
    with contextlib.suppress(RuntimeError):  # no locator: the cache folder can't be written
        dispatcher._cache = _EngineCache(function)
    compile_or_load = dispatcher._compile_for_args

    def of_arguments(*arguments: Any, **named: Any) -> Any:
        with _no_collection():
            return compile_or_load(*arguments, **named)

    dispatcher._compile_for_args = of_arguments
    return dispatcher


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's search for cycles: the compiler makes objects by the hundred thousand, which
    stay, and each search looks at all that the process has loaded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def inner(function: Callable[..., Any], *, forceinline: bool = False) -> Any:
    """As :func:`kernel`, for functions that only kernels call: much less to compile. `forceinline`
    is always said, since otherwise all that an inlined function calls is inlined, too."""
    dispatcher = _compiled(
        function, no_cpython_wrapper=True, pipeline_class=_InnerCompiler, forceinline=forceinline
    )

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{function.__name__}() can be called by kernels only")

    # Without a wrapper for Python there is nothing to call: numba would jump to nowhere.
    dispatcher._compile_for_args = refuse
    dispatcher.add_overload = lambda compiled: dispatcher.overloads.update(
        {tuple(compiled.signature.args): compiled}
    )
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """As :func:`inner`, made part of its caller: worth it for what is called for every node and
    column (a call that passes the data and the workspace copies hundreds of words)."""
    return inner(function, forceinline=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    # No reference counts: kernels create no arrays, and halve their time and their compilation.
    options |= {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
    compile_lazily: Any = numba.njit
    dispatcher = compile_lazily(error_model="numpy", **options)(function)
    template = dispatcher.get_call_template

    def of_types(arguments: Any, named: Any) -> Any:
        # Numba would compile anew for every constant that a kernel calls another one with.
        return template(
            tuple(types.unliteral(kind) for kind in arguments),
            {name: types.unliteral(kind) for name, kind in named.items()},
        )

    dispatcher.get_call_template = of_types
    return dispatcher


AHEAD = 128
"""Rows between asking for a word and needing it; 32 is 25 % slower on 800,000 rows."""


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Bring ``array[index]`` into the cache: rows of a leaf lie scattered in memory. The array has
    one dimension and is contiguous."""
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(made.data, [arguments[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # For reading, to be kept in all caches, data.
        builder.call(function, [address, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return signature, generate


def _lowest_bit(typing_context: Any, word: Any) -> Any:
    """Position of the lowest bit that is set in a uint64, which must not be 0; int64."""
    signature = types.int64(types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return signature, generate


prefetch: Any = intrinsic(_prefetch)
lowest_bit: Any = intrinsic(_lowest_bit)
