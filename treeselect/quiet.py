"""Changes of Python's warning filters, by one thread at a time.

The filters belong to the process: two threads that change and restore them at the same time
restore each other's, and the user's warnings are lost or shown without end from then on.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.RLock()


def _renew() -> None:
    """In a forked process the thread that holds the lock does not exist."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


@contextmanager
def own_filters(*, record: bool = False) -> Iterator[Any]:
    """As ``warnings.catch_warnings``; other threads wait where they change filters themselves, and
    must not be waited for inside."""
    with _lock, warnings.catch_warnings(record=record) as caught:
        yield caught
