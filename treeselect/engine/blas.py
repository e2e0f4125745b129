"""Matrix products on one thread: the same sums in the same order, whatever the machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the linear algebra library to one thread while any caller is inside.

    Products of narrow matrices gain nothing from more, and threads that wait use up a processor.
    The limit is that of the whole process, so it is set by the first to come in and lifted by the
    last to go out.
    """
    global _inside, _limits
    with _lock:
        _inside += 1
        if _inside == 1:
            _limits = threadpool_limits(1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
