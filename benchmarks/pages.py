"""Reports on real data, as they are read on a phone and on a screen: can all labels be read?

    python benchmarks/pages.py [--quick] [--sets titanic ...] [--pages folder]

Writes the report of each set into a folder, opens it in headless Chromium, and tells at 400, 500,
768 and 1280 pixels the labels that leave their figure, cross one another or hang over the page, and
the words of a card that are split; then the status is 1. ``--quick`` writes one of simulated data,
and opens nothing. Pages with long names are those of ``tests/figures/test_drawings.py``.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import Run, stored

import treeselect
from treeselect import datasets

WIDTHS = (400, 500, 768, 1280)
BROWSER = ("chromium", "chromium-browser", "google-chrome")
SLACK = 2
"""Pixels by which a box of a label, which is taller than its letters, may leave its figure."""

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--allow-file-access-from-files", "--virtual-time-budget=4000",
    "--window-size=1400,1000", "--dump-dom",
)  # fmt: skip


def fitted(formula, frame, *, judged=False, **options):
    """A selection, and what else its page shows."""
    options = {"resamples": 20, "seed": 1, "progress": False} | options
    fit = treeselect.select(formula, frame, **options)
    return fit, {"performance": fit.performance()} if judged else {}


TITANIC = "survived ~ pclass + sex + age + sibsp + parch + fare + embarked"


def german():
    frame = stored("german_credit")
    names = [name for name in frame if "account" in name or "status" in name]
    groups = {"groups": {"money": names[:2]}, "costs": {"money": 5}}
    return fitted("target ~ .", frame, method="gbfs", **groups)


def abalone():
    frame = stored("abalone").sample(1500, random_state=1)
    terms = " + ".join(f"bs({name}, df=4)" for name in frame if name not in ("rings", "sex"))
    return fitted(f"rings ~ sex + {terms}", frame, judged=True)


def comparison():
    methods = ["exchange", "controlburn", "rrf", "grrf", "gbfs", "lasso"]
    frame = stored("titanic_raw")
    return treeselect.compare(TITANIC, frame, methods=methods, seed=1, progress=False), {}


SETS = {
    "titanic": lambda: fitted(
        TITANIC, stored("titanic_raw"), judged=True, resamples=100, method="controlburn"
    ),
    "golub": lambda: fitted("target ~ .", stored("gene/golub"), method="grrf", k=5),
    "german": german, "abalone": abalone,
    "survival": lambda: fitted("Surv(time, cens) ~ .", datasets.load("gbsg2"), judged=True),
    "comparison": comparison,
    "friedman": lambda: fitted(
        "y ~ .", datasets.simulate_friedman(200, seed=1).data, k=2, resamples=2
    ),
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
        command = [browser(), *_FLAGS, f"--user-data-dir={folder}", wrapper.as_uri()]
        dom = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1]))


def main():
    """Write the pages and tell their faults; how many there are."""
    run = Run(__doc__, sets=SETS, pages=None, quick={"sets": ("friedman",)})
    folder, n_faults = Path(run.pages or tempfile.mkdtemp()), 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in run.sets:
        found, beside = SETS[name]()
        page = folder / f"{name.replace(', ', '_')}.html"
        found.report(page, **beside)
        print(f"treeselect, {name}: {page}, {page.stat().st_size // 1000} kB")
        for width, what, label in [] if run.quick else faults(page):
            n_faults += 1
            print(f"  {width} px: {what}: {label}")
    return int(n_faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
