"""Linear algebra is held to one thread while somebody needs it, and let go afterwards."""

from __future__ import annotations

from threadpoolctl import threadpool_info, threadpool_limits

from treeselect.engine.threads import one_thread


def threads():
    return [own["num_threads"] for own in threadpool_info() if own["user_api"] == "blas"]


def test_the_last_to_leave_lifts_the_limit():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_thread():
            with one_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert threads() == before
