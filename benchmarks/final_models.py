"""What predicts best with the columns that the default selects: a forest, or the stack?

    python benchmarks/final_models.py [--quick] [--jobs 2] [--sets titanic ...] [--models glm ...]

The sixty tables of answers.py, split as there, and the columns that treeselect's default selected.
Each final model is fitted to them on the first part and scored on the new rows; of two classes the
log loss is told as well. Run answers.py before: it writes what the default selected.
"""

from __future__ import annotations

import time

import answers
import numpy as np
from answers_data import DEVELOPMENT, FRESH, split, table
from answers_programs import DEFAULT, responses, score, truth_of, warm
from harness import OF_DEFAULT, Run, mean_and_error, signed
from sklearn.metrics import log_loss

import treeselect
from treeselect.engine.threads import one_thread

FOREST = "forest"
"""The model with which the others are compared."""


def one_table(name, models, columns):
    """A row of each model on a set."""
    frame, kind = table(name)
    train, new = split(frame, kind)
    own = frame[[*columns, *np.atleast_1d(responses(kind))]]
    formula = "Surv(time, status) ~ ." if kind == "survival" else "y ~ ."
    family, lines = "poisson" if kind == "poisson" else "auto", []
    warm()
    for model in models:
        before = time.process_time()
        with one_thread():
            fit = treeselect.select(
                formula, own.iloc[train], family=family, method="mrmr", k=len(columns),
                model=model, seed=1, n_jobs=1, progress=False, new_levels="missing",
            )  # fmt: skip
            predicted = np.asarray(fit.predict(own.iloc[new]), dtype=float)
        y, y_train = truth_of(own.iloc[new], kind), truth_of(own.iloc[train], kind)
        lines.append({
            "run": f"{name}, {model}", "case": name, "model": model, "kind": kind, "n": len(train),
            "k": len(columns), "CPU s": round(time.process_time() - before, 2),
            "score": round(score(y, predicted, kind, y_train), 5),
            "log loss": round(log_loss(y, np.clip(predicted, 1e-4, 1 - 1e-4)), 5)
            if kind == "binomial" else np.nan,
        })  # fmt: skip
    return lines


def by_kind(rows):
    """A line for each model and kind of response: the score less the forest's."""
    wide = rows.pivot(index=["kind", "case"], columns="model", values=["score", "log loss"])
    for model in sorted(set(rows["model"]) - {FOREST}):
        gaps = {name: wide[name, model] - wide[name, FOREST] for name in ("score", "log loss")}
        for kind, gap in gaps["score"].groupby(level="kind"):
            loss = gaps["log loss"][kind].dropna()
            yield {
                "model": model, "response": kind, "sets": len(gap),
                "score less the forest's": signed(*mean_and_error(gap), 4),
                "better": int((gap > 0).sum()), "worse": int((gap < 0).sum()),
                "least": signed(gap.min(), None, 3), "most": signed(gap.max(), None, 3),
                "log loss": signed(*mean_and_error(loss), 4) if len(loss) else "",
            }  # fmt: skip


def main():
    """Run what is missing, then write the table."""
    run = Run(
        __doc__, sets=(*FRESH, *DEVELOPMENT), models=(FOREST, "stack"),
        depends=lambda model: OF_DEFAULT, quick={"sets": ("simulated",)},
    )  # fmt: skip
    if run.quick:
        run.keep(
            "answers_tables",
            {"run": f"simulated, {DEFAULT}", "method": DEFAULT, "columns": '["a", "b"]'},
        )
    done, calls = run.stands("final_models"), []
    for name in run.sets:
        left = [model for model in run.models if f"{name}, {model}" not in done]
        columns = answers.columns_of(run, name, DEFAULT)
        if left and columns:
            calls.append((name, left, columns))
    for lines in run.map(one_table, calls):
        run.keep("final_models", lines)
    run.table(
        "final_models",
        list(by_kind(run.kept("final_models"))),
        "The columns that treeselect's default selects, and a model of them, on new rows: AUC, R2,"
        " deviance explained or Harrell's C less a random forest's, mean over sets (s.e.), and"
        " of two classes the log loss.",
    )


if __name__ == "__main__":
    main()
