"""No case harms the machine that it runs on: what would write elsewhere is stopped before it does.

A case hands over paths that nobody expects, perhaps as root. While it runs, an audit hook refuses
to open for writing, replace or remove anything outside the folder of temporary files and the
caches of compiled code, and to start a process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from hostility import watching

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


class _Fence:
    installed = False
    depth = 0


@contextlib.contextmanager
def fenced() -> Iterator[None]:
    """Refuse, with a PermissionError, to change anything but temporary files and caches."""
    watching.install()
    if not _Fence.installed:
        sys.addaudithook(_refuse)
        _Fence.installed = True
    _Fence.depth += 1
    try:
        yield
    finally:
        _Fence.depth -= 1


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not _Fence.depth:
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
