"""Formulas that try to run code, or to take all memory or time, by every way that leads to one.

Not the outcome is judged but what is done: see ``watching``. Channels are ``select()``, the
command line, and model files in which the formula was edited.
"""

from __future__ import annotations

import builtins
import functools
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import treeselect
from hostility.damaging import read_content, write_content
from hostility.formulas import draw_formula, mutated
from hostility.judging import (
    ANSWERED,
    FAILED,
    REFUSED,
    VOID,
    Defect,
    Outcome,
    check_text,
    judge,
    streams,
    written,
    wrong_message,
)  # fmt: skip
from hostility.watching import watching
from treeselect.cli import main as cli

Plan = dict[str, Any]

CHANNELS = ("select", "select", "cli", "load")
NAMES = ["y", "x", "g", "a b", "v"]
CANARY = "treeselect_canary"

PAYLOADS = (
    "__import__('os').system('touch {file}')", "open('{file}', 'w').close()",
    "__import__('__hello__')", "__import__('builtins').__dict__.__setitem__('{mark}', 1)",
    "exec('import __hello__')", "eval('__import__(\"__hello__\")')", "compile('1', 'x', 'eval')",
    "globals()['__builtins__']['open']('{file}', 'w')", "().__class__.__base__.__subclasses__()",
    "g.__class__.__init__.__globals__['__builtins__']['open']('{file}', 'w')",
    "(lambda: __import__('__hello__'))()", "[open(f, 'w') for f in ['{file}']]",
    "[setattr(__import__('builtins'), '{mark}', n) for n in (1,)]", "(h := open('{file}', 'w'))",
    "f\"{{open('{file}', 'w')}}\"", "str(open('{file}', 'w'))", "x.to_csv('{file}')",
    "g.map(print)", "x.pipe(lambda s: open('{file}', 'w'))", "x.__array__().tofile('{file}')",
    "np.save('{file}', x)", "np.savetxt('{file}', x)", "np.fromfile('/etc/hostname')",
    "np.load('{file}')", "np.lib.format.open_memmap('{file}', 'w+', shape=(1,))",
    "np.frompyfunc(print, 1, 1)(x)", "np.ctypeslib.ctypes.CDLL(None)", "np.exp.__class__.__mro__",
    "poly.__globals__['__builtins__']", "C.__globals__['__builtins__']['__import__']('__hello__')",
    "contr.treatment.__init__.__globals__['__builtins__']['open']('{file}', 'w')", "breakpoint()",
    "print(open('/etc/hostname').read())", "__import__('subprocess').run(['touch', '{file}'])",
    "__import__('pathlib').Path('{file}').touch()",
    "__import__('importlib').import_module('__hello__')", "__builtins__['open']('{file}', 'w')",
    "getattr(__builtins__, 'open', __builtins__)", "vars()", "dir()", "locals()",
    "type('T', (), {{}})()",
)  # fmt: skip
"""What an attack would run; each is harmless, and leaves a mark."""

HOLES = (
    "y ~ I(g == {t})", 'y ~ I(g == "`" + str({p}) + "`")', "y ~ I(g != {t}) + x", "y ~ {g == {t}}",
    "y ~ C(g == {t})", "y ~ bs(x, df=4, extrapolation={t})", "y ~ cr(x, df=4, constraints={t})",
    "y ~ hashed(g, 3, contr.treatment({t}))",
    "y ~ hashed(g, 3, contrasts=contr.treatment(base={t}))", "y ~ C(g, contr.treatment({t}))",
    "y ~ C(g, levels=[{t}, 'a'])", "I(g == {t}) ~ x", "{g == {t}} ~ x", "C(g == {t}) ~ x",
    "y ~ np.where(g == {t}, 1, 0)", "y ~ I((g == '`') | (g == str({p})) | (g == '`'))",
    "y ~ I(g == '`' # ' + str({p}) + '`'\n)", "y ~ I(g == '''`''' + str({p}) + '''`''')",
    "y ~ I(g == '`' + str({p}))", "y ~ I(`a'b` + {p} + `c'd`)", "y ~ Q({t})", "y ~ (x + g)^({p})",
    "y ~ x**({p})", "y ~ x + `a b` : I(g == {t})", "y ~ x:I(g == {t})",
    "y ~ log(I(exp((g == {t}) + 1)))", "y ~ x + I(g == {t}) - x",
    "y ~ hashed(g, 3, contrasts=contr.treatment({t}))", "y ~ hashed(g, 3, contr.treatment({p}))",
    "y ~ C(g, contr.treatment(base={t}))", "y ~ I(`a b` + {p})", "y ~ I(g == '`a b`' + str({p}))",
    "y ~ I(x == f'{{p}}')",
)  # fmt: skip
"""Ways that were open once, or might be: ``{p}`` is the payload, ``{t}`` has it in a text that
backticks seem to end."""

PLAIN_WAYS = (
    "y ~ {p}", "y ~ I({p})", "y ~ {{p}}", "{p} ~ x", "I({p}) ~ x", "y ~ log({p})",
    "y ~ np.log({p})", "y ~ C(g, {p})", "y ~ C({p})", "y ~ bs(x, {p})", "y ~ bs(x, df={p})",
    "y ~ poly(x, {p})", "y ~ poly(x, degree={p})", "y ~ hashed(g, {p})",
    "y ~ hashed(g, levels={p})", "y ~ C(g, levels={p})", "y ~ C(g, levels=[{p}])",
    "y ~ C(g, contr.treatment({p}))", "y ~ scale(x, {p})", "y ~ scale(x, center={p})", "y ~ Q({p})",
    "y ~ np.where({p}, 1, 0)", "y ~ I(x if {p} else x)", "y ~ I(x == {p})", "y ~ I(x)[{p}]",
    "y ~ x + I(*{p})", "y ~ I(**{p})", "y ~ bs(x, knots=[{p}])",
    "y ~ bs(x, df=4, extrapolation={p})", "y ~ lag(x, {p})", "y ~ x - {p}", "y ~ x:{p}",
    "y ~ x * ({p})", "y ~ x / {p}", "y ~ x %in% {p}", "y ~ x | {p}", "{p}", "~ {p}", "y ~ x ~ {p}",
    "y ~ `{p}`", "y ~ (({p}))", "y ~ x\n+ {p}", "y ~ I(x \\\n + {p})", "y ~ I(x # \n + {p})",
    "y ~ I(x).{p}", "y ~ {p}(x)",
)  # fmt: skip
"""Ways that were always closed."""

BOMBS = (
    "y ~ I(g * 10000000)", "y ~ I(10000000 * g)", "y ~ I(g * 10**9)", "y ~ I(g + g * 9999999)",
    "y ~ I((g == 'a' * 1000000000))", "y ~ I(g * v * 1000000)", "y ~ {g * 10000000}",
    "I(g * 10000000) ~ x", "y ~ C(g * 10000000)", "y ~ I(x ** 9 ** 9 ** 9)",
    "y ~ I(9 ** 9 ** 9 ** x)", "y ~ I(10**16**16)", "y ~ I(x + 2**16**16**16)",
    "y ~ I(v ** 16 ** 16)", "y ~ x**99", "y ~ (x + g + v)**99", "y ~ (x + g + v)^999999999",
    "y ~ (x+g)^2^2", "y ~ hashed(g, levels=100000000)", "y ~ hashed(g, 99999999999999999999)",
    "y ~ hashed(g, 100000)", "y ~ bs(x, df=100000)", "y ~ cr(x, df=100000)", "y ~ cs(x, df=10**10)",
    "y ~ poly(x, degree=100000)", "y ~ poly(x, 10**10)", "y ~ poly(x, 1000)",
    "y ~ bs(x, df=4, degree=10**6)", "y ~ bs(x, degree=1000)", "y ~ I(x << 10**10)",
    "y ~ I([x] * 10**9)", "y ~ I((1,) * 10**9)", "y ~ I(x % 10**400)", "y ~ I(1e400 * x)",
    "y ~ I(x * 10**5000)", "y ~ C(g, levels=[0] * 10**9)", "y ~ C(g, levels=range(10**10))",
    "y ~ scale(x, ddof=10**30)", "y ~ bs(x, knots=[0.5] * 10**9)", "y ~ bs(x,1000):bs(v,1000)",
    "y ~ (x*g*v*`a b`)^4", "y ~ I(v * v * v * v * v)**9", "y ~ I(g * v)", "y ~ C(g * 1000)",
    "y ~ I(g == 'a' * 1000000000)", "y ~ I(x ** 17)", "y ~ cc(x, df=100000)",
    "y ~ poly(x, 10000000000)", "y ~ bs(x, df=4, degree=1000000)", "y ~ I(v ** -1 ** 0.5)",
    "y ~ I(g * 3)", "y ~ I(2 * g == g)", "y ~ np.where(x > 0, g * 10000000, g)",
    "y ~ scale(g * 1000000)", "y ~ C(g, levels=['a' * 10**9])", "y ~ I((g == 'a') * 10**400)",
    "y ~ bs(x, df=10**10)", "y ~ hashed(g, 10**30)", "y ~ hashed(g, levels=2**63)",
    "y ~ poly(x, 21)", "y ~ I(2 ** 10 ** 10 * x)", "y ~ (x + g + v)^(10**10)",
)  # fmt: skip
"""What would take all memory or time: refused."""

HEAVY = (
    "y ~ bs(x, df=1000)", "y ~ cc(x, df=1000)", "y ~ poly(x, 20):poly(v, 20):poly(x, 19)",
    "y ~ hashed(g, 1000):hashed(v, 1000):hashed(`a b`, 1000)", "y ~ C(x):C(v):C(g):C(`a b`)",
)  # fmt: skip
"""What may take long."""

LONG = (
    "y ~ <x>", "y ~ `<x>`", "y ~ I(g == '<x>')", "y ~ <(>x<)>", "y ~ I(<(>x<)>)", "y ~ I(<->x)",
    "y ~ I(x< + 1>)", "y ~ x< + x>", "y ~ x< + g:v>", "y ~ <<I(x + 1) + >x", "y ~ <<log(>x<<)>",
    "y ~ x< >", "y ~ x<\n>", "y ~ x<<^2>", "y ~ I(x ** <1>)", "y ~ I(x + 0.<1>)", "y ~ <~>x",
    "y ~ x< - x>", "y ~ <{>x<}>", "y ~ <`>", "y ~ I(<not >x)", "y ~ x<<:g>",
    "y ~ I(<<x if x else >x)", "y ~ Q('<a>')", "<x> ~ y", "<<y ~ I(x[>0<<])>", "<y>",
    "y ~ C(g, levels=[<'a',>])", "y ~ bs(x, knots=[<0,>])", "y ~ I(x == <'>)",
)  # fmt: skip
"""Formulas that are mostly long or deep: what stands in ``<>`` is repeated, in ``<<>`` less."""


def _long(rng: random.Random) -> str:
    n = rng.choice([100, 1_000, 20_000, 200_000])
    return re.sub(
        r"<(<?)([^>]+)>",
        lambda found: found[2] * (min(n, 2_000) if found[1] else n),
        rng.choice(LONG),
    )


def draw(rng: random.Random) -> Plan:
    """A formula and the way that it takes."""
    kind = rng.random()
    if kind < 0.6:
        way = rng.choice(HOLES if kind < 0.35 else PLAIN_WAYS)
        formula = way.replace("{t}", "'`' + str({p}) + '`'").replace("{p}", _payload(rng))
    elif kind < 0.72:
        formula = rng.choice((*BOMBS, *HEAVY))
    elif kind < 0.78:
        formula = _long(rng)
    else:
        formula = draw_formula(rng, NAMES[:1] + rng.sample(NAMES[1:], 3))
    if rng.random() < (0.25 if kind < 0.72 else 0.5) and len(formula) < 1000:
        formula = mutated(rng, formula)
    return {"formula": formula, "channel": rng.choice(CHANNELS)}


def _payload(rng: random.Random) -> str:
    return rng.choice(PAYLOADS).format(file=CANARY, mark=CANARY)


@functools.cache
def frame() -> Any:
    """The data of all attacks: 60 rows, so that a bomb is one by its formula alone."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=60).round(3)
    return pd.DataFrame({
        "y": (x + rng.normal(size=60) > 0).astype(int), "x": x, "g": rng.choice([*"abc"], 60),
        "a b": rng.normal(size=60).round(3), "v": rng.integers(1, 5, 60),
    })  # fmt: skip


QUICK: dict[str, Any] = {"k": 1, "seed": 1, "n_jobs": 1, "progress": False}
EDITED = "I(x > 0.123)"


@functools.cache
def _document() -> Any:
    """The content of a model file whose formula will be edited."""
    fit = treeselect.select(f"y ~ {EDITED}", frame(), method="fcbf", **QUICK)
    with tempfile.TemporaryDirectory() as folder:
        return read_content(fit.save(Path(folder) / "m", include_data=True).read_bytes())


def edited_file(formula: str, path: Path) -> Path:
    """A model file whose formula, and the term of it, are others."""
    right = formula.split("~", 1)[1].strip() if "~" in formula else formula

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return formula if value == f"y ~ {EDITED}" else value.replace(EDITED, right)
        if isinstance(value, list):
            return [walk(v) for v in value]
        return {walk(k): walk(v) for k, v in value.items()} if isinstance(value, dict) else value

    path.write_bytes(write_content(walk(_document())))
    return path


def run(plan: Plan, folder: Path) -> Outcome:
    """Hand the formula over, and tell what was done besides."""
    builtins.__dict__.pop(CANARY, None)
    _document(), frame(), _table(folder)
    with watching() as heard, streams() as (out, error):
        found = judge(_use, plan, folder, out, error)
    events = list(dict.fromkeys(heard))
    canary = (folder / CANARY).exists() or hasattr(builtins, CANARY)
    _clean(folder)
    worst = sorted(events, key=lambda e: e.startswith(("exec", "compile")))
    if worst or canary:
        said = "; ".join([*worst, *(["the canary is dead"] if canary else [])])
        return Outcome(FAILED, "Watch", said[:1000], _signature(worst, canary))
    return found


def _signature(events: list[str], canary: bool) -> str:
    """``exec`` and ``compile`` by the package's own evaluation apart from what an attack does."""
    own = [e for e in events if re.match(r"(exec|compile) by \w+\.py", e)]
    if canary or len(own) < len(events):
        return "a formula ran code"
    return f"text is evaluated ({own[0]})"


def _use(plan: Plan, folder: Path, out: Any, error: Any) -> str:
    formula, channel = plan["formula"], plan["channel"]
    if channel == "select":
        fit = treeselect.select(formula, frame(), method="fcbf", **QUICK)
        check_text(fit.summary().as_text(), "a summary")
        if len(fit.predict(frame())) != len(frame()):
            raise Defect("predict() lost rows")
        return ANSWERED
    if channel == "cli":
        arguments = ["select", formula, str(_table(folder)), "-m", "fcbf", "-k", "1"]
        return by_command([*arguments, "--seed", "1"], out, error)
    try:
        path = edited_file(formula, folder / "edited.treeselect")
    except UnicodeEncodeError:
        return VOID
    fit = treeselect.load(path)
    if len(fit.predict(frame())) != len(frame()):
        raise Defect("predict() lost rows")
    check_text(fit.summary().as_text(), "a summary")
    return ANSWERED


def by_command(arguments: list[str], out: Any, error: Any) -> str:
    """What becomes of a command, whose streams are at hand."""
    try:
        code = cli.main(arguments)
    except SystemExit:
        return REFUSED
    said = written(error)
    check_text(written(out) + said, "what the command line prints")
    if code and (wrong := wrong_message(said)):
        raise Defect(f"{wrong} in an error of the command line: {said[:200]!r}")
    return REFUSED if code else ANSWERED


def _table(folder: Path) -> Path:
    path = folder / "table.csv"
    if not path.exists():
        frame().to_csv(path, index=False)
    return path


def _clean(folder: Path) -> None:
    builtins.__dict__.pop(CANARY, None)
    for path in folder.iterdir():
        if path.is_file() and path.name != "table.csv":
            path.unlink()
