"""The command line on times until an event."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from survival_data import small_fit, small_times

import treeselect
from treeselect.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("times")
    small_times().to_csv(folder / "data.csv", index=False)
    small_fit().save(folder / "saved")
    return folder


def test_select_reports_and_predict_gives_survival(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    asked = ("Surv(time, dead) ~ risky + x + z + strata(site)", "data.csv", "--method", "mrmr")
    written = ("--report", "out.html", "--save", "fit", "--json", "out.json")
    assert main(["select", *asked, "-k", "1", "--seed", "1", *written]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Family: cox (time to event); Cox partial likelihood" in said
    assert "Strata: site (2 strata, each with its own baseline hazard)" in said
    assert 'id="risk-groups"' in (folder / "out.html").read_text(encoding="utf-8")
    times = ("--type", "survival", "--times", "100,365")
    assert main(["predict", "fit", "data.csv", *times]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    fit = treeselect.load(folder / "fit")
    known = fit.predict(small_times(), type="survival", times=[100, 365])
    assert found.to_numpy() == pytest.approx(known.to_numpy())
    assert list(found.columns) == [str(name) for name in known.columns]
    assert (found.iloc[:, 0] >= found.iloc[:, 1]).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--type", "survival"), "`times`"),
        (("--type", "survival", "--times", "soon"), "`--times` must be comma-separated numbers"),
        (("--times", "100"), "`times`"),
    ],
)
def test_what_predict_refuses(folder, arguments, says, capsys):
    assert main(["predict", str(folder / "saved"), str(folder / "data.csv"), *arguments]) == 2
    assert says in capsys.readouterr().err
