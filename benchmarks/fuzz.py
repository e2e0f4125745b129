"""Inputs that nobody wrote, found by what they reach: atheris at the four doors of the package.

    python benchmarks/fuzz.py [--quick] [--doors files] [--minutes 60] [--seed 1] [--results DIR]

Doors are formulas, model files (pieces of a checkpoint have the same form), CSV files and command
lines. An input passes as a hostile case does (``hostile.py``). Those that reach new code are kept
in ``data/fuzz``, and the next run begins with them; ``--quick`` only runs some of these. A crash,
or an input of more than 60 s, ends the process, and the next goes on. Needs Linux and atheris.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

from harness import Run
from hostility import attacks, files, tables
from hostility.damaging import damage
from hostility.formulas import mutated
from hostility.judging import ANSWERED, FAILED, Outcome, judge, streams
from hostility.watching import fenced
from hostility.working import SECONDS, plan_of

CORPUS = Path(__file__).parent / "data" / "fuzz"
MOST_BYTES, MOST_KEPT = 100_000, 150_000

USES = (
    "predict(data)", "summary()", "model.rules(2)", "tidy()", "save(copy)", "augment(data)",
    "with_data(data).resample(2)", "model.shape(TERM)", "report(page)", "search.alternatives()",
)  # fmt: skip

SELECT = ("select", "y ~ x + g", "table.csv", "-m", "fcbf", "-k", "1", "--seed", "1")


# --- the doors: seeds, and what becomes of an input ----------------------------------------------


def formula(data: bytes, folder: Path) -> Outcome:
    """A formula, in `select`."""
    text = data.decode("utf-8", "surrogateescape")
    return attacks.run({"formula": text, "channel": "select"}, folder)


def model_file(data: bytes, folder: Path) -> Outcome:
    """The content of a model file, loaded and used."""
    uses = [USES[hashlib.sha256(data).digest()[0] % len(USES)], "__repr__()"]
    return files.used(gzip.compress(data, 1), uses, folder)


def csv(data: bytes, folder: Path) -> Outcome:
    """A CSV file."""
    path = folder / "data.csv"
    path.write_bytes(data)
    plan = {"channel": "select", "formula": "y ~ ."}
    with streams() as (out, error):
        return judge(tables._use, plan, path, folder, out, error)


def command(data: bytes, folder: Path) -> Outcome:
    """Arguments of ``treeselect select``, one on a line."""
    text = data.decode("utf-8", "surrogateescape")
    if "\0" in text or re.search(r"--re[a-z]*[\n=]\d{4}", text):
        return Outcome(ANSWERED)  # no shell passes on a zero, and a thousand resamples take long
    arguments = [*SELECT, *text.split("\n")]
    attacks._table(folder)
    with streams() as (out, error), contextlib.chdir(folder):
        return judge(attacks.by_command, arguments, out, error)


def _drawn(family: str, n: int = 200) -> list[dict[str, Any]]:
    return [plan_of(1, family, number) for number in range(n)]


def _formulas() -> list[bytes]:
    plans = [plan["formula"] for plan in _drawn("formulas")]
    return [text.encode("utf-8", "surrogateescape") for text in plans if _is_encodable(text)]


def _is_encodable(text: str) -> bool:
    return not re.search("[\ud800-\udbff]", text) and len(text) < MOST_BYTES


def _commands() -> list[bytes]:
    texts = (
        "--missing\ndrop", "--na\nx=1,2", "--groups\nboth=x,g", "--costs\nx=2", "--set\ngamma=0.3",
        "--resamples\n2", "--json", "--keep\nx", "--monotone\nx=1", "--labels\nx=An x", "-k\nbest",
        "--weights\nv", "--family\npoisson", "--offset\nx", "--folds\n2", "--encoding\nlatin-1",
        "--report\nr.html", "--save\nm", "--new-levels\nother", "--model\nglm", "--positive\n1",
    )  # fmt: skip
    return [text.encode() for text in texts]


def _files() -> list[bytes]:
    return [gzip.decompress(one) for one in files.originals().values()]


def _tables() -> list[bytes]:
    return [tables._bytes(plan) for plan in _drawn("tables")]


# --- changes that keep the form of an input ------------------------------------------------------


def other_file(data: bytes, rng: random.Random) -> bytes:
    """The content of a model file with another value or array."""
    change = files._change(rng, rng.choice(["value", "array"]))
    return gzip.decompress(damage(gzip.compress(data, 1), [change]))


def other_formula(data: bytes, rng: random.Random) -> bytes:
    """A formula with other pieces."""
    return mutated(rng, data.decode("utf-8")).encode("utf-8")


DOORS = {
    "formulas": (formula, _formulas, other_formula), "files": (model_file, _files, other_file),
    "tables": (csv, _tables, None), "commands": (command, _commands, None),
}  # fmt: skip


# --- one door, in a process of its own ----------------------------------------------------------


def judged(door: str, data: bytes, folder: Path) -> tuple[str, str]:
    """What is wrong with an input, nothing if it passes, and the error."""
    start = time.process_time()
    with fenced():
        outcome = DOORS[door][0](data, folder)
    seconds = time.process_time() - start
    if outcome.kind == FAILED:
        return outcome.signature, outcome.message
    return (f"more than {SECONDS:.0f} s", f"{seconds:.0f} s") if seconds > SECONDS else ("", "")


def fuzz(door: str, corpus: str, found: str, *flags: str) -> None:
    """Run atheris; finds are added to a file as they come. It ends the process."""
    import atheris

    folder = Path(tempfile.mkdtemp())
    os.chdir(folder)

    def one(data: bytes) -> None:
        wrong, message = judged(door, data, folder)
        if wrong:
            record = {"signature": wrong, "message": message[:300], "input": data.hex()}
            with open(found, "a", encoding="ascii") as file:
                file.write(json.dumps(record) + "\n")

    def other(data: bytes, most: int, seed: int) -> bytes:
        rng, change = random.Random(seed), DOORS[door][2]
        with contextlib.suppress(Exception):
            if change is not None and rng.random() < 0.7:
                return change(data, rng)[:most]
        return atheris.Mutate(data, most)

    atheris.Setup([sys.argv[0], *flags, corpus], one, custom_mutator=other)
    atheris.Fuzz()


_CHILD = (
    "import sys, atheris; sys.path.insert(0, {here!r})\n"
    "with atheris.instrument_imports(['treeselect'], ['treeselect.engine']):\n"
    "    import treeselect, treeselect.selection, fuzz\n"
    "fuzz.fuzz(*{arguments!r})"
)


def _child(*arguments: str) -> str:
    """What a process with instrumented modules writes on standard error."""
    code = _CHILD.format(here=str(Path(__file__).parent), arguments=arguments)
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], stderr=subprocess.PIPE, env=environment
    )
    return ended.stderr.decode("utf-8", "replace")


def at_door(door: str, minutes: float, seed: int, results: Path) -> dict[str, Any]:
    """Fuzz one door; the line of the table."""
    end, runs, said, used = time.monotonic() + 60 * minutes, 0, "", sum(os.times()[2:4])
    found = results / f"fuzz_{door}.jsonl"
    found.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as held:
        corpus = Path(held) / "corpus"
        corpus.mkdir()
        seeds = DOORS[door][1]()
        for data in [*seeds, *kept(door)]:
            (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)
        limits = [f"-max_len={MOST_BYTES}", "-timeout=60", "-rss_limit_mb=4000"]
        prefix = f"-artifact_prefix={results}/fuzz_{door}_"
        ended = 0
        while (left := int(end - time.monotonic())) > 0 and ended < 20:
            options = [*limits, prefix, f"-max_total_time={left}", f"-seed={seed + ended}"]
            said = _child(door, str(corpus), str(found), *options, "-print_final_stats=1")
            runs += max([int(n) for n in re.findall(r"^#(\d+)", said, re.MULTILINE)], default=0)
            ended += 1
        reached = max([int(n) for n in re.findall(r"cov: (\d+)", said)], default=0)
        keep(door, {path.read_bytes() for path in corpus.iterdir()}.difference(seeds))
    finds = [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []
    messages = {find["signature"]: find["message"] for find in finds}
    for signature, message in messages.items():
        print(f"{door}: {signature!a}: {message!a}")
    return {
        "door": door, "seed": seed, "CPU min": round((sum(os.times()[2:4]) - used) / 60),
        "inputs": runs, "branches": reached, "kept": len(kept(door)),
        "kinds of failure": len(messages), "ends": ended - 1,
    }  # fmt: skip


def kept(door: str) -> list[bytes]:
    """The corpus of earlier runs."""
    path = CORPUS / f"{door}.zip"
    if path.exists():
        with zipfile.ZipFile(path) as corpus:
            return [corpus.read(name) for name in corpus.namelist()]
    return []


def keep(door: str, inputs: set[bytes]) -> None:
    """Keep the shortest of a corpus."""
    CORPUS.mkdir(exist_ok=True)
    path, size = CORPUS / f"{door}.zip", 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as corpus:
        for data in sorted(inputs, key=lambda data: (len(data), data)):
            size += 120 + len(zlib.compress(data))
            if size < MOST_KEPT:
                corpus.writestr(zipfile.ZipInfo(hashlib.sha1(data).hexdigest()), data, 8)


def replayed(door: str) -> dict[str, Any]:
    """Three inputs of a door."""
    with tempfile.TemporaryDirectory() as folder:
        some = [*DOORS[door][1](), *kept(door)][:3]
        wrong = {judged(door, data, Path(folder))[0] for data in some} - {""}
    return {"door": door, "inputs": len(some), "kinds of failure": len(wrong)}


def main() -> int:
    """Fuzz the doors one after the other; the status is 1 if anything failed."""
    run, n_failed = Run(__doc__, doors=tuple(DOORS), minutes=60.0, seed=1), 0
    for door in run.doors:
        row = replayed(door) if run.quick else at_door(door, run.minutes, run.seed, run.results)
        n_failed += row["kinds of failure"]
        run.keep("fuzz", row, by=("door", "seed") if not run.quick else "door")
    rows = run.kept("fuzz")
    run.table(
        "fuzz",
        rows.to_dict("records"),
        "treeselect, inputs that nobody wrote, guided by what code they reach: answered or refused,"
        " or a kind of failure; ends of the process by memory, time or a crash.",
    )
    return int(n_failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
