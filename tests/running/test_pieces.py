"""Pieces are saved, taken from a folder that may hold anything, and gathered at the end or a stop.

The pieces are those of a toy, whose results are easily told.
"""

import dataclasses
import errno
import functools
import hashlib
import importlib.util
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit

import treeselect
from treeselect import coding
from treeselect.coding import PIECE_FORMAT, bytes_of
from treeselect.errors import OptionError, TreeselectWarning
from treeselect.running import pieces
from treeselect.running.parallel import ALONE, Workers

N = 5
KIND = pieces.Kind("toy", float)
DONE = []


def third(number, factor, n_threads):
    """A number that not every binary fraction holds."""
    DONE.append(number)
    return factor * number / 3


def run(folder=None, *, factor=1.0, n=N, on_piece=None, workers=ALONE):
    """Results, and the numbers of the pieces that had to be done."""
    DONE.clear()
    calls = [(number, factor) for number in range(n)]
    course = pieces.Course(workers, False, pieces.read_checkpoint(folder), on_piece)
    return pieces.run_pieces(third, calls, KIND, course), list(DONE)


def stop_at(done):
    """Stops as Ctrl-C does."""

    def stop(piece):
        if piece.done == done:
            raise KeyboardInterrupt

    return stop


def files(folder):
    return sorted(folder.glob("toy-*.treeselect"))


WHOLE = {number: number / 3 for number in range(N)}


def test_nothing_is_done_twice(tmp_path):
    folder = tmp_path / "new"
    assert run(folder) == (WHOLE, [*range(N)])
    assert len(files(folder)) == len(list(folder.iterdir())) == N
    assert run(folder) == (WHOLE, [])
    more, done = run(folder, n=N + 2)
    assert (len(more), done) == (N + 2, [N, N + 1])


def test_pieces_are_told_in_the_order_in_which_they_become_ready(tmp_path):
    told = []
    run(tmp_path, n=2)
    run(tmp_path, on_piece=told.append)
    assert [piece.number for piece in told] == [*range(N)]
    assert [piece.done for piece in told] == [*range(1, N + 1)]
    assert [piece.was_saved for piece in told] == [True] * 2 + [False] * 3
    assert {piece.total for piece in told} == {N}
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


class Bomb:
    def __reduce__(self):
        return os._exit, (1,)


DAMAGE = {
    "empty": b"", "pickle": pickle.dumps(Bomb()), "a model": bytes_of(1.0, coding.FORMAT),
    "not a number": bytes_of(("key", "1"), PIECE_FORMAT),
    "another piece": bytes_of(("key", 1.0), PIECE_FORMAT),
}  # fmt: skip


@pytest.mark.parametrize("damage", [*DAMAGE, "cut", "one bit"])
def test_a_damaged_file_is_told_and_done_again(tmp_path, damage):
    run(tmp_path)
    path = files(tmp_path)[0]
    whole = path.read_bytes()
    changed = {
        "cut": whole[: len(whole) // 2],
        "one bit": whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
    }
    path.write_bytes((DAMAGE | changed)[damage])
    with pytest.warns(
        TreeselectWarning, match=rf"\n  Damaged or unreadable, and computed again: `{path.name}`\.$"
    ):
        found, done = run(tmp_path)
    assert found == WHOLE
    assert len(done) == 1
    assert run(tmp_path) == (WHOLE, [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")
@pytest.mark.parametrize("kind", ["pipe", "device", "nowhere", "folder"])
def test_what_is_no_ordinary_file_is_not_read(tmp_path, kind):
    run(tmp_path)
    path = files(tmp_path)[0]
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "nowhere": "nowhere"}[kind])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, done = run(tmp_path)
    assert (found, len(done)) == (WHOLE, 1)
    assert "Damaged" in str(caught[0].message)
    if kind != "folder":  # in whose place no file can be put
        assert not path.is_symlink()
        assert run(tmp_path) == (WHOLE, [])


def test_pieces_of_another_call_are_told_where_none_is_of_this_one(tmp_path):
    run(tmp_path)
    with pytest.warns(
        TreeselectWarning, match=r"From other calls: 5 finished toys with different data"
    ):
        assert run(tmp_path, factor=2.0)[0] == {number: 2 * number / 3 for number in range(N)}
    assert run(tmp_path) == (WHOLE, [])  # they share the folder now, and nothing is to be said


def test_a_full_disk_is_told_once(tmp_path, monkeypatch):
    write, room = pieces.replace_file, iter(range(2))

    def fills(path, content):
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, content)

    monkeypatch.setattr(pieces, "replace_file", fills)
    with pytest.warns(TreeselectWarning, match=r"Found: No space left on device\.\n") as caught:
        assert run(tmp_path)[0] == WHOLE
    assert len(caught) == 1
    assert len(files(tmp_path)) == 2


def test_a_folder_that_cant_be_written_to_is_an_error_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        OptionError, match=r"`checkpoint` must be a writable folder.*\n  Found: .*file`\. "
    ):
        pieces.read_checkpoint(tmp_path / "file")
    with pytest.raises(OptionError, match="No such file"):
        pieces.read_checkpoint(tmp_path / "nowhere" / "folder")
    with pytest.raises(OptionError, match="`checkpoint` must be text or a"):
        pieces.read_checkpoint(3)
    with pytest.raises(OptionError, match="`on_piece` must be a function"):
        pieces.read_course(ALONE, None, None, 3)


def test_memory_that_runs_out_is_no_damage(tmp_path, monkeypatch):
    def fails(path, kinds):
        raise MemoryError

    run(tmp_path)
    monkeypatch.setattr(pieces, "read_record", fails)
    with pytest.raises(MemoryError):
        run(tmp_path)


# --- a fingerprint is the same wherever and whenever it is made, and another for anything else ---


Pair = namedtuple("Pair", "a b")


def of(*values):
    return pieces.Fingerprints().of(*values)


@dataclasses.dataclass(frozen=True)
class Record:
    a: object
    b: object = None


def scored(power):
    """A function that closes over a number."""
    return lambda y, prediction: np.abs(y - prediction).sum() ** power


def from_a_script(power):
    """A function whose helper reads a number of its script."""
    names = {"POWER": power, "__name__": "a_script"}
    exec("def own(y): return [helped(x) for x in y]\ndef helped(x): return x ** POWER", names)
    return names["own"]


def from_a_package(power):
    """A function that a package makes, which has a version."""
    names = {"__name__": "numpy.own"}
    exec("def make(power): return lambda y: y**power", names)
    return names["make"](power)


def module_that_has(number):
    """A module without a version."""
    path = Path(tempfile.mkdtemp()) / "own_scores.py"
    path.write_text(f"NUMBER = {number}")
    spec = importlib.util.spec_from_file_location("own_scores", path)
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    return own


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
        method_that_has, lambda n: [json, os][n], from_a_script, from_a_package,
        module_that_has,
        lambda n: functools.cache(scored(n)),
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
    assert treeselect.__version__ in pieces.versions()
    assert f"numpy {np.__version__}" in pieces.versions()
    folder = Path(treeselect.__file__).parent
    sources = [(path.relative_to(folder), path.read_bytes()) for path in folder.rglob("*.py")]
    written = b"".join(path.as_posix().encode() + code for path, code in sorted(sources))
    assert hashlib.sha256(written).hexdigest() in pieces.versions()


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
