"""Object code of kernels: for which processor it is made, where it is kept, and how it is linked.

It comes with the package or is kept in the user's cache. Both are marked with a hash of the
engine's sources: an edit anywhere makes what is there no longer fit.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import platform
import sys
import tempfile
import threading
import zipfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from treeselect._version import __version__

_ENGINE = Path(__file__).resolve().parent

ENTRY = "treeselect_kernel"
"""The one symbol of a kernel's object code."""

HEAD = object.__basicsize__
"""Bytes before the fields of an object: 16, but 32 in a Python without the global lock."""


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
    return f"{sys.platform}-{name}{level}" + (f"-head{HEAD}" if HEAD != 16 else "")


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


def linked(code: bytes) -> int:
    """Address of the entry of object code, which is made ready to run."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(ENTRY))


# --- where it is kept ----------------------------------------------------------------------------


@cache
def sources() -> str:
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
    return _user_cache() / f"kernels-{__version__}-{sources()}-{_platform()}"


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


def kept(name: str) -> bytes | None:
    """Code in the cache. What a killed process or a full disk has left of it counts as not there:
    before the code stands its checksum."""
    try:
        folder = kernel_cache_folder()
        whole = (folder / name).read_bytes() if _is_safe(folder) else b""
    except OSError:
        return None
    return _checked(whole)


def keep(name: str, stored: bytes) -> None:
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
    try:  # as a whole: forked processes would share the place in an open file
        pack = zipfile.ZipFile(io.BytesIO(pack_file().read_bytes()))
    except (OSError, zipfile.BadZipFile):
        return None
    return pack if pack.comment.decode().startswith(sources()) else None


def packaged(name: str) -> bytes | None:
    pack = _pack()
    if pack is None or name not in pack.NameToInfo:
        return None
    try:
        return _checked(pack.read(name))
    except (OSError, zipfile.BadZipFile, zlib.error):
        return None
