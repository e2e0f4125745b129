"""What is loaded or compiled once, done before the first case: it is no part of any of them."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from pathlib import Path
from typing import Any


def warm_up() -> None:
    """Load all modules, and call every method on every family."""
    import matplotlib

    import treeselect
    from hostility import attacks, files
    from hostility.arguments import FEW
    from hostility.judging import streams

    matplotlib.use("Agg")
    quick: dict[str, Any] = {"seed": 1, "k": 1, "n_jobs": 1, "progress": False}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder, streams():
        warnings.simplefilter("ignore")
        for response in ("y", "dose", "kind", "count"):
            for method in treeselect.methods()["method"]:
                with contextlib.suppress(treeselect.errors.TreeselectError):
                    family = "poisson" if response == "count" else "auto"
                    few = {name: int(value) for name, value in FEW[method].items()}
                    treeselect.select(
                        f"{response} ~ x + z + site + poly(x, 2)",
                        files.data(),
                        method=method,
                        family=family,
                        **few,
                        **quick,
                    )
        fit = treeselect.select(
            "y ~ x + I(z > 0) + site", files.data(), method="fcbf", folds=2, **{**quick, "k": "1se"}
        )
        for use in (
            lambda: fit.report(Path(folder) / "r.html"), lambda: fit.resample(2),
            lambda: fit.refit("boosting"), lambda: fit.refit("glm"),
            lambda: fit.inference(), lambda: fit.performance(2),
            lambda: fit.model.conditional_importance(2, repeats=1), lambda: fit.model.shape("x"),
            lambda: fit.model.interactions(), lambda: fit.model.nodes(),
        ):  # fmt: skip
            with contextlib.suppress(treeselect.errors.TreeselectError):
                use()
        for channel in attacks.CHANNELS:
            attacks.run({"formula": "y ~ x + I(x > 1)", "channel": channel}, Path(folder))
        files.originals()
