"""Every argument of the calls has a flag, whose text becomes the value that Python would give."""

import inspect
import re
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeselect
from treeselect import comparing
from treeselect.cli import commands
from treeselect.cli.arguments import (
    flags_in,
    name,
    pairs,
    read_codes,
    read_names,
    read_number,
    read_value,
    split,
)
from treeselect.cli.main import _as_typed, main, make_parser
from treeselect.errors import OptionError
from treeselect.results.fitting import ARGUMENTS

lists = partial(pairs, read=read_names)
numbers = partial(pairs, read=read_number, last=True)

WITHOUT = {
    "formula", "data",  # given by their places
    "trusted",  # never: a formula must not run code from a shell
    "progress",  # shown in a terminal
    "on_piece",  # a function
    "options",  # --set
}  # fmt: skip

CALLS = [
    (treeselect.select, commands.SELECT),
    (treeselect.compare, commands.COMPARE),
    (treeselect.SelectionResult.predict, commands.PREDICT),
]


def arguments_of(call):
    """Arguments of a call and their defaults, with those that are rarely needed."""
    own = {name: one.default for name, one in inspect.signature(call).parameters.items()}
    others = {treeselect.select: ARGUMENTS, treeselect.compare: comparing.OTHERS}
    return own | others.get(call, {})


@pytest.mark.parametrize(("call", "flags"), CALLS, ids=["select", "compare", "predict"])
def test_every_argument_has_a_flag(call, flags):
    arguments = set(arguments_of(call)) - WITHOUT - {"self", "new"}
    if flags is commands.PREDICT:
        arguments -= {"offset"}  # a column of the new data
    assert arguments - {flag.argument for flag in flags_in(flags)} == set()


@pytest.mark.parametrize(("call", "flags"), CALLS[:2], ids=["select", "compare"])
def test_what_is_passed_on_is_an_argument_whose_default_the_help_states(call, flags):
    called = {
        treeselect.select: commands.SELECT_CALLED,
        treeselect.compare: commands.COMPARE_CALLED,
    }
    assert set(arguments_of(call)) >= called[call]
    assert "trusted" not in {flag.argument for flag in flags_in(flags)}
    known = arguments_of(call)
    for flag in flags_in(flags):
        said = re.search(r"\(default: ([\w.]+)\b", flag.help) or re.search(
            r"(\w+) \(default\)", flag.help
        )
        if said and known.get(flag.argument) not in (None, inspect.Parameter.empty):
            assert said[1] == str(known[flag.argument]), flag.argument


@pytest.mark.parametrize("command", ["", *make_parser()._subparsers._group_actions[0].choices])
def test_help_fits_80_columns_and_has_examples(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert f"\n  treeselect {command}" in said if command else "exit codes:" in said


def test_words():
    assert split("a,poly(x, 2),I(b == 1)", ",") == ["a", "poly(x, 2)", "I(b == 1)"]
    assert split('C(z, levels=["a", "b"])=l=1', "=", 1) == ['C(z, levels=["a", "b"])', "l=1"]
    assert split("(a", ",") is None
    assert split("a)", ",") is None
    assert split('"a', ",") is None
    how = ("--x", "FORM", "EXAMPLE")
    assert lists(['blood panel=hb,"a,b=c",poly(x, 2)'], *how) == {
        "blood panel": ["hb", "a,b=c", "poly(x, 2)"]
    }
    assert numbers(["a=b=40", "mri=0.5"], *how) == {"a=b": 40, "mri": 0.5}
    assert pairs(["x=The = (x", '"a=b"=Y, "z'], *how) == {"x": "The = (x", "a=b": 'Y, "z'}
    assert read_value(" [1 ") == "[1"
    for read, wrong in (
        (pairs, "x"), (pairs, "=x"), (numbers, "x=y"), (numbers, "4"), (lists, "x=(a"),
        (pairs, "(x=3"),
    ):  # fmt: skip
        with pytest.raises(OptionError, match="`--x` must be FORM"):
            read([wrong], *how)
    with pytest.raises(OptionError, match="must name `x` once"):
        pairs(["x=1", "x=2"], *how)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), min_size=1, unique=True))
def test_any_names_can_be_typed(names):
    typed = [f'"{text.replace(chr(34), 2 * chr(34))}"' for text in names]
    found = lists([f"{typed[0]}={','.join(typed)}"], "--x", "FORM", "EXAMPLE")
    assert found == {names[0]: names}
    assert [name(text) for text in typed] == names


@pytest.mark.parametrize("typed", [["?", "x=1"], ["x=1", "?"]])
def test_codes_of_all_columns_and_of_one(typed):
    with pytest.raises(OptionError, match="`--na` must give codes for all columns or by column"):
        read_codes(typed)
    assert read_codes(["=", "(", '"9"', "nan"])[:3] == ["=", "(", "9"]


def test_arguments_about_the_data_arrive(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = treeselect.datasets.load("titanic_correlated").head(200)
    odd = data["sex"].astype(object).where(data.index > 3, "?")
    data.assign(sex=odd, side=["-9", *"ab" * 99, "a"]).to_csv("d.csv")
    assert main(["select", "survived ~ side", "d.csv", "-m", "lasso", "-k1", "--na", "-9,."]) == 0
    assert "Missing" in capsys.readouterr().out  # a column of the summary
    formula = "survived ~ sex + age + fare" if "fare" in data else "survived ~ sex + age"
    how = ["-m", "lasso", "-k", "1", "--seed", "1", "--na", "sex=?", "--monotone", "age=-1",
           "--positive", "0", "--weights", "sibsp", "--weights-kind", "frequency"]  # fmt: skip
    assert main(["select", formula, "d.csv", *how, "--save", "fit"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for text in (
        'na={"sex": ["?"]}',
        'positive="0"',
        'monotone={"age": -1}',
        'weights_kind="frequency"',
    ):
        assert text in said
    assert main(["predict", "fit", "d.csv", "-o", "p.csv"]) == 0
    assert main(["predict", "fit", "d.csv", "--sheet", "x"]) == 2
    assert "`sheet` must be the name of a sheet" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["predict", "fit"])
    assert ended.value.code == 2
    assert "required: DATA" in capsys.readouterr().err


def test_messages_name_arguments_as_they_are_typed(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("y,x,c\n" + "".join(f"{i},{i % 7},u{i}\n" for i in range(40)))
    asked = ["select", "y ~ x", str(tmp_path / "d.csv")]
    assert main([*asked, "--family", "binomial"]) == 2
    assert capsys.readouterr().err.startswith("treeselect: `--family binomial` needs two classes.")
    assert _as_typed('`k=3`, `k="auto"`, `include_data=True`, `missing="drop"`') == (
        "`-k 3`, `-k auto`, `--include-data`, `--missing drop`"
    )
    of_other_calls = '`missing="indicator"`, `model="own"`, `k=None`, `data=1`, `lam=0.1`, `x`'
    assert _as_typed(of_other_calls) == of_other_calls


@pytest.mark.parametrize("typed", ["-k--", "--family=--", "--groups=--", "--keep=--"])
def test_two_dashes_are_a_value_like_any_other(typed, tmp_path, capsys):
    (tmp_path / "d.csv").write_text("y,x\n1,2\n2,3\n")
    assert main(["select", "y ~ x", str(tmp_path / "d.csv"), typed]) == 2
    assert capsys.readouterr().err.startswith("treeselect: ")


def test_trusted_is_no_flag_and_no_option(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("y,x\n1,2\n")
    asked = ["select", "y ~ x", str(tmp_path / "d.csv")]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--trusted"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "unrecognized arguments: --trusted\n" in said
    assert "`--set gamma=0.3`" in said
    for option in ("trusted=true", "seed=1"):
        assert main([*asked, "--set", option]) == 2
        assert "`--set` must name options of the method" in capsys.readouterr().err
