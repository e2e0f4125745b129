"""A fingerprint is the same wherever and whenever it is made, and another for anything else."""

from __future__ import annotations

import dataclasses
import functools
import os
import subprocess
import sys
import threading
from collections import namedtuple

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit

import treeselect
from treeselect.errors import OptionError
from treeselect.running.pieces import Fingerprints, versions

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


@pytest.mark.parametrize(
    "make",
    [
        lambda n: n,
        lambda n: float(n),
        lambda n: str(n),
        lambda n: np.float64(n),
        lambda n: np.arange(n + 2),
        lambda n: np.zeros(3, [np.int32, np.int64][n]),
        lambda n: np.zeros([(2, 3), (3, 2)][n]),
        lambda n: np.array([None, n], dtype=object),
        lambda n: (1, [n, (2,)]),
        lambda n: {"a": {n, "b", "c"}},
        lambda n: Pair(1, n),
        lambda n: Record(n),
        lambda n: Record(None, n),
        scored,
        method_that_returns,
        lambda n: functools.partial(scored, n),
        lambda n: [max, min][n],
        lambda n: [np.add, np.subtract][n],
        lambda n: [LinearRegression, RFE][n],
        lambda n: RFE(LinearRegression(fit_intercept=bool(n))),
        lambda n: ShuffleSplit(random_state=np.random.RandomState(n)),
        lambda n: np.random.default_rng(n),
        lambda n: treeselect.RRF(n_trees=5 + n),
    ],
)
def test_equal_values_have_one_and_others_another(make):
    assert of(make(0)) == of(make(0))
    assert of(make(0)) != of(make(1))


def test_values_of_other_kinds_differ():
    values = [0, 0.0, False, "0", b"0", None, (), [], {}, np.int64(0), np.zeros(1), Pair(0, 0)]
    assert len({of(value) for value in values}) == len(values)
    assert of("ab", "c") != of("a", "bc")
    assert of((1, 2), 3) != of(1, (2, 3))
    assert of(-0.0) != of(0.0)


def test_a_value_may_hold_itself():
    ring = [1]
    ring.append(ring)
    assert of(ring) == of(ring)


def test_what_cant_be_looked_into_is_told():
    with pytest.raises(
        OptionError, match=r"`checkpoint` needs a fingerprint .*\n  Found: TypeError: "
    ):
        of(Record(threading.Lock()))


def test_another_process_finds_the_same():
    code = (
        "import numpy as np\n"
        "from treeselect.running.pieces import Fingerprints, versions\n"
        "def own(y): return y in {'a', 'b', 'c', 'd'}\n"
        "print(Fingerprints().of(versions(), own, {'x', 'y', 'z'}, np.eye(3)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_versions_have_a_part():
    assert treeselect.__version__ in versions()
    assert f"numpy {np.__version__}" in versions()
