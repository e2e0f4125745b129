"""Example data: real data sets, and simulated ones with a known answer.

Input: a name or a seed. Output: pandas frames, and for simulated data the terms that matter.
"""

from treeselect.datasets.gbsg2 import load_gbsg2
from treeselect.datasets.loading import load
from treeselect.datasets.simulated import (
    Simulated,
    simulate_factors,
    simulate_friedman,
    simulate_noisy_copies,
)
from treeselect.datasets.survival import simulate_survival
from treeselect.datasets.titanic import simulate_correlated_titanic

__all__ = [
    "Simulated",
    "load",
    "load_gbsg2",
    "simulate_correlated_titanic",
    "simulate_factors",
    "simulate_friedman",
    "simulate_noisy_copies",
    "simulate_survival",
]
