"""The command line: in this process, which knows the kernels, or in one of its own where that is
what is tested."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from quick import WITH_GAPS
from survival_data import small_times

import treeselect
from treeselect.cli.commands import DEFAULT_METHODS, DEMO_FORMULA
from treeselect.cli.main import main
from treeselect.cli.output import records


def process(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "treeselect", *arguments],
        stderr=subprocess.PIPE, text=True, check=False, **options,
    )  # fmt: skip


def test_select_prints_the_summary_and_writes_the_report(folder):
    done = process(
        "select", "died ~ signal + site + noise", "data.csv", "-k", "2", "--seed", "3",
        "--resamples", "3", "--report", "out.html", cwd=folder, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("    ")
    assert "Selected terms: Exchange search" in done.stdout
    assert "Data: data.csv" in " ".join(done.stdout.split())
    assert "Report: out.html" in done.stdout
    assert "site" in (folder / "out.html").read_text(encoding="utf-8")
    assert "\x1b" not in done.stderr  # no progress bar where there is no terminal


def test_another_encoding(run, folder):
    labels = ["=café", "-1 day", "ok"] * 20
    data = pd.DataFrame({"y": labels, "x": [0.0, 5.0, 9.0] * 20})
    data.to_csv(folder / "latin.csv", index=False, encoding="latin-1")
    call = ("select latin.csv -k 1 --seed 1 --method mrmr", "y ~ x")
    done = run(*call)
    assert done.returncode == 2
    assert "`--encoding cp1252`" in done.stderr
    done = run(*call, "--encoding", "latin-1", "--save", "odd")
    assert done.returncode == 0
    assert 'treeselect.read("latin.csv", encoding="latin-1")' in done.words
    for kind, names in (("class", ["y"]), ("response", ["-1 day", "=café", "ok"])):
        predict = f"predict odd latin.csv --encoding latin-1 -o out.csv --type {kind}"
        assert run(predict).returncode == 0
        assert list(pd.read_csv(folder / "out.csv", encoding="utf-8")) == names


def test_select_and_compare_take_groups_of_rows_and_another_score(run):
    call = "select data.csv --seed 3 --fold-groups colour --scoring neg_brier_score -k"
    done = run(f"{call} 1se", "died ~ signal")
    assert done.returncode == 2
    assert "`fold_groups` must have at least as many clusters as there are folds" in done.stderr
    done = run(f"{call} 1", "died ~ signal")
    assert done.returncode == 0, done.stderr
    assert "neg_brier_score:" in done.stdout
    # Both have the arguments that say what is modelled, and they reach it.
    done = run(
        "compare data.csv -m lasso,importance -k 2 --folds 2 --weights flag --keep noise --seed 1"
        " --scoring neg_log_loss --family binomial --fold-groups colour --offset dose",
        "died ~ .", "--label", "signal=The = signal", "--label", "site = Place",
    )  # fmt: skip
    assert done.returncode == 0
    for text in ("neg_log_loss on held-out rows", 'keep=["noise"]', 'weights="flag"',
                 'offset="dose"', 'fold_groups="colour"', "k = 2: the largest set",
                 'labels={"signal": "The = signal", "site": " Place"}'):  # fmt: skip
        assert text in done.words


def test_performance_is_printed_and_written(run, folder, mixed, tables):
    call, formula = "select data.csv -k 1 --seed 3 -m lasso --performance", "died ~ signal + noise"
    done = run(f"{call} 3 --json p.json --report p.html", formula)
    assert done.returncode == 0, done.stderr
    selection, performance = done.words.split("Performance: nested cross-validation")
    assert "Selected terms: Group lasso" in selection
    assert "Folds: 3-fold cross-validation" in performance
    data = pd.read_csv(folder / "data.csv")
    found = treeselect.select(formula, data, k=1, seed=3, method="lasso").performance(3)
    written = tables("p.json")["performance"]
    assert written["glance"]["mean"] == found.mean
    assert [row["score"] for row in written["tidy"]] == found.scores.tolist()
    assert [row["selected"] for row in written["tidy"]] == [["signal"]] * 3
    page = (folder / "p.html").read_text(encoding="utf-8")
    assert page.count(">Performance: nested cross-validation</h2>") == 1


def test_what_can_have_no_coefficients_is_written_without_them(run, monkeypatch, tables):
    """An empty selection, and resamples that were stopped."""
    more = "--seed 3 --resamples 6 --coefficients --json n.json"
    done = run(f"select data.csv -m stepwise {more}", "died ~ noise")
    assert done.returncode == 0
    assert "No coefficients on resamples: no term was selected." in done.stdout
    from treeselect.resampling import assessing

    resample = assessing._one_resample

    def stopped(*call, **how):
        if call[1] == 3:
            raise KeyboardInterrupt
        return resample(*call, **how)

    monkeypatch.setattr(assessing, "_one_resample", stopped)
    with pytest.warns(treeselect.errors.TreeselectWarning, match="3 of 6"):
        done = run(f"select data.csv -m mrmr -k 1 {more} --performance 3", "died ~ signal")
    assert done.returncode == 130
    assert "Performance" not in done.stdout
    assert "No coefficients on resamples: resampling was stopped." in done.stdout
    assert tables("n.json")["partial"] is True
    assert "coefficients" not in tables("n.json")


@WITH_GAPS
def test_coefficients_are_printed_and_written(run, folder, tables):
    call, formula = "select data.csv -m stepwise -k 1 --seed 3", "died ~ signal + noise + flag"
    done = run(f"{call} --resamples 6 --coefficients --json c.json --report c.html", formula)
    assert done.returncode == 0
    assert "Stability of the coefficients" in done.stdout
    data = pd.read_csv(folder / "data.csv")
    fit = treeselect.select(formula, data, k=1, seed=3, method="stepwise", resamples=6)
    written = tables("c.json")
    assert written["coefficients"] == records(fit.model.coefficient_stability().tidy())
    assert written["pairs"] == records(fit.stability.pairs())
    assert written["partial"] is False
    models = [list(terms) for terms in fit.stability.models(None)["terms"]]
    assert [row["terms"] for row in written["models"]] == models
    assert "How selection affects the coefficients" in (folder / "c.html").read_text()


def test_effects_are_printed_and_written(run, tables):
    asked = "-k 1 -m lasso --effects --seed 1 --resamples 2 --json effects.json"
    with pytest.warns(
        treeselect.errors.TreeselectWarning,
        match=r"fewer than 20 resamples tell them: `signal` \(2\)",
    ):
        done = run(f"select data.csv {asked}", "dose ~ signal + noise")
    assert done.returncode == 0
    assert "Effect on the mean response" in done.stdout
    (row,) = tables("effects.json")["effects"]
    assert (row["term"], row["step"], row["low"]) == ("signal", "quartiles", None)
    assert len(tables("effects.json")["stability"]) == 2
    assert tables("effects.json")["call"].endswith(").resample(2, seed=1, effects=True)")


def test_csv_and_parquet_give_the_same_answer(run):
    one, other = (
        run(f"select data.{kind} -k 2 --seed 3 -m mrmr", "died ~ . - dose").stdout
        for kind in ("csv", "parquet")
    )
    assert one.replace("data.csv", "data.parquet") == other


def test_select_saves_what_predict_reads(run, folder, mixed, tables):
    asked = "-k 2 --seed 3 --resamples 2 --save saved --json fit.json"
    done = run(f"select data.parquet {asked}", "died ~ . - dose")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Model: saved\nTables: fit.json\n")
    fit, written = treeselect.load(folder / "saved"), tables("fit.json")
    assert tuple(written["selected"]) == fit.selected
    assert written["glance"]["k"] == 2
    assert [row["term"] for row in written["tidy"]] == fit.tidy()["term"].tolist()
    assert written["path"][0]["tuning"] is None  # infinite: nothing has entered
    assert {row["term"] for row in written["stability"]} == set(fit.stability.units)
    for kind in ("response", "link", "class"):
        done = run(f"predict saved data.parquet --type {kind}")
        assert done.returncode == 0, done.stderr
        found = pd.read_csv(io.StringIO(done.stdout))
        name = {"response": "P(died = True)", "link": "log odds of died = True"}.get(kind, "died")
        assert list(found) == [name]
        assert found[name].tolist() == fit.predict(mixed, kind).tolist()
    done = run("predict saved data.csv -o p.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(pd.read_csv(folder / "p.csv")) == len(mixed)


def test_the_json_has_the_tables_of_a_search(run, tables):
    call = "select data.csv -k 1 --json t.json -m"
    assert run(f"{call} exchange", "died ~ signal + site").returncode == 0
    assert isinstance(tables("t.json")["exchanges"], list)
    assert isinstance(tables("t.json")["alternatives"], list)
    assert run(f"{call} mrmr", "died ~ signal + site").returncode == 0
    assert not {"exchanges", "alternatives"} & set(tables("t.json"))


def test_missing_values_of_tables_are_null():
    frame = pd.DataFrame({"k": pd.array([1, None], dtype="Int64"), "x": [float("inf"), 0.5]})
    assert records(frame) == [{"k": 1, "x": None}, {"k": None, "x": 0.5}]


# --- what is done with a saved model -----------------------------------------------------------


def test_models_are_reported_and_predict_linearly_and_in_intervals(run, folder, mixed):
    glm = treeselect.load(folder / "fit").with_data(mixed).refit("glm")
    glm.save(folder / "glm")
    mixed.head(4).to_csv(folder / "four.csv", index=False)
    done = run("predict glm four.csv --type link")
    found = [float(line) for line in done.stdout.split()[1:]]
    np.testing.assert_allclose(found, glm.predict(mixed.head(4), "link"))
    said = run("predict glm four.csv --quantiles 0.5").stderr
    assert "A linear model has no `quantiles`" in said
    assert "must hold a selection" in run("report glm").stderr
    assert run("report fit").stdout == "Report: report.html\n"
    assert run("report fit").stdout == "Report: report.html, replaced\n"
    assert "signal" in (folder / "report.html").read_text(encoding="utf-8")
    assert run("report fit -o fit.md").returncode == 0
    assert (folder / "fit.md").read_text(encoding="utf-8").startswith("#")
    saved = "-m mrmr -k 1 --seed 1 --save rows --include-data"
    assert run(f"select data.csv {saved}", "dose ~ signal + noise").returncode == 0
    done = run("predict rows data.csv --interval prediction --level 0.9")
    assert done.stdout.startswith("fit,low,high")


def test_times_are_selected_reported_and_predicted(run, folder):
    formula = "Surv(time, dead) ~ risky + x + z + strata(site)"
    written = "--report out.html --save survival --json out.json"
    done = run(f"select times.csv --method mrmr -k 1 --seed 1 {written}", formula)
    assert done.returncode == 0
    assert "Family: cox (time to event); Cox partial likelihood" in done.words
    assert "Strata: site (2 strata, each with its own baseline hazard)" in done.words
    assert 'id="risk-groups"' in (folder / "out.html").read_text(encoding="utf-8")
    done = run("predict survival times.csv --type survival --times 100,365")
    found = pd.read_csv(io.StringIO(done.stdout))
    fit = treeselect.load(folder / "survival")
    known = fit.predict(small_times(), type="survival", times=[100, 365])
    assert found.to_numpy() == pytest.approx(known.to_numpy())
    assert list(found.columns) == [str(name) for name in known.columns]
    assert (found.iloc[:, 0] >= found.iloc[:, 1]).all()


def test_compare_prints_the_summary_and_writes_report_and_tables(run, folder, tables):
    formula, methods = "died ~ signal + site + noise + flag", "mrmr, importance,lasso"
    asked = "-k 1,2,4 --folds 2 --repeats 2 --seed 3 --report compared.html --json compared.json"
    done = run(f"compare data.csv {asked}", formula, "--methods", methods)
    assert done.returncode == 0, done.stderr
    assert "Comparison of methods: selection repeated inside each fold" in done.stdout
    assert done.stdout.endswith("Report: compared.html\nTables: compared.json\n")
    page = (folder / "compared.html").read_text(encoding="utf-8")
    assert "Which method predicts died best?" in page
    assert all(text in page for text in ("Peng", "Yuan", "Breiman"))  # the papers
    written = tables("compared.json")
    found = treeselect.compare(
        formula, folder / "data.csv", ["mrmr", "importance", "lasso"], k=[1, 2, 4], folds=2,
        repeats=2, seed=3,
    )  # fmt: skip
    assert written["seed"] == 3
    assert written["best"] == found.best
    assert '"data.csv"' in written["call"]
    for name in ("glance", "curves", "differences", "terms", "tidy"):
        frame = getattr(found, name)()
        assert len(written[name]) == len(frame)
        assert list(written[name][0]) == list(frame)
    assert [row["score"] for row in written["tidy"]] == found.tidy()["score"].tolist()
    assert {row["k"] for row in written["curves"]} == {1, 2, 4}


def test_the_methods_that_are_compared_by_default_exist_and_are_said(capsys):
    assert set(DEFAULT_METHODS) <= set(treeselect.methods()["method"])
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert ",".join(DEFAULT_METHODS) in "".join(capsys.readouterr().out.split())


REFUSED = {
    "select data.csv": {
        "-k 99": "`k` must be at most",
        "-k lots": '`k` must be a whole number, "auto", "1se" or "best"',
        "-m controlbrun": "Did you mean `controlburn`?",
        "--label signal": "`--labels` must be NAME=LABEL",
        "--label sigal=S": "Did you mean `signal`?",
        "--resamples lots": "`resamples` must be a whole number",
        "-m stepwise --coefficients": "`--coefficients` needs `--resamples`",
        "--seed 1 --checkpoint c": "`--checkpoint` needs `--resamples` or `--performance`",
        "-m lasso --effects": "`--effects` needs `--resamples`",
        "-m lasso --performance 1": "`performance` must be a whole number, at least 2",
        "--json no/f": "Can't write the tables",
        "--json data.csv": "The tables must not replace DATA",
        "--report r.html --json ./r.html": "The tables must not replace the report",
        "--report r.txt": "A report must end in .html",
        "--json -": "`--json` must be the name of a file",
        "--report .": "Can't write the report",
        "--report no/where.html": "where.html",
        "--report where.pdf": "pandoc makes .pdf of it",
        "--include-data": "`--include-data` needs `--save`",
    },
    "compare data.csv": {
        "-m lasso,lasso": "`methods` must be different methods",
        "-m lasso,laso": "Did you mean `lasso`?",
        "-k 3,x": "`k` must be a whole number",
        "-k 2se": '`k` must be a whole number, a list of these, "1se" or "best"',
        "--folds 1": "at least 2",
        "--folds lots": "`folds` must be a whole number",
        "--repeats 1.5": "`repeats` must be a whole number",
        "--jobs all": "`n_jobs` must be",
        "--json no/tables.json": "Can't write the tables",
        "-m mrmr -k 1 --report no/f": "Can't write the report",
        "--encoding none": "`encoding` must be the name of a text encoding",
    },
    "predict": {
        "nowhere data.csv": "Can't find the model file `nowhere`",
        "data.parquet data.csv": "it is not a model file, or it is damaged",
        "times times.csv --type survival": "`times`",
        "times times.csv --type survival --times soon": "must be comma-separated numbers",
        "times times.csv --times 100": "`times`",
        "fit data.csv -o fit": "The predictions must not replace MODEL",
        "fit data.csv -o p.xlsx": "Predictions must be written as CSV",
        "fit data.csv --level 0.9": "must be left out without an interval",
    },
    "report": {
        "nowhere": "Can't find the model file `nowhere`",
        "data.csv": "is not a model file",
        "fit -o no/where.html": "Can't write the report",
        "fit --sections nope": "`sections` must name sections",
        "fit --digits 99": "`digits` must be",
    },
    "select": {
        "died~sigal data.csv": "Did you mean `signal`?",
        "died~. nowhere.csv": "Can't find the file `nowhere.csv`",
        "died~I(__import__('os')) data.csv": "Can't call `__import__`",
    },
    "methods": {"controlbrun": "Did you mean `controlburn`?"},
}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [(command, arguments) for command, own in REFUSED.items() for arguments in own],
)
def test_errors_are_one_paragraph_and_exit_code_2_before_the_work(run, command, arguments):
    formula = "died ~ ." if command.endswith(" data.csv") else None
    done = run(f"{command} {arguments}", formula)
    assert (done.returncode, done.stdout) == (2, "")
    assert REFUSED[command][arguments] in done.stderr
    assert done.stderr.startswith("treeselect: ")
    assert "\n\n" not in done.stderr


def test_usage_errors_exit_with_2(folder):
    done = process("select", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: treeselect select [options] FORMULA DATA\n")
    assert "\ntreeselect select: error: the following arguments are required" in done.stderr


# --- standard streams, and what stops a command ------------------------------------------------


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def environment(request):
    return {**os.environ, "PYTHONUNBUFFERED": request.param}


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
def test_a_full_standard_output(environment):
    with open("/dev/full", "wb") as full:
        done = process("methods", stdout=full, env=environment)
    said = f"treeselect: Can't write to standard output.\n  {os.strerror(errno.ENOSPC)}.\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_reader_that_has_gone(environment):
    """As ``treeselect methods | head -1``: nothing is wrong, and what is asked for is done."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as gone:
        done = process("methods", stdout=gone, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_files_are_written_though_nobody_reads_the_summary(run, monkeypatch, tables):
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        call = "select data.csv -k 1 -m mrmr --performance 2 --json unread.json"
        assert run(call, "died ~ signal").returncode == 0
    assert "tidy" in tables("unread.json")


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_standard_stream(run, monkeypatch, name):
    """Python has None in its place."""
    monkeypatch.setattr(sys, name, None)
    closed = name == "stdout"
    done, wrong = (run("select data.csv -k 1 -m mrmr", f"died ~ {x}") for x in ("signal", "sigal"))
    assert (done.returncode, wrong.returncode) == (2 * closed, 2)
    assert ("Selected terms" in done.stdout) is not closed
    assert ("standard output.\n  It is closed." in done.stderr) is closed


@pytest.mark.parametrize(
    ("error", "says", "code"),
    [(MemoryError, "not enough memory", 2), (KeyboardInterrupt, "stopped", 130)],
)
def test_what_stops_a_command_is_said(run, monkeypatch, error, says, code):
    def stop(*arguments, **options):
        raise error

    monkeypatch.setattr("treeselect.selection.select", stop)
    done = run("select data.csv", "died ~ signal")
    assert done.returncode == code
    assert says in done.stderr


@pytest.mark.parametrize("width", [40, 80])
def test_methods_fit_the_terminal(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    every, one = run("methods"), run("methods controlburn")
    assert max(map(len, (every.stdout + one.stdout).splitlines())) <= width
    if width == 80:
        assert "controlburn  ControlBurn\n" in every.stdout
        assert "KDD '21" not in every.stdout
        assert "forests=5" in one.stdout
        assert "KDD '21" in one.words


def test_demo_prints_the_summary_and_writes_titanic_html(run, folder):
    done = run("demo --resamples 2 --jobs 1")
    assert done.returncode == 0
    assert DEMO_FORMULA in done.words
    assert "binomial" in done.stdout
    assert "Stability index (Nogueira et al.)" in done.stdout
    assert "sex" in (folder / "titanic.html").read_text(encoding="utf-8")
