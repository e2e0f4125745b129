"""Calls of ``select`` and ``compare`` on hostile frames with hostile arguments, and after."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

from sklearn import linear_model, model_selection

import treeselect
from hostility import columns as frames
from hostility.arguments import draw_options, filled
from hostility.formulas import draw_formula, name_text
from hostility.judging import ANSWERED, VOID, Defect, Outcome, check_text, judge, streams
from hostility.uses import COMPARED, MORE, USES, check_predicted, hardened, use
from hostility.words import namespace

Plan = dict[str, Any]

_SIDES = ("names", "types", "values", "size", "formula", "arguments", "options", "uses")
"""Sides of a case that can be hostile: of most only some are, or none would be answered."""


def draw(rng: random.Random) -> Plan:
    """A frame, a formula, arguments, and what is done with the answer."""
    hostile = {side for side in _SIDES if rng.random() < 0.22}
    library = rng.choice(["pandas", "pandas", "pandas", "polars", "pyarrow"])
    sizes = [0, 1, 2, 3, 5, 8] if "size" in hostile else [12, 20, 20, 30, 30, 45, 60, 60]
    n_columns = rng.choice([0, 1, 1, 2] if "size" in hostile else [2, 3, 3, 4, 4, 5, 6, 8, 12])
    made = frames.draw_columns(rng, library, rng.choice(sizes), n_columns, hostile)
    has_times = rng.random() < 0.15
    if has_times:
        taken = {c["name"] for c in made[1:]}
        times = frames.draw_times(rng, library, frames.n_rows(made), hostile)
        made = [*(c for c in times if c["name"] not in taken), *made[1:]]
    names = [c["name"] for c in made]
    formula = _formula(rng, names, hostile)
    if has_times and "~" in formula:
        formula = _of_times(rng, names, formula)
    call = "compare" if rng.random() < 0.08 else "select"
    plan: Plan = {"library": library, "columns": made, "formula": formula, "call": call}
    plan["options"] = draw_options(rng, names, call, hostile)
    pool = USES if call == "select" else COMPARED
    uses = [rng.choice(pool) for _ in range(rng.choice([1, 2, 2, 3, 4]))]
    if "uses" in hostile:
        more = MORE if call == "select" else ()
        uses = [hardened(rng.choice([*pool, *more]), rng.random()) for _ in uses]
    plan["then"] = [filled(rng, text, names) for text in uses]
    return plan


def _formula(rng: random.Random, names: list[str], hostile: set[str]) -> str:
    if "formula" in hostile:
        return draw_formula(rng, names)
    left = name_text(names[0]) if names else "y"
    others = names[1:]
    if not others or rng.random() < 0.5:
        return f"{left} ~ ."
    terms = [name_text(name) for name in rng.sample(others, rng.randint(1, len(others)))]
    if len(terms) > 1 and rng.random() < 0.3:
        terms.append(":".join(terms[:2]))
    return f"{left} ~ {' + '.join(terms)}"


def _of_times(rng: random.Random, names: list[str], formula: str) -> str:
    """The formula with times on its left, and strata where there is a column for them."""
    event = rng.choice(["dead", "dead", "dead", "dead == 1", "dead > 0", "1 - dead", "stop"])
    start = "start, " if "start" in names and rng.random() < 0.8 else ""
    left = f"Surv({start}stop, {event})"
    if rng.random() < 0.05:
        left = rng.choice([f"log({left})", "Surv(stop)", "Surv(dead, stop)", "Surv(stop, dead, 1)"])
    right = formula.split("~", 1)[1]
    strata = " + strata(site)" if "site" in names and rng.random() < 0.8 else ""
    return f"{left} ~{right}{strata}"


def run(plan: Plan, folder: Path) -> Outcome:
    """Build the frame, make the call, then use the answer."""
    space = namespace()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = frames.build(plan["columns"], plan["library"], space)
    except BaseException as error:  # polars panics with what is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome(VOID, type(error).__name__, str(error)[:200])
    try:
        space |= _space(frame, frames.n_rows(plan["columns"]), folder)
        options = {name: eval(text, space) for name, text in plan["options"].items()}
    except Exception as error:
        return Outcome(VOID, type(error).__name__, str(error)[:200])
    with streams():
        return judge(_use, plan, frame, options, space)


def _space(frame: Any, n: int, folder: Path) -> dict[str, Any]:
    others = {**vars(linear_model), **vars(model_selection)}.items()
    return {
        **{name: value for name, value in others if name[0].isupper()},
        "n": n, "data": frame, "treeselect": treeselect,
        "html": str(folder / "page.html"), "folder": str(folder),
    }  # fmt: skip


def _use(plan: Plan, frame: Any, options: dict[str, Any], space: dict[str, Any]) -> str:
    n = space["n"]
    before = _fingerprint(frame)
    found = getattr(treeselect, plan["call"])(plan["formula"], frame, **options)
    if _fingerprint(frame) != before:
        raise Defect("the data were changed")
    if plan["call"] == "select":
        _check_fit(found, frame, n, options.get("offset"))
    else:
        check_text(found.summary().as_text(), "a summary")
    for then in plan["then"]:
        use(found, then, frame, plan, space)
    return ANSWERED


def _fingerprint(frame: Any) -> str:
    """Names, types and numbers; of objects not even equality may be asked."""
    if not hasattr(frame, "iloc"):
        return str(getattr(frame, "schema", ""))
    plain = [
        i for i, kind in enumerate(frame.dtypes) if getattr(kind, "str", "")[1:2] in tuple("fiub")
    ]
    numbers = [frame.iloc[:, i].to_numpy().tobytes() for i in plain]
    return f"{frame.dtypes.tolist()}{list(frame.columns)!a}{frame.index}{numbers}"


def _check_fit(fit: Any, frame: Any, n: int, offset: Any) -> None:
    rows = fit.data.design.rows
    known = rows.used - rows.more_copies + rows.no_response + rows.no_weight + rows.not_drawn
    if known != n:
        raise Defect(f"rows are not accounted for: {rows} of {n}")
    if len(fit.groups) != fit.k or len(set(fit.groups)) != fit.k:
        raise Defect(f"k is not the number of units: {fit.k}, {fit.groups}")
    check_text(fit.summary().as_text(), "a summary")
    fitted = fit.predict(frame) if isinstance(offset, str) else fit.predict(frame, offset=offset)
    check_predicted(fitted, n)
    if hasattr(frame, "index") and not frame.index.equals(fitted.index):
        raise Defect("predict() lost the index")
