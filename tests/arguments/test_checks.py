"""Seeds, counts and other single values: one reading of each, at every door."""

import numpy as np
import pandas as pd
import pytest
from quick import normal

import treeselect
from treeselect import datasets
from treeselect.arguments import checks
from treeselect.cli import main as cli
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError
from treeselect.running.parallel import check_n_jobs

FORMULA = "y ~ a + b + c"
NO_SEEDS = [True, np.True_, "abc", "3", -5, 1.5, 3.0, 2**64, 2**200, pd.NA, float("nan"), [1],
            np.array([3]), np.array(3), np.float64(3.0), b"3"]  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return normal(4, 60, "abc", a=2, b=1)


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select(FORMULA, data, method="mrmr", k=1, seed=1)


def select(data, **arguments):
    return treeselect.select(FORMULA, data, **{"method": "mrmr", "k": 1, "seed": 1, **arguments})


def selector(data, seed):
    chosen = treeselect.TreeSelector(method="mrmr", k=1, random_state=seed)
    return chosen.fit(data[["a", "b", "c"]], data["y"]).result_


DOORS = {
    "select": lambda data, fit, seed: select(data, seed=seed).glance(),
    "compare": lambda data, fit, seed: (
        treeselect.compare(FORMULA, data, ["mrmr"], k=1, folds=2, seed=seed)
        .tidy()
        .drop(columns="seconds")
    ),
    "resample": lambda data, fit, seed: fit.resample(3, seed=seed).stability.tidy(),
    "performance": lambda data, fit, seed: fit.performance(2, seed=seed).tidy(),
    "inference": lambda data, fit, seed: fit.inference(seed=seed).tidy(),
    "selector": lambda data, fit, seed: selector(data, seed).glance(),
    "titanic": lambda data, fit, seed: datasets.simulate_correlated_titanic(seed=seed).data,
    "friedman": lambda data, fit, seed: datasets.simulate_friedman(20, seed=seed).data,
    "copies": lambda data, fit, seed: (
        datasets.simulate_noisy_copies(data, ["a"], 1, seed=seed).data
    ),
}
"""Everything that takes a seed, and what the seed decides there."""


@pytest.mark.parametrize("door", DOORS)
def test_a_seed_of_numpy_is_that_of_python(data, fit, door):
    found = [DOORS[door](data, fit, seed) for seed in (3, np.int64(3), np.uint8(3))]
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_seed_is_refused_in_the_same_words_everywhere(data, fit, door):
    name = "random_state" if door == "selector" else "seed"
    for seed in NO_SEEDS:
        with pytest.raises(OptionError) as caught:
            DOORS[door](data, fit, seed)
        assert str(caught.value) == (
            f"`{name}` must be a whole number, at least 0, at most 18,446,744,073,709,551,615.\n"
            f"  Found: {checks.described(seed)}."
        )


def test_the_command_line_says_the_same(tmp_path, data, capsys):
    data.to_csv(tmp_path / "data.csv")
    for seed in ("abc", "-5", "1.5", str(2**200)):
        ends = cli.main(["select", FORMULA, str(tmp_path / "data.csv"), f"--seed={seed}"])
        assert ends == 2
        assert "`seed` must be a whole number, at least 0" in capsys.readouterr().err


def test_seeds_are_read_and_streams_told_apart_by_value_and_by_text():
    assert stream_seed(3) == stream_seed(np.int64(3)) == stream_seed(np.uint64(3))
    assert stream_seed("3") == stream_seed(np.str_("3")) != stream_seed(3)
    assert stream_seed(7, "bootstrap", 12) == stream_seed(np.int32(7), "bootstrap", np.int8(12))
    assert type(checks.read_seed(np.int64(3))) is int
    assert checks.read_seed(checks.MOST_SEED) == checks.MOST_SEED
    assert checks.read_seed(None) != checks.read_seed(None)
    with pytest.raises(OptionError, match=r"`random_state` must .*\n  Found: 'x'\."):
        checks.read_seed("x", "random_state")


@pytest.mark.parametrize("number", [np.int64, np.uint8])
def test_numbers_of_numpy_give_the_answers_of_those_of_python(data, number):
    plain_fit = select(data, k="best", folds=3, repeats=2, resamples=3, n_jobs=1)
    other = select(data, k="best", folds=number(3), repeats=number(2), resamples=number(3),
                   n_jobs=number(1))  # fmt: skip
    assert str(plain_fit.summary()) == str(other.summary())
    pd.testing.assert_frame_equal(plain_fit.path, other.path)
    pd.testing.assert_frame_equal(plain_fit.stability.tidy(), other.stability.tidy())
    assert select(data, k=number(2)).summary().as_text() == select(data, k=2).summary().as_text()
    one, two = (
        treeselect.compare(FORMULA, data, ["mrmr"], k=k, folds=n, repeats=r, seed=1)
        for k, n, r in ((2, 2, 1), (number(2), number(2), number(1)))
    )
    assert one.call == two.call
    pd.testing.assert_frame_equal(one.glance().drop(columns="seconds"),
                                  two.glance().drop(columns="seconds"))  # fmt: skip
    first, second = plain_fit.resample(4, k=1), plain_fit.resample(number(4), k=number(1))
    pd.testing.assert_frame_equal(first.stability.tidy(), second.stability.tidy())
    half = np.float64(0.5)
    split = [plain_fit.inference(s, r) for s, r in ((0.5, 2), (half, number(2)))]
    pd.testing.assert_frame_equal(split[0].tidy(), split[1].tidy())


def test_one_value_at_a_time_is_shown_on_one_short_line():
    assert check_n_jobs(np.int64(-1)) == -1
    assert check_n_jobs(None) is None
    assert type(checks.check_count("k", np.uint8(2), least=1)) is int
    assert type(checks.check_share("split", np.float32(0.5))) is float
    assert [checks.whole(v) for v in (3, np.int8(3), 3.0, True, np.True_, "3", None)] == [
        3,
        3,
    ] + 5 * [None]
    assert [checks.finite(v) for v in (3, np.float32(0.5))] == [3, 0.5]
    assert [checks.finite(v) for v in (np.inf, np.nan, 1j, np.complex128(1), pd.NA)] == 5 * [None]
    assert [checks.truth(v) for v in (True, np.False_, 1, None)] == [True, False, None, None]
    assert checks.plain(np.int64(3)) == 3
    assert repr(checks.plain(np.str_("a"))) == "'a'"
    assert checks.described(np.int64(3)) == "3"
    assert checks.described(10**5000) == "a value of type int"
    assert len(checks.described("x" * 10_000)) < 200
    assert "\n" not in checks.described(pd.DataFrame({"a": [1, 2]}))


class Proxy:
    """Stands for what is not there any more."""

    def __getattribute__(self, name):
        raise RuntimeError("gone")

    def __call__(self, y_true, prediction):
        return 0.0


def test_parameters_of_functions_and_of_what_does_not_tell():
    assert list(checks.parameters_of(lambda a, *, sample_weight=None: a)) == ["a", "sample_weight"]
    assert (
        checks.parameters_of(type)
        == checks.parameters_of(Proxy())
        == checks.parameters_of(None)
        == {}
    )
