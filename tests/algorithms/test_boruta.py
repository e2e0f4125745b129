"""Shadow features: all that tells something is confirmed, and nothing else."""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from tasks import in_families, names_of, task_of, with_problem

import treeselect
from treeselect import Boruta
from treeselect.algorithms.forests.ranking import with_shadows
from treeselect.designs.weights import row_weights

FEW = {"n_trees": 30, "max_rounds": 25}


@pytest.fixture(scope="module")
def linear():
    """A number with a copy and a factor matter, six columns are noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(240, 7)), columns=["a", *(f"n{j}" for j in range(6))])
    data["copy"] = data["a"]
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=240)
    data["y"] = 2 * data["a"] + 3 * (data["site"] == "York") + rng.normal(size=240)
    return data


@pytest.mark.parametrize("kind", ["permutation", "unbiased", "mdi"])
def test_all_that_matters_is_confirmed_copies_too(linear, kind):
    method = Boruta(level=0.01, kind=kind, **FEW)
    fit = treeselect.select("y ~ .", linear, method=method, seed=1)
    assert set(fit.selected) == {"a", "copy", "site"}


def test_every_family_and_an_offset(linear):
    task = task_of(linear, Boruta(), max_size=9)
    known = with_problem(task, offset=2 * linear["a"].to_numpy())
    cases = zip([*in_families(task)[1:], known], [{"a", "copy"}, {"a", "copy"}, set()], strict=True)
    for here, others in cases:
        (step,) = Boruta(level=0.01, **FEW).path(here)
        assert names_of(task, step.selected) == {"site"} | others


def test_shadows_are_shuffled_as_units(linear):
    groups = {"both": ["a", "site"]}
    problem = task_of(linear.drop(columns="copy"), Boruta(), groups=groups).problem
    weight = (np.arange(240) % 4 > 0).astype(np.int64)
    found = with_shadows(problem, row_weights(weight), 5)
    n, p = len(problem.groups.names), len(problem.data.codes)
    assert found.data.n_groups == 2 * n
    np.testing.assert_array_equal(found.data.codes[:p], problem.data.codes)
    shadow = found.data.codes[p:]
    np.testing.assert_array_equal(shadow[:, weight == 0], problem.data.codes[:, weight == 0])
    own = problem.data.group_of == problem.groups.names.index("both")
    pairs, moved = problem.data.codes[own], shadow[own]
    assert (pairs != moved).any()
    inside = weight > 0
    assert sorted(map(tuple, pairs[:, inside].T)) == sorted(map(tuple, moved[:, inside].T))
    others = shadow[~own][:2]
    assert (np.argsort(others[0]) != np.argsort(others[1])).any()


@pytest.fixture(scope="module")
def families():
    """Nine columns, three around each of three signals, and six of noise."""
    rng = np.random.default_rng(1)
    signal = rng.normal(size=(250, 3))
    columns = {f"r{j}": signal[:, j // 3] + 0.3 * rng.normal(size=250) for j in range(9)}
    columns |= {f"n{j}": rng.normal(size=250) for j in range(6)}
    return pd.DataFrame(columns).assign(y=2 * signal.sum(axis=1) + rng.normal(size=250))


@pytest.fixture(scope="module")
def decided(families):
    return treeselect.select("y ~ .", families, method="boruta", seed=1, **FEW)


RELEVANT = {f"r{j}" for j in range(9)}


def test_by_default_it_decides_by_itself_and_anew_in_resamples(decided):
    assert set(decided.selected) == RELEVANT
    tidy = decided.tidy().set_index("term")
    assert (tidy.loc[sorted(RELEVANT), "decision"] == "confirmed").all()
    assert set(tidy.loc[[f"n{j}" for j in range(6)], "decision"]) <= {"rejected", "tentative"}
    assert decided._fit.choice.k is None
    assert decided.search.method.level == decided.glance()["tuning"][0] == 0.01
    options = 'method="boruta", seed=1, n_trees=30, max_rounds=25'
    assert decided._fit.call.text == f'treeselect.select("y ~ .", data, {options})'
    stability = decided.resample(2).stability
    assert not stability.fixed_size
    assert (stability.selected.sum(axis=1) >= 7).all()
    assert (decided.resample(2, k=4).stability.selected.sum(axis=1) == 4).all()


def test_the_summary_says_what_was_decided_and_k_cuts_on_request_alone(decided, families):
    text = " ".join(decided.summary().as_text().split())
    assert "9 of 15 terms, chosen by boruta (level = 0.01)" in text
    assert "All-relevant selection" in text
    assert "Minimal" not in text
    assert "9 confirmed" in text
    assert "Decision" in decided.summary().content.columns
    cut = treeselect.select("y ~ .", families, method="boruta", k=3, seed=1, **FEW)
    assert cut.k == 3
    text = " ".join(cut.summary().as_text().split())
    assert "k was not left to boruta" in text
    assert "9 confirmed (not selected: r" in text
    assert set(cut.tidy().query("decision == 'confirmed'")["term"]) == RELEVANT

    def select(**arguments):
        options = {"seed": 1, **FEW, **arguments}
        return treeselect.select("y ~ .", families, method="boruta", **options)

    assert select(k=None).selected == decided.selected
    quick = {"n_trees": 10, "max_rounds": 5, "folds": 2}
    asked = select(k="1se", **quick)
    assert asked.search.scores is not None
    assert 'k="1se"' in asked._fit.call.text
    assert asked.search.method.level is None
    with pytest.raises(treeselect.errors.OptionError, match="can't both determine"):
        select(level=0.01, k=3)


def test_every_door_has_the_same_default(families, tmp_path, capsys):
    from sklearn.base import clone

    from treeselect.cli import main as cli

    for function in (treeselect.select, treeselect.TreeSelector):
        assert inspect.signature(function).parameters["k"].default == "auto"
    selector = treeselect.TreeSelector(method="boruta", method_options=FEW, random_state=1)
    assert repr(selector) == repr(clone(selector))
    x, y = families.drop(columns="y"), families["y"]
    assert set(clone(selector).fit(x, y).get_feature_names_out()) == RELEVANT
    assert len(clone(selector).set_params(k=2).fit(x, y).get_feature_names_out()) == 2
    few = [Boruta(n_trees=10, max_rounds=5), "mrmr"]
    sized = treeselect.compare("y ~ .", families, few, k=2, folds=2, seed=1).tidy()
    assert {2} <= set(sized[sized["method"] == "boruta"]["n_selected"])
    families.to_csv(tmp_path / "data.csv", index=False)
    asked = ["select", "y ~ r0 + r1 + n0", str(tmp_path / "data.csv"), "-m", "boruta"]
    assert cli.main([*asked, "--seed", "1"]) == 0
    assert "All-relevant" in capsys.readouterr().out
    assert cli.main([*asked, "--seed", "1", "-k", "1"]) == 0
    assert "k was not left to boruta" in capsys.readouterr().out


def test_decisions_are_those_of_the_published_rule(decided, families):
    """Kursa and Rudnicki (2010), section 2: hits against the greatest shadow, two binomial tests a
    round, Bonferroni over all units; what is decided stands."""
    history = decided.search.history()
    names = list(dict.fromkeys(history["term"]))
    hits, decisions = dict.fromkeys(names, 0), dict.fromkeys(names, "tentative")
    for number, rows in history.groupby("round"):
        for row in rows.itertuples():
            assert np.isnan(row.importance) == (decisions[row.term] == "rejected")
            hits[row.term] += row.importance > row.shadow_max
        for name in names:
            above = binom.sf(hits[name] - 1, number, 0.5) * len(names)
            below = binom.cdf(hits[name], number, 0.5) * len(names)
            if decisions[name] == "tentative" and above <= 0.01:
                decisions[name] = "confirmed"
            elif decisions[name] == "tentative" and below <= 0.01:
                decisions[name] = "rejected"
    assert history["decision"].tolist() == [decisions[name] for name in history["term"]]
    assert (history["shadow_min"] <= history["shadow_mean"]).all()
    assert (history["shadow_mean"] <= history["shadow_max"]).all()
    ends_early = set(decisions.values()) == {"confirmed", "rejected"}
    n_rounds = history["round"].max()
    assert n_rounds == 25 or ends_early
    cut = treeselect.select("y ~ .", families, method="boruta", k=3, seed=1, **FEW)
    p_values = np.sort([binom.sf(hits[name] - 1, n_rounds, 0.5) * len(names) for name in names])
    np.testing.assert_allclose(cut.path["tuning"][1:], np.minimum(p_values[:3], 1))


def test_rounds_and_kept_units(families):
    fit = treeselect.select("y ~ .", families, method="boruta", seed=1, n_trees=10, max_rounds=2)
    assert set(fit.tidy()["decision"]) == {"tentative"}
    assert fit.selected == ()
    assert "none was confirmed to be more important than the shuffled copies" in " ".join(
        str(fit.summary()).split()
    )
    fit = treeselect.select(
        "y ~ r0 + r3 + n0 + n1", families, method="boruta", keep="n0", seed=1, **FEW
    )
    assert set(fit.selected) == {"r0", "r3", "n0"}
    decision = fit.tidy().set_index("term")["decision"]
    assert decision["n0"] != "confirmed"


def test_other_methods_decide_nothing(linear):
    fit = treeselect.select("y ~ .", linear, method="mrmr", k=2, seed=1)
    assert fit.tidy()["decision"].isna().all()
    with pytest.raises(treeselect.errors.OptionError, match="mrmr does not decide in rounds"):
        fit.search.history()
