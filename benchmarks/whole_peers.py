"""What others do for the same job: from a frame with response y to k variables and a model of them.

Each takes the frame and returns the names of the variables. They are given what a user of theirs
would give: text as categories, gaps as they are where the library takes them.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

import pandas as pd

K = 5
_SCRIPT = Path(__file__).parent / "whole_peers.R"
_IN_R = ("ranger", "glmnet")


def is_there(name):
    """Whether a peer can run here."""
    if name not in _IN_R:
        package = {"rfecv": "sklearn"}.get(name, name)
        return importlib.util.find_spec(package) is not None
    if shutil.which("Rscript") is None:
        return False
    asked = f"quit(status = !requireNamespace('{name}', quietly = TRUE))"
    return subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode == 0


def _parts(frame):
    """Columns with text as categories, and the response as numbers."""
    columns = frame.drop(columns="y")
    text = [c for c in columns if not pd.api.types.is_numeric_dtype(columns[c])]
    y = frame["y"]
    is_class = not pd.api.types.is_float_dtype(y)
    return columns.astype(dict.fromkeys(text, "category")), pd.factorize(y)[0] if is_class else y


def _is_class(y):
    return pd.Series(y).nunique() < 10


def lightgbm(frame):
    """100 trees on all columns, the first K by gain, 100 trees on these."""
    import lightgbm as lgb

    columns, y = _parts(frame)
    kind = lgb.LGBMClassifier if _is_class(y) else lgb.LGBMRegressor
    model = kind(importance_type="gain", verbose=-1, n_jobs=2).fit(columns, y)
    gains = pd.Series(model.feature_importances_, columns.columns)
    names = gains.nlargest(K).index.tolist()
    kind(verbose=-1, n_jobs=2).fit(columns[names], y)
    return names


def rfecv(frame):
    """scikit-learn's RFECV with five folds around a forest of 100 trees; categories as codes."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFECV

    columns, y = _parts(frame)
    codes = columns.apply(lambda c: c.cat.codes if c.dtype == "category" else c)
    forest = RandomForestClassifier(100, random_state=1, n_jobs=2)
    found = RFECV(forest, min_features_to_select=1, cv=5).fit(codes, y)
    return codes.columns[found.support_].tolist()


def _r(name, frame):
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "frame.csv", index=False)
        done = subprocess.run(
            ["Rscript", _SCRIPT, name, Path(folder) / "frame.csv", str(K)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return done.stdout.split()


def ranger(frame):
    """500 trees with corrected impurity, then 500 on the first K; the CSV file it reads counts."""
    return _r("ranger", frame)


def glmnet(frame):
    """cv.glmnet with ten folds; the CSV file it reads counts."""
    return _r("glmnet", frame)
