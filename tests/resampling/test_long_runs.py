"""Long calls: saved, stopped, spread over threads, processes, machines, with the same answers."""

import os
import signal
import sys
import types
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from quick import normal

import treeselect
from treeselect.cli.main import main
from treeselect.errors import OptionError, TreeselectWarning, WorkerError


@pytest.fixture(scope="module")
def data():
    return normal(1, 90, "abcd", a=2, b=1)


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select("y ~ .", data, method="mrmr", k=2, seed=1)


CALLS = {
    "resample": lambda fit, data, **how: fit.resample(6, **how),
    "pairs": lambda fit, data, **how: fit.resample(6, scheme="complementary", path=3, **how),
    "performance": lambda fit, data, **how: fit.performance(3, repeats=2, **how),
    "validate": lambda fit, data, **how: fit.validate(5, **how),
    "inference": lambda fit, data, **how: fit.inference(repeats=4, **how),
    "compare": lambda fit, data, **how: treeselect.compare(
        "y ~ .", data, ["mrmr", "cfs"], k=[1, 2], folds=3, seed=1, **how
    ),
}


def told(name, found):
    """A result without seconds, and what says how much of it there is."""
    if name == "resample":
        return found.stability, found.stability.in_pandas.tidy()
    if name == "pairs":
        return found.stability, pd.concat([found.stability.tidy(), found.stability.path()])
    if name == "compare":
        return found, found.tidy().drop(columns="seconds")
    if name == "performance":
        return found, pd.concat([found.tidy(), found.predictions()])
    return found, found.tidy()


def stop_at(done):
    def stop(piece):
        if piece.done == done:
            raise KeyboardInterrupt

    return stop


@pytest.fixture(scope="module")
def whole(fit, data):
    return answers(fit, data)


@pytest.mark.parametrize(
    ("name", "stop", "said", "asked"),
    [
        ("resample", 3, "3 of 6 resamples", 6),
        ("pairs", 5, "4 of 6 resamples", 6),
        ("performance", 4, "4 of 6 folds", 6),
        ("validate", 3, "3 of 5 samples", 5),
        ("inference", 2, "2 of 4 splits", 4),
        ("compare", 7, "6 of 9 pairs of method and fold", 3),
    ],
)
def test_a_call_that_was_stopped_is_a_part_and_goes_on(
    name, stop, said, asked, fit, data, whole, tmp_path
):
    call = CALLS[name]
    with pytest.warns(TreeselectWarning, match=f"^Partial: stopped after {said};"):
        found, table = told(name, call(fit, data, checkpoint=tmp_path, on_piece=stop_at(stop)))
    assert (found.partial, found.asked) == (True, asked)
    assert len(table) > 0
    taken = []
    found, table = told(name, call(fit, data, checkpoint=tmp_path, on_piece=taken.append))
    assert [piece.was_saved for piece in taken].count(True) == stop
    assert not found.partial
    pd.testing.assert_frame_equal(table, whole[name])


@pytest.mark.parametrize(
    "call",
    [
        lambda fit, data, n, **how: fit.resample(2 * n, **how),
        lambda fit, data, n, **how: fit.performance(2, repeats=n, **how),
        lambda fit, data, n, **how: fit.validate(2 * n, **how),
        lambda fit, data, n, **how: fit.inference(repeats=2 * n, **how),
        lambda fit, data, n, **how: treeselect.compare(
            "y ~ .", data, ["mrmr"], k=1, folds=2, repeats=n, seed=1, **how
        ),
    ],
)
def test_a_call_for_more_takes_what_was_saved(call, fit, data, tmp_path):
    taken = []
    for n in (1, 2):
        call(fit, data, n, checkpoint=tmp_path, on_piece=taken.append)
    one, two = taken[0].total, taken[-1].total
    assert two == 2 * one
    assert [piece.was_saved for piece in taken] == [False] * one + [True] * one + [False] * one


@pytest.mark.filterwarnings("ignore:Partial")
@pytest.mark.parametrize("name", ["performance", "compare"])
def test_folds_keep_their_numbers_if_an_earlier_one_is_not_finished(
    name, fit, data, whole, tmp_path
):
    def first_goes(piece):
        if piece.done == piece.total:
            first = min(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)
            first.unlink()

    CALLS[name](fit, data, checkpoint=tmp_path, on_piece=first_goes)
    n = len(list(tmp_path.iterdir()))
    _, table = told(name, CALLS[name](fit, data, checkpoint=tmp_path, on_piece=stop_at(n)))
    is_first = (whole[name]["fold"] == 1) & (whole[name].get("repeat", 1) == 1)
    expected = whole[name][~is_first].reset_index(drop=True)
    pd.testing.assert_frame_equal(table.reset_index(drop=True), expected)


@pytest.mark.parametrize("name", ["pairs", "compare"])
def test_half_of_what_belongs_together_is_no_part(name, fit, data, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        CALLS[name](fit, data, checkpoint=tmp_path, on_piece=stop_at(1))


@pytest.mark.filterwarnings("ignore:Partial", "ignore:Some subgroups")
def test_summaries_and_reports_say_that_a_result_is_partial(fit, data, tmp_path):
    part = fit.resample(6, on_piece=stop_at(3))
    performance = fit.performance(3, on_piece=stop_at(2))
    inference = fit.inference(repeats=4, on_piece=stop_at(2))
    comparison = CALLS["compare"](fit, data, on_piece=stop_at(6))
    said = "Partial: stopped after {} of {} {}; the result is based on these alone."
    page = part.report(tmp_path / "fit.html", performance=performance).read_text()
    for found, words in [(part, (3, 6, "resamples")), (performance, (2, 3, "folds"))]:
        assert said.format(*words) in " ".join(str(found.summary()).split())
        assert said.format(*words) in page
    assert said.format(2, 4, "splits") in " ".join(str(inference.summary()).split())
    words = said.format(2, 3, "folds")
    assert words in " ".join(str(comparison.summary()).split())
    assert words in comparison.report(tmp_path / "methods.html").read_text()
    assert repr(performance).endswith(", partial>")
    scheme = performance.by(np.arange(len(data)) % 2).scheme
    assert scheme == "3-fold cross-validation, stopped after 2 of 3 folds"
    assert repr(inference).endswith(", partial>")
    loaded = treeselect.load(part.save(tmp_path / "model"))
    assert loaded.stability.asked == 6


def test_options_data_seed_and_scheme_are_told_apart(fit, data, tmp_path):
    fit.resample(3, checkpoint=tmp_path)
    others = [
        treeselect.select("y ~ .", data, method="mrmr", k=1, seed=1),
        treeselect.select("y ~ .", data, method="mrmr", k=2, seed=2),
        treeselect.select("y ~ .", data, method="lasso", k=2, seed=1),
        treeselect.select("y ~ .", data.assign(a=-data["a"]), method="mrmr", k=2, seed=1),
        treeselect.select("y ~ .", data, method="mrmr", k=2, seed=1, weights=[1] * 89 + [2]),
    ]
    for other in others:
        with pytest.warns(TreeselectWarning, match="From other calls"):
            other.resample(2, checkpoint=tmp_path)
    with pytest.warns(TreeselectWarning, match="From other calls"):
        fit.resample(2, scheme="subsample", checkpoint=tmp_path)
    fit.resample(3, checkpoint=tmp_path)


def test_a_checkpoint_of_a_drawn_seed_is_refused(data, tmp_path, monkeypatch, capsys):
    with pytest.raises(OptionError, match="`checkpoint` needs a `seed`"):
        treeselect.compare("y ~ .", data, ["mrmr"], k=1, checkpoint=tmp_path)
    monkeypatch.chdir(tmp_path)
    data.to_csv("data.csv", index=False)
    for command, *more in (("select", "--performance", "3"), ("compare",)):
        assert main([command, "y ~ .", "data.csv", *more, "--checkpoint", "here"]) == 2
        assert "`--checkpoint` needs `--seed`" in capsys.readouterr().err


def test_the_command_line_saves_and_goes_on(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data.to_csv("data.csv", index=False)
    given = ["y ~ .", "data.csv", "--seed", "1", "--checkpoint", "here"]
    select = ["select", *given, "-m", "mrmr", "-k", "2", "--resamples", "3", "--performance", "3"]
    compare = ["compare", *given, "-m", "mrmr,cfs", "-k", "2", "--folds", "3"]
    first = []
    for command in (select, compare):
        assert main(command) == 0
        first.append(capsys.readouterr().out)
    names = sorted(path.name.split("-")[0] for path in (tmp_path / "here").iterdir())
    assert names == ["fold"] * 3 + ["pair"] * 9 + ["resample"] * 3
    monkeypatch.setattr("treeselect.running.pieces.run_each", lambda *_: (_ for _ in ()))
    for command, said in zip((select, compare), first, strict=True):
        assert main(command) == 0
        assert capsys.readouterr().out == said


@pytest.fixture
def stops(monkeypatch):
    """All calls stop after two pieces; how many did."""
    stopped = []

    def run_each(function, calls, workers):
        yield from ((number, function(*calls[number])) for number in range(2))
        stopped.append(len(calls))
        raise KeyboardInterrupt

    monkeypatch.setattr("treeselect.running.pieces.run_each", run_each)
    return stopped


@pytest.mark.filterwarnings("ignore:Partial")
def test_a_comparison_of_fits_ends_where_it_is_stopped(fit, stops):
    with pytest.raises(KeyboardInterrupt):
        treeselect.compare([fit, fit], folds=3)
    assert stops == [3]


@pytest.mark.usefixtures("stops")
@pytest.mark.filterwarnings("ignore:Partial")
def test_the_command_line_says_what_was_finished_and_ends_as_stopped(
    data, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    data.to_csv("data.csv", index=False)
    command = ["select", "y ~ .", "data.csv", "-m", "mrmr", "-k", "2", "--resamples", "5"]
    assert main([*command, "--report", "fit.html"]) == 130
    told = capsys.readouterr()
    assert "Partial: stopped after 2 of 5 resamples" in told.out
    assert told.err.endswith("treeselect: stopped.\n")
    assert (tmp_path / "fit.html").exists()


def answers(fit, data, names=tuple(CALLS)):
    return {name: told(name, CALLS[name](fit, data))[1] for name in names}


def same(ones, others):
    for name, table in ones.items():
        pd.testing.assert_frame_equal(table, others[name])


def dies_once(y, prediction):
    """A score that kills the worker of Dask that comes first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import get_worker

    try:
        folder = get_worker().local_directory
    except ValueError:  # not in a worker
        return -float(np.mean((y - prediction) ** 2))
    flag = os.path.join(os.path.dirname(folder), "died")
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return -float(np.mean((y - prediction) ** 2))
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.fixture
def unknown_there(monkeypatch):
    """A score of a module that no worker has."""
    module = types.ModuleType("only_here")
    exec("def score(y, prediction): return 0.0", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    return module.score


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_answers_are_the_same_wherever_pieces_are_done(backend, fit, data, whole, unknown_there):
    """What workers can't import is an error."""
    with joblib.parallel_config(backend, n_jobs=2):
        same(answers(fit, data), whole)
        if backend == "loky":
            with pytest.raises(WorkerError, match="imported"):
                fit.performance(3, scoring=unknown_there)


@pytest.mark.filterwarnings("ignore")  # of Dask, on ports and on the worker that died
def test_answers_are_the_same_on_a_cluster_that_loses_a_worker(
    fit, data, whole, unknown_there, tmp_path
):
    distributed = pytest.importorskip("distributed")
    alone = fit.performance(4, scoring=dies_once)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    )
    with cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
        same(answers(fit, data, ["resample", "compare"]), whole)
        with pytest.raises(WorkerError, match="Found: ModuleNotFoundError"):
            fit.performance(3, scoring=unknown_there)
        spread = fit.performance(4, scoring=dies_once)
    assert list(tmp_path.rglob("died"))
    pd.testing.assert_frame_equal(spread.tidy(), alone.tidy())
