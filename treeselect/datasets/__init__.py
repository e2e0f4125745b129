"""Example data: real data sets, and simulated ones with a known answer.

Input: a name or a seed. Output: pandas frames, and for simulated data the terms that matter.
"""

from treeselect.datasets.examples import (
    Simulated,
    load,
    simulate_correlated_titanic,
    simulate_friedman,
    simulate_noisy_copies,
    simulate_survival,
)

__all__ = [
    "Simulated",
    "load",
    "simulate_correlated_titanic",
    "simulate_friedman",
    "simulate_noisy_copies",
    "simulate_survival",
]
