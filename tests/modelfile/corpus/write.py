"""Write the model files of a release and what they predict: run once, with that release.

``python tests/modelfile/corpus/write.py`` writes ``<version>/*.treeselect`` beside itself, and
``<version>/expected.json``, with the data. Files of a released version are never written again.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

import treeselect

HERE = Path(__file__).parent


def data() -> pd.DataFrame:
    """36 rows; the responses of all families, missing values, factors and a stratum."""
    rng = np.random.default_rng(24)
    n = 36
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.exponential(size=n) + 0.1,
            "site": rng.choice(["Bath", "Leeds", "York"], n),
            "flag": rng.random(n) < 0.5,
            "exposure": rng.normal(size=n) / 10,
            "ward": rng.choice(["a", "b"], n),
        }
    )
    eta = frame["x"] + np.log(frame["z"]) + (frame["site"] == "York")
    frame["number"] = eta + rng.normal(size=n) / 3
    frame["two"] = rng.random(n) < 1 / (1 + np.exp(-eta))
    frame["three"] = np.select([eta > 1, eta > 0], ["high", "mid"], "low")
    frame["count"] = rng.poisson(np.exp(eta / 2))
    frame["time"], frame["event"] = rng.exponential(np.exp(-eta)), rng.random(n) < 0.7
    frame.loc[::9, "x"] = np.nan
    frame.loc[::7, "site"] = None
    return frame


TERMS = "x + log(z) + bs(z, 4, extrapolation='clip') + site + flag + site:flag"

FITS = {
    "number": ("number", {"method": "rrf", "n_trees": 5, "resamples": 3}),
    "two": ("two", {"method": "mrmr", "labels": {"x": "Score", "site": "Hospital"}}),
    "three": ("three", {"method": "importance", "n_trees": 5}),
    "count": ("count", {"method": "mrmr", "offset": "exposure"}),
    "times": ("Surv(time, event)", {"method": "mrmr"}),
    "sparse": ("two", {"method": "controlburn", "forests": 1, "refit": None}),
    "decisions": ("number", {"method": "boruta", "n_trees": 10, "max_rounds": 12}),
    "search": ("number", {"method": "exchange"}),
    "boosting": ("two", {"method": "rrf", "n_trees": 5}),
}
"""Responses and options: every family, final model and kind of record."""


def fit(name: str, frame: pd.DataFrame) -> treeselect.SelectionResult:
    """One fit of the corpus."""
    response, options = FITS[name]
    strata = " + strata(ward)" if name == "times" else ""
    k = {} if name == "decisions" else {"k": 3}
    terms = "x + z + site + flag" if name in ("search", "decisions") else TERMS
    found = treeselect.select(f"{response} ~ {terms}{strata}", frame, seed=1, **k, **options)
    found = found.refit("boosting") if name == "boosting" else found
    return found


def facts(name: str, found: treeselect.SelectionResult, frame: pd.DataFrame) -> dict[str, object]:
    """What a file must still say and predict."""
    path = found.path
    return {
        "formula": found.formula,
        "selected": list(found.selected),
        "path": [list(terms) for terms in path["terms"]],
        "labels": dict(found.data.design.labels),
        "stability": found.stability.index if "resamples" in FITS[name][1] else None,
        "predictions": np.asarray(found.predict(frame), dtype=np.float64).tolist(),
    }


def known(frame: pd.DataFrame) -> list[tuple[str, pd.Series]]:
    """Columns with None for missing values."""
    return [(str(name), column.astype(object)) for name, column in frame.items()]


def main() -> None:
    """Write the corpus of the version that is imported."""
    folder = HERE / treeselect.__version__
    folder.mkdir(exist_ok=True)
    frame, expected = data(), {}
    for name in FITS:
        found = fit(name, frame)
        found.save(folder / f"{name}.treeselect")
        expected[name] = facts(name, found, frame)
    columns = {name: column.replace({np.nan: None}).to_list() for name, column in known(frame)}
    text = json.dumps({"data": columns, "fits": expected}, allow_nan=False)
    (folder / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
