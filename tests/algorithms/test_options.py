"""Every option of every method: what it takes, what it refuses, and in which words."""

import numpy as np
import pandas as pd
import pytest
from quick import normal

import treeselect
from treeselect.algorithms.options import MOST_DEPTH, MOST_LEAF, MOST_TREES, MOST_UNITS
from treeselect.algorithms.registry import METHODS
from treeselect.errors import MethodError

OPTIONS = [(name, option) for name, kind in METHODS.items() for option in kind.defaults()]
EVERY = pytest.mark.parametrize(("method", "option"), OPTIONS)

NONSENSE = [
    10**5000, -(10**5000), float("nan"), float("inf"), np.float32("nan"), "x", "", b"x", pd.NA,
    pd.NaT, 1j, np.complex128(1), np.array([1, 2]), np.array(3), [1], (1, 2, 3), {"a": 1}, object(),
]  # fmt: skip
"""Nothing that an option could mean."""

WORK = {
    *("n_trees", "forests", "tail", "min_trees", "max_rounds", "n_shuffles", "time_limit", "sketch")
}
"""Options whose largest values are a matter of patience."""

FORESTS = ("rrf", "grrf", "rboost", "gbfs", "importance", "rfe", "varselrf")
QUICK = {
    **{name: {"n_trees": 4} for name in FORESTS},
    "controlburn": {"forests": 1, "n_trees": 3, "max_depth": 1},
    "boruta": {"n_trees": 4, "max_rounds": 2},
}
LARGEST = {"mtry": MOST_UNITS, "max_depth": MOST_DEPTH, "min_leaf": MOST_LEAF, "C": 1e12,
           "block_size": MOST_UNITS}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return normal(5, 40, "abc", a=2)


@EVERY
def test_nonsense_is_refused_by_name(method, option):
    for value in NONSENSE:
        with pytest.raises(MethodError) as caught:
            METHODS[method](**{option: value})
        assert f"`{option}` of " in str(caught.value).splitlines()[0]
        assert len(str(caught.value)) < 1000


def built(method, option, value):
    """The method with an option, or the text of the error."""
    try:
        return METHODS[method](**{option: value})
    except MethodError as error:
        return str(error)


@EVERY
def test_none_negative_and_true_are_taken_or_refused_by_name(method, option):
    for value in (None, -1, -0.5, 0, True, 1.5):
        found = built(method, option, value)
        if isinstance(found, str):
            assert f"`{option}" in found.splitlines()[0]
        else:
            assert type(getattr(found, option)) in (type(value), tuple)


@EVERY
def test_values_of_numpy_become_those_of_python(method, option):
    default = getattr(METHODS[method](), option)
    for value, like in (
        (default, default), (3, np.int64(3)), (3, np.uint8(3)), (0.25, np.float32(0.25)),
        (0.25, np.float64(0.25)), (True, np.True_), ("mdi", np.str_("mdi")), (1, np.int8(1)),
    ):  # fmt: skip
        wanted, found = built(method, option, value), built(method, option, like)
        assert found == wanted
        assert repr(found) == repr(wanted)
        if not isinstance(found, str):
            assert type(getattr(found, option)) is type(getattr(wanted, option))


NUMBERS = [
    (method, option)
    for method, option in OPTIONS
    if option not in WORK and not isinstance(getattr(METHODS[method](), option), bool | str | tuple)
]


@pytest.mark.filterwarnings("ignore::treeselect.errors.TreeselectWarning")
@pytest.mark.parametrize(("method", "option"), NUMBERS)
def test_the_largest_and_the_least_that_are_taken_are_answered(data, method, option):
    k = {} if option == METHODS[method].tuning_name else {"k": 1}
    for value in (-1e150, 1e-300, 1e-12, LARGEST.get(option, 1e150)):
        if isinstance(built(method, option, value), str):
            continue
        options = {**QUICK.get(method, {}), option: value, **k}
        fit = treeselect.select("y ~ .", data, method=method, seed=1, **options)
        assert fit.k <= 3


def test_numbers_that_stand_for_work_have_an_end():
    for method, option in OPTIONS:
        if option in WORK:
            kind = METHODS[method]
            says = rf"`{option}` of {kind.__name__} must be .* (?:at most|to) "
            with pytest.raises(MethodError, match=says):
                kind(**{option: 2 * MOST_TREES * 10})
    assert METHODS["boruta"](n_trees=MOST_TREES).n_trees == MOST_TREES


@pytest.mark.parametrize(
    ("method", "options", "says"),
    [
        ("boruta", {"level": 0.0}, "`level` of Boruta must be .* or None"),
        ("cfs", {"gain": "low"}, "`gain` of CFS must be .* or None"),
        ("cfs", {"prune": None}, "`prune` of CFS must be True or False"),
        ("fcbf", {"delta": -0.1}, "`delta` of FCBF must be .* at least 0 and at most 1, or None"),
        ("gbfs", {"mu": -1.0}, "`mu` of GBFS must be a finite number at least 0, or None"),
        ("gbfs", {"n_trees": 2001}, "from 1 to 2,000, or None"),
        ("gbfs", {"learning_rate": 0.0}, "above 0 and at most 1"),
        ("gbfs", {"newton": "yes"}, "True or False"),
        ("gbfs", {"discounts": [1]}, r"each pair.*\n.*in a shell `\[\[.a., .b., 0.5"),
        ("gbfs", {"discounts": {("a", "b"): 2.0}}, "factor from 0 to 1"),
        ("gbfs", {"discounts": {"a": 0.5}}, "each pair of terms"),
        ("gbfs", {"discounts": {("a", "a"): 0.5}}, "each pair of terms"),
        ("hsic_lasso", {"lam": 0.0}, "`lam` of HSICLasso must be .* above 0, or None"),
        ("hsic_lasso", {"block_size": 4}, "`block_size` .* from 5 to .*, or None"),
        ("importance", {"kind": "gini"}, "'unbiased' or 'mdi' or 'permutation'"),
        ("importance", {"threshold": 1.5}, "`threshold` of .* or None"),
        ("importance", {"n_trees": 1}, "from 2"),
        ("lasso", {"lam": 0.0}, "`lam` of Lasso must be .* or None"),
        ("mrmr", {"scheme": "ratio"}, "'difference' or 'quotient'"),
        ("mrmr", {"n_bins": 1}, "`n_bins` .* from 2 to 100"),
        ("rboost", {"lam": 2.0}, "`lam` of RBoost must be .* or None"),
        ("rboost", {"form": "ada"}, "'auto' or 'reweighting' or 'gradient'"),
        ("rboost", {"criterion": "entropy", "gain": "uncentred"}, "can't have"),
        ("rboost", {"form": "gradient", "ties": "random"}, "can't have"),
        ("rfe", {"share": 0.0}, "`share` of Recursive.* or None"),
        ("rfe", {"step": 1.0}, "`step` .* above 0 and at most 0.9"),
        ("rrf", {"lam": 1.5}, "`lam` of .* must be a finite number at least 0 and at most 1"),
        ("rrf", {"n_trees": 0}, "`n_trees` of .* from 1"),
        ("rrf", {"sample_fraction": 0.0}, "finite number above 0 and at most 1"),
        ("rrf", {"criterion": "mse"}, "'gini' or 'entropy'"),
        ("rrf", {"gain": "centred"}, "'uncentred' or 'decrease'"),
        ("rrf", {"ties": "first"}, "'used' or 'random'"),
        ("rrf", {"criterion": "entropy"}, "have `criterion='entropy'` and `gain='uncentred'`"),
        ("exchange", {"n_trees": 3}, "`n_trees` of ExchangeSearch .* from 10"),
        ("exchange", {"margin": -1.0}, "`margin` of ExchangeSearch .* at least 0"),
        ("stepwise", {"penalty": -1.0}, "`penalty` of Stepwise must be .* at least 0, or None"),
        ("stepwise", {"direction": "up"}, "'both' or 'forward' or 'backward'"),
        ("svm_rfe", {"share": 0.0}, "`share` of SVMRFE must be .* or None"),
        ("svm_rfe", {"C": 0}, "`C` of SVMRFE must be a finite number at least 1e-12"),
        ("svm_rfe", {"epsilon": -1.0}, "`epsilon` .* at least 0"),
        ("varselrf", {"c_sd": -1.0}, "`c_sd` of VarSelRF must be .* at least 0, or None"),
        ("grrf", {"gamma": -0.1}, "`gamma` of GRRF must be .* or None"),
    ],
)  # fmt: skip
def test_options_are_checked_when_built(method, options, says):
    with pytest.raises(MethodError, match=says):
        METHODS[method](**options)
