"""No garbage collection while many small records are made."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_inside = 0
_was_on = False


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Switch Python's cyclic garbage collection off; also usable as a decorator.

    With thousands of columns the collector would look again and again through records that all
    stay. It belongs to the process: of calls in several threads, the last that ends switches it on
    again.
    """
    global _inside, _was_on
    with _lock:
        if _inside == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _was_on:
                gc.enable()
