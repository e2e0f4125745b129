"""What Python does while a formula is handled, as its audit hook tells it: the judge of attacks.

A formula may compute with columns; it may not run text. So nothing that a formula causes may
compile or execute code, open a file, import a module, start a process or open a socket, whatever
comes of it. What a formula causes is told by the stack: a frame of code that is in no file
(formulaic evaluates there), or a frame of a module that handles formulas, and no import statement
of a file in between.

Nor does a case harm the machine that it runs on: it hands over paths that nobody expects, perhaps
as root. While it runs, a second hook refuses to open for writing, replace or remove anything
outside the folder of temporary files and the caches of compiled code, and to start a process.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from types import CodeType, SimpleNamespace
from typing import Any

PAYLOAD_MODULES = frozenset(
    ["__hello__", "__phello__", "antigravity", "this", "nturl2path", "turtle"]
)
"""Modules that only an attack imports."""

_NEVER = frozenset([
    "os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile",
    "pty.spawn", "socket.connect", "socket.bind", "webbrowser.open", "code.__new__",
    "function.__new__", "builtins.breakpoint", "builtins.input", "os.fork", "os.forkpty",
    "urllib.Request", "ftplib.connect", "sys.setprofile", "sys.settrace",
])  # fmt: skip
"""What nothing at all may do while a formula is handled."""

_WITHIN = frozenset([
    "open", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.listdir", "os.scandir",
    "os.chmod", "os.link", "os.symlink", "os.putenv", "os.unsetenv", "os.truncate", "os.chdir",
    "os.walk", "shutil.copyfile", "shutil.rmtree", "shutil.move", "socket.__new__", "ctypes.dlopen",
    "ctypes.dlsym", "ctypes.string_at", "pickle.find_class", "marshal.loads", "marshal.load",
    "gc.get_objects", "gc.get_referrers", "glob.glob", "tempfile.mkstemp", "tempfile.mkdtemp",
    "signal.pthread_kill", "mmap.__new__", "sqlite3.connect", "object.__setattr__",
    "object.__delattr__", "sys.addaudithook",
])  # fmt: skip
"""What only the formula may not do."""

_HERE = os.path.dirname(__file__)
HANDLES = re.compile(
    r"[/\\]treeselect[/\\](formula|formulas[/\\]\w+|designs[/\\](evaluation|matrix))\.py$"
)
"""Modules that have the text or the records of a formula in hand."""
_EVALUATES = re.compile(r"[/\\](treeselect|formulaic|pandas|numpy|patsy|numexpr)[/\\]")


_watch = SimpleNamespace(on=False, busy=False, installed=False, heard=[], outer=None)
_fence = SimpleNamespace(installed=False, depth=0)


@contextlib.contextmanager
def watching() -> Iterator[list[str]]:
    """Events that should not be, as texts. The hook is put in once: it can't be taken out."""
    install()
    _watch.outer = sys._getframe(2)  # who entered: what called that is no formula's doing
    _watch.heard, _watch.on = [], True
    try:
        yield _watch.heard
    finally:
        _watch.on, _watch.outer = False, None


def install() -> None:
    """Put the hook in. It must come before one that raises, or it would not hear of it."""
    if not _watch.installed:
        sys.addaudithook(_hear)
        _watch.installed = True


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watch.on or _watch.busy:
        return
    if event not in _NEVER and event not in _WITHIN and event not in ("exec", "compile", "import"):
        return
    _watch.busy = True
    try:
        found = _judged(event, arguments)
        if found:
            _watch.heard.append(found)
    finally:
        _watch.busy = False


def _judged(event: str, arguments: tuple[Any, ...]) -> str:
    files = _stack()
    pseudo = any(_is_pseudo(file) for file, _ in files)
    if event in ("exec", "compile"):
        return _of_code(event, arguments, files, pseudo)
    if event == "import":
        outer = next((f for f, _ in files if "importlib" not in f), __file__)
        wanted = str(arguments[0]).split(".")[0] in PAYLOAD_MODULES
        return f"import of {arguments[0]}" if wanted or _is_pseudo(outer) else ""
    if event in _NEVER:
        return f"{event} {str(arguments[:1])[:80]}"
    if any("importlib" in file for file, _ in files):
        return ""
    if pseudo or any(HANDLES.search(file) for file, _ in files):
        return f"{event} {str(arguments[:1])[:80]}"
    return ""


def _of_code(
    event: str, arguments: tuple[Any, ...], files: list[tuple[str, str]], pseudo: bool
) -> str:
    """Code that is in no file, made or run by those who handle formulas."""
    if not files or any("importlib" in file for file, _ in files):
        return ""
    if event == "exec":
        if not isinstance(arguments[0], CodeType) or not _is_pseudo(arguments[0].co_filename):
            return ""
    elif len(arguments) > 1 and isinstance(arguments[1], str) and not _is_pseudo(arguments[1]):
        return ""
    caller, name = files[0]
    if not (pseudo or _EVALUATES.search(caller)):
        return ""
    return f"{event} by {'a formula' if pseudo else os.path.basename(caller) + ':' + name}"


def _stack() -> list[tuple[str, str]]:
    """Files and functions from the innermost caller out to the one that handed the formula over."""
    frame = sys._getframe(1)
    found: list[tuple[str, str]] = []
    while frame is not None and frame is not _watch.outer:
        file = frame.f_code.co_filename
        if file != __file__:
            if os.path.dirname(file) == _HERE:
                break
            found.append((file, frame.f_code.co_name))
        frame = frame.f_back
    return found


def _is_pseudo(file: str) -> bool:
    """Whether code is of no file; modules that Python carries within itself are frozen."""
    return not file or (file.startswith("<") and not file.startswith(("<frozen", "<__array")))


# --- the fence -----------------------------------------------------------------------------------

_ROOTS = tuple(
    os.path.realpath(root) + os.sep
    for root in (
        tempfile.gettempdir(),
        "/dev/shm",
        os.path.expanduser("~/.cache"),
        os.environ.get("TREESELECT_CACHE_DIR", tempfile.gettempdir()),
    )
)
_PATHS = {
    "os.rename": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1, "os.chmod": 1, "os.chown": 1,
    "os.link": 2, "os.symlink": 2, "os.truncate": 1, "os.utime": 1, "shutil.rmtree": 1,
    "shutil.move": 2, "shutil.copyfile": 2,
}  # fmt: skip
"""Events that change what stands at their first, or first two, arguments."""

_PROCESSES = frozenset(["os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn"])

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@contextlib.contextmanager
def fenced() -> Iterator[None]:
    """Refuse, with a PermissionError, to change anything but temporary files and caches."""
    install()
    if not _fence.installed:
        sys.addaudithook(_refuse)
        _fence.installed = True
    _fence.depth += 1
    try:
        yield
    finally:
        _fence.depth -= 1


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not _fence.depth:
        return
    if event in _PROCESSES:
        raise PermissionError(f"a case must not start a process: {event}")
    if event == "open":
        path, _, flags = arguments
        if isinstance(flags, int) and flags & _WRITES and path != os.devnull:
            _check(path, followed=True)
    for path in arguments[: _PATHS.get(event, 0)]:
        _check(path, followed=False)


def _check(path: Any, *, followed: bool) -> None:
    """Raise unless the path, or what a link there stands for, may be changed."""
    if isinstance(path, int) or path is None:
        return
    text = os.path.abspath(os.fsdecode(path))
    folder, name = os.path.split(text)
    whole = os.path.realpath(text) if followed else os.path.join(os.path.realpath(folder), name)
    if not (whole.startswith(_ROOTS) or "__pycache__" in whole):
        raise PermissionError(1, "a case must not write there", ascii(text)[:200])
