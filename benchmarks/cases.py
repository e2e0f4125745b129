"""Simulated data whose true variables are known: a frame with a response y, and the groups of
columns of which one each is the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
from harness import data_folder

MADELON = (
    29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494,
)  # fmt: skip
"""Its known columns: the only ones that correlate with any other."""


def friedman(seed, n=400, n_noise=20):
    """Friedman's function, with a near copy of each of its variables."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 5 + n_noise))
    near = x[:, :5] + 0.06 * rng.standard_normal((n, 5))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    y += 10 * x[:, 3] + 5 * x[:, 4] + rng.standard_normal(n)
    names = [f"x{j + 1:02}" for j in range(5 + n_noise)]
    copies = [f"{name}_near" for name in names[:5]]
    frame = pd.DataFrame(np.column_stack([x, near]), columns=[*names, *copies])
    return frame.assign(y=y), [set(pair) for pair in zip(names, copies, strict=False)]


def factors(seed, n=600, n_factors=12, n_noise=8):
    """Factors of 12 levels; three levels of each of the first three factors matter."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(12, size=(n, n_factors))
    eta = np.zeros(n)
    for j in range(3):
        up, down, also_up = rng.permutation(12)[:3]
        eta += 2.0 * np.isin(codes[:, j], [up, also_up]) - 2.0 * (codes[:, j] == down)
    levels = np.array([f"level {chr(ord('a') + i)}" for i in range(12)])
    frame = pd.DataFrame({f"f{j + 1:02}": levels[codes[:, j]] for j in range(n_factors)})
    for j in range(n_noise):
        frame[f"x{j + 1:02}"] = rng.standard_normal(n)
    return frame.assign(y=_classes(rng, eta)), [{"f01"}, {"f02"}, {"f03"}]


def xor(seed, n=500, n_noise=18):
    """Two columns that tell nothing one by one, and everything together."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2 + n_noise))
    y = ((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int)
    return _numbers(x).assign(y=y), [{"x01"}, {"x02"}]


def madelon(seed, n=1000):
    """Some rows of the set itself."""
    frame = pd.read_parquet(data_folder() / "madelon.parquet").sample(n, random_state=seed)
    frame = frame.rename(columns={"target": "y"}).reset_index(drop=True)
    return frame, [{f"V{j}"} for j in MADELON]


def epistatic(seed, n=1000, n_noise=98):
    """Genotypes of three levels, two of which tell nothing one by one."""
    rng = np.random.default_rng(seed)
    alleles = rng.binomial(2, 0.5, size=(n, 2 + n_noise))
    chance = np.where((alleles[:, 0] == 1) != (alleles[:, 1] == 1), 0.8, 0.2)
    levels = np.array(["AA", "Aa", "aa"])
    frame = pd.DataFrame({f"g{j + 1:03}": levels[a] for j, a in enumerate(alleles.T)})
    return frame.assign(y=(rng.random(n) < chance).astype(int)), [{"g001"}, {"g002"}]


def three(seed, n=1000, n_noise=12):
    """Three columns that tell nothing one by one, nor two by two."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3 + n_noise))
    chance = np.where((x[:, :3] > 0).sum(axis=1) % 2 == 1, 0.9, 0.1)
    y = (rng.random(n) < chance).astype(int)
    return _numbers(x).assign(y=y), [{f"x{j:02}"} for j in range(1, 4)]


def weak(seed, n=500, n_noise=14):
    """One strong effect and five of a tenth of it."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 6 + n_noise))
    y = 3 * x[:, 0] + 0.3 * x[:, 1:6].sum(axis=1) + rng.standard_normal(n)
    return _numbers(x).assign(y=y), [{f"x{j:02}"} for j in range(1, 7)]


def chains(seed, n=400, n_noise=10):
    """Three columns, each with two near copies, each of which has two of its own."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3 + n_noise))
    frame, truth = _numbers(x), []
    for name in ("x01", "x02", "x03"):
        family = {name}
        for copy in (f"{name}_a", f"{name}_b"):
            frame[copy] = frame[name] + 0.15 * rng.standard_normal(n)
            for second in (f"{copy}a", f"{copy}b"):
                frame[second] = frame[copy] + 0.15 * rng.standard_normal(n)
                family |= {copy, second}
        truth.append(family)
    y = 2 * x[:, 0] + x[:, 1] + 0.7 * x[:, 2] + rng.standard_normal(n)
    return frame.assign(y=y), truth


def rare(seed, n=2000, n_noise=16):
    """Twenty rows of one class for each of the other."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 4 + n_noise))
    eta = 0.6 * (x[:, 0] + x[:, 1] - x[:, 2]) + 0.9 * (x[:, 3] > 0) - 4.1
    return _numbers(x).assign(y=_classes(rng, eta)), [{f"x{j:02}"} for j in range(1, 5)]


def few(seed, n=100, n_noise=17):
    """A hundred rows."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3 + n_noise))
    y = 0.7 * (x[:, 0] + x[:, 1]) + 0.5 * x[:, 2] + rng.standard_normal(n)
    return _numbers(x).assign(y=y), [{f"x{j:02}"} for j in range(1, 4)]


def wide(seed, n=300, n_noise=1995):
    """Two thousand columns."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 5 + n_noise))
    y = 0.45 * x[:, :5].sum(axis=1) + rng.standard_normal(n)
    return _numbers(x, 4).assign(y=y), [{f"x{j:04}"} for j in range(1, 6)]


def heavy(seed, n=400, n_noise=17):
    """Lognormal columns, and errors of two degrees of freedom, whose variance is infinite."""
    rng = np.random.default_rng(seed)
    x = rng.lognormal(size=(n, 3 + n_noise))
    y = x[:, 0] + x[:, 1] - x[:, 2] + 1.5 * rng.standard_t(2, size=n)
    return _numbers(x).assign(y=y), [{f"x{j:02}"} for j in range(1, 4)]


def missing_random(seed, n=600, n_noise=12):
    """Missing where another column is positive, which tells nothing of the response."""
    frame, truth, rng = _before_gaps(seed, n, n_noise)
    other = frame["x04"] > 0
    for name in ("x01", "x02", "x03"):
        frame.loc[other & (rng.random(n) < 0.6), name] = np.nan
    return frame, truth


def missing_told(seed, n=600, n_noise=12):
    """Missing where the value itself is positive: not at random."""
    frame, truth, rng = _before_gaps(seed, n, n_noise)
    for name in ("x01", "x02", "x03"):
        frame.loc[(frame[name] > 0) & (rng.random(n) < 0.6), name] = np.nan
    return frame, truth


def binary(seed, n=460, n_noise=7):
    """A number and a binary column among normal noise."""
    rng = np.random.default_rng(seed)
    frame = _numbers(rng.standard_normal((n, 1 + n_noise)))
    frame["b"] = rng.integers(2, size=n)
    eta = 1.2 - 0.9 * frame["x01"] - frame["b"]
    return frame.assign(y=_classes(rng, eta)), [{"x01"}, {"b"}]


def binary_long(seed, n=4600, n_noise=7):
    """The same with ten times the rows."""
    return binary(seed, n, n_noise)


def noise(seed, n=460, n_noise=8):
    """Nothing but normal noise and a binary column."""
    rng = np.random.default_rng(seed)
    frame = _numbers(rng.standard_normal((n, n_noise)))
    frame["b"] = rng.integers(2, size=n)
    return frame.assign(y=rng.integers(2, size=n)), []


def _before_gaps(seed, n, n_noise):
    """Three columns that matter among noise, nothing missing yet, and the generator."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3 + n_noise))
    y = x[:, 0] + x[:, 1] + 0.7 * x[:, 2] + rng.standard_normal(n)
    return _numbers(x).assign(y=y), [{f"x{j:02}"} for j in range(1, 4)], rng


def _numbers(x, digits=2):
    """A frame of numeric columns, named from x01 on."""
    return pd.DataFrame(x, columns=[f"x{j + 1:0{digits}}" for j in range(x.shape[1])])


def _classes(rng, eta):
    """Classes drawn with these log-odds."""
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


SEEDS = {
    friedman: 10, factors: 10, xor: 10, epistatic: 10, three: 10, weak: 10, chains: 10, rare: 10,
    few: 20, wide: 5, heavy: 10, missing_random: 10, missing_told: 10, binary: 20, binary_long: 20,
    noise: 20, madelon: 3,
}  # fmt: skip
"""Cases, and how many seeds show enough of each."""

CASES = {case.__name__: case for case in SEEDS}
