"""Variable rankings by R packages, through ``shootout.R``.

Packages are looked up in R's usual library, and in the folder that R_PEERS names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from coding import coded, coded_y, filled, is_number

_SCRIPT = Path(__file__).parent / "shootout.R"

PACKAGES = {
    "l1": "glmnet", "ranger": "ranger", "ranger corrected": "ranger",
    "randomForest": "randomForest", "RRF": "RRF", "GRRF": "RRF", "VSURF": "VSURF",
    "varselrf": "varSelRF", "Boruta": "Boruta",
}  # fmt: skip
"""Methods of the R script and their packages."""


def in_r(name, frame, response, kind, seed):
    """A method of the R script; the time to write and read the CSV file counts.

    glmnet and varSelRF are given indicator columns. Factors of more than 32 levels, which RRF does
    not take (nor randomForest more than 53), are numbered by how frequent their levels are.
    """
    columns = filled(frame.drop(columns=response))
    names = list(columns)
    if name in ("RRF", "GRRF", "randomForest", "VSURF"):
        for column in names:
            if not is_number(columns[column]) and columns[column].nunique() > 32:
                place = {level: i for i, level in enumerate(columns[column].value_counts().index)}
                columns[column] = columns[column].map(place).astype(float)
    columns = columns.set_axis([f"c{j}" for j in range(len(names))], axis=1)
    unit = np.arange(len(names))
    if name in ("l1", "varselrf"):  # they take numbers only
        data = coded(frame, response, kind)
        unit = data.unit
        columns = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(data.X.shape[1])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        columns.assign(y=coded_y(frame[response], kind)).to_csv(path, index=False)
        done = subprocess.run(
            ["Rscript", _SCRIPT, name, path, kind, str(seed)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    order = [names[unit[int(word.removeprefix("c"))]] for word in done.stdout.split()]
    return list(dict.fromkeys(order))


@lru_cache
def installed():
    """Those of the script that R finds."""
    if shutil.which("Rscript") is None:
        return frozenset()
    wanted = " ".join(sorted(set(PACKAGES.values())))
    code = (
        ".libPaths(c(Sys.getenv('R_PEERS'), .libPaths()));"
        f"for (p in strsplit('{wanted}', ' ')[[1]])"
        " if (nzchar(system.file(package = p))) cat(p, '')"
    )
    done = subprocess.run(
        ["Rscript", "-e", code], capture_output=True, text=True, env=os.environ, check=False
    )
    return frozenset(done.stdout.split())
