"""P-values after selection on other rows."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from quick import WITH_GAPS, normal
from sklearn.ensemble import RandomForestRegressor

import treeselect
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.weights import row_weights
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.times import EVENT
from treeselect.errors import OptionError
from treeselect.resampling.choosing import Choice, Procedure, choose
from treeselect.resampling.folds import Folds, part_rows
from treeselect.resampling.sample_splitting import aggregate_p_values, draw_parts

pytestmark = WITH_GAPS

LASSO = {"method": "lasso", "progress": False}


def numbers(seed, n=150, p=10, slopes=()):
    """Normal columns; the first ones move the response."""
    names = [f"x{i}" for i in range(p)]
    return normal(seed, n, names, **dict(zip(names, slopes, strict=False)))


@pytest.fixture(scope="module")
def strong():
    data = numbers(1, slopes=(2.0, -2.0, 2.0))
    return data, treeselect.select("y ~ .", data, k=3, seed=3, **LASSO)


def test_aggregation_is_that_of_the_paper_worked_out_by_hand():
    of_terms = [[0.01, 0.03, 0.02, 0.04], [0.001, 1, 1, 1], [1, 1, 1, 1], [0.2, 0.1, 0.4, 0.3]]
    p_values = np.array(of_terms).T
    # Sorted and times 4/1, 4/2, 4/3, 4/4: first 0.04, 0.04, 0.04, 0.04; second 0.004, 2, ...;
    # fourth 0.4, 0.4, 0.4, 0.4.
    factor = 1 - np.log(0.05)
    expected = [factor * 0.04, factor * 0.004, 1.0, 1.0]
    np.testing.assert_allclose(aggregate_p_values(p_values), expected)
    # Of forty p-values the second is the 0.05-quantile, so that the third is the first looked at.
    p_values = np.ones((40, 1))
    p_values[:3, 0] = 0.0, 0.0, 0.001
    np.testing.assert_allclose(aggregate_p_values(p_values), factor * 0.001 * 40 / 3)


def test_one_split_is_least_squares_on_the_rows_that_were_not_selected_on(strong):
    data, fit = strong
    found = fit.inference(split=0.4, level=0.9)
    first, second = part_rows(
        fit.data.design.problem, fit.data.design.row_weights, 0.4, stream_seed(3, "inference", 0)
    )
    assert (len(first), len(second)) == (60, 90)
    assert sorted([*first, *second]) == list(range(150))
    (split,) = found.splits
    here = data.iloc[second]
    expected = sm.OLS(here["y"], sm.add_constant(here[list(split.selected)])).fit()
    table = found.tidy()
    assert table["term"].tolist() == ["Intercept", *split.selected]
    known = [expected.params, expected.bse, expected.tvalues, expected.pvalues]
    columns = ["estimate", "std_error", "statistic", "p_value"]
    np.testing.assert_allclose(table[columns].to_numpy().T, known)
    interval = expected.conf_int(0.1).to_numpy()
    np.testing.assert_allclose(table[["ci_low", "ci_high"]].to_numpy(), interval)
    text = found.summary().as_text()
    assert "60 rows for selection, 90 for testing" in text
    assert "90% interval" in text
    assert "valid for this submodel" in " ".join(text.split())


def test_rows_that_are_left_out_of_training_are_not_counted_as_rows_for_selection():
    data = numbers(1).assign(x1=lambda d: d["x1"].mask(d.index % 3 == 0))
    fit = treeselect.select("y ~ x0 + x1", data, k=1, seed=1, missing="drop", **LASSO)
    first, _ = part_rows(fit.data.design.problem, fit.data.design.row_weights, 0.5,
                         stream_seed(1, "inference", 0))  # fmt: skip
    said = f"{(first % 3 != 0).sum()} rows for selection, 75 for testing"
    assert said in str(fit.inference().summary())


def test_an_empty_selection_has_an_intercept_only_and_factors_are_tested_as_one(mixed):
    fit = treeselect.select("dose ~ signal + site", mixed, k=2, seed=1, **LASSO)
    found = fit.inference()
    (split,) = found.splits
    expected = split.fit.result.f_test(
        np.array([[c.startswith("site") and c == own for c in split.fit.names] for own in
                  split.fit.names if own.startswith("site")], dtype=float)
    )  # fmt: skip
    assert split.p_values["site"] == pytest.approx(float(expected.pvalue))
    at = found.terms.index("site")
    assert found.p_values[0, at] == pytest.approx(min(1.0, 2 * float(expected.pvalue)))
    assert split.n_dropped + split.fit.result.nobs == 200
    fit = treeselect.select("y ~ x0 + x1", numbers(2), method="gbfs", mu=1e9, n_trees=2, seed=1)
    found = fit.inference()
    assert found.tidy()["term"].tolist() == ["Intercept"]
    assert "mu = 1e+09" in str(found.summary())
    assert (fit.inference(repeats=2).tidy()["p_value"] == 1).all()


def test_several_splits_multiply_p_values_by_the_size_and_find_true_terms(strong):
    _, fit = strong
    found = fit.inference(repeats=4)
    assert found.n_splits == 4
    for row, split in zip(found.p_values, found.splits, strict=True):
        for term, p in zip(found.terms, row, strict=True):
            assert p == (min(1, 3 * split.p_values[term]) if term in split.selected else 1.0)
    table = found.tidy().set_index("term")
    expected = aggregate_p_values(found.p_values)
    np.testing.assert_allclose(table.loc[list(found.terms), "p_value"], expected)
    table = fit.inference(repeats=10).tidy().set_index("term")
    true = ["x0", "x1", "x2"]
    assert (table.loc[true, "p_value"] < 0.01).all()
    assert (table.drop(index=true)["p_value"] > 0.05).all()
    assert (table.loc[true, "selected"] >= 8).all()


def test_noise_gives_no_small_p_values_beyond_their_level():
    false = 0
    for seed in range(12):
        data = numbers(100 + seed)
        fit = treeselect.select("y ~ .", data, method="mrmr", k=3, seed=seed, model="glm")
        false += bool((fit.inference(repeats=10).tidy()["p_value"] < 0.05).any())
    assert false <= 2


@pytest.mark.parametrize("k", [3, "1se", "best"])
def test_the_rule_is_that_of_the_fit(strong, k):
    data, _ = strong
    folds = {} if k == 3 else {"folds": 3}
    fit = treeselect.select("y ~ x0 + x1 + x2 + x3 + x4", data, k=k, seed=1, **folds, **LASSO)
    found = fit.inference(repeats=2)
    rule = {3: "fixed at 3", "1se": "1 s.e. rule", "best": "best R2"}[k]
    assert rule in str(found.summary())
    problem, own = fit.data.design.problem_for(fit.search.method), stream_seed(1, "inference", 1)
    first, _ = part_rows(problem, fit.data.design.row_weights, 0.5, own)
    weight = np.isin(np.arange(150), first).astype(np.int64)
    asked = Procedure(problem, fit.search.method, row_weights(weight), Choice(k, Folds(3)))
    chosen = choose(asked, own)
    names = np.array(fit.data.design.arrays.groups.names)[chosen.step.selected]
    assert set(found.splits[1].selected) == set(names)


def wards(seed, n_groups=120, size=5, p=4):
    """Columns `n0`, ... and most of `y` are the same in all rows of a ward, and have nothing in
    common; `x` moves `y` within the wards."""
    rng = np.random.default_rng(seed)
    ward = np.repeat(np.arange(n_groups), size)
    frame = pd.DataFrame(rng.normal(size=(n_groups, p))[ward], columns=[f"n{i}" for i in range(p)])
    x, noise = rng.normal(size=(2, len(ward)))
    y = rng.normal(size=n_groups)[ward] + 0.2 * x + 0.3 * noise
    return frame.assign(x=x, y=y, ward=[f"w{w}" for w in ward])


def test_noise_of_wards_looks_like_signal_unless_wards_stay_together():
    apart, together = [], []
    for seed in range(30):
        data = wards(seed, n_groups=80, size=20)
        terms = ["n0", "n1", "n2", "n3"]
        fit = treeselect.select(
            f"y ~ {' + '.join(terms)}", data, k=4, keep=terms, seed=seed, **LASSO
        )
        apart += fit.inference().splits[0].p_values.values()
        found = fit.update(fold_groups="ward").inference()
        together += found.splits[0].p_values.values()
    assert len(apart) == len(together) == 120
    assert np.mean(np.array(apart) < 0.05) > 0.4
    # 5%, and 2.5 standard errors.
    assert np.mean(np.array(together) < 0.05) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 120)


@pytest.mark.parametrize("classes", [False, True])
def test_no_ward_is_in_both_parts(classes):
    data = wards(3, n_groups=41, size=6)
    ward = data["ward"].str[1:].astype(int)
    # Five rows of five wards have a rare class; each half gets three or two of these wards.
    rare = (ward < 5) & (np.arange(len(data)) % 6 == 0)
    data["kind"] = np.where(rare, "rare", np.where(data["y"] > 0, "high", "low"))
    formula = "kind ~ x + n0" if classes else "y ~ x + n0"
    # The response of the first rows is not known: groups are those of the others.
    data.loc[[100, 101], ["kind", "y"]] = [None, np.nan]
    fit = treeselect.select(formula, data, k=1, seed=1, fold_groups="ward", **LASSO)
    own, problem = fit.data.design.row_weights.groups, fit.data.design.problem
    for seed in range(5):
        first, second = part_rows(problem, fit.data.design.row_weights.in_groups(own), 0.5, seed)
        assert sorted([*first, *second]) == list(range(len(data) - 2))
        wards_of = [
            set(data.loc[fit.data.design.response.rows[r], "ward"]) for r in (first, second)
        ]
        assert not wards_of[0] & wards_of[1]
        assert abs(len(wards_of[0]) - 20.5) <= 1.5
        if classes:
            y = fit.data.design.response.y
            code = fit.data.design.response.classes.index("rare")
            assert sorted([(y[first] == code).sum(), (y[second] == code).sum()]) == [2, 3]


def test_wards_are_drawn_again_if_a_part_has_too_few_rows():
    data = wards(13, n_groups=46, size=1).assign(ward=np.repeat(np.arange(6), [30, 12, 1, 1, 1, 1]))
    fit = treeselect.select("y ~ x", data, k=1, seed=1, fold_groups="ward", **LASSO)
    problem = fit.data.design.problem
    first = [part_rows(problem, fit.data.design.row_weights, 0.5, seed) for seed in range(30)]
    enough = [min(len(a), len(b)) >= 10 for a, b in first]
    assert 0 < sum(enough) < 30  # with the two large wards on one side
    asked = Procedure(problem, fit.search.method, fit.data.design.row_weights, fit._fit.choice)
    drawn = draw_parts(asked, 0.5, range(30))
    for part, once, good in zip(drawn, first, enough, strict=True):
        assert min(len(part.train), len(part.test)) >= 10
        assert (len(part.train) == len(once[0]) and (part.train == once[0]).all()) == good


def test_standard_errors_of_wards_are_those_of_statsmodels():
    """All families and weights are compared with R in ``test_weights_kind.py``."""
    data = wards(5, n_groups=60)
    fit = treeselect.select("y ~ n0 + x", data, k=2, keep=["n0", "x"], seed=1, **LASSO)
    found = fit.update(fold_groups="ward").inference()
    own = pd.factorize(data["ward"])[0]
    weights = fit.data.design.row_weights.in_groups(own)
    rows = part_rows(fit.data.design.problem, weights, 0.5, stream_seed(1, "inference", 0))[1]
    here = data.iloc[rows]
    how = {"cov_type": "cluster", "cov_kwds": {"groups": own[rows]}, "use_t": True}
    expected = sm.GLM(here["y"], sm.add_constant(here[["n0", "x"]])).fit(**how)
    np.testing.assert_allclose(found.tidy()["std_error"], expected.bse)
    np.testing.assert_allclose(found.tidy()["p_value"], expected.pvalues)
    (split,) = found.splits
    assert (split.fit.n_groups, split.fit.df) == (30, 29)
    assert split.p_values["n0"] == pytest.approx(expected.pvalues["n0"])


def test_the_summary_tells_of_groups():
    data = wards(9, n_groups=80)
    fit = treeselect.select("y ~ .", data, k=2, fold_groups="ward", seed=1, **LASSO)
    text = " ".join(str(fit.inference(0.3).summary()).split())
    assert "24 `ward` clusters (120 rows) for selection, 56 (280) for testing" in text
    assert "cluster-robust, 56 `ward` clusters, 55 degrees of freedom" in text
    assert "All rows of each `ward` cluster are in the same part" in text
    assert "p-values may be too small" not in text
    text = " ".join(str(fit.inference(0.7, repeats=2).summary()).split())
    assert "56 `ward` clusters (about 280 rows) for selection, 24 (120) for testing" in text
    assert "with 24 for testing, p-values may be too small" in text
    text = " ".join(str(fit.refit("glm").summary()).split())
    assert "Std. errors: cluster-robust" in text


def test_a_column_of_one_ward_has_no_standard_error():
    data = wards(10).assign(site=lambda d: np.where(d["ward"] == "w3", "rare", "other"))
    fit = treeselect.select("y ~ x + site", data, k=2, keep=["x", "site"], seed=1,
                            fold_groups="ward", **LASSO)  # fmt: skip
    rows, groups = fit.data.design.problem, fit.data.design.row_weights.groups
    found = fit.inference(repeats=6)
    with_rare = 0
    for number, split in enumerate(found.splits):
        second = part_rows(
            rows, fit.data.design.row_weights.in_groups(groups), 0.5,
            stream_seed(1, "inference", number),
        )[1]  # fmt: skip
        if "w3" in set(data["ward"].iloc[second]):
            assert "can't be computed for `site[T.rare]`, which varies" in split.failure
            with_rare += 1
        else:
            assert split.p_values["x"] < 0.05
    assert 0 < with_rare < 6


def test_few_wards():
    data = wards(11, n_groups=12, size=10)
    fit = treeselect.select("y ~ n0 + n1 + n2 + n3 + x", data, k=5, seed=1, fold_groups="ward",
                            **LASSO)  # fmt: skip
    found = fit.inference(repeats=2)
    assert found.n_failed == 2
    said = "Cluster-robust standard errors need more clusters than coefficients"
    assert said in " ".join(str(found.summary()).split())
    assert fit.inference(0.4).n_failed == 0
    fit = treeselect.select("y ~ n0 + x", data, seed=1, fold_groups="ward", **LASSO)
    assert "4 `ward` clusters" in str(fit.inference(0.3).summary())  # tests choose k, not folds
    with pytest.raises(OptionError, match=r"enough clusters for selection in folds(.|\n)*Found: 4"):
        fit.update(k="1se").inference(0.3)
    data["ill"] = data["ward"].isin(["w1", "w2"])
    fit = treeselect.select("ill ~ n0 + x", data, k=1, seed=1, fold_groups="ward", **LASSO)
    found = fit.inference()  # each part gets one of the two
    assert "6 `ward` clusters (60 rows) for selection, 6 (60)" in str(found.summary())
    with pytest.raises(OptionError, match=r"at least 2 rows of each class .*, in whole clusters"):
        fit.update(fold_groups=np.where(data["ill"], 0, np.arange(120) + 1)).inference()


@pytest.fixture(scope="module")
def twice(strong):
    """A fit of two terms, of which the second is twice the first."""
    data, _ = strong
    return treeselect.select("y ~ x0 + x1 + twice", data.assign(twice=2 * data["x0"]), k=3,
                             keep=["x0", "twice"], seed=1, **LASSO)  # fmt: skip


def test_aliased_terms_are_dropped_as_in_r_and_counted(twice):
    found = twice.inference(repeats=3)
    assert found.n_failed == 0
    table = found.tidy().set_index("term")
    assert table.loc["twice", ["p_value", "selected", "tested"]].to_list() == [1, 3, 0]
    assert table.loc["x0", "tested"] == 3
    text = " ".join(str(found.summary()).split())
    assert "Columns of `twice` (3) are linear combinations of columns of preceding terms" in text
    assert "Not tested (NA), as no column is left: `twice` (3)" in text
    one = twice.inference()
    rows = one.tidy().set_index("term")
    assert rows.loc["twice", "estimate":"ci_high"].isna().all()
    terms = one.splits[0].selected[:-1]
    assert one.splits[0].aliased == ("twice",)
    assert np.isnan(one.splits[0].p_values["twice"])
    assert np.isfinite([one.splits[0].p_values[name] for name in terms]).all()


def test_constant_terms_are_not_tested_and_aliased_factors_by_columns_left(mixed):
    rare = numbers(1, slopes=(2.0,)).assign(rare=np.arange(150) < 2)
    fit = treeselect.select("y ~ x0 + rare", rare, k=2, keep="rare", seed=1, **LASSO)
    found = next(own for seed in range(20) if "rare" not in (own := fit.inference(seed=seed))
                 .splits[0].fit.terms)  # fmt: skip
    assert found.tidy().set_index("term").loc["rare", "estimate":"ci_high"].isna().all()
    assert "Not tested (NA), as no column is left: `rare`" in str(found.summary())
    data = mixed.dropna().assign(is_first=lambda d: (d["site"] == d["site"].iloc[0]) * 1.0)
    options = {"k": 3, "keep": ["signal", "is_first", "site"], "seed": 1, **LASSO}
    found = treeselect.select("dose ~ signal + is_first + site", data, **options).inference()
    (split,) = found.splits
    assert split.aliased == ("site",)
    assert np.isfinite(list(split.p_values.values())).all()
    names = [name for name in split.fit.terms if name == "site"]
    assert len(names) == data["site"].nunique() - 2


def test_splits_without_a_linear_model_count_as_1_and_are_counted(strong):
    data, _ = strong
    ill = data.assign(ill=data["x0"] > 0)
    fit = treeselect.select("ill ~ x0 + x1", ill, k=2, seed=1, **LASSO)
    found = fit.inference(repeats=3)
    assert found.n_failed == 3
    assert (found.tidy()["p_value"] == 1).all()
    assert (found.tidy()["tested"] == 0).all()
    text = " ".join(str(found.summary()).split())
    assert "3, of which 3 failed" in text
    assert "No linear model in 3 of 3 splits, so p = 1 for the terms: " in text
    assert "separate the classes" in text
    one = fit.inference()
    assert (one.tidy()["p_value"] == 1).all()
    assert one.tidy()["estimate"].isna().all()
    assert "No linear model, so p = 1 for the terms" in " ".join(str(one.summary()).split())


@pytest.mark.parametrize(
    ("response", "family", "said"),
    [("ill", "auto", "Fitted probabilities of 0 or 1"), ("n", "poisson", "has no maximum")],
)
def test_estimates_that_may_be_infinite_are_told_as_by_refit(response, family, said):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": np.repeat(["a", "b", "c"], 80), "x": rng.normal(size=240)})
    data["n"] = rng.poisson(2, 240) * (data["g"] != "c")
    data["ill"] = data["n"] > 1
    how = {"k": 2, "seed": 1, "method": "mrmr", "family": family}
    fit = treeselect.select(f"{response} ~ g + x", data, **how)
    notes = [str(fit.inference(repeats=n).summary(notes=True)) for n in (1, 3)]
    for text, where in zip(notes, ("", "In 3 of 3 splits: "), strict=True):
        assert where in " ".join(text.split())
        assert said in " ".join(text.split())
    with pytest.warns(UserWarning, match=said):
        fit.refit("glm")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"split": 1.0}, "`split` must be"),
        ({"split": 0.02}, "`split` must leave at least 10 rows for selection"),
        (
            {"split": 0.98},
            "must leave at least 10 rows for testing[^.]*[^G]*Give a smaller `split`",
        ),
    ],
)
def test_arguments_that_are_not_allowed(strong, arguments, said):
    with pytest.raises(OptionError, match=said):
        strong[1].inference(**arguments)


def test_refusals_of_parts():
    data = numbers(2).assign(ill=np.arange(150) < 3)
    fit = treeselect.select("ill ~ x0 + x1", data, k=1, seed=1, **LASSO)
    with pytest.raises(OptionError, match="at least 2 rows of each class for testing"):
        fit.inference()
    data = numbers(2, slopes=(2.0,))
    forest = RandomForestRegressor(5, max_depth=2, random_state=0)
    forest.fit(data[["x0", "x1"]], data["y"])
    fit = treeselect.select("y ~ x0 + x1", data, method="controlburn", k=1, seed=1, forest=forest)
    with pytest.raises(OptionError, match="fitted earlier"):
        fit.inference()


# --- times to an event ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_events", [20, 80])
def test_both_parts_have_the_same_share_of_the_events(n_events):
    problem = timed(n_events)
    for seed in range(3):
        parts = part_rows(problem, row_weights(np.ones(80)), 0.5, seed)
        assert [problem.y[rows, EVENT].sum() for rows in parts] == [n_events / 2] * 2


def test_parts_with_few_events_are_refused():
    said = "at least 5 rows with an event for selection.\n.*Found: 4, .* of 8 events"
    with pytest.raises(OptionError, match=said):
        draw_parts(eighty_rows(8), 0.5, [1])
    for k in (1, "auto"):
        (parts,) = draw_parts(eighty_rows(10, k, 6), 0.5, [1])
        assert len(parts.train) == 40
    with pytest.raises(OptionError, match="at least 6 rows with an event for selection in 6 folds"):
        draw_parts(eighty_rows(10, "1se", 6), 0.5, [1])


def eighty_rows(n_events, k=1, folds=5):
    choice = Choice(k, Folds(folds, 1, False))
    return Procedure(timed(n_events), treeselect.MRMR(), row_weights(np.ones(80)), choice)


def timed(n_events):
    frame = pd.DataFrame({"time": np.arange(1.0, 81), "x": 1.0, "dead": np.arange(80) < n_events})
    return prepare(Request("Surv(time, dead) ~ x"), frame).problem


def test_a_small_p_value_from_few_splits_is_marked():
    """Six noisy copies of one column: each split selects one of them."""
    rng = np.random.default_rng(1)
    signal = rng.normal(size=400)
    copies = {f"copy{j}": signal + 0.3 * rng.normal(size=400) for j in range(6)}
    frame = pd.DataFrame(copies | {"y": signal + 0.5 * rng.normal(size=400)})
    found = treeselect.select("y ~ .", frame, method="mrmr", k=1, seed=1).inference(repeats=20)
    table = found.tidy().set_index("term")
    rare = table[(table["p_value"] < 0.05) & (table["tested"] < 10)].index
    assert len(rare) > 1
    lines = str(found.summary()).splitlines()
    marked = {line.split()[0] for line in lines if line.rstrip().endswith("*")}
    assert marked == set(rare)
    assert "* Tested in fewer than half of the splits" in " ".join(" ".join(lines).split())
    few = treeselect.select("y ~ copy0", frame, method="mrmr", k=1, seed=1).inference(repeats=4)
    assert "*" not in str(few.summary())
