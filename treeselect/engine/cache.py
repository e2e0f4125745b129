"""Where the compiled kernels are kept, and the decorator that makes a kernel.

Numba looks only at the file of a kernel to decide whether its cached machine code is still good,
not at the files of the kernels it calls. The cache folder is therefore named after the package's
version and a hash of all engine sources: an edit anywhere opens a new folder, and a read-only
installation is no obstacle because the folder lies in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from treeselect._version import __version__

_ENGINE = Path(__file__).resolve().parent


@cache
def kernel_cache_folder() -> Path:
    """Folder of the compiled kernels of exactly these engine sources.

    ``TREESELECT_CACHE_DIR`` names the folder above it; the platform's user cache is the default.
    """
    digest = hashlib.sha256()
    for source in sorted(_ENGINE.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return _user_cache() / f"kernels-{__version__}-{digest.hexdigest()[:16]}"


def _user_cache() -> Path:
    """Folder for the user's caches, by the customs of the platform."""
    chosen = os.environ.get("TREESELECT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "treeselect"


def kernels_are_compiled() -> bool:
    """Tell whether these sources have been compiled on this machine before."""
    folder = kernel_cache_folder()
    return folder.is_dir() and any(folder.glob("*.nbc"))


class _EngineLocator(_CacheLocator):
    """Numba's question "where is the cache?", answered with our folder."""

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


class _EngineCache(FunctionCache):
    _impl_class = _EngineCacheImpl


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that releases the interpreter lock, and cache its machine code."""
    dispatcher: Any = numba.njit(nogil=True)(function)
    with contextlib.suppress(RuntimeError):  # no locator: the cache folder can't be written
        dispatcher._cache = _EngineCache(function)
    return dispatcher
