"""The passengers of the Titanic, as recorded and with simulated body measures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import read_seed
from treeselect.datasets.simulated import Simulated

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def passengers() -> pd.DataFrame:
    """The passengers, read anew."""
    import pandas as pd

    return pd.read_parquet(Path(__file__).parents[1] / "data" / "titanic.parquet")


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
    real = passengers()[["pclass", "sex", "age", "sibsp", "parch", "survived"]]
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
    femur = np.where(
        male,
        _bone(height, slope=2.38, intercept=61.41, newborn=7.5),
        _bone(height, slope=2.47, intercept=54.10, newborn=7.5),
    )
    tibia = np.where(
        male,
        _bone(height, slope=2.52, intercept=78.62, newborn=6.5),
        _bone(height, slope=2.90, intercept=61.53, newborn=6.5),
    )
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


def _bone(
    height: NDArray[np.float64], *, slope: float, intercept: float, newborn: float
) -> NDArray[np.float64]:
    """Length of a bone (cm): an adult's from stature = slope * bone + intercept, see above."""
    shortest_adult, newborn_height = 150.0, 50.0
    adult = (np.maximum(height, shortest_adult) - intercept) / slope
    growth = ((shortest_adult - intercept) / slope - newborn) / (shortest_adult - newborn_height)
    return adult - growth * np.maximum(shortest_adult - height, 0)
