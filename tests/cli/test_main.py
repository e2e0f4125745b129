"""The command line: in this process, which knows the kernels, or in one of its own where that is
what is tested."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from quick import WITH_GAPS

import treeselect
from treeselect.cli.commands import DEFAULT_METHODS, DEMO_FORMULA
from treeselect.cli.main import main
from treeselect.cli.output import records


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    return lambda *arguments: Done(main(arguments), *capsys.readouterr())


def process(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "treeselect", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(mixed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    mixed.to_csv(folder / "data.csv", index=False)
    mixed.to_parquet(folder / "data.parquet")
    return folder


def test_select_prints_the_summary_and_writes_the_report(folder):
    done = process(
        "select", "died ~ signal + site + noise", "data.csv", "-k", "2", "--seed", "3",
        "--resamples", "3", "--report", "out.html", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("    ")
    assert "Selected terms: Exchange search" in done.stdout
    assert "Data: data.csv" in " ".join(done.stdout.split())
    assert "Report: out.html" in done.stdout
    assert "site" in (folder / "out.html").read_text(encoding="utf-8")
    assert "\x1b" not in done.stderr  # no progress bar where there is no terminal


def test_another_encoding_and_labels_that_spreadsheets_would_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = ["=café", "-1 day", "ok"] * 20
    data = pd.DataFrame({"y": labels, "x": [0.0, 5.0, 9.0] * 20})
    data.to_csv("data.csv", index=False, encoding="latin-1")
    call = ("select", "y ~ x", "data.csv", "-k", "1", "--seed", "1", "--method", "mrmr")
    assert main(call) == 2
    assert "`--encoding cp1252`" in capsys.readouterr().err
    assert main([*call, "--encoding", "latin-1", "--save", "fit"]) == 0
    assert 'pandas.read_csv("data.csv", encoding="latin-1")' in " ".join(
        capsys.readouterr().out.split()
    )
    predict = ("predict", "fit", "data.csv", "--encoding", "latin-1", "-o", "out.csv")
    written = {}
    for guard in ((), ("--guard-formulas",)):
        for kind in ("class", "response"):
            assert main([*predict, "--type", kind, *guard]) == 0
            written[kind, bool(guard)] = pd.read_csv("out.csv", encoding="utf-8")
    assert written["class", False]["y"].tolist() == labels
    assert written["class", True]["y"].tolist() == ["'=café", "'-1 day", "ok"] * 20
    assert list(written["response", False]) == ["-1 day", "=café", "ok"]
    assert list(written["response", True]) == ["'-1 day", "'=café", "ok"]
    plain = written["response", False].to_numpy()
    assert (written["response", True].to_numpy() == plain).all()
    assert main(["compare", "y ~ x", "data.csv", "--encoding", "no such"]) == 2
    assert "`encoding` must be the name of a text encoding" in capsys.readouterr().err


def test_groups_of_rows_and_another_score(run):
    done = run(
        "select", "died ~ signal", "data.csv", "-k", "1se", "--seed", "3",
        "--fold-groups", "colour", "--scoring", "neg_brier_score",
    )  # fmt: skip
    assert done.returncode == 2
    assert "`fold_groups` must have at least as many clusters as there are folds" in done.stderr
    done = run(
        "select", "died ~ signal", "data.csv", "-k", "1", "--seed", "3", "--fold-groups", "colour",
        "--scoring", "neg_brier_score",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "neg_brier_score:" in done.stdout


def test_performance_is_printed_and_written(run, folder):
    done = run(
        "select", "died ~ signal + noise", "data.csv", "-k", "1", "--seed", "3", "-m", "lasso",
        "--performance", "3", "--json", "p.json", "--report", "p.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    selection, performance = done.stdout.split("Performance: nested cross-validation")
    assert "Selected terms: Group lasso" in selection
    assert "Folds: 3-fold cross-validation" in " ".join(performance.split())
    data = pd.read_csv(folder / "data.csv")
    fit = treeselect.select("died ~ signal + noise", data, k=1, seed=3, method="lasso")
    found = fit.performance(3)
    tables = json.loads((folder / "p.json").read_text(encoding="utf-8"))["performance"]
    assert tables["glance"]["mean"] == found.mean
    assert [row["score"] for row in tables["tidy"]] == found.scores.tolist()
    assert [row["selected"] for row in tables["tidy"]] == [["signal"]] * 3
    page = (folder / "p.html").read_text(encoding="utf-8")
    assert page.count(">Performance: nested cross-validation</h2>") == 1


def test_what_can_have_no_coefficients_is_written_without_them(folder, capsys, monkeypatch):
    """An empty selection, and resamples that were stopped."""
    monkeypatch.chdir(folder)
    more = ["--seed", "3", "--resamples", "6", "--coefficients", "--json", "n.json"]
    assert main(["select", "died ~ noise", "data.csv", "-m", "stepwise", *more]) == 0
    assert "No coefficients on resamples: no term was selected." in capsys.readouterr().out
    from treeselect.resampling import assessing

    resample = assessing._one_resample

    def stopped(*call, **how):
        if call[1] == 3:
            raise KeyboardInterrupt
        return resample(*call, **how)

    monkeypatch.setattr(assessing, "_one_resample", stopped)
    with pytest.warns(treeselect.errors.TreeselectWarning, match="3 of 6"):
        assert main(["select", "died ~ signal", "data.csv", "-m", "mrmr", "-k", "1", *more]) == 130
    assert "No coefficients on resamples: resampling was stopped." in capsys.readouterr().out
    tables = json.loads((folder / "n.json").read_text(encoding="utf-8"))
    assert tables["partial"] is True
    assert "coefficients" not in tables


@WITH_GAPS
def test_coefficients_are_printed_and_written(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = ["select", "died ~ signal + noise + flag", "data.csv", "-m", "stepwise", "-k", "1"]
    assert main([*arguments, "--coefficients"]) == 2
    assert "`--coefficients` needs `--resamples`" in capsys.readouterr().err
    more = ["--seed", "3", "--resamples", "6", "--coefficients", "--json", "c.json"]
    assert main([*arguments, *more, "--report", "c.html"]) == 0
    assert "Stability of the coefficients" in capsys.readouterr().out
    data = pd.read_csv("data.csv")
    fit = treeselect.select(
        "died ~ signal + noise + flag", data, k=1, seed=3, method="stepwise", resamples=6
    )
    tables = json.loads((folder / "c.json").read_text(encoding="utf-8"))
    assert tables["coefficients"] == records(fit.model.coefficient_stability().tidy())
    assert tables["pairs"] == records(fit.stability.pairs())
    assert tables["partial"] is False
    assert [row["terms"] for row in tables["models"]] == [
        list(terms) for terms in fit.stability.models(None)["terms"]
    ]
    assert "How selection affects the coefficients" in (folder / "c.html").read_text()


def test_performance_has_at_least_two_folds(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = ["select", "died ~ signal + noise", "data.csv", "-k", "1", "-m", "lasso"]
    assert main([*arguments, "--performance", "5"]) == 0
    assert "5-fold cross-validation" in capsys.readouterr().out
    assert main([*arguments, "--performance", "1"]) == 2
    printed = capsys.readouterr()
    assert "`performance` must be a whole number, at least 2" in printed.err
    assert printed.out == ""  # said before the work


def test_effects_are_printed_and_written(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = [
        "select",
        "dose ~ signal + noise",
        "data.csv",
        "-k",
        "1",
        "-m",
        "lasso",
        "--effects",
    ]
    with pytest.warns(
        treeselect.errors.TreeselectWarning,
        match=r"fewer than 20 resamples tell them: `signal \(2\)`",
    ):
        assert main([*arguments, "--seed", "1", "--resamples", "2", "--json", "effects.json"]) == 0
    assert "Effect on the mean response" in capsys.readouterr().out
    tables = json.loads((folder / "effects.json").read_text(encoding="utf-8"))
    (row,) = tables["effects"]
    assert (row["term"], row["step"], row["low"]) == ("signal", "quartiles", None)
    assert len(tables["stability"]) == 2
    assert main(arguments) == 2
    assert "`--effects` needs `--resamples`" in capsys.readouterr().err


def test_csv_and_parquet_give_the_same_answer(run):
    arguments = ("-k", "2", "--seed", "3", "-m", "mrmr")
    outputs = [
        run("select", "died ~ . - dose", f"data.{kind}", *arguments).stdout
        for kind in ("csv", "parquet")
    ]
    assert outputs[0].replace("data.csv", "data.parquet") == outputs[1]


def test_predict_reads_a_linear_model_and_others_want_a_selection(run, folder, mixed):
    fit = treeselect.select("died ~ signal + dose", mixed, method="mrmr", k=2, seed=1)
    glm = fit.refit("glm")
    glm.save(folder / "glm")
    mixed.head(4).to_csv(folder / "four.csv", index=False)
    done = run("predict", "glm", "four.csv", "--type", "link")
    np.testing.assert_allclose(
        [float(line) for line in done.stdout.split()[1:]], glm.predict(mixed.head(4), "link")
    )
    assert (
        "A linear model has no `quantiles`"
        in run("predict", "glm", "four.csv", "--quantiles", "0.5").stderr
    )
    for command in ("report glm", "update glm four.csv"):
        assert "must hold a selection" in run(*command.split()).stderr


def test_select_saves_what_predict_reads(run, folder, mixed):
    done = run(
        "select", "died ~ . - dose", "data.parquet", "-k", "2", "--seed", "3", "--resamples", "2",
        "--save", "fit.treeselect", "--json", "fit.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Model: fit.treeselect\nTables: fit.json\n")
    fit = treeselect.load(folder / "fit.treeselect")

    tables = json.loads((folder / "fit.json").read_text(encoding="utf-8"))
    assert tuple(tables["selected"]) == fit.selected
    assert tables["glance"]["k"] == 2
    assert [row["term"] for row in tables["tidy"]] == fit.tidy()["term"].tolist()
    assert tables["path"][0]["tuning"] is None  # infinite: nothing has entered
    assert {row["term"] for row in tables["stability"]} == set(fit.stability.units)

    for kind in ("response", "link", "class"):
        done = run("predict", "fit.treeselect", "data.parquet", "--type", kind)
        assert done.returncode == 0, done.stderr
        found = pd.read_csv(io.StringIO(done.stdout))
        assert list(found) == ["died"]
        assert found["died"].tolist() == fit.predict(mixed, kind).tolist()
    done = run("predict", "fit.treeselect", "data.csv", "-o", "p.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(pd.read_csv(folder / "p.csv")) == len(mixed)


def test_compare_prints_the_summary_and_writes_report_and_tables(run, folder):
    done = run(
        "compare", "died ~ signal + site + noise + flag", "data.csv",
        "--methods", "mrmr, importance,lasso", "-k", "1,2,4", "--folds", "2", "--repeats", "2",
        "--seed", "3", "--report", "compared.html", "--json", "compared.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Comparison of methods: selection repeated inside each fold" in done.stdout
    assert done.stdout.endswith("Report: compared.html\nTables: compared.json\n")
    page = (folder / "compared.html").read_text(encoding="utf-8")
    assert "Which method predicts died best?" in page
    assert all(text in page for text in ("Peng", "Yuan", "Breiman"))  # the papers

    tables = json.loads((folder / "compared.json").read_text(encoding="utf-8"))
    found = treeselect.compare(
        "died ~ signal + site + noise + flag", folder / "data.csv",
        ["mrmr", "importance", "lasso"], k=[1, 2, 4], folds=2, repeats=2, seed=3,
    )  # fmt: skip
    assert tables["seed"] == 3
    assert tables["best"] == found.best
    assert '"data.csv"' in tables["call"]
    for name in ("glance", "curves", "differences", "terms", "tidy"):
        frame = getattr(found, name)()
        assert len(tables[name]) == len(frame)
        assert list(tables[name][0]) == list(frame)
    assert [row["score"] for row in tables["tidy"]] == found.tidy()["score"].tolist()
    assert {row["k"] for row in tables["curves"]} == {1, 2, 4}


def test_compare_takes_what_select_takes(folder, monkeypatch, capsys):
    """Both have the arguments that say what is modelled, and they reach it."""
    monkeypatch.chdir(folder)
    arguments = [
        "compare", "died ~ .", "data.csv", "-m", "mrmr,importance", "-k", "2", "--folds", "2",
        "--weights", "flag", "--keep", "noise", "--scoring", "neg_log_loss", "--seed", "1",
        "--family", "binomial", "--fold-groups", "colour", "--offset", "dose",
        "--label", "signal=The = signal", "--label", "site = Place",
    ]  # fmt: skip
    assert main(arguments) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for text in ("neg_log_loss on held-out rows", 'keep=["noise"]', 'weights="flag"',
                 'offset="dose"', 'fold_groups="colour"', "k = 2: the largest set",
                 'labels={"signal": "The = signal", "site": " Place"}'):  # fmt: skip
        assert text in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-m", "lasso,lasso"), "`methods` must be different methods"),
        (("-k", "3,x"), "`k` must be a whole number"),
        (("-k", "3,3"), "`k` must list each size once"),
        (("-k", "2se"), '`k` must be a whole number, a list of these, "1se" or "best"'),
        (("--folds", "1"), "at least 2"),
        (("--folds", "lots"), "`folds` must be a whole number"),
        (("--repeats", "1.5"), "`repeats` must be a whole number"),
        (("--jobs", "all"), "`n_jobs` must be"),
    ],
)
def test_what_compare_refuses(folder, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(folder)
    assert main(["compare", "died ~ .", "data.csv", *arguments]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("treeselect: ")
    assert says in printed


def test_numbers_are_refused_in_our_words(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["select", "died ~ .", "data.csv", "--resamples", "lots"]) == 2
    assert "treeselect: `resamples` must be a whole number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("select", "--save", "no/model"),
        ("select", "--report", "."),
        ("compare", "--json", "no/tables.json"),
    ],
)
def test_a_file_without_a_place_is_told_before_the_work(folder, monkeypatch, capsys, arguments):
    monkeypatch.chdir(folder)
    command, *rest = arguments
    assert main([command, "died ~ .", "data.csv", *rest]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Can't write the" in printed.err
    assert "folder" in printed.err


def test_the_methods_that_are_compared_by_default_exist_and_are_said(capsys):
    assert set(DEFAULT_METHODS) <= set(treeselect.methods()["method"])
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert ",".join(DEFAULT_METHODS) in "".join(capsys.readouterr().out.split())


def test_missing_values_of_tables_are_null():
    frame = pd.DataFrame({"k": pd.array([1, None], dtype="Int64"), "x": [float("inf"), 0.5]})
    assert records(frame) == [{"k": 1, "x": None}, {"k": None, "x": 0.5}]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("compare", "died ~ .", "data.csv", "-m", "lasso,laso"), "Did you mean `lasso`?"),
        (
            ("compare", "died ~ signal", "data.csv", "-m", "mrmr", "-k", "1", "--report", "no/f"),
            "Can't write the report",
        ),
        (
            ("select", "died ~ signal", "data.csv", "--label", "signal"),
            "`--labels` must be NAME=LABEL",
        ),
        (("select", "died ~ signal", "data.csv", "--label", "sigal=S"), "Did you mean `signal`?"),
        (("predict", "nowhere", "data.csv"), "Can't find the model file `nowhere`"),
        (("predict", "data.parquet", "data.csv"), "it is not a model file, or it is damaged"),
        (("select", "died ~ signal", "data.csv", "-k", "1", "--json", "no/f"), "Can't write"),
        (("select", "died ~ signal", "data.csv", "-k", "1", "--save", "no/f"), "Can't find the fo"),
        (("select", "died ~ sigal", "data.csv"), "Did you mean `signal`?"),
        (("select", "died ~ .", "nowhere.csv"), "Can't find the file `nowhere.csv`"),
        (("select", "died ~ .", "data.csv", "-k", "99"), "`k` must be at most"),
        (
            ("select", "died ~ .", "data.csv", "-k", "lots"),
            '`k` must be a whole number, "auto", "1se" or "best"',
        ),
        (("select", "died ~ .", "data.csv", "-m", "controlbrun"), "Did you mean `controlburn`?"),
        (("select", "died ~ I(__import__('os'))", "data.csv"), "Can't call `__import__`"),
        (
            ("select", "died ~ signal + site", "data.csv", "-k", "1", "--report", "no/where.html"),
            "where.html",
        ),
    ],
)
def test_errors_are_one_paragraph_and_exit_code_2(run, arguments, says):
    done = run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("treeselect: ")
    assert "\n\n" not in done.stderr


def test_usage_errors_exit_with_2(folder):
    done = process("select", folder=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: treeselect select [options] FORMULA DATA\n")
    assert "\ntreeselect select: error: the following arguments are required" in done.stderr


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def environment(request):
    return {**os.environ, "PYTHONUNBUFFERED": request.param}


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
def test_a_full_standard_output(environment):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "treeselect", "methods"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False,
        )  # fmt: skip
    said = f"treeselect: Can't write to standard output.\n  {os.strerror(errno.ENOSPC)}.\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_reader_that_has_gone(environment):
    """As ``treeselect methods | head -1``: nothing is wrong, and what is asked for is done."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "treeselect", "methods"],
            stdout=gone, stderr=subprocess.PIPE, text=True, env=environment, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tables_of_a_search_are_in_the_json(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    asked, file = ["select", "died ~ signal + site", "data.csv", "-k", "1"], tmp_path / "t.json"
    assert main([*asked, "-m", "exchange", "--json", str(file)]) == 0
    tables = json.loads(file.read_text(encoding="utf-8"))
    assert isinstance(tables["exchanges"], list)
    assert isinstance(tables["alternatives"], list)
    assert main([*asked, "-m", "mrmr", "--json", str(file)]) == 0
    assert not {"exchanges", "alternatives"} & set(json.loads(file.read_text(encoding="utf-8")))


def test_files_are_written_though_nobody_reads_the_summary(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        arguments = ["died ~ signal", "data.csv", "-k", "1", "-m", "mrmr", "--performance", "2"]
        assert main(["select", *arguments, "--json", str(tmp_path / "t.json")]) == 0
    assert "tidy" in json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_standard_stream(folder, monkeypatch, capsys, name):
    """Python has None in its place."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, name, None)
    closed = name == "stdout"
    assert main(["select", "died ~ signal", "data.csv", "-k", "1", "-m", "mrmr"]) == 2 * closed
    assert main(["select", "died ~ sigal", "data.csv"]) == 2
    printed = capsys.readouterr()
    assert ("Selected terms" in printed.out) is not closed
    assert ("standard output.\n  It is closed." in printed.err) is closed


@pytest.mark.parametrize(
    ("error", "says", "code"),
    [(MemoryError, "not enough memory", 2), (KeyboardInterrupt, "stopped", 130)],
)
def test_what_stops_a_command_is_said(folder, monkeypatch, capsys, error, says, code):
    def stop(*arguments, **options):
        raise error

    monkeypatch.chdir(folder)
    monkeypatch.setattr("treeselect.selection.select", stop)
    assert main(["select", "died ~ signal", "data.csv"]) == code
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 80])
def test_methods_fit_the_terminal(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for name in ([], ["controlburn"]):
        assert main(["methods", *name]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= width
    assert main(["methods", "controlbrun"]) == 2
    assert "Did you mean `controlburn`?" in capsys.readouterr().err


def test_methods_and_their_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["methods"]) == 0
    printed = capsys.readouterr().out
    assert "controlburn  ControlBurn\n" in printed
    assert "KDD '21" not in printed
    assert main(["methods", "controlburn", "--json", "m.json"]) == 0
    assert "forests=5" in capsys.readouterr().out
    (row,) = json.loads(Path("m.json").read_text(encoding="utf-8"))["methods"]
    assert "KDD '21" in row["paper"]
    assert main(["methods", "--csv", "m.csv"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv("m.csv"), treeselect.methods(), check_dtype=False)


def test_demo_prints_the_summary_and_writes_titanic_html(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--resamples", "2", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert DEMO_FORMULA in " ".join(printed.split())
    assert "binomial" in printed
    assert "Stability index (Nogueira et al.)" in printed
    page = (tmp_path / "titanic.html").read_text(encoding="utf-8")
    assert "sex" in page
