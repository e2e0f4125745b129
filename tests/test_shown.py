"""Control characters of the user's text: none of them is printed, drawn or written to be read."""

from __future__ import annotations

import io
import json
import pickle
import re
import sys
import unicodedata
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from quick import quick_fit

import treeselect
from treeselect import errors
from treeselect.cli.main import main
from treeselect.cli.output import json_text
from treeselect.reports.render import render
from treeselect.running.machine import track
from treeselect.shown import HIDDEN, guarded, said, shown

HOSTILE = {
    "escape": "a\x1b[31mRED\x1b[0m",
    "bell": "b\x07",
    "nul": "n\x00u",
    "line end": "l\nINJECTED",
    "carriage return": "c\rINJECTED",
    "tab": "t\tb",
    "delete": "d\x7f",
    "c1": "e\x9b31m",
    "override": "o\u202egnp",
    "isolate": "i\u2066x\u2069",
    "mark": "m\u200f\u200e\u061c",
    "line separator": "s\u2028INJECTED\u2029",
    "no width": "z\u200b\u2060\xad",
    "joiner": "j\u200dk",
    "byte order": "\ufefff",
    "noncharacter": "x\uffff\ufdd0",
    "markup": "[red]r[/red] <b>&amp;$x_1$ \\%",
}
BROKEN = "h\ud800"
"""Half a character: no file, table or page can hold it."""


def is_plain(text: str) -> bool:
    """Whether nothing but our own line ends is hidden, and no line is the user's."""
    lines = text.split("\n")
    return not any(HIDDEN.search(line) or line.startswith("INJECTED") for line in lines)


@pytest.mark.parametrize("text", [*HOSTILE.values(), BROKEN], ids=[*HOSTILE, "surrogate"])
def test_shown_is_what_repr_writes_and_is_shown_once(text):
    for quotes in "'", '"':
        inner = text.replace(quotes, "")
        assert shown(inner).replace("\\", "") == repr(inner)[1:-1].replace("\\", "")
    assert is_plain(shown(text))
    assert shown(shown(text)) == shown(text)
    assert shown(text).encode()


def test_names_stay_different_and_readable():
    persian, family = "می\u200cشود", "👩\u200d👧"
    for text in ("naïve", "日本\u3000語", "e\u0301", "a\xa0b", persian, family, "❤️"):
        assert shown(text) == text
    assert len({shown(name) for name in HOSTILE.values()}) == len(HOSTILE)
    assert shown("a\x1b") != shown("a\x1c") != shown("a")
    assert said("one\n  two\x1b") == "one\n  two\\x1b"
    hidden = {c for c in map(chr, range(sys.maxunicode + 1)) if HIDDEN.search(c)}
    for character in hidden:
        assert is_plain(shown(character))
    assert not any(unicodedata.category(c)[0] in "LMNPS" for c in hidden)
    # Marks of Arabic, Syriac and Kaithi before a number, which are seen and do nothing.
    for code in [*range(0x20), *range(0x7F, 0xA0), 0x200B, *range(0x202A, 0x202F), 0xFEFF, 0xD800]:
        assert chr(code) in hidden


# --- errors --------------------------------------------------------------------------------------

ERRORS = [
    getattr(errors, name)
    for name in dir(errors)
    if name.endswith(("Error", "Warning")) and name[0].isupper()
]


@pytest.mark.parametrize("kind", ERRORS)
def test_no_error_holds_a_control_character(kind):
    error = kind(f"Can't.\n  {HOSTILE['escape']}{BROKEN}")
    assert str(error) == "Can't.\n  a\\x1b[31mRED\\x1b[0mh\\ud800"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert type(kind.__new__(kind, "text")) is kind  # as errors are unpickled where Dask is
    assert is_plain(errors.quoted(HOSTILE["line end"]))
    assert is_plain(errors.listing(HOSTILE.values(), most=99))


def test_carets_stand_below_the_name():
    formula = "y ~ `a\tb` + fare\u200bs"
    text = str(errors.FormulaError.at("Can't.", formula, "fare\u200bs"))
    line, carets = text.split("\n")[1:3]
    assert line[carets.index("^") :] == "fare\\u200bs"
    assert carets.count("^") == len("fare\\u200bs")


@pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
def test_errors_about_hostile_names(name, tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"y": [0, 1] * 6, name: rng.normal(size=12)})
    labels = data.assign(**{name: [f"{name}{i}" for i in range(12)]})
    calls = [
        lambda: treeselect.select(f"y ~ `{name}x`", data),
        lambda: treeselect.select("y ~ .", data.assign(**{name: np.inf})),
        lambda: treeselect.select("y ~ .", labels),
        lambda: treeselect.select("y ~ .", data.assign(**{name: [[1]] * 12})),
        lambda: treeselect.select("y ~ .", data.assign(**{name: pd.Timestamp("2020-01-01")})),
        lambda: treeselect.select("y ~ .", pd.concat([data, data[[name]]], axis=1)),
        lambda: treeselect.select("y ~ .", data, method=name),
        lambda: treeselect.select("y ~ .", data, family=name),
        lambda: treeselect.select("y ~ .", data, groups={name: [f"no {name}"]}),
        lambda: treeselect.select("y ~ .", data, costs={name: -1}),
        lambda: treeselect.select("y ~ .", data, weights=name + name),
        lambda: treeselect.select("y ~ .", data.assign(**{name: -1.0}), weights=name),
        lambda: treeselect.select("y ~ .", data, **{name: 3}),
        lambda: treeselect.compare("y ~ .", data, [name]),
        lambda: treeselect.select("y ~ .", f"{name}.csv"),
        lambda: treeselect.select(f"bs(`{name}`) ~ y", data.assign(**{name: np.arange(12.0)})),
        lambda: treeselect.load(tmp_path / name.replace("\0", "")),
    ]
    for call in calls:
        with pytest.raises(errors.TreeselectError) as found:
            call()
        assert is_plain(str(found.value)), ascii(str(found.value))


def test_half_a_character_is_refused_wherever_it_may_stand():
    x = pd.Series([BROKEN, "b"] * 6, dtype=object)
    data = pd.DataFrame({"y": [0, 1] * 6, "x": np.arange(12.0)})
    category = pd.Categorical.from_codes([0, 1] * 6, pd.Index([BROKEN, "b"], dtype=object))
    broken, methods = pd.Index(["y", BROKEN], dtype=object), {BROKEN: "rrf"}
    calls = [
        (lambda: treeselect.select("y ~ .", data.assign(x=x)), errors.DataError, "`x`"),
        (lambda: treeselect.select("y ~ .", data.assign(x=category)), errors.DataError, "`x`"),
        (lambda: treeselect.select("y ~ .", data.assign(y=x)), errors.DataError, "`y`"),
        (lambda: treeselect.select("y ~ .", data.set_axis(broken, axis=1)), errors.DataError,
         "Column names"),
        (lambda: treeselect.select(f"y ~ I(x == '{BROKEN}')", data), errors.FormulaError,
         "Text"),
        (lambda: treeselect.select("y ~ .", data, groups={BROKEN: ["x"]}), errors.OptionError,
         "`groups`"),
        (lambda: treeselect.compare("y ~ .", data, methods), errors.OptionError, "`methods`"),
    ]  # fmt: skip
    for call, kind, named in calls:
        with pytest.raises(kind) as found:
            call()
        assert named in str(found.value)
        assert "h\\ud800" in str(found.value).replace("h\\\\", "h\\")


@pytest.fixture(scope="module")
def hostile() -> pd.DataFrame:
    """80 rows with a predictor under each hostile name, hostile classes and levels."""
    rng = np.random.default_rng(3)
    n, names = 80, list(HOSTILE.values())
    frame = pd.DataFrame({name: rng.normal(size=n) for name in names})
    levels = rng.integers(0, 3, size=n)
    chosen = [f"level {name}" for name in names[:4:2]] + [names[3]]
    frame[f"factor {names[0]}"] = pd.Categorical.from_codes(levels, chosen)
    score = frame[names[0]] + frame[names[3]] + levels
    classes = [f"class {names[2]}", f"class {names[0]}", f"class {names[3]}"]
    frame[f"answer {names[3]}"] = np.array(classes)[pd.cut(score, 3, labels=False)]
    return frame


FORMULA = f"`answer {HOSTILE['line end']}` ~ ."
GROUP = f"group {HOSTILE['override']}{HOSTILE['escape']}"


@pytest.fixture(scope="module")
def fit(hostile: pd.DataFrame) -> treeselect.SelectionResult:
    return quick_fit(
        FORMULA, hostile, k=8, n_trees=15, keep=[f"factor {HOSTILE['escape']}"],
        groups={GROUP: [HOSTILE["bell"], HOSTILE["nul"]]},
    )  # fmt: skip


@pytest.fixture(scope="module")
def comparison(hostile: pd.DataFrame) -> treeselect.Comparison:
    names = [f"name {HOSTILE['escape']}", f"name {HOSTILE['line end']}"]
    methods = [treeselect.RRF(n_trees=3), treeselect.GRRF(n_trees=3)]
    return treeselect.compare(
        FORMULA, hostile, dict(zip(names, methods, strict=True)), k=2, folds=2, seed=1
    )


def check_page(page: str) -> None:
    """The page holds no control character, can be written, and its figures are XML."""
    assert page.encode()
    assert is_plain(page)
    figures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert figures
    for figure in figures:
        ElementTree.fromstring(figure)


def test_summaries(fit, comparison):
    found = [fit.summary(), comparison.summary(), fit.performance(2).summary()]
    found.append(fit.inference(seed=1).summary())
    for summary in found:
        for text in (str(summary), repr(summary), summary.as_latex(), summary._repr_html_()):
            assert text.encode()
            assert is_plain(text)
    assert "a\\x1b[31mRED" in str(fit.summary())
    assert r"a\textbackslash{}x1b{[}31mRED" in fit.summary().as_latex()
    odd = type("Odd", (), {"__repr__": lambda _: HOSTILE["escape"]})()
    selector = treeselect.TreeSelector(labels=odd)
    for thing in (fit, comparison, fit.stability, selector):
        assert is_plain(repr(thing))
    assert is_plain(selector._repr_html_())


def test_frames_hold_names_as_they_are_and_new_levels_are_escaped(fit, hostile, tmp_path):
    assert set(fit.tidy()["term"]) == set(hostile.columns[:-1])
    assert GROUP in set(fit.tidy()["group"])
    assert set(fit.predict(hostile, type="class")) <= set(hostile.iloc[:, -1])
    assert list(fit.augment(hostile).columns[:-1]) == list(hostile.columns)
    new = hostile.assign(**{f"factor {HOSTILE['escape']}": HOSTILE["bell"] + HOSTILE["line end"]})
    calls = [
        lambda: fit.predict(new),
        lambda: fit.predict(hostile[[HOSTILE["bell"]]]),
        lambda: fit.report(tmp_path / HOSTILE["line end"] / "report.html"),
        lambda: fit.save(tmp_path / HOSTILE["escape"] / "fit"),
        lambda: fit.plot("shape", term=HOSTILE["line end"] * 2),
    ]
    for call in calls:
        with pytest.raises(errors.TreeselectError) as found:
            call()
        assert is_plain(str(found.value)), ascii(str(found.value))
    with pytest.raises(errors.NewDataError, match=r'New: "b\\x07l\\nINJECTED" \(80 rows\)'):
        fit.predict(new)


def test_reports_of_hostile_names(fit, tmp_path, comparison):
    page = fit.report(tmp_path / "report.html", performance=fit.performance(2))
    check_page(page.read_text(encoding="utf-8"))
    assert "a\\x1b[31mRED" in page.read_text(encoding="utf-8")
    check_page(comparison.report(tmp_path / "report.html").read_text(encoding="utf-8"))
    template = tmp_path / "own.html.j2"
    template.write_text("{{ report }}\n{{ report | code }}\n{{ report ~ '`b`' }}", encoding="utf-8")
    assert is_plain(render(f"`{HOSTILE['escape']}`{HOSTILE['line end']}{BROKEN}", template))


KINDS = (
    "path", "importance", "stability", "correlation", "interactions", "shape",
)  # fmt: skip


def _texts(figure) -> list[str]:
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize("kind", KINDS)
def test_plots(kind, fit):
    pytest.importorskip("matplotlib").use("svg")
    import matplotlib.pyplot as plt

    terms = {"term": f"factor {HOSTILE['escape']}"} if kind == "shape" else {}
    ax = fit.plot(kind, **terms)
    written = io.BytesIO()
    ax.figure.savefig(written, format="svg")
    texts = _texts(ax.figure)
    plt.close(ax.figure)
    ElementTree.fromstring(written.getvalue())
    # A line end of our own may part a label.
    assert all(is_plain(text) for text in texts), texts


@pytest.mark.parametrize("kind", ["scores", "differences"])
def test_plots_of_a_comparison(kind, comparison):
    pytest.importorskip("matplotlib").use("svg")
    import matplotlib.pyplot as plt

    ax = comparison.plot(kind)
    texts = _texts(ax.figure)
    plt.close(ax.figure)
    assert all(is_plain(text) for text in texts), texts


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "\rx", " =1", "-", "|x", "%x",
             "\N{FULLWIDTH EQUALS SIGN}1"],
)  # fmt: skip
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["yes", "", "a=1", "1-2", "'", "-1", "-1.5e-3", "+1."])
def test_other_text_and_numbers_stay(text):
    assert guarded(text) == text


def test_progress_takes_no_markup_and_json_escapes(capsys):
    assert list(track([1], "[red]a\x1b[31mb", 1, progress=True)) == [1]
    told = capsys.readouterr().err
    assert "a\x1b[31mb" not in told
    tables = {name: [text] for name, text in [*HOSTILE.items(), ("broken", BROKEN)]}
    text = json_text(tables)
    assert is_plain(text)
    assert text.encode()
    assert json.loads(text) == json.loads(text) | tables


def _exit_code(command: list[str]) -> object:
    try:
        return main(command)
    except SystemExit as stop:  # argparse
        return stop.code


def test_the_command_line(hostile, tmp_path, capsys):
    folder = tmp_path / "f\x1b[31m"
    folder.mkdir()
    file = folder / "d.csv"
    data = hostile.drop(columns=[HOSTILE[name] for name in ("nul", "carriage return", "markup")])
    data = data.rename(columns={data.columns[-1]: "y"}).assign(x=range(len(data)))
    data = data.drop(columns=f"factor {HOSTILE['escape']}")
    data.to_csv(file, index=False)
    out = [str(folder / name) for name in ("r.html", "m", "t.json")]
    call = ["select", "y ~ .", str(file), "--method", "rrf", "-k", "2", "--seed", "1"]
    assert main([*call, "--report", out[0], "--save", out[1], "--json", out[2]]) == 0
    printed = capsys.readouterr().out
    assert is_plain(printed)
    assert "f\\x1b[31m" in printed
    for command in (
        ["select", "y ~ .", f"{folder}/none\r.csv"],
        ["select", "y ~ . + \x1b[31mb", str(file)],
        ["select", "y ~ .", str(file), "--method", "\x1b[31mb"],
        ["select", "y ~ .", str(file), "--report", f"{folder}/\x1b/x.html"],
        ["predict", f"{folder}/\x07", str(file)],
        ["select", "y ~ .", str(file), "--\x1b[31mb"],
        ["select", "y ~ .", str(file), "--seed", "\x1b[31mb"],
        ["\x1b[31mb"],
    ):
        assert _exit_code(command) == 2
        streams = capsys.readouterr()
        assert is_plain(streams.out + streams.err), ascii(streams.err)
