"""What is done with a saved model: its report, and the selection again with changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treeselect.cli.main import main


@pytest.fixture(scope="module")
def folder(mixed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    data = str(folder / "data.csv")
    mixed.to_csv(data, index=False)
    fit = ["-m", "mrmr", "-k", "2", "--seed", "3", "--save", str(folder / "fit")]
    assert main(["select", "died ~ signal + noise + flag", data, *fit]) == 0
    return folder


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    capsys.readouterr()


def test_the_report_of_a_model(capsys):
    assert main(["report", "fit"]) == 0
    assert capsys.readouterr().out == "Report: report.html\n"
    assert "signal" in Path("report.html").read_text(encoding="utf-8")
    assert main(["report", "fit", "-o", "fit.md"]) == 0
    assert Path("fit.md").read_text(encoding="utf-8").startswith("#")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "Can't find the model file `nowhere`"),
        (["data.csv"], "is not a model file"),
        (["fit", "-o", "no/where.html"], "Can't write the report"),
        (["fit", "--sections", "nope"], "`sections` must name sections"),
        (["fit", "--digits", "99"], "`digits` must be"),
    ],
)
def test_what_report_refuses(arguments, says, capsys):
    assert main(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "\n\n" not in error


def test_a_model_with_changes(capsys):
    changes = ["--formula", "~ . - signal", "-k", "1", "--json", "new.json", "--resamples", "2"]
    assert main(["update", "fit", "data.csv", *changes, "--save", "new"]) == 0
    found = json.loads(Path("new.json").read_text(encoding="utf-8"))
    assert {row["term"] for row in found["tidy"]} == {"noise", "flag"}
    assert found["glance"]["seed"] == 3
    assert found["glance"]["method"] == "mrmr"
    assert found["glance"]["resamples"] == 2
    assert main(["predict", "new", "data.csv", "-o", "p.csv"]) == 0
    capsys.readouterr()
    assert main(["update", "fit", "data.csv", "--formula", "~ . - sigal"]) == 2
    assert "sigal" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["update", "fit"])
    assert ended.value.code == 2
