"""Simulated data with a known answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import (
    check_count,
    check_flag,
    check_number,
    described,
    read_names,
    read_seed,
)
from treeselect.errors import DataError, OptionError, did_you_mean, listing, near, quoted

if TYPE_CHECKING:  # pandas comes with the first call, so that importing treeselect stays quick
    import pandas as pd
    from numpy.typing import NDArray


_MOST_ROWS = 100_000_000
_MOST_COPIES = 1_000
_MOST_NOISE = 1e12


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated data set and its known answer.

    Attributes
    ----------
    data : pandas.DataFrame
        One row per observation, the response last.
    formula : str
        The response on all other columns.
    truth : tuple of frozenset of str
        One set per signal. The terms of a set are interchangeable: exactly one of them is needed.
    """

    data: pd.DataFrame
    formula: str
    truth: tuple[frozenset[str], ...]


def simulate_friedman(
    n: int = 1000, *, seed: int, noise: float = 1.0, binary: bool = True
) -> Simulated:
    """Simulate Friedman's function with copies of its variables (GRRF paper [1]_, section 5.1).

    ``X1`` to ``X10`` are uniform on [0, 1], ``X11`` to ``X15`` are exact copies of ``X1`` to
    ``X5``, and ``y`` is based on::

        10 sin(pi X1 X2) + 20 (X3 - 0.5)^2 + 10 X4 + 5 X5 + noise * N(0, 1)

    Parameters
    ----------
    n : int, default 1000
        Number of rows, 2 to 100 million.
    seed : int
        Seed of the random numbers.
    noise : float, default 1.0
        Standard deviation of the noise, at least 0.
    binary : bool, default True
        If True, the response ``y`` is 1 above the median and 0 otherwise, as in the paper; if
        False, the number itself.

    Returns
    -------
    Simulated
        The truth has five terms: ``X1`` or ``X11``, ``X2`` or ``X12``, and so on.

    Raises
    ------
    OptionError
        If `n`, `noise` or `seed` is not allowed.

    References
    ----------
    .. [1] H. Deng, G. Runger (2013). Gene selection with guided regularized random forest.
       Pattern Recognition 46(12).

    Examples
    --------
    >>> from treeselect.datasets import simulate_friedman
    >>> simulated = simulate_friedman(seed=1)
    >>> simulated.data.shape, sorted(simulated.truth[0])
    ((1000, 16), ['X1', 'X11'])
    """
    import pandas as pd

    n, noise, binary = _checked(n, noise, binary)
    rng = np.random.default_rng(read_seed(seed))
    x = rng.uniform(size=(n, 10))
    signal = (
        10 * np.sin(np.pi * x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + 5 * x[:, 4]
    )
    columns = np.column_stack([x, x[:, :5]])
    data = pd.DataFrame(columns, columns=[f"X{j}" for j in range(1, 16)])
    data["y"] = _response(signal + noise * rng.standard_normal(n), binary=binary)
    return Simulated(data, "y ~ .", tuple(frozenset({f"X{j}", f"X{j + 10}"}) for j in range(1, 6)))


def simulate_noisy_copies(
    data: pd.DataFrame,
    columns: Sequence[str],
    copies: int,
    noise: float = 0.1,
    *,
    seed: int,
    response: str | None = None,
) -> Simulated:
    """Add noisy copies of some columns (ControlBurn paper [1]_, section 5.1).

    Parameters
    ----------
    data : pandas.DataFrame
        Not modified.
    columns : sequence of str
        The numeric columns to copy.
    copies : int
        Number of copies of each column, at most 1,000. They are called ``<column>_copy1``,
        ``<column>_copy2``, ... and inserted before the response. Missing values stay missing.
    noise : float, default 0.1
        Standard deviation of the Gaussian noise, at least 0, in the units of the column.
    seed : int
        Seed of the random numbers.
    response : str, optional
        The response; by default the last column.

    Returns
    -------
    Simulated
        The truth has one set for each of `columns`: the column and its copies. Whether the other
        columns matter is unknown.

    Raises
    ------
    DataError
        If a column is not found, is not numeric or is the response, or if a copy's name exists.
    OptionError
        If `copies`, `noise` or `seed` is not allowed.

    References
    ----------
    .. [1] B. Liu, M. Xie, M. Udell (2021). ControlBurn: Feature Selection by Sparse Forests. KDD.

    Examples
    --------
    >>> from treeselect import datasets
    >>> titanic = datasets.load("titanic")[["pclass", "fare", "age", "survived"]]
    >>> datasets.simulate_noisy_copies(titanic, ["fare"], 2, seed=1).data.columns.tolist()
    ['pclass', 'fare', 'age', 'fare_copy1', 'fare_copy2', 'survived']
    """
    from pandas.api.types import is_numeric_dtype

    columns = _columns(data, columns, response)
    response = str(data.columns[-1]) if response is None else response
    for name, argument in [(response, "response"), *((name, "columns") for name in columns)]:
        if name not in data.columns:
            close = near(name, data.columns)
            advice = did_you_mean(close) if close else f"Columns: {listing(data.columns)}."
            raise DataError(
                f"Can't find the column {quoted(name)}, named in `{argument}`.\n  {advice}"
            )
    for name in columns:
        if name == response:
            raise DataError(f"`columns` must not contain the response, {quoted(name)}.")
        if not is_numeric_dtype(data[name]):
            raise DataError(
                f"The column {quoted(name)} must be numeric.\n  Found: {data[name].dtype}."
            )
    copies = check_count("copies", copies, least=0, most=_MOST_COPIES)
    noise = check_number("noise", noise, least=0.0, most=_MOST_NOISE)
    rng = np.random.default_rng(read_seed(seed))
    result = data.drop(columns=response)
    truth = []
    for name in columns:
        names = [f"{name}_copy{i}" for i in range(1, copies + 1)]
        for copy in names:
            if copy in result.columns:
                raise DataError(
                    f"Can't add the column {quoted(copy)}: `data` already has one of that name."
                )
            result[copy] = data[name] + noise * rng.standard_normal(len(data))
        truth.append(frozenset({name, *names}))
    result[response] = data[response]
    return Simulated(result, f"{response} ~ .", tuple(truth))


def _columns(data: object, columns: object, response: object) -> list[str]:
    """The names of the columns to copy, after checks of the data."""
    import pandas as pd

    from treeselect.frames.reading import read_data

    if not isinstance(data, pd.DataFrame):
        raise DataError(
            f"`data` must be a pandas data frame.\n  Found: {described(data)}. Convert it first."
        )
    read_data(data)  # for its checks of the names
    if data.shape[1] == 0:
        raise DataError("`data` must have columns.\n  Found: none.")
    if response is not None and not isinstance(response, str):
        raise OptionError(
            f"`response` must be the name of a column, or None.\n  Found: {described(response)}."
        )
    return read_names("columns", columns)


def simulate_factors(
    n: int = 1000, *, seed: int, noise: float = 1.0, binary: bool = True
) -> Simulated:
    """Simulate factors with eight levels, few of which have an effect, and numeric columns.

    Six factors ``f1`` to ``f6`` with levels ``a`` to ``h`` and six standard normal columns ``x1``
    to ``x6``, all independent. ``f1_renamed`` is ``f1`` with its levels renamed. The signal is::

        3 [f1 = a] + 2 ([f2 = b] - [f2 = c]) + x1 + 2 [x2 > 0] + noise * N(0, 1)

    One-hot encoding would split each factor into eight columns; there are four terms to find.

    Parameters
    ----------
    n : int, default 1000
        Number of rows, 2 to 100 million.
    seed : int
        Seed of the random numbers.
    noise : float, default 1.0
        Standard deviation of the noise, at least 0.
    binary : bool, default True
        If True, the response ``y`` is 1 above the median and 0 otherwise; if False, the number
        itself.

    Returns
    -------
    Simulated
        The truth has four terms: ``f1`` or ``f1_renamed``, ``f2``, ``x1`` and ``x2``.

    Raises
    ------
    OptionError
        If `n`, `noise` or `seed` is not allowed.

    Examples
    --------
    >>> from treeselect.datasets import simulate_factors
    >>> simulated = simulate_factors(seed=1)
    >>> [sorted(terms) for terms in simulated.truth]
    [['f1', 'f1_renamed'], ['f2'], ['x1'], ['x2']]
    """
    import pandas as pd

    n, noise, binary = _checked(n, noise, binary)
    rng = np.random.default_rng(read_seed(seed))
    levels = pd.Index(list("abcdefgh"))
    codes = rng.integers(len(levels), size=(n, 6))
    x = rng.standard_normal((n, 6))
    columns: dict[str, object] = {
        f"f{j + 1}": pd.Categorical.from_codes(codes[:, j], levels) for j in range(6)
    }
    columns["f1_renamed"] = pd.Categorical.from_codes(codes[:, 0], levels + levels)
    columns |= {f"x{j + 1}": x[:, j] for j in range(6)}
    is_a, is_b, is_c = codes[:, 0] == 0, codes[:, 1] == 1, codes[:, 1] == 2
    signal = 3.0 * is_a + 2.0 * is_b - 2.0 * is_c + x[:, 0] + 2.0 * (x[:, 1] > 0)
    columns["y"] = _response(signal + noise * rng.standard_normal(n), binary=binary)
    truth = ({"f1", "f1_renamed"}, {"f2"}, {"x1"}, {"x2"})
    return Simulated(pd.DataFrame(columns), "y ~ .", tuple(map(frozenset, truth)))


def _checked(n: object, noise: object, binary: object) -> tuple[int, float, bool]:
    """The arguments as Python values; an OptionError if one is not allowed."""
    return (
        check_count("n", n, least=2, most=_MOST_ROWS),
        check_number("noise", noise, least=0.0, most=_MOST_NOISE),
        check_flag("binary", binary),
    )


def _response(
    values: NDArray[np.float64], *, binary: bool
) -> NDArray[np.float64] | NDArray[np.int64]:
    """The values, or 1 where they exceed their median and 0 otherwise."""
    return (values > np.median(values)).astype(np.int64) if binary else values
