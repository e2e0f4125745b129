"""Selections on a sample of rows, on tables of counts, and on rows that belong together."""

import dataclasses

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick import by_mrmr
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import TimeSeriesSplit

import treeselect
from treeselect.algorithms.forests.elimination import out_of_bag_error
from treeselect.algorithms.forests.ranking import with_shadows
from treeselect.algorithms.search.judging import Judge
from treeselect.algorithms.task import Task
from treeselect.designs import row_sample
from treeselect.designs.weights import RowWeights, row_weights
from treeselect.errors import NewDataError, OptionError
from treeselect.models.boosting import hold_rows_out
from treeselect.resampling.folds import split_rows
from treeselect.results.describing import rare_levels
from treeselect.results.summary import excluded_rows
from treeselect.results.tables import class_counts, missing_counts

N = 4_000
ASKED = {"method": "importance", "k": 3, "rows": 800, "seed": 4, "n_trees": 20}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(N, 4)).round(3), columns=list("abcd"))
    frame["kind"] = rng.choice(["u", "v", "w"], size=N, p=[0.5, 0.4999, 0.0001])
    frame.loc[17, "kind"] = "w"
    frame.loc[rng.random(N) < 0.03, "b"] = np.nan
    eta = frame["a"] + frame["b"].fillna(0) + (frame["kind"] == "u")
    frame["y"] = np.where(rng.random(N) < 1 / (1 + np.exp(-eta)), "yes", "no")
    frame["w"] = rng.integers(1, 4, size=N)
    frame.loc[rng.random(N) < 0.02, "y"] = None
    return frame


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts")
    for number, rows in enumerate(np.array_split(np.arange(N), 3)):
        data.iloc[rows].to_parquet(path / f"{number}.parquet")
    return path


@pytest.fixture(scope="module")
def fits(data, folder):
    formula = "y ~ . - w"
    return [
        treeselect.select(formula, source, **ASKED)
        for source in (data, str(folder), ds.dataset(folder, format="parquet"))
    ]


def test_the_answer_of_a_sample_is_that_in_memory_and_knows_all_levels(fits, data):
    here, *beyond = fits
    known = data["y"].notna()
    others = np.setdiff1d(np.flatnonzero(known), here.data.design.response.rows)
    assert here.data.design.rows.used == 800
    assert here.search.held_out.n_rows == len(others) == here.glance()["n_not_drawn"][0]
    score = roc_auc_score(data["y"].iloc[others] == "yes", here.predict(data.iloc[others]))
    assert here.search.held_out.score == pytest.approx(score, abs=1e-12)  # sums in another order
    for fit in beyond:
        assert fit.selected == here.selected
        assert fit.search.held_out == here.search.held_out
        np.testing.assert_array_equal(fit.data.design.response.rows, here.data.design.response.rows)
        np.testing.assert_array_equal(fit.predict(data), here.predict(data))
        assert fit.data.describe().equals(here.data.describe())
    row = data[data["kind"] == "w"].iloc[:1]
    for fit in fits:
        assert fit.data.design.spec["kind"].factors[0].levels == ("u", "v", "w")
        fit.predict(row)
    with pytest.raises(NewDataError, match="known to the model"):
        fits[1].predict(row.assign(kind="z"))


def test_outputs_say_what_was_drawn_and_later_calls_use_it(fits, tmp_path, data, folder):
    _, fit, _ = fits
    of = fit.data.design.sample.of
    said = f"selected on 800 of {of:,} rows, stratified by the classes of y"
    assert said in " ".join(str(fit.summary()).split())
    assert "rows not drawn" in fit.search.citation().methods
    page = fit.report(tmp_path / "x.html").read_text()
    assert f"800 of {of:,} rows" in page
    assert "not drawn" in page
    assert fit.glance()["held_out_score"][0] == fit.search.held_out.score
    assert fit.refit("stack").search.held_out is None  # of another model
    here, fit, _ = fits
    assert fit.resample(3).stability.n_resamples == 3
    assert fit.performance(2).n_train.sum() == 800
    loaded = treeselect.load(fit.save(tmp_path / "m.treeselect"))
    assert loaded.search.held_out == fit.search.held_out
    assert loaded.data.design.sample == fit.data.design.sample
    for source in (data, folder):
        again = loaded.data.design.with_data(source)
        np.testing.assert_array_equal(again.response.y, here.data.design.response.y)
    assert len(loaded.with_data(folder).refit("glm").coef) == len(here.refit("glm").coef)
    whole = treeselect.load(fit.save(tmp_path / "w.treeselect", include_data=True))
    assert whole.performance(2).glance().equals(fit.performance(2).glance())
    assert fit.update(k=1).data.design.rows.used == 800
    found = treeselect.compare("y ~ a + b", folder, ["importance"], k=1, folds=2, rows=300, seed=1)
    assert "sample of 300 of" in str(found.summary())


def test_rows_beyond_the_ends_of_a_spline_are_not_scored(data):
    fit = treeselect.select("d ~ bs(a, df=4) + b", data, **ASKED | {"k": 1})
    assert fit.search.held_out is None
    assert "not scored. Can't compute the term `bs(a, df=4)`." in " ".join(
        str(fit.summary()).split()
    )


@pytest.mark.parametrize("kind", ["response", "link", "class"])
def test_predictions_in_batches(fits, data, folder, kind):
    _, fit, _ = fits
    found = fit.predict(folder / "*.parquet", type=kind)
    assert list(found) == list(fit.predict(data, type=kind))


def test_weights_clusters_offsets_and_times(folder, data):
    asked = ASKED | {"rows": 400, "n_trees": 5, "k": 1}
    numeric = data.assign(event=data["y"] == "yes", time=data["a"].abs() + 0.1, site=data["w"] % 3)
    numeric = numeric.assign(off=0.1 * numeric["d"], site=np.arange(N) // 8)
    path = folder.parent / "numeric"
    path.mkdir(exist_ok=True)
    numeric.to_parquet(path / "1.parquet")
    calls = [
        ("a ~ b + c", {"weights": "w"}),
        ("a ~ b + c + kind", {"fold_groups": "site"}),
        ("y ~ b + c", {"offset": "off"}),
        ("Surv(time, event) ~ b + c", {}),
        ("Surv(time, event) ~ b + C(w) + strata(kind)", {}),
        ("a ~ poly(b, 2) + scale(c) + b:kind", {}),
    ]
    for formula, more in calls:
        here = treeselect.select(formula, numeric, **asked, **more)
        there = treeselect.select(formula, path, **asked, **more)
        assert there.search.held_out == here.search.held_out, formula
        assert np.isfinite(here.search.held_out.score)
        np.testing.assert_array_equal(there.predict(path), here.predict(numeric))


def test_what_is_and_what_is_not_a_sample_of_a_folder(data, folder, tmp_path, capsys):
    for odd in (5, 2.5, "all"):
        with pytest.raises(OptionError, match="rows"):
            treeselect.select("y ~ a", data, rows=odd)
    from treeselect.cli.main import main

    model = tmp_path / "m.treeselect"
    asked = ["-m", "importance", "-k", "1", "--rows", "300", "--seed", "1", "--save", str(model)]
    main(["select", "y ~ a + b", str(folder / "*.parquet"), *asked])
    assert "selected on 300 of" in capsys.readouterr().out
    main(["predict", str(model), str(folder)])
    assert len(capsys.readouterr().out.splitlines()) == N + 1


# --- a table of counts gives the answer of the rows that it counts --------------------------------


OUTCOMES = {
    "survived": "binomial",
    "pclass": "multinomial",
    "age": "gaussian",
    "sibsp": "poisson",
    "Surv(age, survived)": "cox",
}


@pytest.fixture(scope="module")
def people():
    """One row per person, in the order of the table."""
    data = treeselect.datasets.load("titanic")[["survived", "pclass", "sex", "sibsp", "age"]]
    data = data.dropna().head(500).assign(age=lambda d: (d["age"] // 15 * 15 + 1).clip(upper=46))
    return data.sort_values(list(data)).reset_index(drop=True)


@pytest.fixture(scope="module")
def table(people):
    """One row per cell; the last row counts nobody."""
    found = people.value_counts(sort=False).rename("n").reset_index()
    return pd.concat([found, found.head(1).assign(n=0)], ignore_index=True)


def both(outcome, people, table, **options):
    arguments = {"family": OUTCOMES[outcome], "seed": 1, "progress": False} | options
    counted = treeselect.select(
        f"{outcome} ~ .", table, weights="n", weights_kind="frequency", **arguments
    )
    return counted, treeselect.select(f"{outcome} ~ .", people, **arguments)


def assert_same(counted, rows):
    assert counted.selected == rows.selected
    pd.testing.assert_frame_equal(counted.tidy(), rows.tidy())


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_family(people, table, outcome):
    counted, rows = both(outcome, people, table, method="mrmr", k="best", resamples=5)
    assert_same(counted, rows)
    np.testing.assert_array_equal(counted.search.scores.scores, rows.search.scores.scores)
    pd.testing.assert_frame_equal(counted.stability.tidy(), rows.stability.tidy())


def test_linear_models_and_clusters_are_those_of_the_people(people, table):
    counted, rows = both("survived", people, table, method="importance", k=2)
    one, two = (fit.refit("glm").tidy() for fit in (counted, rows))
    pd.testing.assert_frame_equal(one, two)
    one, two = (fit.inference(seed=2).tidy() for fit in (counted, rows))
    pd.testing.assert_frame_equal(one, two)
    cell = np.arange(len(table))
    arguments = {"weights": "n", "weights_kind": "frequency", "method": "mrmr", "seed": 1}
    fit = treeselect.select("survived ~ .", table, fold_groups=cell, k=2, **arguments)
    out = fit.performance(folds=3, seed=1).predictions()
    assert (out.groupby("row")["fold"].nunique() == 1).all()
    fit = treeselect.select("survived ~ .", table, k=2, **arguments)
    out = fit.performance(folds=cell % 3, seed=1).predictions()
    assert (out["fold"] == out["row"] % 3 + 1).all()
    out = fit.performance(folds=3, seed=1).predictions()
    assert (out.groupby("row")["fold"].nunique() > 1).any()


def test_model_file_without_data_takes_the_table_again(table, people, tmp_path):
    fit, _ = both("survived", people, table, method="mrmr", k=2)
    fit.save(tmp_path / "fit.treeselect", include_data=False)
    again = treeselect.load(tmp_path / "fit.treeselect")
    assert again.with_data(table).refit("glm").n_used == len(people)
    fit.save(tmp_path / "with.treeselect", include_data=True)
    again = treeselect.load(tmp_path / "with.treeselect")
    np.testing.assert_array_equal(
        again.performance(folds=3, seed=1).scores, fit.performance(folds=3, seed=1).scores
    )


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 200))
def test_lots_keep_the_counts_and_are_nearly_equal(counts, most):
    values = np.array(counts)
    if not values.any():
        return
    lots, rows = RowWeights(values, are_copies=True).written_out(most)
    np.testing.assert_array_equal(np.bincount(rows, lots.values, len(values)), values)
    assert len(rows) <= max(most, (values > 0).sum())
    for row in np.unique(rows):
        assert np.ptp(lots.values[rows == row]) <= 1
    each, rows = RowWeights(values, are_copies=True).written_out()
    assert (each.values == 1).all()
    np.testing.assert_array_equal(rows, np.repeat(np.arange(len(values)), values))


def test_rare_numbers_are_noted_and_large_counts_drawn_in_lots(people, table, monkeypatch):
    cell = np.arange(len(table))
    arguments = {"weights": "n", "weights_kind": "frequency", "method": "mrmr", "k": 1, "seed": 1}
    rare, timed = table.assign(weight=np.sqrt(cell)), table.assign(years=np.sqrt(1 + cell))
    said = [
        "give its number as `fold_groups`" in " ".join(fit.data.design.notes)
        for fit in (
            treeselect.select("survived ~ .", table, **arguments),
            treeselect.select("survived ~ .", rare, **arguments),
            treeselect.select("survived ~ .", rare, fold_groups=cell, **arguments),
            treeselect.select("Surv(years, survived) ~ sex + pclass", timed, **arguments),
        )
    ]
    assert said == [False, True, False, True]
    many = table.assign(n=table["n"] * 1000)
    monkeypatch.setattr(row_sample, "_MOST_COPIES", 300)
    fit = by_mrmr("survived ~ .", many, weights="n", weights_kind="frequency", k=2)
    assert "sex" in fit.selected
    assert len(fit.data.design.row_weights) <= 300
    died = 1000 * int(people["survived"].sum())
    assert f"({died:,} of {1000 * len(people):,})" in " ".join(str(fit.summary()).split())
    assert fit.refit("glm").n_used == 1000 * len(people)


def test_lots_are_counted_in_print(people, table, monkeypatch):
    gaps, rows = (one.assign(sex=one["sex"].where(one["pclass"] != 2)) for one in (table, people))
    monkeypatch.setattr(row_sample, "_MOST_COPIES", 300)
    monkeypatch.setattr(row_sample, "_MOST_OF_ROW", 1)
    for missing in ("level", "drop"):
        counted, plain = both("survived", rows, gaps, method="mrmr", k=2, missing=missing)
        one, two = counted._fit, plain._fit
        assert len(one.design.row_weights) < len(two.design.row_weights)
        assert class_counts(one) == class_counts(two)
        assert missing_counts(one) == missing_counts(two)
        assert rare_levels(one) == rare_levels(two)
        assert excluded_rows(one)[:-1] == excluded_rows(two)
        assert counted.tidy()["n_missing"].sum() == plain.tidy()["n_missing"].sum() > 0
    assert counted.performance(folds=2, seed=1).n_test.sum() == len(rows)
    found = treeselect.compare("survived ~ .", gaps, ["mrmr"], folds=2, weights="n", k=2, seed=1)
    assert found.n_test.sum() == found.n_train.sum() == len(rows)


@pytest.mark.parametrize("outcome", ["survived", "age", "Surv(age, survived)"])
def test_a_sample_of_a_table_is_that_of_the_people(people, table, outcome):
    counted, rows = both(outcome, people, table, method="mrmr", k=2, rows=40)
    assert_same(counted, rows)
    assert counted.data.design.rows.used == 40
    one, two = (fit.data.design.response for fit in (counted, rows))
    assert (one.counts, one.follow_up) == (two.counts, two.follow_up)
    one, two = counted.search.held_out, rows.search.held_out
    assert (one.score, one.n_rows) == (pytest.approx(two.score), two.n_rows)
    assert "on the " in str(counted.summary()).partition("Held out:")[2].partition("\n")[0]


# --- rows that belong together are drawn and held out together, by all methods --------------------


N_SITES, SIZE = 40, 9
SITE = np.repeat(np.arange(N_SITES), SIZE)
COPIES = 1 + np.arange(len(SITE)) % 3
OF_COPIES = np.repeat(SITE, COPIES)
"""Weights of a task, 2 * SIZE in each site, and the sites of the copies."""


def draw(seed=4):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({f"z{j}": rng.normal(size=N_SITES)[SITE] for j in range(4)})
    data["x"] = rng.normal(size=len(SITE))
    level = 1.5 * rng.normal(size=N_SITES)
    return data.assign(
        y=data["x"] + level[SITE] + rng.normal(size=len(SITE)), site=[f"s{i}" for i in SITE]
    )


@pytest.fixture(scope="module")
def sites():
    return draw()


def select(data, groups="site", **options):
    arguments = {"k": 1, "seed": 1, "progress": False} | options
    return treeselect.select("y ~ . - site", data, fold_groups=groups, **arguments)


def test_noise_is_not_kept_and_boosting_ends_where_it_no_longer_helps_other_sites(sites):
    """It knows no more of noise than it can tell new sites."""
    every = {"k": None, "method": "rrf", "lam": 1.0, "n_trees": 20, "prune": True}
    assert len(select(sites, None, **every).selected) > 2
    assert select(sites, **every).selected == ("x",)
    fit = select(sites, method="mrmr", k=5)
    rounds = fit.refit("boosting").model.fitted.trees.n_trees
    assert (
        rounds
        < select(sites, None, method="mrmr", k=5).refit("boosting").model.fitted.trees.n_trees
    )
    new = draw().assign(**{f"z{j}": draw(9)[f"z{j}"] for j in range(4)})
    apart, together = (select(sites, groups, method="mrmr", k=5) for groups in (None, "site"))
    error = [float(np.mean((fit.predict(new) - new["x"]) ** 2)) for fit in (apart, together)]
    assert error[1] < error[0]


@pytest.mark.parametrize(
    "options",
    [
        {"method": "exchange"},
        {"method": "controlburn", "forests": 1},
        {"method": "gbfs", "max_depth": 2, "prune": False, "n_trees": 40},
        {"method": "rrf", "n_trees": 20},
        {"method": "varselrf", "n_trees": 20},
        {"method": "boruta", "n_trees": 20, "max_rounds": 9, "kind": "permutation"},
    ],
    ids=lambda options: options["method"],
)
def test_groups_of_single_rows_are_no_groups(sites, options):
    own = np.random.default_rng(3).permutation(len(sites))
    plain, alone = (select(sites, g, k=2, **options) for g in (None, own))
    for ours, theirs in zip(plain.search.steps, alone.search.steps, strict=True):
        np.testing.assert_array_equal(ours.selected, theirs.selected)
        np.testing.assert_array_equal(ours.importance, theirs.importance)
    np.testing.assert_array_equal(plain.predict(sites), alone.predict(sites))


def test_names_of_groups_have_no_influence_and_files_keep_them_together(sites, tmp_path):
    options = {"method": "exchange", "k": 3, "n_trees": 20, "keep": ["z1"]}
    one = select(sites, **options)
    other = select(sites[sites.columns[::-1]], -SITE, n_jobs=2, **options)
    assert one.selected == other.selected
    np.testing.assert_array_equal(one.predict(sites), other.predict(sites))
    with pytest.raises(OptionError, match="1 row in which it is missing"):
        select(sites, sites["site"].where(sites.index > 0), method="mrmr")
    fit = select(sites, method="mrmr", k=3)
    expected = fit.refit("forest").predict(sites)
    np.testing.assert_array_equal(expected, fit.predict(sites))
    whole = treeselect.load(fit.save(tmp_path / "whole", include_data=True))
    np.testing.assert_array_equal(whole.refit("forest").predict(sites), expected)
    bare = treeselect.load(fit.save(tmp_path / "bare"))
    np.testing.assert_array_equal(bare.with_data(sites).refit("forest").predict(sites), expected)
    with pytest.raises(OptionError, match="`fold_groups` must be known"):
        bare.with_data(sites.drop(columns="site")).refit("forest")
    bare = treeselect.load(select(sites, SITE, method="mrmr", k=3).save(tmp_path / "array"))
    again = bare.with_data(sites)
    for call in (
        lambda: bare.update(k=2), lambda: again.performance(3), lambda: again.refit("glm"),
        lambda: again.refit("forest"),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=r"Use `fit.update\(data=..., fold_groups=...\)`"):
            call()


@pytest.fixture(scope="module")
def task(sites):
    fit = select(sites, method="mrmr", weights=COPIES)
    return Task(fit.data.design.problem, fit.data.design.row_weights, max_size=5, seed=1)


def test_standard_errors_and_shadows_are_those_of_groups(task):
    judge, none = Judge(task, 20, "judge"), np.zeros(5, dtype=bool)
    one = none.copy()
    one[-1] = True
    rise, spread = judge.rise(none, one)
    difference = judge.errors(one) - judge.errors(none)
    weight = task.weight / task.weight.sum()
    assert rise == pytest.approx(weight @ difference)
    sums = [(weight * (difference - rise))[site == OF_COPIES].sum() for site in range(N_SITES)]
    assert spread == pytest.approx(np.sqrt(np.square(sums).sum()))
    unknown = np.full(len(weight), np.nan)
    assert judge.mean(unknown) == (0, 0)
    judge.errors = lambda _: unknown
    assert judge.error(one) == np.inf
    left = np.arange(len(OF_COPIES)) % 17 / 9
    error, standard_error = out_of_bag_error(task.problem, task.weights, task.problem.y - left)
    sums = [(weight * (left**2 - error))[site == OF_COPIES].sum() for site in range(N_SITES)]
    assert standard_error == pytest.approx(np.sqrt(np.square(sums).sum()))
    codes = with_shadows(task.problem, task.weights, 3).data.codes
    names = task.problem.groups.names
    for g, name in enumerate(names):
        for column in (codes[g], codes[len(names) + g]):
            alike = [len(np.unique(column[site == OF_COPIES])) == 1 for site in range(N_SITES)]
            assert all(alike) == (name != "x")
        assert sorted(codes[g]) == sorted(codes[len(names) + g])
        assert (codes[g] != codes[len(names) + g]).any()
    part = task.weights.of(np.arange(2 * SIZE))
    assert part.groups is not None
    assert part.blocks is None
    assert part.n_units == 2 * SIZE
    assert task.weights.n_units == N_SITES


@pytest.mark.parametrize("classes", [False, True])
def test_whole_groups_are_held_out(task, classes):
    problem = task.problem
    if classes:
        rare = (SITE < 3) & (np.arange(len(SITE)) % 2 == 0)
        data = draw().assign(y=rare)
        problem = select(data, method="mrmr", weights=COPIES).data.design.problem
    train, held_out = hold_rows_out(problem, task.weights, seed=4)
    sites = np.unique(OF_COPIES[held_out])
    assert len(held_out) == 2 * SIZE * len(sites)
    assert 7 <= len(sites) <= 9
    assert (train[held_out] == 0).all()
    assert (np.delete(train, held_out) == np.delete(task.weight, held_out)).all()
    if classes:
        assert (sites < 3).sum() == 1


def test_blocks_of_a_series_are_not_cut_in_two(sites):
    """Training rows of a block that is held out in part are left out."""
    block = np.arange(len(sites)) // 7
    fit = by_mrmr(
        "y ~ x + z1", sites, k="best", folds=TimeSeriesSplit(4), fold_groups=block, progress=False
    )
    assert fit.search.scores.scores.shape[0] == 4
    rows = row_weights(np.ones(len(sites), dtype=np.int64))
    folds, problem = fit._fit.choice.folds, fit.data.design.problem
    plain = split_rows(problem, rows, folds, 1)
    for cut, whole in zip(split_rows(problem, rows.in_groups(block), folds, 1), plain, strict=True):
        np.testing.assert_array_equal(cut.test, whole.test)
        gone = np.setdiff1d(whole.train, cut.train)
        assert (block[gone] == block[cut.test[0]]).all()
        assert block[cut.train].max() < block[cut.test].min()
    folds = dataclasses.replace(folds, folds=np.arange(len(sites)) % 2)
    with pytest.raises(OptionError, match="must not divide the clusters"):
        split_rows(problem, rows.in_groups(block), folds, 1)


@pytest.mark.filterwarnings("ignore")  # of Dask, on its threads
def test_a_dask_frame_gives_the_answer_of_its_rows_in_memory(data):
    dask = pytest.importorskip("dask.dataframe")
    asked = {"method": "mrmr", "k": 2, "rows": 500, "seed": 1}
    here, there = (
        treeselect.select("y ~ a + b + kind", frame, **asked)
        for frame in (data, dask.from_pandas(data, npartitions=3))
    )
    assert there.search.held_out == here.search.held_out
    pd.testing.assert_frame_equal(there.tidy(), here.tidy())
