"""Example data: simulated ones with a known answer, and real data sets by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    described,
    found_near,
    is_one_of,
    read_names,
    read_seed,
)
from treeselect.errors import DataError, listing, quoted

if TYPE_CHECKING:  # pandas comes with the first call, so that importing treeselect stays quick
    import pandas as pd
    from numpy.typing import NDArray


_MOST_ROWS = 100_000_000
_MOST_COPIES = 1_000
_MOST_NOISE = 1e12


def shipped(name: str) -> pd.DataFrame:
    """A data set in the package, read anew."""
    import pandas as pd

    return pd.read_parquet(Path(__file__).parents[1] / "data" / f"{name}.parquet")


@dataclass(frozen=True, slots=True, eq=False)
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

    n = check_count("n", n, least=2, most=_MOST_ROWS)
    noise = check_number("noise", noise, least=0.0, most=_MOST_NOISE)
    binary = check_flag("binary", binary)
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
    y = signal + noise * rng.standard_normal(n)
    data["y"] = (y > np.median(y)).astype(np.int64) if binary else y
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
        If `data` is no data frame with columns, or if a copy's name exists.
    OptionError
        If `response` is no column, one of `columns` is not another numeric one, or `copies`,
        `noise` or `seed` is not allowed.

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
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    from treeselect.frames.reading import read_data

    if not isinstance(data, pd.DataFrame) or not data.shape[1]:
        raise DataError(
            f"`data` must be a pandas data frame with columns.\n  Found: {described(data)}."
        )
    read_data(data)  # for its checks of the names
    response = str(data.columns[-1]) if response is None else response
    check_choice("response", response, [*data.columns])
    numeric = [c for c in data.columns if c != response and is_numeric_dtype(data[c])]
    columns = read_names("columns", columns)
    for name in columns:
        check_choice("columns", name, numeric)
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


# --- the Titanic --------------------------------------------------------------------------------

# Near the medians of modern growth tables; older teenagers and adults made shorter, for 1912.
_AGES = [0, 0.25, 0.5, 1, 2, 4, 6, 8, 10, 12, 14, 16, 18]  # years
_MALE_HEIGHTS = [50, 61, 67, 75, 87, 102, 115, 127, 137, 146, 157, 167, 171]  # cm
_FEMALE_HEIGHTS = [49, 60, 66, 74, 86, 101, 114, 126, 137, 147, 155, 158, 159]  # cm

_BMI_AGES = [0, 0.25, 1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 25, 40, 60]  # years
_BMI = [13.4, 16.7, 17, 16.4, 15.7, 15.4, 15.8, 16.5, 17.6, 19, 20.4, 21.5, 22.6, 23.4, 23.8]


def simulate_correlated_titanic(*, seed: int = 1912) -> Simulated:
    """Simulate four body measures of Titanic passengers that are proxies for age.

    The experiment in the introduction of the ControlBurn paper [1]_: ``pclass``, ``sex`` (1 is
    male), ``age`` (missing values imputed by the median), ``sibsp`` and ``parch`` are real;
    ``height`` (cm), ``weight`` (kg), ``femur`` and ``tibia`` (cm) are simulated given age and sex.
    Any two of the four have a correlation above 0.9, so a forest shares the importance of age
    among all five.

    Parameters
    ----------
    seed : int, default 1912
        Seed of the simulated measures; the passengers are always the same.

    Returns
    -------
    Simulated
        1309 rows. The response is real, so ``truth`` is not known by construction: it is the
        three-variable solution reported in the paper.

    Raises
    ------
    OptionError
        If `seed` is not allowed.

    Notes
    -----
    Height is the median for age and sex times a normal factor with a standard deviation of 4%.
    Weight is height squared times the median body mass index for age, times a log-normal factor of
    6% (real variation is larger, but would push the correlations below 0.9). Above 150 cm, bone
    lengths follow the stature regressions of Trotter and Gleser [2]_; below it, where the adult
    regressions would become negative, they follow straight lines to the bone lengths of a newborn.
    Both have normal measurement noise with a standard deviation of 0.5 cm. All four measures are
    rounded to one decimal.

    References
    ----------
    .. [1] B. Liu, M. Xie, M. Udell (2021). ControlBurn: Feature Selection by Sparse Forests. KDD.
    .. [2] M. Trotter, G. C. Gleser (1952). Estimation of stature from long bones of American
       Whites and Negroes. American Journal of Physical Anthropology 10(4).

    Examples
    --------
    >>> from treeselect.datasets import simulate_correlated_titanic
    >>> data = simulate_correlated_titanic().data
    >>> list(data.columns[5:9])
    ['height', 'weight', 'femur', 'tibia']
    """
    rng = np.random.default_rng(read_seed(seed))
    real = shipped("titanic")[["pclass", "sex", "age", "sibsp", "parch", "survived"]]
    data = real.assign(
        sex=(real["sex"] == "male").astype("int64"), age=real["age"].fillna(real["age"].median())
    )
    age = data["age"].to_numpy()
    male = data["sex"].to_numpy() == 1

    median_height = np.where(
        male, np.interp(age, _AGES, _MALE_HEIGHTS), np.interp(age, _AGES, _FEMALE_HEIGHTS)
    )
    n = len(data)
    height = median_height * (1 + 0.04 * rng.standard_normal(n))
    bmi = np.interp(age, _BMI_AGES, _BMI) * np.exp(0.06 * rng.standard_normal(n))
    femur = _bone(height, np.where(male, 2.38, 2.47), np.where(male, 61.41, 54.10), newborn=7.5)
    tibia = _bone(height, np.where(male, 2.52, 2.90), np.where(male, 78.62, 61.53), newborn=6.5)
    measures = {
        "height": height,
        "weight": bmi * (height / 100) ** 2,
        "femur": femur + 0.5 * rng.standard_normal(n),
        "tibia": tibia + 0.5 * rng.standard_normal(n),
    }
    for place, (name, values) in enumerate(measures.items(), start=data.shape[1] - 1):
        data.insert(place, name, values.round(1))
    proxies = frozenset({"age", *measures})
    return Simulated(data, "survived ~ .", (frozenset({"sex"}), frozenset({"pclass"}), proxies))


def _bone(height: Any, slope: Any, intercept: Any, *, newborn: float) -> Any:
    """Length of a bone (cm): an adult's from stature = slope * bone + intercept, see above."""
    shortest_adult, newborn_height = 150.0, 50.0
    adult = (np.maximum(height, shortest_adult) - intercept) / slope
    growth = ((shortest_adult - intercept) / slope - newborn) / (shortest_adult - newborn_height)
    return adult - growth * np.maximum(shortest_adult - height, 0)


# --- times to an event --------------------------------------------------------------------------

_MOST_TIMES = 10_000_000
_MOST_STRATA = 26
_NUMBERS, _FACTORS, _LEVELS = 40, 12, "abcd"
_COPIED = (1, 2, 3, 4, 21, 22, 23, 24)
"""Numeric columns with a near-duplicate: four that affect the hazard, four that do not."""

_TRUE_NUMBERS, _TRUE_FACTORS = range(1, 10), range(1, 4)
_SCALE, _SHAPE = 1000.0, 1.5  # days; of the Weibull times at a linear predictor of 0
_LAST_ENTRY = 500.0  # days


def simulate_survival(
    n: int = 500, *, seed: int, censored: float = 0.3, strata: int = 1, left_truncated: bool = False
) -> Simulated:
    """Simulate survival times that depend on 12 of 60 columns.

    ``x01`` to ``x40`` are standard normal, ``f01`` to ``f12`` factors with levels ``a`` to ``d``,
    all independent. ``x01_near`` to ``x04_near`` and ``x21_near`` to ``x24_near`` are
    near-duplicates of the columns they are named after (correlation 0.98). Times are Weibull with
    hazard ``(1.5 / 1000) (t / 1000)^0.5 exp(eta)`` per day, where::

        eta = 0.6 x01 - 0.6 x02 + 0.5 x03 - 0.5 x04 + 0.5 x07 + 0.9 [x05 > 0] + 0.4 x06^2
              + 1.2 [x08 > 0] [x09 > 0]
              + 0.9 [f01 = a] + 0.8 ([f02 = b] - [f02 = c]) + 0.8 [f03 = c or d]

    Parameters
    ----------
    n : int, default 500
        Number of rows, 2 to 10 million.
    seed : int
        Seed of the random numbers.
    censored : float, default 0.3
        Proportion of censored rows, from 0 to 0.999999, attained to the nearest row; at least one
        event remains. Follow-up is uniform from 0 to the length that gives this
        proportion.
    strata : int, default 1
        Number of sites, at most 26. If there are at least 2, the column ``site`` has levels ``A``,
        ``B``, ..., each with its own baseline hazard (scale and shape differ), and the formula
        has them as strata.
    left_truncated : bool, default False
        Whether entry is delayed, to ``entry`` (uniform on 500 days): rows whose event is earlier
        are not observed.

    Returns
    -------
    Simulated
        The last columns are ``time``, whole days from 1, and ``event``, 0 or 1, preceded by
        ``entry`` if entry is delayed. The truth has twelve terms: ``x01`` or ``x01_near`` and so on
        to ``x04``, then ``x05`` to ``x09``, ``f01``, ``f02`` and ``f03``.

    Raises
    ------
    OptionError
        If an argument is not allowed.

    Examples
    --------
    >>> from treeselect.datasets import simulate_survival
    >>> simulated = simulate_survival(seed=1, censored=0.7)
    >>> simulated.formula, simulated.data.shape, int(simulated.data["event"].sum())
    ('Surv(time, event) ~ .', (500, 62), 150)
    >>> [sorted(terms) for terms in simulated.truth][3:5]
    [['x04', 'x04_near'], ['x05']]
    """
    import pandas as pd

    n = check_count("n", n, least=2, most=_MOST_TIMES)
    censored = check_number("censored", censored, least=0.0, most=0.999999)
    strata = check_count("strata", strata, least=1, most=_MOST_STRATA)
    left_truncated = check_flag("left_truncated", left_truncated)
    rng = np.random.default_rng(read_seed(seed))

    x, codes, site, entry, time = _seen(rng, n, strata, left_truncated)
    time, event = _followed(rng, entry, time, censored)
    columns: dict[str, object] = {f"x{j + 1:02}": x[:, j] for j in range(_NUMBERS)}
    levels = pd.Index(list(_LEVELS))
    for j in range(_FACTORS):
        columns[f"f{j + 1:02}"] = pd.Categorical.from_codes(codes[:, j], levels)
    for j in _COPIED:
        columns[f"x{j:02}_near"] = x[:, j - 1] + 0.2 * rng.standard_normal(n)
    if strata > 1:
        names = pd.Index([chr(ord("A") + j) for j in range(strata)])
        columns["site"] = pd.Categorical.from_codes(site, names)
    if left_truncated:
        columns["entry"] = np.floor(entry).astype(np.int64)
    columns["time"] = np.floor(time).astype(np.int64) + 1
    columns["event"] = event.astype(np.int64)

    response = "Surv(entry, time, event)" if left_truncated else "Surv(time, event)"
    terms = ". - site + strata(site)" if strata > 1 else "."
    truth = [{f"x{j:02}", f"x{j:02}_near"} if j in _COPIED else {f"x{j:02}"} for j in _TRUE_NUMBERS]
    truth += [{f"f{j:02}"} for j in _TRUE_FACTORS]
    return Simulated(pd.DataFrame(columns), f"{response} ~ {terms}", tuple(map(frozenset, truth)))


def _seen(
    rng: np.random.Generator, n: int, strata: int, left_truncated: bool
) -> tuple[NDArray[Any], ...]:
    """Numbers, codes of factors and sites, entries and times of n rows that were observed; rows
    whose event precedes their entry are drawn again."""
    drawn, count = [], 0
    while count < n:
        x = rng.standard_normal((n, _NUMBERS))
        codes = rng.integers(len(_LEVELS), size=(n, _FACTORS))
        site = rng.integers(strata, size=n)
        shape = _SHAPE * 0.8**site
        eta = 0.6 * x[:, 0] - 0.6 * x[:, 1] + 0.5 * x[:, 2] - 0.5 * x[:, 3] + 0.5 * x[:, 6]
        eta += 0.9 * (x[:, 4] > 0) + 0.4 * x[:, 5] ** 2 + 1.2 * ((x[:, 7] > 0) & (x[:, 8] > 0))
        eta += 0.9 * (codes[:, 0] == 0) + 0.8 * (codes[:, 2] >= 2)
        eta += 0.8 * (codes[:, 1] == 1)
        eta -= 0.8 * (codes[:, 1] == 2)
        hazard_time = rng.standard_exponential(n) * np.exp(-eta)
        time = _SCALE * 0.7**site * hazard_time ** (1 / shape)
        entry = rng.uniform(0, _LAST_ENTRY, n) if left_truncated else np.zeros(n)
        seen = time > entry
        drawn.append([part[seen] for part in (x, codes, site, entry, time)])
        count += int(seen.sum())
    return tuple(np.concatenate(parts)[:n] for parts in zip(*drawn, strict=True))


def _followed(
    rng: np.random.Generator, entry: NDArray[np.float64], time: NDArray[np.float64], censored: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Time seen and whether it is the event's, after a follow-up that is uniform on (0, end).

    Follow-up u * end is shorter than the time to the event where that over u exceeds `end`: the
    order statistic that leaves the wanted number of events is `end`.
    """
    share = 1.0 - rng.random(len(time))
    needed = (time - entry) / share
    n_events = max(1, round((1 - censored) * len(time)))
    end = np.sort(needed)[n_events - 1]
    event = needed <= end
    return np.where(event, time, entry + share * end), event


# --- real data -----------------------------------------------------------------------------------


def _colon() -> pd.DataFrame:
    """The chips as rows: the file has a row for each gene, in thousandths, which is far smaller."""
    chips = shipped("colon").set_index("gene").rename_axis(index=None).T / 1000
    tissues = chips.index.str.partition("_").get_level_values(0)
    return chips.assign(tissue=tissues.to_numpy()).reset_index(drop=True)


_LOADERS: dict[str, Callable[[], pd.DataFrame]] = {
    "titanic": partial(shipped, "titanic"),
    "titanic_correlated": lambda: simulate_correlated_titanic().data,
    "gbsg2": partial(shipped, "gbsg2"),
    "bodyfat": partial(shipped, "bodyfat"),
    "german_credit": partial(shipped, "german_credit"),
    "colon": _colon,
}


def load(name: str) -> pd.DataFrame:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        ``"titanic"``: the 1309 passengers, with 13 columns of the passenger list, among them text
        and missing values. ``boat`` and ``body`` were recorded after the sinking and reveal the
        response ``survived``.
        ``"titanic_correlated"``: the data of `simulate_correlated_titanic` with its default seed.
        ``"gbsg2"``: 686 women with node-positive breast cancer, hormone therapy, seven markers, and
        days to recurrence or death: ``time``, and ``cens``, where 1 is the event [4]_.
        ``"bodyfat"``: 251 men, age, weight (kg), height and ten circumferences (cm), and the
        percentage of body fat ``siri``, as Heinze, Wallisch and Dunkler (2018) prepared them [1]_.
        ``"german_credit"``: 1000 loans, 20 columns, most of them factors, and the response
        ``credit_risk``, ``good`` or ``bad`` [2]_.
        ``"colon"``: 62 samples of colon tissue, the log10 intensities of 2000 genes, and the
        response ``tissue``, ``tumor`` or ``normal`` [3]_.

    Returns
    -------
    pandas.DataFrame
        A new frame at each call, the response last.

    Raises
    ------
    DataError
        If there is no data set of that name.

    Notes
    -----
    The body-fat data may be distributed freely and used for non-commercial purposes; German credit
    has the licence CC BY 4.0, and the copy of the colon data the MIT licence.
    ``treeselect/data/README.md`` describes sources and columns.

    References
    ----------
    .. [1] R. W. Johnson (1996). Fitting percentage of body fat to simple body measurements. Journal
       of Statistics Education 4(1).
    .. [2] H. Hofmann (1994). Statlog (German Credit Data). UCI Machine Learning Repository.
    .. [3] U. Alon and others (1999). Broad patterns of gene expression revealed by clustering
       analysis of tumor and normal colon tissues probed by oligonucleotide arrays. PNAS 96.
    .. [4] W. Sauerbrei, P. Royston (1999). Building multivariable prognostic and diagnostic models:
       transformation of the predictors by using fractional polynomials. Journal of the Royal
       Statistical Society A 162(1).

    Examples
    --------
    >>> from treeselect import datasets
    >>> titanic = datasets.load("titanic")
    >>> titanic.shape
    (1309, 14)
    >>> int(titanic["survived"].sum())
    500
    """
    if not is_one_of(name, _LOADERS):
        raise DataError(
            "`name` must be the name of a data set.\n"
            f"{found_near(name, _LOADERS, f'Data sets: {listing(_LOADERS)}.')}"
        )
    return _LOADERS[name]()
