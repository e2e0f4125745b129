"""What is said on standard error while a long call runs, and where a warning points."""

from __future__ import annotations

import io
import itertools

import pytest

from treeselect.errors import TreeselectWarning
from treeselect.running import machine
from treeselect.running.machine import track, warn


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(monkeypatch, stream, *, seconds=0.0, done=0, said=True):
    """What is written for five pieces, `done` of which were there before."""
    clock = itertools.count(0.0, seconds)
    monkeypatch.setattr(machine.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", stream)
    pieces = track(range(done, 5), "Pieces", 5, said, done)
    assert list(pieces) == list(range(done, 5))
    return stream.getvalue()


def test_lines_where_there_is_no_terminal(monkeypatch):
    lines = told(monkeypatch, io.StringIO(), seconds=90.0).splitlines()
    assert lines == [
        "Pieces: 1 of 5, about 6 min left",
        "Pieces: 2 of 5, about 4 min left",
        "Pieces: 3 of 5, about 3 min left",
        "Pieces: 4 of 5, about 90 s left",
        "Pieces: 5 of 5",
    ]


def test_pieces_that_were_there_say_nothing_of_the_time(monkeypatch):
    lines = told(monkeypatch, io.StringIO(), seconds=7200.0, done=3).splitlines()
    assert lines == ["Pieces: 4 of 5, about 2.0 h left", "Pieces: 5 of 5"]


def test_lines_are_few(monkeypatch):
    lines = told(monkeypatch, io.StringIO(), seconds=1.0).splitlines()
    assert lines == ["Pieces: 5 of 5"]


def test_a_bar_in_a_terminal_and_nothing_where_nobody_looks(monkeypatch):
    assert "Pieces" in told(monkeypatch, Terminal(), said=None)
    assert told(monkeypatch, Terminal(), said=False) == ""
    assert told(monkeypatch, io.StringIO(), said=None) == ""


def test_a_full_disk_is_no_reason_to_stop(monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    assert told(monkeypatch, Full(), seconds=90.0) == ""
    monkeypatch.setattr("sys.stderr", None)
    assert list(track(range(3), "Pieces", 3, True)) == [0, 1, 2]


def test_a_warning_points_at_the_line_that_called():
    with pytest.warns(TreeselectWarning, match="known") as caught:
        warn("This should be known.")
    assert caught[0].filename == __file__
