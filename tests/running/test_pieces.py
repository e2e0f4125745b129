"""Pieces are saved, taken from a folder that may hold anything, and gathered at the end or a stop.

The pieces are those of a toy, whose results are easily told.
"""

import dataclasses
import errno
import functools
import hashlib
import json
import math
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit

import treeselect
from treeselect.errors import OptionError, TreeselectWarning
from treeselect.running import coded, pieces
from treeselect.running.coded import NOTHING, NUMBER, array, members, optional, record, units
from treeselect.running.parallel import ALONE, Workers
from treeselect.running.pieces import (
    Checkpoint,
    Course,
    Fingerprints,
    Kind,
    read_checkpoint,
    read_course,
    run_pieces,
    versions,
)

N = 5
KIND = Kind(
    name="toy", coded=lambda _: coded.NUMBER,
    found=lambda number, result: {"twice": 2 * result, "number": number},
)  # fmt: skip
DONE = []


def third(number, factor, n_threads):
    """A number that not every binary fraction holds."""
    DONE.append(number)
    return factor * number / 3


def run(folder=None, *, factor=1.0, n=N, on_piece=None, workers=ALONE):
    """Results, and the numbers of the pieces that had to be done."""
    DONE.clear()
    calls = [(number, factor) for number in range(n)]
    course = Course(workers, False, read_checkpoint(folder), on_piece)
    return run_pieces(third, calls, KIND, course), list(DONE)


def stop_at(done):
    """Stops as Ctrl-C does."""

    def stop(piece):
        if piece.done == done:
            raise KeyboardInterrupt

    return stop


def files(folder):
    return sorted(folder.glob("toy-*.json"))


WHOLE = {number: number / 3 for number in range(N)}


def test_nothing_is_done_twice(tmp_path):
    folder = tmp_path / "new"
    assert run(folder) == (WHOLE, [*range(N)])
    assert len(files(folder)) == len(list(folder.iterdir())) == N
    assert run(folder) == (WHOLE, [])
    more, done = run(folder, n=N + 2)
    assert (len(more), done) == (N + 2, [N, N + 1])


def test_a_file_holds_what_the_page_says(tmp_path):
    run(tmp_path, n=1)
    (path,) = files(tmp_path)
    document = json.loads(path.read_text())
    assert list(document) == ["format", "key", "check", "result"]
    assert path.name == f"toy-{document['key'][:32]}.json"


def test_pieces_are_told_in_the_order_in_which_they_become_ready(tmp_path):
    told = []
    run(tmp_path, n=2)
    run(tmp_path, on_piece=told.append)
    assert [piece.number for piece in told] == [*range(N)]
    assert [piece.done for piece in told] == [*range(1, N + 1)]
    assert [piece.was_saved for piece in told] == [True] * 2 + [False] * 3
    assert {piece.total for piece in told} == {N}
    assert told[3].found == {"twice": 2.0, "number": 3}
    assert told[3].kind == "toy"


def test_what_a_callback_raises_ends_the_call_and_loses_nothing(tmp_path):
    def fail(piece):
        if piece.number == 2:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        run(tmp_path, on_piece=fail)
    assert run(tmp_path) == (WHOLE, [3, 4])


def test_a_stopped_call_gives_what_is_finished_if_there_is_a_result(tmp_path):
    with pytest.warns(TreeselectWarning, match=r"^Partial: stopped after 3 of 5 toys;") as caught:
        found, _ = run(tmp_path, on_piece=stop_at(3))
    assert found == {number: number / 3 for number in range(3)}
    assert caught[0].filename == __file__
    assert run(tmp_path) == (WHOLE, [3, 4])
    with pytest.raises(KeyboardInterrupt):
        run(on_piece=stop_at(1))
    assert run(on_piece=stop_at(N))[0] == WHOLE  # nothing was left to be done


def test_a_stopped_call_in_two_processes_leaves_no_warning_of_joblib():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, _ = run(n=12, workers=Workers(2, 2), on_piece=stop_at(2))
    assert len(found) == 2
    assert [w.category for w in caught] == [TreeselectWarning]


# --- hostile folders -----------------------------------------------------------------------------


def replaced(document, **changes):
    return json.dumps(json.loads(document) | changes).encode()


def checked(document, result):
    """With a result that the check goes with."""
    text = json.dumps(result)
    return replaced(document, result=json.loads(text), check=pieces._check(text))


class Bomb:
    def __reduce__(self):
        return os._exit, (1,)


DAMAGE = {
    "empty": lambda d: b"", "cut": lambda d: d[: len(d) // 2],
    "one bit": lambda d: d.replace(b'"result": ', b'"result": 1'),
    "key": lambda d: replaced(d, key="0" * 64), "format": lambda d: replaced(d, format=2),
    "no check": lambda d: json.dumps({"result": 1.0}).encode(),
    "not a number": lambda d: checked(d, "1.0"), "true": lambda d: checked(d, True),
    "infinite": lambda d: d.replace(b'"result": ', b'"result": 1e999, "x": '),
    "NaN": lambda d: d.replace(b'"result": ', b'"result": NaN, "x": '),
    "deep": lambda d: b"[" * 100_000, "list": lambda d: b"[]",
    "pickle": lambda d: pickle.dumps(Bomb()), "binary": lambda d: bytes(range(256)),
    "large": lambda d: b" " * (pieces._LARGEST + 1),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_told_and_done_again(tmp_path, damage):
    run(tmp_path)
    path = files(tmp_path)[0]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.warns(
        TreeselectWarning, match=rf"\n  Damaged or unreadable, and computed again: `{path.name}`\.$"
    ):
        found, done = run(tmp_path)
    assert found == WHOLE
    assert len(done) == 1
    assert run(tmp_path) == (WHOLE, [])


def test_a_million_lists_are_not_read(tmp_path):
    (tmp_path / "piece").write_bytes(b"[" + b"[]," * 10_000 + b"0]")
    with pytest.raises(ValueError, match="more lists"):
        pieces._result(tmp_path / "piece", "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")
@pytest.mark.parametrize("kind", ["pipe", "device", "link", "nowhere", "folder"])
def test_what_is_no_ordinary_file_is_not_read_nor_followed(tmp_path, kind):
    folder, other = tmp_path / "folder", tmp_path / "other"
    run(folder)
    path = files(folder)[0]
    other.write_bytes(path.read_bytes())
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "link": other, "nowhere": "nowhere"}[kind])
    before = other.read_bytes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, done = run(folder)
    assert (found, len(done)) == (WHOLE, 1)
    assert "Damaged" in str(caught[0].message)
    assert other.read_bytes() == before
    if kind != "folder":  # in whose place no file can be put
        assert not path.is_symlink()
        assert run(folder) == (WHOLE, [])


def test_foreign_files_are_told_once_and_left(tmp_path):
    (tmp_path / "notes\x1b[31m.txt").write_text("mine")
    (tmp_path / "toy-1.json").write_text("{}")
    with pytest.warns(TreeselectWarning) as caught:
        run(tmp_path)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.endswith("Not written by treeselect: `notes\\x1b[31m.txt`, `toy-1.json`.")
    assert (tmp_path / "notes\x1b[31m.txt").read_text() == "mine"


def test_pieces_of_another_call_are_told_where_none_is_of_this_one(tmp_path):
    run(tmp_path)
    with pytest.warns(
        TreeselectWarning, match=r"From other calls: 5 finished toys with different data"
    ):
        assert run(tmp_path, factor=2.0)[0] == {number: 2 * number / 3 for number in range(N)}
    assert run(tmp_path) == (WHOLE, [])  # they share the folder now, and nothing is to be said


def test_what_a_killed_process_was_writing_is_removed_in_time(tmp_path):
    parts = [tmp_path / f".treeselect-{digit * 32}.part" for digit in "ab"]
    for part in parts:
        part.write_text("{")
    old = time.time() - 2 * pieces._STALE
    os.utime(parts[0], (old, old))
    run(tmp_path)
    assert [part.exists() for part in parts] == [False, True]


# --- disks ---------------------------------------------------------------------------------------


def test_a_full_disk_is_told_once_and_what_is_unsaved_is_tried_again(tmp_path, monkeypatch):
    write, room = pieces.replace_file, {"left": 1}

    def fills(path, content):
        if room["left"] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        room["left"] -= 1
        write(path, content)

    def some_is_deleted(piece):
        room["left"] += 3 * (piece.number == 3)

    monkeypatch.setattr(pieces, "replace_file", fills)
    with pytest.warns(TreeselectWarning, match=r"Found: No space left on device\.\n") as caught:
        assert run(tmp_path, on_piece=some_is_deleted)[0] == WHOLE
    assert len(caught) == 1
    assert len(files(tmp_path)) == 4  # of the five, for which there was never room


def test_a_piece_that_is_too_long_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "_LARGEST", 100)
    with pytest.warns(TreeselectWarning, match="bytes; the maximum is 100") as caught:
        assert run(tmp_path)[0] == WHOLE
    assert len(caught) == 1
    assert not files(tmp_path)


def test_a_folder_that_cant_be_written_to_is_an_error_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        OptionError, match=r"`checkpoint` must be a writable folder.*\n  Found: .*file`\. "
    ):
        read_checkpoint(tmp_path / "file")
    with pytest.raises(OptionError, match="No such file"):
        read_checkpoint(tmp_path / "nowhere" / "folder")
    with pytest.raises(OptionError, match="`checkpoint` must be text or a"):
        read_checkpoint(3)
    with pytest.raises(OptionError, match="`on_piece` must be a function"):
        read_course(ALONE, None, None, 3)


# --- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [None, 3, "012", [0.0], [True], [0, 0], [-1], [3], [0, 1, 2, 3], [[0]], {"0": 1}]
)
def test_units_are_numbers_of_units(said):
    with pytest.raises(ValueError, match="units"):
        coded.units(3).read(said)
    assert coded.units(3).read([2, 0]).tolist() == [2, 0]
    with pytest.raises(ValueError, match="units"):
        coded.units(3, most=1).read([2, 0])


@pytest.mark.parametrize("said", [None, 3, [0.0], [0.0] * 3, [True, 0.0], ["0", 0.0], [[0.0, 1.0]]])
def test_arrays_have_their_shape(said):
    with pytest.raises(ValueError, match=r"table|number"):
        coded.array(2).read(said)
    assert np.array_equal(coded.array(1, 2).read([1, None]), [[1.0, np.nan]], equal_nan=True)
    with pytest.raises(ValueError, match="number"):
        coded.array(2, known=True).read([1, None])
    assert coded.array(1, 2).write(np.array([[1.0, np.nan]])) == [1.0, None]


def test_memory_that_runs_out_is_no_damage(tmp_path):
    def read(number, said):
        raise MemoryError

    saved = Checkpoint(tmp_path, "resample", {0: "ab" * 32})
    saved.save(0, [1])
    with pytest.raises(MemoryError):
        saved.read(read)


# --- a fingerprint is the same wherever and whenever it is made, and another for anything else ---


Pair = namedtuple("Pair", "a b")


def of(*values):
    return Fingerprints().of(*values)


@dataclasses.dataclass(frozen=True)
class Record:
    a: object
    b: object = None


def scored(power):
    """A function that closes over a number."""
    return lambda y, prediction: np.abs(y - prediction).sum() ** power


def method_that_returns(number):
    """A class whose code differs by one number."""
    source = f"class Own(Base):\n    name = 'own'\n    def path(self, task): return {number}"
    names = {"Base": treeselect.Method, "__name__": "a_script"}
    exec(source, names)
    return names["Own"]()


def method_that_has(number):
    """A class of which a property differs by one number."""
    own = type(method_that_returns(1))
    return type("Own", (own,), {"other": property(eval(f"lambda self: {number}", {}))})()


@pytest.mark.parametrize(
    "make",
    [
        lambda n: n, lambda n: float(n), lambda n: str(n), lambda n: np.float64(n),
        lambda n: np.arange(n + 2), lambda n: np.zeros(3, [np.int32, np.int64][n]),
        lambda n: np.zeros([(2, 3), (3, 2)][n]), lambda n: np.array([None, n], dtype=object),
        lambda n: (1, [n, (2,)]), lambda n: {"a": {n, "b", "c"}}, lambda n: Pair(1, n),
        lambda n: Record(n), lambda n: Record(None, n), scored, method_that_returns,
        method_that_has, lambda n: [json, os][n],
        lambda n: functools.partial(scored, n), lambda n: [max, min][n],
        lambda n: [np.add, np.subtract][n], lambda n: [LinearRegression, RFE][n],
        lambda n: RFE(LinearRegression(fit_intercept=bool(n))),
        lambda n: ShuffleSplit(random_state=np.random.RandomState(n)),
        lambda n: np.random.default_rng(n), lambda n: treeselect.RRF(n_trees=5 + n),
    ],
)  # fmt: skip
def test_equal_values_have_one_and_others_another(make):
    assert of(make(0)) == of(make(0))
    assert of(make(0)) != of(make(1))


def test_values_in_keys():
    values = [0, 0.0, False, "0", b"0", None, (), [], {}, np.int64(0), np.zeros(1), Pair(0, 0)]
    assert len({of(value) for value in values}) == len(values)
    assert of("ab", "c") != of("a", "bc")
    assert of((1, 2), 3) != of(1, (2, 3))
    assert of(-0.0) != of(0.0)
    ring = [1]
    ring.append(ring)
    assert of(ring) == of(ring)
    with pytest.raises(
        OptionError, match=r"`checkpoint` needs a fingerprint .*\n  Found: TypeError: "
    ):
        of(Record(threading.Lock()))
    assert treeselect.__version__ in versions()
    assert f"numpy {np.__version__}" in versions()
    folder = Path(treeselect.__file__).parent
    sources = [(path.relative_to(folder), path.read_bytes()) for path in folder.rglob("*.py")]
    written = b"".join(path.as_posix().encode() + code for path, code in sorted(sources))
    assert hashlib.sha256(written).hexdigest() in versions()


def test_another_process_finds_the_same():
    code = (
        "import numpy as np\n"
        "from treeselect.running.pieces import Fingerprints, versions\n"
        "def own(y): return y in {'a', 'b', 'c', 'd'}\n"
        "print(Fingerprints().of(versions(), own, {'x', 'y', 'z'}, np.eye(3)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


# --- results as JSON and back --------------------------------------------------------------------


PAIR = record(lambda *parts: parts, NUMBER, units(3))


@pytest.mark.parametrize(
    ("own", "value", "saved"),
    [
        (NUMBER, np.float64(0.1), 0.1), (NUMBER, 2, 2.0), (NOTHING, None, None),
        (optional(NUMBER), None, None), (optional(NUMBER), 0.0, 0.0), (array(), np.array(2.0), [2]),
        (array(2, 2), np.array([[1, np.nan], [0.1, -3]]), [1.0, None, 0.1, -3.0]),
        (array(2, known=True), np.array([1.5, 0]), [1.5, 0.0]),
        (units(3), np.array([2, 0]), [2, 0]),
        (units(3), np.array([1, 2, 0]), [1, 2, 0]), (units(3), np.empty(0, int), []),
        (units(3, 1), np.array([2]), [2]), (members(3), np.array([True, False, True]), [0, 2]),
        (members(1), np.array([True]), [0]), (PAIR, (1.5, np.array([2])), [1.5, [2]]),
    ],
    ids=range(15),
)  # fmt: skip
def test_what_was_written_is_read(own, value, saved):
    written = own.write(value)
    assert written == saved
    found = own.read(json.loads(json.dumps(written, allow_nan=False)))
    assert type(found) is (float if own is NUMBER else type(value))
    parts = zip(found, value, strict=True) if own is PAIR else [(found, value)]
    for one, other in parts:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("own", "saved"),
    [
        *((NUMBER, saved) for saved in (True, "1", None, [1.0], math.inf, math.nan)),
        (optional(NUMBER), "1"), *((array(2), saved) for saved in ([1.0], [1.0] * 3, "12", None)),
        (array(1), [True]), (array(1), ["1"]), (array(1, known=True), [None]),
        *((units(3), saved) for saved in ("01", None, [True], [1.0], [0, 0], [3], [-1], [0, None])),
        *((own(3, 1), [0, 1]) for own in (units, members)), (members(3), [3]), (members(3), [1, 1]),
        *((PAIR, saved) for saved in ([1.5], [1.5, [2], 0], [[2], 1.5], None)),
    ],
    ids=range(30),
)  # fmt: skip
def test_anything_else_is_refused(own, saved):
    with pytest.raises((ValueError, TypeError)):
        own.read(saved)


def test_a_record_is_written_as_a_whole():
    with pytest.raises(ValueError, match="shorter"):
        PAIR.write((1.5,))
