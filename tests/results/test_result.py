"""Tables, prediction and the selection as a formula."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import WITH_GAPS, burnt

import treeselect
from treeselect.errors import DataError, OptionError, StabilityError


def test_answer_names_terms_in_order_of_importance_variables_and_formula(fitted):
    assert set(fitted.selected) <= {"signal", "copy", "site"}
    assert "site" in fitted.selected
    assert fitted.k == 2 == len(fitted.groups)
    assert fitted.variables == fitted.selected
    assert fitted.formula == f"died ~ {' + '.join(fitted.selected)}"
    assert (fitted.search.method.name, fitted.family) == ("controlburn", "binomial")
    tidy = fitted.tidy().set_index("term")
    importance = tidy.loc[list(fitted.selected), "importance"]
    assert importance.is_monotonic_decreasing
    assert importance.sum() == pytest.approx(1.0)
    assert (tidy.loc[~tidy["selected"], "importance"] == 0).all()
    noise = pd.DataFrame(np.random.default_rng(5).normal(size=(60, 6)), columns=[*"abcdey"])
    tied = treeselect.select("y ~ .", noise, method="mrmr", k=5, seed=1)
    tidy = tied.tidy()
    assert (tidy["importance"] == 0).sum() > 1
    assert tuple(tidy["term"]) == tied.selected


def test_path_tidy_and_glance_have_the_same_columns_always(cross_validated, fitted, mixed):
    path = cross_validated.path
    assert list(path.columns) == ["k", "tuning", "terms", "train_score", "cv_score", "cv_se"]
    assert path["k"].is_monotonic_increasing
    assert path["k"].iloc[0] == 0
    assert path["terms"].map(len).equals(path["k"])
    assert path["tuning"].is_monotonic_decreasing
    assert path["cv_score"].notna().all()
    assert path["cv_score"].max() > 0.5
    assert path["train_score"].iloc[0] == pytest.approx(0.0, abs=1e-12)
    assert fitted.path["cv_score"].isna().all()
    assert np.isnan(fitted.glance()["cv_score"].iloc[0])
    with pytest.raises(StabilityError, match=r"fit = fit\.resample\(100\)"):
        _ = cross_validated.stability
    with pytest.raises(OptionError, match="needs a response with classes"):
        cross_validated.predict(mixed, type="class")
    names = ["term", "group", "selected", "decision", "step", "importance", "cost", "n_missing"]
    assert list(cross_validated.tidy().columns) == names
    assert list(fitted.tidy().columns) == [*names, "frequency", "ci_low", "ci_high"]
    assert sorted(fitted.tidy()["term"]) == ["colour", "copy", "flag", "noise", "signal", "site"]
    assert len(fitted.glance()) == len(cross_validated.glance()) == 1
    assert list(fitted.glance().columns) == list(cross_validated.glance().columns)
    assert fitted.glance()["resamples"].iloc[0] == 10


def test_predictions_keep_length_index_labels_and_order(fitted, mixed, tmp_path):
    new = mixed.sample(20, random_state=1)
    new.index = [7] * 20
    for kind in ("response", "link", "class"):
        assert fitted.predict(new, type=kind).index.equals(new.index)
    p = fitted.predict(mixed)
    assert p.between(0, 1).all()
    assert p[mixed["died"]].mean() > p[~mixed["died"]].mean() + 0.3
    link = fitted.predict(mixed, type="link")
    np.testing.assert_allclose(1 / (1 + np.exp(-link)), p, atol=2e-6)
    classes = fitted.predict(mixed, type="class")
    assert classes.equals(pd.Series(p >= 0.5, name="died"))
    data = mixed.assign(died=np.where(mixed["died"], "yes", "no"))
    fit = burnt("died ~ signal + site", data, k=2)
    assert set(fit.predict(data, type="class")) == {"yes", "no"}
    assert fit.data.design.response.classes == ("no", "yes")
    new = mixed.head(5).copy()
    new[["signal", "copy"]] = np.nan
    new["site"] = pd.Series([None] * 5, dtype=object)
    assert fitted.predict(new).between(0, 1).all()
    mixed.to_parquet(tmp_path / "new.parquet")
    np.testing.assert_array_equal(
        fitted.augment(tmp_path / "new.parquet")["fitted"], fitted.predict(mixed)
    )
    shuffled = mixed.sample(frac=1, random_state=3)
    augmented = fitted.augment(shuffled)
    pd.testing.assert_frame_equal(augmented.drop(columns="fitted"), shuffled)
    np.testing.assert_array_equal(augmented["fitted"], fitted.predict(shuffled))
    with pytest.raises(OptionError, match="must not have a column `fitted`"):
        fitted.augment(augmented)


@WITH_GAPS
def test_results_are_compared_by_identity(fitted):
    """Numbers of arrays have no truth value, so that `==`, `in` and `hash()` would fail."""
    views = (fitted.model, fitted.search, fitted.data, fitted.stability)
    glm = fitted.refit("glm")
    for found in (fitted, *views, glm, glm.regression_table(), fitted.performance(2)):
        other = dataclasses.replace(found)
        assert [other, found].index(found) == 1
        assert len({found, other}) == 2


def test_model_matrix_is_formulaics_own(fitted, mixed):
    matrix = fitted.data.design.model_matrix()
    assert len(matrix) == len(mixed.drop(columns=["died", "dose"]).dropna())
    assert "site[York]" in matrix
    assert "site[Bath]" not in fitted.data.design.model_matrix(full_rank=True)


OF_DATA = {
    "resample": lambda fit: fit.resample(3).stability,
    "performance": lambda fit: fit.performance(2),
    "inference": lambda fit: fit.inference(repeats=2),
    "coefficient_stability": lambda fit: fit.model.coefficient_stability(),
    "forest": lambda fit: fit.refit("forest"),
    "glm": lambda fit: fit.refit("glm"),
    "shape": lambda fit: fit.model.shape("signal"),
    "effects": lambda fit: fit.model.effects(),
    "interactions": lambda fit: fit.model.interactions(),
    "neighbours": lambda fit: fit.data.neighbours(),
    "describe": lambda fit: fit.data.describe(),
}


@WITH_GAPS
@pytest.mark.parametrize("name", OF_DATA)
def test_a_fit_from_a_file_needs_the_data_and_takes_them(fitted, mixed, name, tmp_path):
    def table(fit):
        found = OF_DATA[name](fit)
        return found if isinstance(found, pd.DataFrame) else found.tidy()

    bare = treeselect.load(fitted.save(tmp_path / "bare"))
    with pytest.raises(DataError, match=r"(?s)without the data.*`fit.with_data\(data\)`"):
        table(bare)
    whole = treeselect.load(fitted.save(tmp_path / "whole", include_data=True))
    for again in (bare.with_data(mixed), whole):
        pd.testing.assert_frame_equal(table(again), table(fitted))
