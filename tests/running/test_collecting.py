"""Garbage collection while records are made."""

from __future__ import annotations

import gc

import pytest

from treeselect.running.machine import no_collection


def test_collection_is_off_inside_and_as_before_outside():
    assert gc.isenabled()
    with no_collection(), no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_and_a_user_who_has_it_off_are_respected():
    with pytest.raises(ValueError, match="inside"), no_collection():
        raise ValueError("inside")
    assert gc.isenabled()
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
