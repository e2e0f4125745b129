"""Selections over imputed frames: as select() on each, what enough select, what is refused."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy
from quick import changed
from round_numbers import with_round_numbers

import treeselect
from treeselect.engine.random import stream_seed
from treeselect.errors import DataError, FormulaError, OptionError, TreeselectWarning
from treeselect.models.linear.coefficients import pool, table_rows
from treeselect.resampling.agreement import clustered_interval, stability_index


def frames(**changes):
    """Three frames of 12 rows, the third with columns changed, or dropped where None."""
    data = pd.DataFrame({"y": np.arange(12) % 5, "x": np.arange(12.0), "site": list("abc") * 4})
    third = data.assign(**{name: value for name, value in changes.items() if value is not None})
    return [data, data, third.drop(columns=[n for n, value in changes.items() if value is None])]


CASES = {
    "fewer rows": lambda: [*frames(), frames()[0].iloc[:11]],
    "no column": lambda: frames(site=None),
    "one column more": lambda: frames(age=1.0, income=2.0),
    "another kind": lambda: frames(x=[str(i % 3) for i in range(12)]),
    "another family": lambda: frames(y=list("ab") * 6),
    "a response less": lambda: frames(y=[None, None, *range(10)]),
    "a response more": lambda: [f.assign(y=y) for f, y in zip(
        frames(), ([None, *range(11)], [None, *range(11)], range(12)), strict=True)],
    "no variation": lambda: frames(y=7),
    "not a table": lambda: [*frames(), 3],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_differs(case, snapshot):
    with pytest.raises(DataError) as caught:
        treeselect.select("y ~ .", CASES[case](), method="mrmr", k=1)
    assert str(caught.value) == snapshot


def test_classes_that_differ():
    data = [f.assign(y=f["y"] > 2) for f in frames()]
    data[1] = data[1].assign(y=data[1]["site"])
    with pytest.raises(DataError, match=r"binomial in frame 1, multinomial in frame 2"):
        treeselect.select("y ~ x", data, method="mrmr", k=1)
    data = [f.assign(y=list("abc") * 4) for f in frames()]
    data[2] = data[2].assign(y=list("abd") * 4)
    with pytest.raises(DataError, match=r"`a`, `b`, `c` in frame 1, `a`, `b`, `d` in frame 3"):
        treeselect.select("y ~ x", data, method="mrmr", k=1)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], "a list of 0"), (frames()[:1], "a list of 1"),
    ],
)  # fmt: skip
def test_one_imputation_is_no_list(given, found):
    with pytest.raises(OptionError, match=r"^`data` must") as caught:
        treeselect.select("y ~ .", given)
    assert found in str(caught.value)


def test_what_frames_may_differ_in():
    with pytest.raises(FormulaError) as caught:
        treeselect.select("y ~ xx", frames())
    assert "frame" not in str(caught.value)
    data = [f.assign(y=[None, *range(11)]) for f in frames()]
    data[1] = data[1][["site", "x", "y"]]
    found = treeselect.select("y ~ .", data, method="mrmr", k=1)
    assert found.glance()[["n", "n_dropped"]].to_numpy().tolist() == [[11, 1]]


# --- the pooled linear model: R's mice, refusals, and what it says -------------------------------


REFERENCE = Path(__file__).parents[1] / "reference"

QUICK = {"method": "importance", "n_trees": 2, "seed": 1}


def mice_frames():
    long = pd.read_csv(REFERENCE / "imputed_data.csv")
    return [part.drop(columns=[".imp", ".id"]) for _, part in long.groupby(".imp")]


def select_all(formula, frames, k, **options):
    return treeselect.select(formula, frames, k=k, **QUICK | options)


@pytest.mark.parametrize("response", ["number", "two", "count"])
def test_numbers_of_mice(response):
    family = "poisson" if response == "count" else "auto"
    found = select_all(f"{response} ~ x + z + site", mice_frames(), 3, family=family)
    assert ("Poisson), median of" in str(found.pooled().summary())) == (response == "count")
    mine = found.pooled().tidy().set_index("column")
    theirs = pd.read_csv(REFERENCE / "imputed.csv").query("response == @response")
    names = theirs["term"].replace({"(Intercept)": "Intercept"})
    theirs = theirs.set_index(names.str.replace(r"site (\w+)", r"site[T.\1]", regex=True))
    assert set(mine.index) == set(theirs.index)
    columns = {
        "estimate": "estimate", "std_error": "std_error", "statistic": "statistic", "df": "df",
        "p_value": "p_value", "ci_low": "2_5 %", "ci_high": "97_5 %", "riv": "riv", "fmi": "fmi",
    }  # fmt: skip
    for own, other in columns.items():
        # Iterations of generalised linear models end at 1e-8 of the deviance.
        np.testing.assert_allclose(mine[own], theirs.loc[mine.index, other], rtol=1e-5, err_msg=own)


@pytest.mark.parametrize(("response", "family"), [("two", "auto"), ("count", "ordinal")])
def test_predictions_are_pooled_by_rubins_rules_on_the_linear_scale(response, family):
    frames = mice_frames()
    if family == "ordinal":
        frames = [own.assign(count=own["count"].clip(upper=2)) for own in frames]
    found = select_all(f"{response} ~ x + z + site", frames, 3, family=family)
    new = frames[0].head(7)
    mine = found.pooled().predict(new, "link", se=True)
    each = [fit.refit("glm").predict(new, "link", se=True) for fit in found.fits]
    if family == "ordinal":  # log probabilities are not linear: close, not equal
        for name in ("fit.0", "fit.2"):
            expected = np.mean([own[name] for own in each], axis=0)
            np.testing.assert_allclose(mine[name], expected, rtol=0.02)
        assert "a higher class of 0 < 1 < 2" in str(found.pooled().summary())
        return
    fit, se = (np.array([own[name] for own in each]) for name in ("fit", "se"))
    np.testing.assert_allclose(mine["fit"], fit.mean(axis=0))
    total = (se**2).mean(axis=0) + (1 + 1 / len(fit)) * fit.var(axis=0, ddof=1)
    np.testing.assert_allclose(mine["se"] ** 2, total)
    half = scipy.stats.t.ppf(0.975, pool(fit, se**2, None).df) * mine["se"]
    np.testing.assert_allclose(mine["ci_high"] - mine["fit"], half)
    assert set(found.pooled().predict(new, "class")) <= set(frames[0]["two"])


@pytest.mark.parametrize("strata", ["", " + strata(s)"])
def test_survival_is_predicted_from_pooled_hazards_and_learned_columns_are_not(strata):
    rng = np.random.default_rng(8)
    data = pd.DataFrame({"x": rng.normal(size=80), "d": rng.random(80) < 0.7})
    data["t"] = rng.exponential(np.exp(-data["x"]))
    frames = [
        data.assign(x=data["x"] + 0.1 * rng.normal(size=80), s=rng.random(80) < 0.5)
        for _ in range(3)
    ]
    frames[0].loc[0, "x"] = -9  # the highest risk, which hazards are relative to
    found = select_all(f"Surv(t, d) ~ x{strata}", frames, 1)
    each = [fit.refit("glm").predictor.baseline for fit in found.fits]
    at = np.array([0.2, 1.0]), np.array([0, int(bool(strata))])
    expected = np.mean([one.cumulative_hazard(*at) for one in each], axis=0)
    mine = found.pooled().predictor.baseline.cumulative_hazard(*at)
    np.testing.assert_allclose(mine, expected)
    own = data.head(1).assign(x=found.pooled().predictor.rule.centre[0])  # without an error
    assert found.pooled().predict(own, se=True).iloc[0].tolist() == [1, 0, 1, 1]
    learned = select_all("Surv(t, d) ~ scale(x)", frames, 1).pooled()
    with pytest.raises(OptionError, match="differ between imputed frames"):
        learned.predict(data)


def test_the_full_text(snapshot):
    found = select_all("number ~ x + z + scale(x) - x", mice_frames(), 2)
    fit = found.pooled()
    table = fit.table.assign(
        estimate=[0.25, -2.5, 12.5], std_error=[0.5, 0.125, 2.0], statistic=[0.5, -20.0, 6.25],
        df=[12.0, 1234567.0, 48.25], p_value=[0.6261, 0.0, 1e-5], ci_low=[-0.8394, -2.745, 8.48],
        ci_high=[1.339, -2.255, 16.52], riv=[0.5, 0.0, 0.125], fmi=[0.4375, 0.0, 0.15],
    )  # fmt: skip
    made = dataclasses.replace(fit.summary().content, rows=table_rows(table, with_ratios=False))
    assert dataclasses.replace(fit, write=lambda: made).summary().as_text() == snapshot
    assert repr(fit) == "<PooledFit over 4 frames of 60 rows, 0 dropped>"


def test_pooled_models_of_nothing_and_of_forced_in_terms():
    rng = np.random.default_rng(3)
    frames = [pd.DataFrame({"y": rng.normal(size=30), "x": rng.normal(size=30)}) for _ in range(2)]
    found = treeselect.select("y ~ x", frames, method="stepwise", seed=1)
    assert found.selected == ()
    table = found.pooled().tidy()
    assert table["column"].tolist() == ["Intercept"]
    assert table["estimate"][0] == pytest.approx(np.mean([frame["y"].mean() for frame in frames]))
    for k, keep, said in ((2, ["x"], "No selection affects"), (1, None, "are not valid")):
        found = select_all("number ~ x + z", mice_frames(), k, keep=keep)
        assert said in " ".join(found.pooled().summary().content.notes)


def test_levels_that_one_lacks_and_problems_name_their_frames():
    frames = mice_frames()
    frames[2] = frames[2].assign(site=frames[2]["site"].replace("York", "Bath"))
    found = select_all("number ~ x + site", frames, 2)
    with pytest.raises(DataError) as caught:
        found.pooled()
    assert str(caught.value) == (
        "Pooling needs the same coefficients of the linear model in all frames.\n"
        "  Found: `site[T.York]` in frame 1 and not in frame 3.\n"
        "  A level that only some imputations contain makes such a difference: combine rare levels,"
        " or use frames that contain all levels."
    )
    frames = [frame.assign(x=frame["x"].mask(frame.index % 60 < 3)) for frame in mice_frames()]
    found = select_all("number ~ x", frames, 1)
    fit = found.pooled()
    assert (fit.n_used, fit.n_dropped) == (57, 3)
    frames[1] = frames[1].assign(x=frames[1]["x"].fillna(0.0))
    for order, where in ((frames, (1, 2)), (frames[::-1], (4, 3))):
        found = select_all("number ~ x", order, 1)
        with pytest.raises(DataError, match=r"complete selected terms in the same rows") as caught:
            found.pooled()
        assert "3 rows with a missing value in frame 1, complete in frame" in str(caught.value)
        assert f"complete in frame {where[1]}." in str(caught.value)
    frames = mice_frames()
    frames[1] = frames[1].assign(two=(frames[1]["x"] > 0).astype(int))
    found = select_all("two ~ x", frames, 1)
    with pytest.warns(TreeselectWarning, match=r"\(Frame 2\.\)"):
        fit = found.pooled()
    assert any("(Frame 2.)" in note for note in fit.summary().content.notes)
    frames = [f.assign(kind=pd.cut(f["z"], [-9, -0.5, 0.5, 9]).astype(str)) for f in mice_frames()]
    table = select_all("kind ~ x", frames, 1).pooled().tidy()
    assert len(table) == 4
    assert table["std_error"].notna().all()


# --- the summary over imputations: full texts, with numbers made by hand -------------------------


@pytest.fixture(scope="module")
def found(mixed):
    """Three frames of 120 rows, on which numbers are replaced; two resamples of each."""
    data = mixed.drop(columns=["dose", "flag"]).iloc[:120]
    frames = [data.assign(noise=data["noise"].fillna(value)) for value in (-1.0, 0.0, 1.0)]
    return treeselect.select(
        "died ~ .", frames, method="importance", k=2, n_trees=5, seed=1, resamples=2
    )


def selecting(found, *sets, resampled=True, **changes):
    """The same with these sets in the imputations."""
    fits = [
        with_round_numbers(f, *s) if s else nothing(f)
        for f, s in zip(found.fits, sets, strict=True)
    ]
    if not resampled:
        fits = [changed(fit, resampled=None) for fit in fits]
    return dataclasses.replace(found, records=tuple(f._fit for f in fits), **changes)


def nothing(fit):
    return with_round_numbers(changed(fit, resampled=None))


def test_a_term_in_two_of_three(found, snapshot):
    made = selecting(found, ("signal", "site"), ("signal", "copy"), ("site", "signal"))

    one, two, three = made.records
    noted = dataclasses.replace(two, notes=("No more than 2 units enter the path.",))
    made = dataclasses.replace(made, records=(one, noted, three), resamples=10)
    assert made.summary().as_text() == snapshot


def test_all_agree_without_resamples(found, snapshot):
    made = selecting(found, *[("signal", "site")] * 3, resampled=False, resamples=0)
    assert made.summary().as_text() == snapshot
    made = selecting(found, ("signal", "site"), ("signal",), ("signal",), least_share=1.0)
    assert made.selected == ("signal",)
    text = " ".join(made.summary().as_text().split())
    assert "Selected (k): 1 of 5 terms, selected in all 3 imputations" in text
    assert "2 of them selected exactly the final set" in text
    assert np.isfinite(made.index)


NONE, ONE, TWO = (), ("signal",), ("signal", "copy")

SENTENCES = [
    ((NONE, NONE, NONE), "None of the 3 imputations selected any term."),
    ((NONE, NONE, NONE), "No imputation selected anything, so none was resampled."),
    ((ONE, NONE, NONE), "No term was selected in enough imputations."),
    (
        (ONE, NONE, NONE),
        "Intervals are for this frame alone and ignore variation between imputations.",
    ),
    ((ONE, NONE, NONE), "2 of 3 imputations selected nothing and were not resampled"),
    ((ONE, TWO, NONE), "3 different sets of terms; 1 of them selected exactly the final"),
    ((ONE, TWO, NONE), "Each imputation: 0 to 2 of 5 terms"),
    ((ONE, TWO, NONE), "of 20 resamples, 10 bootstrap resamples from each imputed frame with"),
    ((TWO, ("signal", "site"), ("site", "copy")), "none of them selected exactly the final"),
    ((TWO, TWO, TWO), "All 3 imputations selected the same terms."),
    ((ONE, ONE, ONE), "All 3 imputations selected the same term."),
]


@pytest.mark.parametrize(("sets", "said"), SENTENCES)
def test_sentences_hold_for_what_was_selected(found, sets, said):
    made = selecting(found, *sets, resamples=10)
    assert said in " ".join(made.summary().as_text().split())


def test_groups_have_a_column_of_their_own(mixed):
    frames = [mixed.assign(noise=mixed["noise"].fillna(value)).iloc[:80] for value in (0.0, 1.0)]
    found = treeselect.select(
        "died ~ signal + noise + site", frames, method="importance", k=1, n_trees=5, seed=1,
        groups={"pair": ["signal", "noise"]}, keep="pair", resamples=2,
    )  # fmt: skip
    assert found.selected == ("signal", "noise")
    assert "Group" in found.summary().as_text()
    assert {row[-2:] for row in found.summary().content.rows} == {("forced in", "")}
    assert '<th scope="col">Group</th>' in found.summary()._repr_html_()
    assert "pair" in found.summary().as_latex()


def test_labels_are_shown(found):
    labels = {name: f"The {name} (mV)" for name in ("signal", "copy", "site")}
    designs = [dataclasses.replace(fit.data.design, labels=labels) for fit in found.fits]
    fits = [changed(f, design=d) for f, d in zip(found.fits, designs, strict=True)]
    labelled = dataclasses.replace(found, records=tuple(f._fit for f in fits))
    name, text = found.selected[0], labelled.summary().as_text()
    assert f"Names in code: `{name}` is The {name} (mV);" in text
    assert name in set(labelled.tidy()["term"])
    assert labelled.formula == found.formula
    pooled = labelled.pooled()
    assert f"The {name} (mV)" in pooled.summary().as_text()
    assert name in set(pooled.tidy()["term"])


# --- selection over imputed frames: as `select()` on each, and what enough of them select ---------


FEW_TREES = {"method": "importance", "n_trees": 10, "seed": 3}


@pytest.fixture(scope="module")
def four_frames():
    """Four imputations of 90 rows: `a` matters, `b` less, and half of `b` is imputed at random."""
    rng = np.random.default_rng(2)
    n = 90
    data = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "c", "d"])
    data["y"] = 2 * data["a"] + 0.9 * data["b"] + rng.normal(size=n)
    missing = rng.random(n) < 0.5
    return [data.assign(b=data["b"].mask(missing, rng.normal(size=n))) for _ in range(4)]


@pytest.fixture(scope="module")
def four(four_frames):
    return treeselect.select("y ~ .", four_frames, k=2, resamples=4, **FEW_TREES)


def test_each_fit_is_that_of_select_for_any_processes_and_order_of_columns(four_frames, four):
    assert len(four.fits) == 4
    for number, (fit, frame) in enumerate(zip(four.fits, four_frames, strict=True)):
        alone = treeselect.select("y ~ .", frame, k=2, **FEW_TREES)
        assert fit.selected == alone.selected
        np.testing.assert_array_equal(fit.model.importance, alone.model.importance)
        again = alone.resample(4, seed=stream_seed(3, "imputation", number))
        np.testing.assert_array_equal(fit.stability.selected, again.stability.selected)
        assert ".resample(" in fit.search.call  # which drew what its summary tells
    drawn = [fit.stability.seed for fit in four.fits]
    assert len(set(drawn)) == 4  # rows are drawn anew from each frame
    turned = [frame[frame.columns[::-1]] for frame in four_frames]
    with_two = treeselect.select("y ~ .", turned, k=2, resamples=4, n_jobs=2, **FEW_TREES)
    pd.testing.assert_frame_equal(with_two.tidy(), four.tidy())
    pd.testing.assert_frame_equal(with_two.glance(), four.glance())


def test_tables_and_shares_that_must_agree(four):
    names = four.fits[0].data.design.arrays.groups.names
    chosen = np.array([fit.search.step.selected for fit in four.fits])
    drawn = np.array([fit.stability.selected for fit in four.fits])
    table = four.tidy().set_index("term").loc[list(names)]
    assert table["imputations"].tolist() == chosen.sum(axis=0).tolist()
    assert table["share"].tolist() == chosen.mean(axis=0).tolist()
    assert table["selected"].tolist() == (chosen.sum(axis=0) >= 2).tolist()
    assert table["frequency"].to_numpy() == pytest.approx(drawn.mean(axis=(0, 1)))
    interval = clustered_interval(drawn.mean(axis=1), 4)
    np.testing.assert_allclose(table[["ci_low", "ci_high"]].to_numpy().T, interval)
    mean = np.mean([fit.model.importance for fit in four.fits], axis=0)
    assert table["importance"].to_numpy() == pytest.approx(mean)
    glance = four.glance().iloc[0]
    assert glance["index"] == pytest.approx(stability_index(chosen)[0], nan_ok=True)
    assert glance["resample_index"] == stability_index(drawn.reshape(16, 4))[0]
    assert (glance["imputations"], glance["resamples"], glance["k_max"]) == (4, 16, 2)
    assert set(four.selected) == set(table.index[table["selected"]])
    assert four.selected == tuple(four.tidy().query("selected")["term"])
    assert four.formula.startswith("y ~ ")
    made = dataclasses.replace(four, records=four.records[:1] * 10).with_share(0.1 * 3)
    assert made.needed == 3  # 0.1 * 3 is more than 0.3
    with pytest.raises(OptionError, match="`share` must be a number above 0 and at most 1"):
        four.with_share(0)


@pytest.mark.parametrize(("share", "kept"), [(0.25, "abc"), (0.5, "ab"), (0.75, "a"), (1, "a")])
def test_the_share_that_must_agree(four, share, kept):
    sets = [{"a", "b"}, {"a", "b"}, {"a", "c"}, {"a"}]
    names = np.array(four.fits[0].data.design.arrays.groups.names)
    fits = [
        dataclasses.replace(
            fit, step=dataclasses.replace(fit.step, selected=np.isin(names, sorted(some)))
        )
        for fit, some in zip(four.records, sets, strict=True)
    ]
    made = dataclasses.replace(four, records=tuple(fits)).with_share(share)
    assert set(made.selected) == set(kept)
    assert made.selected[0] == "a"


def test_copies_agree_and_the_call_can_be_typed_again(four_frames):
    found = treeselect.select("y ~ .", four_frames[:1] * 2, k=1, **FEW_TREES)
    assert found.glance()[["index", "distinct", "resamples"]].to_numpy().tolist() == [[1, 1, 0]]
    assert "frequency" not in found.tidy()
    assert (found.pooled().tidy()["riv"] == 0).all()
    found = treeselect.select("y ~ a + b", four_frames[:2], k=1, method="lasso", keep="a")
    assert found.call == (
        f'treeselect.select("y ~ a + b", frames, method="lasso", k=1, keep="a", seed={found.seed})'
    )
    assert repr(found) == "<ImputedSelection 'y ~ a', method 'lasso', 2 imputations>"


def test_other_libraries_and_files(four_frames, four, tmp_path):
    for number, frame in enumerate(four_frames):
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    paths = [tmp_path / f"{number}.csv" for number in range(4)]
    assert treeselect.select("y ~ .", paths, k=2, **FEW_TREES).selected == four.selected
    tables = [pl.from_pandas(frame) for frame in four_frames]
    with_polars = treeselect.select("y ~ .", tables, k=2, **FEW_TREES)
    for table in (with_polars.tidy(), with_polars.glance(), with_polars.pooled().tidy()):
        assert isinstance(table, pl.DataFrame)


def test_sizes_that_one_frame_does_not_reach_and_stops_are_told(four_frames, four, monkeypatch):
    flat = [four_frames[0], four_frames[1].assign(c=0.0, d=0.0)]
    found = treeselect.select("y ~ .", flat, k=3, **FEW_TREES)
    assert [fit.k for fit in found.fits] == [3, 2]
    text = " ".join(found.summary().as_text().split())
    assert "Imputation 2: The call requests 3 terms, but only 2 enter the path" in text
    resampled = dataclasses.replace(four.records[0].resampled, asked=9)
    stopped = type(four.fits[0])(dataclasses.replace(four.records[0], resampled=resampled))
    monkeypatch.setattr(type(stopped), "resample", lambda fit, n, seed: stopped)
    with pytest.raises(KeyboardInterrupt):
        treeselect.select("y ~ a", four_frames, k=1, resamples=9, **FEW_TREES)
