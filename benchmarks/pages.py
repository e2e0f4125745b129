"""Reports on real data, as they are read: on a phone, on a screen, on paper.

    python benchmarks/pages.py [--quick] [--sets titanic ...] [--pages folder]

Writes the report of each set into a folder, takes pictures of it at 400 and 1280 pixels (dark, too)
and as PDF with headless Chromium, and measures: the CPU seconds of writing (least of three), the
size, the pages of the PDF, and at 400, 500, 768 and 1280 pixels the labels that leave their figure,
cross one another or hang over the page, and the words of a card that are split. ``--quick`` writes
one of simulated data.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Run, in_turns, stored

import treeselect
from treeselect import datasets

BROWSER = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (400, 500, 768, 1280)
SLACK = 2
"""Pixels by which a box of a label, which is taller than its letters, may leave its figure."""

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--allow-file-access-from-files", "--virtual-time-budget=4000",
)  # fmt: skip


def fitted(formula, frame, *, judged=False, **options):
    """A selection, and what else its page shows."""
    options = {"resamples": 20, "seed": 1, "progress": False} | options
    fit = treeselect.select(formula, frame, **options)
    return fit, {"performance": fit.performance()} if judged else {}


TITANIC = "survived ~ pclass + sex + age + sibsp + parch + fare + embarked"
BURN = {"method": "controlburn"}


def titanic():
    return fitted(TITANIC, stored("titanic_raw"), judged=True, resamples=100, **BURN)


def titanic_correlated():
    return fitted("survived ~ .", stored("titanic_correlated"), resamples=100, **BURN)


def golub(method):
    return fitted("target ~ .", stored("gene/golub"), method=method, k=5)


def adult():
    return fitted("income ~ . - fnlwgt", stored("adult").sample(4000, random_state=1), **BURN)


def german():
    frame = stored("german_credit")
    names = [name for name in frame.columns if name != "target"]
    groups = {"money": [name for name in names if "account" in name or "status" in name][:2]}
    return fitted("target ~ .", frame, method="gbfs", groups=groups, costs={"money": 5})


def abalone():
    frame = stored("abalone").sample(1500, random_state=1)
    numbers = [name for name in frame.columns if name not in ("rings", "sex")]
    terms = " + ".join(f"bs({name}, df=4)" for name in numbers)
    return fitted(f"rings ~ sex + {terms}", frame, judged=True)


def multiclass():
    frame = stored("waveform21").sample(1000, random_state=1)
    frame["target"] = "wave " + frame["target"].astype(str)
    return fitted("target ~ .", frame, judged=True, k=4)


def counts():
    frame = stored("abalone").sample(1000, random_state=1)
    return fitted("rings ~ . + sex:length", frame, family="poisson")


def survival():
    frame = datasets.load_gbsg2()
    event = next(name for name in ("cens", "event", "status") if name in frame)
    others = " + ".join(name for name in frame if name not in ("time", event))
    return fitted(f"Surv(time, {event}) ~ {others}", frame, judged=True)


def comparison():
    methods = ["exchange", "controlburn", "rrf", "grrf", "gbfs", "lasso"]
    frame = stored("titanic_raw")
    return treeselect.compare(TITANIC, frame, methods=methods, seed=1, progress=False), {}


def hostile():
    """Names of columns and levels that are long, wide, or look like markup."""
    rng = np.random.default_rng(1)
    n = 200
    levels = np.array(
        ["no checking account, but all credits at this bank paid", "没有支票账户", "<b>x</b>", "a"]
    )
    frame = pd.DataFrame({
        "a column whose name is as long as a question in a survey": rng.standard_normal(n),
        "白血球数 10^9/lのとても長い名前の列": rng.standard_normal(n) ** 2,
        "<script>alert(1)</script>": levels[rng.integers(4, size=n)],
            "quotes ' & \"more\"": rng.standard_normal(n),
    })  # fmt: skip
    frame["y"] = frame.iloc[:, 0] + (frame.iloc[:, 2] == "a") + rng.standard_normal(n)
    return fitted("y ~ .", frame, k=3, resamples=10)


def friedman():
    return fitted("y ~ .", datasets.simulate_friedman(200, seed=1).data, k=2, resamples=2)


SETS = {
    "titanic": titanic, "titanic_correlated": titanic_correlated,
    "golub, grrf": lambda: golub("grrf"), "golub, controlburn": lambda: golub("controlburn"),
    "adult": adult, "german": german, "abalone": abalone, "multiclass": multiclass,
    "counts": counts, "survival": survival, "comparison": comparison, "hostile": hostile,
}  # fmt: skip

_MEASURE = """
<script>
addEventListener("load", () => {
  const said = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, width = frame.width;
    if (page.documentElement.scrollWidth > page.documentElement.clientWidth)
      said.push([width, "page", String(page.documentElement.scrollWidth)]);
    for (const value of page.querySelectorAll(".value")) {
      const text = value.firstChild, part = page.createRange();
      if (!text || text.nodeType != Node.TEXT_NODE) continue;
      for (const word of text.data.matchAll(/\\S+/g)) {
        part.setStart(text, word.index);
        part.setEnd(text, word.index + word[0].length);
        const tops = new Set(Array.from(part.getClientRects(), (box) => Math.round(box.top)));
        if (tops.size > 1) said.push([width, "splits", word[0]]);
      }
    }
    for (const figure of page.querySelectorAll("svg")) {
      const own = figure.getBoundingClientRect();
      if (!own.width) continue;
      const boxes = [];
      for (const text of figure.querySelectorAll("text")) {
        const box = text.getBoundingClientRect();
        if (!box.width || !text.textContent.trim()) continue;
        if (box.left < own.left - SLACK || box.right > own.right + SLACK ||
            box.top < own.top - SLACK || box.bottom > own.bottom + SLACK)
          said.push([width, "leaves", text.textContent]);
        for (const [other, name] of boxes)
          if (box.left < other.right - SLACK && other.left < box.right - SLACK &&
              box.top < other.bottom - 2 * SLACK && other.top < box.bottom - 2 * SLACK)
            said.push([width, "crosses", name + " / " + text.textContent]);
        boxes.push([box, text.textContent]);
      }
    }
  }
  const found = document.createElement("pre");
  found.id = "found";
  found.textContent = JSON.stringify(said);
  document.body.replaceChildren(found);
});
</script>
"""


def browser():
    """The path of a browser, None where there is none."""
    return next(filter(None, map(shutil.which, BROWSER)), None)


def run_browser(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [browser(), *_FLAGS, f"--user-data-dir={folder}", *arguments],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip


def faults(page):
    """Labels that can't be read, as (width, what, label), and pages that hang over."""
    with tempfile.TemporaryDirectory() as folder:
        frames = "".join(
            f'<iframe src="{page.resolve().as_uri()}" width="{width}" height="900"></iframe>'
            for width in WIDTHS
        )
        wrapper = Path(folder) / "wrapper.html"
        script = _MEASURE.replace("SLACK", str(SLACK))
        wrapper.write_text(f"<!DOCTYPE html><meta charset=utf-8>{script}{frames}", "utf-8")
        dom = run_browser("--window-size=1400,1000", "--dump-dom", wrapper.as_uri())
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1]))


def pictures(page, folder, height=6000):
    """Pictures at two widths, one of them dark as well, and the PDF; how many pages it has."""
    address = page.resolve().as_uri()
    for width in (400, 1280):
        framed = folder / f"{page.stem}_{width}.html"
        framed.write_text(
            f'<!DOCTYPE html><body style="margin:0"><iframe src="{address}" width="{width}"'
            f' height="{height}" style="border:0"></iframe>', "utf-8",
        )  # fmt: skip
        shot = folder / f"{page.stem}_{width}.png"
        run_browser(
            f"--window-size={max(width, 500)},{height}", f"--screenshot={shot}", framed.as_uri()
        )
        framed.unlink()
    run_browser(
        "--window-size=1280,3000", "--blink-settings=preferredColorScheme=0",
        f"--screenshot={folder / f'{page.stem}_dark.png'}", address,
    )  # fmt: skip
    pdf = folder / f"{page.stem}.pdf"
    run_browser("--no-pdf-header-footer", f"--print-to-pdf={pdf}", address)
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf.read_bytes()))


def one_case(name, make, folder, runs, is_seen):
    """The row of a set; pages that are seen are those that a browser has shown."""
    found, beside = make()
    page = folder / f"{name.replace(', ', '_')}.html"
    seconds, _ = in_turns({name: lambda: found.report(page, **beside)}, runs)[name]
    row = {"report": name, "CPU s": round(seconds, 2), "kB": round(page.stat().st_size / 1000)}
    if is_seen:
        row["pages"] = pictures(page, folder)
        wrong = faults(page)
        row["faults"] = len(wrong)
        for width, what, label in wrong:
            print(f"  {name}, {width} px: {what}: {label}")
    return row


def main():
    """Write the pages and the table."""
    run = Run(__doc__, sets=SETS, pages=None, quick={"sets": ("friedman",)})
    folder = Path(run.pages or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    for name in run.sets:
        make = friedman if run.quick else SETS[name]
        seen = not run.quick and bool(browser())
        run.keep("pages", one_case(name, make, folder, run.pick(1, 3), seen), by="report")
    run.table(
        "pages",
        run.kept("pages", text=True),
        "treeselect, reports: CPU seconds of writing, size, pages of the PDF, and labels that leave"
        " their figure, cross one another or hang over the page at 400, 768 and 1280 pixels.",
    )
    print(f"Pages in {folder}.")


if __name__ == "__main__":
    main()
