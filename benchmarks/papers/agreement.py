"""The papers' printed figures beside those of the original software and of treeselect: one table.

    python benchmarks/papers/agreement.py [--quick]

Nothing is fitted: the figures are those that the other programs of this folder wrote to their
results, the printed ones of ../shared/data/seed_tables.json and the authors' result files, and the
original software's of its own runs (reference/*.csv, other splits). A line for each printed figure
that the data allow; what has no figure to compare is told in ``docs/evidence/papers.md``.

A figure of treeselect agrees with another where the difference of the two lies within 1.96 of its
standard errors and half a unit of the last printed digit. A printed mean without a standard error
is taken to have that of treeselect, since the numbers of replicates are alike (of the regularized
trees ten times two folds), or, of GRRF's gene sets, that of the paper's 100 splits; a figure of a
single run (ControlBurn's abalone, Heinze's bootstrap) is compared with the spread of single runs.
By chance alone one line in twenty differs. Why a line differs is said in ``REASONS``; where nothing
is known, it says so.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pandas as pd
from common import RESULTS, Run, seed_tables
from grrf import PARITY, SETS, printed, references
from harness import data_folder, mean_and_error

Z = 1.96
PAPERS_SPLITS = 100


class Figure(NamedTuple):
    """A printed figure, and the same by the original software and by treeselect."""

    paper: str
    item: str
    quantity: str
    printed: float
    ours: tuple[float, float]
    digits: int
    printed_error: float | None = None
    original: tuple[float, float] | None = None
    between: tuple[float, float] | None = None
    share: float = 1.0  # of a standard error that is not printed, in units of treeselect's


REASONS = (
    ("Table 1 | GRRF, bad, least error", "the choice of gamma by cross-validation turns on its"
     " details: at each fixed gamma treeselect has the original's figures (grrf_simulated_grid),"
     " and the original software with its own choice is apart from the paper, too"),
    ("Table 1 | GRRF, bad, one s.e.", "the original chose by the least error"),
    ("GRRF .* tree error", "a pruned entropy tree stands for C4.5"),
    ("GRRF .* (leukemia, GRRF.0.1., genes|srbct_khan, RRF.1., forest|prostate, RRF.0.9., genes"
     "|colon, All)", "the original software ran on 20 other splits (prostate 10);"
     " treeselect agrees with the paper on the authors' splits"),
    ("RegularizedTrees .* sick,", "the paper has 2800 of the 3772 rows"),
    ("RegularizedTrees .* HillValley,", "the paper has 606 of the 1212 rows"),
    ("RegularizedTrees .* madelon,", "the paper has 2000 of the 2600 rows"),
    ("RegularizedTrees .* (anneal|horse), .* acc\\.", "the forest on all columns is apart, too, so"
     " that it is the forest (the paper's is Weka's) or the coding of factors and missing values,"
     " not the selection"),
    ("Figure 9 | (Hill_Valley|tokyo1)", "many columns are near copies (r > 0.95), and which of them"
     " either ranking takes is chance; nor is the protocol the same, see the other sets"),
    ("ControlBurn . Figure 9", "not the same protocol: the paper pools all evaluations that ended"
     " with k columns, over folds and steps of its bisection, and part of its sets have ten folds;"
     " here each of five folds counts once at each k"),
    ("Figure 10 | audit", "the paper's second file is not at hand, and it pools over steps"),
    ("Figure 10 | adult", "both the selection and the baseline are higher here, their difference is"
     " near the paper's: the paper pools evaluations over folds and steps of its"
     " bisection"),
)  # fmt: skip
"""Why figures differ: a pattern of paper, item and quantity, and a sentence; the first counts."""


def measured(text):
    """Mean and standard error of a cell like ``0.750 (0.009)``."""
    numbers = re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", str(text))
    return float(numbers[0]), float(numbers[1]) if len(numbers) > 1 else np.nan


def share_of(hits, n):
    """A share and its standard error."""
    return hits / n, float(np.sqrt(hits * (n - hits) / n**3))


def table_in(name):
    """The table of a Markdown file of results."""
    lines = [x for x in (RESULTS / f"{name}.md").read_text().splitlines() if x.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return pd.DataFrame(cells[2:], columns=cells[0])


def intro_of(name):
    """What stands above the table of a Markdown file of results."""
    return (RESULTS / f"{name}.md").read_text().split("\n|")[0]


def grrf_table1():
    """GRRF's simulated groups, lambda and gamma by cross-validation."""
    kinds = {"groups": "groups_identified", "bad": "irrelevant_or_redundant"}
    there = seed_tables("GRRF")["table1"]["values"]
    for row in table_in("grrf_simulated_cv").to_dict("records"):
        for short, name in kinds.items():
            value = there[row["method"]][name]
            yield Figure(
                "GRRF", "Table 1", f"{row['method']}, {short}, {row['choice']}", value["average"],
                measured(row[f"{short}, treeselect"]), 2, value["std_err"],
                measured(row[f"{short}, R"]),
            )  # fmt: skip


def grrf_genes():
    """GRRF's gene sets: numbers of genes, errors of a forest and of a tree."""
    paper, peers = printed(), references()
    found = pd.read_csv(RESULTS / "grrf_genes.csv", keep_default_na=False)
    for row in found[found["form"].isin(["", PARITY])].to_dict("records"):
        name, method = SETS[row["set"]], row["method"]
        there = paper.get((name, method))
        peer = peers.get((PARITY, name, method), (None, None))
        items = {
            "size": ("Tables 3 and 4", "genes", 0, peer[0]),
            "error": ("Tables 3 and 5", "forest error", 3, peer[1]),
            "tree": ("Table 6", "tree error", 3, None),
        }
        for value, (measure, (item, text, digits, other)) in zip(
            there or (), items.items(), strict=False
        ):
            if np.isfinite(value) and not (method == "All" and measure == "size"):
                yield Figure(
                    "GRRF", item, f"{row['set']}, {method}, {text}", float(value),
                    (float(row[measure]), float(row[f"{measure} s.e."])), digits, original=other,
                    share=float(np.sqrt(row["splits"] / PAPERS_SPLITS)),
                )  # fmt: skip


def regularized_trees():
    """RRF and RBoost with lambda 0.5: sizes and accuracies, with 100 trees."""
    found = pd.read_csv(RESULTS / "regularized_trees.csv")
    sizes = found[found["method"].isin(["RRF", "RBoost"])].pivot_table(
        index=["set", "method"], columns="trees", values="size, treeselect", aggfunc="first"
    )
    found = found[(found["trees"] == 100) | (found["method"] == "All")]
    for row in found[found["method"] != "SVM-RFE"].to_dict("records"):
        key = (row["set"], row["method"])
        values = {"size": ("Table II", "columns", 1), "forest accuracy": ("Table III", "acc.", 3)}
        for measure, (item, text, digits) in values.items():
            if row["method"] == "All" and measure == "size":
                continue
            between = None
            if measure == "size":
                between = tuple(measured(sizes.loc[key, n])[0] for n in (10, 1000))
            yield Figure(
                "RegularizedTrees", item, f"{key[0]}, {key[1]}, {text}",
                float(row[f"{measure}, paper"]), measured(row[f"{measure}, treeselect"]), digits,
                between=between,
            )  # fmt: skip


def gbfs():
    """The error of GBFS on its synthetic data."""
    found = pd.read_csv(RESULTS / "gbfs_synthetic.csv", dtype=str)
    found = found[(found["method"] == "gbfs") & (found["design"] == "paper")]
    row = found[found["noise columns"] == "0"].iloc[0]
    exact, of = (int(x) for x in row["exactly x, y"].split(" of "))
    error = seed_tables("GBFS")["figure1_synthetic"]["test_error_percent"]["GBFS"]
    ours = tuple(100 * v for v in measured(row["test error"]))
    yield Figure("GBFS", "Figure 1", "test error, percent", float(error), ours, 2)
    yield Figure("GBFS", "Figure 1", "share with x and y alone", 1.0, share_of(exact, of), 2)


def controlburn():
    """Titanic's columns, abalone's stop, the sets of Figures 9 and 10, adult's three columns."""
    yield from _columns()
    said = re.findall(
        r"(?:iteration|least at) (\S+ \(\S+\)), median", intro_of("controlburn_abalone")
    )
    for text, value, (mean, error) in zip(
        ("iteration of the stop", "iteration of the least test error"), (6, 7), map(measured, said),
        strict=True,
    ):  # fmt: skip
        spread = error * np.sqrt(20)  # of one run, which the paper's is
        yield Figure("ControlBurn", "Figure 6", f"abalone, {text}", value, (mean, spread), 0, 0.0)
    yield from _pmlb()
    for row in table_in("controlburn_datasets").to_dict("records"):
        if not row["paper's results"]:
            continue
        gene = row["set"] == "gene"
        method = {"paper": "ControlBurn", "MDI, scikit-learn": "forest importance"}[row["method"]]
        yield Figure(
            "ControlBurn", "Figure 10",
            f"{row['set']}, {method}, mean {'accuracy' if gene else 'AUC'}",
            float(row["paper's results"]),
            measured(row["accuracy" if gene else "mean AUC, k = 1..10"]), 3,
        )  # fmt: skip


def _columns():
    """Shares of seeds, or of folds, that select what the paper reports."""
    row = table_in("controlburn_titanic").set_index("method").loc["controlburn, paper"]
    share = share_of(int(row["as in the paper"]), int(row["seeds"]))
    text = "Titanic, share of seeds with the paper's columns"
    yield Figure("ControlBurn", "Figure 2", text, 1.0, share, 2)
    found = pd.read_csv(RESULTS / "controlburn_datasets_terms.csv")
    found = found[found["set"] == "adult, levels"].set_index("method")["three terms, all rows"]
    there = seed_tables("ControlBurn")["text"]["adult_k3"]
    for method, name in (("paper", "ControlBurn"), ("MDI, scikit-learn", "rf_baseline")):
        own, wanted = (
            {re.sub("[^a-z]", "", column.lower()) for column in columns}
            for columns in (found[method].split(", "), there[name])
        )
        text, ours = f"adult, of its three columns, {name}", (float(len(own & wanted)), 0.0)
        yield Figure("ControlBurn", "section 5.3.1", text, 3.0, ours, 0, 0.0)


def _pmlb():
    """The differences of Figure 9: their mean, and each set."""
    there = pd.read_csv(data_folder() / "controlburn_paper_results" / "figure9_differences.csv")
    there = there[there["in_figure9"]]
    found = pd.read_csv(RESULTS / "controlburn_pmlb.csv")
    found = found[found["form"] == "paper"].set_index("set")
    mean, error = mean_and_error(there["mean_difference"])
    ours = mean_and_error(found["difference"])
    text = "mean difference over the sets"
    yield Figure("ControlBurn", "Figure 9", text, round(mean, 4), ours, 4, error)
    names = {"heart": "heart_statlog"}
    for name, value in there.groupby("dataset")["mean_difference"].mean().items():
        name = names.get(name, name)
        if name in found.index:
            row = found.loc[name]
            ours, text = (row["difference"], row["s.e."]), f"{name}, difference of AUC"
            yield Figure("ControlBurn", "Figure 9", text, round(float(value), 4), ours, 4)


def heinze():
    """The bootstrap frequencies of the body fat study, one run of which is printed."""
    for row in table_in("heinze_bodyfat").to_dict("records"):
        value, ours = row["paper"], measured(row["treeselect (s.d. of a run)"])
        digits = len(value.partition(".")[2])
        yield Figure("Heinze", "section 4.1", row["figure"], float(value), ours, digits, 0.0)


def differ(ours, other, rounding):
    """Whether two figures are apart by more than chance and rounding allow."""
    errors = np.nan_to_num([ours[1], other[1]])
    return bool(abs(ours[0] - other[0]) > Z * np.hypot(*errors) + rounding + 1e-9)


def reason(figure, like_original):
    """Why a figure differs: the number of trees, else the first pattern that fits."""
    key = f"{figure.paper} | {figure.item} | {figure.quantity}"
    if figure.between and figure.between[0] <= figure.printed <= figure.between[1]:
        least, most = figure.between
        return (
            "the paper prints no number of trees, and more trees select more:"
            f" {least:g} columns with 10, {most:g} with 1000"
        )
    fits = (text for pattern, text in REASONS if re.search(pattern.replace(" | ", r" \| "), key))
    text = next(fits, "unexplained")
    if text == "unexplained" and like_original:
        text += "; the original software, run here, agrees with treeselect"
    return text


def line_of(figure):
    """A line of the table."""
    own, digits = figure.ours, figure.digits
    error = own[1] * figure.share if figure.printed_error is None else figure.printed_error
    half = Z * np.nan_to_num(own[1])
    shown = max(digits, 1)
    apart = differ(own, (figure.printed, error), 0.5 * 10.0**-digits)
    original = figure.original and np.isfinite(figure.original).all()
    from_original = original and differ(own, figure.original, 0.0)
    spread = "" if not figure.printed_error else f" ({figure.printed_error:.{shown}f})"
    like_original = bool(original) and not from_original
    why = reason(figure, like_original) if apart or from_original else ""
    return {
        "paper": figure.paper,
        "table or figure": figure.item,
        "figure": figure.quantity,
        "printed": f"{figure.printed:.{digits}f}{spread}",
        "original software": (
            f"{figure.original[0]:.{shown}f} ({figure.original[1]:.{shown}f})" if original else ""
        ),
        "treeselect": f"{own[0]:.{shown}f}",
        "95 % interval": f"{own[0] - half:.{shown}f} to {own[0] + half:.{shown}f}",
        "with the paper": "differs" if apart else "agrees",
        "with the original": ("differs" if from_original else "agrees") if original else "",
        "why": why,
    }


SOURCES = (grrf_table1, grrf_genes, regularized_trees, gbfs, controlburn, heinze)


def counted(table):
    """How many figures of each paper agree, in words."""
    parts = []
    for paper, part in table.groupby("paper", sort=False):
        other = part[part["with the original"] != ""]
        text = f"{paper} {(part['with the paper'] == 'agrees').sum()} of {len(part)}"
        if len(other):
            text += (
                f" (with the original software {(other['with the original'] == 'agrees').sum()}"
                f" of {len(other)})"
            )
        parts.append(text)
    lost = table["why"].str.startswith("unexplained").sum()
    return f"{'; '.join(parts)}. {lost} differences are unexplained."


def main():
    """Write the table."""
    run = Run(__doc__)
    sources = (regularized_trees, heinze) if run.quick else SOURCES
    lines = [line_of(figure) for source in sources for figure in source()]
    table = pd.DataFrame(lines)
    run.keep("agreement", table, by=None)
    run.table(
        "agreement",
        table,
        "Printed figures of the papers, of the original software where it was run, and of"
        " treeselect. A figure agrees with another where their difference is within 1.96 standard"
        " errors of it and half a unit of the last printed digit; a printed mean without a"
        " standard error is taken to have that of treeselect with as many replicates. One in twenty"
        " differs by chance."
        f" treeselect agrees with the paper on: {counted(table)}",
    )


if __name__ == "__main__":
    main()
